//! `suggest`: completes headings and citations from what was typed so far, and corrects typing errors.

use std::borrow::Cow;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use hornbook_search::{CancelCheck, QUERY_CHARS_MAX, SuggestRequest, SuggestResponse, Suggestion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::{JURISDICTION, subtree};
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::edition_freshness::{EditionFreshness, EditionNotices};
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedInteger, BoundedText, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, law, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const Q: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("q", "what was typed so far, typing errors included");

/// At most 20, because nobody reads more while typing.
pub(in crate::api) const LIMIT: Param<BoundedInteger<1, 20>> =
    Param::with_default("limit", "10", "number of suggestions");

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Suggestions")]
pub struct SuggestReply {
    /// The best first: those that begin with the words, then those that contain them, then those that
    /// nearly match.
    pub suggestions: Vec<SuggestionReply>,
    /// The text with each word that does not occur in the law replaced by a similar one; null if every word occurs.
    pub did_you_mean: Option<String>,
    /// What the editions do not know about the requested day, by code body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Suggestion")]
pub struct SuggestionReply {
    /// `heading` or `citation`.
    pub kind: Cow<'static, str>,
    /// The heading or the citation, as the law writes it.
    pub text: String,
    /// A node with this heading or citation: the first one in force.
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    /// The web page of that node.
    pub url: String,
    pub citation: String,
    #[schemars(with = "String")]
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
    /// The day through which the edition is current, if the source states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which the copy was retrieved; present only if its source does not state `currentThrough`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
    /// The number of nodes with this heading or citation.
    pub count: u32,
    /// Whether it matches only if a typing error is assumed.
    pub is_guess: bool,
}

impl SuggestionReply {
    fn of(suggestion: Suggestion, url: String, freshness: &EditionFreshness) -> Self {
        let Suggestion {
            kind,
            text,
            node_id,
            citation,
            status,
            effective_from,
            effective_to,
            count,
            is_guess,
            node: _,
        } = suggestion;
        let kind = kind.into();
        Self {
            kind,
            text,
            node_id,
            url,
            citation,
            status,
            effective_from,
            effective_to,
            current_through: freshness.through,
            retrieved_at: freshness.retrieved,
            count,
            is_guess,
        }
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "suggest",
    subject: Subject::Search,
    summary: "Completions of a heading or citation while it is typed, with spelling correction",
    details: None,
    route: route("/api/v1/suggest", "/api/v1/suggest?q={typed}"),
    tool: None,
    parameters: &[Q.rule, LIMIT.rule, JURISDICTION.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<SuggestReply>(),
    model_text: None,
    access: law(&[Scope::Search], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let range = call.get(&JURISDICTION).map(|code| subtree(call.corpus, code)).transpose();
    let range = range.map_err(|violation| ApiError::invalid(vec![violation]))?;
    let (typed, limit) = (call.get(&Q).to_owned(), call.get(&LIMIT) as usize);
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::of(call);
    Ok(PreparedWork::heavy(move |cancellation| {
        let is_cancelled = || cancellation.is_cancelled();
        let request = SuggestRequest {
            text: &typed,
            limit,
            range,
            day: Some(asked.day),
            abandoned: CancelCheck::when(&is_cancelled),
        };
        let SuggestResponse { suggestions: found, did_you_mean } = corpus.engine().suggest(&request)?;
        let mut editions = EditionNotices::default();
        let mut suggestions = Vec::with_capacity(found.len());
        for suggestion in found {
            let shown = asked.law.shown(suggestion.node);
            let freshness = editions.add(&corpus, suggestion.node, &shown, &asked)?;
            let url = asked.pages.page_of(corpus.snapshot(), suggestion.node)?;
            suggestions.push(SuggestionReply::of(suggestion, url, &freshness));
        }
        Reply::json(&SuggestReply { suggestions, did_you_mean, notices: editions.into_vec() })
    }))
}
