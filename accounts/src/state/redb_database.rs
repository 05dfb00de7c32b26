//! The tables of a state in a redb file.

use std::ops::Bound;

use redb::{
    Builder, Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition, TableError, WriteTransaction,
};

use super::database::{ChangeNumber, KeyOrder, KeyRange, StateDatabase, TableReader, TableWriter, Visit};
use super::error::StateError;
use super::table::StateTable;

const BEGINNING: &str = "begin a change of the state file";
const WRITING: &str = "write to the state file";
const READING: &str = "read the state file";

type Bytes = &'static [u8];

/// The size of redb's page cache. The ledger has few hot pages; what is read once at opening need not stay.
const CACHE_BYTES: usize = 64 << 20;

/// The builder with which every database of a state is opened, including copies: redb's default
/// cache would take up to a gigabyte.
pub(super) fn database_builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

pub(super) const fn definition(table: StateTable) -> TableDefinition<'static, Bytes, Bytes> {
    TableDefinition::new(table.name())
}

impl StateDatabase for Database {
    fn begin_read(&self) -> Result<Box<dyn TableReader>, StateError> {
        let transaction =
            ReadableDatabase::begin_read(self).map_err(|e| StateError::storage("start reading", e.into()))?;
        Ok(Box::new(FileReader { transaction }))
    }

    fn begin_write(&self) -> Result<Box<dyn TableWriter>, StateError> {
        let mut transaction = Self::begin_write(self).map_err(|e| StateError::storage(BEGINNING, e.into()))?;
        // Each commit makes two syncs: first the pages, then the bit that selects them. With one
        // sync, only checksums would distinguish a torn commit from a whole one.
        transaction.set_two_phase_commit(true);
        transaction.set_durability(Durability::Immediate).map_err(|e| StateError::storage(BEGINNING, e.into()))?;
        Ok(Box::new(FileWriter { transaction }))
    }

    /// Compares every page with its checksum, and the allocator with the trees. redb does not
    /// verify checksums on ordinary reads.
    fn check_integrity(&mut self, place: &str) -> Result<(), StateError> {
        // `false` means that something was repaired; what it was is judged by the ledger's head.
        Self::check_integrity(self).map(drop).map_err(|e| StateError::opening(place, e))
    }
}

struct FileReader {
    transaction: ReadTransaction,
}

impl FileReader {
    fn open(&self, table: StateTable) -> Result<redb::ReadOnlyTable<Bytes, Bytes>, StateError> {
        self.transaction.open_table(definition(table)).map_err(|e| StateError::storage(READING, e.into()))
    }
}

impl TableReader for FileReader {
    fn number(&self) -> ChangeNumber {
        ChangeNumber::default()
    }

    fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        get(&self.open(table)?, key, READING)
    }

    fn scan(&self, table: StateTable, range: KeyRange<'_>, visit: &mut Visit<'_>) -> Result<(), StateError> {
        scan(&self.open(table)?, range, visit, READING)
    }

    fn has(&self, table: StateTable) -> Result<bool, StateError> {
        match self.transaction.open_table(definition(table)) {
            Ok(_) => Ok(true),
            Err(TableError::TableDoesNotExist(_)) => Ok(false),
            Err(e) => Err(StateError::storage(READING, e.into())),
        }
    }

    fn count(&self, table: StateTable) -> Result<u64, StateError> {
        self.open(table)?.len().map_err(|e| StateError::storage(READING, e.into()))
    }
}

struct FileWriter {
    transaction: WriteTransaction,
}

impl FileWriter {
    fn open(&self, table: StateTable) -> Result<redb::Table<'_, Bytes, Bytes>, StateError> {
        self.transaction.open_table(definition(table)).map_err(|e| StateError::storage(WRITING, e.into()))
    }
}

impl TableReader for FileWriter {
    fn number(&self) -> ChangeNumber {
        ChangeNumber::default()
    }

    fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        get(&self.open(table)?, key, WRITING)
    }

    fn scan(&self, table: StateTable, range: KeyRange<'_>, visit: &mut Visit<'_>) -> Result<(), StateError> {
        scan(&self.open(table)?, range, visit, WRITING)
    }

    fn has(&self, table: StateTable) -> Result<bool, StateError> {
        let tables = self.transaction.list_tables().map_err(|e| StateError::storage(WRITING, e.into()))?;
        let mut names = tables.map(|found| redb::TableHandle::name(&found).to_owned());
        Ok(names.any(|name| name == table.name()))
    }

    fn count(&self, table: StateTable) -> Result<u64, StateError> {
        self.open(table)?.len().map_err(|e| StateError::storage(WRITING, e.into()))
    }
}

impl TableWriter for FileWriter {
    fn create(&mut self, table: StateTable) -> Result<(), StateError> {
        self.open(table).map(drop)
    }

    fn put_all(
        &mut self,
        table: StateTable,
        records: &mut dyn Iterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Result<(), StateError> {
        let mut open = self.open(table)?;
        for (key, record) in records {
            open.insert(key.as_slice(), record.as_slice()).map_err(|e| StateError::storage(WRITING, e.into()))?;
        }
        Ok(())
    }

    fn remove(&mut self, table: StateTable, key: &[u8]) -> Result<(), StateError> {
        self.open(table)?.remove(key).map(drop).map_err(|e| StateError::storage(WRITING, e.into()))
    }

    fn clear(&mut self, table: StateTable) -> Result<(), StateError> {
        self.transaction.delete_table(definition(table)).map_err(|e| StateError::storage(WRITING, e.into()))?;
        self.create(table)
    }

    fn commit(self: Box<Self>) -> Result<ChangeNumber, StateError> {
        self.transaction.commit().map_err(|e| StateError::storage("commit to the state file", e.into()))?;
        Ok(ChangeNumber::default())
    }

    fn end(self: Box<Self>) -> Result<ChangeNumber, StateError> {
        self.transaction.abort().map_err(|e| StateError::storage("end a change of the state file", e.into()))?;
        Ok(ChangeNumber::default())
    }
}

fn get(
    open: &impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
    doing: &'static str,
) -> Result<Option<Vec<u8>>, StateError> {
    let found = open.get(key).map_err(|e| StateError::storage(doing, e.into()))?;
    Ok(found.map(|record| record.value().to_vec()))
}

fn scan(
    open: &impl ReadableTable<Bytes, Bytes>,
    range: KeyRange<'_>,
    visit: &mut Visit<'_>,
    doing: &'static str,
) -> Result<(), StateError> {
    let failed = |e: redb::StorageError| StateError::storage(doing, e.into());
    // redb refuses a range that ends before it starts.
    if range.end.is_some_and(|end| end <= range.start) {
        return Ok(());
    }
    let end = range.end.map_or(Bound::Unbounded, Bound::Excluded);
    let mut records = open.range::<&[u8]>((Bound::Included(range.start), end)).map_err(failed)?;
    loop {
        let next = match range.order {
            KeyOrder::LowestFirst => records.next(),
            KeyOrder::HighestFirst => records.next_back(),
        };
        let Some(record) = next else { return Ok(()) };
        let (key, record) = record.map_err(failed)?;
        if !visit(key.value(), record.value())? {
            return Ok(());
        }
    }
}
