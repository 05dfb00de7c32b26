//! `/operator`: the pages for running the service, for people with the operator role. Everybody
//! else gets 404.
//!
//! `overview` renders the page with `health`, `accounts` and `plots`, `preview` explains a search, and `actions` handles
//! the forms. `control` is the interface to the main program: it lists the snapshots and switches between them, and
//! knows the settings and the disk.

mod accounts;
mod actions;
pub mod control;
mod health;
pub mod mount;
mod overview;
mod plots;
mod preview;
mod shared;
