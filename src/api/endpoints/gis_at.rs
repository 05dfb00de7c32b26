//! `gis-at`: the zones at a point, each with the provision that defines it.

use std::sync::Arc;

use hornbook_corpus::ids::{NodeId, ShortCode};
use hornbook_corpus::zoning::places::{FeatureZone, Found};
use hornbook_corpus::zoning::shape::Position;
use hornbook_corpus::zoning::source::FeatureId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::gis::{SHORT_CODE, published_or_not_found};
use super::node::NodeReply;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{MeteredCall, Prepared};
use crate::api::parameters::{Degrees, Param};
use crate::api::reply::Reply;

pub(in crate::api) const LAT: Param<Degrees<90>> = Param::required("lat", "latitude in degrees, WGS 84");

pub(in crate::api) const LON: Param<Degrees<180>> =
    Param::required("lon", "longitude in degrees, WGS 84; west is negative");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ZonesAtPoint")]
pub(in crate::api) struct PointReply<'s> {
    #[schemars(with = "String")]
    short_code: &'s ShortCode,
    lat: f64,
    lon: f64,
    /// Of the layer. linked: every zone cites a real node; pending: some citations are placeholders.
    citation_quality: &'static str,
    /// In the order of the layer: several where zones overlap, all neighbours of a point on their edges, none where land
    /// is not zoned.
    zones: Vec<ZoneReply<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ZoneAtPoint")]
struct ZoneReply<'s> {
    /// The feature's id in the layer: a text or a number.
    #[schemars(with = "Value")]
    feature_id: &'s FeatureId,
    zone_code: &'s str,
    zone_name: Option<&'s str>,
    category: Option<&'s str>,
    citation: Option<&'s str>,
    #[schemars(with = "Option<uuid::Uuid>")]
    node_id: Option<NodeId>,
    /// linked or placeholder.
    citation_status: &'s str,
    /// Whether the point lies on the zone's very edge.
    on_boundary: bool,
    /// The provision that defines the zone; null for a placeholder.
    provision: Option<NodeReply<'s>>,
}

pub(in crate::api) fn prepare(call: &MeteredCall<'_>) -> Result<Prepared, ApiError> {
    let short_code = call.get(&SHORT_CODE).clone();
    let point = Position { lon: call.get(&LON), lat: call.get(&LAT) };
    let extent = published_or_not_found(call.corpus, &short_code)?.bbox;
    if !extent.contains(point) {
        let [west, south, east, north] = extent.0;
        let message = format!(
            "the zoning layer of {short_code} does not reach there: it lies between lat {south} and {north} and lon \
             {west} and {east}; check that lat and lon are not exchanged"
        );
        return Err(ApiError::not_found(message));
    }
    let corpus = Arc::clone(call.corpus);
    // Without a comma, which parts the tags of If-None-Match.
    let version = format!("{}-{short_code}-{}_{}", corpus.id(), point.lat, point.lon);
    let work = Prepared::heavy(move |_| run(&corpus, &short_code, point));
    Ok(Prepared { version: Some(version), ..work })
}

fn run(corpus: &Corpus, short_code: &ShortCode, point: Position) -> Result<Reply, ApiError> {
    let layer = corpus.snapshot().zoning.layer(short_code);
    let layer = layer.ok_or_else(|| ApiError::internal(format!("the layer of {short_code} is gone")))?;
    let places = layer.places().map_err(|error| ApiError::internal(format!("{short_code}: {error}")))?;
    Reply::json(&PointReply {
        short_code,
        lat: point.lat,
        lon: point.lon,
        citation_quality: layer.entry().citation_quality.as_str(),
        zones: places.at(point).map(|found| zone(corpus, &found)).collect::<Result<_, _>>()?,
    })
}

fn zone<'s>(corpus: &'s Corpus, found: &Found<'s>) -> Result<ZoneReply<'s>, ApiError> {
    let FeatureZone { zone_code, zone_name, category, citation, node_id, citation_status } = &found.feature.zone;
    let provision = node_id.map(|id| {
        let node = corpus.snapshot().ordinal(id);
        let node =
            node.ok_or_else(|| ApiError::internal(format!("the zone {zone_code} cites {id}, which is not held")));
        NodeReply::of(corpus, node?)
    });
    Ok(ZoneReply {
        feature_id: &found.feature.id,
        zone_code,
        zone_name: zone_name.as_deref(),
        category: category.as_deref(),
        citation: citation.as_deref(),
        node_id: *node_id,
        citation_status,
        on_boundary: found.is_on_boundary,
        provision: provision.transpose()?,
    })
}
