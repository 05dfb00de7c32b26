//! The shelf of a data directory: which snapshots are served beside the current one, and the changes between them.
//!
//! `.shelved` lists the ids of the shelved snapshots, one in each line. `changes/` keeps a file for each pair that was
//! compared. Without these files no law is lost: the list is written again by shelving, the changes by comparing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hornbook_base::whole_file;
use hornbook_corpus::snapshot::Snapshot;

use crate::changes_file::{BodyChanges, ChangesFile};
use crate::compare::{CompareError, compare};

const LIST: &str = ".shelved";
const CHANGES: &str = "changes";

/// The ids of the shelved snapshots of a data directory, in the order in which they were shelved.
pub fn shelved(data: &Path) -> io::Result<Vec<String>> {
    match fs::read_to_string(data.join(LIST)) {
        Ok(text) => Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Replaces the list of shelved snapshots in one step.
pub fn write_shelved(data: &Path, ids: &[String]) -> io::Result<()> {
    let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
    whole_file::replace(&data.join(LIST), text.as_bytes())
}

/// The changes between two snapshots of a data directory: from their file, or by comparing them. They are kept in a
/// file if the data directory can be written; if not, the next start compares again.
pub fn changes_between(
    data: &Path,
    old: &Snapshot,
    new: &Snapshot,
    progress: impl FnMut(u64),
) -> Result<Vec<BodyChanges>, CompareError> {
    let path = changes_path(data, old, new);
    // A file of an earlier version, or a damaged one, is made again.
    if let Ok(known) = ChangesFile::read(&path, old, new) {
        return Ok(known);
    }
    let bodies = compare(old, new, progress)?;
    let _ = keep(&path, old, new, &bodies);
    Ok(bodies)
}

fn changes_path(data: &Path, old: &Snapshot, new: &Snapshot) -> PathBuf {
    data.join(CHANGES).join(ChangesFile::name(old, new))
}

fn keep(path: &Path, old: &Snapshot, new: &Snapshot, bodies: &[BodyChanges]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Left by killed processes. If one of them is only slow, it fails, and its file would have been the same.
    let pair = path.file_stem().unwrap_or_default().to_string_lossy().into_owned() + ".fresh-";
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&pair) {
            fs::remove_file(entry.path())?;
        }
    }
    let fresh = path.with_file_name(format!("{pair}{}", std::process::id()));
    ChangesFile::write(&fresh, old, new, bodies).map_err(io::Error::other)?;
    fs::rename(&fresh, path)
}

/// Removes the files of changes that name none of these snapshots as both of their sides.
pub fn remove_changes_without(data: &Path, kept: &[String]) -> io::Result<()> {
    let folder = data.join(CHANGES);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        let pair = path.file_stem().and_then(|name| name.to_str()).and_then(|name| name.split_once('-'));
        let is_kept = pair.is_some_and(|(old, new)| [old, new].iter().all(|id| kept.iter().any(|kept| kept == id)));
        if !is_kept {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
