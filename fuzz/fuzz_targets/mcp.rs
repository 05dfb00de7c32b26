//! Any headers and any body sent to the MCP endpoint: every response is an MCP message with a
//! matching status, and none is an internal error.
//!
//! The input is split at its first zero byte: lines of `name: value` before it, the body after it.
//! Requests whose body has an even length get a valid key.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use hornbook::api::call::Progress;
use hornbook::api::corpus::Corpus;
use hornbook::api::deep_search::DeepSettings;
use hornbook::api::service::{Service, ServiceParts};
use hornbook::mcp::{MCP_PATH, Mcp, McpMount, McpSettings};
use hornbook::mount::{Mount, MountRequest};
use hornbook::web_origin::RequestOrigin;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::tier::Tariff;
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay as BuildProgress;
use hornbook_search::DepthChoice;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::runtime::Runtime;

struct McpFixture {
    mount: McpMount,
    key: String,
    runtime: Runtime,
    _state: tempfile::TempDir,
}

static SERVED: LazyLock<McpFixture> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let snapshot = dir.path().join("snapshot");
    let options = BuildOptions {
        plan: Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/sample/plan.toml"),
        sources: None,
        destination: Destination::Folder(snapshot.clone()),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: true,
        progress: BuildProgress::Silent,
    };
    build(&options).expect("the sample builds");
    let snapshot = Arc::new(Snapshot::open(&snapshot).expect("the sample opens"));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let mut tariff = Tariff::CONTRACT;
    tariff.free.monthly_units = 1_000_000_000;
    tariff.free.limits.per_minute = 1_000_000_000;
    tariff.free.limits.per_day = 1_000_000_000;
    let settings = Settings { tariff, durability: Durability::Window, ..Settings::default() };
    let accounts = Arc::new(Accounts::open(dir.path(), settings, clock.now()).expect("a new state"));
    let act = ActContext { actor: hornbook_accounts::actor::Actor::program("fuzz"), at: clock.now().wall };
    let account = accounts.create_account("fuzz".to_owned(), &act).expect("an account").id;
    accounts.approve_account(account, &act).expect("it is approved");
    let scopes = ScopeSet::of(&Scope::ALL);
    let wish = NewKey {
        account,
        name: "fuzz".to_owned(),
        kind: KeyKind::Test,
        scopes,
        expires_at: None,
        budget: Budget::default(),
    };
    let key = accounts.create_key(wish, &act, &mut SystemEntropy).expect("a key").secret.reveal();
    let service = Arc::new(Service::new(ServiceParts {
        corpus: Arc::new(Corpus::new(snapshot).expect("an engine")),
        accounts,
        clock,
        base_url: "https://law.example".to_owned(),
        permits: 2,
        unread_bytes_per_account_max: 64 << 20,
        cards: None,
        deep: DeepSettings { default_depth: DepthChoice::Auto, permits: 1 },
    }));
    let mount = McpMount::new(Arc::new(Mcp::new(service)), &McpSettings::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    McpFixture { mount, key, runtime, _state: dir }
});

fuzz_target!(|input: &[u8]| {
    let (head, body) = match input.iter().position(|byte| *byte == 0) {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (&[][..], input),
    };
    let served = &*SERVED;
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    for line in head.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(&line[..colon]), value) {
            headers.append(name, value);
        }
    }
    if body.len() % 2 == 0
        && let Ok(bearer) = HeaderValue::from_str(&format!("Bearer {}", served.key))
    {
        headers.insert("authorization", bearer);
    }
    let (body, progress) = (Bytes::copy_from_slice(body), Progress::default());
    let request = MountRequest {
        method: &Method::POST,
        path: MCP_PATH,
        segments: &["api".into(), "mcp".into()],
        query: None,
        parameters: &[],
        headers: &headers,
        origin: &RequestOrigin::of(&headers),
        body: &body,
        client: IpAddr::V4(Ipv4Addr::LOCALHOST),
        id: "fuzz",
        progress: &progress,
    };
    let answer = served.runtime.block_on(served.mount.answer(request));
    assert!(answer.internal.is_none(), "{:?}", answer.internal);
    let status = answer.response.status().as_u16();
    assert!(matches!(status, 200 | 202 | 400 | 401 | 403 | 404 | 415 | 429), "{status}");
    let body = answer.response.body();
    if status == 202 {
        assert!(body.is_empty());
        return;
    }
    let message: Value = serde_json::from_slice(body).expect("an answer is JSON");
    let is_response = |message: &Value| {
        message["jsonrpc"] == "2.0" && message.get("result").is_some() != message.get("error").is_some()
    };
    assert!(is_response(&message) || message.as_array().is_some_and(|list| list.iter().all(is_response)), "{message}");
});
