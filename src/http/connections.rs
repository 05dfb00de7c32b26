//! Connections: accepting, caps in total and per address, timeouts, and the drain at the end.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::guard::{Guard, Patience, Refusals};
use super::{App, HttpSettings};

const PATIENCE: Patience = Patience { head: Duration::from_secs(10), idle: Duration::from_secs(60) };

/// hyper's own limit lies behind ours, which answers in words.
const HYPER_PATIENCE: Duration = Duration::from_secs(80);

/// How long requests under way may take once the server is told to stop.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);

/// How long kept connections may take for one more request then.
const LAST_REQUEST_WITHIN: Duration = Duration::from_secs(2);

/// After a failed accept: without a pause, running out of file descriptors becomes a busy loop.
const PAUSE_AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(50);

/// More than any head that passes.
const READ_BUFFER_BYTES: usize = 64 << 10;

const STREAMS_MAX: u32 = 64;

/// Beyond what the gate takes, so that it can refuse in words; h2 itself answers beyond this with a bare 431.
const HTTP2_HEADER_BYTES_MAX: u32 = 64 << 10;

pub(super) async fn serve(
    listener: TcpListener,
    settings: &HttpSettings,
    app: Arc<App>,
    stop: impl Future<Output = ()>,
) {
    let door =
        Door { builder: builder(), crowd: Arc::new(Crowd::new(settings)), graceful: GracefulShutdown::new(), app };
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, address)) => door.let_in(stream, address),
            Err(_) => tokio::time::sleep(PAUSE_AFTER_FAILED_ACCEPT).await,
        }
    }
    door.app.draining.store(true, Ordering::Relaxed);
    // Whoever the kernel let in before is served too.
    while let Ok(Ok((stream, address))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await {
        door.let_in(stream, address);
    }
    drop(listener);
    let _ = tokio::time::timeout(DRAIN_WITHIN, door.close()).await;
}

/// Where connections come in.
struct Door {
    builder: auto::Builder<TokioExecutor>,
    crowd: Arc<Crowd>,
    graceful: GracefulShutdown,
    app: Arc<App>,
}

impl Door {
    fn let_in(&self, stream: TcpStream, address: SocketAddr) {
        // One too many is closed: a refusal in words would cost as much as serving it.
        let Some(place) = self.crowd.enter(address) else { return };
        let connection = self.graceful.watch(connection(&self.builder, stream, &self.app));
        tokio::spawn(async move {
            // A connection that breaks off is its client's affair.
            let _ = connection.await;
            drop(place);
        });
    }

    /// Kept connections may have a request on its way: each gets one more answer, which says that it is the last, before
    /// those that are still silent are closed.
    async fn close(self) {
        let closed_silently = Instant::now() + LAST_REQUEST_WITHIN;
        while !self.crowd.is_empty() && Instant::now() < closed_silently {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.graceful.shutdown().await;
    }
}

/// Every builder gets a timer: without one, hyper's header timeout is silently off.
fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HYPER_PATIENCE)
        .max_buf_size(READ_BUFFER_BYTES)
        .half_close(false);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HTTP2_HEADER_BYTES_MAX);
    builder
}

fn connection(
    builder: &auto::Builder<TokioExecutor>,
    stream: TcpStream,
    app: &Arc<App>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = impl Send> + Send + 'static {
    // Answers are written whole: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let refusals = Refusals::default();
    let io = TokioIo::new(Guard::new(stream, PATIENCE, refusals.clone()));
    let app = Arc::clone(app);
    let service = service_fn(move |request| {
        let (app, refused) = (Arc::clone(&app), refusals.take(&request));
        async move { app.handle(request, refused).await }
    });
    builder.serve_connection(io, service).into_owned()
}

/// Who is connected.
struct Crowd {
    most: usize,
    most_per_address: usize,
    connected: Mutex<Connected>,
}

#[derive(Default)]
struct Connected {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

impl Crowd {
    fn new(settings: &HttpSettings) -> Self {
        let HttpSettings { connections_max, connections_per_address_max, .. } = settings;
        Self { most: *connections_max, most_per_address: *connections_per_address_max, connected: Mutex::default() }
    }

    fn is_empty(&self) -> bool {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner).all == 0
    }

    fn enter(self: &Arc<Self>, address: SocketAddr) -> Option<Place> {
        let address = address.ip().to_canonical();
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = connected.by_address.get(&address).copied().unwrap_or(0);
        if connected.all >= self.most || of_address >= self.most_per_address {
            return None;
        }
        connected.all += 1;
        connected.by_address.insert(address, of_address + 1);
        Some(Place { crowd: Arc::clone(self), address })
    }
}

/// A place in the crowd, left when dropped.
struct Place {
    crowd: Arc<Crowd>,
    address: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut connected = self.crowd.connected.lock().unwrap_or_else(PoisonError::into_inner);
        connected.all = connected.all.saturating_sub(1);
        let left = connected.by_address.get(&self.address).map_or(0, |count| count.saturating_sub(1));
        match left {
            0 => connected.by_address.remove(&self.address),
            left => connected.by_address.insert(self.address, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crowd_is_bounded_in_total_and_per_address_and_places_are_free_again() {
        let settings = HttpSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            connections_max: 3,
            connections_per_address_max: 2,
            cross_origins: Vec::new(),
        };
        let crowd = Arc::new(Crowd::new(&settings));
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let first = crowd.enter(address("10.0.0.1:1")).unwrap();
        let _second = crowd.enter(address("[::ffff:10.0.0.1]:2")).unwrap();
        assert!(crowd.enter(address("10.0.0.1:3")).is_none(), "one address in both its forms");
        let _other = crowd.enter(address("10.0.0.2:1")).unwrap();
        assert!(crowd.enter(address("10.0.0.3:1")).is_none());
        drop(first);
        assert!(crowd.enter(address("10.0.0.1:4")).is_some());
    }
}
