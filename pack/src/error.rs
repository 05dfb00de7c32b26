//! Why a pack cannot be written, read or unpacked. Every message names the file and the way out.

use std::io;
use std::path::{Path, PathBuf};

use hornbook_corpus::manifest::ManifestError;

use crate::index::{InvalidIndex, VERSION};

#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("{0}")]
    Manifest(#[from] ManifestError),
    #[error("{} is not a pack; make one with 'hornbook snapshot pack'", .path.display())]
    NotAPack { path: PathBuf },
    #[error(
        "{} is a pack of version {found}, this hornbook reads {VERSION}; use the version of hornbook that packed it",
        .path.display()
    )]
    Version { path: PathBuf, found: u32 },
    #[error("{} is damaged: {what}; copy it again", .path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{} has an invalid index: {source}; copy it again, or ask its publisher", .path.display())]
    Index { path: PathBuf, source: InvalidIndex },
    #[error(
        "{} contains only what changed since the snapshot {since}, which is not here; install that one first, or a pack \
         that is complete",
        .path.display()
    )]
    NeedsEarlier { path: PathBuf, since: String },
    #[error(
        "the earlier snapshot at {} is damaged: {what}; check it with 'hornbook verify', or install a pack that is complete",
        .dir.display()
    )]
    Earlier { dir: PathBuf, what: String },
    #[error(
        "the snapshot needs {needed} more bytes, but {} has {available} free; make room, for example with \
         'hornbook snapshot prune'",
        .folder.display()
    )]
    NoSpace { folder: PathBuf, needed: u64, available: u64 },
    #[error("the pack of the snapshot {snapshot} is not a snapshot: {what}; ask its publisher for another one")]
    Contents { snapshot: String, what: String },
}

/// Adds the file and what was being done to an error of the file system.
pub(crate) fn io_error(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> PackError {
    let path = path.to_owned();
    move |source| PackError::Io { path: path.clone(), doing, source }
}
