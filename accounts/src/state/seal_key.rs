//! The key of all sealed data in the state: the file `state.key`, created once and never replaced.
//!
//! It is not in the database, so that nobody can open the sealed data with a backup of the database alone.

use std::io::{self, Write};
use std::path::PathBuf;

use super::codec::{append_checksum, verify_checksum};
use super::error::StateError;
use super::files::{create_private, sync_and_rename};

pub const SEAL_KEY_BYTES: usize = 32;

pub(super) struct SealKeyFile {
    path: PathBuf,
}

impl SealKeyFile {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// None if there is no such file. A damaged file is an error: a new key could not open the existing data.
    pub(super) fn read(&self) -> Result<Option<[u8; SEAL_KEY_BYTES]>, StateError> {
        let failed = |e| StateError::file("read the key in", &self.path, e);
        let bytes = match std::fs::read(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(failed)?,
        };
        let key = verify_checksum("key", b"", &bytes).ok().and_then(|key| key.try_into().ok());
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged; restore it from a copy");
        key.map(Some).ok_or_else(|| failed(damaged()))
    }

    /// Writes the file so that it exists durably with the whole key, or not at all.
    pub(super) fn keep(&self, key: &[u8; SEAL_KEY_BYTES]) -> Result<(), StateError> {
        let temporary = self.path.with_extension("key.new");
        let written = create_private(&temporary)?.write_all(&append_checksum("key", b"", key));
        written.map_err(|e| StateError::file("write the key to", &temporary, e))?;
        sync_and_rename(&temporary, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_comes_back_is_private_and_a_damaged_one_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.key");
        let file = SealKeyFile::at(path.clone());
        assert_eq!(file.read().unwrap(), None);
        file.keep(&[7; SEAL_KEY_BYTES]).unwrap();
        assert_eq!(file.read().unwrap(), Some([7; SEAL_KEY_BYTES]));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[3] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("restore it"));
        std::fs::write(&path, b"").unwrap();
        assert!(file.read().is_err());
    }
}
