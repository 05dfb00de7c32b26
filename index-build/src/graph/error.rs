//! Errors of a graph build.

use hornbook_corpus::ids::{ChunkOrdinal, OrdinalRange};
use hornbook_corpus::vectors::GraphWriteError;

/// Why no graph was built.
#[derive(Debug, thiserror::Error)]
pub enum GraphBuildError {
    #[error("{0}")]
    Write(#[from] GraphWriteError),
    /// An error with the temporary file of a finished graph.
    #[error("cannot use a temporary file in the output folder: {0}")]
    Spool(#[source] std::io::Error),
    #[error(
        "cannot link the vectors of chunks {}..{} into one graph: {points_unreachable} points, the first at chunk {point}, \
         cannot be reached because every point near them already has the maximum number of links; build with more links per point",
        .shard.start, .shard.end
    )]
    Unreachable { point: ChunkOrdinal, points_unreachable: usize, shard: OrdinalRange },
}
