//! Records each request: a line in the log and the metrics, also if the client disconnects before the response.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hornbook_base::clock::{Clock, UnixMillis};

use super::reply::HttpReply;
use crate::api::call::Progress;
use crate::log::{Log, LogLevel, LogLine, RequestLogging};
use crate::metrics::{FailedRequest, Metrics};
use crate::mount::loggable;

/// Longer paths are cut in the log. No operation or document has a path this long.
const PATH_BYTES_MAX: usize = 200;

/// Data about a response, for the log and the metrics. It stays with the response until it is recorded.
#[derive(Clone, Default)]
pub(super) struct ResponseLog {
    pub(super) stages: Vec<(&'static str, u32)>,
    /// The code of an error.
    pub(super) error: Option<&'static str>,
    /// The internal cause, only for the log.
    pub(super) internal: Option<String>,
}

impl ResponseLog {
    pub(super) fn of(reply: &mut HttpReply) -> &mut Self {
        reply.extensions_mut().get_or_insert_default()
    }
}

/// Where requests are recorded.
#[derive(Clone)]
pub struct Observers {
    pub log: Arc<Log>,
    pub logged: RequestLogging,
    pub metrics: Arc<Metrics>,
    pub clock: Arc<dyn Clock>,
}

impl Observers {
    /// Records that a request has arrived.
    pub(super) fn begin<'r>(&'r self, request: RequestLine<'r>) -> PendingRequest<'r> {
        self.metrics.requests_in_progress.add(1);
        PendingRequest { observers: self, request, began: Instant::now(), is_answered: false }
    }
}

/// The part of a log line that describes the request.
pub(super) struct RequestLine<'r> {
    pub(super) id: &'r str,
    pub(super) method: &'r str,
    pub(super) path: &'r str,
    pub(super) client: IpAddr,
    /// Whether a key was sent, valid or not.
    pub(super) has_key: bool,
    /// The progress of its call.
    pub(super) progress: &'r Progress,
}

/// A request that is not answered yet. If it is dropped before that, its client has disconnected.
pub(super) struct PendingRequest<'r> {
    observers: &'r Observers,
    request: RequestLine<'r>,
    began: Instant,
    is_answered: bool,
}

impl PendingRequest<'_> {
    pub(super) fn answered(mut self, reply: &mut HttpReply, now: UnixMillis) {
        self.is_answered = true;
        let note = reply.extensions_mut().remove::<ResponseLog>().unwrap_or_default();
        let (status, micros) = (reply.status().as_u16(), self.micros());
        let metrics = &self.observers.metrics;
        metrics.answered(self.request.progress.operation().unwrap_or("other"), status, micros);
        for (stage, micros) in &note.stages {
            metrics.stage(stage, u64::from(*micros));
        }
        if let Some(code) = note.error {
            metrics.error(code);
        }
        if status >= 500 {
            metrics.failed(FailedRequest {
                at_millis: now.0,
                request: self.request.id.to_owned(),
                operation: self.request.progress.operation().unwrap_or("other"),
                status,
                code: note.error,
                why: note.internal.clone(),
            });
        }
        let is_logged = match self.observers.logged {
            RequestLogging::All => true,
            RequestLogging::Errors => status >= 400,
            RequestLogging::None => false,
        };
        if !is_logged {
            return;
        }
        let level = if status >= 500 { LogLevel::Error } else { LogLevel::Info };
        self.log(now, micros, level, "answered", |line| {
            line.number("status", status);
            if let Some(error) = note.error {
                line.text("error", error);
            }
            if let Some(why) = &note.internal {
                line.text("why", why);
            }
            if !note.stages.is_empty() {
                line.millis_by_name("stages", &note.stages);
            }
        });
    }

    fn disconnected(&self) {
        self.observers.metrics.requests_abandoned.fetch_add(1, Ordering::Relaxed);
        let is_logged = match self.observers.logged {
            RequestLogging::All => true,
            RequestLogging::Errors => self.request.progress.charged() > 0,
            RequestLogging::None => false,
        };
        if is_logged {
            let now = self.observers.clock.now().wall;
            self.log(now, self.micros(), LogLevel::Info, "client disconnected", |_| {});
        }
    }

    fn log(&self, now: UnixMillis, micros: u64, level: LogLevel, message: &str, outcome: impl FnOnce(&mut LogLine)) {
        let RequestLine { id, method, path, client, has_key, progress } = self.request;
        self.observers.log.write_with(now, level, message, |line| {
            line.text("request", id);
            line.plain("client", client);
            line.text("method", method);
            // The path is unknown if the request could not be read.
            if path.starts_with('/') {
                line.text("path", shortened(loggable(path)));
            }
            line.millis("ms", micros);
            if let Some(operation) = progress.operation() {
                line.text("operation", operation);
            }
            // Text that a client made up must not look like a customer's key.
            match progress.key() {
                Some(key) => line.text("key", key),
                None if has_key => line.text("key", "unknown"),
                None => {}
            }
            if progress.charged() > 0 {
                line.number("cost", progress.charged());
            }
            outcome(line);
        });
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.observers.metrics.requests_in_progress.add(-1);
        if !self.is_answered {
            self.disconnected();
        }
    }
}

fn shortened(path: &str) -> &str {
    &path[..path.floor_char_boundary(PATH_BYTES_MAX)]
}
