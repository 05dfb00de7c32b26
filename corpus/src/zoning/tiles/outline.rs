//! A ring on the grid: simplified, clipped at the buffer of its tile, and thickened if it has no width left.

use geo::LineString;

use super::address::{BUFFER, GRID, TileAddress, TileRing, Vertex};
use super::grid;

/// The width that is given to a shape that has no width left on the grid.
pub(super) const WIDTH_MIN: i32 = 2;

const LOW: i32 = -BUFFER;
const HIGH: i32 = GRID + BUFFER;

/// A closed ring without its closing vertex. A ring that lost its width runs along lines and back.
pub(super) struct RingOutline(Vec<Vertex>);

impl RingOutline {
    pub(super) fn of(ring: &LineString<f64>, tile: TileAddress) -> Self {
        let mut outline = Self(Vec::with_capacity(ring.0.len()));
        ring.coords().for_each(|coord| outline.push(grid::locate(tile, coord.x, coord.y)));
        outline.close();
        outline
    }

    /// Adds the part of an outer ring that is in the tile.
    pub(super) fn cut_outer(self, rings: &mut Vec<TileRing>) {
        let clipped = self.clipped();
        match clipped.area_doubled() {
            0 => self.thickened(rings),
            area => rings.push(clipped.turned(area < 0)),
        }
    }

    /// Adds the part of a hole that is in the tile. A hole without width is dropped.
    pub(super) fn cut_hole(self, rings: &mut Vec<TileRing>) {
        let clipped = self.clipped();
        match clipped.area_doubled() {
            0 => {}
            area => rings.push(clipped.turned(area > 0)),
        }
    }

    /// Adds a vertex, unless it equals the last one. Removes previous vertices that are on a straight line to it.
    fn push(&mut self, next: Vertex) {
        while let [.., before, last] = self.0.as_slice()
            && is_straight(*before, *last, next)
        {
            self.0.pop();
        }
        if self.0.last() != Some(&next) {
            self.0.push(next);
        }
    }

    /// Removes such vertices where the ring begins and ends.
    fn close(&mut self) {
        while self.0.len() > 1 && self.0.first() == self.0.last() {
            self.0.pop();
        }
        while let [first, second, .., before, last] = self.0.as_slice() {
            if is_straight(*before, *last, *first) {
                self.0.pop();
            } else if is_straight(*last, *first, *second) {
                self.0.remove(0);
            } else {
                break;
            }
        }
    }

    /// Twice the area, positive for a ring that runs clockwise on the screen.
    fn area_doubled(&self) -> i64 {
        self.segments().map(|(a, b)| i64::from(a.x) * i64::from(b.y) - i64::from(b.x) * i64::from(a.y)).sum()
    }

    fn segments(&self) -> impl Iterator<Item = (Vertex, Vertex)> {
        self.0.iter().zip(self.0.iter().cycle().skip(1)).map(|(a, b)| (*a, *b))
    }

    fn turned(mut self, is_wrong: bool) -> TileRing {
        if is_wrong {
            self.0.reverse();
        }
        self.0
    }

    /// Clips the ring to the buffered tile with the algorithm of Sutherland and Hodgman, one edge after another.
    fn clipped(&self) -> Self {
        let is_inside = |v: &Vertex| (LOW..=HIGH).contains(&v.x) && (LOW..=HIGH).contains(&v.y);
        let mut ring = Self(self.0.clone());
        if self.0.iter().all(is_inside) {
            return ring;
        }
        for edge in Edge::ALL {
            ring = ring.clipped_at(edge);
        }
        ring
    }

    fn clipped_at(&self, edge: Edge) -> Self {
        let mut ring = Self(Vec::with_capacity(self.0.len() + 4));
        for (a, b) in self.segments() {
            let (a_in, b_in) = (edge.keeps(a), edge.keeps(b));
            if a_in != b_in {
                ring.push(edge.crossing(a, b));
            }
            if b_in {
                ring.push(b);
            }
        }
        ring.close();
        ring
    }

    /// Adds the lines of a ring without width, as narrow shapes.
    fn thickened(&self, rings: &mut Vec<TileRing>) {
        let mut lines: Vec<(Vertex, Vertex)> =
            self.segments().filter_map(|(a, b)| line_within(a, b)).map(|(a, b)| (a.min(b), a.max(b))).collect();
        lines.sort_unstable();
        lines.dedup();
        rings.extend(lines.into_iter().map(|(a, b)| widened_line(a, b)));
    }
}

/// Whether the path from `a` through `b` to `c` is straight. A path that turns back at `b` is not, because `b` must
/// stay.
fn is_straight(a: Vertex, b: Vertex, c: Vertex) -> bool {
    let [abx, aby] = [i64::from(b.x) - i64::from(a.x), i64::from(b.y) - i64::from(a.y)];
    let [bcx, bcy] = [i64::from(c.x) - i64::from(b.x), i64::from(c.y) - i64::from(b.y)];
    abx * bcy == aby * bcx && abx * bcx + aby * bcy > 0
}

/// An edge of the buffered tile.
#[derive(Clone, Copy)]
enum Edge {
    West,
    East,
    North,
    South,
}

impl Edge {
    const ALL: [Self; 4] = [Self::West, Self::East, Self::North, Self::South];

    fn keeps(self, v: Vertex) -> bool {
        match self {
            Self::West => v.x >= LOW,
            Self::East => v.x <= HIGH,
            Self::North => v.y >= LOW,
            Self::South => v.y <= HIGH,
        }
    }

    /// The point where a line crosses the edge, rounded.
    fn crossing(self, a: Vertex, b: Vertex) -> Vertex {
        match self {
            Self::West => Vertex { x: LOW, y: between(a.y, b.y, a.x, b.x, LOW) },
            Self::East => Vertex { x: HIGH, y: between(a.y, b.y, a.x, b.x, HIGH) },
            Self::North => Vertex { x: between(a.x, b.x, a.y, b.y, LOW), y: LOW },
            Self::South => Vertex { x: between(a.x, b.x, a.y, b.y, HIGH), y: HIGH },
        }
    }
}

/// The value between `a` and `b` at the point where the other coordinate, which runs from `p` to `q`, is `at`.
fn between(a: i32, b: i32, p: i32, q: i32, at: i32) -> i32 {
    let share = f64::from(at - p) / f64::from(q - p);
    (f64::from(a) + f64::from(b - a) * share).round() as i32
}

/// The part of a line within the buffered tile. `None` if the line is outside or along an edge.
fn line_within(a: Vertex, b: Vertex) -> Option<(Vertex, Vertex)> {
    let (mut a, mut b) = (a, b);
    for edge in Edge::ALL {
        match (edge.keeps(a), edge.keeps(b)) {
            (true, true) => {}
            (false, false) => return None,
            (true, false) => b = edge.crossing(a, b),
            (false, true) => a = edge.crossing(a, b),
        }
    }
    let lies_on_edge = |one: i32, other: i32| one == other && (one == LOW || one == HIGH);
    (!lies_on_edge(a.x, b.x) && !lies_on_edge(a.y, b.y)).then_some((a, b))
}

/// A line as a shape of minimum width, which extends towards the inside of the buffered tile.
fn widened_line(a: Vertex, b: Vertex) -> TileRing {
    let step = |one: i32, other: i32| if one.max(other) + WIDTH_MIN <= HIGH { WIDTH_MIN } else { -WIDTH_MIN };
    let (right, down) = (step(a.x, b.x), step(a.y, b.y));
    let moved = |v: Vertex, x: i32, y: i32| Vertex { x: (v.x + x).clamp(LOW, HIGH), y: (v.y + y).clamp(LOW, HIGH) };
    let ring = if a == b {
        vec![a, moved(a, right, 0), moved(a, right, down), moved(a, 0, down)]
    } else if (b.x - a.x).abs() >= (b.y - a.y).abs() {
        vec![a, b, moved(b, 0, down), moved(a, 0, down)]
    } else {
        vec![a, b, moved(b, right, 0), moved(a, right, 0)]
    };
    let outline = RingOutline(ring);
    let is_wrong = outline.area_doubled() < 0;
    outline.turned(is_wrong)
}
