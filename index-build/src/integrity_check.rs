//! Reads a downloaded file to its end, to find out whether it is complete before it is used.
//!
//! Archives and compressed files have their own checksums and end marks. XML must end with the tag
//! that it began with, and JSON must parse. For other files, only the bytes are counted. Nothing is
//! unpacked to disk.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use hornbook_base::regular_file;
use serde::de::IgnoredAny;

use crate::source_files::{
    ArchiveFormat, LimitedReader, Packing, SourceError, TarBytes, UnpackLimit, check_entry_count, unpack,
};

const READ_BUFFER_BYTES: usize = 1 << 17;
/// The tags of the root element must be within this many bytes of the start and the end of an XML file.
const XML_ENDS_BYTES: u64 = 1 << 16;

/// The size of a complete file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentSize {
    pub files: u64,
    /// The unpacked size.
    pub bytes: u64,
}

/// Reads the file at `path` to its end. The extension of `name` decides its kind.
pub fn read_to_end(path: &Path, name: &str) -> Result<ContentSize, SourceError> {
    let place = || path.display().to_string();
    let not_whole =
        |error| SourceError::Refused { place: place(), what: format!("the file is incomplete or damaged: {error}") };
    let file =
        regular_file::open(path).map_err(|source| SourceError::Io { place: place(), doing: "open it", source })?;
    let packed_len = file.metadata().map_err(not_whole)?.len();
    let (inner, packing) = Packing::of(name);
    match packing.container {
        Some(ArchiveFormat::Zip) => read_zip(file, packed_len),
        Some(ArchiveFormat::Tar) => {
            unpack(packing.compression, Box::new(file), packed_len).and_then(|tar| read_tar(tar, packed_len))
        }
        None => read_document(file, packed_len, packing, &inner.to_ascii_lowercase()),
    }
    .map_err(not_whole)
}

/// Reads a single file, whose name without the compression extension is `name`.
fn read_document(file: File, packed_len: u64, packing: Packing, name: &str) -> io::Result<ContentSize> {
    let plain = if packing.compression.is_none() { Some(file.try_clone()?) } else { None };
    let unpacked = unpack(packing.compression, Box::new(file), packed_len)?;
    if name.ends_with(".json") || name.ends_with(".geojson") {
        let mut counted = CountingReader { inner: unpacked, bytes: 0 };
        serde_json::from_reader::<_, IgnoredAny>(BufReader::with_capacity(READ_BUFFER_BYTES, &mut counted))?;
        return Ok(ContentSize { files: 1, bytes: counted.bytes });
    }
    let bytes = drain(unpacked)?;
    // Compressed data has a checksum, so only plain files are checked.
    if let Some(plain) = plain.filter(|_| name.ends_with(".xml")) {
        check_xml_ends(plain, bytes)?;
    }
    Ok(ContentSize { files: 1, bytes })
}

/// The checksum of each entry is compared when its end is reached.
fn read_zip(file: File, packed_len: u64) -> io::Result<ContentSize> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    let allowance = UnpackLimit::for_archive(packed_len);
    let mut contents = ContentSize { files: 0, bytes: 0 };
    for number in 0..archive.len() {
        check_entry_count(number)?;
        let entry = archive.by_index(number)?;
        if entry.is_dir() {
            continue;
        }
        contents.files += 1;
        contents.bytes += drain(LimitedReader::new(entry, &allowance))?;
    }
    if contents.files == 0 { Err(cut("the archive has no files")) } else { Ok(contents) }
}

fn read_tar(reader: impl Read, packed_len: u64) -> io::Result<ContentSize> {
    let mut archive = tar::Archive::new(TarBytes::new(reader));
    // A second limit, besides that of the archive: an entry may consist of holes, which take no
    // space in the archive.
    let allowance = UnpackLimit::for_archive(packed_len);
    let mut contents = ContentSize { files: 0, bytes: 0 };
    let mut entries_end = 0;
    for (number, entry) in archive.entries()?.enumerate() {
        check_entry_count(number)?;
        let entry = entry?;
        let length = entry.size();
        entries_end = entry.raw_file_position() + length;
        let bytes = drain(LimitedReader::new(entry, &allowance))?;
        if bytes != length {
            return Err(cut("an entry of the archive is cut off"));
        }
        contents.files += 1;
        contents.bytes += bytes;
    }
    let is_whole = archive.into_inner().ends_whole(entries_end)?;
    match contents.files {
        0 => Err(cut("the archive has no files")),
        _ if !is_whole => Err(cut("the archive has no end mark")),
        _ => Ok(contents),
    }
}

fn check_xml_ends(mut file: File, length: u64) -> io::Result<()> {
    let part = |file: &mut File, from: u64| {
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        Read::take(file, XML_ENDS_BYTES).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let begin = part(&mut file, 0)?;
    let end = part(&mut file, length.saturating_sub(XML_ENDS_BYTES))?;
    let root = begin.match_indices('<').map(|(at, _)| name_at(&begin[at + 1..])).find(|name| !name.is_empty());
    let last = end.rfind("</").map(|at| name_at(&end[at + 2..]));
    match (root, last) {
        (Some(root), Some(last)) if root == last && end.trim_end().ends_with('>') => Ok(()),
        (None, _) => Err(cut("it is not XML: there is no element near its start")),
        (Some(root), _) => Err(cut(&format!("it begins with <{root}> but does not end with </{root}>"))),
    }
}

/// The element name at the beginning of a text; empty for comments, declarations and text.
fn name_at(text: &str) -> &str {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let name = &text[..text.find(|c| !is_name(c)).unwrap_or(text.len())];
    if name.starts_with(|c: char| c.is_alphabetic() || c == '_') { name } else { "" }
}

fn cut(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, what.to_owned())
}

fn drain(mut reader: impl Read) -> io::Result<u64> {
    io::copy(&mut reader, &mut io::sink())
}

/// Counts the bytes that are read.
struct CountingReader<R> {
    inner: R,
    bytes: u64,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;
    use crate::source_files::zip_with_overlapping_entries;

    fn tar() -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for name in ["a.xml", "b.xml"] {
            let mut header = tar::Header::new_gnu();
            header.set_size(700);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, &[b'x'; 700][..]).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn zip() -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        for name in ["a.xml", "b.xml"] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(&[b'x'; 700]).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 0).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(name: &str, bytes: &[u8]) -> Result<ContentSize, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("{name}.part"));
        fs::write(&path, bytes).unwrap();
        read_to_end(&path, name).map_err(|error| error.to_string())
    }

    fn whole_files() -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("a.zip", zip()),
            ("a.tar.gz", gz(&tar())),
            ("a.tgz", gz(&tar())),
            ("a.tar.zst", zst(&tar())),
            ("a.tar", tar()),
            ("a.xml.gz", gz(b"<a></a>")),
            ("a.jsonl.zst", zst(b"{}\n{}\n")),
            ("a.xml", b"<?xml version='1.0'?>\n<!-- c -->\n<u:law x='1'><p>t</p></u:law>\n".to_vec()),
            ("a.geojson", br#"{"features": [1, 2]}"#.to_vec()),
        ]
    }

    #[test]
    fn whole_files_are_counted() {
        for (name, bytes) in whole_files() {
            let contents = read(name, &bytes).unwrap();
            let is_archive = name.contains("tar") || name.contains("tgz") || name.contains("zip");
            assert_eq!(contents.files, if is_archive { 2 } else { 1 }, "{name}");
            assert!(!is_archive || contents.bytes == 1400, "{name}");
        }
        assert_eq!(read("a.html", b"anything").unwrap(), ContentSize { files: 1, bytes: 8 });
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_refused() {
        for (name, bytes) in whole_files() {
            let text_end = if name == "a.xml" { 1 } else { 0 };
            for length in 0..bytes.len() - text_end {
                let refused = read(name, &bytes[..length]);
                assert!(refused.is_err(), "{name} cut to {length} of {}", bytes.len());
            }
        }
    }

    #[test]
    fn changed_bytes_are_found_by_the_checksums() {
        for (name, bytes) in whole_files().into_iter().filter(|(name, _)| name.contains('z') && !name.contains("json"))
        {
            let mut found = 0;
            for place in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[place] ^= 0x10;
                found += usize::from(read(name, &changed).is_err());
            }
            // Names, dates and other metadata may change without harm; the data may not.
            assert!(found * 3 > bytes.len(), "{name}: {found} of {}", bytes.len());
        }
        let mut changed = zip();
        let data = changed.windows(5).position(|window| window == b"a.xml").unwrap() + 5;
        changed[data] ^= 1;
        assert!(read("a.zip", &changed).unwrap_err().contains("incomplete"));
    }

    #[test]
    fn decompression_bombs_are_refused() {
        let mut sparse = tar::Header::new_gnu();
        sparse.as_gnu_mut().unwrap().name[..5].copy_from_slice(b"a.xml");
        sparse.set_entry_type(tar::EntryType::GNUSparse);
        sparse.set_size(0);
        // One hole of 64 MiB and no data.
        sparse.as_gnu_mut().unwrap().realsize.copy_from_slice(b"00400000000\0");
        sparse.as_gnu_mut().unwrap().sparse[0].offset.copy_from_slice(b"00400000000\0");
        sparse.as_gnu_mut().unwrap().sparse[0].numbytes.copy_from_slice(b"00000000000\0");
        sparse.set_cksum();
        let holes = [&sparse.as_bytes()[..], &[0; 1024]].concat();
        for (name, bytes) in [("a.zip", zip_with_overlapping_entries(12, 4 << 20)), ("a.tar", holes)] {
            assert!(bytes.len() < 10_000);
            let message = read(name, &bytes).unwrap_err();
            assert!(message.contains("entries of the archive unpack to more than"), "{name}: {message}");
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn html_error_pages_are_not_archives() {
        let page = b"<!DOCTYPE html><html><body>Down for maintenance</body></html>";
        for name in ["a.zip", "a.tar.gz", "a.tar.zst", "a.json"] {
            assert!(read(name, page).unwrap_err().contains("incomplete"), "{name}");
        }
        assert!(read("a.xml", b"plain words").unwrap_err().contains("it is not XML"));
    }
}
