//! The tables in the database.

use super::connections::{Connections, answer};
use super::failure::DatabaseFailure;

/// `hornbook_records` has all tables of a state. `hornbook_head` has one row, which every change
/// locks, with the number of the newest change. `hornbook_changes` says who made the last changes, and
/// the keys of the records that they put or removed.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hornbook_records (
    tbl text NOT NULL, key bytea NOT NULL, record bytea NOT NULL, PRIMARY KEY (tbl, key));
CREATE TABLE IF NOT EXISTS hornbook_changes (number bigint PRIMARY KEY, change bytea NOT NULL);
ALTER TABLE hornbook_changes ADD COLUMN IF NOT EXISTS tables text[];
ALTER TABLE hornbook_changes ADD COLUMN IF NOT EXISTS keys bytea[];
CREATE TABLE IF NOT EXISTS hornbook_head (one boolean PRIMARY KEY CHECK (one), number bigint NOT NULL);
INSERT INTO hornbook_head (one, number) VALUES (true, 0) ON CONFLICT DO NOTHING";

/// The head is created last, and the last column was added later.
const HAS_TABLES: &str = "SELECT to_regclass('hornbook_head') IS NOT NULL AND EXISTS (
    SELECT 1 FROM information_schema.columns WHERE table_name = 'hornbook_changes' AND column_name = 'keys')";

/// How often it is tried while another server does the same: `IF NOT EXISTS` does not exclude that.
const TRIES: u32 = 5;

/// Creates the tables unless they exist. A user who may not create tables can use them.
pub(crate) async fn create(connections: &Connections) -> Result<(), DatabaseFailure> {
    let mut tries = 0;
    loop {
        let connection = connections.connection().await?;
        let found = answer(connection.query_one(HAS_TABLES, &[])).await?;
        if found.get(0) {
            return Ok(());
        }
        match answer(connection.batch_execute(TABLES)).await {
            Ok(()) => return Ok(()),
            Err(_) if tries < TRIES => tries += 1,
            Err(failure) => return Err(failure),
        }
    }
}

/// Whether no state was ever stored.
pub(crate) async fn is_empty(connections: &Connections) -> Result<bool, DatabaseFailure> {
    let connection = connections.connection().await?;
    Ok(answer(connection.query_opt("SELECT 1 FROM hornbook_records LIMIT 1", &[])).await?.is_none())
}
