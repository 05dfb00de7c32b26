//! Brings a whole state from one place to another: from the state file to a shared database, and back.

use std::path::Path;
use std::sync::Arc;

use crate::ledger::verify::{VerifyError, VerifyReport, verify_state};
use crate::state::{STATE_FILE, State, StateError, StateStorage, StateTable, copy};

/// Copies every record of `from` into the empty state of `to`. Both ledgers are verified, and must end with the same
/// hash. An interrupted copy cannot be opened; the next call begins it again.
pub fn migrate(from: &Arc<dyn StateStorage>, to: &Arc<dyn StateStorage>) -> Result<VerifyReport, VerifyError> {
    let source = without_leases(from)?;
    let before = verify_state(&source)?;
    copy::into_empty(&source, &**to)?;
    same(&before, verify_state(&State::open_medium(to)?)?)
}

/// Copies every record of `from` into a new state file in a data directory.
pub fn migrate_to_file(from: &Arc<dyn StateStorage>, data: &Path) -> Result<VerifyReport, VerifyError> {
    let file = data.join(STATE_FILE);
    if file.exists() {
        return Err(StateError::NotEmpty { place: file.display().to_string() }.into());
    }
    let source = without_leases(from)?;
    let before = verify_state(&source)?;
    let part = copy::write_temporary(&source.read()?, &file)?;
    copy::check_and_rename(&part, &file, |copied| same(&before, verify_state(copied)?))
}

/// Opens a state of which no server has leased anything.
fn without_leases(from: &Arc<dyn StateStorage>) -> Result<State, StateError> {
    let source = State::open_medium(from)?;
    match source.read()?.count(StateTable::Leases)? {
        0 => Ok(source),
        count => Err(StateError::LeasesOpen { place: from.describe(), count }),
    }
}

fn same(before: &VerifyReport, after: VerifyReport) -> Result<VerifyReport, VerifyError> {
    if (before.entries, &before.last_hash) == (after.entries, &after.last_hash) {
        return Ok(after);
    }
    Err(VerifyError::Broken("the copied ledger differs from the one that it was copied from".to_owned()))
}
