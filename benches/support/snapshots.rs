//! The snapshots that a bench measures.

use std::path::PathBuf;

use tempfile::TempDir;

#[path = "sample.rs"]
mod sample;

/// The snapshots named on the command line with `--snapshot DIR`. If there are none, builds the
/// sample corpus in the folder, which only shows that the bench runs.
pub(crate) fn snapshots(scratch: &TempDir) -> Vec<PathBuf> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = arguments.iter().zip(arguments.iter().skip(1)).filter(|(name, _)| *name == "--snapshot");
    let named: Vec<PathBuf> = named.map(|(_, value)| PathBuf::from(value)).collect();
    if named.is_empty() { vec![sample::sample(&scratch.path().join("sample"))] } else { named }
}
