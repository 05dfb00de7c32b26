//! Finds segments of a feature's boundary that meet: a self-join of bounding boxes over runs of consecutive segments.
//!
//! Consecutive segments are close together, so a binary tree in their order is already a good spatial index. It needs
//! no sorting, and joining it with itself finds all pairs of overlapping boxes in nearly linear time on real
//! boundaries. Shapes designed to be slow (a comb of long teeth) are stopped by a limit on steps.

use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{Coord, Line};

/// The number of elementary steps that the checks may still take. All features of a layer share it.
#[derive(Debug)]
pub(crate) struct StepBudget {
    steps_left: u64,
}

/// The budget is used up, so the check is incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exhausted;

impl StepBudget {
    pub(crate) const fn new(steps: u64) -> Self {
        Self { steps_left: steps }
    }

    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        match self.steps_left.checked_sub(steps as u64) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => {
                self.steps_left = 0;
                Err(Exhausted)
            }
        }
    }
}

/// A piece of boundary between two different positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub line: Line<f64>,
    /// The number of its ring, counted over all parts of the feature.
    pub ring: usize,
}

/// The cost of a contact, in steps. Callers store the places of contacts, and this memory must be bounded too.
const CONTACT_STEPS: usize = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rect {
    min: Coord<f64>,
    max: Coord<f64>,
}

impl Rect {
    pub(crate) fn of(line: &Line<f64>) -> Self {
        let (a, b) = (line.start, line.end);
        Self { min: Coord { x: a.x.min(b.x), y: a.y.min(b.y) }, max: Coord { x: a.x.max(b.x), y: a.y.max(b.y) } }
    }

    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            min: Coord { x: self.min.x.min(other.min.x), y: self.min.y.min(other.min.y) },
            max: Coord { x: self.max.x.max(other.max.x), y: self.max.y.max(other.max.y) },
        }
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.min.x <= other.max.x && other.min.x <= self.max.x && self.min.y <= other.max.y && other.min.y <= self.max.y
    }
}

/// Calls `visit` with every pair of segments (first index lower) that have a point in common, in a fixed order.
pub(crate) fn each_contact(
    segments: &[Segment],
    budget: &mut StepBudget,
    visit: &mut impl FnMut(usize, usize, LineIntersection<f64>),
) -> Result<(), Exhausted> {
    if segments.is_empty() {
        return Ok(());
    }
    let tree = BoundingBoxTree::new(segments);
    let top = tree.levels.len() - 1;
    tree.join(top, 0, 0, budget, visit)
}

struct BoundingBoxTree<'a> {
    segments: &'a [Segment],
    /// `levels[0]` has a box per segment, each next level one per pair of the level below, the last a single one.
    levels: Vec<Vec<Rect>>,
}

impl<'a> BoundingBoxTree<'a> {
    fn new(segments: &'a [Segment]) -> Self {
        let mut levels = vec![segments.iter().map(|segment| Rect::of(&segment.line)).collect::<Vec<_>>()];
        while let Some(below) = levels.last()
            && below.len() > 1
        {
            levels.push(below.chunks(2).map(|pair| pair[0].join(pair[pair.len() - 1])).collect());
        }
        Self { segments, levels }
    }

    /// Joins the subtrees of box `a` and box `b` of one level, `a <= b`. The recursion depth is the logarithm of
    /// the segment count.
    fn join(
        &self,
        level: usize,
        a: usize,
        b: usize,
        budget: &mut StepBudget,
        visit: &mut impl FnMut(usize, usize, LineIntersection<f64>),
    ) -> Result<(), Exhausted> {
        budget.spend(1)?;
        if a != b && !self.levels[level][a].meets(&self.levels[level][b]) {
            return Ok(());
        }
        let Some(below) = level.checked_sub(1) else {
            if a != b
                && let Some(contact) = line_intersection(self.segments[a].line, self.segments[b].line)
            {
                budget.spend(CONTACT_STEPS)?;
                visit(a, b, contact);
            }
            return Ok(());
        };
        let width = self.levels[below].len();
        for left in 2 * a..(2 * a + 2).min(width) {
            for right in (2 * b).max(left)..(2 * b + 2).min(width) {
                self.join(below, left, right, budget, visit)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(segments: &[Segment]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for a in 0..segments.len() {
            for b in a + 1..segments.len() {
                if line_intersection(segments[a].line, segments[b].line).is_some() {
                    pairs.push((a, b));
                }
            }
        }
        pairs
    }

    proptest! {
        #[test]
        fn the_tree_finds_the_pairs_that_trying_all_finds(ends in prop::collection::vec((0..12_i32, 0..12_i32, 0..12_i32, 0..12_i32), 0..60)) {
            let segments: Vec<Segment> = ends
                .iter()
                .filter(|(ax, ay, bx, by)| (ax, ay) != (bx, by))
                .map(|&(ax, ay, bx, by)| Segment {
                    line: Line::new(
                        Coord { x: f64::from(ax), y: f64::from(ay) },
                        Coord { x: f64::from(bx), y: f64::from(by) },
                    ),
                    ring: 0,
                })
                .collect();
            let mut found = Vec::new();
            each_contact(&segments, &mut StepBudget::new(1 << 20), &mut |a, b, _| found.push((a, b))).unwrap();
            found.sort_unstable();
            prop_assert_eq!(found, naive(&segments));
        }
    }

    #[test]
    fn an_exhausted_budget_is_an_error() {
        let teeth: Vec<Segment> = (0..5_000)
            .map(|tooth| {
                let x = f64::from(tooth) * 1e-6;
                Segment { line: Line::new(Coord { x, y: 0.0 }, Coord { x: x + 1.0, y: 1.0 }), ring: 0 }
            })
            .collect();
        assert_eq!(each_contact(&teeth, &mut StepBudget::new(1_000_000), &mut |_, _, _| ()), Err(Exhausted));
    }
}
