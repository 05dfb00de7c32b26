//! Cuts out the parts of a layer's features that are in a tile.

use geo::Polygon;

use super::address::{TileAddress, TileRing};
use super::grid;
use super::legend::Legend;
use super::outline::RingOutline;
use crate::zoning::feature_lookup::LayerFeatures;

/// The part of a feature that is in a tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileFeature {
    /// The index of the feature in the layer.
    pub number: usize,
    /// The index of its zone in the layer's list of zones.
    pub zone: usize,
    /// The index of its category in the legend.
    pub category: usize,
    pub rings: Vec<TileRing>,
}

/// The features in a tile, in the order of the layer.
pub fn clip_features(places: &LayerFeatures, legend: &Legend, tile: TileAddress) -> Vec<TileFeature> {
    let reach = grid::reach(tile);
    let mut features = Vec::new();
    for (number, (feature, extent)) in places.features().iter().zip(places.extents()).enumerate() {
        if !reach.meets(*extent) {
            continue;
        }
        let rings = cut_shape(feature.polygons(), tile);
        if !rings.is_empty() {
            features.push(TileFeature {
                number,
                zone: legend.zone_of(number),
                category: legend.category_of(number),
                rings,
            });
        }
    }
    features
}

fn cut_shape(polygons: &[Polygon<f64>], tile: TileAddress) -> Vec<TileRing> {
    let mut rings = Vec::new();
    for polygon in polygons {
        let before = rings.len();
        RingOutline::of(polygon.exterior(), tile).cut_outer(&mut rings);
        let is_there = rings.len() > before;
        for hole in polygon.interiors().iter().filter(|_| is_there) {
            RingOutline::of(hole, tile).cut_hole(&mut rings);
        }
    }
    rings
}
