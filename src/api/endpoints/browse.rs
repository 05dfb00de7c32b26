//! `browse`: the immediate children of a code body or of a node.

use std::sync::Arc;

use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::corpus::{Corpus, NodeLink};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Prepared, Weight};
use crate::api::parameters::Violation;
use crate::api::reply::Reply;

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

pub(in crate::api) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let (corpus, arguments) = (asked.corpus, asked.arguments);
    let invalid = |name: &str, message: String| ApiError::invalid(vec![Violation::new(name, message)]);
    let body_id = CodeBodyId(arguments.uuid("codeBodyId"));
    let body = corpus.catalogue().code_body(body_id).ok_or_else(|| {
        invalid("codeBodyId", format!("there is no code body {body_id}; /api/v1/code-bodies lists them"))
    })?;
    let outline = &corpus.snapshot().outline;
    let children: Vec<NodeOrdinal> = match arguments.uuid_if_any("parent").map(NodeId) {
        None => outline.top_level(body.nodes).collect(),
        Some(id) => {
            let parent = outline.ordinal(id).filter(|node| body.nodes.contains(node.0)).ok_or_else(|| {
                invalid("parent", format!("there is no node {id} in {}; browse it from its top level", body.name))
            })?;
            outline.children(parent).collect()
        }
    };
    let weight = if children.len() > CHILDREN_LIGHT { Weight::Heavy } else { Weight::Light };
    let corpus = Arc::clone(corpus);
    Ok(Prepared::new(weight, move || {
        let nodes = children.into_iter().map(|node| child(&corpus, node)).collect::<Result<_, _>>()?;
        Reply::json(&BrowseReply { nodes })
    }))
}

fn child(corpus: &Corpus, node: NodeOrdinal) -> Result<Child<'_>, ApiError> {
    let outline = &corpus.snapshot().outline;
    Ok(Child { link: corpus.link(node)?, status: outline.status(node), child_count: outline.children(node).count() })
}
