//! Errors of a graph build.

use std::fmt;

use hornbook_corpus::ids::{ChunkOrdinal, OrdinalRange};
use hornbook_corpus::vectors::GraphWriteError;

/// Why no graph was built.
#[derive(Debug)]
pub enum GraphBuildError {
    Write(GraphWriteError),
    /// An error with the temporary file of a finished graph.
    Spool(std::io::Error),
    Unreachable {
        point: ChunkOrdinal,
        points_unreachable: usize,
        shard: OrdinalRange,
    },
}

impl fmt::Display for GraphBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(error) => error.fmt(f),
            Self::Spool(error) => write!(f, "cannot use a temporary file in the output folder: {error}"),
            Self::Unreachable { point, points_unreachable, shard } => write!(
                f,
                "cannot link the vectors of chunks {}..{} into one graph: {points_unreachable} points, the first at chunk {point}, \
                 cannot be reached because every point near them already has the maximum number of links; build with more links per point",
                shard.start, shard.end
            ),
        }
    }
}

impl std::error::Error for GraphBuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write(error) => Some(error),
            Self::Spool(error) => Some(error),
            Self::Unreachable { .. } => None,
        }
    }
}

impl From<GraphWriteError> for GraphBuildError {
    fn from(error: GraphWriteError) -> Self {
        Self::Write(error)
    }
}
