//! Archives and compressed files as streams: tar, zip, gzip and zstd, with limits on the unpacked size.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use super::file::{READ_BUFFER_BYTES, SourceError, SourceFile};
use super::packing::{Compression, Packing};

/// No source file and no archive may be larger than this when unpacked.
const UNPACKED_BYTES_MAX: u64 = 64 << 30;
/// Real law compresses 5 to 50 times. Beyond the allowance below, a ratio over a thousand is a
/// decompression bomb.
const UNPACK_RATIO_MAX: u64 = 1_000;
const UNPACK_RATIO_GRACE_BYTES: u64 = 16 << 20;
const ARCHIVE_ENTRIES_MAX: usize = 2_000_000;
/// A tar archive consists of blocks of this size, and ends with two blocks of zeros.
const TAR_BLOCK_BYTES: u64 = 512;
const TAR_END_BYTES: u64 = 2 * TAR_BLOCK_BYTES;

/// Decompresses a stream. The output size is limited.
pub(crate) fn unpack<'a>(
    compression: Option<Compression>,
    packed: Box<dyn Read + 'a>,
    packed_len: u64,
) -> io::Result<Box<dyn Read + 'a>> {
    let allowance = UnpackLimit::for_file(packed_len);
    Ok(match compression {
        Some(Compression::Gzip) => {
            Box::new(LimitedReader::new(flate2::read::MultiGzDecoder::new(BufReader::new(packed)), &allowance))
        }
        Some(Compression::Zstd) => Box::new(LimitedReader::new(zstd::Decoder::new(packed)?, &allowance)),
        None => Box::new(LimitedReader::new(packed, &allowance)),
    })
}

/// Visits one entry of an archive, unpacked if it is itself compressed. Nested archives are not opened.
fn visit_entry<E: From<SourceError>>(
    entry: Box<dyn Read + '_>,
    entry_len: u64,
    allowance: &Rc<UnpackLimit>,
    place: String,
    visit: &mut impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let unpacked = unpack(Packing::of(&place).1.compression, entry, entry_len);
    let bounded = unpacked.map_err(|source| SourceError::Io { place: place.clone(), doing: "unpack it", source })?;
    let mut reader = BufReader::with_capacity(READ_BUFFER_BYTES, LimitedReader::new(bounded, allowance));
    visit(SourceFile { place, reader: &mut reader })
}

/// Visits the files of an archive, and returns the places of its links. An archive without an end
/// mark is refused: it may have been truncated between two entries, so that the rest of the law is
/// missing.
pub(super) fn for_each_in_tar<E: From<SourceError>>(
    reader: impl Read,
    place: &str,
    packed_len: u64,
    visit: &mut impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    let io = |source| SourceError::Io { place: place.to_owned(), doing: "unpack it", source };
    let mut archive = tar::Archive::new(TarBytes::new(reader));
    // A second limit, besides that of the archive, because entries may be compressed again.
    let allowance = UnpackLimit::for_archive(packed_len);
    let mut entries_end = 0;
    let mut links = Vec::new();
    for (n, entry) in archive.entries().map_err(io)?.enumerate() {
        let entry = entry.map_err(io)?;
        entries_end = entry.raw_file_position() + entry.size();
        check_entry_count(n).map_err(io)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        check_entry_name(&name, place)?;
        match entry.header().entry_type() {
            tar::EntryType::Regular | tar::EntryType::Continuous => {
                let length = entry.size();
                visit_entry(Box::new(entry), length, &allowance, format!("{place}!{name}"), visit)?;
            }
            tar::EntryType::Directory | tar::EntryType::XGlobalHeader | tar::EntryType::XHeader => {}
            // Archives of repositories contain links. Their target may be outside the archive or is
            // an entry anyway.
            tar::EntryType::Symlink | tar::EntryType::Link => links.push(format!("{place}!{name}")),
            other => {
                let what =
                    format!("the entry '{name}' is not a plain file ({other:?}); pack the source without devices");
                return Err(SourceError::Refused { place: place.to_owned(), what }.into());
            }
        }
    }
    let mut bytes = archive.into_inner();
    let is_whole = bytes.ends_whole(entries_end).map_err(io)?;
    if is_whole {
        return Ok(links);
    }
    let what = "the archive has no end mark (two blocks of zeros), so it may have been cut and law may be missing; fetch \
                or pack it again";
    Err(SourceError::Refused { place: place.to_owned(), what: what.to_owned() }.into())
}

/// The bytes of a tar archive. Counts them, and the zeros at the end.
pub(crate) struct TarBytes<R> {
    inner: R,
    count: u64,
    zeros_at_end: u64,
}

impl<R: Read> TarBytes<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, count: 0, zeros_at_end: 0 }
    }

    /// Reads to the end, including the checksum of the compressed archive. Returns whether the end
    /// mark follows the last entry, whose content ends at `entries_end`. Zeros that belong to the
    /// entry do not count.
    pub(crate) fn ends_whole(&mut self, entries_end: u64) -> io::Result<bool> {
        io::copy(self, &mut io::sink())?;
        let behind_entries = self.count.saturating_sub(entries_end.next_multiple_of(TAR_BLOCK_BYTES));
        Ok(self.zeros_at_end.min(behind_entries) >= TAR_END_BYTES)
    }
}

impl<R: Read> Read for TarBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count += count as u64;
        self.zeros_at_end = match buffer[..count].iter().rposition(|&byte| byte != 0) {
            Some(last) => (count - last - 1) as u64,
            None => self.zeros_at_end + count as u64,
        };
        Ok(count)
    }
}

/// Visits the files of a zip archive in the order of their names, and returns the places of its links.
pub(super) fn for_each_zipped<E: From<SourceError>>(
    file: File,
    place: &str,
    packed_len: u64,
    visit: &mut impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    let refused = |error: zip::result::ZipError| SourceError::Refused {
        place: place.to_owned(),
        what: format!("cannot unpack it: {error}"),
    };
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(refused)?;
    let names: Result<Vec<String>, _> = archive.file_names().map(|name| name.map(|name| name.into_owned())).collect();
    let mut names: Vec<(String, usize)> = names.map_err(refused)?.into_iter().zip(0..).collect();
    names.sort_unstable();
    let allowance = UnpackLimit::for_archive(packed_len);
    let mut links = Vec::new();
    for (n, (name, place_in_archive)) in names.iter().enumerate() {
        check_entry_count(n).map_err(|error| refused(error.into()))?;
        check_entry_name(name, place)?;
        let entry = archive.by_index(*place_in_archive).map_err(refused)?;
        if entry.is_dir() {
            continue;
        }
        if entry.is_symlink() {
            links.push(format!("{place}!{name}"));
            continue;
        }
        let entry = LimitedReader::new(entry, &UnpackLimit::for_file(packed_len));
        visit_entry(Box::new(entry), packed_len, &allowance, format!("{place}!{name}"), visit)?;
    }
    Ok(links)
}

/// Checks that the archive may have another entry after the first `n`.
pub(crate) fn check_entry_count(n: usize) -> io::Result<()> {
    if n < ARCHIVE_ENTRIES_MAX {
        return Ok(());
    }
    let what = format!("the archive has more than {ARCHIVE_ENTRIES_MAX} entries, far more than a source of law should");
    Err(io::Error::new(io::ErrorKind::InvalidData, what))
}

fn check_entry_name(name: &str, place: &str) -> Result<(), SourceError> {
    let escapes =
        name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..") || name.contains(':');
    if !escapes {
        return Ok(());
    }
    let what = format!("the entry '{name}' points outside the archive; pack the source with plain relative paths");
    Err(SourceError::Refused { place: place.to_owned(), what })
}

/// How many bytes may still be unpacked from one file, or from all entries of one archive.
pub(crate) struct UnpackLimit {
    what: &'static str,
    limit: u64,
    used: Cell<u64>,
}

impl UnpackLimit {
    fn for_file(packed_len: u64) -> Rc<Self> {
        Self::new("it unpacks", packed_len)
    }

    /// One limit for all entries, because entries may overlap, and each may be compressed once more.
    pub(crate) fn for_archive(packed_len: u64) -> Rc<Self> {
        Self::new("the entries of the archive unpack", packed_len)
    }

    fn new(what: &'static str, packed_len: u64) -> Rc<Self> {
        let by_ratio = packed_len.saturating_mul(UNPACK_RATIO_MAX).max(UNPACK_RATIO_GRACE_BYTES);
        Rc::new(Self { what, limit: by_ratio.min(UNPACKED_BYTES_MAX), used: Cell::new(0) })
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        let used = self.used.get().saturating_add(bytes);
        self.used.set(used);
        if used <= self.limit {
            return Ok(());
        }
        let Self { what, limit, .. } = self;
        let message = format!("{what} to more than {limit} bytes, far more than a source of its size should");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }
}

/// Fails a stream that unpacks to more than its allowance.
pub(crate) struct LimitedReader<R> {
    inner: R,
    allowance: Rc<UnpackLimit>,
}

impl<R: Read> LimitedReader<R> {
    pub(crate) fn new(inner: R, allowance: &Rc<UnpackLimit>) -> Self {
        Self { inner, allowance: Rc::clone(allowance) }
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.allowance.take(count as u64)?;
        Ok(count)
    }
}
