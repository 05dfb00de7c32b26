//! `hornbook bench`: response times under a load that does not wait for responses.
//!
//! `queries` has the queries; `process` and `url` are the two kinds of target, a snapshot in this process and a server;
//! `load` decides when requests are due and sends them, woken by `alarm`; `record` collects the samples in histograms;
//! `result` is a stored result; `compare` tests whether two results differ; `plot` and `report` draw them.
//!
//! In an open loop every request has a time at which it is due, whether or not earlier ones were answered, and its latency
//! counts from then. So a target that stalls is charged for the requests that arrive while it stalls.

mod alarm;
pub mod compare;
pub mod load;
mod plot;
pub mod process;
pub mod queries;
mod record;
pub mod report;
pub mod result;
pub mod url;

pub use plot::time as format_time;

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

/// What is there later.
pub type Later<'l, T> = Pin<Box<dyn Future<Output = T> + 'l>>;

/// What is measured.
pub trait Target: Sync {
    /// Made on the thread that uses it, before the clock starts.
    fn worker(&self) -> Later<'_, Result<Box<dyn Worker + '_>, BenchError>>;

    /// On how many threads so many workers are. Those whose requests need the processor have one each; those that wait
    /// for a server share one, so that the load takes little of the machine that it shares with the server.
    fn threads(&self, workers: usize) -> usize {
        workers
    }

    /// Why requests fail in this way, if the target said so.
    fn explanation(&self, _failure: &str) -> Option<String> {
        None
    }
}

/// One client of the target, which sends one request at a time.
pub trait Worker {
    /// Sends the query at this index of the list, which repeats.
    fn send(&mut self, index: usize) -> Later<'_, Sample>;
}

/// One request that was measured.
pub struct Sample {
    pub result: SampleResult,
    /// How long the target says its stages took.
    pub stages: Vec<(Cow<'static, str>, Duration)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SampleResult {
    Answered,
    /// Overloaded: 503.
    Refused,
    /// Any other status, or why there is none.
    Failed(Cow<'static, str>),
}

impl From<SampleResult> for Sample {
    fn from(result: SampleResult) -> Self {
        Self { result, stages: Vec::new() }
    }
}

/// Why nothing was measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BenchError(pub String);

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BenchError {}
