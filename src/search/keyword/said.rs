//! Which documents say a common term in their heading or their text, a bit each: for phrases and exclusions of such terms.
//!
//! The list of a common term is long. What was read of it where everything is searched is held for the next query.

use std::io;
use std::sync::Arc;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::ranges::OrdinalRanges;

use crate::byte_cache::ByteCache;
use crate::search::bits::Bits;
use crate::search::postings::FieldReader;

/// All that are held take at most 16 bytes for each document of the corpus: 64 terms in both fields.
const BYTES_PER_DOCUMENT: usize = 16;

/// And at most 16 MiB, whatever the corpus.
const BYTES_MAX: usize = 16 << 20;

/// A field by its place, and a term.
pub(super) type Key = (usize, String);

/// The terms that were asked for lately.
pub(super) struct SaidTerms {
    document_count: u32,
    held: ByteCache<Key, Arc<Bits>>,
}

impl SaidTerms {
    pub(super) fn new(document_count: u32) -> Self {
        let bytes_max = BYTES_MAX.min(document_count as usize * BYTES_PER_DOCUMENT);
        // The cache has two generations.
        Self { document_count, held: ByteCache::new(bytes_max / 2) }
    }

    /// Forgets the terms that are held, and holds no more.
    pub(super) fn close(&self) {
        self.held.close();
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.held.entries()
    }

    /// Those documents of the ranges whose field has the term; of others it may not be known.
    pub(super) fn get(&self, key: &Key, field: &FieldReader, ranges: &OrdinalRanges) -> io::Result<Arc<Bits>> {
        if let Some(held) = self.held.get(key) {
            return Ok(held);
        }
        let everything = OrdinalRanges::from(OrdinalRange { start: 0, end: self.document_count });
        let is_worth_holding = ranges.len() >= self.document_count / 2;
        let mut bits = Bits::none(self.document_count);
        field.each_with(&key.1, if is_worth_holding { &everything } else { ranges }, |doc| bits.set(doc))?;
        let bits = Arc::new(bits);
        if is_worth_holding {
            self.held.put(key.clone(), Arc::clone(&bits));
        }
        Ok(bits)
    }
}
