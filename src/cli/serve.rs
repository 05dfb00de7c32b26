//! `hornbook serve`: serves the current snapshot and the accounts over HTTP.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Args;
use hornbook::admin::socket::AdminSocket;
use hornbook::api::cards::CardPayments;
use hornbook::api::corpus::Corpus;
use hornbook::api::integrity::{IntegrityEvent, IntegrityMonitor};
use hornbook::api::order_payments::{OperatorPayments, Payments};
use hornbook::api::service::{Service, ServiceParts};
use hornbook::config::{Config, FormationSection};
use hornbook::formation::requirements_file::requirements;
use hornbook::http::{HttpSettings, Mounts, Observers, Server, Tls};
use hornbook::log::{Log, LogFields, LogLevel};
use hornbook::mcp::{Mcp, McpMount};
use hornbook::metrics::Metrics;
use hornbook::mount::Mount;
use hornbook::notices::{Notice, Notices, Undelivered};
use hornbook::payments::orders::OrderPayments;
use hornbook::payments::webhook::Webhook;
use hornbook::web::files::AssetFiles;
use hornbook::web::formation::returned::ReturnPages;
use hornbook::web::formation::review::ReviewPage;
use hornbook::web::formation::tracking::TrackingPage;
use hornbook::web::operator::mount::OperatorPages;
use hornbook::web::operator::snapshot_control::SnapshotControl;
use hornbook::web::page_context::PageContext;
use hornbook::web::public_pages::PublicPages;
use hornbook::web::settings::mount::AccountPages;
use hornbook::web::zoning::map_parts::MapParts;
use hornbook_accounts::Accounts;
use hornbook_accounts::blocking::forbid_on_this_thread;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::state::permission_warning;
use hornbook_base::clock::{Clock, SystemClock};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::operator_link::OperatorLink;
use crate::cli::operator_snapshots::ServedSnapshotControl;
use crate::cli::output::print_ignoring_errors;
use crate::cli::{CommandResult, GlobalOptions, flag, settings};

/// Number of open files besides connections: snapshots, state, sockets, and the files that a reload
/// opens.
const OTHER_OPEN_FILES: u64 = 200;

const MAINTENANCE_EVERY: Duration = Duration::from_secs(30);

/// Serve the current snapshot over HTTP
///
/// Verifies the snapshot that data/current points to, opens the state of accounts, and serves until
/// SIGTERM or Ctrl-C. Then it accepts no more connections and gives requests in progress ten
/// seconds to finish. SIGHUP and 'hornbook reload' switch to the snapshot that data/current points
/// to at that time, and load a renewed certificate.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,

    /// PEM file of the certificate and its issuers; serves TLS instead of plain HTTP
    #[arg(long, value_name = "FILE", requires = "tls_private_key")]
    tls_certificate: Option<PathBuf>,

    /// PEM file of the certificate's private key
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_private_key: Option<PathBuf>,

    /// Address and port for Prometheus metrics, such as 127.0.0.1:9090 [default: no metrics]
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics_listen: Option<String>,
}

impl Serve {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let flags = [
            ("--listen", "server.listen", self.listen),
            ("--tls-certificate", "tls.certificate", self.tls_certificate.map(|file| file.display().to_string())),
            ("--tls-private-key", "tls.private_key", self.tls_private_key.map(|file| file.display().to_string())),
            ("--metrics-listen", "metrics.listen", self.metrics_listen),
        ];
        let flags = flags.into_iter().filter_map(|(written, setting, value)| Some(flag(written, setting, value?)));
        let config = options.configuration_with(flags)?;
        let served = OpenService::open(&config)?;
        served.run(&config, |base| print_ignoring_errors(&format!("listening on {base}\n")))
    }
}

/// Everything that stays open while the service runs.
pub(super) struct OpenService {
    data: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) accounts: Arc<Accounts>,
    corpus: Arc<Corpus>,
    log: Arc<Log>,
}

impl OpenService {
    pub(super) fn open(config: &Config) -> Result<Self, Box<dyn Error>> {
        // An error in the compiled-in requirements stops the start, not a later request.
        requirements().map_err(Clone::clone)?;
        let data = config.data.dir.clone();
        let corpus = Arc::new(Corpus::open_current(&data)?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let accounts = Arc::new(Accounts::open(&data, settings::accounts(config), clock.now())?);
        let log = Arc::new(Log::start(config.log.format, std::io::stderr()));
        Ok(Self { data, clock, accounts, corpus, log })
    }

    /// Serves until a signal stops it. Calls `announce` with the address as soon as it accepts
    /// connections.
    pub(super) fn run(self, config: &Config, announce: impl FnOnce(&str)) -> CommandResult {
        let Self { data, clock, accounts, corpus, log } = self;
        let stripe = settings::stripe(config)?;
        let address = settings::notices(config)?;
        let deep = settings::deep(config);
        let settings = settings::http(config)?;
        warn_if_exposed(&settings, &log, &*clock);
        if let Some(warning) = permission_warning(&data) {
            log.write(clock.now().wall, LogLevel::Warning, &warning, &[]);
        }
        keep_memory_private(&log, &*clock);
        raise_open_file_limit(&settings, &log, &*clock);
        let metrics = Arc::new(Metrics::default());
        let observers =
            Observers { log: Arc::clone(&log), logged: config.log.requests, metrics, clock: Arc::clone(&clock) };
        let maintenance = Maintenance::start(Arc::clone(&accounts), OperatorLink::of(&data), observers.clone());
        let socket = AdminSocket::bind(&data)?;
        let notice_observers = observers.clone();
        let notices = address.map(|address| {
            let tell_undelivered = move |undelivered: &Undelivered| {
                log_event(&notice_observers, LogLevel::Warning, &undelivered.to_string(), &[]);
            };
            Notices::start(address, Arc::clone(&clock), Arc::new(tell_undelivered))
        });
        let notices = notices.transpose()?;
        if let Some(notices) = &notices {
            Notice::all_pending(&accounts, clock.now())?.into_iter().for_each(|notice| notices.raise(notice));
        }
        let acts = observers.clone();
        // Purchases by card wait for their customers, not for the operator.
        let by_card = stripe.is_some();
        accounts.on_act(move |act| {
            if let (Some(notices), Some(notice)) =
                (&notices, Notice::of(act).filter(|notice| !by_card || !notice.is_about_purchase()))
            {
                notices.raise(notice);
            }
            let fields = [("actor", json!(act.actor)), ("act", json!(act.act)), ("on", json!(act.on))];
            log_event(&acts, LogLevel::Info, "administrative act", &fields);
        });

        let mut threads = tokio::runtime::Builder::new_multi_thread();
        let runtime = threads.enable_all().on_thread_start(forbid_on_this_thread).build()?;
        let parts = |base_url, cards| ServiceParts {
            corpus,
            accounts: Arc::clone(&accounts),
            clock: Arc::clone(&clock),
            base_url,
            permits: config.server.permits.get() as usize,
            deep,
            unread_bytes_per_account_max: config.server.unread_bytes_per_account_max.get() as usize,
            cards,
        };
        let (operator_link, owners) = (OperatorLink::of(&data), Arc::clone(&accounts));
        let (shared_accounts, shared_clock, serving_observers) =
            (Arc::clone(&accounts), Arc::clone(&clock), observers.clone());
        let result = runtime.block_on(async move {
            let tls = settings.tls.clone();
            let listener = Server::bind(settings, &mut SystemEntropy).await?;
            let address = listener.address()?;
            let scheme = if tls.is_some() { "https" } else { "http" };
            let here = format!("{scheme}://{address}");
            let base_url = config.server.base_url.as_ref().map_or_else(|| here.clone(), |url| url.0.clone());
            let (mut mounts, mut cards) = (Mounts::new(), None);
            if let Some((stripe, secret)) = stripe {
                cards = Some(Arc::new(stripe.returning_to(&base_url)) as Arc<dyn CardPayments>);
                mounts.push(Arc::new(Webhook::new(Arc::clone(&shared_accounts), Arc::clone(&shared_clock), secret)));
            }
            let service = Arc::new(Service::new(parts(base_url, cards)));
            let (scrub_hours, integrity_observers) = (config.corpus.scrub_hours, serving_observers.clone());
            let scrub_every = (scrub_hours > 0).then(|| Duration::from_secs(u64::from(scrub_hours) * 3600));
            let integrity = IntegrityMonitor::start(Arc::clone(&service), scrub_every, move |event| {
                log_integrity_event(&integrity_observers, event);
            });
            let reload =
                Arc::new(Reloader { service: Arc::clone(&service), data, tls, observers: serving_observers.clone() });
            let socket_reload = Arc::clone(&reload);
            // The thread ends with the process, because nothing can stop its listener.
            std::thread::spawn(move || socket.serve(&shared_accounts, &shared_clock, &move || socket_reload.reload()));
            let reloading = Arc::clone(&reload);
            let by_operator = Box::new(move || reloading.snapshot());
            let snapshot_control =
                ServedSnapshotControl { service: Arc::clone(&service), data: reload.data.clone(), reload: by_operator };
            reload_at_hangup(reload)?;
            let stop = stop_signal()?;
            let metrics_address = listener.metrics_address().map(|address| address.to_string());
            let fields = [
                ("address", json!(here)),
                ("metrics", json!(metrics_address)),
                ("snapshot", json!(service.corpus().id())),
                ("version", json!(env!("CARGO_PKG_VERSION"))),
            ];
            log_event(&serving_observers, LogLevel::Info, "serving", &fields);
            announce(&here);
            let at = serving_observers.clock.now().wall;
            let offered = operator_link.offer(&owners, service.base_url(), at);
            offered.map_err(|error| std::io::Error::other(error.to_string()))?;
            let announced_stop = async {
                stop.await;
                log_event(&serving_observers, LogLevel::Info, "stopping", &[]);
            };
            let mcp = Arc::new(Mcp::new(Arc::clone(&service)));
            mounts.push(Arc::new(McpMount::new(mcp, &settings::mcp(config))));
            mounts.push(review_page(&service, &config.formation));
            mounts.extend(pages(&service, config, Arc::clone(&serving_observers.metrics), Arc::new(snapshot_control)));
            listener.run(service, mounts, serving_observers.clone(), announced_stop).await;
            integrity.stop();
            Ok::<(), std::io::Error>(())
        });
        // Work on other threads has finished with its request, so there is nothing left to wait
        // for.
        runtime.shutdown_background();
        maintenance.stop();
        accounts.close();
        log_event(&observers, LogLevel::Info, "stopped", &[]);
        log.flush();
        result.map_err(|error| format!("cannot serve: {error}; check that no other program uses the address and that this user may listen on it").into())
    }
}

/// The page on which people accept company formations. The operator confirms payments, unless
/// customers pay by card.
fn review_page(service: &Arc<Service>, formation: &FormationSection) -> Arc<dyn Mount> {
    let how_to_pay = formation.how_to_pay.as_ref().map(|line| line.0.clone());
    let payments: Arc<dyn Payments> = match service.cards() {
        None => Arc::new(OperatorPayments),
        Some(cards) => Arc::new(OrderPayments::new(Arc::clone(service), Arc::clone(cards))),
    };
    Arc::new(ReviewPage::new(Arc::clone(service), payments, how_to_pay))
}

/// The pages for browsers.
fn pages(
    service: &Arc<Service>,
    config: &Config,
    metrics: Arc<Metrics>,
    snapshot_control: Arc<dyn SnapshotControl>,
) -> Mounts {
    let shell = Arc::new(PageContext::new(Arc::clone(service), settings::pages(config)));
    let own = AccountPages::new(Arc::clone(&shell), config.people.sign_up);
    let operator = OperatorPages::new(Arc::clone(&shell), metrics, snapshot_control);
    let tracking = TrackingPage::new(Arc::clone(&shell));
    let mut mounts: Mounts = vec![Arc::new(AssetFiles), Arc::new(own), Arc::new(operator), Arc::new(tracking)];
    if service.cards().is_some() {
        mounts.push(Arc::new(ReturnPages::new(Arc::clone(&shell))));
    }
    mounts.push(Arc::new(MapParts::new(Arc::clone(&shell))));
    mounts.push(Arc::new(PublicPages::new(shell)));
    mounts
}

fn log_integrity_event(observers: &Observers, event: &IntegrityEvent) {
    match event {
        IntegrityEvent::Damaged { snapshot, what } => {
            let message = "THE SERVED SNAPSHOT IS DAMAGED: requests for damaged parts get 500 and /readyz gets 503 until an intact snapshot is served; install one, then run 'hornbook reload'";
            log_event(observers, LogLevel::Error, message, &[("snapshot", json!(snapshot)), ("why", json!(what))]);
        }
        IntegrityEvent::Scrubbed { snapshot, bytes, took } => {
            let seconds = took.as_secs_f64().round();
            let fields = [("snapshot", json!(snapshot)), ("bytes", json!(bytes)), ("seconds", json!(seconds))];
            log_event(
                observers,
                LogLevel::Info,
                "every byte of the served snapshot was checked again and is intact",
                &fields,
            );
        }
        IntegrityEvent::NotScrubbed { snapshot, why } => {
            let fields = [("snapshot", json!(snapshot)), ("why", json!(why))];
            log_event(
                observers,
                LogLevel::Warning,
                "the files of the served snapshot cannot be checked again",
                &fields,
            );
        }
    }
}

fn log_event(observers: &Observers, level: LogLevel, message: &str, fields: LogFields<'_>) {
    observers.log.write(observers.clock.now().wall, level, message, fields);
}

/// Warns if keys or metrics are exposed to the network.
fn warn_if_exposed(settings: &HttpSettings, log: &Log, clock: &dyn Clock) {
    let is_open = |address: SocketAddr| !address.ip().is_loopback();
    if is_open(settings.listen) && settings.tls.is_none() {
        let message = "this is not a loopback address and there is no TLS: API keys cross the network unencrypted, unless a \
                       proxy in front adds TLS; set tls.certificate and tls.private_key";
        log.write(clock.now().wall, LogLevel::Warning, message, &[("address", json!(settings.listen))]);
    }
    if let Some(metrics) = settings.metrics.filter(|metrics| is_open(*metrics)) {
        let message = "metrics need no key and this is not a loopback address: anyone who can reach it can read them";
        log.write(clock.now().wall, LogLevel::Warning, message, &[("address", json!(metrics))]);
    }
}

/// The memory of this process contains API keys and the private key of TLS. Disables core dumps,
/// and allows only root to trace the process.
fn keep_memory_private(log: &Log, clock: &dyn Clock) {
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        let message = "core dumps and tracing of this process cannot be turned off";
        log.write(clock.now().wall, LogLevel::Warning, message, &[("why", json!(error.to_string()))]);
    }
}

/// Raises the limit of open files. Each connection needs one, and the usual limit is low.
fn raise_open_file_limit(settings: &HttpSettings, log: &Log, clock: &dyn Clock) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let may_open = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    let needed = settings.connections_max as u64 + OTHER_OPEN_FILES;
    if let Some(may_open) = may_open.filter(|may_open| *may_open < needed) {
        let message = "the limit of open files is lower than server.connections_max needs; raise it (LimitNOFILE= of systemd, \
                       ulimit -n) or lower server.connections_max";
        let fields = [("mayOpen", json!(may_open)), ("needed", json!(needed))];
        log.write(clock.now().wall, LogLevel::Warning, message, &fields);
    }
}

/// The implementation of `hornbook reload` and SIGHUP.
struct Reloader {
    service: Arc<Service>,
    data: PathBuf,
    tls: Option<Arc<Tls>>,
    observers: Observers,
}

impl Reloader {
    /// Serves the snapshot that the link in the data directory points to now. The error is the
    /// reason why the old one stays.
    fn snapshot(&self) -> Result<String, String> {
        let renewed = self.service.reload_snapshot(&self.data);
        self.observers.metrics.reloaded(if renewed.is_ok() { "done" } else { "refused" });
        match renewed {
            Ok(renewed) => {
                let fields = [("snapshot", json!(renewed.snapshot)), ("before", json!(renewed.before))];
                log_event(&self.observers, LogLevel::Info, "reloaded", &fields);
                Ok(renewed.snapshot)
            }
            Err(error) => {
                log_event(&self.observers, LogLevel::Error, "reload failed", &[("why", json!(error.to_string()))]);
                Err(error.to_string())
            }
        }
    }

    /// Reloads snapshot and certificate independently. If one is invalid, the old one stays, and
    /// the other is still reloaded.
    fn reload(&self) -> Result<Value, String> {
        let mut faults = Vec::new();
        if let Some(Err(error)) = self.tls.as_ref().map(|tls| tls.reload()) {
            faults.push(format!("the new certificate is not used, the old one stays in use: {error}"));
        }
        let renewed = self.service.reload_snapshot(&self.data);
        let answer = match renewed {
            Ok(renewed) => json!(renewed),
            Err(error) => {
                faults.push(format!("the new snapshot is not served, the old one stays in use: {error}"));
                Value::Null
            }
        };
        let result = if faults.is_empty() { "done" } else { "refused" };
        self.observers.metrics.reloaded(result);
        match faults.is_empty() {
            true => {
                let of = |name: &str| answer[name].clone();
                let fields = [("snapshot", of("snapshot")), ("before", of("before"))];
                log_event(&self.observers, LogLevel::Info, "reloaded", &fields);
                Ok(answer)
            }
            false => {
                let faults = faults.join("; ");
                log_event(&self.observers, LogLevel::Error, "reload failed", &[("why", json!(faults))]);
                Err(faults)
            }
        }
    }
}

fn reload_at_hangup(reload: Arc<Reloader>) -> std::io::Result<()> {
    let mut hangups = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let reload = Arc::clone(&reload);
            // `reload` logs its result.
            let _ = tokio::task::spawn_blocking(move || drop(reload.reload())).await;
        }
    });
    Ok(())
}

/// Completes at the first SIGTERM or Ctrl-C.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// The thread that maintains the accounts periodically.
struct Maintenance {
    thread: JoinHandle<()>,
    stop: Sender<()>,
}

impl Maintenance {
    fn start(accounts: Arc<Accounts>, operator_link: OperatorLink, observers: Observers) -> Self {
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(MAINTENANCE_EVERY) == Err(RecvTimeoutError::Timeout) {
                operator_link.clear(&accounts);
                if let Err(error) = accounts.maintain(observers.clock.now()) {
                    let fields = [("why", json!(error.to_string()))];
                    log_event(
                        &observers,
                        LogLevel::Error,
                        "maintenance of accounts failed and will be retried",
                        &fields,
                    );
                }
            }
        });
        Self { thread, stop }
    }

    fn stop(self) {
        drop(self.stop);
        // The thread ends on its own. A panic in it was already reported.
        let _ = self.thread.join();
    }
}
