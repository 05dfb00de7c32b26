//! The query plan: which words are looked up, and how a window is evaluated.
//!
//! Bitmaps first decide which documents of a window match. The bitmaps of common words are in
//! memory; for rarer words the posting lists are read. So matches are counted without being scored.
//! The same bitmaps, with the upper bound of each word's contribution, then show which matches can
//! reach the top k. Only these are scored, rarest words first.

use std::io;

use super::collect::{Collector, RemainingBounds};
use super::known_words::KnownWord;
use super::leg::KeywordLeg;
use super::matching::Matching;
use super::planned_word::{BOUND_MARGIN, PlannedWord, is_sparse};
use super::upper_bounds::UpperBounds;
use super::window::ScoreWindow;
use crate::bitmap::set;

/// Only this many words are looked up: the rarest.
const WORDS_MAX: usize = 32;

/// Maximum number of postings to read, per document of the corpus. The most common words beyond it
/// are left out. Everyday questions need at most one posting per document.
const POSTINGS_PER_DOCUMENT_MAX: u64 = 2;

/// Candidates are pruned only if a window has at least this many.
const PRUNED_CANDIDATES_MIN: usize = if cfg!(test) { 1 } else { 32 };

/// If at most this many documents of a window can match, all of them are scored. That costs less
/// than deciding with bitmaps.
const SCORE_ALL_MAX: u32 = if cfg!(test) { 3 } else { 48 };

/// The maximum number of postings is never lower than this, however small the corpus.
const POSTINGS_MAX_FLOOR: u64 = 1 << 16;

/// The words of a query, rarest first.
pub(super) struct KeywordPlan<'a> {
    document_count: u32,
    words: Vec<PlannedWord<'a>>,
    /// The number of essential words: only a document with one of the first `essential` words can
    /// match.
    essential: usize,
    pub(super) mass_required: f32,
    matching: Matching,
    upper_bounds: UpperBounds,
    /// Bitmap of the documents in the window that can match.
    can_match: Vec<u64>,
}

impl<'a> KeywordPlan<'a> {
    /// Plans a search in `searched` documents.
    pub(super) fn new(leg: &'a KeywordLeg, words: &'a [KnownWord], searched: u32) -> io::Result<Self> {
        let mut weighed = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            // A compound has the mass of its rarest part, so that it counts as one word.
            let rarest_part = word.parts.iter().filter_map(|part| part.idf).reduce(f32::max);
            let own = rarest_part.or(word.whole.as_ref().and_then(|whole| whole.idf));
            if let Some(mass) = own.or(word.weight()) {
                weighed.push((mass, place));
            }
        }
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        weighed.truncate(WORDS_MAX);
        let mut planned = Vec::with_capacity(weighed.len());
        let postings_max = (u64::from(leg.document_count) * POSTINGS_PER_DOCUMENT_MAX).max(POSTINGS_MAX_FLOOR);
        let mut postings = 0_u64;
        for (mass, place) in weighed {
            let word = PlannedWord::open(leg, &words[place], mass, searched)?;
            postings += u64::from(word.postings);
            // Bounds the postings read for any query. Everyday queries stay within the bound.
            if postings > postings_max && !planned.is_empty() {
                break;
            }
            planned.push(word);
        }
        Ok(Self::of(leg, planned))
    }

    fn of(leg: &KeywordLeg, mut words: Vec<PlannedWord<'a>>) -> Self {
        let mass_total: f32 = words.iter().map(|word| word.mass).sum();
        // Slightly less, so that the order of floating-point additions does not decide.
        let mass_required = mass_total * leg.share_required * 0.9999;
        let mut rest = mass_total;
        let essential = words.iter().take_while(|word| {
            let needed = rest >= mass_required;
            rest -= word.mass;
            needed
        });
        let essential = essential.count();
        let mut rest = RemainingBounds::default();
        for word in words.iter_mut().rev() {
            rest.mass += word.mass * BOUND_MARGIN;
            rest.score += word.score_bound * BOUND_MARGIN;
            word.rest = rest;
        }
        Self {
            document_count: leg.document_count,
            essential,
            mass_required,
            matching: Matching::new(&words, mass_required),
            upper_bounds: UpperBounds::new(&words),
            can_match: Vec::new(),
            words,
        }
    }

    #[cfg(test)]
    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    #[cfg(test)]
    pub(super) fn postings(&self) -> u32 {
        self.words.iter().map(|word| word.postings).sum()
    }

    /// The sum of [`PlannedWord::possible`] over all words.
    pub(super) fn possible(&self) -> f32 {
        self.words.iter().map(PlannedWord::possible).sum()
    }

    /// The first document at or after `from` that can match.
    pub(super) fn next_possible_match(&mut self, required: Option<&[u32]>, from: u32) -> io::Result<Option<u32>> {
        if let Some(required) = required {
            return Ok(required[required.partition_point(|&doc| doc < from)..].first().copied());
        }
        let mut first = None;
        for word in &mut self.words[..self.essential] {
            first = first.into_iter().chain(word.next(from)?).min();
        }
        Ok(first)
    }

    /// Counts the certain matches of the window, selects the candidates and accumulates their
    /// scores.
    pub(super) fn evaluate_window(
        &mut self,
        window: &mut ScoreWindow,
        required: Option<&[u32]>,
        collector: &mut Collector<'_>,
    ) -> io::Result<()> {
        let count = self.mark_essential(window, required)?;
        if count <= SCORE_ALL_MAX {
            self.select_all_candidates(window, collector);
        } else {
            self.mark_others(window, required.is_some(), count)?;
            self.select_candidates(window, collector);
        }
        let mut is_worth_settling = true;
        for (place, word) in self.words.iter_mut().enumerate() {
            let before = window.candidates.len();
            if place > 0 && is_worth_settling && before >= PRUNED_CANDIDATES_MIN {
                collector.prune_candidates(window, word.rest);
                is_worth_settling = (before - window.candidates.len()) * 4 >= before;
            }
            if window.candidates.is_empty() {
                break;
            }
            word.add(window, self.document_count)?;
        }
        Ok(())
    }

    /// Marks the documents of the window that can match, and returns their number.
    fn mark_essential(&mut self, window: &ScoreWindow, required: Option<&[u32]>) -> io::Result<u32> {
        self.can_match.clear();
        self.can_match.resize(window.groups(), 0);
        match required {
            Some(required) => {
                let from = required.partition_point(|&doc| doc < window.from);
                let to = required.partition_point(|&doc| doc < window.end);
                required[from..to].iter().for_each(|&doc| set(&mut self.can_match, doc - window.start));
            }
            None => {
                for word in &mut self.words[..self.essential] {
                    word.mark(window, None)?;
                    self.can_match.iter_mut().zip(word.documents_with_any(window)).for_each(|(may, any)| *may |= any);
                }
            }
        }
        Ok(self.can_match.iter().map(|docs| docs.count_ones()).sum())
    }

    /// Marks the documents of the window that contain the words which `mark_essential` did not
    /// mark.
    fn mark_others(&mut self, window: &ScoreWindow, are_required: bool, count: u32) -> io::Result<()> {
        let known = if are_required { 0 } else { self.essential };
        for word in &mut self.words[known..] {
            let is_sparse = is_sparse(count as usize, word.postings, self.document_count);
            word.mark(window, is_sparse.then_some(&self.can_match))?;
        }
        Ok(())
    }

    /// Makes every document that can match a candidate.
    fn select_all_candidates(&self, window: &mut ScoreWindow, collector: &Collector<'_>) {
        let first = window.start as usize / 64;
        let some = self.can_match.iter().enumerate().filter(|&(_, &may)| may != 0);
        some.for_each(|(group, &may)| {
            window.set_group(group, 0, collector.admitted(first + group, may & window.documents_inside(group)));
        });
    }

    /// Counts the certain matches. Selects as candidates those certain matches that can reach the
    /// top k or are watched, and all documents whose match is still open.
    fn select_candidates(&mut self, window: &mut ScoreWindow, collector: &mut Collector<'_>) {
        let (groups, first) = (window.groups(), window.start as usize / 64);
        self.upper_bounds.decide(collector.threshold_scores(), &self.words, window);
        self.matching.decide(&self.words, window);
        let mut watched = collector.watched_from(window.start);
        for group in 0..groups {
            let may = self.can_match[group] & window.documents_inside(group);
            let [sure, possible] = self.matching.group(group).map(|docs| docs & may);
            if possible == 0 {
                continue;
            }
            let admitted = collector.admitted(first + group, possible);
            let sure = sure & admitted;
            collector.count_group(first + group, sure);
            let hopeful = self.upper_bounds.group(group, collector.dead(first + group));
            let start = window.start + group as u32 * 64;
            let mut is_watched = 0;
            while let Some((&doc, rest)) = watched.split_first().filter(|&(&doc, _)| doc < start + 64) {
                is_watched |= if doc >= start { 1 << (doc - start) } else { 0 };
                watched = rest;
            }
            window.set_group(group, sure, sure & (hopeful | is_watched) | admitted & !sure);
        }
    }
}
