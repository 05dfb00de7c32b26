//! Any bytes after the valid header of each mapped file: readers may return wrong data but must not crash.
//!
//! The first byte selects a file of the sample snapshot; the rest says which of its bytes to change.
#![no_main]

#[path = "../walk.rs"]
#[expect(dead_code, reason = "the damage tests use the other half")]
mod walk;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;
use libfuzzer_sys::fuzz_target;

const FILES: [&str; 11] = [
    "outline.bin",
    "texts.bin",
    "chunks.bin",
    "tokens.bin",
    "tags.bin",
    "citations.bin",
    "suggest.bin",
    "references.bin",
    "validity.bin",
    "vectors-law-static-256.bin",
    "graph-law-static-256.bin",
];

/// The sample snapshot, built once.
static SNAPSHOT: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/sample/plan.toml");
    let options = BuildOptions {
        plan,
        sources: None,
        destination: Destination::Folder(dir.path().join("snapshot")),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: true,
        progress: ProgressDisplay::Silent,
    };
    build(&options).expect("the sample builds");
    dir
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&pick, changes)) = bytes.split_first() else { return };
    let snapshot = SNAPSHOT.path().join("snapshot");
    let path = snapshot.join(FILES[usize::from(pick) % FILES.len()]);
    let whole = fs::read(&path).expect("the file is there");
    let mut damaged = whole.clone();
    for change in changes.chunks_exact(5) {
        let place = u32::from_le_bytes([change[0], change[1], change[2], change[3]]) as usize % damaged.len();
        damaged[place] = change[4];
    }
    // A new file each time, because the old one may still be mapped.
    fs::remove_file(&path).and_then(|()| fs::write(&path, &damaged)).expect("the file can be exchanged");
    walk::open_and_walk(&snapshot);
    fs::remove_file(&path).and_then(|()| fs::write(&path, &whole)).expect("the file can be put back");
});
