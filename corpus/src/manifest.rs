//! The manifest: the list of a snapshot's files, by which any change to them is detected.
//!
//! `manifest.json` lists every file with size and BLAKE3 hash, the fingerprints of analyzer and embedders, the
//! sources and the counts. `manifest.blake3` contains the hash of the manifest itself, in the form that
//! `b3sum --check` reads.

use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use serde::{Deserialize, Serialize};

use crate::catalogue::Source;
use crate::ids::ShortCode;

pub const FILE_NAME: &str = "manifest.json";
pub const HASH_FILE_NAME: &str = "manifest.blake3";

/// The version of the format. It is raised when the meaning of any file changes so that older programs would give
/// wrong answers.
pub const FORMAT: u32 = 8;

/// The length of a snapshot's id.
pub const SNAPSHOT_ID_LENGTH: usize = 32;

/// Bytes that a scrub reads at a time: half a millisecond of work.
const SCRUB_PIECE_BYTES: usize = 1 << 20;

/// The builder's final report. It contains times, so it is not part of a snapshot's identity.
pub const REPORT_FILE_NAME: &str = "report.json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    /// Identifies the content: a hash over the hashes of all files except the report.
    pub snapshot: String,
    pub name: String,
    /// The version of the program that built it.
    pub builder: String,
    /// Hashes of the sources from which that program was compiled. Empty if the program did not record them.
    #[serde(default)]
    pub builder_sources: BuilderSources,
    /// A hash over plan, source files and builder. Equal inputs need no second build.
    pub inputs: String,
    pub analyzer: Fingerprint,
    pub embedders: Vec<Fingerprint>,
    pub counts: Counts,
    pub jurisdictions: Vec<JurisdictionCounts>,
    pub sources: Vec<Source>,
    /// In ascending order of path.
    pub files: Vec<FileEntry>,
}

/// Hashes of the program sources that decide the result of a build. The version of the program does not tell
/// whether they changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BuilderSources {
    pub all: String,
    /// The hash of these sources without the importers: they decide the result for given texts and headings.
    pub without_importers: String,
}

/// Identifies code or a model whose change would make stored data useless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fingerprint {
    pub id: String,
    pub hash: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counts {
    pub nodes: u32,
    pub provisions: u32,
    pub chunks: u32,
    pub code_bodies: u32,
    pub zoning_layers: u32,
    /// Number of pairs of a provision and another one that it cites.
    pub references: u64,
    pub text_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JurisdictionCounts {
    pub short_code: ShortCode,
    pub nodes: u32,
    pub provisions: u32,
    pub chunks: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileEntry {
    /// Relative to the snapshot, with forward slashes.
    pub path: String,
    pub size: u64,
    pub blake3: String,
}

/// Whether a text is the id of a snapshot, and so can be the name of a folder.
pub fn is_snapshot_id(text: &str) -> bool {
    text.len() == SNAPSHOT_ID_LENGTH && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Why a directory is not accepted as a snapshot. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("{} is not a snapshot: it has no {}; make one with 'hornbook build'", .dir.display(), FILE_NAME)]
    NoSnapshot { dir: PathBuf },
    #[error(
        "{} has format {found}, this version reads {}; \
         rebuild the snapshot with 'hornbook build', or use the version of hornbook that built it",
        .path.display(),
        FORMAT
    )]
    Format { path: PathBuf, found: u64 },
    #[error("{} is damaged: {what}; copy the snapshot again or rebuild it with 'hornbook build'", .path.display())]
    Damaged { path: PathBuf, what: String },
}

impl Manifest {
    /// Reads and checks the manifest: its own hash, its format, and that its paths stay inside the snapshot.
    pub fn open(dir: &Path) -> Result<Self, ManifestError> {
        let path = dir.join(FILE_NAME);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ManifestError::NoSnapshot { dir: dir.to_owned() });
            }
            read => read.map_err(|source| ManifestError::Io { path: path.clone(), doing: "read", source })?,
        };
        let damaged = |what: String| ManifestError::Damaged { path: path.clone(), what };
        check_own_hash(dir, &text)?;
        let raw: serde_json::Value = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        // Another format may have other fields, so the format number is read before the rest.
        let format = raw.get("format").and_then(serde_json::Value::as_u64).unwrap_or_default();
        if format != u64::from(FORMAT) {
            return Err(ManifestError::Format { path, found: format });
        }
        let manifest: Self = serde_json::from_value(raw).map_err(|error| damaged(error.to_string()))?;
        let strays = |entry: &&FileEntry| !is_plain_relative(&entry.path);
        if let Some(stray) = manifest.files.iter().find(strays) {
            return Err(damaged(format!("it lists the file '{}', which is not inside the snapshot", stray.path)));
        }
        Ok(manifest)
    }

    /// Compares only sizes. This is fast and detects incomplete copies.
    pub fn check_sizes(&self, dir: &Path) -> Result<(), ManifestError> {
        for entry in &self.files {
            let path = dir.join(&entry.path);
            let found = size_of_file(&path)?;
            if found != entry.size {
                return Err(ManifestError::Damaged {
                    path,
                    what: format!("it has {found} bytes, but the manifest states {}", entry.size),
                });
            }
        }
        Ok(())
    }

    /// Hashes every file again, several at a time. A file that the manifest does not list is an error. `progress`
    /// is called with the size of each verified file.
    pub fn verify(&self, dir: &Path, mut progress: impl FnMut(u64)) -> Result<(), ManifestError> {
        self.check_sizes(dir)?;
        // The largest files come first, so that only small ones are left at the end.
        let mut entries: Vec<&FileEntry> = self.files.iter().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.size));
        let next = AtomicUsize::new(0);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let (tell, reported) = mpsc::channel();
            for _ in 0..cores.min(entries.len()) {
                let (tell, next, entries) = (tell.clone(), &next, &entries);
                scope.spawn(move || {
                    while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if tell.send(check_hash(dir, entry).map(|()| entry.size)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(tell);
            reported.iter().try_for_each(|checked| checked.map(&mut progress))
        })?;
        let known =
            |path: &str| path == FILE_NAME || path == HASH_FILE_NAME || self.files.iter().any(|f| f.path == path);
        match files_below(dir)?.into_iter().find(|path| !known(path)) {
            Some(stray) => Err(ManifestError::Damaged {
                path: dir.join(stray),
                what: "the manifest does not list this file".into(),
            }),
            None => Ok(()),
        }
    }

    /// Hashes every file again, one after another in small pieces, while a server runs. After each piece, `pause`
    /// is called with its size; it may wait, and it decides whether the scrub continues.
    pub fn scrub(
        &self,
        dir: &Path,
        mut pause: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ManifestError> {
        let mut buffer = vec![0; SCRUB_PIECE_BYTES];
        for entry in &self.files {
            let path = dir.join(&entry.path);
            let io = |source| ManifestError::Io { path: path.clone(), doing: "read", source };
            let mut file = fs::File::open(&path).map_err(io)?;
            let mut hasher = blake3::Hasher::new();
            loop {
                let count = file.read(&mut buffer).map_err(io)?;
                if count == 0 {
                    break;
                }
                hasher.update(&buffer[..count]);
                if pause(count as u64).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            compare_hash(&path, &hasher.finalize().to_hex(), entry)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hashes the finished files of a directory and writes manifest and hash: the last step of a build.
    pub fn seal(mut self, dir: &Path) -> Result<Self, ManifestError> {
        self.files = list_files(dir)?;
        let mut identity = blake3::Hasher::new();
        for file in self.files.iter().filter(|file| file.path != REPORT_FILE_NAME) {
            identity.update(format!("{} {} {}\n", file.path, file.size, file.blake3).as_bytes());
        }
        self.snapshot = identity.finalize().to_hex()[..SNAPSHOT_ID_LENGTH].to_owned();
        let mut text = serde_json::to_vec_pretty(&self).expect("a manifest has no keys that are not text");
        text.push(b'\n');
        write_synced(&dir.join(FILE_NAME), &text)?;
        write_synced(&dir.join(HASH_FILE_NAME), own_hash_line(&text).as_bytes())?;
        Ok(self)
    }
}

fn check_hash(dir: &Path, entry: &FileEntry) -> Result<(), ManifestError> {
    let path = dir.join(&entry.path);
    compare_hash(&path, &hash_file(&path)?, entry)
}

fn compare_hash(path: &Path, hash: &str, entry: &FileEntry) -> Result<(), ManifestError> {
    if hash == entry.blake3 {
        return Ok(());
    }
    let what = format!("its content has hash {hash}, but the manifest states {}", entry.blake3);
    Err(ManifestError::Damaged { path: path.to_owned(), what })
}

fn own_hash_line(manifest: &[u8]) -> String {
    format!("{}  {FILE_NAME}\n", blake3::hash(manifest).to_hex())
}

fn check_own_hash(dir: &Path, manifest: &[u8]) -> Result<(), ManifestError> {
    let path = dir.join(HASH_FILE_NAME);
    let stored = fs::read(&path).map_err(|source| ManifestError::Io { path: path.clone(), doing: "read", source })?;
    if stored == own_hash_line(manifest).as_bytes() {
        return Ok(());
    }
    Err(ManifestError::Damaged {
        path: dir.join(FILE_NAME),
        what: format!("it does not have the hash that {HASH_FILE_NAME} states"),
    })
}

/// The total size of all files below a directory.
pub fn bytes_below(dir: &Path) -> Result<u64, ManifestError> {
    let sizes = files_below(dir)?.into_iter().map(|relative| size_of_file(&dir.join(relative)));
    sizes.sum()
}

fn size_of_file(path: &Path) -> Result<u64, ManifestError> {
    let metadata = fs::metadata(path);
    Ok(metadata.map_err(|source| ManifestError::Io { path: path.to_owned(), doing: "find", source })?.len())
}

fn list_files(dir: &Path) -> Result<Vec<FileEntry>, ManifestError> {
    let mut entries = Vec::new();
    for relative in files_below(dir)? {
        let path = dir.join(&relative);
        entries.push(FileEntry { blake3: hash_file(&path)?, size: size_of_file(&path)?, path: relative });
    }
    Ok(entries)
}

/// The relative paths of all files below a directory, in ascending order. A name that is not UTF-8 is an error.
fn files_below(dir: &Path) -> Result<Vec<String>, ManifestError> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(below) = open.pop() {
        let path = dir.join(&below);
        let list =
            fs::read_dir(&path).map_err(|source| ManifestError::Io { path: path.clone(), doing: "list", source })?;
        for entry in list {
            let entry = entry.map_err(|source| ManifestError::Io { path: path.clone(), doing: "list", source })?;
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| ManifestError::Damaged {
                path: entry.path(),
                what: "the manifest does not list this file".into(),
            })?;
            let relative = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
            let kind =
                entry.file_type().map_err(|source| ManifestError::Io { path: entry.path(), doing: "find", source })?;
            if kind.is_dir() { open.push(relative) } else { found.push(relative) }
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn hash_file(path: &Path) -> Result<String, ManifestError> {
    let io = |source| ManifestError::Io { path: path.to_owned(), doing: "read", source };
    let mut hasher = blake3::Hasher::new();
    hasher.update_mmap(path).map_err(io)?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), ManifestError> {
    let io = |source| ManifestError::Io { path: path.to_owned(), doing: "write", source };
    let mut file = fs::File::create_new(path).map_err(io)?;
    io::Write::write_all(&mut file, bytes).map_err(io)?;
    file.sync_all().map_err(io)
}

/// Whether a path with forward slashes stays inside the folder that it is relative to.
pub fn is_plain_relative(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains(['\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> (tempfile::TempDir, Manifest) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("keyword")).unwrap();
        fs::write(dir.path().join("a.bin"), b"first").unwrap();
        fs::write(dir.path().join("keyword/b.bin"), b"second").unwrap();
        fs::write(dir.path().join(REPORT_FILE_NAME), b"{}").unwrap();
        let fingerprint = || Fingerprint { id: "x".into(), hash: "y".into() };
        let manifest = Manifest {
            format: FORMAT,
            snapshot: String::new(),
            name: "test".into(),
            builder: "0".into(),
            builder_sources: BuilderSources::default(),
            inputs: String::new(),
            analyzer: fingerprint(),
            embedders: vec![fingerprint()],
            counts: Counts::default(),
            jurisdictions: vec![],
            sources: vec![],
            files: vec![],
        };
        let manifest = manifest.seal(dir.path()).unwrap();
        (dir, manifest)
    }

    #[test]
    fn a_sealed_directory_opens_and_verifies() {
        let (dir, sealed) = sealed();
        let opened = Manifest::open(dir.path()).unwrap();
        assert_eq!(opened, sealed);
        let mut done = 0;
        opened.verify(dir.path(), |bytes| done += bytes).unwrap();
        assert_eq!(done, 13);
    }

    #[test]
    fn a_scrub_reads_every_byte_names_the_damaged_file_and_can_be_ended() {
        let (dir, manifest) = sealed();
        let mut read = 0;
        let scrubbed = manifest.scrub(dir.path(), |bytes| {
            read += bytes;
            ControlFlow::Continue(())
        });
        assert_eq!((scrubbed.unwrap(), read), (ControlFlow::Continue(()), 13));
        assert_eq!(manifest.scrub(dir.path(), |_| ControlFlow::Break(())).unwrap(), ControlFlow::Break(()));
        fs::write(dir.path().join("keyword/b.bin"), b"Second").unwrap();
        let error = manifest.scrub(dir.path(), |_| ControlFlow::Continue(())).unwrap_err().to_string();
        assert!(error.contains("keyword/b.bin is damaged"), "{error}");
    }

    #[test]
    fn the_report_is_no_part_of_the_identity() {
        let (dir, first) = sealed();
        fs::write(dir.path().join(REPORT_FILE_NAME), b"{\"seconds\": 7}").unwrap();
        fs::remove_file(dir.path().join(FILE_NAME)).unwrap();
        fs::remove_file(dir.path().join(HASH_FILE_NAME)).unwrap();
        let second = Manifest { files: vec![], ..first.clone() }.seal(dir.path()).unwrap();
        assert_eq!(first.snapshot, second.snapshot);
        assert_ne!(first.files, second.files);
    }

    #[test]
    fn any_flipped_bit_in_manifest_or_hash_is_refused_by_name() {
        let (dir, _) = sealed();
        for name in [FILE_NAME, HASH_FILE_NAME] {
            let path = dir.path().join(name);
            let whole = fs::read(&path).unwrap();
            for bit in 0..whole.len() * 8 {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                fs::write(&path, &bytes).unwrap();
                let error = Manifest::open(dir.path()).unwrap_err().to_string();
                assert!(error.contains("manifest"), "{error}");
            }
            fs::write(&path, &whole).unwrap();
        }
    }

    #[test]
    fn unlisted_files_missing_files_and_other_formats_are_refused() {
        let (dir, manifest) = sealed();
        fs::write(dir.path().join("keyword/stranger"), b"").unwrap();
        let error = manifest.verify(dir.path(), |_| ()).unwrap_err().to_string();
        assert!(error.contains("keyword/stranger"), "{error}");
        fs::remove_file(dir.path().join("a.bin")).unwrap();
        assert!(manifest.check_sizes(dir.path()).unwrap_err().to_string().contains("a.bin"));
        let newer = serde_json::to_vec(&serde_json::json!({ "format": 99 })).unwrap();
        fs::write(dir.path().join(FILE_NAME), &newer).unwrap();
        fs::write(dir.path().join(HASH_FILE_NAME), own_hash_line(&newer)).unwrap();
        let error = Manifest::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("format 99, this version reads {FORMAT}")), "{error}");
    }
}
