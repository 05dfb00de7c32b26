//! Co-occurrence of words. It shows which word a misspelt query word stands for.

use std::io;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::ranges::OrdinalRanges;

use super::leg::KeywordLeg;
use crate::bitmap::DocumentBitmap;

/// A term in more than one of this many documents is ignored: it occurs together with every word.
const COMMON_ONE_IN: u32 = 8;

/// About this many of the documents that contain a term are sampled, from about this many places in
/// the searched ranges.
const SAMPLED_DOCUMENTS: u32 = 4096;
const SAMPLED_RANGES: u32 = 16;

/// About this many documents are sampled to count two words in a row.
const ADJACENCY_SAMPLED: u32 = 128;

/// Added to counts, so that a single document more or less has little effect.
const SMOOTHING: f32 = 0.5;

/// The documents of the searched ranges that contain a term.
pub(crate) struct TermDocuments {
    documents: DocumentBitmap,
    /// Their share of all documents in the ranges.
    share: f32,
}

impl KeywordLeg {
    /// The documents of the ranges that contain a term in text or heading. `None` if there are
    /// none, or if the term is too common in the corpus.
    pub(crate) fn documents_having(&self, term: &str, ranges: &OrdinalRanges) -> io::Result<Option<TermDocuments>> {
        let most = self.text.document_count(term)?.max(self.heading.document_count(term)?);
        if most == 0 || most > self.document_count / COMMON_ONE_IN {
            return Ok(None);
        }
        let mut documents = DocumentBitmap::empty_for(self.document_count);
        for field in self.phrase_fields() {
            field.each_with(term, ranges, |doc| documents.set(doc))?;
        }
        let found = documents.count();
        let share = found as f32 / ranges.len().max(1) as f32;
        Ok((found > 0).then_some(TermDocuments { documents, share }))
    }

    /// The lift of `term` with each of the other terms: the logarithm of how many times as often as
    /// on average the documents with `term` contain the other term. Estimated from a sample.
    pub(crate) fn lifts(&self, term: &str, others: &[TermDocuments], ranges: &OrdinalRanges) -> io::Result<Vec<f32>> {
        let documents = self.sample_documents_with(term, ranges, SAMPLED_DOCUMENTS)?;
        let looked_at = documents.len() as f32;
        let lift = |other: &TermDocuments| {
            let together = documents.iter().filter(|&&doc| other.documents.has(doc)).count() as f32;
            ((together + SMOOTHING) / (looked_at * other.share + SMOOTHING)).ln()
        };
        Ok(others.iter().map(lift).collect())
    }

    /// In how many documents two terms occur in a row, counted up to `most`, and how many documents
    /// were sampled. The sample is from the documents of the ranges that contain the rarer term.
    pub(crate) fn count_adjacent(
        &self,
        first: &str,
        second: &str,
        ranges: &OrdinalRanges,
        most: usize,
    ) -> io::Result<(usize, usize)> {
        let rarer = if self.documents_with(first)? < self.documents_with(second)? { first } else { second };
        let documents = self.sample_documents_with(rarer, ranges, ADJACENCY_SAMPLED)?;
        let mut rows = self.phrase_readers(&[first.to_owned(), second.to_owned()])?;
        let found = documents.iter().filter(|&&doc| rows.iter_mut().any(|row| row.is_in(doc)));
        Ok((found.take(most).count(), documents.len()))
    }

    /// The documents of the ranges that contain a term in heading or text. If there are many, a
    /// sample from all over the ranges; `about` is its approximate size.
    pub(super) fn sample_documents_with(&self, term: &str, ranges: &OrdinalRanges, about: u32) -> io::Result<Vec<u32>> {
        let mut documents = Vec::new();
        for field in self.phrase_fields() {
            let Some(mut cursor) = field.cursor(term)? else { continue };
            // As many ordinals as contain on average the documents that one place contributes to
            // the sample.
            let place =
                u64::from(self.document_count) * u64::from(about / SAMPLED_RANGES) / u64::from(cursor.len().max(1));
            for range in sample_ranges(ranges, u32::try_from(place).unwrap_or(u32::MAX)) {
                cursor.skip_to(range.start);
                cursor.each_document_until(range.end.min(self.document_count), |doc| documents.push(doc));
            }
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }
}

/// Splits the ranges into about [`SAMPLED_RANGES`] equal parts, and returns at most the first `most`
/// ordinals of each part.
fn sample_ranges(ranges: &OrdinalRanges, most: u32) -> Vec<OrdinalRange> {
    let part = ranges.len().div_ceil(SAMPLED_RANGES).max(1);
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
