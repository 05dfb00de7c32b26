//! The state, with accounts, keys, wallets, the ledger, orders and sessions: a file, `state.redb`, or a
//! database that several servers share.
//!
//! This layer has tables of checksummed records with indexes. It creates, opens, checks, copies and
//! restores the file safely. It knows nothing about credits. Main types: [`State`] (an open state),
//! [`StateStorage`] (where it is stored), [`StateDatabase`] (its tables of bytes, by redb or another
//! engine), [`StateTable`], `StateWriter` and `StateReader` (the two kinds of transaction).
//!
//! Opening the file runs redb's integrity check and then our own: every record of every table must
//! match its checksum, and the file must not be older than recorded in `state.mark`. redb does not
//! verify checksums on ordinary reads.

pub(crate) mod check;
pub(crate) mod codec;
pub(crate) mod copy;
mod database;
mod error;
mod files;
mod index;
mod journal_file;
mod local_files;
mod lock;
mod mark;
mod owed;
mod redb_database;
mod schema;
mod seal_key;
mod storage;
mod store;
mod table;
mod transaction;

pub use database::{ChangeNumber, ChangedRecord, KeyOrder, KeyRange, StateDatabase, TableReader, TableWriter, Visit};
pub use error::{DamageKind, StateError};
pub use files::{JOURNAL_FILE, MARK_FILE, OWED_FILE, SEAL_KEY_FILE, STATE_FILE, create_data_directory};
pub(crate) use index::Index;
pub use journal_file::{JournalFile, JournalStore};
pub use local_files::LocalFiles;
pub use lock::{DataLock, permission_warning};
pub use mark::{LedgerMark, MarkFile};
pub use schema::{SCHEMA_VERSION, create_schema};
pub use seal_key::SEAL_KEY_BYTES;
pub use storage::{FileStorage, StateStorage};
pub use store::State;
pub use table::StateTable;
pub(crate) use transaction::{StateReader, StateWriter};
