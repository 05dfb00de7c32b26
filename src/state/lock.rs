//! One process owns a data directory. Its process id is in the lock file, so that a second one can name it.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::error::StateError;
use super::files::{LOCK_FILE, own_like_directory};

/// Held as long as the data directory is ours; the system releases it when the process ends, however it ends.
pub struct DataLock {
    _file: File,
}

impl DataLock {
    pub fn acquire(data: &Path) -> Result<Self, StateError> {
        let path = data.join(LOCK_FILE);
        // Not truncated on open: the file may carry the pid of a living owner.
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|e| StateError::file("open the lock file", &path, e))?;
        own_like_directory(&file, &path);
        // Who can open the file can lock it, and so keep the service from starting. Made by an older version it may be
        // open to all; `exposure` says so where this fails.
        let _ = file.set_permissions(Permissions::from_mode(0o600));
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StateError::InUse { path: data.to_owned(), pid: pid_in(&mut file) });
            }
            Err(TryLockError::Error(e)) => return Err(StateError::file("lock", &path, e)),
        }
        file.set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|e| StateError::file("write the process id to", &path, e))?;
        Ok(Self { _file: file })
    }
}

/// What other users could do in a data directory, if its permissions let them in; for a warning.
pub fn exposure(data: &Path) -> Option<String> {
    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.permissions().mode() & 0o777);
    let (directory, lock) = (mode(data), mode(&data.join(LOCK_FILE)));
    let is_open = |mode: u32| mode & 0o077 != 0;
    (is_open(directory) || is_open(lock)).then(|| {
        let place = data.display();
        format!(
            "other users can enter the data directory {place} (mode {directory:04o}) or open its {LOCK_FILE} (mode \
             {lock:04o}); run 'chmod 700 {place}' and 'chmod 600 {place}/{LOCK_FILE}'"
        )
    })
}

fn pid_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
