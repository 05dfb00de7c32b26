//! The tables for resolving citations that stay in memory.

use std::sync::OnceLock;

use hornbook_corpus::citation::Citation;
use hornbook_corpus::ids::NodeOrdinal;

use super::containers::ContainerIndex;
use crate::parts::BodyParts;

/// The tables for resolving citations, each built at its first use.
#[derive(Default)]
pub(crate) struct ResolveTables {
    /// The provisions whose own citation is a range.
    pub(super) ranges: OnceLock<Vec<(Citation, NodeOrdinal)>>,
    pub(super) containers: OnceLock<ContainerIndex>,
    /// The parts of each code body.
    pub(super) parts: OnceLock<Vec<BodyParts>>,
}
