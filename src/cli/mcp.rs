//! `hornbook mcp`: the Model Context Protocol over standard input and output.

use std::error::Error;
use std::io::{BufReader, stdin, stdout};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hornbook::api::corpus::Corpus;
use hornbook::api::own_synonyms::read_synonyms;
use hornbook::api::service::{Service, ServiceParts};
use hornbook::client::ServerAddress;
use hornbook::mcp::{Backend, Forward, Local, MCP_PATH, Mcp, serve};
use hornbook::tls_client::Trust;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::rate_limit::RateLimits;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::tier::Tariff;
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_corpus::snapshot::Snapshot;

use crate::cli::{CommandResult, GlobalOptions, settings};

/// Limits of the account that exists only while the command runs.
const CALLS_OF_A_LOCAL_ACCOUNT: u32 = 1_000_000_000;

/// Serve agents that start this command themselves, over standard input and output
///
/// Answers from a snapshot in this process: no key is needed and nothing is metered. With --server,
/// it forwards to a running service instead, with a key from --key-file or from HORNBOOK_KEY in the
/// environment.
#[derive(Debug, Args)]
pub(crate) struct McpCommand {
    /// Folder of the snapshot [default: the current one of the data directory]
    #[arg(conflicts_with = "server")]
    snapshot: Option<PathBuf>,

    /// URL of a running service, such as https://law.example.org
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// File with the API key for the service
    #[arg(long, value_name = "FILE", requires = "server")]
    key_file: Option<PathBuf>,

    /// Trust the certificates in this PEM file for the service [default: those that the system
    /// trusts]
    #[arg(long, value_name = "FILE", requires = "server")]
    ca: Option<PathBuf>,

    /// Allow the key to be sent without encryption to an http:// URL of another machine
    #[arg(long, requires = "server")]
    plain: bool,
}

impl McpCommand {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        // Kept until the end of this function: dropping it removes the folder with the state of its
        // account.
        let mut local = None;
        let backend = match &self.server {
            Some(url) => Backend::Forward(Arc::new(self.forward(url)?)),
            None => {
                let opened = LocalService::open(self.snapshot.clone(), options)?;
                let backend = opened.backend.clone();
                local = Some(opened);
                Backend::Local(backend)
            }
        };
        runtime.block_on(serve(backend, BufReader::new(stdin()), stdout()))?;
        // A thread may be blocked on input that never arrives.
        runtime.shutdown_background();
        if let Some(LocalService { accounts, .. }) = local {
            accounts.close();
        }
        Ok(())
    }

    fn forward(&self, url: &str) -> Result<Forward, Box<dyn Error>> {
        let trust = self.ca.clone().map_or(Trust::System, Trust::File);
        let (server, path) = ServerAddress::with_path(url, &trust)?;
        let path = if path == "/" { MCP_PATH.to_owned() } else { path };
        let key = self.key()?;
        if key.is_some() && !self.plain && !server.is_private() {
            return Err(format!(
                "{url} is not encrypted, so others on the network could read the key; use https://, or --plain if you trust the network"
            )
            .into());
        }
        Ok(Forward::new(server, path, key))
    }

    fn key(&self) -> Result<Option<String>, Box<dyn Error>> {
        let key = match &self.key_file {
            Some(file) => {
                let read = std::fs::read_to_string(file);
                Some(read.map_err(|error| format!("cannot read the key file {}: {error}", file.display()))?)
            }
            None => std::env::var_os("HORNBOOK_KEY").and_then(|key| key.into_string().ok()),
        };
        Ok(key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()))
    }
}

/// A service in this process with one account that is free. Its state is in a temporary folder that
/// is removed at the end. Calls are metered there as usual, so the service needs no special path
/// for local use.
struct LocalService {
    backend: Local,
    accounts: Arc<Accounts>,
    _state: tempfile::TempDir,
}

impl LocalService {
    fn open(snapshot: Option<PathBuf>, options: &GlobalOptions) -> Result<Self, Box<dyn Error>> {
        let config = options.configuration()?;
        let snapshot = Arc::new(Snapshot::open(&options.snapshot(snapshot)?)?);
        let synonyms = read_synonyms(config.search.synonyms.as_deref())?;
        let corpus = Arc::new(Corpus::with_synonyms(snapshot, synonyms)?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let state = tempfile::tempdir()?;
        let mut tariff = Tariff::CONTRACT;
        tariff.free.monthly_units = CALLS_OF_A_LOCAL_ACCOUNT;
        tariff.free.limits = RateLimits { per_minute: CALLS_OF_A_LOCAL_ACCOUNT, per_day: CALLS_OF_A_LOCAL_ACCOUNT };
        let deep = settings::deep(&config);
        let settings = Settings { tariff, durability: Durability::Window, ..settings::accounts(&config) };
        let accounts = Arc::new(Accounts::open(state.path(), settings, clock.now())?);
        let key = key_of_a_new_account(&accounts, &*clock)?;
        let service = Arc::new(Service::new(ServiceParts {
            corpus,
            accounts: Arc::clone(&accounts),
            clock,
            base_url: config.server.base_url.as_ref().map_or_else(String::new, |url| url.0.clone()),
            permits: config.server.permits.get() as usize,
            deep,
            unread_bytes_per_account_max: config.server.unread_bytes_per_account_max.get() as usize,
            cards: None,
        }));
        let names = settings::mcp(&config).names;
        let backend = Local { mcp: Arc::new(Mcp::new(service)), key, names };
        Ok(Self { backend, accounts, _state: state })
    }
}

fn key_of_a_new_account(accounts: &Accounts, clock: &dyn Clock) -> Result<String, Box<dyn Error>> {
    let act = ActContext { actor: Actor::program("hornbook mcp"), at: clock.now().wall };
    let account = accounts.create_account("standard input".to_owned(), &act)?.id;
    accounts.approve_account(account, &act)?;
    let scopes = ScopeSet::of(&Scope::ALL);
    let wish = NewKey {
        account,
        name: "local".to_owned(),
        kind: KeyKind::Test,
        scopes,
        expires_at: None,
        budget: Budget::default(),
    };
    Ok(accounts.create_key(wish, &act, &mut SystemEntropy)?.secret.reveal())
}
