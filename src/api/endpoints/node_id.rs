//! The path parameter that identifies a node.

use hornbook_corpus::ids::NodeId;

use crate::api::parameters::Param;

pub(in crate::api) const ID: Param<NodeId> =
    Param::in_path("id", "id of a node, such as the nodeId of a search result");
