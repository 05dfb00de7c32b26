//! Compiles statutes, regulations and zoning layers into a snapshot.
//!
//! `plan` says what to read, `source_files` opens it, `import` parses it, `gather` sorts it into code order, `compile`,
//! `references` and `graph` write it, `publish` puts it in place, and `build` runs all of these. Nothing here knows who
//! will serve the snapshot.
#![forbid(unsafe_code)]

pub mod build;
mod compile;
pub mod error;
pub mod gather;
pub mod graph;
pub mod import;
mod order;
pub mod plan;
mod prepare;
pub mod progress;
mod publish;
mod references;
pub mod report;
pub mod source_files;
mod stage_clock;
mod territory;
mod usage;
mod wordings;
mod zoning_layers;
