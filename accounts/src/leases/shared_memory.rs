//! A state in memory that several servers share, for tests: with a clock that jumps, and commits whose answer is lost.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hornbook_base::clock::UnixMillis;

use crate::directory::lock;
use crate::state::{
    ChangeNumber, ChangedRecord, JournalStore, KeyOrder, KeyRange, StateDatabase, StateError, StateStorage, StateTable,
    TableReader, TableWriter, Visit, create_schema,
};

type Tables = BTreeMap<(StateTable, Vec<u8>), Vec<u8>>;

/// What happens to the next commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CommitFault {
    /// It is not made.
    Refuse,
    /// It is made, and its answer is lost.
    LoseAnswer,
}

#[derive(Default)]
struct Contents {
    tables: Tables,
    number: i64,
    /// The keys of each change.
    changes: Vec<Vec<(StateTable, Vec<u8>)>>,
    millis: i64,
    fault: Option<CommitFault>,
}

#[derive(Clone, Default)]
pub(super) struct SharedMemory(Arc<Mutex<Contents>>);

impl SharedMemory {
    pub(super) fn with_schema() -> Self {
        let memory = Self::default();
        lock(&memory.0).millis = 1_000_000_000;
        create_schema(&memory).unwrap();
        memory
    }

    pub(super) fn pass_time(&self, millis: i64) {
        lock(&self.0).millis += millis;
    }

    pub(super) fn fail_next_commit(&self, fault: Option<CommitFault>) {
        lock(&self.0).fault = fault;
    }
}

impl StateDatabase for SharedMemory {
    fn begin_read(&self) -> Result<Box<dyn TableReader>, StateError> {
        Ok(Box::new(self.view()))
    }

    fn begin_write(&self) -> Result<Box<dyn TableWriter>, StateError> {
        Ok(Box::new(self.view()))
    }

    fn is_read_whole_at_opening(&self) -> bool {
        false
    }
}

impl SharedMemory {
    fn view(&self) -> MemoryView {
        let contents = lock(&self.0);
        let (tables, number, time) = (contents.tables.clone(), contents.number, UnixMillis(contents.millis));
        MemoryView { memory: self.clone(), tables, number, time, changed: Vec::new() }
    }
}

struct MemoryView {
    memory: SharedMemory,
    tables: Tables,
    number: i64,
    time: UnixMillis,
    changed: Vec<(StateTable, Vec<u8>)>,
}

impl TableReader for MemoryView {
    fn number(&self) -> ChangeNumber {
        ChangeNumber(self.number)
    }

    fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.tables.get(&(table, key.to_vec())).cloned())
    }

    fn scan(&self, table: StateTable, range: KeyRange<'_>, visit: &mut Visit<'_>) -> Result<(), StateError> {
        let rows = self.tables.range((Bound::Included((table, range.start.to_vec())), Bound::Unbounded));
        let rows = rows.take_while(|((of, key), _)| *of == table && range.end.is_none_or(|end| key.as_slice() < end));
        let mut rows: Vec<_> = rows.collect();
        if range.order == KeyOrder::HighestFirst {
            rows.reverse();
        }
        for ((_, key), record) in rows {
            if !visit(key, record)? {
                break;
            }
        }
        Ok(())
    }

    fn has(&self, _table: StateTable) -> Result<bool, StateError> {
        Ok(true)
    }

    fn count(&self, table: StateTable) -> Result<u64, StateError> {
        Ok(self.tables.keys().filter(|(of, _)| *of == table).count() as u64)
    }

    fn changed_after(
        &self,
        number: ChangeNumber,
        tables: &[StateTable],
    ) -> Result<Option<Vec<ChangedRecord>>, StateError> {
        let contents = lock(&self.memory.0);
        let changes = contents.changes.get(number.0 as usize..self.number as usize).unwrap_or_default();
        let mut keys: Vec<_> = changes.iter().flatten().filter(|(table, _)| tables.contains(table)).cloned().collect();
        keys.sort_unstable();
        keys.dedup();
        let record = |of: &(StateTable, Vec<u8>)| self.tables.get(of).cloned();
        Ok(Some(keys.into_iter().map(|of| ChangedRecord { record: record(&of), table: of.0, key: of.1 }).collect()))
    }
}

impl TableWriter for MemoryView {
    fn create(&mut self, _table: StateTable) -> Result<(), StateError> {
        Ok(())
    }

    fn time(&self) -> Option<UnixMillis> {
        Some(self.time)
    }

    fn put_all(
        &mut self,
        table: StateTable,
        records: &mut dyn Iterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Result<(), StateError> {
        for (key, record) in records {
            self.changed.push((table, key.clone()));
            self.tables.insert((table, key), record);
        }
        Ok(())
    }

    fn remove(&mut self, table: StateTable, key: &[u8]) -> Result<(), StateError> {
        self.changed.push((table, key.to_vec()));
        self.tables.remove(&(table, key.to_vec()));
        Ok(())
    }

    fn clear(&mut self, table: StateTable) -> Result<(), StateError> {
        self.tables.retain(|(of, _), _| *of != table);
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<ChangeNumber, StateError> {
        let mut contents = lock(&self.memory.0);
        assert_eq!(contents.number, self.number, "two changes at once");
        let fault = contents.fault.take();
        if fault != Some(CommitFault::Refuse) {
            contents.tables = self.tables;
            contents.changes.push(self.changed);
            contents.number += 1;
        }
        match fault {
            None => Ok(ChangeNumber(contents.number)),
            Some(_) => Err(StateError::Storage { doing: "commit", source: Box::new(redb::Error::DatabaseClosed) }),
        }
    }

    fn end(self: Box<Self>) -> Result<ChangeNumber, StateError> {
        Ok(ChangeNumber(self.number))
    }
}

/// What one server keeps, whatever happens to the server.
#[derive(Clone, Default)]
pub(super) struct ServerFiles {
    journal: Arc<Mutex<BTreeMap<u64, Vec<u8>>>>,
    owed: Arc<Mutex<Vec<Vec<u8>>>>,
    id: Arc<Mutex<u64>>,
    /// The next new id, of all servers of a test.
    next_id: Arc<AtomicU64>,
    fails: Arc<Mutex<Option<CommitFault>>>,
}

impl ServerFiles {
    pub(super) fn new(next_id: &Arc<AtomicU64>) -> Self {
        let first = next_id.fetch_add(1, Ordering::Relaxed);
        Self { id: Arc::new(Mutex::new(first)), next_id: Arc::clone(next_id), ..Self::default() }
    }

    /// The same bytes in other files.
    pub(super) fn copy(&self) -> Self {
        fn same<T: Clone>(bytes: &Mutex<T>) -> Arc<Mutex<T>> {
            Arc::new(Mutex::new(lock(bytes).clone()))
        }
        Self {
            journal: same(&self.journal),
            owed: same(&self.owed),
            id: same(&self.id),
            next_id: Arc::clone(&self.next_id),
            fails: Arc::default(),
        }
    }

    pub(super) fn fail_next_write(&self, fault: Option<CommitFault>) {
        *lock(&self.fails) = fault;
    }
}

impl JournalStore for ServerFiles {
    fn server(&self) -> [u8; 16] {
        u128::from(*lock(&self.id)).to_be_bytes()
    }

    fn renew(&mut self) -> Result<(), StateError> {
        *lock(&self.id) = self.next_id.fetch_add(1, Ordering::Relaxed);
        lock(&self.journal).clear();
        Ok(())
    }

    fn append(&self, records: &mut dyn Iterator<Item = (u64, Vec<u8>)>, reported: u64) -> Result<(), StateError> {
        let fault = lock(&self.fails).take();
        let mut journal = lock(&self.journal);
        if fault != Some(CommitFault::Refuse) {
            journal.extend(records);
            journal.retain(|number, _| *number > reported);
        }
        match fault {
            None => Ok(()),
            Some(_) => Err(StateError::bad_record("journal", &[])),
        }
    }

    fn remove_from(&self, first: u64) -> Result<(), StateError> {
        lock(&self.journal).retain(|number, _| *number < first);
        Ok(())
    }

    fn records(&self) -> Result<Vec<(u64, Vec<u8>)>, StateError> {
        Ok(lock(&self.journal).iter().map(|(number, record)| (*number, record.clone())).collect())
    }
}

/// The state as one server reaches it.
pub(super) struct ServerStorage {
    pub(super) memory: SharedMemory,
    pub(super) files: ServerFiles,
}

impl StateStorage for ServerStorage {
    fn open(&self) -> Result<Box<dyn StateDatabase>, StateError> {
        Ok(Box::new(self.memory.clone()))
    }

    fn describe(&self) -> String {
        "the shared memory".to_owned()
    }

    fn open_journal(&self) -> Result<Option<Box<dyn JournalStore>>, StateError> {
        Ok(Some(Box::new(self.files.clone())))
    }

    fn record_owed(&self, record: &[u8]) -> Result<(), StateError> {
        lock(&self.files.owed).push(record.to_vec());
        Ok(())
    }

    fn owed(&self) -> Result<Vec<Vec<u8>>, StateError> {
        Ok(lock(&self.files.owed).clone())
    }

    fn clear_owed(&self) -> Result<(), StateError> {
        lock(&self.files.owed).clear();
        Ok(())
    }
}
