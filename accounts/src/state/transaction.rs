//! Reads and writes records with checksums and indexes. A `StateWriter` that is dropped changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hornbook_base::clock::UnixMillis;

use super::codec::{append_checksum, verify_checksum};
use super::database::{ChangeNumber, ChangedRecord, KeyRange, StateDatabase, TableReader, TableWriter, Visit};
use super::error::StateError;
use super::index::{self, Index};
use super::table::StateTable;

/// Key and payload.
pub(crate) type StoredRecord = (Vec<u8>, Vec<u8>);

pub(crate) struct StateWriter {
    tables: Box<dyn TableWriter>,
    changed: bool,
}

impl StateWriter {
    pub(super) fn begin(database: &dyn StateDatabase) -> Result<Self, StateError> {
        Ok(Self { tables: database.begin_write()?, changed: false })
    }

    /// Removes every record of a table.
    pub(crate) fn clear_table(&mut self, table: StateTable) -> Result<(), StateError> {
        self.changed = true;
        self.tables.clear(table)?;
        for index in Index::of(table) {
            let (first, end) = ([index.number()], [index.number() + 1]);
            let mut entries = Vec::new();
            self.tables.scan(StateTable::Index, KeyRange::between(&first, &end), &mut |entry, _| {
                entries.push(entry.to_vec());
                Ok(true)
            })?;
            for entry in entries {
                self.tables.remove(StateTable::Index, &entry)?;
            }
        }
        Ok(())
    }

    pub(super) fn create(&mut self, table: StateTable) -> Result<(), StateError> {
        self.changed = true;
        self.tables.create(table)
    }

    pub(crate) fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        get(&*self.tables, table, key)
    }

    pub(crate) fn put(&mut self, table: StateTable, key: &[u8], payload: &[u8]) -> Result<(), StateError> {
        self.put_all(table, std::iter::once((key, payload)))
    }

    /// Puts many records into one table.
    pub(crate) fn put_all<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        table: StateTable,
        records: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(), StateError> {
        let sealed = |key: &[u8], payload: &[u8]| (key.to_vec(), append_checksum(table.name(), key, payload));
        if Index::of(table).next().is_none() {
            let mut records = records.into_iter().map(|(key, payload)| sealed(key.as_ref(), payload.as_ref()));
            let Some(first) = records.next() else { return Ok(()) };
            self.changed = true;
            return self.tables.put_all(table, &mut std::iter::once(first).chain(records));
        }
        for (key, payload) in records {
            self.changed = true;
            let (key, payload) = (key.as_ref(), payload.as_ref());
            let before = self.entries_before(table, key)?;
            self.replace_entries(&before, &index::entries_of(table, key, payload)?)?;
            self.tables.put_all(table, &mut std::iter::once(sealed(key, payload)))?;
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, table: StateTable, key: &[u8]) -> Result<(), StateError> {
        self.changed = true;
        if Index::of(table).next().is_some() {
            let before = self.entries_before(table, key)?;
            self.replace_entries(&before, &[])?;
        }
        self.tables.remove(table, key)
    }

    /// The index entries of the record that a change replaces or removes.
    fn entries_before(&self, table: StateTable, key: &[u8]) -> Result<Vec<Vec<u8>>, StateError> {
        let before = self.get(table, key)?;
        before.map_or(Ok(Vec::new()), |payload| index::entries_of(table, key, &payload))
    }

    fn replace_entries(&mut self, before: &[Vec<u8>], after: &[Vec<u8>]) -> Result<(), StateError> {
        for entry in before.iter().filter(|entry| !after.contains(entry)) {
            self.tables.remove(StateTable::Index, entry)?;
        }
        let new = after.iter().filter(|entry| !before.contains(entry));
        let mut new = new.map(|entry| (entry.clone(), append_checksum(StateTable::Index.name(), entry, &[])));
        self.tables.put_all(StateTable::Index, &mut new)
    }

    /// Rebuilds the index entries of all records.
    pub(super) fn rebuild_indexes(&mut self) -> Result<(), StateError> {
        self.clear_table(StateTable::Index)?;
        for table in StateTable::ALL.into_iter().filter(|table| Index::of(*table).next().is_some()) {
            let mut entries = Vec::new();
            self.scan(table, &[], &mut |key, payload| {
                entries.append(&mut index::entries_of(table, key, payload)?);
                Ok(true)
            })?;
            self.replace_entries(&[], &entries)?;
        }
        Ok(())
    }

    /// The records that an index has for an owner, in key order.
    pub(crate) fn owned_by(&self, index: Index, owner: &str) -> Result<Vec<StoredRecord>, StateError> {
        owned_by(&*self.tables, index, owner)
    }

    /// The number of records that an index has for an owner, counted up to `most`.
    pub(crate) fn count_owned_by(&self, index: Index, owner: &str, most: usize) -> Result<usize, StateError> {
        Ok(owned_keys(&*self.tables, index, owner, most, RecordOrder::Oldest)?.len())
    }

    /// Up to `most` keys below `end`, lowest first.
    pub(crate) fn keys_before(&self, table: StateTable, end: &[u8], most: usize) -> Result<Vec<Vec<u8>>, StateError> {
        let mut keys = Vec::new();
        if most == 0 {
            return Ok(keys);
        }
        self.tables.scan(table, KeyRange::between(&[], end), &mut |key, _| {
            keys.push(key.to_vec());
            Ok(keys.len() < most)
        })?;
        Ok(keys)
    }

    /// Visits records from `start` on, in key order, until the visitor returns false.
    pub(crate) fn scan(&self, table: StateTable, start: &[u8], visit: &mut Visit<'_>) -> Result<(), StateError> {
        scan(&*self.tables, table, KeyRange::from(start), visit)
    }

    /// The clock of a database that several servers use.
    pub(crate) fn time(&self) -> Option<UnixMillis> {
        self.tables.time()
    }

    /// The number of the change before this one.
    pub(crate) fn number_before(&self) -> ChangeNumber {
        self.tables.number()
    }

    /// Commits, or ends the transaction if nothing changed. Returns the number of the newest change.
    pub(crate) fn commit(self) -> Result<ChangeNumber, StateError> {
        if self.changed { self.tables.commit() } else { self.tables.end() }
    }
}

pub(crate) struct StateReader {
    tables: Box<dyn TableReader>,
    is_abandoned: Arc<AtomicBool>,
}

impl StateReader {
    pub(super) fn begin(database: &dyn StateDatabase) -> Result<Self, StateError> {
        Ok(Self { tables: database.begin_read()?, is_abandoned: Arc::default() })
    }

    /// The number of the newest change that is visible here.
    pub(crate) fn number(&self) -> ChangeNumber {
        self.tables.number()
    }

    /// The records of these tables that were changed after this change. None: not known, so everything must be read.
    pub(crate) fn changed_after(
        &self,
        number: ChangeNumber,
        tables: &[StateTable],
    ) -> Result<Option<Vec<ChangedRecord>>, StateError> {
        let Some(mut changed) = self.tables.changed_after(number, tables)? else { return Ok(None) };
        for ChangedRecord { table, key, record } in &mut changed {
            if let Some(sealed) = record {
                let payload = checked_payload(*table, key, sealed)?.len();
                sealed.truncate(payload);
            }
        }
        Ok(Some(changed))
    }

    /// Makes scans stop once this flag is set.
    pub(super) fn abort_on(self, is_abandoned: &Arc<AtomicBool>) -> Self {
        Self { is_abandoned: Arc::clone(is_abandoned), ..self }
    }

    pub(crate) fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        get(&*self.tables, table, key)
    }

    /// The records that an index has for an owner, in key order.
    pub(crate) fn owned_by(&self, index: Index, owner: &str) -> Result<Vec<StoredRecord>, StateError> {
        owned_by(&*self.tables, index, owner)
    }

    /// All records in an index, of all owners.
    pub(crate) fn indexed(&self, index: Index) -> Result<Vec<StoredRecord>, StateError> {
        let (first, end) = ([index.number()], [index.number() + 1]);
        let mut keys = Vec::new();
        self.tables.scan(StateTable::Index, KeyRange::between(&first, &end), &mut |entry, _| {
            keys.push(index::record_key_of(entry).ok_or_else(|| bad_entry(entry))?.to_vec());
            Ok(true)
        })?;
        records_of(&*self.tables, index, keys)
    }

    /// Up to `count` records of an owner with the highest keys, highest first.
    pub(crate) fn newest_owned_by(
        &self,
        index: Index,
        owner: &str,
        count: usize,
    ) -> Result<Vec<StoredRecord>, StateError> {
        records_of(&*self.tables, index, owned_keys(&*self.tables, index, owner, count, RecordOrder::Newest)?)
    }

    /// Whether the database has this table. Every database of the current format has all tables.
    pub(super) fn has(&self, table: StateTable) -> Result<bool, StateError> {
        self.tables.has(table)
    }

    pub(crate) fn scan(&self, table: StateTable, start: &[u8], visit: &mut Visit<'_>) -> Result<(), StateError> {
        scan(&*self.tables, table, KeyRange::from(start), &mut |key, payload| {
            if self.is_abandoned.load(Ordering::Relaxed) {
                return Err(StateError::ReadAborted);
            }
            visit(key, payload)
        })
    }

    /// The last record at or before `key`.
    pub(crate) fn at_or_before(&self, table: StateTable, key: &[u8]) -> Result<Option<StoredRecord>, StateError> {
        // The smallest key after `key`.
        let end = [key, &[0]].concat();
        Ok(self.highest(table, KeyRange::between(&[], &end), 1)?.pop())
    }

    /// Up to `count` records with the highest keys, highest first.
    pub(crate) fn last(&self, table: StateTable, count: usize) -> Result<Vec<StoredRecord>, StateError> {
        self.highest(table, KeyRange::ALL, count)
    }

    fn highest(&self, table: StateTable, range: KeyRange<'_>, count: usize) -> Result<Vec<StoredRecord>, StateError> {
        let mut found = Vec::new();
        if count == 0 {
            return Ok(found);
        }
        scan(&*self.tables, table, range.highest_first(), &mut |key, payload| {
            found.push((key.to_vec(), payload.to_vec()));
            Ok(found.len() < count)
        })?;
        Ok(found)
    }

    pub(crate) fn count(&self, table: StateTable) -> Result<u64, StateError> {
        self.tables.count(table)
    }
}

fn get(tables: &dyn TableReader, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
    let Some(mut sealed) = tables.get(table, key)? else { return Ok(None) };
    let payload = checked_payload(table, key, &sealed)?.len();
    sealed.truncate(payload);
    Ok(Some(sealed))
}

fn scan(
    tables: &dyn TableReader,
    table: StateTable,
    range: KeyRange<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), StateError> {
    tables.scan(table, range, &mut |key, sealed| visit(key, checked_payload(table, key, sealed)?))
}

fn checked_payload<'r>(table: StateTable, key: &[u8], sealed: &'r [u8]) -> Result<&'r [u8], StateError> {
    verify_checksum(table.name(), key, sealed).map_err(|_| StateError::bad_record(table.name(), key))
}

#[derive(Clone, Copy)]
enum RecordOrder {
    Oldest,
    Newest,
}

fn owned_by(tables: &dyn TableReader, index: Index, owner: &str) -> Result<Vec<StoredRecord>, StateError> {
    records_of(tables, index, owned_keys(tables, index, owner, usize::MAX, RecordOrder::Oldest)?)
}

/// The keys of up to `count` records that an index has for an owner.
fn owned_keys(
    tables: &dyn TableReader,
    index: Index,
    owner: &str,
    count: usize,
    order: RecordOrder,
) -> Result<Vec<Vec<u8>>, StateError> {
    let (prefix, end) = index.entries(owner);
    let range = KeyRange::between(&prefix, &end);
    let range = match order {
        RecordOrder::Oldest => range,
        RecordOrder::Newest => range.highest_first(),
    };
    let mut keys = Vec::new();
    if count == 0 {
        return Ok(keys);
    }
    scan(tables, StateTable::Index, range, &mut |entry, _| {
        keys.push(entry.get(prefix.len()..).unwrap_or_default().to_vec());
        Ok(keys.len() < count)
    })?;
    Ok(keys)
}

/// The records with these keys, which an index has found.
fn records_of(tables: &dyn TableReader, index: Index, keys: Vec<Vec<u8>>) -> Result<Vec<StoredRecord>, StateError> {
    let records = keys.into_iter().map(|key| {
        let payload = get(tables, index.table(), &key)?.ok_or_else(|| bad_entry(&key))?;
        Ok((key, payload))
    });
    records.collect()
}

fn bad_entry(entry: &[u8]) -> StateError {
    StateError::bad_record(StateTable::Index.name(), entry)
}
