//! The queue of the ledger's writer, and the rules for when a commit starts.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use hornbook_base::clock::SteadyMicros;

use super::error::LedgerError;
use super::job::{Change, Post, WriterJob};
use super::reply::{ReplyReceiver, ReplySender, reply_channel};
use super::settings::Durability;

/// While this many jobs wait, new debits and changes are refused.
const QUEUED_MAX: usize = 8192;
/// The maximum number of debits and refunds in one commit.
const BATCH_MAX: usize = 4096;
/// How long the writer waits for the callers of the last commit to come back before it starts the next one.
const COMEBACK_WAIT: Duration = Duration::from_micros(400);
/// How long debits are gathered in `window` mode. The sync after it must fit into the rest of the 50 ms.
const WINDOW: Duration = Duration::from_millis(20);
/// The maximum age of a debit that was answered and is only in memory.
const WINDOW_MAX_MICROS: u64 = 50_000;

pub(crate) struct WriterQueue {
    state: Mutex<QueueState>,
    /// Whether `closed` is set; readable without the lock.
    is_closed: AtomicBool,
    arrived: Condvar,
    durability: Durability,
    /// How often the writer looks for the changes of other servers while it has nothing to do. None: there are no others.
    look_every: Option<Duration>,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<WriterJob>,
    /// Callers who want the changes of other servers to be known.
    followers: Vec<ReplySender<()>>,
    /// A caller waits for the answer: the window ends at once.
    urgent: bool,
    /// The writer sleeps until this many jobs wait.
    wanted: usize,
    oldest_waiting: Option<SteadyMicros>,
    oldest_under_way: Option<SteadyMicros>,
    closed: Option<LedgerError>,
    stopping: bool,
    /// The writer has ended: no job is answered any more.
    gone: bool,
}

pub(crate) enum Batch {
    Posts(Vec<Post>),
    Change(Change),
    /// Somebody asks, or there was nothing to do for a while: other servers may have changed something.
    CatchUp(Vec<ReplySender<()>>),
    Stop,
}

/// Whether the caller is answered at once or must wait for the commit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queued {
    AnswerNow,
    AwaitCommit,
}

impl WriterQueue {
    pub(crate) fn new(durability: Durability, look_every: Option<Duration>) -> Self {
        let (state, arrived) = (Mutex::default(), Condvar::new());
        Self { state, is_closed: AtomicBool::new(false), arrived, durability, look_every }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn check_open(&self) -> Result<(), LedgerError> {
        if !self.is_closed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.lock().closed.map_or(Ok(()), Err)
    }

    /// Queues a debit. `make` gets whether the caller will wait.
    pub(crate) fn debit(&self, at: SteadyMicros, make: impl FnOnce(Queued) -> Post) -> Result<Queued, LedgerError> {
        let mut waiting = self.lock();
        if let Some(error) = waiting.closed {
            return Err(error);
        }
        if waiting.jobs.len() >= QUEUED_MAX {
            return Err(LedgerError::Overloaded);
        }
        let queued = match self.durability {
            Durability::Strict => Queued::AwaitCommit,
            Durability::Window => waiting.within_window(at),
        };
        if queued == Queued::AnswerNow {
            waiting.oldest_waiting.get_or_insert(at);
        }
        waiting.urgent |= queued == Queued::AwaitCommit;
        waiting.jobs.push_back(WriterJob::Post(make(queued)));
        self.wake(&waiting);
        Ok(queued)
    }

    /// Queues a refund. It is accepted even while the ledger is down, because it is owed. The
    /// writer then records it, and its caller does not wait for the end of the outage.
    pub(crate) fn refund(&self, mut post: Post) {
        let mut waiting = self.lock();
        if waiting.gone {
            if let Some(promise) = post.promise.take() {
                promise.answer(Err(LedgerError::Closed));
            }
            return;
        }
        waiting.urgent = true;
        waiting.jobs.push_back(WriterJob::Post(post));
        self.wake(&waiting);
    }

    pub(crate) fn change(&self, change: Change) -> Result<(), LedgerError> {
        let mut waiting = self.lock();
        if let Some(error) = waiting.closed {
            return Err(error);
        }
        if waiting.jobs.len() >= QUEUED_MAX {
            return Err(LedgerError::Overloaded);
        }
        waiting.urgent = true;
        waiting.jobs.push_back(WriterJob::Change(change));
        self.wake(&waiting);
        Ok(())
    }

    pub(crate) fn has_others(&self) -> bool {
        self.look_every.is_some()
    }

    /// Asks for the changes that other servers made until now. None if nobody else changes anything, or nothing can be read.
    pub(crate) fn follow(&self) -> Option<ReplyReceiver<()>> {
        let mut waiting = self.lock();
        if !self.has_others() || waiting.closed.is_some() || waiting.followers.len() >= QUEUED_MAX {
            return None;
        }
        let (promise, followed) = reply_channel();
        waiting.followers.push(promise);
        self.arrived.notify_one();
        Some(followed)
    }

    fn wake(&self, waiting: &QueueState) {
        if waiting.jobs.len() >= waiting.wanted || waiting.urgent && self.durability == Durability::Window {
            self.arrived.notify_one();
        }
    }

    /// Waits for the writer's next batch. `expected` callers were answered last; giving them a
    /// moment to come back makes one full commit out of two half-full ones.
    pub(crate) fn next(&self, expected: usize) -> Batch {
        let mut waiting = self.lock();
        waiting.oldest_under_way = None;
        waiting.wanted = 1;
        let is_idle =
            |waiting: &mut QueueState| waiting.jobs.is_empty() && waiting.followers.is_empty() && !waiting.stopping;
        waiting = match self.look_every {
            None => self.arrived.wait_while(waiting, is_idle).unwrap_or_else(PoisonError::into_inner),
            Some(pause) => {
                let waited = self.arrived.wait_timeout_while(waiting, pause, is_idle);
                let (waiting, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                if timeout.timed_out() {
                    return Batch::CatchUp(Vec::new());
                }
                waiting
            }
        };
        // They wait for a single read; jobs that arrive meanwhile are one batch.
        if !waiting.followers.is_empty() {
            return Batch::CatchUp(std::mem::take(&mut waiting.followers));
        }
        let (wanted, longest) = match self.durability {
            Durability::Window if !waiting.urgent => (usize::MAX, WINDOW),
            _ => (expected, COMEBACK_WAIT),
        };
        if waiting.jobs.len() < wanted && !waiting.stopping {
            waiting.wanted = wanted;
            let too_few = |waiting: &mut QueueState| {
                let window_over = waiting.urgent && wanted == usize::MAX;
                waiting.jobs.len() < wanted && !window_over && !waiting.stopping
            };
            let gathered = self.arrived.wait_timeout_while(waiting, longest, too_few);
            waiting = gathered.unwrap_or_else(PoisonError::into_inner).0;
        }
        // While the writer works, nobody needs to wake it.
        waiting.wanted = usize::MAX;
        waiting.take_batch()
    }

    /// Refuses all new debits and changes with this error.
    pub(crate) fn close(&self, error: LedgerError) {
        let mut waiting = self.lock();
        self.set_closed(&mut waiting, Some(error));
    }

    fn set_closed(&self, waiting: &mut QueueState, closed: Option<LedgerError>) {
        waiting.closed = closed;
        self.is_closed.store(closed.is_some(), Ordering::Release);
    }

    pub(crate) fn open(&self) {
        let mut waiting = self.lock();
        if !waiting.stopping {
            self.set_closed(&mut waiting, None);
        }
    }

    pub(crate) fn stop(&self) {
        let mut waiting = self.lock();
        self.set_closed(&mut waiting, Some(LedgerError::Closed));
        waiting.stopping = true;
        self.arrived.notify_all();
    }

    /// Removes and returns the waiting jobs; the writer answers them.
    pub(crate) fn drain(&self) -> Vec<WriterJob> {
        let mut waiting = self.lock();
        waiting.oldest_waiting = None;
        waiting.oldest_under_way = None;
        waiting.followers.clear();
        waiting.jobs.drain(..).collect()
    }

    #[cfg(test)]
    pub(crate) fn has_jobs(&self) -> bool {
        !self.lock().jobs.is_empty()
    }

    /// Removes and returns the waiting jobs, and refuses all new ones.
    pub(crate) fn end(&self) -> Vec<WriterJob> {
        let mut waiting = self.lock();
        self.set_closed(&mut waiting, Some(LedgerError::Closed));
        waiting.gone = true;
        waiting.followers.clear();
        waiting.jobs.drain(..).collect()
    }

    /// Sleeps for this time, or until a refund arrives. Returns false if the server is stopping.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let mut waiting = self.lock();
        waiting.wanted = 1;
        let nothing_new = |waiting: &mut QueueState| !waiting.stopping && waiting.jobs.is_empty();
        let slept = self.arrived.wait_timeout_while(waiting, time, nothing_new);
        let mut waiting = slept.unwrap_or_else(PoisonError::into_inner).0;
        waiting.wanted = usize::MAX;
        !waiting.stopping
    }
}

impl QueueState {
    fn within_window(&self, at: SteadyMicros) -> Queued {
        let oldest = self.oldest_under_way.or(self.oldest_waiting);
        let too_old = oldest.is_some_and(|oldest| at.micros_since(oldest) >= WINDOW_MAX_MICROS);
        // Callers that are faster than the writer wait for it instead of being refused.
        if too_old || self.jobs.len() >= BATCH_MAX {
            return Queued::AwaitCommit;
        }
        Queued::AnswerNow
    }

    /// Takes the leading debits and refunds together, or one change alone.
    fn take_batch(&mut self) -> Batch {
        let leading = self.jobs.iter().take(BATCH_MAX).take_while(|job| matches!(job, WriterJob::Post(_))).count();
        let taken: Vec<Post> = self.jobs.drain(..leading).filter_map(WriterJob::into_post).collect();
        self.urgent = !self.jobs.is_empty();
        self.oldest_under_way = self.oldest_waiting.take();
        if !taken.is_empty() {
            return Batch::Posts(taken);
        }
        match self.jobs.pop_front() {
            Some(WriterJob::Change(change)) => Batch::Change(change),
            _ => Batch::Stop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debit_is_answered_before_its_commit_for_50_ms_and_no_longer() {
        let start = SteadyMicros(1_000_000);
        let answered =
            |waiting: &QueueState, after| waiting.within_window(start.plus_micros(after)) == Queued::AnswerNow;
        let mut waiting = QueueState::default();
        assert!(answered(&waiting, 0), "nothing waits");
        waiting.oldest_waiting = Some(start);
        assert!(answered(&waiting, 49_999) && !answered(&waiting, 50_000));
        // The jobs that the writer took count until their commit is done.
        waiting.take_batch();
        assert_eq!((waiting.oldest_waiting, waiting.oldest_under_way), (None, Some(start)));
        waiting.oldest_waiting = Some(start.plus_micros(40_000));
        assert!(!answered(&waiting, 50_000));
        waiting.oldest_under_way = None;
        assert!(answered(&waiting, 89_999) && !answered(&waiting, 90_000));
    }
}
