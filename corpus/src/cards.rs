//! Cards, `cards.bin`: the data that lists show about each node, in a mapped file.
//!
//! A page of results or a table of contents lists about twenty nodes. The node records have the same data and more,
//! but each record must be found in a tree, copied and validated. Reading a card takes a few bounds checks, a
//! checksum and two slices of the mapped file.

use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};

use crate::damage::Damage;
use crate::ids::{NodeOrdinal, is_source_key};
use crate::nodes::{NodeRecord, NodesError, Wording};
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};
use crate::texts::Span;

pub const FILE_NAME: &str = "cards.bin";
const KIND: FileKind = FileKind { magic: *b"HBCARDS\0", version: 4 };

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct CardEntry {
    text_offset: u64,
    names_offset: u64,
    text_sha256_start: [u8; 8],
    text_length: u32,
    citation_length: u32,
    heading_length: u32,
    wordings: u16,
    key_length: u16,
    source: u16,
    has_own_date: u16,
    /// CRC-32 of the fields above, the citation, the heading and the source key.
    sum: u32,
}

impl CardEntry {
    /// The checksum that this entry must have if `names` are its citation, heading and source key.
    fn sum_with(&self, names: &[u8]) -> u32 {
        const SUMMED_BYTES: usize = std::mem::offset_of!(CardEntry, sum);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytemuck::bytes_of(self)[..SUMMED_BYTES]);
        hasher.update(names);
        hasher.finalize()
    }
}

/// Writes cards in ordinal order.
#[derive(Debug)]
pub struct CardWriter {
    out: SectionWriter,
    entries: Vec<CardEntry>,
    names_offset: u64,
}

impl CardWriter {
    pub fn create(dir: &Path) -> Result<Self, SectionFileError> {
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 2)?;
        out.begin("names")?;
        Ok(Self { out, entries: Vec::new(), names_offset: 0 })
    }

    pub fn push(&mut self, record: &NodeRecord) -> Result<(), SectionFileError> {
        let NodeRecord { citation, wordings, source_key, .. } = record;
        let key = if is_source_key(source_key) { source_key } else { "" };
        let Wording { heading, text, text_sha256, .. } = record.wording(0);
        let names = [citation.as_bytes(), heading.as_bytes(), key.as_bytes()].concat();
        self.out.write(&names)?;
        let mut entry = CardEntry {
            text_offset: text.offset,
            names_offset: self.names_offset,
            text_sha256_start: text_sha256[..8].try_into().expect("a hash has more bytes"),
            text_length: text.length,
            citation_length: citation.len() as u32,
            heading_length: heading.len() as u32,
            wordings: u16::try_from(wordings.len() - 1).unwrap_or(u16::MAX),
            key_length: key.len() as u16,
            source: record.source,
            has_own_date: u16::from(record.current_through.is_some()),
            sum: 0,
        };
        entry.sum = entry.sum_with(&names);
        self.entries.push(entry);
        self.names_offset += names.len() as u64;
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), SectionFileError> {
        self.out.section("entries", &self.entries)?;
        self.out.finish()
    }
}

/// The data that a list shows about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card<'s> {
    pub citation: &'s str,
    pub heading: &'s str,
    /// Empty if the record has a key that [`is_source_key`] refuses.
    pub source_key: &'s str,
    /// The text of its first wording.
    pub text: Span,
    /// The first bytes of the SHA-256 of that text, to check whether a copy is still the same.
    pub text_sha256_start: [u8; 8],
    /// The number of other wordings of the record.
    pub wordings: u16,
    /// Its source, as an index into the catalogue's sources.
    pub source: u16,
    /// Whether the record has its own `current_through` date, which replaces that of its source.
    pub has_own_date: bool,
}

/// The mapped cards.
#[derive(Clone, Debug)]
pub struct Cards {
    path: PathBuf,
    entries: Column<CardEntry>,
    names: Column<u8>,
    damage: Damage,
}

impl Cards {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        Self::open_reporting(dir, Damage::default())
    }

    /// Opens the cards so that every failed check is also recorded in `damage`.
    pub fn open_reporting(dir: &Path, damage: Damage) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let (entries, names) = (file.column("entries")?, file.column("names")?);
        Ok(Self { path: file.path().to_owned(), entries, names, damage })
    }

    pub fn node_count(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, node: NodeOrdinal) -> Result<Card<'_>, NodesError> {
        let Some(entry) = self.entries.get(node.index()) else {
            return Err(NodesError::Missing { path: self.path.clone(), ordinal: node });
        };
        self.read(entry).ok_or_else(|| {
            let error = NodesError::Damaged { path: self.path.clone(), ordinal: node };
            self.damage.record(&error);
            error
        })
    }

    /// The position of the text of a node's first wording, if there is such a node. The checksum is not verified:
    /// use it only to compare texts.
    pub fn text(&self, node: NodeOrdinal) -> Option<Span> {
        let entry = self.entries.get(node.index())?;
        Some(Span { offset: entry.text_offset, length: entry.text_length })
    }

    /// The source of a node, if there is such a node. The checksum is not verified: use it only to count.
    pub fn source(&self, node: NodeOrdinal) -> Option<u16> {
        self.entries.get(node.index()).map(|entry| entry.source)
    }

    fn read(&self, entry: &CardEntry) -> Option<Card<'_>> {
        let start = usize::try_from(entry.names_offset).ok()?;
        let middle = start.checked_add(entry.citation_length as usize)?;
        let key = middle.checked_add(entry.heading_length as usize)?;
        let end = key.checked_add(usize::from(entry.key_length))?;
        if entry.sum_with(self.names.get(start..end)?) != entry.sum {
            return None;
        }
        let words = |from, to| std::str::from_utf8(self.names.get(from..to)?).ok();
        Some(Card {
            citation: words(start, middle)?,
            heading: words(middle, key)?,
            source_key: words(key, end)?,
            text: Span { offset: entry.text_offset, length: entry.text_length },
            text_sha256_start: entry.text_sha256_start,
            wordings: entry.wordings,
            source: entry.source,
            has_own_date: entry.has_own_date != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::nodes::tests::record;

    fn records(names: &[(String, String)]) -> Vec<NodeRecord> {
        let names = (0..).zip(names);
        let named = |(n, (citation, heading)): (u32, &(String, String))| {
            let mut named = NodeRecord { citation: citation.clone(), ..record(n) };
            named.wordings[0].heading.clone_from(heading);
            named
        };
        names.map(named).collect()
    }

    fn write(dir: &Path, records: &[NodeRecord]) {
        let mut writer = CardWriter::create(dir).unwrap();
        records.iter().for_each(|record| writer.push(record).unwrap());
        writer.finish().unwrap();
    }

    proptest! {
        #[test]
        fn cards_match_their_records(names in prop::collection::vec(("\\PC{0,12}", "\\PC{0,30}"), 0..30)) {
            let dir = tempfile::tempdir().unwrap();
            let records = records(&names);
            write(dir.path(), &records);
            let cards = Cards::open(dir.path()).unwrap();
            prop_assert_eq!(cards.node_count(), records.len());
            for (node, record) in (0..).map(NodeOrdinal).zip(&records) {
                let card = cards.get(node).unwrap();
                let first = record.wording(0);
                prop_assert_eq!((card.citation, card.heading), (record.citation.as_str(), first.heading.as_str()));
                prop_assert_eq!(card.source_key, &record.source_key);
                prop_assert_eq!((card.text, card.wordings as usize), (first.text, record.wordings.len() - 1));
                prop_assert!(first.text_sha256.starts_with(&card.text_sha256_start));
            }
            let beyond = NodeOrdinal(records.len() as u32);
            let error = cards.get(beyond).unwrap_err().to_string();
            prop_assert!(error.contains(FILE_NAME) && error.contains("hornbook verify"), "{}", error);
        }

        #[test]
        fn a_flipped_bit_is_refused_and_recorded_or_changes_nothing(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
            let dir = tempfile::tempdir().unwrap();
            let names = [("§ 1".to_owned(), "Höfe".to_owned()), ("§ 2".to_owned(), String::new())];
            let records = records(&names);
            write(dir.path(), &records);
            let path = dir.path().join(FILE_NAME);
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            let Ok(cards) = Cards::open(dir.path()) else { return Ok(()) };
            prop_assert!(cards.get(NodeOrdinal(2)).is_err() && cards.get(NodeOrdinal(u32::MAX)).is_err());
            prop_assert_eq!(cards.damage.first(), None);
            for (node, record) in (0..).map(NodeOrdinal).zip(&records) {
                match cards.get(node) {
                    Ok(card) => {
                        let first = record.wording(0);
                        prop_assert_eq!((card.citation, card.heading), (&*record.citation, &*first.heading));
                        prop_assert_eq!((card.text, card.wordings as usize), (first.text, record.wordings.len() - 1));
                    }
                    Err(error) => prop_assert_eq!(cards.damage.first().map(str::to_owned), Some(error.to_string())),
                }
            }
        }
    }
}
