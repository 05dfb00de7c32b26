//! Accepts connections, within limits in total and per client, and closes them when the server stops.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hornbook_base::client_network::ClientNetwork;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Version};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::connection_loop::Protocols;
use super::proxies::{self, Peer, Proxies};
use super::reply::HttpReply;
use super::request_stream::{ConnectionState, RefusedRequest, RequestStream};
use super::rules::check_http2;
use super::stream::Stream;
use super::unread::Shares;
use super::{App, HttpSettings};
use crate::api::error::ApiError;
use crate::api::unread::{UnreadBytes, UnreadCounter};

/// How long requests in progress may take after the server is told to stop.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);

/// How long kept connections may wait for one more request after that.
const LAST_REQUEST_WITHIN: Duration = Duration::from_secs(2);

/// Pause after a failed accept. Without it, a lack of file descriptors would cause a busy loop.
pub(super) const PAUSE_AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(50);

pub(super) async fn serve(
    listener: TcpListener,
    settings: HttpSettings,
    app: Arc<App>,
    stop: impl Future<Output = ()>,
) {
    let (closing, _) = watch::channel(());
    let limit = Arc::new(ConnectionLimit::new(&settings));
    let unread = UnreadBytes::new(settings.unread_bytes_per_address_max);
    let acceptor = Arc::new(Acceptor {
        protocols: Protocols::new(Arc::clone(&app.observers.clock)),
        limit,
        unread,
        proxies: Arc::new(settings.proxies.clone()),
        settings,
        app,
    });
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, address)) => acceptor.accept(stream, address, closing.subscribe()),
            Err(_) => tokio::time::sleep(PAUSE_AFTER_FAILED_ACCEPT).await,
        }
    }
    acceptor.app.draining.store(true, Ordering::Relaxed);
    // Connections that the kernel accepted before this are served too.
    while let Ok(Ok((stream, address))) = timeout(Duration::ZERO, listener.accept()).await {
        acceptor.accept(stream, address, closing.subscribe());
    }
    drop(listener);
    let _ = timeout(DRAIN_WITHIN, acceptor.close(closing)).await;
}

/// State that all connections share.
struct Acceptor {
    protocols: Protocols,
    limit: Arc<ConnectionLimit>,
    unread: UnreadBytes<ClientNetwork>,
    proxies: Arc<Proxies>,
    settings: HttpSettings,
    app: Arc<App>,
}

impl Acceptor {
    fn accept(self: &Arc<Self>, stream: TcpStream, address: SocketAddr, closing: watch::Receiver<()>) {
        let metrics = &self.app.observers.metrics;
        metrics.connections_accepted.fetch_add(1, Ordering::Relaxed);
        let address = address.ip().to_canonical();
        let peer = Peer::new(address, &self.proxies);
        let slot = self.limit.open((!peer.is_proxy()).then_some(address));
        // Closed without a response: an error response would cost as much as serving it.
        let Some(slot) = slot else { return metrics.connection_refused("too_many") };
        let acceptor = Arc::clone(self);
        tokio::spawn(async move {
            let connections = &acceptor.app.observers.metrics.connections;
            connections.add(1);
            acceptor.converse(stream, peer, closing).await;
            connections.add(-1);
            drop(slot);
        });
    }

    async fn converse(self: &Arc<Self>, mut stream: TcpStream, mut peer: Peer, mut closing: watch::Receiver<()>) {
        let HttpSettings { timeouts, proxies, tls, .. } = &self.settings;
        let metrics = &self.app.observers.metrics;
        // Responses are written in one piece: Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
        let mut announced_slot = None;
        if peer.is_proxy() && proxies.uses_proxy_protocol {
            let Ok(Ok(announced)) = timeout(timeouts.head, proxies::read_proxy_header(&mut stream)).await else {
                return metrics.connection_refused("no_proxy_protocol");
            };
            if let Some(address) = announced {
                peer = Peer::client_at(address);
                announced_slot = self.limit.open_for(address);
                if announced_slot.is_none() {
                    return metrics.connection_refused("too_many");
                }
            }
        }
        // What a proxy connects for is not known before its request.
        let client = (!peer.is_proxy()).then_some(peer.address);
        if let Some(client) = client {
            self.app.delay_connection(client).await;
        }
        let count_unused = || client.map_or((), |client| self.app.count_unused_connection(client));
        let stream = match tls {
            None => Stream::Plain(stream),
            // Boxed because the handshake needs much memory for a short time.
            Some(tls) => match Box::pin(timeout(timeouts.head, tls.acceptor().accept(stream))).await {
                Ok(Ok(stream)) => Stream::Encrypted(Box::new(stream)),
                Ok(Err(_)) | Err(_) => {
                    count_unused();
                    return metrics.connection_refused("handshake");
                }
            },
        };
        // The guard is boxed. Otherwise the future that waits for requests would contain it several times.
        let bodies = self.app.bodies.clone();
        let guard = Box::new(RequestStream::new(stream, *timeouts, Arc::default(), bodies, peer.clone()));
        let address = peer.address;
        let connection = Arc::new(Connection {
            acceptor: Arc::clone(self),
            unread: self.unread.of(ClientNetwork::of(address)),
            peer,
            state: Arc::clone(guard.state()),
            has_request: AtomicBool::new(false),
        });
        let of_requests = Arc::clone(&connection);
        let service = service_fn(move |request| {
            let connection = Arc::clone(&of_requests);
            Box::pin(async move { Ok(connection.answer(request).await) })
        });
        let refuse = |refused: RefusedRequest| self.app.refuse(refused, address);
        let closed = async { drop(closing.changed().await) };
        self.protocols.serve_requests(guard, service, refuse, &metrics.connections_waiting, closed).await;
        if !connection.has_request.load(Ordering::Relaxed) {
            count_unused();
        }
        drop(announced_slot);
    }

    /// A request may be in transit on a kept connection. Each connection gets one more response, which
    /// says that it is the last. Then idle connections are closed.
    async fn close(&self, closing: watch::Sender<()>) {
        let closed_silently = Instant::now() + LAST_REQUEST_WITHIN;
        while !self.limit.is_unused() && Instant::now() < closed_silently {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let _ = closing.send(());
        closing.closed().await;
    }
}

/// State that the requests of one connection share.
struct Connection {
    acceptor: Arc<Acceptor>,
    peer: Peer,
    /// Counts the responses that the peer has not read.
    unread: UnreadCounter,
    state: Arc<ConnectionState>,
    has_request: AtomicBool,
}

impl Connection {
    /// Answers a request within the limits of its client, and counts the response until it is read.
    async fn answer(&self, mut request: Request<Incoming>) -> HttpReply {
        let Self { acceptor, peer, unread, state, has_request } = self;
        has_request.store(true, Ordering::Relaxed);
        let Acceptor { settings, limit, app, .. } = &**acceptor;
        let named = peer.client(request.headers());
        let forwarded = named.filter(|_| peer.is_proxy());
        let slot = forwarded.map(|address| limit.open_for(address));
        let is_one_too_many = matches!(slot, Some(None));
        let mut refused = is_one_too_many.then(ApiError::overloaded);
        let (mut stream, mut room) = (None, None);
        if request.version() == Version::HTTP_2 {
            room = Some(app.bodies.share(named, request.uri().path()));
            refused = check_http2(&request).err().or(refused);
            name_host(&mut request);
            let stream = stream.insert(state.streams().begin());
            if refused.is_none() {
                stream.wait_for_room().await;
            }
        }
        let network = match forwarded {
            Some(address) => acceptor.unread.of(ClientNetwork::of(address)).reserve(),
            None => unread.reserve(),
        };
        let refused = refused.or_else(|| network.is_none().then(|| ApiError::too_much_unread("this address")));
        let client = named.unwrap_or(peer.address);
        let reply = app.handle(request, client, room, refused).await;
        let reply = Shares { network, account: None, stream }.keep(reply, &settings.timeouts, state);
        // Only its own bytes count meanwhile, so that the refusals of others at the same address take no room.
        app.delay_refusal(reply.status(), client).await;
        reply
    }
}

/// HTTP/2 sends the host outside of the headers. This copies it to the `Host` header, where later code
/// looks for it.
fn name_host(request: &mut Request<Incoming>) {
    let host = request.uri().authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().insert(HOST, host);
    }
}

/// Counts and limits the open connections, in total and per client.
struct ConnectionLimit {
    max: usize,
    max_per_client: usize,
    open: Mutex<OpenConnections>,
}

/// How many times the limit of one address the addresses of an IPv6 network of 48 bits may have together.
const SITE_FACTOR: usize = 2;

#[derive(Default)]
struct OpenConnections {
    all: usize,
    by_client: HashMap<ClientNetwork, usize>,
    by_site: HashMap<ClientNetwork, usize>,
}

impl ConnectionLimit {
    fn new(settings: &HttpSettings) -> Self {
        let HttpSettings { connections_max, connections_per_address_max, .. } = settings;
        Self { max: *connections_max, max_per_client: *connections_per_address_max, open: Mutex::default() }
    }

    fn is_unused(&self) -> bool {
        self.lock().all == 0
    }

    /// Counts a connection. `address` is `None` for a connection that carries the requests of many clients.
    fn open(self: &Arc<Self>, address: Option<IpAddr>) -> Option<ConnectionSlot> {
        self.take(true, address)
    }

    /// Counts what a proxy sends for this client: a whole connection, or one request.
    fn open_for(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        self.take(false, Some(address))
    }

    fn take(self: &Arc<Self>, is_connection: bool, address: Option<IpAddr>) -> Option<ConnectionSlot> {
        let client = address.map(ClientNetwork::of);
        let mut open = self.lock();
        let count = |counts: &HashMap<_, usize>, network| counts.get(&network).copied().unwrap_or(0);
        let is_refused = client.is_some_and(|client| {
            count(&open.by_client, client) >= self.max_per_client
                || count(&open.by_site, client.site()) >= self.max_per_client.saturating_mul(SITE_FACTOR)
        });
        if is_refused || is_connection && open.all >= self.max {
            return None;
        }
        open.all += usize::from(is_connection);
        if let Some(client) = client {
            *open.by_client.entry(client).or_default() += 1;
            *open.by_site.entry(client.site()).or_default() += 1;
        }
        Some(ConnectionSlot { limit: Arc::clone(self), is_connection, client })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One counted connection, or one counted request of a proxy, until it is dropped.
struct ConnectionSlot {
    limit: Arc<ConnectionLimit>,
    is_connection: bool,
    client: Option<ClientNetwork>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.limit.lock();
        open.all = open.all.saturating_sub(usize::from(self.is_connection));
        let Some(client) = self.client else { return };
        give_back(&mut open.by_client, client);
        give_back(&mut open.by_site, client.site());
    }
}

fn give_back(counts: &mut HashMap<ClientNetwork, usize>, network: ClientNetwork) {
    match counts.get(&network).map_or(0, |count| count.saturating_sub(1)) {
        0 => counts.remove(&network),
        left => counts.insert(network, left),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(max: usize, max_per_client: usize) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit { max, max_per_client, open: Mutex::default() })
    }

    #[test]
    fn connections_are_limited_in_total_and_per_client() {
        let limit = limit(3, 2);
        let address = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        let first = limit.open(address("2001:db8::1")).unwrap();
        let _second = limit.open(address("2001:db8::ffff:1")).unwrap();
        assert!(limit.open(address("2001:db8::2")).is_none(), "one network of IPv6 is one client");
        let _other = limit.open(address("10.0.0.2")).unwrap();
        assert!(limit.open(address("10.0.0.3")).is_none());
        drop(first);
        assert!(limit.open(address("2001:db8::3")).is_some());
    }

    #[test]
    fn the_networks_of_one_customer_have_connections_for_two() {
        let limit = limit(100, 3);
        let open = |site: &str| -> Vec<ConnectionSlot> {
            let addresses = (0..18).map(|n| format!("{site}:{}::1", n / 2).parse().unwrap());
            addresses.filter_map(|address| limit.open(Some(address))).collect()
        };
        let mut first = open("2001:db8:1");
        assert_eq!((first.len(), open("2001:db8:2").len()), (6, 6));
        first.truncate(2);
        assert_eq!(open("2001:db8:1").len(), 4);
    }

    #[test]
    fn a_proxys_requests_count_for_their_clients_alone() {
        let limit = limit(2, 1);
        let _proxy = limit.open(None).unwrap();
        let _again = limit.open(None).unwrap();
        assert!(limit.open(None).is_none(), "connections are bounded all the same");
        let client: IpAddr = "10.0.0.1".parse().unwrap();
        let request = limit.open_for(client).unwrap();
        assert!(limit.open_for(client).is_none());
        drop(request);
        assert!(limit.open_for(client).is_some());
    }
}
