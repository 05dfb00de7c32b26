//! `nodes`: several nodes in one call. Each node found costs as much as one call of `node`.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use schemars::JsonSchema;
use serde::Serialize;

use super::include::Included;
use super::node::NodeReply;
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{Ids, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, law, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const IDS: Param<Ids<50>> = Param::required("ids", "comma-separated node ids");

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Nodes")]
pub(in crate::api) struct NodesReply<'s> {
    /// In the order of the request, each once.
    nodes: Vec<NodeReply<'s>>,
    /// Requested ids that have no node. They cost nothing.
    #[schemars(with = "Vec<uuid::Uuid>")]
    missing: Vec<NodeId>,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "nodes",
    subject: Subject::Law,
    summary: "Several nodes in one call; unknown ids are listed as missing",
    details: None,
    route: route("/api/v1/nodes", "/api/v1/nodes?ids={node},{other_node}"),
    tool: None,
    parameters: &[IDS.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<NodesReply<'static>>(),
    model_text: None,
    access: law(&[Scope::Node], 1, CostUnit::Node, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let mut found: Vec<NodeOrdinal> = Vec::new();
    let mut missing: Vec<NodeId> = Vec::new();
    for id in call.get(&IDS).iter().copied().map(NodeId) {
        match call.corpus.snapshot().ordinal(id) {
            Some(node) if !found.contains(&node) => found.push(node),
            None if !missing.contains(&id) => missing.push(id),
            _ => {}
        }
    }
    if found.is_empty() {
        return Err(ApiError::not_found("there is no node with any of these ids; take ids from search results"));
    }
    let units = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::of(call);
    let work = PreparedWork::heavy(move |cancellation| {
        let node = |node: &NodeOrdinal| {
            cancellation.check()?;
            NodeReply::of(&corpus, *node, &asked, Included::ALL)
        };
        let nodes = found.iter().map(node).collect::<Result<_, _>>()?;
        Reply::json(&NodesReply { nodes, missing })
    });
    Ok(PreparedWork { units, ..work })
}
