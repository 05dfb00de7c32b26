//! `/settings`: a person's own account. Signing up, in and out, keys, credits, usage, password,
//! sessions, deletion.
//!
//! GET requests change nothing. Every change is a form with a token, sent from this site (see
//! `web/form_security`). `entry` handles signing in, `own` the changes, `buying` purchases of packs;
//! `overview` and `ledger` are the pages, and `chart` draws usage.

mod account_changes;
mod buying;
mod chart;
mod keys;
mod ledger;
pub mod mount;
pub(super) mod overview;
mod shared;
mod sign_in;
