//! `browse`: the immediate children of a code body or of a node.

use std::sync::Arc;

use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::filters::code_body;
use crate::api::corpus::{Corpus, NodeLink};
use crate::api::error::ApiError;
use crate::api::operation::{MeteredCall, Prepared, Weight};
use crate::api::parameters::Param;
use crate::api::reply::Reply;

pub(in crate::api) const CODE_BODY_ID: Param<CodeBodyId> =
    Param::required("codeBodyId", "id of a code body, from code-bodies");

pub(in crate::api) const PARENT: Param<Option<NodeId>> =
    Param::optional("parent", "id of a node of that code body; its top level if absent");

/// More children than this are read on a thread of their own.
const CHILDREN_LIGHT: usize = 64;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Children")]
pub(in crate::api) struct BrowseReply<'s> {
    /// In the order of the code.
    nodes: Vec<Child<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Child")]
struct Child<'s> {
    #[serde(flatten)]
    link: NodeLink<'s>,
    #[schemars(with = "String")]
    status: Status,
    /// None below a provision without parts.
    child_count: usize,
}

pub(in crate::api) fn prepare(call: &MeteredCall<'_>) -> Result<Prepared, ApiError> {
    let corpus = call.corpus;
    let body = code_body(corpus, call.get(&CODE_BODY_ID), CODE_BODY_ID.rule.name);
    let body = body.map_err(|violation| ApiError::invalid(vec![violation]))?;
    let outline = &corpus.snapshot().outline;
    let children: Vec<NodeOrdinal> = match call.get(&PARENT) {
        None => outline.top_level(body.nodes).collect(),
        Some(id) => {
            let parent = outline.ordinal(id).filter(|node| body.nodes.contains(node.0)).ok_or_else(|| {
                let message = format!("there is no node {id} in {}; browse it from its top level", body.name);
                ApiError::invalid_parameter(PARENT.rule.name, message)
            })?;
            outline.children(parent).collect()
        }
    };
    let weight = if children.len() > CHILDREN_LIGHT { Weight::Heavy } else { Weight::Light };
    let corpus = Arc::clone(corpus);
    Ok(Prepared::new(weight, move |cancellation| {
        let shown = |node| {
            cancellation.check()?;
            child(&corpus, node)
        };
        let nodes = children.into_iter().map(shown).collect::<Result<_, _>>()?;
        Reply::json(&BrowseReply { nodes })
    }))
}

fn child(corpus: &Corpus, node: NodeOrdinal) -> Result<Child<'_>, ApiError> {
    let outline = &corpus.snapshot().outline;
    Ok(Child { link: corpus.link(node)?, status: outline.status(node), child_count: outline.children(node).count() })
}
