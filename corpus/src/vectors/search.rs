//! Searches a graph: starts at the best entries and always follows the most similar point that was not yet
//! followed, until that point is worse than the `ef` best found. It ranks by estimates; its caller computes the
//! scores.
//!
//! A search may walk several graphs, one after another. The best points of all graphs are kept together, so that a
//! walk ends after a few steps in a graph whose points are worse than those of the others.

use std::collections::BinaryHeap;

use super::arch::prefetch;
use super::ranked::{Ranked, TopResults};
use super::scan::VectorRequest;
use super::view::Graph;
use crate::ids::OrdinalRange;

/// Number of best entries from which a walk starts.
const START_COUNT: usize = 4;

/// Minimum number of best points followed in each graph. With fewer, a walk could end before it reaches good points.
const FOLLOWED_MIN: usize = 32;

/// The buffers of a search, which are reused for other queries.
#[derive(Debug, Default)]
pub(super) struct WalkScratch {
    ef: usize,
    visited: Visited,
    /// Points that were seen, but whose links were not yet followed.
    open: BinaryHeap<Ranked>,
    /// The best points of all graphs that represent a chunk that may be found.
    nearest: TopResults,
    /// The best points of this graph, whether or not they represent such a chunk.
    own: TopResults,
    starts: Vec<Ranked>,
    numbers: Vec<u32>,
    dots: Vec<i32>,
    /// The result: the points of this graph that represent such a chunk, best first.
    pub(super) found: Vec<Ranked>,
}

impl WalkScratch {
    /// Discards the results of earlier walks.
    pub(super) fn restart(&mut self, ef: usize) {
        self.ef = ef;
        self.nearest.restart(ef);
    }
}

/// The chunks of a graph that were seen, as a bit set. Clearing it costs less than the cache misses of wider marks.
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

    /// Marks a chunk. Returns whether it belongs to the graph and was not marked before.
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

/// Walks through a graph. Leaves in `scratch.found` the points that represent chunks that may be found and that are
/// among the `ef` best since the restart, most similar first. Returns the number of points compared.
pub(super) fn walk(request: &VectorRequest<'_>, graph: &Graph<'_>, scratch: &mut WalkScratch) -> u64 {
    let mut walk = GraphWalk { request, graph, compared: 0, scratch };
    walk.start();
    // Every step takes a point from `open`, and every point enters it at most once, so the walk ends.
    while let Some(point) = walk.scratch.open.pop() {
        if point.score() < walk.bar() {
            break;
        }
        // This is usually the next point to be followed.
        if let Some(next) = walk.scratch.open.peek() {
            prefetch(graph.links(next.ordinal()));
        }
        walk.follow(graph.links(point.ordinal()));
    }
    let GraphWalk { compared, scratch: WalkScratch { nearest, found, .. }, .. } = walk;
    let bar = nearest.score_to_reach();
    found.retain(|point| point.score() >= bar);
    found.sort_unstable_by(|a, b| b.cmp(a));
    compared
}

struct GraphWalk<'a> {
    request: &'a VectorRequest<'a>,
    graph: &'a Graph<'a>,
    compared: u64,
    scratch: &'a mut WalkScratch,
}

impl GraphWalk<'_> {
    fn start(&mut self) {
        self.scratch.visited.restart(self.graph.chunks);
        self.scratch.open.clear();
        self.scratch.found.clear();
        self.scratch.own.restart(START_COUNT);
        self.estimate_new(self.graph.entries);
        for place in 0..self.scratch.numbers.len() {
            let estimate = self.estimate(place);
            self.scratch.own.offer(estimate);
        }
        let WalkScratch { own, starts, visited, ef, .. } = &mut *self.scratch;
        own.drain_into(starts);
        own.restart(FOLLOWED_MIN.min(*ef));
        // Entries that are not starts may be visited during the walk.
        visited.restart(self.graph.chunks);
        for place in 0..self.scratch.starts.len() {
            let start = self.scratch.starts[place];
            self.scratch.visited.is_new(start.ordinal());
            self.add_point(start);
        }
    }

    /// The score below which points are not followed. A worse point is neither among the best of all graphs nor
    /// among the best few of this graph.
    #[inline]
    fn bar(&self) -> f32 {
        self.scratch.nearest.score_to_reach().min(self.scratch.own.score_to_reach())
    }

    /// Estimates the linked points, and keeps those that may be worth following.
    fn follow(&mut self, links: &[u32]) {
        self.estimate_new(links);
        for place in 0..self.scratch.numbers.len() {
            let estimate = self.estimate(place);
            if estimate.score() >= self.bar() {
                self.add_point(estimate);
            }
        }
    }

    fn add_point(&mut self, point: Ranked) {
        self.scratch.open.push(point);
        self.scratch.own.offer(point);
        if point.score() >= self.scratch.nearest.score_to_reach() && self.represents_admitted_chunk(point.ordinal()) {
            self.scratch.nearest.offer(point);
            self.scratch.found.push(point);
        }
    }

    /// Computes the dot products of those chunks that are new, after it has prefetched all their rows.
    fn estimate_new(&mut self, chunks: &[u32]) {
        let WalkScratch { visited, numbers, dots, .. } = &mut *self.scratch;
        numbers.clear();
        for &chunk in chunks {
            if visited.is_new(chunk) && self.graph.chunks.contains(chunk) {
                prefetch(self.request.rows.codes(chunk));
                numbers.push(chunk);
            }
        }
        self.compared += numbers.len() as u64;
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

    /// Whether the point, a chunk near it, or a chunk equal to any of these may be found.
    fn represents_admitted_chunk(&self, point: u32) -> bool {
        let VectorRequest { range, within, .. } = *self.request;
        let stands = |chunk| {
            (range.contains(chunk) && within.admits(chunk))
                || self.graph.equal_in(chunk, range).iter().any(|&equal| within.admits(equal))
        };
        stands(point) || self.graph.near(point).iter().any(|&near| stands(near))
    }
}
