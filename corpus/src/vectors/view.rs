//! The data of the graphs of a space, read from slices of the mapped file.

use bytemuck::{Pod, Zeroable};

use crate::ids::OrdinalRange;

/// Maximum number of chunks near one point. This limits how many scores a query computes for one point.
pub const NEAR_MAX: usize = 64;

/// A graph as it is stored in the file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct GraphRecord {
    pub(super) first_chunk: u32,
    pub(super) chunk_count: u32,
    pub(super) first_entry: u32,
    pub(super) entry_count: u32,
    /// The index of the first chunk's lists among those of all graphs.
    pub(super) first_row: u32,
    /// Points that were inserted since the graph was built as a whole.
    pub(super) inserted: u32,
}

/// One list per row; a graph has a row for each of its chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLists<'a> {
    pub(super) at: &'a [u32],
    pub(super) items: &'a [u32],
}

impl<'a> RowLists<'a> {
    /// The list of a row. Empty if the file is damaged there.
    #[inline]
    fn of(&self, row: usize) -> &'a [u32] {
        match self.at.get(row..row + 2) {
            Some(&[start, end]) => self.items.get(start as usize..end as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The columns as slices, taken once per query.
#[derive(Clone, Copy, Debug)]
pub struct GraphView<'a> {
    pub(super) graphs: &'a [GraphRecord],
    pub(super) shards: usize,
    pub(super) entries: &'a [u32],
    pub(super) links: RowLists<'a>,
    pub(super) near: RowLists<'a>,
    pub(super) equal: RowLists<'a>,
}

impl<'a> GraphView<'a> {
    /// The graphs that cover all chunks, in order.
    pub fn shards(self) -> impl Iterator<Item = Graph<'a>> {
        (0..self.shards).filter_map(move |place| self.graph(place))
    }

    /// The graphs of single ranges, outer ones before those within them.
    pub fn ranges(self) -> impl Iterator<Item = Graph<'a>> {
        (self.shards..self.graphs.len()).filter_map(move |place| self.graph(place))
    }

    /// The chunks of every graph, shards first.
    pub(super) fn chunks(self) -> impl Iterator<Item = OrdinalRange> + Clone {
        self.graphs.iter().map(chunks_of)
    }

    pub(super) fn graph(self, place: usize) -> Option<Graph<'a>> {
        let record = self.graphs.get(place)?;
        let entries = self.entries.get(record.first_entry as usize..);
        Some(Graph {
            chunks: chunks_of(record),
            entries: entries.and_then(|rest| rest.get(..record.entry_count as usize)).unwrap_or_default(),
            inserted: record.inserted,
            first_row: record.first_row,
            links: self.links,
            near: self.near,
            equal: self.equal,
        })
    }
}

fn chunks_of(record: &GraphRecord) -> OrdinalRange {
    OrdinalRange { start: record.first_chunk, end: record.first_chunk.saturating_add(record.chunk_count) }
}

/// One graph: its chunks, the entries from which searches start, and its links.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    pub chunks: OrdinalRange,
    pub entries: &'a [u32],
    /// Points that were inserted since it was built as a whole.
    pub inserted: u32,
    first_row: u32,
    links: RowLists<'a>,
    near: RowLists<'a>,
    equal: RowLists<'a>,
}

impl<'a> Graph<'a> {
    #[inline]
    pub fn links(&self, chunk: u32) -> &'a [u32] {
        self.of(&self.links, chunk)
    }

    #[inline]
    pub fn near(&self, chunk: u32) -> &'a [u32] {
        let near = self.of(&self.near, chunk);
        &near[..near.len().min(NEAR_MAX)]
    }

    #[inline]
    pub fn equal(&self, chunk: u32) -> &'a [u32] {
        self.of(&self.equal, chunk)
    }

    /// The equal chunks that are in the range, found by binary search because there may be thousands.
    pub(super) fn equal_in(&self, chunk: u32, range: OrdinalRange) -> &'a [u32] {
        let equal = self.equal(chunk);
        let start = equal.partition_point(|&other| other < range.start);
        let end = equal.partition_point(|&other| other < range.end);
        equal.get(start..end).unwrap_or_default()
    }

    /// The list of a chunk. Empty if the chunk is not in this graph, which happens only in a damaged file.
    #[inline]
    fn of(&self, lists: &RowLists<'a>, chunk: u32) -> &'a [u32] {
        match self.chunks.contains(chunk) {
            true => lists.of(self.first_row as usize + (chunk - self.chunks.start) as usize),
            false => &[],
        }
    }
}
