//! Errors of the state file. Each message contains what to do next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use hornbook_base::hex;

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another process owns the data directory.
    #[error("cannot open {}: {}", .path.display(), describe_owner(*.pid))]
    InUse { path: PathBuf, pid: Option<u32> },
    /// The file was written by a newer Hornbook.
    #[error(
        "cannot open {place}: it has state format {found}, but this hornbook reads formats up to {newest}; run the \
         newer hornbook, or 'hornbook restore' a backup made before the upgrade"
    )]
    TooNew { place: String, found: u32, newest: u32 },
    /// The bytes differ from what was written.
    #[error(
        "{place} is damaged: {what}; nothing was changed, run 'hornbook restore BACKUP' with the newest \
         backup that verifies"
    )]
    Damaged { place: String, what: DamageKind },
    /// The file is intact but older than what was acknowledged.
    #[error(
        "{place} is older than the acknowledged state: it contains {entries} ledger entries, but its mark records \
         {marked}; restore the right file, or run 'hornbook restore BACKUP' to accept an older one (after a change of \
         state.backend, 'hornbook state migrate' brings the state over)"
    )]
    OlderThanMark { place: String, entries: u64, marked: u64 },
    /// The disk or the storage engine failed.
    #[error("cannot {doing}: {source}; check the disk and the space left on it")]
    Storage { doing: &'static str, source: Box<redb::Error> },
    /// The database that several servers share failed, or cannot be reached.
    #[error("cannot {doing} {place}: {source}; check that the database runs, takes changes and has space left")]
    Database { doing: &'static str, place: String, is_full: bool, source: Box<dyn std::error::Error + Send + Sync> },
    /// The lock on the shared database was lost, and another server changed something before it was taken again.
    #[error("the connection to {place} was lost and another server changed the accounts meanwhile; try again")]
    ChangedElsewhere { place: String },
    /// Servers could still report calls that they charged to their leases.
    #[error(
        "servers still have {count} leases in {place}; stop each of them. One that crashed returns its leases when it is \
         started and stopped again; without its files, they end after state.lease_sec while another server runs"
    )]
    LeasesOpen { place: String, count: u64 },
    /// The journal of a server that the shared database does not know.
    #[error(
        "journal.redb has {calls} calls of a server that {place} does not know: they belong to another database, or to a \
         data directory of which this is a copy; move journal.redb away to start without them"
    )]
    ForeignJournal { place: String, calls: usize },
    /// A state is copied only into an empty one.
    #[error("{place} already has accounts; name an empty database, or move the file away")]
    NotEmpty { place: String },
    /// A copy of a state was interrupted.
    #[error("{place} is an unfinished copy; run 'hornbook state migrate' again")]
    Unfinished { place: String },
    /// The file had to be closed and reopened during a read.
    #[error("the disk failed and the state file had to be reopened; run the command again")]
    ReadAborted,
    /// An operation on a file beside the database failed.
    #[error("cannot {doing} {}: {source}; check the disk and the permissions", .path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DamageKind {
    /// The storage engine's own check failed.
    Engine(String),
    /// The storage engine panicked at unexpected bytes.
    Panicked(String),
    /// A record's checksum or shape is wrong.
    Record { table: &'static str, key: String },
    /// Not a Hornbook state file: the schema record is missing.
    NoSchema,
    /// Records contradict each other.
    Inconsistent(String),
}

impl StateError {
    pub(crate) fn storage(doing: &'static str, source: redb::Error) -> Self {
        Self::Storage { doing, source: Box::new(source) }
    }

    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { doing, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(place: &str, what: DamageKind) -> Self {
        Self::Damaged { place: place.to_owned(), what }
    }

    pub(crate) fn bad_record(table: &'static str, key: &[u8]) -> Self {
        let what = DamageKind::Record { table, key: hex::encode(key) };
        Self::Damaged { place: "the state file".to_owned(), what }
    }

    /// Converts an error of redb that occurred when opening a file.
    pub(super) fn opening(place: &str, error: redb::DatabaseError) -> Self {
        use redb::DatabaseError as E;
        match error {
            E::DatabaseAlreadyOpen => Self::InUse { path: place.into(), pid: None },
            E::UpgradeRequired(found) => Self::damaged(place, DamageKind::Engine(format!("engine format {found}"))),
            E::RepairAborted => Self::damaged(place, DamageKind::Engine("the repair was aborted".to_owned())),
            E::Storage(redb::StorageError::Corrupted(what)) => Self::damaged(place, DamageKind::Engine(what)),
            // A truncated file reads as an early end.
            E::Storage(redb::StorageError::Io(e))
                if matches!(e.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
            {
                Self::damaged(place, DamageKind::Engine(e.to_string()))
            }
            other => Self::storage("open the state file", other.into()),
        }
    }

    /// Whether freeing disk space is the remedy.
    pub fn is_disk_full(&self) -> bool {
        let io = match self {
            Self::Storage { source, .. } => match &**source {
                redb::Error::Io(io) => io,
                _ => return false,
            },
            Self::File { source, .. } => source,
            Self::Database { is_full, .. } => return *is_full,
            _ => return false,
        };
        matches!(io.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}

/// The process that has the file open, and what to do about it.
fn describe_owner(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => {
            format!("process {pid} has it open; stop that process, or use the commands that talk to it")
        }
        None => "another process has it open; stop that process first".to_owned(),
    }
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(message) => write!(f, "the storage check failed: {message}"),
            Self::Panicked(message) => write!(f, "the storage engine stopped at invalid bytes ({message})"),
            Self::Record { table, key } => write!(f, "record {key} of table {table} does not match its checksum"),
            Self::NoSchema => f.write_str("it contains no Hornbook state"),
            Self::Inconsistent(what) => f.write_str(what),
        }
    }
}
