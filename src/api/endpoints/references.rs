//! `references`: what a provision cites and what cites it, page by page; the first of each also stand in a node's answer.

use std::sync::Arc;

use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::corpus::{Corpus, NodeLink};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Prepared, Weight};
use crate::api::reply::{Pages, Reply};

/// So many of each direction stand in a node's own answer.
const SHOWN_WITH_NODE: usize = 20;

/// The directions, as the parameter names them.
pub(in crate::api) const DIRECTIONS: &[&str] = &["out", "in"];

/// Cross references of a provision, both ways.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NodeReferences")]
pub(in crate::api) struct NodeReferences<'s> {
    /// The provisions held that its text cites, in the order of mention.
    out: ReferenceList<'s>,
    /// The provisions whose text cites it, in the order of the code.
    r#in: ReferenceList<'s>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReferenceList")]
struct ReferenceList<'s> {
    /// How many there are.
    total: usize,
    /// The first 20; `/api/v1/node/{id}/references` has all.
    nodes: Vec<NodeLink<'s>>,
}

impl<'s> NodeReferences<'s> {
    pub(in crate::api) fn of(corpus: &'s Corpus, node: NodeOrdinal) -> Result<Self, ApiError> {
        let references = &corpus.snapshot().references;
        Ok(Self { out: list(corpus, references.outgoing(node))?, r#in: list(corpus, references.incoming(node))? })
    }
}

fn list(corpus: &Corpus, nodes: impl ExactSizeIterator<Item = NodeOrdinal>) -> Result<ReferenceList<'_>, ApiError> {
    let total = nodes.len();
    let nodes = nodes.take(SHOWN_WITH_NODE).map(|node| corpus.link(node)).collect::<Result<_, _>>()?;
    Ok(ReferenceList { total, nodes })
}

/// One page of one direction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "References")]
pub(in crate::api) struct ReferencesReply<'s> {
    #[schemars(with = "uuid::Uuid")]
    id: NodeId,
    /// `out`: what it cites; `in`: what cites it.
    direction: &'static str,
    page: u32,
    page_size: u32,
    /// How many there are on all pages.
    total: usize,
    nodes: Vec<NodeLink<'s>>,
}

pub(in crate::api) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let arguments = asked.arguments;
    let id = NodeId(arguments.uuid("id"));
    let node = asked.corpus.node(id)?;
    let (page, limit) = (arguments.integer("page"), arguments.integer("limit"));
    let direction = arguments.choice("direction");
    let corpus = Arc::clone(asked.corpus);
    Ok(Prepared::new(Weight::Light, move || {
        let references = &corpus.snapshot().references;
        match direction {
            "in" => page_of(&corpus, references.incoming(node), id, "in", page, limit),
            _ => page_of(&corpus, references.outgoing(node), id, "out", page, limit),
        }
    }))
}

fn page_of(
    corpus: &Corpus,
    nodes: impl ExactSizeIterator<Item = NodeOrdinal>,
    id: NodeId,
    direction: &'static str,
    page: u32,
    page_size: u32,
) -> Result<Reply, ApiError> {
    let total = nodes.len();
    let before = (page as usize - 1).saturating_mul(page_size as usize);
    let nodes = nodes.skip(before).take(page_size as usize);
    let nodes = nodes.map(|node| corpus.link(node)).collect::<Result<_, _>>()?;
    let last = u32::try_from(total.div_ceil(page_size as usize).max(1)).unwrap_or(u32::MAX);
    let mut reply = Reply::json(&ReferencesReply { id, direction, page, page_size, total, nodes })?;
    reply.pages = Some(Pages { page: page.min(last), last });
    Ok(reply)
}
