//! Measures filtered searches: the whole snapshot, every jurisdiction, code body and large subtree,
//! and unions. Reports how many vectors the vector stage compares, its time and recall, and the
//! time of a whole search. Results are in `benches/README.md`.
//!
//! `cargo bench --bench ranges -- --snapshot DIR [--snapshot DIR ...]` prints a table per snapshot.
//! The numbers of compared rows are the same in every run; times are not. Without a snapshot it
//! builds the sample corpus, which only shows that the bench runs.

#[path = "support/snapshots.rs"]
mod snapshots;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hornbook::evaluate::percentile;
use hornbook_corpus::embed::{Vector, embedder};
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::vectors::{ChunkFilter, Effort, Work};
use hornbook_search::{Engine, Filter, Mode, SearchRequest, Tuning};

/// How often each query runs in each range, after one warm-up run.
const ROUNDS: usize = 3;

/// The number of nearest chunks for which recall is measured.
const RECALL_AT: usize = 10;

/// Smaller subtrees are left out.
const SUBTREE_CHUNKS_MIN: u32 = 4096;

/// The numbers of parts of the unions.
const UNION_SIZES: [usize; 3] = [3, 5, 10];

fn main() {
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    for path in snapshots::snapshots(&scratch) {
        measure(&path);
    }
}

/// A query: its text and its vector.
type QueryWithVector = (String, Vector);

fn measure(path: &Path) {
    let snapshot = Arc::new(Snapshot::open(path).unwrap_or_else(|error| panic!("{error}")));
    let engine = Engine::new(Arc::clone(&snapshot)).unwrap_or_else(|error| panic!("{error}"));
    let queries = queries();
    println!("\n{}: {} chunks, {} queries", snapshot.manifest.name, snapshot.chunks.chunk_count(), queries.len());
    println!(
        "| range | chunks | share | scanned | visited | recall@{RECALL_AT} | vector us p50 | p99 | search us p50 | p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, nodes) in ranges(&snapshot) {
        row(&engine, &name, &nodes, &queries);
    }
}

/// The judged queries that are not citations.
fn queries() -> Vec<QueryWithVector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
    let mut queries = Vec::new();
    for kind in ["questions", "topics", "phrases"] {
        let judged = hornbook::evaluate::read(&folder.join(format!("{kind}.jsonl")));
        for query in judged.unwrap_or_else(|error| panic!("{error}")) {
            let vector = embedder().embed_query(&query.query);
            queries.push((query.query, vector));
        }
    }
    queries
}

/// The whole snapshot, jurisdictions with everything below them, code bodies, large subtrees, unions.
fn ranges(snapshot: &Snapshot) -> Vec<(String, OrdinalRanges)> {
    let (catalogue, outline) = (&snapshot.catalogue, &snapshot.outline);
    let mut ranges = vec![("everything".to_owned(), OrdinalRange::new(0, outline.len()))];
    let jurisdictions = catalogue.jurisdictions.iter().filter(|jurisdiction| !jurisdiction.subtree.is_empty());
    ranges.extend(jurisdictions.map(|jurisdiction| (jurisdiction.short_code.to_string(), jurisdiction.subtree)));
    ranges.extend(catalogue.code_bodies.iter().map(|body| (body.name.clone(), body.nodes)));
    let parts = ranges.len() - catalogue.code_bodies.len();
    let containers = (0..outline.len()).map(NodeOrdinal).filter(|&node| !outline.is_provision(node));
    let large =
        containers.filter(|&node| snapshot.chunks.chunk_range(outline.subtree(node)).len() >= SUBTREE_CHUNKS_MIN);
    ranges.extend(large.map(|node| {
        let card = snapshot.cards.get(node).unwrap_or_else(|error| panic!("{error}"));
        (card.heading.chars().take(40).collect(), outline.subtree(node))
    }));
    // Every second part, so that the parts of a union are not adjacent.
    let separate: Vec<OrdinalRange> = ranges[parts..].iter().map(|(_, range)| *range).step_by(2).collect();
    let unions = UNION_SIZES.into_iter().filter(|&count| count <= separate.len());
    let unions: Vec<(String, OrdinalRanges)> = unions
        .map(|count| (format!("union of {count}"), OrdinalRanges::union(separate.iter().take(count).copied())))
        .collect();
    ranges.into_iter().map(|(name, range)| (name, range.into())).chain(unions).collect()
}

fn row(engine: &Engine, name: &str, nodes: &OrdinalRanges, queries: &[QueryWithVector]) {
    let snapshot = engine.snapshot();
    let chunks: Vec<OrdinalRange> = nodes.as_slice().iter().map(|&range| snapshot.chunks.chunk_range(range)).collect();
    let count: u32 = chunks.iter().map(|range| range.len()).sum();
    let (times, work, recall) = vector_stage(snapshot, &ChunkFilter { ranges: &chunks, admits: None }, queries);
    let searches = searches(engine, nodes, queries);
    let asked = queries.len() as u64;
    println!(
        "| {name} | {count} | {:.3} | {} | {} | {recall:.4} | {:.0} | {:.0} | {:.0} | {:.0} |",
        f64::from(count) / f64::from(snapshot.chunks.chunk_count().max(1)),
        work.scanned / asked,
        work.visited / asked,
        percentile(&times, 0.5),
        percentile(&times, 0.99),
        percentile(&searches, 0.5),
        percentile(&searches, 0.99),
    );
}

/// Times in microseconds in ascending order, the vectors that all queries compared in one round,
/// and the recall.
fn vector_stage(snapshot: &Snapshot, within: &ChunkFilter<'_>, queries: &[QueryWithVector]) -> (Vec<f64>, Work, f64) {
    let (mut times, mut work, mut out) = (Vec::new(), Work::default(), Vec::new());
    let (mut found, mut wanted) = (0, 0);
    let k = Tuning::MEASURED.chunk_candidates;
    let scanned = Effort { ef: 0, scan_chunks_max: u32::MAX };
    for (_, vector) in queries {
        let compared = snapshot.vectors.nearest_into(&vector.0, within, k, Effort::default(), &mut out);
        work = Work { scanned: work.scanned + compared.scanned, visited: work.visited + compared.visited };
        for _ in 0..ROUNDS {
            let began = Instant::now();
            snapshot.vectors.nearest_into(&vector.0, within, k, Effort::default(), &mut out);
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
        let exact = snapshot.vectors.nearest_within(&vector.0, within, RECALL_AT, scanned);
        found += exact.iter().filter(|near| out.contains(near)).count();
        wanted += exact.len();
    }
    times.sort_unstable_by(f64::total_cmp);
    (times, work, found as f64 / wanted.max(1) as f64)
}

/// Times in microseconds of whole searches without snippets, in ascending order.
fn searches(engine: &Engine, nodes: &OrdinalRanges, queries: &[QueryWithVector]) -> Vec<f64> {
    let filter = Filter { ranges: Some(nodes.clone()), ..Filter::default() };
    let mut times = Vec::new();
    for (text, _) in queries {
        let request = SearchRequest { mode: Mode::Hybrid, filter: &filter, ..SearchRequest::new(text) };
        for round in 0..=ROUNDS {
            let began = Instant::now();
            engine.search(&request).unwrap_or_else(|error| panic!("'{text}': {error}"));
            if round > 0 {
                times.push(began.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    times
}
