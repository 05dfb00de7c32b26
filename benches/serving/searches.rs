//! Searching: latency at rest, capacity, latency below capacity, and throughput and refusals at twice capacity.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hornbook::bench::load::{Arrivals, Load, Pace};
use hornbook::bench::queries::{BenchQuery, read};
use hornbook::bench::result::Round;
use hornbook::bench::url::{Url, search_paths};
use hornbook::bench::{BenchError, BenchTarget, BoxFuture, Sample, SampleResult, Worker};
use hornbook::tls_client::Trust;
use hornbook_search::Mode;

use crate::server::{BenchData, ServerProcess};
use crate::{ROUNDS, round, row, spread};

const PAGE: u32 = 20;
const WARM_UP: Duration = Duration::from_millis(700);
const DURATION: Duration = Duration::from_secs(4);

/// Enough that the server is always busy, with a short queue.
const CLOSED_WORKERS: usize = 8;

/// More than the searches in progress at any time below capacity.
const OPEN_WORKERS: usize = 64;

/// At twice capacity: as many as the server lets wait for 250 ms.
const OVERLOAD_WORKERS: usize = 400;

const JUDGED: [&str; 4] = ["questions", "topics", "citations", "phrases"];

/// The name of the extra stage that is the sum of all stages.
const SERVER: &str = "server";

pub(crate) fn measure(data: &BenchData<'_>) {
    for mode in ["window", "strict"] {
        let (server, ready) = data.serve(&[&format!("ledger.durability={mode}")]);
        println!("{mode}: ready after {:.0} ms", ready.as_secs_f64() * 1e3);
        let mut rounds = Rounds::default();
        for _ in 0..ROUNDS {
            rounds.take(data, &server, mode == "window");
        }
        rounds.tell(mode);
    }
}

#[derive(Default)]
struct Rounds {
    rest: Vec<f64>,
    capacity: Vec<f64>,
    cpu: Vec<f64>,
    median: Vec<f64>,
    p99: Vec<f64>,
    within_1_ms: Vec<f64>,
    within_4_ms: Vec<f64>,
    seen_median: Vec<f64>,
    seen_p99: Vec<f64>,
    seen_p99_times: Vec<f64>,
    even_p99: Vec<f64>,
    even_p99_times: Vec<f64>,
    refused_below: Vec<f64>,
    over: Overload,
}

#[derive(Default)]
struct Overload {
    of_peak: Vec<f64>,
    p99: Vec<f64>,
    times: Vec<f64>,
    refused: Vec<f64>,
    refusal_median: Vec<f64>,
    refusal_p99: Vec<f64>,
}

impl Rounds {
    fn take(&mut self, data: &BenchData<'_>, server: &ServerProcess, with_overload: bool) {
        let target = MeasuredTarget::new(server, &data.key);
        let closed = Load { pace: Pace::Closed, workers: CLOSED_WORKERS, warm_up: WARM_UP, duration: DURATION };
        let rest = round(&target, &Load { workers: 1, ..closed }).latency.at(50.0);
        self.rest.push(rest);
        let cpu = server.cpu();
        let peak = round(&target, &closed).throughput;
        self.cpu.push((server.cpu() - cpu) * 1e6 / (peak * (WARM_UP + DURATION).as_secs_f64()));
        self.capacity.push(peak);

        let open = |part: f64, arrivals: Arrivals, workers: usize| Load {
            pace: Pace::Open { per_second: part * peak, arrivals },
            workers,
            ..closed
        };
        let before = data.within("search", BOUNDS);
        let below = round(&target, &open(0.7, Arrivals::Poisson, OPEN_WORKERS));
        let [within_1_ms, within_4_ms] = data.within("search", BOUNDS).since(&before);
        let took = |percent: f64| server_side(&below, percent);
        self.median.push(took(50.0));
        self.p99.push(took(99.0));
        self.within_1_ms.push(within_1_ms);
        self.within_4_ms.push(within_4_ms);
        self.seen_median.push(below.latency.at(50.0));
        self.seen_p99.push(below.latency.at(99.0));
        self.seen_p99_times.push(below.latency.at(99.0) / rest);
        self.refused_below.push(100.0 * below.refused as f64 / (below.refused + below.answered) as f64);
        let even = round(&target, &open(0.7, Arrivals::Even, OPEN_WORKERS)).latency.at(99.0);
        self.even_p99.push(even);
        self.even_p99_times.push(even / rest);

        if with_overload {
            target.refusals();
            let over = round(&target, &open(2.0, Arrivals::Poisson, OVERLOAD_WORKERS));
            let refusals = target.refusals();
            let of = &mut self.over;
            of.of_peak.push(100.0 * over.throughput / peak);
            of.p99.push(server_side(&over, 99.0));
            of.times.push(server_side(&over, 99.0) / took(99.0));
            of.refused.push(100.0 * over.refused as f64 / (over.refused + over.answered) as f64);
            if let Some(last) = refusals.len().checked_sub(1) {
                of.refusal_median.push(refusals[last / 2]);
                of.refusal_p99.push(refusals[last * 99 / 100]);
            }
        }
    }

    fn tell(self, mode: &str) {
        let row = |what: &str, unit: &str, values: Vec<f64>| {
            if !values.is_empty() {
                row(&format!("{mode}: {what}"), unit, spread(values));
            }
        };
        row("at rest: as a client sees it, median", "us", self.rest);
        row("capacity", "searches a second", self.capacity);
        row("processor time of the server for a search", "us", self.cpu);
        row("at 70 %: sum of stages, median", "us", self.median);
        row("at 70 %: sum of stages, p99", "us", self.p99);
        row("at 70 %: answered within 1 ms of the head's arrival", "%", self.within_1_ms);
        row("at 70 %: answered within 4 ms of the head's arrival", "%", self.within_4_ms);
        row("at 70 %: as clients see it, median", "us", self.seen_median);
        row("at 70 %: as clients see it, p99", "us", self.seen_p99);
        row("at 70 %: client p99 relative to the median at rest", "times", self.seen_p99_times);
        row("at 70 %, evenly spaced: as clients see it, p99", "us", self.even_p99);
        row("at 70 %, evenly spaced: client p99 relative to the median at rest", "times", self.even_p99_times);
        row("at 70 %: refused", "%", self.refused_below);
        let over = self.over;
        row("at 200 %: answered, relative to capacity", "%", over.of_peak);
        row("at 200 %: sum of stages, p99", "us", over.p99);
        row("at 200 %: p99 of stages relative to 70 %", "times", over.times);
        row("at 200 %: refused", "%", over.refused);
        row("at 200 %: a refusal as clients see it, median", "us", over.refusal_median);
        row("at 200 %: a refusal as clients see it, p99", "us", over.refusal_p99);
    }
}

/// Bucket bounds of the server's own histogram, in seconds.
const BOUNDS: [&str; 2] = ["0.001", "0.004"];

fn server_side(round: &Round, percent: f64) -> f64 {
    let stage = round.stages.iter().find(|stage| stage.name == SERVER);
    stage.map_or(0.0, |stage| stage.took.at(percent))
}

/// A server as a load target. Sums the stages of each answer, and records the time from request to refusal.
struct MeasuredTarget {
    server: Url,
    refusals: Mutex<Vec<f64>>,
}

impl MeasuredTarget {
    fn new(server: &ServerProcess, key: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
        let file = |kind: &str| read(&folder.join(format!("{kind}.jsonl"))).unwrap_or_else(|error| panic!("{error}"));
        // Without a jurisdiction filter, so that any snapshot accepts all of them.
        let queries =
            JUDGED.into_iter().flat_map(file).map(|query| BenchQuery { jurisdiction: None, mode: None, ..query });
        let paths = search_paths(&queries.collect::<Vec<_>>(), Mode::Hybrid, PAGE);
        let server = Url::new(&server.base(), &Trust::System, Some(key.to_owned()), paths)
            .unwrap_or_else(|error| panic!("{error}"));
        Self { server, refusals: Mutex::default() }
    }

    /// Microseconds of each refusal since the last call, shortest first.
    fn refusals(&self) -> Vec<f64> {
        let mut taken = std::mem::take(&mut *self.refusals.lock().unwrap_or_else(PoisonError::into_inner));
        taken.sort_by(f64::total_cmp);
        taken
    }
}

impl BenchTarget for MeasuredTarget {
    fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>> {
        Box::pin(async {
            Ok(Box::new(MeasuredWorker { worker: self.server.worker().await?, watched: self }) as Box<dyn Worker>)
        })
    }

    fn threads(&self, workers: usize) -> usize {
        self.server.threads(workers)
    }
}

struct MeasuredWorker<'w> {
    worker: Box<dyn Worker + 'w>,
    watched: &'w MeasuredTarget,
}

impl Worker for MeasuredWorker<'_> {
    fn send(&mut self, index: usize) -> BoxFuture<'_, Sample> {
        Box::pin(self.ask(index))
    }
}

impl MeasuredWorker<'_> {
    async fn ask(&mut self, index: usize) -> Sample {
        let began = Instant::now();
        let mut sample = self.worker.send(index).await;
        match sample.result {
            SampleResult::Answered => {
                let all = sample.stages.iter().map(|(_, took)| *took).sum();
                sample.stages.push((Cow::Borrowed(SERVER), all));
            }
            SampleResult::Refused => {
                let mut refusals = self.watched.refusals.lock().unwrap_or_else(PoisonError::into_inner);
                refusals.push(began.elapsed().as_secs_f64() * 1e6);
            }
            SampleResult::Failed(_) => {}
        }
        sample
    }
}
