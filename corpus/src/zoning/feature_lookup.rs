//! Finds the features of a stored layer at a point.
//!
//! The first lookup reads a layer's body, feature by feature, and keeps the zone and shape of each. A lookup
//! compares the bounding boxes of all features first and then edges, with exact orientation tests. A point on an
//! edge that two zones share is therefore always on the boundary of both.

use geo::coordinate_position::{CoordPos, CoordinatePosition};
use geo::{Coord, InteriorPoint, LineString, Polygon};
use serde::Deserialize;

use crate::ids::NodeId;
use crate::zoning::shape::{BoundingBox, Position};
use crate::zoning::source::FeatureId;

/// Maximum magnitude of a coordinate. All positions on the earth are within it. Calculations with much larger
/// numbers could give infinity or NaN.
const DEGREES_MAX: f64 = 1000.0;

/// The features of one layer, in its order.
#[derive(Debug)]
pub struct LayerFeatures {
    features: Vec<LocatedFeature>,
    /// The bounding boxes of the features. Most lookups need only these.
    extents: Vec<BoundingBox>,
}

/// A feature without the source's own properties.
#[derive(Debug, Deserialize)]
pub struct LocatedFeature {
    pub id: FeatureId,
    #[serde(rename = "properties")]
    pub zone: FeatureZone,
    #[serde(rename = "geometry")]
    parts: PolygonParts,
}

/// A feature's zone, as in the response of the layer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeatureZone {
    pub zone_code: String,
    pub zone_name: Option<String>,
    pub category: Option<String>,
    pub citation: Option<String>,
    pub node_id: Option<NodeId>,
    pub citation_status: String,
}

/// A feature at a point.
#[derive(Clone, Copy, Debug)]
pub struct FeatureAtPoint<'l> {
    pub feature: &'l LocatedFeature,
    /// Whether the point is on the edge of the feature or of a hole, and not inside the feature.
    pub is_on_boundary: bool,
}

/// The error for a stored body that the builder cannot have written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the stored zoning layer {file} is damaged: {what}; run 'hornbook verify' and rebuild with 'hornbook build'")]
pub struct LayerReadError {
    file: String,
    what: String,
}

impl LayerReadError {
    pub(super) const fn new(what: String) -> Self {
        Self { file: String::new(), what }
    }

    /// The same error, with the name of the file.
    pub(super) fn of(self, file: String) -> Self {
        Self { file, ..self }
    }
}

#[derive(Deserialize)]
struct StoredBody {
    geojson: StoredCollection,
}

#[derive(Deserialize)]
struct StoredCollection {
    features: Vec<LocatedFeature>,
}

#[derive(Deserialize)]
#[serde(tag = "type", content = "coordinates")]
enum StoredGeometry {
    Polygon(StoredPolygon),
    MultiPolygon(Vec<StoredPolygon>),
}

type StoredPolygon = Vec<Vec<[f64; 2]>>;

#[derive(Debug, Deserialize)]
#[serde(try_from = "StoredGeometry")]
struct PolygonParts(Vec<Polygon<f64>>);

impl TryFrom<StoredGeometry> for PolygonParts {
    type Error = &'static str;

    fn try_from(geometry: StoredGeometry) -> Result<Self, Self::Error> {
        let parts = match geometry {
            StoredGeometry::Polygon(rings) => vec![rings],
            StoredGeometry::MultiPolygon(parts) => parts,
        };
        let line = |ring: Vec<[f64; 2]>| match ring.iter().flatten().all(|degrees| degrees.abs() <= DEGREES_MAX) {
            true => Ok(ring.into_iter().map(|[x, y]| Coord { x, y }).collect::<LineString<f64>>()),
            false => Err("a position that is far from the earth"),
        };
        let polygon = |rings: StoredPolygon| {
            let mut rings = rings.into_iter().map(line);
            let outer = rings.next().ok_or("a polygon without rings")??;
            Ok(Polygon::new(outer, rings.collect::<Result<_, _>>()?))
        };
        parts.into_iter().map(polygon).collect::<Result<_, _>>().map(Self)
    }
}

impl LayerFeatures {
    pub(super) fn read(body: &[u8]) -> Result<Self, LayerReadError> {
        let body: StoredBody = serde_json::from_slice(body).map_err(|error| LayerReadError::new(error.to_string()))?;
        let features = body.geojson.features;
        let extents = features.iter().map(|feature| feature.parts.extent()).collect();
        Ok(Self { features, extents })
    }

    /// The features in the order of the layer.
    pub fn features(&self) -> &[LocatedFeature] {
        &self.features
    }

    /// The bounding boxes of the features.
    pub(super) fn extents(&self) -> &[BoundingBox] {
        &self.extents
    }

    /// A point inside a feature, for an example query.
    pub fn point_in_a_zone(&self) -> Option<Position> {
        let parts = self.features.iter().flat_map(|feature| &feature.parts.0);
        parts.filter_map(InteriorPoint::interior_point).map(|point| point.0.into()).next()
    }

    /// The features at a point, in the order of the layer.
    pub fn at(&self, point: Position) -> impl Iterator<Item = FeatureAtPoint<'_>> {
        let near = self.features.iter().zip(&self.extents).filter(move |(_, extent)| extent.contains(point));
        near.filter_map(move |(feature, _)| match feature.parts.position_of(point) {
            CoordPos::Inside => Some(FeatureAtPoint { feature, is_on_boundary: false }),
            CoordPos::OnBoundary => Some(FeatureAtPoint { feature, is_on_boundary: true }),
            CoordPos::Outside => None,
        })
    }
}

impl LocatedFeature {
    pub(super) fn polygons(&self) -> &[Polygon<f64>] {
        &self.parts.0
    }
}

impl PolygonParts {
    fn extent(&self) -> BoundingBox {
        let coords = self.0.iter().flat_map(|part| part.exterior().coords());
        coords.fold(BoundingBox::EMPTY_BOX, |extent, coord| extent.extended_to((*coord).into()))
    }

    /// Checks each part separately, because geo counts the boundaries of a whole MultiPolygon modulo two: it would
    /// report a point where two parts touch as outside.
    fn position_of(&self, point: Position) -> CoordPos {
        let point = Coord { x: point.lon, y: point.lat };
        let mut position = CoordPos::Outside;
        for part in &self.0 {
            match part.coordinate_position(&point) {
                CoordPos::Inside => return CoordPos::Inside,
                CoordPos::OnBoundary => position = CoordPos::OnBoundary,
                CoordPos::Outside => {}
            }
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn layer(geometries: &[Value]) -> LayerFeatures {
        let features = geometries.iter().enumerate().map(|(place, geometry)| {
            let zone = json!({ "zoneCode": format!("Z{place}"), "zoneName": null, "category": null, "citation": null,
                               "nodeId": null, "citationStatus": "placeholder", "source": { "any": [1] } });
            json!({ "type": "Feature", "id": place, "properties": zone, "geometry": geometry })
        });
        let features: Vec<Value> = features.collect();
        let body = json!({ "shortCode": "XA", "geojson": { "type": "FeatureCollection", "features": features } });
        LayerFeatures::read(body.to_string().as_bytes()).unwrap()
    }

    /// The features at a point: `Z0` if it is inside, `Z0|` if it is on the boundary.
    fn at(layer: &LayerFeatures, lon: f64, lat: f64) -> String {
        let found = layer.at(Position { lon, lat }).map(|found| {
            let edge = if found.is_on_boundary { "|" } else { "" };
            format!("{}{edge}", found.feature.zone.zone_code)
        });
        found.collect::<Vec<_>>().join(" ")
    }

    fn square(west: f64, south: f64, size: f64) -> Value {
        let (east, north) = (west + size, south + size);
        json!([[west, south], [east, south], [east, north], [west, north], [west, south]])
    }

    #[test]
    fn a_point_in_a_zone_is_within_one_even_where_the_middle_is_a_hole() {
        let ring =
            layer(&[json!({ "type": "Polygon", "coordinates": [square(0.0, 0.0, 9.0), square(3.0, 3.0, 3.0)] })]);
        let Position { lon, lat } = ring.point_in_a_zone().unwrap();
        assert_eq!(at(&ring, lon, lat), "Z0");
        assert_eq!(layer(&[]).point_in_a_zone(), None);
    }

    #[test]
    fn holes_are_not_part_of_their_polygon_and_their_edges_are_boundaries() {
        let ring_and_filling = layer(&[
            json!({ "type": "Polygon", "coordinates": [square(0.0, 0.0, 9.0), square(3.0, 3.0, 3.0)] }),
            json!({ "type": "Polygon", "coordinates": [square(3.0, 3.0, 3.0)] }),
        ]);
        for (lon, lat, expected) in [
            (1.0, 1.0, "Z0"),
            (4.5, 4.5, "Z1"),
            (3.0, 4.5, "Z0| Z1|"),
            (6.0, 6.0, "Z0| Z1|"),
            (0.0, 4.5, "Z0|"),
            (0.0, 0.0, "Z0|"),
            (-0.1, 4.5, ""),
            (4.5, 9.000001, ""),
        ] {
            assert_eq!(at(&ring_and_filling, lon, lat), expected, "{lon} {lat}");
        }
    }

    #[test]
    fn parts_that_touch_in_a_point_have_it_on_their_boundary() {
        let touching = layer(&[json!({
            "type": "MultiPolygon", "coordinates": [[square(0.0, 0.0, 2.0)], [square(2.0, 2.0, 2.0)]]
        })]);
        assert_eq!(at(&touching, 2.0, 2.0), "Z0|");
        assert_eq!(at(&touching, 3.0, 3.0), "Z0");
        assert_eq!(at(&touching, 1.0, 3.0), "", "between the parts, within the box of both");
    }

    #[test]
    fn points_one_ulp_beside_an_edge_are_located_exactly() {
        // A thin triangle at city coordinates. The points are beside an edge by one step of the last digit.
        let thin = layer(&[json!({ "type": "Polygon", "coordinates": [
            [[-87.6, 41.8], [-87.5, 41.9], [-87.5, 41.900_000_1], [-87.6, 41.8]]
        ] })]);
        let above = f64::from_bits(41.9_f64.to_bits() + 1);
        let below = f64::from_bits(41.9_f64.to_bits() - 1);
        assert_eq!(at(&thin, -87.5, 41.9), "Z0|");
        assert_eq!(at(&thin, -87.5, above), "Z0|");
        assert_eq!(at(&thin, -87.5, below), "");
        let inner = f64::from_bits((-87.5_f64).to_bits() - 1);
        assert_eq!(at(&thin, inner, 41.900_000_05), "", "east of the eastern edge by one digit");
    }

    #[test]
    fn an_invalid_body_is_an_error_with_advice() {
        for body in ["", "{}", r#"{"geojson":{"features":[{"id":1}]}}"#] {
            let error = LayerFeatures::read(body.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("hornbook verify"), "{error}");
        }
        let empty = r#"{"geojson":{"features":[{"id":1,"properties":{"zoneCode":"A","citationStatus":"linked"},
                        "geometry":{"type":"Polygon","coordinates":[]}}]}}"#;
        let error = LayerFeatures::read(empty.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("without rings"), "{error}");
        let body = empty.replace(r#""coordinates":[]"#, r#""coordinates":[[[0,0],[1e308,0],[1,1],[0,0]]]"#);
        let error = LayerFeatures::read(body.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("far from the earth"), "{error}");
    }
}
