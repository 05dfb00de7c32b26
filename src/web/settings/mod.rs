//! `/settings`: a person's own account. Signing up, in and out, keys, credits, usage, password, sessions, leaving.
//!
//! Reading changes nothing. Every change is a form with its token, sent from here (`web/browser`). `entry` lets people in,
//! `own` carries out their changes, `buying` buys packs, `overview` and `ledger` are the pages, `chart` draws.

mod buying;
mod chart;
pub mod door;
mod entry;
mod ledger;
pub(super) mod overview;
mod own;
mod shared;
