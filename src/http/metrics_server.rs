//! The metrics listener: metrics and probes, without keys and without TLS.

use std::convert::Infallible;
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hornbook_accounts::LeaseStatus;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::connection_loop::Protocols;
use super::proxies::Peer;
use super::reply::HttpReply;
use super::request_stream::{RefusedRequest, RequestStream};
use super::timeouts::Timeouts;
use super::{App, answer, needs_newest, no_such_path};
use crate::api::headers::REQUEST_ID;
use crate::metrics::{CurrentValue, Gauge, UsageBacklog};
use crate::mount::Methods;

/// Few clients read metrics. Any more connections than this wait.
const CONNECTIONS_MAX: usize = 16;

const TIMEOUTS: Timeouts = Timeouts {
    head: Duration::from_secs(10),
    idle: Duration::from_secs(120),
    unread: Duration::from_secs(20),
    read_rate_min: 4096,
};

/// Serves until this future is dropped.
pub(super) async fn serve(listener: TcpListener, app: Arc<App>) {
    let protocols = Arc::new(Protocols::new(Arc::clone(&app.observers.clock)));
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(super::connections::PAUSE_AFTER_FAILED_ACCEPT).await;
            continue;
        };
        let (app, protocols) = (Arc::clone(&app), Arc::clone(&protocols));
        let (bodies, peer) = (app.bodies.clone(), Peer::client_at(peer.ip()));
        let guard = Box::new(RequestStream::new(stream, TIMEOUTS, Arc::default(), bodies, peer));
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let answer = respond(&app, &request);
                ready(Ok::<_, Infallible>(answer))
            });
            let refuse = |refused: RefusedRequest| {
                let id = app.ids.next();
                let reply = answer::failed(&refused.error.into(), &id, None);
                finished(reply, &id, &refused.method)
            };
            // Ends with the runtime, and does not count as a client's connection.
            protocols.serve_requests(guard, service, refuse, &Gauge::default(), pending()).await;
            drop(slot);
        });
    }
}

fn respond(app: &App, request: &Request<Incoming>) -> HttpReply {
    let id = app.ids.next();
    let reply = match request.uri().path() {
        "/metrics" | "/healthz" | "/readyz" if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            answer::method_not_allowed(request.method(), Methods::Get, &id)
        }
        "/metrics" => answer::metrics(page(app)),
        "/healthz" => answer::probe(StatusCode::OK, "live"),
        "/readyz" => app.readiness(needs_newest(request.uri().query())),
        path => answer::failed(&no_such_path(path).into(), &id, None),
    };
    finished(reply, &id, request.method().as_str())
}

fn finished(mut reply: HttpReply, id: &str, method: &str) -> HttpReply {
    super::headers::set(reply.headers_mut(), REQUEST_ID, id);
    if method == Method::HEAD {
        answer::drop_body(&mut reply);
    }
    reply
}

fn page(app: &App) -> String {
    let corpus = app.service.corpus();
    let manifest = &corpus.snapshot().manifest;
    let snapshot = format!("snapshot=\"{}\",builder=\"{}\"", manifest.snapshot, manifest.builder);
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    let gauge = |name, meaning, value| CurrentValue { name, kind: "gauge", meaning, labels: "", value };
    let is_intact = corpus.snapshot().damage().first().is_none();
    let mut values = vec![
        CurrentValue { name: "info", kind: "gauge", meaning: "the program", labels: &version, value: 1.0 },
        CurrentValue {
            name: "snapshot_info",
            kind: "gauge",
            meaning: "the served snapshot",
            labels: &snapshot,
            value: 1.0,
        },
        gauge("snapshot_nodes", "nodes of the snapshot", f64::from(manifest.counts.nodes)),
        gauge(
            "snapshot_intact",
            "0 once a part of the served snapshot was found damaged",
            f64::from(u8::from(is_intact)),
        ),
        gauge("permits_free", "heavy calls that could start now", app.service.free() as f64),
        gauge("deep_permits_free", "deep searches that could start now", app.service.deep_free() as f64),
        gauge("searches_waiting", "heavy calls that wait for their turn", app.service.waiting() as f64),
        gauge("ledger_up", "1 while debits are accepted", f64::from(u8::from(app.service.accounts().health().is_ok()))),
        gauge(
            "draining",
            "1 once the server was told to stop",
            f64::from(u8::from(app.draining.load(Ordering::Relaxed))),
        ),
        gauge("start_time_seconds", "when the server started", app.service.started_at_millis() as f64 / 1e3),
        CurrentValue {
            name: "searches_given_up_total",
            kind: "counter",
            meaning: "searches in progress whose clients disconnected",
            labels: "",
            value: app.service.given_up() as f64,
        },
        CurrentValue {
            name: "log_lines_lost_total",
            kind: "counter",
            meaning: "log lines that were not read in time",
            labels: "",
            value: app.observers.log.dropped_lines() as f64,
        },
    ];
    if let Some(leases) = app.service.accounts().leases() {
        values.extend(of_leases(&leases));
    }
    if let Some(backlog) = app.observers.metrics.usage_backlog() {
        values.extend(of_usage(backlog, app.observers.clock.now().wall.0));
    }
    values.extend(app.serves_newest().map(|is_newest| {
        gauge(
            "snapshot_is_newest",
            "1 while the served snapshot is the newest one that a pull found in the channel",
            f64::from(u8::from(is_newest)),
        )
    }));
    app.observers.metrics.render(&values)
}

/// Only where usage is reported to a biller. Servers that do not lead have no backlog.
fn of_usage(backlog: UsageBacklog, now: i64) -> [CurrentValue<'static>; 2] {
    let gauge = |name, meaning, value| CurrentValue { name, kind: "gauge", meaning, labels: "", value };
    let late = backlog.oldest_ended_at.map_or(0, |ended| (now - ended).max(0));
    [
        gauge("usage_reports_waiting", "hours whose usage the biller has not taken", backlog.waiting as f64),
        gauge(
            "usage_reports_late_seconds",
            "time since the end of the oldest hour whose usage the biller has not taken",
            late as f64 / 1e3,
        ),
    ]
}

/// Only where several servers share the ledger.
fn of_leases(leases: &LeaseStatus) -> [CurrentValue<'static>; 8] {
    let value = |kind, name, meaning, value| CurrentValue { name, kind, meaning, labels: "", value };
    [
        value("gauge", "leases", "accounts of which this server has leased something", leases.accounts as f64),
        value("gauge", "leased_units", "units of monthly allotments left in leases", leases.units as f64),
        value("gauge", "leased_credits", "credits of wallets left in leases", leases.credits as f64),
        value("gauge", "calls_unreported", "calls in the journal that are not in the ledger", leases.unreported as f64),
        value("gauge", "ledger_servers", "servers that share the ledger; 0: not known yet", f64::from(leases.servers)),
        value(
            "gauge",
            "ledger_not_reached_seconds",
            "time since the shared ledger was last reached",
            leases.not_reached.as_secs_f64(),
        ),
        value(
            "counter",
            "calls_overtaken_total",
            "calls refused because another server was faster",
            leases.overtaken as f64,
        ),
        value(
            "counter",
            "borne_credits_total",
            "credits of calls reported after the end of their lease that no account paid",
            leases.borne as f64,
        ),
    ]
}
