//! `coverage`: the jurisdictions in this snapshot, and how much law of each it contains.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::catalogue::Jurisdiction;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, ShortCode};
use hornbook_corpus::jurisdictions::GovernmentLevel;
use hornbook_search::BodyParts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gis;
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::corpus::Corpus;
use crate::api::currency::Currency;
use crate::api::edition_freshness::EditionFreshness;
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork, Tool, ToolAnswer};
use crate::api::parameters::Param;
use crate::api::reply::{Body, Format, Reply};
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, law, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const PLACEHOLDERS: Param<bool> =
    Param::with_default("placeholders", "true", "false: only jurisdictions that have law or a zoning layer");

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Coverage")]
pub struct CoverageReply<'s> {
    pub total_jurisdictions: usize,
    pub total_nodes: u32,
    pub total_searchable_chunks: u32,
    pub published_gis_layers: usize,
    /// The day for which provisions in force are counted.
    #[schemars(with = "String")]
    pub as_of: Day,
    /// Those with law and, unless `placeholders=false`, all others.
    pub jurisdictions: Vec<JurisdictionReply<'s>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Jurisdiction")]
pub struct JurisdictionReply<'s> {
    #[schemars(with = "String")]
    pub short_code: Cow<'s, ShortCode>,
    pub name: ReplyText<'s>,
    #[schemars(with = "String")]
    pub level: GovernmentLevel,
    /// The number of its own nodes, without those of its sub-jurisdictions.
    pub node_count: u32,
    pub searchable_chunks: u32,
    /// Whether the jurisdiction is listed but has no law yet.
    pub placeholder: bool,
    #[schemars(with = "Option<String>")]
    pub parent: Option<Cow<'s, ShortCode>>,
    /// `published` or `none`.
    pub gis_status: ReplyText<'s>,
    /// `linked`, `pending` or null.
    pub gis_citation_quality: Option<ReplyText<'s>>,
    /// Its own code bodies, and which parts of each this corpus contains.
    pub code_bodies: Vec<CoveredBodyReply<'s>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "CodeBodyCoverage")]
pub struct CoveredBodyReply<'s> {
    #[schemars(with = "uuid::Uuid")]
    pub id: CodeBodyId,
    pub name: ReplyText<'s>,
    /// The number of its provisions that are in force on the day `asOf`.
    pub in_force_count: u32,
    /// The day through which its editions are current; the oldest such day if there are several. Null if
    /// no source states it.
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which the oldest of its copies was retrieved; present only if a source does not state `currentThrough`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
    /// Whether that day is more than a year before `asOf`.
    pub is_outdated: bool,
    /// What this copy of the code lacks, in words, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<ReplyText<'s>>,
    pub parts: Cow<'s, BodyParts>,
}

impl ForModel for CoverageReply<'_> {
    fn for_model(&self) -> ModelText {
        let Self { total_jurisdictions, total_nodes, jurisdictions, .. } = self;
        let mut text = format!("{total_nodes} nodes of {total_jurisdictions} jurisdictions:\n");
        for JurisdictionReply { short_code, name, node_count, placeholder, gis_status, code_bodies, .. } in
            jurisdictions
        {
            let held = if *placeholder { "no law yet".to_owned() } else { format!("{node_count} nodes") };
            let zoning = if gis_status.as_ref() == "published" { ", zoning layer" } else { "" };
            let _ = writeln!(text, "- {short_code} {name}: {held}{zoning}");
            for body in code_bodies {
                let CoveredBodyReply { name, in_force_count, lacks, parts, .. } = body;
                let currency = body.currency().after(", ");
                let _ = writeln!(text, "  - {name}: {in_force_count} provisions in force{currency}");
                if let Some(lacks) = lacks {
                    let _ = writeln!(text, "    this copy lacks {lacks}");
                }
                if let (Some(level), Some(missing @ [_, ..])) = (&parts.level, parts.missing.as_deref()) {
                    let _ = writeln!(text, "    missing {level}s: {}", missing.join(", "));
                }
                for title in &parts.in_part {
                    let _ = writeln!(text, "    {}", title.in_words());
                }
            }
        }
        if jurisdictions.iter().flat_map(|one| &one.code_bodies).any(|body| body.is_outdated) {
            let _ = writeln!(text, "Note: Law of an edition over a year old may have changed since then.");
        }
        let unlisted = total_jurisdictions.saturating_sub(jurisdictions.len());
        if unlisted > 0 {
            let _ = writeln!(text, "The other {unlisted} have no law yet; placeholders=true lists them.");
        }
        ModelText::of(text)
    }
}

impl CoveredBodyReply<'_> {
    const fn currency(&self) -> Currency {
        let Self { current_through: through, retrieved_at: retrieved, is_outdated, .. } = *self;
        Currency { through, retrieved, is_outdated }
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "coverage",
    subject: Subject::Browsing,
    summary: "All jurisdictions, with the number of provisions and the editions of each",
    details: None,
    route: route("/api/v1/coverage", "/api/v1/coverage"),
    tool: Some(Tool {
        name: "law.list_coverage",
        use_for: "Use it for which places have law or zoning here, and how current it is. No search needs it first.",
        older_name: Some("list_coverage"),
        defaults: &[("placeholders", "false")],
        answer: ToolAnswer::Both,
    }),
    parameters: &[PLACEHOLDERS.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<CoverageReply<'static>>(),
    model_text: Some(|json| written_for_model::<CoverageReply<'_>>(json)),
    access: law(&[Scope::Search, Scope::Node, Scope::Browse, Scope::Gis], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let (corpus, asked) = (Arc::clone(call.corpus), RequestedDay::of(call));
    let with_placeholders = call.get(&PLACEHOLDERS);
    Ok(PreparedWork::light(move || {
        let kept = if with_placeholders { &corpus.coverage } else { &corpus.coverage_of_law };
        if let Some(written) = kept.get(asked.day) {
            return Ok(Reply::of(Format::Json, written));
        }
        let reply = write(&corpus, &asked, with_placeholders)?;
        if let (Body::Bytes(bytes), false) = (&reply.body, asked.is_named) {
            kept.keep(asked.day, bytes);
        }
        Ok(reply)
    }))
}

fn write(corpus: &Corpus, asked: &RequestedDay, with_placeholders: bool) -> Result<Reply, ApiError> {
    let catalogue = corpus.catalogue();
    let parts = corpus.engine().parts()?;
    let jurisdictions = catalogue.jurisdictions.iter();
    let mut jurisdictions: Vec<JurisdictionReply<'_>> =
        jurisdictions.map(|jurisdiction| entry(corpus, asked, jurisdiction, parts)).collect();
    let (total_jurisdictions, total_nodes, total_searchable_chunks, published_gis_layers) = (
        jurisdictions.len(),
        jurisdictions.iter().map(|jurisdiction| jurisdiction.node_count).sum(),
        jurisdictions.iter().map(|jurisdiction| jurisdiction.searchable_chunks).sum(),
        jurisdictions.iter().filter(|entry| entry.gis_citation_quality.is_some()).count(),
    );
    if !with_placeholders {
        jurisdictions.retain(|entry| !entry.placeholder || entry.gis_citation_quality.is_some());
    }
    Reply::json(&CoverageReply {
        total_jurisdictions,
        total_nodes,
        total_searchable_chunks,
        published_gis_layers,
        as_of: asked.day,
        jurisdictions,
    })
}

fn entry<'s>(
    corpus: &'s Corpus,
    asked: &RequestedDay,
    jurisdiction: &'s Jurisdiction,
    parts: &'s [BodyParts],
) -> JurisdictionReply<'s> {
    let bodies = corpus.catalogue().code_bodies.iter().zip(parts);
    let own = bodies.filter(|(body, _)| body.jurisdiction == jurisdiction.short_code);
    let code_bodies = own.map(|(body, parts)| {
        let freshness = EditionFreshness::of_range(corpus, body.nodes, asked.day);
        CoveredBodyReply {
            id: body.id,
            name: ReplyText::from(&body.name),
            in_force_count: asked.law.count_in_force(body.nodes),
            current_through: freshness.through,
            retrieved_at: freshness.retrieved,
            is_outdated: freshness.is_outdated(),
            lacks: corpus.catalogue().lacks(body).map(ReplyText::from),
            parts: Cow::Borrowed(parts),
        }
    });
    let layer = gis::published(corpus, &jurisdiction.short_code);
    JurisdictionReply {
        short_code: Cow::Borrowed(&jurisdiction.short_code),
        name: ReplyText::from(&jurisdiction.name),
        level: jurisdiction.level,
        node_count: jurisdiction.nodes.len(),
        searchable_chunks: jurisdiction.chunks,
        placeholder: jurisdiction.is_placeholder(),
        parent: jurisdiction.parent.as_ref().map(Cow::Borrowed),
        gis_status: layer.map_or("none", |layer| layer.status.as_str()).into(),
        gis_citation_quality: layer.map(|layer| layer.citation_quality.as_str().into()),
        code_bodies: code_bodies.collect(),
    }
}
