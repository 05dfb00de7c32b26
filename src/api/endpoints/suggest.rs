//! `suggest`: headings and citations by what was typed of them, and what was meant.

use std::sync::Arc;

use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::filters::{JURISDICTION, subtree};
use crate::api::error::ApiError;
use crate::api::operation::{MeteredCall, Prepared};
use crate::api::parameters::{Param, Text, Whole};
use crate::api::reply::Reply;
use crate::search::{QUERY_CHARS_MAX, Suggestion};

pub(in crate::api) const Q: Param<Text<QUERY_CHARS_MAX>> =
    Param::required("q", "what was typed so far, typing errors included");

/// More than anybody reads while typing are not offered.
pub(in crate::api) const LIMIT: Param<Whole<1, 20>> = Param::with_default("limit", "10", "how many suggestions");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Suggestions")]
pub(in crate::api) struct SuggestReply {
    /// What begins with the words first, then what has them, then what nearly does.
    suggestions: Vec<SuggestionReply>,
    /// The text with words that stand nowhere in the law exchanged for near ones; null where there are none.
    did_you_mean: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Suggestion")]
struct SuggestionReply {
    /// heading or citation.
    kind: &'static str,
    /// The heading or the citation, as it is written where it stands.
    text: String,
    /// One that bears it: the first that is still law.
    #[schemars(with = "uuid::Uuid")]
    node_id: NodeId,
    citation: String,
    #[schemars(with = "String")]
    status: Status,
    /// How many bear it.
    count: u32,
    /// Whether a letter of what was typed had to be taken for another.
    is_guess: bool,
}

impl From<Suggestion> for SuggestionReply {
    fn from(suggestion: Suggestion) -> Self {
        let Suggestion { kind, text, node_id, citation, status, count, is_guess, node: _ } = suggestion;
        Self { kind, text, node_id, citation, status, count, is_guess }
    }
}

pub(in crate::api) fn prepare(call: &MeteredCall<'_>) -> Result<Prepared, ApiError> {
    let range = call.get(&JURISDICTION).map(|code| subtree(call.corpus, code)).transpose();
    let range = range.map_err(|violation| ApiError::invalid(vec![violation]))?;
    let (typed, limit) = (call.get(&Q).to_owned(), call.get(&LIMIT) as usize);
    let corpus = Arc::clone(call.corpus);
    Ok(Prepared::heavy(move |cancellation| {
        let suggestions = corpus.engine().suggest(&typed, limit, range)?;
        let suggestions = suggestions.into_iter().map(SuggestionReply::from).collect();
        cancellation.check()?;
        Reply::json(&SuggestReply { suggestions, did_you_mean: corpus.engine().did_you_mean(&typed)? })
    }))
}
