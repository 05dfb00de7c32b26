//! Copies of a state: a backup while others write, and putting one back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::Builder;

use super::medium::publish;
use super::transaction::{Reading, Writing};
use super::{DataLock, FileMedium, MARK_FILE, MarkFile, Medium, STATE_FILE, State, StateError, Table, create_schema};

/// Writes one consistent moment to a new file beside `to` and returns its path; the caller checks it and then calls
/// [`finish`]. Copied record by record: the pages of a live file do not hold still for a plain copy.
pub(crate) fn write_part(reading: &Reading, to: &Path) -> Result<PathBuf, StateError> {
    let part = with_suffix(to, ".part");
    match std::fs::remove_file(&part) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(StateError::file("replace", &part, e)),
        _ => {}
    }
    let database = Builder::new().create(&part).map_err(|e| StateError::storage("create the backup", e.into()))?;
    create_schema(&database)?;
    let mut writing = Writing::begin(&database)?;
    for table in Table::ALL {
        let mut records = Vec::new();
        let mut start = Vec::new();
        loop {
            reading.scan(table, &start, &mut |key, payload| {
                records.push((key.to_vec(), payload.to_vec()));
                Ok(records.len() < RECORDS_AT_ONCE)
            })?;
            let Some((last, _)) = records.last() else { break };
            // The smallest key after the last one.
            start = [last, &[0][..]].concat();
            writing.put_all(table, records.drain(..))?;
        }
    }
    writing.commit()?;
    Ok(part)
}

const RECORDS_AT_ONCE: usize = 4096;

/// Gives a checked copy its name.
pub(crate) fn finish(part: &Path, to: &Path) -> Result<(), StateError> {
    publish(part, to)
}

/// Opens and checks a state file that is nobody's data directory.
pub fn open_copy(path: &Path) -> Result<State, StateError> {
    if !path.is_file() {
        return Err(StateError::file("open", path, std::io::ErrorKind::NotFound.into()));
    }
    let medium: Arc<dyn Medium> = Arc::new(FileMedium::standalone(path));
    State::open_medium(&medium)
}

/// Puts `backup` in the place of a data directory's state. `check` sees the copy before anything is replaced; whatever
/// fails leaves the old state as it was. The replaced file stays beside it as `state.redb.replaced`.
pub fn restore<E: From<StateError>>(
    data: &Path,
    backup: &Path,
    check: impl FnOnce(&State) -> Result<(), E>,
) -> Result<(), E> {
    std::fs::create_dir_all(data).map_err(|e| StateError::file("create the data directory", data, e))?;
    let _owner = DataLock::acquire(data)?;
    let state = data.join(STATE_FILE);
    let part = with_suffix(&state, ".restore");
    std::fs::copy(backup, &part).map_err(|e| StateError::file("copy the backup to", &part, e))?;
    let checked = open_copy(&part).map_err(E::from).and_then(|copy| check(&copy));
    if let Err(error) = checked {
        // The copy is of no use; failing to remove it does not make things worse.
        let _ = std::fs::remove_file(&part);
        return Err(error);
    }
    if state.exists() {
        let replaced = with_suffix(&state, ".replaced");
        let _ = std::fs::remove_file(&replaced);
        std::fs::hard_link(&state, &replaced).map_err(|e| StateError::file("keep the old state as", &replaced, e))?;
    }
    // Before the rename: the old state without a mark still opens, the new one under the old mark would not.
    MarkFile::remove(&data.join(MARK_FILE))?;
    Ok(publish(&part, &state)?)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
