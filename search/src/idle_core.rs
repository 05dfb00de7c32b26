//! Runs two steps of a search in parallel if a CPU core is idle.
//!
//! In a large corpus some steps take a good part of a millisecond, and mostly wait for memory. A
//! search moves part of such a step to another thread only while fewer threads search than there
//! are cores. So an idle machine answers sooner, and a busy one answers as many searches as before.
//! The result is the same either way.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// A step over at least this many provisions is worth another thread.
const PARALLEL_PROVISIONS_MIN: u32 = if cfg!(test) { 64 } else { 400_000 };

/// The number of searching threads.
static SEARCHING_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Counts one searching thread until it is dropped.
pub(super) struct SearchingThread(&'static AtomicUsize);

impl SearchingThread {
    pub(super) fn begin() -> Self {
        SEARCHING_THREADS.fetch_add(1, Ordering::Relaxed);
        Self(&SEARCHING_THREADS)
    }

    /// Counts one more thread if fewer threads than cores are counted.
    fn begin_on_idle_core(at_work: &'static AtomicUsize, cores: usize) -> Option<Self> {
        let one_more = |at_work| (at_work < cores).then_some(at_work + 1);
        at_work.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Self(at_work))
    }
}

impl Drop for SearchingThread {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An idle core, and the thread pool for it.
pub(super) struct IdleCore {
    threads: &'static ThreadPool,
    _at_work: SearchingThread,
}

impl IdleCore {
    /// Reserves a core for a step over `provisions` provisions. `None` if they are few or all cores
    /// are busy.
    pub(super) fn reserve_idle(provisions: u32) -> Option<Self> {
        let threads = helpers().filter(|_| provisions >= PARALLEL_PROVISIONS_MIN)?;
        let at_work = SearchingThread::begin_on_idle_core(&SEARCHING_THREADS, threads.current_num_threads() + 1)?;
        Some(Self { threads, _at_work: at_work })
    }

    /// Runs `here` on this thread and, at the same time, `there` on the reserved core.
    pub(super) fn run_both<A, B: Send>(&self, here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
        let mut of_there = None;
        let of_here = self.threads.in_place_scope(|scope| {
            scope.spawn(|_| of_there = Some(there()));
            here()
        });
        (of_here, of_there.expect("the scope waits for its tasks"))
    }
}

/// One thread fewer than there are cores, because the calling thread counts too. `None` on a single
/// core.
fn helpers() -> Option<&'static ThreadPool> {
    static HELPERS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let make = || {
        let helpers = thread::available_parallelism().map_or(1, usize::from) - 1;
        let named = ThreadPoolBuilder::new().num_threads(helpers).thread_name(|_| "search-helper".to_owned());
        (helpers > 0).then(|| named.build().ok()).flatten()
    };
    HELPERS.get_or_init(make).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searching_threads_are_limited_to_the_cores() {
        static AT_WORK: AtomicUsize = AtomicUsize::new(0);
        let begin = || SearchingThread::begin_on_idle_core(&AT_WORK, 2);
        let (first, second) = (begin().unwrap(), begin().unwrap());
        assert!(begin().is_none(), "both cores are busy");
        drop(first);
        let third = begin().expect("one core is idle again");
        assert!(begin().is_none());
        drop((second, third));
        assert_eq!(AT_WORK.load(Ordering::Relaxed), 0);
        assert!(IdleCore::reserve_idle(PARALLEL_PROVISIONS_MIN - 1).is_none(), "too few provisions for another thread");
    }

    #[test]
    fn run_both_runs_both_and_allows_borrows() {
        let Some(threads) = helpers() else { return };
        let numbers: Vec<u64> = (0..1000).collect();
        let (first, second) = numbers.split_at(400);
        let spare = IdleCore { threads, _at_work: SearchingThread::begin() };
        let (a, b) = spare.run_both(|| first.iter().sum::<u64>(), || second.iter().sum::<u64>());
        assert_eq!((a, b), (79_800, 419_700));
    }
}
