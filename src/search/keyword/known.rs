//! The words of a query with their postings and weights. Each is looked up once per query.

use std::io;

use tantivy::postings::TermInfo;

use super::leg::KeywordLeg;
use crate::search::postings::{Cursor, FieldReader};
use crate::search::understand::QueryWord;

/// One word of a query.
#[derive(Clone, Debug)]
pub(in crate::search) struct KnownWord {
    pub whole: Option<KnownTerm>,
    pub parts: Vec<KnownTerm>,
}

impl KnownWord {
    /// What the weightiest of its terms carries; nothing if the corpus has none of them.
    pub(in crate::search) fn weight(&self) -> Option<f32> {
        self.whole.iter().chain(&self.parts).filter_map(|term| term.weight).reduce(f32::max)
    }
}

/// One term, with its entry in each field.
#[derive(Clone, Debug)]
pub(in crate::search) struct KnownTerm {
    /// What it carries; nothing if it stands nowhere.
    pub weight: Option<f32>,
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
        // A word that only headings above have counts as rare as it is in those.
        let found = match text.max(heading) {
            0 => citation.max(breadcrumb),
            said => said,
        };
        let (all, found) = (leg.document_count as f32, found.min(leg.document_count) as f32);
        let weight = (found > 0.0).then(|| (1.0 + (all - found + 0.5) / (found + 0.5)).ln());
        Ok(Self { weight, entries })
    }

    /// Its documents in every field that has it.
    pub(super) fn cursors<'a>(&self, leg: &'a KeywordLeg) -> io::Result<Vec<Cursor<'a>>> {
        let mut cursors = Vec::with_capacity(self.entries.len());
        for (field, entry) in leg.fields().into_iter().zip(&self.entries) {
            cursors.extend(entry.as_ref().map(|entry| FieldReader::cursor_of(field, entry)).transpose()?);
        }
        Ok(cursors)
    }
}

impl KeywordLeg {
    pub(in crate::search) fn look_up(&self, words: &[QueryWord]) -> io::Result<Vec<KnownWord>> {
        let look_up = |word: &QueryWord| {
            let whole = word.whole.as_deref().map(|whole| KnownTerm::look_up(self, whole)).transpose()?;
            let parts = word.parts.iter().map(|part| KnownTerm::look_up(self, part)).collect::<io::Result<_>>()?;
            Ok(KnownWord { whole, parts })
        };
        words.iter().map(look_up).collect()
    }

    /// Whether any provision has the term.
    pub(in crate::search) fn has(&self, term: &str) -> io::Result<bool> {
        Ok(KnownTerm::look_up(self, term)?.weight.is_some())
    }
}
