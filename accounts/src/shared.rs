//! State shared by calls, changes and the writer: the directory in memory, the queue, the open file.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use super::blocking;
use super::common_clock::ClockDifference;
use super::directory::{Directory, lock};
use super::entropy::Entropy;
use super::error::ChangeError;
use super::idempotency::IdempotencyIndex;
use super::job::no_memory_effect;
use super::leases::journal::Journal;
use super::queue::WriterQueue;
use super::records::AuditRecord;
use super::sealed::{SealedCount, SealedRecords};
use super::sealing::SealKey;
use super::settings::{Durability, Settings};
use crate::state::{SEAL_KEY_BYTES, State, StateError, StateReader, StateStorage, StateTable};

/// Called with an administrative act once it is durable.
pub(super) type AuditListener = dyn Fn(&AuditRecord) + Send + Sync;

pub(crate) struct SharedAccounts {
    pub(crate) settings: Settings,
    pub(crate) directory: RwLock<Directory>,
    pub(crate) queue: WriterQueue,
    /// None if no other server uses the state.
    pub(crate) journal: Option<Arc<Journal>>,
    /// None while the writer reopens the file.
    pub(crate) store: RwLock<Option<State>>,
    pub(crate) medium: Arc<dyn StateStorage>,
    pub(crate) retries: Arc<Mutex<IdempotencyIndex>>,
    /// Read or created when it is first needed.
    seal_key: Mutex<Option<Arc<SealKey>>>,
    /// The number of passwords checked or stored.
    pub(super) passwords_checked: AtomicU64,
    trouble: Mutex<Option<String>>,
    pub(crate) clock_difference: ClockDifference,
    pub(super) tell_act: OnceLock<Box<AuditListener>>,
}

/// The key of the record that identifies the seal key of all servers.
const SEAL_KEY_KEY: &[u8] = b"seal key";

fn other_seal_key(what: &str) -> ChangeError {
    ChangeError::SealKeyLost(format!(
        "state.key of this data directory {what}; copy it from the data directory of another server of the same database"
    ))
}

impl SharedAccounts {
    /// Nothing is in memory yet.
    pub(super) fn new(
        settings: Settings,
        state: State,
        journal: Option<Arc<Journal>>,
        clock_difference: ClockDifference,
    ) -> Self {
        // Another server could spend what a call was answered with before its commit.
        let durability = if journal.is_some() { Durability::Strict } else { settings.durability };
        Self {
            settings,
            directory: RwLock::new(Directory::of_server(journal.as_ref().map(|journal| journal.server))),
            queue: WriterQueue::new(durability, state.medium().look_every()),
            journal,
            medium: Arc::clone(state.medium()),
            store: RwLock::new(Some(state)),
            retries: Arc::default(),
            seal_key: Mutex::default(),
            passwords_checked: AtomicU64::new(0),
            trouble: Mutex::default(),
            clock_difference,
            tell_act: OnceLock::new(),
        }
    }

    pub(crate) fn directory(&self) -> RwLockReadGuard<'_, Directory> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> RwLockReadGuard<'_, Option<State>> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one consistent snapshot of the file. Waits while the file is being repaired.
    pub(crate) fn with_reading<T>(
        &self,
        read: impl FnOnce(&StateReader) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        blocking::assert_allowed();
        let store = self.store();
        let closed =
            || StateError::Storage { doing: "use the state file", source: Box::new(redb::Error::DatabaseClosed) };
        read(&store.as_ref().ok_or_else(closed)?.read()?)
    }

    /// The key of the sealed data. It is created now if nothing is sealed yet. A lost key is never
    /// replaced: a new key could not open the existing data, and data sealed with the new key would
    /// be lost when the old one is put back.
    pub(crate) fn seal_key(&self, entropy: &mut dyn Entropy) -> Result<Arc<SealKey>, ChangeError> {
        blocking::assert_allowed();
        let mut known = lock(&self.seal_key);
        if let Some(key) = &*known {
            return Ok(Arc::clone(key));
        }
        let bytes = match self.medium.seal_key()? {
            Some(bytes) => bytes,
            None => {
                self.refuse_if_anything_is_sealed()?;
                if self.common_seal_key()?.is_some() {
                    return Err(other_seal_key("is missing"));
                }
                let mut bytes = [0; SEAL_KEY_BYTES];
                entropy.fill(&mut bytes).map_err(ChangeError::Entropy)?;
                self.medium.store_seal_key(&bytes)?;
                bytes
            }
        };
        let key = Arc::new(SealKey::new(bytes));
        self.check_common_seal_key(&key)?;
        *known = Some(Arc::clone(&key));
        Ok(key)
    }

    /// Servers of the same accounts seal with the same key.
    fn check_common_seal_key(&self, key: &SealKey) -> Result<(), ChangeError> {
        if !self.queue.has_others() {
            return Ok(());
        }
        let id = key.id();
        let common = match self.common_seal_key()? {
            Some(common) => common,
            None => self.change(move |poster| {
                // Another server may have been faster.
                if let Some(common) = poster.writing.get(StateTable::Meta, SEAL_KEY_KEY)? {
                    return Ok((common, no_memory_effect()));
                }
                poster.writing.put(StateTable::Meta, SEAL_KEY_KEY, &id)?;
                Ok((id.to_vec(), no_memory_effect()))
            })?,
        };
        if common == id { Ok(()) } else { Err(other_seal_key("is not the one with which the other servers seal")) }
    }

    /// Identifies the key of all servers, once one of them has used it.
    fn common_seal_key(&self) -> Result<Option<Vec<u8>>, StateError> {
        if !self.queue.has_others() {
            return Ok(None);
        }
        self.with_reading(|reading| reading.get(StateTable::Meta, SEAL_KEY_KEY))
    }

    fn refuse_if_anything_is_sealed(&self) -> Result<(), ChangeError> {
        let count = self.with_reading(SealedRecords::read)?.count();
        if count.is_none() {
            return Ok(());
        }
        let SealedCount { drafts, intakes } = count;
        Err(ChangeError::SealKeyLost(format!(
            "state.key is missing from the data directory, and {drafts} drafts and {intakes} intakes of orders are sealed with \
             it; restore it from a copy, or remove them with 'hornbook order give-up-sealed'"
        )))
    }

    /// Whether a key exists, in memory or in its file.
    pub(super) fn has_seal_key(&self) -> Result<bool, StateError> {
        Ok(lock(&self.seal_key).is_some() || self.medium.seal_key()?.is_some())
    }

    pub(super) fn last_error(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    pub(crate) fn record_error(&self, error: &StateError) {
        *lock(&self.trouble) = Some(error.to_string());
    }
}
