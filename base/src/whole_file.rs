//! Replaces a small file in one step: after a power cut or a kill it has its old or its new content, and nothing between.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Writes a file completely or not at all. It is on disk when this returns.
///
/// The new content is first written to a temporary file in the same folder, whose name ends in `.fresh`. A file that a
/// killed process left there is overwritten. Of two processes that replace the same file, one waits for the other.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = fresh_path(path);
    let mut file = locked(&fresh)?;
    file.set_len(0)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    // Without this the old name could come back after a power cut.
    File::open(folder_of(path))?.sync_all()
}

fn fresh_path(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.fresh", path.file_name().unwrap_or_default().to_string_lossy()))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a file that no other process writes.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        // The process that held the lock may have renamed the file into place since.
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            found => found?,
        };
        let own = file.metadata()?;
        if (own.dev(), own.ino()) == (found.dev(), found.ino()) {
            return Ok(file);
        }
        if !found.is_file() {
            fs::remove_file(path)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_what_a_killed_process_left_is_used_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list");
        fs::write(dir.path().join(".list.fresh"), "half of an old lis").unwrap();
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace(&dir.path().join("absent/list"), b"x").is_err());
    }

    #[test]
    fn a_link_beside_the_file_is_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other");
        fs::write(&other, "untouched").unwrap();
        std::os::unix::fs::symlink(&other, dir.path().join(".list.fresh")).unwrap();
        replace(&dir.path().join("list"), b"one").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"untouched");
        assert_eq!(fs::read(dir.path().join("list")).unwrap(), b"one");
        assert!(fs::symlink_metadata(dir.path().join("list")).unwrap().is_file());
    }

    #[test]
    fn of_many_writers_each_leaves_a_whole_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list");
        std::thread::scope(|scope| {
            for writer in 0..8_u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        replace(path, &vec![writer; 100 + usize::from(writer)]).unwrap();
                        let found = fs::read(path).unwrap();
                        assert!(found.iter().all(|byte| *byte == found[0]));
                        assert_eq!(found.len(), 100 + usize::from(found[0]));
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
