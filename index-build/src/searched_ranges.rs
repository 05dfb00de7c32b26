//! The ranges that searches filter by, as chunk ranges: jurisdictions with those within them, code
//! bodies and subtrees.

use std::path::Path;

use hornbook_corpus::chunks::ChunkTable;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Outline;
use hornbook_corpus::section_file::SectionFileError;

use crate::compile::Compiled;

/// The ranges of the snapshot in `dir`, unordered, with duplicates.
pub(crate) fn searched_ranges(dir: &Path, compiled: &Compiled) -> Result<Vec<OrdinalRange>, SectionFileError> {
    let (outline, chunks) = (Outline::open(dir)?, ChunkTable::open(dir)?);
    let jurisdictions = compiled.jurisdictions.iter().map(|jurisdiction| jurisdiction.subtree);
    let bodies = compiled.code_bodies.iter().map(|body| body.nodes);
    let containers = (0..outline.len()).map(NodeOrdinal).filter(|&node| !outline.is_provision(node));
    let nodes = jurisdictions.chain(bodies).chain(containers.map(|node| outline.subtree(node)));
    Ok(nodes.map(|nodes| chunks.chunk_range(nodes)).filter(|range| !range.is_empty()).collect())
}
