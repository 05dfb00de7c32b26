//! `graph-<space>.bin`: the links between points that a search follows towards a query.
//!
//! A *point* is the lowest chunk of a cluster of equal and nearly equal vectors. Points and links are chunk
//! ordinals, so nothing needs translation. The chunks are split into *shards*, each with its own graph, because
//! building a graph takes memory in proportion to its chunks. Jurisdictions, code bodies and subtrees above a
//! certain size also have their own graphs, so that a search in one of them visits no other chunks. Every number in
//! the file is checked when it is used: a damaged file can cause wrong results, but no panic and no endless search.
//! `corpus/FORMAT.md` describes the layout.

use std::path::PathBuf;

use bytemuck::{Pod, Zeroable};

use super::rows::{VectorRows, check_space, single_meta};
use super::space::NAME_LEN_MAX;
use super::view::{GraphRecord, GraphView, NEAR_MAX, RowLists};
use crate::ids::OrdinalRange;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

const KIND: FileKind = FileKind { magic: *b"HBVGRAPH", version: 2 };

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct GraphMeta {
    space: [u8; NAME_LEN_MAX],
    dims: u32,
    chunks: u32,
}

/// The data of one chunk in a graph file.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChunkLinks<'a> {
    /// The points to which this point is linked. Empty if the chunk is not a point.
    pub links: &'a [u32],
    /// Chunks whose vectors are nearly equal to this point's, ascending.
    pub near: &'a [u32],
    /// Later chunks with the same row as this one, ascending. Only for points and for the chunks near them.
    pub equal: &'a [u32],
}

/// Why a graph could not be written.
#[derive(Debug, thiserror::Error)]
pub enum GraphWriteError {
    #[error("{0}")]
    File(#[from] SectionFileError),
    #[error(
        "cannot write {}: more than {} links; build it with fewer links per point, or split the corpus",
        .path.display(),
        u32::MAX
    )]
    TooManyLinks { path: PathBuf },
}

/// Writes the graphs of one space, shards first. Each graph is begun, and then its chunks are pushed in order.
#[derive(Debug)]
pub struct GraphWriter {
    path: PathBuf,
    meta: GraphMeta,
    out: SectionWriter,
    graphs: Vec<GraphRecord>,
    entries: Vec<u32>,
    links_at: Vec<u32>,
    near: ListsBuilder,
    equal: ListsBuilder,
}

/// Lists to be written, one after another, with the start of each.
#[derive(Debug)]
struct ListsBuilder {
    at: Vec<u32>,
    items: Vec<u32>,
}

impl ListsBuilder {
    fn new() -> Self {
        Self { at: vec![0], items: Vec::new() }
    }

    fn push(&mut self, list: &[u32]) {
        // Every chunk is in at most one list of a graph, and rows of all graphs are counted in 32 bits.
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
            meta: GraphMeta { space: rows.space().padded(), dims: rows.dims() as u32, chunks: rows.chunk_count() },
            out,
            graphs: Vec::new(),
            entries: Vec::new(),
            links_at: vec![0],
            near: ListsBuilder::new(),
            equal: ListsBuilder::new(),
        })
    }

    /// Begins the graph of a range of chunks: a shard, or another range that has its own graph. Searches in it
    /// start from the best of its `entries`. `inserted` is the number of its points that were added after it was
    /// built as a whole.
    pub fn begin(&mut self, chunks: OrdinalRange, entries: &[u32], inserted: u32) {
        self.graphs.push(GraphRecord {
            first_chunk: chunks.start,
            chunk_count: chunks.len(),
            first_entry: self.entries.len() as u32,
            entry_count: entries.len() as u32,
            first_row: self.rows_pushed(),
            inserted,
        });
        self.entries.extend_from_slice(entries);
    }

    /// Adds the next chunk of the graph that was begun last.
    ///
    /// # Panics
    /// If more than `NEAR_MAX` chunks are near it.
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
    /// If the number of pushed chunks is not that of the graphs, or if the shards do not cover all chunks in order.
    pub fn finish(mut self) -> Result<(), GraphWriteError> {
        let rows: u32 = self.graphs.iter().map(|graph| graph.chunk_count).sum();
        assert_eq!(self.rows_pushed(), rows, "the pushed chunks are not those of the graphs");
        assert!(
            shards_of(&self.graphs, self.meta.chunks).is_some(),
            "the shards do not cover the chunks of the vectors"
        );
        self.out.section("links_at", &self.links_at)?;
        for (name, name_at, lists) in [("near", "near_at", &self.near), ("equal", "equal_at", &self.equal)] {
            self.out.section(name, &lists.items)?;
            self.out.section(name_at, &lists.at)?;
        }
        self.out.section("entries", &self.entries)?;
        self.out.section("graphs", &self.graphs)?;
        self.out.section("meta", &[self.meta])?;
        Ok(self.out.finish()?)
    }

    fn rows_pushed(&self) -> u32 {
        (self.links_at.len() - 1) as u32
    }
}

/// The number of graphs at the start that are shards. Shards cover all chunks in order; the other graphs are over
/// ranges of these chunks. `None` if the graphs are invalid.
fn shards_of(graphs: &[GraphRecord], chunks: u32) -> Option<usize> {
    let (mut next, mut row, mut shards) = (0_u32, 0_u32, None);
    for (place, graph) in graphs.iter().enumerate() {
        let end = graph.first_chunk.checked_add(graph.chunk_count)?;
        if graph.first_row != row || graph.chunk_count == 0 || end > chunks {
            return None;
        }
        row = row.checked_add(graph.chunk_count)?;
        if shards.is_none() {
            if graph.first_chunk != next {
                return None;
            }
            next = end;
            shards = (next == chunks).then_some(place + 1);
        }
    }
    shards.or((graphs.is_empty() && chunks == 0).then_some(0))
}

/// The mapped graphs of one space.
#[derive(Clone, Debug)]
pub struct GraphFile {
    graphs: Column<GraphRecord>,
    shards: usize,
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
        let meta = *single_meta::<GraphMeta>(&file)?;
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
        let graphs: Column<GraphRecord> = file.column("graphs")?;
        let Some(shards) = shards_of(&graphs, meta.chunks) else {
            let (graphs, chunks) = (graphs.len(), meta.chunks);
            return Err(file.damaged(format!("the first of its {graphs} graphs do not cover {chunks} chunks in order")));
        };
        let rows = graphs.last().map_or(0, |last| last.first_row as usize + last.chunk_count as usize);
        let lists = |items, at| -> Result<ListColumns, SectionFileError> {
            let lists = ListColumns { at: file.column(at)?, items: file.column(items)? };
            if lists.at.len() != rows + 1 {
                return Err(file.damaged(format!("section {at} has {} offsets for {rows} lists", lists.at.len())));
            }
            Ok(lists)
        };
        Ok(Self {
            graphs,
            shards,
            entries: file.column("entries")?,
            links: lists("links", "links_at")?,
            near: lists("near", "near_at")?,
            equal: lists("equal", "equal_at")?,
        })
    }

    pub fn view(&self) -> GraphView<'_> {
        GraphView {
            graphs: &self.graphs,
            shards: self.shards,
            entries: &self.entries,
            links: self.links.view(),
            near: self.near.view(),
            equal: self.equal.view(),
        }
    }
}

impl ListColumns {
    fn view(&self) -> RowLists<'_> {
        RowLists { at: &self.at, items: &self.items }
    }
}
