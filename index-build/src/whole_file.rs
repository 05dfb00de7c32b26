//! Reads a downloaded file to its end, to find out whether it is whole before anybody relies on it.
//!
//! Archives and packed files have checksums and end marks of their own; XML must end with the tag it began with, and JSON
//! must parse. Files of other kinds are only counted. Nothing is unpacked to disk.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::IgnoredAny;

use crate::source_files::{Bounded, Container, Packing, SourceError, TarBytes, unpack};

const READ_BUFFER_BYTES: usize = 1 << 17;
/// The root element of an XML file begins and ends within so many bytes of the file's ends.
const XML_ENDS_BYTES: u64 = 1 << 16;

/// What was found in a file that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    pub files: u64,
    /// Unpacked.
    pub bytes: u64,
}

/// Reads the file at `path`, whose kind is that of `name`, to its end.
pub fn read_to_end(path: &Path, name: &str) -> Result<Contents, SourceError> {
    let place = || path.display().to_string();
    let file = File::open(path).map_err(|source| SourceError::Io { place: place(), doing: "open it", source })?;
    let (inner, packing) = Packing::of(name);
    let read = match packing.container {
        Some(Container::Zip) => read_zip(file),
        Some(Container::Tar) => unpacked(file, packing).and_then(read_tar),
        None => read_document(file, packing, &inner.to_ascii_lowercase()),
    };
    read.map_err(|error| SourceError::Refused { place: place(), what: format!("the file is not whole: {error}") })
}

fn unpacked(file: File, packing: Packing) -> io::Result<Box<dyn Read>> {
    let length = file.metadata()?.len();
    unpack(packing.compression, Box::new(file), length)
}

/// A single file, whose name without the end of its compression is `name`.
fn read_document(file: File, packing: Packing, name: &str) -> io::Result<Contents> {
    let plain = if packing.compression.is_none() { Some(file.try_clone()?) } else { None };
    let unpacked = unpacked(file, packing)?;
    if name.ends_with(".json") || name.ends_with(".geojson") {
        let mut counted = Counted { inner: unpacked, bytes: 0 };
        serde_json::from_reader::<_, IgnoredAny>(BufReader::with_capacity(READ_BUFFER_BYTES, &mut counted))?;
        return Ok(Contents { files: 1, bytes: counted.bytes });
    }
    let bytes = drain(unpacked)?;
    // What is compressed has a checksum.
    if let Some(plain) = plain.filter(|_| name.ends_with(".xml")) {
        check_xml_ends(plain, bytes)?;
    }
    Ok(Contents { files: 1, bytes })
}

/// Each entry's checksum is compared when its end is reached.
fn read_zip(file: File) -> io::Result<Contents> {
    let length = file.metadata()?.len();
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    let mut contents = Contents { files: 0, bytes: 0 };
    for number in 0..archive.len() {
        let entry = archive.by_index(number)?;
        if entry.is_dir() {
            continue;
        }
        contents.files += 1;
        contents.bytes += drain(Bounded::new(entry, length))?;
    }
    if contents.files == 0 { Err(cut("the archive has no files")) } else { Ok(contents) }
}

fn read_tar(reader: impl Read) -> io::Result<Contents> {
    let mut archive = tar::Archive::new(TarBytes::new(reader));
    let mut contents = Contents { files: 0, bytes: 0 };
    let mut entries_end = 0;
    for entry in archive.entries()? {
        let entry = entry?;
        let length = entry.size();
        entries_end = entry.raw_file_position() + length;
        let bytes = drain(entry)?;
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
        (None, _) => Err(cut("it is not XML: it has no element near its beginning")),
        (Some(root), _) => Err(cut(&format!("it begins with <{root}> and does not end with </{root}>"))),
    }
}

/// The element's name at the beginning of a text; empty for comments, declarations and text.
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

/// Counts bytes.
struct Counted<R> {
    inner: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
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

    fn read(name: &str, bytes: &[u8]) -> Result<Contents, String> {
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
        assert_eq!(read("a.html", b"anything").unwrap(), Contents { files: 1, bytes: 8 });
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
            // Names, dates and the like may change without harm; the data may not.
            assert!(found * 3 > bytes.len(), "{name}: {found} of {}", bytes.len());
        }
        let mut changed = zip();
        let data = changed.windows(5).position(|window| window == b"a.xml").unwrap() + 5;
        changed[data] ^= 1;
        assert!(read("a.zip", &changed).unwrap_err().contains("not whole"));
    }

    #[test]
    fn pages_that_say_sorry_are_not_archives() {
        let page = b"<!DOCTYPE html><html><body>Down for maintenance</body></html>";
        for name in ["a.zip", "a.tar.gz", "a.tar.zst", "a.json"] {
            assert!(read(name, page).unwrap_err().contains("not whole"), "{name}");
        }
        assert!(read("a.xml", b"plain words").unwrap_err().contains("it is not XML"));
    }
}
