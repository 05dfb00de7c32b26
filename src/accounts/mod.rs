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
pub mod sealing;
mod sync;
mod ticket;
pub mod tier;
pub mod tracking;
pub mod views;
mod writer;

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::thread::JoinHandle;

pub use queue::Durability;

use crate::clock::Now;
use crate::state::{DataLock, Medium, Reading, SEAL_KEY_BYTES, State, StateError, create_data_directory};
use directory::{Directory, lock};
use entropy::Entropy;
use error::{ChangeError, LedgerError};
use idempotency::Retries;
use ledger::load::Posted;
use people::PasswordWork;
use queue::Queue;
use sealing::SealKey;
use tier::Tariff;
use writer::Writer;

/// What an operator chooses.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub tariff: Tariff,
    pub durability: Durability,
    /// Usage entries older than this many days become daily rows; none keeps them for ever.
    pub rollup_after_days: Option<u32>,
    /// How long a charged call is answered again to the same idempotency key.
    pub retry_horizon_sec: u32,
    /// How long a draft of a formation order waits for a person.
    pub draft_days: u32,
    /// How long a browser stays signed in that is not used.
    pub session_idle_millis: i64,
    /// And however much it is used.
    pub session_millis: i64,
    pub password_work: PasswordWork,
}

/// A week.
pub const SESSION_IDLE_HOURS: u32 = 7 * 24;

/// A month.
pub const SESSION_DAYS: u32 = 30;

/// Two weeks.
pub const DRAFT_DAYS: u32 = 14;

/// Ten minutes.
pub const RETRY_HORIZON_SEC: u32 = 600;

impl Default for Settings {
    fn default() -> Self {
        Self {
            tariff: Tariff::CONTRACT,
            durability: Durability::Strict,
            rollup_after_days: None,
            retry_horizon_sec: RETRY_HORIZON_SEC,
            draft_days: DRAFT_DAYS,
            session_idle_millis: i64::from(SESSION_IDLE_HOURS) * 3_600_000,
            session_millis: i64::from(SESSION_DAYS) * 86_400_000,
            password_work: PasswordWork::DEFAULT,
        }
    }
}

impl Settings {
    pub(crate) fn retry_horizon_millis(&self) -> i64 {
        i64::from(self.retry_horizon_sec) * 1000
    }
}

/// All accounts of one data directory. Dropping it writes what waits and closes the file.
pub struct Accounts {
    pub(crate) shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
    _owner: Option<DataLock>,
}

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) directory: RwLock<Directory>,
    pub(crate) queue: Queue,
    /// Empty while the writer reopens the file.
    pub(crate) store: RwLock<Option<State>>,
    pub(crate) medium: Arc<dyn Medium>,
    pub(crate) retries: Mutex<Retries>,
    /// Read or made when it is first needed.
    seal_key: Mutex<Option<Arc<SealKey>>>,
    /// Checked or stored.
    passwords_checked: AtomicU64,
    trouble: Mutex<Option<String>>,
    tell_act: OnceLock<Box<audit::TellAct>>,
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
        let shared = Arc::new(Shared {
            settings,
            directory: RwLock::new(directory),
            queue: Queue::new(settings.durability),
            store: RwLock::new(Some(state)),
            medium,
            retries: Mutex::new(retries),
            seal_key: Mutex::default(),
            passwords_checked: AtomicU64::new(0),
            trouble: Mutex::default(),
            tell_act: OnceLock::new(),
        });
        let writer = Writer::new(Arc::clone(&shared), posted);
        let thread = std::thread::Builder::new().name("ledger".to_owned()).spawn(move || writer.run());
        let thread =
            thread.map_err(|e| StateError::file("start the writer of", Path::new(crate::state::STATE_FILE), e))?;
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
        lock(&self.shared.trouble).clone()
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

impl Shared {
    pub(crate) fn directory(&self) -> RwLockReadGuard<'_, Directory> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> RwLockReadGuard<'_, Option<State>> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one consistent moment of the file. While the file is being repaired, this waits.
    pub(crate) fn with_reading<T>(
        &self,
        read: impl FnOnce(&Reading) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        blocking::assert_allowed();
        let store = self.store();
        let closed =
            || StateError::Storage { doing: "use the state file", source: Box::new(redb::Error::DatabaseClosed) };
        read(&store.as_ref().ok_or_else(closed)?.read()?)
    }

    /// The key of what is sealed, made now if there is none yet.
    pub(crate) fn seal_key(&self, entropy: &mut dyn Entropy) -> Result<Arc<SealKey>, ChangeError> {
        blocking::assert_allowed();
        let mut known = lock(&self.seal_key);
        if let Some(key) = &*known {
            return Ok(Arc::clone(key));
        }
        let bytes = match self.medium.seal_key()? {
            Some(bytes) => bytes,
            None => {
                let mut bytes = [0; SEAL_KEY_BYTES];
                entropy.fill(&mut bytes).map_err(ChangeError::Entropy)?;
                self.medium.keep_seal_key(&bytes)?;
                bytes
            }
        };
        let key = Arc::new(SealKey::new(bytes));
        *known = Some(Arc::clone(&key));
        Ok(key)
    }

    pub(crate) fn note_trouble(&self, error: &StateError) {
        *lock(&self.trouble) = Some(error.to_string());
    }
}
