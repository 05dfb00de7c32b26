//! The index of a pack: the blocks that it contains, and the files that are made of them.
//!
//! [`PackIndex::decode`] is the only way from bytes to an index, and it refuses everything that unpacking
//! could stumble over: lengths that overflow or disagree, paths that leave the folder, blocks that are too
//! large. FORMAT.md describes the bytes.

use std::collections::HashSet;
use std::ops::Range;

use hornbook_corpus::manifest::{FILE_NAME, HASH_FILE_NAME, SNAPSHOT_ID_LENGTH, is_plain_relative, is_snapshot_id};

use crate::bytes::{ByteReader, ByteWriter};

/// The version of the format of packs.
pub(crate) const VERSION: u32 = 2;
/// The most bytes that a block may have before it is compressed.
pub(crate) const BLOCK_BYTES_MAX: u32 = 65_536;
/// The most bytes of the earlier snapshot that one block may be compressed against.
pub(crate) const BASE_BYTES_MAX: u32 = 262_144;
/// The most bytes of an index: that of a snapshot of about 150 GB.
pub(crate) const INDEX_BYTES_MAX: u64 = 1 << 30;
/// Position of the first block in a pack, after the header.
pub(crate) const FIRST_BLOCK_AT: u64 = 16;

/// The smallest entries, by which a count is checked before memory is reserved for it.
const PATH_BYTES_MIN: usize = 2;
const BLOCK_ENTRY_BYTES_MIN: usize = 37;
const FILE_ENTRY_BYTES_MIN: usize = 46;

const STORED: u8 = 0;
const COMPRESSED: u8 = 1;
const PATCHED: u8 = 2;
const EARLIER: u8 = 3;
const SHIFTED: u8 = 4;
const REGROUPED: u8 = 5;

/// A BLAKE3 hash.
pub(crate) type BlockHash = [u8; 32];

/// The contents of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackIndex {
    /// The id of the packed snapshot.
    pub snapshot: String,
    /// The id of the earlier snapshot that the pack needs. None: the pack is complete.
    pub since: Option<String>,
    /// The files of the earlier snapshot that blocks refer to.
    pub earlier_paths: Vec<String>,
    /// In the order of their first use by the files.
    pub blocks: Vec<BlockEntry>,
    /// In ascending order of path.
    pub files: Vec<PackedFile>,
}

/// A file of the packed snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFile {
    /// Relative to the snapshot, with forward slashes.
    pub path: String,
    pub bytes: u64,
    pub hash: BlockHash,
    /// The blocks whose contents follow each other in the file.
    pub blocks: Vec<u32>,
}

/// A piece of one or more files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockEntry {
    /// The hash of the contents.
    pub hash: BlockHash,
    /// The length of the contents.
    pub bytes: u32,
    pub place: BlockPlace,
}

/// Where the contents of a block are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockPlace {
    /// In the pack.
    Packed(PackedBytes),
    /// In a file of the earlier snapshot, starting at this byte.
    Earlier { file: u32, at: u64 },
}

/// The bytes of a block in the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBytes {
    pub at: u64,
    pub bytes: u32,
    /// The hash of these bytes, so that only the publisher's bytes are decompressed.
    pub hash: BlockHash,
    pub coding: BlockCoding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCoding {
    Stored,
    Compressed,
    /// Compressed with this part of a file of the earlier snapshot as dictionary.
    Patched {
        file: u32,
        at: u64,
        bytes: u32,
    },
    /// The differences of its numbers from those in this part of a file of the earlier snapshot, compressed.
    Shifted {
        file: u32,
        at: u64,
        bytes: u32,
    },
    /// Its groups of packed numbers as plain numbers, compressed with those of this part of a file of the earlier snapshot
    /// as dictionary.
    Regrouped {
        file: u32,
        at: u64,
        bytes: u32,
    },
}

/// What is wrong with an index.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidIndex(String);

fn invalid<T>(what: impl Into<String>) -> Result<T, InvalidIndex> {
    Err(InvalidIndex(what.into()))
}

impl PackedBytes {
    pub(crate) fn range(&self) -> Range<u64> {
        self.at..self.at + u64::from(self.bytes)
    }
}

impl PackIndex {
    /// The total length of the files.
    pub fn file_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The total length of the blocks in the pack.
    pub fn packed_bytes(&self) -> u64 {
        self.blocks.iter().filter_map(|block| block.packed()).map(|packed| u64::from(packed.bytes)).sum()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = ByteWriter::default();
        out.bytes(self.snapshot.as_bytes());
        match &self.since {
            Some(since) => out.bytes(since.as_bytes()),
            None => out.bytes(&[0; SNAPSHOT_ID_LENGTH]),
        }
        out.u32(count(self.earlier_paths.len()));
        out.u32(count(self.blocks.len()));
        out.u32(count(self.files.len()));
        for path in &self.earlier_paths {
            out.text(path);
        }
        for block in &self.blocks {
            block.encode(&mut out);
        }
        for file in &self.files {
            out.text(&file.path);
            out.u64(file.bytes);
            out.bytes(&file.hash);
            out.u32(count(file.blocks.len()));
            for block in &file.blocks {
                out.u32(*block);
            }
        }
        out.finish()
    }

    /// Reads and checks an index that starts at `index_at` in its pack.
    pub fn decode(bytes: &[u8], index_at: u64) -> Result<Self, InvalidIndex> {
        let mut reader = ByteReader::new(bytes);
        let index = Self::read(&mut reader).map_err(InvalidIndex)?;
        if reader.remaining() > 0 {
            return invalid(format!("{} bytes follow the last file", reader.remaining()));
        }
        index.check(index_at)?;
        Ok(index)
    }

    fn read(reader: &mut ByteReader<'_>) -> Result<Self, String> {
        let snapshot = snapshot_id(reader.take(SNAPSHOT_ID_LENGTH)?)?;
        let since = reader.take(SNAPSHOT_ID_LENGTH)?;
        let since = if since.iter().all(|byte| *byte == 0) { None } else { Some(snapshot_id(since)?) };
        let path_count = reader.u32()?;
        let block_count = reader.u32()?;
        let file_count = reader.u32()?;
        let mut earlier_paths = reader.reserve(path_count, PATH_BYTES_MIN)?;
        for _ in 0..path_count {
            earlier_paths.push(reader.text()?);
        }
        let mut blocks = reader.reserve(block_count, BLOCK_ENTRY_BYTES_MIN)?;
        let mut at = FIRST_BLOCK_AT;
        for _ in 0..block_count {
            blocks.push(BlockEntry::read(reader, &mut at)?);
        }
        let mut files = reader.reserve(file_count, FILE_ENTRY_BYTES_MIN)?;
        for _ in 0..file_count {
            files.push(PackedFile::read(reader)?);
        }
        Ok(Self { snapshot, since, earlier_paths, blocks, files })
    }

    fn check(&self, index_at: u64) -> Result<(), InvalidIndex> {
        if FIRST_BLOCK_AT + self.packed_bytes() != index_at {
            return invalid(format!(
                "its blocks end at {}, but it starts at {index_at}",
                FIRST_BLOCK_AT + self.packed_bytes()
            ));
        }
        if self.since.as_ref() == Some(&self.snapshot) {
            return invalid("the pack needs the snapshot that it contains");
        }
        for path in &self.earlier_paths {
            if !is_plain_relative(path) {
                return invalid(format!("the earlier file '{path}' is not inside the snapshot"));
            }
        }
        for block in &self.blocks {
            self.check_block(block)?;
        }
        self.check_paths()?;
        self.check_files()
    }

    fn check_block(&self, block: &BlockEntry) -> Result<(), InvalidIndex> {
        if block.bytes == 0 || block.bytes > BLOCK_BYTES_MAX {
            return invalid(format!("a block has {} bytes; 1 to {BLOCK_BYTES_MAX} are allowed", block.bytes));
        }
        let earlier = match &block.place {
            BlockPlace::Earlier { file, at } => Some((*file, *at, block.bytes)),
            BlockPlace::Packed(PackedBytes { coding: BlockCoding::Stored, .. }) => None,
            BlockPlace::Packed(packed) if packed.bytes == 0 || packed.bytes >= block.bytes => {
                return invalid(format!("a block of {} bytes is compressed to {}", block.bytes, packed.bytes));
            }
            BlockPlace::Packed(PackedBytes { coding: BlockCoding::Compressed, .. }) => None,
            BlockPlace::Packed(PackedBytes {
                coding:
                    BlockCoding::Patched { file, at, bytes }
                    | BlockCoding::Shifted { file, at, bytes }
                    | BlockCoding::Regrouped { file, at, bytes },
                ..
            }) => Some((*file, *at, *bytes)),
        };
        let Some((file, at, bytes)) = earlier else { return Ok(()) };
        if self.since.is_none() || file as usize >= self.earlier_paths.len() {
            return invalid(format!("a block refers to the earlier file {file}, which is not listed"));
        }
        if bytes == 0 || bytes > BASE_BYTES_MAX || at.checked_add(u64::from(bytes)).is_none() {
            return invalid(format!(
                "a block refers to {bytes} bytes of an earlier file; at most {BASE_BYTES_MAX} are allowed"
            ));
        }
        Ok(())
    }

    fn check_paths(&self) -> Result<(), InvalidIndex> {
        let mut before = "";
        let mut folders: HashSet<&str> = HashSet::new();
        for file in &self.files {
            if !is_plain_relative(&file.path) {
                return invalid(format!("the file '{}' is not inside the snapshot", file.path));
            }
            if file.path.as_str() <= before {
                return invalid(format!("the file '{}' is listed after '{before}'", file.path));
            }
            before = &file.path;
            folders.extend(file.path.match_indices('/').map(|(slash, _)| &file.path[..slash]));
        }
        for needed in [FILE_NAME, HASH_FILE_NAME] {
            if !self.files.iter().any(|file| file.path == needed) {
                return invalid(format!("it lists no {needed}"));
            }
        }
        match self.files.iter().find(|file| folders.contains(file.path.as_str())) {
            Some(file) => invalid(format!("'{}' is both a file and a folder", file.path)),
            None => Ok(()),
        }
    }

    /// Checks that every block is used, and that lengths agree.
    fn check_files(&self) -> Result<(), InvalidIndex> {
        let mut used = 0;
        for file in &self.files {
            let mut bytes = 0_u64;
            for number in &file.blocks {
                if *number as usize > used || *number as usize >= self.blocks.len() {
                    return invalid(format!("'{}' uses block {number} out of turn", file.path));
                }
                used = used.max(*number as usize + 1);
                // Neither count can overflow: there are at most 2^32 blocks of 2^16 bytes.
                bytes += u64::from(self.blocks[*number as usize].bytes);
            }
            if bytes != file.bytes {
                return invalid(format!("'{}' has {} bytes, but its blocks have {bytes}", file.path, file.bytes));
            }
        }
        if used != self.blocks.len() {
            return invalid(format!("no file uses block {used}"));
        }
        Ok(())
    }

    /// Where each block is first written: the number of the file, and the position in it.
    pub(crate) fn first_places(&self) -> Vec<(u32, u64)> {
        let mut places = Vec::with_capacity(self.blocks.len());
        for (number, file) in (0..).zip(&self.files) {
            let mut at = 0;
            for block in &file.blocks {
                if *block as usize == places.len() {
                    places.push((number, at));
                }
                at += u64::from(self.blocks[*block as usize].bytes);
            }
        }
        places
    }
}

impl BlockEntry {
    /// The bytes in the pack, unless the block is in the earlier snapshot.
    pub fn packed(&self) -> Option<&PackedBytes> {
        match &self.place {
            BlockPlace::Packed(packed) => Some(packed),
            BlockPlace::Earlier { .. } => None,
        }
    }

    fn encode(&self, out: &mut ByteWriter) {
        let tag = match &self.place {
            BlockPlace::Earlier { .. } => EARLIER,
            BlockPlace::Packed(packed) => match packed.coding {
                BlockCoding::Stored => STORED,
                BlockCoding::Compressed => COMPRESSED,
                BlockCoding::Patched { .. } => PATCHED,
                BlockCoding::Shifted { .. } => SHIFTED,
                BlockCoding::Regrouped { .. } => REGROUPED,
            },
        };
        out.u8(tag);
        out.u32(self.bytes);
        out.bytes(&self.hash);
        match &self.place {
            BlockPlace::Earlier { file, at } => {
                out.u32(*file);
                out.u64(*at);
            }
            BlockPlace::Packed(packed) => {
                if packed.coding != BlockCoding::Stored {
                    out.u32(packed.bytes);
                    out.bytes(&packed.hash);
                }
                if let BlockCoding::Patched { file, at, bytes }
                | BlockCoding::Shifted { file, at, bytes }
                | BlockCoding::Regrouped { file, at, bytes } = packed.coding
                {
                    out.u32(file);
                    out.u64(at);
                    out.u32(bytes);
                }
            }
        }
    }

    /// Blocks follow each other in the pack; `at` is where the next one starts.
    fn read(reader: &mut ByteReader<'_>, at: &mut u64) -> Result<Self, String> {
        let tag = reader.u8()?;
        let bytes = reader.u32()?;
        let hash = reader.hash()?;
        let place = match tag {
            EARLIER => BlockPlace::Earlier { file: reader.u32()?, at: reader.u64()? },
            STORED => BlockPlace::Packed(PackedBytes { at: *at, bytes, hash, coding: BlockCoding::Stored }),
            COMPRESSED | PATCHED | SHIFTED | REGROUPED => {
                let packed_bytes = reader.u32()?;
                let packed_hash = reader.hash()?;
                let coding = match tag {
                    COMPRESSED => BlockCoding::Compressed,
                    SHIFTED => BlockCoding::Shifted { file: reader.u32()?, at: reader.u64()?, bytes: reader.u32()? },
                    REGROUPED => {
                        BlockCoding::Regrouped { file: reader.u32()?, at: reader.u64()?, bytes: reader.u32()? }
                    }
                    _ => BlockCoding::Patched { file: reader.u32()?, at: reader.u64()?, bytes: reader.u32()? },
                };
                BlockPlace::Packed(PackedBytes { at: *at, bytes: packed_bytes, hash: packed_hash, coding })
            }
            other => return Err(format!("a block has the unknown kind {other}")),
        };
        if let BlockPlace::Packed(packed) = &place {
            *at += u64::from(packed.bytes);
        }
        Ok(Self { hash, bytes, place })
    }
}

impl PackedFile {
    fn read(reader: &mut ByteReader<'_>) -> Result<Self, String> {
        let path = reader.text()?;
        let bytes = reader.u64()?;
        let hash = reader.hash()?;
        let block_count = reader.u32()?;
        let mut blocks = reader.reserve(block_count, size_of::<u32>())?;
        for _ in 0..block_count {
            blocks.push(reader.u32()?);
        }
        Ok(Self { path, bytes, hash, blocks })
    }
}

fn snapshot_id(bytes: &[u8]) -> Result<String, String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if is_snapshot_id(&text) { Ok(text) } else { Err("it does not begin with the id of a snapshot".to_owned()) }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).expect("a snapshot has fewer than 2^32 files and blocks")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: u8) -> BlockEntry {
        let hash = [number; 32];
        let place = BlockPlace::Packed(PackedBytes { at: 0, bytes: 10, hash, coding: BlockCoding::Stored });
        BlockEntry { hash, bytes: 10, place }
    }

    fn file(path: &str, blocks: &[u32]) -> PackedFile {
        PackedFile { path: path.to_owned(), bytes: 10 * blocks.len() as u64, hash: [7; 32], blocks: blocks.to_vec() }
    }

    fn index() -> PackIndex {
        PackIndex {
            snapshot: "a".repeat(32),
            since: None,
            earlier_paths: vec![],
            blocks: vec![block(1), block(2)],
            files: vec![file("keyword/x", &[0]), file("manifest.blake3", &[]), file("manifest.json", &[1, 0])],
        }
    }

    fn refused(change: impl FnOnce(&mut PackIndex)) -> String {
        let mut changed = index();
        change(&mut changed);
        // A stored block is as long as its contents.
        let length = |block: &BlockEntry| match block.packed()?.coding {
            BlockCoding::Stored => Some(u64::from(block.bytes)),
            _ => Some(u64::from(block.packed()?.bytes)),
        };
        let at = FIRST_BLOCK_AT + changed.blocks.iter().filter_map(length).sum::<u64>();
        PackIndex::decode(&changed.encode(), at).unwrap_err().to_string()
    }

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let mut delta = index();
        delta.since = Some("b".repeat(32));
        delta.earlier_paths = vec!["texts.bin".to_owned()];
        delta.blocks[1].place = BlockPlace::Earlier { file: 0, at: 5 };
        let at = FIRST_BLOCK_AT;
        delta.blocks[0].place = BlockPlace::Packed(PackedBytes {
            at,
            bytes: 4,
            hash: [3; 32],
            coding: BlockCoding::Patched { file: 0, at: 1, bytes: 9 },
        });
        assert_eq!(PackIndex::decode(&delta.encode(), FIRST_BLOCK_AT + 4).unwrap(), delta);
        let whole = PackIndex::decode(&index().encode(), FIRST_BLOCK_AT + 20).unwrap();
        assert_eq!(whole.first_places(), [(0, 0), (2, 0)]);
        assert_eq!((whole.file_bytes(), whole.packed_bytes()), (30, 20));
    }

    #[test]
    fn hostile_indexes_are_refused_by_what_is_wrong_with_them() {
        for path in ["../x", "/etc/x", "a//b", "a/./b", "a\\b", "keyword\0", ""] {
            assert!(refused(|index| index.files[0].path = path.to_owned()).contains("inside the snapshot"), "{path:?}");
        }
        type IndexChange = fn(&mut PackIndex);
        let faults: [(&str, IndexChange); 10] = [
            ("is listed after", |index| index.files.swap(0, 2)),
            ("both a file and a folder", |index| index.files.insert(0, file("keyword", &[]))),
            ("lists no manifest.json", |index| index.files[2].path = "manifest.txt".to_owned()),
            ("out of turn", |index| index.files[0].blocks = vec![1]),
            ("out of turn", |index| index.files[2].blocks = vec![1, 2]),
            ("but its blocks have", |index| index.files[0].bytes += 1),
            ("no file uses block 2", |index| index.blocks.push(block(3))),
            ("needs the snapshot", |index| index.since = Some(index.snapshot.clone())),
            ("earlier file 0", |index| index.blocks[0].place = BlockPlace::Earlier { file: 0, at: 0 }),
            ("id of a snapshot", |index| index.snapshot = "../../../../../../../../../../aaaa".to_owned()),
        ];
        for (wanted, change) in faults {
            let error = refused(change);
            assert!(error.contains(wanted), "{wanted}: {error}");
        }
    }

    #[test]
    fn blocks_that_would_need_much_memory_are_refused() {
        assert!(refused(|index| index.blocks[0].bytes = BLOCK_BYTES_MAX + 1).contains("are allowed"));
        let base = |bytes, at| {
            refused(|index| {
                index.since = Some("b".repeat(32));
                index.earlier_paths = vec!["x".to_owned()];
                let coding = BlockCoding::Patched { file: 0, at, bytes };
                index.blocks[0].place = BlockPlace::Packed(PackedBytes { at: 0, bytes: 5, hash: [1; 32], coding });
            })
        };
        assert!(base(BASE_BYTES_MAX + 1, 0).contains("at most"));
        assert!(base(10, u64::MAX).contains("at most"));
    }

    #[test]
    fn every_beginning_of_an_index_is_refused() {
        let whole = index().encode();
        for length in 0..whole.len() {
            assert!(PackIndex::decode(&whole[..length], FIRST_BLOCK_AT + 20).is_err(), "{length}");
        }
        // A count beyond what the bytes can hold reserves no memory.
        let mut many = whole.clone();
        many[68..72].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(PackIndex::decode(&many, FIRST_BLOCK_AT + 20).is_err());
        assert!(PackIndex::decode(&[whole, vec![0]].concat(), FIRST_BLOCK_AT + 20).is_err());
    }
}
