//! `hornbook serve`: the service over HTTP, from the current snapshot and the state of the data directory.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Args;
use hornbook::accounts::Accounts;
use hornbook::admin::execute::Reload;
use hornbook::admin::socket::AdminSocket;
use hornbook::api::corpus::Corpus;
use hornbook::api::{Parts, Service};
use hornbook::clock::{Clock, SystemClock};
use hornbook::config::Config;
use hornbook::http::Server;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{CommandResult, Options};

const MAINTENANCE_EVERY: Duration = Duration::from_secs(30);

/// Serve the current snapshot over HTTP
///
/// Verifies the snapshot that data/current points at, opens accounts and ledger, and answers until it is told to stop by
/// SIGTERM or Ctrl-C: then it takes no more connections and gives requests under way ten seconds. SIGHUP, or `hornbook
/// reload`, makes it take up the snapshot that data/current points at by then.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
}

impl Serve {
    pub(super) fn run(self, options: &Options) -> CommandResult {
        let listen = self.listen.map(|listen| ("server.listen".to_owned(), listen.to_string()));
        let config = options.configuration_with(listen)?;
        let served = Served::open(&config)?;
        served.run(&config, |address| say(&format!("listening on http://{address}\n")))
    }
}

/// Everything that is open while the service runs.
pub(super) struct Served {
    data: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) accounts: Arc<Accounts>,
    corpus: Arc<Corpus>,
}

impl Served {
    pub(super) fn open(config: &Config) -> Result<Self, Box<dyn Error>> {
        let data = config.data_dir();
        let corpus = Arc::new(Corpus::open_current(&data)?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let accounts = Arc::new(Accounts::open(&data, config.accounts(), clock.now())?);
        Ok(Self { data, clock, accounts, corpus })
    }

    /// Serves until it is told to stop. `announce` is called once connections are taken.
    pub(super) fn run(self, config: &Config, announce: impl FnOnce(SocketAddr)) -> CommandResult {
        let settings = config.http()?;
        if !settings.listen.ip().is_loopback() {
            eprintln!(
                "hornbook: warning: {} is not a loopback address and there is no TLS: keys cross the network in the \
                 clear unless a proxy in front encrypts them",
                settings.listen
            );
        }
        let maintenance = Maintenance::start(Arc::clone(&self.accounts), Arc::clone(&self.clock));
        let socket = AdminSocket::bind(&self.data)?;

        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let (accounts, clock) = (Arc::clone(&self.accounts), Arc::clone(&self.clock));
        let (corpus, data) = (self.corpus, self.data);
        let result = runtime.block_on(async move {
            let listener = Server::bind(settings).await?;
            let address = listener.address()?;
            let base_url = config.text("server.base_url").filter(|url| !url.is_empty());
            let base_url = base_url.map_or_else(|| format!("http://{address}"), str::to_owned);
            let permits = config.permits().unwrap_or(cores);
            let (desk, desk_clock) = (Arc::clone(&accounts), Arc::clone(&clock));
            let service = Arc::new(Service::new(Parts { corpus, accounts, clock, base_url, permits }));
            let reload = reload_of(Arc::clone(&service), data);
            let desk_reload = Arc::clone(&reload);
            // Ends with the process: the listener has no other way to be told.
            std::thread::spawn(move || socket.serve(&desk, &desk_clock, &*desk_reload));
            reload_at_hangup(reload)?;
            let stop = told_to_stop()?;
            announce(address);
            listener.run(service, stop).await;
            Ok::<(), std::io::Error>(())
        });
        // Work on blocking threads was drained with its request; nothing is left to wait for.
        runtime.shutdown_background();
        maintenance.stop();
        self.accounts.close();
        result.map_err(|error| format!("cannot serve: {error}; is the address free, and may it be used?").into())
    }
}

/// Tells whoever started the server. That nobody reads it any more is no reason not to serve.
pub(super) fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// What `hornbook reload` and SIGHUP do.
fn reload_of(service: Arc<Service>, data: PathBuf) -> Arc<Reload> {
    Arc::new(move || match service.renew(&data) {
        Ok(renewed) => {
            eprintln!("hornbook: serving snapshot {} after {}", renewed.snapshot, renewed.before);
            Ok(json!(renewed))
        }
        Err(error) => {
            let text = format!("the new snapshot is not served, the old one stays: {error}");
            eprintln!("hornbook: {text}");
            Err(text)
        }
    })
}

fn reload_at_hangup(reload: Arc<Reload>) -> std::io::Result<()> {
    let mut hangups = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let reload = Arc::clone(&reload);
            // What came of it is in the log.
            let _ = tokio::task::spawn_blocking(move || drop(reload())).await;
        }
    });
    Ok(())
}

/// Done at the first SIGTERM or Ctrl-C.
fn told_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// What accounts want done every half minute, on a thread of its own.
struct Maintenance {
    thread: JoinHandle<()>,
    stop: Sender<()>,
}

impl Maintenance {
    fn start(accounts: Arc<Accounts>, clock: Arc<dyn Clock>) -> Self {
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(MAINTENANCE_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = accounts.maintain(clock.now()) {
                    eprintln!("hornbook: maintenance of accounts failed, it is tried again: {error}");
                }
            }
        });
        Self { thread, stop }
    }

    fn stop(self) {
        drop(self.stop);
        // It ends by itself; a panic in it was reported when it happened.
        let _ = self.thread.join();
    }
}
