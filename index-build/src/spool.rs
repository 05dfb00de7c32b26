//! The spool: a temporary file that stores the content of nodes between reading the sources and
//! writing the snapshot.
//!
//! Contents are appended during import and read back in code order, so memory does not grow with the law.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::content::Content;

/// Why the spool file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    #[error("cannot use the temporary file in the output folder: {0}")]
    Io(#[source] io::Error),
    #[error("the temporary file in the output folder cannot be read back: {0}")]
    Damaged(#[source] serde_json::Error),
}

/// The place of the content of a node in the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpoolSpan {
    offset: u64,
    length: u32,
}

impl SpoolSpan {
    pub fn bytes(self) -> usize {
        self.length as usize
    }
}

/// Contents on disk.
#[derive(Debug)]
pub struct Spool {
    out: BufWriter<File>,
    position: u64,
}

impl Spool {
    pub(crate) fn create(dir: &Path) -> Result<Self, SpoolError> {
        let file = tempfile::tempfile_in(dir).map_err(SpoolError::Io)?;
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), position: 0 })
    }

    pub(crate) fn push(&mut self, content: &Content) -> Result<SpoolSpan, SpoolError> {
        let bytes = serde_json::to_vec(content).map_err(SpoolError::Damaged)?;
        self.out.write_all(&bytes).map_err(SpoolError::Io)?;
        let span = SpoolSpan { offset: self.position, length: bytes.len() as u32 };
        self.position += bytes.len() as u64;
        Ok(span)
    }

    pub(crate) fn flush(&mut self) -> Result<(), SpoolError> {
        self.out.flush().map_err(SpoolError::Io)
    }

    pub fn read(&self, span: SpoolSpan) -> Result<Content, SpoolError> {
        let mut bytes = vec![0; span.length as usize];
        self.out.get_ref().read_exact_at(&mut bytes, span.offset).map_err(SpoolError::Io)?;
        serde_json::from_slice(&bytes).map_err(SpoolError::Damaged)
    }
}
