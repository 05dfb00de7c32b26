//! What resolving keeps in memory.

use std::sync::OnceLock;

use hornbook_corpus::citation::Citation;
use hornbook_corpus::ids::NodeOrdinal;

use super::containers::ContainerIndex;
use crate::search::parts::BodyParts;

/// What resolving needs beside the snapshot's files; made when first needed.
#[derive(Default)]
pub(in crate::search) struct ResolveTables {
    /// The provisions whose own citation is a range.
    pub(super) ranges: OnceLock<Vec<(Citation, NodeOrdinal)>>,
    pub(super) containers: OnceLock<ContainerIndex>,
    /// What each code body consists of.
    pub(super) parts: OnceLock<Vec<BodyParts>>,
}
