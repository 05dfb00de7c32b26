//! An open state file, checked before anything reads it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::database::StateDatabase;
use super::error::{DamageKind, StateError};
use super::storage::{FileStorage, StateStorage};
use super::transaction::{StateReader, StateWriter};
use super::{check, schema};

/// An open and checked state file.
pub struct State {
    database: Box<dyn StateDatabase>,
    medium: Arc<dyn StateStorage>,
    /// Set when the file must be closed, so that long reads stop.
    reads_aborted: Arc<AtomicBool>,
}

impl State {
    /// Opens the state of a data directory, creating it on first use.
    pub fn open(data: &Path) -> Result<Self, StateError> {
        let medium = FileStorage::in_directory(data)?;
        let medium: Arc<dyn StateStorage> = Arc::new(medium);
        Self::open_medium(&medium)
    }

    /// Opens and checks the state in the medium.
    pub fn open_medium(medium: &Arc<dyn StateStorage>) -> Result<Self, StateError> {
        // Damaged bytes can trigger assertions in the storage engine. The operator gets this as
        // damage like any other.
        let opened = catch_unwind(AssertUnwindSafe(|| Self::open_unguarded(Arc::clone(medium))));
        opened.unwrap_or_else(|panic| {
            Err(StateError::damaged(&medium.describe(), DamageKind::Panicked(panic_text(&*panic))))
        })
    }

    fn open_unguarded(medium: Arc<dyn StateStorage>) -> Result<Self, StateError> {
        let (mut database, place) = (medium.open()?, medium.describe());
        schema::check_and_migrate(&mut *database, &place, &schema::STEPS)?;
        if let Some(marked) = medium.mark()? {
            check::not_older_than_mark(&*database, marked, &place)?;
        }
        Ok(Self { database, medium, reads_aborted: Arc::default() })
    }

    pub(crate) fn write(&self) -> Result<StateWriter, StateError> {
        StateWriter::begin(&*self.database)
    }

    pub(crate) fn read(&self) -> Result<StateReader, StateError> {
        Ok(StateReader::begin(&*self.database)?.abort_on(&self.reads_aborted))
    }

    /// Makes reads in progress stop at their next record.
    pub(crate) fn abort_reads(&self) {
        self.reads_aborted.store(true, Ordering::Relaxed);
    }

    pub fn medium(&self) -> &Arc<dyn StateStorage> {
        &self.medium
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}
