//! Measures a snapshot: opening, hashing, memory, nearest neighbours, records. Results are in
//! `benches/README.md`.
//!
//! `cargo bench --bench corpus -- --snapshot DIR` measures an existing snapshot;
//! `-- --sources DIR [--plan FILE]` builds one first. Without either it measures the sample corpus,
//! which only shows that the bench runs.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hornbook_corpus::embed::{Vector, embedder};
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, OrdinalRange};
use hornbook_corpus::manifest::Manifest;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::vectors::Effort;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;

/// The number of queries: headings of provisions, spread evenly over the snapshot.
const QUERIES: usize = 400;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let value =
        |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).map(PathBuf::from);
    let scratch = std::env::temp_dir().join(format!("hornbook-bench-{}", std::process::id()));
    let snapshot = value("--snapshot")
        .unwrap_or_else(|| build_snapshot(value("--sources"), value("--plan"), &scratch.join("snapshot")));
    measure(&snapshot);
    let _ = fs::remove_dir_all(scratch);
}

fn build_snapshot(sources: Option<PathBuf>, plan: Option<PathBuf>, out: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let default_plan = if sources.is_some() { "benches/plans/us-code.toml" } else { "corpus/sample/plan.toml" };
    let options = BuildOptions {
        plan: plan.unwrap_or_else(|| root.join(default_plan)),
        sources,
        destination: Destination::Folder(out.to_owned()),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: true,
        progress: ProgressDisplay::Plain,
    };
    let outcome = build(&options).unwrap_or_else(|error| panic!("{error}"));
    let report = &outcome.report;
    let size: u64 = outcome.manifest.files.iter().map(|file| file.size).sum();
    println!(
        "build: {:.1} s CPU, {:.1} s wall, peak {:.0} MB, {:.0} MB of text, snapshot {:.0} MB",
        report.cpu_seconds,
        report.seconds,
        report.peak_memory_bytes as f64 / 1e6,
        report.source_text_bytes as f64 / 1e6,
        size as f64 / 1e6
    );
    for stage in &report.stages {
        println!("  {}: {:.1} s CPU, {:.1} s wall", stage.name, stage.cpu_seconds, stage.seconds);
    }
    out.to_owned()
}

fn measure(dir: &Path) {
    let before = anonymous_bytes();
    let began = Instant::now();
    let snapshot = Snapshot::open(dir).unwrap_or_else(|error| panic!("{error}"));
    let first = began.elapsed();
    let anonymous = anonymous_bytes().saturating_sub(before);
    println!("open, first: {first:?}; anonymous memory after it: {:.1} MB", anonymous as f64 / 1e6);
    report("open", "ms", 1e3, &sorted_times(21, |_| Snapshot::open(dir).is_ok()));
    hashing(dir);
    let (nodes, chunks) = (snapshot.outline.len(), snapshot.chunks.chunk_count());
    println!("{nodes} nodes, {} provisions, {chunks} chunks", snapshot.manifest.counts.provisions);
    records(&snapshot);
    nearest(&snapshot);
}

fn hashing(dir: &Path) {
    let manifest = Manifest::open(dir).unwrap_or_else(|error| panic!("{error}"));
    let bytes: u64 = manifest.files.iter().map(|file| file.size).sum();
    let times = sorted_times(5, |_| manifest.verify(dir, |_| ()).is_ok());
    println!(
        "re-hash: {:.2} GB/s (median of 5, {:.0} MB)",
        bytes as f64 / 1e9 / times[2].as_secs_f64(),
        bytes as f64 / 1e6
    );
}

fn records(snapshot: &Snapshot) {
    let nodes = snapshot.outline.len();
    let ids: Vec<_> = (0..nodes)
        .step_by((nodes as usize / 5_000).max(1))
        .filter_map(|n| snapshot.outline.id(NodeOrdinal(n)))
        .collect();
    let by_id = |n: usize| {
        let ordinal = snapshot.ordinal(ids[n % ids.len()]).expect("the id is of this snapshot");
        snapshot.nodes.get(ordinal).expect("the record is there").wording(0).text.length
    };
    sorted_times(ids.len(), by_id);
    report("node record by id, warm", "us", 1e6, &sorted_times(ids.len(), by_id));
    let page = |n: usize| {
        let heading = |place: u32| {
            let node = NodeOrdinal((n as u32 * 7919 + place * 104_729) % nodes);
            snapshot
                .nodes
                .with_archived(node, |record| (record.citation.len(), record.wordings[0].heading.len()))
                .expect("the record is there")
        };
        (0..20).map(heading).map(|(citation, heading)| citation + heading).sum::<usize>()
    };
    sorted_times(2_000, page);
    report("20 headings with citations, warm", "us", 1e6, &sorted_times(2_000, page));
}

fn nearest(snapshot: &Snapshot) {
    let chunks = snapshot.chunks.chunk_count();
    let all = OrdinalRange::new(0, chunks);
    let vectors = unquantised_vectors(snapshot);
    for (name, queries) in [("headings", headings(snapshot)), ("judged queries", judged_vectors())] {
        let bars: Vec<f32> = queries.iter().map(|query| tenth_best(query, &vectors)).collect();
        for effort in [32, 48, 64, 96, 128, 192, 0] {
            let effort = Effort { ef: effort, scan_chunks_max: if effort == 0 { u32::MAX } else { 0 } };
            let run = |n: usize| snapshot.vectors.nearest(&queries[n % queries.len()].0, all, 10, effort);
            sorted_times(queries.len(), run);
            let is_one = |n: usize, chunk: ChunkOrdinal| {
                // A chunk as near as the tenth counts as found. Which of several equally near
                // chunks is found does not affect recall.
                queries[n].dot(&vectors[chunk.0 as usize]) >= bars[n] - 1e-6
            };
            let found = |n: usize| run(n).iter().filter(|near| is_one(n, near.chunk)).count().min(10);
            let recall = (0..queries.len()).map(found).sum::<usize>() as f64 / (10 * queries.len()) as f64;
            let how = if effort.ef == 0 { "scanned".to_owned() } else { format!("ef {}", effort.ef) };
            let what = format!("nearest 10 of {chunks} to {} {name}, {how}, recall {recall:.4}", queries.len());
            report(&what, "us", 1e6, &sorted_times(4 * queries.len(), run));
        }
    }
    let queries = judged_vectors();
    for length in [1_000, 10_000, 16_000, 32_000, 64_000, 100_000] {
        if length > chunks {
            break;
        }
        let range = |n: usize| {
            let start = (n as u32).wrapping_mul(2_654_435_761) % (chunks - length + 1);
            OrdinalRange::new(start, start + length)
        };
        for (name, effort) in [
            ("scan", Effort { ef: 0, scan_chunks_max: u32::MAX }),
            ("walk", Effort { scan_chunks_max: 0, ..Effort::default() }),
        ] {
            let run = |n: usize| snapshot.vectors.nearest(&queries[n % queries.len()].0, range(n), 10, effort);
            report(&format!("{name} of a range of {length}"), "us", 1e6, &sorted_times(queries.len(), run));
        }
    }
}

/// Vectors of headings, spread over the snapshot. The builder prepares the graph for queries like these.
fn headings(snapshot: &Snapshot) -> Vec<Vector> {
    let nodes = snapshot.outline.len();
    let step = (nodes as usize / (2 * QUERIES)).max(1);
    let provisions = (0..nodes).step_by(step).map(NodeOrdinal).filter(|&node| snapshot.outline.is_provision(node));
    let headings =
        provisions.filter_map(|node| snapshot.nodes.get(node).ok()).map(|record| record.wording(0).heading.clone());
    headings.map(|heading| embedder().embed(&heading)).filter(|vector| !vector.is_zero()).take(QUERIES).collect()
}

/// Vectors of the judged questions, topics and phrases, none of which the builder has seen.
fn judged_vectors() -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
    let mut queries = Vec::new();
    for file in ["questions.jsonl", "topics.jsonl", "phrases.jsonl"] {
        let text = fs::read_to_string(folder.join(file)).expect("the judged queries are there");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let query: serde_json::Value = serde_json::from_str(line).expect("a judged query");
            queries.push(embedder().embed_query(query["query"].as_str().expect("the query's words")));
        }
    }
    queries
}

/// The vector of every chunk before quantisation, embedded again from the texts.
fn unquantised_vectors(snapshot: &Snapshot) -> Vec<Vector> {
    let mut vectors = vec![Vector::ZERO; snapshot.chunks.chunk_count() as usize];
    for node in (0..snapshot.outline.len()).map(NodeOrdinal).filter(|&node| snapshot.outline.is_provision(node)) {
        let heading =
            |node| snapshot.nodes.get(node).map(|record| record.wording(0).heading.clone()).unwrap_or_default();
        let mut tokens = Vec::new();
        embedder().tokenize(&heading(node), &mut tokens);
        let mut above: Vec<NodeOrdinal> = snapshot.outline.ancestors(node).collect();
        above.reverse();
        for ancestor in above {
            embedder().tokenize(&heading(ancestor), &mut tokens);
        }
        let context = embedder().embed_tokens(&tokens);
        for ordinal in snapshot.chunks.chunks_of(node).iter() {
            let Some(chunk) = snapshot.chunks.chunk(ChunkOrdinal(ordinal)) else { continue };
            let mut tokens = Vec::new();
            embedder().tokenize(snapshot.texts.get(chunk.text).unwrap_or_default(), &mut tokens);
            vectors[ordinal as usize] = embedder().passage_vector(&tokens, &context);
        }
    }
    vectors
}

fn tenth_best(query: &Vector, vectors: &[Vector]) -> f32 {
    let mut scores: Vec<f32> = vectors.iter().map(|vector| query.dot(vector)).collect();
    let place = scores.len().min(10) - 1;
    *scores.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
}

/// Runs `work` with 0, 1, 2, ... and returns the times in ascending order.
fn sorted_times<R>(count: usize, mut work: impl FnMut(usize) -> R) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..count)
        .map(|n| {
            let began = Instant::now();
            black_box(work(n));
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn report(what: &str, unit: &str, per_second: f64, ascending: &[Duration]) {
    let at = |part: f64| ascending[((ascending.len() - 1) as f64 * part) as usize].as_secs_f64() * per_second;
    println!(
        "{what}: median {:.1} {unit}, p10 {:.1}, p90 {:.1}, p99 {:.1}, max {:.1}",
        at(0.5),
        at(0.1),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}

/// Memory of this process that is not a mapped file; zero if the system does not report it.
fn anonymous_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}
