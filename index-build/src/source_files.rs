//! Opens sources: files, folders, `.gz`, `.zst`, `.zip`, `.tar`, `.tar.gz` and `.tar.zst`, as a stream of files.
//!
//! Nothing is unpacked to disk. The unpacked size of an archive is limited, entries that point outside it are refused,
//! and every message names the archive and the entry.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::receipt::is_kept_by_downloads;

/// No single source file is larger than this when unpacked.
const UNPACKED_BYTES_MAX: u64 = 64 << 30;
/// Real law packs 5 to 50 times; a thousandfold beyond the grace below is a bomb.
const UNPACK_RATIO_MAX: u64 = 1_000;
const UNPACK_RATIO_GRACE_BYTES: u64 = 16 << 20;
const ARCHIVE_ENTRIES_MAX: usize = 2_000_000;
const READ_BUFFER_BYTES: usize = 1 << 18;
/// What is parsed at a time.
const BATCH_LINES_MAX: usize = 4_096;
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Why a source could not be read.
#[derive(Debug)]
pub enum SourceError {
    Io { place: String, doing: &'static str, source: io::Error },
    Missing { path: PathBuf },
    Refused { place: String, what: String },
    Empty { path: PathBuf },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { place, doing, source } => write!(f, "{place}: cannot {doing}: {source}"),
            Self::Missing { path } => write!(
                f,
                "{}: there is no such file or folder; paths are relative to the plan, or to --sources DIR",
                path.display()
            ),
            Self::Refused { place, what } => write!(f, "{place}: {what}"),
            Self::Empty { path } => write!(f, "{}: the folder has no files", path.display()),
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// One file of a source: its name in messages, and its unpacked bytes.
pub struct SourceFile<'a> {
    /// The path, and within an archive `archive!entry`.
    pub place: String,
    pub reader: &'a mut dyn BufRead,
}

/// The files on disk that a source consists of, by name.
pub fn list(path: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let io = |path: &Path, source| SourceError::Io { place: path.display().to_string(), doing: "open it", source };
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SourceError::Missing { path: path.to_owned() });
        }
        metadata => metadata.map_err(|source| io(path, source))?,
    };
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).map_err(|source| io(&dir, source))? {
            let entry = entry.map_err(|source| io(&dir, source))?;
            let name = entry.file_name();
            let hidden = name.as_encoded_bytes().starts_with(b".") || is_kept_by_downloads(&name.to_string_lossy());
            let kind = entry.file_type().map_err(|source| io(&entry.path(), source))?;
            match (hidden, kind.is_dir()) {
                (true, _) => {}
                (false, true) => open.push(entry.path()),
                (false, false) => files.push(entry.path()),
            }
        }
    }
    if files.is_empty() {
        return Err(SourceError::Empty { path: path.to_owned() });
    }
    files.sort_unstable();
    Ok(files)
}

/// BLAKE3 over names and raw bytes of a source's files: it differs if anything changed.
pub fn content_hash(path: &Path) -> Result<blake3::Hash, SourceError> {
    let mut hasher = blake3::Hasher::new();
    for file in list(path)? {
        let place = || file.display().to_string();
        let mut one = blake3::Hasher::new();
        one.update_mmap(&file).map_err(|source| SourceError::Io { place: place(), doing: "read it", source })?;
        let name = file.strip_prefix(path).unwrap_or(Path::new(""));
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update(&[0]);
        hasher.update(one.finalize().as_bytes());
    }
    Ok(hasher.finalize())
}

/// Calls `visit` with every file of a source, unpacked. If `member` is given, only with files whose path ends with it, or if
/// it ends with a slash, with those in a folder whose path ends with it.
pub fn for_each<E: From<SourceError>>(
    path: &Path,
    member: Option<&str>,
    mut visit: impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let is_wanted = |place: &str| member.is_none_or(|member| is_member(&place.replace('!', "/"), member));
    let mut any = false;
    for file in list(path)? {
        for_each_in(&file, &mut |file: SourceFile<'_>| {
            if !is_wanted(&file.place) {
                return Ok(());
            }
            any = true;
            visit(file)
        })?;
    }
    match member {
        Some(member) if !any => {
            let what = format!("there is no file '{member}' in it");
            Err(SourceError::Refused { place: path.display().to_string(), what }.into())
        }
        _ => Ok(()),
    }
}

fn is_member(place: &str, member: &str) -> bool {
    match member.strip_suffix('/') {
        Some(folder) => Path::new(place).ancestors().skip(1).any(|parent| parent.ends_with(folder)),
        None => Path::new(place).ends_with(member),
    }
}

fn for_each_in<E: From<SourceError>>(
    path: &Path,
    visit: &mut impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let place = path.display().to_string();
    let io = |doing| {
        let place = place.clone();
        move |source| SourceError::Io { place, doing, source }
    };
    let file = File::open(path).map_err(io("open it"))?;
    let packed_len = file.metadata().map_err(io("open it"))?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.ends_with(".zip") {
        return for_each_zipped(file, &place, packed_len, visit);
    }
    let (inner_name, bounded) = unpack(&name, Box::new(file), packed_len).map_err(io("unpack it"))?;
    if inner_name.ends_with(".tar") {
        return for_each_in_tar(bounded, &place, visit);
    }
    let mut reader = BufReader::with_capacity(READ_BUFFER_BYTES, bounded);
    visit(SourceFile { place, reader: &mut reader })
}

/// Undoes one layer of gzip or zstd, as the end of the name says. The output is bounded.
pub(crate) fn unpack<'a>(
    name: &'a str,
    packed: Box<dyn Read + 'a>,
    packed_len: u64,
) -> io::Result<(&'a str, Box<dyn Read + 'a>)> {
    Ok(if let Some(inner) = name.strip_suffix(".gz") {
        (inner, Box::new(Bounded::new(flate2::read::MultiGzDecoder::new(BufReader::new(packed)), packed_len)))
    } else if let Some(inner) = name.strip_suffix(".zst") {
        (inner, Box::new(Bounded::new(zstd::Decoder::new(packed)?, packed_len)))
    } else {
        (name, Box::new(Bounded::new(packed, packed_len)))
    })
}

/// Visits one entry of an archive, unpacked if it is packed itself.
fn visit_entry<E: From<SourceError>>(
    entry: Box<dyn Read + '_>,
    entry_len: u64,
    place: String,
    visit: &mut impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let name = place.to_ascii_lowercase();
    let unpacked = unpack(&name, entry, entry_len);
    let (_, bounded) =
        unpacked.map_err(|source| SourceError::Io { place: place.clone(), doing: "unpack it", source })?;
    let mut reader = BufReader::with_capacity(READ_BUFFER_BYTES, bounded);
    visit(SourceFile { place, reader: &mut reader })
}

fn for_each_in_tar<E: From<SourceError>>(
    reader: impl Read,
    place: &str,
    visit: &mut impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let io = |source| SourceError::Io { place: place.to_owned(), doing: "unpack it", source };
    let mut archive = tar::Archive::new(reader);
    for (n, entry) in archive.entries().map_err(io)?.enumerate() {
        let entry = entry.map_err(io)?;
        check_entry_count(n, place)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        check_entry_name(&name, place)?;
        match entry.header().entry_type() {
            tar::EntryType::Regular | tar::EntryType::Continuous => {
                let length = entry.size();
                visit_entry(Box::new(entry), length, format!("{place}!{name}"), visit)?;
            }
            tar::EntryType::Directory | tar::EntryType::XGlobalHeader | tar::EntryType::XHeader => {}
            other => {
                let what = format!(
                    "the entry '{name}' is not a plain file ({other:?}); pack the source without links and devices"
                );
                return Err(SourceError::Refused { place: place.to_owned(), what }.into());
            }
        }
    }
    Ok(())
}

fn for_each_zipped<E: From<SourceError>>(
    file: File,
    place: &str,
    packed_len: u64,
    visit: &mut impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let refused = |error: zip::result::ZipError| SourceError::Refused {
        place: place.to_owned(),
        what: format!("cannot unpack it: {error}"),
    };
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(refused)?;
    let names: Result<Vec<String>, _> = archive.file_names().map(|name| name.map(|name| name.into_owned())).collect();
    let mut names: Vec<(String, usize)> = names.map_err(refused)?.into_iter().zip(0..).collect();
    names.sort_unstable();
    for (n, (name, place_in_archive)) in names.iter().enumerate() {
        check_entry_count(n, place)?;
        check_entry_name(name, place)?;
        let entry = archive.by_index(*place_in_archive).map_err(refused)?;
        if entry.is_dir() {
            continue;
        }
        let bounded = Bounded::new(entry, packed_len);
        visit_entry(Box::new(bounded), packed_len, format!("{place}!{name}"), visit)?;
    }
    Ok(())
}

fn check_entry_count(n: usize, place: &str) -> Result<(), SourceError> {
    if n < ARCHIVE_ENTRIES_MAX {
        return Ok(());
    }
    Err(SourceError::Refused {
        place: place.to_owned(),
        what: format!("it has more than {ARCHIVE_ENTRIES_MAX} entries"),
    })
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

/// Stops a stream that unpacks to more than any source of law.
pub(crate) struct Bounded<R> {
    inner: R,
    unpacked: u64,
    limit: u64,
}

impl<R: Read> Bounded<R> {
    pub(crate) fn new(inner: R, packed_len: u64) -> Self {
        let by_ratio = packed_len.saturating_mul(UNPACK_RATIO_MAX).max(UNPACK_RATIO_GRACE_BYTES);
        Self { inner, unpacked: 0, limit: by_ratio.min(UNPACKED_BYTES_MAX) }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.unpacked += count as u64;
        if self.unpacked > self.limit {
            let message =
                format!("it unpacks to more than {} bytes, far more than a source of its size should", self.limit);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(count)
    }
}

/// Reads lines of bounded length; each is handed over without its line end, with its number from 1.
pub fn for_each_line<E: From<SourceError>>(
    file: SourceFile<'_>,
    line_bytes_max: usize,
    mut visit: impl FnMut(u32, &str) -> Result<(), E>,
) -> Result<(), E> {
    let SourceFile { place, reader } = file;
    let mut line = Vec::new();
    for number in 1_u32.. {
        line.clear();
        let mut bounded = Read::take(&mut *reader, line_bytes_max as u64 + 1);
        let count = bounded.read_until(b'\n', &mut line).map_err(|source| SourceError::Io {
            place: format!("{place}:{number}"),
            doing: "read it",
            source,
        })?;
        if count == 0 {
            break;
        }
        let refused = |what: String| SourceError::Refused { place: format!("{place}:{number}"), what };
        if count > line_bytes_max {
            return Err(refused(format!("the line is longer than {line_bytes_max} bytes")).into());
        }
        let bytes = line.strip_suffix(b"\n").unwrap_or(&line);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            refused(format!(
                "byte {} of the line is not UTF-8; convert the file, for example with iconv",
                error.valid_up_to() + 1
            ))
        })?;
        let text = if number == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        visit(number, text)?;
    }
    Ok(())
}

/// Reads lines like `for_each_line`, parses batches of them on all cores, and takes the results in the order of the lines.
/// Empty lines are skipped.
pub fn parse_lines<T: Send, E: From<SourceError>>(
    file: SourceFile<'_>,
    line_bytes_max: usize,
    parse: impl Fn(u32, &str) -> T + Sync,
    mut take: impl FnMut(u32, T) -> Result<(), E>,
) -> Result<(), E> {
    let mut batch: Vec<(u32, String)> = Vec::new();
    let mut bytes = 0;
    let mut work_off = |batch: &mut Vec<(u32, String)>| {
        let parsed: Vec<T> = batch.par_iter().map(|(number, line)| parse(*number, line)).collect();
        batch.drain(..).zip(parsed).try_for_each(|((number, _), parsed)| take(number, parsed))
    };
    let read = for_each_line(file, line_bytes_max, |number, line| {
        if line.trim().is_empty() {
            return Ok(());
        }
        bytes += line.len();
        batch.push((number, line.to_owned()));
        if batch.len() < BATCH_LINES_MAX && bytes < BATCH_BYTES_MAX {
            return Ok(());
        }
        bytes = 0;
        work_off(&mut batch)
    });
    // The waiting lines come before the one that could not be read, so they are taken first.
    work_off(&mut batch)?;
    read
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_member_is_a_file_or_a_folder() {
        for (member, expected) in [
            ("law.xml", true),
            ("code/law.xml", true),
            ("aw.xml", false),
            ("code/", true),
            ("dc/code/", true),
            ("dc/", true),
            ("c/code/", false),
            ("law.xml/", false),
        ] {
            assert_eq!(is_member("a.tar.gz/repository-HEAD/us/dc/code/law.xml", member), expected, "{member}");
        }
    }

    fn collect(path: &Path) -> Result<Vec<(String, String)>, SourceError> {
        let mut files = Vec::new();
        for_each(path, None, |file| {
            let mut text = String::new();
            let place = file.place.clone();
            file.reader.read_to_string(&mut text).map_err(|source| SourceError::Io {
                place,
                doing: "read it",
                source,
            })?;
            files.push((file.place.rsplit(['/', '!']).next().unwrap().to_owned(), text));
            Ok::<_, SourceError>(())
        })?;
        Ok(files)
    }

    fn tar_of(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, text) in entries {
            let mut header = tar::Header::new_gnu();
            // Written by hand: the safe setter refuses the hostile names this test is about.
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(text.len() as u64);
            header.set_cksum();
            builder.append(&header, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn every_packing_gives_the_same_files() {
        let dir = tempfile::tempdir().unwrap();
        let tar = tar_of(&[("a.txt", "one"), ("b/c.txt", "two")]);
        fs::write(dir.path().join("x.tar"), &tar).unwrap();
        fs::write(dir.path().join("x.tar.zst"), zstd::encode_all(&tar[..], 3).unwrap()).unwrap();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(&tar).unwrap();
        fs::write(dir.path().join("x.tar.gz"), gz.finish().unwrap()).unwrap();
        let mut zip = zip::ZipWriter::new(File::create_new(dir.path().join("x.zip")).unwrap());
        for (name, text) in [("b/c.txt", "two"), ("a.txt", "one")] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let folder = dir.path().join("x");
        fs::create_dir_all(folder.join("b")).unwrap();
        fs::write(folder.join("a.txt"), "one").unwrap();
        fs::write(folder.join("b/c.txt"), "two").unwrap();
        let expected = [("a.txt".to_owned(), "one".to_owned()), ("c.txt".to_owned(), "two".to_owned())];
        for name in ["x.tar", "x.tar.zst", "x.tar.gz", "x.zip", "x"] {
            assert_eq!(collect(&dir.path().join(name)).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn one_member_of_an_archive_is_read_even_if_packed_itself() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("maps.tar");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(b"zones").unwrap();
        let packed = gz.finish().unwrap();
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in [("maps/readme.md", &b"no"[..]), ("maps/city.json.gz", &packed)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            builder.append_data(&mut header, name, bytes).unwrap();
        }
        fs::write(&path, builder.into_inner().unwrap()).unwrap();
        let read = |member| {
            let mut text = String::new();
            for_each(&path, Some(member), |file| {
                file.reader.read_to_string(&mut text).map(drop).map_err(|source| SourceError::Io {
                    place: file.place,
                    doing: "read it",
                    source,
                })
            })
            .map(|()| text)
        };
        assert_eq!(read("maps/city.json.gz").unwrap(), "zones");
        assert!(read("town.json").unwrap_err().to_string().contains("no file 'town.json'"));
    }

    #[test]
    fn hostile_archives_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["../../etc/passwd", "/etc/passwd", "a/../../b"] {
            let path = dir.path().join("evil.tar");
            fs::write(&path, tar_of(&[(name, "x")])).unwrap();
            let message = collect(&path).unwrap_err().to_string();
            assert!(message.contains("evil.tar") && message.contains("points outside"), "{message}");
        }
        let bomb = dir.path().join("bomb.zst");
        fs::write(&bomb, zstd::encode_all(io::repeat(0).take(64 << 20), 19).unwrap()).unwrap();
        let message = collect(&bomb).unwrap_err().to_string();
        assert!(message.contains("bomb.zst") && message.contains("unpacks to more than"), "{message}");
    }

    #[test]
    fn damaged_and_missing_sources_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        assert!(collect(&dir.path().join("absent.jsonl")).unwrap_err().to_string().contains("absent.jsonl"));
        assert!(matches!(collect(dir.path()), Err(SourceError::Empty { .. })));
        let cut = dir.path().join("cut.zst");
        let packed = zstd::encode_all(&b"law ".repeat(1000)[..], 3).unwrap();
        fs::write(&cut, &packed[..packed.len() / 2]).unwrap();
        assert!(collect(&cut).unwrap_err().to_string().contains("cut.zst"));
    }

    #[test]
    fn lines_are_bounded_and_must_be_utf_8() {
        let lines = |bytes: &[u8], max| {
            let mut seen = Vec::new();
            let file = SourceFile { place: "f".into(), reader: &mut &bytes[..] };
            for_each_line(file, max, |n, line| {
                seen.push((n, line.to_owned()));
                Ok::<_, SourceError>(())
            })
            .map(|()| seen)
            .map_err(|error| error.to_string())
        };
        assert_eq!(lines(b"\xef\xbb\xbfa\r\n\nb", 9).unwrap(), [(1, "a".into()), (2, String::new()), (3, "b".into())]);
        assert!(lines(b"ok\n\xff", 9).unwrap_err().starts_with("f:2: byte 1 of the line is not UTF-8"));
        assert!(lines(b"0123456789", 9).unwrap_err().contains("longer than 9 bytes"));
    }
}
