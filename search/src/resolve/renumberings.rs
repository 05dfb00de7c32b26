//! Provisions that were renumbered or transferred: where they are now, and which had a number before.

use hornbook_corpus::citation::{Citation, CitationKey};
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::NodeRecord;
use hornbook_corpus::outline::Status;

use super::answer::{AnswerKind, CitationAnswer};
use super::holdings::SnapshotHoldings;
use crate::engine::Engine;
use crate::error::SearchError;
use crate::law_on_day::LawOnDay;

/// The maximum number of renumberings that are followed from one provision to the next.
const RENUMBERINGS_MAX: usize = 8;

/// The maximum number of provisions that a message names as former bearers of a number.
const FORMER_BEARERS_NAMED_MAX: usize = 3;

impl Engine {
    /// Answers with the provision that a renumbered or transferred one is now, and says so.
    pub(super) fn follow_renumbering(&self, law: &LawOnDay, answer: &mut CitationAnswer) -> Result<(), SearchError> {
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
        // What the last provision that is gone says itself, which may be a subsection or a note.
        let mut stated = self.snapshot().nodes.get(first)?.now;
        while is_gone(law.shown(place).status)
            && let [next] = self.new_places(place)?[..]
            && !followed.contains(&next)
            && followed.len() < RENUMBERINGS_MAX
        {
            followed.push(next);
            place = next;
            if is_gone(law.shown(place).status) {
                stated = self.snapshot().nodes.get(place)?.now;
            }
        }
        if place != first {
            let now = self.cited_node(place)?;
            let part_of = stated.filter(|stated| stated.starts_with(&format!("{}(", now.citation)));
            if let Some(Ok(part)) = part_of.as_deref().map(|part| self.snapshot().grammar().parse(part)) {
                answer.subdivision.splice(0..0, part.subdivisions.into_iter().map(String::from));
            }
            answer.message = format!("{citation} was {verb}: it is now {}", part_of.as_ref().unwrap_or(&now.citation));
            answer.node_id = Some(now.node_id);
            answer.candidates = vec![now];
            self.show_on(law, answer)?;
        } else if let Some(now) = stated {
            let is_note = self.snapshot().grammar().parse(&now).is_ok_and(|now| now.note);
            answer.message = format!("{citation} was {verb}: it is now {now}");
            if !is_note && self.new_places(first)?.is_empty() {
                answer.message += ", which this corpus does not contain";
            }
        }
        Ok(())
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
                // A note is no provision.
                Ok(citation) if citation.note => Vec::new(),
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

    /// Says which provisions of an answer have the citation only as a former one, or which others had it before.
    pub(super) fn explain_former_bearers(
        &self,
        plain: &mut CitationAnswer,
        citation: &Citation,
    ) -> Result<(), SearchError> {
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
}
