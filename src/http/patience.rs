//! A stream that does not wait for ever: a client that neither reads nor writes is let go.
//!
//! hyper bounds how long a request's headers may take, but not how long a client may take to read its answer, nor how
//! long one may keep a connection of HTTP/2 without using it. Both end here.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

pub(super) struct Patient<S> {
    stream: S,
    /// As long as this may pass without a byte in either direction.
    idle: Duration,
    progressed: Instant,
    /// Whatever the progress, reading ends here.
    deadline: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, idle: Duration) -> Self {
        let now = Instant::now();
        Self { stream, idle, progressed: now, deadline: None, alarm: Box::pin(sleep_until(now + idle)) }
    }

    /// Sets an end that no progress moves, or takes it away. An alarm that rings later than the deadline is set anew.
    pub(super) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
        if deadline.is_some_and(|deadline| deadline < self.alarm.deadline()) {
            let ends = self.ends();
            self.alarm.as_mut().reset(ends);
        }
    }

    fn ends(&self) -> Instant {
        let idle = self.progressed + self.idle;
        self.deadline.map_or(idle, |deadline| deadline.min(idle))
    }

    /// Ready with an error once the patience is at its end. The alarm is only moved when it rings, not with each byte.
    fn poll_alarm(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let ends = self.ends();
            if ends <= Instant::now() {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            self.alarm.as_mut().reset(ends);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(result) => {
                self.progressed = Instant::now();
                Poll::Ready(result)
            }
            Poll::Pending => self.poll_alarm(context).map(Err),
        }
    }
}

impl<S: AsyncWrite + Unpin> Patient<S> {
    fn progress<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match polled {
            Poll::Ready(result) => {
                self.progressed = Instant::now();
                Poll::Ready(result)
            }
            Poll::Pending => self.poll_alarm(context).map(Err),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.progress(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
