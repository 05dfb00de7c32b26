//! `hornbook serve`: serves the current snapshot and the accounts over HTTP.
//!
//! `events` logs what happens, `process` prepares the process, `pages` are the pages for browsers, and `reloader` switches to another
//! snapshot or certificate.

mod events;
mod pages;
mod process;
mod reloader;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Args;
use hornbook::admin::socket::AdminSocket;
use hornbook::api::cards::CardPayments;
use hornbook::api::corpus::Corpus;
use hornbook::api::integrity::IntegrityMonitor;
use hornbook::api::service::{Service, ServiceParts};
use hornbook::channel_files::ChannelFiles;
use hornbook::config::{AgentSignIn, Config};
use hornbook::formation::requirements_file::requirements;
use hornbook::http::{HttpSettings, Mounts, Observers, Server};
use hornbook::log::{Log, LogLevel};
use hornbook::mcp::{Mcp, McpMount, McpSettings};
use hornbook::metrics::Metrics;
use hornbook::mount::Mount;
use hornbook::notices::{Notice, Notices, Undelivered};
use hornbook::oauth::{SignIn, metadata_url};
use hornbook::payments::Secret;
use hornbook::payments::stripe::Stripe;
use hornbook::payments::webhook::Webhook;
use hornbook::usage_reports::{UsageReporter, UsageThread};
use hornbook::watches::{WatchReporter, WatchThread};
use hornbook::webhook::WebhookTarget;
use hornbook_accounts::Accounts;
use hornbook_accounts::blocking::forbid_on_this_thread;
use hornbook_accounts::common_clock::CommonClock;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::state::permission_warning;
use hornbook_base::clock::{Clock, SystemClock};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use self::events::{log_event, log_integrity_event, log_usage_event, log_watch_event};
use self::pages::{pages, review_page};
use self::process::{keep_memory_private, raise_open_file_limit, warn_if_exposed};
use self::reloader::{Reloader, reload_at_hangup};
use crate::cli::operator_control::{ServedControl, setting_rows};
use crate::cli::operator_link::OperatorLink;
use crate::cli::output::print_ignoring_errors;
use crate::cli::{CommandResult, GlobalOptions, flag, settings};

const MAINTENANCE_EVERY: Duration = Duration::from_secs(30);

/// The pause after a biller did not take a report for the first time.
const USAGE_FIRST_PAUSE: Duration = Duration::from_secs(10);

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
        let corpus = Arc::new(Corpus::open_current(&data, config.search.synonyms.as_deref())?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let accounts =
            Arc::new(settings::state_location(config)?.open(&data, settings::accounts(config), clock.now())?);
        let clock = CommonClock::of(clock, &accounts);
        let log = Arc::new(Log::start(config.log.format, std::io::stderr()));
        Ok(Self { data, clock, accounts, corpus, log })
    }

    /// Serves until a signal stops it. Calls `announce` with the address as soon as it accepts
    /// connections.
    pub(super) fn run(self, config: &Config, announce: impl FnOnce(&str)) -> CommandResult {
        let Self { data, clock, accounts, corpus, log } = self;
        let stripe = settings::stripe(config)?;
        let notice_target = settings::notices(config)?;
        let usage_target = settings::usage_reports(config)?;
        let http = settings::http(config)?;
        let observers = Observers { log, logged: config.log.requests, metrics: Arc::new(Metrics::default()), clock };
        let running = RunningService { config, data, accounts, observers };
        running.prepare_process(&http);
        let maintenance = Maintenance::start(
            Arc::clone(&running.accounts),
            OperatorLink::of(&running.data),
            running.observers.clone(),
        );
        let socket = AdminSocket::bind(&running.data)?;
        // Purchases by card wait for their customers, not for the operator.
        running.report_acts(notice_target, stripe.is_none())?;
        let usage = usage_target.map(|target| running.report_usage(target)).transpose()?;
        let mut threads = tokio::runtime::Builder::new_multi_thread();
        let runtime = threads.enable_all().on_thread_start(forbid_on_this_thread).build()?;
        let result = runtime.block_on(running.serve(corpus, http, stripe, socket, announce));
        // Work on other threads has finished with its request, so there is nothing left to wait for.
        runtime.shutdown_background();
        maintenance.stop();
        drop(usage);
        running.accounts.close();
        log_event(&running.observers, LogLevel::Info, "stopped", &[]);
        running.observers.log.flush();
        result.map_err(|error| {
            format!(
                "cannot serve: {error}; check that no other program uses the address and that this user may listen \
                 on it"
            )
            .into()
        })
    }
}

/// What the parts of a running service share.
struct RunningService<'c> {
    config: &'c Config,
    data: PathBuf,
    accounts: Arc<Accounts>,
    observers: Observers,
}

impl RunningService<'_> {
    fn prepare_process(&self, http: &HttpSettings) {
        warn_if_exposed(http, &self.observers);
        if let Some(warning) = permission_warning(&self.data) {
            log_event(&self.observers, LogLevel::Warning, &warning, &[]);
        }
        keep_memory_private(&self.observers);
        raise_open_file_limit(http, &self.observers);
    }

    /// Logs every administrative act, and sends notices of those that wait for the operator.
    fn report_acts(&self, target: Option<WebhookTarget>, reports_purchases: bool) -> Result<(), Box<dyn Error>> {
        let observers = self.observers.clone();
        let notices = target.map(|target| {
            let report_undelivered = move |undelivered: &Undelivered| {
                log_event(&observers, LogLevel::Warning, &undelivered.to_string(), &[]);
            };
            Notices::start(target, Arc::clone(&self.observers.clock), Arc::new(report_undelivered))
        });
        let notices = notices.transpose()?;
        if let Some(notices) = &notices {
            let pending = Notice::all_pending(&self.accounts, self.observers.clock.now())?;
            pending.into_iter().for_each(|notice| notices.raise(notice));
        }
        let observers = self.observers.clone();
        self.accounts.on_act(move |act| {
            let notice = Notice::of(act).filter(|notice| reports_purchases || !notice.is_about_purchase());
            if let (Some(notices), Some(notice)) = (&notices, notice) {
                notices.raise(notice);
            }
            let fields = [("actor", json!(act.actor)), ("act", json!(act.act)), ("on", json!(act.on))];
            log_event(&observers, LogLevel::Info, "administrative act", &fields);
        });
        Ok(())
    }

    /// Reports each hour to a biller what accounts used.
    fn report_usage(&self, target: WebhookTarget) -> std::io::Result<UsageThread> {
        let observers = self.observers.clone();
        UsageThread::start(UsageReporter {
            accounts: Arc::clone(&self.accounts),
            clock: Arc::clone(&observers.clock),
            target: target.first_pause(USAGE_FIRST_PAUSE),
            metrics: Arc::clone(&observers.metrics),
            tell: Arc::new(move |event| log_usage_event(&observers, event)),
        })
    }

    async fn serve(
        &self,
        corpus: Arc<Corpus>,
        http: HttpSettings,
        stripe: Option<(Stripe, Secret)>,
        socket: AdminSocket,
        announce: impl FnOnce(&str),
    ) -> std::io::Result<()> {
        let tls = http.tls.clone();
        let listener = Server::bind(http, &mut SystemEntropy).await?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let here = format!("{scheme}://{}", listener.address()?);
        let base_url = self.config.server.base_url.as_ref().map_or_else(|| here.clone(), |url| url.0.clone());
        let (cards, webhook) = match stripe {
            Some((stripe, secret)) => {
                (Some(Arc::new(stripe.returning_to(&base_url)) as Arc<dyn CardPayments>), Some(self.webhook(secret)))
            }
            None => (None, None),
        };
        let service = Arc::new(Service::new(self.service_parts(corpus, base_url, cards)));
        let integrity = self.watch_integrity(&service);
        let reloader = Arc::new(Reloader {
            service: Arc::clone(&service),
            data: self.data.clone(),
            synonyms: self.config.search.synonyms.clone(),
            tls,
            observers: self.observers.clone(),
            watches: self.report_watches(&service)?,
        });
        self.answer_administration(socket, Arc::clone(&reloader));
        let mounts = self.mounts(&service, webhook, Arc::clone(&reloader));
        reload_at_hangup(reloader)?;
        let stop = stop_signal()?;
        self.log_start(&here, &listener, &service);
        announce(&here);
        let offered =
            OperatorLink::of(&self.data).offer(&self.accounts, service.base_url(), self.observers.clock.now().wall);
        offered.map_err(|error| std::io::Error::other(error.to_string()))?;
        let announced_stop = async {
            stop.await;
            log_event(&self.observers, LogLevel::Info, "stopping", &[]);
        };
        listener.run(service, mounts, self.observers.clone(), announced_stop).await;
        integrity.stop();
        Ok(())
    }

    fn service_parts(
        &self,
        corpus: Arc<Corpus>,
        base_url: String,
        cards: Option<Arc<dyn CardPayments>>,
    ) -> ServiceParts {
        let server = &self.config.server;
        ServiceParts {
            corpus,
            accounts: Arc::clone(&self.accounts),
            clock: Arc::clone(&self.observers.clock),
            base_url,
            permits: server.permits.get() as usize,
            deep: settings::deep(self.config),
            unread_bytes_per_account_max: server.unread_bytes_per_account_max.get() as usize,
            cards,
        }
    }

    fn webhook(&self, secret: Secret) -> Arc<dyn Mount> {
        Arc::new(Webhook::new(Arc::clone(&self.accounts), Arc::clone(&self.observers.clock), secret))
    }

    fn watch_integrity(&self, service: &Arc<Service>) -> IntegrityMonitor {
        let hours = self.config.corpus.scrub_hours;
        let scrub_every = (hours > 0).then(|| Duration::from_secs(u64::from(hours) * 3600));
        let observers = self.observers.clone();
        IntegrityMonitor::start(Arc::clone(service), scrub_every, move |event| log_integrity_event(&observers, event))
    }

    /// Reports changes to keys that watch them, from now on and after each swap.
    fn report_watches(&self, service: &Arc<Service>) -> std::io::Result<WatchThread> {
        let observers = self.observers.clone();
        WatchThread::start(WatchReporter {
            service: Arc::clone(service),
            data: self.data.clone(),
            tell: Arc::new(move |event| log_watch_event(&observers, event)),
            first_pause: None,
        })
    }

    /// Answers administration commands on a thread that ends with the process, because nothing can stop
    /// its listener.
    fn answer_administration(&self, socket: AdminSocket, reloader: Arc<Reloader>) {
        let (accounts, clock) = (Arc::clone(&self.accounts), Arc::clone(&self.observers.clock));
        let reload = move || reloader.reload().map(|reloaded| json!(reloaded));
        std::thread::spawn(move || socket.serve(&accounts, &clock, &reload));
    }

    /// Sign-in for agents, if the operator wants it and the base URL allows it.
    fn sign_in(&self, service: &Arc<Service>) -> Option<Arc<SignIn>> {
        if self.config.mcp.sign_in == AgentSignIn::Off {
            return None;
        }
        let opened = SignIn::open(Arc::clone(service));
        if matches!(opened, Ok(None)) {
            let message =
                "agents cannot be let in on a page: server.base_url is neither https nor this machine, or has a path";
            log_event(&self.observers, LogLevel::Info, message, &[("baseUrl", json!(service.base_url()))]);
        }
        let report = |error: &ChangeError| {
            let message = "agents cannot be let in on a page";
            log_event(&self.observers, LogLevel::Warning, message, &[("why", json!(error.to_string()))]);
        };
        opened.inspect_err(report).ok().flatten()
    }

    /// What is served beside the operations table.
    fn mounts(&self, service: &Arc<Service>, webhook: Option<Arc<dyn Mount>>, reloader: Arc<Reloader>) -> Mounts {
        let by_operator = Box::new(move || reloader.reload_snapshot().map(|reloaded| reloaded.snapshot));
        let operator_control = ServedControl {
            service: Arc::clone(service),
            data: self.data.clone(),
            settings: setting_rows(self.config),
            reload: by_operator,
        };
        let metrics = Arc::clone(&self.observers.metrics);
        let mcp = Arc::new(Mcp::new(Arc::clone(service)));
        let mut mounts = Mounts::from_iter(webhook);
        mounts.extend(
            self.config.snapshots.share.clone().map(|folder| Arc::new(ChannelFiles::new(folder)) as Arc<dyn Mount>),
        );
        let sign_in = self.sign_in(service);
        let sign_in_metadata = sign_in.as_ref().map(|_| metadata_url(service.base_url()));
        let mcp_settings = McpSettings { sign_in_metadata, ..settings::mcp(self.config) };
        mounts.push(Arc::new(McpMount::new(mcp, &mcp_settings)));
        mounts.push(review_page(service, &self.config.formation));
        mounts.extend(pages(service, self.config, metrics, Arc::new(operator_control), sign_in));
        mounts
    }

    fn log_start(&self, here: &str, listener: &Server, service: &Service) {
        let metrics_address = listener.metrics_address().map(|address| address.to_string());
        let fields = [
            ("address", json!(here)),
            ("metrics", json!(metrics_address)),
            ("snapshot", json!(service.corpus().id())),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        log_event(&self.observers, LogLevel::Info, "serving", &fields);
    }
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
