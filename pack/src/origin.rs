//! Where a pull gets files from: a server of static files, as far as this package knows it.

use std::io::Read;
use std::ops::Range;

/// The files of a channel.
pub trait PackOrigin {
    /// Opens a file of the channel, or a range of its bytes. The reader may end early or fail, with
    /// `TimedOut` if the origin is too slow; what it returns is checked.
    fn get(&mut self, file: &str, range: Option<Range<u64>>) -> Result<Box<dyn Read>, OriginError>;

    /// Waits before another attempt, after this number of failures in a row.
    fn wait(&mut self, failures: u32);
}

/// Why a file could not be opened. The messages name its address.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// Another attempt may succeed.
    #[error("{0}")]
    Passing(String),
    /// Another attempt may succeed, but what arrives is too little: it is no progress.
    #[error("{0}")]
    Slow(String),
    /// No attempt will succeed.
    #[error("{0}")]
    Final(String),
}
