//! Trains the query table, `corpus/model/law-static-256-queries.safetensors`. `make model` runs it.
//!
//! Vectors of passages do not change. The rows whose sum is the vector of a query are trained: one
//! matrix transforms all rows, and the rows of tokens in the training queries also move
//! individually. Training moves a query towards the provisions that answer it and away from the
//! wrong ones near it. Headings and extracts of provisions are training queries too, so that they
//! still find their provision. The same snapshots and queries give the same bytes on the same kind
//! of machine.

mod safetensors;
mod table;
mod training_example;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Parser;
use hornbook::evaluate::{self, Split};
use hornbook_base::random::SplitMix64;
use hornbook_corpus::snapshot::Snapshot;

use table::{Optimiser, Table};
use training_example::{Corpus, Gradient, TrainingExample};

/// Training queries per batch. The table is updated after each batch.
const BATCH: usize = 64;

/// Headings and extracts that are added to each batch.
const HEADINGS: usize = 14;
const EXTRACTS: usize = 10;

/// Train the query table
#[derive(Parser)]
struct Arguments {
    /// Folder of a snapshot; each gets the queries that the snapshots before it cannot answer
    #[arg(long = "snapshot", value_name = "FOLDER", required = true)]
    snapshots: Vec<PathBuf>,

    /// File with starts of citations, one a line; the matching provisions are not used for training
    #[arg(long, value_name = "FILE")]
    without: Option<PathBuf>,

    /// File to write the table to
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Number of passes over all queries
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    epochs: usize,

    /// Files of judged queries; those of the split 'train' are used
    #[arg(value_name = "JUDGED.jsonl", required = true)]
    judged: Vec<PathBuf>,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match train(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train-queries: {error}");
            ExitCode::FAILURE
        }
    }
}

fn train(arguments: &Arguments) -> Result<(), Failure> {
    let without = match &arguments.without {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => String::new(),
    };
    let mut queries = Vec::new();
    for path in &arguments.judged {
        queries.extend(evaluate::read(path)?.into_iter().filter(|query| query.split == Split::Train));
    }
    let mut corpora = Vec::new();
    let mut lessons = Vec::new();
    for folder in &arguments.snapshots {
        let corpus = Corpus::open(Arc::new(Snapshot::open(folder)?), &without)?;
        let (ready, left_out) = evaluate::prepare(&corpus.snapshot, &queries)?;
        println!(
            "{}: {} queries, {} left out because their law is not in the snapshot",
            folder.display(),
            ready.len(),
            left_out.queries.len()
        );
        queries.retain(|query| left_out.queries.contains(&query.id));
        lessons.extend(ready.iter().map(|query| (corpora.len(), TrainingExample::of_query(&corpus, query))));
        corpora.push(corpus);
    }
    lessons.retain(|(_, lesson)| lesson.is_answerable());
    let table = fit(&corpora, &lessons, arguments.epochs);
    let bytes = safetensors::bytes(&table.rows());
    std::fs::write(&arguments.out, &bytes).map_err(|error| format!("{}: {error}", arguments.out.display()))?;
    println!("wrote {} bytes to {}", bytes.len(), arguments.out.display());
    Ok(())
}

fn fit(corpora: &[Corpus], lessons: &[(usize, TrainingExample)], epochs: usize) -> Table {
    let mut random = SplitMix64(1);
    let mut table = Table::of_passages();
    let mut update = Optimiser::default();
    let batches = lessons.len().div_ceil(BATCH);
    let total = (batches * epochs) as f32;
    let begun = Instant::now();
    let mut step = 0.0_f32;
    for epoch in 1..=epochs {
        let mut order: Vec<usize> = (0..lessons.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, random.index(last + 1));
        }
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            let mut learned: Vec<(usize, TrainingExample)> = batch
                .iter()
                .map(|&place| (lessons[place].0, lessons[place].1.with_word_dropout(&mut random)))
                .collect();
            // From the first snapshot, which is the largest.
            learned.extend((0..HEADINGS).map(|_| (0, corpora[0].heading(&mut random))));
            learned.extend((0..EXTRACTS).map(|_| (0, corpora[0].extract(&mut random))));
            let gradients = gradients(corpora, &learned, &table);
            loss += gradients[..batch.len()].iter().map(|gradient| gradient.loss).sum::<f32>();
            let pace = ((step + 1.0) / 20.0).min(1.0) * (1.0 - step / total) + 0.02;
            update.learn(&mut table, &gradients, pace);
            step += 1.0;
        }
        let (mean, elapsed) = (loss / lessons.len() as f32, begun.elapsed().as_secs());
        println!("epoch {epoch} of {epochs}: mean loss {mean:.3}, after {elapsed} s");
    }
    table
}

/// The gradients of the training examples, in their order, independent of the threads.
fn gradients(corpora: &[Corpus], lessons: &[(usize, TrainingExample)], table: &Table) -> Vec<Gradient> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((corpus, lesson)) = lessons.get(place) else { break done };
            done.push((place, lesson.gradient(&corpora[*corpus], table)));
        }
    };
    let done: BTreeMap<usize, Gradient> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });
    done.into_values().collect()
}
