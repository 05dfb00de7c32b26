//! `gis-zones`: the zones and categories of a layer, with counts, extents and the provisions that define
//! them; no shapes.

use std::collections::HashMap;
use std::sync::Arc;

use hornbook_corpus::ids::{NodeId, ShortCode};
use hornbook_corpus::zoning::catalogue::{LayerEntry, PlaceholderEntry, ZoneEntry, ZoningLayer};
use hornbook_corpus::zoning::layer::PlaceholderReason;
use hornbook_corpus::zoning::tiles::address::{BUFFER, GRID, ZOOM_MAX};
use hornbook_corpus::zoning::tiles::legend::Legend;
use schemars::JsonSchema;
use serde::Serialize;

use super::gis::{SHORT_CODE, published_or_not_found};
use super::gis_tile::layer_of;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::map_cache::MapPart;
use crate::api::operation::{LawCall, PreparedWork};
use crate::api::reply::{Reply, json};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ZoneList")]
pub(in crate::api) struct ZonesReply<'s> {
    #[schemars(with = "String")]
    short_code: &'s ShortCode,
    /// The name of the jurisdiction.
    name: Option<&'s str>,
    /// `linked`: every zone cites a node. `pending`: some citations are placeholders.
    citation_quality: &'static str,
    feature_count: usize,
    /// West, south, east and north of the whole layer, in degrees.
    bbox: [f64; 4],
    source: SourceReply<'s>,
    tiles: TilesReply,
    /// Sorted by the number of features, the largest first.
    categories: Vec<CategoryReply<'s>>,
    /// Sorted by code.
    zones: Vec<ZoneReply<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ZoningSource")]
struct SourceReply<'s> {
    publisher: Option<&'s str>,
    edition: Option<&'s str>,
    retrieved: Option<&'s str>,
    license: Option<&'s str>,
    url: Option<&'s str>,
}

/// How `gis-tile` divides the layer into tiles.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ZoningTiles")]
struct TilesReply {
    zoom_max: u8,
    grid: i32,
    buffer: i32,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ZoneCategory")]
struct CategoryReply<'s> {
    /// Null for features without a category.
    name: Option<&'s str>,
    features: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Zone")]
struct ZoneReply<'s> {
    code: &'s str,
    name: Option<&'s str>,
    /// The index of its category in `categories`.
    category: usize,
    citation: Option<&'s str>,
    #[schemars(with = "Option<uuid::Uuid>")]
    node_id: Option<NodeId>,
    /// `linked` or `placeholder`.
    citation_status: &'static str,
    /// Why it cites no node: `unknown-zone-code`, `no-provision-named` or `provision-not-held`.
    #[schemars(with = "Option<String>")]
    reason: Option<PlaceholderReason>,
    /// Known codes with a similar spelling, if this code is unknown.
    near: &'s [String],
    features: usize,
    /// West, south, east and north of all its features, in degrees.
    bbox: [f64; 4],
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let short_code = call.get(&SHORT_CODE).clone();
    published_or_not_found(call.corpus, &short_code)?;
    let corpus = Arc::clone(call.corpus);
    let version = Some(format!("{}-{short_code}-zones", corpus.id()));
    let part = MapPart::Zones(short_code.clone());
    if let Some(made) = corpus.maps.get(&part) {
        return Ok(PreparedWork { version, ..PreparedWork::light(move || Ok(Reply::cached(made))) });
    }
    let makes = Some(part.clone());
    let work = PreparedWork::heavy(move |cancellation| {
        if let Some(made) = corpus.maps.get(&part) {
            return Ok(Reply::cached(made));
        }
        let layer = layer_of(&corpus, &short_code)?;
        let legend = layer.legend().map_err(|error| ApiError::internal(format!("{short_code}: {error}")))?;
        cancellation.check()?;
        let made = json(&zones(&corpus, layer, legend), 0)?;
        corpus.maps.put(part, made.clone());
        Ok(Reply::cached(made))
    });
    Ok(PreparedWork { version, map_part: makes, ..work })
}

fn zones<'s>(corpus: &'s Corpus, layer: &'s ZoningLayer, legend: &'s Legend) -> ZonesReply<'s> {
    let LayerEntry { short_code, citation_quality, feature_count, bbox, zones, placeholders, source, .. } =
        layer.entry();
    let jurisdiction = corpus.catalogue().jurisdictions.iter().find(|one| one.short_code == *short_code);
    let pending: HashMap<&str, &PlaceholderEntry> = placeholders.iter().map(|one| (one.code.as_str(), one)).collect();
    let zones = zones.iter().enumerate();
    let zones = zones.map(|(place, entry)| zone(entry, place, pending.get(entry.code.as_str()).copied(), legend));
    ZonesReply {
        short_code,
        name: jurisdiction.map(|one| one.name.as_str()),
        citation_quality: citation_quality.as_str(),
        feature_count: *feature_count,
        bbox: bbox.0,
        source: SourceReply {
            publisher: source.publisher.as_deref(),
            edition: source.edition.as_deref(),
            retrieved: source.retrieved.as_deref(),
            license: source.license.as_deref(),
            url: source.url.as_deref(),
        },
        tiles: TilesReply { zoom_max: ZOOM_MAX, grid: GRID, buffer: BUFFER },
        categories: legend
            .categories()
            .iter()
            .map(|one| CategoryReply { name: one.name.as_deref(), features: one.features })
            .collect(),
        zones: zones.collect(),
    }
}

fn zone<'s>(
    entry: &'s ZoneEntry,
    place: usize,
    pending: Option<&'s PlaceholderEntry>,
    legend: &Legend,
) -> ZoneReply<'s> {
    ZoneReply {
        code: &entry.code,
        name: entry.name.as_deref(),
        category: legend.category_of_zone(place),
        citation: entry.citation.as_deref(),
        node_id: entry.node_id,
        citation_status: if pending.is_some() { "placeholder" } else { "linked" },
        reason: pending.map(|pending| pending.reason),
        near: pending.map_or(&[], |pending| &pending.near),
        features: entry.features,
        bbox: legend.extent_of_zone(place).0,
    }
}
