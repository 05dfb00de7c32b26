//! The HTTP service: the operations table over HTTP/1.1 and HTTP/2. The only place that knows hyper.
//!
//! `connections` accepts, caps and drains; `proxies` tells whose a connection is, `tls` encrypts, `stream` is either;
//! `patience` closes those that keep us waiting; `conversation` goes from request to request; `guard` lets only heads that
//! `head` finds good reach hyper; `gate` refuses what is still wrong with a request; `routes` knows the paths; `accept` what the client wants to read; `answer` turns
//! outcomes into responses, `packing` compresses them, `documents` keeps those that are rendered once, `headers` dresses
//! them, `cross_origin` tells browsers who may read them; `account` tells log and metrics of each request, `observe` those
//! who watch; `probe` asks a server whether it is ready. [`Server`] is the whole of it.

mod accept;
mod account;
mod answer;
mod connections;
mod conversation;
mod cross_origin;
mod documents;
mod gate;
mod guard;
mod head;
mod headers;
mod observe;
mod packing;
mod patience;
mod probe;
mod proxies;
mod routes;
mod stream;
mod tls;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use tokio::net::TcpListener;

use crate::accounts::key::PlainKey;
use crate::api::call::{Call, Failure, Outcome};
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::operation::{Access, FORMAT_PARAMETER, Operation};
use crate::api::service::Service;
use account::Note;
pub use account::Observers;
use cross_origin::Origins;
use documents::Documents;
use gate::Asked;
pub use guard::Patience;
pub(crate) use headers::percent_encoded;
pub use probe::{Said, ask_readiness};
pub use proxies::Proxies;
use routes::{Target, route};
pub use tls::{Tls, TlsError, TlsFiles};

/// What an operator chooses about connections.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    pub listen: SocketAddr,
    pub connections_max: usize,
    pub connections_per_address_max: usize,
    pub patience: Patience,
    pub proxies: Proxies,
    /// None: in the clear.
    pub tls: Option<Arc<Tls>>,
    /// Where metrics are to be had; nowhere where absent.
    pub metrics: Option<SocketAddr>,
    /// Web pages of these origins may call the service from a browser.
    pub cross_origins: Vec<String>,
}

/// A server that listens but does not answer yet.
pub struct Server {
    listener: TcpListener,
    watchers: Option<TcpListener>,
    settings: HttpSettings,
}

impl Server {
    pub async fn bind(settings: HttpSettings) -> std::io::Result<Self> {
        let listener = TcpListener::bind(settings.listen).await?;
        let watchers = match settings.metrics {
            Some(address) => Some(TcpListener::bind(address).await?),
            None => None,
        };
        Ok(Self { listener, watchers, settings })
    }

    /// Where metrics are to be had.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.watchers.as_ref().and_then(|watchers| watchers.local_addr().ok())
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is done, then lets the requests under way finish within ten seconds.
    pub async fn run(self, service: Arc<Service>, observers: Observers, stop: impl Future<Output = ()>) {
        let app = Arc::new(App::new(service, observers, &self.settings));
        // Watchers see the server drain to its end.
        let watched = self.watchers.map(|watchers| tokio::spawn(observe::serve(watchers, Arc::clone(&app))));
        connections::serve(self.listener, self.settings, app, stop).await;
        if let Some(watched) = watched {
            watched.abort();
        }
    }
}

/// What answers requests.
struct App {
    service: Arc<Service>,
    observers: Observers,
    origins: Origins,
    documents: Documents,
    requests: AtomicU64,
    /// Tells apart the requests of this start of the program from those of others.
    started: u64,
    draining: AtomicBool,
}

type Reply = Response<Full<Bytes>>;

impl App {
    fn new(service: Arc<Service>, observers: Observers, settings: &HttpSettings) -> Self {
        Self {
            observers,
            origins: Origins::new(&settings.cross_origins),
            documents: Documents::new(&service),
            started: service.started_at_millis(),
            requests: AtomicU64::new(0),
            draining: AtomicBool::new(false),
            service,
        }
    }

    async fn handle(
        &self,
        request: Request<Incoming>,
        client: IpAddr,
        refused: Option<ApiError>,
    ) -> Result<Reply, Infallible> {
        let under_way = self.observers.begin();
        let id = self.next_id();
        let corpus = self.service.corpus();
        let origin = self.origins.allowed(request.headers()).cloned();
        let is_head = request.method() == Method::HEAD;
        let response = match refused {
            Some(error) => answer::failed(&error.into(), &id, None),
            None => self.answer(&request, &corpus, &id).await,
        };
        let mut response = packing::pack(response, request.headers()).await;
        headers::set(response.headers_mut(), "x-request-id", id.as_str());
        headers::set(response.headers_mut(), "x-corpus-snapshot", corpus.id());
        self.origins.dress(response.headers_mut(), origin);
        if self.draining.load(Ordering::Relaxed) {
            // The last answer of this connection: its client asks elsewhere, and loses nothing.
            headers::set_fixed(response.headers_mut(), "connection", "close");
        }
        if is_head {
            answer::drop_body(&mut response);
        }
        under_way.answered(&account::Request { id: &id, method: request.method().as_str(), client }, &mut response);
        Ok(response)
    }

    async fn answer(&self, request: &Request<Incoming>, corpus: &Arc<Corpus>, id: &str) -> Reply {
        let asked = match gate::check(request) {
            Ok(asked) => asked,
            Err(error) => return answer::failed(&error.into(), id, None),
        };
        if request.method() == Method::OPTIONS {
            return answer::options();
        }
        let Some(target) = route(&asked.segments) else {
            return answer::failed(&no_such_path(request.uri().path()).into(), id, None);
        };
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return answer::method_not_allowed(request.method(), id);
        }
        match target {
            Target::Live => answer::probe(StatusCode::OK, "live"),
            Target::Ready => self.readiness(),
            Target::Document(document) => {
                let documents = self.documents.of(&self.service, corpus);
                answer::document(documents.get(document), asked.headers)
            }
            Target::Operation(operation, path) => {
                let key = gate::bearer(asked.headers);
                let mut reply = self.operation(operation, path, asked, corpus, id).await;
                let is_key_good = reply.status() != StatusCode::UNAUTHORIZED && operation.access != Access::Open;
                let note = Note::of(&mut reply);
                note.operation = Some(operation.name);
                note.key = key.filter(|_| is_key_good).and_then(PlainKey::parse).map(|key| key.shown_prefix());
                reply
            }
        }
    }

    async fn operation(
        &self,
        operation: &'static Operation,
        path: Vec<(&'static str, String)>,
        mut asked: Asked<'_>,
        corpus: &Arc<Corpus>,
        id: &str,
    ) -> Reply {
        // A form that is named in the query wins, so Accept need not agree.
        let is_named = || asked.arguments.query.iter().any(|(name, _)| name == FORMAT_PARAMETER);
        let is_choice = operation.parameters.iter().any(|parameter| parameter.name == FORMAT_PARAMETER);
        let named = || (is_choice && is_named()).then_some(operation.formats[0]);
        let Some(format) = accept::format(asked.headers, operation.formats).or_else(named) else {
            let offered: Vec<&str> = operation.formats.iter().map(|format| format.media_type()).collect();
            let message = format!("the answer is to be had as {}; name one of them in Accept", offered.join(", "));
            let error = ApiError::new(ErrorCode::NotAcceptable, message);
            return answer::failed(&error.into(), id, None);
        };
        asked.arguments.path = path;
        let (headers, query) = (asked.headers, asked.arguments.query.clone());
        let call = Call {
            corpus: Arc::clone(corpus),
            operation,
            key: gate::bearer(asked.headers),
            arguments: asked.arguments,
            format,
            idempotency_key: gate::text(asked.headers, "idempotency-key"),
            known_versions: gate::text(asked.headers, "if-none-match"),
        };
        match self.service.call(call).await {
            Outcome::Answered(answer) => {
                let is_metered = matches!(operation.access, Access::Metered { .. });
                answer::answered(answer, headers, is_metered, (asked.path, &query))
            }
            Outcome::Unchanged { version, left } => answer::unchanged(&version, left, headers),
            Outcome::Failed(failure) => answer::failed(&failure, id, Some(self.service.checkout_url().as_str())),
        }
    }

    fn readiness(&self) -> Reply {
        if self.draining.load(Ordering::Relaxed) {
            return answer::probe(StatusCode::SERVICE_UNAVAILABLE, "stopping");
        }
        match self.service.accounts().health() {
            Ok(()) => answer::probe(StatusCode::OK, "ready"),
            Err(error) => answer::probe(StatusCode::SERVICE_UNAVAILABLE, error.code()),
        }
    }

    fn next_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{:x}-{number:x}", self.started)
    }
}

fn no_such_path(path: &str) -> ApiError {
    ApiError::not_found(format!("there is nothing at {path}; /api/v1 lists what there is"))
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self { error, left: None }
    }
}
