//! Keeps documents of a source in memory and parses them together on all cores. The results are
//! processed in file order.

use std::io::Read;

use rayon::prelude::*;

use crate::account::{SourceWords, TextFormat};
use crate::import::document::{Document, ParseDocument, Parsed};
use crate::import::intake::{ImportError, SourceIntake};
use crate::import::target::ImportTarget;
use crate::source_files::{SourceError, SourceFile};

/// The maximum size of a document: three times the largest title of the United States Code.
const DOCUMENT_BYTES_MAX: u64 = 512 << 20;
/// Documents are parsed when this many bytes or this many documents are in memory.
const BATCH_BYTES: usize = 48 << 20;
const BATCH_DOCUMENTS: usize = 4_096;

/// Documents that wait to be parsed together.
#[derive(Debug, Default)]
pub(crate) struct DocumentBatch {
    documents: Vec<Document>,
    bytes: usize,
}

impl DocumentBatch {
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

    /// The words of the waiting documents. `parsed` contains their parse results.
    fn words(&self, form: TextFormat, parsed: &[Parsed]) -> SourceWords {
        // One part per thread: merging many small parts takes longer than counting.
        let part = self.documents.len().div_ceil(rayon::current_num_threads()).max(1);
        let counted = self.documents.par_chunks(part).zip(parsed.par_chunks(part)).map(|(documents, parsed)| {
            let mut words = SourceWords::default();
            for (document, parsed) in documents.iter().zip(parsed) {
                if parsed.is_skipped {
                    let mut skipped = SourceWords::default();
                    form.count(&document.bytes, &mut skipped);
                    skipped.set_all_aside("documents that the plan skips");
                    words.merge(skipped);
                } else {
                    form.count(&document.bytes, &mut words);
                }
            }
            words
        });
        counted.reduce(SourceWords::default, |mut all, part| {
            all.merge(part);
            all
        })
    }

    /// Parses the waiting documents on all cores, passes the results to the intake, and adds their
    /// words to `words`. Returns the number of nodes.
    pub(crate) fn parse(
        &mut self,
        parse: ParseDocument,
        target: ImportTarget<'_>,
        form: TextFormat,
        intake: &mut SourceIntake<'_>,
        words: &mut SourceWords,
    ) -> Result<u64, ImportError> {
        let parsed: Vec<Parsed> = self.documents.par_iter().map(|document| parse(document, target)).collect();
        words.merge(self.words(form, &parsed));
        *self = Self::default();
        let mut count = 0;
        for mut parsed in parsed {
            for (reason, text) in parsed.left_out.drain(..) {
                words.leave_out(reason, &text);
            }
            count += parsed.nodes.len() as u64;
            intake.take(parsed)?;
        }
        Ok(count)
    }
}
