//! The checks made when a state file is opened.

use super::database::StateDatabase;
use super::error::{DamageKind, StateError};
use super::mark::LedgerMark;
use super::table::StateTable;
use super::transaction::StateReader;

/// The key of the record with the ledger's length and last hash; its first 40 bytes are a [`LedgerMark`].
pub(crate) const HEAD_KEY: &[u8] = b"ledger";

/// Runs the engine's own check, which may repair what it finds. A wrong allocator is harmless; falling
/// back to the commit before is not.
pub(super) fn integrity(database: &mut dyn StateDatabase, place: &str) -> Result<(), StateError> {
    let before = head(database)?;
    database.check_integrity(place)?;
    // Other servers of the same database may have made the ledger longer meanwhile.
    if !is_older(head(database)?, before) {
        return Ok(());
    }
    let what = "its newest commit is unreadable, and an older one would replace it".to_owned();
    Err(StateError::damaged(place, DamageKind::Inconsistent(what)))
}

/// Like [`all_checksums`], for a file of an older format, which may lack tables.
pub(super) fn existing_tables(database: &dyn StateDatabase, place: &str) -> Result<(), StateError> {
    let reading = StateReader::begin(database)?;
    for table in StateTable::ALL {
        if reading.has(table)? {
            reading.scan(table, &[], &mut |_, _| Ok(true)).map_err(|e| with_place(e, place))?;
        }
    }
    Ok(())
}

/// Runs our own check: every record of every table against the checksum at its end.
pub(super) fn all_checksums(database: &dyn StateDatabase, place: &str) -> Result<(), StateError> {
    let reading = StateReader::begin(database)?;
    for table in StateTable::ALL {
        reading.scan(table, &[], &mut |_, _| Ok(true)).map_err(|e| with_place(e, place))?;
    }
    Ok(())
}

/// Refuses a ledger that is shorter than the mark states: it is not the acknowledged one.
pub(super) fn not_older_than_mark(
    database: &dyn StateDatabase,
    marked: LedgerMark,
    place: &str,
) -> Result<(), StateError> {
    let head = head(database)?;
    if is_older(head, marked) {
        let place = place.to_owned();
        return Err(StateError::OlderThanMark { place, entries: head.entries, marked: marked.entries });
    }
    Ok(())
}

/// Whether a ledger lacks entries that it once had.
fn is_older(head: LedgerMark, known: LedgerMark) -> bool {
    head.entries < known.entries || (head.entries == known.entries && head.hash != known.hash)
}

fn head(database: &dyn StateDatabase) -> Result<LedgerMark, StateError> {
    let Some(bytes) = StateReader::begin(database)?.get(StateTable::Meta, HEAD_KEY)? else {
        return Ok(LedgerMark { entries: 0, hash: [0; 32] });
    };
    let damaged = || StateError::bad_record(StateTable::Meta.name(), HEAD_KEY);
    let (entries, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let hash = rest.first_chunk().ok_or_else(damaged)?;
    Ok(LedgerMark { entries: u64::from_le_bytes(*entries), hash: *hash })
}

fn with_place(error: StateError, place: &str) -> StateError {
    match error {
        StateError::Damaged { what, .. } => StateError::damaged(place, what),
        other => other,
    }
}
