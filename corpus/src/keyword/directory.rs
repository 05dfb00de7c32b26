//! Our implementations of tantivy's [`Directory`], with fixed file names, without locks and without a list of
//! managed files.
//!
//! tantivy names the files of a segment by a random id. Here they are always `segment.<kind>`, so that builds are
//! reproducible. [`BuildDirectory`] writes one segment and keeps `meta.json` in memory until it is complete.
//! [`MappedDirectory`] reads a finished index and maps every file once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use super::error::KeywordError;
use crate::section_file::{SectionFileError, map_file};

pub(super) const META_FILE: &str = "meta.json";

/// The files of the segment: the ordinal column, field lengths, postings, positions, the empty store, the term
/// dictionary.
pub(super) const SEGMENT_FILES: [&str; 6] =
    ["segment.fast", "segment.fieldnorm", "segment.idx", "segment.pos", "segment.store", "segment.term"];

/// The name on disk of a file that tantivy calls `<segment id>.<kind>`.
fn file_name(path: &Path) -> String {
    let kind = path.extension().unwrap_or_default();
    format!("segment.{}", kind.to_string_lossy())
}

/// A folder in which one segment is being written.
#[derive(Clone, Debug)]
pub(super) struct BuildDirectory {
    root: PathBuf,
    /// `meta.json` and similar files. They are small, are rewritten often, and are not what a reader needs.
    small_files: Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>,
}

impl BuildDirectory {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), small_files: Arc::default() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn small_file(&self, path: &Path) -> Option<Vec<u8>> {
        self.small_files.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}

impl Directory for BuildDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let map = map_file(&self.root.join(file_name(path))).map_err(|error| open_read_error(path, error))?;
        Ok(Arc::new(OwnedBytes::new(map)))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let io = |source| DeleteError::IoError { io_error: Arc::new(source), filepath: path.to_owned() };
        fs::remove_file(self.root.join(file_name(path))).map_err(io)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.small_file(path).is_some() || self.root.join(file_name(path)).exists())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = File::create_new(self.root.join(file_name(path)))
            .map_err(|source| OpenWriteError::wrap_io_error(source, path.to_owned()))?;
        Ok(BufWriter::new(Box::new(SegmentFile(BufWriter::with_capacity(1 << 17, file)))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.small_file(path).ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let mut files = self.small_files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.to_owned(), data.to_owned());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        // An unfinished index need not survive a power cut. The writer syncs the finished files.
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

struct SegmentFile(BufWriter<File>);

impl Write for SegmentFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for SegmentFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}

/// A finished index, mapped. It writes nothing, not even a lock.
#[derive(Clone, Debug)]
pub(super) struct MappedDirectory {
    files: Arc<MappedFiles>,
}

#[derive(Debug)]
struct MappedFiles {
    meta: Vec<u8>,
    segment: Vec<(&'static str, OwnedBytes)>,
}

impl MappedDirectory {
    /// Maps every file and checks that none is cut off at the end.
    pub(super) fn open(root: &Path) -> Result<Self, KeywordError> {
        let meta_path = root.join(META_FILE);
        let meta = read_meta(&meta_path)?;
        let mut segment = Vec::with_capacity(SEGMENT_FILES.len());
        for name in SEGMENT_FILES {
            let path = root.join(name);
            let bytes = OwnedBytes::new(map_file(&path)?);
            check_footer(&bytes).map_err(|what| KeywordError::Damaged { path, what })?;
            segment.push((name, bytes));
        }
        Ok(Self { files: Arc::new(MappedFiles { meta, segment }) })
    }

    fn segment_file(&self, path: &Path) -> Option<&OwnedBytes> {
        let wanted = file_name(path);
        self.files.segment.iter().find(|(name, _)| *name == wanted).map(|(_, bytes)| bytes)
    }
}

fn read_meta(path: &Path) -> Result<Vec<u8>, KeywordError> {
    let meta = fs::read(path).map_err(|source| KeywordError::Io { path: path.to_owned(), doing: "read", source })?;
    match serde_json::from_slice::<serde::de::IgnoredAny>(&meta) {
        Ok(_) => Ok(meta),
        Err(error) => Err(KeywordError::Damaged { path: path.to_owned(), what: format!("it is not JSON: {error}") }),
    }
}

/// Checks the end of a file. tantivy ends each file with a footer, the length of the footer and a magic number, and
/// does not check that the last eight bytes exist.
fn check_footer(bytes: &[u8]) -> Result<(), String> {
    const MAGIC: u32 = 1337;
    let Some((rest, tail)) = bytes.split_last_chunk::<8>() else {
        return Err(format!("it has {} bytes and no footer", bytes.len()));
    };
    let [a, b, c, d, magic @ ..] = *tail;
    let footer_len = u32::from_le_bytes([a, b, c, d]) as usize;
    if u32::from_le_bytes(magic) != MAGIC || footer_len > rest.len() {
        return Err("its end is missing or is not that of a keyword index file".into());
    }
    Ok(())
}

impl Directory for MappedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let bytes = self.segment_file(path).ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))?;
        Ok(Arc::new(bytes.clone()))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(path == Path::new(META_FILE) || self.segment_file(path).is_some())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path != Path::new(META_FILE) {
            return Err(OpenReadError::FileDoesNotExist(path.to_owned()));
        }
        Ok(self.files.meta.clone())
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        // A finished index is never written, so no lock is needed.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "a snapshot is read-only")
}

fn open_read_error(path: &Path, error: SectionFileError) -> OpenReadError {
    match error {
        SectionFileError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            OpenReadError::FileDoesNotExist(path.to_owned())
        }
        SectionFileError::Io { source, .. } => OpenReadError::wrap_io_error(source, path.to_owned()),
        other => OpenReadError::wrap_io_error(io::Error::other(other), path.to_owned()),
    }
}
