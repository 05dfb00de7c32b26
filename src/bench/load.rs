//! The schedule of requests, and the threads that send them.

use std::cell::RefCell;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hornbook_base::random::SplitMix64;
use tokio::sync::Mutex;

use super::alarm::Alarm;
use super::record::Record;
use super::{BenchError, BenchTarget, Worker};

/// How long the threads wait before the round begins, so that all of them are ready.
const START_DELAY: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pace {
    /// Each request is due at a fixed time, whether or not earlier ones have been answered.
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
    /// Each worker is one connection to a server, or one thread that searches in this process.
    pub workers: usize,
    /// Runs before each round with the same load; not measured.
    pub warm_up: Duration,
    pub duration: Duration,
}

/// One round. Any free worker sends the next request that is due; if none is free, the request waits.
pub(super) fn round(target: &dyn BenchTarget, load: &Load, seed: u64) -> Result<Record, BenchError> {
    let threads = target.threads(load.workers).clamp(1, load.workers);
    let round =
        Round { target, load, due: load.schedule(seed), next: AtomicUsize::new(0), ready: Barrier::new(threads) };
    let results: Vec<Result<Record, BenchError>> = std::thread::scope(|scope| {
        let round = &round;
        let start = |thread: usize| {
            let workers = load.workers / threads + usize::from(thread < load.workers % threads);
            scope.spawn(move || round.run_on_thread(workers))
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        let joined = running.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(BenchError("a worker panicked; its message is above".to_owned())))
        });
        joined.collect()
    });
    let mut all = Record::new(load.duration);
    for record in results {
        all.merge_record(record?);
    }
    Ok(all)
}

struct Round<'r> {
    target: &'r dyn BenchTarget,
    load: &'r Load,
    /// When each request is due, counted from the start; `None` in a closed loop.
    due: Option<Vec<Duration>>,
    /// The index of the next request to send.
    next: AtomicUsize,
    /// Makes all threads begin together.
    ready: Barrier,
}

impl Round<'_> {
    /// Runs the part of the round that one thread with this number of workers has.
    fn run_on_thread(&self, workers: usize) -> Result<Record, BenchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let open = runtime.as_ref().map_err(unable).and_then(|runtime| {
            runtime.block_on(async {
                let mut open = Vec::with_capacity(workers);
                for _ in 0..workers {
                    open.push(self.target.worker().await?);
                }
                Ok((runtime, open, Alarm::new().map_err(|error| unable(&error))?))
            })
        });
        // Wait even after a failure, so that the other threads do not wait forever.
        self.ready.wait();
        let (runtime, open, alarm) = open?;
        let share = ThreadState {
            round: self,
            begin: Instant::now() + START_DELAY,
            alarm: Mutex::new(alarm),
            record: RefCell::new(Record::new(self.load.duration)),
        };
        runtime.block_on(async {
            let mut working: FuturesUnordered<_> = open.into_iter().map(|worker| share.work(worker)).collect();
            while let Some(worked) = working.next().await {
                worked.map_err(|error| unable(&error))?;
            }
            Ok(())
        })?;
        Ok(share.record.into_inner())
    }
}

fn unable(error: &io::Error) -> BenchError {
    BenchError(format!("cannot set up the timer or runtime: {error}"))
}

/// The state that the workers of one thread share.
struct ThreadState<'r> {
    round: &'r Round<'r>,
    begin: Instant,
    /// Locked by the worker that takes the next request, until that request is due.
    alarm: Mutex<Alarm>,
    record: RefCell<Record>,
}

impl ThreadState<'_> {
    async fn work(&self, mut worker: Box<dyn Worker + '_>) -> io::Result<()> {
        let counted = self.begin + self.round.load.warm_up;
        while let Some((index, intended)) = self.next().await? {
            let sent = Instant::now();
            let sample = worker.send(index).await;
            let done = Instant::now();
            let mut record = self.record.borrow_mut();
            if intended >= counted {
                record.sample(&sample, done - intended, done - sent);
            }
            if let Some(at) = done.checked_duration_since(counted) {
                record.add_to_timeline(&sample.result, at);
            }
        }
        Ok(())
    }

    /// Waits until the next request is due and returns its index and due time; `None` at the end of the round.
    async fn next(&self) -> io::Result<Option<(usize, Instant)>> {
        let Self { round, begin, .. } = *self;
        let counted = begin + round.load.warm_up;
        let end = counted + round.load.duration;
        let mut alarm = self.alarm.lock().await;
        loop {
            let index = round.next.fetch_add(1, Ordering::Relaxed);
            let intended = match &round.due {
                Some(due) => due.get(index).map(|offset| begin + *offset),
                // In a closed loop a request is due when it is sent.
                None => Some(Instant::now().max(begin)),
            };
            let Some(intended) = intended.filter(|intended| *intended < end) else { return Ok(None) };
            if round.due.is_some() && Instant::now() >= end {
                self.record.borrow_mut().unsent(end - intended.max(counted));
                continue;
            }
            alarm.until(intended).await?;
            return Ok(Some((index, intended)));
        }
    }
}

impl Load {
    /// When each request is due, counted from the start of the round; `None` in a closed loop.
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
                // A value above 0 and at most 1, so that the logarithm is finite.
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
    use crate::bench::{BoxFuture, Sample, SampleResult};

    fn open(per_second: f64, arrivals: Arrivals, workers: usize) -> Load {
        Load {
            pace: Pace::Open { per_second, arrivals },
            workers,
            warm_up: Duration::from_millis(50),
            duration: Duration::from_millis(500),
        }
    }

    #[test]
    fn arrivals_have_the_rate_and_depend_only_on_the_seed() {
        let load = Load { duration: Duration::from_secs(100), ..open(200.0, Arrivals::Poisson, 1) };
        let due = load.schedule(7).unwrap();
        assert!((19_500..20_500).contains(&due.len()), "{}", due.len());
        assert!(due.is_sorted());
        assert_eq!(load.schedule(7), Some(due.clone()));
        assert_ne!(load.schedule(8), Some(due.clone()));
        // In a Poisson process, one gap in e is longer than the mean.
        let long = due.windows(2).filter(|pair| pair[1] - pair[0] > Duration::from_millis(5)).count();
        let part = long as f64 / due.len() as f64;
        assert!((0.34..0.40).contains(&part), "{part}");
        let even = open(10.0, Arrivals::Even, 1).schedule(7).unwrap();
        assert_eq!(even, [0, 100, 200, 300, 400, 500].map(Duration::from_millis));
        assert_eq!(Load { pace: Pace::Closed, ..load }.schedule(7), None);
    }

    /// Stalls once for 200 ms, otherwise answers at once.
    struct Stalling(AtomicBool);

    struct StallingWorker<'t>(&'t Stalling);

    impl BenchTarget for Stalling {
        fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>> {
            Box::pin(async { Ok(Box::new(StallingWorker(self)) as Box<dyn Worker>) })
        }
    }

    impl Worker for StallingWorker<'_> {
        fn send(&mut self, index: usize) -> BoxFuture<'_, Sample> {
            Box::pin(async move {
                if index >= 30 && !self.0.0.swap(true, Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(200));
                }
                SampleResult::Answered.into()
            })
        }
    }

    fn measured(load: &Load) -> Round {
        Round::of(&round(&Stalling(AtomicBool::new(false)), load, 1).unwrap(), load)
    }

    #[test]
    fn a_stall_delays_all_requests_due_during_it() {
        // At 100 requests per second on one worker, 20 arrive during the stall: the first waits 200 ms,
        // the last almost nothing. A busy machine can only delay more of them.
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
    fn a_closed_loop_sends_after_each_response() {
        let load = Load { pace: Pace::Closed, ..open(1.0, Arrivals::Even, 2) };
        let closed = measured(&load);
        assert!(closed.answered > 1000, "{}", closed.answered);
        assert_eq!((closed.refused, closed.unsent), (0, 0));
    }

    #[test]
    fn unsent_requests_are_reported_with_their_wait() {
        struct Slow;
        impl BenchTarget for Slow {
            fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>> {
                Box::pin(async { Ok(Box::new(Self) as Box<dyn Worker>) })
            }
        }
        impl Worker for Slow {
            fn send(&mut self, _: usize) -> BoxFuture<'_, Sample> {
                Box::pin(async {
                    std::thread::sleep(Duration::from_millis(100));
                    SampleResult::Answered.into()
                })
            }
        }
        let load = open(100.0, Arrivals::Even, 1);
        let round = Round::of(&round(&Slow, &load, 1).unwrap(), &load);
        assert!(round.unsent > 30, "{}", round.unsent);
        assert_eq!(round.latency.count, round.answered + round.unsent);
        assert!(round.latency.at(50.0) > 100_000.0, "half of them waited longer: {:?}", round.latency.percentiles);
    }

    #[test]
    fn a_failure_to_open_a_worker_is_an_error() {
        struct UnavailableTarget;
        impl BenchTarget for UnavailableTarget {
            fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>> {
                Box::pin(async { Err(BenchError("nobody is there".to_owned())) })
            }
        }
        let error = round(&UnavailableTarget, &open(10.0, Arrivals::Even, 3), 1).err().unwrap();
        assert_eq!(error.to_string(), "nobody is there");
    }
}
