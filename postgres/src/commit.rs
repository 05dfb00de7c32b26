//! Sends a change and commits it. It is repeated until its outcome is known.

use std::collections::BTreeMap;
use std::time::Instant;

use deadpool_postgres::Object;
use hornbook_accounts::entropy::{Entropy, SystemEntropy};
use hornbook_accounts::state::{ChangeNumber, StateError, StateTable};
use tokio_postgres::types::ToSql;

use super::connections::{Connections, answer, close};
use super::failure::DatabaseFailure;
use super::lock::{RETRY_FOR, lock, with_retries};

const COMMITTING: &str = "commit a change of the accounts to";
/// So many changes are remembered. Servers ask about them within seconds; one that comes too late reads everything.
const CHANGES_KEPT: i64 = 2_000;
/// The keys of a change with more records, such as a migration, are not remembered.
const KEYS_REMEMBERED: usize = 50_000;

/// A change that is ready to be sent, as often as needed.
pub(crate) struct Pending {
    number: i64,
    /// Random, so that this change is recognised.
    change: [u8; 16],
    put: RowArrays,
    removed: RowArrays,
}

#[derive(Default)]
struct RowArrays {
    tables: Vec<&'static str>,
    keys: Vec<Vec<u8>>,
    records: Vec<Vec<u8>>,
}

impl Pending {
    /// `before` is the number of the change before this one.
    pub(crate) fn of(
        changed: BTreeMap<StateTable, BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
        before: i64,
    ) -> Result<Self, StateError> {
        let mut change = [0; 16];
        SystemEntropy.fill(&mut change).map_err(|e| StateError::File {
            doing: "read random bytes from",
            path: "/dev/urandom".into(),
            source: e,
        })?;
        let (mut put, mut removed) = (RowArrays::default(), RowArrays::default());
        for (table, records) in changed {
            for (key, record) in records {
                let rows = if record.is_some() { &mut put } else { &mut removed };
                rows.tables.push(table.name());
                rows.keys.push(key);
                rows.records.extend(record);
            }
        }
        Ok(Self { number: before + 1, change, put, removed })
    }
}

/// What the database knows of a change whose commit got no answer.
enum CommitOutcome {
    Made,
    /// Nobody changed anything: it can be sent again on this connection.
    NotMade(Box<Object>),
    /// Another server made a change with the same number.
    Overtaken,
}

/// `connection` holds the lock; without it, the lock is taken first.
pub(crate) async fn commit(
    connections: &Connections,
    mut connection: Option<Object>,
    pending: &Pending,
) -> Result<ChangeNumber, StateError> {
    let began = Instant::now();
    loop {
        let locked = match connection.take() {
            Some(connection) => connection,
            None => match outcome(connections, pending).await.map_err(|e| e.at(&connections.place, COMMITTING))? {
                CommitOutcome::Made => return Ok(ChangeNumber(pending.number)),
                CommitOutcome::NotMade(connection) => *connection,
                CommitOutcome::Overtaken => {
                    return Err(StateError::ChangedElsewhere { place: connections.place.clone() });
                }
            },
        };
        match send(&locked, pending).await {
            Ok(()) => return Ok(ChangeNumber(pending.number)),
            Err(failure) => {
                if failure.is_conflict() {
                    connections.roll_back(locked);
                } else {
                    close(locked);
                }
                if !failure.may_pass() || began.elapsed() > RETRY_FOR {
                    return Err(failure.at(&connections.place, COMMITTING));
                }
            }
        }
    }
}

const REMOVE: &str = "DELETE FROM hornbook_records WHERE (tbl, key) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))";
const PUT: &str = "INSERT INTO hornbook_records (tbl, key, record) \
    SELECT * FROM unnest($1::text[], $2::bytea[], $3::bytea[]) \
    ON CONFLICT (tbl, key) DO UPDATE SET record = excluded.record";
const NOTE: &str = "INSERT INTO hornbook_changes (number, change, tables, keys) \
    VALUES ($1, $2, $3::text[] || $4::text[], $5::bytea[] || $6::bytea[])";
const NOTE_WITHOUT_KEYS: &str = "INSERT INTO hornbook_changes (number, change) VALUES ($1, $2)";
const FORGET: &str = "DELETE FROM hornbook_changes WHERE number < $1";
const ADVANCE: &str = "UPDATE hornbook_head SET number = $1";

/// All statements are sent at once and answered in turn.
async fn send(connection: &Object, pending: &Pending) -> Result<(), DatabaseFailure> {
    let Pending { number, change, put, removed } = pending;
    let (change, forgotten) = (&change[..], *number - CHANGES_KEPT);
    let remove: [SqlParameter<'_>; 2] = [&removed.tables, &removed.keys];
    let put_rows: [SqlParameter<'_>; 3] = [&put.tables, &put.keys, &put.records];
    let note: [SqlParameter<'_>; 6] = [number, &change, &put.tables, &removed.tables, &put.keys, &removed.keys];
    let (note_text, note) = if put.keys.len() + removed.keys.len() <= KEYS_REMEMBERED {
        (NOTE, &note[..])
    } else {
        (NOTE_WITHOUT_KEYS, &note[..2])
    };
    let (forget, advance): ([SqlParameter<'_>; 1], [SqlParameter<'_>; 1]) = ([&forgotten], [number]);
    let sent = tokio::join!(
        execute(connection, REMOVE, &remove, !removed.keys.is_empty()),
        execute(connection, PUT, &put_rows, !put.keys.is_empty()),
        execute(connection, note_text, note, true),
        execute(connection, FORGET, &forget, true),
        execute(connection, ADVANCE, &advance, true),
    );
    let (removed, put, noted, forgotten, advanced) = sent;
    removed.and(put).and(noted).and(forgotten).and(advanced)?;
    // Apart from them: the commit of a failed transaction is answered like any other.
    answer(connection.batch_execute("COMMIT")).await
}

type SqlParameter<'p> = &'p (dyn ToSql + Sync);

async fn execute(
    connection: &Object,
    text: &str,
    parameters: &[SqlParameter<'_>],
    is_needed: bool,
) -> Result<(), DatabaseFailure> {
    if !is_needed {
        return Ok(());
    }
    let statement = answer(connection.prepare_cached(text)).await?;
    answer(connection.execute(&statement, parameters)).await.map(drop)
}

/// Finds out what became of the change. A connection that may still commit it holds the lock, so this waits for its end.
async fn outcome(connections: &Connections, pending: &Pending) -> Result<CommitOutcome, DatabaseFailure> {
    with_retries(async || {
        let (connection, newest) = lock(connections).await?;
        if newest.number + 1 == pending.number {
            return Ok(CommitOutcome::NotMade(Box::new(connection)));
        }
        let text = "SELECT change FROM hornbook_changes WHERE number = $1";
        let found = answer(connection.query_opt(text, &[&pending.number])).await;
        connections.roll_back(connection);
        let is_made = found?.is_some_and(|row| row.get::<_, Vec<u8>>(0) == pending.change);
        Ok(if is_made { CommitOutcome::Made } else { CommitOutcome::Overtaken })
    })
    .await
}
