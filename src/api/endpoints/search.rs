//! `search`: finds provisions by meaning and by words.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, ShortCode};
use hornbook_corpus::outline::Status;
use hornbook_search::{
    AnswerKind, CancelCheck, CitationAnswer, Facets, Highlight, Hit, Mode, PlaceEffect, QUERY_CHARS_MAX, Relation,
    SearchRequest, SearchResponse, ShownHit, UnderstoodPlace, check_query,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::{CODE_BODIES, JURISDICTIONS, MIN_SCORE, STATUSES, SUBTREE, TAGS, filter};
use super::paging::{LIMIT, PAGE, Paging};
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::corpus::Corpus;
use crate::api::deep_search::DEPTH;
use crate::api::edition_freshness::{EditionFreshness, EditionNotices};
use crate::api::error::{ApiError, Violation};
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, Standing, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedText, Param, choice};
use crate::api::reply::Reply;
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, law, law_tool, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const Q: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("q", "a question, keywords, \"a phrase\", -excluded words, or a citation");

choice!(Mode, name);

pub(in crate::api) const MODE: Param<Mode> =
    Param::with_default("mode", "hybrid", "hybrid combines semantic (by meaning) and keyword (by words)");

pub(in crate::api) const FACETS: Param<bool> =
    Param::with_default("facets", "false", "true: count the results by jurisdiction and by tag");

pub(in crate::api) const EXACT: Param<bool> =
    Param::with_default("exact", "false", "true: neither correct q nor read places in it");

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "SearchResponse")]
pub struct SearchReply<'s> {
    pub results: Vec<SearchResultItem<'s>>,
    /// The page number, from 1.
    pub page: u32,
    pub page_size: u32,
    /// The number of matching provisions on all pages.
    pub total: u32,
    pub took_ms: u32,
    /// `hybrid`, `semantic` or `keyword`.
    pub mode: ReplyText<'s>,
    /// `deep` if the sentence encoder of the corpus read the query, otherwise `fast`.
    pub depth: ReplyText<'s>,
    /// What was searched for instead of `q`; present only if words of `q` were misspelled. `exact=true`
    /// searches for `q` itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_query: Option<ReplyText<'s>>,
    /// The jurisdiction or code that `q` names ("in DC", "Virginia law"), and its effect. Present only if
    /// no parameter narrows the search to a part of the law. `exact=true` searches everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub understood: Option<Cow<'s, UnderstoodPlace>>,
    /// Present only if the request has `facets=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<FacetsReply<'s>>,
    /// The day whose law was searched.
    #[schemars(with = "String")]
    pub as_of: Day,
    /// What the editions of the results do not know about that day, by code body, and phrases of the
    /// query that restrict nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// What the query cites that is not in this corpus, or the jurisdiction it names that has no law
    /// here, and what is here instead. Left out if there is nothing of this kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_here: Vec<NotHere>,
}

/// A citation in the query that names nothing in this corpus, or a jurisdiction whose law is not in it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NotHere {
    /// Null for a jurisdiction.
    pub citation: Option<String>,
    pub answer: AnswerKind,
    /// Why it is not here, and what is here instead.
    pub message: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
pub struct SearchResultItem<'s> {
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    /// The web page on which people read it; cite it.
    pub url: String,
    /// Quote it word for word.
    pub citation: ReplyText<'s>,
    pub heading: ReplyText<'s>,
    /// Short code of the jurisdiction whose law it is.
    #[schemars(with = "String")]
    pub jurisdiction: Cow<'s, ShortCode>,
    /// Name of the code body.
    pub code_body: ReplyText<'s>,
    #[schemars(with = "uuid::Uuid")]
    pub code_body_id: CodeBodyId,
    /// The passage of the text that matches best.
    pub snippet: ReplyText<'s>,
    /// The positions of the query's words in the snippet.
    pub highlights: Vec<Highlight>,
    /// Its status on the day `asOf`.
    #[schemars(with = "String")]
    pub status: Status,
    /// The first day on which this wording is law, if the source states it.
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
    /// The day through which the edition is current, if the source states it.
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which the copy was retrieved; present only if its source does not state `currentThrough`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
    /// Higher is better. At most 1; lower for law that is not in force.
    pub score: f32,
    /// How the provision is related to the one that the query names; present only if the query is nothing
    /// but a citation. Results are listed in this order: `named`, `citing` (its text cites a named one),
    /// `cited` (a named one cites it), `neighbour`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
}

/// Counts over all results.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
#[schemars(rename = "Facets")]
pub struct FacetsReply<'s> {
    pub jurisdictions: Vec<JurisdictionCount<'s>>,
    pub tags: Vec<TagCount<'s>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
pub struct JurisdictionCount<'s> {
    #[schemars(with = "String")]
    pub value: Cow<'s, ShortCode>,
    pub name: ReplyText<'s>,
    pub count: u32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
pub struct TagCount<'s> {
    pub value: ReplyText<'s>,
    pub count: u32,
}

impl ForModel for SearchReply<'_> {
    fn for_model(&self) -> ModelText {
        let Self { results, page, page_size, total, .. } = self;
        let mut shown = ModelText::of(self.remarks());
        let _ = match results.first() {
            None => writeln!(shown.text, "No provisions on this page; {total} match in all."),
            Some(first) if first.relation.is_some() => {
                let count = results.len();
                writeln!(shown.text, "{count} of {total} provisions around the one that is cited, page {page}:")
            }
            Some(_) => writeln!(shown.text, "{} of {total} provisions that match, page {page}:", results.len()),
        };
        let before = u64::from(page - page.min(&1)) * u64::from(*page_size);
        for (hit, number) in results.iter().zip(before + 1..) {
            let SearchResultItem { node_id, url, citation, heading, snippet, relation, .. } = hit;
            let standing = hit.standing();
            let related = relation.map_or("", related);
            let _ = writeln!(
                shown.text,
                "\n{number}. {citation} {heading} ({standing}{related}, id {node_id})\n{url}\n{snippet}"
            );
            shown.link(*node_id, citation, heading);
        }
        shown
    }
}

impl SearchReply<'_> {
    /// How the query was understood, and what the results do not show.
    fn remarks(&self) -> String {
        let mut out = String::new();
        if let Some(corrected) = &self.corrected_query {
            let _ = writeln!(
                out,
                "Searched for \"{corrected}\", because words were misspelled; exact=true searches for them as typed."
            );
        }
        if let Some(UnderstoodPlace { name, words, effect, .. }) = self.understood.as_deref() {
            let what = match effect {
                PlaceEffect::Filter => "Searched only in",
                PlaceEffect::Preference => "Results rank higher if they are from",
            };
            let _ = writeln!(
                out,
                "{what} {name}, because the query says \"{words}\"; exact=true searches everywhere equally."
            );
        }
        for NotHere { message, .. } in &self.not_here {
            let _ = writeln!(out, "Not here: {message}.");
        }
        for notice in &self.notices {
            let _ = writeln!(out, "Note: {notice}");
        }
        out
    }
}

impl SearchResultItem<'_> {
    fn standing(&self) -> Standing {
        Standing {
            status: self.status,
            from: self.effective_from,
            to: self.effective_to,
            through: self.current_through,
            retrieved: self.retrieved_at,
        }
    }
}

/// How a provision is related to the one that the query names.
const fn related(relation: Relation) -> &'static str {
    match relation {
        Relation::Citing => ", cites it",
        Relation::Cited => ", is cited by it",
        Relation::Neighbour => ", is next to it",
        Relation::Named => "",
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "search",
    subject: Subject::Search,
    summary: "Search provisions by meaning and by words",
    details: Some(
        "If `q` names a jurisdiction or a code (\"in DC\"), only its law is searched or its law ranks higher, as `understood` reports; `exact=true` turns this off.",
    ),
    route: route("/api/v1/search", "/api/v1/search?q={words}&jurisdiction={jurisdiction}"),
    tool: law_tool(
        "law.search",
        "search_law",
        "Use it for a question or words of any kind. If you have a citation, use law.resolve.",
        &[("limit", "8")],
    ),
    parameters: &[
        Q.rule,
        PAGE.rule,
        LIMIT.rule,
        MODE.rule,
        DEPTH.rule,
        JURISDICTIONS.rule,
        CODE_BODIES.rule,
        SUBTREE.rule,
        TAGS.rule,
        STATUSES.rule,
        MIN_SCORE.rule,
        FACETS.rule,
        EXACT.rule,
        FIELDS.rule,
        VIEW.rule,
        AS_OF.rule,
    ],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<SearchReply<'static>>(),
    model_text: Some(|json| written_for_model::<SearchReply<'_>>(json)),
    access: law(&[Scope::Search], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
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
    let mut editions = EditionNotices::default();
    for (hit, shown) in response.hits.iter().zip(&shown) {
        let freshness = editions.add(corpus, hit.node, &hit.shown, asked)?;
        results.push(item(corpus, hit, shown, &freshness, asked)?);
    }
    notices.extend(editions.into_vec());
    let reply = SearchReply {
        results,
        page: request.page,
        page_size: request.limit,
        total: response.total,
        took_ms: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX),
        mode: request.mode.name().into(),
        depth: response.depth.name().into(),
        corrected_query: response.corrected_query.as_deref().map(ReplyText::from),
        understood: response.understood.as_ref().map(Cow::Borrowed),
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

fn item<'s>(
    corpus: &Corpus,
    hit: &Hit,
    shown: &'s ShownHit<'s>,
    freshness: &EditionFreshness,
    asked: &RequestedDay,
) -> Result<SearchResultItem<'s>, ApiError> {
    let provision = &shown.provision;
    let body = provision.code_body.ok_or_else(|| {
        ApiError::internal(format!("{} belongs to no code body; run 'hornbook verify'", provision.citation))
    })?;
    Ok(SearchResultItem {
        node_id: provision.id,
        url: asked.pages.page_of(corpus.snapshot(), hit.node)?,
        citation: provision.citation.into(),
        heading: ReplyText::from(&*provision.heading),
        jurisdiction: Cow::Borrowed(&body.jurisdiction),
        code_body: ReplyText::from(&body.name),
        code_body_id: body.id,
        snippet: shown.snippet.text.into(),
        highlights: shown.snippet.highlights.clone(),
        status: provision.shown.status,
        effective_from: provision.shown.from,
        effective_to: provision.shown.to,
        current_through: freshness.through,
        retrieved_at: freshness.retrieved,
        score: hit.score,
        relation: hit.relation,
    })
}

fn facets_of<'s>(corpus: &'s Corpus, facets: &Facets) -> FacetsReply<'s> {
    let catalogue = corpus.catalogue();
    let jurisdictions = facets.jurisdictions.iter().filter_map(|facet| {
        let jurisdiction = catalogue.jurisdictions.get(facet.place)?;
        Some(JurisdictionCount {
            value: Cow::Borrowed(&jurisdiction.short_code),
            name: ReplyText::from(&jurisdiction.name),
            count: facet.count,
        })
    });
    let tags = facets.tags.iter().filter_map(|facet| {
        let value = catalogue.tags.get(facet.place)?;
        Some(TagCount { value: ReplyText::from(value), count: facet.count })
    });
    FacetsReply { jurisdictions: jurisdictions.collect(), tags: tags.collect() }
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::ids::NodeId;
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;

    fn text(changed: &Value, hits: u128) -> ModelText {
        let id = |number| Uuid::from_u128(number).to_string();
        let hit = |number| {
            json!({
                "nodeId": id(number), "url": "https://law.example/law/1", "citation": "1 U.S.C. § 1", "heading": "Words", "jurisdiction": "US",
                "codeBody": "United States Code", "codeBodyId": id(9), "snippet": "In \"this\"", "highlights": [],
                "status": "in force", "currentThrough": "2024-01-31", "score": 1.0,
            })
        };
        let results: Vec<Value> = (1..=hits).map(hit).collect();
        let mut reply = json!({
            "results": results, "page": 2, "pageSize": 2, "total": 4, "tookMs": 1, "mode": "hybrid", "depth": "fast",
            "asOf": "2026-01-01",
        });
        let members = changed.as_object().unwrap().clone();
        reply.as_object_mut().unwrap().extend(members);
        serde_json::from_str::<SearchReply<'_>>(&reply.to_string()).unwrap().for_model()
    }

    #[test]
    fn the_text_for_models_numbers_the_results_and_links_to_them() {
        let shown = text(&json!({}), 2);
        let second = Uuid::from_u128(2);
        assert!(shown.text.starts_with("2 of 4 provisions that match, page 2:"), "{}", shown.text);
        let line = format!(
            "\n4. 1 U.S.C. § 1 Words (in force, current through 2024-01-31, id {second})\nhttps://law.example/law/1\nIn \"this\""
        );
        assert!(shown.text.contains(&line), "{}", shown.text);
        assert_eq!(shown.links.iter().map(|link| link.id).collect::<Vec<_>>()[1], NodeId(second));
        assert_eq!(shown.links.len(), 2);
        let corrected = text(&json!({ "correctedQuery": "noise level" }), 2);
        assert!(corrected.text.starts_with("Searched for \"noise level\", because"));
    }

    #[test]
    fn the_text_for_models_names_a_place_with_exact_as_the_way_out() {
        let text = |effect: &str| {
            let place = json!({ "jurisdiction": "DC", "name": "District of Columbia", "words": "in DC", "as": effect });
            text(&json!({ "understood": place }), 0).text
        };
        let narrowed = "Searched only in District of Columbia, because the query says \"in DC\"; exact=true searches";
        assert!(text("filter").starts_with(narrowed), "{}", text("filter"));
        assert!(text("preference").starts_with("Results rank higher if they are from District of Columbia, because"));
    }
}
