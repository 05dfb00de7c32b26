//! The stream that hyper reads: nothing but whole heads of requests that passed [`Head`] reach it over HTTP/1.
//!
//! A head that is refused is replaced by a request for `*` that no client can send, and nothing follows it. The service
//! finds the reason in the connection's [`Refusals`] and answers as it answers everything: with the Error object, a
//! request id, a line in the log, behind the answers to what was asked before, and hyper closes the connection. So no
//! byte of an answer is hyper's own. Connections of HTTP/2 are known by their preface and pass as they are; its frames
//! cannot be read in two ways, and what is in them is checked request by request.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Method, Request};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::head::Head;
use super::patience::Patient;
use crate::api::error::{ApiError, ErrorCode};

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// An address that [`Head`] lets nobody ask for with these methods.
const REFUSED: &str = "*";

const READ_BYTES: usize = 4 << 10;

/// A refused client may still be sending; what it sends is read for a moment, or the refusal would be lost with the
/// connection.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: usize = 1 << 20;

/// How long a client may take for what.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// From the first byte of a head to its last, from the opening of a connection to its first byte, and for what comes
    /// before that: the word of a proxy, the handshake of TLS.
    pub head: Duration,
    /// Between two requests, and without a byte in either direction.
    pub idle: Duration,
}

/// Why the last request of a connection was refused.
#[derive(Clone, Default)]
pub(super) struct Refusals(Arc<Mutex<Option<ApiError>>>);

impl Refusals {
    fn put(&self, error: ApiError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// The reason, if this request stands for one that was refused.
    pub(super) fn take(&self, request: &Request<Incoming>) -> Option<ApiError> {
        let stands_for_refused =
            request.uri().path() == REFUSED && matches!(*request.method(), Method::GET | Method::HEAD);
        if !stands_for_refused {
            return None;
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

pub(super) struct Guard<S> {
    stream: Patient<S>,
    patience: Patience,
    refusals: Refusals,
    stage: Stage,
    /// What was read and not yet handed on.
    held: Vec<u8>,
    /// How much of that may be handed on.
    passed: usize,
    /// Whether something is held that came along behind the head before.
    came_along: bool,
    head: Head,
    lingered: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing tells yet which version of HTTP is spoken.
    Greeting,
    /// HTTP/1, before or within a head.
    Heads,
    /// HTTP/2.
    Frames,
    Refused,
    /// The refusal was sent; what still comes is thrown away.
    Lingering,
}

impl<S> Guard<S> {
    pub(super) fn new(stream: S, patience: Patience, refusals: Refusals) -> Self {
        let mut stream = Patient::new(stream, patience.idle);
        stream.set_deadline(Some(Instant::now() + patience.head));
        Self {
            stream,
            patience,
            refusals,
            stage: Stage::Greeting,
            held: Vec::new(),
            passed: 0,
            came_along: false,
            head: Head::default(),
            lingered: 0,
        }
    }

    /// Looks at what is held.
    fn judge(&mut self) {
        if self.stage == Stage::Greeting {
            let common = self.held.len().min(HTTP2_PREFACE.len());
            if self.held[..common] != HTTP2_PREFACE[..common] {
                self.stage = Stage::Heads;
            } else if common == HTTP2_PREFACE.len() {
                self.stage = Stage::Frames;
                self.passed = self.held.len();
                self.stream.set_deadline(None);
                return;
            } else {
                return;
            }
        }
        match self.head.read(&self.held) {
            Ok(Some(length)) => {
                self.passed = length;
                self.head = Head::default();
                self.stream.set_deadline(None);
            }
            Ok(None) => {}
            Err(error) => self.refuse(error),
        }
    }

    fn refuse(&mut self, error: ApiError) {
        let method = if self.head.is_head() { "HEAD" } else { "GET" };
        self.held = format!("{method} {REFUSED} HTTP/1.1\r\nHost: refused\r\nConnection: close\r\n\r\n").into_bytes();
        self.passed = self.held.len();
        self.refusals.put(error);
        self.stage = Stage::Refused;
        self.stream.set_deadline(None);
    }

    fn hand_on(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.passed.min(buffer.remaining());
        buffer.put_slice(&self.held[..length]);
        self.held.drain(..length);
        self.passed -= length;
        self.came_along = self.passed == 0 && !self.held.is_empty();
        if self.held.is_empty() {
            // A connection that waits for its next request holds no memory for it.
            self.held = Vec::new();
        }
    }
}

impl<S: AsyncRead + Unpin> Guard<S> {
    /// Reads more of the head under way. `false` at the end of the stream.
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut space = [0; READ_BYTES];
        let mut buffer = ReadBuf::new(&mut space);
        match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
            Ok(()) if buffer.filled().is_empty() && self.held.is_empty() => return Poll::Ready(Ok(false)),
            Ok(()) if buffer.filled().is_empty() => self.refuse(cut_short()),
            Ok(()) => {
                if self.held.is_empty() && self.stage == Stage::Heads {
                    self.stream.set_deadline(Some(Instant::now() + self.patience.head));
                }
                self.held.extend_from_slice(buffer.filled());
                self.judge();
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut && !self.held.is_empty() => self.refuse(too_slow()),
            Err(error) => return Poll::Ready(Err(error)),
        }
        Poll::Ready(Ok(true))
    }

    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut space = [0; READ_BYTES];
        while self.lingered < LINGER_BYTES_MAX {
            let mut buffer = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => self.lingered += buffer.filled().len(),
                Ok(()) | Err(_) => break,
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.passed > 0 {
                self.hand_on(buffer);
                return Poll::Ready(Ok(()));
            }
            match self.stage {
                Stage::Frames => return Pin::new(&mut self.stream).poll_read(context, buffer),
                // The refusal is the last answer; it needs nothing more from the client.
                Stage::Refused | Stage::Lingering => return Poll::Pending,
                Stage::Greeting | Stage::Heads => {}
            }
            if std::mem::take(&mut self.came_along) {
                let deadline = Instant::now() + self.patience.head;
                self.stream.set_deadline(Some(deadline));
                self.judge();
            } else if !ready!(self.poll_more(context))? {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guard<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.stage == Stage::Lingering {
            return self.poll_linger(context).map(Ok);
        }
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        if self.stage == Stage::Refused {
            self.stage = Stage::Lingering;
            self.stream.set_deadline(Some(Instant::now() + LINGER));
            return self.poll_linger(context).map(Ok);
        }
        Poll::Ready(Ok(()))
    }
}

fn too_slow() -> ApiError {
    let message = "the head of the request took too long to arrive; send it in one piece";
    ApiError::new(ErrorCode::RequestTimeout, message)
}

fn cut_short() -> ApiError {
    let message = "the connection ended within the head of a request; send all of it, and an empty line behind it";
    ApiError::new(ErrorCode::BadRequest, message)
}
