//! The keyword index: which nodes contain which words in their heading, text, citation and breadcrumb.
//!
//! It is a tantivy index with exactly one segment, in which the document id is the node's ordinal. Every filter is
//! therefore a range of document ids, and no id needs a lookup. The index stores no documents. [`KeywordWriter`]
//! writes a stream of documents in ordinal order within a memory budget, and gives the same bytes for the same
//! input. [`KeywordIndex`] opens the files as memory maps, without locks or writes. The search engine does the
//! scoring. `corpus/FORMAT.md` describes the files.

mod directory;
mod error;
mod reader;
mod schema;
mod term_places;
mod writer;

pub use error::KeywordError;
pub use reader::KeywordIndex;
pub use schema::KeywordFields;
pub use term_places::{POSITIONS_FILE_NAME, TermPlace};
pub use writer::{KeywordDocument, KeywordStats, KeywordWriter};

/// The folder of the index in a snapshot.
pub const DIRECTORY_NAME: &str = "keyword";

#[cfg(test)]
mod tests;
