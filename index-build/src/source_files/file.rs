//! One file of a source as a stream, and the errors of reading sources.

use std::fmt;
use std::io::{self, BufRead};
use std::path::PathBuf;

pub(super) const READ_BUFFER_BYTES: usize = 1 << 18;

/// Why a source could not be read.
#[derive(Debug)]
pub enum SourceError {
    Io { place: String, doing: &'static str, source: io::Error },
    Missing { path: PathBuf },
    Refused { place: String, what: String },
    Empty { path: PathBuf },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { place, doing, source } => write!(f, "{place}: cannot {doing}: {source}"),
            Self::Missing { path } => write!(
                f,
                "{}: there is no such file or folder; paths are relative to the plan, or to --sources DIR",
                path.display()
            ),
            Self::Refused { place, what } => write!(f, "{place}: {what}"),
            Self::Empty { path } => write!(f, "{}: the folder has no files", path.display()),
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// One file of a source: its name in messages, and its unpacked bytes.
pub struct SourceFile<'a> {
    /// The path, or `archive!entry` for a file within an archive.
    pub place: String,
    pub reader: &'a mut dyn BufRead,
}
