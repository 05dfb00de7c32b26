//! The search of a shard's graph: from the best entry, always on to the most similar point not yet visited, until that
//! point is worse than the `ef` best found. It ranks by estimates; its caller computes the scores.

use std::collections::BinaryHeap;

use super::arch::prefetch;
use super::graph::{GraphView, Shard};
use super::ranked::{Best, Ranked};
use super::scan::Request;
use crate::ids::OrdinalRange;

/// How many of the best entries a walk starts from.
const STARTS: usize = 4;

/// The buffers of a search, reused from query to query.
#[derive(Debug, Default)]
pub(super) struct WalkScratch {
    visited: Visited,
    /// Points seen whose links were not yet followed.
    open: BinaryHeap<Ranked>,
    /// The best points that stand for a chunk of the range.
    nearest: Best,
    numbers: Vec<u32>,
    dots: Vec<i32>,
    /// The points found, best first; the result.
    pub(super) found: Vec<Ranked>,
}

/// Which chunks of a shard were seen: a bit each. Clearing them costs less than the cache misses of a wider mark.
#[derive(Debug, Default)]
struct Visited {
    first: u32,
    words: Vec<u64>,
}

impl Visited {
    fn restart(&mut self, chunks: OrdinalRange) {
        self.first = chunks.start;
        self.words.clear();
        self.words.resize((chunks.len() as usize).div_ceil(64), 0);
    }

    /// Marks a chunk; whether it is one of the shard's that was not marked before.
    #[inline]
    fn is_new(&mut self, chunk: u32) -> bool {
        let place = chunk.wrapping_sub(self.first);
        let Some(word) = self.words.get_mut(place as usize / 64) else {
            return false;
        };
        let bit = 1 << (place % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// Leaves in `scratch.found` up to `ef` points of the shard that stand for chunks of the range, most similar first.
pub(super) fn walk(
    request: &Request<'_>,
    graph: &GraphView<'_>,
    shard: &Shard<'_>,
    ef: usize,
    scratch: &mut WalkScratch,
) {
    let mut walk = Walk { request, graph, shard: shard.chunks, scratch };
    walk.start(shard.entries, ef);
    // Every step takes a point off `open`, and every point enters it at most once: the walk ends.
    while let Some(point) = walk.scratch.open.pop() {
        if point.score() < walk.scratch.nearest.bar_score() {
            break;
        }
        // Most often the next to be followed.
        if let Some(next) = walk.scratch.open.peek() {
            prefetch(graph.links(next.ordinal()));
        }
        walk.follow(graph.links(point.ordinal()));
    }
    let WalkScratch { nearest, found, .. } = walk.scratch;
    nearest.drain_into(found);
}

struct Walk<'a> {
    request: &'a Request<'a>,
    graph: &'a GraphView<'a>,
    shard: OrdinalRange,
    scratch: &'a mut WalkScratch,
}

impl Walk<'_> {
    fn start(&mut self, entries: &[u32], ef: usize) {
        self.scratch.visited.restart(self.shard);
        self.scratch.open.clear();
        self.scratch.nearest.restart(STARTS);
        self.estimate_new(entries);
        for place in 0..self.scratch.numbers.len() {
            let estimate = self.estimate(place);
            self.scratch.nearest.offer(estimate);
        }
        let WalkScratch { nearest, found, .. } = &mut *self.scratch;
        nearest.drain_into(found);
        nearest.restart(ef);
        // Entries that are no starts may be met again on the way.
        self.scratch.visited.restart(self.shard);
        for place in 0..self.scratch.found.len() {
            let start = self.scratch.found[place];
            self.scratch.visited.is_new(start.ordinal());
            self.meet(start);
        }
    }

    /// Estimates the points at the other ends of the links and remembers those that may lead on.
    fn follow(&mut self, links: &[u32]) {
        self.estimate_new(links);
        for place in 0..self.scratch.numbers.len() {
            let estimate = self.estimate(place);
            if estimate.score() >= self.scratch.nearest.bar_score() {
                self.meet(estimate);
            }
        }
    }

    fn meet(&mut self, point: Ranked) {
        self.scratch.open.push(point);
        if self.stands_for_range(point.ordinal()) {
            self.scratch.nearest.offer(point);
        }
    }

    /// Computes the dot products of those chunks that are new, after asking for all their rows at once.
    fn estimate_new(&mut self, chunks: &[u32]) {
        let WalkScratch { visited, numbers, dots, .. } = &mut *self.scratch;
        numbers.clear();
        for &chunk in chunks {
            if visited.is_new(chunk) && self.shard.contains(chunk) {
                prefetch(self.request.rows.codes(chunk));
                numbers.push(chunk);
            }
        }
        dots.clear();
        dots.resize(numbers.len(), 0);
        self.request.kernel.dots_at(&self.request.query.steps, self.request.rows.codes, numbers, dots);
    }

    #[inline]
    fn estimate(&self, place: usize) -> Ranked {
        let chunk = self.scratch.numbers[place];
        Ranked::new(
            self.scratch.dots[place] as f32 * self.request.query.step * self.request.rows.scales[chunk as usize],
            chunk,
        )
    }

    /// Whether the point, a chunk near it, or one equal to either lies in the range.
    fn stands_for_range(&self, point: u32) -> bool {
        let stands =
            |chunk| self.request.range.contains(chunk) || !self.graph.equal_in(chunk, self.request.range).is_empty();
        stands(point) || self.graph.near(point).iter().any(|&near| stands(near))
    }
}
