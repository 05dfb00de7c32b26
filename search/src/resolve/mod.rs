//! Resolves citations as users write them. Each citation of a list gets a typed answer.

mod answer;
mod containers;
mod holdings;
mod renumberings;
pub(super) mod tables;

use std::ops::Range;

use hornbook_corpus::cards::Card;
use hornbook_corpus::cfr_chapters::{CFR_KEY, CfrChapter};
use hornbook_corpus::citation::{
    Citation, CitedItem, Container, ContainerLevel, EnclosingProvision, Locator, MentionedContainer, NamedContainer,
    RANGE_MAX, Resolution, Unit,
};
use hornbook_corpus::code_titles::PrintedWithin;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::validity::ShownWording;

use super::engine::Engine;
use super::error::SearchError;
use super::law_on_day::LawOnDay;
use super::parts::{BodyParts, MissingPart, MissingTitlePart};
pub use answer::{AnswerKind, CitationAnswer, CitedNode};
use answer::{canonical, message, message_of_attachment, message_of_readings, message_of_subdivision};
use holdings::SnapshotHoldings;

/// The maximum number of candidates in an answer.
pub const CANDIDATES_MAX: usize = RANGE_MAX;

/// The maximum number of citations of a query that are explained if they are not in the corpus.
const EXPLAINED_CITATIONS_MAX: usize = 4;

/// The jurisdiction of acts of Congress.
const FEDERAL: &str = "US";

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
}
