//! The ledger: append-only, double entry, each entry linked to the one before it by hash.
//!
//! `entry` and `block` are what is stored, `books` the double entry, `poster` the one way to append, `load` what is read
//! at start, `verify` the proof of every invariant, `rollup` what turns old usage into daily rows.

pub mod entry;

pub(crate) mod block;
mod books;
pub(crate) mod load;
pub(crate) mod poster;
pub(crate) mod rollup;
pub mod verify;
#[cfg(test)]
mod verify_tests;

pub use books::Books;
