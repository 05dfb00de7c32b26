//! `hornbook verify`: proof that a snapshot is what was built.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use hornbook_corpus::manifest::Manifest;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::progress::Progress;

use crate::cli::output::print;
use crate::cli::table::{bytes, seconds};
use crate::cli::{CommandResult, Options};

/// Check that no byte of a snapshot changed since it was built
///
/// Hashes every file again and compares with the manifest, opens every structure, and checks that the keyword index
/// numbers its documents as the outline numbers the nodes. Ends with an error that names the file if anything differs.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The snapshot's folder; the data directory's current one where absent
    snapshot: Option<PathBuf>,

    /// Say nothing when all is well
    #[arg(long, short)]
    quiet: bool,
}

impl Verify {
    pub(super) fn run(self, options: &Options) -> CommandResult {
        let path = options.snapshot(self.snapshot)?;
        let began = Instant::now();
        let total = Manifest::open(&path)?.files.iter().map(|file| file.size).sum();
        let progress = if self.quiet { Progress::Silent } else { Progress::for_stderr() };
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
