//! The files that each server has for itself: the mark, owed refunds, and the key of sealed data.

use std::path::{Path, PathBuf};

use super::error::StateError;
use super::files::{JOURNAL_FILE, MARK_FILE, OWED_FILE, SEAL_KEY_FILE, create_data_directory};
use super::journal_file::JournalFile;
use super::mark::{LedgerMark, MarkFile};
use super::owed::OwedRefundFile;
use super::seal_key::{SEAL_KEY_BYTES, SealKeyFile};

/// These files stay in the data directory, wherever the state itself is.
pub struct LocalFiles {
    mark: MarkFile,
    owed: OwedRefundFile,
    seal_key: SealKeyFile,
    journal: PathBuf,
}

impl LocalFiles {
    /// The files of a data directory, which is created if it does not exist.
    pub fn in_directory(data: &Path) -> Result<Self, StateError> {
        create_data_directory(data)?;
        let (mark, owed, key) = (data.join(MARK_FILE), data.join(OWED_FILE), data.join(SEAL_KEY_FILE));
        let files = Self::at(mark, owed, key, data.join(JOURNAL_FILE));
        files.owed.reserve();
        Ok(files)
    }

    pub(super) fn at(mark: PathBuf, owed: PathBuf, seal_key: PathBuf, journal: PathBuf) -> Self {
        let (mark, owed) = (MarkFile::at(mark), OwedRefundFile::at(owed));
        Self { mark, owed, seal_key: SealKeyFile::at(seal_key), journal }
    }

    /// The journal of a server that shares its state with others.
    pub fn open_journal(&self) -> Result<JournalFile, StateError> {
        JournalFile::open(&self.journal)
    }

    pub fn mark(&self) -> Result<Option<LedgerMark>, StateError> {
        self.mark.read()
    }

    pub fn set_mark(&self, mark: LedgerMark) {
        self.mark.write(mark);
    }

    pub fn record_owed(&self, record: &[u8]) -> Result<(), StateError> {
        self.owed.append(record)
    }

    pub fn owed(&self) -> Result<Vec<Vec<u8>>, StateError> {
        self.owed.read()
    }

    pub fn clear_owed(&self) -> Result<(), StateError> {
        self.owed.clear()
    }

    pub fn seal_key(&self) -> Result<Option<[u8; SEAL_KEY_BYTES]>, StateError> {
        self.seal_key.read()
    }

    pub fn store_seal_key(&self, key: &[u8; SEAL_KEY_BYTES]) -> Result<(), StateError> {
        self.seal_key.keep(key)
    }
}
