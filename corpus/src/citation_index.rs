//! The index from citations to nodes: a sorted, mapped table of citation keys.
//!
//! It contains the canonical, former and parallel citations of every node, the sections of acts that it is, and the
//! names of acts that its notes tell, as 64-bit hashes. A reader compares the
//! citations in the record before it accepts a match.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use crate::citation::CitationKey;
use crate::ids::NodeOrdinal;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "citations.bin";
const KIND: FileKind = FileKind { magic: *b"HBCITES\0", version: 1 };

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct CitationEntry {
    hash: u64,
    node: u32,
    kind: u32,
}

/// The kind of a citation that a node has. The last two are no citations of the node itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum CitationKind {
    Canonical = 0,
    Parallel = 1,
    Former = 2,
    /// A section of an act that the provision is.
    ActSection = 3,
    /// The name of an act that its notes tie to a law.
    ActName = 4,
}

impl CitationKind {
    fn from_number(number: u32) -> Option<Self> {
        [Self::Canonical, Self::Parallel, Self::Former, Self::ActSection, Self::ActName]
            .into_iter()
            .find(|kind| *kind as u32 == number)
    }
}

fn hash(key: &CitationKey) -> u64 {
    let digest = blake3::hash(key.as_str().as_bytes());
    u64::from_le_bytes(digest.as_bytes()[..8].try_into().expect("a digest has 32 bytes"))
}

/// Collects citations in any order, and writes the index.
#[derive(Debug, Default)]
pub struct CitationIndexWriter {
    entries: Vec<CitationEntry>,
}

impl CitationIndexWriter {
    pub fn push(&mut self, key: &CitationKey, node: NodeOrdinal, kind: CitationKind) {
        self.entries.push(CitationEntry { hash: hash(key), node: node.0, kind: kind as u32 });
    }

    pub fn finish(mut self, dir: &Path) -> Result<(), SectionFileError> {
        self.entries.sort_unstable_by_key(|entry| (entry.hash, entry.kind, entry.node));
        self.entries.dedup();
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 1)?;
        out.section("entries", &self.entries)?;
        out.finish()
    }
}

#[derive(Clone, Debug)]
pub struct CitationIndex {
    entries: Column<CitationEntry>,
}

impl CitationIndex {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        Ok(Self { entries: SectionFile::open(&dir.join(FILE_NAME), KIND)?.column("entries")? })
    }

    /// The nodes that may have this citation: first as canonical, then as parallel, then as former citation. Each
    /// kind is in ordinal order.
    pub fn candidates(&self, key: &CitationKey) -> impl Iterator<Item = (NodeOrdinal, CitationKind)> + '_ {
        let wanted = hash(key);
        let start = self.entries.partition_point(|entry| entry.hash < wanted);
        self.entries[start..]
            .iter()
            .take_while(move |entry| entry.hash == wanted)
            .filter_map(|entry| Some((NodeOrdinal(entry.node), CitationKind::from_number(entry.kind)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::Grammar;

    #[test]
    fn a_citation_finds_all_its_bearers_canonical_first() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = CitationIndexWriter::default();
        let key = |text: &str| Grammar::built_in().key_or_folded(text);
        writer.push(&key("5 U.S.C. § 1"), NodeOrdinal(9), CitationKind::Canonical);
        writer.push(&key("5 USC 1"), NodeOrdinal(2), CitationKind::Former);
        writer.push(&key("title 5, section 1"), NodeOrdinal(4), CitationKind::Canonical);
        writer.push(&key("5 U.S.C. § 11"), NodeOrdinal(5), CitationKind::Canonical);
        writer.finish(dir.path()).unwrap();
        let index = CitationIndex::open(dir.path()).unwrap();
        let found: Vec<_> = index.candidates(&key("5 U.S.C. 1")).map(|(node, kind)| (node.0, kind)).collect();
        assert_eq!(found, [(4, CitationKind::Canonical), (9, CitationKind::Canonical), (2, CitationKind::Former)]);
        assert_eq!(index.candidates(&key("5 U.S.C. § 111")).count(), 0);
    }
}
