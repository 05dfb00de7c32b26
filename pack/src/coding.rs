//! One block: its limits, how files are cut into blocks, and how a block is compressed and decompressed.
//!
//! Every parameter here is fixed, because the same snapshot must give the same pack.

use std::io::{self, Read};

use fastcdc::v2020::StreamCDC;

use crate::index::{BLOCK_BYTES_MAX, BlockCoding, BlockEntry, PackedBytes};
use crate::number_groups::{self, GroupLayout};
use crate::word_patch::{self, WORD_PATCH_BYTES_MAX};

/// Smaller blocks ship less of an edition that changed a little, and compress less.
const BLOCK_BYTES_AVERAGE: usize = 16_384;
const BLOCK_BYTES_MIN: usize = 4_096;
/// A higher level saves a hundredth and takes several times as long.
const LEVEL: i32 = 9;
/// For blocks that are compressed against the earlier snapshot, which are few: a tenth less.
const CHANGES_LEVEL: i32 = 19;

/// Cuts a file into blocks where its content says so: what is inserted changes only the blocks around it.
pub(crate) fn cut(source: impl Read) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    let cuts = StreamCDC::new(source, BLOCK_BYTES_MIN, BLOCK_BYTES_AVERAGE, BLOCK_BYTES_MAX as usize);
    cuts.map(|block| block.map(|block| block.data).map_err(io::Error::from))
}

/// A part of an earlier file, which a block is compressed against.
pub(crate) struct Base {
    pub(crate) file: u32,
    /// A multiple of four, as numbers in files begin at one.
    pub(crate) at: u64,
    pub(crate) bytes: Vec<u8>,
    /// Where in the earlier file the block is expected.
    pub(crate) expected: u64,
    /// The groups of packed numbers in both, if they are known.
    pub(crate) groups: Option<BlockGroups>,
}

/// The groups of packed numbers in a block, and in the part of the earlier file that it is compared with.
pub(crate) struct BlockGroups {
    pub(crate) block: GroupLayout,
    pub(crate) base: GroupLayout,
}

/// A block as it is packed.
pub(crate) struct Encoded {
    pub(crate) coding: BlockCoding,
    pub(crate) bytes: Vec<u8>,
    /// Where in the earlier file the next block is expected, if this one shows it.
    pub(crate) next_expected: Option<u64>,
}

/// The shortest of the block itself, its compressed bytes, and its differences from `base`. `at` is the position of the
/// block in its file.
pub(crate) fn encode(block: &[u8], at: u64, base: Option<&Base>) -> io::Result<Encoded> {
    if let Some(base) = base
        && let Some(encoded) = regrouped(block, base)?
        && encoded.bytes.len() < block.len() / 2
    {
        return Ok(encoded);
    }
    let compressed = zstd::bulk::compress(block, LEVEL)?;
    let mut best = Encoded { coding: BlockCoding::Compressed, bytes: compressed, next_expected: None };
    for encoded in [base.map(|base| patched(block, base)), base.and_then(|base| shifted(block, at, base).transpose())] {
        if let Some(encoded) = encoded.transpose()?
            && encoded.bytes.len() < best.bytes.len()
        {
            best = encoded;
        }
    }
    if best.bytes.len() >= block.len() {
        best = Encoded { coding: BlockCoding::Stored, bytes: block.to_vec(), next_expected: None };
    }
    Ok(best)
}

/// The block compressed with the base as dictionary.
fn patched(block: &[u8], base: &Base) -> io::Result<Encoded> {
    let bytes = zstd::bulk::Compressor::with_dictionary(CHANGES_LEVEL, &base.bytes)?.compress(block)?;
    let coding = BlockCoding::Patched { file: base.file, at: base.at, bytes: base.bytes.len() as u32 };
    Ok(Encoded { coding, bytes, next_expected: None })
}

/// The numbers that are packed in the block, compressed with those of the base as dictionary.
fn regrouped(block: &[u8], base: &Base) -> io::Result<Option<Encoded>> {
    let Some(groups) = base.groups.as_ref().filter(|groups| !groups.block.runs.is_empty()) else { return Ok(None) };
    let patch = number_groups::difference(block, &groups.block, &base.bytes, &groups.base, CHANGES_LEVEL)?;
    // An index of another version of its library could pack groups in another way.
    let Some(bytes) =
        patch.filter(|patch| number_groups::apply(patch, &base.bytes, block.len()).is_some_and(|again| again == block))
    else {
        return Ok(None);
    };
    let coding = BlockCoding::Regrouped { file: base.file, at: base.at, bytes: base.bytes.len() as u32 };
    Ok(Some(Encoded { coding, bytes, next_expected: None }))
}

/// The differences of the block's numbers from those of the base, if the two have much in common.
fn shifted(block: &[u8], at: u64, base: &Base) -> io::Result<Option<Encoded>> {
    let lead = (at.wrapping_neg() % 4) as usize;
    let start = ((base.expected - base.at) as usize + lead) / 4;
    let Some(patch) = word_patch::difference(block, lead.min(block.len()), &base.bytes, start) else { return Ok(None) };
    let again = word_patch::apply(&patch.bytes, &base.bytes, block.len());
    assert!(again.is_some_and(|again| again == block), "a patch that gives another block must not be published");
    let bytes = zstd::bulk::compress(&patch.bytes, CHANGES_LEVEL)?;
    let coding = BlockCoding::Shifted { file: base.file, at: base.at, bytes: base.bytes.len() as u32 };
    let tail = (block.len() - lead.min(block.len())) % 4;
    let next_expected = Some(base.at + 4 * patch.end as u64 + tail as u64);
    Ok(Some(Encoded { coding, bytes, next_expected }))
}

/// What is wrong with the bytes of a block.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BlockFault {
    #[error("a block does not have the hash that the index states")]
    Damaged,
    /// The packed bytes are right, so the earlier snapshot is not.
    #[error("a block that refers to the earlier snapshot does not have the hash that the index states")]
    OtherBase,
}

/// Checks and decompresses the packed bytes of a block. `base` is the part of the earlier snapshot that its coding
/// names.
pub(crate) fn decode(
    entry: &BlockEntry,
    packed: &PackedBytes,
    bytes: Vec<u8>,
    base: Option<&[u8]>,
) -> Result<Vec<u8>, BlockFault> {
    // Nothing is decompressed that the publisher did not pack.
    if bytes.len() != packed.bytes as usize || *blake3::hash(&bytes).as_bytes() != packed.hash {
        return Err(BlockFault::Damaged);
    }
    let capacity = entry.bytes as usize;
    let (block, fault) = match packed.coding {
        BlockCoding::Stored => (Ok(bytes), BlockFault::Damaged),
        BlockCoding::Compressed => (zstd::bulk::decompress(&bytes, capacity), BlockFault::Damaged),
        BlockCoding::Shifted { .. } => {
            let base = base.ok_or(BlockFault::OtherBase)?;
            let patch = zstd::bulk::decompress(&bytes, WORD_PATCH_BYTES_MAX);
            let block = patch.and_then(|patch| {
                word_patch::apply(&patch, base, capacity).ok_or_else(|| io::Error::other("it describes no block"))
            });
            (block, BlockFault::OtherBase)
        }
        BlockCoding::Regrouped { .. } => {
            let base = base.ok_or(BlockFault::OtherBase)?;
            let block = number_groups::apply(&bytes, base, capacity);
            (block.ok_or_else(|| io::Error::other("it describes no block")), BlockFault::OtherBase)
        }
        BlockCoding::Patched { .. } => {
            let base = base.ok_or(BlockFault::OtherBase)?;
            let patched = zstd::bulk::Decompressor::with_dictionary(base);
            (patched.and_then(|mut patched| patched.decompress(&bytes, capacity)), BlockFault::OtherBase)
        }
    };
    block.ok().filter(|block| is_block(entry, block)).ok_or(fault)
}

/// Whether these are the contents of a block.
pub(crate) fn is_block(entry: &BlockEntry, contents: &[u8]) -> bool {
    contents.len() == entry.bytes as usize && *blake3::hash(contents).as_bytes() == entry.hash
}
