//! `references`: what a provision cites and what cites it, page by page. The answer of `node` also has
//! the first of each.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_id::ID;
use super::paging::{LIMIT, PAGE, Paging};
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::corpus::{Corpus, NodeLink};
use crate::api::edition_freshness::EditionNotices;
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{Param, choice};
use crate::api::reply::Reply;
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, NOT_FOUND, law, route, tool};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

/// How many references of each direction the answer of `node` contains.
const REFERENCES_IN_NODE_MAX: usize = 20;

pub(in crate::api) const DIRECTION: Param<Direction> =
    Param::with_default("direction", "out", "out: provisions that it cites; in: provisions that cite it");

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::api) enum Direction {
    Out,
    In,
}

impl Direction {
    const ALL: [Self; 2] = [Self::Out, Self::In];

    const fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
        }
    }
}

choice!(Direction, name);

/// The references of a provision, in both directions.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
#[schemars(rename = "NodeReferences")]
pub struct NodeReferences<'s> {
    /// The provisions of this corpus that its text cites, in the order of mention.
    pub out: ReferenceList<'s>,
    /// The provisions whose text cites it, in code order.
    pub r#in: ReferenceList<'s>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
#[schemars(rename = "ReferenceList")]
pub struct ReferenceList<'s> {
    /// The number of references.
    pub total: usize,
    /// The first 20. `/api/v1/node/{id}/references` lists all.
    pub nodes: Vec<NodeLink<'s>>,
}

impl<'s> NodeReferences<'s> {
    pub(in crate::api) fn of(corpus: &'s Corpus, asked: &RequestedDay, node: NodeOrdinal) -> Result<Self, ApiError> {
        let references = &corpus.snapshot().references;
        Ok(Self {
            out: list(corpus, asked, references.outgoing(node))?,
            r#in: list(corpus, asked, references.incoming(node))?,
        })
    }
}

fn list<'s>(
    corpus: &'s Corpus,
    asked: &RequestedDay,
    nodes: impl ExactSizeIterator<Item = NodeOrdinal>,
) -> Result<ReferenceList<'s>, ApiError> {
    let total = nodes.len();
    let nodes = nodes.take(REFERENCES_IN_NODE_MAX);
    let nodes = nodes.map(|node| corpus.link(&asked.law, &asked.pages, node)).collect::<Result<_, _>>()?;
    Ok(ReferenceList { total, nodes })
}

/// One page of the references in one direction.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "References")]
pub struct ReferencesReply<'s> {
    #[schemars(with = "uuid::Uuid")]
    pub id: NodeId,
    /// `out`: the provisions that it cites. `in`: the provisions that cite it.
    pub direction: ReplyText<'s>,
    pub page: u32,
    pub page_size: u32,
    /// The number of references on all pages.
    pub total: usize,
    pub nodes: Vec<NodeLink<'s>>,
    /// What the editions do not know about the requested day, by code body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl ForModel for ReferencesReply<'_> {
    fn for_model(&self) -> ModelText {
        let Self { direction, nodes, total, page, notices, .. } = self;
        let what = if direction.as_ref() == "in" { "provisions that cite it" } else { "provisions that it cites" };
        let mut shown = ModelText::of(format!("{} of {total} {what}, page {page}:\n", nodes.len()));
        shown.notes(notices);
        shown.list(nodes.iter().map(|node| (node, 0)));
        shown
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "references",
    subject: Subject::Law,
    summary: "The provisions that a provision cites, or that cite it",
    details: None,
    route: route("/api/v1/node/{id}/references", "/api/v1/node/{node}/references?direction=in"),
    tool: tool(
        "law.references",
        "law_references",
        "Use it for what a provision cites, or who cites it; its id may be a citation. For its surroundings, use law.browse.",
    ),
    parameters: &[ID.rule, DIRECTION.rule, PAGE.rule, LIMIT.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<ReferencesReply>(),
    model_text: Some(|json| written_for_model::<ReferencesReply<'_>>(json)),
    access: law(&[Scope::Node], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let id = call.get(&ID);
    let node = call.corpus.node(id)?;
    let paging = Paging::of(call).map_err(|violation| ApiError::invalid(vec![violation]))?;
    let direction = call.get(&DIRECTION);
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::of(call);
    Ok(PreparedWork::light(move || {
        let references = &corpus.snapshot().references;
        let page = ReferencesPage { id, direction, paging, asked: &asked };
        match direction {
            Direction::Out => page.of(&corpus, references.outgoing(node)),
            Direction::In => page.of(&corpus, references.incoming(node)),
        }
    }))
}

struct ReferencesPage<'l> {
    id: NodeId,
    direction: Direction,
    paging: Paging,
    asked: &'l RequestedDay,
}

impl ReferencesPage<'_> {
    fn of(self, corpus: &Corpus, nodes: impl ExactSizeIterator<Item = NodeOrdinal>) -> Result<Reply, ApiError> {
        let Self { id, direction, paging, asked } = self;
        let total = nodes.len();
        let nodes: Vec<NodeOrdinal> = nodes.skip(paging.skipped()).take(paging.limit as usize).collect();
        let notices = EditionNotices::of(corpus, nodes.iter().copied(), asked)?;
        let link = |node| corpus.link(&asked.law, &asked.pages, node);
        let nodes = nodes.into_iter().map(link).collect::<Result<_, _>>()?;
        let (page, page_size) = (paging.page, paging.limit);
        let reply = ReferencesReply { id, direction: direction.name().into(), page, page_size, total, nodes, notices };
        Ok(Reply { pages: Some(paging.pages(total)), ..Reply::json(&reply)? })
    }
}
