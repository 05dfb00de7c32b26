//! The errors of writing and opening a keyword index. Every message names the file or folder.

use std::io;
use std::path::PathBuf;

use tantivy::TantivyError;

use crate::analyzer::ANALYZER_ID;
use crate::section_file::SectionFileError;

#[derive(Debug, thiserror::Error)]
pub enum KeywordError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("{0}")]
    File(#[from] SectionFileError),
    #[error("{} is damaged: {what}; {}", .path.display(), REMEDY)]
    Damaged { path: PathBuf, what: String },
    #[error(
        "keyword index {} was written with different fields or a different text analysis from '{}', which this version \
         of hornbook uses; rebuild the snapshot with 'hornbook build', or use the version of hornbook that built it",
        .path.display(),
        ANALYZER_ID
    )]
    OtherSchema { path: PathBuf },
    #[error(
        "keyword index {} holds {found} documents, the snapshot has {expected} nodes: they are from different builds; \
         {}",
        .path.display(),
        REMEDY
    )]
    DocumentCount { path: PathBuf, expected: u32, found: u32 },
    #[error(
        "keyword index {}: document {document} has the ordinal of {}; {}",
        .path.display(),
        .ordinal.map_or("no node".to_owned(), |ordinal| format!("node {ordinal}")),
        REMEDY
    )]
    Order { path: PathBuf, document: u32, ordinal: Option<u64> },
    #[error(
        "cannot index another document in {}: it already has the maximum number of documents; split the plan into two \
         snapshots",
        .path.display()
    )]
    TooManyDocuments { path: PathBuf },
    #[error("cannot {doing} keyword index {}: {source}", .path.display())]
    Engine { path: PathBuf, doing: &'static str, source: TantivyError },
    #[error(
        "the thread that writes keyword index {} has stopped because of an earlier error or a bug; start the build \
         again",
        .path.display()
    )]
    WriterStopped { path: PathBuf },
}

const REMEDY: &str = "copy the snapshot again or rebuild it with 'hornbook build'";
