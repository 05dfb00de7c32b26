//! Log lines about events of the service, as opposed to requests.

use hornbook::api::integrity::IntegrityEvent;
use hornbook::http::Observers;
use hornbook::log::{LogFields, LogLevel};
use hornbook::usage_reports::UsageEvent;
use hornbook::watches::WatchEvent;
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

pub(super) fn log_watch_event(observers: &Observers, event: &WatchEvent) {
    match event {
        WatchEvent::Reported { swap, keys } => {
            let fields = [("snapshot", json!(swap.snapshot)), ("keys", json!(keys))];
            log_event(observers, LogLevel::Info, "changes were reported to the keys that watch them", &fields);
        }
        WatchEvent::Unknown { swap, why } => {
            let message = "what changed is not known to the keys that watch: the snapshot before cannot be opened; keep the \
                           one in use until a new one is served ('hornbook snapshot prune' does)";
            let fields = [("snapshot", json!(swap.snapshot)), ("why", json!(why))];
            log_event(observers, LogLevel::Warning, message, &fields);
        }
        WatchEvent::GivenUp { key, why } => {
            let fields = [("key", json!(key)), ("why", json!(why))];
            log_event(observers, LogLevel::Warning, "a report of watched changes was not delivered", &fields);
        }
        WatchEvent::Failed { why } => {
            let message = "watched changes could not be reported, and are tried again in a minute";
            log_event(observers, LogLevel::Error, message, &[("why", json!(why))]);
        }
    }
}

pub(super) fn log_usage_event(observers: &Observers, event: &UsageEvent) {
    match event {
        UsageEvent::Failing { report, why } => {
            let message = "the biller at billing.usage_webhook did not take a report of usage; it is tried again, after an \
                           hour at most, until it is taken, and later reports wait for it";
            let fields = [("report", json!(report)), ("why", json!(why))];
            log_event(observers, LogLevel::Warning, message, &fields);
        }
        UsageEvent::Taken { report, attempts } => {
            let fields = [("report", json!(report)), ("failedAttempts", json!(attempts))];
            log_event(observers, LogLevel::Info, "the biller takes reports of usage again", &fields);
        }
        UsageEvent::Lost { report } => {
            let message = "THE BILLER WAS NOT TOLD WHAT ACCOUNTS USED: ledger entries were rolled up before they were \
                           reported, and the report says so instead of sums; 'hornbook ledger show' has what accounts paid. \
                           Set billing.usage_webhook on every server";
            log_event(observers, LogLevel::Error, message, &[("report", json!(report))]);
        }
        UsageEvent::Failed { why } => {
            let message = "usage could not be reported to the biller, and is tried again each minute";
            log_event(observers, LogLevel::Error, message, &[("why", json!(why))]);
        }
    }
}

pub(super) fn log_event(observers: &Observers, level: LogLevel, message: &str, fields: LogFields<'_>) {
    observers.log.write(observers.clock.now().wall, level, message, fields);
}
