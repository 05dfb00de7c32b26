//! Documents of a source in memory, parsed together on all cores. What was found is taken in the order of the files.

use std::io::Read;

use rayon::prelude::*;

use crate::import::document::{Document, ParseDocument, Parsed};
use crate::import::intake::{ImportError, Intake};
use crate::import::target::Target;
use crate::source_files::{SourceError, SourceFile};

/// The longest document: three times the largest title of the United States Code.
const DOCUMENT_BYTES_MAX: u64 = 512 << 20;
/// Documents are parsed when so many bytes of them are in memory, or so many documents.
const BATCH_BYTES: usize = 48 << 20;
const BATCH_DOCUMENTS: usize = 4_096;

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
