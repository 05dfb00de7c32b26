//! Adds to results what a person reads: citation, heading, status and code body.

use hornbook_corpus::cards::Card;
use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use hornbook_corpus::nodes::{ArchivedNodeRecord, NodesError};
use hornbook_corpus::outline::{self, Status};
use hornbook_corpus::texts::Span;

use super::engine::Engine;
use super::error::SearchError;
use super::request::Hit;

/// A hit with what it is called.
#[derive(Clone, Debug)]
pub struct HydratedHit<'s> {
    pub node: NodeOrdinal,
    pub id: NodeId,
    pub citation: &'s str,
    pub heading: &'s str,
    pub status: Status,
    pub code_body: Option<&'s CodeBody>,
    /// The current text, then those of other wordings.
    pub(super) texts: Vec<Span>,
}

impl Engine {
    /// Reads what a hit is called.
    pub fn hydrate(&self, hit: &Hit) -> Result<HydratedHit<'_>, SearchError> {
        let snapshot = self.snapshot();
        let Card { citation, heading, text, wordings, .. } = snapshot.cards.get(hit.node)?;
        let texts = match wordings {
            0 => vec![text],
            _ => snapshot.nodes.with(hit.node, texts_of)?,
        };
        let id = self.id_of(hit.node)?;
        Ok(HydratedHit {
            node: hit.node,
            id,
            citation,
            heading,
            status: snapshot.outline.status(hit.node),
            code_body: snapshot.code_body_of(hit.node),
            texts,
        })
    }

    pub(super) fn id_of(&self, node: NodeOrdinal) -> Result<NodeId, SearchError> {
        let snapshot = self.snapshot();
        snapshot.outline.id(node).ok_or_else(|| {
            let path = snapshot.dir().join(outline::FILE_NAME);
            SearchError::Nodes(NodesError::Missing { path, ordinal: node })
        })
    }
}

fn texts_of(record: &ArchivedNodeRecord) -> Vec<Span> {
    let wordings = record.wordings.iter().map(|wording| &wording.text);
    let spans = std::iter::once(&record.text).chain(wordings);
    spans.map(|span| Span { offset: span.offset.to_native(), length: span.length.to_native() }).collect()
}
