//! Builds the sample corpus as a snapshot, for benches started without a snapshot. It only shows
//! that the bench runs.

use std::path::{Path, PathBuf};

use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;

pub(crate) fn sample(out: &Path) -> PathBuf {
    let options = BuildOptions {
        plan: Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample/plan.toml"),
        sources: None,
        destination: Destination::Folder(out.to_owned()),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::Silent,
    };
    build(&options).unwrap_or_else(|error| panic!("{error}"));
    out.to_owned()
}
