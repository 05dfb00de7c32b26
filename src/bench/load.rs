//! The schedule of requests, and the threads that send them.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::record::Record;
use super::{BenchError, Target};
use crate::random::SplitMix64;

/// Sleeping ends late by about this much, so the rest of a wait yields to other threads instead.
const WAKE_UP: Duration = Duration::from_micros(80);

/// Time for all threads to reach the start.
const GATHERING: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pace {
    /// Requests are due whether or not earlier ones were answered.
    Open { per_second: f64, arrivals: Arrivals },
    /// Each worker sends the next request as soon as it has its response.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// Independent of each other, like the requests of many people.
    Poisson,
    /// Evenly spaced.
    Even,
}

/// The load on a target.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub pace: Pace,
    /// Threads: each is a connection to a server, or searches in this process.
    pub workers: usize,
    /// Before each round, under the same load, not measured.
    pub warm_up: Duration,
    pub duration: Duration,
}

/// One round. Any free worker sends the next request that is due; if none is free, the request waits.
pub(super) fn round(target: &dyn Target, load: &Load, seed: u64) -> Result<Record, BenchError> {
    let due = load.schedule(seed);
    let next = AtomicUsize::new(0);
    let ready = Barrier::new(load.workers);
    let results: Vec<Result<Record, BenchError>> = std::thread::scope(|scope| {
        let work = || {
            let mut worker = target.worker();
            // Also after a failure, so that the other workers do not wait for ever.
            ready.wait();
            let worker = worker.as_mut().map_err(|error| error.clone())?;
            let begin = Instant::now() + GATHERING;
            let (counted, end) = (begin + load.warm_up, begin + load.warm_up + load.duration);
            let mut record = Record::new(load.duration);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let intended = match &due {
                    Some(due) => match due.get(index) {
                        Some(offset) => begin + *offset,
                        None => break,
                    },
                    None => Instant::now().max(begin),
                };
                if intended >= end {
                    break;
                }
                // In a closed loop a request is due when it is sent.
                if due.is_some() && Instant::now() >= end {
                    record.unsent(end - intended.max(counted));
                    continue;
                }
                wait_until(intended);
                let sent = Instant::now();
                let sample = worker.send(index);
                let done = Instant::now();
                if intended >= counted {
                    record.sample(&sample, done - intended, done - sent);
                }
                if let Some(at) = done.checked_duration_since(counted) {
                    record.ended(&sample.result, at);
                }
            }
            Ok(record)
        };
        let threads: Vec<_> = (0..load.workers).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(BenchError("a worker panicked; its message is above".to_owned())))
        });
        joined.collect()
    });
    let mut all = Record::new(load.duration);
    for record in results {
        all.join(record?);
    }
    Ok(all)
}

fn wait_until(due: Instant) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        match left.checked_sub(WAKE_UP) {
            Some(asleep) if !asleep.is_zero() => std::thread::sleep(asleep),
            _ if left.is_zero() => return,
            _ => std::thread::yield_now(),
        }
    }
}

impl Load {
    /// When each request is due, from the start of the round; none in a closed loop.
    fn schedule(&self, seed: u64) -> Option<Vec<Duration>> {
        let Pace::Open { per_second, arrivals } = self.pace else { return None };
        let all = (self.warm_up + self.duration).as_secs_f64();
        let mut random = SplitMix64(seed);
        let mut at = 0.0;
        let mut due = Vec::with_capacity((all * per_second) as usize + 1);
        while at < all {
            due.push(Duration::from_secs_f64(at));
            at += match arrivals {
                Arrivals::Even => 1.0,
                // From above 0 up to 1, so that the logarithm is finite.
                Arrivals::Poisson => -(((random.draw() >> 11) + 1) as f64 / (1_u64 << 53) as f64).ln(),
            } / per_second;
        }
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::bench::result::{Distribution, Round};
    use crate::bench::{Sample, SampleResult, Worker};

    fn open(per_second: f64, arrivals: Arrivals, workers: usize) -> Load {
        Load {
            pace: Pace::Open { per_second, arrivals },
            workers,
            warm_up: Duration::from_millis(50),
            duration: Duration::from_millis(500),
        }
    }

    #[test]
    fn arrivals_come_as_often_as_asked_and_the_same_with_the_same_seed() {
        let load = Load { duration: Duration::from_secs(100), ..open(200.0, Arrivals::Poisson, 1) };
        let due = load.schedule(7).unwrap();
        assert!((19_500..20_500).contains(&due.len()), "{}", due.len());
        assert!(due.is_sorted());
        assert_eq!(load.schedule(7), Some(due.clone()));
        assert_ne!(load.schedule(8), Some(due.clone()));
        // Of gaps of a Poisson process, one in e is longer than the mean.
        let long = due.windows(2).filter(|pair| pair[1] - pair[0] > Duration::from_millis(5)).count();
        let part = long as f64 / due.len() as f64;
        assert!((0.34..0.40).contains(&part), "{part}");
        let even = open(10.0, Arrivals::Even, 1).schedule(7).unwrap();
        assert_eq!(even, [0, 100, 200, 300, 400, 500].map(Duration::from_millis));
        assert_eq!(Load { pace: Pace::Closed, ..load }.schedule(7), None);
    }

    /// Stalls once for 200 ms, else answers at once.
    struct Stalling(AtomicBool);

    struct Teller<'t>(&'t Stalling);

    impl Target for Stalling {
        fn worker(&self) -> Result<Box<dyn Worker + '_>, BenchError> {
            Ok(Box::new(Teller(self)))
        }
    }

    impl Worker for Teller<'_> {
        fn send(&mut self, index: usize) -> Sample {
            if index >= 30 && !self.0.0.swap(true, Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
            }
            SampleResult::Answered.into()
        }
    }

    fn measured(load: &Load) -> Round {
        Round::of(&round(&Stalling(AtomicBool::new(false)), load, 1).unwrap(), load)
    }

    #[test]
    fn a_stall_is_counted_against_all_that_were_due_meanwhile() {
        // 100 requests a second on one worker: 20 come while it stalls, the first waits 200 ms, the last almost nothing. A busy
        // machine can only make more of them late.
        let open = measured(&open(100.0, Arrivals::Even, 1));
        let over_60_ms = |took: &Distribution| {
            let late = took.buckets.iter().filter(|(micros, _)| *micros > 65_000.0);
            late.map(|(_, count)| count).sum::<u64>()
        };
        let (late, sent_late) = (over_60_ms(&open.latency), over_60_ms(&open.service));
        assert!(late >= 10, "{late} of {} waited over 60 ms", open.latency.count);
        assert!(
            sent_late >= 1 && sent_late * 2 < late,
            "the target itself was slow {sent_late} times, not {late} times"
        );
    }

    #[test]
    fn a_closed_loop_asks_as_fast_as_it_is_answered() {
        let load = Load { pace: Pace::Closed, ..open(1.0, Arrivals::Even, 2) };
        let closed = measured(&load);
        assert!(closed.answered > 1000, "{}", closed.answered);
        assert_eq!((closed.refused, closed.unsent), (0, 0));
    }

    #[test]
    fn what_was_due_and_never_sent_is_told_and_counted_with_its_wait() {
        struct Slow;
        impl Target for Slow {
            fn worker(&self) -> Result<Box<dyn Worker + '_>, BenchError> {
                Ok(Box::new(Self))
            }
        }
        impl Worker for Slow {
            fn send(&mut self, _: usize) -> Sample {
                std::thread::sleep(Duration::from_millis(100));
                SampleResult::Answered.into()
            }
        }
        let load = open(100.0, Arrivals::Even, 1);
        let round = Round::of(&round(&Slow, &load, 1).unwrap(), &load);
        assert!(round.unsent > 30, "{}", round.unsent);
        assert_eq!(round.latency.count, round.answered + round.unsent);
        assert!(round.latency.at(50.0) > 100_000.0, "half of them waited longer: {:?}", round.latency.percentiles);
    }

    #[test]
    fn a_worker_that_cannot_be_made_is_an_error() {
        struct Nobody;
        impl Target for Nobody {
            fn worker(&self) -> Result<Box<dyn Worker + '_>, BenchError> {
                Err(BenchError("nobody is there".to_owned()))
            }
        }
        let error = round(&Nobody, &open(10.0, Arrivals::Even, 3), 1).err().unwrap();
        assert_eq!(error.to_string(), "nobody is there");
    }
}
