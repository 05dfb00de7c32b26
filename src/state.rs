//! The state file, `state.redb`, with accounts, keys, wallets, the ledger, orders and sessions.
//!
//! This layer has tables and checksummed records, and creates, opens, checks, copies and restores the file safely. It
//! does not know what a credit is. Main types: [`State`] (an open file), [`Medium`] (where its bytes are), [`Table`],
//! `Writing` and `Reading` (the two kinds of transaction).
//!
//! Opening runs redb's integrity check, then ours: every record of every table must have its checksum, and the file
//! must not be older than `state.mark` says. redb does not verify checksums on ordinary reads.

pub(crate) mod check;
pub(crate) mod codec;
pub(crate) mod copy;
mod error;
mod lock;
mod mark;
mod medium;
mod owed;
mod schema;
mod seal_key;
mod transaction;

pub(crate) use copy::restore;
pub use error::{DamageKind, StateError};
pub use lock::{DataLock, exposure};
pub use mark::{Mark, MarkFile};
pub use medium::{FileMedium, Medium, create_data_directory};
pub use schema::{SCHEMA_VERSION, Table, create_schema};
pub use seal_key::SEAL_KEY_BYTES;
pub(crate) use transaction::{Reading, Writing};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Database, ReadableDatabase};

/// File names inside the data directory.
pub const STATE_FILE: &str = "state.redb";
pub const MARK_FILE: &str = "state.mark";
pub const OWED_FILE: &str = "state.owed";
pub const SEAL_KEY_FILE: &str = "state.key";
const LOCK_FILE: &str = "state.lock";

/// An open and checked state file.
pub struct State {
    database: Database,
    medium: Arc<dyn Medium>,
    /// Set when the file is to be closed: long readings give up.
    is_abandoned: Arc<AtomicBool>,
}

impl State {
    /// Opens the state of a data directory, creating it on first use.
    pub fn open(data: &Path) -> Result<Self, StateError> {
        let medium = FileMedium::in_directory(data)?;
        let medium: Arc<dyn Medium> = Arc::new(medium);
        Self::open_medium(&medium)
    }

    /// Opens and checks what the medium holds.
    pub fn open_medium(medium: &Arc<dyn Medium>) -> Result<Self, StateError> {
        // Damaged bytes can trip assertions inside the storage engine; for the operator that is damage like any other.
        let opened = catch_unwind(AssertUnwindSafe(|| Self::open_unguarded(Arc::clone(medium))));
        opened.unwrap_or_else(|panic| Err(StateError::damaged(&**medium, DamageKind::Panicked(panic_text(&*panic)))))
    }

    fn open_unguarded(medium: Arc<dyn Medium>) -> Result<Self, StateError> {
        let mut database = medium.open()?;
        schema::check_and_migrate(&mut database, &*medium, &schema::STEPS)?;
        check::not_older_than_mark(&database, &*medium)?;
        Ok(Self { database, medium, is_abandoned: Arc::default() })
    }

    pub(crate) fn write(&self) -> Result<Writing, StateError> {
        Writing::begin(&self.database)
    }

    pub(crate) fn read(&self) -> Result<Reading, StateError> {
        let transaction = self.database.begin_read().map_err(|e| StateError::storage("start reading", e.into()))?;
        Ok(Reading::new(transaction).until(&self.is_abandoned))
    }

    /// Makes readings under way give up at their next record.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }

    pub fn medium(&self) -> &Arc<dyn Medium> {
        &self.medium
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}
