//! The queue of heavy work, and the fixed number of threads that do it.
//!
//! A thread that ends one piece of work takes the next one itself, so nothing else has to run in between.
//! A short burst may wait, because it is served within a moment. A queue that stays full makes every call
//! in it late and none faster. The queue therefore accepts many waiting calls if it was empty a moment
//! ago and has refused no call recently; otherwise it accepts few. All other calls are refused at once,
//! and the accepted calls are served in time.
//!
//! The queue has two lanes. A thread takes work of the second lane only if nothing waits in the first.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hornbook_base::clock::SteadyMicros;
use tokio::sync::oneshot;

use super::error::{ApiError, catch_panic};

/// How long a call usually may wait for its turn before it is refused.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// See `nice` of Linux.
const LONG_JOB_NICENESS: i32 = 10;

/// Calls per thread that may wait in a burst. The turn of any further calls would come too late.
const BURST_PER_THREAD: usize = 128;

/// Calls per thread that may wait in a queue that stays full. They are enough to keep every thread busy.
const STEADY_PER_THREAD: usize = 8;

/// After this time without being empty, a queue counts as full. It counts as full until this time has
/// passed since the last refusal, even if the threads find it empty in between: that happens whenever the
/// thread that receives calls has to wait for a processor.
const FULL_AFTER_MICROS: u64 = 100_000;

type Job = Box<dyn FnOnce() + Send>;

/// Whose work it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WorkLane {
    /// That of a caller who pays.
    Paid,
    /// That of visitors, and of the server itself, such as compressing and drawing.
    Unpaid,
}

/// When it is dropped, its threads finish the waiting jobs and end.
pub(super) struct WorkQueue {
    shared: Arc<SharedQueue>,
    wait_max: Duration,
}

struct SharedQueue {
    threads: usize,
    state: Mutex<JobQueueState>,
    arrived: Condvar,
}

#[derive(Default)]
struct JobQueueState {
    paid: JobLane,
    unpaid: JobLane,
    number: u64,
    /// The number of threads that are working.
    busy: usize,
    is_closed: bool,
}

#[derive(Default)]
struct JobLane {
    /// In the order of arrival, and so in the order of their numbers.
    jobs: VecDeque<(u64, Job)>,
    /// When a call last found no other waiting.
    empty_at: SteadyMicros,
    refused_at: Option<SteadyMicros>,
}

impl JobQueueState {
    fn lane(&mut self, lane: WorkLane) -> &mut JobLane {
        match lane {
            WorkLane::Paid => &mut self.paid,
            WorkLane::Unpaid => &mut self.unpaid,
        }
    }

    /// The number of jobs that are begun before one that arrives in this lane.
    fn ahead(&self, lane: WorkLane) -> usize {
        match lane {
            WorkLane::Paid => self.paid.jobs.len(),
            WorkLane::Unpaid => self.paid.jobs.len() + self.unpaid.jobs.len(),
        }
    }
}

impl WorkQueue {
    pub(super) fn new(threads: usize) -> Self {
        Self::start(threads, WAIT_MAX, || ())
    }

    /// For jobs that take long. Their threads run when no other thread needs the processor, and at least a tenth of the
    /// time. `wait_max`: how long a call may wait for its turn before it is refused.
    pub(super) fn for_long_jobs(threads: usize, wait_max: Duration) -> Self {
        // If this is not permitted, the small number of threads still limits their load.
        Self::start(threads, wait_max, || {
            let _ = rustix::process::nice(LONG_JOB_NICENESS);
        })
    }

    fn start(threads: usize, wait_max: Duration, prepare_thread: fn()) -> Self {
        let threads = threads.max(1);
        let shared = Arc::new(SharedQueue { threads, state: Mutex::default(), arrived: Condvar::new() });
        for _ in 0..threads {
            let shared = Arc::clone(&shared);
            let run = move || {
                prepare_thread();
                shared.run_worker();
            };
            let thread = std::thread::Builder::new().name("heavy work".to_owned()).spawn(run);
            drop(thread.expect("a thread can be started"));
        }
        Self { shared, wait_max }
    }

    /// The number of calls that wait for a thread.
    pub(super) fn waiting(&self) -> usize {
        let state = self.shared.lock();
        self.shared.waiting(&state, WorkLane::Unpaid)
    }

    /// The number of idle threads.
    pub(super) fn free(&self) -> usize {
        self.shared.threads - self.shared.lock().busy
    }

    /// Waits for a thread and for the work. If this future is dropped before the work begins, the work is
    /// skipped.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        lane: WorkLane,
        now: SteadyMicros,
        work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (done, mut result) = oneshot::channel();
        let job = move || {
            // The caller may have left after a thread took the job from the queue.
            if !done.is_closed() {
                let _ = done.send(catch_panic(work));
            }
        };
        let place = self.enter(lane, now, Box::new(job)).ok_or_else(ApiError::overloaded)?;
        let done = match tokio::time::timeout(self.wait_max, &mut result).await {
            Ok(done) => done,
            Err(_) if place.leave() => return Err(ApiError::overloaded()),
            Err(_) => result.await,
        };
        done.unwrap_or_else(|_| Err(ApiError::internal("the work was dropped before it ran")))
    }

    fn enter(&self, lane: WorkLane, now: SteadyMicros, job: Job) -> Option<QueueTicket<'_>> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        let waiting = shared.waiting(&state, lane);
        let of_lane = state.lane(lane);
        if waiting == 0 {
            of_lane.empty_at = now;
        }
        let stays = now.micros_since(of_lane.empty_at) > FULL_AFTER_MICROS
            || of_lane.refused_at.is_some_and(|refused| now.micros_since(refused) <= FULL_AFTER_MICROS);
        let per_thread = if stays { STEADY_PER_THREAD } else { BURST_PER_THREAD };
        if waiting >= per_thread * shared.threads {
            of_lane.refused_at = Some(now);
            return None;
        }
        state.number += 1;
        let place = QueueTicket { shared, lane, number: state.number };
        state.lane(lane).jobs.push_back((place.number, job));
        let somebody_sleeps = state.busy < shared.threads;
        drop(state);
        if somebody_sleeps {
            shared.arrived.notify_one();
        }
        Some(place)
    }
}

impl Drop for WorkQueue {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.arrived.notify_all();
    }
}

impl SharedQueue {
    fn lock(&self) -> MutexGuard<'_, JobQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of jobs before one that arrives in this lane, without those that an idle thread is about to take.
    fn waiting(&self, state: &JobQueueState, lane: WorkLane) -> usize {
        state.ahead(lane).saturating_sub(self.threads - state.busy)
    }

    /// The main loop of a thread.
    fn run_worker(&self) {
        let mut state = self.lock();
        loop {
            let next = state.paid.jobs.pop_front().or_else(|| state.unpaid.jobs.pop_front());
            if let Some((_, job)) = next {
                state.busy += 1;
                drop(state);
                job();
                state = self.lock();
                state.busy -= 1;
            } else if state.is_closed {
                return;
            } else {
                state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// The place of one call in the queue. The call leaves the queue when this is dropped.
struct QueueTicket<'q> {
    shared: &'q SharedQueue,
    lane: WorkLane,
    number: u64,
}

impl QueueTicket<'_> {
    /// Removes the work from the queue. Returns false if it has begun.
    fn leave(&self) -> bool {
        let mut state = self.shared.lock();
        let jobs = &mut state.lane(self.lane).jobs;
        let place = jobs.binary_search_by_key(&self.number, |(number, _)| *number);
        let job = place.ok().and_then(|place| jobs.remove(place));
        // What the work holds is released after the lock.
        drop(state);
        job.is_some()
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::WorkLane::{Paid, Unpaid};
    use super::*;

    const NOW: SteadyMicros = SteadyMicros(1_000_000);

    /// Keeps all threads busy until the senders are dropped.
    fn occupy_all_threads(queue: &WorkQueue) -> Vec<Sender<()>> {
        let (began, has_begun) = channel();
        let occupy = |_| {
            let (end, ended): (Sender<()>, Receiver<()>) = channel();
            let began = began.clone();
            let job = move || {
                began.send(()).unwrap();
                let _ = ended.recv();
            };
            // Keeps its place, so that the job stays in the queue.
            std::mem::forget(queue.enter(Paid, NOW, Box::new(job)).unwrap());
            end
        };
        let ends = (0..queue.shared.threads).map(occupy).collect();
        (0..queue.shared.threads).for_each(|_| has_begun.recv().unwrap());
        ends
    }

    fn admitted(queue: &WorkQueue, now: SteadyMicros, calls: usize) -> Vec<QueueTicket<'_>> {
        (0..calls).filter_map(|_| queue.enter(Paid, now, Box::new(|| ()))).collect()
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn a_burst_waits_up_to_its_limit() {
        let queue = WorkQueue::new(2);
        let _ends = occupy_all_threads(&queue);
        let places = admitted(&queue, NOW, 1000);
        assert_eq!((places.len(), queue.waiting()), (2 * BURST_PER_THREAD, 2 * BURST_PER_THREAD));
        drop(places);
        assert_eq!((queue.waiting(), queue.free()), (0, 0));
    }

    #[test]
    fn a_full_queue_accepts_few_until_it_recovers() {
        let queue = WorkQueue::new(2);
        let _ends = occupy_all_threads(&queue);
        let mut places = admitted(&queue, NOW, 100);
        let later = NOW.plus_micros(FULL_AFTER_MICROS + 1);
        assert!(queue.enter(Paid, later, Box::new(|| ())).is_none(), "a hundred still wait");
        places.truncate(3);
        let more = admitted(&queue, later, 100);
        assert_eq!(places.len() + more.len(), 2 * STEADY_PER_THREAD);
        drop((places, more));
        assert_eq!(admitted(&queue, later, 1000).len(), 2 * STEADY_PER_THREAD, "somebody was refused just now");
        let at_rest = later.plus_micros(FULL_AFTER_MICROS + 1);
        assert_eq!(admitted(&queue, at_rest, 1000).len(), 2 * BURST_PER_THREAD);
    }

    #[test]
    fn work_is_done_in_the_order_of_its_arrival_and_its_result_comes_back() {
        let queue = WorkQueue::new(1);
        let ends = occupy_all_threads(&queue);
        let order = Arc::new(Mutex::new(Vec::new()));
        let work = |number: u32| {
            let order = Arc::clone(&order);
            queue.run(Paid, NOW, move || {
                order.lock().unwrap().push(number);
                Ok(number * 10)
            })
        };
        runtime().block_on(async {
            let (one, two, three) = (work(1), work(2), work(3));
            let release = async { drop(ends) };
            let (one, two, three, ()) = tokio::join!(biased; one, two, three, release);
            assert_eq!([one, two, three].map(Result::unwrap), [10, 20, 30]);
        });
        assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
    }

    #[test]
    fn paid_work_is_done_first_and_waits_for_no_other() {
        let queue = WorkQueue::new(1);
        let ends = occupy_all_threads(&queue);
        let of_visitors: Vec<_> = (0..1000).filter_map(|_| queue.enter(Unpaid, NOW, Box::new(|| ()))).collect();
        assert_eq!(of_visitors.len(), BURST_PER_THREAD);
        let later = NOW.plus_micros(FULL_AFTER_MICROS + 1);
        assert_eq!(admitted(&queue, later, 1000).len(), BURST_PER_THREAD, "the lane of those who pay is empty");
        drop(of_visitors);
        let order = Arc::new(Mutex::new(Vec::new()));
        let work = |lane| {
            let order = Arc::clone(&order);
            queue.run(lane, later, move || {
                order.lock().unwrap().push(lane);
                Ok(())
            })
        };
        runtime().block_on(async {
            let release = async { drop(ends) };
            let (first, second, third, fourth) = (work(Unpaid), work(Paid), work(Unpaid), work(Paid));
            let done = tokio::join!(biased; first, second, third, fourth, release);
            assert!(done.0.is_ok() && done.1.is_ok() && done.2.is_ok() && done.3.is_ok());
        });
        assert_eq!(*order.lock().unwrap(), [Paid, Paid, Unpaid, Unpaid]);
    }

    #[test]
    fn work_that_waits_too_long_is_refused_and_what_it_holds_is_given_back() {
        let queue = WorkQueue::new(1);
        let _ends = occupy_all_threads(&queue);
        let held = Arc::new(());
        let holds = Arc::clone(&held);
        let refused = runtime().block_on(queue.run(Paid, NOW, move || {
            drop(holds);
            Ok(())
        }));
        assert_eq!(refused.unwrap_err().code, ApiError::overloaded().code);
        assert_eq!((queue.waiting(), Arc::strong_count(&held)), (0, 1));
    }

    #[test]
    fn work_of_a_disconnected_caller_is_not_begun() {
        let queue = WorkQueue::new(1);
        let ends = occupy_all_threads(&queue);
        let (began, has_begun) = channel();
        runtime().block_on(async {
            let waiting = queue.run(Paid, NOW, move || {
                began.send(()).unwrap();
                Ok(())
            });
            assert!(tokio::time::timeout(Duration::from_millis(5), waiting).await.is_err());
        });
        assert_eq!(queue.waiting(), 0);
        drop(ends);
        assert!(has_begun.recv().is_err(), "it was dropped");
    }

    #[test]
    fn a_panic_is_an_error_of_its_caller_and_the_thread_goes_on() {
        let queue = WorkQueue::new(1);
        runtime().block_on(async {
            let panicked = queue.run::<()>(Paid, NOW, || panic!("index 7")).await.unwrap_err();
            assert!(panicked.internal.unwrap().contains("index 7"));
            assert_eq!(queue.run(Paid, NOW, || Ok(7)).await.unwrap(), 7);
        });
    }

    #[test]
    fn threads_end_with_the_queue_after_what_waits_is_done() {
        let queue = WorkQueue::new(2);
        let shared = Arc::downgrade(&queue.shared);
        let ends = occupy_all_threads(&queue);
        let (did, done) = channel();
        std::mem::forget(queue.enter(Paid, NOW, Box::new(move || did.send(()).unwrap())).unwrap());
        drop(queue);
        drop(ends);
        done.recv().unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        while shared.strong_count() > 0 {
            assert!(std::time::Instant::now() < deadline, "a thread outlives its queue");
            std::thread::yield_now();
        }
    }
}
