//! The files of a data directory: their names, and how they are created, owned and renamed into place.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::error::StateError;

pub const STATE_FILE: &str = "state.redb";
pub const MARK_FILE: &str = "state.mark";
pub const OWED_FILE: &str = "state.owed";
/// The calls of a server that shares its state, until they are reported.
pub const JOURNAL_FILE: &str = "journal.redb";
pub const SEAL_KEY_FILE: &str = "state.key";
pub(super) const LOCK_FILE: &str = "state.lock";

/// Creates the data directory for its owner only, unless it exists.
pub fn create_data_directory(data: &Path) -> Result<(), StateError> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(data);
    created.map_err(|e| StateError::file("create the data directory", data, e))
}

/// Gives a new file the owner of its directory: a command run as root must not lock out the
/// service's user. A user who may not change the owner of a file owns the directory, or could not
/// have written to it.
pub(super) fn chown_to_directory_owner(file: &File, path: &Path) {
    if let (Ok(directory), Ok(found)) = (std::fs::metadata(parent_of(path)), file.metadata())
        && (directory.uid(), directory.gid()) != (found.uid(), found.gid())
    {
        let _ = std::os::unix::fs::fchown(file, Some(directory.uid()), Some(directory.gid()));
    }
}

/// Creates an empty file, replacing any that exists. Only its owner may read it, because a state
/// contains names and orders.
pub(super) fn create_private(path: &Path) -> Result<File, StateError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(StateError::file("replace", path, e)),
        _ => {}
    }
    let created = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path);
    let file = created.map_err(|e| StateError::file("create", path, e))?;
    chown_to_directory_owner(&file, path);
    Ok(file)
}

/// Checks that the disk of an open file has room for this many more bytes.
pub(super) fn check_free_space(file: &File, bytes: u64) -> io::Result<()> {
    let disk = rustix::fs::fstatvfs(file)?;
    let room = disk.f_bavail.saturating_mul(disk.f_frsize);
    if bytes <= room {
        return Ok(());
    }
    let what = format!("it has {bytes} bytes, but the disk has room for {room} only");
    Err(io::Error::new(io::ErrorKind::StorageFull, what))
}

/// Renames a finished temporary file into place, durably: first its bytes, then its name.
pub(super) fn sync_and_rename(temporary: &Path, path: &Path) -> Result<(), StateError> {
    File::open(temporary).and_then(|f| f.sync_all()).map_err(|e| StateError::file("sync", temporary, e))?;
    std::fs::rename(temporary, path).map_err(|e| StateError::file("rename into place", path, e))?;
    sync_parent(path).map_err(|e| StateError::file("sync the directory of", path, e))
}

fn sync_parent(path: &Path) -> io::Result<()> {
    File::open(parent_of(path))?.sync_all()
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
