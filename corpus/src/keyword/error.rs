//! The errors of writing and opening a keyword index. Every message names the file or folder.

use std::fmt;
use std::io;
use std::path::PathBuf;

use tantivy::TantivyError;

use crate::analyzer::ANALYZER_ID;
use crate::section_file::SectionFileError;

#[derive(Debug)]
pub enum KeywordError {
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    File(SectionFileError),
    Damaged { path: PathBuf, what: String },
    OtherSchema { path: PathBuf },
    DocumentCount { path: PathBuf, expected: u32, found: u32 },
    Order { path: PathBuf, document: u32, ordinal: Option<u64> },
    TooManyDocuments { path: PathBuf },
    Engine { path: PathBuf, doing: &'static str, source: TantivyError },
    WriterStopped { path: PathBuf },
}

const REMEDY: &str = "copy the snapshot again or rebuild it with 'hornbook build'";

impl fmt::Display for KeywordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, doing, source } => write!(f, "cannot {doing} {}: {source}", path.display()),
            Self::File(source) => source.fmt(f),
            Self::Damaged { path, what } => write!(f, "{} is damaged: {what}; {REMEDY}", path.display()),
            Self::OtherSchema { path } => write!(
                f,
                "keyword index {} was written with different fields or a different text analysis from '{ANALYZER_ID}', which this version of hornbook uses; rebuild the snapshot with 'hornbook build', or use the version of hornbook that built it",
                path.display()
            ),
            Self::DocumentCount { path, expected, found } => write!(
                f,
                "keyword index {} holds {found} documents, the snapshot has {expected} nodes: they are from different builds; {REMEDY}",
                path.display()
            ),
            Self::Order { path, document, ordinal } => {
                write!(f, "keyword index {}: document {document} has the ordinal of ", path.display())?;
                match ordinal {
                    Some(ordinal) => write!(f, "node {ordinal}; {REMEDY}"),
                    None => write!(f, "no node; {REMEDY}"),
                }
            }
            Self::TooManyDocuments { path } => write!(
                f,
                "cannot index another document in {}: it already has the maximum number of documents; split the plan into two snapshots",
                path.display()
            ),
            Self::Engine { path, doing, source } => {
                write!(f, "cannot {doing} keyword index {}: {source}", path.display())
            }
            Self::WriterStopped { path } => {
                write!(
                    f,
                    "the thread that writes keyword index {} has stopped because of an earlier error or a bug; start the build again",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for KeywordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::File(source) => Some(source),
            Self::Engine { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<SectionFileError> for KeywordError {
    fn from(source: SectionFileError) -> Self {
        Self::File(source)
    }
}
