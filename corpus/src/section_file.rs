//! The container of every mapped file: a checked header, then named sections of plain little-endian values.
//!
//! Layout (all integers little-endian):
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | magic, one per kind of file |
//! | 8 | 4 | format version of that kind |
//! | 12 | 4 | number of sections, n |
//! | 16 | 8 | length of the whole file |
//! | 24 | 4 | CRC-32 of the header and section table with this field zero |
//! | 28 | 4 | zero |
//! | 32 | 32 n | section table: tag (8 bytes, zero padded), offset (8), length in bytes (8), zero (8) |
//!
//! Sections start at multiples of 64, in the order of the table; the gaps are zero. Opening checks magic, version,
//! length, header checksum and that every section is inside the file. The hashes in the manifest cover the content.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::{Advice, Mmap};

const HEADER_LEN: usize = 32;
const ENTRY_LEN: usize = 32;
const SECTION_ALIGN: u64 = 64;

#[cfg(target_endian = "big")]
compile_error!("snapshots are little-endian and mapped as they are; a big-endian machine would misread them");

/// The magic bytes at the start of a kind of file, and the version of it that this program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    pub magic: [u8; 8],
    pub version: u32,
}

/// The name of a section in one kind of file: 1 to 8 ASCII characters.
pub type SectionTag = &'static str;

/// Why a section file could not be written or read. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum SectionFileError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error(
        "{} does not start with '{}' but with '{}': it is another kind of file, or damaged",
        .path.display(),
        .expected.escape_ascii(),
        .found.escape_ascii()
    )]
    WrongMagic { path: PathBuf, expected: [u8; 8], found: [u8; 8] },
    #[error(
        "{} has format {found}, this version reads {reads}; \
         rebuild the snapshot with 'hornbook build', or use the version of hornbook that built it",
        .path.display()
    )]
    Version { path: PathBuf, found: u32, reads: u32 },
    #[error("{} is damaged: {what}; copy the snapshot again or rebuild it with 'hornbook build'", .path.display())]
    Damaged { path: PathBuf, what: String },
}

/// Writes a section file from start to end, one section after another. `finish` writes the header and syncs the file.
#[derive(Debug)]
pub struct SectionWriter {
    path: PathBuf,
    kind: FileKind,
    out: BufWriter<File>,
    position: u64,
    table_capacity: usize,
    sections: Vec<(SectionTag, u64, u64)>,
}

impl SectionWriter {
    /// Creates the file. `sections_max` reserves space in the section table; fewer sections may be written.
    pub fn create(path: &Path, kind: FileKind, sections_max: usize) -> Result<Self, SectionFileError> {
        let io = |source| SectionFileError::Io { path: path.to_owned(), doing: "create", source };
        let file = File::create_new(path).map_err(io)?;
        let mut writer = Self {
            path: path.to_owned(),
            kind,
            out: BufWriter::with_capacity(1 << 18, file),
            position: 0,
            table_capacity: sections_max,
            sections: Vec::new(),
        };
        writer.append(&vec![0; HEADER_LEN + ENTRY_LEN * sections_max])?;
        Ok(writer)
    }

    pub fn begin(&mut self, tag: SectionTag) -> Result<(), SectionFileError> {
        assert!(tag.len() <= 8 && tag.is_ascii() && !tag.is_empty(), "a tag is 1 to 8 ASCII characters");
        assert!(self.sections.len() < self.table_capacity, "more sections than were reserved");
        assert!(self.sections.iter().all(|(known, ..)| *known != tag), "section {tag} is written twice");
        let padding = (SECTION_ALIGN - self.position % SECTION_ALIGN) % SECTION_ALIGN;
        self.append(&[0; SECTION_ALIGN as usize][..padding as usize])?;
        self.sections.push((tag, self.position, 0));
        Ok(())
    }

    /// Appends to the section that was begun last.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SectionFileError> {
        self.append(bytes)?;
        let (_, _, length) = self.sections.last_mut().expect("a section is begun before it is written");
        *length += bytes.len() as u64;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), SectionFileError> {
        self.out.write_all(bytes).map_err(|source| self.io("write", source))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    pub fn write_slice<T: Pod>(&mut self, values: &[T]) -> Result<(), SectionFileError> {
        self.write(bytemuck::cast_slice(values))
    }

    /// Writes a whole section.
    pub fn section<T: Pod>(&mut self, tag: SectionTag, values: &[T]) -> Result<(), SectionFileError> {
        self.begin(tag)?;
        self.write_slice(values)
    }

    pub fn finish(mut self) -> Result<(), SectionFileError> {
        let header = encode_header(self.kind, self.position, self.table_capacity, &self.sections);
        let Self { path, out, .. } = &mut self;
        let io = |source| SectionFileError::Io { path: path.clone(), doing: "finish", source };
        out.seek(SeekFrom::Start(0)).map_err(io)?;
        out.write_all(&header).map_err(io)?;
        out.flush().map_err(io)?;
        out.get_ref().sync_all().map_err(io)
    }

    fn io(&self, doing: &'static str, source: io::Error) -> SectionFileError {
        SectionFileError::Io { path: self.path.clone(), doing, source }
    }
}

fn encode_header(kind: FileKind, file_len: u64, capacity: usize, sections: &[(SectionTag, u64, u64)]) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER_LEN + ENTRY_LEN * capacity);
    header.extend_from_slice(&kind.magic);
    header.extend_from_slice(&kind.version.to_le_bytes());
    header.extend_from_slice(&(sections.len() as u32).to_le_bytes());
    header.extend_from_slice(&file_len.to_le_bytes());
    header.extend_from_slice(&[0; 8]);
    for (tag, offset, length) in sections {
        let mut name = [0; 8];
        name[..tag.len()].copy_from_slice(tag.as_bytes());
        header.extend_from_slice(&name);
        header.extend_from_slice(&offset.to_le_bytes());
        header.extend_from_slice(&length.to_le_bytes());
        header.extend_from_slice(&[0; 8]);
    }
    let checksum = crc32fast::hash(&header);
    header[24..28].copy_from_slice(&checksum.to_le_bytes());
    header
}

/// A mapped section file, open for reading.
#[derive(Clone)]
pub struct SectionFile {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    map: Mmap,
    sections: Vec<([u8; 8], usize, usize)>,
}

impl fmt::Debug for SectionFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SectionFile").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

impl SectionFile {
    pub fn open(path: &Path, kind: FileKind) -> Result<Self, SectionFileError> {
        let map = map_file(path)?;
        let sections = decode_header(path, &map, kind)?;
        Ok(Self { inner: Arc::new(Inner { path: path.to_owned(), map, sections }) })
    }

    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The bytes of a section. A missing section is damage.
    pub fn bytes(&self, tag: SectionTag) -> Result<&[u8], SectionFileError> {
        let (start, end) = self.bounds(tag)?;
        Ok(&self.inner.map[start..end])
    }

    /// A section as a slice of values. A length that is not a multiple of the value's size is damage.
    pub fn slice<T: Pod>(&self, tag: SectionTag) -> Result<&[T], SectionFileError> {
        let bytes = self.bytes(tag)?;
        bytemuck::try_cast_slice(bytes).map_err(|error| {
            self.damaged(format!(
                "section {tag} of {} bytes is not a list of {}: {error}",
                bytes.len(),
                std::any::type_name::<T>()
            ))
        })
    }

    /// A section as an owned column, which keeps the file mapped. Bounds and type are checked only once, here.
    pub fn column<T: Pod>(&self, tag: SectionTag) -> Result<Column<T>, SectionFileError> {
        self.slice::<T>(tag)?;
        let (start, end) = self.bounds(tag)?;
        Ok(Column { file: self.clone(), start, end, of: std::marker::PhantomData })
    }

    pub fn damaged(&self, what: impl Into<String>) -> SectionFileError {
        SectionFileError::Damaged { path: self.inner.path.clone(), what: what.into() }
    }

    fn bounds(&self, tag: SectionTag) -> Result<(usize, usize), SectionFileError> {
        let mut name = [0; 8];
        name[..tag.len()].copy_from_slice(tag.as_bytes());
        let found = self.inner.sections.iter().find(|(known, ..)| *known == name);
        found.map(|&(_, start, end)| (start, end)).ok_or_else(|| self.damaged(format!("section {tag} is missing")))
    }
}

/// A typed section of a mapped file. It dereferences to a slice.
#[derive(Clone)]
pub struct Column<T> {
    file: SectionFile,
    start: usize,
    end: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: Pod> std::ops::Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // Length and alignment were checked when the column was made, and a map neither moves nor shrinks.
        bytemuck::cast_slice(&self.file.inner.map[self.start..self.end])
    }
}

impl<T: Pod> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Column of {} values in {}", self.len(), self.file.path().display())
    }
}

/// Maps a file for reading.
pub(crate) fn map_file(path: &Path) -> Result<Mmap, SectionFileError> {
    let io = |source| SectionFileError::Io { path: path.to_owned(), doing: "open", source };
    let file = File::open(path).map_err(io)?;
    if !file.metadata().map_err(io)?.is_file() {
        return Err(SectionFileError::Damaged { path: path.to_owned(), what: "it is not a regular file".into() });
    }
    #[expect(unsafe_code, reason = "another process could change a mapped file under us")]
    // SAFETY: snapshot files are written to a temporary directory, synced, made read-only and renamed into place;
    // Hornbook never writes them again. A change by someone else could alter bytes that we read, but every read of
    // a mapped value is bounds-checked, and a shortened file is refused at open by the length in its header.
    let map = unsafe { Mmap::map(&file) }.map_err(io)?;
    // Requests read a few pages here and there. With the system's read-ahead each of them would bring megabytes that
    // nobody reads, and push out what the next request needs where memory is scarce. Systems without this go on as before.
    let _ = map.advise(Advice::Random);
    Ok(map)
}

fn decode_header(path: &Path, map: &[u8], kind: FileKind) -> Result<Vec<([u8; 8], usize, usize)>, SectionFileError> {
    let damaged = |what: String| SectionFileError::Damaged { path: path.to_owned(), what };
    let Some(header) = map.get(..HEADER_LEN) else {
        return Err(damaged(format!("it has {} bytes, less than the {HEADER_LEN} bytes of a header", map.len())));
    };
    let magic: [u8; 8] = array(header, 0);
    if magic != kind.magic {
        return Err(SectionFileError::WrongMagic { path: path.to_owned(), expected: kind.magic, found: magic });
    }
    let version = u32::from_le_bytes(array(header, 8));
    if version != kind.version {
        return Err(SectionFileError::Version { path: path.to_owned(), found: version, reads: kind.version });
    }
    let count = u32::from_le_bytes(array(header, 12)) as usize;
    let file_len = u64::from_le_bytes(array(header, 16));
    if file_len != map.len() as u64 {
        return Err(damaged(format!("its header states {file_len} bytes, but it has {}", map.len())));
    }
    let table_end =
        count.checked_mul(ENTRY_LEN).and_then(|len| len.checked_add(HEADER_LEN)).filter(|&end| end <= map.len());
    let Some(table_end) = table_end else {
        return Err(damaged(format!("its table of {count} sections is longer than the file")));
    };
    let mut unsealed = map[..table_end].to_vec();
    unsealed[24..28].fill(0);
    if crc32fast::hash(&unsealed) != u32::from_le_bytes(array(header, 24)) {
        return Err(damaged("the checksum of its header does not match".into()));
    }
    map[HEADER_LEN..table_end]
        .chunks_exact(ENTRY_LEN)
        .map(|entry| decode_entry(entry, map.len()).map_err(damaged))
        .collect()
}

fn decode_entry(entry: &[u8], file_len: usize) -> Result<([u8; 8], usize, usize), String> {
    let tag: [u8; 8] = array(entry, 0);
    let offset = u64::from_le_bytes(array(entry, 8));
    let length = u64::from_le_bytes(array(entry, 16));
    let end = offset.checked_add(length).filter(|&end| end <= file_len as u64 && offset % SECTION_ALIGN == 0);
    let Some(end) = end else {
        return Err(format!("section '{}' at {offset} of {length} bytes is not inside the file", tag.escape_ascii()));
    };
    Ok((tag, offset as usize, end as usize))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the caller checked the length")
}

/// Syncs a directory, so that the names in it survive a power cut.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KIND: FileKind = FileKind { magic: *b"HBTEST\0\0", version: 3 };

    fn sample(dir: &Path) -> PathBuf {
        let path = dir.join("sample.bin");
        let mut writer = SectionWriter::create(&path, KIND, 4).unwrap();
        writer.section("numbers", &[1_u32, 2, 3]).unwrap();
        writer.section::<u8>("empty", &[]).unwrap();
        writer.section("bytes", b"hello").unwrap();
        writer.finish().unwrap();
        path
    }

    #[test]
    fn sections_read_back_as_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = SectionFile::open(&sample(dir.path()), KIND).unwrap();
        assert_eq!(file.slice::<u32>("numbers").unwrap(), [1, 2, 3]);
        assert_eq!(file.column::<u32>("numbers").unwrap()[1..], [2, 3]);
        assert_eq!(file.bytes("empty").unwrap(), b"");
        assert_eq!(file.bytes("bytes").unwrap(), b"hello");
        assert!(file.slice::<u32>("bytes").is_err());
        assert!(file.bytes("absent").is_err());
    }

    #[test]
    fn another_version_is_refused_with_both_versions_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = SectionFile::open(&sample(dir.path()), FileKind { version: 4, ..KIND }).unwrap_err().to_string();
        assert!(error.contains("has format 3, this version reads 4") && error.contains("sample.bin"), "{error}");
    }

    #[test]
    fn every_bit_of_the_header_and_every_truncation_matters() {
        let dir = tempfile::tempdir().unwrap();
        let path = sample(dir.path());
        let whole = fs::read(&path).unwrap();
        let damaged = dir.path().join("damaged.bin");
        for bit in 0..(HEADER_LEN + 3 * ENTRY_LEN) * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&damaged, &bytes).unwrap();
            assert!(SectionFile::open(&damaged, KIND).is_err(), "bit {bit} went unnoticed");
        }
        for length in 0..whole.len() {
            fs::write(&damaged, &whole[..length]).unwrap();
            assert!(SectionFile::open(&damaged, KIND).is_err(), "a cut to {length} bytes went unnoticed");
        }
    }
}
