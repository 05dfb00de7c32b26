//! From a citation as someone wrote it to the provisions that bear it, as a typed answer for each citation.

use std::sync::OnceLock;

use hornbook_corpus::cards::Card;
use hornbook_corpus::citation::{
    Body, Citation, CitationKey, Coverage, Holdings, Inventory, Place, RANGE_MAX, Resolution,
};
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Engine, SearchError};

/// So many candidates are told.
pub const CANDIDATES_MAX: usize = RANGE_MAX;

/// Words between the first and the last number of a citation that is a range, as terms of the keyword index.
const RANGE_TERMS: [&str; 3] = ["to", "through", "thru"];

/// What a citation was resolved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// It names one provision.
    Resolved,
    /// It names several provisions: they share the citation, or it is a range.
    Ambiguous,
    /// Its code is in this corpus, but has no such provision.
    NotHeld,
    /// Its code is not in this corpus.
    OutsideCoverage,
    /// Its jurisdiction is listed, but has no law yet.
    Placeholder,
    /// It is not a citation.
    Malformed,
}

impl AnswerKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Ambiguous => "ambiguous",
            Self::NotHeld => "not_held",
            Self::OutsideCoverage => "outside_coverage",
            Self::Placeholder => "placeholder",
            Self::Malformed => "malformed",
        }
    }
}

/// The answer to one citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CitationAnswer {
    pub answer: AnswerKind,
    /// The canonical form, with the subdivision; null if it could not be read.
    pub citation: Option<String>,
    /// The code body that it cites.
    pub code_body: Option<String>,
    pub jurisdiction: Option<String>,
    /// The subdivision within the provision, outermost first: `(b)(2)` is `b`, `2`.
    pub subdivision: Vec<String>,
    /// The provision, if it names exactly one.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub node_id: Option<NodeId>,
    /// The provisions that it names, in order. A long range is cut.
    pub candidates: Vec<CitedNode>,
    /// What the kind means and what to do next, for people.
    pub message: String,
}

/// A node that a citation may name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CitedNode {
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    pub citation: String,
    pub heading: String,
    #[schemars(with = "String")]
    pub status: Status,
    #[serde(skip)]
    pub node: NodeOrdinal,
}

/// The provisions whose own citation is a range, with what that is; gathered when first asked for.
pub(super) type CitedRanges = OnceLock<Vec<(Citation, NodeOrdinal)>>;

impl Engine {
    /// Resolves a citation or a list of them: one answer for each citation, in order, at least one.
    pub fn resolve(&self, text: &str) -> Result<Vec<CitationAnswer>, SearchError> {
        let resolved = self.snapshot().grammar().resolve(text, &Held(self))?;
        resolved.into_iter().map(|resolution| self.answer(text, resolution)).collect()
    }

    fn answer(&self, text: &str, resolution: Resolution) -> Result<CitationAnswer, SearchError> {
        let snapshot = self.snapshot();
        let grammar = snapshot.grammar();
        let (answer, citation, nodes, why) = match resolution {
            Resolution::Resolved { provision, citation } => (AnswerKind::Resolved, citation, vec![provision], None),
            Resolution::Ambiguous { candidates, citation } => (AnswerKind::Ambiguous, citation, candidates, None),
            Resolution::NotHeld { citation } => (AnswerKind::NotHeld, Some(citation), Vec::new(), None),
            Resolution::OutsideCoverage { citation } => (AnswerKind::OutsideCoverage, Some(citation), Vec::new(), None),
            Resolution::Placeholder { citation } => (AnswerKind::Placeholder, Some(citation), Vec::new(), None),
            Resolution::Malformed(error) => (AnswerKind::Malformed, None, Vec::new(), Some(error.to_string())),
        };
        let body = citation.as_ref().and_then(|citation| grammar.body(citation.body));
        let held_body = nodes.first().and_then(|&node| snapshot.code_body_of(node));
        let count = nodes.len();
        let candidates = nodes.into_iter().take(CANDIDATES_MAX).map(|node| self.cited_node(node));
        let candidates: Vec<CitedNode> = candidates.collect::<Result<_, SearchError>>()?;
        let code_body = held_body.map(|body| body.name.clone()).or_else(|| body.map(|body| body.name.to_owned()));
        let jurisdiction = held_body
            .map(|body| body.jurisdiction.to_string())
            .or_else(|| body.map(|body| body.jurisdiction.to_owned()));
        let canonical = match &citation {
            Some(citation) => Some(grammar.format(citation)),
            // No form knows it: the provision's own spelling is the canonical one.
            None => candidates.first().map(|node| node.citation.clone()),
        };
        let told = canonical.as_deref().unwrap_or(text);
        let mut message = why.unwrap_or_else(|| {
            let of = code_body.as_deref().unwrap_or("its code");
            let place = jurisdiction.as_deref().unwrap_or("its jurisdiction");
            message(answer, told, of, place, count)
        });
        if let Some(citation) = &citation
            && self.is_formerly(&grammar.key(citation))?
        {
            message += "; it was formerly cited so";
        }
        Ok(CitationAnswer {
            answer,
            code_body,
            jurisdiction,
            subdivision: citation
                .map_or_else(Vec::new, |citation| citation.subdivisions.into_iter().map(String::from).collect()),
            node_id: (answer == AnswerKind::Resolved).then(|| candidates.first().map(|node| node.node_id)).flatten(),
            citation: canonical,
            candidates,
            message,
        })
    }

    /// Whether a citation is only what provisions were cited as before.
    fn is_formerly(&self, key: &CitationKey) -> Result<bool, SearchError> {
        let bearers = self.snapshot().bearers(key)?;
        Ok(bearers.first().is_some_and(|&(_, kind)| kind == CitationKind::Former))
    }

    fn cited_node(&self, node: NodeOrdinal) -> Result<CitedNode, SearchError> {
        let Card { citation, heading, .. } = self.snapshot().cards.get(node)?;
        let (citation, heading) = (citation.to_owned(), heading.to_owned());
        let status = self.snapshot().outline.status(node);
        Ok(CitedNode { node_id: self.id_of(node)?, citation, heading, status, node })
    }

    /// The provisions cited as a range.
    fn cited_ranges(&self) -> Result<&[(Citation, NodeOrdinal)], SearchError> {
        if let Some(ranges) = self.ranges.get() {
            return Ok(ranges);
        }
        let snapshot = self.snapshot();
        let all = OrdinalRange { start: 0, end: snapshot.outline.len() };
        let mut nodes = Vec::new();
        for term in RANGE_TERMS {
            nodes.append(&mut self.keyword.with_citation_term(term, all, usize::MAX)?);
        }
        nodes.sort_unstable();
        nodes.dedup();
        let mut ranges = Vec::new();
        for node in nodes.into_iter().map(NodeOrdinal) {
            let citation = snapshot.grammar().parse(snapshot.cards.get(node)?.citation);
            let is_range = |citation: &Citation| matches!(citation.place, Place::Numbered { last: Some(_), .. });
            ranges.extend(citation.ok().filter(is_range).map(|citation| (citation, node)));
        }
        Ok(self.ranges.get_or_init(|| ranges))
    }
}

fn message(answer: AnswerKind, citation: &str, body: &str, jurisdiction: &str, count: usize) -> String {
    match answer {
        AnswerKind::Resolved => format!("{citation} is held, in {body}"),
        AnswerKind::Ambiguous => {
            format!("{citation} means {count} provisions of {body}; choose one by its id or a narrower citation")
        }
        AnswerKind::NotHeld => {
            format!(
                "{body} is held, but nothing in it is cited as {citation}; check the number, or search for its words"
            )
        }
        AnswerKind::OutsideCoverage => {
            format!("{citation} is a citation of {body} ({jurisdiction}), which is not held")
        }
        AnswerKind::Placeholder => {
            format!("{citation} is a citation of {body}; {jurisdiction} is listed, but no law of it is held yet")
        }
        AnswerKind::Malformed => format!("'{citation}' is no citation"),
    }
}

/// What the engine's snapshot holds.
struct Held<'e>(&'e Engine);

impl Held<'_> {
    /// The provisions with a citation or, where there are none, the containers; only those that bear it most properly.
    fn bearers(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        let snapshot = self.0.snapshot();
        let found = snapshot.bearers(key)?;
        let best = found.first().map(|&(_, kind)| kind);
        let mut nodes: Vec<NodeOrdinal> =
            found.into_iter().filter(|&(_, kind)| Some(kind) == best).map(|(node, _)| node).collect();
        if nodes.iter().any(|&node| snapshot.outline.is_provision(node)) {
            nodes.retain(|&node| snapshot.outline.is_provision(node));
        }
        Ok(nodes)
    }
}

impl Holdings for Held<'_> {
    type Error = SearchError;

    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        self.bearers(key)
    }

    fn ranges_over(&self, citation: &Citation) -> Result<Vec<NodeOrdinal>, SearchError> {
        let ranges = self.0.cited_ranges()?.iter();
        Ok(ranges.filter(|(range, _)| range.covers(citation)).map(|&(_, node)| node).collect())
    }

    fn node_count(&self) -> u32 {
        self.0.snapshot().outline.len()
    }

    fn is_within(&self, range: &Citation, node: NodeOrdinal) -> Result<Option<bool>, SearchError> {
        let snapshot = self.0.snapshot();
        if !snapshot.outline.is_provision(node) {
            return Ok(None);
        }
        let citation = snapshot.grammar().parse(snapshot.cards.get(node)?.citation);
        Ok(Some(citation.is_ok_and(|citation| range.covers(&citation))))
    }
}

impl Inventory for Held<'_> {
    fn coverage(&self, body: Body<'_>) -> Coverage {
        let catalogue = &self.0.snapshot().catalogue;
        if catalogue.code_bodies.iter().any(|held| held.key == body.key) {
            return Coverage::Held;
        }
        let listed = catalogue.jurisdictions.iter().find(|listed| listed.short_code.as_str() == body.jurisdiction);
        match listed {
            Some(listed) if listed.is_placeholder() => Coverage::Placeholder,
            _ => Coverage::Outside,
        }
    }
}
