//! `search`: finds provisions by meaning and by words.

use std::sync::Arc;
use std::time::Instant;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, ShortCode};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::filters::filter;
use super::paging::Paging;
use crate::api::as_of::RequestedDay;
use crate::api::corpus::Corpus;
use crate::api::deep_search::DEPTH;
use crate::api::edition_freshness::{EditionCertainty, EditionFreshness};
use crate::api::error::{ApiError, Violation};
use crate::api::operation::{LawCall, PreparedWork};
use crate::api::parameters::{BoundedText, Param, choice};
use crate::api::reply::Reply;
use crate::search::{
    AnswerKind, CancelCheck, CitationAnswer, Facets, Highlight, Hit, Mode, QUERY_CHARS_MAX, Relation, SearchRequest,
    SearchResponse, ShownHit, UnderstoodPlace, check_query,
};

pub(in crate::api) const Q: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("q", "a question, keywords, \"a phrase\", -excluded words, or a citation");

choice!(Mode, name);

pub(in crate::api) const MODE: Param<Mode> =
    Param::with_default("mode", "hybrid", "hybrid combines semantic (by meaning) and keyword (by words)");

pub(in crate::api) const FACETS: Param<bool> =
    Param::with_default("facets", "false", "true: count the results by jurisdiction and by tag");

pub(in crate::api) const EXACT: Param<bool> =
    Param::with_default("exact", "false", "true: do not correct the spelling of q, and do not read places in it");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SearchResponse")]
pub(in crate::api) struct SearchReply<'s> {
    results: Vec<SearchResultItem<'s>>,
    /// The page number, from 1.
    page: u32,
    page_size: u32,
    /// The number of matching provisions on all pages.
    total: u32,
    took_ms: u32,
    /// `hybrid`, `semantic` or `keyword`.
    mode: &'static str,
    /// `deep` if the sentence encoder of the corpus read the query, otherwise `fast`.
    depth: &'static str,
    /// What was searched for instead of `q`; present only if words of `q` were misspelled. `exact=true`
    /// searches for `q` itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected_query: Option<&'s str>,
    /// The jurisdiction or code that `q` names ("in DC", "Virginia law"), and its effect. Present only if
    /// no parameter narrows the search to a part of the law. `exact=true` searches everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    understood: Option<&'s UnderstoodPlace>,
    /// Present only if the request has `facets=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    facets: Option<FacetsReply<'s>>,
    /// The day whose law was searched.
    #[schemars(with = "String")]
    as_of: Day,
    /// What the editions of the results do not know about that day, by code body, and phrases of the
    /// query that restrict nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
    /// What the query cites that is not in this corpus, or the jurisdiction it names that has no law
    /// here, and what is here instead. Left out if there is nothing of this kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_here: Vec<NotHere>,
}

/// A citation in the query that names nothing in this corpus, or a jurisdiction whose law is not in it.
#[derive(Debug, Serialize, JsonSchema)]
struct NotHere {
    /// Null for a jurisdiction.
    citation: Option<String>,
    answer: AnswerKind,
    /// Why it is not here, and what is here instead.
    message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SearchResultItem<'s> {
    #[schemars(with = "uuid::Uuid")]
    node_id: NodeId,
    /// Quote it word for word.
    citation: &'s str,
    heading: &'s str,
    /// Short code of the jurisdiction whose law it is.
    #[schemars(with = "String")]
    jurisdiction: &'s ShortCode,
    /// Name of the code body.
    code_body: &'s str,
    #[schemars(with = "uuid::Uuid")]
    code_body_id: CodeBodyId,
    /// The passage of the text that matches best.
    snippet: &'s str,
    /// The positions of the query's words in the snippet.
    highlights: Vec<Highlight>,
    /// Its status on the day `asOf`.
    #[schemars(with = "String")]
    status: Status,
    /// The first day on which this wording is law, if the source states it.
    #[schemars(with = "Option<String>")]
    effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    #[schemars(with = "Option<String>")]
    effective_to: Option<Day>,
    /// The day through which the edition is current, if the source states it.
    #[schemars(with = "Option<String>")]
    current_through: Option<Day>,
    /// Higher is better. At most 1; lower for law that is not in force.
    score: f32,
    /// How the provision is related to the one that the query names; present only if the query is nothing
    /// but a citation. Results are listed in this order: `named`, `citing` (its text cites a named one),
    /// `cited` (a named one cites it), `neighbour`.
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<Relation>,
}

/// Counts over all results.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Facets")]
struct FacetsReply<'s> {
    jurisdictions: Vec<JurisdictionCount<'s>>,
    tags: Vec<TagCount<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct JurisdictionCount<'s> {
    #[schemars(with = "String")]
    value: &'s ShortCode,
    name: &'s str,
    count: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TagCount<'s> {
    value: &'s str,
    count: u32,
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let mut violations = Vec::new();
    let paging = Paging::of(call).map_err(|violation| violations.push(violation));
    let filter = filter(call, &mut violations);
    if let Err(error) = check_query(call.get(&Q)) {
        violations.push(Violation::new(Q.rule.name, error.to_string()));
    }
    let (Ok(Paging { page, limit }), true) = (paging, violations.is_empty()) else {
        return Err(ApiError::invalid(violations));
    };
    let query = call.get(&Q).to_owned();
    let (mode, facets, exact) = (call.get(&MODE), call.get(&FACETS), call.get(&EXACT));
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::of(call);
    let depth = call.deep.depth_of(call.corpus.engine(), call.get(&DEPTH), &query, mode)?;
    Ok(PreparedWork::search(depth, move |cancellation| {
        let is_cancelled = || cancellation.is_cancelled();
        let abandoned = CancelCheck::when(&is_cancelled);
        let wanted = SearchRequest { mode, depth, page, limit, facets, exact, ..SearchRequest::new(&query) };
        let request = SearchRequest { filter: &filter, day: Some(asked.day), cancel_check: abandoned, ..wanted };
        run(&corpus, &request, &asked)
    }))
}

fn run(corpus: &Corpus, request: &SearchRequest<'_>, asked: &RequestedDay) -> Result<Reply, ApiError> {
    let begun = Instant::now();
    let mut response = corpus.engine().search(request)?;
    request.cancel_check.check()?;
    let shown = corpus.engine().show(&mut response)?;
    let mut notices: Vec<String> = response
        .unrestricting
        .iter()
        .map(|phrase| {
            format!("the phrase \"{phrase}\" has only common words: it affects the ranking but excludes no results")
        })
        .collect();
    let mut results = Vec::with_capacity(shown.len());
    for (hit, shown) in response.hits.iter().zip(&shown) {
        let currency = EditionFreshness::of(corpus, hit.node, &hit.shown, asked.day)?;
        let item = item(hit, shown, currency.through)?;
        if let Some(notice) = currency.notice().filter(|_| shows_notice(currency.knowledge, asked)) {
            let notice = format!("{}: {notice}", item.code_body);
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        }
        results.push(item);
    }
    let reply = SearchReply {
        results,
        page: request.page,
        page_size: request.limit,
        total: response.total,
        took_ms: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX),
        mode: request.mode.name(),
        depth: response.depth.name(),
        corrected_query: response.corrected_query.as_deref(),
        understood: response.understood.as_ref(),
        facets: response.facets.as_ref().map(|facets| facets_of(corpus, facets)),
        as_of: asked.day,
        notices,
        not_here: not_here(corpus, request.query, &response)?,
    };
    let paging = Paging { page: request.page, limit: request.limit };
    let pages = Some(paging.pages(response.total as usize));
    Ok(Reply { stages: response.stages.named().collect(), pages, ..Reply::json(&reply)? })
}

fn not_here(corpus: &Corpus, query: &str, response: &SearchResponse) -> Result<Vec<NotHere>, ApiError> {
    let cited = corpus.engine().unresolved_citations(query)?;
    let mut not_here: Vec<NotHere> = cited
        .into_iter()
        .map(|CitationAnswer { citation, answer, message, .. }| NotHere { citation, answer, message })
        .collect();
    // A missing citation already reports on its jurisdiction.
    if let Some(name) = response.not_loaded.as_deref().filter(|_| not_here.is_empty()) {
        let message = format!("{name} is listed, but this corpus does not have its law yet");
        not_here.push(NotHere { citation: None, answer: AnswerKind::Placeholder, message });
    }
    Ok(not_here)
}

/// Whether a list of results shows the notice. For today only if the edition ended more than a year ago;
/// for a day that the call gave also in other cases.
fn shows_notice(knowledge: EditionCertainty, asked: &RequestedDay) -> bool {
    match knowledge {
        EditionCertainty::LongPast => true,
        EditionCertainty::Past | EditionCertainty::Undated | EditionCertainty::TooEarly => asked.is_named,
        EditionCertainty::Certain | EditionCertainty::Unstated => false,
    }
}

fn item<'s>(hit: &Hit, shown: &'s ShownHit<'s>, through: Option<Day>) -> Result<SearchResultItem<'s>, ApiError> {
    let provision = &shown.provision;
    let body = provision.code_body.ok_or_else(|| {
        ApiError::internal(format!("{} belongs to no code body; run 'hornbook verify'", provision.citation))
    })?;
    Ok(SearchResultItem {
        node_id: provision.id,
        citation: provision.citation,
        heading: &provision.heading,
        jurisdiction: &body.jurisdiction,
        code_body: &body.name,
        code_body_id: body.id,
        snippet: shown.snippet.text,
        highlights: shown.snippet.highlights.clone(),
        status: provision.shown.status,
        effective_from: provision.shown.from,
        effective_to: provision.shown.to,
        current_through: through,
        score: hit.score,
        relation: hit.relation,
    })
}

fn facets_of<'s>(corpus: &'s Corpus, facets: &Facets) -> FacetsReply<'s> {
    let catalogue = corpus.catalogue();
    let jurisdictions = facets.jurisdictions.iter().filter_map(|facet| {
        let jurisdiction = catalogue.jurisdictions.get(facet.place)?;
        Some(JurisdictionCount { value: &jurisdiction.short_code, name: &jurisdiction.name, count: facet.count })
    });
    let tags = facets.tags.iter().filter_map(|facet| {
        let value = catalogue.tags.get(facet.place)?;
        Some(TagCount { value, count: facet.count })
    });
    FacetsReply { jurisdictions: jurisdictions.collect(), tags: tags.collect() }
}
