//! The table of all chunks, `chunks.bin`: the node of each chunk, and the position of its text. Chunks are numbered in
//! node order, so a range of nodes is a range of chunks.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use crate::ids::{ChunkOrdinal, NodeOrdinal, OrdinalRange};
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};
use crate::texts::Span;

pub const FILE_NAME: &str = "chunks.bin";

const KIND: FileKind = FileKind { magic: *b"HBCHUNKS", version: 1 };

/// The position of a chunk, as it is in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
struct ChunkEntry {
    node: u32,
    text_len: u32,
    text_offset: u64,
}

/// One chunk of the corpus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    pub node: NodeOrdinal,
    /// Its position in the text file. Empty if the provision has only a heading; such a provision has one chunk.
    pub text: Span,
}

/// Why the table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ChunkTableError {
    #[error("{0}")]
    File(#[from] SectionFileError),
    #[error(
        "cannot number the chunks of node {node}: a snapshot can contain at most {} chunks; \
         split the plan into two snapshots",
        u32::MAX
    )]
    TooMany { node: NodeOrdinal },
}

/// Writes the table in node order. Chunks are written to the file at once; four bytes per node are kept until the end.
#[derive(Debug)]
pub struct ChunkTableWriter {
    file: SectionWriter,
    first_chunks: Vec<u32>,
}

impl ChunkTableWriter {
    pub fn create(dir: &Path) -> Result<Self, ChunkTableError> {
        let mut file = SectionWriter::create(&dir.join(FILE_NAME), KIND, 2)?;
        file.begin("chunks")?;
        Ok(Self { file, first_chunks: vec![0] })
    }

    /// Adds the chunks of the next node and returns their ordinals. Nodes without chunks must be added too.
    pub fn push_node(&mut self, node: NodeOrdinal, chunks: &[Span]) -> Result<OrdinalRange, ChunkTableError> {
        let nodes = self.first_chunks.len() - 1;
        assert!(node.index() == nodes, "node {node} was added instead of node {nodes}");
        let start = self.first_chunks[nodes];
        let count = u32::try_from(chunks.len()).ok();
        let end = count.and_then(|count| start.checked_add(count)).ok_or(ChunkTableError::TooMany { node })?;
        for span in chunks {
            self.file.write_slice(&[ChunkEntry { node: node.0, text_len: span.length, text_offset: span.offset }])?;
        }
        self.first_chunks.push(end);
        Ok(OrdinalRange::new(start, end))
    }

    pub fn finish(mut self) -> Result<(), ChunkTableError> {
        self.file.section("first", &self.first_chunks)?;
        Ok(self.file.finish()?)
    }
}

/// The mapped table. A damaged entry is treated like a missing one.
#[derive(Clone, Debug)]
pub struct ChunkTable {
    chunks: Column<ChunkEntry>,
    /// The first chunk of each node, followed by the number of chunks.
    first_chunks: Column<u32>,
}

impl ChunkTable {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let table = Self { chunks: file.column("chunks")?, first_chunks: file.column("first")? };
        let counted = table.first_chunks.last().map(|&count| count as usize);
        if table.first_chunks.first() != Some(&0) || counted != Some(table.chunks.len()) {
            let what = format!("it contains {} chunks, but its node index counts {counted:?}", table.chunks.len());
            return Err(file.damaged(what));
        }
        if u32::try_from(table.first_chunks.len()).is_err() {
            return Err(file.damaged(format!("{} nodes are too many", table.first_chunks.len() - 1)));
        }
        Ok(table)
    }

    pub fn node_count(&self) -> u32 {
        self.first_chunks.len() as u32 - 1
    }

    pub fn chunk_count(&self) -> u32 {
        self.chunks.len() as u32
    }

    pub fn chunk(&self, chunk: ChunkOrdinal) -> Option<Chunk> {
        let entry = self.chunks.get(chunk.index()).filter(|entry| entry.node < self.node_count())?;
        let text = Span { offset: entry.text_offset, length: entry.text_len };
        Some(Chunk { node: NodeOrdinal(entry.node), text })
    }

    pub fn node_of(&self, chunk: ChunkOrdinal) -> Option<NodeOrdinal> {
        Some(self.chunk(chunk)?.node)
    }

    pub fn chunks_of(&self, node: NodeOrdinal) -> OrdinalRange {
        // A node with the highest ordinal is in no table, so saturation does no harm.
        let end = node.0.saturating_add(1);
        self.chunk_range(OrdinalRange { start: node.0, end })
    }

    /// The chunks of a range of nodes. Nodes that do not exist are ignored.
    pub fn chunk_range(&self, nodes: OrdinalRange) -> OrdinalRange {
        let first_chunk = |node: u32| self.first_chunks[node.min(self.node_count()) as usize];
        let (start, end) = (first_chunk(nodes.start), first_chunk(nodes.end));
        let well_formed = start <= end && end <= self.chunk_count();
        if well_formed { OrdinalRange::new(start, end) } else { OrdinalRange::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn span() -> impl Strategy<Value = Span> {
        any::<(u64, u32)>().prop_map(|(offset, length)| Span { offset, length })
    }

    fn written(nodes: &[Vec<Span>]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ChunkTableWriter::create(dir.path()).unwrap();
        for (node, chunks) in nodes.iter().enumerate() {
            writer.push_node(NodeOrdinal(node as u32), chunks).unwrap();
        }
        writer.finish().unwrap();
        dir
    }

    #[test]
    fn an_empty_corpus_has_an_empty_table() {
        let table = ChunkTable::open(written(&[]).path()).unwrap();
        assert_eq!((table.node_count(), table.chunk_count()), (0, 0));
        assert_eq!(table.chunk(ChunkOrdinal(0)), None);
        assert!(table.chunks_of(NodeOrdinal(0)).is_empty() && table.chunks_of(NodeOrdinal(u32::MAX)).is_empty());
    }

    #[test]
    #[should_panic(expected = "node 3 was added instead of node 1")]
    fn a_skipped_node_panics() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ChunkTableWriter::create(dir.path()).unwrap();
        writer.push_node(NodeOrdinal(0), &[]).unwrap();
        drop(writer.push_node(NodeOrdinal(3), &[]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_table_matches_a_list_of_lists(
            nodes in prop::collection::vec(prop::collection::vec(span(), 0..4), 0..20),
            start in 0..25_u32,
            len in 0..25_u32,
        ) {
            let table = ChunkTable::open(written(&nodes).path()).unwrap();
            let all: Vec<(usize, Span)> = nodes
                .iter()
                .enumerate()
                .flat_map(|(node, chunks)| chunks.iter().map(move |&text| (node, text)))
                .collect();
            prop_assert_eq!(table.chunk_count() as usize, all.len());
            for (ordinal, &(node, text)) in all.iter().enumerate() {
                let node = NodeOrdinal(node as u32);
                let chunk = ChunkOrdinal(ordinal as u32);
                prop_assert_eq!(table.chunk(chunk), Some(Chunk { node, text }));
                prop_assert_eq!(table.node_of(chunk), Some(node));
                prop_assert!(table.chunks_of(node).contains(chunk.0));
            }
            prop_assert_eq!(table.chunk(ChunkOrdinal(all.len() as u32)), None);
            let inside: Vec<u32> = (0..all.len() as u32)
                .filter(|&chunk| (start..start + len).contains(&(all[chunk as usize].0 as u32)))
                .collect();
            let range = table.chunk_range(OrdinalRange::new(start, start + len));
            prop_assert_eq!(range.iter().collect::<Vec<_>>(), inside);
        }

        #[test]
        fn damaged_bytes_are_refused_or_answered_without_panic(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let dir = written(&[vec![Span { offset: 0, length: 5 }; 2], vec![], vec![Span { offset: 12, length: 3 }]]);
            let path = dir.path().join(FILE_NAME);
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            fs::write(&path, &bytes).unwrap();
            let Ok(table) = ChunkTable::open(dir.path()) else { return Ok(()) };
            for ordinal in 0..6 {
                let node_known = table.node_of(ChunkOrdinal(ordinal)).is_none_or(|node| node.0 < table.node_count());
                prop_assert!(node_known);
                prop_assert!(table.chunks_of(NodeOrdinal(ordinal)).end <= table.chunk_count());
            }
        }
    }
}
