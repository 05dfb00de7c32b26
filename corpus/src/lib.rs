//! The snapshot format: everything that would make an old snapshot wrong if it changed.
//!
//! Readers and writers of each structure are side by side: identifiers, the section file that contains every mapped
//! structure, text analysis, the embedder, the keyword and vector indexes, zoning layers and the manifest.
//! `corpus/FORMAT.md` documents every file byte by byte. Nothing in this crate depends on where sources come from,
//! or on the programs that use a snapshot.
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod analyzer;
pub mod cards;
pub mod catalogue;
pub mod cfr_chapters;
pub mod chunks;
pub mod citation;
pub mod citation_index;
pub mod code_titles;
pub mod damage;
pub mod day;
pub mod edits;
pub mod embed;
pub mod encoded;
pub mod ids;
pub mod jurisdictions;
pub mod keyword;
pub mod layout;
pub mod manifest;
pub mod nodes;
pub mod outline;
pub mod provision_url;
pub mod ranges;
pub mod references;
pub mod section_file;
pub mod sentence_encoder;
pub mod snapshot;
pub mod spelling;
pub mod suggest;
pub mod tags;
pub mod texts;
pub mod token_sets;
pub mod validity;
pub mod vectors;
pub mod zoning;
