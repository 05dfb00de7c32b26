//! `gis-at`: the zones at a point, with the provisions that define them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, ShortCode};
use hornbook_corpus::outline::Status;
use hornbook_corpus::zoning::feature_lookup::{FeatureAtPoint, FeatureZone};
use hornbook_corpus::zoning::shape::Position;
use hornbook_corpus::zoning::source::FeatureId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gis::{SHORT_CODE, feature_id, published_or_not_found};
use super::include::Included;
use super::node::{NodeReply, format_version};
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::corpus::Corpus;
use crate::api::currency::Currency;
use crate::api::edition_freshness::EditionFreshness;
use crate::api::error::ApiError;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedDegrees, Param};
use crate::api::reply::{Format, Reply};
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, NOT_FOUND, law, route, tool};
use crate::api::subject::Subject;

pub(in crate::api) const LAT: Param<BoundedDegrees<90>> = Param::required("lat", "latitude in degrees, WGS 84");

pub(in crate::api) const LON: Param<BoundedDegrees<180>> =
    Param::required("lon", "longitude in degrees, WGS 84; west is negative");

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "ZonesAtPoint")]
pub struct PointReply<'s> {
    #[schemars(with = "String")]
    pub short_code: Cow<'s, ShortCode>,
    pub lat: f64,
    pub lon: f64,
    /// The citation quality of the layer. `linked`: every zone cites a node. `pending`: some citations
    /// are placeholders.
    pub citation_quality: ReplyText<'s>,
    /// The zones at the point, in the order of the layer. Several if zones overlap or the point is on
    /// their edges; none if the land has no zone.
    pub zones: Vec<ZoneAtPointReply<'s>>,
    /// The provisions that define these zones, each once, if the key also has the scope `node`. Other
    /// keys get an empty list, and the `citation` and `nodeId` of each zone.
    pub provisions: Vec<NodeReply<'s>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "ZoneAtPoint")]
pub struct ZoneAtPointReply<'s> {
    /// The feature's id in the layer: a string or a number.
    #[schemars(schema_with = "feature_id")]
    pub feature_id: Cow<'s, FeatureId>,
    pub zone_code: ReplyText<'s>,
    pub zone_name: Option<ReplyText<'s>>,
    pub category: Option<ReplyText<'s>>,
    pub citation: Option<ReplyText<'s>>,
    #[schemars(with = "Option<uuid::Uuid>")]
    pub node_id: Option<NodeId>,
    /// The web page of that node.
    pub url: Option<String>,
    /// `linked` or `placeholder`.
    pub citation_status: ReplyText<'s>,
    /// The status of that node on the day `asOf`; null if the zone cites none.
    #[schemars(with = "Option<String>")]
    pub status: Option<Status>,
    /// The day through which its edition is current, if the source states it.
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which the copy was retrieved; present only if its source does not state `currentThrough`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
    /// Whether that day is more than a year before `asOf`.
    pub is_outdated: bool,
    /// Whether the point is exactly on the zone's edge.
    pub on_boundary: bool,
}

/// A key needs one of these scopes to get the texts of provisions.
const TEXT_SCOPES: ScopeSet = ScopeSet::of(&[Scope::Node]);

impl ForModel for PointReply<'_> {
    fn for_model(&self) -> ModelText {
        let Self { short_code, zones, provisions, .. } = self;
        let mut shown = ModelText::of(format!("{} zones of {short_code} at this point.\n", zones.len()));
        for zone in zones {
            let ZoneAtPointReply { zone_code, zone_name, citation, citation_status, node_id, on_boundary, .. } = zone;
            let status = zone.status.map(|status| format!(", {}", status.as_str())).unwrap_or_default();
            let (through, retrieved) = (zone.current_through, zone.retrieved_at);
            let currency = Currency { through, retrieved, is_outdated: zone.is_outdated }.after(", ");
            let name = zone_name.as_deref().unwrap_or_default();
            let edge = if *on_boundary { ", on the edge of the zone" } else { "" };
            let citation = citation.as_deref().unwrap_or("no citation");
            let id = node_id.map(|id| format!(", id {id}")).unwrap_or_default();
            let _ = writeln!(
                shown.text,
                "- {zone_code} {name}: {citation} ({citation_status}{status}{currency}{id}{edge})"
            );
        }
        if !provisions.is_empty() {
            shown.text += "Read the provisions with law.get_node:\n";
        }
        for provision in provisions {
            let NodeReply { id, citation, heading, .. } = provision;
            let _ = writeln!(shown.text, "- {citation} {heading} ({}, id {id})", provision.standing());
            shown.link(*id, citation, heading);
        }
        shown
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "gis-at",
    subject: Subject::Zoning,
    summary: "The zones at a point, each with the citation that defines it; with the scope node also the full texts",
    details: None,
    route: route("/api/v1/gis/{shortCode}/at", "/api/v1/gis/{short_code}/at?lat={lat}&lon={lon}"),
    tool: tool(
        "law.zoning_at",
        "law_zoning_at",
        "Use it for what may be built at a latitude and longitude. It knows no street addresses.",
    ),
    parameters: &[SHORT_CODE.rule, LAT.rule, LON.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: true,
    reply: |generator| generator.subschema_for::<PointReply<'static>>(),
    model_text: Some(|json| written_for_model::<PointReply<'_>>(json)),
    access: law(&[Scope::Gis], 5, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
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
    let asked = RequestedDay::of(call);
    let with_texts = call.caller.scopes.has_any_of(TEXT_SCOPES);
    let form = if with_texts { format!("texts{}z3", format_version(Format::Json)) } else { "ids3".to_owned() };
    // Texts and statuses depend on the day. Contains no comma, because commas separate the tags in `If-None-Match`.
    let version = format!("{}-{short_code}-{}_{}-{form}-{}", corpus.id(), point.lat, point.lon, asked.day);
    let work = PreparedWork::heavy(move |cancellation| {
        let layer = corpus.snapshot().zoning.layer(&short_code);
        let layer = layer.ok_or_else(|| ApiError::internal(format!("the layer of {short_code} is missing")))?;
        let places = layer.places().map_err(|error| ApiError::internal(format!("{short_code}: {error}")))?;
        let zones: Vec<ZoneAtPointReply<'_>> =
            places.at(point).map(|found| zone(&corpus, &asked, &found)).collect::<Result<_, _>>()?;
        cancellation.check()?;
        Reply::json(&PointReply {
            short_code: Cow::Borrowed(&short_code),
            lat: point.lat,
            lon: point.lon,
            citation_quality: layer.entry().citation_quality.as_str().into(),
            provisions: if with_texts { provisions(&corpus, &zones, &asked)? } else { Vec::new() },
            zones,
        })
    });
    Ok(PreparedWork { version: Some(version), ..work })
}

fn zone<'s>(
    corpus: &Corpus,
    asked: &RequestedDay,
    found: &FeatureAtPoint<'s>,
) -> Result<ZoneAtPointReply<'s>, ApiError> {
    let FeatureZone { zone_code, zone_name, category, citation, node_id, citation_status } = &found.feature.zone;
    let node = node_id.map(|id| corpus.node(id)).transpose()?;
    let shown = node.map(|node| (node, asked.law.shown(node)));
    let freshness = shown.map(|(node, shown)| EditionFreshness::of(corpus, node, &shown, asked.day)).transpose()?;
    Ok(ZoneAtPointReply {
        feature_id: Cow::Borrowed(&found.feature.id),
        zone_code: zone_code.into(),
        zone_name: zone_name.as_deref().map(ReplyText::from),
        category: category.as_deref().map(ReplyText::from),
        citation: citation.as_deref().map(ReplyText::from),
        node_id: *node_id,
        url: node.map(|node| asked.pages.page_of(corpus.snapshot(), node)).transpose()?,
        citation_status: citation_status.into(),
        status: shown.map(|(_, shown)| shown.status),
        current_through: freshness.and_then(|freshness| freshness.through),
        retrieved_at: freshness.and_then(|freshness| freshness.retrieved),
        is_outdated: freshness.is_some_and(|freshness| freshness.is_outdated()),
        on_boundary: found.is_on_boundary,
    })
}

/// The provisions that the zones cite, each once, in the order of the zones.
fn provisions<'s>(
    corpus: &'s Corpus,
    zones: &[ZoneAtPointReply<'_>],
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
        NodeReply::of(corpus, node, asked, Included::ALL)
    };
    cited.into_iter().map(provision).collect()
}
