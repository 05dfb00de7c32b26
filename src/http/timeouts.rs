//! Timeouts for clients, and the stream that enforces them: no read, write, flush or shutdown waits forever.
//!
//! A read waits until a deadline that the caller sets. A write uses up an allowance of time while it
//! waits, and each byte that the client reads gives some time back. A client that reads at the lowest
//! allowed rate or faster keeps its allowance. A client that stops reading, or reads a byte now and then,
//! uses it up. Bytes count as read when the kernel, or TLS, accepts them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// The timeouts for clients.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For the head of a request, from its first byte to its last. It also limits the first head of a
    /// connection, from the opening of the connection; the PROXY protocol; the TLS handshake; and each
    /// HTTP/2 frame.
    pub head: Duration,
    /// For the time between two requests.
    pub idle: Duration,
    /// For a client that does not read a response.
    pub unread: Duration,
    /// In bytes per second. A client that reads more slowly than this counts as one that does not read.
    pub read_rate_min: u32,
}

impl Timeouts {
    /// The time that a client at the lowest allowed rate needs for this many bytes.
    pub(super) fn time_to_read(&self, bytes: usize) -> Duration {
        let micros = (bytes as u64).saturating_mul(1_000_000) / u64::from(self.read_rate_min.max(1));
        Duration::from_micros(micros)
    }
}

pub(super) struct TimedStream<S> {
    stream: S,
    timeouts: Timeouts,
    /// When a waiting read fails.
    read_deadline: Option<Instant>,
    allowance: WriteBudget,
    alarm: Pin<Box<Sleep>>,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S, timeouts: Timeouts) -> Self {
        let read_deadline = Instant::now() + timeouts.head;
        Self {
            stream,
            timeouts,
            read_deadline: Some(read_deadline),
            allowance: WriteBudget::new(timeouts),
            alarm: Box::pin(sleep_until(read_deadline)),
        }
    }

    pub(super) fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// Sets when a waiting read fails. `None` while a request is processed.
    pub(super) fn set_read_deadline(&mut self, deadline: Option<Instant>) {
        self.read_deadline = deadline;
    }

    /// Fails when the deadline has passed. Reads and writes share the alarm. It is reset only when it
    /// fires too early or would fire too late, not for each byte.
    fn poll_alarm(&mut self, context: &mut Context<'_>, deadline: Instant) -> Poll<io::Error> {
        if deadline < self.alarm.deadline() {
            self.alarm.as_mut().reset(deadline);
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            if deadline <= Instant::now() {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            self.alarm.as_mut().reset(deadline);
        }
    }

    /// Counts how long a write waited and how much it wrote.
    fn timed_write<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
        moved: impl FnOnce(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        match polled {
            Poll::Ready(Ok(done)) => {
                self.allowance.moved(moved(&done), &self.timeouts, Instant::now);
                Poll::Ready(Ok(done))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                let deadline = self.allowance.waits(Instant::now);
                self.poll_alarm(context, deadline).map(Err)
            }
        }
    }
}

/// How long the writes of a connection may still wait. The clock is read only when a write waits.
struct WriteBudget {
    left: Duration,
    waits_since: Option<Instant>,
}

impl WriteBudget {
    fn new(timeouts: Timeouts) -> Self {
        Self { left: timeouts.unread, waits_since: None }
    }

    /// Records that a write waits. Returns its deadline.
    fn waits(&mut self, now: impl FnOnce() -> Instant) -> Instant {
        *self.waits_since.get_or_insert_with(now) + self.left
    }

    /// Records that a write has finished, with this many bytes.
    fn moved(&mut self, bytes: usize, timeouts: &Timeouts, now: impl FnOnce() -> Instant) {
        if let Some(since) = self.waits_since.take() {
            self.left = self.left.saturating_sub(now() - since);
        }
        if self.left < timeouts.unread && bytes > 0 {
            self.left = timeouts.unread.min(self.left + timeouts.time_to_read(bytes));
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending => match self.read_deadline {
                Some(deadline) => self.poll_alarm(context, deadline).map(Err),
                None => Poll::Pending,
            },
            ready @ Poll::Ready(_) => ready,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed_write(context, polled, |written| *written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.timed_write(context, polled, |written| *written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.timed_write(context, polled, |()| 0)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.timed_write(context, polled, |()| 0)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const TIMEOUTS: Timeouts =
        Timeouts { head: SECOND, idle: SECOND, unread: Duration::from_secs(20), read_rate_min: 100 };
    const SHORT: Timeouts = Timeouts { head: Duration::from_millis(50), unread: Duration::from_millis(50), ..TIMEOUTS };

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
    }

    fn has_timed_out<T>(result: io::Result<T>) -> bool {
        result.is_err_and(|error| error.kind() == io::ErrorKind::TimedOut)
    }

    #[test]
    fn reads_and_unread_writes_time_out() {
        run(async {
            let (_client, server) = duplex(64);
            let mut stream = TimedStream::new(server, SHORT);
            let opened = Instant::now();
            assert!(has_timed_out(stream.read_u8().await));
            assert!(opened.elapsed() >= SHORT.head);
            let deadline = opened + 3 * SHORT.head;
            stream.set_read_deadline(Some(deadline));
            assert!(has_timed_out(stream.read_u8().await));
            assert!(Instant::now() >= deadline);
            assert!(has_timed_out(stream.write_all(&[0; 1000]).await));
        });
    }

    /// A stream that accepts all bytes and never flushes, like TLS with a client that does not read.
    struct Unflushed;

    impl AsyncWrite for Unflushed {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    #[test]
    fn flushes_and_shutdowns_time_out() {
        run(async {
            let mut stream = TimedStream::new(Unflushed, SHORT);
            stream.write_all(b"an answer").await.unwrap();
            assert!(has_timed_out(stream.flush().await));
            let mut stream = TimedStream::new(Unflushed, SHORT);
            assert!(has_timed_out(stream.shutdown().await));
        });
    }

    /// The seconds until the timeout, for a client that reads this many bytes each second; at most an hour.
    fn seconds_until_timeout(bytes_a_second: usize) -> u64 {
        let mut allowance = WriteBudget::new(TIMEOUTS);
        let mut now = Instant::now();
        for second in 0..3600 {
            if allowance.waits(|| now) < now + SECOND {
                return second;
            }
            now += SECOND;
            allowance.moved(bytes_a_second, &TIMEOUTS, || now);
        }
        3600
    }

    #[test]
    fn slow_readers_time_out_and_the_lowest_rate_does_not() {
        assert_eq!(seconds_until_timeout(0), 20);
        assert_eq!(seconds_until_timeout(1), 20);
        assert_eq!(seconds_until_timeout(50), 39, "half of each second is returned");
        assert_eq!(seconds_until_timeout(100), 3600);
        assert_eq!(seconds_until_timeout(100_000), 3600);
    }

    #[test]
    fn a_fast_client_gets_no_longer_timeout_later() {
        let mut allowance = WriteBudget::new(TIMEOUTS);
        let now = Instant::now();
        allowance.waits(|| now);
        allowance.moved(1 << 30, &TIMEOUTS, || now + SECOND);
        assert_eq!(allowance.waits(|| now + SECOND), now + SECOND + TIMEOUTS.unread);
    }
}
