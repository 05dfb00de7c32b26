//! Bitmaps of the common terms in the phrases and exclusions of one query.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use hornbook_corpus::ranges::OrdinalRanges;

use super::leg::KeywordLeg;
use super::term_bitmap_cache::Key;
use crate::bitmap::DocumentBitmap;
use crate::postings::FieldReader;

/// The bitmaps of one query, by field and term. All its phrases share them.
#[derive(Default)]
pub(super) struct QueryBitmaps(HashMap<Key, Arc<DocumentBitmap>>);

impl QueryBitmaps {
    /// Adds the documents of the ranges that contain a term. It may also add documents outside the
    /// ranges.
    pub(super) fn add_to(
        &mut self,
        leg: &KeywordLeg,
        term: &str,
        ranges: &OrdinalRanges,
        bits: &mut DocumentBitmap,
    ) -> io::Result<()> {
        for (place, field) in leg.phrase_fields().into_iter().enumerate() {
            bits.union_with(self.get(leg, (place, field), term, ranges)?);
        }
        Ok(())
    }

    /// The documents of the ranges that contain all terms in the heading or all in the text,
    /// ascending.
    pub(super) fn with_all(
        &mut self,
        leg: &KeywordLeg,
        phrase: &[String],
        ranges: &OrdinalRanges,
    ) -> io::Result<Vec<u32>> {
        let mut found = DocumentBitmap::empty_for(leg.document_count);
        for (place, field) in leg.phrase_fields().into_iter().enumerate() {
            let mut in_field: Option<DocumentBitmap> = None;
            for term in phrase {
                let bits = self.get(leg, (place, field), term, ranges)?;
                match &mut in_field {
                    Some(in_field) => in_field.intersect_with(bits),
                    None => in_field = Some(bits.clone()),
                }
            }
            found.union_with(&in_field.unwrap_or_default());
        }
        Ok(found.set_bits_in(ranges))
    }

    fn get(
        &mut self,
        leg: &KeywordLeg,
        (place, field): (usize, &FieldReader),
        term: &str,
        ranges: &OrdinalRanges,
    ) -> io::Result<&DocumentBitmap> {
        let key = (place, term.to_owned());
        if !self.0.contains_key(&key) {
            let bits = leg.term_bitmap_cache.get(&key, field, ranges)?;
            self.0.insert(key.clone(), bits);
        }
        Ok(&self.0[&key])
    }
}
