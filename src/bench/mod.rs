//! `hornbook bench`: how long answers take under a load that does not wait for them.
//!
//! `queries` says what is asked, `process` and `url` whom, `load` when, `record` keeps what came of it in histograms,
//! `result` is that in figures, `compare` tells two results apart or says that they cannot be told apart, `plot` and
//! `report` draw them. `client` is the only place beside `src/http` that knows hyper.
//!
//! In an open loop every request has a moment at which it is due, whether or not earlier ones were answered, and its latency
//! counts from then: a target that stalls is not spared the requests that would have come meanwhile.

mod client;
pub mod compare;
pub mod load;
mod plot;
pub mod process;
pub mod queries;
mod record;
pub mod report;
pub mod result;
pub mod url;

pub use plot::time as told_time;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Whom to ask.
pub trait Target: Sync {
    /// Made on the thread that uses it, before the clock starts.
    fn worker(&self) -> Result<Box<dyn Worker + '_>, BenchError>;
}

/// One that asks one thing after the other.
pub trait Worker {
    /// Asks the query at this place of the list, which begins again at its end.
    fn ask(&mut self, place: usize) -> Asked;
}

/// What came of asking.
pub struct Asked {
    pub outcome: Outcome,
    /// How long the target says its stages took.
    pub stages: Vec<(Cow<'static, str>, Duration)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Answered,
    /// Told to come back: 503.
    Refused,
    /// Any other status, or why there is none.
    Failed(Cow<'static, str>),
}

impl From<Outcome> for Asked {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, stages: Vec::new() }
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
