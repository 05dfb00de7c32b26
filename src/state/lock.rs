//! One process owns a data directory. The owner's pid stands in the lock file, so that a second one can be told.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use super::{LOCK_FILE, StateError};

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
            .open(&path)
            .map_err(|e| StateError::file("open the lock file", &path, e))?;
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

fn pid_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
