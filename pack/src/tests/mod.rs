//! Tests of whole packs: against a plain model, with changes since an earlier snapshot, killed at each step, and pulled
//! from hostile origins.

mod changes;
mod installs;
mod killed_pulls;
mod pulls;
mod round_trips;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hornbook_corpus::manifest::{Counts, FILE_NAME, FORMAT, Fingerprint, HASH_FILE_NAME, Manifest};
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;

use crate::{EarlierBlocks, PackFile, PackSummary, pack, unpack};

/// The files of a folder with their bytes.
pub(super) type FolderContents = BTreeMap<String, Vec<u8>>;

/// Writes files into a folder and seals it, as a build does. It is a snapshot as far as packs are concerned.
pub(super) fn sealed(folder: &Path, files: &FolderContents) -> Manifest {
    for (path, bytes) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let nothing = || Fingerprint { id: "none".to_owned(), hash: String::new() };
    let manifest = Manifest {
        format: FORMAT,
        snapshot: String::new(),
        name: "test".to_owned(),
        builder: "test".to_owned(),
        builder_sources: Default::default(),
        inputs: String::new(),
        analyzer: nothing(),
        embedders: vec![nothing()],
        counts: Counts::default(),
        jurisdictions: vec![],
        sources: vec![],
        files: vec![],
    };
    manifest.seal(folder).unwrap()
}

pub(super) fn contents(folder: &Path) -> FolderContents {
    let mut found = FolderContents::new();
    let mut open = vec![String::new()];
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(folder.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let relative = if below.is_empty() { name } else { format!("{below}/{name}") };
            match entry.file_type().unwrap().is_dir() {
                true => open.push(relative),
                false => {
                    found.insert(relative, fs::read(entry.path()).unwrap());
                }
            }
        }
    }
    found
}

/// Packs a folder into a file.
pub(super) fn packed(folder: &Path, since: Option<&Path>, out: &Path) -> PackSummary {
    let earlier = since.map(|since| EarlierBlocks::of_snapshot(since, |_| ()).unwrap());
    let file = fs::File::create_new(out).unwrap();
    pack(folder, earlier.as_ref(), io::BufWriter::new(file), out, |_| ()).unwrap()
}

pub(super) fn unpacked(pack: &Path, folder: &Path, earlier: Option<&Path>) -> Result<(), crate::PackError> {
    fs::create_dir_all(folder).unwrap();
    unpack(&PackFile::open(pack)?, folder, earlier, |_| ())
}

/// Builds a small snapshot of law whose sections have these texts.
pub(super) fn built(folder: &Path, texts: &[String]) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let lines: Vec<String> = (1..)
        .zip(texts)
        .map(|(number, text): (u32, _)| {
            format!(
                r#"{{"jurisdiction":"US","codeBody":"Code","path":["Title 1"],"citation":"1 T.C. § {number}","heading":"Section {number}","text":"{text}","ref":"/{number}","status":"in force"}}"#
            )
        })
        .collect();
    fs::write(folder.join("law.jsonl"), lines.join("\n")).unwrap();
    let plan = "name = 't'\n[[source]]\nformat = 'provisions-jsonl'\npath = 'law.jsonl'\njurisdiction = 'US'\n\
                code_body = 'Code'\nkey = 'us/tc'\npublisher = 'p'\nlicense = 'l'\nedition = 'e'\n\
                retrieved = '2026-01-01'\nurl = 'https://law.example/'\n";
    fs::write(folder.join("plan.toml"), plan).unwrap();
    let options = BuildOptions {
        plan: folder.join("plan.toml"),
        sources: None,
        destination: Destination::Folder(folder.join("snapshot")),
        strict: false,
        replace: true,
        accept_loss: false,
        skip_absent: false,
        fresh: true,
        progress: ProgressDisplay::Silent,
    };
    build(&options).unwrap();
    folder.join("snapshot")
}

pub(super) fn without_manifest(mut files: FolderContents) -> FolderContents {
    files.remove(FILE_NAME);
    files.remove(HASH_FILE_NAME);
    files
}
