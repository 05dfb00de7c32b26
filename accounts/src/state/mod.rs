//! The state file, `state.redb`, with accounts, keys, wallets, the ledger, orders and sessions.
//!
//! This layer has tables of checksummed records with indexes. It creates, opens, checks, copies and
//! restores the file safely. It knows nothing about credits. Main types: [`State`] (an open file),
//! [`StateStorage`] (the storage of its bytes), [`StateTable`], `StateWriter` and `Reading` (the two kinds of
//! transaction).
//!
//! Opening the file runs redb's integrity check and then our own: every record of every table must
//! match its checksum, and the file must not be older than recorded in `state.mark`. redb does not
//! verify checksums on ordinary reads.

pub(crate) mod check;
pub(crate) mod codec;
pub(crate) mod copy;
mod error;
mod files;
mod index;
mod lock;
mod mark;
mod owed;
mod schema;
mod seal_key;
mod storage;
mod store;
mod table;
mod transaction;

pub use error::{DamageKind, StateError};
pub use files::{MARK_FILE, OWED_FILE, SEAL_KEY_FILE, STATE_FILE, create_data_directory};
pub(crate) use index::Index;
pub use lock::{DataLock, permission_warning};
pub use mark::{LedgerMark, MarkFile};
pub use schema::{SCHEMA_VERSION, create_schema};
pub use seal_key::SEAL_KEY_BYTES;
pub use storage::{FileStorage, StateStorage};
pub use store::State;
pub use table::StateTable;
pub(crate) use transaction::{StateReader, StateWriter};
