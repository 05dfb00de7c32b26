//! Executes the pages' work that reads or writes the state, on threads that may block. Each kind of
//! work has its own queue, so a flood of one kind does not delay the others. Searches do not use
//! these queues: people can sign in and operators can work while searches are refused. Passwords
//! are checked one at a time.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use hornbook_accounts::blocking;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::key::KeyDigest;
use hornbook_base::client_network::ClientNetwork;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot};

use super::page_error::PageError;
use crate::api::service::Service;
use crate::token_buckets::{ClientRate, TokenBuckets};

/// See `nice` of Linux: where all processors are busy, hashing passwords gets a tenth of one.
const PASSWORD_NICENESS: i32 = 10;

/// Password attempts per minute: from one address, and for one login name, whether or not the name
/// exists.
const ATTEMPTS_PER_ADDRESS: u32 = 20;
const ATTEMPTS_PER_NAME: u32 = 6;

/// Per minute for one signed-in person: submitted forms, and ledger exports.
const CHANGES_PER_ACCOUNT: u32 = 30;
const EXPORTS_PER_ACCOUNT: u32 = 4;

/// Ledger exports of all accounts that may run at once. Each waits for its reader.
const EXPORTS_AT_ONCE: usize = 64;

/// New accounts per minute from one client network, and from one site.
const SIGN_UPS_PER_ADDRESS: u32 = 6;

pub(super) struct WorkQueues {
    service: Arc<Service>,
    people: LimitedQueue,
    visitors: LimitedQueue,
    operators: LimitedQueue,
    /// For pages of ledgers.
    statements: LimitedQueue,
    /// For the parts of exported ledgers, which are long.
    export_parts: LimitedQueue,
    exporting: Arc<Mutex<HashSet<AccountId>>>,
    /// For work that reads a whole snapshot.
    long: LimitedQueue,
    passwords: PasswordQueues,
    changes: TokenBuckets<AccountId>,
    exports: TokenBuckets<AccountId>,
    sign_ups: TokenBuckets<ClientNetwork>,
}

/// The person whose password is checked.
#[derive(Clone, Copy, Debug)]
pub(super) enum PasswordAttempt<'a> {
    /// A person who is signed in.
    SignedIn(AccountId),
    /// The person with this login name, if there is one.
    Named(&'a str),
}

impl WorkQueues {
    pub(super) fn new(service: Arc<Service>) -> Self {
        Self {
            service,
            people: LimitedQueue::new(2, 64),
            visitors: LimitedQueue::new(1, 32),
            operators: LimitedQueue::new(1, 16),
            statements: LimitedQueue::new(2, 32),
            export_parts: LimitedQueue::new(1, EXPORTS_AT_ONCE),
            exporting: Arc::default(),
            long: LimitedQueue::new(1, 0),
            passwords: PasswordQueues::new(),
            changes: TokenBuckets::new(CHANGES_PER_ACCOUNT),
            exports: TokenBuckets::new(EXPORTS_PER_ACCOUNT),
            sign_ups: TokenBuckets::new(SIGN_UPS_PER_ADDRESS),
        }
    }

    /// Runs work for a person who is signed in or has just proved their identity.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.people.run(work).await
    }

    /// Runs work for any visitor.
    pub(super) async fn visitor_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.visitors.run(work).await
    }

    /// Runs work for the operator.
    pub(super) async fn operator_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.operators.run(work).await
    }

    /// Runs work that reads many ledger entries.
    pub(super) async fn statement_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.statements.run(work).await
    }

    /// Runs work that may take minutes. Only one such job runs at a time; others are refused at
    /// once.
    pub(super) async fn long_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.long.run(work).await
    }

    /// Counts a form sent by a signed-in person against the limit.
    pub(super) fn count_change(&self, account: AccountId) -> Result<(), PageError> {
        counted(self.changes.take(account, self.service.now().steady))
    }

    /// Counts a ledger export against the limit. An account has one at a time.
    pub(super) fn begin_export(&self, account: AccountId) -> Result<ExportPermit, PageError> {
        let mut exporting = self.exporting.lock().unwrap_or_else(PoisonError::into_inner);
        if exporting.len() >= EXPORTS_AT_ONCE || !exporting.insert(account) {
            return Err(PageError::Busy);
        }
        drop(exporting);
        let permit = ExportPermit { exporting: Arc::clone(&self.exporting), account };
        counted(self.exports.take(account, self.service.now().steady)).map(|()| permit)
    }

    /// Makes a part of an export. All exports that run find a place in the queue.
    pub(super) async fn export_work<T: Send + 'static>(
        &self,
        _permit: &ExportPermit,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.export_parts.run(work).await
    }

    /// Counts a new account against the limit. Each account leaves records until the operator
    /// reviews it.
    pub(super) fn count_sign_up(&self, client: IpAddr) -> Result<(), PageError> {
        let (now, network) = (self.service.now().steady, ClientNetwork::of(client));
        let site = network.site();
        let of_site = if site == network { Ok(()) } else { self.sign_ups.take(site, now) };
        counted(self.sign_ups.take(network, now).and(of_site))
    }

    /// Runs work that hashes a password, requested from this address.
    pub(super) async fn password_work<T: Send + 'static>(
        &self,
        client: IpAddr,
        attempt: PasswordAttempt<'_>,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.passwords.run(&self.service, client, attempt, work).await
    }

    /// Records a successful sign-in with this name from this network, so that failed attempts from
    /// other networks cannot block it.
    pub(super) fn record_sign_in(&self, client: IpAddr, name: &str) {
        self.passwords.familiar.add((of_name(name), ClientNetwork::of(client)));
    }
}

/// An export that runs, until it is dropped.
pub(super) struct ExportPermit {
    exporting: Arc<Mutex<HashSet<AccountId>>>,
    account: AccountId,
}

impl Drop for ExportPermit {
    fn drop(&mut self) {
        self.exporting.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.account);
    }
}

fn counted(taken: Result<(), u64>) -> Result<(), PageError> {
    taken.map_err(|seconds| PageError::RateLimited { seconds })
}

/// The work of one kind, with a limit on jobs that run at once and on jobs that wait.
struct LimitedQueue {
    run_slots: Arc<Semaphore>,
    queue_slots: Semaphore,
}

impl LimitedQueue {
    fn new(at_once: usize, waiting: usize) -> Self {
        Self { run_slots: Arc::new(Semaphore::new(at_once)), queue_slots: Semaphore::new(at_once + waiting) }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        let (_place, turn) = self.turn().await?;
        let thread = tokio::task::spawn_blocking(move || {
            // Released when the work ends, not when the browser disconnects.
            let _turn = turn;
            blocking::allowed(work)
        });
        let done = thread.await;
        done.unwrap_or_else(|error| Err(ChangeError::Refused(format!("the work did not finish: {error}"))))
            .map_err(PageError::from)
    }

    /// A place in the queue, and the permission to run.
    async fn turn(&self) -> Result<(SemaphorePermit<'_>, OwnedSemaphorePermit), PageError> {
        let place = self.queue_slots.try_acquire().map_err(|_| PageError::Busy)?;
        let turn = Arc::clone(&self.run_slots).acquire_owned().await.map_err(|_| PageError::Busy)?;
        Ok((place, turn))
    }
}

/// The thread that hashes passwords. A hash takes 19 MiB, and the allocator keeps up to nine times as much for each thread that
/// hashed. On the threads for blocking work, of which there can be hundreds, a flood of sign-ins would take gigabytes.
struct PasswordThread {
    jobs: Sender<Box<dyn FnOnce() + Send>>,
}

impl PasswordThread {
    fn start() -> Self {
        let (jobs, received) = channel::<Box<dyn FnOnce() + Send>>();
        let run = move || {
            // A search need not wait until a hash is finished. If this is not permitted, it may.
            let _ = rustix::process::nice(PASSWORD_NICENESS);
            for job in received {
                // The thread goes on after a panic, of which the request that waits for the job learns.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        // Without the thread nobody receives the jobs, and each of them fails.
        let _ = std::thread::Builder::new().name("passwords".to_owned()).spawn(run);
        Self { jobs }
    }

    /// Runs work when it has its turn in this queue.
    async fn run<T: Send + 'static>(
        &self,
        queue: &LimitedQueue,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        let (_place, turn) = queue.turn().await?;
        let (tell, done) = oneshot::channel();
        let job = move || {
            // Released when the work ends, not when the browser disconnects.
            let _turn = turn;
            let _ = tell.send(work());
        };
        let failed = || PageError::Failed("the thread for passwords did not finish the work".to_owned());
        self.jobs.send(Box::new(job)).map_err(|_| failed())?;
        done.await.map_err(|_| failed())?.map_err(PageError::from)
    }
}

/// Limits password attempts. Attempts from unknown networks have their own rate limits and their
/// own queue. People who are signed in, or who have signed in from the same network before, use
/// other ones.
struct PasswordQueues {
    thread: PasswordThread,
    unknown_networks: LimitedQueue,
    known: LimitedQueue,
    by_address: ClientRate,
    by_name: TokenBuckets<u128>,
    by_place: TokenBuckets<NameAndNetwork>,
    by_account: TokenBuckets<AccountId>,
    familiar: KnownSignInNetworks,
    /// For reading known networks from the state.
    lookups: LimitedQueue,
}

/// A hashed login name, and the network from which it was used.
type NameAndNetwork = (u128, ClientNetwork);

impl PasswordQueues {
    fn new() -> Self {
        // Only one password is checked at a time, which takes about 20 ms. Both queues share this
        // limit.
        let strangers = LimitedQueue::new(1, 32);
        let known = LimitedQueue { run_slots: Arc::clone(&strangers.run_slots), queue_slots: Semaphore::new(16) };
        Self {
            thread: PasswordThread::start(),
            unknown_networks: strangers,
            known,
            by_address: ClientRate::new(ATTEMPTS_PER_ADDRESS, None),
            by_name: TokenBuckets::new(ATTEMPTS_PER_NAME),
            by_place: TokenBuckets::new(ATTEMPTS_PER_NAME),
            by_account: TokenBuckets::new(ATTEMPTS_PER_NAME),
            familiar: KnownSignInNetworks::default(),
            lookups: LimitedQueue::new(1, 64),
        }
    }

    async fn run<T: Send + 'static>(
        &self,
        service: &Service,
        client: IpAddr,
        attempt: PasswordAttempt<'_>,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, PageError> {
        let (now, network) = (service.now().steady, ClientNetwork::of(client));
        match attempt {
            PasswordAttempt::SignedIn(account) => {
                counted(self.by_account.take(account, now))?;
                self.thread.run(&self.known, work).await
            }
            PasswordAttempt::Named(name) => {
                let place = (of_name(name), network);
                if !self.familiar.has(place) {
                    counted(self.by_address.take(client, now).map_err(|exceeded| exceeded.wait_seconds))?;
                    if !self.is_stored_as_known(service, name, client).await {
                        counted(self.by_name.take(place.0, now))?;
                        return self.thread.run(&self.unknown_networks, work).await;
                    }
                    self.familiar.add(place);
                }
                counted(self.by_place.take(place, now))?;
                self.thread.run(&self.known, work).await
            }
        }
    }

    /// Whether an earlier run of this server or another server recorded a sign-in with this name from this network.
    async fn is_stored_as_known(&self, service: &Service, name: &str, client: IpAddr) -> bool {
        let (accounts, name) = (Arc::clone(service.accounts()), name.to_owned());
        let known = self.lookups.run(move || accounts.knows_network(&name, client, &mut SystemEntropy)).await;
        // Without an answer, the network counts as unknown. The person can try again.
        known.unwrap_or(false)
    }
}

fn of_name(name: &str) -> u128 {
    KeyDigest::of_secret(&name.trim().to_ascii_lowercase()).bucket()
}

/// The networks from which people signed in since the start, by login name. The accounts store them
/// too, as keyed hashes.
#[derive(Default)]
struct KnownSignInNetworks {
    places: Mutex<(HashSet<NameAndNetwork>, VecDeque<NameAndNetwork>)>,
}

const KNOWN_NETWORKS_MAX: usize = 16_384;

impl KnownSignInNetworks {
    fn has(&self, place: NameAndNetwork) -> bool {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).0.contains(&place)
    }

    fn add(&self, place: NameAndNetwork) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, order) = &mut *places;
        if known.insert(place) {
            order.push_back(place);
        }
        if order.len() > KNOWN_NETWORKS_MAX
            && let Some(oldest) = order.pop_front()
        {
            known.remove(&oldest);
        }
    }
}
