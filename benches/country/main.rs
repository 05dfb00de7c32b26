//! Generates a country of synthetic law, for measurements at sizes for which we have no real law:
//! sentences of real provisions, mixed and altered, in sixty jurisdictions. Results are in
//! `benches/README.md`.
//!
//! `cargo bench --bench country -- make --law SNAPSHOT --out DIR` writes native source files and a
//! plan for `hornbook build`. `-- measure SNAPSHOT` prints the share of copies in the snapshot
//! built from them. Without either it makes and builds a small country from the sample corpus,
//! which only shows that the bench runs.

mod alter;
mod code;
mod generate;
mod law;
mod measure;
mod names;
mod places;
#[path = "../support/sample.rs"]
mod sample;
mod words;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;

use crate::generate::{PLAN, generate};
use crate::law::RealLaw;
use crate::measure::Figures;

/// Generate synthetic law of sixty jurisdictions in any size
#[derive(Parser)]
#[command(name = "country")]
struct Arguments {
    /// Added by cargo
    #[arg(long, hide = true, global = true)]
    bench: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Write native source files and a plan
    ///
    /// The same law, size and seed give the same files. Build them with 'hornbook build
    /// DIR/plan.toml --out SNAPSHOT'.
    Make {
        /// A snapshot of real law to take sentences from; may be given several times
        #[arg(long, value_name = "SNAPSHOT", required = true)]
        law: Vec<PathBuf>,
        /// The folder for the files; it must not contain any of them yet
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// The number of chunks that the builder will make of it, within a few per cent
        #[arg(long, default_value_t = 4_000_000)]
        chunks: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Print the share of provisions and chunks of a snapshot that are copies, and how its vocabulary grows
    Measure { snapshot: PathBuf },
}

fn main() {
    match Arguments::parse().command {
        Some(Command::Make { law, out, chunks, seed }) => make(&law, &out, chunks, seed),
        Some(Command::Measure { snapshot }) => measure(&snapshot),
        None => small(),
    }
}

fn open(path: &Path) -> Snapshot {
    Snapshot::open(path).unwrap_or_else(|error| panic!("{error}"))
}

fn make(law: &[PathBuf], out: &Path, chunks: u64, seed: u64) {
    let law = RealLaw::of(law.iter().map(|path| open(path)).collect());
    let made = generate(&law, chunks, seed, out, ProgressDisplay::for_stderr())
        .unwrap_or_else(|error| panic!("cannot write to {}: {error}", out.display()));
    println!(
        "{} codes, {} provisions, about {} chunks, {} bytes of text; {} texts are copies of another ({:.3} %)",
        made.codes,
        made.provisions,
        made.chunks,
        made.text_bytes,
        made.copies,
        100.0 * made.copies as f64 / made.provisions.max(1) as f64
    );
}

fn small() {
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    let sources = scratch.path().join("sources");
    make(&[sample::sample(&scratch.path().join("sample"))], &sources, 2000, 1);
    let out = scratch.path().join("country");
    let options = BuildOptions {
        plan: sources.join(PLAN),
        sources: None,
        destination: Destination::Folder(out.clone()),
        strict: true,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::Silent,
    };
    build(&options).unwrap_or_else(|error| panic!("{error}"));
    measure(&out);
}

fn measure(path: &Path) {
    let figures = Figures::of(&open(path));
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    println!("provisions with the text of an earlier one: {:.3} %", share(figures.equal_texts, figures.provisions));
    println!("chunks with the vector of an earlier one: {:.3} %", share(figures.equal_vectors, figures.chunks));
    for step in [1, 2, 4, 8, 16] {
        let (running, different) = figures.vocabulary[step - 1];
        println!("vocabulary: {different} different words among {running}");
    }
    println!("the vocabulary grows with the number of words to the power of {:.2}", figures.growth());
}
