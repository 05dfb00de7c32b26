//! Errors of sentence encoders. Every message names the file and a remedy.

use std::error::Error;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// This program was built without encoder support.
    #[error(
        "the plan has a table [encoder], but this program was built without encoder support; build it with 'cargo build --release', without --no-default-features, or remove the table from the plan"
    )]
    NotBuiltIn,
    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file of the encoder folder or the query table cannot be used. `line` is given for text files.
    #[error("{}{}: {what}", .path.display(), .line.map(format_line).unwrap_or_default())]
    InvalidFile { path: PathBuf, line: Option<usize>, what: String },
    /// The encoder failed to compute vectors of passages.
    #[error("the sentence encoder failed: {source}")]
    Compute { source: Box<dyn Error + Send + Sync> },
}

fn format_line(line: usize) -> String {
    format!(":{line}")
}
