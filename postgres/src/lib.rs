//! The state of accounts on PostgreSQL, or on a database that speaks its protocol, such as
//! CockroachDB and YugabyteDB.
//!
//! [`PostgresStorage`] is a [`StateStorage`](hornbook_accounts::state::StateStorage). All tables of a state are rows of one table,
//! `hornbook_records`. Every change locks the row of `hornbook_head`, so changes run one after
//! another, whichever server makes them, and raises the number in it. A change is gathered in memory
//! and sent with its commit. When the database refuses a commit (`40001`) or the connection is
//! lost, the commit is repeated under the same number. A row in `hornbook_changes` says whether an
//! earlier try succeeded, so no change is made twice.

mod address;
mod commit;
mod connections;
mod failure;
mod layout;
mod lock;
mod reader;
mod rows;
mod storage;
mod writer;

pub use address::{AddressError, PostgresAddress};
pub use storage::PostgresStorage;
