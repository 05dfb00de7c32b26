//! `hornbook bench`: measures response times under a load that does not wait for responses.
//!
//! `queries` has the queries. `process` and `url` are the two kinds of target: a snapshot in this
//! process, and a server. `load` decides when requests are due and sends them; `alarm` is its timer.
//! `record` collects the samples in histograms. `result` is a stored result. `compare` tests whether
//! two results differ. `plot` and `report` draw results.
//!
//! In an open loop, every request has a time at which it is due, whether or not earlier ones have been
//! answered. Its latency is counted from that time. So a target that stalls is charged for the requests
//! that arrive during the stall.

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
use std::pin::Pin;
use std::time::Duration;

/// A boxed future.
pub type BoxFuture<'l, T> = Pin<Box<dyn Future<Output = T> + 'l>>;

/// The system that is measured.
pub trait BenchTarget: Sync {
    /// Opens a worker, on the thread that uses it and before the clock starts.
    fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>>;

    /// The number of threads for this number of workers. Workers that need the CPU get one thread each.
    /// Workers that wait for a server share one thread, so that the load generator takes little of a
    /// machine that the server also uses.
    fn threads(&self, workers: usize) -> usize {
        workers
    }

    /// The target's own message about this kind of failure, if there was one.
    fn failure_message(&self, _failure: &str) -> Option<String> {
        None
    }
}

/// A client of the target that sends one request at a time.
pub trait Worker {
    /// Sends the query at this index; indexes past the end of the list start over.
    fn send(&mut self, index: usize) -> BoxFuture<'_, Sample>;
}

/// One measured request.
pub struct Sample {
    pub result: SampleResult,
    /// The stages of the request that the target reports, with their durations.
    pub stages: Vec<(Cow<'static, str>, Duration)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SampleResult {
    Answered,
    /// The target is overloaded: status 503.
    Refused,
    /// Any other status, or the reason why there is no response.
    Failed(Cow<'static, str>),
}

impl From<SampleResult> for Sample {
    fn from(result: SampleResult) -> Self {
        Self { result, stages: Vec::new() }
    }
}

/// The reason why nothing was measured.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct BenchError(pub String);
