//! Copies of a state: a backup while the server writes, and the restoring of a backup.

use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hornbook_base::regular_file;

use super::error::StateError;
use super::files::{MARK_FILE, STATE_FILE, check_free_space, create_data_directory, create_private, sync_and_rename};
use super::lock::DataLock;
use super::mark::MarkFile;
use super::redb_database::database_builder;
use super::schema::{SCHEMA_KEY, UNFINISHED_KEY, create_schema};
use super::storage::{FileStorage, StateStorage};
use super::store::State;
use super::table::StateTable;
use super::transaction::{StateReader, StateWriter, StoredRecord};

/// Writes one consistent snapshot to a new file beside `to` and returns its path. [`check_and_rename`] checks
/// and renames it. It is copied record by record, because the pages of a live file change during a
/// plain copy.
pub(crate) fn write_temporary(reading: &StateReader, to: &Path) -> Result<PathBuf, StateError> {
    let part = with_suffix(to, ".part");
    remove_on_error(&part, write_records(reading, &part))?;
    Ok(part)
}

fn write_records(reading: &StateReader, part: &Path) -> Result<(), StateError> {
    let database = database_builder().create_file(create_private(part)?);
    let database = database.map_err(|e| StateError::storage("create the backup", e.into()))?;
    create_schema(&database)?;
    let mut writing = StateWriter::begin(&database)?;
    for table in StateTable::COPIED {
        each_part(reading, table, &mut |records| writing.put_all(table, records))?;
    }
    writing.commit().map(drop)
}

/// Copies every record into the empty state of `to`, in many transactions. Until the last one, the copy is marked as
/// unfinished: it cannot be opened, and the next call begins it again.
pub(crate) fn into_empty(source: &State, to: &dyn StateStorage) -> Result<(), StateError> {
    let database = to.open()?;
    let mut writing = StateWriter::begin(&*database)?;
    for table in StateTable::COPIED {
        let mut has_records = false;
        writing.scan(table, &[], &mut |key, _| {
            has_records |= table != StateTable::Meta || key != SCHEMA_KEY;
            Ok(!has_records)
        })?;
        if has_records && writing.get(StateTable::Meta, UNFINISHED_KEY)?.is_none() {
            return Err(StateError::NotEmpty { place: to.describe() });
        }
        writing.clear_table(table)?;
    }
    writing.put(StateTable::Meta, UNFINISHED_KEY, &[])?;
    writing.commit()?;
    let reading = source.read()?;
    for table in StateTable::COPIED.into_iter().filter(|table| *table != StateTable::Meta) {
        each_part(&reading, table, &mut |records| {
            let mut writing = StateWriter::begin(&*database)?;
            writing.put_all(table, records)?;
            writing.commit().map(drop)
        })?;
    }
    let mut writing = StateWriter::begin(&*database)?;
    each_part(&reading, StateTable::Meta, &mut |records| writing.put_all(StateTable::Meta, records))?;
    writing.remove(StateTable::Meta, UNFINISHED_KEY)?;
    writing.commit().map(drop)
}

/// Passes on the records of a table, some at a time.
fn each_part(
    reading: &StateReader,
    table: StateTable,
    pass_on: &mut dyn FnMut(Vec<StoredRecord>) -> Result<(), StateError>,
) -> Result<(), StateError> {
    let mut start = Vec::new();
    loop {
        let mut records = Vec::new();
        reading.scan(table, &start, &mut |key, payload| {
            records.push((key.to_vec(), payload.to_vec()));
            Ok(records.len() < RECORDS_AT_ONCE)
        })?;
        let Some((last, _)) = records.last() else { return Ok(()) };
        // The smallest key after the last one.
        start = [last, &[0][..]].concat();
        pass_on(records)?;
    }
}

const RECORDS_AT_ONCE: usize = 4096;

/// Renames a copy to its final name if it passes the check, and removes it otherwise.
pub(crate) fn check_and_rename<T, E: From<StateError>>(
    part: &Path,
    to: &Path,
    check: impl FnOnce(&State) -> Result<T, E>,
) -> Result<T, E> {
    let checked = open_copy(part).map_err(E::from).and_then(|copy| check(&copy));
    let renamed = checked.and_then(|checked| {
        sync_and_rename(part, to)?;
        Ok(checked)
    });
    remove_on_error(part, renamed)
}

/// Removes an unfinished copy: it is useless, and takes space on a full disk.
fn remove_on_error<T, E>(part: &Path, result: Result<T, E>) -> Result<T, E> {
    if result.is_err() {
        let _ = std::fs::remove_file(part);
    }
    result
}

/// Opens and checks a state file on its own, without its data directory.
fn open_copy(path: &Path) -> Result<State, StateError> {
    if !path.is_file() {
        return Err(StateError::file("open", path, ErrorKind::NotFound.into()));
    }
    let medium: Arc<dyn StateStorage> = Arc::new(FileStorage::standalone(path));
    State::open_medium(&medium)
}

/// Replaces the state of a data directory with `backup`. Before anything is replaced, `prepare`
/// gets the copy, and the present state if there is one. A failure leaves the old state as it was.
/// The replaced file is kept in the same directory as `state.redb.replaced`; the new file gets its
/// owner and mode.
pub(crate) fn restore<T, E: From<StateError>>(
    data: &Path,
    backup: &Path,
    prepare: impl FnOnce(&State, Option<Result<State, StateError>>) -> Result<T, E>,
) -> Result<T, E> {
    create_data_directory(data)?;
    let _owner = DataLock::acquire(data)?;
    let state = data.join(STATE_FILE);
    let part = with_suffix(&state, ".restore");
    remove_on_error(&part, copy_bytes(backup, &part))?;
    check_and_rename(&part, &state, |copy| {
        let prepared = prepare(copy, state.exists().then(|| open_copy(&state)))?;
        take_owner_and_mode(&part, &state)?;
        keep_replaced(data, &state)?;
        Ok(prepared)
    })
}

/// If there was no state, the copy already has the owner of the directory.
fn take_owner_and_mode(part: &Path, state: &Path) -> Result<(), StateError> {
    let Ok(before) = std::fs::metadata(state) else { return Ok(()) };
    let failed = |e| StateError::file("give the owner and mode of the old state to", part, e);
    let made = std::fs::metadata(part).map_err(failed)?;
    if (made.uid(), made.gid()) != (before.uid(), before.gid()) {
        std::os::unix::fs::chown(part, Some(before.uid()), Some(before.gid())).map_err(failed)?;
    }
    std::fs::set_permissions(part, before.permissions()).map_err(failed)
}

fn copy_bytes(from: &Path, to: &Path) -> Result<(), StateError> {
    let reading = |e| StateError::file("read the backup", from, e);
    let source = regular_file::open(from).map_err(reading)?;
    let length = source.metadata().map_err(reading)?.len();
    let mut target = create_private(to)?;
    let copied = check_free_space(&target, length).and_then(|()| io::copy(&mut source.take(length), &mut target));
    match copied.map_err(|e| StateError::file("copy the backup to", to, e))? {
        copied if copied == length => Ok(()),
        _ => Err(reading(io::Error::new(ErrorKind::UnexpectedEof, "it became shorter while it was copied"))),
    }
}

/// Keeps the old state under another name, before the new one is renamed into place. Until then the
/// old one opens as before.
fn keep_replaced(data: &Path, state: &Path) -> Result<(), StateError> {
    if state.exists() {
        let replaced = with_suffix(state, ".replaced");
        let _ = std::fs::remove_file(&replaced);
        std::fs::hard_link(state, &replaced).map_err(|e| StateError::file("keep the old state as", &replaced, e))?;
    }
    // Without a mark, the old state still opens. With the old mark, the new state would not.
    MarkFile::remove(&data.join(MARK_FILE))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
