//! Measures serving, all figures in one run: `cargo bench --bench serving -- --snapshot DIR`.
//! Without a snapshot it builds the sample corpus, which only shows that the bench runs.
//! `--only PART` runs one of ready, lookups, searches, agents, pages, idle. `--apart` runs the
//! server and the client on separate processors.
//!
//! The server is the program itself, in a separate process with a temporary data directory. The
//! client is the load generator of `hornbook bench`, on the same machine. Other work on the machine
//! affects all times, so the two sides of a ratio are measured in turns, and processor time is
//! reported next to wall time. `benches/README.md` explains the rows and has the latest results.

mod agents;
mod bare;
mod idle;
mod lookups;
mod pages;
mod processors;
#[path = "../support/sample.rs"]
mod sample;
mod searches;
mod server;

use std::path::{Path, PathBuf};

use hornbook::bench::load::Load;
use hornbook::bench::result::{Round, TargetDescription, measure};
use hornbook::bench::{BenchTarget, queries};
use hornbook_corpus::snapshot::Snapshot;

use crate::processors::CpuTicks;
use crate::server::BenchData;

/// How often each figure is measured.
const ROUNDS: usize = 5;

const STARTS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    if let Some(folder) = value(bare::FLAG) {
        return bare::serve_recorded(Path::new(&folder));
    }
    if arguments.iter().any(|argument| argument == "--apart") {
        processors::separate_processors();
    }
    let only = value("--only");
    let is_asked = |part: &str| only.as_deref().is_none_or(|only| only == part);

    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    let path = value("--snapshot").map_or_else(|| sample::sample(&scratch.path().join("sample")), PathBuf::from);
    let snapshot = Snapshot::open(&path).unwrap_or_else(|error| panic!("{error}"));
    let counts = &snapshot.manifest.counts;
    println!("{}: {} provisions, {} chunks", snapshot.manifest.name, counts.provisions, counts.chunks);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load average at the start: {load}");

    let folder = scratch.path().join("data");
    std::fs::create_dir(&folder).expect("a data directory");
    let data = BenchData::prepare(&folder, &path);
    let before = CpuTicks::now();
    if is_asked("ready") {
        let starts = (0..STARTS).map(|_| data.serve(&[]).1.as_secs_f64() * 1e3).collect();
        row("time from process start to ready", "ms", spread(starts));
    }
    if is_asked("lookups") {
        lookups::measure(&data, &snapshot);
    }
    if is_asked("searches") {
        searches::measure(&data);
    }
    if is_asked("agents") {
        agents::measure(&data);
    }
    if is_asked("pages") {
        pages::measure(&data, &snapshot);
    }
    if is_asked("idle") {
        idle::measure(&data);
    }
    println!("other virtual machines took {:.1} % of the processor time (steal)", CpuTicks::now().taken_since(&before));
}

/// Median, lowest and highest.
struct Spread(f64, f64, f64);

fn spread(mut rounds: Vec<f64>) -> Spread {
    rounds.sort_by(f64::total_cmp);
    Spread(rounds[rounds.len() / 2], rounds[0], rounds[rounds.len() - 1])
}

fn row(what: &str, unit: &str, Spread(median, lowest, highest): Spread) {
    let digits = if median < 20.0 { 2 } else { 0 };
    println!("| {what} | {median:.digits$} {unit} | {lowest:.digits$} - {highest:.digits$} |");
}

/// Runs one round of a load. Every answer must be a success or a refusal.
fn round(target: &dyn BenchTarget, load: &Load) -> Round {
    let description = TargetDescription {
        name: String::new(),
        is_url: true,
        snapshot: None,
        queries: 0,
        queries_hash: queries::fingerprint(&[]),
        mode: String::new(),
        limit: 0,
    };
    let result =
        measure(target, description, load, 1, String::new(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(result.total.failed.is_empty(), "{:?}", result.total.failed);
    result.total
}
