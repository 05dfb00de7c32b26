//! Serves one connection, request by request. Over HTTP/1, hyper's connection exists only while a request
//! is processed.
//!
//! hyper keeps two buffers of 8 kB, and some state of the last response, as long as its connection exists. Most kept
//! connections are idle most of the time, so between two HTTP/1 requests only the [`RequestStream`] remains, without a buffer.
//! Creating hyper's connection for each request costs less than keeping ten thousand of them.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hornbook_base::clock::Clock;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

use super::answer;
use super::http_date::has_http_date;
use super::reply::HttpReply;
use super::request_stream::{Arrived, RefusedRequest, RequestStream};
use super::timeouts::TimedStream;
use crate::api::error::{ApiError, ErrorCode};
use crate::metrics::Gauge;

/// Larger than any head that the guard passes on.
const READ_BUFFER_BYTES: usize = 64 << 10;

const STREAMS_MAX: u32 = 64;

/// More than the rules allow, so that a refusal has our Error object. Beyond this, h2 sends a bare 431.
const HTTP2_HEADER_BYTES_MAX: u32 = 64 << 10;

/// Small, because a body has at most 64 kB.
const HTTP2_WINDOW_BYTES: u32 = (64 << 10) - 1;

/// Streams that break the protocol or are reset before they are accepted. More than this number end the
/// connection.
const HTTP2_BAD_STREAMS_MAX: usize = 20;

/// A refused client may still be sending. Its bytes are read for a short time, because closing at once
/// would reset the connection and lose the response.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: usize = 1 << 20;

/// How hyper's part of a connection ended.
enum Ended {
    /// The next request may follow.
    Answered,
    /// One side accepts no more requests.
    Closed,
    Failed,
}

/// hyper's settings for both HTTP versions.
pub(super) struct Protocols {
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    clock: Arc<dyn Clock>,
}

impl Protocols {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let mut http1 = http1::Builder::new();
        // The guard limits the time of a head, and its 408 has our Error object.
        http1.timer(TokioTimer::new()).max_buf_size(READ_BUFFER_BYTES).half_close(false).header_read_timeout(None);
        http1.auto_date_header(false);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2.timer(TokioTimer::new()).max_concurrent_streams(STREAMS_MAX).max_header_list_size(HTTP2_HEADER_BYTES_MAX);
        http2.auto_date_header(false);
        http2.initial_stream_window_size(HTTP2_WINDOW_BYTES).initial_connection_window_size(HTTP2_WINDOW_BYTES);
        http2.max_pending_accept_reset_streams(HTTP2_BAD_STREAMS_MAX);
        http2.max_local_error_reset_streams(HTTP2_BAD_STREAMS_MAX);
        Self { http1, http2, clock }
    }

    /// Serves requests until either side closes the connection. If `stop` completes, the current request
    /// is the last. `refuse` makes the response to a refused head. `waiting` counts the connections that
    /// wait for a request.
    pub(super) async fn serve_requests<S, A>(
        &self,
        mut guard: Box<RequestStream<S>>,
        service: A,
        refuse: impl FnOnce(RefusedRequest) -> HttpReply,
        waiting: &Gauge,
        stop: impl Future<Output = ()>,
    ) where
        S: AsyncRead + AsyncWrite + Unpin,
        A: Service<Request<Incoming>, Response = HttpReply, Error = Infallible> + Unpin,
        A::Future: Unpin + Send + 'static,
    {
        let mut stop = pin!(stop);
        let state = Arc::clone(guard.state());
        loop {
            waiting.add(1);
            let arrived = poll_fn(|context| match guard.poll_request(context) {
                Poll::Pending => stop.as_mut().poll(context).map(|()| Ok(Arrived::Closed)),
                ready @ Poll::Ready(_) => ready,
            });
            let arrived = arrived.await;
            waiting.add(-1);
            let arrived = match arrived {
                // Over HTTP/1 hyper always formats the current date, even if it does not send it, and
                // panics if HTTP cannot write the date.
                Ok(Arrived::Request) if !has_http_date(self.clock.now().wall) => Ok(guard.refuse(no_date())),
                arrived => arrived,
            };
            match arrived {
                Ok(Arrived::Request) => {}
                Ok(Arrived::Http2) => return Box::pin(self.serve_http2(guard, service, stop)).await,
                Ok(Arrived::Refused(refused)) => {
                    let answer = answer::to_http1_bytes(refuse(*refused));
                    return Box::pin(send_last(guard.stream_mut(), &answer)).await;
                }
                Ok(Arrived::Closed) => break,
                // The client disconnected, so nothing is left to do.
                Err(_) => return,
            }
            let mut connection = self.http1.serve_connection(TokioIo::new(&mut *guard), &service);
            let mut is_last = false;
            let ended = poll_fn(|context| {
                let mut polled = connection.poll_without_shutdown(context);
                if polled.is_pending() && !is_last && stop.as_mut().poll(context).is_ready() {
                    is_last = true;
                    Pin::new(&mut connection).graceful_shutdown();
                    polled = connection.poll_without_shutdown(context);
                }
                match polled {
                    Poll::Ready(Ok(())) => Poll::Ready(Ended::Closed),
                    Poll::Ready(Err(_)) => Poll::Ready(Ended::Failed),
                    // The response is sent, and hyper would wait for the next request.
                    Poll::Pending if state.is_answered() && !is_last => Poll::Ready(Ended::Answered),
                    Poll::Pending => Poll::Pending,
                }
            });
            let ended = ended.await;
            drop(connection);
            match ended {
                Ended::Answered => {}
                Ended::Closed => break,
                Ended::Failed => return,
            }
        }
        let _ = poll_fn(|context| Pin::new(&mut *guard).poll_shutdown(context)).await;
    }

    /// The same over HTTP/2, where hyper drives the connection from its preface to its end.
    async fn serve_http2<S, A>(
        &self,
        guard: Box<RequestStream<S>>,
        service: A,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) where
        S: AsyncRead + AsyncWrite + Unpin,
        A: Service<Request<Incoming>, Response = HttpReply, Error = Infallible>,
        A::Future: Send + 'static,
    {
        let state = Arc::clone(guard.state());
        let mut connection = pin!(self.http2.serve_connection(TokioIo::new(guard), service));
        let mut is_told = false;
        let ended = poll_fn(|context| {
            let polled = connection.as_mut().poll(context);
            let mut is_to_end = || state.is_idle_over() || stop.as_mut().poll(context).is_ready();
            if is_told || polled.is_ready() || !is_to_end() {
                return polled;
            }
            is_told = true;
            connection.as_mut().graceful_shutdown();
            connection.as_mut().poll(context)
        });
        let _ = ended.await;
    }
}

fn no_date() -> ApiError {
    let message =
        "the server's clock is after the year 9999, which HTTP dates cannot represent; report this to the operator";
    ApiError { retry_after_sec: Some(60), ..ApiError::new(ErrorCode::Overloaded, message) }
}

/// Sends the last response of a connection, unless the client disconnects.
async fn send_last<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut TimedStream<S>, answer: &[u8]) {
    let sent = async {
        stream.write_all(answer).await?;
        stream.flush().await?;
        stream.shutdown().await
    };
    if sent.await.is_err() {
        return;
    }
    stream.set_read_deadline(Some(Instant::now() + LINGER));
    let mut space = [0; 4 << 10];
    let mut left = LINGER_BYTES_MAX;
    while let Ok(length @ 1..) = stream.read(&mut space).await {
        match left.checked_sub(length) {
            Some(less) => left = less,
            None => return,
        }
    }
}
