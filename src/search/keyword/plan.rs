//! The order in which the words of a query are looked up, and whether each is read through or searched.
//!
//! The rarest words come first. Once the remaining words together cannot make a match, no new candidates are added: the
//! common words, which have nearly all postings, are looked up only for candidates that are undecided, either whether
//! they match or whether they are among the best.

use std::io;

use super::collect::{Collector, Rest};
use super::known::KnownWord;
use super::leg::KeywordLeg;
use super::window::{WINDOW, Window};
use crate::search::postings::Cursor;

/// More words than this are not looked up: the rarest are.
const WORDS_MAX: usize = 32;

/// Nor more postings than this for each document of the corpus: the commonest words are left out.
const POSTINGS_PER_DOCUMENT_MAX: u64 = 4;

/// Fewer candidates are not worth asking which of them are settled.
const SETTLED_FROM: usize = if cfg!(test) { 1 } else { 32 };

/// In a small corpus everything is read.
const POSTINGS_ALWAYS_READ: u64 = 1 << 16;

/// So much above itself is a bound that must hold for sums of rounded numbers too.
const ROUNDED_UP: f32 = 1.0001;

/// One word of the plan: the cursors of its terms.
struct PlannedWord<'a> {
    /// What the word carries towards a match.
    mass: f32,
    terms: Vec<PlannedTerm<'a>>,
    postings: u32,
    /// What this word and those behind it can add to a document, at most.
    rest: Rest,
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
    pub(super) fn new(leg: &'a KeywordLeg, words: &[KnownWord]) -> io::Result<Self> {
        let mut weighed = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            // A compound carries what the rarest of its parts does, so that one word stays one word.
            let rarest_part = word.parts.iter().filter_map(|part| part.weight).reduce(f32::max);
            let own = rarest_part.or(word.whole.as_ref().and_then(|whole| whole.weight));
            if let Some(mass) = own.or(word.weight()) {
                weighed.push((mass, place));
            }
        }
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        weighed.truncate(WORDS_MAX);
        let mut planned = Vec::with_capacity(weighed.len());
        let postings_max = (u64::from(leg.document_count) * POSTINGS_PER_DOCUMENT_MAX).max(POSTINGS_ALWAYS_READ);
        let mut postings = 0_u64;
        for (mass, place) in weighed {
            let word = PlannedWord::open(leg, &words[place], mass)?;
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
        let mut rest = Rest::default();
        for word in planned.iter_mut().rev() {
            rest.mass += word.mass * ROUNDED_UP;
            rest.score += word.terms.iter().map(|term| term.weight).sum::<f32>() * ROUNDED_UP;
            word.rest = rest;
        }
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

    /// The first document from here on that may match, where there is one.
    pub(super) fn next(&mut self, required: Option<&[u32]>, from: u32) -> Option<u32> {
        match required {
            Some(required) => required[required.partition_point(|&doc| doc < from)..].first().copied(),
            None => {
                let terms = self.words[..self.essential].iter_mut().flat_map(|word| &mut word.terms);
                terms.flat_map(|term| &mut term.cursors).filter_map(Cursor::next).min().map(|next| next.max(from))
            }
        }
    }

    /// Sums up scores and masses of the window's candidates. Of those left in the window all is known.
    pub(super) fn fill(&mut self, window: &mut Window, required: Option<&[u32]>, collector: &mut Collector<'_>) {
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
        let mut is_worth_settling = true;
        for word in &mut self.words[essential..] {
            let before = window.candidates.len();
            if is_worth_settling && before >= SETTLED_FROM {
                collector.settle(window, word.rest);
                is_worth_settling = (before - window.candidates.len()) * 4 >= before;
            }
            let sparse = window.candidates.len() as u64 * 16
                < u64::from(word.postings) * u64::from(WINDOW) / u64::from(window.document_count.max(1));
            if sparse { word.add_sought(window) } else { word.add_to_candidates(window) }
        }
    }
}

impl<'a> PlannedWord<'a> {
    fn open(leg: &'a KeywordLeg, word: &KnownWord, mass: f32) -> io::Result<Self> {
        let known_parts = word.parts.iter().filter(|part| part.weight.is_some()).count().max(1) as f32;
        let whole = word.whole.iter().map(|term| (term, mass));
        let parts = word.parts.iter().map(|term| (term, mass / known_parts));
        let mut terms = Vec::with_capacity(1 + word.parts.len());
        for (term, mass) in whole.chain(parts) {
            if let Some(weight) = term.weight {
                terms.push(PlannedTerm { weight: weight * (leg.saturation + 1.0), mass, cursors: term.cursors(leg)? });
            }
        }
        // What is known by its synonyms alone is found by them as by itself.
        let is_known = !terms.is_empty();
        let share_max = word.also.iter().map(|&(_, share)| share).fold(0.0, f32::max);
        for (term, share) in &word.also {
            if let Some(weight) = term.weight {
                let share = if is_known { *share } else { share / share_max };
                let weight = weight.min(mass) * share * (leg.saturation + 1.0);
                terms.push(PlannedTerm { weight, mass: mass * share, cursors: term.cursors(leg)? });
            }
        }
        let postings = terms.iter().flat_map(|term| &term.cursors).map(Cursor::len).sum();
        Ok(Self { mass, terms, postings, rest: Rest::default() })
    }

    /// Every document of the window that has the word becomes a candidate.
    fn add_all(&mut self, window: &mut Window) {
        self.add(window, |cursor, window| {
            let end = window.end;
            let (_, mut counts) = window.split();
            cursor.each_until(end, |doc, worth| counts.add(doc, worth));
        });
    }

    /// Reads the postings through and counts those of candidates.
    fn add_to_candidates(&mut self, window: &mut Window) {
        self.add(window, |cursor, window| {
            let end = window.end;
            cursor.skip_to(window.start);
            let (candidates, mut counts) = window.split();
            cursor.each_wanted_until(end, |doc| candidates.has(doc), |doc, worth| counts.add(doc, worth));
        });
    }

    /// Looks each candidate up.
    fn add_sought(&mut self, window: &mut Window) {
        self.add(window, |cursor, window| {
            for place in 0..window.candidates.len() {
                let doc = window.candidates[place];
                let worth = cursor.worth_at(doc);
                if worth > 0.0 {
                    window.split().1.add(doc, worth);
                }
            }
        });
    }

    fn add(&mut self, window: &mut Window, look_up: impl Fn(&mut Cursor<'_>, &mut Window)) {
        let is_one_term = self.terms.len() == 1;
        for term in &mut self.terms {
            term.cursors.iter_mut().for_each(|cursor| look_up(cursor, window));
            match is_one_term {
                true => window.end_only_term(term.weight, term.mass.min(self.mass)),
                false => window.end_term(term.weight, term.mass),
            }
        }
        if !is_one_term {
            window.end_word(self.mass);
        }
    }
}
