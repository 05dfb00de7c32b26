//! Resolves citations as someone wrote them to nodes, with a typed answer for each citation of a list.

mod containers;
pub(super) mod tables;

use std::ops::Range;

use hornbook_corpus::cards::Card;
use hornbook_corpus::citation::{
    Body, Citation, CitationKey, Cited, Coverage, Holdings, Home, Inventory, Locator, NamedContainer, ParseError,
    RANGE_MAX, Resolution,
};
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::engine::Engine;
use super::error::SearchError;
use containers::ContainerIndex;

/// The most candidates in an answer.
pub const CANDIDATES_MAX: usize = RANGE_MAX;

/// Whose laws acts of Congress are.
const FEDERAL: &str = "US";

/// Words between the first and the last number of a citation that is a range, as terms of the keyword index.
const RANGE_TERMS: [&str; 3] = ["to", "through", "thru"];

/// The kind of answer to a citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// It names one provision or container.
    Resolved,
    /// It names several: they share the citation, or it is a range.
    Ambiguous,
    /// The code is in the corpus, but nothing in it has this citation.
    NotHeld,
    /// The code is not in the corpus.
    OutsideCoverage,
    /// The jurisdiction is listed, but its law is not in the corpus yet.
    Placeholder,
    /// It cannot be read as a citation.
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
    /// The code that it belongs to.
    pub code_body: Option<String>,
    pub jurisdiction: Option<String>,
    /// The subdivision within the provision, outermost first: `(b)(2)` is `b`, `2`.
    pub subdivision: Vec<String>,
    /// The provision or container, if it is one.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub node_id: Option<NodeId>,
    /// All that it names, in code order; at most 100.
    pub candidates: Vec<CitedNode>,
    /// An explanation for people, with what to do next.
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

/// Where a text cites a provision, and which subdivision of it.
pub type Mention = (Range<usize>, NodeOrdinal, Vec<Box<str>>);

impl Engine {
    /// Resolves a citation or a list of them: one answer for each, in order, at least one.
    pub fn resolve(&self, text: &str) -> Result<Vec<CitationAnswer>, SearchError> {
        let resolved = self.snapshot().grammar().resolve(text, &Held(self))?;
        resolved.into_iter().map(|resolution| self.answer(resolution)).collect()
    }

    /// The places where the text of the provision with this citation cites provisions that are held, one each: byte ranges
    /// in order, with the subdivision that is cited. At most so many.
    pub fn mentions(&self, home: &str, text: &str, most: usize) -> Result<Vec<Mention>, SearchError> {
        let grammar = self.snapshot().grammar();
        let own = grammar.parse(home).ok();
        let found = match own.as_ref().and_then(Home::of) {
            Some(home) => grammar.find_in_provision(text, home),
            None => grammar.find_in(text),
        };
        let mut mentions = Vec::new();
        for (bytes, citation) in found {
            if let [node] = grammar.held(&citation, &Held(self))?[..] {
                mentions.push((bytes, node, citation.subdivisions));
            }
            if mentions.len() == most {
                break;
            }
        }
        Ok(mentions)
    }

    fn answer(&self, resolution: Resolution) -> Result<CitationAnswer, SearchError> {
        match resolution {
            Resolution::Resolved { node, cited } => self.answer_to(AnswerKind::Resolved, cited, vec![node]),
            Resolution::Ambiguous { candidates, cited } => self.answer_to(AnswerKind::Ambiguous, cited, candidates),
            Resolution::NotHeld { cited } => self.answer_to(AnswerKind::NotHeld, cited, Vec::new()),
            Resolution::OutsideCoverage { cited } => self.answer_to(AnswerKind::OutsideCoverage, cited, Vec::new()),
            Resolution::Placeholder { cited } => self.answer_to(AnswerKind::Placeholder, cited, Vec::new()),
            Resolution::Malformed { error } => Ok(CitationAnswer::malformed(&error)),
        }
    }

    fn answer_to(
        &self,
        answer: AnswerKind,
        cited: Cited,
        nodes: Vec<NodeOrdinal>,
    ) -> Result<CitationAnswer, SearchError> {
        let snapshot = self.snapshot();
        let grammar = snapshot.grammar();
        let body = cited.body().and_then(|body| grammar.body(body));
        let held_body = nodes.first().and_then(|&node| snapshot.code_body_of(node));
        let count = nodes.len();
        let candidates = nodes.into_iter().take(CANDIDATES_MAX).map(|node| self.cited_node(node));
        let candidates: Vec<CitedNode> = candidates.collect::<Result<_, SearchError>>()?;
        let code_body = held_body.map(|body| body.name.clone()).or_else(|| body.map(|body| body.name.to_owned()));
        let jurisdiction = held_body
            .map(|body| body.jurisdiction.to_string())
            .or_else(|| body.map(|body| body.jurisdiction.to_owned()));
        let canonical = match (&cited, candidates.first()) {
            (Cited::Citation(citation), _) => grammar.format(citation),
            // The node's own spelling is the canonical one.
            (Cited::Container(_) | Cited::Verbatim, Some(node)) => node.citation.clone(),
            (Cited::Container(container), None) => grammar.format_container(container),
            (Cited::ActSection(section), _) => section.to_string(),
            (Cited::SessionLaw(law), _) => law.to_string(),
            (Cited::Verbatim, None) => String::new(),
        };
        let (code_body, jurisdiction) = match &cited {
            Cited::SessionLaw(law) => (Some(law.publication().to_owned()), Some(FEDERAL.to_owned())),
            _ => (code_body, jurisdiction),
        };
        let of = code_body.as_deref().unwrap_or("its code");
        let within = jurisdiction.as_deref().unwrap_or("its jurisdiction");
        let mut message = message(answer, &canonical, of, within, count);
        let mut subdivision = Vec::new();
        match cited {
            Cited::Citation(citation) => {
                if self.is_formerly(&grammar.key(&citation))? {
                    message += "; this is its former citation";
                }
                subdivision = citation.subdivisions.into_iter().map(String::from).collect();
            }
            Cited::ActSection(section) => {
                message = format!(
                    "the table of acts does not say where {of} has {section}; cite the section of the code, or search for its words"
                );
            }
            Cited::SessionLaw(_) | Cited::Container(_) | Cited::Verbatim => {}
        }
        let node_id = candidates.first().map(|node| node.node_id).filter(|_| answer == AnswerKind::Resolved);
        Ok(CitationAnswer {
            answer,
            citation: Some(canonical),
            code_body,
            jurisdiction,
            subdivision,
            node_id,
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

    fn container_index(&self) -> Result<&ContainerIndex, SearchError> {
        if let Some(index) = self.resolve_tables.containers.get() {
            return Ok(index);
        }
        let index = ContainerIndex::of(self.snapshot())?;
        Ok(self.resolve_tables.containers.get_or_init(|| index))
    }

    /// The provisions cited as a range.
    fn cited_ranges(&self) -> Result<&[(Citation, NodeOrdinal)], SearchError> {
        if let Some(ranges) = self.resolve_tables.ranges.get() {
            return Ok(ranges);
        }
        let snapshot = self.snapshot();
        let all = self.everything().into();
        let mut nodes = Vec::new();
        for term in RANGE_TERMS {
            nodes.append(&mut self.keyword.with_citation_term(term, &all, usize::MAX)?);
        }
        nodes.sort_unstable();
        nodes.dedup();
        let mut ranges = Vec::new();
        for node in nodes.into_iter().map(NodeOrdinal) {
            let citation = snapshot.grammar().parse(snapshot.cards.get(node)?.citation);
            let is_range = |citation: &Citation| matches!(citation.place, Locator::Numbered { last: Some(_), .. });
            ranges.extend(citation.ok().filter(is_range).map(|citation| (citation, node)));
        }
        Ok(self.resolve_tables.ranges.get_or_init(|| ranges))
    }
}

impl CitationAnswer {
    fn malformed(error: &ParseError) -> Self {
        Self {
            answer: AnswerKind::Malformed,
            citation: None,
            code_body: None,
            jurisdiction: None,
            subdivision: Vec::new(),
            node_id: None,
            candidates: Vec::new(),
            message: error.to_string(),
        }
    }
}

fn message(answer: AnswerKind, citation: &str, body: &str, jurisdiction: &str, count: usize) -> String {
    match answer {
        AnswerKind::Resolved => format!("{citation} is in {body}"),
        AnswerKind::Ambiguous => {
            format!("{citation} names {count} provisions of {body}; choose one by its id, or cite it more exactly")
        }
        AnswerKind::NotHeld => {
            format!(
                "{body} is in this corpus, but it has nothing cited as {citation}; check the number, or search for its words"
            )
        }
        AnswerKind::OutsideCoverage => {
            format!("{citation} is in {body} ({jurisdiction}), which this corpus does not have")
        }
        AnswerKind::Placeholder => {
            format!("{citation} is in {body}; {jurisdiction} is listed, but this corpus does not have its law yet")
        }
        AnswerKind::Malformed => format!("'{citation}' is not a citation"),
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
    fn containers(&self, named: &NamedContainer) -> Result<Vec<NodeOrdinal>, SearchError> {
        Ok(self.0.container_index()?.find(named))
    }

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
