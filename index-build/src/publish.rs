//! Publishes a snapshot completely or not at all: a temporary folder next to the destination is
//! synced, made read-only, and renamed or exchanged with the existing snapshot.
//!
//! A lock on the temporary folder shows that a process still works in it, and the lock ends with
//! the process. Whatever a killed process leaves behind, either the old or the new snapshot can be
//! opened, and the next build removes the rest.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use hornbook_corpus::section_file::sync_directory;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::fault_points::{is_refused, reached};

/// Marks the folders of running builds; the process id follows.
const WORK_FOLDER_INFIX: &str = ".building-";
/// The suffix of folders in which a snapshot from elsewhere arrives.
const ARRIVING_SUFFIX: &str = ".arriving";
/// The suffix of snapshots that are being replaced, where replacing takes two steps.
const REPLACED_SUFFIX: &str = ".replaced";
/// The maximum number of concurrent builds to one destination by processes with the same id.
const WORK_FOLDERS_MAX: u32 = 100;

/// Why a snapshot could not be published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error(
        "{} already contains another snapshot; choose another folder, or use --replace to replace it",
        .path.display()
    )]
    Exists { path: PathBuf },
    #[error("{} builds to {} are already running; wait for them, or stop them", WORK_FOLDERS_MAX, .path.display())]
    Busy { path: PathBuf },
    #[error("another process is receiving {} already; wait for it, or stop it", .path.display())]
    Arriving { path: PathBuf },
    #[error(
        "{} exists and is not a snapshot, so it is not replaced; choose a folder that does not exist",
        .path.display()
    )]
    NotASnapshot { path: PathBuf },
}

fn io_error(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> PublishError {
    let path = path.to_owned();
    move |source| PublishError::Io { path: path.clone(), doing, source }
}

/// The folder in which a snapshot is made; removed if the build fails.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    path: PathBuf,
    /// Whether the folder stays if its snapshot is not published, so that a later attempt can go on from there.
    is_kept: bool,
    /// Held until the build ends, so that no other process treats the folder as a leftover.
    _lock: File,
}

impl WorkFolder {
    /// Creates the folder next to `out`.
    pub(crate) fn create(out: &Path) -> Result<Self, PublishError> {
        let parent = parent_of(out);
        fs::create_dir_all(&parent).map_err(io_error(&parent, "create the folder"))?;
        // No other process may look between the creation of the folder and its locking.
        let _turn = PublishLock::wait(&parent)?;
        let name = work_name(&out.file_name().unwrap_or_default().to_string_lossy());
        for number in 0..WORK_FOLDERS_MAX {
            // Programs in two containers can have the same process id.
            let path = parent.join(format!("{name}-{number}"));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => {
                    let locked = created.and_then(|()| File::open(&path)).and_then(|lock| lock.lock().map(|()| lock));
                    let lock = locked.map_err(io_error(&path, "create and lock the folder"))?;
                    return Ok(Self { path, is_kept: false, _lock: lock });
                }
            }
        }
        Err(PublishError::Busy { path: out.to_owned() })
    }

    /// Opens the folder in which a snapshot arrives at `out`, as an earlier attempt left it, or creates it. It stays if
    /// the attempt fails.
    pub(crate) fn arriving(out: &Path) -> Result<Self, PublishError> {
        let parent = parent_of(out);
        fs::create_dir_all(&parent).map_err(io_error(&parent, "create the folder"))?;
        let _turn = PublishLock::wait(&parent)?;
        let path = arriving_path(out);
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => created.map_err(io_error(&path, "create the folder"))?,
        }
        let lock = File::open(&path).map_err(io_error(&path, "open"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, is_kept: true, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(PublishError::Arriving { path: out.to_owned() }),
            Err(TryLockError::Error(source)) => Err(io_error(&path, "lock the folder")(source)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs everything, makes the files read-only and renames the folder to `out`. `replace`
    /// allows replacing another snapshot.
    pub(crate) fn publish(self, out: &Path, replace: bool) -> Result<(), PublishError> {
        make_read_only(&self.path)?;
        reached("sealed");
        let parent = parent_of(out);
        let _turn = PublishLock::wait(&parent)?;
        let is_replaced = match fs::symlink_metadata(out) {
            Err(_) => false,
            Ok(_) if !out.join(hornbook_corpus::manifest::FILE_NAME).exists() => {
                return Err(PublishError::NotASnapshot { path: out.to_owned() });
            }
            Ok(_) if !replace => return Err(PublishError::Exists { path: out.to_owned() }),
            Ok(_) => true,
        };
        let moved = if is_replaced { exchange(&self.path, out) } else { fs::rename(&self.path, out) };
        moved.map_err(io_error(out, "rename the finished snapshot to"))?;
        reached("moved");
        sync_directory(&parent).map_err(io_error(&parent, "sync"))?;
        if is_replaced {
            fs::remove_dir_all(&self.path).map_err(io_error(&self.path, "remove the replaced snapshot, now at"))?;
        }
        reached("removed");
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // After a publish the folder has another name, so there is nothing to remove.
        if !self.is_kept && self.path.exists() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The right to create, rename and remove folders in one folder, as a lock that ends with the process.
pub(crate) struct PublishLock {
    _lock: File,
}

impl PublishLock {
    /// Waits until no other process holds the lock, which takes at most as long as removing a snapshot.
    pub(crate) fn wait(folder: &Path) -> Result<Self, PublishError> {
        let lock = File::open(folder).and_then(|lock| lock.lock().map(|()| lock));
        Ok(Self { _lock: lock.map_err(io_error(folder, "lock the folder"))? })
    }
}

/// Exchanges two folders in one step, so that `out` always exists. If the file system cannot do
/// that, the folder at `out` is first moved aside, where a later build finds it if this process is
/// killed in between.
fn exchange(fresh: &Path, out: &Path) -> io::Result<()> {
    let exchanged = match is_refused("exchange") {
        true => Err(Errno::INVAL),
        false => renameat_with(CWD, fresh, CWD, out, RenameFlags::EXCHANGE),
    };
    match exchanged {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        exchanged => return Ok(exchanged?),
    }
    let aside = replaced_path(out);
    fs::rename(out, &aside)?;
    reached("put aside");
    if let Err(error) = fs::rename(fresh, out) {
        fs::rename(&aside, out)?;
        return Err(error);
    }
    reached("replaced");
    fs::rename(&aside, fresh)
}

/// The path to which `out` is moved while it is replaced, if that takes two steps.
fn replaced_path(out: &Path) -> PathBuf {
    out.with_file_name(format!(".{}{REPLACED_SUFFIX}", out.file_name().unwrap_or_default().to_string_lossy()))
}

/// The folder in which the snapshot at `out` arrives.
fn arriving_path(out: &Path) -> PathBuf {
    out.with_file_name(format!(".{}{ARRIVING_SUFFIX}", out.file_name().unwrap_or_default().to_string_lossy()))
}

/// Removes what attempts to receive other snapshots than the one at `out` left in its folder.
pub(crate) fn clear_other_arrivals(out: &Path) -> Result<(), PublishError> {
    let parent = parent_of(out);
    let _turn = PublishLock::wait(&parent)?;
    for entry in fs::read_dir(&parent).map_err(io_error(&parent, "list"))? {
        let path = entry.map_err(io_error(&parent, "list"))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(ARRIVING_SUFFIX) && path != arriving_path(out) && is_abandoned(&path)
        {
            fs::remove_dir_all(&path).map_err(io_error(&path, "remove the leftovers of an earlier attempt:"))?;
        }
    }
    Ok(())
}

/// The name of a folder in which a process works. A later build removes it if this process is killed.
pub(crate) fn work_name(name: &str) -> String {
    format!(".{name}{WORK_FOLDER_INFIX}{}", std::process::id())
}

fn parent_of(out: &Path) -> PathBuf {
    match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Cleans up after a killed build next to `out`: removes its folder, and moves a snapshot that was
/// moved aside back to its place if the place is free.
pub(crate) fn clear_leftovers(out: &Path) -> Result<(), PublishError> {
    let parent = parent_of(out);
    if !parent.exists() {
        return Ok(());
    }
    let _turn = PublishLock::wait(&parent)?;
    for entry in fs::read_dir(&parent).map_err(io_error(&parent, "list"))? {
        let path = entry.map_err(io_error(&parent, "list"))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(shown) = name.strip_prefix('.') else { continue };
        if let Some(replaced) = shown.strip_suffix(REPLACED_SUFFIX) {
            restore_replaced(&path, &parent.join(replaced))?;
        } else if shown.contains(WORK_FOLDER_INFIX) && is_abandoned(&path) {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(io_error(&path, "remove the leftovers of an earlier build:"))?;
        }
    }
    Ok(())
}

/// Whether no process uses a folder or file.
fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

fn restore_replaced(aside: &Path, out: &Path) -> Result<(), PublishError> {
    if !aside.join(hornbook_corpus::manifest::FILE_NAME).exists() {
        return Ok(());
    }
    if fs::symlink_metadata(out).is_ok() {
        return fs::remove_dir_all(aside).map_err(io_error(aside, "remove the leftovers of an earlier build:"));
    }
    fs::rename(aside, out).map_err(io_error(out, "restore the snapshot that an earlier build moved aside:"))
}

fn make_read_only(path: &Path) -> Result<(), PublishError> {
    for entry in fs::read_dir(path).map_err(io_error(path, "list"))? {
        let entry = entry.map_err(io_error(path, "list"))?.path();
        if entry.is_dir() {
            make_read_only(&entry)?;
            continue;
        }
        let file = File::open(&entry).map_err(io_error(&entry, "open"))?;
        file.sync_all().map_err(io_error(&entry, "sync"))?;
        let mut permissions = file.metadata().map_err(io_error(&entry, "find"))?.permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&entry, permissions).map_err(io_error(&entry, "make read-only"))?;
    }
    sync_directory(path).map_err(io_error(path, "sync"))
}

/// Points the link `current` at a snapshot in one step.
pub(crate) fn point_current(data: &Path, snapshot: &str) -> Result<(), PublishError> {
    let _turn = PublishLock::wait(data)?;
    let link = data.join("current");
    let fresh = data.join(".current.fresh");
    // Left by a killed process.
    let _ = fs::remove_file(&fresh);
    std::os::unix::fs::symlink(Path::new("snapshots").join(snapshot), &fresh)
        .map_err(io_error(&fresh, "create the link"))?;
    reached("link made");
    fs::rename(&fresh, &link).map_err(io_error(&link, "set the link"))?;
    reached("link set");
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
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no leftovers remain next to it");
    }

    #[test]
    fn a_folder_that_is_not_a_snapshot_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("photos");
        fs::create_dir(&out).unwrap();
        fs::write(out.join("cat.jpg"), "meow").unwrap();
        assert!(matches!(finished(&out, "x").publish(&out, true), Err(PublishError::NotASnapshot { .. })));
        assert!(out.join("cat.jpg").exists());
    }

    #[test]
    fn leftovers_of_killed_builds_are_removed_but_not_running_ones() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("snap");
        let dead = dir.path().join(".snap.building-1");
        fs::create_dir(&dead).unwrap();
        fs::write(dir.path().join(".history.building-1"), "cut").unwrap();
        let living = WorkFolder::create(&out).unwrap();
        let other = WorkFolder::create(&out).unwrap();
        clear_leftovers(&out).unwrap();
        assert!(!dead.exists() && living.path().exists() && other.path().exists());
        drop((living, other));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_replaced_snapshot_is_restored_unless_its_place_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("snap");
        let put_aside = |text: &str| {
            fs::create_dir(replaced_path(&out)).unwrap();
            fs::write(replaced_path(&out).join("manifest.json"), text).unwrap();
        };
        let text = || fs::read_to_string(out.join("manifest.json")).unwrap();
        // A leftover under the same name must not block later replacements.
        put_aside("one");
        clear_leftovers(&out).unwrap();
        assert_eq!(text(), "one");
        put_aside("older");
        clear_leftovers(&out).unwrap();
        assert_eq!(text(), "one");
        finished(&out, "two").publish(&out, true).unwrap();
        assert_eq!(text(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let theirs = dir.path().join(".notes.replaced");
        fs::create_dir(&theirs).unwrap();
        clear_leftovers(&out).unwrap();
        assert!(theirs.exists(), "it is not a snapshot");
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
