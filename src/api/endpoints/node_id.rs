//! The parameter that names a node in a path.

use hornbook_corpus::ids::NodeId;

use crate::api::parameters::Param;

pub(in crate::api) const ID: Param<NodeId> =
    Param::in_path("id", "id of a node, such as the nodeId of a search result");

/// Where clients read a node.
pub(super) fn node_url(base_url: &str, id: NodeId) -> String {
    format!("{base_url}/api/v1/node/{id}")
}
