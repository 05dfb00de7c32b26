//! `connector-search`: search in the form that research connectors expect: ids, titles and URLs.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use hornbook_search::{CancelCheck, Hit, HydratedHit, Mode, QUERY_CHARS_MAX, SearchRequest, check_query};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::as_of::RequestedDay;
use crate::api::error::ApiError;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedText, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, connector, law};
use crate::api::subject::Subject;

pub(in crate::api) const QUERY: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("query", "a question, keywords, \"a phrase\", -excluded words, or a citation");

/// Number of results. These connectors read all of them.
const RESULTS: u32 = 10;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectorResults")]
pub(in crate::api) struct ConnectorResults {
    results: Vec<ConnectorResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ConnectorResult {
    #[schemars(with = "uuid::Uuid")]
    id: NodeId,
    /// Citation and heading, followed by the status and its days if the law is not in force, and by its last day if
    /// it has one.
    title: String,
    url: String,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "connector-search",
    subject: Subject::Agents,
    summary: "Search provisions for research; ids, titles and addresses only",
    details: None,
    route: None,
    tool: connector("search", "Only for research connectors, which need this name; otherwise use law.search.", &[]),
    parameters: &[QUERY.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<ConnectorResults>(),
    model_text: None,
    access: law(&[Scope::Search], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let query = call.get(&QUERY).to_owned();
    check_query(&query).map_err(|error| ApiError::invalid_parameter(QUERY.rule.name, error.to_string()))?;
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::named_or_today(call, None);
    let day = Some(asked.day);
    let depth = call.deep.depth_of(call.corpus.engine(), None, &query, Mode::Hybrid)?;
    Ok(PreparedWork::search(depth, move |cancellation| {
        let is_cancelled = || cancellation.is_cancelled();
        let abandoned = CancelCheck::when(&is_cancelled);
        let request =
            SearchRequest { depth, limit: RESULTS, day, cancel_check: abandoned, ..SearchRequest::new(&query) };
        let mut found = corpus.engine().search(&request)?;
        cancellation.check()?;
        let shown = corpus.engine().show(&mut found)?;
        let result = |hit: &Hit, provision: &HydratedHit<'_>| {
            let HydratedHit { id, citation, heading, shown, .. } = provision;
            Ok(ConnectorResult {
                id: *id,
                title: title(citation, heading, shown.status, [shown.from, shown.to]),
                url: asked.pages.page_of(corpus.snapshot(), hit.node)?,
            })
        };
        let hits = found.hits.iter().zip(&shown);
        let results = hits.map(|(hit, shown)| result(hit, &shown.provision)).collect::<Result<_, ApiError>>()?;
        let stages = found.stages.named().collect();
        Ok(Reply { stages, ..Reply::json(&ConnectorResults { results })? })
    }))
}

/// Citation and heading, with status and first and last day of a wording that is not in force or will end.
pub(super) fn title(citation: &str, heading: &str, status: Status, [from, to]: [Option<Day>; 2]) -> String {
    let is_in_force = status == Status::InForce;
    let mut remarks: Vec<String> = Vec::new();
    remarks.extend((!is_in_force).then(|| status.as_str().to_owned()));
    remarks.extend(from.filter(|_| !is_in_force).map(|from| format!("from {from}")));
    remarks.extend(to.map(|to| format!("until {to}")));
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(" ")) };
    format!("{citation} {heading}{remarks}")
}
