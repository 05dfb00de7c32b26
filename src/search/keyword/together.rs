//! Which words stand in the same documents: what a misspelt word of a query meant shows in the words next to it.

use std::io;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::ranges::OrdinalRanges;

use super::leg::KeywordLeg;
use crate::search::bits::Bits;

/// A term that more of the documents have goes with every word.
const COMMON_ONE_IN: u32 = 8;

/// Of the documents with a term about so many are looked at, in so many places of the searched ranges.
const LOOKED_AT: u32 = 4096;
const PLACES: u32 = 16;

/// About so many are read to see which words stand in a row.
const READ_IN_A_ROW: u32 = 128;

/// What a count is smoothed with: one document more or less proves nothing.
const SMOOTHING: f32 = 0.5;

/// The documents of the searched ranges that have a term.
pub(in crate::search) struct DocumentsWith {
    documents: Bits,
    /// Which share of the ranges they are.
    share: f32,
}

impl KeywordLeg {
    /// The documents of some ranges with a term in text or heading; none if it stands in hardly any, or in too many.
    pub(in crate::search) fn having(&self, term: &str, ranges: &OrdinalRanges) -> io::Result<Option<DocumentsWith>> {
        let most = self.text.document_count(term)?.max(self.heading.document_count(term)?);
        if most == 0 || most > self.document_count / COMMON_ONE_IN {
            return Ok(None);
        }
        let mut documents = Bits::none(self.document_count);
        for field in self.said() {
            field.each_with(term, ranges, |doc| documents.set(doc))?;
        }
        let found = documents.count();
        let share = found as f32 / ranges.len().max(1) as f32;
        Ok((found > 0).then_some(DocumentsWith { documents, share }))
    }

    /// For each of some terms, how many times as often as elsewhere its documents are among those with `term`, as a logarithm.
    pub(in crate::search) fn lifts(
        &self,
        term: &str,
        others: &[DocumentsWith],
        ranges: &OrdinalRanges,
    ) -> io::Result<Vec<f32>> {
        let documents = self.some_with(term, ranges, LOOKED_AT)?;
        let looked_at = documents.len() as f32;
        let lift = |other: &DocumentsWith| {
            let together = documents.iter().filter(|&&doc| other.documents.has(doc)).count() as f32;
            ((together + SMOOTHING) / (looked_at * other.share + SMOOTHING)).ln()
        };
        Ok(others.iter().map(lift).collect())
    }

    /// In how many documents of some ranges two terms stand in a row, counted up to here; and how many documents of the rarer
    /// one could show it, of which a few are looked at.
    pub(in crate::search) fn in_a_row(
        &self,
        first: &str,
        second: &str,
        ranges: &OrdinalRanges,
        most: usize,
    ) -> io::Result<(usize, usize)> {
        let rarer = if self.documents_with(first)? < self.documents_with(second)? { first } else { second };
        let documents = self.some_with(rarer, ranges, READ_IN_A_ROW)?;
        let mut rows = self.rows_of(&[first.to_owned(), second.to_owned()])?;
        let found = documents.iter().filter(|&&doc| rows.iter_mut().any(|row| row.is_in(doc)));
        Ok((found.take(most).count(), documents.len()))
    }

    /// Documents of the ranges with a term, of many about so many from everywhere.
    pub(super) fn some_with(&self, term: &str, ranges: &OrdinalRanges, about: u32) -> io::Result<Vec<u32>> {
        let mut documents = Vec::new();
        for field in self.said() {
            let Some(mut cursor) = field.cursor(term)? else { continue };
            // So many ordinals have as many of the documents as a place may give.
            let place = u64::from(self.document_count) * u64::from(about / PLACES) / u64::from(cursor.len().max(1));
            for range in places(ranges, u32::try_from(place).unwrap_or(u32::MAX)) {
                cursor.skip_to(range.start);
                cursor.each_document_until(range.end.min(self.document_count), |doc| documents.push(doc));
            }
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }
}

/// The beginnings of [`PLACES`] equal parts of some ranges, each of so many ordinals at most.
fn places(ranges: &OrdinalRanges, most: u32) -> Vec<OrdinalRange> {
    let part = ranges.len().div_ceil(PLACES).max(1);
    let mut places = Vec::new();
    for range in ranges.as_slice() {
        let mut start = range.start;
        while start < range.end {
            let end = start.saturating_add(part).min(range.end);
            places.push(OrdinalRange { start, end: start.saturating_add(most).min(end) });
            start = end;
        }
    }
    places
}
