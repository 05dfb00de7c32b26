//! The fields of the keyword index, opened for searching.

use hornbook_corpus::keyword::KeywordIndex;
use tantivy::TantivyError;

use super::common_terms::CommonTermCache;
use super::term_bitmap_cache::TermBitmapCache;
use crate::postings::FieldReader;
use crate::tuning::Tuning;

/// The fields of the index with their statistics, and the caches of common terms.
pub(crate) struct KeywordLeg {
    pub(super) document_count: u32,
    pub(super) heading: FieldReader,
    pub(super) text: FieldReader,
    pub(super) citation: FieldReader,
    pub(super) breadcrumb: FieldReader,
    pub(super) saturation: f32,
    pub(super) share_required: f32,
    /// Factor for the shares of the alternative terms of a rare word. A word is rare if at most one
    /// in `rare_one_of` documents contains it.
    pub(super) rare_share_factor: f32,
    pub(super) rare_one_of: u32,
    pub(super) common: CommonTermCache,
    pub(super) term_bitmap_cache: TermBitmapCache,
}

impl KeywordLeg {
    pub(crate) fn open(index: &KeywordIndex, tuning: &Tuning) -> Result<Self, TantivyError> {
        let fields = index.fields();
        Ok(Self {
            document_count: index.document_count(),
            heading: FieldReader::open(index, fields.heading, tuning.heading)?,
            text: FieldReader::open(index, fields.text, tuning.text)?,
            citation: FieldReader::open(index, fields.citation, tuning.citation)?,
            breadcrumb: FieldReader::open(index, fields.breadcrumb, tuning.breadcrumb)?,
            saturation: tuning.saturation,
            share_required: tuning.share_required,
            rare_share_factor: tuning.rare_synonym_share / tuning.synonym_share.max(f32::MIN_POSITIVE),
            rare_one_of: tuning.rare_word_one_of,
            common: CommonTermCache::new(index.document_count()),
            term_bitmap_cache: TermBitmapCache::new(index.document_count()),
        })
    }

    /// Empties the caches of common terms for good; searches read these terms from the index again.
    pub(crate) fn release_memory(&self) {
        self.common.held.close();
        self.term_bitmap_cache.held.close();
    }

    /// All fields: first the provision's own words, then the fields that say where it belongs.
    /// `KnownTerm` relies on this order.
    pub(super) fn fields(&self) -> [&FieldReader; 4] {
        [&self.text, &self.heading, &self.citation, &self.breadcrumb]
    }
}
