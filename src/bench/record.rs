//! Collects the samples of one round: histograms of nanoseconds, counts and a timeline.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::{Sample, SampleResult};

/// The significant digits of a value in a histogram.
const DIGITS: u8 = 3;

/// The number of points in a timeline.
const TICKS: usize = 50;

/// The samples of one thread, or of all threads.
pub(super) struct Record {
    /// From when the request was due until its response was complete.
    pub(super) latency: Histogram<u64>,
    /// From when the request was sent until its response was complete.
    pub(super) service: Histogram<u64>,
    /// From when the request was due until it was refused.
    pub(super) refused: Histogram<u64>,
    pub(super) stages: Vec<(String, Histogram<u64>)>,
    pub(super) failed: BTreeMap<Cow<'static, str>, u64>,
    pub(super) unsent: u64,
    pub(super) tick: Duration,
    /// The number of answered and of refused requests in each tick.
    pub(super) timeline: Vec<(u64, u64)>,
}

fn histogram() -> Histogram<u64> {
    let mut histogram = Histogram::new(DIGITS).expect("three digits are a valid precision of a histogram");
    histogram.auto(true);
    histogram
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Record {
    pub(super) fn new(duration: Duration) -> Self {
        Self {
            latency: histogram(),
            service: histogram(),
            refused: histogram(),
            stages: Vec::new(),
            failed: BTreeMap::new(),
            unsent: 0,
            tick: duration / TICKS as u32,
            timeline: vec![(0, 0); TICKS],
        }
    }

    pub(super) fn sample(&mut self, sample: &Sample, latency: Duration, service: Duration) {
        match &sample.result {
            SampleResult::Answered => {
                self.latency += nanos(latency);
                self.service += nanos(service);
                for (name, took) in &sample.stages {
                    *self.stage(name) += nanos(*took);
                }
            }
            SampleResult::Refused => self.refused += nanos(latency),
            SampleResult::Failed(why) => *self.failed.entry(why.clone()).or_default() += 1,
        }
    }

    /// Adds a request that ended at this time to the timeline.
    pub(super) fn add_to_timeline(&mut self, result: &SampleResult, at: Duration) {
        let place = (at.as_secs_f64() / self.tick.as_secs_f64()) as usize;
        if let Some((answered, refused)) = self.timeline.get_mut(place) {
            match result {
                SampleResult::Answered => *answered += 1,
                SampleResult::Refused => *refused += 1,
                SampleResult::Failed(_) => {}
            }
        }
    }

    /// Counts a request that was due, but had no free worker before the end of the round. It waited at
    /// least this long; without it, the latencies would look better than they were.
    pub(super) fn unsent(&mut self, waited: Duration) {
        self.unsent += 1;
        self.latency += nanos(waited);
    }

    fn stage(&mut self, name: &str) -> &mut Histogram<u64> {
        let place = match self.stages.iter().position(|(known, _)| known == name) {
            Some(place) => place,
            None => {
                self.stages.push((name.to_owned(), histogram()));
                self.stages.len() - 1
            }
        };
        &mut self.stages[place].1
    }

    pub(super) fn merge_record(&mut self, other: Self) {
        self.latency += &other.latency;
        self.service += &other.service;
        self.refused += &other.refused;
        for (name, histogram) in &other.stages {
            *self.stage(name) += histogram;
        }
        for (why, count) in other.failed {
            *self.failed.entry(why).or_default() += count;
        }
        self.unsent += other.unsent;
        for ((answered, refused), (more_answered, more_refused)) in self.timeline.iter_mut().zip(other.timeline) {
            *answered += more_answered;
            *refused += more_refused;
        }
    }
}
