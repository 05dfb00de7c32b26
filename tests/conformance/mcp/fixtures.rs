//! The server of `tests/conformance/mcp/run`: the operations on a real snapshot, configured like
//! `hornbook serve`, plus the tools, prompts and resources that the public conformance suite
//! requests by name (`fixtures.json`).

#[path = "../../../src/cli/settings.rs"]
#[expect(dead_code, reason = "the suite uses neither payments nor notices")]
mod settings;

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use hornbook::api::corpus::Corpus;
use hornbook::api::json::JsonObject;
use hornbook::api::service::{Service, ServiceParts};
use hornbook::config::Config;
use hornbook::http::{Mounts, Observers, Server};
use hornbook::log::{Log, LogFormat, RequestLogging};
use hornbook::mcp::{Extras, Mcp, McpMount, RpcError};
use hornbook_accounts::Accounts;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::blocking::forbid_on_this_thread;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_corpus::snapshot::Snapshot;
use serde_json::Value;

static FIXTURES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("fixtures.json")).unwrap_or_default());

fn listed(name: &str) -> Vec<Value> {
    FIXTURES[name].as_array().cloned().unwrap_or_default()
}

/// The answer to the request with this method and name.
fn answer(method: &str, params: &JsonObject) -> Option<Result<JsonObject, RpcError>> {
    let named = params.get("name").or(params.get("uri")).or(params.get("ref").and_then(|named| named.get("name")))?;
    let answers = FIXTURES["answers"].as_array()?;
    let answer = answers.iter().find(|answer| answer["method"] == method && answer["name"] == *named)?;
    if let Some(error) = answer.get("error") {
        let number = |name: &str| error[name].as_i64().unwrap_or_default();
        let message = error["message"].as_str().unwrap_or_default();
        let code = i32::try_from(number("code")).unwrap_or_default();
        let status = u16::try_from(number("status")).unwrap_or(200);
        return Some(Err(RpcError { status, ..RpcError::new(code, message).with_data(error["data"].clone()) }));
    }
    Some(Ok(answer["result"].as_object().cloned().unwrap_or_default()))
}

/// Usage: give the folder of a snapshot. Settings come from the environment.
fn main() -> Result<(), Box<dyn Error>> {
    let snapshot = std::env::args().nth(1).ok_or("give the folder of a snapshot")?;
    let config = Config::load(None, std::env::vars_os(), [])?;
    let corpus = Arc::new(Corpus::new(Arc::new(Snapshot::open(Path::new(&snapshot))?))?);
    let state = tempfile::tempdir()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let accounts = Arc::new(Accounts::open(state.path(), settings::accounts(&config), clock.now())?);
    let key = key(&accounts, &*clock)?;
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    let runtime = threads.enable_all().on_thread_start(forbid_on_this_thread).build()?;
    runtime.block_on(async move {
        let server = Server::bind(settings::http(&config)?, &mut SystemEntropy).await?;
        let base_url = format!("http://{}", server.address()?);
        let service = Arc::new(Service::new(ServiceParts {
            corpus,
            accounts,
            clock: Arc::clone(&clock),
            base_url: base_url.clone(),
            permits: config.server.permits.get() as usize,
            deep: settings::deep(&config),
            unread_bytes_per_account_max: config.server.unread_bytes_per_account_max.get() as usize,
            cards: None,
        }));
        let extras = Extras {
            tools: listed("tools"),
            prompts: listed("prompts"),
            resources: listed("resources"),
            templates: listed("templates"),
            answer: Some(answer),
        };
        let mcp = Arc::new(Mcp::with(Arc::clone(&service), extras));
        let mounts: Mounts = vec![Arc::new(McpMount::new(mcp, &settings::mcp(&config)))];
        let log = Arc::new(Log::start(LogFormat::Text, std::io::sink()));
        let observers = Observers { log, logged: RequestLogging::None, metrics: Arc::default(), clock };
        println!("listening on {base_url}\ndemo key: {key}");
        server.run(service, mounts, observers, std::future::pending()).await;
        Ok(())
    })
}

/// Creates an account and a key with all scopes.
fn key(accounts: &Accounts, clock: &dyn Clock) -> Result<String, ChangeError> {
    let act = ActContext { actor: Actor::program("conformance"), at: clock.now().wall };
    let account = accounts.create_account("conformance".to_owned(), &act)?.id;
    accounts.approve_account(account, &act)?;
    let scopes = ScopeSet::of(&Scope::ALL);
    let wish = NewKey {
        account,
        name: "conformance".to_owned(),
        kind: KeyKind::Test,
        scopes,
        expires_at: None,
        budget: Budget::default(),
    };
    Ok(accounts.create_key(wish, &act, &mut SystemEntropy)?.secret.reveal())
}
