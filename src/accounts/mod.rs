//! Accounts, keys, metering and the ledger: what may call, what it costs, and that no credit is lost or made up.
//!
//! [`Accounts`] is the whole of it. A metered call goes through `admission`, in memory and in under two microseconds;
//! its debit is committed by the `writer`, many at once. Operators change things through `changes` and look at them
//! through `views`. Time comes in as [`Now`], randomness as [`Entropy`](entropy::Entropy).
//!
//! This module knows neither HTTP nor the corpus.

pub mod admission;
pub mod audit;
pub mod blocking;
pub mod changes;
mod directory;
pub mod entropy;
pub mod error;
pub mod formation;
pub mod idempotency;
pub mod ids;
mod job;
pub mod key;
pub mod ledger;
mod maintenance;
mod owed;
pub mod pace;
pub mod people;
pub mod purse;
#[cfg(test)]
mod purse_tests;
mod queue;
pub mod records;
pub mod scope;
pub mod sealed;
pub mod sealing;
mod settings;
mod shared;
mod sync;
mod ticket;
pub mod tier;
pub mod tracking;
pub mod views;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

pub use settings::{DRAFT_DAYS, Durability, RETRY_HORIZON_SEC, SESSION_DAYS, SESSION_IDLE_HOURS, Settings};

use crate::clock::Now;
use crate::state::{DataLock, STATE_FILE, State, StateError, create_data_directory};
use directory::{Directory, lock};
use error::LedgerError;
use idempotency::Retries;
use ledger::load::Posted;
use shared::Shared;
use writer::Writer;

/// All accounts of one data directory. Dropping it writes what waits and closes the file.
pub struct Accounts {
    pub(crate) shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
    _owner: Option<DataLock>,
}

impl Accounts {
    /// Takes the data directory and opens what is in it.
    pub fn open(data: &Path, settings: Settings, now: Now) -> Result<Self, StateError> {
        create_data_directory(data)?;
        let owner = DataLock::acquire(data)?;
        let mut accounts = Self::start(State::open(data)?, settings, now)?;
        accounts._owner = Some(owner);
        Ok(accounts)
    }

    /// Starts on an open state.
    pub fn start(state: State, settings: Settings, now: Now) -> Result<Self, StateError> {
        let medium = Arc::clone(state.medium());
        // What callers were told before the program ended stays true.
        owed::repay(&state, &owed::noted(&*medium)?)?;
        medium.clear_owed()?;
        let reading = state.read()?;
        let posted = Posted::load(&reading)?;
        let mut directory = Directory::default();
        let stored = directory::read_stored(&reading)?;
        let counters = directory::read_counters(&reading, &directory.missing(&stored))?;
        directory.take_over(stored, &counters, &posted);
        directory.refill_windows(&reading, now)?;
        let mut retries = Retries::default();
        retries.reload(idempotency::read_all(&reading)?);
        drop(reading);
        medium.set_mark(posted.head.mark());
        let shared = Arc::new(Shared::new(settings, directory, retries, state));
        let writer = Writer::new(Arc::clone(&shared), posted);
        let thread = std::thread::Builder::new().name("ledger".to_owned()).spawn(move || writer.run());
        let thread = thread.map_err(|e| StateError::file("start the writer of", Path::new(STATE_FILE), e))?;
        Ok(Self { shared, writer: Mutex::new(Some(thread)), _owner: None })
    }

    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Whether debits are taken now, and why not.
    pub fn health(&self) -> Result<(), LedgerError> {
        self.shared.queue.check_open()
    }

    /// The last thing that went wrong with the file, for the log.
    pub fn last_trouble(&self) -> Option<String> {
        self.shared.last_trouble()
    }

    /// Writes what waits and closes the file; every later call is refused.
    pub fn close(&self) {
        // Counts of uncharged calls are worth an attempt; without it a restart forgets the last half minute of them.
        let _ = self.store_counters();
        self.shared.queue.stop();
        if let Some(writer) = lock(&self.writer).take() {
            // The writer never unwinds on purpose; if it did, what it had not committed was never acknowledged.
            let _ = writer.join();
        }
        *self.shared.store.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Drop for Accounts {
    fn drop(&mut self) {
        self.close();
    }
}
