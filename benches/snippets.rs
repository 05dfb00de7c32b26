//! Measures the cost of showing a page: hydration and snippets of 20 hits, per mode, with the judged queries.
//!
//! `cargo bench --bench snippets -- SNAPSHOT`. Results for the whole US Code are in `benches/README.md`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{Engine, Mode, SearchRequest, Stage, StageMicros};

const QUERY_FILES: [&str; 4] = ["citations", "phrases", "questions", "topics"];

/// How often each query runs. The last run counts, because by then all data it needs is in memory.
const ROUNDS: usize = 5;

fn main() {
    let Some(dir) = std::env::args().skip(1).find(|argument| argument != "--bench").map(PathBuf::from) else {
        println!("nothing to measure: pass a snapshot");
        return;
    };
    let engine = Engine::new(Arc::new(Snapshot::open(&dir).expect("the snapshot opens"))).expect("it can be searched");
    let queries = queries();
    println!("{} queries, 20 hits each, microseconds a page: median, p99, most", queries.len());
    for mode in Mode::ALL {
        let (mut searching, mut hydrating, mut snipping) = (Vec::new(), Vec::new(), Vec::new());
        for query in &queries {
            let mut stages = StageMicros::default();
            for _ in 0..ROUNDS {
                let request = SearchRequest { mode, ..SearchRequest::new(query) };
                let mut response = engine.search(&request).expect("it answers");
                std::hint::black_box(engine.show(&mut response).expect("it shows"));
                stages = response.stages;
            }
            hydrating.push(stages[Stage::Hydrate]);
            snipping.push(stages[Stage::Snippet]);
            let is_shown = |stage: &Stage| matches!(stage, Stage::Hydrate | Stage::Snippet);
            searching.push(Stage::ALL.into_iter().filter(|stage| !is_shown(stage)).map(|stage| stages[stage]).sum());
        }
        let name = mode.name();
        println!(
            "{name}: search {}, hydrate {}, snippet {}",
            reported(searching),
            reported(hydrating),
            reported(snipping)
        );
    }
}

fn queries() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
    let mut queries = Vec::new();
    for name in QUERY_FILES {
        let text = std::fs::read_to_string(folder.join(name).with_extension("jsonl")).expect("the queries are there");
        for line in text.lines() {
            let judged: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
            queries.push(judged["query"].as_str().expect("a query is a text").to_owned());
        }
    }
    queries
}

fn reported(mut figures: Vec<u32>) -> String {
    figures.sort_unstable();
    let at = |share: f64| figures[((figures.len() - 1) as f64 * share) as usize];
    format!("{} / {} / {}", at(0.5), at(0.99), at(1.0))
}
