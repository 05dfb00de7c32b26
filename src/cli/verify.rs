//! `hornbook verify`: checks that a snapshot has not changed since it was built.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use hornbook_corpus::manifest::Manifest;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::progress::ProgressDisplay;

use crate::cli::output::print;
use crate::cli::table::{bytes, seconds};
use crate::cli::{CommandResult, GlobalOptions};

/// Check that no byte of a snapshot has changed since it was built
///
/// Hashes every file and compares it with the manifest, opens every structure, and checks that the
/// keyword index and the outline number the nodes alike. Fails with the name of the file if
/// anything differs.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Folder of the snapshot [default: the current one]
    snapshot: Option<PathBuf>,

    /// Print nothing if the snapshot is intact
    #[arg(long, short)]
    quiet: bool,
}

impl Verify {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let path = options.snapshot(self.snapshot)?;
        let began = Instant::now();
        let total = Manifest::open(&path)?.files.iter().map(|file| file.size).sum();
        let progress = if self.quiet { ProgressDisplay::Silent } else { ProgressDisplay::for_stderr() };
        let mut stage = progress.stage("verifying", "bytes", Some(total));
        let snapshot = Snapshot::verify(&path, |bytes| stage.add(bytes))?;
        if !self.quiet {
            let (files, took) = (snapshot.manifest.files.len(), seconds(began.elapsed().as_secs_f64()));
            print(&format!(
                "{} is intact: {files} files, {}, snapshot {}, in {took}\n",
                path.display(),
                bytes(total),
                snapshot.manifest.snapshot
            ))?;
        }
        Ok(())
    }
}
