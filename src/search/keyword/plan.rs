//! In which order the words of a query are looked up, and where each is read through or sought.
//!
//! The rarest words come first. As soon as those left could not carry a match between them, no new candidates are taken:
//! the common words, which have nearly all postings, are looked up for the candidates alone.

use std::io;

use super::KeywordLeg;
use super::window::{WINDOW, Window};
use crate::search::postings::Cursor;
use crate::search::understand::QueryWord;

/// More words than this are not looked up: the rarest are.
const WORDS_MAX: usize = 32;

/// Nor more postings than this for each document of the corpus: the commonest words are left out.
const POSTINGS_PER_DOCUMENT_MAX: u64 = 4;

/// In a small corpus everything is read.
const POSTINGS_ALWAYS_READ: u64 = 1 << 16;

/// One word of the plan: the cursors of its terms.
struct PlannedWord<'a> {
    /// What the word carries towards a match.
    mass: f32,
    terms: Vec<PlannedTerm<'a>>,
    postings: u32,
}

struct PlannedTerm<'a> {
    /// What it adds to the score when saturated.
    weight: f32,
    /// What it adds to the mass of its word.
    mass: f32,
    cursors: Vec<Cursor<'a>>,
}

/// The words of a query, rarest first.
pub(super) struct Plan<'a> {
    words: Vec<PlannedWord<'a>>,
    /// Only a provision with one of the first so many words can match.
    essential: usize,
    pub(super) mass_required: f32,
}

impl<'a> Plan<'a> {
    pub(super) fn new(leg: &'a KeywordLeg, words: &[QueryWord]) -> io::Result<Self> {
        let mut weighed = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            let whole = word.whole.as_deref().map(|whole| leg.weight_of(whole)).transpose()?.flatten();
            let parts: Vec<Option<f32>> =
                word.parts.iter().map(|part| leg.weight_of(part)).collect::<io::Result<_>>()?;
            let rarest_part =
                parts.iter().flatten().copied().fold(None, |most: Option<f32>, w| Some(most.map_or(w, |m| m.max(w))));
            // A compound carries what the rarest of its parts does, so that one word stays one word.
            if let Some(mass) = rarest_part.or(whole) {
                weighed.push((mass, place, whole, parts));
            }
        }
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        weighed.truncate(WORDS_MAX);
        let mut planned = Vec::with_capacity(weighed.len());
        let postings_max = (u64::from(leg.document_count) * POSTINGS_PER_DOCUMENT_MAX).max(POSTINGS_ALWAYS_READ);
        let mut postings = 0_u64;
        for (mass, place, whole, parts) in weighed {
            let word = PlannedWord::open(leg, &words[place], mass, whole, &parts)?;
            postings += u64::from(word.postings);
            // Whatever is asked, so much is read and no more; of everyday queries nothing is left out.
            if postings > postings_max && !planned.is_empty() {
                break;
            }
            planned.push(word);
        }
        let mass_total: f32 = planned.iter().map(|word| word.mass).sum();
        // A hair less, so that the order of sums decides nothing.
        let mass_required = mass_total * leg.share_required * 0.9999;
        let mut rest = mass_total;
        let essential = planned.iter().take_while(|word| {
            let needed = rest >= mass_required;
            rest -= word.mass;
            needed
        });
        let essential = essential.count();
        Ok(Self { essential, words: planned, mass_required })
    }

    #[cfg(test)]
    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    #[cfg(test)]
    pub(super) fn postings(&self) -> u32 {
        self.words.iter().map(|word| word.postings).sum()
    }

    /// What a document would score that could not say the words more often, a compound in one way.
    pub(super) fn possible(&self) -> f32 {
        let most = |word: &PlannedWord<'_>| word.terms.iter().map(|term| term.weight).fold(0.0, f32::max);
        self.words.iter().map(most).sum()
    }

    pub(super) fn start_at(&mut self, doc: u32) {
        if doc > 0 {
            let cursors = self.words.iter_mut().flat_map(|word| &mut word.terms).flat_map(|term| &mut term.cursors);
            cursors.for_each(|cursor| cursor.skip_to(doc));
        }
    }

    /// Sums up scores and masses of the window's candidates.
    pub(super) fn fill(&mut self, window: &mut Window, required: Option<&[u32]>) {
        let essential = match required {
            None => self.essential,
            Some(required) => {
                let from = required.partition_point(|&doc| doc < window.start);
                let to = required.partition_point(|&doc| doc < window.end);
                required[from..to].iter().for_each(|&doc| window.admit(doc));
                0
            }
        };
        for word in &mut self.words[..essential] {
            word.add_all(window);
        }
        window.candidates_known(essential > 1);
        for word in &mut self.words[essential..] {
            let sparse = window.candidates.len() as u64 * 16
                < u64::from(word.postings) * u64::from(WINDOW) / u64::from(window.document_count.max(1));
            if sparse { word.add_sought(window) } else { word.add_to_candidates(window) }
        }
    }
}

impl<'a> PlannedWord<'a> {
    fn open(
        leg: &'a KeywordLeg,
        word: &QueryWord,
        mass: f32,
        whole: Option<f32>,
        parts: &[Option<f32>],
    ) -> io::Result<Self> {
        let mut terms = Vec::new();
        let known_parts = parts.iter().flatten().count().max(1) as f32;
        let whole = word.whole.iter().zip(whole).map(|(term, weight)| (term, weight, mass));
        let parts =
            word.parts.iter().zip(parts).filter_map(|(term, weight)| Some((term, (*weight)?, mass / known_parts)));
        for (term, weight, mass) in whole.chain(parts) {
            let mut cursors = Vec::with_capacity(4);
            for field in leg.fields() {
                cursors.extend(field.cursor(term)?);
            }
            terms.push(PlannedTerm { weight: weight * (leg.saturation + 1.0), mass, cursors });
        }
        let postings = terms.iter().flat_map(|term| &term.cursors).map(Cursor::len).sum();
        Ok(Self { mass, terms, postings })
    }

    /// Every document of the window that has the word becomes a candidate.
    fn add_all(&mut self, window: &mut Window) {
        let end = window.end;
        for term in &mut self.terms {
            for cursor in &mut term.cursors {
                cursor.each_until(end, |doc, worth| window.count(doc, worth));
            }
            window.end_term(term.weight, term.mass);
        }
        window.end_word(self.mass);
    }

    /// Reads the postings through and counts those of candidates.
    fn add_to_candidates(&mut self, window: &mut Window) {
        let (start, end) = (window.start, window.end);
        for term in &mut self.terms {
            for cursor in &mut term.cursors {
                cursor.skip_to(start);
                cursor.each_until(end, |doc, worth| {
                    if window.is_candidate(doc) {
                        window.count(doc, worth);
                    }
                });
            }
            window.end_term(term.weight, term.mass);
        }
        window.end_word(self.mass);
    }

    /// Looks each candidate up.
    fn add_sought(&mut self, window: &mut Window) {
        for term in &mut self.terms {
            for cursor in &mut term.cursors {
                for place in 0..window.candidates.len() {
                    let doc = window.candidates[place];
                    let worth = cursor.worth_at(doc);
                    if worth > 0.0 {
                        window.count(doc, worth);
                    }
                }
            }
            window.end_term(term.weight, term.mass);
        }
        window.end_word(self.mass);
    }
}
