//! Plans a search: which parts of its ranges are scanned, and which graphs are walked.
//!
//! Costs are measured in rows that are read one after another. A scan costs one row per chunk. A walk through a
//! graph costs about the same for every size of the graph: as much as scanning [`Effort::scan_chunks_max`] chunks.
//! If only a part of a graph is searched, the walk also visits points outside that part. This cost grows faster
//! than the part's share shrinks, because points outside may be nearer to the query, so the cost is divided by the
//! square of the share. Every further walk of a search costs a quarter, because the results of the earlier walks
//! end it early.

use super::effort::Effort;
use super::view::GraphView;
use super::within::ChunkFilter;
use crate::ids::OrdinalRange;

/// The cost of a further walk, as a fraction of the cost of the first.
const FURTHER_WALK_COST: f64 = 0.25;
/// The number of evenly spaced chunks of a range from which the share of admitted chunks is estimated.
const SAMPLED: u32 = 64;

/// A part of a range, and the index of the graph to walk, or `None` to scan the part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlanStep {
    pub(super) range: OrdinalRange,
    pub(super) graph: Option<usize>,
}

/// Writes the steps of a search to `steps`.
pub(super) fn plan(
    view: GraphView<'_>,
    chunks: u32,
    within: &ChunkFilter<'_>,
    effort: Effort,
    steps: &mut Vec<PlanStep>,
) {
    steps.clear();
    let clipped = within.ranges.iter().map(|range| OrdinalRange { start: range.start, end: range.end.min(chunks) });
    let ranges = || clipped.clone().filter(|range| !range.is_empty());
    let planner = Planner { view, walk: f64::from(effort.scan_chunks_max) / admitted_share(within) };
    let further: f64 = ranges().map(|range| planner.cover(range, steps)).sum();
    let dearest = steps.iter().map(|step| planner.further_walk(step)).fold(0.0, f64::max);
    let cost = further + dearest * (1.0 / FURTHER_WALK_COST - 1.0);
    if ranges().map(|range| f64::from(range.len())).sum::<f64>() <= cost {
        steps.clear();
        steps.extend(ranges().map(|range| PlanStep { range, graph: None }));
    }
}

/// The estimated share of admitted chunks, from 0 to 1, but never zero.
fn admitted_share(within: &ChunkFilter<'_>) -> f64 {
    if within.admits.is_none() {
        return 1.0;
    }
    let (mut seen, mut admitted) = (0, 0);
    for range in within.ranges {
        for chunk in range.iter().step_by((range.len() / SAMPLED).max(1) as usize) {
            seen += 1;
            admitted += u32::from(within.admits(chunk));
        }
    }
    f64::from(admitted.max(1)) / f64::from(seen.max(1))
}

struct Planner<'a> {
    view: GraphView<'a>,
    /// The cost of the first walk.
    walk: f64,
}

impl Planner<'_> {
    /// Adds the steps for a range. Returns their cost, with every walk counted as a further one.
    fn cover(&self, range: OrdinalRange, steps: &mut Vec<PlanStep>) -> f64 {
        let first = steps.len();
        let mut by_parts = 0.0;
        let mut at = range.start;
        while at < range.end {
            let rest = OrdinalRange { start: at, end: range.end };
            let next = self.graphs().filter(|(_, chunks)| rest.contains_range(*chunks));
            // The longest of the graphs that begin first.
            let next = next.min_by_key(|(_, chunks)| (chunks.start, u32::MAX - chunks.end));
            let gap = OrdinalRange { start: at, end: next.map_or(range.end, |(_, chunks)| chunks.start) };
            by_parts += self.cover_gap(gap, steps);
            if let Some((place, chunks)) = next {
                let (step, cost) = self.cheaper(chunks, Some(place));
                steps.push(step);
                by_parts += cost;
            }
            at = next.map_or(range.end, |(_, chunks)| chunks.end);
        }
        let (step, cost) = self.cheaper(range, self.around(range));
        if cost <= by_parts {
            steps.truncate(first);
            steps.push(step);
        }
        cost.min(by_parts)
    }

    /// The same for a range that contains no whole graph.
    fn cover_gap(&self, gap: OrdinalRange, steps: &mut Vec<PlanStep>) -> f64 {
        let mut cost = 0.0;
        for (_, shard) in self.graphs().take(self.view.shards) {
            let part = OrdinalRange { start: gap.start.max(shard.start), end: gap.end.min(shard.end) };
            if !part.is_empty() {
                let (step, of_part) = self.cheaper(part, self.around(part));
                steps.push(step);
                cost += of_part;
            }
        }
        cost
    }

    fn graphs(&self) -> impl Iterator<Item = (usize, OrdinalRange)> + Clone {
        self.view.chunks().enumerate()
    }

    /// The smallest graph that contains all of a range.
    fn around(&self, range: OrdinalRange) -> Option<usize> {
        let around = self.graphs().filter(|(_, chunks)| chunks.contains_range(range));
        around.min_by_key(|(_, chunks)| chunks.len()).map(|(place, _)| place)
    }

    /// The cheaper step for a range, a scan or a walk, with its cost.
    fn cheaper(&self, range: OrdinalRange, graph: Option<usize>) -> (PlanStep, f64) {
        let (scan, walk) = (PlanStep { range, graph: None }, PlanStep { range, graph });
        match self.further_walk(&walk) {
            cost if graph.is_some() && cost < f64::from(range.len()) => (walk, cost),
            _ => (scan, f64::from(range.len())),
        }
    }

    /// The cost of a step as a further walk. Zero if the step is a scan.
    fn further_walk(&self, step: &PlanStep) -> f64 {
        let chunks = step.graph.and_then(|place| self.view.chunks().nth(place));
        chunks.map_or(0.0, |chunks| {
            let share = f64::from(step.range.len()) / f64::from(chunks.len());
            self.walk * FURTHER_WALK_COST / (share * share)
        })
    }
}
