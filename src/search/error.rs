//! The errors of a search.

use std::fmt;
use std::path::PathBuf;

use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::texts::TextDamaged;
use tantivy::TantivyError;

use super::limits::{EXCLUSIONS_MAX, PHRASES_MAX, QUERY_CHARS_MAX, RESULTS_MAX};

/// An invalid query. [`check_query`](super::check_query) detects it without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryError {
    Empty,
    TooLong {
        chars: usize,
    },
    TooManyPhrases {
        count: usize,
    },
    TooManyExclusions {
        count: usize,
    },
    /// The query only excludes words or phrases and contains nothing to search for.
    OnlyExclusions,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the query is empty; type a citation, a few words or a question"),
            Self::TooLong { chars } => {
                write!(f, "the query has {chars} characters; at most {QUERY_CHARS_MAX} are allowed")
            }
            Self::TooManyPhrases { count } => {
                write!(f, "the query has {count} phrases in quotation marks; at most {PHRASES_MAX} are allowed")
            }
            Self::TooManyExclusions { count } => {
                write!(
                    f,
                    "the query has {count} exclusions (words or phrases with a minus sign); at most {EXCLUSIONS_MAX} are allowed"
                )
            }
            Self::OnlyExclusions => {
                f.write_str("the query only excludes words; add a word, a phrase or a citation to search for")
            }
        }
    }
}

impl std::error::Error for QueryError {}

/// The error of a search.
#[derive(Debug)]
pub enum SearchError {
    Query(QueryError),
    BeyondResults {
        page: u32,
        limit: u32,
    },
    NotDeep(DeepUnavailable),
    /// The client has disconnected: see [`CancelCheck`](super::CancelCheck).
    Abandoned,
    Index(TantivyError),
    /// Reading the snapshot panicked. This usually means that its files are damaged.
    Unreadable {
        dir: PathBuf,
        what: String,
    },
    Postings(std::io::Error),
    Nodes(NodesError),
    Text(TextDamaged),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(error) => error.fmt(f),
            Self::BeyondResults { page, limit } => write!(
                f,
                "cannot show page {page} with {limit} results per page: both numbers start at 1, and the last result that can be \
                 shown is number {RESULTS_MAX}; narrow the query or filter by jurisdiction or code body"
            ),
            Self::NotDeep(why) => why.fmt(f),
            Self::Abandoned => f.write_str("the search was stopped because its client has disconnected"),
            Self::Index(error) => {
                write!(f, "cannot open the keyword index: {error}; run 'hornbook verify'")
            }
            Self::Unreadable { dir, what } => write!(
                f,
                "the search in {} failed: {what}; run 'hornbook verify', and if it reports damage, copy the snapshot again \
                 or rebuild it with 'hornbook build'",
                dir.display()
            ),
            Self::Postings(error) => {
                write!(f, "cannot read the keyword index: {error}; run 'hornbook verify'")
            }
            Self::Nodes(error) => error.fmt(f),
            Self::Text(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SearchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::BeyondResults { .. } | Self::NotDeep(_) | Self::Abandoned | Self::Unreadable { .. } => None,
            Self::Query(error) => Some(error),
            Self::Index(error) => Some(error),
            Self::Postings(error) => Some(error),
            Self::Nodes(error) => Some(error),
            Self::Text(error) => Some(error),
        }
    }
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

impl From<QueryError> for SearchError {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<std::io::Error> for SearchError {
    fn from(error: std::io::Error) -> Self {
        Self::Postings(error)
    }
}

impl From<TextDamaged> for SearchError {
    fn from(error: TextDamaged) -> Self {
        Self::Text(error)
    }
}

impl From<NodesError> for SearchError {
    fn from(error: NodesError) -> Self {
        Self::Nodes(error)
    }
}
