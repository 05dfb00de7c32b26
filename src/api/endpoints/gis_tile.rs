//! `gis-tile`: the part of a zoning layer in one map tile, simplified for its zoom.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::catalogue::{LayerEntry, ZoningLayer};
use hornbook_corpus::zoning::feature_lookup::LayerFeatures;
use hornbook_corpus::zoning::tiles::address::{BUFFER, GRID, TileAddress, TileRing, ZOOM_MAX};
use hornbook_corpus::zoning::tiles::clip::{TileFeature, clip_features};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gis::{SHORT_CODE, published_or_not_found};
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::map_cache::MapPart;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedInteger, Param};
use crate::api::reply::{Reply, json};
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, NOT_FOUND, law, route};
use crate::api::subject::Subject;

/// Number of tiles along each side of the world at the maximum zoom.
const TILES_MAX: u32 = 1 << ZOOM_MAX;

pub(in crate::api) const Z: Param<BoundedInteger<0, { ZOOM_MAX as u32 }>> = Param::in_path("z", "zoom of the tile");

pub(in crate::api) const X: Param<BoundedInteger<0, { TILES_MAX - 1 }>> =
    Param::in_path("x", "column of the tile, from the west; less than 2 to the power of z");

pub(in crate::api) const Y: Param<BoundedInteger<0, { TILES_MAX - 1 }>> =
    Param::in_path("y", "row of the tile, from the north; less than 2 to the power of z");

/// The features of a tile as columns: the nth entry of each list is about the nth feature of the tile.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "ZoningTile")]
pub struct TileReply<'s> {
    #[schemars(with = "String")]
    pub short_code: Cow<'s, ShortCode>,
    pub z: u8,
    pub x: u32,
    pub y: u32,
    /// The length of the tile's side in grid units. Coordinates start at its north-west corner.
    pub grid: i32,
    /// Shapes are cut off this many units outside of the tile.
    pub buffer: i32,
    /// The index of each feature in the layer's list of features.
    pub features: Vec<usize>,
    /// The index of each feature's zone in the `zones` of `gis-zones`.
    pub zones: Vec<usize>,
    /// The index of each feature's category in the `categories` of `gis-zones`.
    pub categories: Vec<usize>,
    /// The rings of each feature. Each ring has x and y of its first vertex, then the steps to each next
    /// vertex; the first vertex is not repeated. Outer rings run clockwise on the screen, holes
    /// counter-clockwise.
    pub rings: Vec<Vec<Vec<i32>>>,
    /// The names of features that differ from the name of their zone, by the index of the feature in the layer.
    pub names: BTreeMap<usize, ReplyText<'s>>,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "gis-tile",
    subject: Subject::Zoning,
    summary: "The part of a zoning layer in one tile of the web map, simplified for its zoom",
    details: Some(
        "Tiles are those of web maps in the Mercator projection, 2^z by 2^z, counted from the north-west. A unit of the \
         grid is a quarter of a pixel of a map that draws tiles 512 pixels wide.",
    ),
    route: route("/api/v1/gis/{shortCode}/tiles/{z}/{x}/{y}", "/api/v1/gis/{short_code}/tiles/{z}/{x}/{y}"),
    tool: None,
    parameters: &[SHORT_CODE.rule, Z.rule, X.rule, Y.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: true,
    reply: |generator| generator.subschema_for::<TileReply<'static>>(),
    model_text: None,
    access: law(&[Scope::Gis], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let short_code = call.get(&SHORT_CODE).clone();
    published_or_not_found(call.corpus, &short_code)?;
    let (z, x, y) = (call.get(&Z), call.get(&X), call.get(&Y));
    let tile = TileAddress::new(z, x, y).ok_or_else(|| {
        let message = format!("at zoom {z} there are {0} by {0} tiles; x and y are numbers below {0}", 1_u32 << z);
        ApiError::invalid_parameter(if x >> z > 0 { X.rule.name } else { Y.rule.name }, message)
    })?;
    let corpus = Arc::clone(call.corpus);
    let version = Some(format!("{}-{short_code}-{z}_{x}_{y}", corpus.id()));
    let part = MapPart::Tile(short_code.clone(), tile);
    if let Some(made) = corpus.maps.get(&part) {
        return Ok(PreparedWork { version, ..PreparedWork::light(move || Ok(Reply::cached(made))) });
    }
    let makes = Some(part.clone());
    let work = PreparedWork::heavy(move |cancellation| {
        if let Some(made) = corpus.maps.get(&part) {
            return Ok(Reply::cached(made));
        }
        let layer = layer_of(&corpus, &short_code)?;
        let damaged = |error| ApiError::internal(format!("{short_code}: {error}"));
        let (places, legend) = (layer.places().map_err(damaged)?, layer.legend().map_err(damaged)?);
        cancellation.check()?;
        // Once begun, a tile is finished and cached even if the caller disconnects, because other calls
        // may wait for it.
        let features = clip_features(places, legend, tile);
        let made = written(layer.entry(), places, tile, &features)?;
        corpus.maps.put(part, made.clone());
        Ok(Reply::cached(made))
    });
    Ok(PreparedWork { version, map_part: makes, ..work })
}

pub(super) fn layer_of<'s>(corpus: &'s Corpus, short_code: &ShortCode) -> Result<&'s ZoningLayer, ApiError> {
    let layer = corpus.snapshot().zoning.layer(short_code);
    layer.ok_or_else(|| ApiError::internal(format!("the layer of {short_code} is missing")))
}

fn written(
    entry: &LayerEntry,
    places: &LayerFeatures,
    tile: TileAddress,
    features: &[TileFeature],
) -> Result<Bytes, ApiError> {
    let own_name = |feature: &TileFeature| {
        let name = places.features().get(feature.number)?.zone.zone_name.as_deref()?;
        let is_own = entry.zones.get(feature.zone)?.name.as_deref() != Some(name);
        is_own.then(|| (feature.number, name.into()))
    };
    let vertices: usize = features.iter().flat_map(|feature| &feature.rings).map(Vec::len).sum();
    let reply = TileReply {
        short_code: Cow::Borrowed(&entry.short_code),
        z: tile.z(),
        x: tile.x(),
        y: tile.y(),
        grid: GRID,
        buffer: BUFFER,
        features: features.iter().map(|feature| feature.number).collect(),
        zones: features.iter().map(|feature| feature.zone).collect(),
        categories: features.iter().map(|feature| feature.category).collect(),
        rings: features.iter().map(|feature| feature.rings.iter().map(steps).collect()).collect(),
        names: features.iter().filter_map(own_name).collect(),
    };
    json(&reply, 16 * features.len() + 8 * vertices)
}

/// Encodes each vertex as a step from the one before it, because small numbers take fewer bytes.
fn steps(ring: &TileRing) -> Vec<i32> {
    let mut steps = Vec::with_capacity(2 * ring.len());
    let (mut x, mut y) = (0, 0);
    for vertex in ring {
        steps.extend([vertex.x - x, vertex.y - y]);
        (x, y) = (vertex.x, vertex.y);
    }
    steps
}
