//! Any damage to any file of a snapshot, with a manifest that matches it: the snapshot is refused,
//! or it returns an answer or an error to every request.
//!
//! The first byte selects the file; the rest describes the damage, in the format of `damage`. The
//! snapshot's readers catch panics of libraries that trust their files. A panic in our own code
//! fails the target even if it is caught.
#![no_main]

#[path = "../damage.rs"]
mod damage;
#[path = "../searches.rs"]
mod searches;
#[path = "../second_space.rs"]
mod second_space;
#[path = "../walk.rs"]
#[expect(dead_code, reason = "the target 'mapped' uses the other half")]
mod walk;

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use hornbook_corpus::manifest::Manifest;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;
use libfuzzer_sys::fuzz_target;

/// The original bytes of a file of the snapshot.
struct Whole {
    path: PathBuf,
    bytes: Vec<u8>,
}

struct Built {
    snapshot: PathBuf,
    manifest: Manifest,
    files: Vec<Whole>,
    _dir: tempfile::TempDir,
}

/// The sample snapshot with a second embedding space, built once.
static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let snapshot = dir.path().join("snapshot");
    let options = BuildOptions {
        plan: Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/sample/plan.toml"),
        sources: None,
        destination: Destination::Folder(snapshot.clone()),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: true,
        progress: ProgressDisplay::Silent,
    };
    build(&options).expect("the sample builds");
    second_space::add(&snapshot);
    let manifest = Manifest::open(&snapshot).expect("it has a manifest");
    let whole = |path: PathBuf| Whole { bytes: fs::read(&path).expect("the file is there"), path };
    let listed = manifest.files.iter().map(|file| whole(snapshot.join(&file.path))).collect();
    // Only panics of libraries may be caught. Ours abort the process before they can be caught.
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_ours =
            info.location().is_none_or(|place| !["/registry/", "/rustc/"].iter().any(|of| place.file().contains(of)));
        if is_ours {
            report(info);
            std::process::abort();
        }
    }));
    Built { manifest, files: listed, snapshot, _dir: dir }
});

fuzz_target!(|bytes: &[u8]| {
    let Built { snapshot, manifest, files, .. } = &*BUILT;
    let Some((&pick, how)) = bytes.split_first() else { return };
    let Whole { path, bytes: whole } = &files[usize::from(pick) % files.len()];
    let mut damaged = whole.clone();
    damage::damage(&mut damaged, how);
    damage::replace_snapshot_file(path, &damaged);
    damage::write_manifest_sizes(snapshot, manifest);
    if let Ok(opened) = Snapshot::open(snapshot) {
        walk::walk(&opened);
        searches::search(Arc::new(opened));
    }
    damage::replace_snapshot_file(path, whole);
});
