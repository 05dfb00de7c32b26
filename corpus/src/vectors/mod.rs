//! The vector index: one quantised vector per chunk, an exact scan for ranges, and graphs for large ranges.
//!
//! `VectorWriter` and `GraphWriter` write the two files of an embedding space. `VectorIndex` opens both and finds
//! the nearest chunks. Scores are dot products with the stored twelve-bit vectors and equal on every machine;
//! `quantise` defines them. The graph is built in `index-build`; this module only searches it. `QueryTable` embeds
//! the queries of a space whose passages a sentence encoder embedded.

mod arch;
mod effort;
mod graph;
mod plan;
mod quantise;
mod queries;
mod ranked;
mod rows;
mod scan;
mod search;
mod space;
#[cfg(test)]
mod tests;
mod view;
mod within;

use std::cell::RefCell;
use std::path::Path;

pub use arch::Kernel;
pub use effort::{Effort, Work};
pub use graph::{ChunkLinks, GraphFile, GraphWriteError, GraphWriter};
pub use queries::{EncoderHash, QueryRows, QueryTable, write_queries};
pub use ranked::Neighbour;
pub use rows::{RowsView, StoredRow, VectorRows, VectorWriteError, VectorWriter, is_supported_dims};
pub(crate) use rows::{check_space, single_meta};
pub(crate) use space::NAME_LEN_MAX;
pub use space::{InvalidSpaceName, SpaceName};
pub use view::{Graph, GraphView, NEAR_MAX};
pub use within::ChunkFilter;

pub(crate) use arch::prefetch;
use plan::{PlanStep, plan};
use quantise::QuantisedQuery;
use ranked::{Ranked, TopResults};
use scan::{ScanScratch, VectorRequest, best_estimated, scan};
use search::{WalkScratch, walk};

use crate::ids::{ChunkOrdinal, OrdinalRange};
use crate::section_file::SectionFileError;

/// A row is prefetched this many rows before it is read.
const PREFETCHED_AHEAD: usize = 4;

/// The vectors of one embedding space with their graphs.
#[derive(Clone, Debug)]
pub struct VectorIndex {
    rows: VectorRows,
    graph: GraphFile,
    kernel: Kernel,
}

impl VectorIndex {
    pub fn open(directory: &Path, space: &SpaceName) -> Result<Self, SectionFileError> {
        let rows = VectorRows::open(directory, space)?;
        let graph = GraphFile::open(&rows)?;
        Ok(Self { rows, graph, kernel: Kernel::detect() })
    }

    /// The same index with another kernel. Results do not change.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    pub fn rows(&self) -> &VectorRows {
        &self.rows
    }

    pub fn graph(&self) -> &GraphFile {
        &self.graph
    }

    /// The `k` chunks of the range with the highest scores, best first, equal scores by ordinal. Ranges that the
    /// effort allows to scan are searched exactly, larger ones with the graph.
    ///
    /// # Panics
    /// If the query has another number of dimensions than the index.
    pub fn nearest(&self, query: &[f32], range: OrdinalRange, k: usize, effort: Effort) -> Vec<Neighbour> {
        self.nearest_within(query, &ChunkFilter { ranges: &[range], admits: None }, k, effort)
    }

    /// Like [`Self::nearest`], for several ranges at once, and only for the chunks that `within` admits. The cost
    /// of a range does not depend on the chunks around it.
    ///
    /// # Panics
    /// If the query has another number of dimensions than the index.
    pub fn nearest_within(&self, query: &[f32], within: &ChunkFilter<'_>, k: usize, effort: Effort) -> Vec<Neighbour> {
        let mut out = Vec::new();
        self.nearest_into(query, within, k, effort, &mut out);
        out
    }

    /// Like [`Self::nearest`], but only with a scan: exactly the `k` highest scores of the range.
    ///
    /// # Panics
    /// If the query has another number of dimensions than the index.
    pub fn nearest_exact(&self, query: &[f32], range: OrdinalRange, k: usize) -> Vec<Neighbour> {
        self.nearest(query, range, k, Effort { ef: 0, scan_chunks_max: u32::MAX })
    }

    /// Like `nearest_within`, but writes into a buffer, which is cleared first. Returns the work that was done.
    /// Allocates nothing after the first query of a thread.
    ///
    /// # Panics
    /// If the query has another number of dimensions than the index.
    pub fn nearest_into(
        &self,
        query: &[f32],
        within: &ChunkFilter<'_>,
        k: usize,
        effort: Effort,
        out: &mut Vec<Neighbour>,
    ) -> Work {
        assert_eq!(
            query.len(),
            self.rows.dims(),
            "the query does not have the dimensions of the embedding space {}",
            self.rows.space()
        );
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.query.set(query);
            let k = k.min(self.rows.chunk_count() as usize);
            scratch.found.restart(k);
            let work = if k > 0 { self.search(within, k, effort, scratch) } else { Work::default() };
            scratch.found.drain_into(&mut scratch.sorted);
            out.clear();
            out.extend(
                scratch
                    .sorted
                    .iter()
                    .map(|found| Neighbour { chunk: ChunkOrdinal(found.ordinal()), score: found.score() }),
            );
            work
        })
    }

    /// The best chunk in each of several short ranges, such as those of provisions, or `None` for an empty range.
    /// The chunk is chosen by its estimate, which differs from its score by a few thousandths. The result contains
    /// its exact score.
    ///
    /// # Panics
    /// If the query has another number of dimensions than the index.
    pub fn best_of_each(&self, query: &[f32], ranges: &[OrdinalRange]) -> Vec<Option<Neighbour>> {
        assert_eq!(
            query.len(),
            self.rows.dims(),
            "the query does not have the dimensions of the embedding space {}",
            self.rows.space()
        );
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.query.set(query);
            let rows = self.rows.view();
            let whole = OrdinalRange { start: 0, end: self.rows.chunk_count() };
            let within = ChunkFilter { ranges: &[whole], admits: None };
            let request =
                VectorRequest { kernel: self.kernel, rows, query: &scratch.query, range: whole, within: &within };
            let best = |(place, &range): (usize, &OrdinalRange)| {
                if let Some(ahead) = ranges.get(place + PREFETCHED_AHEAD) {
                    // In a longer range, the processor itself prefetches the rest.
                    (ahead.start..ahead.end).take(PREFETCHED_AHEAD).for_each(|chunk| rows.prefetch(chunk));
                }
                best_estimated(&request, range)
            };
            ranges.iter().enumerate().map(best).collect()
        })
    }

    fn search(&self, within: &ChunkFilter<'_>, k: usize, effort: Effort, scratch: &mut Scratch) -> Work {
        let (rows, view) = (self.rows.view(), self.graph.view());
        let Scratch { query, scan: scan_scratch, walk: walk_scratch, found, steps, .. } = scratch;
        plan(view, self.rows.chunk_count(), within, effort, steps);
        walk_scratch.restart(effort.ef.max(k));
        let mut work = Work::default();
        for &PlanStep { range, graph } in steps.iter() {
            let request = VectorRequest { kernel: self.kernel, rows, query, range, within };
            match graph.and_then(|place| view.graph(place)) {
                None => {
                    scan(&request, k, scan_scratch, found);
                    work.scanned += u64::from(range.len());
                }
                Some(graph) => {
                    work.visited += walk(&request, &graph, walk_scratch);
                    Expansion { request, graph }.offer_all(&walk_scratch.found, found);
                }
            }
        }
        work
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The buffers that a thread reuses for its queries.
#[derive(Debug, Default)]
struct Scratch {
    query: QuantisedQuery,
    scan: ScanScratch,
    walk: WalkScratch,
    found: TopResults,
    sorted: Vec<Ranked>,
    steps: Vec<PlanStep>,
}

/// Expands points to the chunks that they represent.
struct Expansion<'a> {
    request: VectorRequest<'a>,
    graph: Graph<'a>,
}

impl Expansion<'_> {
    /// Offers the points, best first, the chunks near them, and the chunks equal to any of these, if they are in
    /// the range.
    fn offer_all(&self, points: &[Ranked], found: &mut TopResults) {
        for (place, point) in points.iter().enumerate() {
            if let Some(ahead) = points.get(place + PREFETCHED_AHEAD) {
                self.request.rows.prefetch(ahead.ordinal());
                prefetch(self.graph.near(ahead.ordinal()));
            }
            let near = self.graph.near(point.ordinal());
            near.iter().for_each(|&near| self.request.rows.prefetch(near));
            self.offer_with_equals(point.ordinal(), found);
            near.iter().for_each(|&near| self.offer_with_equals(near, found));
        }
    }

    /// Offers a chunk and the chunks equal to it. They have the same score, so it is computed once. The first
    /// refused chunk ends the list, because the chunks after it have higher ordinals. Therefore a list of thousands
    /// costs no more than the results taken from it.
    fn offer_with_equals(&self, chunk: u32, found: &mut TopResults) {
        let range = self.request.range;
        let equal = self.graph.equal_in(chunk, range);
        let may_be_found = |chunk: u32| range.contains(chunk) && self.request.within.admits(chunk);
        let itself = may_be_found(chunk).then_some(chunk);
        if (itself.is_none() && equal.is_empty()) || !self.request.rows.has(chunk) {
            return;
        }
        let score = self.request.score(chunk);
        // A damaged list may not be in order, so the binary search may return chunks outside the range.
        for chunk in itself.into_iter().chain(equal.iter().copied().filter(|&chunk| may_be_found(chunk))) {
            let offered = Ranked::new(score, chunk);
            if found.result_to_beat().is_some_and(|bar| offered <= bar) {
                return;
            }
            found.offer(offered);
        }
    }
}
