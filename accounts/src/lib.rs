//! Accounts, keys, metering and the ledger: who may call, what a call costs, and that no credit is
//! lost or made up.
//!
//! [`Accounts`] is the entry point. A metered call goes through `admission`, in memory and in under
//! two microseconds. The `writer` commits its debit together with many others. Operators change
//! data through `changes` and read it through `views`. Time is passed in as [`Now`], randomness as
//! [`Entropy`](entropy::Entropy).
//!
//! This module depends neither on HTTP nor on the corpus.

pub mod actor;
pub mod admission;
pub mod audit;
pub mod audit_text;
pub mod balance;
#[cfg(test)]
mod balance_tests;
pub mod blocking;
pub mod budget;
mod catch_up;
pub mod changes;
pub mod common_clock;
mod directory;
pub mod entropy;
pub mod error;
pub mod formation;
pub mod grant;
pub mod idempotency;
pub mod ids;
mod job;
pub mod key;
mod leases;
pub mod ledger;
mod line_budgets;
mod maintenance;
pub mod migrate;
mod owed;
pub mod people;
mod posting;
mod queue;
pub mod rate_limit;
pub mod records;
mod reply;
pub mod restore;
pub mod scope;
pub mod sealed;
pub mod sealing;
mod settings;
mod shared;
pub mod state;
mod stored_budgets;
mod sync;
pub mod tier;
pub mod tracking;
pub mod usage_reports;
pub mod views;
pub mod visible_text;
pub mod watches;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

pub use leases::LeaseStatus;
pub use settings::{DRAFT_DAYS, Durability, LEASE_SEC, RETRY_HORIZON_SEC, SESSION_DAYS, SESSION_IDLE_HOURS, Settings};

use crate::state::{
    DataLock, JournalStore, STATE_FILE, State, StateError, StateStorage, StateTable, create_data_directory,
};
use catch_up::load_all;
use common_clock::ClockDifference;
use directory::lock;
use error::LedgerError;
use hornbook_base::clock::Now;
use leases::journal::Journal;
use leases::journal_writer::JournalWriter;
use leases::keeper::LeaseKeeper;
use leases::local::{Amounts, LeaseTime};
use leases::record::ServerId;
use shared::SharedAccounts;
use writer::Writer;

/// All accounts of one data directory. Dropping it commits waiting jobs and closes the file.
pub struct Accounts {
    pub(crate) shared: Arc<SharedAccounts>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// The thread that writes the journal of a server that shares its state.
    journal: Mutex<Option<JoinHandle<()>>>,
    _owner: Option<DataLock>,
}

impl Accounts {
    /// Locks the data directory and opens the state file in it.
    pub fn open(data: &Path, settings: Settings, now: Now) -> Result<Self, StateError> {
        Self::open_locked(data, settings, now, || State::open(data))
    }

    /// Locks the data directory and opens a state that is stored elsewhere.
    pub fn open_on(
        storage: &Arc<dyn StateStorage>,
        data: &Path,
        settings: Settings,
        now: Now,
    ) -> Result<Self, StateError> {
        Self::open_locked(data, settings, now, || State::open_medium(storage))
    }

    fn open_locked(
        data: &Path,
        settings: Settings,
        now: Now,
        open: impl FnOnce() -> Result<State, StateError>,
    ) -> Result<Self, StateError> {
        create_data_directory(data)?;
        let owner = DataLock::acquire(data)?;
        let mut accounts = Self::start(open()?, settings, now)?;
        accounts._owner = Some(owner);
        Ok(accounts)
    }

    /// Starts with an open state.
    pub fn start(state: State, settings: Settings, now: Now) -> Result<Self, StateError> {
        let Prepared { shared, writer, journal } = Prepared::read(state, settings, now)?;
        let journal = journal.map(|journal| start_thread("journal", move || journal.run()));
        let thread = start_thread("ledger", move || writer.run())?;
        Ok(Self { shared, writer: Mutex::new(Some(thread)), journal: Mutex::new(journal.transpose()?), _owner: None })
    }

    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Whether debits are accepted now, or the reason why not.
    pub fn health(&self) -> Result<(), LedgerError> {
        self.shared.queue.check_open()
    }

    /// Whether other servers may change the accounts, too.
    pub fn is_shared(&self) -> bool {
        self.shared.queue.has_others()
    }

    /// Waits until what other servers changed before this call is known here. Does not wait if they cannot change anything, or
    /// if their changes cannot be read now.
    pub async fn catch_up(&self) {
        if let Some(caught_up) = self.shared.queue.follow() {
            caught_up.await;
        }
    }

    /// The last error of the state file, for the log.
    pub fn last_trouble(&self) -> Option<String> {
        self.shared.last_error()
    }

    /// Commits waiting jobs and closes the file. Every later call is refused.
    pub fn close(&self) {
        // Tries to store the counters of uncharged calls. If this fails, a restart loses those of
        // the last half minute.
        let _ = self.store_counters();
        // The journal first: the writer reports what it has.
        for (queue, thread) in [
            (self.shared.journal.as_ref().map(|journal| &journal.queue), &self.journal),
            (Some(&self.shared.queue), &self.writer),
        ] {
            queue.inspect(|queue| queue.stop());
            if let Some(thread) = lock(thread).take() {
                // It does not panic on purpose. If it did, its uncommitted work was never acknowledged.
                let _ = thread.join();
            }
        }
        *self.shared.store.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// What the threads of the ledger begin with.
struct Prepared {
    shared: Arc<SharedAccounts>,
    writer: Writer,
    /// None if no other server uses the state.
    journal: Option<JournalWriter>,
}

impl Prepared {
    fn read(state: State, settings: Settings, now: Now) -> Result<Self, StateError> {
        let medium = Arc::clone(state.medium());
        // Makes the refunds that were owed when the program ended.
        owed::repay(&state, &owed::noted(&*medium)?)?;
        medium.clear_owed()?;
        let Some(file) = medium.open_journal()? else { return Self::with_journal(state, settings, now, None) };
        let is_known = state.read()?.get(StateTable::Servers, &file.server())?.is_some();
        let calls = if is_known { 0 } else { file.records()?.len() };
        if calls > 0 {
            return Err(StateError::ForeignJournal { place: medium.describe(), calls });
        }
        let (state, mut file) = match is_known {
            true => Self::with_journal(state, settings, now, Some(file))?.end_earlier_run()?,
            false => (state, file),
        };
        // Each run is a server of its own, so that a copy of the journal cannot use the same leases.
        file.renew()?;
        Self::with_journal(state, settings, now, Some(file))
    }

    /// Reports the calls of the run before, and returns its leases.
    fn end_earlier_run(self) -> Result<(State, Box<dyn JournalStore>), StateError> {
        let Self { shared, mut writer, journal } = self;
        writer.leave()?;
        let state = shared.store.write().unwrap_or_else(PoisonError::into_inner).take();
        let closed = || StateError::Storage { doing: "use the state", source: Box::new(redb::Error::DatabaseClosed) };
        state.zip(journal.and_then(JournalWriter::into_file)).ok_or_else(closed)
    }

    fn with_journal(
        state: State,
        settings: Settings,
        now: Now,
        file: Option<Box<dyn JournalStore>>,
    ) -> Result<Self, StateError> {
        let clock_difference = ClockDifference::default();
        if file.is_some() {
            drop(clock_difference.begin(&state)?);
        }
        let now = clock_difference.correct(now);
        let reading = state.read()?;
        let number = reading.number();
        let journal = file.as_ref().map(|file| Arc::new(Journal::new(ServerId(file.server()), settings.durability)));
        let shared = Arc::new(SharedAccounts::new(settings, state, journal.clone(), clock_difference));
        let posted = load_all(&shared, &reading)?;
        shared.directory().refill_windows(&reading, now)?;
        drop(reading);
        let (mut keeper, mut started) = (None, None);
        if let Some((journal, file)) = journal.zip(file) {
            let known = posted.servers.get(&journal.server).cloned().unwrap_or_default();
            // Leases of an earlier run: nothing is left of them but what calls in the journal hold.
            for ((account, _), lease) in posted.leases.iter().filter(|((_, server), _)| *server == journal.server) {
                if let Some(state) = shared.directory().account(*account) {
                    state.balance.grant(lease.id, lease.month, Amounts::default(), LeaseTime::now());
                }
            }
            let (writer, unreported) = JournalWriter::open(&shared, &journal, file, &known)?;
            keeper = Some(LeaseKeeper::new(Arc::clone(&journal), &settings, unreported));
            started = Some(writer);
        }
        let writer = Writer::new(Arc::clone(&shared), posted, number, keeper);
        Ok(Self { shared, writer, journal: started })
    }
}

fn start_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StateError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|e| StateError::file("start the writer of", Path::new(STATE_FILE), e))
}

impl Drop for Accounts {
    fn drop(&mut self) {
        self.close();
    }
}
