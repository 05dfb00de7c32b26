//! Converts coordinates to closed rings with the right winding, and counts the corrections.

use geo::Coord;
use geojson::{LineStringType, PolygonType};

use crate::zoning::problem::ProblemKind;
use crate::zoning::shape::{Polygon, Position, Ring, Shape};

/// The numbers of corrections in a whole layer.
#[derive(Default)]
pub(crate) struct Repairs {
    pub rings_closed: usize,
    pub rings_turned: usize,
    pub altitudes_dropped: usize,
}

/// Reads the coordinates of one feature.
pub(crate) struct RingReader<'a> {
    repairs: &'a mut Repairs,
    vertices_max: usize,
    vertices: usize,
}

impl<'a> RingReader<'a> {
    pub(crate) fn new(repairs: &'a mut Repairs, vertices_max: usize) -> Self {
        Self { repairs, vertices_max, vertices: 0 }
    }

    pub(crate) fn polygon(&mut self, rings: PolygonType) -> Result<Shape, ProblemKind> {
        self.part(rings, 0).map(Shape::Polygon)
    }

    pub(crate) fn multi_polygon(&mut self, parts: Vec<PolygonType>) -> Result<Shape, ProblemKind> {
        if parts.is_empty() {
            return Err(ProblemKind::BadCoordinates { what: "the MultiPolygon has no parts" });
        }
        let parts = parts.into_iter().enumerate().map(|(part, rings)| self.part(rings, part));
        parts.collect::<Result<_, _>>().map(Shape::MultiPolygon)
    }

    fn part(&mut self, rings: PolygonType, part: usize) -> Result<Polygon, ProblemKind> {
        if rings.is_empty() {
            return Err(ProblemKind::BadCoordinates { what: "a polygon has no rings" });
        }
        let rings = rings.into_iter().enumerate().map(|(number, positions)| {
            let coords = self.coords(positions)?;
            self.ring(coords, part, number)
        });
        rings.collect::<Result<_, _>>().map(Polygon::new)
    }

    fn coords(&mut self, positions: LineStringType) -> Result<Vec<Coord<f64>>, ProblemKind> {
        self.vertices += positions.len();
        if self.vertices > self.vertices_max {
            return Err(ProblemKind::TooManyFeatureVertices { vertices_max: self.vertices_max });
        }
        let mut coords = Vec::with_capacity(positions.len() + 1);
        for position in positions {
            let [x, y, rest @ ..] = position.as_slice() else {
                return Err(ProblemKind::BadCoordinates { what: "a position needs a longitude and a latitude" });
            };
            let at = Coord { x: *x, y: *y };
            if !Position::from(at).is_in_range() {
                return Err(ProblemKind::OutOfRange { found: at.into() });
            }
            self.repairs.altitudes_dropped += usize::from(!rest.is_empty());
            coords.push(at);
        }
        Ok(coords)
    }

    fn ring(&mut self, mut coords: Vec<Coord<f64>>, part: usize, number: usize) -> Result<Ring, ProblemKind> {
        let was_left_open = coords.len() >= 3 && coords.first() != coords.last();
        if was_left_open {
            coords.push(coords[0]);
            self.repairs.rings_closed += 1;
        }
        if coords.len() < Ring::POSITIONS_MIN {
            return Err(ProblemKind::RingTooShort { part, ring: number, positions: coords.len() });
        }
        let mut ring = Ring::new(coords);
        let area = ring.signed_area();
        let is_turned = if number == 0 { area < 0.0 } else { area > 0.0 };
        if is_turned {
            ring.reverse_ring();
            self.repairs.rings_turned += 1;
        }
        Ok(ring)
    }
}
