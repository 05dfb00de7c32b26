//! Errors of sentence encoders. Every message names the file and a remedy.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum EncoderError {
    /// This program was built without encoder support.
    NotBuiltIn,
    Read {
        path: PathBuf,
        source: io::Error,
    },
    /// A file of the encoder folder or the query table cannot be used. `line` is given for text files.
    InvalidFile {
        path: PathBuf,
        line: Option<usize>,
        what: String,
    },
    /// The encoder failed to compute vectors of passages.
    Compute {
        source: Box<dyn Error + Send + Sync>,
    },
}

impl fmt::Display for EncoderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuiltIn => f.write_str(
                "the plan has a table [encoder], but this program was built without encoder support; build it with 'cargo build --release', without --no-default-features, or remove the table from the plan",
            ),
            Self::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::InvalidFile { path, line: Some(line), what } => write!(f, "{}:{line}: {what}", path.display()),
            Self::InvalidFile { path, line: None, what } => write!(f, "{}: {what}", path.display()),
            Self::Compute { source } => write!(f, "the sentence encoder failed: {source}"),
        }
    }
}

impl Error for EncoderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            Self::Compute { source } => Some(source.as_ref()),
            Self::NotBuiltIn | Self::InvalidFile { .. } => None,
        }
    }
}
