//! A partial file: `<file>.part` contains the bytes so far, and `<file>.part.json` identifies their file. The
//! file itself appears only when it is complete, by rename.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use hornbook_corpus::section_file::sync_directory;
use hornbook_index_build::receipt::{PART_STATE_SUFFIX, PART_SUFFIX, sibling_path};
use serde::{Deserialize, Serialize};

use super::error::{FetchError, io_error};

/// Bytes between two syncs. After a crash, bytes beyond the last sync are not trusted.
const SYNC_EVERY_BYTES: u64 = 16 << 20;

/// Identifies the file of a partial file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Beginning {
    /// The requested URL.
    pub(crate) url: String,
    /// A strong ETag, or the time of the last change. Without either, the download cannot be resumed.
    pub(crate) validator: Option<String>,
    /// The total length of the file, if the server stated it.
    pub(crate) total: Option<u64>,
    /// The number of bytes that are synced.
    synced: u64,
}

impl Beginning {
    pub(crate) fn of(url: String, validator: Option<String>, total: Option<u64>) -> Self {
        Self { url, validator, total, synced: 0 }
    }
}

/// The partial file, open for appending.
#[derive(Debug)]
pub(crate) struct PartialFile {
    target: PathBuf,
    path: PathBuf,
    file: File,
    beginning: Option<Beginning>,
    bytes: u64,
}

impl PartialFile {
    /// Opens the partial file that an earlier run left of the same download, or an empty one.
    pub(crate) fn open(target: &Path, url: &str) -> Result<Self, FetchError> {
        let path = sibling_path(target, PART_SUFFIX);
        let state = sibling_path(target, PART_STATE_SUFFIX);
        let file = File::options().create(true).append(true).open(&path).map_err(io_error(&path, "create it"))?;
        let length = file.metadata().map_err(io_error(&path, "find its length"))?.len();
        let beginning = fs::read(state).ok().and_then(|text| serde_json::from_slice::<Beginning>(&text).ok());
        let beginning = beginning.filter(|beginning| {
            beginning.url == url && beginning.validator.is_some() && beginning.synced <= length && beginning.synced > 0
        });
        let bytes = beginning.as_ref().map_or(0, |beginning| beginning.synced);
        file.set_len(bytes).map_err(io_error(&path, "shorten it"))?;
        Ok(Self { target: target.to_owned(), path, file, beginning, bytes })
    }

    /// The number of bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that the bytes belong to; `None` if there is nothing to resume.
    pub(crate) fn beginning(&self) -> Option<&Beginning> {
        self.beginning.as_ref().filter(|beginning| self.bytes > 0 && beginning.validator.is_some())
    }

    /// The total length of the file, if the server stated it.
    pub(crate) fn total(&self) -> Option<u64> {
        self.beginning.as_ref()?.total
    }

    /// Records the total length of the file.
    pub(crate) fn learn_total(&mut self, total: u64) {
        if let Some(beginning) = &mut self.beginning {
            beginning.total = Some(total);
        }
    }

    /// Drops all bytes and begins another file.
    pub(crate) fn begin(&mut self, beginning: Beginning) -> Result<(), FetchError> {
        self.beginning = Some(beginning);
        self.bytes = 0;
        self.file.set_len(0).map_err(io_error(&self.path, "empty it"))
    }

    pub(crate) fn append(&mut self, piece: &[u8]) -> Result<(), FetchError> {
        self.file.write_all(piece).map_err(io_error(&self.path, "write it"))?;
        self.bytes += piece.len() as u64;
        let synced = self.beginning.as_ref().map_or(0, |beginning| beginning.synced);
        if self.bytes - synced >= SYNC_EVERY_BYTES { self.keep() } else { Ok(()) }
    }

    /// Syncs the bytes so far, so that a later run can resume.
    pub(crate) fn keep(&mut self) -> Result<(), FetchError> {
        self.file.sync_data().map_err(io_error(&self.path, "write it"))?;
        let Some(beginning) = &mut self.beginning else { return Ok(()) };
        beginning.synced = self.bytes;
        let state = sibling_path(&self.target, PART_STATE_SUFFIX);
        let text = serde_json::to_vec(beginning).expect("the state has no keys that are not text");
        fs::write(&state, text).map_err(io_error(&state, "write it"))
    }

    /// Drops all bytes.
    pub(crate) fn discard(&mut self) -> Result<(), FetchError> {
        self.beginning = None;
        self.bytes = 0;
        let _ = fs::remove_file(sibling_path(&self.target, PART_STATE_SUFFIX));
        self.file.set_len(0).map_err(io_error(&self.path, "empty it"))
    }

    /// Removes the partial file.
    pub(crate) fn remove(self) -> Result<(), FetchError> {
        let _ = fs::remove_file(sibling_path(&self.target, PART_STATE_SUFFIX));
        fs::remove_file(&self.path).map_err(io_error(&self.path, "remove it"))
    }

    /// Turns the complete and checked bytes into the file.
    pub(crate) fn publish(self) -> Result<(), FetchError> {
        self.file.sync_all().map_err(io_error(&self.path, "write it"))?;
        fs::rename(&self.path, &self.target).map_err(io_error(&self.target, "put it in its place"))?;
        let _ = fs::remove_file(sibling_path(&self.target, PART_STATE_SUFFIX));
        let folder = self.target.parent().unwrap_or(Path::new("."));
        sync_directory(folder).map_err(io_error(folder, "write it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(validator: Option<&str>) -> Beginning {
        Beginning::of("https://law.example/a".to_owned(), validator.map(str::to_owned), Some(6))
    }

    #[test]
    fn what_was_kept_is_gone_on_with_and_what_was_not_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a");
        let mut part = PartialFile::open(&target, "https://law.example/a").unwrap();
        assert_eq!((part.bytes(), part.beginning()), (0, None));
        part.begin(beginning(Some("\"1\""))).unwrap();
        part.append(b"abc").unwrap();
        part.keep().unwrap();
        part.append(b"lost").unwrap();
        drop(part);
        assert!(!target.exists());

        let other = PartialFile::open(&target, "https://law.example/other").unwrap();
        assert_eq!(other.bytes(), 0, "the bytes belong to another address");
        drop(other);
        let mut part = PartialFile::open(&target, "https://law.example/a").unwrap();
        assert_eq!(part.bytes(), 0, "and were emptied");
        part.begin(beginning(Some("\"1\""))).unwrap();
        part.append(b"abc").unwrap();
        part.keep().unwrap();
        part.append(b"lost").unwrap();
        drop(part);
        let mut part = PartialFile::open(&target, "https://law.example/a").unwrap();
        assert_eq!((part.bytes(), part.beginning().unwrap().total), (3, Some(6)));
        part.append(b"def").unwrap();
        part.publish().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "abcdef");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no leftovers remain next to it");
    }

    #[test]
    fn without_a_validator_nothing_is_gone_on_with() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a");
        let mut part = PartialFile::open(&target, "https://law.example/a").unwrap();
        part.begin(beginning(None)).unwrap();
        part.append(b"abc").unwrap();
        assert_eq!(part.beginning(), None);
        part.keep().unwrap();
        drop(part);
        let part = PartialFile::open(&target, "https://law.example/a").unwrap();
        assert_eq!(part.bytes(), 0);
        part.remove().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
