//! The earlier snapshot of a pack that contains only what changed: its blocks by their contents when packing, and its
//! files when unpacking.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hornbook_corpus::manifest::Manifest;

use crate::coding::{self, Base, BlockGroups};
use crate::error::{PackError, io_error};
use crate::index::{BASE_BYTES_MAX, BlockEntry, BlockHash, PackIndex};
use crate::position_groups::{MatchedGroups, is_positions_file};

/// Bytes before and after the expected place of a block in the earlier file that it is compressed against.
const BASE_MARGIN_BYTES: u64 = 16_384;

/// The blocks of an earlier snapshot.
pub struct EarlierBlocks {
    id: String,
    /// None if only its index is known, so that nothing can be compressed against its bytes.
    dir: Option<PathBuf>,
    paths: Vec<String>,
    places: HashMap<BlockHash, EarlierPlace>,
}

/// A position in a file of the earlier snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierPlace {
    pub(crate) file: u32,
    pub(crate) at: u64,
}

impl EarlierBlocks {
    /// Cuts the files of a snapshot into blocks. `progress` receives byte counts.
    pub fn of_snapshot(dir: &Path, mut progress: impl FnMut(u64)) -> Result<Self, PackError> {
        let manifest = Manifest::open(dir)?;
        let paths: Vec<String> = manifest.files.into_iter().map(|file| file.path).collect();
        let mut places = HashMap::new();
        for (file, relative) in (0..).zip(&paths) {
            let path = dir.join(relative);
            let opened = File::open(&path).map_err(io_error(&path, "open"))?;
            let mut at = 0;
            for block in coding::cut(opened) {
                let block = block.map_err(io_error(&path, "read"))?;
                places.entry(*blake3::hash(&block).as_bytes()).or_insert(EarlierPlace { file, at });
                at += block.len() as u64;
                progress(block.len() as u64);
            }
        }
        Ok(Self { id: manifest.snapshot, dir: Some(dir.to_owned()), paths, places })
    }

    /// The blocks of a snapshot of which only the pack's index is at hand.
    pub fn of_index(index: &PackIndex) -> Self {
        let mut places = HashMap::new();
        for (number, file) in (0..).zip(&index.files) {
            let mut at = 0;
            for block in &file.blocks {
                let block = &index.blocks[*block as usize];
                places.entry(block.hash).or_insert(EarlierPlace { file: number, at });
                at += u64::from(block.bytes);
            }
        }
        let paths = index.files.iter().map(|file| file.path.clone()).collect();
        Self { id: index.snapshot.clone(), dir: None, paths, places }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn paths(&self) -> &[String] {
        &self.paths
    }

    pub(crate) fn place_of(&self, hash: &BlockHash) -> Option<EarlierPlace> {
        self.places.get(hash).copied()
    }

    /// The contents of a block, if a file still has it.
    pub(crate) fn contents_of(&self, entry: &BlockEntry) -> Option<Vec<u8>> {
        let place = self.place_of(&entry.hash)?;
        let file = File::open(self.dir.as_ref()?.join(&self.paths[place.file as usize])).ok()?;
        let mut contents = vec![0; entry.bytes as usize];
        file.read_exact_at(&mut contents, place.at).ok()?;
        coding::is_block(entry, &contents).then_some(contents)
    }

    /// The file that a file of a new snapshot is compared with: the one of the same name.
    pub(crate) fn file_named(&self, new: &Path, path: &str) -> Option<EarlierFile> {
        let number = self.paths.iter().position(|earlier| earlier == path)?;
        let dir = self.dir.as_ref()?;
        let opened = File::open(dir.join(path)).ok()?;
        let bytes = opened.metadata().ok()?.len();
        let groups = is_positions_file(path).then(|| MatchedGroups::of_snapshots(new, dir)).flatten();
        Some(EarlierFile { number: u32::try_from(number).ok()?, opened, bytes, groups })
    }
}

/// An open file of the earlier snapshot.
pub(crate) struct EarlierFile {
    pub(crate) number: u32,
    opened: File,
    bytes: u64,
    groups: Option<MatchedGroups>,
}

impl EarlierFile {
    /// The bytes around the place where a block of the new file is expected: the one that words in it had, or else
    /// `expected`. None if there are none.
    pub(crate) fn base_around(&self, block: Range<u64>, expected: u64) -> io::Result<Option<Base>> {
        let known = |at| self.groups.as_ref().and_then(|groups| groups.earlier_place(at));
        let expected = known(block.start).unwrap_or(expected).min(self.bytes);
        let expected_end = known(block.end).unwrap_or_default().max(expected + (block.end - block.start));
        let start = expected.saturating_sub(BASE_MARGIN_BYTES) / 4 * 4;
        let end = (expected_end + BASE_MARGIN_BYTES).min(self.bytes).min(start + u64::from(BASE_BYTES_MAX));
        if start == end {
            return Ok(None);
        }
        let mut bytes = vec![0; (end - start) as usize];
        self.opened.read_exact_at(&mut bytes, start)?;
        let groups = self
            .groups
            .as_ref()
            .map(|groups| BlockGroups { block: groups.new_layout(block), base: groups.earlier_layout(start..end) });
        Ok(Some(Base { file: self.number, at: start, bytes, expected, groups }))
    }
}

/// The files of an earlier snapshot that a pack refers to.
pub(crate) struct EarlierFiles<'p> {
    dir: PathBuf,
    paths: &'p [String],
    /// The file that was read last: blocks of one file follow each other.
    opened: Option<(u32, File)>,
}

impl<'p> EarlierFiles<'p> {
    pub(crate) fn new(dir: &Path, paths: &'p [String]) -> Self {
        Self { dir: dir.to_owned(), paths, opened: None }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn read(&mut self, file: u32, at: u64, length: u32) -> Result<Vec<u8>, PackError> {
        let path = self.dir.join(&self.paths[file as usize]);
        if self.opened.as_ref().is_none_or(|(number, _)| *number != file) {
            self.opened = Some((file, open_regular(&path).map_err(io_error(&path, "open"))?));
        }
        let (_, opened) = self.opened.as_ref().expect("it was just opened");
        let mut bytes = vec![0; length as usize];
        match opened.read_exact_at(&mut bytes, at) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(PackError::Earlier {
                dir: self.dir.clone(),
                what: format!("{} has no {length} bytes at {at}", self.paths[file as usize]),
            }),
            read => read.map(|()| bytes).map_err(io_error(&path, "read")),
        }
    }
}

fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    File::open(path)
}
