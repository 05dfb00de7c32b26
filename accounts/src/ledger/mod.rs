//! The ledger: append-only, double entry, each entry linked to the one before it by hash.
//!
//! `entry` and `block` define what is stored, `books` the double entry. `poster` is the only way to
//! append. `load` reads the ledger at start, `newer` what other servers posted, `links` computes the
//! hash of an entry, `verify` checks every invariant, `rollup` turns old usage into daily rows, and
//! `usage` sums a range of entries by account.

pub mod entry;

pub(crate) mod block;
mod books;
pub(crate) mod links;
pub(crate) mod load;
pub(crate) mod newer;
pub(crate) mod poster;
pub(crate) mod rollup;
pub(crate) mod usage;
pub mod verify;
#[cfg(test)]
mod verify_tests;

pub use books::Books;
