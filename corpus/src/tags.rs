//! The tags of each node in a mapped file: ascending indexes into the catalogue, so that counting tags needs no
//! records.

use std::path::Path;

use crate::ids::NodeOrdinal;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "tags.bin";
const KIND: FileKind = FileKind { magic: *b"HBTAGS\0\0", version: 1 };

/// Collects the tags of nodes in ordinal order.
#[derive(Debug, Default)]
pub struct TagWriter {
    starts: Vec<u32>,
    tags: Vec<u16>,
}

impl TagWriter {
    pub fn push(&mut self, tags: &[u16]) {
        debug_assert!(tags.is_sorted());
        self.starts.push(self.tags.len() as u32);
        self.tags.extend_from_slice(tags);
    }

    pub fn finish(mut self, dir: &Path) -> Result<(), SectionFileError> {
        self.starts.push(self.tags.len() as u32);
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 2)?;
        out.section("starts", &self.starts)?;
        out.section("tags", &self.tags)?;
        out.finish()
    }
}

#[derive(Clone, Debug)]
pub struct Tags {
    starts: Column<u32>,
    tags: Column<u16>,
}

impl Tags {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        Ok(Self { starts: file.column("starts")?, tags: file.column("tags")? })
    }

    pub fn of(&self, node: NodeOrdinal) -> &[u16] {
        let bounds = self.starts.get(node.index()).zip(self.starts.get(node.index() + 1));
        bounds.and_then(|(&start, &end)| self.tags.get(start as usize..end as usize)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_read_back_by_node() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = TagWriter::default();
        for tags in [&[1_u16, 3][..], &[], &[2]] {
            writer.push(tags);
        }
        writer.finish(dir.path()).unwrap();
        let tags = Tags::open(dir.path()).unwrap();
        assert_eq!(tags.of(NodeOrdinal(0)), [1, 3]);
        assert_eq!(tags.of(NodeOrdinal(1)), [0_u16; 0]);
        assert_eq!(tags.of(NodeOrdinal(2)), [2]);
        assert_eq!(tags.of(NodeOrdinal(3)), [0_u16; 0]);
    }
}
