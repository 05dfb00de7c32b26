//! Cache of bitmaps: which documents contain a common term in heading or text. It serves phrases
//! and exclusions of common terms.
//!
//! The posting list of a common term is long. If a search covers at least half of the corpus, the
//! bitmap of the whole list is cached for later queries.

use std::io;
use std::sync::Arc;

use hornbook_base::byte_cache::ByteCache;
use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::ranges::OrdinalRanges;

use crate::bitmap::DocumentBitmap;
use crate::postings::FieldReader;

/// Maximum size of the cache in bytes, per document of the corpus. It holds 64 terms in both
/// fields.
const BYTES_PER_DOCUMENT: usize = 16;

/// Maximum size of the cache in bytes.
const BYTES_MAX: usize = 16 << 20;

/// The index of a field, and a term.
pub(super) type Key = (usize, String);

/// The recently requested terms.
pub(super) struct TermBitmapCache {
    document_count: u32,
    pub(super) held: ByteCache<Key, Arc<DocumentBitmap>>,
}

impl TermBitmapCache {
    pub(super) fn new(document_count: u32) -> Self {
        Self { document_count, held: ByteCache::for_documents(document_count, BYTES_PER_DOCUMENT, BYTES_MAX) }
    }

    /// The documents that contain the term in this field. It is complete only within the ranges.
    pub(super) fn get(
        &self,
        key: &Key,
        field: &FieldReader,
        ranges: &OrdinalRanges,
    ) -> io::Result<Arc<DocumentBitmap>> {
        if let Some(held) = self.held.get(key) {
            return Ok(held);
        }
        let everything = OrdinalRanges::from(OrdinalRange { start: 0, end: self.document_count });
        let is_worth_holding = ranges.len() >= self.document_count / 2;
        let mut bits = DocumentBitmap::empty_for(self.document_count);
        field.each_with(&key.1, if is_worth_holding { &everything } else { ranges }, |doc| bits.set(doc))?;
        let bits = Arc::new(bits);
        if is_worth_holding {
            self.held.put(key.clone(), Arc::clone(&bits));
        }
        Ok(bits)
    }
}
