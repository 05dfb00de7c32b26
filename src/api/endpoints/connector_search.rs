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
use crate::api::currency::Currency;
use crate::api::edition_freshness::EditionFreshness;
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
    /// Citation and heading. In parentheses the status and its days if the law is not in force, its last day if it has
    /// one, and the day through which the edition is current, with a remark if it is over a year old. If the source
    /// states no such day, the day of the copy.
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
            let currency = EditionFreshness::of(&corpus, hit.node, &hit.shown, asked.day)?.currency();
            Ok(ConnectorResult {
                id: *id,
                title: title(citation, heading, shown.status, [shown.from, shown.to], currency),
                url: asked.pages.page_of(corpus.snapshot(), hit.node)?,
            })
        };
        let hits = found.hits.iter().zip(&shown);
        let results = hits.map(|(hit, shown)| result(hit, &shown.provision)).collect::<Result<_, ApiError>>()?;
        let stages = found.stages.named().collect();
        Ok(Reply { stages, ..Reply::json(&ConnectorResults { results })? })
    }))
}

/// Citation and heading, with status and first and last day of a wording that is not in force or will end, and with
/// the currency of its edition.
pub(super) fn title(
    citation: &str,
    heading: &str,
    status: Status,
    [from, to]: [Option<Day>; 2],
    currency: Currency,
) -> String {
    let is_in_force = status == Status::InForce;
    let mut of_wording: Vec<String> = Vec::new();
    of_wording.extend((!is_in_force).then(|| status.as_str().to_owned()));
    of_wording.extend(from.filter(|_| !is_in_force).map(|from| format!("from {from}")));
    of_wording.extend(to.map(|to| format!("until {to}")));
    let remarks = [of_wording.join(" "), currency.to_string()];
    let remarks: Vec<&str> = remarks.iter().map(String::as_str).filter(|remark| !remark.is_empty()).collect();
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) };
    format!("{citation} {heading}{remarks}")
}
