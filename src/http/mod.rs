//! The HTTP service: the operations table over HTTP/1.1 and HTTP/2. Only this module and `client` depend
//! on hyper. [`Server`] is its entry point.
//!
//! - `connections` accepts, limits and closes connections. `proxies` finds the client behind a trusted
//!   proxy, `tls` encrypts, and `stream` is a plain or an encrypted stream.
//! - `timeouts` limits every wait for a client.
//! - `connection_loop` serves one request after the other. `request_stream` is the stream that hyper
//!   reads: over HTTP/1 it contains only requests whose heads `head` accepts, with bodies that `chunks`
//!   joins; over HTTP/2 `frames` watches it.
//! - `body` limits the memory for request bodies. `streams` and `unread` count responses that clients
//!   have not read yet.
//! - `rules` apply to every request, `request_parts` decodes its path and query, and `routes` finds its target.
//!   `open_rate` limits requests that need no key, and `refusal_delay` delays refusals of floods.
//! - `accept` reads what the client accepts. `answer` turns outcomes into responses, `reply` is their
//!   body, and `response_compression` compresses them with `coding`. `documents` keeps the rendered documents.
//! - `headers` and `http_date` set the headers of responses, and `cross_origin` allows web pages to read them.
//! - `request_id` makes the id of each request, `request_log` records requests, and `metrics_server`
//!   serves the metrics.
//! - `probe` is a client that asks a server whether it is ready.

mod accept;
mod answer;
mod body;
mod chunks;
mod coding;
mod connection_loop;
mod connections;
mod cross_origin;
mod documents;
mod frames;
mod head;
mod headers;
mod http_date;
mod metrics_server;
mod open_rate;
mod probe;
mod proxies;
mod refusal_delay;
mod reply;
mod request_id;
mod request_log;
mod request_parts;
mod request_stream;
mod response_compression;
mod routes;
mod rules;
mod stream;
mod streams;
mod timeouts;
mod tls;
mod unread;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hornbook_accounts::entropy::Entropy;
use hornbook_base::clock::UnixMillis;
use hornbook_pack::PullState;
use http_date::http_date;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONNECTION, DATE, HeaderValue, STRICT_TRANSPORT_SECURITY};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use tokio::net::{TcpListener, TcpSocket};

use crate::api::body_of_document;
use crate::api::call::{Call, CallerIdentity, Failure, Outcome, Progress};
use crate::api::call_terms::CallTerms;
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, shortened};
use crate::api::headers::{CORPUS_SNAPSHOT, REQUEST_ID};
use crate::api::operation::Operation;
use crate::api::pinned_snapshot::take_linked;
use crate::api::service::Service;
use crate::mount::{ErrorPageInfo, Methods, Mount, MountRequest, bearer, idempotency_key, snapshot_pin};
use crate::web_origin::{RequestOrigin, WebOrigin};
use body::{Bodies, BodyShare};
use cross_origin::Origins;
use documents::Documents;
use headers::ListAddress;
use open_rate::OpenRate;
pub use probe::{ReadinessAnswer, fetch_readiness};
pub use proxies::Proxies;
use refusal_delay::RefusalDelay;
use reply::HttpReply;
use request_id::RequestIds;
pub use request_log::Observers;
use request_log::RequestLine;
use request_parts::CheckedRequest;
use request_stream::RefusedRequest;
use response_compression::ResponseCompressor;
use routes::{RouteTarget, route};
pub use timeouts::Timeouts;
pub use tls::{Tls, TlsError, TlsFiles};

/// The operator's settings for connections.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    pub listen: SocketAddr,
    pub connections_max: usize,
    pub connections_per_address_max: usize,
    /// Connections that wait to be accepted; the system may allow fewer.
    pub accept_queue_max: u32,
    pub timeouts: Timeouts,
    /// Maximum number of bytes of responses that the clients of one address may leave unread.
    pub unread_bytes_per_address_max: usize,
    pub proxies: Proxies,
    /// `None`: no TLS.
    pub tls: Option<Arc<Tls>>,
    /// Browsers that once connected over TLS use only TLS for this many days. 0: the server does not ask
    /// them to.
    pub https_only_days: u32,
    /// The address where metrics are served, if any.
    pub metrics: Option<SocketAddr>,
    /// The data directory, if metrics compare the served snapshot with the newest one that was pulled into it.
    pub pulls: Option<PathBuf>,
    /// Web pages of these origins may call the service from a browser.
    pub cross_origins: Vec<WebOrigin>,
    /// Additional room is kept for request bodies to this path, because its senders must not be refused.
    pub reserved_path: &'static str,
    /// Paths, and the additional origins whose web pages may call them.
    pub path_origins: (Vec<&'static str>, Vec<WebOrigin>),
    /// Requests per minute from one address that need no key. `None`: no limit.
    pub open_per_minute: Option<u32>,
}

/// Handlers of further paths, in addition to the operations and the documents.
pub type Mounts = Vec<Arc<dyn Mount>>;

/// A server that listens but does not answer yet.
pub struct Server {
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    settings: HttpSettings,
    ids: RequestIds,
}

impl Server {
    /// `entropy` provides the secret key of request ids.
    pub async fn bind(settings: HttpSettings, entropy: &mut dyn Entropy) -> std::io::Result<Self> {
        let ids = RequestIds::draw(entropy)?;
        let listener = listen(settings.listen, settings.accept_queue_max)?;
        let watchers = match settings.metrics {
            Some(address) => Some(listen(address, settings.accept_queue_max)?),
            None => None,
        };
        Ok(Self { listener, metrics_listener: watchers, settings, ids })
    }

    /// The address where metrics are served.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_listener.as_ref().and_then(|watchers| watchers.local_addr().ok())
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` completes, then lets requests in progress finish within ten seconds.
    pub async fn run(
        self,
        service: Arc<Service>,
        mounts: Mounts,
        observers: Observers,
        stop: impl Future<Output = ()>,
    ) {
        let app = Arc::new(App::new(service, mounts, observers, self.ids, &self.settings));
        // Metrics are served until the server has drained.
        let watched =
            self.metrics_listener.map(|watchers| tokio::spawn(metrics_server::serve(watchers, Arc::clone(&app))));
        connections::serve(self.listener, self.settings, app, stop).await;
        if let Some(watched) = watched {
            watched.abort();
        }
    }
}

/// Lets `accept_queue_max` connections wait to be accepted, or as many as the system allows. A full queue makes clients wait for
/// a second.
fn listen(address: SocketAddr, accept_queue_max: u32) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    // The system takes a signed number.
    socket.listen(accept_queue_max.min(i32::MAX as u32))
}

/// How long an answer waits at most for what other servers changed.
const CATCH_UP_MAX: Duration = Duration::from_secs(1);

/// A request, with data about its connection.
#[derive(Clone, Copy)]
struct RequestContext<'r> {
    head: &'r Parts,
    origin: &'r RequestOrigin<'r>,
    body: &'r Bytes,
    client: IpAddr,
    id: &'r str,
    progress: &'r Progress,
}

impl<'r> RequestContext<'r> {
    fn request(self, checked: &'r CheckedRequest<'r>) -> MountRequest<'r> {
        let Self { head, origin, body, client, id, progress } = self;
        MountRequest {
            method: &head.method,
            path: head.uri.path(),
            segments: &checked.segments,
            query: head.uri.query(),
            parameters: &checked.arguments.query,
            headers: &head.headers,
            origin,
            body,
            client,
            id,
            progress,
        }
    }
}

/// Answers requests.
struct App {
    service: Arc<Service>,
    mounts: Mounts,
    observers: Observers,
    origins: Origins,
    documents: Documents,
    packing: ResponseCompressor,
    ids: RequestIds,
    /// `None`: no limit.
    open_rate: Option<OpenRate>,
    refusals: RefusalDelay,
    pulls: Option<PathBuf>,
    /// Time limit for the body of a request.
    body_within: Duration,
    bodies: Bodies,
    /// The value of `Strict-Transport-Security`, if this server does TLS itself.
    https_only: Option<HeaderValue>,
    draining: AtomicBool,
}

impl App {
    fn new(
        service: Arc<Service>,
        mounts: Mounts,
        observers: Observers,
        ids: RequestIds,
        settings: &HttpSettings,
    ) -> Self {
        Self {
            mounts,
            packing: ResponseCompressor::new(Arc::clone(&service), Arc::clone(&observers.metrics)),
            observers,
            origins: Origins::new(&settings.cross_origins, &settings.path_origins),
            documents: Documents::default(),
            ids,
            open_rate: settings.open_per_minute.map(OpenRate::new),
            refusals: RefusalDelay::new(),
            pulls: settings.pulls.clone(),
            body_within: settings.timeouts.head,
            bodies: Bodies::new(settings.reserved_path),
            https_only: https_only(settings),
            draining: AtomicBool::new(false),
            service,
        }
    }

    /// `room` is that of the body, over HTTP/2. Over HTTP/1 the stream has taken it already.
    async fn handle(
        &self,
        request: Request<Incoming>,
        client: IpAddr,
        mut room: Option<BodyShare>,
        refused: Option<ApiError>,
    ) -> HttpReply {
        let (id, progress) = (self.ids.next(), Progress::default());
        let (head, body) = request.into_parts();
        let origin = RequestOrigin::of(&head.headers);
        let under_way = self.observers.begin(RequestLine {
            id: &id,
            method: head.method.as_str(),
            path: head.uri.path(),
            client,
            has_key: head.headers.contains_key(AUTHORIZATION),
            progress: &progress,
        });
        let corpus = self.service.corpus();
        // Reads the body even if the request is refused, because over HTTP/1 the next request follows it.
        let bytes_max = rules::body_bytes_max(head.uri.path().as_bytes());
        let body = body::whole(body, bytes_max, self.body_within, room.as_mut()).await;
        let response = match refused.map_or(body, Err) {
            Err(error) => answer::failed(&error.into(), &id, None),
            Ok(body) => {
                let (head, origin, body) = (&head, &origin, &body);
                let asked = RequestContext { head, origin, body, client, id: &id, progress: &progress };
                self.answer(asked, &corpus).await
            }
        };
        let response = self.error_as_page(response, &head, &id);
        let mut response = self.packing.pack(response, &head.headers).await;
        let now = self.observers.clock.now().wall;
        self.finish(&mut response, (head.method.as_str(), head.uri.path()), &origin, &corpus, &id, now);
        under_way.answered(&mut response, now);
        response
    }

    /// Holds a response back that refuses a client again. Nothing is held back while the server stops.
    async fn delay_refusal(&self, status: StatusCode, client: IpAddr) {
        if !self.draining.load(Ordering::Relaxed) {
            self.refusals.wait(status, client, self.observers.clock.now().steady).await;
        }
    }

    /// Holds back a connection of an address that was refused too often.
    async fn delay_connection(&self, client: IpAddr) {
        if !self.draining.load(Ordering::Relaxed) {
            self.refusals.wait_before_reading(client, self.observers.clock.now().steady).await;
        }
    }

    fn count_unused_connection(&self, client: IpAddr) {
        self.refusals.count_unused_connection(client, self.observers.clock.now().steady);
    }

    /// Turns an error into a web page if a browser requested something outside of the API.
    fn error_as_page(&self, response: HttpReply, head: &Parts, id: &str) -> HttpReply {
        let is_of_api = head.uri.path().starts_with("/api/");
        if response.status().as_u16() < 400 || is_of_api || !accept::prefers_pages(&head.headers) {
            return response;
        }
        answer::as_page(response, |message, status| {
            let error = ErrorPageInfo { status, message, request_id: id };
            self.mounts.iter().find_map(|mount| mount.error_page(&error))
        })
    }

    /// The response to an HTTP/1 request whose head is refused.
    fn refuse(&self, refused: RefusedRequest, client: IpAddr) -> HttpReply {
        let (id, progress) = (self.ids.next(), Progress::default());
        let under_way = self.observers.begin(RequestLine {
            id: &id,
            method: &refused.method,
            path: "",
            client,
            has_key: false,
            progress: &progress,
        });
        let mut response = answer::failed(&refused.error.into(), &id, None);
        let now = self.observers.clock.now().wall;
        self.finish(&mut response, (&refused.method, ""), &RequestOrigin::default(), &self.service.corpus(), &id, now);
        under_way.answered(&mut response, now);
        response
    }

    /// Sets the headers that every response has.
    fn finish(
        &self,
        response: &mut HttpReply,
        (method, path): (&str, &str),
        origin: &RequestOrigin<'_>,
        corpus: &Corpus,
        id: &str,
        now: UnixMillis,
    ) {
        let head = response.headers_mut();
        headers::set(head, REQUEST_ID, id);
        // The answer for another day, or to a pinned call, may come from another edition.
        headers::set_if_absent(head, CORPUS_SNAPSHOT, corpus.id());
        if let Some(date) = http_date(now) {
            head.insert(DATE, date);
        }
        if let Some(https_only) = &self.https_only {
            head.insert(STRICT_TRANSPORT_SECURITY, https_only.clone());
        }
        self.origins.allow(path, head, origin);
        if self.draining.load(Ordering::Relaxed) {
            // The last response of this connection. The client can go to another server, and loses nothing.
            head.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        headers::keep_small(head);
        if method == Method::HEAD {
            answer::drop_body(response);
        }
    }

    async fn answer(&self, asked: RequestContext<'_>, corpus: &Arc<Corpus>) -> HttpReply {
        let RequestContext { head, id, .. } = asked;
        let checked = match request_parts::check(head) {
            Ok(checked) => checked,
            Err(error) => return answer::failed(&error.into(), id, None),
        };
        let method = Methods::of(&head.method);
        let target = route(&checked.segments, method).or_else(|| self.mount(&head.method, checked.path));
        // It is as cheap as a refusal, and browsers send it before every call.
        if head.method == Method::OPTIONS {
            return answer::options(match target {
                Some(RouteTarget::OtherMethod(methods)) => methods,
                _ => Methods::Get,
            });
        }
        if target.as_ref().is_none_or(RouteTarget::is_open)
            && let Err(error) = self.count_open(asked.client)
        {
            return answer::failed(&error.into(), id, None);
        }
        self.catch_up(target.as_ref(), head).await;
        match target {
            None => answer::failed(&no_such_path(checked.path).into(), id, None),
            Some(RouteTarget::OtherMethod(methods)) => answer::method_not_allowed(&head.method, methods, id),
            Some(RouteTarget::Live) => answer::probe(StatusCode::OK, "live"),
            Some(RouteTarget::Ready) => self.readiness(needs_newest(head.uri.query())),
            Some(RouteTarget::Document(document)) => match self.documents.of(&self.service, corpus).await {
                Ok(documents) => answer::document(documents.get(document), checked.headers, &self.packing).await,
                Err(error) => answer::failed(&error.into(), id, None),
            },
            Some(RouteTarget::Operation(operation, path)) => {
                self.operation(operation, path, checked, asked, corpus).await
            }
            Some(RouteTarget::Mount(mount)) => answer::of_mount(mount.answer(asked.request(&checked)).await),
        }
    }

    /// Where several servers share the accounts: a key or a sign-in that another one made a moment ago is not refused, and a
    /// person sees what they changed there. An unknown key costs a read that all of them wait for together.
    async fn catch_up(&self, target: Option<&RouteTarget<'_>>, head: &Parts) {
        let accounts = self.service.accounts();
        if !accounts.is_shared() {
            return;
        }
        let is_behind = bearer(&head.headers).is_some_and(|key| !accounts.knows_key(key))
            || matches!(target, Some(RouteTarget::Mount(mount)) if mount.needs_newest(&head.headers, accounts));
        if is_behind {
            // Without the database, what is known here must do.
            let _ = tokio::time::timeout(CATCH_UP_MAX, accounts.catch_up()).await;
        }
    }

    /// Finds the handler mounted at a path. These come last, because most requests are calls.
    fn mount(&self, method: &Method, path: &str) -> Option<RouteTarget<'_>> {
        let mount = self.mounts.iter().find(|mount| mount.matches_path(path))?;
        let methods = mount.methods(path);
        Some(if methods.include(method) { RouteTarget::Mount(&**mount) } else { RouteTarget::OtherMethod(methods) })
    }

    /// Counts a request that needs no key against its address.
    fn count_open(&self, client: IpAddr) -> Result<(), ApiError> {
        match &self.open_rate {
            Some(rate) => rate.take(client, self.observers.clock.now().steady),
            None => Ok(()),
        }
    }

    async fn operation(
        &self,
        operation: &'static Operation,
        path: Vec<(&'static str, String)>,
        mut checked: CheckedRequest<'_>,
        asked: RequestContext<'_>,
        corpus: &Arc<Corpus>,
    ) -> HttpReply {
        let id = asked.id;
        checked.arguments.path = path;
        if let Some(body) = operation.body {
            let media_type = request_parts::header_text(checked.headers, "content-type").unwrap_or_default();
            let document = if body.takes_documents { body_of_document(media_type, asked.body) } else { None };
            match document.unwrap_or_else(|| request_parts::object(asked.body)) {
                Ok(object) => checked.arguments.body = object,
                // A caller without a valid key gets that error first, as in every other call.
                Err(error) => {
                    let refused = self.service.key_error(operation, bearer(checked.headers));
                    return answer::failed(&refused.unwrap_or(error).into(), id, None);
                }
            }
        }
        let terms = CallTerms::take(operation, &mut checked.arguments);
        let headers = checked.headers;
        let linked = take_linked(operation, &mut checked.arguments);
        let pin = snapshot_pin(headers, linked.iter().map(String::as_str));
        let edition = self.service.edition_for(corpus, operation, &pin, &mut checked.arguments);
        let other_edition = (!Arc::ptr_eq(&edition.corpus, corpus)).then(|| edition.corpus.id().to_owned());
        let answering = Arc::clone(&edition.corpus);
        let call = Call {
            edition,
            operation,
            asker: CallerIdentity::Key(bearer(headers)),
            arguments: checked.arguments,
            format: accept::format(headers, operation.formats),
            idempotency_key: idempotency_key(headers),
            known_versions: request_parts::header_text(headers, "if-none-match"),
            terms,
            progress: asked.progress,
        };
        let mut response = match self.service.call(call).await {
            Outcome::Answered(answer) => {
                let is_metered = operation.metering().is_some();
                let target = ListAddress {
                    path: checked.path,
                    query: asked.head.uri.query(),
                    snapshot: operation.reads_law().then(|| answering.id()),
                };
                answer::answered(answer, headers, is_metered, target)
            }
            Outcome::Unchanged { version, left } => answer::unchanged(&version, left, headers),
            Outcome::Priced(price) => answer::priced(&price),
            Outcome::Failed(failure) => answer::failed(&failure, id, Some(self.service.checkout_url().as_str())),
        };
        if let Some(id) = other_edition {
            headers::set(response.headers_mut(), CORPUS_SNAPSHOT, &id);
        }
        response
    }

    /// Whether the served snapshot is the newest one that a pull found in the channel. None if nothing was pulled.
    fn serves_newest(&self) -> Option<bool> {
        // A small file: reading it takes microseconds. One that is damaged is reported by the next pull.
        let newest = self.pulls.as_deref().and_then(|data| PullState::read(data).ok().flatten())?;
        Some(newest.snapshot == self.service.corpus().id())
    }

    /// Older law is better than none: being behind matters only to those who ask for it.
    fn readiness(&self, needs_newest: bool) -> HttpReply {
        if self.draining.load(Ordering::Relaxed) {
            return answer::probe(StatusCode::SERVICE_UNAVAILABLE, "stopping");
        }
        if self.service.corpus().snapshot().damage().first().is_some() {
            return answer::probe(StatusCode::SERVICE_UNAVAILABLE, "snapshot_damaged");
        }
        match self.service.accounts().readiness() {
            Ok(()) if needs_newest && self.serves_newest() == Some(false) => {
                answer::probe(StatusCode::SERVICE_UNAVAILABLE, "snapshot_behind")
            }
            Ok(()) => answer::probe(StatusCode::OK, "ready"),
            Err(error) => answer::probe(StatusCode::SERVICE_UNAVAILABLE, ApiError::from(error).code.code()),
        }
    }
}

fn https_only(settings: &HttpSettings) -> Option<HeaderValue> {
    let seconds = u64::from(settings.https_only_days) * 86_400;
    let is_ours = settings.tls.is_some() && seconds > 0;
    is_ours.then(|| HeaderValue::try_from(format!("max-age={seconds}")).ok()).flatten()
}

/// Whether a probe asks for a server that is not behind the channel: `/readyz?newest`.
fn needs_newest(query: Option<&str>) -> bool {
    query.is_some_and(|query| query.split('&').any(|name| name.split('=').next() == Some("newest")))
}

fn no_such_path(path: &str) -> ApiError {
    ApiError::not_found(format!("there is no resource at {}; /api/v1 lists the paths", shortened(path)))
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self { error, left: None }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpStream};
    use std::time::Duration;

    use super::*;

    /// How many of 200 connections the system takes while nobody accepts them.
    fn taken(accept_queue_max: u32) -> usize {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _runtime = runtime.enter();
        let listener = listen((Ipv4Addr::LOCALHOST, 0).into(), accept_queue_max).unwrap();
        let address = listener.local_addr().unwrap();
        // One that does not fit is answered after a second at the earliest.
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_millis(900)).ok();
        (0..200).map_while(connect).collect::<Vec<_>>().len()
    }

    #[test]
    fn more_connections_wait_to_be_accepted_than_the_128_of_the_library_and_the_operator_may_allow_fewer() {
        assert_eq!(taken(65_535), 200);
        assert!((4..=16).contains(&taken(4)));
    }
}
