//! `coverage`: the jurisdictions in this snapshot, and how much law of each it contains.

use std::sync::Arc;

use hornbook_corpus::catalogue::Jurisdiction;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, ShortCode};
use hornbook_corpus::jurisdictions::GovernmentLevel;
use schemars::JsonSchema;
use serde::Serialize;

use super::gis;
use crate::api::as_of::RequestedDay;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{LawCall, PreparedWork};
use crate::api::reply::{Body, Format, Reply};
use crate::search::{BodyParts, LawOnDay};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Coverage")]
pub(in crate::api) struct CoverageReply<'s> {
    total_jurisdictions: usize,
    total_nodes: u32,
    total_searchable_chunks: u32,
    published_gis_layers: usize,
    /// The day for which provisions in force are counted.
    #[schemars(with = "String")]
    as_of: Day,
    jurisdictions: Vec<JurisdictionReply<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Jurisdiction")]
struct JurisdictionReply<'s> {
    #[schemars(with = "String")]
    short_code: &'s ShortCode,
    name: &'s str,
    #[schemars(with = "String")]
    level: GovernmentLevel,
    /// The number of its own nodes, without those of its sub-jurisdictions.
    node_count: u32,
    searchable_chunks: u32,
    /// Whether the jurisdiction is listed but has no law yet.
    placeholder: bool,
    #[schemars(with = "Option<String>")]
    parent: Option<&'s ShortCode>,
    /// `published` or `none`.
    gis_status: &'static str,
    /// `linked`, `pending` or null.
    gis_citation_quality: Option<&'static str>,
    /// Its own code bodies, and which parts of each this corpus contains.
    code_bodies: Vec<CodeBodyReply<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CodeBodyCoverage")]
struct CodeBodyReply<'s> {
    #[schemars(with = "uuid::Uuid")]
    id: CodeBodyId,
    name: &'s str,
    /// The number of its provisions that are in force on the day `asOf`.
    in_force_count: u32,
    /// The day through which its editions are current; the oldest such day if there are several. Null if
    /// no source states it.
    #[schemars(with = "Option<String>")]
    current_through: Option<Day>,
    parts: &'s BodyParts,
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let (corpus, asked) = (Arc::clone(call.corpus), RequestedDay::of(call));
    Ok(PreparedWork::light(move || match corpus.coverage.get(asked.day) {
        Some(written) => Ok(Reply::of(Format::Json, written)),
        None => write(&corpus, &asked),
    }))
}

fn write(corpus: &Corpus, asked: &RequestedDay) -> Result<Reply, ApiError> {
    let catalogue = corpus.catalogue();
    let parts = corpus.engine().parts()?;
    let jurisdictions: Vec<JurisdictionReply<'_>> =
        catalogue.jurisdictions.iter().map(|jurisdiction| entry(corpus, &asked.law, jurisdiction, parts)).collect();
    let reply = Reply::json(&CoverageReply {
        total_jurisdictions: jurisdictions.len(),
        total_nodes: jurisdictions.iter().map(|jurisdiction| jurisdiction.node_count).sum(),
        total_searchable_chunks: jurisdictions.iter().map(|jurisdiction| jurisdiction.searchable_chunks).sum(),
        published_gis_layers: jurisdictions.iter().filter(|entry| entry.gis_citation_quality.is_some()).count(),
        as_of: asked.day,
        jurisdictions,
    })?;
    if let (Body::Bytes(bytes), false) = (&reply.body, asked.is_named) {
        corpus.coverage.keep(asked.day, bytes);
    }
    Ok(reply)
}

fn entry<'s>(
    corpus: &'s Corpus,
    law: &LawOnDay,
    jurisdiction: &'s Jurisdiction,
    parts: &'s [BodyParts],
) -> JurisdictionReply<'s> {
    let bodies = corpus.catalogue().code_bodies.iter().zip(parts);
    let own = bodies.filter(|(body, _)| body.jurisdiction == jurisdiction.short_code);
    let code_bodies = own.map(|(body, parts)| CodeBodyReply {
        id: body.id,
        name: &body.name,
        in_force_count: law.count_in_force(body.nodes),
        current_through: corpus.engine().oldest_current_through(body.nodes),
        parts,
    });
    let layer = gis::published(corpus, &jurisdiction.short_code);
    JurisdictionReply {
        short_code: &jurisdiction.short_code,
        name: &jurisdiction.name,
        level: jurisdiction.level,
        node_count: jurisdiction.nodes.len(),
        searchable_chunks: jurisdiction.chunks,
        placeholder: jurisdiction.is_placeholder(),
        parent: jurisdiction.parent.as_ref(),
        gis_status: layer.map_or("none", |layer| layer.status.as_str()),
        gis_citation_quality: layer.map(|layer| layer.citation_quality.as_str()),
        code_bodies: code_bodies.collect(),
    }
}
