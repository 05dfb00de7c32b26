//! `search`: provisions by meaning and by words.

use std::sync::Arc;
use std::time::Instant;

use hornbook_corpus::ids::{CodeBodyId, NodeId, OrdinalRange, ShortCode};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Prepared, Weight};
use crate::api::parameters::{Checked, Violation};
use crate::api::reply::{Pages, Reply};
use crate::search::{Abandoned, Facets, Highlight, RESULTS_MAX, SearchRequest, SearchResponse, ShownHit};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SearchResponse")]
pub(in crate::api) struct SearchReply<'s> {
    results: Vec<SearchResultItem<'s>>,
    /// From 1.
    page: u32,
    page_size: u32,
    /// How many provisions match, whatever page and limit.
    total: u32,
    took_ms: u32,
    /// hybrid, semantic or keyword.
    mode: &'static str,
    /// Only where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    facets: Option<FacetsReply<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SearchResultItem<'s> {
    #[schemars(with = "uuid::Uuid")]
    node_id: NodeId,
    /// To be cited verbatim.
    citation: &'s str,
    heading: &'s str,
    #[schemars(with = "Option<String>")]
    jurisdiction: Option<&'s ShortCode>,
    code_body: Option<&'s str>,
    #[schemars(with = "Option<uuid::Uuid>")]
    code_body_id: Option<CodeBodyId>,
    /// The passage that answers, as it stands in the text.
    snippet: &'s str,
    /// The query's words in the snippet, by characters.
    highlights: Vec<Highlight>,
    #[schemars(with = "String")]
    status: Status,
    /// From 1 down to 0 for what is no longer law.
    score: f32,
}

/// Counts over all matches.
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

pub(in crate::api) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let arguments = asked.arguments;
    let mut violations = Vec::new();
    let (page, limit) = (arguments.integer("page"), arguments.integer("limit"));
    if page.saturating_mul(limit) > RESULTS_MAX {
        let message = format!("page x limit reaches beyond result {RESULTS_MAX}; narrow the query or filter");
        violations.push(Violation::new("page", message));
    }
    let range = range(asked.corpus, arguments, &mut violations);
    if !violations.is_empty() {
        return Err(ApiError::invalid(violations));
    }
    let query = arguments.text("q").to_owned();
    let mode = arguments.choice("mode");
    let mode = mode.parse().unwrap_or_default();
    let facets = arguments.boolean("facets");
    let corpus = Arc::clone(asked.corpus);
    Ok(Prepared::watchful(Weight::Heavy, move |caller| {
        let has_left = || caller.has_left();
        let abandoned = Abandoned::when(&has_left);
        let request = SearchRequest { query: &query, mode, page, limit, range, facets, explain: false, abandoned };
        run(&corpus, &request)
    }))
}

/// What the filters leave: a jurisdiction with what lies in it, a code body, or what both have in common.
fn range(corpus: &Corpus, arguments: &Checked, violations: &mut Vec<Violation>) -> Option<OrdinalRange> {
    let mut range = None;
    match subtree(corpus, arguments) {
        Ok(subtree) => range = subtree,
        Err(violation) => violations.push(violation),
    }
    if let Some(id) = arguments.uuid_if_any("codeBody") {
        match corpus.catalogue().code_body(CodeBodyId(id)) {
            Some(body) => range = Some(range.map_or(body.nodes, |range| common(range, body.nodes))),
            None => {
                let message = format!("there is no code body {id}; /api/v1/code-bodies lists them");
                violations.push(Violation::new("codeBody", message));
            }
        }
    }
    range
}

/// A jurisdiction with what lies in it, if one is named.
pub(in crate::api) fn subtree(corpus: &Corpus, arguments: &Checked) -> Result<Option<OrdinalRange>, Violation> {
    let Some(code) = arguments.short_code_if_any("jurisdiction") else { return Ok(None) };
    match corpus.catalogue().jurisdiction(code) {
        Some(jurisdiction) => Ok(Some(jurisdiction.subtree)),
        None => {
            let message = format!("there is no jurisdiction {code}; /api/v1/coverage lists them");
            Err(Violation::new("jurisdiction", message))
        }
    }
}

fn common(a: OrdinalRange, b: OrdinalRange) -> OrdinalRange {
    let start = a.start.max(b.start);
    OrdinalRange { start, end: a.end.min(b.end).max(start) }
}

fn run(corpus: &Corpus, request: &SearchRequest<'_>) -> Result<Reply, ApiError> {
    let begun = Instant::now();
    let mut response = corpus.engine().search(request)?;
    request.abandoned.check()?;
    let shown = corpus.engine().show(&mut response)?;
    let results = response.hits.iter().zip(&shown).map(|(hit, shown)| item(hit.score, shown)).collect();
    let reply = SearchReply {
        results,
        page: request.page,
        page_size: request.limit,
        total: response.total,
        took_ms: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX),
        mode: request.mode.name(),
        facets: response.facets.as_ref().map(|facets| facets_of(corpus, facets)),
    };
    Ok(Reply {
        stages: response.stages.named().collect(),
        pages: Some(pages(request, &response)),
        ..Reply::json(&reply)?
    })
}

fn item<'s>(score: f32, shown: &ShownHit<'s>) -> SearchResultItem<'s> {
    let provision = &shown.provision;
    SearchResultItem {
        node_id: provision.id,
        citation: provision.citation,
        heading: provision.heading,
        jurisdiction: provision.code_body.map(|body| &body.jurisdiction),
        code_body: provision.code_body.map(|body| body.name.as_str()),
        code_body_id: provision.code_body.map(|body| body.id),
        snippet: shown.snippet.text,
        highlights: shown.snippet.highlights.clone(),
        status: provision.status,
        score,
    }
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

fn pages(request: &SearchRequest<'_>, response: &SearchResponse) -> Pages {
    let reachable = RESULTS_MAX / request.limit;
    Pages { page: request.page, last: response.total.div_ceil(request.limit).clamp(1, reachable) }
}
