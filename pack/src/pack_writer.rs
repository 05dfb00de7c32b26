//! Packs a snapshot: cuts its files into blocks, leaves out those that it wrote before or that the earlier snapshot
//! has, and writes the rest in one pass.
//!
//! The same snapshot gives the same bytes: files come in the order of their paths, and nothing depends on time,
//! randomness or the number of processors.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use blake2::{Blake2b512, Digest};
use hornbook_corpus::manifest::{FILE_NAME, HASH_FILE_NAME, Manifest, ManifestError};

use crate::coding::{self, Encoded};
use crate::earlier::{EarlierBlocks, EarlierFile, EarlierPlace};
use crate::error::{PackError, io_error};
use crate::index::{BLOCK_BYTES_MAX, BlockEntry, BlockHash, BlockPlace, PackIndex, PackedBytes, PackedFile};
use crate::pack_file::{IndexPlace, header, trailer};
use crate::signature::FileHash;

/// A pack that was written.
#[derive(Debug)]
pub struct PackSummary {
    pub index: PackIndex,
    pub place: IndexPlace,
    pub bytes: u64,
    /// The hash of the whole pack, for its signature.
    pub hash: FileHash,
}

/// Writes the snapshot in a folder as a pack to `out`, which `out_path` names in errors. With `since`, blocks that the
/// earlier snapshot has are left out, and changed ones are written as differences where that is shorter. `progress`
/// receives byte counts.
pub fn pack(
    dir: &Path,
    since: Option<&EarlierBlocks>,
    out: impl Write,
    out_path: &Path,
    mut progress: impl FnMut(u64),
) -> Result<PackSummary, PackError> {
    let manifest = Manifest::open(dir)?;
    let write = io_error(out_path, "write");
    let mut writer = PackBlocks {
        out: HashingWriter { out, hash: Blake2b512::new(), bytes: 0 },
        numbers: HashMap::new(),
        blocks: Vec::new(),
        since,
    };
    writer.out.write_all(&header()).map_err(&write)?;
    // The list of files does not contain the two files that it is in.
    let mut paths: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    paths.extend([FILE_NAME, HASH_FILE_NAME]);
    paths.sort_unstable();
    let mut files = Vec::new();
    for path in paths {
        let file = writer.file(dir, path, out_path, &mut progress)?;
        // A damaged snapshot must not travel with a signature.
        if let Some(listed) = manifest.files.iter().find(|listed| listed.path == path) {
            let found = blake3::Hash::from_bytes(file.hash).to_hex();
            if found.as_str() != listed.blake3 {
                let what = format!("its content has hash {found}, but the manifest states {}", listed.blake3);
                return Err(ManifestError::Damaged { path: dir.join(path), what }.into());
            }
        }
        files.push(file);
    }
    let index = PackIndex {
        snapshot: manifest.snapshot,
        since: since.map(|since| since.id().to_owned()),
        earlier_paths: since.map(|since| since.paths().to_vec()).unwrap_or_default(),
        blocks: writer.blocks,
        files,
    };
    let mut out = writer.out;
    let encoded = index.encode();
    let place = IndexPlace { at: out.bytes, bytes: encoded.len() as u64, hash: *blake3::hash(&encoded).as_bytes() };
    out.write_all(&encoded).and_then(|()| out.write_all(&trailer(&place))).map_err(&write)?;
    out.flush().map_err(&write)?;
    Ok(PackSummary { index, place, bytes: out.bytes, hash: FileHash(out.hash.finalize().into()) })
}

struct PackBlocks<'e, W> {
    out: HashingWriter<W>,
    /// The numbers of the blocks so far.
    numbers: HashMap<BlockHash, u32>,
    blocks: Vec<BlockEntry>,
    since: Option<&'e EarlierBlocks>,
}

impl<W: Write> PackBlocks<'_, W> {
    fn file(
        &mut self,
        dir: &Path,
        relative: &str,
        out_path: &Path,
        progress: &mut impl FnMut(u64),
    ) -> Result<PackedFile, PackError> {
        let path = dir.join(relative);
        let opened = File::open(&path).map_err(io_error(&path, "open"))?;
        let earlier = self.since.and_then(|since| since.file_named(dir, relative));
        let mut expected = 0;
        let mut hasher = blake3::Hasher::new();
        let mut file = PackedFile { path: relative.to_owned(), bytes: 0, hash: [0; 32], blocks: Vec::new() };
        let mut waiting = Run::default();
        for block in coding::cut(opened) {
            let block = block.map_err(io_error(&path, "read"))?;
            hasher.update(&block);
            progress(block.len() as u64);
            let known = self.since.and_then(|since| since.place_of(blake3::hash(&block).as_bytes()));
            if !waiting.takes(&block, known, self.since.is_some()) {
                self.run(&waiting, earlier.as_ref(), &mut expected, &mut file).map_err(io_error(out_path, "write"))?;
                waiting = Run { place: known, bytes: Vec::new() };
            }
            waiting.bytes.extend(block);
        }
        self.run(&waiting, earlier.as_ref(), &mut expected, &mut file).map_err(io_error(out_path, "write"))?;
        file.hash = *hasher.finalize().as_bytes();
        Ok(file)
    }

    /// Writes a run as one block, unless it is known. `expected` is where it may have been in the earlier file: after
    /// the block before it.
    fn run(
        &mut self,
        run: &Run,
        earlier: Option<&EarlierFile>,
        expected: &mut u64,
        file: &mut PackedFile,
    ) -> io::Result<()> {
        let block = run.bytes.as_slice();
        if block.is_empty() {
            return Ok(());
        }
        let (position, length, at) = (file.bytes, block.len() as u64, *expected);
        *expected += length;
        if let (Some(known), Some(earlier)) = (run.place, earlier)
            && known.file == earlier.number
        {
            *expected = known.at + length;
        }
        file.bytes += length;
        let hash = *blake3::hash(block).as_bytes();
        if let Some(number) = self.numbers.get(&hash) {
            file.blocks.push(*number);
            return Ok(());
        }
        let place = match run.place {
            Some(known) => BlockPlace::Earlier { file: known.file, at: known.at },
            None => {
                let base =
                    earlier.map(|earlier| earlier.base_around(position..position + length, at)).transpose()?.flatten();
                let Encoded { coding, bytes, next_expected } = coding::encode(block, position, base.as_ref())?;
                *expected = next_expected.unwrap_or(*expected);
                let start = self.out.bytes;
                self.out.write_all(&bytes)?;
                let packed_hash = *blake3::hash(&bytes).as_bytes();
                BlockPlace::Packed(PackedBytes { at: start, bytes: bytes.len() as u32, hash: packed_hash, coding })
            }
        };
        let number = u32::try_from(self.blocks.len()).map_err(|_| io::Error::other("it has more than 2^32 blocks"))?;
        self.blocks.push(BlockEntry { hash, bytes: block.len() as u32, place });
        self.numbers.insert(hash, number);
        file.blocks.push(number);
        Ok(())
    }
}

/// What becomes one block. In a complete pack it is what was cut. In a pack of changes, pieces that follow each other in the
/// earlier snapshot, or that it lacks, are joined: no other pack shares them, and each block costs an entry in the index.
#[derive(Default)]
struct Run {
    /// Where the earlier snapshot has it, if it has.
    place: Option<EarlierPlace>,
    bytes: Vec<u8>,
}

impl Run {
    /// Whether a piece can be joined to it.
    fn takes(&self, piece: &[u8], place: Option<EarlierPlace>, is_joining: bool) -> bool {
        let follows = match (self.place, place) {
            (None, None) => true,
            (Some(own), Some(next)) => own.file == next.file && own.at + self.bytes.len() as u64 == next.at,
            _ => false,
        };
        is_joining && follows && !self.bytes.is_empty() && self.bytes.len() + piece.len() <= BLOCK_BYTES_MAX as usize
    }
}

/// Hashes what passes through, so that a signature needs no second reading.
struct HashingWriter<W> {
    out: W,
    hash: Blake2b512,
    bytes: u64,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The hash of a whole file, as a signature needs it.
pub fn hash_file(mut source: impl Read) -> io::Result<FileHash> {
    let mut hash = Blake2b512::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(FileHash(hash.finalize().into())),
            count => hash.update(&buffer[..count]),
        }
    }
}
