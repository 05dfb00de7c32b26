//! `browse`: the immediate children of a code body or of a node.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::code_body;
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::corpus::{Corpus, NodeLink};
use crate::api::edition_freshness::EditionNotices;
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork, WorkClass};
use crate::api::parameters::{BoundedInteger, Param};
use crate::api::reply::{Pages, Reply};
use crate::api::rows::{JSON, law, route, tool};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const CODE_BODY_ID: Param<CodeBodyId> =
    Param::required("codeBodyId", "id of a code body, from code-bodies");

pub(in crate::api) const PARENT: Param<Option<NodeId>> =
    Param::optional("parent", "id of a node of that code body; its top level if absent");

pub(in crate::api) const PAGE: Param<BoundedInteger<1, 100_000>> = Param::page_number("from 1");

pub(in crate::api) const LIMIT: Param<BoundedInteger<1, 1000>> =
    Param::with_default("limit", "1000", "children per page");

/// More children than this are read on a worker thread.
const CHILDREN_LIGHT: usize = 64;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Children")]
pub struct BrowseReply<'s> {
    /// In code order.
    pub nodes: Vec<Child<'s>>,
    /// The page number, from 1.
    pub page: u32,
    pub page_size: u32,
    /// The number of children on all pages.
    pub total: usize,
    /// What the editions do not know about the requested day, by code body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Child")]
pub struct Child<'s> {
    #[serde(flatten)]
    pub link: NodeLink<'s>,
    /// The number of direct children; 0 for a provision without parts.
    pub child_count: usize,
}

impl ForModel for BrowseReply<'_> {
    fn for_model(&self) -> ModelText {
        let Self { nodes, page, total, notices, .. } = self;
        let mut shown = ModelText::of(format!("{} of {total} children, page {page}:\n", nodes.len()));
        shown.notes(notices);
        shown.list(nodes.iter().map(|child| (&child.link, child.child_count)));
        shown
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "browse",
    subject: Subject::Browsing,
    summary: "The direct children of a code body or of a node",
    details: None,
    route: route("/api/v1/browse", "/api/v1/browse?codeBodyId={code_body}"),
    tool: tool(
        "law.browse",
        "law_browse",
        "Use it for a table of contents, from a code by name, level by level. For law on a subject, use law.search.",
    ),
    parameters: &[CODE_BODY_ID.rule, PARENT.rule, PAGE.rule, LIMIT.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<BrowseReply>(),
    model_text: Some(|json| written_for_model::<BrowseReply<'_>>(json)),
    access: law(&[Scope::Browse], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let corpus = call.corpus;
    let body = code_body(corpus, call.get(&CODE_BODY_ID), CODE_BODY_ID.rule.name);
    let body = body.map_err(|violation| ApiError::invalid(vec![violation]))?;
    let outline = &corpus.snapshot().outline;
    let (page, limit) = (call.get(&PAGE), call.get(&LIMIT));
    let (children, total) = match call.get(&PARENT) {
        None => one_page(outline.top_level(body.nodes), page, limit),
        Some(id) => {
            let parent = outline.ordinal(id).filter(|node| body.nodes.contains(node.0)).ok_or_else(|| {
                let message = format!("there is no node {id} in {}; browse it from its top level", body.name);
                ApiError::invalid_parameter(PARENT.rule.name, message)
            })?;
            one_page(outline.children(parent), page, limit)
        }
    };
    let weight = if children.len() > CHILDREN_LIGHT { WorkClass::Heavy } else { WorkClass::Light };
    let last = u32::try_from(total.div_ceil(limit as usize)).unwrap_or(u32::MAX).max(1);
    let (corpus, asked) = (Arc::clone(corpus), RequestedDay::of(call));
    Ok(PreparedWork::new(weight, move |cancellation| {
        let shown = |node| {
            cancellation.check()?;
            child(&corpus, &asked, node)
        };
        let notices = EditionNotices::of(&corpus, children.iter().copied(), &asked)?;
        let nodes = children.into_iter().map(shown).collect::<Result<_, _>>()?;
        let reply = Reply::json(&BrowseReply { nodes, page, page_size: limit, total, notices })?;
        Ok(Reply { pages: Some(Pages { page, last }), ..reply })
    }))
}

/// The children on one page, and the number of children on all pages.
fn one_page(mut children: impl Iterator<Item = NodeOrdinal>, page: u32, limit: u32) -> (Vec<NodeOrdinal>, usize) {
    let (page, limit) = (page as usize, limit as usize);
    let before = children.by_ref().take((page - 1).saturating_mul(limit)).count();
    let shown: Vec<NodeOrdinal> = children.by_ref().take(limit).collect();
    let total = before + shown.len() + children.count();
    (shown, total)
}

fn child<'s>(corpus: &'s Corpus, asked: &RequestedDay, node: NodeOrdinal) -> Result<Child<'s>, ApiError> {
    let child_count = corpus.snapshot().outline.children(node).count();
    Ok(Child { link: corpus.link(&asked.law, &asked.pages, node)?, child_count })
}
