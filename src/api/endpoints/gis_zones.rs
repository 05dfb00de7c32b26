//! `gis-zones`: the zones and categories of a layer, with counts, extents and the provisions that define
//! them; no shapes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, ShortCode};
use hornbook_corpus::zoning::catalogue::{LayerEntry, PlaceholderEntry, ZoneEntry, ZoningLayer};
use hornbook_corpus::zoning::layer::PlaceholderReason;
use hornbook_corpus::zoning::tiles::address::{BUFFER, GRID, ZOOM_MAX};
use hornbook_corpus::zoning::tiles::legend::Legend;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gis::{SHORT_CODE, published_or_not_found};
use super::gis_tile::layer_of;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::map_cache::MapPart;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::reply::{Reply, json};
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, NOT_FOUND, law, route};
use crate::api::subject::Subject;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "ZoneList")]
pub struct ZonesReply<'s> {
    #[schemars(with = "String")]
    pub short_code: Cow<'s, ShortCode>,
    /// The name of the jurisdiction.
    pub name: Option<ReplyText<'s>>,
    /// `linked`: every zone cites a node. `pending`: some citations are placeholders.
    pub citation_quality: ReplyText<'s>,
    pub feature_count: usize,
    /// West, south, east and north of the whole layer, in degrees.
    pub bbox: [f64; 4],
    pub source: SourceReply<'s>,
    /// The oldest day through which the provisions that define the zones are current. Null if there are none, or
    /// if the source of one does not state it.
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    pub tiles: TilesReply,
    /// Sorted by the number of features, the largest first.
    pub categories: Vec<CategoryReply<'s>>,
    /// Sorted by code.
    pub zones: Vec<ZoneReply<'s>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
#[schemars(rename = "ZoningSource")]
pub struct SourceReply<'s> {
    pub publisher: Option<ReplyText<'s>>,
    pub edition: Option<ReplyText<'s>>,
    pub retrieved: Option<ReplyText<'s>>,
    pub license: Option<ReplyText<'s>>,
    pub url: Option<ReplyText<'s>>,
}

/// How `gis-tile` divides the layer into tiles.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ZoningTiles")]
pub struct TilesReply {
    pub zoom_max: u8,
    pub grid: i32,
    pub buffer: i32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
#[schemars(rename = "ZoneCategory")]
pub struct CategoryReply<'s> {
    /// Null for features without a category.
    pub name: Option<ReplyText<'s>>,
    pub features: usize,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Zone")]
pub struct ZoneReply<'s> {
    pub code: ReplyText<'s>,
    pub name: Option<ReplyText<'s>>,
    /// The index of its category in `categories`.
    pub category: usize,
    pub citation: Option<ReplyText<'s>>,
    #[schemars(with = "Option<uuid::Uuid>")]
    pub node_id: Option<NodeId>,
    /// `linked` or `placeholder`.
    pub citation_status: ReplyText<'s>,
    /// Why it cites no node: `unknown-zone-code`, `no-provision-named` or `provision-not-held`.
    #[schemars(with = "Option<String>")]
    pub reason: Option<PlaceholderReason>,
    /// Known codes with a similar spelling, if this code is unknown.
    pub near: Cow<'s, [String]>,
    pub features: usize,
    /// West, south, east and north of all its features, in degrees.
    pub bbox: [f64; 4],
}

impl ZoneReply<'_> {
    /// Whether no provision is linked to the zone yet.
    pub const fn is_pending(&self) -> bool {
        self.reason.is_some()
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "gis-zones",
    subject: Subject::Zoning,
    summary: "The zones and categories of a zoning layer: counts, extents, what defines each; without shapes",
    details: None,
    route: route("/api/v1/gis/{shortCode}/zones", "/api/v1/gis/{short_code}/zones"),
    tool: None,
    parameters: &[SHORT_CODE.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: true,
    reply: |generator| generator.subschema_for::<ZonesReply<'static>>(),
    model_text: None,
    access: law(&[Scope::Gis], 5, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
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
        let made = json(&zones(&corpus, layer, legend)?, 0)?;
        corpus.maps.put(part, made.clone());
        Ok(Reply::cached(made))
    });
    Ok(PreparedWork { version, map_part: makes, ..work })
}

fn zones<'s>(corpus: &'s Corpus, layer: &'s ZoningLayer, legend: &'s Legend) -> Result<ZonesReply<'s>, ApiError> {
    let LayerEntry { short_code, citation_quality, feature_count, bbox, zones, placeholders, source, .. } =
        layer.entry();
    let jurisdiction = corpus.catalogue().jurisdictions.iter().find(|one| one.short_code == *short_code);
    let pending: HashMap<&str, &PlaceholderEntry> = placeholders.iter().map(|one| (one.code.as_str(), one)).collect();
    let current_through = oldest_current_through(corpus, zones)?;
    let zones = zones.iter().enumerate();
    let zones = zones.map(|(place, entry)| zone(entry, place, pending.get(entry.code.as_str()).copied(), legend));
    Ok(ZonesReply {
        short_code: Cow::Borrowed(short_code),
        name: jurisdiction.map(|one| ReplyText::from(&one.name)),
        citation_quality: citation_quality.as_str().into(),
        feature_count: *feature_count,
        bbox: bbox.0,
        source: SourceReply {
            publisher: source.publisher.as_deref().map(ReplyText::from),
            edition: source.edition.as_deref().map(ReplyText::from),
            retrieved: source.retrieved.as_deref().map(ReplyText::from),
            license: source.license.as_deref().map(ReplyText::from),
            url: source.url.as_deref().map(ReplyText::from),
        },
        current_through,
        tiles: TilesReply { zoom_max: ZOOM_MAX, grid: GRID, buffer: BUFFER },
        categories: legend
            .categories()
            .iter()
            .map(|one| CategoryReply { name: one.name.as_deref().map(ReplyText::from), features: one.features })
            .collect(),
        zones: zones.collect(),
    })
}

fn oldest_current_through(corpus: &Corpus, zones: &[ZoneEntry]) -> Result<Option<Day>, ApiError> {
    let linked = zones.iter().filter_map(|zone| corpus.snapshot().ordinal(zone.node_id?));
    let days: Vec<Option<Day>> = linked.map(|node| corpus.engine().current_through(node)).collect::<Result<_, _>>()?;
    // An unstated day comes before all others.
    Ok(days.into_iter().min().flatten())
}

fn zone<'s>(
    entry: &'s ZoneEntry,
    place: usize,
    pending: Option<&'s PlaceholderEntry>,
    legend: &Legend,
) -> ZoneReply<'s> {
    ZoneReply {
        code: ReplyText::from(&entry.code),
        name: entry.name.as_deref().map(ReplyText::from),
        category: legend.category_of_zone(place),
        citation: entry.citation.as_deref().map(ReplyText::from),
        node_id: entry.node_id,
        citation_status: if pending.is_some() { "placeholder" } else { "linked" }.into(),
        reason: pending.map(|pending| pending.reason),
        near: Cow::Borrowed(pending.map_or(&[], |pending| &pending.near)),
        features: entry.features,
        bbox: legend.extent_of_zone(place).0,
    }
}
