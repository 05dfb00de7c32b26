//! `/operator`: what runs the service, for people with the role. To all others there is nothing here.
//!
//! `overview` is the page, `actions` what its forms do, `plots` the latencies, `machinery` what the program around the
//! pages offers: snapshots and their replacement.

mod actions;
pub mod door;
pub mod machinery;
mod overview;
mod plots;
mod shared;
