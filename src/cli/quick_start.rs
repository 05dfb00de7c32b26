//! `hornbook` without a command: the sample corpus, built, verified and shown.

use std::path::{Path, PathBuf};

use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::Progress;

use crate::cli::{CommandResult, Options, inspect};

const SAMPLE_PLAN: &str = "corpus/sample/plan.toml";

pub(super) fn run(options: &Options) -> CommandResult {
    if !Path::new(SAMPLE_PLAN).exists() {
        return Err(format!(
            "{SAMPLE_PLAN} is not here; run hornbook in its source folder to see the sample corpus, or say what to do: \
             'hornbook --help' lists the commands"
        )
        .into());
    }
    let outcome = build(&BuildOptions {
        plan: PathBuf::from(SAMPLE_PLAN),
        sources: None,
        destination: Destination::DataDirectory(options.configuration()?.data_dir()),
        strict: false,
        replace: false,
        fresh: false,
        progress: Progress::for_stderr(),
    })?;
    let snapshot = Snapshot::verify(&outcome.path, |_| ())?;
    let kept = if outcome.unchanged { "verified, nothing had changed" } else { "built and verified" };
    println!("{}: {kept}\n", outcome.path.display());
    print!("{}", inspect::summary(&snapshot)?);
    println!(
        "\nNext: hornbook inspect --node 'Arden Rev. Stat. § 12-2-104'    one provision\n      \
         hornbook inspect --outline                                the whole outline\n      \
         hornbook build PLAN                                       your own sources"
    );
    Ok(())
}
