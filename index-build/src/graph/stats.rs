//! What was built, in numbers.

/// What was built: of the shards, unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphStats {
    pub chunks: u32,
    pub shards: u32,
    /// How many ranges have links of their own.
    pub ranges: u32,
    pub points: u32,
    /// Chunks whose row another chunk has too.
    pub collapsed_equal: u32,
    /// Chunks that were nearly equal to a point.
    pub collapsed_near: u32,
    /// Of all graphs.
    pub links: u64,
    /// Points that were inserted into the links of an earlier graph, over all builds since it was built as a whole.
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
