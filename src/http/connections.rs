//! Connections: accepting, whose they are, caps in total and per address, and the drain at the end.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::conversation::Protocols;
use super::guard::{Exchange, Guard};
use super::stream::Stream;
use super::{App, HttpSettings, proxies};
use crate::api::error::ApiError;

/// How long requests under way may take once the server is told to stop.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);

/// How long kept connections may take for one more request then.
const LAST_REQUEST_WITHIN: Duration = Duration::from_secs(2);

/// After a failed accept: without a pause, running out of file descriptors becomes a busy loop.
pub(super) const PAUSE_AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(50);

pub(super) async fn serve(
    listener: TcpListener,
    settings: HttpSettings,
    app: Arc<App>,
    stop: impl Future<Output = ()>,
) {
    let (closing, _) = watch::channel(());
    let crowd = Arc::new(Crowd::new(&settings));
    let door = Arc::new(Door { protocols: Protocols::new(), crowd, settings, app });
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, address)) => door.let_in(stream, address, closing.subscribe()),
            Err(_) => tokio::time::sleep(PAUSE_AFTER_FAILED_ACCEPT).await,
        }
    }
    door.app.draining.store(true, Ordering::Relaxed);
    // Whoever the kernel let in before is served too.
    while let Ok(Ok((stream, address))) = timeout(Duration::ZERO, listener.accept()).await {
        door.let_in(stream, address, closing.subscribe());
    }
    drop(listener);
    let _ = timeout(DRAIN_WITHIN, door.close(closing)).await;
}

/// Where connections come in.
struct Door {
    protocols: Protocols,
    crowd: Arc<Crowd>,
    settings: HttpSettings,
    app: Arc<App>,
}

/// Whose a connection is.
#[derive(Clone, Copy)]
struct Peer {
    address: IpAddr,
    /// A trusted proxy, whose connection carries the requests of others.
    is_proxy: bool,
}

impl Door {
    fn let_in(self: &Arc<Self>, stream: TcpStream, address: SocketAddr, closing: watch::Receiver<()>) {
        let metrics = &self.app.observers.metrics;
        metrics.connections_accepted.fetch_add(1, Ordering::Relaxed);
        let address = address.ip().to_canonical();
        let peer = Peer { address, is_proxy: self.settings.proxies.include(address) };
        let place = match peer.is_proxy {
            true => self.crowd.enter(None),
            false => self.crowd.enter(Some(peer.address)),
        };
        // One too many is closed: a refusal in words would cost as much as serving it.
        let Some(place) = place else { return metrics.connection_refused("too_many") };
        let door = Arc::clone(self);
        tokio::spawn(async move {
            let connections = &door.app.observers.metrics.connections;
            connections.add(1);
            door.converse(stream, peer, closing).await;
            connections.add(-1);
            drop(place);
        });
    }

    async fn converse(self: &Arc<Self>, mut stream: TcpStream, mut peer: Peer, mut closing: watch::Receiver<()>) {
        let HttpSettings { patience, proxies, tls, .. } = &self.settings;
        let metrics = &self.app.observers.metrics;
        // Answers are written whole: waiting for more to send only delays them.
        let _ = stream.set_nodelay(true);
        let mut announced_place = None;
        if peer.is_proxy && proxies.announce {
            let Ok(Ok(announced)) = timeout(patience.head, proxies::announced(&mut stream)).await else {
                return metrics.connection_refused("no_proxy_protocol");
            };
            if let Some(address) = announced {
                peer = Peer { address, is_proxy: false };
                announced_place = self.crowd.enter_address(address);
                if announced_place.is_none() {
                    return metrics.connection_refused("too_many");
                }
            }
        }
        let stream = match tls {
            None => Stream::Plain(stream),
            // A handshake takes much room, and not for long.
            Some(tls) => match Box::pin(timeout(patience.head, tls.acceptor().accept(stream))).await {
                Ok(Ok(stream)) => Stream::Encrypted(Box::new(stream)),
                Ok(Err(_)) | Err(_) => return metrics.connection_refused("handshake"),
            },
        };
        let exchange = Exchange::default();
        let guard = Guard::new(stream, *patience, exchange.clone());
        let door = Arc::clone(self);
        let service = service_fn(move |request| {
            let (door, refused) = (Arc::clone(&door), exchange.refusal(&request));
            Box::pin(async move {
                let forwarded = peer.is_proxy.then(|| door.settings.proxies.forwarded_for(request.headers())).flatten();
                let place = forwarded.map(|address| door.crowd.enter_address(address));
                let is_one_too_many = matches!(place, Some(None));
                let refused = refused.or_else(|| is_one_too_many.then(ApiError::overloaded));
                door.app.handle(request, forwarded.unwrap_or(peer.address), refused).await
            })
        });
        let closed = async { drop(closing.changed().await) };
        self.protocols.converse(guard, service, &metrics.connections_waiting, closed).await;
        drop(announced_place);
    }

    /// Kept connections may have a request on its way: each gets one more answer, which says that it is the last, before
    /// those that are still silent are closed.
    async fn close(&self, closing: watch::Sender<()>) {
        let closed_silently = Instant::now() + LAST_REQUEST_WITHIN;
        while !self.crowd.is_empty() && Instant::now() < closed_silently {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let _ = closing.send(());
        closing.closed().await;
    }
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
        self.lock().all == 0
    }

    /// A connection; one that carries many clients has no address of its own.
    fn enter(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Place> {
        self.take(true, address)
    }

    /// What a proxy's connection carries for this client: all of a connection, or one request.
    fn enter_address(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        self.take(false, Some(address))
    }

    fn take(self: &Arc<Self>, is_connection: bool, address: Option<IpAddr>) -> Option<Place> {
        let mut connected = self.lock();
        let of_address = address.and_then(|address| connected.by_address.get(&address)).copied().unwrap_or(0);
        if is_connection && connected.all >= self.most || of_address >= self.most_per_address {
            return None;
        }
        connected.all += usize::from(is_connection);
        if let Some(address) = address {
            connected.by_address.insert(address, of_address + 1);
        }
        Some(Place { crowd: Arc::clone(self), is_connection, address })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Connected> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the crowd, left when dropped.
struct Place {
    crowd: Arc<Crowd>,
    is_connection: bool,
    address: Option<IpAddr>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut connected = self.crowd.lock();
        connected.all = connected.all.saturating_sub(usize::from(self.is_connection));
        let Some(address) = self.address else { return };
        let left = connected.by_address.get(&address).map_or(0, |count| count.saturating_sub(1));
        match left {
            0 => connected.by_address.remove(&address),
            left => connected.by_address.insert(address, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crowd_is_bounded_in_total_and_per_address_and_places_are_free_again() {
        let crowd = Arc::new(Crowd { most: 3, most_per_address: 2, connected: Mutex::default() });
        let address = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        let first = crowd.enter(address("10.0.0.1")).unwrap();
        let _second = crowd.enter(address("10.0.0.1")).unwrap();
        assert!(crowd.enter(address("10.0.0.1")).is_none());
        let _other = crowd.enter(address("10.0.0.2")).unwrap();
        assert!(crowd.enter(address("10.0.0.3")).is_none());
        drop(first);
        assert!(crowd.enter(address("10.0.0.1")).is_some());
    }

    #[test]
    fn what_a_proxy_carries_counts_for_its_client_and_the_proxy_for_nobody() {
        let crowd = Arc::new(Crowd { most: 2, most_per_address: 1, connected: Mutex::default() });
        let _proxy = crowd.enter(None).unwrap();
        let _again = crowd.enter(None).unwrap();
        assert!(crowd.enter(None).is_none(), "connections are bounded all the same");
        let client: IpAddr = "10.0.0.1".parse().unwrap();
        let request = crowd.enter_address(client).unwrap();
        assert!(crowd.enter_address(client).is_none());
        drop(request);
        assert!(crowd.enter_address(client).is_some());
    }
}
