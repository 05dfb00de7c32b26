//! Filters that limit a call to a part of the corpus: jurisdictions, code bodies, a subtree, tags,
//! statuses, a minimum score.
//!
//! Several values of one parameter are alternatives. Several parameters must all match.

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::{CodeBodyId, NodeId, OrdinalRange, ShortCode};
use hornbook_corpus::outline::Status;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_search::{FILTER_VALUES_MAX, Filter};

use crate::api::corpus::Corpus;
use crate::api::error::Violation;
use crate::api::operation::LawCall;
use crate::api::parameters::{AnyOf, BoundedTexts, Choice, Ids, Param, ShortCodes, UnitFraction};

pub(in crate::api) const JURISDICTION: Param<Option<ShortCode>> =
    Param::optional("jurisdiction", "short code of a jurisdiction; includes its sub-jurisdictions");

pub(in crate::api) const JURISDICTIONS: Param<Option<ShortCodes<FILTER_VALUES_MAX>>> =
    Param::optional("jurisdiction", "short codes of up to 10 jurisdictions, with their sub-jurisdictions");

pub(in crate::api) const CODE_BODIES: Param<Option<Ids<FILTER_VALUES_MAX>>> =
    Param::optional("codeBody", "ids of up to 10 code bodies, from code-bodies");

pub(in crate::api) const SUBTREE: Param<Option<NodeId>> =
    Param::optional("subtree", "id of a node; limits the results to its subtree");

pub(in crate::api) const TAGS: Param<Option<BoundedTexts<FILTER_VALUES_MAX, 100>>> =
    Param::optional("tag", "up to 10 tags, as listed in facets");

pub(in crate::api) const STATUSES: Param<Option<AnyOf<StatusChoice>>> =
    Param::optional("status", "statuses of results; current is short for in force");

pub(in crate::api) const MIN_SCORE: Param<Option<UnitFraction>> =
    Param::optional("minScore", "minimum score of results and counts");

/// A status by its name, or `current` for in force.
pub(in crate::api) struct StatusChoice(Status);

const STATUS_NAMES: [&str; Status::ALL.len() + 1] = {
    let mut names = ["current"; Status::ALL.len() + 1];
    let mut at = 0;
    while at < Status::ALL.len() {
        names[at + 1] = Status::ALL[at].as_str();
        at += 1;
    }
    names
};

impl Choice for StatusChoice {
    const NAMES: &'static [&'static str] = &STATUS_NAMES;

    fn at(place: usize) -> Option<Self> {
        match place.checked_sub(1) {
            None => Some(Self(Status::InForce)),
            Some(place) => Status::ALL.get(place).copied().map(Self),
        }
    }
}

/// The filter of a search. Invalid values are added to `violations`.
pub(super) fn filter(call: &LawCall<'_>, violations: &mut Vec<Violation>) -> Filter {
    Filter {
        ranges: ranges(call, violations),
        tags: tags(call, violations),
        statuses: call.get(&STATUSES).map(|choices| choices.into_iter().map(|StatusChoice(status)| status).collect()),
        min_score: call.get(&MIN_SCORE).map_or(0.0, |score| score as f32),
    }
}

/// The nodes that a call is limited to. Invalid values are added to `violations`.
pub(super) fn ranges(call: &LawCall<'_>, violations: &mut Vec<Violation>) -> Option<OrdinalRanges> {
    let corpus = call.corpus;
    let mut known = |found: Result<OrdinalRange, Violation>| found.map_err(|violation| violations.push(violation)).ok();
    let mut parts: Vec<OrdinalRanges> = Vec::new();
    if let Some(codes) = call.get(&JURISDICTIONS) {
        parts.push(OrdinalRanges::union(codes.iter().filter_map(|code| known(subtree(corpus, code)))));
    }
    if let Some(ids) = call.get(&CODE_BODIES) {
        let body = |id| code_body(corpus, CodeBodyId(id), CODE_BODIES.rule.name).map(|body| body.nodes);
        parts.push(OrdinalRanges::union(ids.iter().filter_map(|&id| known(body(id)))));
    }
    if let Some(id) = call.get(&SUBTREE) {
        parts.push(OrdinalRanges::union(known(within(corpus, id))));
    }
    parts.into_iter().reduce(|one, other| one.intersect(&other))
}

/// Tags as their positions in the catalogue.
fn tags(call: &LawCall<'_>, violations: &mut Vec<Violation>) -> Option<Vec<u16>> {
    let known = &call.corpus.catalogue().tags;
    let mut places = Vec::new();
    for tag in call.get(&TAGS)? {
        match known.iter().position(|known| known == tag) {
            Some(place) => places.extend(u16::try_from(place)),
            None => {
                let message = format!("there is no tag '{tag}'; facets=true lists those of the results");
                violations.push(Violation::new(TAGS.rule.name, message));
            }
        }
    }
    Some(places)
}

/// A node with everything below it.
fn within(corpus: &Corpus, id: NodeId) -> Result<OrdinalRange, Violation> {
    let outline = &corpus.snapshot().outline;
    let node = outline.ordinal(id);
    node.map(|node| outline.subtree(node))
        .ok_or_else(|| Violation::new(SUBTREE.rule.name, format!("there is no node {id}; /api/v1/browse lists them")))
}

/// The nodes of a jurisdiction and of its sub-jurisdictions.
pub(super) fn subtree(corpus: &Corpus, code: &ShortCode) -> Result<OrdinalRange, Violation> {
    match corpus.catalogue().jurisdiction(code) {
        Some(jurisdiction) => Ok(jurisdiction.subtree),
        None => {
            let message = format!("there is no jurisdiction {code}; /api/v1/coverage lists them");
            Err(Violation::new(JURISDICTION.rule.name, message))
        }
    }
}

/// The code body with this id. `name` is the parameter that gave the id.
pub(super) fn code_body<'s>(corpus: &'s Corpus, id: CodeBodyId, name: &str) -> Result<&'s CodeBody, Violation> {
    corpus
        .catalogue()
        .code_body(id)
        .ok_or_else(|| Violation::new(name, format!("there is no code body {id}; /api/v1/code-bodies lists them")))
}
