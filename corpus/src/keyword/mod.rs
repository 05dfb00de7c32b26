//! The keyword index: which words stand in the heading, text, citation and breadcrumb of which node.
//!
//! A tantivy index of exactly one segment in which the document id is the node's ordinal, so that every filter is a
//! range of document ids and no id is ever looked up. Nothing is stored in it. [`KeywordWriter`] streams documents in
//! ordinal order within a memory budget and leaves the same bytes for the same input; [`KeywordIndex`] opens them from
//! memory maps without locks or writes. Scoring is left to the search engine. `corpus/FORMAT.md` describes the files.

mod directory;
mod error;
mod reader;
mod schema;
mod writer;

pub use error::KeywordError;
pub use reader::KeywordIndex;
pub use schema::KeywordFields;
pub use writer::{KeywordDocument, KeywordStats, KeywordWriter};

/// The folder of the index in a snapshot.
pub const DIRECTORY_NAME: &str = "keyword";

#[cfg(test)]
mod tests;
