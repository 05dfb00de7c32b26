//! Bitmaps of the common terms in the phrases and exclusions of one query.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use hornbook_corpus::ranges::OrdinalRanges;

use super::leg::KeywordLeg;
use super::said::Key;
use crate::search::bits::Bits;
use crate::search::postings::FieldReader;

/// The bitmaps of one query, by field and term. All its phrases share them.
#[derive(Default)]
pub(super) struct TermBits(HashMap<Key, Arc<Bits>>);

impl TermBits {
    /// Adds the documents of the ranges that contain a term. It may also add documents outside the
    /// ranges.
    pub(super) fn add_to(
        &mut self,
        leg: &KeywordLeg,
        term: &str,
        ranges: &OrdinalRanges,
        bits: &mut Bits,
    ) -> io::Result<()> {
        for (place, field) in leg.said().into_iter().enumerate() {
            bits.add_all(self.get(leg, (place, field), term, ranges)?);
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
        let mut found = Bits::none(leg.document_count);
        for (place, field) in leg.said().into_iter().enumerate() {
            let mut in_field: Option<Bits> = None;
            for term in phrase {
                let bits = self.get(leg, (place, field), term, ranges)?;
                match &mut in_field {
                    Some(in_field) => in_field.keep_common(bits),
                    None => in_field = Some(bits.clone()),
                }
            }
            found.add_all(&in_field.unwrap_or_default());
        }
        Ok(found.places_in(ranges))
    }

    fn get(
        &mut self,
        leg: &KeywordLeg,
        (place, field): (usize, &FieldReader),
        term: &str,
        ranges: &OrdinalRanges,
    ) -> io::Result<&Bits> {
        let key = (place, term.to_owned());
        if !self.0.contains_key(&key) {
            let bits = leg.said_terms.get(&key, field, ranges)?;
            self.0.insert(key.clone(), bits);
        }
        Ok(&self.0[&key])
    }
}
