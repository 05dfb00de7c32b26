//! `resolve`: what a citation names.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::call::{Prepared, Weight};
use super::error::ApiError;
use super::operations::Asked;
use super::reply::Reply;
use crate::search::CitationAnswer;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Resolution")]
pub(super) struct ResolveReply {
    /// One for each citation, in order.
    answers: Vec<CitationAnswer>,
}

pub(super) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let citation = asked.arguments.text("citation").to_owned();
    let corpus = Arc::clone(asked.corpus);
    Ok(Prepared::new(Weight::Heavy, move || {
        let answers = corpus.engine().resolve(&citation)?;
        Reply::json(&ResolveReply { answers })
    }))
}
