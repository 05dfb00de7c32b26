//! Storage of the state: a file in the data directory, or a replacement in tests.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::database::StateDatabase;
use super::error::StateError;
use super::files::{
    MARK_FILE, OWED_FILE, SEAL_KEY_FILE, STATE_FILE, create_data_directory, create_private, sync_and_rename,
};
use super::journal_file::JournalStore;
use super::local_files::LocalFiles;
use super::mark::{LedgerMark, MarkFile};
use super::redb_database::database_builder;
use super::schema;
use super::seal_key::SEAL_KEY_BYTES;

/// Opens the same database repeatedly: after a failed commit, the only safe way on is to start
/// again from the disk.
pub trait StateStorage: Send + Sync {
    fn open(&self) -> Result<Box<dyn StateDatabase>, StateError>;

    fn describe(&self) -> String;

    /// How often to look for the changes of other servers, if several may share this state.
    fn look_every(&self) -> Option<Duration> {
        None
    }

    /// The files of this server in its data directory.
    fn local_files(&self) -> Option<&LocalFiles> {
        None
    }

    /// The journal of this server, if several may share this state.
    fn open_journal(&self) -> Result<Option<Box<dyn JournalStore>>, StateError> {
        Ok(None)
    }

    /// The mark stored beside the state, if there is one.
    fn mark(&self) -> Result<Option<LedgerMark>, StateError> {
        self.local_files().map_or(Ok(None), LocalFiles::mark)
    }

    fn set_mark(&self, mark: LedgerMark) {
        if let Some(files) = self.local_files() {
            files.set_mark(mark);
        }
    }

    /// Called between a failed commit and the next `open`.
    fn drop_page_cache(&self) {}

    /// Records the refunds owed to callers, apart from the database. The record is durable when this returns.
    fn record_owed(&self, record: &[u8]) -> Result<(), StateError> {
        let nowhere =
            || StateError::file("write the owed refunds to", Path::new(OWED_FILE), io::ErrorKind::Unsupported.into());
        self.local_files().ok_or_else(nowhere)?.record_owed(record)
    }

    /// All such records since the last `clear_owed`.
    fn owed(&self) -> Result<Vec<Vec<u8>>, StateError> {
        self.local_files().map_or(Ok(Vec::new()), LocalFiles::owed)
    }

    fn clear_owed(&self) -> Result<(), StateError> {
        self.local_files().map_or(Ok(()), LocalFiles::clear_owed)
    }

    /// The key of the sealed data, if there is one.
    fn seal_key(&self) -> Result<Option<[u8; SEAL_KEY_BYTES]>, StateError> {
        self.local_files().map_or(Ok(None), LocalFiles::seal_key)
    }

    /// Stores a key where there is none. It is durable when this returns.
    fn store_seal_key(&self, key: &[u8; SEAL_KEY_BYTES]) -> Result<(), StateError> {
        let nowhere =
            || StateError::file("write the key to", Path::new(SEAL_KEY_FILE), io::ErrorKind::Unsupported.into());
        self.local_files().ok_or_else(nowhere)?.store_seal_key(key)
    }
}

/// `state.redb` in a data directory.
pub struct FileStorage {
    path: PathBuf,
    files: LocalFiles,
}

impl FileStorage {
    /// The state file of `data`, created with its schema if it does not exist.
    pub(super) fn in_directory(data: &Path) -> Result<Self, StateError> {
        create_data_directory(data)?;
        let path = data.join(STATE_FILE);
        if !path.try_exists().map_err(|e| StateError::file("look for", &path, e))? {
            // A mark with entries means that a state file was lost. An empty file must not replace it.
            if let Some(mark) = MarkFile::at(data.join(MARK_FILE)).read()?.filter(|mark| mark.entries > 0) {
                let place = path.display().to_string();
                return Err(StateError::OlderThanMark { place, entries: 0, marked: mark.entries });
            }
            create_atomically(&path)?;
        }
        Ok(Self { path, files: LocalFiles::in_directory(data)? })
    }

    /// A single state file anywhere, such as a backup. It must exist, and it has no mark.
    pub fn standalone(path: &Path) -> Self {
        let beside = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let files = LocalFiles::at(beside(".mark"), beside(".owed"), beside(".key"), beside(".journal"));
        Self { path: path.to_owned(), files }
    }
}

impl StateStorage for FileStorage {
    fn open(&self) -> Result<Box<dyn StateDatabase>, StateError> {
        let opened = database_builder().open(&self.path);
        Ok(Box::new(opened.map_err(|e| StateError::opening(&self.describe(), e))?))
    }

    fn describe(&self) -> String {
        self.path.display().to_string()
    }

    fn local_files(&self) -> Option<&LocalFiles> {
        Some(&self.files)
    }

    // After a failed fsync, the kernel marks pages as clean that never reached the disk. Reading
    // them back would build new commits on pages that a power cut then removes. So they are dropped
    // from the cache and read from the disk.
    fn drop_page_cache(&self) {
        if let Ok(file) = File::open(&self.path) {
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
    }
}

/// Creates a state file so that it exists with its schema or not at all. If the process is killed
/// in the first milliseconds of redb's own creation, the file does not open.
fn create_atomically(path: &Path) -> Result<(), StateError> {
    let temporary = path.with_extension("redb.new");
    let database = database_builder()
        .create_file(create_private(&temporary)?)
        .map_err(|e| StateError::storage("create the state file", e.into()))?;
    schema::create_schema(&database)?;
    drop(database);
    sync_and_rename(&temporary, path)
}
