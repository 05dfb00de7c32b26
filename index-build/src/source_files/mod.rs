//! Opens sources (files, folders, and the archives and compressed files that `packing` lists) as a
//! stream of files.
//!
//! Nothing is unpacked to disk. The unpacked size of an archive is limited, for each entry and in
//! total. Entries that point outside the archive are refused, links are never followed, and every
//! message names the archive and the entry.

mod archives;
mod file;
mod lines;
mod packing;

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use crate::receipt::is_download_file;
pub(crate) use archives::{LimitedReader, TarBytes, UnpackLimit, check_entry_count, unpack};
use file::READ_BUFFER_BYTES;
pub use file::{SourceError, SourceFile};
use hornbook_base::regular_file;
pub use lines::{for_each_line, parse_lines};
pub use packing::{ArchiveFormat, Compression, Packing};

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
            let hidden = name.as_encoded_bytes().starts_with(b".") || is_download_file(&name.to_string_lossy());
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

/// BLAKE3 over names and raw bytes of the files of a source. It changes if any of them changes.
pub fn content_hash(path: &Path) -> Result<blake3::Hash, SourceError> {
    let mut hasher = blake3::Hasher::new();
    for file in list(path)? {
        let place = || file.display().to_string();
        let mut one = blake3::Hasher::new();
        let io = |doing| move |source| SourceError::Io { place: place(), doing, source };
        let opened = regular_file::open(&file).map_err(io("open it"))?;
        one.update_reader(opened).map_err(io("read it"))?;
        let name = file.strip_prefix(path).unwrap_or(Path::new(""));
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update(&[0]);
        hasher.update(one.finalize().as_bytes());
    }
    Ok(hasher.finalize())
}

/// Calls `visit` with every file of a source, unpacked. With `member`, it visits only files whose
/// path ends with it or, if it ends with a slash, files in a folder whose path ends with it. Links
/// in archives are skipped; the function returns their places.
pub fn for_each<E: From<SourceError>>(
    path: &Path,
    member: Option<&str>,
    mut visit: impl FnMut(SourceFile<'_>) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    let is_wanted = |place: &str| member.is_none_or(|member| is_member(&place.replace('!', "/"), member));
    let (mut any, mut links) = (false, Vec::new());
    for file in list(path)? {
        let found = for_each_in(&file, &mut |file: SourceFile<'_>| {
            if !is_wanted(&file.place) {
                return Ok(());
            }
            any = true;
            visit(file)
        })?;
        links.extend(found.into_iter().filter(|link| is_wanted(link)));
    }
    match member {
        Some(member) if !any => {
            let what = format!("there is no file '{member}' in it");
            Err(SourceError::Refused { place: path.display().to_string(), what }.into())
        }
        _ => Ok(links),
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
) -> Result<Vec<String>, E> {
    let place = path.display().to_string();
    let io = |doing| {
        let place = place.clone();
        move |source| SourceError::Io { place, doing, source }
    };
    let file = regular_file::open(path).map_err(io("open it"))?;
    let packed_len = file.metadata().map_err(io("open it"))?.len();
    let (_, packing) = Packing::of(&place);
    if packing.container == Some(ArchiveFormat::Zip) {
        return archives::for_each_zipped(file, &place, packed_len, visit);
    }
    let bounded = unpack(packing.compression, Box::new(file), packed_len).map_err(io("unpack it"))?;
    if packing.container == Some(ArchiveFormat::Tar) {
        return archives::for_each_in_tar(bounded, &place, packed_len, visit);
    }
    let mut reader = BufReader::with_capacity(READ_BUFFER_BYTES, bounded);
    visit(SourceFile { place, reader: &mut reader })?;
    Ok(Vec::new())
}

/// A small zip archive whose entries are all the same packed bytes under different names. Each
/// entry unpacks to `bytes` zeros.
#[cfg(test)]
pub(crate) fn zip_with_overlapping_entries(entries: u16, bytes: usize) -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    writer.start_file("00000", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(&vec![0; bytes]).unwrap();
    let whole = writer.finish().unwrap().into_inner();
    let place = |mark: &[u8]| whole.windows(4).rposition(|window| window == mark).unwrap();
    let (directory, end) = (place(b"PK\x01\x02"), place(b"PK\x05\x06"));
    let mut made = whole[..directory].to_vec();
    for number in 0..entries {
        let mut record = whole[directory..end].to_vec();
        record[46..51].copy_from_slice(format!("{number:05}").as_bytes());
        made.extend_from_slice(&record);
    }
    let length = (made.len() - directory) as u32;
    let mut mark = whole[end..].to_vec();
    mark[8..10].copy_from_slice(&entries.to_le_bytes());
    mark[10..12].copy_from_slice(&entries.to_le_bytes());
    mark[12..16].copy_from_slice(&length.to_le_bytes());
    [made, mark].concat()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

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
            // Written by hand, because the safe setter refuses the hostile names that this test needs.
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
        let packed = gz.finish().unwrap();
        for name in ["x.tar.gz", "x.tgz", "X.TGZ"] {
            fs::write(dir.path().join(name), &packed).unwrap();
        }
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
        for name in ["x.tar", "x.tar.zst", "x.tar.gz", "x.tgz", "X.TGZ", "x.zip", "x"] {
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
            .map(|_| text)
        };
        assert_eq!(read("maps/city.json.gz").unwrap(), "zones");
        assert!(read("town.json").unwrap_err().to_string().contains("no file 'town.json'"));
    }

    #[test]
    fn links_are_passed_over_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("repository.tar");
        let mut builder = tar::Builder::new(Vec::new());
        for (name, kind) in [("in", tar::EntryType::Symlink), ("hard", tar::EntryType::Link)] {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            builder.append_link(&mut header, name, "../../../etc/passwd").unwrap();
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(3);
        builder.append_data(&mut header, "law.txt", &b"law"[..]).unwrap();
        fs::write(&path, builder.into_inner().unwrap()).unwrap();
        let mut zip = zip::ZipWriter::new(File::create_new(dir.path().join("repository.zip")).unwrap());
        zip.add_symlink("in", "/etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
        zip.start_file("law.txt", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"law").unwrap();
        zip.finish().unwrap();
        for (name, expected) in [("repository.tar", &["in", "hard"][..]), ("repository.zip", &["in"])] {
            let path = dir.path().join(name);
            let links = for_each(&path, None, |_| Ok::<_, SourceError>(())).unwrap();
            let names: Vec<&str> = links.iter().map(|link| link.rsplit_once('!').unwrap().1).collect();
            assert_eq!(names, expected);
            assert_eq!(collect(&path).unwrap(), [("law.txt".to_owned(), "law".to_owned())]);
        }
    }

    #[test]
    fn an_archive_that_is_cut_between_two_entries_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let zeros = "\0".repeat(2_048);
        let whole = tar_of(&[("a.txt", "one"), ("b.txt", &zeros)]);
        let (header, text) = (512, 512);
        let after_first = header + text;
        let after_zeros = after_first + header + zeros.len();
        assert_eq!(whole.len(), after_zeros + 1_024);
        for end in [0, after_first, after_zeros, after_zeros + 512, whole.len() - 1] {
            for name in ["cut.tar", "cut.tar.zst"] {
                let path = dir.path().join(name);
                let bytes = whole[..end].to_vec();
                let packed = if name.ends_with("zst") { zstd::encode_all(&bytes[..], 3).unwrap() } else { bytes };
                fs::write(&path, packed).unwrap();
                let message = collect(&path).unwrap_err().to_string();
                assert!(message.contains(name) && message.contains("no end mark"), "{end}: {message}");
                assert!(message.contains("fetch or pack it again"), "{message}");
            }
        }
        let path = dir.path().join("padded.tar");
        fs::write(&path, [&whole[..], &[0; 8_192]].concat()).unwrap();
        assert_eq!(collect(&path).unwrap().len(), 2, "tar pads its last record with zeros");
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
    fn an_archive_whose_entries_unpack_to_too_much_together_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gz.write_all(&vec![0; 4 << 20]).unwrap();
        let packed = gz.finish().unwrap();
        let mut tar = tar::Builder::new(Vec::new());
        let mut zip = zip::ZipWriter::new(File::create_new(dir.path().join("bombs.zip")).unwrap());
        for number in 0..12 {
            let name = format!("{number}.xml.gz");
            let mut header = tar::Header::new_gnu();
            header.set_size(packed.len() as u64);
            tar.append_data(&mut header, &name, &packed[..]).unwrap();
            zip.start_file(&name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&packed).unwrap();
        }
        zip.finish().unwrap();
        let tar = tar.into_inner().unwrap();
        fs::write(dir.path().join("bombs.tar.zst"), zstd::encode_all(&tar[..], 3).unwrap()).unwrap();
        fs::write(dir.path().join("overlapping.zip"), zip_with_overlapping_entries(12, 4 << 20)).unwrap();
        for name in ["bombs.zip", "bombs.tar.zst", "overlapping.zip"] {
            let message = collect(&dir.path().join(name)).unwrap_err().to_string();
            assert!(
                message.contains(name) && message.contains("entries of the archive unpack to more than"),
                "{message}"
            );
            assert!(message.contains(&(16 << 20).to_string()), "the message names the limit: {message}");
        }
    }

    #[test]
    fn only_plain_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("law.jsonl");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for (path, what) in [
            (PathBuf::from("/dev/zero"), "it is a device"),
            (pipe, "it is a named pipe"),
            (dir.path().to_owned(), "it is a named pipe"),
        ] {
            let (done, refused) = std::sync::mpsc::channel();
            let asked = path.clone();
            // A read that never ends must not keep the tests from ending.
            std::thread::spawn(move || {
                let messages = [content_hash(&asked).err(), collect(&asked).err()];
                done.send(messages.map(|error| error.map(|error| error.to_string())))
            });
            let messages = refused.recv_timeout(std::time::Duration::from_secs(10)).expect("reading must end");
            for message in messages {
                let message = message.unwrap();
                let named = if path.is_dir() { path.join("law.jsonl") } else { path.clone() };
                assert!(message.contains(what) && message.contains(named.to_str().unwrap()), "{message}");
            }
        }
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
}
