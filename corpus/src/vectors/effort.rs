//! What a search may cost, and what it did cost.

/// How hard to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many points a walk through the graph keeps; more find more and take longer.
    pub ef: usize,
    /// Up to how many chunks are scanned exactly in place of walking a graph of just these.
    pub scan_chunks_max: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Self { ef: 48, scan_chunks_max: 10_000 }
    }
}

/// How many rows a search compared with the query: what it cost, the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// One after the other.
    pub scanned: u64,
    /// Wherever links led.
    pub visited: u64,
}
