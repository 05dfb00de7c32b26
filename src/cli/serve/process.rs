//! What the process needs before it serves: limits, private memory, and warnings about its settings.

use std::net::SocketAddr;

use hornbook::http::{HttpSettings, Observers};
use hornbook::log::LogLevel;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use serde_json::json;

use super::events::log_event;

/// Number of open files besides connections: snapshots, state, sockets, and the files that a reload
/// opens.
const OTHER_OPEN_FILES: u64 = 200;

/// Warns if keys or metrics are exposed to the network.
pub(super) fn warn_if_exposed(settings: &HttpSettings, observers: &Observers) {
    let is_open = |address: SocketAddr| !address.ip().is_loopback();
    if is_open(settings.listen) && settings.tls.is_none() {
        let message = "this is not a loopback address and there is no TLS: API keys cross the network unencrypted, unless a \
                       proxy in front adds TLS; set tls.certificate and tls.private_key";
        log_event(observers, LogLevel::Warning, message, &[("address", json!(settings.listen))]);
    }
    if let Some(metrics) = settings.metrics.filter(|metrics| is_open(*metrics)) {
        let message = "metrics need no key and this is not a loopback address: anyone who can reach it can read them";
        log_event(observers, LogLevel::Warning, message, &[("address", json!(metrics))]);
    }
}

/// The memory of this process contains API keys and the private key of TLS. Disables core dumps,
/// and allows only root to trace the process.
pub(super) fn keep_memory_private(observers: &Observers) {
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        let message = "core dumps and tracing of this process cannot be turned off";
        log_event(observers, LogLevel::Warning, message, &[("why", json!(error.to_string()))]);
    }
}

/// Raises the limit of open files. Each connection needs one, and the usual limit is low.
pub(super) fn raise_open_file_limit(settings: &HttpSettings, observers: &Observers) {
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
        log_event(observers, LogLevel::Warning, message, &fields);
    }
}
