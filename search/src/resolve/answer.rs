//! Answers to citations, and what they say to people.

use hornbook_corpus::citation::{Citation, CitedItem, Grammar, ParseError};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of answer to a citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The citation names one provision or container.
    Resolved,
    /// The citation names several nodes: they share the citation, or it is a range.
    Ambiguous,
    /// The code is in the corpus, but nothing in it has this citation.
    NotHeld,
    /// The code, or the title or part that the citation is in, is not in the corpus.
    OutsideCoverage,
    /// The jurisdiction is listed, but its law is not in the corpus yet.
    Placeholder,
    /// The text cannot be read as a citation.
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

/// The answer to one citation. `Node` is what it says of each node that the citation may name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CitationAnswer")]
pub struct CitationAnswer<Node = CitedNode> {
    pub answer: AnswerKind,
    /// The canonical form, with the subdivision; null if the text could not be read. If several codes
    /// share the name, all possible citations.
    pub citation: Option<String>,
    /// The name of the code that the citation belongs to.
    pub code_body: Option<String>,
    pub jurisdiction: Option<String>,
    /// The subdivision within the provision, outermost first: `(b)(2)` is `b`, `2`.
    pub subdivision: Vec<String>,
    /// Whether the citation means the notes printed with the provision: `17 U.S.C. § 101 note`.
    pub notes: bool,
    /// The id of the provision or container, if there is exactly one.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub node_id: Option<NodeId>,
    /// Everything that the citation names, in code order; at most 100 nodes. If a place within a part
    /// or chapter is not in the corpus, the part or chapter itself.
    pub candidates: Vec<Node>,
    /// An explanation for people, with the next step to take.
    pub message: String,
}

impl CitationAnswer {
    /// The same answer with something else about each node.
    pub fn try_map<Node, E>(
        self,
        of_node: impl FnMut(CitedNode) -> Result<Node, E>,
    ) -> Result<CitationAnswer<Node>, E> {
        let Self { answer, citation, code_body, jurisdiction, subdivision, notes, node_id, candidates, message } = self;
        let candidates = candidates.into_iter().map(of_node).collect::<Result<_, E>>()?;
        Ok(CitationAnswer {
            answer,
            citation,
            code_body,
            jurisdiction,
            subdivision,
            notes,
            node_id,
            candidates,
            message,
        })
    }
}

/// A node that a citation may name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CitedNode {
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    pub citation: String,
    pub heading: String,
    #[schemars(with = "String")]
    pub status: Status,
    /// The first day on which this wording is law, if the source states it.
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
    /// The date through which the edition is current, if the source states it.
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
}

impl CitationAnswer {
    pub(super) fn malformed(error: &ParseError) -> Self {
        Self {
            answer: AnswerKind::Malformed,
            citation: None,
            code_body: None,
            jurisdiction: None,
            subdivision: Vec::new(),
            notes: false,
            node_id: None,
            candidates: Vec::new(),
            message: error.to_string(),
        }
    }
}

pub(super) fn message(answer: AnswerKind, citation: &str, body: &str, jurisdiction: &str, count: usize) -> String {
    match answer {
        AnswerKind::Resolved => format!("{citation} is in {body}"),
        AnswerKind::Ambiguous => {
            format!("{citation} names {count} provisions of {body}; choose one by its id, or cite it more exactly")
        }
        AnswerKind::NotHeld => {
            format!("{body} is in this corpus, but has no {citation}; check the number, or search for its words")
        }
        AnswerKind::OutsideCoverage => {
            format!("{citation} is in {body} ({jurisdiction}), which this corpus does not contain")
        }
        AnswerKind::Placeholder => {
            format!("{citation} is in {body}; {jurisdiction} is listed, but this corpus does not contain its law yet")
        }
        AnswerKind::Malformed => format!("'{citation}' is not a citation"),
    }
}

/// The message for a place within a part or chapter, if the snapshot has the part without this place.
pub(super) fn message_of_attachment(outer: &CitedNode, citation: &str) -> String {
    let outer = &outer.citation;
    format!("{outer} is in this corpus, but does not contain {citation}; check the number, or read the whole part")
}

/// The message for a subdivision of a part or chapter. Only sections have subdivisions.
pub(super) fn message_of_subdivision(found: &[CitedNode], citation: Option<&str>) -> String {
    let around = found.first().map_or("the part", |node| &node.citation);
    let citation = citation.unwrap_or("the citation");
    format!(
        "{around} is in this corpus, but {citation} names a subdivision, and a part or chapter has none; cite a section of it"
    )
}

/// The message for a name that several codes have.
pub(super) fn message_of_readings(grammar: &Grammar, readings: &[Citation]) -> String {
    format!("this may be {}; write the full name of the code", join_readings(grammar, readings))
}

/// The possible citations, such as `14 C.F.R. § 25.1309 or 48 C.F.R. § 25.1309`.
fn join_readings(grammar: &Grammar, readings: &[Citation]) -> String {
    readings.iter().map(|citation| grammar.format(citation)).collect::<Vec<_>>().join(" or ")
}

/// The canonical form of a citation. For a container, that is its own spelling.
pub(super) fn canonical(grammar: &Grammar, cited: &CitedItem, found: Option<&CitedNode>) -> String {
    match (cited, found) {
        (CitedItem::Citation(citation) | CitedItem::OfAct { citation, .. }, _) => grammar.format(citation),
        (CitedItem::Container(_) | CitedItem::Numbered(_) | CitedItem::Verbatim, Some(node)) => node.citation.clone(),
        (CitedItem::Container(container), None) => grammar.format_container(container),
        (CitedItem::Numbered(numbered), None) => grammar.format_numbered(numbered),
        (CitedItem::Readings(readings), _) => join_readings(grammar, readings),
        (CitedItem::ActSection(section), _) => section.to_string(),
        (CitedItem::SessionLaw(law), _) => law.to_string(),
        (CitedItem::Verbatim, None) => String::new(),
    }
}
