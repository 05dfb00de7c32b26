//! Times the embedder and the chunker on text read from standard input, on one core:
//! `cargo run --release -p hornbook-corpus --example embed-speed < some-law.txt`.

use std::hint::black_box;
use std::io::Read;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hornbook_corpus::chunks::Chunker;
use hornbook_corpus::embed::{Vector, embedder};

const QUERIES: [&str; 4] = [
    "return of security deposit",
    "how long does a landlord have to give back the deposit",
    "42 U.S.C. 1983",
    "penalty for driving without a license",
];

fn main() -> ExitCode {
    let start = Instant::now();
    let checked = embedder().self_check();
    println!("start with self-check: {:?} ({checked:?})", start.elapsed());
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        eprintln!("cannot read text from standard input: {error}");
        return ExitCode::FAILURE;
    }
    time_tokens(&text);
    time_chunks(&text);
    time_queries();
    ExitCode::SUCCESS
}

fn time_tokens(text: &str) {
    let mut tokens = Vec::new();
    let spent = fastest(5, || {
        tokens.clear();
        embedder().tokenize(text, &mut tokens);
    });
    let (seconds, count) = (spent.as_secs_f64(), tokens.len() as f64);
    println!("tokenize: {:.2} million tokens/s, {:.0} MB/s", count / seconds / 1e6, text.len() as f64 / seconds / 1e6);
}

fn time_chunks(text: &str) {
    let mut chunker = Chunker::new();
    let context = embedder().embed("Landlord and tenant. Property.");
    let (mut count, mut token_count) = (0, 0);
    let mut last = Vector::ZERO;
    let spent = fastest(5, || {
        let chunks = chunker.chunk(text);
        (count, token_count) = (chunks.len(), chunks.tokens().len());
        for chunk in chunks.iter() {
            last = embedder().passage_vector(chunk.tokens, &context);
        }
    });
    black_box(last);
    let rate = count as f64 / spent.as_secs_f64();
    println!("cut and embed: {rate:.0} chunks/s of {:.0} tokens", token_count as f64 / f64::from(count.max(1) as u32));
}

fn time_queries() {
    const ROUNDS: u32 = 20_000;
    for query in QUERIES {
        let spent = fastest(5, || {
            for _ in 0..ROUNDS {
                black_box(embedder().embed(black_box(query)));
            }
        });
        println!("'{query}': {:.2} us", spent.as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
}

fn fastest(runs: u32, mut work: impl FnMut()) -> Duration {
    let timed = (0..runs).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    timed.min().unwrap_or_default()
}
