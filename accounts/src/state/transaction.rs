//! Reads and writes records with checksums. A `StateWriter` that is dropped changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Database, Durability, ReadTransaction, ReadableTable, ReadableTableMetadata, TableError, WriteTransaction};

use super::codec::{append_checksum, verify_checksum};
use super::error::StateError;
use super::index::{self, Index};
use super::table::StateTable;

const WRITING: &str = "write to the state file";
const READING: &str = "read the state file";

/// Called for each record of a scan. Returns whether the scan continues.
pub(crate) type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<bool, StateError> + 'v;

/// Key and payload.
pub(crate) type StoredRecord = (Vec<u8>, Vec<u8>);

pub(crate) struct StateWriter {
    transaction: WriteTransaction,
    changed: bool,
}

impl StateWriter {
    pub(super) fn begin(database: &Database) -> Result<Self, StateError> {
        let mut transaction =
            database.begin_write().map_err(|e| StateError::storage("begin a change of the state file", e.into()))?;
        // Each commit makes two syncs: first the pages, then the bit that selects them. With one
        // sync, only checksums would distinguish a torn commit from a whole one.
        transaction.set_two_phase_commit(true);
        transaction
            .set_durability(Durability::Immediate)
            .map_err(|e| StateError::storage("begin a change of the state file", e.into()))?;
        Ok(Self { transaction, changed: false })
    }

    /// Removes every record of a table.
    pub(crate) fn clear_table(&mut self, table: StateTable) -> Result<(), StateError> {
        self.changed = true;
        self.transaction.delete_table(table.definition()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        for index in Index::of(table) {
            let mut entries = self.open(StateTable::Index)?;
            let (first, end) = ([index.number()], [index.number() + 1]);
            entries
                .retain_in::<&[u8], _>(&first[..]..&end[..], |_, _| false)
                .map_err(|e| StateError::storage(WRITING, e.into()))?;
        }
        self.create(table)
    }

    fn open(&self, table: StateTable) -> Result<WritableTable<'_>, StateError> {
        self.transaction.open_table(table.definition()).map_err(|e| StateError::storage(WRITING, e.into()))
    }

    pub(super) fn create(&mut self, table: StateTable) -> Result<(), StateError> {
        self.changed = true;
        self.transaction.open_table(table.definition()).map(drop).map_err(|e| StateError::storage(WRITING, e.into()))
    }

    pub(crate) fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        get(&self.open(table)?, table, key, WRITING)
    }

    pub(crate) fn put(&mut self, table: StateTable, key: &[u8], payload: &[u8]) -> Result<(), StateError> {
        self.put_all(table, std::iter::once((key, payload)))
    }

    /// Puts many records into one table, which is opened once.
    pub(crate) fn put_all<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        table: StateTable,
        records: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(), StateError> {
        let mut changed = false;
        let mut open = self.open(table)?;
        let mut entries = self.index_of(table)?;
        for (key, payload) in records {
            changed = true;
            let (key, payload) = (key.as_ref(), payload.as_ref());
            if let Some(entries) = &mut entries {
                let before = entries_before(&open, table, key)?;
                replace_entries(entries, &before, &index::entries_of(table, key, payload)?)?;
            }
            let sealed = append_checksum(table.name(), key, payload);
            open.insert(key, sealed.as_slice()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        }
        drop((open, entries));
        self.changed |= changed;
        Ok(())
    }

    pub(crate) fn remove(&mut self, table: StateTable, key: &[u8]) -> Result<(), StateError> {
        self.changed = true;
        let mut open = self.open(table)?;
        if let Some(entries) = &mut self.index_of(table)? {
            replace_entries(entries, &entries_before(&open, table, key)?, &[])?;
        }
        open.remove(key).map(drop).map_err(|e| StateError::storage(WRITING, e.into()))
    }

    /// The table of index entries, if this table has indexes.
    fn index_of(&self, table: StateTable) -> Result<Option<WritableTable<'_>>, StateError> {
        Index::of(table).next().map(|_| self.open(StateTable::Index)).transpose()
    }

    /// Rebuilds the index entries of all records.
    pub(super) fn rebuild_indexes(&mut self) -> Result<(), StateError> {
        self.clear_table(StateTable::Index)?;
        for table in StateTable::ALL.into_iter().filter(|table| Index::of(*table).next().is_some()) {
            let mut records = Vec::new();
            self.scan(table, &[], &mut |key, _| {
                records.push(key.to_vec());
                Ok(true)
            })?;
            for key in records {
                let payload = self.get(table, &key)?.ok_or_else(|| StateError::bad_record(table.name(), &key))?;
                replace_entries(&mut self.open(StateTable::Index)?, &[], &index::entries_of(table, &key, &payload)?)?;
            }
        }
        Ok(())
    }

    /// The records that an index has for an owner, in key order.
    pub(crate) fn owned_by(&self, index: Index, owner: &str) -> Result<Vec<StoredRecord>, StateError> {
        let (entries, records) = (self.open(StateTable::Index)?, self.open(index.table())?);
        owned(&entries, &records, index, owner, usize::MAX, RecordOrder::Oldest, WRITING)
    }

    /// The number of records that an index has for an owner, counted up to `most`.
    pub(crate) fn count_owned_by(&self, index: Index, owner: &str, most: usize) -> Result<usize, StateError> {
        let entries = self.open(StateTable::Index)?;
        let (first, end) = index.entries(owner);
        let range = entries.range(first.as_slice()..end.as_slice());
        Ok(range.map_err(|e| StateError::storage(WRITING, e.into()))?.take(most).count())
    }

    /// Up to `most` keys below `end`, lowest first.
    pub(crate) fn keys_before(&self, table: StateTable, end: &[u8], most: usize) -> Result<Vec<Vec<u8>>, StateError> {
        let open = self.open(table)?;
        let failed = |e: redb::StorageError| StateError::storage(WRITING, e.into());
        let range = open.range::<&[u8]>(..end).map_err(failed)?.take(most);
        range.map(|record| record.map(|(key, _)| key.value().to_vec()).map_err(failed)).collect()
    }

    /// Visits records from `start` on, in key order, until the visitor returns false.
    pub(crate) fn scan(&self, table: StateTable, start: &[u8], request: &mut Visit<'_>) -> Result<(), StateError> {
        visit_all(&self.open(table)?, table, start, request)
    }

    /// Commits with two syncs, or with none if nothing changed.
    pub(crate) fn commit(self) -> Result<(), StateError> {
        if !self.changed {
            let aborted = self.transaction.abort();
            return aborted.map_err(|e| StateError::storage("end a change of the state file", e.into()));
        }
        self.transaction.commit().map_err(|e| StateError::storage("commit to the state file", e.into()))
    }
}

pub(crate) struct StateReader {
    transaction: ReadTransaction,
    is_abandoned: Arc<AtomicBool>,
}

impl StateReader {
    pub(super) fn new(transaction: ReadTransaction) -> Self {
        Self { transaction, is_abandoned: Arc::default() }
    }

    /// Makes scans stop once this flag is set.
    pub(super) fn abort_on(self, is_abandoned: &Arc<AtomicBool>) -> Self {
        Self { is_abandoned: Arc::clone(is_abandoned), ..self }
    }

    fn open(&self, table: StateTable) -> Result<OpenTable, StateError> {
        self.transaction.open_table(table.definition()).map_err(|e| StateError::storage(READING, e.into()))
    }

    pub(crate) fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        get(&self.open(table)?, table, key, READING)
    }

    /// The records that an index has for an owner, in key order.
    pub(crate) fn owned_by(&self, index: Index, owner: &str) -> Result<Vec<StoredRecord>, StateError> {
        owned(
            &self.open(StateTable::Index)?,
            &self.open(index.table())?,
            index,
            owner,
            usize::MAX,
            RecordOrder::Oldest,
            READING,
        )
    }

    /// All records in an index, of all owners.
    pub(crate) fn indexed(&self, index: Index) -> Result<Vec<StoredRecord>, StateError> {
        let (first, end) = (vec![index.number()], vec![index.number() + 1]);
        let owners = self.open(StateTable::Index)?;
        let mut found = Vec::new();
        for entry in
            owners.range(first.as_slice()..end.as_slice()).map_err(|e| StateError::storage(READING, e.into()))?
        {
            let (entry, _) = entry.map_err(|e| StateError::storage(READING, e.into()))?;
            let bad = || StateError::bad_record(StateTable::Index.name(), entry.value());
            let key = index::record_key_of(entry.value()).ok_or_else(bad)?.to_vec();
            let payload = self.get(index.table(), &key)?.ok_or_else(bad)?;
            found.push((key, payload));
        }
        Ok(found)
    }

    /// Up to `count` records of an owner with the highest keys, highest first.
    pub(crate) fn newest_owned_by(
        &self,
        index: Index,
        owner: &str,
        count: usize,
    ) -> Result<Vec<StoredRecord>, StateError> {
        owned(
            &self.open(StateTable::Index)?,
            &self.open(index.table())?,
            index,
            owner,
            count,
            RecordOrder::Newest,
            READING,
        )
    }

    /// Whether the file has this table. Every file of the current format has all tables.
    pub(super) fn has(&self, table: StateTable) -> Result<bool, StateError> {
        match self.transaction.open_table(table.definition()) {
            Ok(_) => Ok(true),
            Err(TableError::TableDoesNotExist(_)) => Ok(false),
            Err(e) => Err(StateError::storage(READING, e.into())),
        }
    }

    pub(crate) fn scan(&self, table: StateTable, start: &[u8], request: &mut Visit<'_>) -> Result<(), StateError> {
        visit_all(&self.open(table)?, table, start, &mut |key, payload| {
            if self.is_abandoned.load(Ordering::Relaxed) {
                return Err(StateError::ReadAborted);
            }
            request(key, payload)
        })
    }

    /// The last record at or before `key`.
    pub(crate) fn at_or_before(&self, table: StateTable, key: &[u8]) -> Result<Option<StoredRecord>, StateError> {
        let open = self.open(table)?;
        let mut range = open.range::<&[u8]>(..=key).map_err(|e| StateError::storage(READING, e.into()))?;
        let Some(found) = range.next_back() else { return Ok(None) };
        let (key, sealed) = found.map_err(|e| StateError::storage(READING, e.into()))?;
        Ok(Some((key.value().to_vec(), checked_payload(table, key.value(), sealed.value())?)))
    }

    /// Up to `count` records with the highest keys, highest first.
    pub(crate) fn last(&self, table: StateTable, count: usize) -> Result<Vec<StoredRecord>, StateError> {
        let open = self.open(table)?;
        let mut found = Vec::new();
        for record in open.range::<&[u8]>(..).map_err(|e| StateError::storage(READING, e.into()))?.rev().take(count) {
            let (key, sealed) = record.map_err(|e| StateError::storage(READING, e.into()))?;
            found.push((key.value().to_vec(), checked_payload(table, key.value(), sealed.value())?));
        }
        Ok(found)
    }

    pub(crate) fn count(&self, table: StateTable) -> Result<u64, StateError> {
        self.open(table)?.len().map_err(|e| StateError::storage(READING, e.into()))
    }
}

type OpenTable = redb::ReadOnlyTable<&'static [u8], &'static [u8]>;
type WritableTable<'w> = redb::Table<'w, &'static [u8], &'static [u8]>;

/// Any open table.
trait ByteTable: ReadableTable<&'static [u8], &'static [u8]> {}
impl<T: ReadableTable<&'static [u8], &'static [u8]>> ByteTable for T {}

fn get(
    open: &impl ByteTable,
    table: StateTable,
    key: &[u8],
    what: &'static str,
) -> Result<Option<Vec<u8>>, StateError> {
    let found = ReadableTable::get(open, key).map_err(|e| StateError::storage(what, e.into()))?;
    found.map(|sealed| checked_payload(table, key, sealed.value())).transpose()
}

/// The index entries of the record that a change replaces or removes.
fn entries_before(open: &impl ByteTable, table: StateTable, key: &[u8]) -> Result<Vec<Vec<u8>>, StateError> {
    let before = get(open, table, key, WRITING)?;
    before.map_or(Ok(Vec::new()), |payload| index::entries_of(table, key, &payload))
}

fn replace_entries(entries: &mut WritableTable<'_>, before: &[Vec<u8>], after: &[Vec<u8>]) -> Result<(), StateError> {
    let failed = |e: redb::StorageError| StateError::storage(WRITING, e.into());
    for entry in before.iter().filter(|entry| !after.contains(entry)) {
        entries.remove(entry.as_slice()).map_err(failed)?;
    }
    for entry in after.iter().filter(|entry| !before.contains(entry)) {
        let sealed = append_checksum(StateTable::Index.name(), entry, &[]);
        entries.insert(entry.as_slice(), sealed.as_slice()).map_err(failed)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum RecordOrder {
    Oldest,
    Newest,
}

fn owned(
    entries: &impl ByteTable,
    records: &impl ByteTable,
    index: Index,
    owner: &str,
    count: usize,
    order: RecordOrder,
    what: &'static str,
) -> Result<Vec<StoredRecord>, StateError> {
    let failed = |e: redb::StorageError| StateError::storage(what, e.into());
    let (prefix, end) = index.entries(owner);
    let mut range = entries.range::<&[u8]>(prefix.as_slice()..end.as_slice()).map_err(failed)?;
    let mut found = Vec::new();
    while found.len() < count {
        let next = match order {
            RecordOrder::Oldest => range.next(),
            RecordOrder::Newest => range.next_back(),
        };
        let Some(entry) = next else { break };
        let (entry, sealed) = entry.map_err(failed)?;
        checked_payload(StateTable::Index, entry.value(), sealed.value())?;
        let key = entry.value().get(prefix.len()..).unwrap_or_default().to_vec();
        let payload = get(records, index.table(), &key, what)?;
        let payload = payload.ok_or_else(|| StateError::bad_record(StateTable::Index.name(), entry.value()))?;
        found.push((key, payload));
    }
    Ok(found)
}

fn checked_payload(table: StateTable, key: &[u8], sealed: &[u8]) -> Result<Vec<u8>, StateError> {
    verify_checksum(table.name(), key, sealed)
        .map(<[u8]>::to_vec)
        .map_err(|_| StateError::bad_record(table.name(), key))
}

fn visit_all(
    open: &impl ByteTable,
    table: StateTable,
    start: &[u8],
    request: &mut Visit<'_>,
) -> Result<(), StateError> {
    let range = open.range::<&[u8]>(start..).map_err(|e| StateError::storage(READING, e.into()))?;
    for record in range {
        let (key, sealed) = record.map_err(|e| StateError::storage(READING, e.into()))?;
        let payload = verify_checksum(table.name(), key.value(), sealed.value())
            .map_err(|_| StateError::bad_record(table.name(), key.value()))?;
        if !request(key.value(), payload)? {
            break;
        }
    }
    Ok(())
}
