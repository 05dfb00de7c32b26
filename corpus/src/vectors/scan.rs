//! The exact scan of a range: estimates for every chunk, scores where the estimate does not decide.
//!
//! Estimate and score of a chunk differ by at most `error * scale` (`Query::error_in_scales`), so each estimate gives a
//! lower and an upper bound of the score. The threshold is the k-th largest lower bound. k chunks score at least as
//! much, so a chunk with an upper bound below the threshold is not among the best k; all others are scored. During the
//! scan the threshold only rises, so nothing is lost by applying it early.

use super::arch::Kernel;
use super::quantise::QuantisedQuery;
use super::ranked::{Neighbour, Ranked, TopResults};
use super::rows::RowsView;
use super::within::ChunkFilter;
use crate::ids::{ChunkOrdinal, OrdinalRange};

/// Number of chunks estimated at once. Their estimates stay in the first-level cache.
const BLOCK_LEN: usize = 256;
/// When there are this many candidates, those that are now below the threshold are dropped.
const CANDIDATES_BEFORE_SWEEP: usize = 1 << 12;

/// The buffers of a scan, which are reused for other queries.
#[derive(Debug, Default)]
pub(super) struct ScanScratch {
    /// The best lower bounds.
    lower: TopResults,
    /// Chunks with their upper bounds.
    candidates: Vec<Ranked>,
}

/// A query, the chunks to search, and the kernel that computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorRequest<'a> {
    pub(super) kernel: Kernel,
    pub(super) rows: RowsView<'a>,
    pub(super) query: &'a QuantisedQuery,
    pub(super) range: OrdinalRange,
    pub(super) within: &'a ChunkFilter<'a>,
}

impl VectorRequest<'_> {
    /// The score of a chunk: the dot product of the query with its twelve-bit row.
    #[inline]
    pub(super) fn score(&self, chunk: u32) -> f32 {
        let sixteenths = self.kernel.score(&self.query.exact, self.rows.codes(chunk), self.rows.residuals(chunk));
        sixteenths * (self.rows.scales[chunk as usize] / 16.0)
    }
}

/// Offers to `found` every chunk of the range that is among its best `k`, with its score.
pub(super) fn scan(request: &VectorRequest<'_>, k: usize, scratch: &mut ScanScratch, found: &mut TopResults) {
    gather_candidates(request, k, scratch);
    // Best first, so that the scan can stop early: once a candidate is below the worst result, all the rest are too.
    let bar = scratch.lower.score_to_reach();
    scratch.candidates.retain(|candidate| candidate.score() >= bar);
    scratch.candidates.sort_unstable_by(|a, b| b.cmp(a));
    for candidate in &scratch.candidates {
        if candidate.score() < found.score_to_reach() {
            return;
        }
        let chunk = candidate.ordinal();
        found.offer(Ranked::new(request.score(chunk), chunk));
    }
}

/// The chunk of the range with the highest estimate (the first of equal ones), with its score.
pub(super) fn best_estimated(request: &VectorRequest<'_>, range: OrdinalRange) -> Option<Neighbour> {
    let VectorRequest { kernel, rows, query, range: whole, .. } = *request;
    let end = range.end.min(whole.end) as usize;
    let mut best: Option<(f32, usize)> = None;
    let mut dots = [0; BLOCK_LEN];
    for start in (range.start as usize..end).step_by(BLOCK_LEN) {
        let block = start..(start + BLOCK_LEN).min(end);
        let dots = &mut dots[..block.len()];
        kernel.dots_of_consecutive_rows(
            &query.steps,
            &rows.codes[block.start * rows.dims..block.end * rows.dims],
            dots,
        );
        for ((chunk, &dot), &scale) in block.clone().zip(&*dots).zip(&rows.scales[block]) {
            let estimate = dot as f32 * scale;
            if best.is_none_or(|(most, _)| estimate > most) {
                best = Some((estimate, chunk));
            }
        }
    }
    let chunk = best?.1 as u32;
    Some(Neighbour { chunk: ChunkOrdinal(chunk), score: request.score(chunk) })
}

fn gather_candidates(request: &VectorRequest<'_>, k: usize, scratch: &mut ScanScratch) {
    let VectorRequest { kernel, rows, query, range, within } = *request;
    let ScanScratch { lower, candidates } = scratch;
    lower.restart(k);
    candidates.clear();
    let error = query.error_in_scales(rows.residual_norm_max);
    let mut sweep_at = CANDIDATES_BEFORE_SWEEP;
    let (mut dots, mut upper) = ([0; BLOCK_LEN], [0.0; BLOCK_LEN]);
    for start in (range.start as usize..range.end as usize).step_by(BLOCK_LEN) {
        let end = (start + BLOCK_LEN).min(range.end as usize);
        let (dots, upper) = (&mut dots[..end - start], &mut upper[..end - start]);
        let scales = &rows.scales[start..end];
        kernel.dots_of_consecutive_rows(&query.steps, &rows.codes[start * rows.dims..end * rows.dims], dots);
        for ((upper, &dot), &scale) in upper.iter_mut().zip(&*dots).zip(scales) {
            *upper = (dot as f32 * query.step + error) * scale;
        }
        let bar = lower.score_to_reach();
        // Counting has no branches, so it is vectorised. Most blocks contain no candidate.
        if upper.iter().filter(|&&upper| upper >= bar).count() == 0 {
            continue;
        }
        for (place, &upper) in upper.iter().enumerate() {
            let chunk = (start + place) as u32;
            if upper >= lower.score_to_reach() && within.admits(chunk) {
                candidates.push(Ranked::new(upper, chunk));
                lower.offer(Ranked::new((dots[place] as f32 * query.step - error) * scales[place], chunk));
            }
        }
        if candidates.len() >= sweep_at {
            let bar = lower.score_to_reach();
            candidates.retain(|candidate| candidate.score() >= bar);
            sweep_at = CANDIDATES_BEFORE_SWEEP.max(2 * candidates.len());
        }
    }
}
