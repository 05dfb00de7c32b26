//! `/operator`: the pages for running the service, for people with the operator role. Everybody
//! else gets 404.
//!
//! `overview` renders the page, `actions` handles its forms, `plots` draws the latencies.
//! `machinery` is the interface to the main program: lists the snapshots and switches between them.

mod actions;
pub mod mount;
mod overview;
mod plots;
mod shared;
pub mod snapshot_control;
