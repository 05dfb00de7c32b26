//! Builds small snapshots in temporary folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hornbook_index_build::build::{BuildOptions, Built, Destination, build};
use hornbook_index_build::error::BuildError;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::target::ImportTarget;
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_index_build::source_files::{SourceError, SourceFile, for_each};

/// The sample corpus of the project.
pub(crate) fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/sample")
}

pub(crate) fn options(plan: &Path, out: &Path) -> BuildOptions {
    BuildOptions {
        plan: plan.to_owned(),
        sources: None,
        destination: Destination::Folder(out.to_owned()),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::Silent,
    }
}

pub(crate) fn build_at(plan: &Path, out: &Path) -> Result<Built, BuildError> {
    build(&options(plan, out))
}

/// Copies a folder of regular files.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// Relative paths of all files below a folder, ascending.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path.strip_prefix(folder).unwrap().to_owned()) }
        }
    }
    found.sort();
    found
}

/// A small generator of reproducible numbers, so that a failing run can be repeated.
pub(crate) struct SeededRandom(pub(crate) u64);

impl SeededRandom {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// The files of a source that an importer reads as documents.
pub(crate) fn documents_in(source: &Path, wants: fn(&str) -> bool) -> Vec<Document> {
    let mut found = Vec::new();
    let read = for_each(source, None, |file: SourceFile<'_>| {
        let mut document = Document { place: file.place, bytes: Vec::new() };
        file.reader.read_to_end(&mut document.bytes).unwrap();
        found.extend(Some(document).filter(|document| wants(document.path())));
        Ok::<(), SourceError>(())
    });
    read.unwrap();
    found
}

/// A code body for parsers that are called directly.
pub(crate) fn target(code_body: &'static str, key: &'static str) -> ImportTarget<'static> {
    static OPTIONS: LazyLock<toml::Table> = LazyLock::new(toml::Table::new);
    ImportTarget { jurisdiction: "US", code_body, key, citation: None, source: 0, tags: &[], options: &OPTIONS }
}
