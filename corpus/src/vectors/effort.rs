//! The effort that a search may spend, and the work that it did.

/// The effort of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many of the best points a walk through the graph keeps. More points find better results but take longer.
    pub ef: usize,
    /// The cost of a walk, in scanned chunks. A range of up to this many chunks is scanned exactly, even if it has
    /// its own graph.
    pub scan_chunks_max: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Self { ef: 48, scan_chunks_max: 10_000 }
    }
}

/// The numbers of rows that a search compared with the query. They are the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Rows that were scanned.
    pub scanned: u64,
    /// Rows that were visited in walks.
    pub visited: u64,
}
