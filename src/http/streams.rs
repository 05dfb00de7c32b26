//! The requests of one HTTP/2 connection, from their heads until the client has read the responses.
//!
//! With flow control, a client can request much at once and read nothing, without blocking a single write
//! to the socket. Therefore requests wait while the connection has too many unread bytes. Each response
//! also has a deadline, which leaves enough time to read all unread responses at the lowest allowed rate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::timeouts::Timeouts;
use crate::api::unread::PENDING_RESPONSE_BYTES;

/// Maximum number of unread bytes of one connection. When it is reached, further requests wait.
const UNREAD_BYTES_MAX: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Streams {
    state: Mutex<StreamState>,
    room: Notify,
}

#[derive(Default)]
struct StreamState {
    /// Requests whose responses are not made or not read yet.
    requests: usize,
    /// Bytes that count against [`UNREAD_BYTES_MAX`], responses in progress included.
    taken: usize,
    unread: usize,
    /// When the response of each request must be read.
    deadlines: Vec<(u64, Instant)>,
    begun: u64,
    /// When the last request ended.
    last_end: Option<Instant>,
}

/// Whether a connection has requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ConnectionUse {
    /// It has requests. The value is the earliest deadline of a response, if one is made.
    Busy(Option<Instant>),
    /// It has none. The value is the end of the last request, if there was one.
    Idle(Option<Instant>),
}

impl Streams {
    /// Counts a new request.
    pub(super) fn begin(self: &Arc<Self>) -> StreamShare {
        let mut state = self.lock();
        state.requests += 1;
        state.begun += 1;
        StreamShare { streams: Arc::clone(self), number: state.begun, taken: 0, unread: 0 }
    }

    pub(super) fn current_use(&self) -> ConnectionUse {
        let state = self.lock();
        match state.requests {
            0 => ConnectionUse::Idle(state.last_end),
            _ => ConnectionUse::Busy(state.deadlines.iter().map(|(_, deadline)| *deadline).min()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request and its share of [`UNREAD_BYTES_MAX`], which it gives back on drop.
pub(super) struct StreamShare {
    streams: Arc<Streams>,
    number: u64,
    taken: usize,
    unread: usize,
}

impl StreamShare {
    /// Waits until there is room. The deadlines of unread responses limit the wait.
    pub(super) async fn wait_for_room(&mut self) {
        while !self.take_room() {
            self.streams.room.notified().await;
        }
    }

    fn take_room(&mut self) -> bool {
        let mut state = self.streams.lock();
        if state.taken >= UNREAD_BYTES_MAX {
            return false;
        }
        state.taken += PENDING_RESPONSE_BYTES;
        self.taken = PENDING_RESPONSE_BYTES;
        if state.taken < UNREAD_BYTES_MAX {
            // Each request that gets room wakes the next one.
            self.streams.room.notify_one();
        }
        true
    }

    /// Sets the length of the finished response, or of a further part of it, and how much of it counts
    /// against the room.
    pub(super) fn answered(&mut self, taken: usize, bytes: usize, timeouts: &Timeouts) {
        let mut state = self.streams.lock();
        state.taken = state.taken - self.taken + taken;
        state.unread = state.unread - self.unread + bytes;
        (self.taken, self.unread) = (taken, bytes);
        let deadline = Instant::now() + timeouts.unread + timeouts.time_to_read(state.unread);
        state.deadlines.retain(|(number, _)| *number != self.number);
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
    fn requests_wait_until_enough_is_read() {
        let streams = Arc::new(Streams::default());
        let mut shares: Vec<StreamShare> = (0..64).map(|_| streams.begin()).collect();
        let let_in = shares.iter_mut().filter_map(|share| is_let_in(share).then_some(())).count();
        assert_eq!(let_in, UNREAD_BYTES_MAX / PENDING_RESPONSE_BYTES);
        for share in &mut shares[..let_in] {
            share.answered(10, 10, &TIMEOUTS);
        }
        assert!(is_let_in(&mut shares[let_in]), "the responses are short");
        shares[let_in].answered(UNREAD_BYTES_MAX, UNREAD_BYTES_MAX, &TIMEOUTS);
        assert!(!is_let_in(&mut shares[let_in + 1]));
        drop(shares.remove(let_in));
        assert!(is_let_in(&mut shares[let_in]));
    }

    #[test]
    fn a_response_has_a_deadline_until_it_is_read() {
        let streams = Arc::new(Streams::default());
        assert_eq!(streams.current_use(), ConnectionUse::Idle(None));
        let (mut first, mut second) = (streams.begin(), streams.begin());
        assert_eq!(streams.current_use(), ConnectionUse::Busy(None));
        let before = Instant::now();
        first.answered(5000, 5000, &TIMEOUTS);
        let ConnectionUse::Busy(Some(deadline)) = streams.current_use() else {
            panic!("a response without a deadline")
        };
        assert!(deadline >= before + Duration::from_secs(25) && deadline <= Instant::now() + Duration::from_secs(25));
        second.answered(5000, 5000, &TIMEOUTS);
        assert_eq!(streams.current_use(), ConnectionUse::Busy(Some(deadline)), "the first is still unread");
        drop(first);
        let ConnectionUse::Busy(Some(later)) = streams.current_use() else { panic!("a response without a deadline") };
        assert!(later >= before + Duration::from_secs(30));
        drop(second);
        assert!(matches!(streams.current_use(), ConnectionUse::Idle(Some(_))));
    }
}
