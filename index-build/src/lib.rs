//! Compiles statutes, regulations and zoning layers into a snapshot.
//!
//! `plan` lists the sources, `source_files` opens them, `import` reads them, `gather` sorts their
//! nodes into code order, `compile`, `references` and `graph` write the files, and `publish` moves
//! the finished snapshot into place. `build` runs these steps. This crate knows nothing about the
//! server.
#![forbid(unsafe_code)]

pub mod account;
pub mod build;
mod build_context;
mod build_options;
pub mod check;
mod compile;
pub mod content;
pub mod data_directory;
mod earlier_chunks;
pub mod effect;
mod encoded_passages;
#[cfg(feature = "encoder")]
mod encoder;
#[cfg(not(feature = "encoder"))]
#[path = "no_encoder.rs"]
mod encoder;
pub mod encoder_error;
pub mod error;
mod fault_points;
pub mod former_number;
pub mod gather;
pub mod graph;
pub mod import;
pub mod includes;
pub mod integrity_check;
pub mod loss;
pub mod mistakes;
pub mod named_sunset;
mod naming;
mod opened_source;
mod order;
mod pattern;
pub mod plan;
mod plan_fit;
mod prepare;
pub mod progress;
pub mod provenance;
mod publish;
mod reading;
pub mod receipt;
mod references;
pub mod report;
mod reuse;
mod searched_ranges;
pub mod source_files;
#[cfg(test)]
mod source_hash;
pub mod spool;
mod stage_clock;
mod sunset;
mod territory;
mod usage;
pub mod validity_counts;
mod values;
pub mod wording_validity;
pub mod wordings;
mod zoning_layers;
