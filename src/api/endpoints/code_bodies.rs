//! `code-bodies`: the code bodies that can be browsed and used as filters.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, ShortCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::as_of::today;
use crate::api::corpus::Corpus;
use crate::api::currency::Currency;
use crate::api::edition_freshness::EditionFreshness;
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::reply::{Body, Format, Reply};
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, law, route, tool};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "CodeBodyList")]
pub struct CodeBodiesReply<'s> {
    pub code_bodies: Vec<CodeBodyReply<'s>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "CodeBody")]
pub struct CodeBodyReply<'s> {
    #[schemars(with = "uuid::Uuid")]
    pub id: CodeBodyId,
    pub name: ReplyText<'s>,
    #[schemars(with = "String")]
    pub jurisdiction: Cow<'s, ShortCode>,
    pub provision_count: u32,
    /// The day through which its editions are current; the oldest such day if there are several. Null if a source does
    /// not state it.
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which the oldest of its copies was retrieved; present only if a source does not state `currentThrough`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
    /// Whether that day is more than a year ago.
    pub is_outdated: bool,
}

impl ForModel for CodeBodiesReply<'_> {
    fn for_model(&self) -> ModelText {
        let mut text = format!("{} code bodies:\n", self.code_bodies.len());
        for body in &self.code_bodies {
            let CodeBodyReply { id, name, jurisdiction, provision_count, is_outdated, .. } = body;
            let (through, retrieved) = (body.current_through, body.retrieved_at);
            let currency = Currency { through, retrieved, is_outdated: *is_outdated }.after(", ");
            let _ = writeln!(text, "- {name} ({jurisdiction}, {provision_count} provisions{currency}, id {id})");
        }
        ModelText::of(text)
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "code-bodies",
    subject: Subject::Browsing,
    summary: "All code bodies",
    details: None,
    route: route("/api/v1/code-bodies", "/api/v1/code-bodies"),
    tool: tool(
        "law.code_bodies",
        "law_code_bodies",
        "Use it for the ids and names of the codes. For how much law a place has, use law.list_coverage.",
    ),
    parameters: &[FIELDS.rule, VIEW.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<CodeBodiesReply<'static>>(),
    model_text: Some(|json| written_for_model::<CodeBodiesReply<'_>>(json)),
    access: law(&[Scope::Browse], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let (corpus, today) = (Arc::clone(call.corpus), today(call.now));
    Ok(PreparedWork::light(move || match corpus.code_bodies.get(today) {
        Some(written) => Ok(Reply::of(Format::Json, written)),
        None => write(&corpus, today),
    }))
}

fn write(corpus: &Corpus, today: Day) -> Result<Reply, ApiError> {
    let bodies = corpus.catalogue().code_bodies.iter().map(|body| {
        let freshness = EditionFreshness::of_range(corpus, body.nodes, today);
        CodeBodyReply {
            id: body.id,
            name: ReplyText::from(&body.name),
            jurisdiction: Cow::Borrowed(&body.jurisdiction),
            provision_count: body.provisions,
            current_through: freshness.through,
            retrieved_at: freshness.retrieved,
            is_outdated: freshness.is_outdated(),
        }
    });
    let reply = Reply::json(&CodeBodiesReply { code_bodies: bodies.collect() })?;
    if let Body::Bytes(bytes) = &reply.body {
        corpus.code_bodies.keep(today, bytes);
    }
    Ok(reply)
}
