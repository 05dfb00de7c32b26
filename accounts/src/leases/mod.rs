//! Leased credits: a server that shares the ledger with others spends a part of an account by itself.
//!
//! A lease is a record in the shared state: so many units of a month's allotment and so many credits of
//! the wallet may be spent by one server until a time of the database's clock. No other server can
//! spend them meanwhile. The server answers calls from its leases after it wrote them to its own
//! journal, and reports them to the ledger in batches; the batch that appends their entries also
//! notes how far the journal is reported, so that each call is charged once. When a lease ends before its
//! calls are reported, they are charged to what the account still has.
//!
//! `local` is a lease in memory, `terms` decides how large leases are and what late calls cost,
//! `journal_writer` writes calls to the journal's file, `keeper` reports calls and keeps leases up to date in
//! the transactions of the ledger's writer.

pub(crate) mod journal;
pub(crate) mod journal_record;
pub(crate) mod journal_writer;
pub(crate) mod keeper;
pub(crate) mod local;
#[cfg(test)]
mod random_tests;
pub(crate) mod record;
mod renewal;
#[cfg(test)]
mod shared_memory;
mod status;
pub(crate) mod terms;
pub(crate) mod unleased;

pub use status::LeaseStatus;
