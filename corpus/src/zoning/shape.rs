//! Checked polygons: closed rings with RFC 7946 winding, written as GeoJSON with the numbers of the source.

use std::fmt;

use geo::{Coord, LineString};
use serde::ser::{SerializeMap, SerializeSeq, SerializeTuple};
use serde::{Deserialize, Serialize, Serializer};

/// Longitude and latitude in degrees, WGS 84.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Position {
    pub lon: f64,
    pub lat: f64,
}

impl Position {
    pub fn is_in_range(self) -> bool {
        (-180.0..=180.0).contains(&self.lon) && (-90.0..=90.0).contains(&self.lat)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.lon, self.lat)
    }
}

impl From<Coord<f64>> for Position {
    fn from(coord: Coord<f64>) -> Self {
        Self { lon: coord.x, lat: coord.y }
    }
}

/// A closed ring of at least four positions. Only `source` creates rings.
#[derive(Clone, PartialEq, Debug)]
pub struct Ring(LineString<f64>);

impl Ring {
    pub(crate) const POSITIONS_MIN: usize = 4;

    pub(crate) fn new(positions: Vec<Coord<f64>>) -> Self {
        assert!(positions.len() >= Self::POSITIONS_MIN, "a ring has four positions or more");
        assert!(positions.first() == positions.last(), "a ring is closed");
        Self(LineString::new(positions))
    }

    pub fn positions(&self) -> impl ExactSizeIterator<Item = Position> {
        self.0.0.iter().map(|&coord| coord.into())
    }

    pub(crate) fn line(&self) -> &LineString<f64> {
        &self.0
    }

    pub(crate) fn first(&self) -> Coord<f64> {
        self.0.0[0]
    }

    /// The area in square degrees, positive if the ring runs counter-clockwise. Use only its sign, or whether it is
    /// zero.
    pub(crate) fn signed_area(&self) -> f64 {
        // Coordinates are relative to the first position. Otherwise the digits that distinguish neighbours would be
        // lost in the products.
        let origin = self.first();
        let doubled: f64 = self.0.lines().map(|line| (line.start - origin, line.end - origin)).map(cross).sum();
        doubled / 2.0
    }

    pub(crate) fn reverse_ring(&mut self) {
        self.0.0.reverse();
    }
}

fn cross((a, b): (Coord<f64>, Coord<f64>)) -> f64 {
    a.x * b.y - a.y * b.x
}

/// An outer ring, counter-clockwise, and its holes, clockwise.
#[derive(Clone, PartialEq, Debug)]
pub struct Polygon {
    rings: Vec<Ring>,
}

impl Polygon {
    pub(crate) fn new(rings: Vec<Ring>) -> Self {
        assert!(!rings.is_empty(), "a polygon has an outer ring");
        Self { rings }
    }

    pub fn rings(&self) -> &[Ring] {
        &self.rings
    }
}

/// The geometry of a zone. A MultiPolygon stays one, even with a single part.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    Polygon(Polygon),
    MultiPolygon(Vec<Polygon>),
}

impl Shape {
    pub fn parts(&self) -> &[Polygon] {
        match self {
            Self::Polygon(polygon) => std::slice::from_ref(polygon),
            Self::MultiPolygon(parts) => parts,
        }
    }

    pub fn rings(&self) -> impl Iterator<Item = &Ring> {
        self.parts().iter().flat_map(Polygon::rings)
    }

    pub fn vertex_count(&self) -> usize {
        self.rings().map(|ring| ring.positions().len()).sum()
    }
}

/// West, south, east, north, as GeoJSON writes a `bbox`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoundingBox(pub [f64; 4]);

impl BoundingBox {
    /// The empty box. It contains no position, and joining it with another box gives the other box.
    pub const EMPTY_BOX: Self = Self([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);

    pub fn of<'a>(shapes: impl Iterator<Item = &'a Shape>) -> Self {
        let positions = shapes.flat_map(Shape::rings).flat_map(Ring::positions);
        positions.fold(Self::EMPTY_BOX, Self::extended_to)
    }

    /// The smallest box that contains this box and a position.
    pub fn extended_to(self, at: Position) -> Self {
        let Self([west, south, east, north]) = self;
        Self([west.min(at.lon), south.min(at.lat), east.max(at.lon), north.max(at.lat)])
    }

    /// The smallest box that contains both boxes.
    pub fn join(self, Self([west, south, east, north]): Self) -> Self {
        let Self(own) = self;
        Self([own[0].min(west), own[1].min(south), own[2].max(east), own[3].max(north)])
    }

    /// Whether the two have a position in common.
    pub fn meets(self, Self([west, south, east, north]): Self) -> bool {
        let Self(own) = self;
        own[0] <= east && west <= own[2] && own[1] <= north && south <= own[3]
    }

    /// Whether a position is inside the box or on its edges.
    pub fn contains(self, at: Position) -> bool {
        let Self([west, south, east, north]) = self;
        (west..=east).contains(&at.lon) && (south..=north).contains(&at.lat)
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        match self {
            Self::Polygon(polygon) => {
                map.serialize_entry("type", "Polygon")?;
                map.serialize_entry("coordinates", polygon)?;
            }
            Self::MultiPolygon(parts) => {
                map.serialize_entry("type", "MultiPolygon")?;
                map.serialize_entry("coordinates", parts)?;
            }
        }
        map.end()
    }
}

impl Serialize for Polygon {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rings.serialize(serializer)
    }
}

impl Serialize for Ring {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let positions = self.positions();
        let mut seq = serializer.serialize_seq(Some(positions.len()))?;
        for position in positions {
            seq.serialize_element(&position)?;
        }
        seq.end()
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pair = serializer.serialize_tuple(2)?;
        pair.serialize_element(&Degrees(self.lon))?;
        pair.serialize_element(&Degrees(self.lat))?;
        pair.end()
    }
}

/// A number of degrees, written with the fewest digits that are read back as the same number.
struct Degrees(f64);

impl Serialize for Degrees {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A whole number of degrees stays `-87` instead of becoming `-87.0`.
        let is_whole = self.0.fract() == 0.0 && self.0.abs() <= 180.0;
        if is_whole { serializer.serialize_i16(self.0 as i16) } else { serializer.serialize_f64(self.0) }
    }
}
