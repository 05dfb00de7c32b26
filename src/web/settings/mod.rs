//! `/settings`: a person's own account. Signing up, in and out, keys, credits, usage, password,
//! sessions, deletion.
//!
//! GET requests change nothing. Every change is a form with a token, sent from this site (see
//! `web/form_security`). `sign_in` handles signing in, `account_changes` the changes, `buying` purchases of packs;
//! `overview` and `ledger` are the pages, and `chart` draws usage. `watches` lists what changed in the law that the account watches. `consent` lets agents in.

mod account_changes;
mod buying;
mod chart;
pub mod consent;
mod keys;
mod ledger;
pub mod mount;
pub(super) mod overview;
mod shared;
mod sign_in;
mod watches;
