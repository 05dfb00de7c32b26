//! The requests of one HTTP/2 connection, from their heads until their clients have read the answers.
//!
//! A client may ask for much at once and read nothing of it, stream by stream, without ever keeping a write waiting. So
//! requests wait for their turn while the answers before them take up the connection's room, and every answer has a
//! deadline: the time that a client at the lowest rate needs for all that is unread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::timeouts::Timeouts;
use crate::api::unread::BYTES_IN_THE_MAKING;

/// Unread bytes of answers of one connection, beyond which no further request is begun.
const ROOM: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Streams {
    state: Mutex<State>,
    room: Notify,
}

#[derive(Default)]
struct State {
    /// Requests that are not answered, or whose answers are not read.
    requests: usize,
    /// Of the connection's room, answers in the making included.
    taken: usize,
    unread: usize,
    /// When the answers of which streams must be read.
    deadlines: Vec<(u64, Instant)>,
    begun: u64,
    /// When a request ended last.
    last_end: Option<Instant>,
}

/// Whether a connection has requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// Some are under way; the first answer that must be read has this deadline.
    Busy(Option<Instant>),
    /// None is; the last ended then, if there was one.
    Idle(Option<Instant>),
}

impl Streams {
    /// A request came in.
    pub(super) fn begin(self: &Arc<Self>) -> StreamShare {
        let mut state = self.lock();
        state.requests += 1;
        state.begun += 1;
        StreamShare { streams: Arc::clone(self), number: state.begun, taken: 0, unread: 0 }
    }

    pub(super) fn in_use(&self) -> Use {
        let state = self.lock();
        match state.requests {
            0 => Use::Idle(state.last_end),
            _ => Use::Busy(state.deadlines.iter().map(|(_, deadline)| *deadline).min()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request, and what its answer takes of the connection's room; given back when dropped.
pub(super) struct StreamShare {
    streams: Arc<Streams>,
    number: u64,
    taken: usize,
    unread: usize,
}

impl StreamShare {
    /// Waits for room for the answer. The deadlines of the answers that take it up end the wait.
    pub(super) async fn wait_for_room(&mut self) {
        while !self.take_room() {
            self.streams.room.notified().await;
        }
    }

    fn take_room(&mut self) -> bool {
        let mut state = self.streams.lock();
        if state.taken >= ROOM {
            return false;
        }
        state.taken += BYTES_IN_THE_MAKING;
        self.taken = BYTES_IN_THE_MAKING;
        if state.taken < ROOM {
            // Each that enters lets the next one look.
            self.streams.room.notify_one();
        }
        true
    }

    /// The answer is made, and so long; so many of its bytes take up room.
    pub(super) fn answered(&mut self, taken: usize, bytes: usize, timeouts: &Timeouts) {
        let mut state = self.streams.lock();
        state.taken = state.taken - self.taken + taken;
        state.unread += bytes;
        (self.taken, self.unread) = (taken, bytes);
        let deadline = Instant::now() + timeouts.unread + timeouts.time_to_read(state.unread);
        state.deadlines.push((self.number, deadline));
    }
}

impl Drop for StreamShare {
    fn drop(&mut self) {
        let mut state = self.streams.lock();
        state.requests -= 1;
        state.taken -= self.taken;
        state.unread -= self.unread;
        state.deadlines.retain(|(number, _)| *number != self.number);
        state.last_end = Some(Instant::now());
        self.streams.room.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use super::*;

    const TIMEOUTS: Timeouts = Timeouts {
        head: Duration::from_secs(1),
        idle: Duration::from_secs(1),
        unread: Duration::from_secs(20),
        read_rate_min: 1000,
    };

    fn is_let_in(share: &mut StreamShare) -> bool {
        let waiting = pin!(share.wait_for_room());
        waiting.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    #[test]
    fn requests_wait_while_answers_take_up_the_room_and_go_on_when_they_are_read() {
        let streams = Arc::new(Streams::default());
        let mut shares: Vec<StreamShare> = (0..64).map(|_| streams.begin()).collect();
        let let_in = shares.iter_mut().filter_map(|share| is_let_in(share).then_some(())).count();
        assert_eq!(let_in, ROOM / BYTES_IN_THE_MAKING);
        for share in &mut shares[..let_in] {
            share.answered(10, 10, &TIMEOUTS);
        }
        assert!(is_let_in(&mut shares[let_in]), "answers are as long as they are");
        shares[let_in].answered(ROOM, ROOM, &TIMEOUTS);
        assert!(!is_let_in(&mut shares[let_in + 1]));
        drop(shares.remove(let_in));
        assert!(is_let_in(&mut shares[let_in]));
    }

    #[test]
    fn every_answer_has_a_deadline_for_all_that_is_unread_until_it_is_read() {
        let streams = Arc::new(Streams::default());
        assert_eq!(streams.in_use(), Use::Idle(None));
        let (mut first, mut second) = (streams.begin(), streams.begin());
        assert_eq!(streams.in_use(), Use::Busy(None));
        let before = Instant::now();
        first.answered(5000, 5000, &TIMEOUTS);
        let Use::Busy(Some(deadline)) = streams.in_use() else { panic!("an answer without a deadline") };
        assert!(deadline >= before + Duration::from_secs(25) && deadline <= Instant::now() + Duration::from_secs(25));
        second.answered(5000, 5000, &TIMEOUTS);
        assert_eq!(streams.in_use(), Use::Busy(Some(deadline)), "the first is still unread");
        drop(first);
        let Use::Busy(Some(later)) = streams.in_use() else { panic!("an answer without a deadline") };
        assert!(later >= before + Duration::from_secs(30));
        drop(second);
        assert!(matches!(streams.in_use(), Use::Idle(Some(_))));
    }
}
