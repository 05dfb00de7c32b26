//! Sources whose files are documents, each parsed by itself: XML, HTML, or JSON that is one value.
//!
//! A parser is a pure function from the bytes of a document to nodes, so documents are parsed on all cores, and a fuzzer
//! can call it. What it found is taken in the order of the files.

use std::io::Read;

use rayon::prelude::*;

use crate::content::{Handle, NewNode};
use crate::import::target::{ImportError, Intake, Target};
use crate::report::{SourcePosition, WarningKind};
use crate::source_files::{SourceError, SourceFile};

/// The longest document: three times the largest title of the United States Code.
const DOCUMENT_BYTES_MAX: u64 = 512 << 20;
/// Documents are parsed when so many bytes of them are in memory, or so many documents.
const BATCH_BYTES: usize = 48 << 20;
const BATCH_DOCUMENTS: usize = 4_096;

/// Parses one document.
pub type ParseDocument = fn(&Document, Target<'_>) -> Parsed;

/// A file of a source, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its name in messages: the path, and within an archive `archive!entry`.
    pub place: String,
    pub bytes: Vec<u8>,
}

impl Document {
    /// The path within the archive, or the whole path of a file that is in none.
    pub fn path(&self) -> &str {
        self.place.rsplit_once('!').map_or(&self.place, |(_, entry)| entry)
    }

    pub fn position(&self, line: u32) -> SourcePosition {
        SourcePosition { file: self.place.clone(), line: Some(line) }
    }
}

/// What a parser found in a document.
#[derive(Debug, Default)]
pub struct Parsed {
    pub nodes: Vec<NewNode>,
    /// Parents by another name: whoever names the first handle as its parent belongs below the second. So a document can be
    /// placed by another one that includes it.
    pub joins: Vec<(Handle, Handle)>,
    pub warnings: Vec<(WarningKind, SourcePosition, String)>,
    /// What keeps the build from ending well.
    pub mistakes: Vec<(SourcePosition, String)>,
}

impl Parsed {
    /// A document that could not be read at all.
    pub fn refused(position: SourcePosition, what: impl Into<String>) -> Self {
        Self { mistakes: vec![(position, what.into())], ..Self::default() }
    }

    pub fn warn(&mut self, kind: WarningKind, position: SourcePosition, what: impl Into<String>) {
        self.warnings.push((kind, position, what.into()));
    }

    pub fn refuse(&mut self, position: SourcePosition, what: impl Into<String>) {
        self.mistakes.push((position, what.into()));
    }
}

/// Documents that wait to be parsed together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    documents: Vec<Document>,
    bytes: usize,
}

impl Batch {
    /// Reads a file into memory.
    pub(crate) fn read(&mut self, file: SourceFile<'_>) -> Result<(), SourceError> {
        let SourceFile { place, reader } = file;
        let mut bytes = Vec::new();
        let read = reader.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|source| SourceError::Io { place: place.clone(), doing: "read it", source })?;
        if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
            let what = format!("the file has more than {} MiB; split it", DOCUMENT_BYTES_MAX >> 20);
            return Err(SourceError::Refused { place, what });
        }
        self.bytes += bytes.len();
        self.documents.push(Document { place, bytes });
        Ok(())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES || self.documents.len() >= BATCH_DOCUMENTS
    }

    /// Parses what waits on all cores and hands it to the intake; returns how many nodes there were.
    pub(crate) fn parse(
        &mut self,
        parse: ParseDocument,
        target: Target<'_>,
        intake: &mut Intake<'_>,
    ) -> Result<u64, ImportError> {
        let parsed: Vec<Parsed> = self.documents.par_iter().map(|document| parse(document, target)).collect();
        *self = Self::default();
        let mut count = 0;
        for parsed in parsed {
            count += parsed.nodes.len() as u64;
            intake.take(parsed)?;
        }
        Ok(count)
    }
}
