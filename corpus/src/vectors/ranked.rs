//! Results packed into integers that sort like the results, and the bounded heap of the best results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::ChunkOrdinal;

/// A chunk and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub chunk: ChunkOrdinal,
    pub score: f32,
}

/// A score and its ordinal. Greater is better: first the higher score, and with equal scores the lower ordinal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ranked(u64);

impl Ranked {
    #[inline]
    pub(super) fn new(score: f32, ordinal: u32) -> Self {
        // Adding zero turns -0 into 0, so the two tie.
        Self(u64::from(ordered(score + 0.0)) << 32 | u64::from(!ordinal))
    }

    #[inline]
    pub(super) fn score(self) -> f32 {
        unordered((self.0 >> 32) as u32)
    }

    #[inline]
    pub(super) fn ordinal(self) -> u32 {
        !(self.0 as u32)
    }
}

/// The bits of a float as an integer that sorts as floats do.
#[inline]
fn ordered(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

#[inline]
fn unordered(bits: u32) -> f32 {
    f32::from_bits(if bits >> 31 == 1 { bits & !(1 << 31) } else { !bits })
}

/// The best `limit` of the offered results.
#[derive(Debug, Default)]
pub(super) struct TopResults {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl TopResults {
    pub(super) fn restart(&mut self, limit: usize) {
        self.limit = limit;
        self.heap.clear();
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.heap.len() >= self.limit
    }

    /// The result that an offer must beat: the worst one kept. `None` until `limit` results are kept.
    #[inline]
    pub(super) fn result_to_beat(&self) -> Option<Ranked> {
        if self.is_full() { self.heap.peek().map(|worst| worst.0) } else { None }
    }

    /// The score that an offer must reach. Negative infinity until `limit` results are kept.
    #[inline]
    pub(super) fn score_to_reach(&self) -> f32 {
        self.result_to_beat().map_or(f32::NEG_INFINITY, Ranked::score)
    }

    #[inline]
    pub(super) fn offer(&mut self, ranked: Ranked) {
        if !self.is_full() {
            self.heap.push(Reverse(ranked));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && ranked > worst.0
        {
            *worst = Reverse(ranked);
        }
    }

    /// Moves the results to `out`, best first.
    pub(super) fn drain_into(&mut self, out: &mut Vec<Ranked>) {
        out.clear();
        out.extend(self.heap.drain().map(|kept| kept.0));
        out.sort_unstable_by_key(|&ranked| Reverse(ranked));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_heap_keeps_the_same_results_as_sorting(scores in prop::collection::vec((-3i8..3, any::<u32>()), 0..60), limit in 0usize..20) {
            let mut best = TopResults::default();
            best.restart(limit);
            let mut all: Vec<(f32, u32)> = scores.iter().map(|&(score, ordinal)| (f32::from(score) / 2.0, ordinal)).collect();
            all.iter().for_each(|&(score, ordinal)| best.offer(Ranked::new(score, ordinal)));
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            all.truncate(limit);
            let mut kept = Vec::new();
            best.drain_into(&mut kept);
            let kept: Vec<(f32, u32)> = kept.iter().map(|ranked| (ranked.score(), ranked.ordinal())).collect();
            prop_assert_eq!(kept, all);
        }
    }

    #[test]
    fn zero_and_minus_zero_tie_and_infinities_sort_last_and_first() {
        assert_eq!(Ranked::new(-0.0, 3), Ranked::new(0.0, 3));
        assert!(Ranked::new(0.0, 3) > Ranked::new(0.0, 4));
        assert!(Ranked::new(f32::NEG_INFINITY, 0) < Ranked::new(f32::MIN, 9));
        assert!(Ranked::new(f32::INFINITY, 9) > Ranked::new(f32::MAX, 0));
    }
}
