//! A stream that does not wait for ever: a client that neither reads nor writes is let go.
//!
//! hyper bounds how long it reads a request's headers, but not how long it waits to learn which version of HTTP a client
//! speaks, nor how long a client may take to read its answer. Both end here.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// As long as the preface of HTTP/2, by which the version is told.
const GREETING_BYTES: usize = 24;

#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// From the first byte to the last of the greeting.
    pub(super) greeting: Duration,
    /// Without a byte in either direction.
    pub(super) idle: Duration,
}

pub(super) struct Patient<S> {
    stream: S,
    patience: Patience,
    began: Instant,
    progressed: Instant,
    greeting_bytes: usize,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Patience) -> Self {
        let now = Instant::now();
        let alarm = Box::pin(sleep_until(now + patience.greeting));
        Self { stream, patience, began: now, progressed: now, greeting_bytes: 0, alarm }
    }

    fn deadline(&self) -> Instant {
        if self.greeting_bytes < GREETING_BYTES {
            self.began + self.patience.greeting
        } else {
            self.progressed + self.patience.idle
        }
    }

    /// Ready with an error once the patience is at its end. The alarm is only moved when it rings, not with each byte.
    fn poll_alarm(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let deadline = self.deadline();
            if deadline <= Instant::now() {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            self.alarm.as_mut().reset(deadline);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(result) => {
                self.greeting_bytes = self.greeting_bytes.saturating_add(buffer.filled().len() - before);
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
