//! Adds the fields that users read to a hit: citation, heading, status and code body.

use std::borrow::Cow;

use hornbook_corpus::cards::Card;
use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::outline;
use hornbook_corpus::texts::Span;
use hornbook_corpus::validity::ShownWording;

use super::engine::Engine;
use super::error::SearchError;
use super::law_on_day::LawOnDay;
use super::request::Hit;

/// A hit with its citation and heading.
#[derive(Clone, Debug)]
pub struct HydratedHit<'s> {
    pub node: NodeOrdinal,
    pub id: NodeId,
    pub citation: &'s str,
    /// The heading of the shown wording.
    pub heading: Cow<'s, str>,
    pub shown: ShownWording,
    pub code_body: Option<&'s CodeBody>,
    /// The text of the shown wording.
    pub(super) text: Span,
}

impl Engine {
    /// Reads the citation, heading and other displayed fields of a hit.
    pub fn hydrate(&self, hit: &Hit) -> Result<HydratedHit<'_>, SearchError> {
        let snapshot = self.snapshot();
        let citation = snapshot.cards.get(hit.node)?.citation;
        let (heading, text) = self.wording(hit.node, hit.shown.place)?;
        Ok(HydratedHit {
            node: hit.node,
            id: self.id_of(hit.node)?,
            citation,
            heading,
            shown: hit.shown,
            code_body: snapshot.code_body_of(hit.node),
            text,
        })
    }

    /// The heading and text of a wording of a node, by the wording's index.
    pub(super) fn wording(&self, node: NodeOrdinal, place: usize) -> Result<(Cow<'_, str>, Span), SearchError> {
        let Card { heading, text, .. } = self.snapshot().cards.get(node)?;
        if place == 0 {
            return Ok((heading.into(), text));
        }
        Ok(self.snapshot().nodes.with_archived(node, |record| {
            let wording = record.wordings.get(place).unwrap_or(&record.wordings[0]);
            let (offset, length) = (wording.text.offset.to_native(), wording.text.length.to_native());
            (wording.heading.as_str().to_owned().into(), Span { offset, length })
        })?)
    }

    /// The heading of the wording of a node that is shown on a day.
    pub fn heading_on(&self, law: &LawOnDay, node: NodeOrdinal) -> Result<Cow<'_, str>, SearchError> {
        self.wording(node, law.shown(node).place).map(|(heading, _)| heading)
    }

    /// The id of a node.
    pub fn id_of(&self, node: NodeOrdinal) -> Result<NodeId, SearchError> {
        let snapshot = self.snapshot();
        snapshot.outline.id(node).ok_or_else(|| {
            let path = snapshot.dir().join(outline::FILE_NAME);
            SearchError::Nodes(NodesError::Missing { path, ordinal: node })
        })
    }
}
