//! Counters and histograms of the service, in the text format of Prometheus.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Upper bounds of histogram buckets, in microseconds.
const BOUNDS: [u64; 15] =
    [50, 100, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 125_000, 250_000, 1_000_000, 10_000_000];

/// All metrics that are counted as events happen.
#[derive(Default)]
pub struct Metrics {
    /// Responses by operation and status.
    requests: MetricFamily<(&'static str, u16), AtomicU64>,
    latencies: MetricFamily<&'static str, Histogram>,
    stages: MetricFamily<&'static str, Histogram>,
    /// Error responses by code.
    errors: MetricFamily<&'static str, AtomicU64>,
    connections_refused: MetricFamily<&'static str, AtomicU64>,
    reloads: MetricFamily<&'static str, AtomicU64>,
    /// Compressed responses by content coding.
    compressions: MetricFamily<&'static str, AtomicU64>,
    pub connections: Gauge,
    /// Open connections without a request in progress.
    pub connections_waiting: Gauge,
    pub connections_accepted: AtomicU64,
    pub requests_in_progress: Gauge,
    /// Requests whose client disconnected before the response.
    pub requests_abandoned: AtomicU64,
    recent_failures: Mutex<VecDeque<FailedRequest>>,
    usage_backlog: Mutex<Option<UsageBacklog>>,
}

/// The reports of usage that a biller outside has not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsageBacklog {
    pub waiting: u64,
    /// When the hour of the oldest one ended, in milliseconds.
    pub oldest_ended_at: Option<i64>,
}

/// A request answered with status 500 or higher, for the operator's page.
#[derive(Clone, Debug)]
pub struct FailedRequest {
    pub at_millis: i64,
    pub request: String,
    pub operation: &'static str,
    pub status: u16,
    pub code: Option<&'static str>,
    pub why: Option<String>,
}

/// The number of recent failures that are kept.
const FAILURES_KEPT: usize = 50;

/// Durations counted by upper bounds in microseconds. The last count is for durations above all bounds.
#[derive(Clone, Debug)]
pub struct DurationHistogram {
    pub name: &'static str,
    pub bounds: &'static [u64],
    pub counts: Vec<u64>,
    pub sum_micros: u64,
}

impl DurationHistogram {
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// A number that goes up and down.
#[derive(Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    pub fn add(&self, change: i64) {
        self.0.fetch_add(change, Ordering::Relaxed);
    }
}

impl Metrics {
    pub fn answered(&self, operation: &'static str, status: u16, micros: u64) {
        self.requests.of((operation, status), |count| count.fetch_add(1, Ordering::Relaxed));
        self.latencies.of(operation, |times| times.add(micros));
    }

    pub fn stage(&self, name: &'static str, micros: u64) {
        self.stages.of(name, |times| times.add(micros));
    }

    pub fn error(&self, code: &'static str) {
        self.errors.of(code, |count| count.fetch_add(1, Ordering::Relaxed));
    }

    pub fn connection_refused(&self, why: &'static str) {
        self.connections_refused.of(why, |count| count.fetch_add(1, Ordering::Relaxed));
    }

    pub fn reloaded(&self, result: &'static str) {
        self.reloads.of(result, |count| count.fetch_add(1, Ordering::Relaxed));
    }

    pub fn compressed(&self, coding: &'static str) {
        self.compressions.of(coding, |count| count.fetch_add(1, Ordering::Relaxed));
    }

    pub fn failed(&self, failed: FailedRequest) {
        let mut kept = self.recent_failures.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == FAILURES_KEPT {
            kept.pop_front();
        }
        kept.push_back(failed);
    }

    /// The newest is the last.
    pub fn recent_failures(&self) -> Vec<FailedRequest> {
        self.recent_failures.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub fn set_usage_backlog(&self, backlog: UsageBacklog) {
        *self.usage_backlog.lock().unwrap_or_else(PoisonError::into_inner) = Some(backlog);
    }

    /// None if usage is not reported.
    pub fn usage_backlog(&self) -> Option<UsageBacklog> {
        *self.usage_backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of responses by status.
    pub fn answers_by_status(&self) -> BTreeMap<u16, u64> {
        let mut counts = BTreeMap::new();
        for ((_, status), count) in self.requests.all() {
            *counts.entry(status).or_default() += count.load(Ordering::Relaxed);
        }
        counts
    }

    /// The number of error responses by code, the most frequent first.
    pub fn errors(&self) -> Vec<(&'static str, u64)> {
        most_frequent_first(&self.errors)
    }

    /// The number of connections that were closed without a response, by reason, the most frequent first.
    pub fn refused_connections(&self) -> Vec<(&'static str, u64)> {
        most_frequent_first(&self.connections_refused)
    }

    /// Response times by operation.
    pub fn latencies(&self) -> Vec<DurationHistogram> {
        times(&self.latencies)
    }

    /// Times by stage of a call.
    pub fn stages(&self) -> Vec<DurationHistogram> {
        times(&self.stages)
    }

    /// Renders everything counted, and the given current values.
    pub fn render(&self, of_the_moment: &[CurrentValue<'_>]) -> String {
        let mut page = MetricsText::default();
        page.begin("requests_total", "counter", "responses by operation and status");
        for ((operation, status), count) in self.requests.all() {
            let labels = format!("operation=\"{operation}\",status=\"{status}\"");
            page.line("requests_total", &labels, count.load(Ordering::Relaxed));
        }
        page.histograms("request_seconds", "response time by operation", "operation", &self.latencies);
        page.histograms("stage_seconds", "time of each stage of a call", "stage", &self.stages);
        page.counters("errors_total", "error responses by code", "code", &self.errors);
        let refused = &self.connections_refused;
        page.counters("connections_refused_total", "connections closed without a response", "why", refused);
        page.counters("reloads_total", "attempts to load a new snapshot", "result", &self.reloads);
        page.counters("compressions_total", "responses compressed", "coding", &self.compressions);
        let counted = [
            (
                "connections_total",
                "counter",
                "connections accepted",
                self.connections_accepted.load(Ordering::Relaxed) as i64,
            ),
            ("connections", "gauge", "open connections", self.connections.0.load(Ordering::Relaxed)),
            (
                "connections_waiting",
                "gauge",
                "open connections without a request in progress",
                self.connections_waiting.0.load(Ordering::Relaxed),
            ),
            (
                "requests_under_way",
                "gauge",
                "requests in progress",
                self.requests_in_progress.0.load(Ordering::Relaxed),
            ),
            (
                "requests_abandoned_total",
                "counter",
                "requests whose client disconnected before the response",
                self.requests_abandoned.load(Ordering::Relaxed) as i64,
            ),
        ];
        for (name, kind, meaning, value) in counted {
            page.begin(name, kind, meaning);
            page.line(name, "", value);
        }
        for CurrentValue { name, kind, meaning, labels, value } in of_the_moment {
            page.begin(name, kind, meaning);
            page.line(name, labels, value);
        }
        page.text
    }
}

/// A value that is read when the metrics are rendered.
pub struct CurrentValue<'m> {
    pub name: &'static str,
    pub kind: &'static str,
    pub meaning: &'static str,
    pub labels: &'m str,
    pub value: f64,
}

/// One metric for each label value, created when first used.
struct MetricFamily<L, M>(RwLock<BTreeMap<L, Arc<M>>>);

impl<L, M> Default for MetricFamily<L, M> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<L: Copy + Ord, M: Default> MetricFamily<L, M> {
    fn of<T>(&self, label: L, change: impl FnOnce(&M) -> T) -> T {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(metric) = known.get(&label) {
            return change(metric);
        }
        drop(known);
        change(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(label).or_default())
    }

    fn all(&self) -> Vec<(L, Arc<M>)> {
        let metrics = self.0.read().unwrap_or_else(PoisonError::into_inner);
        metrics.iter().map(|(label, metric)| (*label, Arc::clone(metric))).collect()
    }
}

#[derive(Default)]
struct Histogram {
    /// One bucket for each bound, and one for values above all bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_micros: AtomicU64,
}

impl Histogram {
    fn add(&self, micros: u64) {
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }
}

fn most_frequent_first(family: &MetricFamily<&'static str, AtomicU64>) -> Vec<(&'static str, u64)> {
    let counts = family.all().into_iter().map(|(label, count)| (label, count.load(Ordering::Relaxed)));
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|(label, count)| (std::cmp::Reverse(*count), *label));
    counts
}

fn times(family: &MetricFamily<&'static str, Histogram>) -> Vec<DurationHistogram> {
    let of = |(name, histogram): (&'static str, Arc<Histogram>)| DurationHistogram {
        name,
        bounds: &BOUNDS,
        counts: histogram.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect(),
        sum_micros: histogram.sum_micros.load(Ordering::Relaxed),
    };
    family.all().into_iter().map(of).collect()
}

#[derive(Default)]
struct MetricsText {
    text: String,
}

impl MetricsText {
    fn begin(&mut self, name: &str, kind: &str, meaning: &str) {
        let _ = writeln!(self.text, "# HELP hornbook_{name} {meaning}\n# TYPE hornbook_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        let (open, close) = if labels.is_empty() { ("", "") } else { ("{", "}") };
        let _ = writeln!(self.text, "hornbook_{name}{open}{labels}{close} {value}");
    }

    fn counters(&mut self, name: &str, meaning: &str, label: &str, family: &MetricFamily<&'static str, AtomicU64>) {
        self.begin(name, "counter", meaning);
        for (value, count) in family.all() {
            self.line(name, &format!("{label}=\"{value}\""), count.load(Ordering::Relaxed));
        }
    }

    fn histograms(&mut self, name: &str, meaning: &str, label: &str, family: &MetricFamily<&'static str, Histogram>) {
        self.begin(name, "histogram", meaning);
        for (value, histogram) in family.all() {
            let mut so_far = 0;
            for (place, bucket) in histogram.buckets.iter().enumerate() {
                so_far += bucket.load(Ordering::Relaxed);
                let bound = BOUNDS.get(place).map_or("+Inf".to_owned(), |bound| seconds(*bound).to_string());
                self.line(&format!("{name}_bucket"), &format!("{label}=\"{value}\",le=\"{bound}\""), so_far);
            }
            let sum = seconds(histogram.sum_micros.load(Ordering::Relaxed));
            self.line(&format!("{name}_sum"), &format!("{label}=\"{value}\""), sum);
            self.line(&format!("{name}_count"), &format!("{label}=\"{value}\""), so_far);
        }
    }
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_what_is_at_or_below_each_bound() {
        let metrics = Metrics::default();
        for micros in [50, 51, 999, 1_000, 20_000_000] {
            metrics.answered("search", 200, micros);
        }
        let page = metrics.render(&[]);
        for line in [
            "hornbook_requests_total{operation=\"search\",status=\"200\"} 5",
            "hornbook_request_seconds_bucket{operation=\"search\",le=\"0.00005\"} 1",
            "hornbook_request_seconds_bucket{operation=\"search\",le=\"0.0001\"} 2",
            "hornbook_request_seconds_bucket{operation=\"search\",le=\"0.001\"} 4",
            "hornbook_request_seconds_bucket{operation=\"search\",le=\"10\"} 4",
            "hornbook_request_seconds_bucket{operation=\"search\",le=\"+Inf\"} 5",
            "hornbook_request_seconds_sum{operation=\"search\"} 20.0021",
            "hornbook_request_seconds_count{operation=\"search\"} 5",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
        }
    }

    #[test]
    fn every_line_is_a_comment_or_a_number_with_a_name() {
        let metrics = Metrics::default();
        metrics.answered("search", 200, 1);
        metrics.stage("commit", 1);
        metrics.error("overloaded");
        metrics.connections.add(-1);
        let moment = CurrentValue { name: "ledger_up", kind: "gauge", meaning: "1", labels: "", value: 1.0 };
        for line in metrics.render(&[moment]).lines().filter(|line| !line.starts_with("# ")) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("hornbook_") && value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
