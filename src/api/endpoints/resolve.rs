//! `resolve`: finds the provisions that a citation names.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::as_of::RequestedDay;
use crate::api::error::ApiError;
use crate::api::operation::{LawCall, PreparedWork};
use crate::api::parameters::{BoundedText, Param};
use crate::api::reply::Reply;
use crate::search::{CitationAnswer, QUERY_CHARS_MAX};

pub(in crate::api) const CITATION: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("citation", "a citation or a list of them, such as 42 USC 1983(b)");

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Resolution")]
pub(in crate::api) struct ResolveReply {
    /// One answer for each citation, in order.
    answers: Vec<CitationAnswer>,
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let citation = call.get(&CITATION).to_owned();
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::of(call);
    Ok(PreparedWork::heavy(move |_| {
        let answers = corpus.engine().resolve_on(&asked.law, &citation)?;
        Reply::json(&ResolveReply { answers })
    }))
}
