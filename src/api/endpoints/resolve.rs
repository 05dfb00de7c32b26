//! `resolve`: what a citation names.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::error::ApiError;
use crate::api::operation::{Asked, Prepared, Weight};
use crate::api::reply::Reply;
use crate::search::CitationAnswer;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Resolution")]
pub(in crate::api) struct ResolveReply {
    /// One for each citation, in order.
    answers: Vec<CitationAnswer>,
}

pub(in crate::api) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let citation = asked.arguments.text("citation").to_owned();
    let corpus = Arc::clone(asked.corpus);
    Ok(Prepared::new(Weight::Heavy, move || {
        let answers = corpus.engine().resolve(&citation)?;
        Reply::json(&ResolveReply { answers })
    }))
}
