//! What can go wrong between this program and the database, and what may be tried again.

use std::error::Error;
use std::time::Duration;

use hornbook_accounts::state::StateError;
use tokio_postgres::error::SqlState;

#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseFailure {
    // The cause of a database's error is its message; its own text is only "db error".
    #[error("{}", message_of(.0))]
    Database(#[source] tokio_postgres::Error),
    #[error("no connection: {0}")]
    Connection(#[source] deadpool_postgres::PoolError),
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
}

impl From<tokio_postgres::Error> for DatabaseFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<deadpool_postgres::PoolError> for DatabaseFailure {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => Self::Database(error),
            other => Self::Connection(other),
        }
    }
}

fn message_of(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(refusal) => format!("{} ({})", refusal.message(), refusal.code().code()),
        None => match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

/// What the database says when it is not this statement's fault.
const PASSING: [SqlState; 11] = [
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN,
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::TOO_MANY_CONNECTIONS,
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::QUERY_CANCELED,
    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    // After a failover, an open connection may lead to the former primary.
    SqlState::READ_ONLY_SQL_TRANSACTION,
];

impl DatabaseFailure {
    /// Whether the same may succeed later, on another connection.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Database(error) => match error.code() {
                Some(code) => PASSING.contains(code) || code.code().starts_with("08"),
                // Lost or never reached.
                None => true,
            },
            Self::Connection(_) | Self::TimedOut(_) => true,
        }
    }

    /// Whether another transaction was in the way, and the connection is still good.
    pub(crate) fn is_conflict(&self) -> bool {
        let Self::Database(error) = self else { return false };
        let conflicts = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        error.code().is_some_and(|code| conflicts.contains(code))
    }

    pub(crate) fn at(self, place: &str, doing: &'static str) -> StateError {
        let is_full = matches!(&self, Self::Database(error) if error.code() == Some(&SqlState::DISK_FULL));
        StateError::Database { doing, place: place.to_owned(), is_full, source: Box::new(self) }
    }
}
