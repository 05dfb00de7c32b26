//! A pack as a file: its header and trailer, and reading one block at a time.
//!
//! The trailer says where the index is and what hash it has. The index says the same of every block, so any
//! file, or a part of one, can be read without the rest.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use blake2::{Blake2b512, Digest};

use crate::bytes::{ByteReader, ByteWriter};
use crate::coding::{self, BlockFault};
use crate::earlier::EarlierFiles;
use crate::error::{PackError, io_error};
use crate::index::{BlockCoding, BlockHash, BlockPlace, FIRST_BLOCK_AT, INDEX_BYTES_MAX, PackIndex, VERSION};
use crate::signature::FileHash;

const MAGIC: &[u8; 8] = b"HBPACK\r\n";
const END_MAGIC: &[u8; 8] = b"HBPACK\n.";
pub(crate) const TRAILER_BYTES: u64 = 56;
const HASH_PIECE_BYTES: u64 = 1 << 18;

/// Where the index of a pack is, and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexPlace {
    pub at: u64,
    pub bytes: u64,
    pub hash: BlockHash,
}

impl IndexPlace {
    /// The length of the pack.
    pub(crate) fn pack_bytes(&self) -> u64 {
        self.at + self.bytes + TRAILER_BYTES
    }
}

pub(crate) fn header() -> [u8; FIRST_BLOCK_AT as usize] {
    let mut header = [0; FIRST_BLOCK_AT as usize];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header
}

pub(crate) fn trailer(place: &IndexPlace) -> Vec<u8> {
    let mut out = ByteWriter::default();
    out.u64(place.at);
    out.u64(place.bytes);
    out.bytes(&place.hash);
    out.bytes(END_MAGIC);
    out.finish()
}

/// Where the index is, according to the trailer of a pack of this length.
fn index_place(trailer: &[u8], pack_bytes: u64) -> Result<IndexPlace, String> {
    let mut reader = ByteReader::new(trailer);
    let place = IndexPlace { at: reader.u64()?, bytes: reader.u64()?, hash: reader.hash()? };
    if reader.take(END_MAGIC.len())? != END_MAGIC {
        return Err("its end is missing".to_owned());
    }
    let end = place.at.checked_add(place.bytes).and_then(|end| end.checked_add(TRAILER_BYTES));
    if place.at < FIRST_BLOCK_AT || place.bytes > INDEX_BYTES_MAX || end != Some(pack_bytes) {
        let IndexPlace { at, bytes, .. } = place;
        return Err(format!("its trailer states an index of {bytes} bytes at {at}, but it has {pack_bytes} bytes"));
    }
    Ok(place)
}

/// An open pack, of which only the index is in memory.
#[derive(Debug)]
pub struct PackFile {
    path: PathBuf,
    file: File,
    index: PackIndex,
    place: IndexPlace,
}

impl PackFile {
    /// Reads and checks the header and the index.
    pub fn open(path: &Path) -> Result<Self, PackError> {
        let file = File::open(path).map_err(io_error(path, "open"))?;
        let bytes = file.metadata().map_err(io_error(path, "find"))?.len();
        if bytes < FIRST_BLOCK_AT + TRAILER_BYTES {
            return Err(PackError::NotAPack { path: path.to_owned() });
        }
        let read = |at, length: u64| read_at(&file, at, length as usize).map_err(io_error(path, "read"));
        let found = read(0, FIRST_BLOCK_AT)?;
        if found[..8] != MAGIC[..] {
            return Err(PackError::NotAPack { path: path.to_owned() });
        }
        let version = u32::from_le_bytes([found[8], found[9], found[10], found[11]]);
        if version != VERSION {
            return Err(PackError::Version { path: path.to_owned(), found: version });
        }
        let damaged = |what: &str| PackError::Damaged { path: path.to_owned(), what: what.to_owned() };
        if found != header() {
            return Err(damaged("its header has unknown fields"));
        }
        let trailer = read(bytes - TRAILER_BYTES, TRAILER_BYTES)?;
        let place = index_place(&trailer, bytes).map_err(|what| damaged(&what))?;
        let index = read(place.at, place.bytes)?;
        if *blake3::hash(&index).as_bytes() != place.hash {
            return Err(damaged("its index does not have the hash that it states"));
        }
        let index =
            PackIndex::decode(&index, place.at).map_err(|source| PackError::Index { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file, index, place })
    }

    pub fn index(&self) -> &PackIndex {
        &self.index
    }

    pub fn index_place(&self) -> IndexPlace {
        self.place
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the whole file for its signature. The index that is in memory must be the one that was read, so a signature
    /// that is right for the hash covers every block that is unpacked. `progress` receives byte counts.
    pub fn hash(&self, mut progress: impl FnMut(u64)) -> Result<FileHash, PackError> {
        let mut hash = Blake2b512::new();
        let mut index_hash = blake3::Hasher::new();
        let index = self.place.at..self.place.at + self.place.bytes;
        let end = self.place.pack_bytes();
        let mut at = 0;
        while at < end {
            // A piece ends where the index begins and where it ends.
            let piece_end = [index.start, index.end, end].into_iter().find(|edge| *edge > at).unwrap_or(end);
            let length = (piece_end - at).min(HASH_PIECE_BYTES);
            let bytes = read_at(&self.file, at, length as usize).map_err(io_error(&self.path, "read"))?;
            hash.update(&bytes);
            if index.contains(&at) {
                index_hash.update(&bytes);
            }
            at += length;
            progress(length);
        }
        if *index_hash.finalize().as_bytes() != self.place.hash {
            let what = "it changed while it was read".to_owned();
            return Err(PackError::Damaged { path: self.path.clone(), what });
        }
        Ok(FileHash(hash.finalize().into()))
    }

    /// The contents of a block, checked. A block that needs the earlier snapshot reads it from `earlier`.
    pub(crate) fn block(&self, number: u32, earlier: Option<&mut EarlierFiles<'_>>) -> Result<Vec<u8>, PackError> {
        let entry = &self.index.blocks[number as usize];
        if let BlockPlace::Packed(packed) = &entry.place {
            let bytes = read_at(&self.file, packed.at, packed.bytes as usize).map_err(io_error(&self.path, "read"))?;
            return decoded(&self.path, &self.index, number, bytes, earlier);
        }
        earlier_block(&self.path, &self.index, number, earlier)
    }

    /// A part of a file of the packed snapshot. Only the blocks that contain it are read. None: the pack has no such
    /// file, or the file is shorter.
    pub fn read_file(&self, path: &str, at: u64, length: u64) -> Result<Option<Vec<u8>>, PackError> {
        let Some(file) = self.index.files.iter().find(|file| file.path == path) else { return Ok(None) };
        let Some(end) = at.checked_add(length).filter(|end| *end <= file.bytes) else { return Ok(None) };
        let mut out = Vec::new();
        let mut block_at = 0;
        for number in &file.blocks {
            let block_end = block_at + u64::from(self.index.blocks[*number as usize].bytes);
            if block_end > at && block_at < end {
                let block = self.block(*number, None)?;
                let from = at.saturating_sub(block_at) as usize;
                let to = (end.min(block_end) - block_at) as usize;
                out.extend_from_slice(&block[from..to]);
            }
            block_at = block_end;
        }
        Ok(Some(out))
    }
}

/// The contents of a block from its packed bytes.
pub(crate) fn decoded(
    pack: &Path,
    index: &PackIndex,
    number: u32,
    bytes: Vec<u8>,
    earlier: Option<&mut EarlierFiles<'_>>,
) -> Result<Vec<u8>, PackError> {
    let entry = &index.blocks[number as usize];
    let packed = entry.packed().expect("the caller has its packed bytes");
    let mut dir = None;
    let base = match packed.coding {
        BlockCoding::Patched { file, at, bytes }
        | BlockCoding::Shifted { file, at, bytes }
        | BlockCoding::Regrouped { file, at, bytes } => {
            let earlier = earlier.ok_or_else(|| needs_earlier(pack, index))?;
            dir = Some(earlier.dir().to_owned());
            Some(earlier.read(file, at, bytes)?)
        }
        _ => None,
    };
    coding::decode(entry, packed, bytes, base.as_deref()).map_err(|fault| match (fault, dir) {
        (BlockFault::OtherBase, Some(dir)) => {
            PackError::Earlier { dir, what: fault_text(number, &BlockFault::OtherBase) }
        }
        (fault, _) => PackError::Damaged { path: pack.to_owned(), what: fault_text(number, &fault) },
    })
}

/// The contents of a block that lies in the earlier snapshot.
pub(crate) fn earlier_block(
    pack: &Path,
    index: &PackIndex,
    number: u32,
    earlier: Option<&mut EarlierFiles<'_>>,
) -> Result<Vec<u8>, PackError> {
    let entry = &index.blocks[number as usize];
    let BlockPlace::Earlier { file, at } = entry.place else { unreachable!("the caller looked at its place") };
    let earlier = earlier.ok_or_else(|| needs_earlier(pack, index))?;
    let block = earlier.read(file, at, entry.bytes)?;
    if coding::is_block(entry, &block) {
        return Ok(block);
    }
    Err(PackError::Earlier { dir: earlier.dir().to_owned(), what: fault_text(number, &BlockFault::OtherBase) })
}

pub(crate) fn needs_earlier(pack: &Path, index: &PackIndex) -> PackError {
    PackError::NeedsEarlier { path: pack.to_owned(), since: index.since.clone().unwrap_or_default() }
}

fn fault_text(number: u32, fault: &BlockFault) -> String {
    format!("{fault} (block {number})")
}

fn read_at(file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}
