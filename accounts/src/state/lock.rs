//! Ensures that one process at a time uses a data directory. The lock file contains its process id,
//! so that another process can name it.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::error::StateError;
use super::files::{LOCK_FILE, chown_to_directory_owner};

/// Held while this process uses the data directory. The system releases it when the process ends
/// for any reason.
pub struct DataLock {
    file: File,
}

impl Drop for DataLock {
    /// Closing the file is not enough: while another thread starts a program, the new process has a
    /// copy of the descriptor, and with it the lock, until it executes. Unlocking ends the lock for
    /// all copies.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl DataLock {
    pub fn acquire(data: &Path) -> Result<Self, StateError> {
        let path = data.join(LOCK_FILE);
        // Not truncated when opened: the file may contain the pid of a living owner.
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|e| StateError::file("open the lock file", &path, e))?;
        chown_to_directory_owner(&file, &path);
        // A user who can open the file can lock it, and so prevent the service from starting. A
        // file created by an older version may be open to all. If this call fails, `exposure`
        // reports it.
        let _ = file.set_permissions(Permissions::from_mode(0o600));
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StateError::InUse { path: data.to_owned(), pid: pid_in(&mut file) });
            }
            Err(TryLockError::Error(e)) => return Err(StateError::file("lock", &path, e)),
        }
        let mut owner = Self { file };
        let noted = owner.file.set_len(0).and_then(|()| writeln!(owner.file, "{}", std::process::id()));
        noted.map_err(|e| StateError::file("write the process id to", &path, e))?;
        Ok(owner)
    }
}

/// A warning about what other users can do in a data directory, if its permissions let them in.
pub fn permission_warning(data: &Path) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::state::State;

    #[test]
    fn a_lock_that_was_given_back_is_free_while_other_threads_start_programs() {
        let data = tempfile::tempdir().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        assert!(Command::new("true").status().unwrap().success());
                    }
                });
            }
            let mut refused = 0;
            for round in 0..4_000 {
                match DataLock::acquire(data.path()) {
                    Ok(_owner) if round % 100 == 0 => drop(State::open(data.path()).unwrap()),
                    Ok(_owner) => {}
                    Err(_) => refused += 1,
                }
            }
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(refused, 0, "the lock was refused although nobody held it");
        });
    }

    #[test]
    fn a_lock_has_one_owner() {
        let data = tempfile::tempdir().unwrap();
        let owner = DataLock::acquire(data.path()).unwrap();
        let pid = std::process::id();
        assert!(
            matches!(DataLock::acquire(data.path()), Err(StateError::InUse { pid: Some(found), .. }) if found == pid)
        );
        drop(owner);
        DataLock::acquire(data.path()).unwrap();
    }
}
