//! `/settings`: a person's own account. Signing up, in and out, keys, credits, usage, password,
//! sessions, deletion.
//!
//! GET requests change nothing. Every change is a form with a token, sent from this site (see
//! `web/browser`). `entry` handles signing in, `own` the changes, `buying` purchases of packs;
//! `overview` and `ledger` are the pages, and `chart` draws usage.

mod buying;
mod chart;
pub mod door;
mod entry;
mod ledger;
pub(super) mod overview;
mod own;
mod shared;
