//! The errors of a search.

use std::fmt;
use std::path::PathBuf;

use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::texts::TextDamaged;
use tantivy::TantivyError;

use super::limits::{EXCLUSIONS_MAX, PHRASES_MAX, QUERY_CHARS_MAX, RESULTS_MAX};

/// An invalid query. [`check_query`](super::check_query) detects it without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("the query is empty; type a citation, a few words or a question")]
    Empty,
    #[error("the query has {chars} characters; at most {} are allowed", QUERY_CHARS_MAX)]
    TooLong { chars: usize },
    #[error("the query has {count} phrases in quotation marks; at most {} are allowed", PHRASES_MAX)]
    TooManyPhrases { count: usize },
    #[error(
        "the query has {count} exclusions (words or phrases with a minus sign); at most {} are allowed",
        EXCLUSIONS_MAX
    )]
    TooManyExclusions { count: usize },
    /// The query only excludes words or phrases and contains nothing to search for.
    #[error("the query only excludes words; add a word, a phrase or a citation to search for")]
    OnlyExclusions,
}

/// The error of a search.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("{0}")]
    Query(#[from] QueryError),
    #[error(
        "cannot show page {page} with {limit} results per page: both numbers start at 1, and the last result that can \
         be shown is number {}; narrow the query or filter by jurisdiction or code body",
        RESULTS_MAX
    )]
    BeyondResults { page: u32, limit: u32 },
    #[error("{0}")]
    NotDeep(DeepUnavailable),
    /// The client has disconnected: see [`CancelCheck`](super::CancelCheck).
    #[error("the search was stopped because its client has disconnected")]
    Abandoned,
    #[error("cannot open the keyword index: {0}; run 'hornbook verify'")]
    Index(#[source] TantivyError),
    /// Reading the snapshot panicked. This usually means that its files are damaged.
    #[error(
        "the search in {} failed: {what}; run 'hornbook verify', and if it reports damage, copy the snapshot again \
         or rebuild it with 'hornbook build'",
        .dir.display()
    )]
    Unreadable { dir: PathBuf, what: String },
    #[error("cannot read the keyword index: {0}; run 'hornbook verify'")]
    Postings(#[from] std::io::Error),
    #[error("{0}")]
    Nodes(#[from] NodesError),
    #[error("{0}")]
    Text(#[from] TextDamaged),
}

/// The reason why a snapshot cannot be searched with depth `deep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeepUnavailable {
    /// The snapshot has no encoder.
    NoEncoder,
    /// This program cannot run the snapshot's encoder.
    NotBuiltIn,
}

impl fmt::Display for DeepUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoEncoder => {
                "this corpus does not support depth 'deep': it was built without a sentence encoder; use depth 'fast' or 'auto'"
            }
            Self::NotBuiltIn => {
                "this corpus has a sentence encoder, but this program was built without the feature 'encoder' that runs it; \
                 use depth 'fast' or 'auto'"
            }
        })
    }
}
