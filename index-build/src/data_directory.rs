//! The snapshots of a data directory: `snapshots/<id>`, the link `current` to the one in use, and a
//! list of snapshots that were in use before, for rollback.
//!
//! Only the link decides which snapshot is in use. The list is only history: without it, rollback
//! is impossible, but no snapshot is lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hornbook_base::whole_file;
use hornbook_corpus::manifest::{FILE_NAME, Manifest};
use hornbook_corpus::snapshot::{Snapshot, SnapshotError};

use crate::fault_points::reached;
use crate::publish::{PublishError, PublishLock, WorkFolder, clear_other_arrivals, point_current, work_name};

const SNAPSHOTS: &str = "snapshots";
const CURRENT: &str = "current";
/// A file in the data directory with the ids of the snapshots that were in use, the latest last.
const HISTORY: &str = ".activated";
const HISTORY_MAX: usize = 100;

#[derive(Clone, Debug)]
pub struct DataDirectory {
    path: PathBuf,
}

/// A snapshot in a data directory.
#[derive(Debug)]
pub struct StoredSnapshot {
    pub id: String,
    pub path: PathBuf,
    pub built: SystemTime,
    pub is_current: bool,
    /// Its manifest, or why it cannot be read.
    pub manifest: Result<Manifest, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum DataDirectoryError {
    #[error("{}: cannot {doing}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error(
        "there is no snapshot '{wanted}' in {}; 'hornbook snapshot list' lists the existing ones",
        .data.join(SNAPSHOTS).display()
    )]
    Unknown { wanted: String, data: PathBuf },
    #[error("'{wanted}' matches several snapshots: {}; give more characters of the id", .matches.join(", "))]
    Ambiguous { wanted: String, matches: Vec<String> },
    #[error("{}; activate one with 'hornbook snapshot activate ID'", format_no_earlier(.current.as_deref()))]
    NoEarlierSnapshot { current: Option<String> },
    #[error("{0}")]
    Snapshot(#[source] Box<SnapshotError>),
    #[error("{0}")]
    Publish(#[from] PublishError),
}

fn format_no_earlier(current: Option<&str>) -> String {
    match current {
        Some(current) => format!("no earlier snapshot is recorded before {current}"),
        None => "no snapshot is in use".to_owned(),
    }
}

fn io_error(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> DataDirectoryError {
    move |source| DataDirectoryError::Io { path: path.to_owned(), doing, source }
}

impl DataDirectory {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The id of the snapshot in use.
    pub fn current(&self) -> Option<String> {
        let path = fs::canonicalize(self.path.join(CURRENT)).ok()?;
        Some(path.file_name()?.to_string_lossy().into_owned())
    }

    /// All snapshots, the most recently built first.
    pub fn list(&self) -> Result<Vec<StoredSnapshot>, DataDirectoryError> {
        let folder = self.path.join(SNAPSHOTS);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(io_error(&folder, "list it"))?,
        };
        let current = self.current();
        let mut stored = Vec::new();
        for entry in entries {
            let path = entry.map_err(io_error(&folder, "list it"))?.path();
            let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Ok(metadata) = fs::metadata(path.join(FILE_NAME)) else { continue };
            if id.starts_with('.') {
                continue;
            }
            let built = metadata.modified().map_err(io_error(&path, "read its modification time"))?;
            let manifest = Manifest::open(&path).map_err(|error| error.to_string());
            stored.push(StoredSnapshot { is_current: current.as_ref() == Some(&id), id, path, built, manifest });
        }
        stored.sort_by(|a, b| (b.built, &b.id).cmp(&(a.built, &a.id)));
        Ok(stored)
    }

    /// The snapshot with this id, or the only one whose id starts with it.
    pub fn find(&self, wanted: &str) -> Result<StoredSnapshot, DataDirectoryError> {
        let mut matching = self.list()?;
        matching.retain(|stored| stored.id.starts_with(wanted) && !wanted.is_empty());
        if let Some(exact) = matching.iter().position(|stored| stored.id == wanted) {
            return Ok(matching.swap_remove(exact));
        }
        match matching.len() {
            0 => Err(DataDirectoryError::Unknown { wanted: wanted.to_owned(), data: self.path.clone() }),
            1 => Ok(matching.swap_remove(0)),
            _ => {
                let matches = matching.into_iter().map(|stored| stored.id).collect();
                Err(DataDirectoryError::Ambiguous { wanted: wanted.to_owned(), matches })
            }
        }
    }

    /// Verifies a snapshot and points `current` at it. `progress` receives byte counts.
    pub fn activate(&self, id: &str, progress: impl FnMut(u64)) -> Result<(), DataDirectoryError> {
        let path = self.path.join(SNAPSHOTS).join(id);
        Snapshot::verify(&path, progress).map_err(|error| DataDirectoryError::Snapshot(Box::new(error)))?;
        self.point_at(id)
    }

    /// Receives a snapshot from elsewhere: `fill` writes its files into a folder, in which an earlier attempt may have
    /// stopped. The snapshot is verified, and then appears whole or not at all. It is not put into use. Returns its
    /// path, and false if it was here already. `progress` receives the byte counts of the verification.
    pub fn receive<E: From<DataDirectoryError>>(
        &self,
        id: &str,
        fill: impl FnOnce(&Path) -> Result<(), E>,
        progress: impl FnMut(u64),
    ) -> Result<(PathBuf, bool), E> {
        let out = self.path.join(SNAPSHOTS).join(id);
        if out.join(FILE_NAME).exists() {
            return Ok((out, false));
        }
        let folder = WorkFolder::arriving(&out).map_err(DataDirectoryError::from)?;
        clear_other_arrivals(&out).map_err(DataDirectoryError::from)?;
        fill(folder.path())?;
        reached("filled");
        let verified =
            Snapshot::verify(folder.path(), progress).map_err(|error| DataDirectoryError::Snapshot(Box::new(error)))?;
        // The id is the name of the folder, so it must be that of the content.
        assert_eq!(verified.manifest.snapshot, id, "the snapshot was checked to be this one when it was received");
        folder.publish(&out, false).map_err(DataDirectoryError::from)?;
        Ok((out, true))
    }

    /// Points `current` at a snapshot that is known to be complete, and records it in the history.
    pub(crate) fn point_at(&self, id: &str) -> Result<(), DataDirectoryError> {
        let mut history = self.history_to_current();
        point_current(&self.path, id)?;
        if history.last().is_none_or(|last| last != id) {
            history.push(id.to_owned());
        }
        self.write_history(&history)
    }

    /// The latest earlier snapshot that still exists.
    pub fn previous_snapshot(&self) -> Option<String> {
        self.earlier().pop()
    }

    /// Activates the previous snapshot again, after verifying it. Returns its id.
    pub fn rollback(&self, progress: impl FnMut(u64)) -> Result<String, DataDirectoryError> {
        let Some(before) = self.previous_snapshot() else {
            return Err(DataDirectoryError::NoEarlierSnapshot { current: self.current() });
        };
        self.activate_earlier(&before, progress)?;
        Ok(before)
    }

    fn activate_earlier(&self, id: &str, progress: impl FnMut(u64)) -> Result<(), DataDirectoryError> {
        let history = self.history_to_current();
        self.activate(id, progress)?;
        let end = history.iter().rposition(|entry| entry == id).map_or(0, |place| place + 1);
        self.write_history(&history[..end])
    }

    /// The snapshots that pruning would remove. It keeps the one in use, the last `keep` that were
    /// in use before, and snapshots newer than the one in use, because one of them may be about to
    /// replace it.
    pub fn prunable(&self, keep: usize) -> Result<Vec<StoredSnapshot>, DataDirectoryError> {
        let mut stored = self.list()?;
        let Some(current_built) = stored.iter().find(|stored| stored.is_current).map(|stored| stored.built) else {
            return Ok(Vec::new());
        };
        let earlier = self.earlier();
        let kept = &earlier[earlier.len().saturating_sub(keep)..];
        stored.retain(|stored| !stored.is_current && stored.built <= current_built && !kept.contains(&stored.id));
        Ok(stored)
    }

    /// Removes a snapshot that is not in use. It is first renamed in one step, and then its files are removed.
    pub fn remove(&self, stored: &StoredSnapshot) -> Result<(), DataDirectoryError> {
        assert!(self.current().as_ref() != Some(&stored.id), "the snapshot in use must not be removed");
        let aside = stored.path.with_file_name(work_name(&stored.id));
        let _turn = PublishLock::wait(&self.path.join(SNAPSHOTS))?;
        fs::rename(&stored.path, &aside).map_err(io_error(&stored.path, "remove it"))?;
        fs::remove_dir_all(&aside).map_err(io_error(&aside, "remove it"))
    }

    /// The distinct snapshots that were in use before the current one and still exist, the latest last.
    fn earlier(&self) -> Vec<String> {
        let mut history = self.history_to_current();
        history.pop();
        let current = self.current();
        let mut earlier: Vec<String> = Vec::new();
        for id in history.into_iter().rev() {
            let exists = self.path.join(SNAPSHOTS).join(&id).join(FILE_NAME).exists();
            if exists && current.as_ref() != Some(&id) && !earlier.contains(&id) {
                earlier.push(id);
            }
        }
        earlier.reverse();
        earlier
    }

    /// The history up to the current snapshot, which is its last entry, if any snapshot is in use.
    fn history_to_current(&self) -> Vec<String> {
        let Some(current) = self.current() else { return Vec::new() };
        let text = fs::read_to_string(self.path.join(HISTORY)).unwrap_or_default();
        let mut history: Vec<String> = text.lines().map(str::to_owned).collect();
        match history.iter().rposition(|id| *id == current) {
            Some(place) => history.truncate(place + 1),
            // It was linked by other means, but still after the recorded ones.
            None => history.push(current),
        }
        history
    }

    fn write_history(&self, history: &[String]) -> Result<(), DataDirectoryError> {
        let path = self.path.join(HISTORY);
        let latest = &history[history.len().saturating_sub(HISTORY_MAX)..];
        let text: String = latest.iter().map(|id| format!("{id}\n")).collect();
        whole_file::replace(&path, text.as_bytes()).map_err(io_error(&path, "write it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders that look like snapshots to everything but verification, built one second apart.
    fn with_snapshots(ids: &[&str]) -> (tempfile::TempDir, DataDirectory) {
        let dir = tempfile::tempdir().unwrap();
        for (second, id) in (1..).zip(ids) {
            let folder = dir.path().join(SNAPSHOTS).join(id);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(FILE_NAME), "{}").unwrap();
            let built = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
            fs::File::options().write(true).open(folder.join(FILE_NAME)).unwrap().set_modified(built).unwrap();
        }
        let data = DataDirectory::new(dir.path());
        (dir, data)
    }

    #[test]
    fn snapshots_are_listed_and_found_by_the_beginning_of_their_ids() {
        let (_dir, data) = with_snapshots(&["aa1", "ab2", "b"]);
        assert_eq!(data.current(), None);
        data.point_at("ab2").unwrap();
        let listed: Vec<_> = data.list().unwrap().into_iter().map(|stored| (stored.id, stored.is_current)).collect();
        assert_eq!(listed, [("b".into(), false), ("ab2".into(), true), ("aa1".into(), false)]);
        assert_eq!(data.find("aa").unwrap().id, "aa1");
        assert_eq!(data.find("b").unwrap().id, "b");
        let ambiguous = data.find("a").unwrap_err().to_string();
        assert!(ambiguous.contains("ab2, aa1"), "{ambiguous}");
        assert!(data.find("c").unwrap_err().to_string().contains("no snapshot 'c'"));
        assert!(data.find("").is_err());
        let none = DataDirectory::new("/nonexistent");
        assert!(none.list().unwrap().is_empty() && none.prunable(0).unwrap().is_empty());
    }

    #[test]
    fn rollback_follows_the_history() {
        let (dir, data) = with_snapshots(&["a", "b", "c"]);
        // Another program linked the first one and kept no history.
        point_current(dir.path(), "a").unwrap();
        data.point_at("b").unwrap();
        data.point_at("c").unwrap();
        assert_eq!(data.previous_snapshot().as_deref(), Some("b"));
        point_current(dir.path(), "b").unwrap();
        assert_eq!(data.previous_snapshot().as_deref(), Some("a"), "only the link decides which snapshot is in use");
        data.point_at("c").unwrap();
        data.point_at("c").unwrap();
        fs::remove_dir_all(dir.path().join("snapshots/b")).unwrap();
        assert_eq!(data.previous_snapshot().as_deref(), Some("a"), "missing snapshots are skipped");
        point_current(dir.path(), "a").unwrap();
        assert_eq!(data.previous_snapshot(), None);
        assert!(data.rollback(|_| ()).unwrap_err().to_string().contains("before a"));
    }

    #[test]
    fn a_snapshot_that_is_not_whole_is_not_activated() {
        let (_dir, data) = with_snapshots(&["a", "b"]);
        data.point_at("a").unwrap();
        data.point_at("b").unwrap();
        assert!(matches!(data.activate("a", |_| ()), Err(DataDirectoryError::Snapshot(_))));
        assert!(data.rollback(|_| ()).is_err());
        assert_eq!(data.current().as_deref(), Some("b"));
        assert_eq!(data.previous_snapshot().as_deref(), Some("a"), "a failed rollback does not change the history");
    }

    #[test]
    fn pruning_keeps_current_previous_and_newer_snapshots() {
        let (_dir, data) = with_snapshots(&["never", "a", "b", "c", "newer"]);
        for id in ["a", "b", "c"] {
            data.point_at(id).unwrap();
        }
        let ids = |keep| -> Vec<String> { data.prunable(keep).unwrap().into_iter().map(|stored| stored.id).collect() };
        assert_eq!(ids(2), ["never"]);
        assert_eq!(ids(1), ["a", "never"]);
        assert_eq!(ids(0), ["b", "a", "never"]);
        for stored in data.prunable(1).unwrap() {
            data.remove(&stored).unwrap();
        }
        assert_eq!(data.list().unwrap().len(), 3);
        assert_eq!(data.previous_snapshot().as_deref(), Some("b"));
    }
}
