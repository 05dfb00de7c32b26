//! `graph-<space>.bin`: the links between points that a search follows towards a query.
//!
//! A *point* is the lowest chunk of a cluster of equal and nearly equal vectors. Points and links are chunk ordinals,
//! so nothing needs translation. The chunks are split into *shards*, each with its own graph, because building a graph
//! takes memory in proportion to its chunks. Every number in the file is checked when it is used: a damaged file can
//! cause wrong results, but no panic and no endless search. `corpus/FORMAT.md` has the layout.

use std::fmt;
use std::path::PathBuf;

use bytemuck::{Pod, Zeroable};

use super::rows::{VectorRows, check_space, one};
use super::space::NAME_LEN_MAX;
use crate::ids::OrdinalRange;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

const KIND: FileKind = FileKind { magic: *b"HBVGRAPH", version: 1 };
/// The most chunks near one point, which limits how many scores one point costs a query.
pub const NEAR_MAX: usize = 64;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Meta {
    space: [u8; NAME_LEN_MAX],
    dims: u32,
    chunks: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct ShardRecord {
    first_chunk: u32,
    chunk_count: u32,
    first_entry: u32,
    entry_count: u32,
}

/// What a graph file says of one chunk.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChunkLinks<'a> {
    /// The points this point is linked to; none if the chunk is no point.
    pub links: &'a [u32],
    /// Chunks whose vectors are nearly equal to this point's, ascending.
    pub near: &'a [u32],
    /// Later chunks with the same row as this one, ascending; given for a point and for the chunks near one.
    pub equal: &'a [u32],
}

/// Why a graph could not be written.
#[derive(Debug)]
pub enum GraphWriteError {
    File(SectionFileError),
    TooManyLinks { path: PathBuf },
}

impl fmt::Display for GraphWriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::TooManyLinks { path } => write!(
                f,
                "cannot write {}: more than {} links; build it with fewer links per point, or split the corpus",
                path.display(),
                u32::MAX
            ),
        }
    }
}

impl std::error::Error for GraphWriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::TooManyLinks { .. } => None,
        }
    }
}

impl From<SectionFileError> for GraphWriteError {
    fn from(error: SectionFileError) -> Self {
        Self::File(error)
    }
}

/// Writes the graph of one space: shard after shard, each begun and then given its chunks in order.
#[derive(Debug)]
pub struct GraphWriter {
    path: PathBuf,
    meta: Meta,
    out: SectionWriter,
    shards: Vec<ShardRecord>,
    entries: Vec<u32>,
    links_at: Vec<u32>,
    near: ListsInWork,
    equal: ListsInWork,
}

/// Lists one behind the other, and where each begins.
#[derive(Debug)]
struct ListsInWork {
    at: Vec<u32>,
    items: Vec<u32>,
}

impl ListsInWork {
    fn new() -> Self {
        Self { at: vec![0], items: Vec::new() }
    }

    fn push(&mut self, list: &[u32]) {
        // Every chunk is in at most one list, so the total fits.
        self.items.extend_from_slice(list);
        self.at.push(self.items.len() as u32);
    }
}

impl GraphWriter {
    /// Creates the graph file in the folder of the vectors.
    pub fn create(rows: &VectorRows) -> Result<Self, GraphWriteError> {
        let path = rows.directory().join(rows.space().graph_file());
        let mut out = SectionWriter::create(&path, KIND, 9)?;
        out.begin("links")?;
        Ok(Self {
            path,
            meta: Meta { space: rows.space().padded(), dims: rows.dims() as u32, chunks: rows.chunk_count() },
            out,
            shards: Vec::new(),
            entries: Vec::new(),
            links_at: vec![0],
            near: ListsInWork::new(),
            equal: ListsInWork::new(),
        })
    }

    /// Begins the shard that follows the chunks pushed so far. Searches in it start from the best of its `entries`.
    pub fn begin_shard(&mut self, chunk_count: u32, entries: &[u32]) {
        self.shards.push(ShardRecord {
            first_chunk: self.chunks_pushed(),
            chunk_count,
            first_entry: self.entries.len() as u32,
            entry_count: entries.len() as u32,
        });
        self.entries.extend_from_slice(entries);
    }

    /// Adds the next chunk.
    ///
    /// # Panics
    /// If more than `NEAR_MAX` chunks are said to lie near it.
    pub fn push(&mut self, chunk: ChunkLinks<'_>) -> Result<(), GraphWriteError> {
        assert!(chunk.near.len() <= NEAR_MAX, "{} chunks near one point", chunk.near.len());
        let links_end = self.links_at.last().copied().unwrap_or(0).checked_add(chunk.links.len() as u32);
        let links_end = links_end.ok_or_else(|| GraphWriteError::TooManyLinks { path: self.path.clone() })?;
        self.out.write_slice(chunk.links)?;
        self.links_at.push(links_end);
        self.near.push(chunk.near);
        self.equal.push(chunk.equal);
        Ok(())
    }

    /// # Panics
    /// If not exactly the chunks of the vectors were pushed.
    pub fn finish(mut self) -> Result<(), GraphWriteError> {
        assert_eq!(self.chunks_pushed(), self.meta.chunks, "a graph over other chunks than its vectors");
        self.out.section("links_at", &self.links_at)?;
        for (name, name_at, lists) in [("near", "near_at", &self.near), ("equal", "equal_at", &self.equal)] {
            self.out.section(name, &lists.items)?;
            self.out.section(name_at, &lists.at)?;
        }
        self.out.section("entries", &self.entries)?;
        self.out.section("shards", &self.shards)?;
        self.out.section("meta", &[self.meta])?;
        Ok(self.out.finish()?)
    }

    fn chunks_pushed(&self) -> u32 {
        (self.links_at.len() - 1) as u32
    }
}

/// The mapped graph of one space.
#[derive(Clone, Debug)]
pub struct GraphFile {
    shards: Column<ShardRecord>,
    entries: Column<u32>,
    links: ListColumns,
    near: ListColumns,
    equal: ListColumns,
}

#[derive(Clone, Debug)]
struct ListColumns {
    at: Column<u32>,
    items: Column<u32>,
}

impl GraphFile {
    /// Maps the graph of the vectors and checks that it has the same space and length.
    pub fn open(rows: &VectorRows) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&rows.directory().join(rows.space().graph_file()), KIND)?;
        let meta = *one::<Meta>(&file)?;
        check_space(&file, &meta.space, rows.space())?;
        if (meta.dims as usize, meta.chunks) != (rows.dims(), rows.chunk_count()) {
            return Err(file.damaged(format!(
                "it is for {} vectors of {} dimensions, but the vectors file has {} of {}",
                meta.chunks,
                meta.dims,
                rows.chunk_count(),
                rows.dims()
            )));
        }
        let lists = |items, at| -> Result<ListColumns, SectionFileError> {
            let lists = ListColumns { at: file.column(at)?, items: file.column(items)? };
            if lists.at.len() != meta.chunks as usize + 1 {
                return Err(file.damaged(format!(
                    "section {at} has {} places for {} chunks",
                    lists.at.len(),
                    meta.chunks
                )));
            }
            Ok(lists)
        };
        let graph = Self {
            shards: file.column("shards")?,
            entries: file.column("entries")?,
            links: lists("links", "links_at")?,
            near: lists("near", "near_at")?,
            equal: lists("equal", "equal_at")?,
        };
        if !graph.shards_cover(meta.chunks) {
            return Err(file.damaged(format!(
                "its {} shards do not cover {} chunks in order",
                graph.shards.len(),
                meta.chunks
            )));
        }
        Ok(graph)
    }

    fn shards_cover(&self, chunks: u32) -> bool {
        let mut next = 0u32;
        for shard in self.shards.iter() {
            match next.checked_add(shard.chunk_count) {
                Some(end) if shard.first_chunk == next && shard.chunk_count > 0 => next = end,
                _ => return false,
            }
        }
        next == chunks
    }

    pub fn view(&self) -> GraphView<'_> {
        GraphView {
            shards: &self.shards,
            entries: &self.entries,
            links: self.links.view(),
            near: self.near.view(),
            equal: self.equal.view(),
        }
    }
}

impl ListColumns {
    fn view(&self) -> Lists<'_> {
        Lists { at: &self.at, items: &self.items }
    }
}

/// One list per chunk.
#[derive(Clone, Copy, Debug)]
struct Lists<'a> {
    at: &'a [u32],
    items: &'a [u32],
}

impl<'a> Lists<'a> {
    /// The list of a chunk; empty where the file makes no sense.
    #[inline]
    fn of(&self, chunk: u32) -> &'a [u32] {
        let place = chunk as usize;
        match self.at.get(place..place + 2) {
            Some(&[start, end]) => self.items.get(start as usize..end as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The columns as slices, taken once per query.
#[derive(Clone, Copy, Debug)]
pub struct GraphView<'a> {
    shards: &'a [ShardRecord],
    entries: &'a [u32],
    links: Lists<'a>,
    near: Lists<'a>,
    equal: Lists<'a>,
}

/// The chunks of a shard, and where searches in it start.
#[derive(Clone, Copy, Debug)]
pub struct Shard<'a> {
    pub chunks: OrdinalRange,
    pub entries: &'a [u32],
}

impl<'a> GraphView<'a> {
    pub fn shards(&self) -> impl Iterator<Item = Shard<'a>> {
        let entries = self.entries;
        self.shards.iter().map(move |shard| Shard {
            chunks: OrdinalRange { start: shard.first_chunk, end: shard.first_chunk.saturating_add(shard.chunk_count) },
            entries: entries
                .get(shard.first_entry as usize..)
                .and_then(|rest| rest.get(..shard.entry_count as usize))
                .unwrap_or_default(),
        })
    }

    #[inline]
    pub fn links(&self, chunk: u32) -> &'a [u32] {
        self.links.of(chunk)
    }

    #[inline]
    pub fn near(&self, chunk: u32) -> &'a [u32] {
        let near = self.near.of(chunk);
        &near[..near.len().min(NEAR_MAX)]
    }

    #[inline]
    pub fn equal(&self, chunk: u32) -> &'a [u32] {
        self.equal.of(chunk)
    }

    /// Those of the equal chunks that lie in the range, found by halving: there may be thousands.
    pub(super) fn equal_in(&self, chunk: u32, range: OrdinalRange) -> &'a [u32] {
        let equal = self.equal(chunk);
        let start = equal.partition_point(|&other| other < range.start);
        let end = equal.partition_point(|&other| other < range.end);
        equal.get(start..end).unwrap_or_default()
    }
}
