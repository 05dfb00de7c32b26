//! The service without its transports: what can be asked, what it costs, and the one way in.
//!
//! `operations` is the table that everything is rendered from; each operation has a file of its own with the types of
//! its answer; `call` is the way in for every door; `parameters`, `error` and `reply` are what calls are made of;
//! `queue` is where heavy work waits for its turn; `corpus` is the snapshot as operations see it, `renewal` how the next
//! one takes its place; `documents`, with `discovery` and `openapi`, are the table as it is read by programs and people.
//! Nothing here knows hyper or MCP.

mod browse;
pub mod call;
mod checkout;
mod code_bodies;
pub mod corpus;
mod coverage;
mod discovery;
pub mod documents;
pub mod error;
mod formation_status;
mod gis;
mod gis_at;
mod me;
mod node;
mod nodes;
mod openapi;
pub mod operations;
pub mod parameters;
mod queue;
mod references;
pub mod renewal;
pub mod reply;
mod resolve;
mod search;
mod suggest;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::Semaphore;

use crate::accounts::Accounts;
use crate::clock::Clock;
use corpus::Corpus;
use queue::Queue;

/// The version in the path prefix.
pub const API_VERSION: &str = "v1";

/// The version of the OpenAPI description.
pub const OPENAPI_VERSION: &str = "1.0.0";

/// Where packs are sold; every `upgradeUrl` leads there.
pub const CHECKOUT_PATH: &str = "/api/v1/billing/checkout";

/// What the service is made of.
pub struct Parts {
    pub corpus: Arc<Corpus>,
    pub accounts: Arc<Accounts>,
    pub clock: Arc<dyn Clock>,
    /// How clients see the service, without a slash at its end.
    pub base_url: String,
    /// How many pieces of heavy work may run at once.
    pub permits: usize,
}

/// Everything a call needs, shared by every door.
pub struct Service {
    corpus: RwLock<Arc<Corpus>>,
    renewal: Mutex<()>,
    accounts: Arc<Accounts>,
    clock: Arc<dyn Clock>,
    base_url: String,
    queue: Queue,
    given_up: Arc<AtomicU64>,
    started_at_millis: u64,
}

impl Service {
    pub fn new(parts: Parts) -> Self {
        let Parts { corpus, accounts, clock, base_url, permits } = parts;
        let base_url = base_url.trim_end_matches('/').to_owned();
        let started_at_millis = u64::try_from(clock.now().wall.0).unwrap_or(0);
        let corpus = RwLock::new(corpus);
        Self {
            corpus,
            renewal: Mutex::default(),
            accounts,
            clock,
            base_url,
            queue: Queue::new(permits),
            given_up: Arc::default(),
            started_at_millis,
        }
    }

    /// The snapshot that is served now. A call takes it once and keeps to it.
    pub fn corpus(&self) -> Arc<Corpus> {
        Arc::clone(&self.corpus.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn accounts(&self) -> &Arc<Accounts> {
        &self.accounts
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// When the service was made, to tell its requests from those of an earlier start.
    pub fn started_at_millis(&self) -> u64 {
        self.started_at_millis
    }

    /// Each lets one piece of heavy work run.
    pub fn permits(&self) -> &Arc<Semaphore> {
        self.queue.permits()
    }

    /// How many calls wait for a permit.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// How much work ended early because its caller hung up.
    pub fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Where to buy credits.
    pub fn checkout_url(&self) -> String {
        format!("{}{CHECKOUT_PATH}", self.base_url)
    }
}
