//! `gis-at`: the zones at a point, with the provisions that define them.

use std::sync::Arc;

use hornbook_corpus::ids::{NodeId, ShortCode};
use hornbook_corpus::zoning::feature_lookup::{FeatureAtPoint, FeatureZone};
use hornbook_corpus::zoning::shape::Position;
use hornbook_corpus::zoning::source::FeatureId;
use schemars::JsonSchema;
use serde::Serialize;

use super::gis::{SHORT_CODE, feature_id, published_or_not_found};
use super::node::NodeReply;
use crate::accounts::scope::{Scope, ScopeSet};
use crate::api::as_of::RequestedDay;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{LawCall, PreparedWork};
use crate::api::parameters::{BoundedDegrees, Param};
use crate::api::reply::Reply;

pub(in crate::api) const LAT: Param<BoundedDegrees<90>> = Param::required("lat", "latitude in degrees, WGS 84");

pub(in crate::api) const LON: Param<BoundedDegrees<180>> =
    Param::required("lon", "longitude in degrees, WGS 84; west is negative");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ZonesAtPoint")]
pub(in crate::api) struct PointReply<'s> {
    #[schemars(with = "String")]
    short_code: &'s ShortCode,
    lat: f64,
    lon: f64,
    /// The citation quality of the layer. `linked`: every zone cites a node. `pending`: some citations
    /// are placeholders.
    citation_quality: &'static str,
    /// The zones at the point, in the order of the layer. Several if zones overlap or the point is on
    /// their edges; none if the land has no zone.
    zones: Vec<ZoneReply<'s>>,
    /// The provisions that define these zones, each once, if the key also has the scope `node`. Other
    /// keys get an empty list, and the `citation` and `nodeId` of each zone.
    provisions: Vec<NodeReply<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ZoneAtPoint")]
struct ZoneReply<'s> {
    /// The feature's id in the layer: a string or a number.
    #[schemars(schema_with = "feature_id")]
    feature_id: &'s FeatureId,
    zone_code: &'s str,
    zone_name: Option<&'s str>,
    category: Option<&'s str>,
    citation: Option<&'s str>,
    #[schemars(with = "Option<uuid::Uuid>")]
    node_id: Option<NodeId>,
    /// `linked` or `placeholder`.
    citation_status: &'s str,
    /// Whether the point is exactly on the zone's edge.
    on_boundary: bool,
}

/// A key needs one of these scopes to get the texts of provisions.
const TEXT_SCOPES: ScopeSet = ScopeSet::of(&[Scope::Node]);

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let short_code = call.get(&SHORT_CODE).clone();
    let point = Position { lon: call.get(&LON), lat: call.get(&LAT) };
    let extent = published_or_not_found(call.corpus, &short_code)?.bbox;
    if !extent.contains(point) {
        let [west, south, east, north] = extent.0;
        let message = format!(
            "the point is outside of the zoning layer of {short_code}, which covers lat {south} to {north} and lon {west} to {east}; check that lat and lon are not exchanged"
        );
        return Err(ApiError::not_found(message));
    }
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::today(call);
    let with_texts = call.caller.scopes.has_any_of(TEXT_SCOPES);
    let form = if with_texts { "texts" } else { "ids" };
    // Contains no comma, because commas separate the tags in `If-None-Match`.
    let version = match with_texts {
        // The texts depend on the day.
        true => format!("{}-{short_code}-{}_{}-{form}-{}", corpus.id(), point.lat, point.lon, asked.day),
        false => format!("{}-{short_code}-{}_{}-{form}", corpus.id(), point.lat, point.lon),
    };
    let work = PreparedWork::heavy(move |cancellation| {
        let layer = corpus.snapshot().zoning.layer(&short_code);
        let layer = layer.ok_or_else(|| ApiError::internal(format!("the layer of {short_code} is missing")))?;
        let places = layer.places().map_err(|error| ApiError::internal(format!("{short_code}: {error}")))?;
        let zones: Vec<ZoneReply<'_>> = places.at(point).map(|found| zone(&found)).collect();
        cancellation.check()?;
        Reply::json(&PointReply {
            short_code: &short_code,
            lat: point.lat,
            lon: point.lon,
            citation_quality: layer.entry().citation_quality.as_str(),
            provisions: if with_texts { provisions(&corpus, &zones, &asked)? } else { Vec::new() },
            zones,
        })
    });
    Ok(PreparedWork { version: Some(version), ..work })
}

fn zone<'s>(found: &FeatureAtPoint<'s>) -> ZoneReply<'s> {
    let FeatureZone { zone_code, zone_name, category, citation, node_id, citation_status } = &found.feature.zone;
    ZoneReply {
        feature_id: &found.feature.id,
        zone_code,
        zone_name: zone_name.as_deref(),
        category: category.as_deref(),
        citation: citation.as_deref(),
        node_id: *node_id,
        citation_status,
        on_boundary: found.is_on_boundary,
    }
}

/// The provisions that the zones cite, each once, in the order of the zones.
fn provisions<'s>(
    corpus: &'s Corpus,
    zones: &[ZoneReply<'_>],
    asked: &RequestedDay,
) -> Result<Vec<NodeReply<'s>>, ApiError> {
    let mut cited: Vec<NodeId> = Vec::new();
    for id in zones.iter().filter_map(|zone| zone.node_id) {
        if !cited.contains(&id) {
            cited.push(id);
        }
    }
    let provision = |id: NodeId| {
        let node = corpus.snapshot().ordinal(id);
        let node =
            node.ok_or_else(|| ApiError::internal(format!("a zone cites {id}, which is not in the snapshot")))?;
        NodeReply::of(corpus, node, asked)
    };
    cited.into_iter().map(provision).collect()
}
