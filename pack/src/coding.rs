//! One block: its limits, how files are cut into blocks, and how a block is compressed and decompressed.
//!
//! Every parameter here is fixed, because the same snapshot must give the same pack.

use std::io::{self, Read};

use fastcdc::v2020::StreamCDC;

use crate::index::{BLOCK_BYTES_MAX, BlockCoding, BlockEntry, PackedBytes};

/// Smaller blocks ship less of an edition that changed a little, and compress less.
const BLOCK_BYTES_AVERAGE: usize = 16_384;
const BLOCK_BYTES_MIN: usize = 4_096;
/// A higher level saves a hundredth and takes several times as long.
const LEVEL: i32 = 9;

/// Cuts a file into blocks where its content says so: what is inserted changes only the blocks around it.
pub(crate) fn cut(source: impl Read) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    let cuts = StreamCDC::new(source, BLOCK_BYTES_MIN, BLOCK_BYTES_AVERAGE, BLOCK_BYTES_MAX as usize);
    cuts.map(|block| block.map(|block| block.data).map_err(io::Error::from))
}

/// A part of an earlier file, which a block is compressed against.
pub(crate) struct Base {
    pub(crate) file: u32,
    pub(crate) at: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The shortest of the block itself, its compressed bytes, and its difference from `base`.
pub(crate) fn encode(block: &[u8], base: Option<&Base>) -> io::Result<(BlockCoding, Vec<u8>)> {
    let compressed = zstd::bulk::compress(block, LEVEL)?;
    let mut best = (BlockCoding::Compressed, compressed);
    if let Some(Base { file, at, bytes }) = base {
        let patched = zstd::bulk::Compressor::with_dictionary(LEVEL, bytes)?.compress(block)?;
        if patched.len() < best.1.len() {
            let length = u32::try_from(bytes.len()).expect("a base is short");
            best = (BlockCoding::Patched { file: *file, at: *at, bytes: length }, patched);
        }
    }
    if best.1.len() >= block.len() {
        best = (BlockCoding::Stored, block.to_vec());
    }
    Ok(best)
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
