//! A server with the sample corpus on a real socket, and a client that sends exact bytes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use hornbook::api::cards::CardPayments;
use hornbook::api::corpus::Corpus;
use hornbook::api::deep_search::DeepSettings;
use hornbook::api::service::{Service, ServiceParts};
use hornbook::http::{HttpSettings, Mounts, Observers, Proxies, Server, Timeouts};
use hornbook::log::{Log, LogFormat, RequestLogging};
use hornbook::metrics::Metrics;
use hornbook::web_origin::WebOrigin;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::ids::{AccountId, Credits};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::tier::Tariff;
use hornbook_accounts::watches::WebhookPolicy;
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_search::DepthChoice;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::sample::ENGINE;

/// Threads for heavy work.
const WORKER_PERMITS: usize = 2;

/// A running server; stopped when dropped.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) metrics_address: SocketAddr,
    log: Arc<Log>,
    log_buffer: LogBuffer,
    pub(crate) counters: Arc<Metrics>,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) service: Arc<Service>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _data: tempfile::TempDir,
}

/// See [`TestServer::occupied`].
pub(crate) struct BusyWorkers {
    _ends: Vec<Sender<Infallible>>,
}

/// Options of a test server besides its HTTP settings.
pub(crate) struct TestServerOptions {
    pub(crate) tariff: Tariff,
    pub(crate) durability: Durability,
    pub(crate) unread_bytes_per_account_max: usize,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) logged_requests: RequestLogging,
    /// The provider of card payments.
    pub(crate) cards: Option<Arc<dyn CardPayments>>,
    pub(crate) base_url: &'static str,
    /// Where reports of watched changes may be sent.
    pub(crate) webhooks: WebhookPolicy,
    /// Handlers besides the operations.
    pub(crate) mounts: fn(&Arc<Service>) -> Mounts,
}

impl TestServerOptions {
    pub(crate) fn default_for(tariff: Tariff) -> Self {
        Self {
            tariff,
            durability: Durability::Window,
            unread_bytes_per_account_max: 64 << 20,
            clock: Arc::new(SystemClock::start()),
            logged_requests: RequestLogging::All,
            cards: None,
            base_url: "https://law.example",
            webhooks: WebhookPolicy::Off,
            mounts: |_| Mounts::new(),
        }
    }
}

/// A tariff with limits that tests do not reach by accident.
pub(crate) fn generous_tariff() -> Tariff {
    let mut tariff = Tariff::CONTRACT;
    tariff.free.limits.per_minute = 100_000;
    tariff.free.limits.per_day = 1_000_000;
    tariff.free.monthly_units = 50_000;
    tariff
}

impl TestServer {
    pub(crate) fn start(tariff: Tariff) -> Self {
        Self::start_with_origins(tariff, &["https://app.example"])
    }

    pub(crate) fn start_with_origins(tariff: Tariff, cross_origins: &[&str]) -> Self {
        let cross_origins = cross_origins.iter().filter_map(|origin| WebOrigin::of_url(origin)).collect();
        Self::start_with(tariff, |http| http.cross_origins = cross_origins)
    }

    /// With changed HTTP settings.
    pub(crate) fn start_with(tariff: Tariff, change: impl FnOnce(&mut HttpSettings)) -> Self {
        Self::start_with_options(TestServerOptions::default_for(tariff), change)
    }

    /// In strict mode: an answer waits until its debit is on disk.
    pub(crate) fn start_strict(tariff: Tariff) -> Self {
        Self::start_with_options(
            TestServerOptions { durability: Durability::Strict, ..TestServerOptions::default_for(tariff) },
            |_| (),
        )
    }

    pub(crate) fn start_with_options(opening: TestServerOptions, change: impl FnOnce(&mut HttpSettings)) -> Self {
        let TestServerOptions {
            tariff,
            durability,
            unread_bytes_per_account_max,
            clock,
            logged_requests: which_requests,
            mounts,
            cards,
            base_url,
            webhooks,
        } = opening;
        let data = tempfile::tempdir().unwrap();
        let settings = Settings { tariff, durability, webhooks, ..Settings::default() };
        let accounts = Arc::new(Accounts::open(data.path(), settings, clock.now()).unwrap());
        let corpus = Arc::new(Corpus::new(Arc::clone(ENGINE.snapshot())).unwrap());
        let here = "127.0.0.1:0".parse().unwrap();
        let mut http = HttpSettings {
            listen: here,
            metrics: Some(here),
            pulls: None,
            connections_max: 100,
            accept_queue_max: 65_535,
            connections_per_address_max: 100,
            timeouts: Timeouts {
                head: Duration::from_secs(10),
                idle: Duration::from_secs(60),
                unread: Duration::from_secs(20),
                read_rate_min: 4096,
            },
            unread_bytes_per_address_max: 64 << 20,
            proxies: Proxies::default(),
            tls: None,
            https_only_days: 365,
            cross_origins: Vec::new(),
            reserved_path: "/api/v1/billing/webhook",
            path_origins: (
                vec!["/api/mcp", "/oauth/token"],
                vec![WebOrigin::of_url("https://agents.example").unwrap()],
            ),
            open_per_minute: None,
        };
        change(&mut http);
        let (logged, counters) = (LogBuffer::default(), Arc::<Metrics>::default());
        let observers = Observers {
            log: Arc::new(Log::start(LogFormat::Json, logged.clone())),
            logged: which_requests,
            metrics: Arc::clone(&counters),
            clock: Arc::clone(&clock),
        };
        let log = Arc::clone(&observers.log);
        let parts = ServiceParts {
            corpus,
            accounts: Arc::clone(&accounts),
            clock: Arc::clone(&clock),
            base_url: base_url.to_owned(),
            permits: WORKER_PERMITS,
            deep: DeepSettings { default_depth: DepthChoice::Auto, permits: 1 },
            unread_bytes_per_account_max,
            cards,
        };
        let service = Arc::new(Service::new(parts));
        let (served, mounts) = (Arc::clone(&service), mounts(&service));
        let (reported, tell) = channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .on_thread_start(hornbook_accounts::blocking::forbid_on_this_thread)
                .build()
                .unwrap();
            runtime.block_on(async move {
                let server = Server::bind(http, &mut SystemEntropy).await.unwrap();
                reported.send((server.address().unwrap(), server.metrics_address().unwrap())).unwrap();
                let stopped = async move { drop(stopped.await) };
                server.run(served, mounts, observers, stopped).await;
            });
        });
        let (address, metrics_address) = tell.recv().unwrap();
        Self {
            address,
            metrics_address,
            log,
            log_buffer: logged,
            counters,
            accounts,
            clock,
            service,
            stop: Some(stop),
            thread: Some(thread),
            _data: data,
        }
    }

    /// All lines of the log so far.
    pub(crate) fn log(&self) -> String {
        self.log.flush();
        String::from_utf8(self.log_buffer.0.lock().unwrap().clone()).unwrap()
    }

    /// Sends a request to the metrics listener.
    pub(crate) fn get_from_metrics_listener(&self, method: &str, path: &str) -> TestResponse {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        exchange(self.metrics_address, request.as_bytes())
    }

    /// The metrics page.
    pub(crate) fn metrics(&self) -> String {
        let page = self.get_from_metrics_listener("GET", "/metrics");
        assert_eq!(page.status, 200);
        page.text()
    }

    /// The value of a metric; `name` includes its labels.
    pub(crate) fn metric_value(&self, name: &str) -> f64 {
        let page = self.metrics();
        let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0.0, |value| value.parse().unwrap())
    }

    /// Keeps all threads for heavy work busy until the returned value is dropped.
    pub(crate) fn occupy_workers(&self) -> BusyWorkers {
        let (began, has_begun) = channel();
        let occupy = |_| {
            let (end, ended) = channel::<Infallible>();
            let (service, began) = (Arc::clone(&self.service), began.clone());
            let work = move || {
                began.send(()).unwrap();
                let _ = ended.recv();
                Ok(())
            };
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                runtime.block_on(service.heavy(work)).unwrap();
            });
            end
        };
        let ends = (0..WORKER_PERMITS).map(occupy).collect();
        (0..WORKER_PERMITS).for_each(|_| has_begun.recv().unwrap());
        BusyWorkers { _ends: ends }
    }

    pub(crate) fn test_act(&self) -> ActContext {
        ActContext { actor: Actor::program("test"), at: self.clock.now().wall }
    }

    /// Creates an approved account with this many credits.
    pub(crate) fn create_account(&self, credits: u32) -> AccountId {
        let id = self.accounts.create_account("test".to_owned(), &self.test_act()).unwrap().id;
        self.accounts.approve_account(id, &self.test_act()).unwrap();
        if credits > 0 {
            self.accounts.grant(id, Credits(credits), "for the test".to_owned(), &self.test_act()).unwrap();
        }
        id
    }

    pub(crate) fn create_key(&self, account: AccountId, scopes: &[Scope]) -> String {
        let scopes = ScopeSet::of(scopes);
        let wish = NewKey {
            account,
            name: "test".to_owned(),
            kind: KeyKind::Live,
            scopes,
            expires_at: None,
            budget: Budget::default(),
        };
        self.accounts.create_key(wish, &self.test_act(), &mut SystemEntropy).unwrap().secret.reveal()
    }

    /// A key with all scopes, of a new account.
    pub(crate) fn create_full_key(&self) -> String {
        self.create_key(self.create_account(0), &Scope::ALL)
    }

    pub(crate) fn get(&self, path: &str, key: &str) -> TestResponse {
        self.get_with(path, &[("Authorization", &format!("Bearer {key}"))])
    }

    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> TestResponse {
        self.request("GET", path, headers)
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> TestResponse {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n");
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        self.send_raw(&format!("{text}\r\n"))
    }

    /// Sends these bytes and reads until the server closes the connection.
    pub(crate) fn send_raw(&self, text: &str) -> TestResponse {
        exchange(self.address, text.as_bytes())
    }
}

fn exchange(address: SocketAddr, sent: &[u8]) -> TestResponse {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(sent).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    TestResponse::read(&bytes)
}

/// The largest size of a response head.
const HEAD_BYTES_MAX: usize = 8 << 10;

/// A log in memory.
#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    /// Header names are in lower case.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl TestResponse {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(bytes)));
        assert!(end <= HEAD_BYTES_MAX, "{end} bytes of headers");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers: HashMap<String, String> = HashMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let place = headers.entry(name.to_ascii_lowercase()).or_default();
            if !place.is_empty() {
                place.push_str(", ");
            }
            place.push_str(value);
        }
        let body = &bytes[end + 4..];
        let is_chunked = headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked");
        Self { status, headers, body: if is_chunked { dechunked(body) } else { body.to_vec() } }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn header_number(&self, name: &str) -> u64 {
        self.header(name).parse().unwrap_or_else(|_| panic!("{name} is '{}': {self:?}", self.header(name)))
    }

    /// The Error object of the response, after checking its status, code and fields.
    pub(crate) fn expect_error(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, body["error"].as_str()), (status, Some(code)), "{body:#}");
        assert!(body["message"].as_str().is_some_and(|message| message.len() > 20), "{body:#}");
        assert_eq!(self.header("content-type"), "application/json");
        assert_eq!(body.get("upgradeUrl").is_some(), status == 402, "{body:#}");
        assert_eq!(body.get("retryAfterSec").is_some(), matches!(status, 429 | 503), "{body:#}");
        body
    }
}

/// The body in these chunks, which must end with the last chunk.
fn dechunked(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = chunks.windows(2).position(|window| window == b"\r\n").expect("the chunks have an end");
        let length = usize::from_str_radix(std::str::from_utf8(&chunks[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            assert_eq!(&chunks[end..], b"\r\n\r\n");
            return body;
        }
        body.extend_from_slice(&chunks[end + 2..][..length]);
        chunks = &chunks[end + 2 + length + 2..];
    }
}

/// Waits until the condition holds, for at most thirty seconds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} never came");
}
