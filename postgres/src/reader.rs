//! Reads one consistent state of all tables.

use std::sync::Arc;

use deadpool_postgres::Object;
use hornbook_accounts::state::{ChangeNumber, ChangedRecord, KeyRange, StateError, StateTable, TableReader, Visit};

use super::connections::{Connections, answer, close};
use super::failure::DatabaseFailure;
use super::rows::{self, Batches};

const READING: &str = "read the accounts in";
/// How often a read is begun again on another connection.
const TRIES: u32 = 3;

pub(crate) struct SnapshotReader {
    connections: Arc<Connections>,
    /// Always there but while this is dropped.
    connection: Option<Object>,
    number: i64,
}

impl SnapshotReader {
    pub(crate) fn begin(connections: &Arc<Connections>) -> Result<Self, StateError> {
        connections.wait_for(async {
            let mut tries = 0;
            loop {
                match begin(connections).await {
                    Ok((connection, number)) => {
                        let connections = Arc::clone(connections);
                        return Ok(Self { connections, connection: Some(connection), number });
                    }
                    Err(failure) if failure.may_pass() && tries < TRIES => tries += 1,
                    Err(failure) => return Err(failure.at(&connections.place, READING)),
                }
            }
        })
    }

    fn connection(&self) -> &Object {
        match &self.connection {
            Some(connection) => connection,
            None => unreachable!("a reader has its connection until it is dropped"),
        }
    }

    fn failed(&self) -> impl Fn(DatabaseFailure) -> StateError + '_ {
        |failure| failure.at(&self.connections.place, READING)
    }
}

async fn begin(connections: &Connections) -> Result<(Object, i64), DatabaseFailure> {
    let connection = connections.connection().await?;
    let begun = async {
        answer(connection.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")).await?;
        // The first statement decides which state the others see.
        let row = answer(connection.query_one("SELECT number FROM hornbook_head", &[])).await?;
        Ok::<i64, DatabaseFailure>(row.get(0))
    };
    match begun.await {
        Ok(number) => Ok((connection, number)),
        Err(failure) => {
            close(connection);
            Err(failure)
        }
    }
}

impl TableReader for SnapshotReader {
    fn number(&self) -> ChangeNumber {
        ChangeNumber(self.number)
    }

    fn get(&self, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        self.connections.wait_for(rows::get(self.connection(), table, key)).map_err(self.failed())
    }

    fn scan(&self, table: StateTable, range: KeyRange<'_>, visit: &mut Visit<'_>) -> Result<(), StateError> {
        let mut batches = Batches::of(range);
        while let Some(batch) =
            self.connections.wait_for(batches.next(self.connection(), table)).map_err(self.failed())?
        {
            for (key, record) in batch.rows {
                if !visit(&key, &record)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn has(&self, _table: StateTable) -> Result<bool, StateError> {
        Ok(true)
    }

    fn count(&self, table: StateTable) -> Result<u64, StateError> {
        self.connections.wait_for(rows::count(self.connection(), table)).map_err(self.failed())
    }

    fn changed_after(
        &self,
        number: ChangeNumber,
        tables: &[StateTable],
    ) -> Result<Option<Vec<ChangedRecord>>, StateError> {
        let changed = rows::changed_after(self.connection(), number.0, self.number, tables);
        self.connections.wait_for(changed).map_err(self.failed())
    }
}

impl Drop for SnapshotReader {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.connections.roll_back(connection);
        }
    }
}
