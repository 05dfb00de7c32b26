//! Resolves citations as users write them. Each citation of a list gets a typed answer.

mod containers;
pub(super) mod tables;

use std::ops::Range;

use hornbook_corpus::cards::Card;
use hornbook_corpus::cfr_chapters::{CFR_KEY, CfrChapter};
use hornbook_corpus::citation::{
    ActSection, Citation, CitationKey, CitedItem, Container, ContainerLevel, Coverage, EnclosingProvision, Grammar,
    GrammarBody, HeldActSection, LawDivision, Locator, MentionedContainer, NamedContainer, NodeLookup,
    NumberedContainer, ParseError, ProvisionLookup, RANGE_MAX, Resolution, Unit,
};
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::code_titles::PrintedWithin;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use hornbook_corpus::nodes::NodeRecord;
use hornbook_corpus::outline::Status;
use hornbook_corpus::validity::ShownWording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::engine::Engine;
use super::error::SearchError;
use super::law_on_day::LawOnDay;
use super::parts::{BodyParts, MissingPart, MissingTitlePart};
use containers::ContainerIndex;

/// The maximum number of candidates in an answer.
pub const CANDIDATES_MAX: usize = RANGE_MAX;

/// The maximum number of citations of a query that are explained if they are not in the corpus.
const EXPLAINED_CITATIONS_MAX: usize = 4;

/// The maximum number of renumberings that are followed from one provision to the next.
const RENUMBERINGS_MAX: usize = 8;

/// The maximum number of provisions that a message names as former bearers of a number.
const FORMER_BEARERS_NAMED_MAX: usize = 3;

/// The jurisdiction of acts of Congress.
const FEDERAL: &str = "US";

/// Words between the first and the last number of a range citation, as terms of the keyword index.
const RANGE_TERMS: [&str; 3] = ["to", "through", "thru"];

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

/// A citation in a text: where it is, the provision that it cites, and the cited subdivision.
pub type Mention = (Range<usize>, NodeOrdinal, Vec<Box<str>>);

impl Engine {
    /// Resolves a citation or a list of citations. Returns one answer for each, in order, and at least
    /// one. Provisions are shown as of the latest date of their source.
    pub fn resolve(&self, text: &str) -> Result<Vec<CitationAnswer>, SearchError> {
        let resolved = self.snapshot().grammar().resolve(text, &SnapshotHoldings(self))?;
        resolved.into_iter().map(|resolution| self.answer(resolution)).collect()
    }

    /// Resolves a text as a court of a jurisdiction writes it: of codes that share a name, that of the jurisdiction is
    /// meant.
    pub fn resolve_in(&self, jurisdiction: &str, text: &str) -> Result<Vec<CitationAnswer>, SearchError> {
        let grammar = self.snapshot().grammar();
        let resolved = grammar.resolve_in(text, Some(jurisdiction), &SnapshotHoldings(self))?;
        resolved.into_iter().map(|resolution| self.answer(resolution)).collect()
    }

    /// Whether a citation is in a title or another first part of its code of which the corpus has no law.
    pub fn is_in_missing_part(&self, citation: &str) -> Result<bool, SearchError> {
        let Ok(citation) = self.snapshot().grammar().parse(citation) else { return Ok(false) };
        Ok(MissingPart::of(self.snapshot(), self.parts()?, &CitedItem::Citation(citation)).is_some())
    }

    /// The same as [`resolve`](Self::resolve), but each provision is shown as it is on a day. A provision that was
    /// renumbered or transferred by then is answered with the one that took its place.
    pub fn resolve_on(&self, law: &LawOnDay, text: &str) -> Result<Vec<CitationAnswer>, SearchError> {
        let mut answers = self.resolve(text)?;
        for answer in &mut answers {
            self.show_on(law, answer)?;
            self.follow_renumbering(law, answer)?;
        }
        Ok(answers)
    }

    /// Answers with the provision that a renumbered or transferred one is now, and says so.
    fn follow_renumbering(&self, law: &LawOnDay, answer: &mut CitationAnswer) -> Result<(), SearchError> {
        let is_gone = |status| matches!(status, Status::Renumbered | Status::Transferred);
        let [asked] = answer.candidates.as_slice() else { return Ok(()) };
        let Some(first) = self.snapshot().ordinal(asked.node_id) else { return Ok(()) };
        let citation = asked.citation.clone();
        if answer.answer != AnswerKind::Resolved || !is_gone(asked.status) {
            return Ok(());
        }
        let verb = asked.status.as_str();
        let mut followed = vec![first];
        let mut place = first;
        while is_gone(law.shown(place).status)
            && let [next] = self.new_places(place)?[..]
            && !followed.contains(&next)
            && followed.len() < RENUMBERINGS_MAX
        {
            followed.push(next);
            place = next;
        }
        if place != first {
            let now = self.cited_node(place)?;
            answer.message = format!("{citation} was {verb}: it is now {}", now.citation);
            answer.node_id = Some(now.node_id);
            answer.candidates = vec![now];
            self.show_on(law, answer)?;
        } else if let Some(now) = self.snapshot().nodes.get(first)?.now.filter(|_| followed.len() == 1) {
            answer.message = format!("{citation} was {verb}: it is now {now}");
            if self.new_places(first)?.is_empty() {
                answer.message += ", which this corpus does not contain";
            }
        }
        Ok(())
    }

    /// The answer to a citation that was found in a text, as the law is on a day.
    pub fn answer_on(&self, law: &LawOnDay, citation: Citation) -> Result<CitationAnswer, SearchError> {
        let resolution = self.snapshot().grammar().resolve_one(citation, &SnapshotHoldings(self))?;
        let mut answer = self.answer(resolution)?;
        self.show_on(law, &mut answer)?;
        Ok(answer)
    }

    /// The answer to a title, chapter or other container that a text cites, as the law is on a day.
    pub fn container_answer_on(
        &self,
        law: &LawOnDay,
        container: &MentionedContainer,
    ) -> Result<CitationAnswer, SearchError> {
        let resolution = self.snapshot().grammar().resolve_container(container, &SnapshotHoldings(self))?;
        let mut answer = self.answer(resolution)?;
        self.show_on(law, &mut answer)?;
        Ok(answer)
    }

    /// Shows each provision of an answer as it is on a day.
    fn show_on(&self, law: &LawOnDay, answer: &mut CitationAnswer) -> Result<(), SearchError> {
        for cited in &mut answer.candidates {
            let Some(node) = self.snapshot().ordinal(cited.node_id) else { continue };
            let shown = law.shown(node);
            cited.heading = self.heading_on(law, node)?.into_owned();
            (cited.status, cited.effective_from, cited.effective_to) = (shown.status, shown.from, shown.to);
        }
        Ok(())
    }

    /// The places where the text of a provision cites exactly one provision of the snapshot, in order;
    /// at most `most` of them. `home` is the citation of the provision that the text belongs to.
    pub fn mentions(&self, home: &str, text: &str, most: usize) -> Result<Vec<Mention>, SearchError> {
        let grammar = self.snapshot().grammar();
        let own = grammar.parse(home).ok();
        let found = match own.as_ref().and_then(EnclosingProvision::of) {
            Some(home) => grammar.find_in_provision(text, home),
            None => grammar.find_in(text),
        };
        let mut mentions = Vec::new();
        for (bytes, citation) in found {
            if let [node] = grammar.provisions_of(&citation, &SnapshotHoldings(self))?[..] {
                mentions.push((bytes, node, citation.subdivisions));
            }
            if mentions.len() == most {
                break;
            }
        }
        Ok(mentions)
    }

    /// The provisions that took the place of a renumbered or transferred one: those that list its citation as a former
    /// one, or the one that it names as its new place. If there are none, the only provision that it refers to.
    pub fn successors(&self, node: NodeOrdinal, status: Status) -> Result<Vec<NodeOrdinal>, SearchError> {
        if !matches!(status, Status::Renumbered | Status::Transferred) {
            return Ok(Vec::new());
        }
        let mut found = self.new_places(node)?;
        let snapshot = self.snapshot();
        // If it refers to several provisions, its text says more than where the provision went, so none is used.
        if found.is_empty() && snapshot.references.outgoing(node).len() == 1 && snapshot.nodes.get(node)?.now.is_none()
        {
            found.extend(snapshot.references.outgoing(node));
            found.retain(|&other| other != node);
        }
        Ok(found)
    }

    /// The provisions of which it is stated that they took the place of another: it names the place where it is now,
    /// or they list its citation as a former one.
    fn new_places(&self, node: NodeOrdinal) -> Result<Vec<NodeOrdinal>, SearchError> {
        let snapshot = self.snapshot();
        let mut found = match snapshot.nodes.get(node)?.now {
            Some(now) => match snapshot.grammar().parse(&now) {
                Ok(citation) => snapshot.grammar().provisions_of(&citation, &SnapshotHoldings(self))?,
                Err(_) => SnapshotHoldings(self).bearers(&CitationKey::folded(&now))?,
            },
            None => {
                let bearers = snapshot.nodes_with_citation(snapshot.cards.get(node)?.citation)?;
                let former = bearers.into_iter().filter(|(_, kind)| *kind == CitationKind::Former);
                former.map(|(bearer, _)| bearer).collect()
            }
        };
        found.retain(|&other| other != node);
        Ok(found)
    }

    /// The citation that the law of a node has now, if it was renumbered or transferred and its source says where to.
    pub fn now(&self, node: NodeOrdinal, record: &NodeRecord) -> Result<Option<String>, SearchError> {
        let snapshot = self.snapshot();
        if record.now.is_some() {
            return Ok(record.now.clone());
        }
        if !matches!(snapshot.outline.status(node), Status::Renumbered | Status::Transferred) {
            return Ok(None);
        }
        match self.new_places(node)?[..] {
            [place] => Ok(Some(snapshot.cards.get(place)?.citation.to_owned())),
            _ => Ok(None),
        }
    }

    fn answer(&self, resolution: Resolution) -> Result<CitationAnswer, SearchError> {
        match resolution {
            Resolution::Resolved { node, cited } => self.answer_to(AnswerKind::Resolved, cited, vec![node]),
            Resolution::Ambiguous { candidates, cited } => self.answer_to(AnswerKind::Ambiguous, cited, candidates),
            Resolution::NotInSnapshot { cited } => self.answer_to(AnswerKind::NotHeld, cited, Vec::new()),
            Resolution::OutsideCoverage { cited } => self.answer_to(AnswerKind::OutsideCoverage, cited, Vec::new()),
            Resolution::Placeholder { cited } => self.answer_to(AnswerKind::Placeholder, cited, Vec::new()),
            Resolution::Malformed { error } => Ok(CitationAnswer::malformed(&error)),
        }
    }

    fn answer_to(
        &self,
        answer: AnswerKind,
        cited: CitedItem,
        nodes: Vec<NodeOrdinal>,
    ) -> Result<CitationAnswer, SearchError> {
        let grammar = self.snapshot().grammar();
        let count = nodes.len();
        let (code_body, jurisdiction) = self.code_of(&cited, &nodes);
        let candidates = nodes.into_iter().take(CANDIDATES_MAX).map(|node| self.cited_node(node));
        let candidates: Vec<CitedNode> = candidates.collect::<Result<_, SearchError>>()?;
        let canonical = canonical(grammar, &cited, candidates.first());
        let of = code_body.as_deref().unwrap_or("its code");
        let within = jurisdiction.as_deref().unwrap_or("its jurisdiction");
        let message = message(answer, &canonical, of, within, count);
        let plain = CitationAnswer {
            answer,
            citation: Some(canonical),
            code_body,
            jurisdiction,
            subdivision: Vec::new(),
            notes: false,
            node_id: None,
            candidates,
            message,
        };
        let mut explained = self.add_explanation(plain, cited)?;
        if explained.answer == AnswerKind::Resolved {
            explained.node_id = explained.candidates.first().map(|node| node.node_id);
        }
        Ok(explained)
    }

    /// The name of the code that a citation belongs to, and its jurisdiction.
    fn code_of(&self, cited: &CitedItem, nodes: &[NodeOrdinal]) -> (Option<String>, Option<String>) {
        if let CitedItem::SessionLaw(law) = cited {
            return (Some(law.publication().to_owned()), Some(FEDERAL.to_owned()));
        }
        let snapshot = self.snapshot();
        match nodes.first().and_then(|&node| snapshot.code_body_of(node)) {
            Some(held) => (Some(held.name.clone()), Some(held.jurisdiction.to_string())),
            None => {
                let body = cited.body().and_then(|body| snapshot.grammar().body(body));
                (body.map(|body| body.name.to_owned()), body.map(|body| body.jurisdiction.to_owned()))
            }
        }
    }

    /// Adds the reason, the notes and the subdivision to an answer.
    fn add_explanation(&self, mut plain: CitationAnswer, cited: CitedItem) -> Result<CitationAnswer, SearchError> {
        let snapshot = self.snapshot();
        if plain.answer == AnswerKind::NotHeld {
            self.explain_absence(&mut plain, &cited)?;
        }
        if plain.answer == AnswerKind::NotHeld
            && let Some(lacks) = self.lacks(&cited)
        {
            plain.message += &format!("; this copy of the code lacks {lacks}");
        }
        if let CitedItem::OfAct { section, .. } = &cited {
            plain.message = format!("{section} is {}; {}", plain.citation.as_deref().unwrap_or("?"), plain.message);
        }
        match cited {
            CitedItem::Citation(citation) | CitedItem::OfAct { citation, .. } => {
                self.explain_former_bearers(&mut plain, &citation)?;
                let is_container = |cited: &CitedNode| {
                    snapshot.ordinal(cited.node_id).is_some_and(|node| !snapshot.outline.is_provision(node))
                };
                if !citation.subdivisions.is_empty() && plain.candidates.iter().any(is_container) {
                    plain.answer = AnswerKind::NotHeld;
                    plain.message = message_of_subdivision(&plain.candidates, plain.citation.as_deref());
                }
                if citation.note && !plain.candidates.is_empty() {
                    plain.message += "; the citation means its notes";
                }
                plain.notes = citation.note;
                plain.subdivision = citation.subdivisions.into_iter().map(String::from).collect();
            }
            CitedItem::ActSection(_) if !plain.candidates.is_empty() => {}
            CitedItem::ActSection(section) => {
                plain.message = format!(
                    "the table of acts does not list where {section} is in {}, and no source credit in this corpus says it; cite the section of the code, or search for its words",
                    plain.code_body.as_deref().unwrap_or("its code")
                );
            }
            CitedItem::Readings(readings) => plain.message = message_of_readings(snapshot.grammar(), &readings),
            CitedItem::Container(_) | CitedItem::Numbered(_) | CitedItem::SessionLaw(_) | CitedItem::Verbatim => {}
        }
        Ok(plain)
    }

    /// Explains which related law the snapshot contains instead.
    fn explain_absence(&self, plain: &mut CitationAnswer, cited: &CitedItem) -> Result<(), SearchError> {
        let citation = plain.citation.clone().unwrap_or_default();
        if let CitedItem::Container(container) = cited
            && let Some(outer) = self.outer_container(container)?
        {
            plain.message = message_of_attachment(&outer, &citation);
            plain.candidates = vec![outer];
        } else if let Some(absence) = MissingPart::of(self.snapshot(), self.parts()?, cited) {
            plain.message = absence.message(&citation);
            if absence.is_expected() {
                plain.answer = AnswerKind::OutsideCoverage;
            }
        } else if let Some(title) = self.title_without_its_rules(cited)? {
            let code = plain.code_body.as_deref().unwrap_or("its code");
            plain.message =
                format!("this corpus has title {title}, but without the {code}, so it does not contain {citation}");
            plain.answer = AnswerKind::OutsideCoverage;
        } else {
            self.explain_missing_part(plain, cited, &citation)?;
        }
        Ok(())
    }

    /// What the copy of the cited code lacks, as its plan says.
    fn lacks(&self, cited: &CitedItem) -> Option<&str> {
        let snapshot = self.snapshot();
        let key = cited.body().and_then(|body| snapshot.grammar().body(body))?.key;
        let body = snapshot.catalogue.code_bodies.iter().find(|body| body.key == key)?;
        snapshot.catalogue.lacks(body)
    }

    /// The title in which the cited code is printed, if the corpus has the title without the code: some copies of title
    /// 18A have its acts, but not the Federal Rules of Criminal Procedure.
    fn title_without_its_rules(&self, cited: &CitedItem) -> Result<Option<&'static str>, SearchError> {
        let grammar = self.snapshot().grammar();
        let body = cited.body().and_then(|body| grammar.body(body));
        let Some((body, within)) = body.and_then(|body| Some((body, PrintedWithin::of(body.key)?))) else {
            return Ok(None);
        };
        let first = grammar.key_or_folded(&format!("{} {}", body.name, within.first_number));
        let has_code = !SnapshotHoldings(self).bearers(&first)?.is_empty();
        Ok((!has_code).then_some(within.title))
    }

    /// The container around a container that the snapshot does not contain, if the snapshot contains
    /// that: part 61 for `14 CFR Part 61, SFAR 73`.
    fn outer_container(&self, container: &Container) -> Result<Option<CitedNode>, SearchError> {
        let mut outer = container.clone();
        outer.levels.pop();
        let Some(innermost) = outer.levels.last().cloned() else { return Ok(None) };
        let held = self.container_index()?.find(&NamedContainer { container: outer, innermost });
        held.first().map(|&node| self.cited_node(node)).transpose()
    }

    /// Explains that a title is loaded only in part, without the cited part.
    fn explain_missing_part(
        &self,
        plain: &mut CitationAnswer,
        cited: &CitedItem,
        citation: &str,
    ) -> Result<(), SearchError> {
        let grammar = self.snapshot().grammar();
        let (body, title, number) = match cited {
            CitedItem::Citation(Citation { place: Locator::Numbered { unit: Unit::Chapter, .. }, .. }) => {
                return Ok(());
            }
            CitedItem::Citation(citation) | CitedItem::OfAct { citation, .. } => {
                (citation.body, citation.title.as_deref(), citation.number())
            }
            CitedItem::Numbered(numbered) => (numbered.body, numbered.title.as_deref(), Some(&*numbered.number)),
            _ => return Ok(()),
        };
        let (Some(title), Some(number), Some(level)) = (title, number, ContainerLevel::of_unit(Unit::Part)) else {
            return Ok(());
        };
        if !grammar.has_joined_numbers(body) {
            return Ok(());
        }
        let part = number.split(['.', '-', ':']).next().unwrap_or(number);
        let here = self.container_index()?.numbers_within(body, title, level);
        if here.is_empty() || here.iter().any(|other| other == part) {
            return Ok(());
        }
        let Some(code) = grammar.body(body) else { return Ok(()) };
        let chapter = CfrChapter::of_part(code.key, title, part);
        let missing = MissingTitlePart { code: code.name, title, part, chapter, loaded: &here };
        plain.message = missing.message(citation);
        if missing.is_expected() {
            plain.answer = AnswerKind::OutsideCoverage;
        }
        Ok(())
    }

    /// The parts of every code body, in the order of the catalogue.
    pub fn parts(&self) -> Result<&[BodyParts], SearchError> {
        if let Some(parts) = self.resolve_tables.parts.get() {
            return Ok(parts);
        }
        let bodies = self.snapshot().catalogue.code_bodies.iter();
        let parts = bodies.map(|body| {
            let parts = BodyParts::of(self.snapshot(), body)?;
            let own = self.snapshot().grammar().body_with_key(CFR_KEY).filter(|_| body.key == CFR_KEY);
            let Some((own, part)) = own.zip(ContainerLevel::of_unit(Unit::Part)) else { return Ok(parts) };
            let index = self.container_index()?;
            Ok(parts.with_titles_in_part(&body.key, |title| index.numbers_within(own, title, part)))
        });
        let parts = parts.collect::<Result<Vec<_>, SearchError>>()?;
        Ok(self.resolve_tables.parts.get_or_init(|| parts))
    }

    /// The citations of a query that are not in the corpus, each with the reason.
    pub fn unresolved_citations(&self, query: &str) -> Result<Vec<CitationAnswer>, SearchError> {
        let is_here = |answer: &CitationAnswer| !answer.candidates.is_empty() || answer.citation.is_none();
        let mut answers = Vec::new();
        for (_, citation) in self.snapshot().grammar().find_in(query).take(EXPLAINED_CITATIONS_MAX) {
            let resolution = self.snapshot().grammar().resolve_one(citation, &SnapshotHoldings(self))?;
            answers.push(self.answer(resolution)?);
        }
        if answers.is_empty() && query.bytes().any(|byte| byte.is_ascii_digit()) {
            // `RCW 59.18` and rules cited by name are recognised only if the query contains nothing else.
            answers = self.resolve(query)?;
            answers.truncate(EXPLAINED_CITATIONS_MAX);
        }
        answers.retain(|answer| !is_here(answer));
        Ok(answers)
    }

    /// Says which provisions of an answer have the citation only as a former one, or which others had it before.
    fn explain_former_bearers(&self, plain: &mut CitationAnswer, citation: &Citation) -> Result<(), SearchError> {
        let snapshot = self.snapshot();
        let former = SnapshotHoldings(self).former_bearers(&snapshot.grammar().key(citation))?;
        let is_candidate = |node: &NodeOrdinal| {
            let id = snapshot.outline.id(*node);
            plain.candidates.iter().any(|cited| Some(cited.node_id) == id)
        };
        let (found, others): (Vec<NodeOrdinal>, Vec<NodeOrdinal>) = former.into_iter().partition(is_candidate);
        let names = |nodes: &[NodeOrdinal]| -> Result<String, SearchError> {
            let names = nodes.iter().take(FORMER_BEARERS_NAMED_MAX);
            let names = names.map(|&node| Ok(snapshot.cards.get(node)?.citation.to_owned()));
            Ok(names.collect::<Result<Vec<String>, SearchError>>()?.join(" and "))
        };
        match (found.as_slice(), others.as_slice()) {
            ([_], _) => {
                let asked = plain.citation.as_deref().unwrap_or("this");
                plain.message = format!("{asked} is a former citation of {}; cite it by that", names(&found)?);
            }
            ([], []) => {}
            ([], others) if !plain.candidates.is_empty() => {
                plain.message += &format!("; {} formerly had this number", names(others)?);
            }
            ([], _) => {}
            _ => plain.message += "; this is their former citation",
        }
        Ok(())
    }

    fn cited_node(&self, node: NodeOrdinal) -> Result<CitedNode, SearchError> {
        let Card { citation, heading, .. } = self.snapshot().cards.get(node)?;
        let ShownWording { status, from, to, .. } = self.law_on(None).shown(node);
        Ok(CitedNode {
            node_id: self.id_of(node)?,
            citation: citation.to_owned(),
            heading: heading.to_owned(),
            status,
            effective_from: from,
            effective_to: to,
            current_through: self.current_through(node)?,
        })
    }

    fn container_index(&self) -> Result<&ContainerIndex, SearchError> {
        if let Some(index) = self.resolve_tables.containers.get() {
            return Ok(index);
        }
        let index = ContainerIndex::of(self.snapshot())?;
        Ok(self.resolve_tables.containers.get_or_init(|| index))
    }

    /// The provisions whose own citation is a range.
    fn cited_ranges(&self) -> Result<&[(Citation, NodeOrdinal)], SearchError> {
        if let Some(ranges) = self.resolve_tables.ranges.get() {
            return Ok(ranges);
        }
        let snapshot = self.snapshot();
        let all = self.all_nodes().into();
        let mut nodes = Vec::new();
        for term in RANGE_TERMS {
            nodes.append(&mut self.guarded(|| Ok(self.keyword.with_citation_term(term, &all, usize::MAX)?))?);
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
            notes: false,
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
fn message_of_attachment(outer: &CitedNode, citation: &str) -> String {
    let outer = &outer.citation;
    format!("{outer} is in this corpus, but does not contain {citation}; check the number, or read the whole part")
}

/// The message for a subdivision of a part or chapter. Only sections have subdivisions.
fn message_of_subdivision(found: &[CitedNode], citation: Option<&str>) -> String {
    let around = found.first().map_or("the part", |node| &node.citation);
    let citation = citation.unwrap_or("the citation");
    format!(
        "{around} is in this corpus, but {citation} names a subdivision, and a part or chapter has none; cite a section of it"
    )
}

/// The message for a name that several codes have.
fn message_of_readings(grammar: &Grammar, readings: &[Citation]) -> String {
    format!("this may be {}; write the full name of the code", join_readings(grammar, readings))
}

/// The possible citations, such as `14 C.F.R. § 25.1309 or 48 C.F.R. § 25.1309`.
fn join_readings(grammar: &Grammar, readings: &[Citation]) -> String {
    readings.iter().map(|citation| grammar.format(citation)).collect::<Vec<_>>().join(" or ")
}

/// The canonical form of a citation. For a container, that is its own spelling.
fn canonical(grammar: &Grammar, cited: &CitedItem, found: Option<&CitedNode>) -> String {
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

/// The contents of the engine's snapshot.
struct SnapshotHoldings<'e>(&'e Engine);

impl SnapshotHoldings<'_> {
    /// The provisions with a citation or, if there are none, the containers. Only the best kind of
    /// citation that occurs counts: canonical, then parallel.
    fn bearers(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        let mut found = self.0.snapshot().nodes_with_citation_key(key)?;
        found.retain(|&(_, kind)| kind != CitationKind::Former);
        let best = found.first().map(|&(_, kind)| kind);
        Ok(self.provisions_first(found.into_iter().filter(|&(_, kind)| Some(kind) == best)))
    }

    /// The same for the nodes that had a citation formerly.
    fn former_bearers(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        let found = self.0.snapshot().nodes_with_citation_key(key)?;
        Ok(self.provisions_first(found.into_iter().filter(|&(_, kind)| kind == CitationKind::Former)))
    }

    fn provisions_first(&self, found: impl Iterator<Item = (NodeOrdinal, CitationKind)>) -> Vec<NodeOrdinal> {
        let outline = &self.0.snapshot().outline;
        let mut nodes: Vec<NodeOrdinal> = found.map(|(node, _)| node).collect();
        if nodes.iter().any(|&node| outline.is_provision(node)) {
            nodes.retain(|&node| outline.is_provision(node));
        }
        nodes
    }
}

impl ProvisionLookup for SnapshotHoldings<'_> {
    type Error = SearchError;

    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        self.bearers(key)
    }

    fn formerly(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        self.former_bearers(key)
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

impl NodeLookup for SnapshotHoldings<'_> {
    fn containers(&self, named: &NamedContainer) -> Result<Vec<NodeOrdinal>, SearchError> {
        Ok(self.0.container_index()?.find(named))
    }

    fn numbered_containers(&self, numbered: &NumberedContainer) -> Result<Vec<NodeOrdinal>, SearchError> {
        Ok(self.0.container_index()?.numbered(numbered))
    }

    fn act_sections(&self, section: &ActSection) -> Result<Vec<HeldActSection>, SearchError> {
        let snapshot = self.0.snapshot();
        let laws = match &section.law {
            Some(law) => vec![LawDivision { law: law.clone(), division: section.division.clone() }],
            None => snapshot.laws_of_act(&section.act)?,
        };
        let mut held = Vec::new();
        for LawDivision { law, division } in laws {
            for (node, own) in snapshot.act_sections(&law, &section.section)? {
                let is_of_division = division.is_none() || division == own.division;
                let citation = snapshot.grammar().parse(snapshot.cards.get(node)?.citation).ok();
                held.extend(citation.filter(|_| is_of_division).map(|citation| HeldActSection {
                    node,
                    citation,
                    section: own,
                }));
            }
        }
        held.sort_by_key(|held| held.node);
        Ok(held)
    }

    fn covers(&self, citation: &Citation) -> Result<bool, SearchError> {
        let snapshot = self.0.snapshot();
        let body = snapshot.grammar().body(citation.body);
        let is_held = body.is_some_and(|body| self.coverage(body) == Coverage::Covered);
        Ok(is_held && MissingPart::of(snapshot, self.0.parts()?, &CitedItem::Citation(citation.clone())).is_none())
    }

    fn coverage(&self, body: GrammarBody<'_>) -> Coverage {
        let catalogue = &self.0.snapshot().catalogue;
        let key = PrintedWithin::of(body.key).map_or(body.key, |within| within.key);
        if catalogue.code_bodies.iter().any(|held| held.key == key) {
            return Coverage::Covered;
        }
        let listed = catalogue.jurisdictions.iter().find(|listed| listed.short_code.as_str() == body.jurisdiction);
        match listed {
            Some(listed) if listed.is_placeholder() => Coverage::Placeholder,
            _ => Coverage::Outside,
        }
    }
}
