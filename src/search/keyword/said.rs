//! Which documents say a common term in their heading or their text, a bit each: for phrases and exclusions of such terms.
//!
//! The list of a common term is long. What was read of it where everything is searched is held for the next query.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::ranges::OrdinalRanges;

use super::bits::Bits;
use super::leg::KeywordLeg;
use crate::byte_cache::ByteCache;
use crate::search::postings::FieldReader;

/// All that are held take at most so many bytes for each document of the corpus: 64 terms in both fields.
const BYTES_PER_DOCUMENT: usize = 16;

/// A field by its place, and a term.
type Key = (usize, String);

/// The terms that were asked for lately.
pub(super) struct SaidTerms {
    document_count: u32,
    held: ByteCache<Key, Arc<Bits>>,
}

impl SaidTerms {
    pub(super) fn new(document_count: u32) -> Self {
        Self { document_count, held: ByteCache::new(document_count as usize * BYTES_PER_DOCUMENT / 2) }
    }

    /// Those documents of the ranges whose field has the term; of others it may not be known.
    fn get(&self, key: &Key, field: &FieldReader, ranges: &OrdinalRanges) -> io::Result<Arc<Bits>> {
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

/// The terms of one query: phrases of the same words share them.
#[derive(Default)]
pub(super) struct TermBits(HashMap<Key, Arc<Bits>>);

impl TermBits {
    /// Adds the documents of the ranges that have a term; of others it may add some.
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

    /// The documents of the ranges in whose heading, or in whose text, all the terms stand, ascending.
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
