//! The database below a state: ordered tables of bytes, read and changed in transactions.
//!
//! Checksums and indexes are added above it, by [`StateReader`](super::StateReader) and
//! [`StateWriter`](super::StateWriter), so they are the same on every database. The state file
//! implements these traits with redb.

use hornbook_base::clock::UnixMillis;

use super::error::StateError;
use super::table::StateTable;

/// Called for each record of a scan. Returns whether the scan continues.
pub type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<bool, StateError> + 'v;

/// The number of changes made to a database that several servers share. A state file has one owner and does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChangeNumber(pub i64);

/// A database with the tables of a state.
pub trait StateDatabase: Send + Sync {
    /// Starts reading one consistent state of all tables.
    fn begin_read(&self) -> Result<Box<dyn TableReader>, StateError>;

    /// Starts a change. There is at most one at a time: the next one waits.
    fn begin_write(&self) -> Result<Box<dyn TableWriter>, StateError>;

    /// Runs the engine's own check. `place` names the database in errors.
    fn check_integrity(&mut self, _place: &str) -> Result<(), StateError> {
        Ok(())
    }

    /// Whether every record is compared with its checksum when the state is opened, and not only when it is read.
    fn is_read_whole_at_opening(&self) -> bool {
        true
    }
}

/// A range of keys, and the order in which it is visited.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange<'r> {
    /// The first key.
    pub start: &'r [u8],
    /// The key after the last one. None: to the end of the table.
    pub end: Option<&'r [u8]>,
    pub order: KeyOrder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyOrder {
    LowestFirst,
    HighestFirst,
}

impl<'r> KeyRange<'r> {
    /// The whole table, from the lowest key on.
    pub const ALL: KeyRange<'static> = KeyRange { start: &[], end: None, order: KeyOrder::LowestFirst };

    pub(super) const fn from(start: &'r [u8]) -> Self {
        Self { start, end: None, order: KeyOrder::LowestFirst }
    }

    pub(super) const fn between(start: &'r [u8], end: &'r [u8]) -> Self {
        Self { start, end: Some(end), order: KeyOrder::LowestFirst }
    }

    pub(super) const fn highest_first(self) -> Self {
        Self { order: KeyOrder::HighestFirst, ..self }
    }
}

/// A record that a change put or removed, as it is now.
pub struct ChangedRecord {
    pub table: StateTable,
    pub key: Vec<u8>,
    /// None: it was removed.
    pub record: Option<Vec<u8>>,
}

/// Reads tables.
pub trait TableReader {
    /// The number of the newest change that is visible here.
    fn number(&self) -> ChangeNumber;

    fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError>;

    /// Visits the records of a range until the visitor returns false.
    fn scan(&self, table: StateTable, range: KeyRange<'_>, visit: &mut Visit<'_>) -> Result<(), StateError>;

    /// Whether the database has this table. A database of an older format may lack it.
    fn has(&self, table: StateTable) -> Result<bool, StateError>;

    fn count(&self, table: StateTable) -> Result<u64, StateError>;

    /// The records of these tables that were changed after this change. None: not known, so everything must be read.
    fn changed_after(
        &self,
        _number: ChangeNumber,
        _tables: &[StateTable],
    ) -> Result<Option<Vec<ChangedRecord>>, StateError> {
        Ok(None)
    }
}

/// Reads and changes tables. A writer that is dropped changes nothing.
pub trait TableWriter: TableReader {
    /// Creates a table unless it exists.
    fn create(&mut self, table: StateTable) -> Result<(), StateError>;

    /// The database's clock. None if no other server uses the database.
    fn time(&self) -> Option<UnixMillis> {
        None
    }

    /// Puts records, replacing those with the same keys.
    fn put_all(
        &mut self,
        table: StateTable,
        records: &mut dyn Iterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Result<(), StateError>;

    fn remove(&mut self, table: StateTable, key: &[u8]) -> Result<(), StateError>;

    /// Removes every record of a table. Creates the table if it does not exist.
    fn clear(&mut self, table: StateTable) -> Result<(), StateError>;

    /// Makes the changes durable and returns the number of this change. After an error, it is unknown
    /// whether they were made.
    fn commit(self: Box<Self>) -> Result<ChangeNumber, StateError>;

    /// Ends a transaction that changed nothing. Returns the number of the newest change.
    fn end(self: Box<Self>) -> Result<ChangeNumber, StateError>;
}
