//! `formation-lookup-naics`: finds industry codes from a description of a business.

use hornbook_accounts::scope::Scope;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::error::ApiError;
use crate::api::operation::{CostUnit, MeteredCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedInteger, BoundedText, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, metered, route, tool};
use crate::api::subject::Subject;
use crate::formation::naics::{EDITION, FoundBy, Industry, IndustryHit, IndustryLevel, LookupResult, lookup};

/// A description of a business is short. Each of its words may have to be compared with every known word.
const QUERY_CHARS_MAX: usize = 256;

pub(in crate::api) const Q: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("q", "a NAICS code, its first digits, or a plain description of the business");

pub(in crate::api) const LIMIT: Param<BoundedInteger<1, 50>> =
    Param::with_default("limit", "10", "number of industries");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NaicsIndustries")]
pub(in crate::api) struct NaicsReply {
    /// The edition of the classification.
    edition: &'static str,
    /// The best match first; empty if nothing matches.
    industries: Vec<FoundIndustry>,
    /// The query with its unknown words corrected, which is what was looked up. Null if nothing was corrected.
    did_you_mean: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FoundIndustry")]
struct FoundIndustry {
    /// The NAICS code. Forms ask for six digits, which is the level `national_industry`.
    code: &'static str,
    title: &'static str,
    level: IndustryLevel,
    found_by: FoundBy,
    /// The levels from the sector down to the industry itself.
    hierarchy: Vec<IndustryReply>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NaicsIndustry")]
struct IndustryReply {
    code: &'static str,
    title: &'static str,
    level: IndustryLevel,
}

impl From<IndustryHit> for FoundIndustry {
    fn from(IndustryHit { industry, found_by }: IndustryHit) -> Self {
        let hierarchy = industry.path().into_iter().map(IndustryReply::from).collect();
        Self { code: industry.code, title: industry.title, level: industry.level(), found_by, hierarchy }
    }
}

impl From<&'static Industry> for IndustryReply {
    fn from(industry: &'static Industry) -> Self {
        Self { code: industry.code, title: industry.title, level: industry.level() }
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "formation-lookup-naics",
    subject: Subject::Formation,
    summary: "NAICS 2022 industry codes by code, by its first digits, or by a plain description of the business",
    details: Some(
        "Typing errors are corrected. Industries with `foundBy` `meaning` are guesses: no word of the query matches them.",
    ),
    route: route("/api/v1/formation/naics", "/api/v1/formation/naics?q=dog%20grooming%20van"),
    tool: tool(
        "formation.lookup_naics",
        "lookup_naics",
        "Use it for the industry code of a business. For law on an industry, use law.search.",
    ),
    parameters: &[Q.rule, LIMIT.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<NaicsReply>(),
    model_text: None,
    access: metered(&[Scope::Formation], 0, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let (query, limit) = (call.get(&Q).to_owned(), call.get(&LIMIT) as usize);
    // The first lookup builds the index, which takes tens of milliseconds.
    Ok(PreparedWork::heavy(move |_| {
        let LookupResult { hits, did_you_mean } = lookup(&query, limit);
        let industries = hits.into_iter().map(FoundIndustry::from).collect();
        Reply::json(&NaicsReply { edition: EDITION, industries, did_you_mean })
    }))
}
