//! `code-bodies`: the code bodies that can be browsed and used as filters.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::{CodeBodyId, ShortCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::corpus::Corpus;
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
}

impl ForModel for CodeBodiesReply<'_> {
    fn for_model(&self) -> ModelText {
        let mut text = format!("{} code bodies:\n", self.code_bodies.len());
        for CodeBodyReply { id, name, jurisdiction, provision_count } in &self.code_bodies {
            let _ = writeln!(text, "- {name} ({jurisdiction}, {provision_count} provisions, id {id})");
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
    let corpus = Arc::clone(call.corpus);
    Ok(PreparedWork::light(move || match corpus.code_bodies.get() {
        Some(written) => Ok(Reply::of(Format::Json, written.clone())),
        None => write(&corpus),
    }))
}

fn write(corpus: &Corpus) -> Result<Reply, ApiError> {
    let bodies = corpus.catalogue().code_bodies.iter().map(|body| CodeBodyReply {
        id: body.id,
        name: ReplyText::from(&body.name),
        jurisdiction: Cow::Borrowed(&body.jurisdiction),
        provision_count: body.provisions,
    });
    let reply = Reply::json(&CodeBodiesReply { code_bodies: bodies.collect() })?;
    Ok(corpus.cache_reply(&corpus.code_bodies, reply))
}

impl Corpus {
    /// Keeps an answer that is the same for every caller.
    pub(in crate::api) fn cache_reply(&self, place: &std::sync::OnceLock<Bytes>, reply: Reply) -> Reply {
        if let Body::Bytes(bytes) = &reply.body {
            place.get_or_init(|| bytes.clone());
        }
        reply
    }
}
