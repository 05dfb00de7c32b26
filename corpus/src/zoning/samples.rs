//! A small layer for the tests of this module.

use geo::Coord;
use serde_json::{Map, Value};

use crate::ids::NodeId;
use crate::zoning::layer::{
    Layer, LayerSource, LayerStatus, PlaceholderReason, Zone, ZoneCitation, ZoneIndex, ZonedFeature,
};
use crate::zoning::shape::{Polygon, Ring, Shape};
use crate::zoning::source::FeatureId;

pub(super) const NODE_KEY: &str = "xa/port-arden/zoning/s1";

/// Two features in two zones; the second zone cites a placeholder unless all are linked.
pub(super) fn layer(code: &str, all_linked: bool) -> Layer {
    layer_of(code, "zoning.geojson", all_linked)
}

pub(super) fn layer_of(code: &str, file: &str, all_linked: bool) -> Layer {
    let held = ZoneCitation::Linked { node: NodeId::from_source_key(NODE_KEY), citation: "Arden Code § 1".to_owned() };
    let not_held = ZoneCitation::Placeholder {
        citation: Some("Arden Code § 2".to_owned()),
        reason: PlaceholderReason::ProvisionNotHeld,
        near: Vec::new(),
    };
    let second = if all_linked { held.clone() } else { not_held };
    let zones = vec![
        Zone {
            code: "A".to_owned(),
            name: Some("Harbour".to_owned()),
            category: Some("Industry".to_owned()),
            citation: held,
        },
        Zone { code: "B".to_owned(), name: None, category: None, citation: second },
    ];
    let features = vec![
        ZonedFeature {
            id: FeatureId::Number(7.into()),
            zone: ZoneIndex(0),
            name: None,
            category: None,
            source: Map::from_iter([("z".to_owned(), Value::from("a"))]),
            shape: Shape::Polygon(triangle(0.0)),
        },
        ZonedFeature {
            id: FeatureId::Text("feature-1".to_owned()),
            zone: ZoneIndex(1),
            name: Some("Own name".to_owned()),
            category: None,
            source: Map::new(),
            shape: Shape::MultiPolygon(vec![triangle(20.125)]),
        },
    ];
    let source = LayerSource { file: file.to_owned(), ..LayerSource::default() };
    Layer::new(code.parse().expect("a short code"), LayerStatus::Published, source, zones, features)
}

fn triangle(west: f64) -> Polygon {
    let east = west.trunc() + 10.0;
    let corners = [(west, 0.0), (east, 0.0), (east, 10.0), (west, 0.0)];
    Polygon::new(vec![Ring::new(corners.iter().map(|&(x, y)| Coord { x, y }).collect())])
}
