//! The lock that every change holds, and how often it is tried.

use std::time::{Duration, Instant};

use deadpool_postgres::Object;

use super::connections::{Connections, answer, close};
use super::failure::DatabaseFailure;

/// How long a change is tried again while the database fails or another server is in the way.
pub(crate) const RETRY_FOR: Duration = Duration::from_secs(12);
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// What the row that every change locks says, and the database's clock.
#[derive(Clone, Copy)]
pub(crate) struct LockedHead {
    /// The number of the newest change.
    pub(crate) number: i64,
    pub(crate) millis: i64,
}

const LOCK: &str =
    "SELECT number, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM hornbook_head FOR UPDATE";

/// Takes the lock.
pub(crate) async fn lock(connections: &Connections) -> Result<(Object, LockedHead), DatabaseFailure> {
    let connection = connections.connection().await?;
    let locked = async {
        let begin = answer(connection.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE"));
        let lock = answer(connection.query_one(LOCK, &[]));
        let (begun, locked) = tokio::join!(begin, lock);
        begun?;
        let row = locked?;
        Ok::<LockedHead, DatabaseFailure>(LockedHead { number: row.get(0), millis: row.get(1) })
    };
    match locked.await {
        Ok(head) => Ok((connection, head)),
        Err(failure) => {
            if failure.is_conflict() {
                connections.roll_back(connection);
            } else {
                close(connection);
            }
            Err(failure)
        }
    }
}

/// Tries until it succeeds, fails for good, or the time is over.
pub(crate) async fn with_retries<T>(work: impl AsyncFn() -> Result<T, DatabaseFailure>) -> Result<T, DatabaseFailure> {
    let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        match work().await {
            Err(failure) if failure.may_pass() && began.elapsed() < RETRY_FOR => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            done => return done,
        }
    }
}
