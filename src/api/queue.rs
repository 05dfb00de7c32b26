//! Limits how many calls wait for heavy work, and how long.
//!
//! A short burst may wait: it is served within a moment. A queue that stays full makes every call in it late and none
//! faster. So many calls may wait if the queue was empty a moment ago, and few if it was not. The rest are refused at
//! once, and those that are served are served in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::ApiError;
use crate::clock::SteadyMicros;

/// How long a call may wait for its turn to work before it is told to come back.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// Calls per permit that wait in a burst: the turn of more would not come in time.
const BURST_PER_PERMIT: usize = 128;

/// Calls per permit that wait in a queue that stays full, enough to keep every permit busy.
const STANDING_PER_PERMIT: usize = 8;

/// A queue that was not empty for so long stays full.
const STAYS_AFTER_MICROS: u64 = 100_000;

pub(super) struct Queue {
    /// Each lets one piece of heavy work run.
    permits: Arc<Semaphore>,
    permits_max: usize,
    waiting: AtomicUsize,
    /// When a call last found no other waiting, in steady microseconds.
    empty_at: AtomicU64,
}

impl Queue {
    pub(super) fn new(permits: usize) -> Self {
        let permits_max = permits.max(1);
        Self {
            permits: Arc::new(Semaphore::new(permits_max)),
            permits_max,
            waiting: AtomicUsize::new(0),
            empty_at: AtomicU64::new(0),
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(super) fn permits(&self) -> &Arc<Semaphore> {
        &self.permits
    }

    /// Waits for the right to do heavy work, given back when the permit is dropped.
    pub(super) async fn turn(&self, now: SteadyMicros) -> Result<OwnedSemaphorePermit, ApiError> {
        let _place = self.enter(now).ok_or_else(ApiError::overloaded)?;
        match tokio::time::timeout(WAIT_MAX, Arc::clone(&self.permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(ApiError::overloaded()),
        }
    }

    fn enter(&self, now: SteadyMicros) -> Option<Waiting<'_>> {
        let place = Waiting { waiting: &self.waiting, before: self.waiting.fetch_add(1, Ordering::Relaxed) };
        if place.before == 0 {
            self.empty_at.store(now.0, Ordering::Relaxed);
        }
        let stays = now.micros_since(SteadyMicros(self.empty_at.load(Ordering::Relaxed))) > STAYS_AFTER_MICROS;
        let per_permit = if stays { STANDING_PER_PERMIT } else { BURST_PER_PERMIT };
        (place.before < per_permit * self.permits_max).then_some(place)
    }
}

/// One call that waits, until it is dropped.
struct Waiting<'q> {
    waiting: &'q AtomicUsize,
    /// How many waited already.
    before: usize,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SteadyMicros = SteadyMicros(1_000_000);

    fn admitted(queue: &Queue, now: SteadyMicros, calls: usize) -> Vec<Waiting<'_>> {
        (0..calls).filter_map(|_| queue.enter(now)).collect()
    }

    #[test]
    fn a_burst_may_wait_and_one_too_many_may_not() {
        let queue = Queue::new(2);
        let places = admitted(&queue, NOW, 1000);
        assert_eq!((places.len(), queue.waiting()), (2 * BURST_PER_PERMIT, 2 * BURST_PER_PERMIT));
        drop(places);
        assert_eq!(queue.waiting(), 0);
    }

    #[test]
    fn a_queue_that_stays_takes_few_until_it_was_empty_once() {
        let queue = Queue::new(2);
        let mut places = admitted(&queue, NOW, 100);
        let later = NOW.plus_micros(STAYS_AFTER_MICROS + 1);
        assert!(queue.enter(later).is_none(), "a hundred still wait");
        places.truncate(3);
        let more = admitted(&queue, later, 100);
        assert_eq!(places.len() + more.len(), 2 * STANDING_PER_PERMIT);
        drop((places, more));
        assert_eq!(admitted(&queue, later, 1000).len(), 2 * BURST_PER_PERMIT);
    }

    #[test]
    fn a_call_that_gets_its_turn_waits_no_longer() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let queue = Queue::new(1);
        runtime.block_on(async {
            let permit = queue.turn(NOW).await.unwrap();
            assert_eq!((queue.waiting(), queue.permits().available_permits()), (0, 0));
            drop(permit);
            assert_eq!(queue.permits().available_permits(), 1);
        });
    }
}
