//! `search`: provisions by meaning and by words.

use std::sync::Arc;
use std::time::Instant;

use hornbook_corpus::ids::{CodeBodyId, NodeId, ShortCode};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::filters::filter;
use super::paging::Paging;
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, Violation};
use crate::api::operation::{LawCall, Prepared};
use crate::api::parameters::{Param, Text, choice};
use crate::api::reply::Reply;
use crate::search::{
    Abandoned, AnswerKind, CitationAnswer, Facets, Highlight, Hit, Mode, QUERY_CHARS_MAX, Relation, SearchRequest,
    ShownHit, check_query,
};

pub(in crate::api) const Q: Param<Text<QUERY_CHARS_MAX>> =
    Param::required("q", "a question, keywords, \"a phrase\", -excluded words, or a citation");

choice!(Mode, name);

pub(in crate::api) const MODE: Param<Mode> =
    Param::with_default("mode", "hybrid", "hybrid combines semantic (by meaning) and keyword (by words)");

pub(in crate::api) const FACETS: Param<bool> =
    Param::with_default("facets", "false", "true: count the results by jurisdiction and by tag");

pub(in crate::api) const EXACT: Param<bool> =
    Param::with_default("exact", "false", "true: do not correct misspelt words");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SearchResponse")]
pub(in crate::api) struct SearchReply<'s> {
    results: Vec<SearchResultItem<'s>>,
    /// From 1.
    page: u32,
    page_size: u32,
    /// The number of provisions that match, on all pages.
    total: u32,
    took_ms: u32,
    /// `hybrid`, `semantic` or `keyword`.
    mode: &'static str,
    /// What was searched for instead of `q`; only if words of it were misspelt. `exact=true` searches for `q` itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected_query: Option<&'s str>,
    /// Only if the request says `facets=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    facets: Option<FacetsReply<'s>>,
    /// Only if the query cites law that is not in this corpus: which, and what is here instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_here: Vec<NotHere>,
}

/// A citation in the query that names nothing in this corpus.
#[derive(Debug, Serialize, JsonSchema)]
struct NotHere {
    citation: Option<String>,
    answer: AnswerKind,
    /// The reason, and what is here.
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
    /// Where the query's words are in the snippet.
    highlights: Vec<Highlight>,
    #[schemars(with = "String")]
    status: Status,
    /// Higher is better. At most 1; lower for law that is no longer in force.
    score: f32,
    /// Only if the query is nothing but a citation: how the provision is related to the one it names. They are listed in
    /// this order: `named`, `citing` (its text cites a named one), `cited` (a named one cites it), `neighbour`.
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

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<Prepared, ApiError> {
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
    Ok(Prepared::heavy(move |cancellation| {
        let is_cancelled = || cancellation.is_cancelled();
        let abandoned = Abandoned::when(&is_cancelled);
        let wanted = SearchRequest { mode, page, limit, facets, exact, ..SearchRequest::new(&query) };
        let request = SearchRequest { filter: &filter, abandoned, ..wanted };
        run(&corpus, &request)
    }))
}

fn run(corpus: &Corpus, request: &SearchRequest<'_>) -> Result<Reply, ApiError> {
    let begun = Instant::now();
    let mut response = corpus.engine().search(request)?;
    request.abandoned.check()?;
    let shown = corpus.engine().show(&mut response)?;
    let results = response.hits.iter().zip(&shown).map(|(hit, shown)| item(hit, shown)).collect::<Result<_, _>>()?;
    let reply = SearchReply {
        results,
        page: request.page,
        page_size: request.limit,
        total: response.total,
        took_ms: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX),
        mode: request.mode.name(),
        corrected_query: response.corrected_query.as_deref(),
        facets: response.facets.as_ref().map(|facets| facets_of(corpus, facets)),
        not_here: not_here(corpus, request.query)?,
    };
    let paging = Paging { page: request.page, limit: request.limit };
    let pages = Some(paging.pages(response.total as usize));
    Ok(Reply { stages: response.stages.named().collect(), pages, ..Reply::json(&reply)? })
}

fn not_here(corpus: &Corpus, query: &str) -> Result<Vec<NotHere>, ApiError> {
    let cited = corpus.engine().cited_elsewhere(query)?;
    Ok(cited
        .into_iter()
        .map(|CitationAnswer { citation, answer, message, .. }| NotHere { citation, answer, message })
        .collect())
}

fn item<'s>(hit: &Hit, shown: &ShownHit<'s>) -> Result<SearchResultItem<'s>, ApiError> {
    let provision = &shown.provision;
    let body = provision.code_body.ok_or_else(|| {
        ApiError::internal(format!("{} lies in no code body; run 'hornbook verify'", provision.citation))
    })?;
    Ok(SearchResultItem {
        node_id: provision.id,
        citation: provision.citation,
        heading: provision.heading,
        jurisdiction: &body.jurisdiction,
        code_body: &body.name,
        code_body_id: body.id,
        snippet: shown.snippet.text,
        highlights: shown.snippet.highlights.clone(),
        status: provision.status,
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
