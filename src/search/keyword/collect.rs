//! Collects from the candidates of a window: the best ones, and counts of all.

use super::found::{KeywordFound, KeywordQuery, Scored, by_rank};
use super::window::{Cell, Window};
use crate::search::bits::each_bit;

/// Bounds of what is still to come, a hair above what sums of rounded numbers can reach.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    pub mass: f32,
    pub score: f32,
}

/// So many candidates, evenly spread, show whether it pays to settle.
const SAMPLED: usize = 32;

/// Keeps the best, counts all.
pub(super) struct Collector<'q> {
    query: &'q KeywordQuery<'q>,
    mass_required: f32,
    /// Documents whose scores are asked for whatever their rank, ascending, and how many of them lie behind.
    watched: &'q [u32],
    watched_at: usize,
    found: KeywordFound,
    living: Best,
    dead: Best,
}

impl<'q> Collector<'q> {
    pub(super) fn new(query: &'q KeywordQuery<'q>, mass_required: f32) -> Self {
        let best = || Best { keep: query.keep.max(1), bar: f32::NEG_INFINITY, found: Vec::new() };
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

    /// From here on these are asked for whatever their rank, ascending.
    pub(super) fn watch(&mut self, watched: &'q [u32]) {
        (self.watched, self.watched_at) = (watched, 0);
    }

    /// Those of them from a document on.
    pub(super) fn watched_from(&self, doc: u32) -> &'q [u32] {
        &self.watched[self.watched.partition_point(|&watched| watched < doc)..]
    }

    /// What is not better than this is not among the best living, or dead.
    pub(super) fn bars(&self) -> [f32; 2] {
        [self.living.bar, self.dead.bar]
    }

    /// Which documents of a group of 64 can be found at all, of those that are handed over.
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

    /// Which documents of a group of 64 are law no longer in force.
    pub(super) fn dead(&self, group: usize) -> u64 {
        self.query.dead.group(group)
    }

    /// Counts matches of a group of 64.
    pub(super) fn count_group(&mut self, group: usize, matches: u64) {
        self.found.total += matches.count_ones();
        if self.query.list_matches {
            each_bit(matches, |bit| self.found.matches.push(group as u32 * 64 + bit));
        }
    }

    /// Takes what is left of a window, where all is known of every candidate.
    pub(super) fn take(&mut self, window: &Window) {
        for (doc, cell) in window.iter() {
            if !window.is_match(doc) {
                if cell.mass < self.mass_required {
                    continue;
                }
                self.count(doc);
            }
            let scored = Scored { doc, score: cell.score };
            let list = if self.query.dead.has(doc) { &mut self.dead } else { &mut self.living };
            list.offer(scored);
            self.note_watched(scored);
        }
        self.living.prune();
        self.dead.prune();
    }

    /// Lets go of those candidates of a window of which what is still to come can decide nothing: they cannot match any
    /// more, or they do and can be neither among the best nor watched.
    pub(super) fn settle(&mut self, window: &mut Window, rest: Rest) {
        if !self.is_worth_settling(window, rest) {
            return;
        }
        let mut watched = self.watched_from(window.start);
        window.retain_candidates(|doc, cell, is_counted| {
            if !is_counted && cell.mass + rest.mass < self.mass_required {
                return false;
            }
            let is_match = is_counted || cell.mass >= self.mass_required;
            if !is_match || cell.score + rest.score > self.bar(doc) {
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

    /// Samples a few candidates: whether enough of them could be dropped to pay for checking all.
    fn is_worth_settling(&self, window: &Window, rest: Rest) -> bool {
        let step = window.candidates.len().div_ceil(SAMPLED).max(1);
        let is_settled = |&(doc, cell): &(u32, &Cell)| {
            let is_counted = window.is_match(doc);
            let cannot_match = !is_counted && cell.mass + rest.mass < self.mass_required;
            let is_match = is_counted || cell.mass >= self.mass_required;
            cannot_match || is_match && cell.score + rest.score <= self.bar(doc)
        };
        let sampled = window.candidates.len().div_ceil(step);
        window.iter().step_by(step).filter(is_settled).count() * 8 >= sampled
    }

    /// What is not better than this is not among the best.
    fn bar(&self, doc: u32) -> f32 {
        if self.query.dead.has(doc) { self.dead.bar } else { self.living.bar }
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

    /// `possible` is what a provision would score that could not say the words more often.
    pub(super) fn finish(mut self, possible: f32) -> KeywordFound {
        self.found.possible = possible;
        self.found.living = self.living.finish();
        self.found.dead = self.dead.finish();
        // Some were counted before others of their window.
        self.found.matches.sort_unstable();
        self.found
    }
}

/// The best so many, by score and then by ordinal. Documents are offered in ascending order.
struct Best {
    keep: usize,
    /// What is not better than this cannot get in.
    bar: f32,
    found: Vec<Scored>,
}

impl Best {
    #[inline]
    fn offer(&mut self, scored: Scored) {
        if scored.score > self.bar {
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
            self.bar = self.found[self.keep - 1].score;
        }
    }

    fn finish(mut self) -> Vec<Scored> {
        self.prune();
        self.found.sort_unstable_by(by_rank);
        self.found
    }
}
