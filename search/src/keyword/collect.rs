//! Collects the candidates of each window: counts the matches and keeps the top k.

use super::pass::{KeywordFound, KeywordQuery, Scored, by_rank};
use super::window::{ScoreCell, ScoreWindow};
use crate::bitmap::each_bit;

/// Upper bounds of what the remaining words can still add, slightly increased to cover the rounding
/// of floating-point sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RemainingBounds {
    pub mass: f32,
    pub score: f32,
}

/// At most this many candidates, evenly spread, are sampled to decide whether pruning pays.
const SAMPLED: usize = 32;

/// Keeps the top k and counts all matches.
pub(super) struct Collector<'q> {
    query: &'q KeywordQuery<'q>,
    mass_required: f32,
    /// Documents whose scores are reported whatever their rank, ascending, and the number of them
    /// already passed.
    watched: &'q [u32],
    watched_at: usize,
    found: KeywordFound,
    living: TopK,
    dead: TopK,
}

impl<'q> Collector<'q> {
    pub(super) fn new(query: &'q KeywordQuery<'q>, mass_required: f32) -> Self {
        let best = || TopK { keep: query.keep.max(1), threshold_score: f32::NEG_INFINITY, found: Vec::new() };
        Self {
            query,
            mass_required,
            watched: &[],
            watched_at: 0,
            found: KeywordFound::default(),
            living: best(),
            dead: best(),
        }
    }

    /// Sets the documents whose scores are reported whatever their rank, ascending.
    pub(super) fn watch(&mut self, watched: &'q [u32]) {
        (self.watched, self.watched_at) = (watched, 0);
    }

    /// The watched documents at or after `doc`.
    pub(super) fn watched_from(&self, doc: u32) -> &'q [u32] {
        &self.watched[self.watched.partition_point(|&watched| watched < doc)..]
    }

    /// The threshold scores for law in force and for law no longer in force. Only a higher score
    /// enters the top k.
    pub(super) fn threshold_scores(&self) -> [f32; 2] {
        [self.living.threshold_score, self.dead.threshold_score]
    }

    /// The documents of a group of 64 that neither exclusions nor filters remove.
    pub(super) fn admitted(&self, group: usize, docs: u64) -> u64 {
        let mut admitted = docs & !self.query.constraints.excluded.group(group);
        if self.query.admission.is_some() {
            each_bit(admitted, |bit| {
                let is_out = !self.query.admits(group as u32 * 64 + bit);
                admitted &= !(u64::from(is_out) << bit);
            });
        }
        admitted
    }

    /// The documents of a group of 64 that are law no longer in force.
    pub(super) fn dead(&self, group: usize) -> u64 {
        self.query.not_in_force.group(group)
    }

    /// Counts the matches of a group of 64.
    pub(super) fn count_group(&mut self, group: usize, matches: u64) {
        self.found.total += matches.count_ones();
        if self.query.list_matches {
            each_bit(matches, |bit| self.found.matches.push(group as u32 * 64 + bit));
        }
    }

    /// Collects the remaining candidates of a window once their scores are complete.
    pub(super) fn collect_window(&mut self, window: &ScoreWindow) {
        for (doc, cell) in window.iter() {
            if !window.is_certain_match(doc) {
                if cell.mass < self.mass_required {
                    continue;
                }
                self.count(doc);
            }
            let scored = Scored { doc, score: cell.score };
            let list = if self.query.not_in_force.has(doc) { &mut self.dead } else { &mut self.living };
            list.offer(scored);
            self.note_watched(scored);
        }
        self.living.prune();
        self.dead.prune();
    }

    /// Prunes the candidates that need no further scoring: those that can no longer match, and
    /// those that match but can neither reach the top k nor are watched. The latter are counted
    /// unless they already were.
    pub(super) fn prune_candidates(&mut self, window: &mut ScoreWindow, rest: RemainingBounds) {
        if !self.is_worth_pruning(window, rest) {
            return;
        }
        let mut watched = self.watched_from(window.start);
        window.retain_candidates(|doc, cell, is_counted| {
            if !is_counted && cell.mass + rest.mass < self.mass_required {
                return false;
            }
            let is_match = is_counted || cell.mass >= self.mass_required;
            if !is_match || cell.score + rest.score > self.threshold_score(doc) {
                return true;
            }
            while watched.first().is_some_and(|&other| other < doc) {
                watched = &watched[1..];
            }
            if watched.first() == Some(&doc) {
                return true;
            }
            if !is_counted {
                self.count(doc);
            }
            false
        });
    }

    /// Checks a sample of the candidates: whether enough of them can be pruned to pay for checking
    /// all.
    fn is_worth_pruning(&self, window: &ScoreWindow, rest: RemainingBounds) -> bool {
        let step = window.candidates.len().div_ceil(SAMPLED).max(1);
        let is_settled = |&(doc, cell): &(u32, &ScoreCell)| {
            let is_counted = window.is_certain_match(doc);
            let cannot_match = !is_counted && cell.mass + rest.mass < self.mass_required;
            let is_match = is_counted || cell.mass >= self.mass_required;
            cannot_match || is_match && cell.score + rest.score <= self.threshold_score(doc)
        };
        let sampled = window.candidates.len().div_ceil(step);
        window.iter().step_by(step).filter(is_settled).count() * 8 >= sampled
    }

    /// The threshold score for the list that a document belongs to.
    fn threshold_score(&self, doc: u32) -> f32 {
        if self.query.not_in_force.has(doc) { self.dead.threshold_score } else { self.living.threshold_score }
    }

    fn count(&mut self, doc: u32) {
        self.found.total += 1;
        if self.query.list_matches {
            self.found.matches.push(doc);
        }
    }

    fn note_watched(&mut self, scored: Scored) {
        let watched = self.watched;
        while watched.get(self.watched_at).is_some_and(|&doc| doc < scored.doc) {
            self.watched_at += 1;
        }
        if watched.get(self.watched_at) == Some(&scored.doc) {
            self.found.watched.push(scored);
        }
    }

    /// `possible` is the value of [`KeywordFound::possible`].
    pub(super) fn finish(mut self, possible: f32) -> KeywordFound {
        self.found.possible = possible;
        self.found.law_in_force = self.living.finish();
        self.found.not_in_force = self.dead.finish();
        // Within a window, some matches are counted before others.
        self.found.matches.sort_unstable();
        self.found
    }
}

/// The top k by score, then by ordinal. Documents must be offered in ascending order.
struct TopK {
    keep: usize,
    /// The threshold: only a higher score enters the list.
    threshold_score: f32,
    found: Vec<Scored>,
}

impl TopK {
    #[inline]
    fn offer(&mut self, scored: Scored) {
        if scored.score > self.threshold_score {
            self.found.push(scored);
            if self.found.len() >= self.keep * 4 {
                self.prune();
            }
        }
    }

    fn prune(&mut self) {
        if self.found.len() > self.keep {
            self.found.select_nth_unstable_by(self.keep - 1, by_rank);
            self.found.truncate(self.keep);
            self.threshold_score = self.found[self.keep - 1].score;
        }
    }

    fn finish(mut self) -> Vec<Scored> {
        self.prune();
        self.found.sort_unstable_by(by_rank);
        self.found
    }
}
