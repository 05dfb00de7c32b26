//! The sample corpus, built once for a test program and opened for searching.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Built, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_search::Engine;

pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_at(&out);
    // The files stay mapped after the folder is deleted.
    Engine::new(Arc::new(Snapshot::open(&out).unwrap())).unwrap()
});

pub(crate) fn build_at(out: &Path) {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample/plan.toml");
    build_plan(plan, Destination::Folder(out.to_owned()));
}

/// Builds a plan like the command without options.
pub(crate) fn build_plan(plan: PathBuf, destination: Destination) -> Built {
    let options = BuildOptions {
        plan,
        sources: None,
        destination,
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::Silent,
    };
    build(&options).unwrap()
}
