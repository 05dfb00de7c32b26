//! Records the refunds owed to callers while the database cannot be written, in a small separate
//! file beside it.
//!
//! When a commit fails, callers are told that they were not charged before it is known whether that
//! is true. The refunds that may be owed are written here first, durably. They are read again when
//! the database works, or at the next start. The file is created with reserved space, so that it
//! can be written when the disk is full.
//!
//! Layout: records one after the other, each a length (u32), a generation (u64) and a payload with
//! a checksum. Clearing the file sets the first length to zero. The records after that have a
//! generation one higher, so that older records behind them do not count.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::codec::{append_checksum, verify_checksum};
use super::error::StateError;
use super::files::chown_to_directory_owner;

/// Space for the debits of one commit.
const RESERVED_BYTES: usize = 128 << 10;
const HEADER_BYTES: usize = 4 + 8;

pub(super) struct OwedRefundFile {
    path: PathBuf,
    open: Mutex<Option<OwedFile>>,
}

struct OwedFile {
    file: File,
    generation: u64,
    /// The position of the next record.
    end: u64,
}

impl OwedRefundFile {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, open: Mutex::new(None) }
    }

    /// Creates the file with its reserved space, if possible. Without it, a full disk leaves
    /// callers in doubt, nothing worse.
    pub(super) fn reserve(&self) {
        let reserved = std::fs::metadata(&self.path).is_ok_and(|found| found.len() >= RESERVED_BYTES as u64);
        if !reserved && let Ok(file) = self.create() {
            let length = file.metadata().map_or(0, |found| found.len() as usize);
            let missing = vec![0; RESERVED_BYTES.saturating_sub(length)];
            let _ = file.write_all_at(&missing, length as u64).and_then(|()| file.sync_all());
        }
    }

    fn create(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&self.path)?;
        chown_to_directory_owner(&file, &self.path);
        Ok(file)
    }

    /// All records since the file was last cleared.
    pub(super) fn read(&self) -> Result<Vec<Vec<u8>>, StateError> {
        match std::fs::read(&self.path) {
            Ok(bytes) => Ok(records(&bytes).payloads),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(StateError::file("read the owed refunds from", &self.path, e)),
        }
    }

    /// Appends a record. It is durable when this returns.
    pub(super) fn append(&self, payload: &[u8]) -> Result<(), StateError> {
        self.with_open("write the owed refunds to", |open| {
            let record = sealed(open.generation, payload);
            open.file.write_all_at(&record, open.end)?;
            open.file.sync_data()?;
            open.end += record.len() as u64;
            Ok(())
        })
    }

    /// Removes all records.
    pub(super) fn clear(&self) -> Result<(), StateError> {
        if !self.path.exists() {
            return Ok(());
        }
        self.with_open("clear the owed refunds in", |open| {
            if open.end == 0 {
                return Ok(());
            }
            let mut header = [0; HEADER_BYTES];
            header[4..].copy_from_slice(&open.generation.to_le_bytes());
            open.file.write_all_at(&header, 0)?;
            open.file.sync_data()?;
            open.generation += 1;
            open.end = 0;
            Ok(())
        })
    }

    fn with_open(
        &self,
        doing: &'static str,
        work: impl FnOnce(&mut OwedFile) -> io::Result<()>,
    ) -> Result<(), StateError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match open.take().map_or_else(|| self.open(), Ok) {
            Ok(mut opened) => work(&mut opened).map(|()| *open = Some(opened)),
            Err(error) => Err(error),
        };
        // After a failure, the next use opens and reads the file again.
        result.map_err(|e| StateError::file(doing, &self.path, e))
    }

    fn open(&self) -> io::Result<OwedFile> {
        let file = self.create()?;
        let mut bytes = vec![0; file.metadata()?.len() as usize];
        file.read_exact_at(&mut bytes, 0)?;
        let Records { payloads, generation, end } = records(&bytes);
        let generation = if payloads.is_empty() { generation.wrapping_add(1) } else { generation };
        Ok(OwedFile { file, generation, end })
    }
}

fn sealed(generation: u64, payload: &[u8]) -> Vec<u8> {
    let sealed = append_checksum("owed", &generation.to_le_bytes(), payload);
    let mut record = (sealed.len() as u32).to_le_bytes().to_vec();
    record.extend_from_slice(&generation.to_le_bytes());
    record.extend_from_slice(&sealed);
    record
}

struct Records {
    payloads: Vec<Vec<u8>>,
    /// The generation of the first record, or the one stored when the file was cleared.
    generation: u64,
    end: u64,
}

fn records(bytes: &[u8]) -> Records {
    let generation = bytes.get(4..HEADER_BYTES).and_then(|generation| generation.try_into().ok());
    let generation = u64::from_le_bytes(generation.unwrap_or_default());
    let mut found = Records { payloads: Vec::new(), generation, end: 0 };
    while let Some((payload, length)) = record(&bytes[found.end as usize..], generation) {
        found.payloads.push(payload);
        found.end += length as u64;
    }
    found
}

/// The record at the beginning of `bytes`, if it is complete and of this generation.
fn record(bytes: &[u8], generation: u64) -> Option<(Vec<u8>, usize)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (found, rest) = rest.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    if length == 0 || u64::from_le_bytes(*found) != generation {
        return None;
    }
    let payload = verify_checksum("owed", &generation.to_le_bytes(), rest.get(..length)?).ok()?;
    Some((payload.to_vec(), HEADER_BYTES + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_last_until_they_are_cleared_and_torn_ones_do_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.owed");
        let file = || OwedRefundFile::at(path.clone());
        assert!(file().read().unwrap().is_empty());
        file().reserve();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), RESERVED_BYTES as u64);
        assert!(file().read().unwrap().is_empty());
        file().append(b"first").unwrap();
        file().append(b"second").unwrap();
        assert_eq!(file().read().unwrap(), [b"first".to_vec(), b"second".to_vec()]);

        let whole = std::fs::read(&path).unwrap();
        let length = sealed(1, b"first").len();
        for at in length..2 * length {
            let mut torn = whole.clone();
            torn[at] ^= 1;
            std::fs::write(&path, &torn).unwrap();
            assert_eq!(file().read().unwrap(), [b"first".to_vec()], "byte {at}");
        }

        std::fs::write(&path, &whole).unwrap();
        let kept = file();
        kept.clear().unwrap();
        assert!(file().read().unwrap().is_empty());
        // As long as the first record was, so that the old second record follows it directly.
        kept.append(b"third").unwrap();
        assert_eq!(file().read().unwrap(), [b"third".to_vec()]);
        file().clear().unwrap();
        file().append(b"again").unwrap();
        assert_eq!(file().read().unwrap(), [b"again".to_vec()]);
    }
}
