//! Finds the real files.

use std::env;
use std::path::{Path, PathBuf};

/// Tests that need the real files are skipped without them, unless this variable is set.
const REQUIRED: &str = "HORNBOOK_TEST_CORPORA";

/// The folder of the real files: `HORNBOOK_CORPORA`, or `shared/corpora` next to the repository.
/// Prints a message and returns None if it is missing.
pub(crate) fn corpora() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    let path = env::var_os("HORNBOOK_CORPORA").map_or_else(beside, PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    assert!(env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, but {} does not exist", path.display());
    println!("skipped: {} does not exist; with {REQUIRED} set, this test fails", path.display());
    None
}
