//! A change: what it put and removed so far is in memory, and nobody else changes anything meanwhile.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

use deadpool_postgres::Object;
use hornbook_accounts::state::{
    ChangeNumber, KeyOrder, KeyRange, StateError, StateTable, TableReader, TableWriter, Visit,
};

use hornbook_base::clock::UnixMillis;

use super::commit::{self, Pending};
use super::connections::{Connections, close};
use super::failure::DatabaseFailure;
use super::lock::{RETRY_FOR, lock, with_retries};
use super::rows::{self, Batches, RowBatch};

const WRITING: &str = "change the accounts in";

pub(crate) struct ChangeWriter {
    connections: Arc<Connections>,
    /// The connection that holds the lock. None after a failure, until the next statement.
    connection: RefCell<Option<Object>>,
    /// The number of the change before this one.
    before: i64,
    /// The database's clock when this began.
    time: UnixMillis,
    /// None: the record is removed.
    pending: BTreeMap<StateTable, BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
}

impl ChangeWriter {
    pub(crate) fn begin(connections: &Arc<Connections>) -> Result<Self, StateError> {
        let locked = connections.wait_for(with_retries(async || lock(connections).await));
        let (connection, head) = locked.map_err(|failure| failure.at(&connections.place, WRITING))?;
        let (connections, time) = (Arc::clone(connections), UnixMillis(head.millis));
        let connection = RefCell::new(Some(connection));
        Ok(Self { connections, connection, before: head.number, time, pending: BTreeMap::new() })
    }

    /// Runs a statement on the connection with the lock. If the connection fails, takes the lock again, as long as nobody
    /// changed anything in between.
    fn run<T>(&self, statement: &impl AsyncFn(&Object) -> Result<T, DatabaseFailure>) -> Result<T, StateError> {
        let began = Instant::now();
        loop {
            let connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.lock_again()?,
            };
            match self.connections.wait_for(statement(&connection)) {
                Ok(value) => {
                    self.connection.replace(Some(connection));
                    return Ok(value);
                }
                Err(failure) => {
                    close(connection);
                    if !failure.may_pass() || began.elapsed() > RETRY_FOR {
                        return Err(failure.at(&self.connections.place, WRITING));
                    }
                }
            }
        }
    }

    fn lock_again(&self) -> Result<Object, StateError> {
        let locked = self.connections.wait_for(with_retries(async || lock(&self.connections).await));
        let (connection, head) = locked.map_err(|failure| failure.at(&self.connections.place, WRITING))?;
        if head.number != self.before {
            self.connections.roll_back(connection);
            return Err(StateError::ChangedElsewhere { place: self.connections.place.clone() });
        }
        Ok(connection)
    }

    fn put(&mut self, table: StateTable, key: Vec<u8>, record: Option<Vec<u8>>) {
        self.pending.entry(table).or_default().insert(key, record);
    }

    /// The rows of a batch with the changes in memory, in the order of the range.
    fn merged(&self, table: StateTable, batch: RowBatch, order: KeyOrder) -> Vec<(Vec<u8>, Vec<u8>)> {
        let Some(pending) = self.pending.get(&table) else { return batch.rows };
        let mut rows: BTreeMap<Vec<u8>, Option<Vec<u8>>> =
            batch.rows.into_iter().map(|(key, record)| (key, Some(record))).collect();
        let end = batch.end.map_or(Bound::Unbounded, Bound::Excluded);
        for (key, record) in pending.range((Bound::Included(batch.start), end)) {
            rows.insert(key.clone(), record.clone());
        }
        let mut rows: Vec<_> = rows.into_iter().filter_map(|(key, record)| Some((key, record?))).collect();
        if order == KeyOrder::HighestFirst {
            rows.reverse();
        }
        rows
    }
}

impl TableReader for ChangeWriter {
    fn number(&self) -> ChangeNumber {
        ChangeNumber(self.before)
    }

    fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        match self.pending.get(&table).and_then(|pending| pending.get(key)) {
            Some(record) => Ok(record.clone()),
            None => self.run(&async |connection| rows::get(connection, table, key).await),
        }
    }

    fn scan(&self, table: StateTable, range: KeyRange<'_>, visit: &mut Visit<'_>) -> Result<(), StateError> {
        let batches = RefCell::new(Batches::of(range));
        loop {
            let next = self.run(&async |connection| {
                let mut trying = batches.borrow().clone();
                let next = trying.next(connection, table).await?;
                batches.replace(trying);
                Ok(next)
            })?;
            let Some(batch) = next else { return Ok(()) };
            for (key, record) in self.merged(table, batch, range.order) {
                if !visit(&key, &record)? {
                    return Ok(());
                }
            }
        }
    }

    fn has(&self, _table: StateTable) -> Result<bool, StateError> {
        Ok(true)
    }

    fn count(&self, table: StateTable) -> Result<u64, StateError> {
        let mut count = 0;
        self.scan(table, KeyRange::ALL, &mut |_, _| {
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }
}

impl TableWriter for ChangeWriter {
    fn create(&mut self, _table: StateTable) -> Result<(), StateError> {
        Ok(())
    }

    fn put_all(
        &mut self,
        table: StateTable,
        records: &mut dyn Iterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Result<(), StateError> {
        for (key, record) in records {
            self.put(table, key, Some(record));
        }
        Ok(())
    }

    fn time(&self) -> Option<UnixMillis> {
        Some(self.time)
    }

    fn remove(&mut self, table: StateTable, key: &[u8]) -> Result<(), StateError> {
        self.put(table, key.to_vec(), None);
        Ok(())
    }

    fn clear(&mut self, table: StateTable) -> Result<(), StateError> {
        let mut keys = Vec::new();
        self.scan(table, KeyRange::ALL, &mut |key, _| {
            keys.push(key.to_vec());
            Ok(true)
        })?;
        keys.into_iter().for_each(|key| self.put(table, key, None));
        Ok(())
    }

    fn commit(mut self: Box<Self>) -> Result<ChangeNumber, StateError> {
        let pending = Pending::of(std::mem::take(&mut self.pending), self.before)?;
        let connection = self.connection.take();
        let connections = Arc::clone(&self.connections);
        connections.wait_for(commit::commit(&connections, connection, &pending))
    }

    fn end(self: Box<Self>) -> Result<ChangeNumber, StateError> {
        Ok(ChangeNumber(self.before))
    }
}

impl Drop for ChangeWriter {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.connections.roll_back(connection);
        }
    }
}
