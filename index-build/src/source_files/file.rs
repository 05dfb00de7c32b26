//! One file of a source as a stream, and the errors of reading sources.

use std::io::{self, BufRead};
use std::path::PathBuf;

pub(super) const READ_BUFFER_BYTES: usize = 1 << 18;

/// Why a source could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("{place}: cannot {doing}: {source}")]
    Io { place: String, doing: &'static str, source: io::Error },
    #[error(
        "{}: there is no such file or folder; paths are relative to the plan, or to --sources DIR",
        .path.display()
    )]
    Missing { path: PathBuf },
    #[error("{place}: {what}")]
    Refused { place: String, what: String },
    #[error("{}: the folder has no files", .path.display())]
    Empty { path: PathBuf },
}

/// One file of a source: its name in messages, and its unpacked bytes.
pub struct SourceFile<'a> {
    /// The path, or `archive!entry` for a file within an archive.
    pub place: String,
    pub reader: &'a mut dyn BufRead,
}
