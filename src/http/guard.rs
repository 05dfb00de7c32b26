//! The stream that hyper reads: nothing but whole heads of requests that passed [`Head`] reach it over HTTP/1, one at a
//! time.
//!
//! Between two requests the guard has the connection alone: [`Guard::poll_request`] waits for the next one without a
//! buffer. Once a request is there hyper gets its head, and [`Exchange::is_answered`] tells when its answer is sent. Until
//! then the stream is read for its end, or for what may come along behind, which is held back.
//!
//! A head that is refused is replaced by a request for `*` that no client can send, and nothing follows it. The service
//! finds the reason in the connection's [`Exchange`] and answers as it answers everything: with the Error object, a
//! request id, a line in the log, behind the answers to what was asked before, and hyper closes the connection. So no
//! byte of an answer is hyper's own. Connections of HTTP/2 are known by their preface and pass as they are; its frames
//! cannot be read in two ways, and what is in them is checked request by request.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// What the stream tells of the request under way.
#[derive(Clone, Default)]
pub(super) struct Exchange(Arc<Told>);

#[derive(Default)]
struct Told {
    /// Why it was refused.
    refusal: Mutex<Option<ApiError>>,
    is_answered: AtomicBool,
}

impl Exchange {
    fn refuse(&self, error: ApiError) {
        *self.0.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// The reason, if this request stands for one that was refused.
    pub(super) fn refusal(&self, request: &Request<Incoming>) -> Option<ApiError> {
        let stands_for_refused =
            request.uri().path() == REFUSED && matches!(*request.method(), Method::GET | Method::HEAD);
        if !stands_for_refused {
            return None;
        }
        self.0.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether all of the answer was sent.
    pub(super) fn is_answered(&self) -> bool {
        self.0.is_answered.load(Ordering::Relaxed)
    }

    fn set_answered(&self, is_answered: bool) {
        self.0.is_answered.store(is_answered, Ordering::Relaxed);
    }
}

pub(super) struct Guard<S> {
    stream: Patient<S>,
    patience: Patience,
    exchange: Exchange,
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

/// What a client sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrived {
    /// A request of HTTP/1, or one that carries a refusal.
    Request,
    /// The preface of HTTP/2.
    Frames,
    /// The end of the connection.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing tells yet which version of HTTP is spoken.
    Greeting,
    /// HTTP/1, before or within a head.
    Heads,
    /// HTTP/2.
    Frames,
    /// hyper has a request, and nothing of its answer was sent.
    Asked,
    /// A part of the answer was sent. Answers have one piece, so hyper sends all of it before it flushes.
    Answering,
    Answered,
    Refused,
    /// The refusal was sent; what still comes is thrown away.
    Lingering,
}

impl<S> Guard<S> {
    pub(super) fn new(stream: S, patience: Patience, exchange: Exchange) -> Self {
        let mut stream = Patient::new(stream, patience.idle);
        stream.set_deadline(Some(Instant::now() + patience.head));
        Self {
            stream,
            patience,
            exchange,
            stage: Stage::Greeting,
            held: Vec::new(),
            passed: 0,
            came_along: false,
            head: Head::default(),
            lingered: 0,
        }
    }

    pub(super) fn exchange(&self) -> Exchange {
        self.exchange.clone()
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
        self.exchange.refuse(error);
        self.stage = Stage::Refused;
        self.stream.set_deadline(None);
    }

    fn hand_on(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.passed.min(buffer.remaining());
        buffer.put_slice(&self.held[..length]);
        self.held.drain(..length);
        self.passed -= length;
        if self.passed > 0 {
            return;
        }
        if self.stage == Stage::Heads {
            self.stage = Stage::Asked;
        }
        self.exchange.set_answered(false);
        self.came_along = !self.held.is_empty();
        if self.held.is_empty() {
            // A connection that waits for its next request holds no memory for it.
            self.held = Vec::new();
        }
    }

    fn sent<T>(&mut self, polled: Poll<T>) -> Poll<T> {
        if matches!(self.stage, Stage::Asked | Stage::Answered) {
            self.stage = Stage::Answering;
            self.exchange.set_answered(false);
        }
        polled
    }
}

impl<S: AsyncRead + Unpin> Guard<S> {
    /// Waits for a request that may be handed on.
    pub(super) fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Arrived>> {
        if self.stage == Stage::Answered {
            self.stage = Stage::Heads;
        }
        while self.passed == 0 {
            if std::mem::take(&mut self.came_along) {
                let deadline = Instant::now() + self.patience.head;
                self.stream.set_deadline(Some(deadline));
                self.judge();
            } else if !ready!(self.poll_more(context))? {
                return Poll::Ready(Ok(Arrived::Nothing));
            }
        }
        Poll::Ready(Ok(if self.stage == Stage::Frames { Arrived::Frames } else { Arrived::Request }))
    }

    /// Looks whether the client is still there while its request is under way. What it sends meanwhile is held, and nothing
    /// is read beyond that.
    fn poll_presence(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.held.is_empty() {
            let mut space = [MaybeUninit::uninit(); READ_BYTES];
            let mut buffer = ReadBuf::uninit(&mut space);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.held.extend_from_slice(buffer.filled());
            self.came_along = true;
        }
        Poll::Pending
    }

    /// Reads more of the head under way. `false` at the end of the stream.
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut space);
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
        if self.passed > 0 {
            self.hand_on(buffer);
            return Poll::Ready(Ok(()));
        }
        match self.stage {
            Stage::Frames => Pin::new(&mut self.stream).poll_read(context, buffer),
            Stage::Asked | Stage::Answering => self.poll_presence(context),
            // The refusal is the last answer; it needs nothing more from the client. The next request is not hyper's affair
            // before its head is whole.
            Stage::Greeting | Stage::Heads | Stage::Answered | Stage::Refused | Stage::Lingering => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guard<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.sent(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.sent(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        if self.stage == Stage::Answering {
            self.stage = Stage::Answered;
            self.exchange.set_answered(true);
        }
        Poll::Ready(Ok(()))
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const PATIENCE: Patience = Patience { head: Duration::from_secs(10), idle: Duration::from_secs(60) };

    #[test]
    fn a_guard_hands_on_one_head_at_a_time_and_holds_nothing_in_between() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(1 << 10);
            let exchange = Exchange::default();
            let mut guard = Guard::new(server, PATIENCE, exchange.clone());
            client.write_all(&[REQUEST, REQUEST].concat()).await.unwrap();
            for left in [REQUEST.len(), 0] {
                assert_eq!(poll_fn(|context| guard.poll_request(context)).await.unwrap(), Arrived::Request);
                let mut head = vec![0; 3 * REQUEST.len()];
                assert_eq!(guard.read(&mut head).await.unwrap(), REQUEST.len());
                assert_eq!(guard.held.len(), left);
                guard.write_all(b"an answer").await.unwrap();
                assert!(!exchange.is_answered(), "it is not flushed");
                guard.flush().await.unwrap();
                assert!(exchange.is_answered());
            }
            assert_eq!(guard.held.capacity(), 0);
            drop(client);
            assert_eq!(poll_fn(|context| guard.poll_request(context)).await.unwrap(), Arrived::Nothing);
        });
    }
}
