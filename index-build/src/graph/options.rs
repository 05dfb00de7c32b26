//! Options of graph builds.

use hornbook_corpus::ids::OrdinalRange;

use super::bridge::{BridgeOptions, Probes};
use super::ranges::{RangeOptions, ranges_with_graph};
use super::refine::RefineOptions;

/// Options of a graph build. The defaults were measured on the United States Code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphOptions {
    /// The maximum number of chunks in a shard. Building a shard takes about 1.5 KiB of memory per chunk.
    pub shard_chunks_max: u32,
    /// While points are inserted, a point keeps at most twice this many links.
    pub links_per_point: usize,
    /// The number of candidates that the search for the neighbours of a new point keeps.
    pub ef_construction: usize,
    /// Vectors at least this similar are merged into one point.
    pub near_cosine_min: f32,
    pub refine: RefineOptions,
    pub bridge: BridgeOptions,
    pub ranges: RangeOptions,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self {
            shard_chunks_max: 1 << 21,
            links_per_point: 16,
            ef_construction: 40,
            near_cosine_min: 0.999,
            refine: RefineOptions { ef: 64, links_max: 32, stretch: 1.2 },
            bridge: BridgeOptions { rounds: 2, ef: 128, answers: 32, pivots: 4, links_max: 12 },
            ranges: RangeOptions { chunks_min: 4096, share_max: 0.67 },
        }
    }
}

impl GraphOptions {
    /// A hash of the options, probes and ranges. Equal hashes mean that the same vectors give the same graphs.
    pub fn input_hash(&self, probes: &Probes, ranges: &[OrdinalRange]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{self:?} {ranges:?}").as_bytes()).update(&probes.bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// The number of chunks in all graphs together.
    pub fn chunks_linked(&self, chunks: u32, ranges: &[OrdinalRange]) -> u64 {
        let ranges = ranges_with_graph(ranges, chunks, self.shard_chunks_max, &self.ranges);
        u64::from(chunks) + ranges.iter().map(|range| u64::from(range.len())).sum::<u64>()
    }

    /// The number of links that a point may get after linking.
    pub(super) fn bridge_room(&self) -> usize {
        self.bridge.rounds * self.bridge.links_max
    }

    /// A hash of the options. Links can be reused only from graphs with an equal hash.
    pub fn hash(&self) -> String {
        blake3::hash(format!("{self:?}").as_bytes()).to_hex().to_string()
    }
}
