//! Reads and writes checksummed records. A `Writing` that is dropped changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Database, Durability, ReadTransaction, ReadableTable, ReadableTableMetadata, TableError, WriteTransaction};

use super::codec::{seal, unseal};
use super::error::StateError;
use super::table::Table;

const WRITING: &str = "write to the state file";
const READING: &str = "read the state file";

/// Gives up a scan or carries on with it.
pub(crate) type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<bool, StateError> + 'v;

/// Key and payload.
pub(crate) type StoredRecord = (Vec<u8>, Vec<u8>);

pub(crate) struct Writing {
    transaction: WriteTransaction,
    changed: bool,
}

impl Writing {
    pub(super) fn begin(database: &Database) -> Result<Self, StateError> {
        let mut transaction =
            database.begin_write().map_err(|e| StateError::storage("begin a change of the state file", e.into()))?;
        // Two syncs a commit: the pages first, then the bit that selects them. One sync would leave it to checksums to
        // tell a torn commit from a whole one.
        transaction.set_two_phase_commit(true);
        transaction
            .set_durability(Durability::Immediate)
            .map_err(|e| StateError::storage("begin a change of the state file", e.into()))?;
        Ok(Self { transaction, changed: false })
    }

    /// Removes every record of a table.
    pub(crate) fn empty(&mut self, table: Table) -> Result<(), StateError> {
        self.changed = true;
        self.transaction.delete_table(table.definition()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        self.create(table)
    }

    pub(super) fn create(&mut self, table: Table) -> Result<(), StateError> {
        self.changed = true;
        self.transaction.open_table(table.definition()).map(drop).map_err(|e| StateError::storage(WRITING, e.into()))
    }

    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let open =
            self.transaction.open_table(table.definition()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        let found = open.get(key).map_err(|e| StateError::storage(WRITING, e.into()))?;
        found.map(|sealed| opened(table, key, sealed.value())).transpose()
    }

    pub(crate) fn put(&mut self, table: Table, key: &[u8], payload: &[u8]) -> Result<(), StateError> {
        self.put_all(table, std::iter::once((key, payload)))
    }

    /// Many records of one table, opening it once.
    pub(crate) fn put_all<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        table: Table,
        records: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(), StateError> {
        let mut open =
            self.transaction.open_table(table.definition()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        for (key, payload) in records {
            self.changed = true;
            let sealed = seal(table.name(), key.as_ref(), payload.as_ref());
            open.insert(key.as_ref(), sealed.as_slice()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, table: Table, key: &[u8]) -> Result<(), StateError> {
        self.changed = true;
        let mut open =
            self.transaction.open_table(table.definition()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        open.remove(key).map(drop).map_err(|e| StateError::storage(WRITING, e.into()))
    }

    /// Visits records from `start` on, in key order, until the visitor has enough.
    pub(crate) fn scan(&self, table: Table, start: &[u8], visit: &mut Visit<'_>) -> Result<(), StateError> {
        let open =
            self.transaction.open_table(table.definition()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        visit_all(&open, table, start, visit)
    }

    /// Costs two syncs, unless there is nothing to commit.
    pub(crate) fn commit(self) -> Result<(), StateError> {
        if !self.changed {
            let aborted = self.transaction.abort();
            return aborted.map_err(|e| StateError::storage("end a change of the state file", e.into()));
        }
        self.transaction.commit().map_err(|e| StateError::storage("commit to the state file", e.into()))
    }
}

pub(crate) struct Reading {
    transaction: ReadTransaction,
    is_abandoned: Arc<AtomicBool>,
}

impl Reading {
    pub(super) fn new(transaction: ReadTransaction) -> Self {
        Self { transaction, is_abandoned: Arc::default() }
    }

    /// Scans give up once this is set.
    pub(super) fn until(self, is_abandoned: &Arc<AtomicBool>) -> Self {
        Self { is_abandoned: Arc::clone(is_abandoned), ..self }
    }

    fn open(&self, table: Table) -> Result<OpenTable, StateError> {
        self.transaction.open_table(table.definition()).map_err(|e| StateError::storage(READING, e.into()))
    }

    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        get(&self.open(table)?, table, key)
    }

    /// Whether the file has this table; every file of the present format has all of them.
    pub(super) fn has(&self, table: Table) -> Result<bool, StateError> {
        match self.transaction.open_table(table.definition()) {
            Ok(_) => Ok(true),
            Err(TableError::TableDoesNotExist(_)) => Ok(false),
            Err(e) => Err(StateError::storage(READING, e.into())),
        }
    }

    pub(crate) fn scan(&self, table: Table, start: &[u8], visit: &mut Visit<'_>) -> Result<(), StateError> {
        visit_all(&self.open(table)?, table, start, &mut |key, payload| {
            if self.is_abandoned.load(Ordering::Relaxed) {
                return Err(StateError::Abandoned);
            }
            visit(key, payload)
        })
    }

    /// The last record at or before `key`.
    pub(crate) fn at_or_before(&self, table: Table, key: &[u8]) -> Result<Option<StoredRecord>, StateError> {
        let open = self.open(table)?;
        let mut range = open.range::<&[u8]>(..=key).map_err(|e| StateError::storage(READING, e.into()))?;
        let Some(found) = range.next_back() else { return Ok(None) };
        let (key, sealed) = found.map_err(|e| StateError::storage(READING, e.into()))?;
        Ok(Some((key.value().to_vec(), opened(table, key.value(), sealed.value())?)))
    }

    /// Up to `count` records with the highest keys, the highest first.
    pub(crate) fn last(&self, table: Table, count: usize) -> Result<Vec<StoredRecord>, StateError> {
        let open = self.open(table)?;
        let mut found = Vec::new();
        for record in open.range::<&[u8]>(..).map_err(|e| StateError::storage(READING, e.into()))?.rev().take(count) {
            let (key, sealed) = record.map_err(|e| StateError::storage(READING, e.into()))?;
            found.push((key.value().to_vec(), opened(table, key.value(), sealed.value())?));
        }
        Ok(found)
    }

    pub(crate) fn count(&self, table: Table) -> Result<u64, StateError> {
        self.open(table)?.len().map_err(|e| StateError::storage(READING, e.into()))
    }
}

type OpenTable = redb::ReadOnlyTable<&'static [u8], &'static [u8]>;

fn get(open: &OpenTable, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
    let found = ReadableTable::get(open, key).map_err(|e| StateError::storage(READING, e.into()))?;
    found.map(|sealed| opened(table, key, sealed.value())).transpose()
}

fn opened(table: Table, key: &[u8], sealed: &[u8]) -> Result<Vec<u8>, StateError> {
    unseal(table.name(), key, sealed).map(<[u8]>::to_vec).map_err(|_| StateError::bad_record(table.name(), key))
}

fn visit_all(
    open: &impl ReadableTable<&'static [u8], &'static [u8]>,
    table: Table,
    start: &[u8],
    visit: &mut Visit<'_>,
) -> Result<(), StateError> {
    let range = open.range::<&[u8]>(start..).map_err(|e| StateError::storage(READING, e.into()))?;
    for record in range {
        let (key, sealed) = record.map_err(|e| StateError::storage(READING, e.into()))?;
        let payload = unseal(table.name(), key.value(), sealed.value())
            .map_err(|_| StateError::bad_record(table.name(), key.value()))?;
        if !visit(key.value(), payload)? {
            break;
        }
    }
    Ok(())
}
