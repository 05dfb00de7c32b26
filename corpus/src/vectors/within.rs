//! Which chunks a search may find.

use std::fmt;

use crate::ids::{ChunkOrdinal, OrdinalRange};

/// Ranges of chunks, and a filter for the chunks in them.
#[derive(Clone, Copy)]
pub struct ChunkFilter<'a> {
    /// In ascending order and not touching each other, as in [`OrdinalRanges`](crate::ranges::OrdinalRanges).
    pub ranges: &'a [OrdinalRange],
    /// `None` if every chunk of the ranges may be found.
    pub admits: Option<&'a dyn Fn(ChunkOrdinal) -> bool>,
}

impl ChunkFilter<'_> {
    #[inline]
    pub(super) fn admits(&self, chunk: u32) -> bool {
        self.admits.is_none_or(|admits| admits(ChunkOrdinal(chunk)))
    }
}

impl fmt::Debug for ChunkFilter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Within").field("ranges", &self.ranges).field("is_narrowed", &self.admits.is_some()).finish()
    }
}
