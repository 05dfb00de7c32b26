//! `connector-fetch`: one provision in the form that research connectors expect. It is found by its id,
//! by a citation or by a URL of this service.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_search::QUERY_CHARS_MAX;
use schemars::JsonSchema;
use serde::Serialize;

use super::connector_search::title;
use super::include::{INCLUDE, Included};
use super::node::NodeReply;
use crate::api::as_of::RequestedDay;
use crate::api::currency::Currency;
use crate::api::error::ApiError;
use crate::api::node_lookup;
use crate::api::operation::{ChargeTiming, CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedText, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, connector, law};
use crate::api::subject::Subject;

pub(in crate::api) const ID: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("id", "id of a result, a citation, or an address of this service with asOf");

/// Maximum number of characters of a text. These connectors cannot ask for another part.
const TEXT_CHARS_MAX: usize = 50_000;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectorDocument")]
pub(in crate::api) struct ConnectorDocument<'s> {
    #[schemars(with = "uuid::Uuid")]
    id: NodeId,
    /// Citation and heading, with status and days as in a search result.
    title: String,
    /// The provision as Markdown, with its source and what `include` names. At most the first 50,000 characters.
    text: String,
    url: &'s str,
    metadata: ConnectorMetadata<'s>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConnectorMetadata")]
struct ConnectorMetadata<'s> {
    citation: &'s str,
    code_body: Option<&'s str>,
    status: &'static str,
    /// The first day on which this wording is law, if the source states it.
    #[schemars(with = "Option<String>")]
    effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    #[schemars(with = "Option<String>")]
    effective_to: Option<Day>,
    /// The day through which the edition is current, if the source states it.
    #[schemars(with = "Option<String>")]
    current_through: Option<Day>,
    /// The day on which the copy was retrieved; present only if its source does not state `currentThrough`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    retrieved_at: Option<Day>,
    /// What the edition does not know about the day.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'s str>,
    source_url: Option<&'s str>,
    /// The number of characters of the whole text.
    total_chars: usize,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "connector-fetch",
    subject: Subject::Agents,
    summary: "The text of a search result; also by citation or by an address of this service",
    details: None,
    route: None,
    tool: connector(
        "fetch",
        "Only for research connectors, which need this name; otherwise use law.get_node.",
        &[("include", "law")],
    ),
    parameters: &[ID.rule, INCLUDE.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<ConnectorDocument<'static>>(),
    model_text: None,
    access: law(&[Scope::Node], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let wanted = call.get(&ID).trim().to_owned();
    let (corpus, base_url) = (Arc::clone(call.corpus), call.base_url.to_owned());
    let asked = RequestedDay::named_or_today(call, day_of_address(&wanted)?);
    let included = Included::of(call.get(&INCLUDE));
    let work = PreparedWork::heavy(move |_| {
        let node = NodeReply::of(&corpus, node_lookup::find(&corpus, &wanted, &base_url)?, &asked, included)?;
        let whole = node.as_markdown(&corpus, &asked.law)?;
        Reply::json(&document(&node, whole))
    });
    // Only the lookup shows whether the citation names a provision.
    Ok(PreparedWork { charge: ChargeTiming::AfterWork, ..work })
}

fn day_of_address(wanted: &str) -> Result<Option<Day>, ApiError> {
    let invalid =
        |_| ApiError::invalid_parameter(ID.rule.name, "the day in this address is not a date such as 2026-01-31");
    node_lookup::day_of(wanted).map(|day| day.parse().map_err(invalid)).transpose()
}

fn document<'s>(node: &'s NodeReply<'s>, whole: String) -> ConnectorDocument<'s> {
    let total_chars = whole.chars().count();
    let text = match whole.char_indices().nth(TEXT_CHARS_MAX) {
        None => whole,
        Some((end, _)) => format!(
            "{}\n\n[The first {TEXT_CHARS_MAX} of {total_chars} characters. law.get_node returns the whole text, in parts.]\n",
            &whole[..end]
        ),
    };
    let through = node.provenance.current_through;
    let retrieved = node.provenance.day_of_copy();
    let currency = Currency { through, retrieved, is_outdated: node.is_outdated };
    let days = [node.effective_from, node.effective_to];
    ConnectorDocument {
        id: node.id,
        title: title(&node.citation, &node.heading, node.status, days, currency),
        text,
        url: &node.url,
        metadata: ConnectorMetadata {
            citation: &node.citation,
            code_body: node.code_body.as_deref(),
            status: node.status.as_str(),
            effective_from: node.effective_from,
            effective_to: node.effective_to,
            current_through: through,
            retrieved_at: retrieved,
            notice: node.notice.as_deref(),
            source_url: node.provenance.source_url.as_deref(),
            total_chars,
        },
    }
}
