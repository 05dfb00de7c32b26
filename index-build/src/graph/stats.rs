//! Statistics of a graph build.

/// Statistics of a graph build. Fields count the shards unless their comment states otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphStats {
    pub chunks: u32,
    pub shards: u32,
    /// The number of ranges with their own graph.
    pub ranges: u32,
    pub points: u32,
    /// Chunks whose row equals the row of an earlier chunk.
    pub collapsed_equal: u32,
    /// Chunks that are nearly equal to a point.
    pub collapsed_near: u32,
    /// Links of all graphs.
    pub links: u64,
    /// Points that were inserted into the links of an earlier graph, over all builds since the last full build.
    pub inserted: u32,
    /// Links of all graphs that were added because a walk could not have reached or left a point without them.
    pub links_added: u32,
}

impl GraphStats {
    pub(super) fn add_shard(&mut self, built: &Self) {
        self.points += built.points;
        self.collapsed_equal += built.collapsed_equal;
        self.collapsed_near += built.collapsed_near;
        self.links += built.links;
        self.inserted += built.inserted;
        self.links_added += built.links_added;
    }
}
