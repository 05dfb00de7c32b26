//! The words of a query with their dictionary entries and weights. Each is looked up once per
//! query.

use std::io;

use hornbook_corpus::ranges::OrdinalRanges;
use tantivy::postings::TermInfo;

use super::leg::KeywordLeg;
use crate::postings::{Cursor, FieldReader};
use crate::understand::QueryWord;

#[derive(Clone, Debug)]
pub(crate) struct KnownWord {
    pub whole: Option<KnownTerm>,
    pub parts: Vec<KnownTerm>,
    /// Alternative terms, such as synonyms, each with its share of the weight of the word's own
    /// terms.
    pub alternative_terms: Vec<(KnownTerm, f32)>,
}

impl KnownWord {
    /// All terms that the corpus contains, the word's own terms and the alternative ones.
    pub(super) fn terms(&self) -> impl Iterator<Item = &KnownTerm> {
        let own = self.whole.iter().chain(&self.parts);
        own.chain(self.alternative_terms.iter().map(|(term, _)| term)).filter(|term| term.idf.is_some())
    }

    /// The weight of its heaviest own term, or else of its heaviest alternative term; `None` if the
    /// corpus contains none of them.
    pub(crate) fn weight(&self) -> Option<f32> {
        let own = self.whole.iter().chain(&self.parts).filter_map(|term| term.idf).reduce(f32::max);
        own.or_else(|| self.alternative_terms.iter().filter_map(|(term, _)| term.idf).reduce(f32::max))
    }
}

/// A term with its dictionary entry in each field.
#[derive(Clone, Debug)]
pub(crate) struct KnownTerm {
    /// Its inverse document frequency; `None` if the corpus does not contain it.
    pub idf: Option<f32>,
    entries: [Option<TermInfo>; 4],
}

impl KnownTerm {
    fn look_up(leg: &KeywordLeg, term: &str) -> io::Result<Self> {
        let mut entries = [const { None }; 4];
        for (entry, field) in entries.iter_mut().zip(leg.fields()) {
            *entry = field.entry(term)?;
        }
        let [text, heading, citation, breadcrumb] =
            [0, 1, 2, 3].map(|field: usize| entries[field].as_ref().map_or(0, |entry| entry.doc_freq));
        // If neither text nor heading contains the term, the document frequency in the other fields
        // counts.
        let found = match text.max(heading) {
            0 => citation.max(breadcrumb),
            said => said,
        };
        let (all, found) = (leg.document_count as f32, found.min(leg.document_count) as f32);
        let weight = (found > 0.0).then(|| (1.0 + (all - found + 0.5) / (found + 0.5)).ln());
        Ok(Self { idf: weight, entries })
    }

    /// Its highest document frequency in any field.
    pub(super) fn document_frequency(&self) -> u32 {
        self.entries.iter().flatten().map(|entry| entry.doc_freq).max().unwrap_or_default()
    }

    /// The number of postings in all fields.
    pub(super) fn postings(&self) -> u32 {
        self.entries.iter().flatten().map(|entry| entry.doc_freq).sum()
    }

    /// A key that no other term of the index has.
    pub(super) fn key(&self) -> u64 {
        let entries = (0_u64..).zip(&self.entries);
        let mut starts =
            entries.filter_map(|(field, entry)| Some(field << 56 | entry.as_ref()?.postings_range.start as u64));
        starts.next().unwrap_or(u64::MAX)
    }

    /// A cursor without frequencies for each field that contains the term.
    pub(super) fn documents_in_fields<'a>(&self, leg: &'a KeywordLeg) -> io::Result<Vec<Cursor<'a>>> {
        let mut cursors = Vec::with_capacity(self.entries.len());
        for (field, entry) in leg.fields().into_iter().zip(&self.entries) {
            cursors.extend(entry.as_ref().map(|entry| field.documents_of(entry)).transpose()?);
        }
        Ok(cursors)
    }

    /// A cursor with frequencies for each field that contains the term.
    pub(super) fn cursors<'a>(&self, leg: &'a KeywordLeg) -> io::Result<Vec<Cursor<'a>>> {
        let mut cursors = Vec::with_capacity(self.entries.len());
        for (field, entry) in leg.fields().into_iter().zip(&self.entries) {
            cursors.extend(entry.as_ref().map(|entry| FieldReader::cursor_of(field, entry)).transpose()?);
        }
        Ok(cursors)
    }
}

impl KeywordLeg {
    pub(crate) fn look_up(&self, words: &[QueryWord]) -> io::Result<Vec<KnownWord>> {
        let look_up = |word: &QueryWord| {
            let whole = word.whole.as_deref().map(|whole| KnownTerm::look_up(self, whole)).transpose()?;
            let parts: Vec<KnownTerm> =
                word.parts.iter().map(|part| KnownTerm::look_up(self, part)).collect::<io::Result<_>>()?;
            let said = whole.iter().chain(&parts).map(KnownTerm::document_frequency).min().unwrap_or_default();
            let is_rare = said.saturating_mul(self.rare_one_of) <= self.document_count;
            let lift = if is_rare { self.rare_share_factor } else { 1.0 };
            let also = word
                .alternative_terms
                .iter()
                .map(|also| Ok((KnownTerm::look_up(self, &also.term)?, lift * also.share)));
            Ok(KnownWord { whole, parts, alternative_terms: also.collect::<io::Result<_>>()? })
        };
        words.iter().map(look_up).collect()
    }

    /// The highest document frequency of a term in any field.
    pub(crate) fn documents_with(&self, term: &str) -> io::Result<u32> {
        Ok(KnownTerm::look_up(self, term)?.document_frequency())
    }

    /// The number of documents of the ranges that contain a term in the text or in the heading,
    /// whichever is higher; counted up to `most`.
    pub(crate) fn count_in(&self, term: &str, ranges: &OrdinalRanges, most: u32) -> io::Result<u32> {
        let mut found = 0;
        for field in [&self.text, &self.heading] {
            if let Some(mut cursor) = field.cursor(term)? {
                found = found.max(cursor.count_in(ranges, most));
            }
        }
        Ok(found)
    }

    /// Whether the corpus contains the term.
    pub(crate) fn has(&self, term: &str) -> io::Result<bool> {
        Ok(KnownTerm::look_up(self, term)?.idf.is_some())
    }
}
