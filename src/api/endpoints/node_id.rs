//! The path parameter that identifies a node.

use hornbook_corpus::ids::NodeId;

use crate::api::parameters::Param;

pub(in crate::api) const ID: Param<NodeId> =
    Param::in_path("id", "id of a node, such as the nodeId of a search result");

/// The URL of a node.
pub(super) fn node_url(base_url: &str, id: NodeId) -> String {
    format!("{base_url}/api/v1/node/{id}")
}
