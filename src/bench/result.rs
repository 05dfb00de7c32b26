//! A result of a benchmark: its target, its load and the figures of each round. Results are stored and
//! compared. Times are in microseconds.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::load::{Arrivals, Load, Pace, round};
use super::record::Record;
use super::{BenchError, BenchTarget};

/// The format version of stored results that this program reads and writes.
const FORMAT: u32 = 1;

/// The percentiles that every distribution has.
pub const PERCENTS: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// The ratio between the bounds of two neighbouring buckets.
const BUCKET_RATIO: f64 = 1.05;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchResult {
    pub format: u32,
    /// The version of the program that measured.
    pub hornbook: String,
    pub at: String,
    pub cores: usize,
    pub target: TargetDescription,
    pub load: LoadDescription,
    pub rounds: Vec<Round>,
    /// All rounds together.
    pub total: Round,
}

/// The target and its queries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetDescription {
    /// A folder or a URL.
    pub name: String,
    pub is_url: bool,
    pub snapshot: Option<String>,
    pub queries: usize,
    /// A hash of the list of queries, the mode and the page size.
    pub queries_hash: String,
    pub mode: String,
    pub limit: u32,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadDescription {
    /// Requests due per second; null in a closed loop.
    pub per_second: Option<f64>,
    /// `poisson` or `even`; null in a closed loop.
    pub arrivals: Option<String>,
    pub workers: usize,
    pub warm_up_seconds: f64,
    pub round_seconds: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    pub seconds: f64,
    pub answered: u64,
    /// Requests refused with status 503.
    pub refused: u64,
    /// Requests that were due, but had no free worker before the end of the round.
    pub unsent: u64,
    /// Requests with another status or a broken connection, counted by reason.
    pub failed: BTreeMap<String, u64>,
    /// Responses per second.
    pub throughput: f64,
    /// From when a request was due until its response; for unsent requests, until the end of the round.
    pub latency: Distribution,
    /// From when a request was sent until its response.
    pub service: Distribution,
    /// The latency of refused requests.
    pub refused_latency: Distribution,
    pub stages: Vec<StageLatency>,
    /// Answered and refused requests per second, for each tick of the rounds.
    pub timeline: Vec<(f64, f64)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StageLatency {
    pub name: String,
    pub took: Distribution,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    pub count: u64,
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    /// A percentage, and the value that this percentage of the samples does not exceed.
    pub percentiles: Vec<(f64, f64)>,
    /// The upper bound of each bucket, and its count.
    pub buckets: Vec<(f64, u64)>,
}

impl Distribution {
    fn of(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let lowest = histogram.min().max(1);
        let buckets = histogram.iter_log(lowest, BUCKET_RATIO).filter(|bucket| bucket.count_since_last_iteration() > 0);
        Self {
            count: histogram.len(),
            mean: micros(histogram.mean()),
            min: micros(histogram.min() as f64),
            max: micros(histogram.max() as f64),
            percentiles: PERCENTS
                .map(|percent| (percent, micros(histogram.value_at_percentile(percent) as f64)))
                .into(),
            buckets: buckets
                .map(|bucket| (micros(bucket.value_iterated_to() as f64), bucket.count_since_last_iteration()))
                .collect(),
        }
    }

    /// The value that this percentage of the samples does not exceed. The percentage must be one of
    /// [`PERCENTS`].
    pub fn at(&self, percent: f64) -> f64 {
        self.percentiles.iter().find(|(known, _)| *known == percent).map_or(0.0, |(_, value)| *value)
    }
}

/// Rounds to a hundredth of a microsecond; clocks are not more exact.
fn micros(nanos: f64) -> f64 {
    (nanos / 10.0).round() / 100.0
}

impl Round {
    pub(super) fn of(record: &Record, load: &Load) -> Self {
        Self::over(record, load.duration.as_secs_f64())
    }

    fn over(record: &Record, seconds: f64) -> Self {
        let rounds = seconds / (record.tick.as_secs_f64() * record.timeline.len() as f64);
        let tick = record.tick.as_secs_f64() * rounds;
        let ended: u64 = record.timeline.iter().map(|(answered, _)| answered).sum();
        Self {
            seconds,
            answered: record.latency.len() - record.unsent,
            refused: record.refused.len(),
            unsent: record.unsent,
            failed: record.failed.iter().map(|(why, count)| (why.to_string(), *count)).collect(),
            throughput: ended as f64 / seconds,
            latency: Distribution::of(&record.latency),
            service: Distribution::of(&record.service),
            refused_latency: Distribution::of(&record.refused),
            stages: record
                .stages
                .iter()
                .map(|(name, histogram)| StageLatency { name: name.clone(), took: Distribution::of(histogram) })
                .collect(),
            timeline: record
                .timeline
                .iter()
                .map(|(answered, refused)| (*answered as f64 / tick, *refused as f64 / tick))
                .collect(),
        }
    }

    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Whether more requests were unsent than a burst at the end of a round explains.
    pub fn fell_behind(&self) -> bool {
        self.unsent * 100 > self.answered
    }
}

/// Measures this number of rounds and calls `each` at the end of each round. Fails if most requests of
/// a round failed.
pub fn measure(
    target: &dyn BenchTarget,
    description: TargetDescription,
    load: &Load,
    rounds: usize,
    at: String,
    each: &mut dyn FnMut(&Round),
) -> Result<BenchResult, BenchError> {
    let mut all = Record::new(load.duration);
    let mut measured = Vec::new();
    for number in 0..rounds {
        // Each round has its own arrival times, which are the same in every run.
        let record = round(target, load, number as u64)?;
        let figures = Round::of(&record, load);
        each(&figures);
        check_answers(target, &figures, number + 1)?;
        measured.push(figures);
        all.merge_record(record);
    }
    let seconds = load.duration.as_secs_f64() * rounds as f64;
    Ok(BenchResult {
        format: FORMAT,
        hornbook: env!("CARGO_PKG_VERSION").to_owned(),
        at,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        target: description,
        load: LoadDescription::of(load),
        rounds: measured,
        total: Round::over(&all, seconds),
    })
}

/// If most requests failed, the latencies of the few that were answered mean nothing. Refusals because
/// of overload are a valid result, as long as some requests were answered.
fn check_answers(target: &dyn BenchTarget, round: &Round, number: usize) -> Result<(), BenchError> {
    let failed = round.failures();
    let unanswered = failed + round.refused;
    if failed <= round.answered && (round.answered > 0 || unanswered == 0) {
        return Ok(());
    }
    let refused = (round.refused > 0).then(|| ("503".to_owned(), round.refused));
    let mut reasons: Vec<(String, u64)> = round.failed.clone().into_iter().chain(refused).collect();
    reasons.sort_by_key(|(_, count)| Reverse(*count));
    let counts: Vec<String> = reasons.iter().map(|(why, count)| format!("{count} x {why}")).collect();
    let all = unanswered + round.answered;
    let mut message = format!(
        "stopped after round {number}: {unanswered} of {all} requests got no successful response ({})",
        counts.join(", ")
    );
    if let Some((why, _)) = reasons.first() {
        if let Some(explanation) = target.failure_message(why) {
            message += &format!("; the server says: {explanation}");
        }
        if let Some(advice) = advice(why) {
            message += &format!("; {advice}");
        }
    }
    Err(BenchError(message))
}

fn advice(failure: &str) -> Option<&'static str> {
    match failure {
        "401" | "403" => Some("pass an API key with permission for these calls in --key or HORNBOOK_KEY"),
        "402" => Some("add credits to the account first: hornbook grant ACCOUNT 1000000 --reason bench"),
        "429" => Some(
            "lower --rate, or start your server with higher limits: hornbook serve --set free.per_minute=1000000 --set \
             free.per_day=1000000000 --set free.monthly_units=1000000000",
        ),
        _ => None,
    }
}

impl LoadDescription {
    fn of(load: &Load) -> Self {
        let (per_second, arrivals) = match load.pace {
            Pace::Closed => (None, None),
            Pace::Open { per_second, arrivals: Arrivals::Poisson } => (Some(per_second), Some("poisson")),
            Pace::Open { per_second, arrivals: Arrivals::Even } => (Some(per_second), Some("even")),
        };
        Self {
            per_second,
            arrivals: arrivals.map(str::to_owned),
            workers: load.workers,
            warm_up_seconds: load.warm_up.as_secs_f64(),
            round_seconds: load.duration.as_secs_f64(),
        }
    }

    /// Describes the load in words.
    pub fn describe_load(&self) -> String {
        let Self { workers, round_seconds, warm_up_seconds, .. } = self;
        let load = match (self.per_second, self.arrivals.as_deref()) {
            (Some(rate), Some(arrivals)) => format!("{rate} requests per second ({arrivals}), {workers} workers"),
            _ => format!("closed loop, {workers} workers"),
        };
        format!("{load}, rounds of {round_seconds} s after a warm-up of {warm_up_seconds} s")
    }
}

impl BenchResult {
    /// Reads a stored result.
    pub fn read(path: &Path) -> Result<Self, BenchError> {
        let unable =
            |why: String| BenchError(format!("{} is not a result of 'hornbook bench --save': {why}", path.display()));
        let text = std::fs::read(path).map_err(|error| unable(error.to_string()))?;
        let result: Self = serde_json::from_slice(&text).map_err(|error| unable(error.to_string()))?;
        match result.format {
            FORMAT => Ok(result),
            other => Err(unable(format!(
                "it has format {other}, but this version of hornbook reads format {FORMAT}; measure again"
            ))),
        }
    }
}
