//! `code-bodies`: the code bodies that can be browsed and used as filters.

use std::sync::Arc;

use bytes::Bytes;
use hornbook_corpus::ids::{CodeBodyId, ShortCode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{LawCall, PreparedWork};
use crate::api::reply::{Body, Format, Reply};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CodeBodyList")]
pub(in crate::api) struct CodeBodiesReply<'s> {
    code_bodies: Vec<CodeBodyReply<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CodeBody")]
struct CodeBodyReply<'s> {
    #[schemars(with = "uuid::Uuid")]
    id: CodeBodyId,
    name: &'s str,
    #[schemars(with = "String")]
    jurisdiction: &'s ShortCode,
    provision_count: u32,
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let corpus = Arc::clone(call.corpus);
    Ok(PreparedWork::light(move || match corpus.code_bodies.get() {
        Some(written) => Ok(Reply::of(Format::Json, written.clone())),
        None => write(&corpus),
    }))
}

fn write(corpus: &Corpus) -> Result<Reply, ApiError> {
    let bodies = corpus.catalogue().code_bodies.iter().map(|body| CodeBodyReply {
        id: body.id,
        name: &body.name,
        jurisdiction: &body.jurisdiction,
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
