//! The service: the snapshot it serves, its accounts, its clock, and the queues of heavy work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use hornbook_accounts::Accounts;
use hornbook_accounts::blocking;
use hornbook_accounts::ids::AccountId;
use hornbook_base::clock::{Clock, Now};
use tokio::sync::Semaphore;

use super::cards::CardPayments;
use super::corpus::Corpus;
use super::deep_search::{DeepSearch, DeepSettings};
use super::error::ApiError;
use super::operation::CHECKOUT_PATH;
use super::queue::{WorkLane, WorkQueue};
use super::served_snapshots::ServedSnapshots;
use super::unread::UnreadBytes;

/// The parts of which the service is made.
pub struct ServiceParts {
    pub corpus: Arc<Corpus>,
    pub accounts: Arc<Accounts>,
    pub clock: Arc<dyn Clock>,
    /// The base URL that clients use, without a slash at its end.
    pub base_url: String,
    /// Number of threads for heavy work.
    pub permits: usize,
    pub deep: DeepSettings,
    /// Maximum number of bytes of answers that an account may leave unread.
    pub unread_bytes_per_account_max: usize,
    /// The provider of card payments. If there is none, the operator confirms payments.
    pub cards: Option<Arc<dyn CardPayments>>,
}

/// Maximum number of calls that wait for an external service at once.
const EXTERNAL_CALLS_MAX: usize = 16;

/// For each of as many threads for searches, one document may be checked. At least one always may.
const CORES_PER_DOCUMENT: usize = 4;

/// How long a document waits for its turn: those before it take up to a second each.
const DOCUMENT_WAIT_MAX: Duration = Duration::from_secs(5);

/// Everything a call needs, shared by all transports.
pub struct Service {
    pub(super) snapshots: RwLock<ServedSnapshots>,
    pub(super) renewal: Mutex<()>,
    pub(super) accounts: Arc<Accounts>,
    pub(super) clock: Arc<dyn Clock>,
    base_url: String,
    pub(super) queue: WorkQueue,
    pub(super) deep: DeepSearch,
    /// For documents that are checked.
    pub(super) documents: WorkQueue,
    pub(super) cancelled_work: Arc<AtomicU64>,
    pub(super) unread: UnreadBytes<AccountId>,
    pub(super) cards: Option<Arc<dyn CardPayments>>,
    pub(super) external_permits: Arc<Semaphore>,
    started_at_millis: u64,
}

impl Service {
    pub fn new(parts: ServiceParts) -> Self {
        let ServiceParts { corpus, accounts, clock, base_url, permits, deep, unread_bytes_per_account_max, cards } =
            parts;
        let base_url = base_url.trim_end_matches('/').to_owned();
        let started_at_millis = u64::try_from(clock.now().wall.0).unwrap_or(0);
        Self {
            snapshots: RwLock::new(ServedSnapshots::new(corpus)),
            renewal: Mutex::default(),
            accounts,
            clock,
            base_url,
            queue: WorkQueue::new(permits),
            documents: WorkQueue::for_long_jobs(permits / CORES_PER_DOCUMENT, DOCUMENT_WAIT_MAX),
            deep: DeepSearch::new(deep),
            cancelled_work: Arc::default(),
            unread: UnreadBytes::new(unread_bytes_per_account_max),
            cards,
            external_permits: Arc::new(Semaphore::new(EXTERNAL_CALLS_MAX)),
            started_at_millis,
        }
    }

    /// The snapshot that is served now. A call takes it once and uses it until its end.
    pub fn corpus(&self) -> Arc<Corpus> {
        Arc::clone(self.snapshots.read().unwrap_or_else(PoisonError::into_inner).current())
    }

    /// The provider of card payments, if there is one.
    pub fn cards(&self) -> Option<&Arc<dyn CardPayments>> {
        self.cards.as_ref()
    }

    pub fn accounts(&self) -> &Arc<Accounts> {
        &self.accounts
    }

    pub fn now(&self) -> Now {
        self.clock.now()
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// When the service was created, to distinguish its requests from those of an earlier start.
    pub fn started_at_millis(&self) -> u64 {
        self.started_at_millis
    }

    /// Runs heavy work that nobody pays for, on a thread of the queue of calls, if no paid work waits.
    pub async fn heavy<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.queue.run(WorkLane::Unpaid, self.clock.now().steady, move || blocking::allowed(work)).await
    }

    /// The same for work on a document that is checked, which may take a second.
    pub async fn on_document<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.documents.run(WorkLane::Unpaid, self.clock.now().steady, move || blocking::allowed(work)).await
    }

    /// The number of threads that are free for heavy work.
    pub fn free(&self) -> usize {
        self.queue.free()
    }

    /// The number of threads that are free for deep searches.
    pub fn deep_free(&self) -> usize {
        self.deep.queue.free()
    }

    /// The number of calls that wait in the queue for heavy work.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// How often work ended early because its caller disconnected.
    pub fn given_up(&self) -> u64 {
        self.cancelled_work.load(Ordering::Relaxed)
    }

    /// The URL where credits can be bought.
    pub fn checkout_url(&self) -> String {
        format!("{}{CHECKOUT_PATH}", self.base_url)
    }
}
