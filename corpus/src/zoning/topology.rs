//! Checks how the rings of one feature meet: whether they cross, overlap, or are outside. All of these are warnings.
//!
//! Rings of a part may touch at points, and so may parts. Everything else is reported with its first position.
//! `contacts` finds the contacts. For rings without contacts, a single position decides whether one is inside another.

use std::collections::BTreeMap;
use std::ops::Range;

use geo::coordinate_position::{CoordPos, coord_pos_relative_to_ring};
use geo::line_intersection::LineIntersection;
use geo::{Coord, Line};

use crate::zoning::contacts::{Exhausted, Rect, Segment, StepBudget, each_contact};
use crate::zoning::problem::{ContactPlaces, ProblemKind, ZoneContact};
use crate::zoning::shape::{Polygon, Ring, Shape};

/// The problems of one shape, in a fixed order, at most `PROBLEMS_MAX`.
pub(crate) fn check(shape: &Shape, budget: &mut StepBudget) -> Vec<ProblemKind> {
    let rings = NumberedRing::all(shape);
    let mut problems: Vec<ProblemKind> = rings.iter().filter_map(NumberedRing::without_area).collect();
    if check_contacts(shape, &rings, &mut problems, budget).is_err() {
        problems.push(ProblemKind::ContactsUnchecked);
    }
    problems.truncate(PROBLEMS_MAX);
    problems
}

const PROBLEMS_MAX: usize = 16;

/// A ring with its position: the part it belongs to and its number there, zero being the outer ring.
struct NumberedRing<'a> {
    part: usize,
    number: usize,
    ring: &'a Ring,
}

impl<'a> NumberedRing<'a> {
    fn all(shape: &'a Shape) -> Vec<Self> {
        let parts = shape.parts().iter().enumerate();
        parts
            .flat_map(|(part, polygon)| {
                polygon.rings().iter().enumerate().map(move |(number, ring)| Self { part, number, ring })
            })
            .collect()
    }

    fn without_area(&self) -> Option<ProblemKind> {
        let at = self.ring.first().into();
        (self.ring.signed_area() == 0.0).then_some(ProblemKind::NoArea { part: self.part, ring: self.number, at })
    }
}

fn check_contacts(
    shape: &Shape,
    rings: &[NumberedRing<'_>],
    problems: &mut Vec<ProblemKind>,
    budget: &mut StepBudget,
) -> Result<(), Exhausted> {
    let contacts = Contacts::find(rings, budget)?;
    contacts.report(rings, problems);
    let mut first_ring = 0;
    for (part, polygon) in shape.parts().iter().enumerate() {
        check_holes(part, polygon, first_ring, &contacts, problems, budget)?;
        first_ring += polygon.rings().len();
    }
    check_parts(shape.parts(), &contacts, problems, budget)
}

/// The positions at which rings meet, by their numbers over all parts, and the worst contact between each two parts.
struct Contacts {
    by_rings: BTreeMap<(usize, usize, ZoneContact), Vec<Coord<f64>>>,
    by_parts: BTreeMap<(usize, usize), ZoneContact>,
}

impl Contacts {
    fn find(rings: &[NumberedRing<'_>], budget: &mut StepBudget) -> Result<Self, Exhausted> {
        let (segments, spans) = segments_of(rings);
        let mut found = Self { by_rings: BTreeMap::new(), by_parts: BTreeMap::new() };
        each_contact(&segments, budget, &mut |a, b, meeting| {
            let pair = (segments[a].ring, segments[b].ring);
            let follow_each_other = pair.0 == pair.1 && are_neighbours(a, b, &spans[pair.0]);
            let (how, at) = match meeting {
                LineIntersection::Collinear { intersection } => (ZoneContact::Overlap, intersection.start),
                LineIntersection::SinglePoint { .. } if follow_each_other => return,
                LineIntersection::SinglePoint { intersection, is_proper: true } => {
                    (ZoneContact::Crossing, intersection)
                }
                LineIntersection::SinglePoint { intersection, is_proper: false } => (ZoneContact::Touch, intersection),
            };
            found.by_rings.entry((pair.0, pair.1, how)).or_default().push(at);
            let parts = (rings[pair.0].part, rings[pair.1].part);
            if parts.0 != parts.1 {
                let worst = found.by_parts.entry(parts).or_insert(how);
                *worst = how.max(*worst);
            }
        })?;
        Ok(found)
    }

    fn report(&self, rings: &[NumberedRing<'_>], problems: &mut Vec<ProblemKind>) {
        for (&(a, b, how), coords) in &self.by_rings {
            let (part, places) = (rings[a].part, places(coords));
            let is_told_by_worse = Some(how) < self.worst_of_rings(a, b)
                // A ring without area must touch itself, and is already reported.
                || (a == b && how < ZoneContact::Crossing && rings[a].without_area().is_some());
            if is_told_by_worse {
                continue;
            }
            if a == b {
                problems.push(ProblemKind::RingMeetsItself { how, part, ring: rings[a].number, places });
            } else if how == ZoneContact::Touch {
                // Different rings may touch at points.
            } else if part == rings[b].part {
                problems.push(ProblemKind::RingsMeet { how, part, places });
            } else {
                problems.push(ProblemKind::PartsMeet { how, places });
            }
        }
    }

    fn worst_of_rings(&self, a: usize, b: usize) -> Option<ZoneContact> {
        let kinds = (a, b, ZoneContact::Touch)..=(a, b, ZoneContact::Crossing);
        self.by_rings.range(kinds).next_back().map(|(&(_, _, how), _)| how)
    }
}

/// All segments that have a length, and the range of segments of each ring.
fn segments_of(rings: &[NumberedRing<'_>]) -> (Vec<Segment>, Vec<Range<usize>>) {
    let mut segments = Vec::new();
    let mut spans = Vec::with_capacity(rings.len());
    for (number, named) in rings.iter().enumerate() {
        let start = segments.len();
        let lines = named.ring.line().lines().filter(|line| line.start != line.end);
        segments.extend(lines.map(|line| Segment { line, ring: number }));
        spans.push(start..segments.len());
    }
    (segments, spans)
}

fn are_neighbours(a: usize, b: usize, span: &Range<usize>) -> bool {
    a + 1 == b || (a == span.start && b + 1 == span.end)
}

fn places(coords: &[Coord<f64>]) -> ContactPlaces {
    let mut distinct: Vec<(u64, u64)> = coords.iter().map(|at| (at.x.to_bits(), at.y.to_bits())).collect();
    distinct.sort_unstable();
    distinct.dedup();
    ContactPlaces { first: coords[0].into(), count: distinct.len() }
}

fn check_holes(
    part: usize,
    polygon: &Polygon,
    shell: usize,
    contacts: &Contacts,
    problems: &mut Vec<ProblemKind>,
    budget: &mut StepBudget,
) -> Result<(), Exhausted> {
    let rings = polygon.rings();
    let rects: Vec<Rect> = rings.iter().map(rect_of).collect();
    let inside_of = |ring: usize| Area { rings: &rings[ring..=ring] };
    for hole in 1..rings.len() {
        if let Some(meeting) = Meeting::of(contacts.worst_of_rings(shell, shell + hole)) {
            let outside = meeting.first_at(CoordPos::Outside, &rings[hole], inside_of(0), budget)?;
            problems.extend(outside.map(|at| ProblemKind::HoleOutside { part, hole, at: at.into() }));
        }
        for other in 1..hole {
            budget.spend(1)?;
            let Some(meeting) = Meeting::of(contacts.worst_of_rings(shell + other, shell + hole)) else { continue };
            if !rects[hole].meets(&rects[other]) {
                continue;
            }
            let overlap = match meeting.first_at(CoordPos::Inside, &rings[hole], inside_of(other), budget)? {
                None => meeting.first_at(CoordPos::Inside, &rings[other], inside_of(hole), budget)?,
                found => found,
            };
            problems.extend(overlap.map(|at| ProblemKind::HolesOverlap { part, at: at.into() }));
        }
    }
    Ok(())
}

fn check_parts(
    parts: &[Polygon],
    contacts: &Contacts,
    problems: &mut Vec<ProblemKind>,
    budget: &mut StepBudget,
) -> Result<(), Exhausted> {
    let rects: Vec<Rect> = parts.iter().map(|part| rect_of(&part.rings()[0])).collect();
    for second in 1..parts.len() {
        for first in 0..second {
            budget.spend(1)?;
            let Some(meeting) = Meeting::of(contacts.by_parts.get(&(first, second)).copied()) else { continue };
            if !rects[first].meets(&rects[second]) {
                continue;
            }
            let (a, b) = (parts[first].rings(), parts[second].rings());
            let overlap = match meeting.first_at(CoordPos::Inside, &b[0], Area { rings: a }, budget)? {
                None => meeting.first_at(CoordPos::Inside, &a[0], Area { rings: b }, budget)?,
                found => found,
            };
            problems.extend(overlap.map(|at| ProblemKind::PartsOverlap { at: at.into() }));
        }
    }
    Ok(())
}

/// How two boundaries that neither cross nor overlap meet. Crossings and overlaps are already reported as contacts.
#[derive(Clone, Copy)]
enum Meeting {
    Apart,
    AtPoints,
}

impl Meeting {
    fn of(worst: Option<ZoneContact>) -> Option<Self> {
        match worst {
            None => Some(Self::Apart),
            Some(ZoneContact::Touch) => Some(Self::AtPoints),
            Some(ZoneContact::Overlap | ZoneContact::Crossing) => None,
        }
    }

    /// The first position of a ring on the unwanted side of an area.
    fn first_at(
        self,
        unwanted: CoordPos,
        ring: &Ring,
        area: Area<'_>,
        budget: &mut StepBudget,
    ) -> Result<Option<Coord<f64>>, Exhausted> {
        let lines = ring.line().lines();
        let checked = match self {
            // One position decides for the whole ring.
            Self::Apart => 1,
            // Each section between two touches may be on another side.
            Self::AtPoints => lines.len(),
        };
        for line in lines.take(checked) {
            for at in [line.start, (line.start + line.end) / 2.0].into_iter().take(checked) {
                budget.spend(area.cost())?;
                if area.side_of(at) == unwanted {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }
}

/// The area inside an outer ring, without the holes that follow it.
#[derive(Clone, Copy)]
struct Area<'a> {
    rings: &'a [Ring],
}

impl Area<'_> {
    fn side_of(self, at: Coord<f64>) -> CoordPos {
        let Some((shell, holes)) = self.rings.split_first() else { return CoordPos::Outside };
        let in_shell = coord_pos_relative_to_ring(at, shell.line());
        if in_shell != CoordPos::Inside {
            return in_shell;
        }
        for hole in holes {
            match coord_pos_relative_to_ring(at, hole.line()) {
                CoordPos::Outside => {}
                CoordPos::OnBoundary => return CoordPos::OnBoundary,
                CoordPos::Inside => return CoordPos::Outside,
            }
        }
        CoordPos::Inside
    }

    fn cost(self) -> usize {
        self.rings.iter().map(|ring| ring.positions().len()).sum()
    }
}

fn rect_of(ring: &Ring) -> Rect {
    let nothing = Rect::of(&Line::new(ring.first(), ring.first()));
    ring.line().lines().fold(nothing, |rect, line| rect.join(Rect::of(&line)))
}
