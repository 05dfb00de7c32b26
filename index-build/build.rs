//! Hashes the sources that decide what a snapshot contains. A fixed importer therefore causes a
//! rebuild, even if plan, source files and version did not change.

use std::fs;
use std::path::Path;

#[path = "src/source_hash.rs"]
mod source_hash;
use source_hash::{SourceHash, files_below, locked_below};

/// The hashed folders: the sources of every package here that decides what a snapshot contains, which a test compares with
/// the dependencies. Changes in the importers folder do not affect the other parts of a build.
const FOLDERS: [&str; 3] = ["src", "../base/src", "../corpus/src"];
const IMPORTERS: &str = "src/import/";
/// A published package has only its own folder, with the lock file in it. It depends on published packages, whose versions
/// fix their content.
const LOCKS: [&str; 2] = ["../Cargo.lock", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let (mut all, mut without_importers) = (SourceHash::new(), SourceHash::new());
    for folder in FOLDERS.into_iter().filter(|folder| Path::new(folder).exists()) {
        println!("cargo::rerun-if-changed={folder}");
        let files = files_below(Path::new(folder)).unwrap_or_else(|error| panic!("cannot list {folder}: {error}"));
        for (name, path) in files {
            let content = fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
            let name = format!("{folder}/{name}");
            all.add(&name, &content);
            if !name.starts_with(IMPORTERS) {
                without_importers.add(&name, &content);
            }
        }
    }
    if let Some(path) = LOCKS.into_iter().find(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
        let lock = fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
        for package in locked_below(&lock, "hornbook-index-build") {
            all.add("package", package.as_bytes());
            without_importers.add("package", package.as_bytes());
        }
    }
    println!("cargo::rustc-env=HORNBOOK_SOURCE_FOLDERS={}", FOLDERS.join(" "));
    println!("cargo::rustc-env=HORNBOOK_SOURCES={}", all.to_hex());
    println!("cargo::rustc-env=HORNBOOK_SOURCES_WITHOUT_IMPORTERS={}", without_importers.to_hex());
}
