//! Delays refusals of clients that are refused again and again.
//!
//! Clients that do not slow down when they are refused would otherwise take the processors from those who
//! pay: a refusal costs about as much as a lookup. Each address has a number of prompt refusals. Further
//! ones are sent after a delay, so that a client gets few on each connection or stream.
//!
//! A connection that ends without a request counts as a refusal. From an address that has had too many, new connections
//! are read after the same delay.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hornbook_base::clock::SteadyMicros;
use hyper::StatusCode;

use crate::token_buckets::ClientRate;

/// Prompt refusals of one address.
const PROMPT_PER_MINUTE: u32 = 300;

const DELAY: Duration = Duration::from_millis(250);

/// Maximum number of refusals that wait at the same time, which limits their memory. More are sent at once.
const WAITING_MAX: usize = 4096;

pub(super) struct RefusalDelay {
    prompt: ClientRate,
    waiting: AtomicUsize,
}

impl RefusalDelay {
    pub(super) fn new() -> Self {
        Self { prompt: ClientRate::in_proportion(PROMPT_PER_MINUTE), waiting: AtomicUsize::new(0) }
    }

    /// Waits if the client was refused too often. Only refusals that need no further work are delayed: a caller
    /// with credits who asks for something that does not exist has paid for the next answer.
    pub(super) async fn wait(&self, status: StatusCode, client: IpAddr, now: SteadyMicros) {
        if is_delayed(status) && self.prompt.take(client, now).is_err() {
            self.delay().await;
        }
    }

    /// Waits before a connection of this address is read if the address was refused too often.
    pub(super) async fn wait_before_reading(&self, client: IpAddr, now: SteadyMicros) {
        if self.prompt.is_exceeded_by(client, now) {
            self.delay().await;
        }
    }

    /// Counts a connection that ended without a request.
    pub(super) fn count_unused_connection(&self, client: IpAddr, now: SteadyMicros) {
        let _ = self.prompt.take(client, now);
    }

    async fn delay(&self) {
        if let Some(_waiting) = Waiting::begin(&self.waiting) {
            tokio::time::sleep(DELAY).await;
        }
    }
}

fn is_delayed(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::PAYMENT_REQUIRED | StatusCode::TOO_MANY_REQUESTS)
}

/// A refusal that waits. Clients may disconnect meanwhile, which drops it.
struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    fn begin(count: &'c AtomicUsize) -> Option<Self> {
        let others = count.fetch_add(1, Ordering::Relaxed);
        let waiting = Self(count);
        (others < WAITING_MAX).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const NOW: SteadyMicros = SteadyMicros(3_600_000_000);

    /// How many of these refusals are sent at once.
    fn prompt(delay: &RefusalDelay, status: StatusCode, from: &str, refusals: u32, now: SteadyMicros) -> u32 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _runtime = runtime.enter();
        let is_prompt = |_: &u32| {
            let waiting = pin!(delay.wait(status, from.parse().unwrap(), now));
            waiting.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
        };
        (0..refusals).filter(is_prompt).count() as u32
    }

    #[test]
    fn refusals_wait_when_an_address_has_had_many() {
        let delay = RefusalDelay::new();
        let refused = |from: &str, now| prompt(&delay, StatusCode::TOO_MANY_REQUESTS, from, 1000, now);
        assert_eq!(refused("192.0.2.1", NOW), PROMPT_PER_MINUTE);
        assert_eq!(refused("192.0.2.2", NOW), PROMPT_PER_MINUTE, "another address");
        assert_eq!(refused("192.0.2.1", SteadyMicros(NOW.0 + 60_000_000)), PROMPT_PER_MINUTE, "a minute later");
    }

    #[test]
    fn answers_and_errors_of_paying_callers_do_not_wait() {
        let delay = RefusalDelay::new();
        for status in [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::UNPROCESSABLE_ENTITY] {
            assert_eq!(prompt(&delay, status, "192.0.2.1", 1000, NOW), 1000, "{status}");
        }
        for status in [StatusCode::UNAUTHORIZED, StatusCode::PAYMENT_REQUIRED] {
            let (refusals, from) = (2 * PROMPT_PER_MINUTE, format!("192.0.2.{}", status.as_u16() % 100));
            assert_eq!(prompt(&delay, status, &from, refusals, NOW), PROMPT_PER_MINUTE, "{status}");
        }
    }

    #[test]
    fn connections_wait_when_an_address_has_opened_many_without_a_request() {
        let delay = RefusalDelay::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _runtime = runtime.enter();
        let is_prompt = |from: &str| {
            let waiting = pin!(delay.wait_before_reading(from.parse().unwrap(), NOW));
            waiting.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
        };
        for _ in 0..PROMPT_PER_MINUTE {
            assert!(is_prompt("192.0.2.1"));
            delay.count_unused_connection("192.0.2.1".parse().unwrap(), NOW);
        }
        assert!(!is_prompt("192.0.2.1"));
        assert!(is_prompt("192.0.2.2"), "another address");
    }

    #[test]
    fn few_refusals_wait_at_the_same_time_and_one_that_is_dropped_makes_room() {
        let count = AtomicUsize::new(0);
        let mut waiting: Vec<_> = (0..WAITING_MAX).map(|_| Waiting::begin(&count).unwrap()).collect();
        assert!(Waiting::begin(&count).is_none() && Waiting::begin(&count).is_none());
        waiting.pop();
        assert!(Waiting::begin(&count).is_some());
    }
}
