//! The mark: a few bytes next to the state file that record how far the ledger has been acknowledged.
//!
//! A file can be intact and still be old: one flipped bit in redb's header selects the previous
//! commit, and a file that was copied back by hand is old as a whole. The mark is written after
//! each commit and never synced, so it can be behind the ledger but not ahead of it. A ledger with
//! fewer entries than the mark is an older one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::codec::{append_checksum, verify_checksum};
use super::error::StateError;
use super::files::chown_to_directory_owner;

/// The number of ledger entries, and the hash of the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LedgerMark {
    pub entries: u64,
    pub hash: [u8; 32],
}

impl LedgerMark {
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.entries.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.hash);
        append_checksum("mark", b"", &bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let payload = verify_checksum("mark", b"", bytes).ok()?;
        let (entries, hash) = payload.split_first_chunk()?;
        Some(Self { entries: u64::from_le_bytes(*entries), hash: hash.try_into().ok()? })
    }
}

pub struct MarkFile {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

impl MarkFile {
    pub fn at(path: PathBuf) -> Self {
        Self { path, file: Mutex::new(None) }
    }

    /// Reads the mark. None if it is absent or torn: it is never synced, so a torn mark is no sign of damage.
    pub fn read(&self) -> Result<Option<LedgerMark>, StateError> {
        match std::fs::read(&self.path) {
            Ok(bytes) => Ok(LedgerMark::from_bytes(&bytes)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StateError::file("read the mark", &self.path, e)),
        }
    }

    /// Writes the mark, if possible: without it, only one check is weaker.
    pub fn write(&self, mark: LedgerMark) {
        let Ok(mut file) = self.file.lock() else { return };
        if file.is_none() {
            let mut options = OpenOptions::new();
            *file = options.write(true).create(true).truncate(false).mode(0o600).open(&self.path).ok();
            file.iter().for_each(|made| chown_to_directory_owner(made, &self.path));
        }
        if let Some(open) = &*file
            && open.write_all_at(&mark.to_bytes(), 0).is_err()
        {
            *file = None;
        }
    }

    pub fn remove(path: &Path) -> Result<(), StateError> {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StateError::file("remove the mark", path, e)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_mark_reads_as_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.mark");
        let file = MarkFile::at(path.clone());
        assert_eq!(file.read().unwrap(), None);
        let mark = LedgerMark { entries: 7, hash: [9; 32] };
        file.write(mark);
        assert_eq!(file.read().unwrap(), Some(mark));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[3] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(file.read().unwrap(), None);
    }
}
