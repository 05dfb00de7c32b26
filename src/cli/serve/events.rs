//! Log lines about events of the service, as opposed to requests.

use hornbook::api::integrity::IntegrityEvent;
use hornbook::http::Observers;
use hornbook::log::{LogFields, LogLevel};
use serde_json::json;

pub(super) fn log_integrity_event(observers: &Observers, event: &IntegrityEvent) {
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

pub(super) fn log_event(observers: &Observers, level: LogLevel, message: &str, fields: LogFields<'_>) {
    observers.log.write(observers.clock.now().wall, level, message, fields);
}
