//! Publishes a snapshot completely or not at all: a temporary folder next to the destination is synced, made read-only
//! and renamed.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hornbook_corpus::section_file::sync_directory;

/// Marks folders of builds under way; what follows it is the process id.
const WORK_MARK: &str = ".building-";

/// Why a snapshot could not be put in its place.
#[derive(Debug)]
pub enum PublishError {
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    Exists { path: PathBuf },
    NotASnapshot { path: PathBuf },
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, doing, source } => write!(f, "cannot {doing} {}: {source}", path.display()),
            Self::Exists { path } => write!(
                f,
                "{} holds another snapshot already; choose another folder, or give --replace to put the new one in its place",
                path.display()
            ),
            Self::NotASnapshot { path } => write!(
                f,
                "{} exists and is not a snapshot, so it is left alone; choose a folder that does not exist yet",
                path.display()
            ),
        }
    }
}

impl std::error::Error for PublishError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

fn io_error(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> PublishError {
    let path = path.to_owned();
    move |source| PublishError::Io { path: path.clone(), doing, source }
}

/// The folder a snapshot is made in; removed when the build does not end well.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    path: PathBuf,
}

impl WorkFolder {
    /// Creates the folder next to `out`, and removes those of builds that were killed.
    pub(crate) fn create(out: &Path) -> Result<Self, PublishError> {
        let parent = parent_of(out);
        fs::create_dir_all(&parent).map_err(io_error(&parent, "create the folder"))?;
        remove_abandoned(&parent)?;
        let path = parent.join(work_name(&out.file_name().unwrap_or_default().to_string_lossy()));
        fs::create_dir(&path).map_err(io_error(&path, "create the folder"))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs everything, makes the files read-only and renames the folder to `out`. `replace` lets it take the place
    /// of another snapshot.
    pub(crate) fn publish(self, out: &Path, replace: bool) -> Result<(), PublishError> {
        seal_folder(&self.path)?;
        let parent = parent_of(out);
        let aside = match fs::symlink_metadata(out) {
            Err(_) => None,
            Ok(_) if !out.join(hornbook_corpus::manifest::FILE_NAME).exists() => {
                return Err(PublishError::NotASnapshot { path: out.to_owned() });
            }
            Ok(_) if !replace => return Err(PublishError::Exists { path: out.to_owned() }),
            Ok(_) => {
                let aside = self.path.with_extension("replaced");
                fs::rename(out, &aside).map_err(io_error(out, "move aside"))?;
                Some(aside)
            }
        };
        fs::rename(&self.path, out).map_err(io_error(out, "rename the finished snapshot to"))?;
        sync_directory(&parent).map_err(io_error(&parent, "sync"))?;
        if let Some(aside) = aside {
            remove_tree(&aside).map_err(io_error(&aside, "remove"))?;
        }
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // After a publish the folder has another name and there is nothing to remove.
        if self.path.exists() {
            let _ = remove_tree(&self.path);
        }
    }
}

/// The name of a folder that this process works in; a later build removes it if this process is killed.
pub(crate) fn work_name(name: &str) -> String {
    format!(".{name}{WORK_MARK}{}", std::process::id())
}

/// Writes a small file: completely or not at all, and on disk when this returns.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_file_name(work_name(&path.file_name().unwrap_or_default().to_string_lossy()));
    // Left by a process of the same number that was killed.
    let _ = fs::remove_file(&fresh);
    let mut file = fs::File::create_new(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

fn parent_of(out: &Path) -> PathBuf {
    match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Removes the work folders of processes that no longer run: a killed build leaves one behind.
fn remove_abandoned(parent: &Path) -> Result<(), PublishError> {
    for entry in fs::read_dir(parent).map_err(io_error(parent, "list"))? {
        let path = entry.map_err(io_error(parent, "list"))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((_, pid)) = name.split_once(WORK_MARK) else { continue };
        let pid = pid.trim_end_matches(".replaced");
        let runs = pid
            .parse::<u32>()
            .is_ok_and(|pid| pid != std::process::id() && Path::new("/proc").join(pid.to_string()).exists());
        if name.starts_with('.') && !runs {
            remove_tree(&path).map_err(io_error(&path, "remove what an earlier build left:"))?;
        }
    }
    Ok(())
}

/// Files are read-only, but folders are not, so removing works; a plain removal all the same.
fn remove_tree(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}

fn seal_folder(path: &Path) -> Result<(), PublishError> {
    for entry in fs::read_dir(path).map_err(io_error(path, "list"))? {
        let entry = entry.map_err(io_error(path, "list"))?.path();
        if entry.is_dir() {
            seal_folder(&entry)?;
            continue;
        }
        let file = fs::File::open(&entry).map_err(io_error(&entry, "open"))?;
        file.sync_all().map_err(io_error(&entry, "sync"))?;
        let mut permissions = file.metadata().map_err(io_error(&entry, "find"))?.permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&entry, permissions).map_err(io_error(&entry, "make read-only"))?;
    }
    sync_directory(path).map_err(io_error(path, "sync"))
}

/// Points the link `current` at a snapshot, in one step.
pub(crate) fn point_current(data: &Path, snapshot: &str) -> Result<(), PublishError> {
    let link = data.join("current");
    let fresh = data.join(format!(".current-{}", std::process::id()));
    let _ = fs::remove_file(&fresh);
    std::os::unix::fs::symlink(Path::new("snapshots").join(snapshot), &fresh)
        .map_err(io_error(&fresh, "create the link"))?;
    fs::rename(&fresh, &link).map_err(io_error(&link, "set the link"))?;
    sync_directory(data).map_err(io_error(data, "sync"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(out: &Path, text: &str) -> WorkFolder {
        let work = WorkFolder::create(out).unwrap();
        fs::create_dir(work.path().join("keyword")).unwrap();
        fs::write(work.path().join("keyword/a"), text).unwrap();
        fs::write(work.path().join("manifest.json"), text).unwrap();
        work
    }

    #[test]
    fn a_snapshot_appears_whole_read_only_and_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("snap");
        finished(&out, "one").publish(&out, false).unwrap();
        assert!(fs::metadata(out.join("keyword/a")).unwrap().permissions().readonly());
        assert!(matches!(finished(&out, "two").publish(&out, false), Err(PublishError::Exists { .. })));
        assert_eq!(fs::read_to_string(out.join("keyword/a")).unwrap(), "one");
        finished(&out, "two").publish(&out, true).unwrap();
        assert_eq!(fs::read_to_string(out.join("keyword/a")).unwrap(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left next to it");
    }

    #[test]
    fn what_is_no_snapshot_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("photos");
        fs::create_dir(&out).unwrap();
        fs::write(out.join("cat.jpg"), "meow").unwrap();
        assert!(matches!(finished(&out, "x").publish(&out, true), Err(PublishError::NotASnapshot { .. })));
        assert!(out.join("cat.jpg").exists());
    }

    #[test]
    fn leftovers_of_dead_builds_are_cleared_and_those_of_living_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let dead = dir.path().join(".snap.building-4294967294");
        let living = dir.path().join(".snap.building-1");
        fs::create_dir(&dead).unwrap();
        fs::create_dir(&living).unwrap();
        drop(WorkFolder::create(&dir.path().join("snap")).unwrap());
        assert!(!dead.exists() && living.exists());
    }

    #[test]
    fn current_moves_in_one_step() {
        let dir = tempfile::tempdir().unwrap();
        point_current(dir.path(), "a").unwrap();
        point_current(dir.path(), "b").unwrap();
        assert_eq!(fs::read_link(dir.path().join("current")).unwrap(), Path::new("snapshots/b"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
