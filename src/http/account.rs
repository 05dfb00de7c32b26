//! What is told of each request once it is answered: a line in the log, and the counts.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Reply;
use crate::clock::Clock;
use crate::log::{Level, Log, Logged};
use crate::metrics::Metrics;

/// What an answer knows about itself; it travels with the response until it is told.
#[derive(Clone, Default)]
pub(super) struct Note {
    pub(super) operation: Option<&'static str>,
    /// The beginning of the key, where the key is good.
    pub(super) key: Option<String>,
    pub(super) cost: u32,
    pub(super) stages: Vec<(&'static str, u32)>,
    /// The code of an error.
    pub(super) error: Option<&'static str>,
    /// What went wrong inside; for the log alone.
    pub(super) internal: Option<String>,
}

impl Note {
    pub(super) fn of(reply: &mut Reply) -> &mut Self {
        reply.extensions_mut().get_or_insert_default()
    }
}

/// Where it is told.
#[derive(Clone)]
pub struct Observers {
    pub log: Arc<Log>,
    pub logged: Logged,
    pub metrics: Arc<Metrics>,
    pub clock: Arc<dyn Clock>,
}

impl Observers {
    /// A request came in.
    pub(super) fn begin(&self) -> UnderWay<'_> {
        self.metrics.requests_under_way.add(1);
        UnderWay { observers: self, began: Instant::now(), is_answered: false }
    }
}

/// A request that is not answered yet. Dropped before it is, its client hung up.
pub(super) struct UnderWay<'o> {
    observers: &'o Observers,
    began: Instant,
    is_answered: bool,
}

/// By what a request is recognised in the log.
pub(super) struct Request<'r> {
    pub(super) id: &'r str,
    pub(super) method: &'r str,
    pub(super) client: IpAddr,
}

impl UnderWay<'_> {
    pub(super) fn answered(mut self, request: &Request<'_>, reply: &mut Reply) {
        self.is_answered = true;
        let note = reply.extensions_mut().remove::<Note>().unwrap_or_default();
        let (status, micros) = (reply.status().as_u16(), self.micros());
        let metrics = &self.observers.metrics;
        metrics.answered(note.operation.unwrap_or("other"), status, micros);
        for (stage, micros) in &note.stages {
            metrics.stage(stage, u64::from(*micros));
        }
        if let Some(code) = note.error {
            metrics.error(code);
        }
        let is_logged = match self.observers.logged {
            Logged::All => true,
            Logged::Errors => status >= 500,
            Logged::None => false,
        };
        if is_logged {
            self.log(request, &note, status, micros);
        }
    }

    fn log(&self, request: &Request<'_>, note: &Note, status: u16, micros: u64) {
        let level = if status >= 500 { Level::Error } else { Level::Info };
        self.observers.log.tell(self.observers.clock.now().wall, level, "answered", |line| {
            line.text("request", request.id);
            line.plain("client", request.client);
            line.text("method", request.method);
            line.number("status", status);
            line.millis("ms", micros);
            if let Some(operation) = note.operation {
                line.text("operation", operation);
            }
            if let Some(key) = &note.key {
                line.text("key", key);
            }
            if note.cost > 0 {
                line.number("cost", note.cost);
            }
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

    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let metrics = &self.observers.metrics;
        metrics.requests_under_way.add(-1);
        if !self.is_answered {
            metrics.requests_abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }
}
