//! `gis`: the zoning layer of a municipality, sent as it is stored.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::catalogue::LayerEntry;
use hornbook_corpus::zoning::layer::LayerStatus;
use hornbook_corpus::zoning::source::FeatureId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::Param;
use crate::api::reply::{Reply, StoredLayer};
use crate::api::rows::{JSON, NOT_FOUND, law, route};
use crate::api::subject::Subject;

pub(in crate::api) const SHORT_CODE: Param<ShortCode> =
    Param::in_path("shortCode", "short code of a municipality, from coverage");

/// The JSON of a stored layer. The builder writes it; this type only describes it.
#[derive(JsonSchema)]
#[schemars(rename = "ZoningLayer", rename_all = "camelCase")]
#[expect(dead_code, reason = "describes stored bytes")]
pub(in crate::api) struct LayerReply {
    short_code: String,
    /// Always `published`.
    status: String,
    /// `linked`: every zone cites a node. `pending`: some citations are placeholders.
    citation_quality: String,
    feature_count: usize,
    geojson: FeatureCollection,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes stored bytes")]
struct FeatureCollection {
    r#type: String,
    features: Vec<Feature>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes stored bytes")]
struct Feature {
    r#type: String,
    /// A string or a number.
    #[schemars(schema_with = "feature_id")]
    id: FeatureId,
    properties: FeatureProperties,
    geometry: Map<String, Value>,
}

/// RFC 7946 allows a string or a number.
pub(super) fn feature_id(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number"] })
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes stored bytes")]
struct FeatureProperties {
    zone_code: String,
    zone_name: Option<String>,
    category: Option<String>,
    citation: Option<String>,
    node_id: Option<Uuid>,
    citation_status: String,
    /// The properties that the publisher gave the feature.
    source: Map<String, Value>,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "gis",
    subject: Subject::Zoning,
    summary: "The zoning layer of a municipality as GeoJSON, each zone with its citation",
    details: None,
    route: route("/api/v1/gis/{shortCode}", "/api/v1/gis/{short_code}"),
    tool: None,
    parameters: &[SHORT_CODE.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: true,
    reply: |generator| generator.subschema_for::<LayerReply>(),
    model_text: None,
    access: law(&[Scope::Gis], 5, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let short_code = call.get(&SHORT_CODE).clone();
    published_or_not_found(call.corpus, &short_code)?;
    let corpus = Arc::clone(call.corpus);
    let version = format!("{}-{short_code}", corpus.id());
    let work = move || Ok(Reply::stored(StoredLayer { corpus, short_code }));
    Ok(PreparedWork { version: Some(version), ..PreparedWork::light(work) })
}

/// The published layer of a jurisdiction, or the error if there is none.
pub(in crate::api) fn published_or_not_found<'s>(
    corpus: &'s Corpus,
    short_code: &ShortCode,
) -> Result<&'s LayerEntry, ApiError> {
    published(corpus, short_code).ok_or_else(|| {
        ApiError::not_found(format!(
            "there is no zoning layer of {short_code}; gisStatus in /api/v1/coverage shows which jurisdictions have one"
        ))
    })
}

/// A layer that clients may see. Only the operator may see drafts.
pub(in crate::api) fn published<'s>(corpus: &'s Corpus, short_code: &ShortCode) -> Option<&'s LayerEntry> {
    let layer = corpus.snapshot().zoning.layer(short_code)?;
    Some(layer.entry()).filter(|entry| entry.status == LayerStatus::Published)
}
