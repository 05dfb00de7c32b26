//! The stream that hyper reads. Over HTTP/1 it passes on only complete requests whose heads [`Head`]
//! accepts, one at a time. Over HTTP/2 it passes on everything, while a [`FrameWatch`] watches the
//! frames.
//!
//! Between two requests only the guard uses the connection: [`RequestStream::poll_request`] waits for the next
//! one without a buffer. Then hyper reads the request. [`ConnectionState::is_answered`] becomes true when
//! the response is sent. Until then the stream is read only for errors and for pipelined bytes, which are
//! held back. A client that closes its sending side after a request still gets the response. A chunked
//! body is passed on with its length, so that hyper never reads chunks.
//!
//! A refused head never reaches hyper. `connection_loop` gets [`Arrived::Refused`] with the reason, and
//! sends the response itself.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::body::{Bodies, BodyShare};
use super::chunks::ChunkDecoder;
use super::frames::FrameWatch;
use super::head::{BodyLength, Head, WholeHead, method_of};
use super::proxies::{FORWARDED_FOR, Peer};
use super::streams::{ConnectionUse, Streams};
use super::timeouts::{TimedStream, Timeouts};
use crate::api::error::{ApiError, ErrorCode};

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const READ_BYTES: usize = 4 << 10;

/// The state of a connection that the guard, the service and `connection_loop` share.
#[derive(Default)]
pub(super) struct ConnectionState {
    /// HTTP/1: whether the response to the current request is sent.
    is_answered: AtomicBool,
    /// HTTP/1: whether parts of that response are still to be made.
    has_more: AtomicBool,
    /// HTTP/2: whether the idle timeout has passed.
    is_idle_over: AtomicBool,
    /// HTTP/2: the requests of the connection.
    streams: OnceLock<Arc<Streams>>,
}

impl ConnectionState {
    pub(super) fn is_answered(&self) -> bool {
        self.is_answered.load(Ordering::Relaxed)
    }

    fn set_answered(&self, is_answered: bool) {
        self.is_answered.store(is_answered, Ordering::Relaxed);
    }

    /// While this is true, what is flushed is not the whole response.
    fn has_more(&self) -> bool {
        self.has_more.load(Ordering::Relaxed)
    }

    pub(super) fn set_has_more(&self, has_more: bool) {
        self.has_more.store(has_more, Ordering::Relaxed);
    }

    pub(super) fn streams(&self) -> &Arc<Streams> {
        self.streams.get_or_init(Arc::default)
    }

    pub(super) fn is_idle_over(&self) -> bool {
        self.is_idle_over.load(Ordering::Relaxed)
    }
}

pub(super) struct RequestStream<S> {
    stream: TimedStream<S>,
    state: Arc<ConnectionState>,
    phase: Phase,
    /// Bytes that were read but not passed on yet.
    buffered: Vec<u8>,
    /// How many of these bytes may be passed on.
    passed: usize,
    /// Whether `held` has bytes that were not checked yet.
    is_unread: bool,
    /// Whether the client has closed its sending side.
    is_half_closed: bool,
    head: Head,
    /// The length of head and body of the current request, once it is known.
    whole: Option<usize>,
    /// How far the body has been read, if it is chunked.
    chunks: Option<ChunkDecoder>,
    head_bytes: usize,
    /// The unsent part of the `100 Continue` that the client waits for.
    unsent_continue: &'static [u8],
    /// The room that the request's body takes, until the request is answered.
    body: Option<BodyShare>,
    bodies: Bodies,
    peer: Peer,
    /// Whether the current head has its deadline already.
    is_head_timed: bool,
    /// Set over HTTP/2.
    frames: Option<Box<FrameWatch>>,
}

/// The share of the body that follows a complete head.
fn body_share(bodies: &Bodies, peer: &Peer, head: &[u8]) -> BodyShare {
    let target = head.split(|byte| *byte == b' ').nth(1).and_then(|target| std::str::from_utf8(target).ok());
    let path = target.unwrap_or_default().split('?').next().unwrap_or_default();
    bodies.share(peer.client(&forwarded(head)), path)
}

/// The headers of a head in which a proxy names the client.
fn forwarded(head: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in head.split(|byte| *byte == b'\n') {
        let Some(at) = line.iter().position(|byte| *byte == b':') else { continue };
        if line[..at].eq_ignore_ascii_case(FORWARDED_FOR.as_bytes())
            && let Ok(value) = HeaderValue::from_bytes(line[at + 1..].trim_ascii())
        {
            headers.append(FORWARDED_FOR, value);
        }
    }
    headers
}

/// Replaces a header, which occurs once in the head, with `line`. Returns the new length of the head.
fn replace_header(held: &mut Vec<u8>, head_bytes: usize, name: &[u8], line: &str) -> usize {
    let mut at = 0;
    for old in held[..head_bytes].split_inclusive(|byte| *byte == b'\n') {
        let is_it = old.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && old.get(name.len()) == Some(&b':');
        if is_it {
            let end = at + old.len();
            held.splice(at..end, line.bytes());
            return head_bytes + line.len() - (end - at);
        }
        at += old.len();
    }
    head_bytes
}

/// The response for which some clients wait before they send a body.
const CONTINUE_RESPONSE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// What a client sent.
#[derive(Debug)]
pub(super) enum Arrived {
    /// An HTTP/1 request.
    Request,
    /// An HTTP/1 request that is refused; nothing after it is read.
    Refused(Box<RefusedRequest>),
    /// The preface of HTTP/2.
    Http2,
    /// The end of the connection.
    Closed,
}

#[derive(Debug)]
pub(super) struct RefusedRequest {
    pub(super) error: ApiError,
    /// `-` if the method is not readable.
    pub(super) method: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The HTTP version is not known yet.
    Greeting,
    /// HTTP/1: before or within a head.
    Heads,
    /// HTTP/2.
    Frames,
    /// hyper has a request, and no byte of its response is sent yet.
    Processing,
    /// Part of the response is sent. A body is one piece, so hyper flushes only when everything is sent.
    Answering,
    Answered,
}

impl<S> RequestStream<S> {
    pub(super) fn new(stream: S, timeouts: Timeouts, state: Arc<ConnectionState>, bodies: Bodies, peer: Peer) -> Self {
        Self {
            stream: TimedStream::new(stream, timeouts),
            state,
            phase: Phase::Greeting,
            buffered: Vec::new(),
            passed: 0,
            is_unread: false,
            is_half_closed: false,
            head: Head::default(),
            whole: None,
            chunks: None,
            head_bytes: 0,
            unsent_continue: &[],
            body: None,
            bodies,
            peer,
            is_head_timed: true,
            frames: None,
        }
    }

    pub(super) fn state(&self) -> &Arc<ConnectionState> {
        &self.state
    }

    /// The stream itself, for a last response without hyper.
    pub(super) fn stream_mut(&mut self) -> &mut TimedStream<S> {
        &mut self.stream
    }

    /// Checks the bytes in `held`. `None` if more are needed.
    fn check_buffered(&mut self) -> io::Result<Option<Arrived>> {
        if self.phase == Phase::Greeting {
            let common = self.buffered.len().min(HTTP2_PREFACE.len());
            if self.buffered[..common] != HTTP2_PREFACE[..common] {
                self.phase = Phase::Heads;
            } else if common == HTTP2_PREFACE.len() {
                return self.begin_frames().map(Some);
            } else {
                return Ok(None);
            }
        }
        if self.whole.is_none() && self.chunks.is_none() {
            match self.head.read(&self.buffered) {
                Ok(Some(head)) => self.begin_body(head),
                Ok(None) => return Ok(None),
                Err(error) => return Ok(Some(self.refuse(error))),
            }
        }
        if let Err(error) = self.read_body() {
            return Ok(Some(self.refuse(error)));
        }
        // hyper gets the head only when the body is complete too, so it never waits for a client.
        Ok(self.whole.take_if(|whole| *whole <= self.buffered.len()).map(|whole| {
            self.passed = whole;
            self.unsent_continue = &[];
            self.stream.set_read_deadline(None);
            Arrived::Request
        }))
    }

    fn begin_body(&mut self, head: WholeHead) {
        let WholeHead { mut bytes, body, body_bytes_max, expects_continue: is_to_be_asked } = head;
        self.head = Head::default();
        self.body =
            (body != BodyLength::Known(0)).then(|| body_share(&self.bodies, &self.peer, &self.buffered[..bytes]));
        if is_to_be_asked {
            // Removes the header, because otherwise hyper would send 100 Continue too.
            bytes = replace_header(&mut self.buffered, bytes, b"expect", "");
            self.unsent_continue = CONTINUE_RESPONSE;
        }
        self.head_bytes = bytes;
        match body {
            BodyLength::Known(body) => self.whole = Some(bytes + body),
            BodyLength::Chunked => self.chunks = Some(ChunkDecoder::new(body_bytes_max)),
        }
    }

    /// Takes room for the part of the body that has arrived. A chunked body is joined after its head,
    /// which then states its length.
    fn read_body(&mut self) -> Result<(), ApiError> {
        let Some(mut chunks) = self.chunks.take() else {
            return match (self.whole, &mut self.body) {
                (Some(whole), Some(body)) => body.grow_to(self.buffered.len().min(whole) - self.head_bytes),
                _ => Ok(()),
            };
        };
        let raw = self.buffered.split_off(self.head_bytes + chunks.bytes);
        let read = chunks.read(&raw, &mut self.buffered)?;
        if let Some(body) = &mut self.body {
            body.grow_to(chunks.bytes)?;
        }
        if !chunks.is_done() {
            self.chunks = Some(chunks);
            return Ok(());
        }
        let length = format!("Content-Length: {}\r\n", chunks.bytes);
        self.head_bytes = replace_header(&mut self.buffered, self.head_bytes, b"transfer-encoding", &length);
        self.whole = Some(self.head_bytes + chunks.bytes);
        self.buffered.extend_from_slice(&raw[read..]);
        Ok(())
    }

    fn begin_frames(&mut self) -> io::Result<Arrived> {
        let now = Instant::now();
        let mut frames = Box::new(FrameWatch::new(now));
        frames.received(&self.buffered[HTTP2_PREFACE.len()..], now)?;
        self.frames = Some(frames);
        self.phase = Phase::Frames;
        self.passed = self.buffered.len();
        Ok(Arrived::Http2)
    }

    /// Refuses the request. Nothing more of this connection is passed on.
    pub(super) fn refuse(&mut self, error: ApiError) -> Arrived {
        let method = method_of(&self.buffered).to_owned();
        (self.buffered, self.passed) = (Vec::new(), 0);
        (self.body, self.chunks, self.unsent_continue) = (None, None, &[]);
        self.stream.set_read_deadline(None);
        Arrived::Refused(Box::new(RefusedRequest { error, method }))
    }

    fn pass_on(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.passed.min(buffer.remaining());
        buffer.put_slice(&self.buffered[..length]);
        self.buffered.drain(..length);
        self.passed -= length;
        // Also done if more bytes wait: the answer to the previous request says nothing about this one.
        self.state.set_answered(false);
        if self.passed > 0 {
            return;
        }
        if self.phase == Phase::Heads {
            self.phase = Phase::Processing;
        }
        self.is_unread = !self.buffered.is_empty();
        if self.buffered.is_empty() {
            // An idle connection keeps no buffer.
            self.buffered = Vec::new();
        }
    }

    fn sent(&mut self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(self.phase, Phase::Processing | Phase::Answered) {
            self.phase = Phase::Answering;
            self.state.set_answered(false);
        }
        if let (Some(frames), Poll::Ready(Ok(bytes))) = (&mut self.frames, &polled) {
            frames.sent(*bytes);
        }
        polled
    }

    /// When the next timeout of an HTTP/2 connection expires, and whether it is the idle timeout.
    fn frames_deadline(&self, frames: &FrameWatch) -> (Instant, bool) {
        let timeouts = self.stream.timeouts();
        let (deadline, is_idle) = match self.state.streams().current_use() {
            ConnectionUse::Busy(Some(deadline)) => (deadline, false),
            // A response has no deadline before it is made, and making it does not wake this task.
            ConnectionUse::Busy(None) => (Instant::now() + timeouts.idle, false),
            ConnectionUse::Idle(since) => {
                let since = since.map_or(frames.last_request(), |since| since.max(frames.last_request()));
                let goodbye = if self.state.is_idle_over() { timeouts.head } else { Duration::ZERO };
                (since + timeouts.idle + goodbye, true)
            }
        };
        match frames.frame_deadline(timeouts.head) {
            Some(earlier) if earlier < deadline => (earlier, false),
            _ => (deadline, is_idle),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> RequestStream<S> {
    /// Waits for the next request.
    pub(super) fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Arrived>> {
        if self.phase == Phase::Answered {
            self.phase = Phase::Heads;
            self.body = None;
            self.is_head_timed = false;
            let deadline = Instant::now() + self.stream.timeouts().idle;
            self.stream.set_read_deadline(Some(deadline));
        }
        loop {
            if std::mem::take(&mut self.is_unread) {
                if let Some(arrived) = self.check_buffered()? {
                    return Poll::Ready(Ok(arrived));
                }
                if !std::mem::replace(&mut self.is_head_timed, true) {
                    let deadline = Instant::now() + self.stream.timeouts().head;
                    self.stream.set_read_deadline(Some(deadline));
                }
            }
            while !self.unsent_continue.is_empty() {
                let sent = ready!(Pin::new(&mut self.stream).poll_write(context, self.unsent_continue))?;
                self.unsent_continue = &self.unsent_continue[sent..];
                ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            }
            let mut space = [MaybeUninit::uninit(); READ_BYTES];
            let mut buffer = ReadBuf::uninit(&mut space);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {
                    self.buffered.extend_from_slice(buffer.filled());
                    self.is_unread = true;
                }
                Ok(()) if self.buffered.is_empty() => return Poll::Ready(Ok(Arrived::Closed)),
                Ok(()) => return Poll::Ready(Ok(self.refuse(cut_short()))),
                Err(error) if error.kind() == io::ErrorKind::TimedOut && !self.buffered.is_empty() => {
                    return Poll::Ready(Ok(self.refuse(too_slow())));
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> RequestStream<S> {
    /// Reads while a request is processed, to notice a reset. Pipelined bytes are held back, and nothing
    /// is read after them. The end of the stream does not end the request, because the client may still
    /// read.
    fn poll_presence(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.buffered.is_empty() && !self.is_half_closed {
            let mut space = [MaybeUninit::uninit(); READ_BYTES];
            let mut buffer = ReadBuf::uninit(&mut space);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer))?;
            self.buffered.extend_from_slice(buffer.filled());
            self.is_unread = !self.buffered.is_empty();
            self.is_half_closed = self.buffered.is_empty();
        }
        Poll::Pending
    }

    /// Reads what an HTTP/2 client sends, until its deadline. An idle client first gets a GOAWAY.
    fn poll_frames(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        loop {
            let Some(frames) = &self.frames else { return Poll::Ready(Ok(())) };
            let (deadline, is_idle) = self.frames_deadline(frames);
            if deadline <= Instant::now() {
                if !is_idle || self.state.is_idle_over() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                self.state.is_idle_over.store(true, Ordering::Relaxed);
                continue;
            }
            self.stream.set_read_deadline(Some(deadline));
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
            let Some(frames) = &mut self.frames else { return Poll::Ready(read) };
            match read {
                Ok(()) => return Poll::Ready(frames.received(&buffer.filled()[before..], Instant::now())),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RequestStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.passed > 0 {
            self.pass_on(buffer);
            return Poll::Ready(Ok(()));
        }
        match self.phase {
            Phase::Frames => self.poll_frames(context, buffer),
            Phase::Processing | Phase::Answering => self.poll_presence(context),
            // hyper gets the next request when it is complete.
            Phase::Greeting | Phase::Heads | Phase::Answered => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for RequestStream<S> {
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
        if self.phase == Phase::Answering && !self.state.has_more() {
            self.phase = Phase::Answered;
            self.state.set_answered(true);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn too_slow() -> ApiError {
    let message = "the request took too long to arrive; send its headers and its body in one piece";
    ApiError::new(ErrorCode::RequestTimeout, message)
}

fn cut_short() -> ApiError {
    let message = "the connection was closed before the end of the request; end the headers with an empty line, and \
                   send as many bytes of the body as Content-Length states";
    ApiError::new(ErrorCode::BadRequest, message)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::super::proxies::Proxies;
    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const TIMEOUTS: Timeouts = Timeouts {
        head: Duration::from_secs(10),
        idle: Duration::from_secs(60),
        unread: Duration::from_secs(20),
        read_rate_min: 1000,
    };

    #[test]
    fn a_request_arrives_when_its_body_is_whole() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(1 << 10);
            let mut guard = RequestStream::new(server, TIMEOUTS, Arc::default(), Bodies::new("/notices"), peer());
            let post = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{\"a\":";
            client.write_all(post).await.unwrap();
            let early = tokio::time::timeout(Duration::from_millis(20), arrived(&mut guard)).await;
            assert!(early.is_err(), "its body is not whole");
            client.write_all(&[b"[1]".as_slice(), b"}".as_slice(), REQUEST].concat()).await.unwrap();
            for length in [post.len() + 4, REQUEST.len()] {
                assert!(matches!(arrived(&mut guard).await, Arrived::Request));
                let mut bytes = vec![0; 1 << 10];
                assert_eq!(guard.read(&mut bytes).await.unwrap(), length);
                guard.write_all(b"an answer").await.unwrap();
                guard.flush().await.unwrap();
            }
        });
    }

    #[test]
    fn bodies_through_a_proxy_are_those_of_the_client_that_it_names() {
        let proxies = Proxies { networks: vec!["127.0.0.1".parse().unwrap()], uses_proxy_protocol: false };
        let (bodies, proxy) = (Bodies::new("/notices"), Peer::new(peer().address, &Arc::new(proxies)));
        let fill = |client: &str, path: &str, whole: usize| {
            let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\nX-FORWARDED-For: 10.9.9.9, {client}\r\n\r\n");
            let mut shares = Vec::new();
            for _ in 0..20 {
                let mut share = body_share(&bodies, &proxy, head.as_bytes());
                if share.grow_to(whole).is_err() {
                    break;
                }
                shares.push(share);
            }
            shares
        };
        let first = fill("192.0.2.1", "/a", 1 << 20);
        assert_eq!(first.len(), 10, "a sixth of 64 MB");
        let others: Vec<_> = (2..9).map(|last| fill(&format!("192.0.2.{last}"), "/a", 1 << 20)).collect();
        assert_eq!(others.iter().map(Vec::len).sum::<usize>(), 54, "all of the rest");
        assert!(fill("192.0.2.99", "/noticesx", 64 << 10).is_empty());
        assert_eq!(fill("192.0.2.99", "/notices?x", 64 << 10).len(), 2, "room is kept for this path");
    }

    fn peer() -> Peer {
        Peer::client_at(std::net::IpAddr::from([127, 0, 0, 1]))
    }

    async fn arrived(guard: &mut RequestStream<DuplexStream>) -> Arrived {
        poll_fn(|context| guard.poll_request(context)).await.unwrap()
    }

    #[test]
    fn one_head_at_a_time_is_passed_on_and_no_buffer_kept_in_between() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(1 << 10);
            let mut guard = RequestStream::new(server, TIMEOUTS, Arc::default(), Bodies::new("/notices"), peer());
            client.write_all(&[REQUEST, REQUEST].concat()).await.unwrap();
            for left in [REQUEST.len(), 0] {
                assert!(matches!(arrived(&mut guard).await, Arrived::Request));
                let mut head = vec![0; 3 * REQUEST.len()];
                assert_eq!(guard.read(&mut head).await.unwrap(), REQUEST.len());
                assert_eq!(guard.buffered.len(), left);
                guard.write_all(b"an answer").await.unwrap();
                assert!(!guard.state.is_answered(), "it is not flushed");
                guard.flush().await.unwrap();
                assert!(guard.state.is_answered());
            }
            assert_eq!(guard.buffered.capacity(), 0);
            drop(client);
            assert!(matches!(arrived(&mut guard).await, Arrived::Closed));
        });
    }

    #[test]
    fn a_request_that_is_passed_on_in_parts_is_not_answered_because_the_one_before_was() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(1 << 10);
            let mut guard = RequestStream::new(server, TIMEOUTS, Arc::default(), Bodies::new("/notices"), peer());
            for _ in 0..2 {
                client.write_all(REQUEST).await.unwrap();
                assert!(matches!(arrived(&mut guard).await, Arrived::Request));
                let (mut part, mut rest) = ([0; 5], [0; 1 << 10]);
                assert_eq!(guard.read(&mut part).await.unwrap(), part.len());
                assert!(!guard.state.is_answered(), "hyper has only a part of it");
                assert_eq!(guard.read(&mut rest).await.unwrap(), REQUEST.len() - part.len());
                guard.write_all(b"an answer").await.unwrap();
                guard.flush().await.unwrap();
                assert!(guard.state.is_answered());
            }
        });
    }

    #[test]
    fn a_refused_head_has_its_method_and_keeps_no_buffer() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            for (bytes, method) in
                [(&b"BREW / HTTP/1.1\n"[..], "BREW"), (b"\r\nHEAD / HTTP/9.9\r\n", "HEAD"), (b"\xff \r\n", "-")]
            {
                let (mut client, server) = duplex(1 << 10);
                let mut guard = RequestStream::new(server, TIMEOUTS, Arc::default(), Bodies::new("/notices"), peer());
                client.write_all(bytes).await.unwrap();
                let Arrived::Refused(refused) = arrived(&mut guard).await else { panic!("{bytes:?} is let in") };
                assert_eq!((refused.method.as_str(), guard.buffered.capacity()), (method, 0));
            }
        });
    }
}
