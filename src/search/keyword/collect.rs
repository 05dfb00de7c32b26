//! What is kept of the candidates of a window: the best, and counts of all.

use super::window::Window;
use super::{KeywordFound, KeywordQuery, Scored};

/// Keeps the best, counts all.
pub(super) struct Collector<'q> {
    query: &'q KeywordQuery<'q>,
    watched_at: usize,
    found: KeywordFound,
    living: Best,
    dead: Best,
}

impl<'q> Collector<'q> {
    pub(super) fn new(query: &'q KeywordQuery<'q>) -> Self {
        let best = || Best { keep: query.keep.max(1), bar: f32::NEG_INFINITY, found: Vec::new() };
        Self { query, watched_at: 0, found: KeywordFound::default(), living: best(), dead: best() }
    }

    pub(super) fn take(&mut self, window: &Window, mass_required: f32) {
        let excluded = &self.query.constraints.excluded;
        let required = self.query.constraints.required.is_some();
        for &doc in &window.candidates {
            let cell = window.cells[(doc - window.start) as usize];
            // Phrases of stop words have no ranking word besides themselves.
            let enough = cell.mass >= mass_required && (cell.mass > 0.0 || required);
            if !enough || excluded.has(doc) {
                continue;
            }
            let scored = Scored { doc, score: cell.score };
            self.found.total += 1;
            if self.query.dead.has(doc) {
                self.dead.offer(scored);
            } else {
                self.found.living_total += 1;
                self.living.offer(scored);
            }
            if self.query.list_matches {
                self.found.matches.push(doc);
            }
            self.watch(scored);
        }
    }

    fn watch(&mut self, scored: Scored) {
        let watched = self.query.watched;
        while watched.get(self.watched_at).is_some_and(|&doc| doc < scored.doc) {
            self.watched_at += 1;
        }
        if watched.get(self.watched_at) == Some(&scored.doc) {
            self.found.watched.push(scored);
        }
    }

    pub(super) fn finish(mut self) -> KeywordFound {
        self.found.living = self.living.finish();
        self.found.dead = self.dead.finish();
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

pub(super) fn by_rank(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc))
}
