//! Reports what a newer snapshot changed among the things that keys watch, and sends the reports to their webhooks.
//!
//! One thread does this beside the service. It is woken after each swap, and wakes by itself when a report is due. What
//! it has done is in the state: a program that ends in between goes on where it was, reports each swap once to each key,
//! and sends a report again only if its delivery was not recorded. Receivers recognize a repeated report by its id.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use hornbook_accounts::Accounts;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::KeyId;
use hornbook_accounts::watches::{
    Delivery, DeliveryState, ReportedSwap, WatchRecord, WatchReport, WatchWebhook, WebhookPolicy,
};
use hornbook_base::clock::UnixMillis;
use hornbook_editions::CompareError;
use serde_json::{Value, json};

use crate::api::as_of::today;
use crate::api::corpus::Corpus;
use crate::api::service::Service;
use crate::api::snapshot_reload::CorpusError;
use crate::api::watch_matches::{MatchedWatches, SwapChanges};
use crate::client::ServerAddress;
use crate::tls_client::Trust;
use crate::webhook::{SignedWebhook, pause_after};

/// A report is given up after this many attempts: 17 hours of pauses that double each time.
const ATTEMPTS: u32 = 11;

/// The pause after the first failure.
const FIRST_PAUSE: Duration = Duration::from_secs(60);

/// The most requests that are open at once, so that a receiver that does not answer delays few others.
const SENT_AT_ONCE: usize = 16;

/// A report sends at most this many changes; the rest are at `/api/v1/watches/changes`.
const SENT_CHANGES_MAX: usize = 100;

/// The longest wait between two looks at what is due.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// What happened, for the log.
#[derive(Debug)]
pub enum WatchEvent {
    /// A swap was reported to these many keys.
    Reported {
        swap: ReportedSwap,
        keys: usize,
    },
    /// What was served before cannot be opened, so nobody knows what changed.
    Unknown {
        swap: ReportedSwap,
        why: String,
    },
    GivenUp {
        key: KeyId,
        why: String,
    },
    /// The state or a snapshot could not be read or written. It is tried again.
    Failed {
        why: String,
    },
}

/// What the thread needs.
pub struct WatchReporter {
    pub service: Arc<Service>,
    /// The data directory, with the earlier snapshots.
    pub data: PathBuf,
    pub tell: Arc<dyn Fn(&WatchEvent) + Send + Sync>,
    /// `None`: a minute.
    pub first_pause: Option<Duration>,
}

/// The running thread. It ends after what it is doing when this is dropped, or with the process.
pub struct WatchThread {
    wake: SyncSender<()>,
}

impl WatchThread {
    pub fn start(reporter: WatchReporter) -> std::io::Result<Self> {
        let (wake, woken) = sync_channel(1);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let work = WatchWork { reporter, runtime, seen: None };
        std::thread::Builder::new().name("watches".to_owned()).spawn(move || work.run(&woken))?;
        Ok(Self { wake })
    }

    /// To be called after each swap. Never blocks: one wake that waits is enough.
    pub fn wake(&self) {
        let _ = self.wake.try_send(());
    }
}

struct WatchWork {
    reporter: WatchReporter,
    runtime: tokio::runtime::Runtime,
    /// The snapshot that was last reported, kept open to be compared with the next.
    seen: Option<Arc<Corpus>>,
}

/// Why a swap is not reported yet, or a delivery not recorded.
#[derive(Debug, thiserror::Error)]
enum ReportError {
    #[error("{0}")]
    Accounts(#[from] ChangeError),
    #[error("{0}")]
    Compare(#[from] CompareError),
}

impl WatchWork {
    fn run(mut self, woken: &Receiver<()>) {
        loop {
            let done = if self.accounts().leads() { vec![self.report_swap(), self.send_due()] } else { Vec::new() };
            let has_failed = done.iter().any(Result::is_err);
            for why in done.into_iter().filter_map(Result::err) {
                (self.reporter.tell)(&WatchEvent::Failed { why: why.to_string() });
            }
            let pause = if has_failed { LOOK_EVERY } else { self.pause() };
            match woken.recv_timeout(pause) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn accounts(&self) -> &Accounts {
        self.reporter.service.accounts()
    }

    fn now(&self) -> UnixMillis {
        self.reporter.service.now().wall
    }

    /// Until the next report is due.
    fn pause(&self) -> Duration {
        let waiting = self.accounts().waiting_reports().unwrap_or_default();
        let next = waiting.iter().filter_map(|report| report.delivery.as_ref()).map(|delivery| delivery.at).min();
        let left = next.map(|next| u64::try_from(next.0 - self.now().0).unwrap_or(0));
        left.map_or(LOOK_EVERY, |left| Duration::from_millis(left).min(LOOK_EVERY))
    }

    /// Compares the served snapshot with the one that was last reported, and stores what changed for each key.
    fn report_swap(&mut self) -> Result<(), ReportError> {
        let served = self.reporter.service.corpus();
        let reported = self.accounts().reported_swap()?;
        let snapshot = served.id().to_owned();
        let Some(reported) = reported else {
            // The first snapshot of this state.
            self.accounts().set_reported_swap(ReportedSwap { number: 0, snapshot })?;
            self.seen = Some(served);
            return Ok(());
        };
        if reported.snapshot == snapshot {
            self.seen = Some(served);
            return Ok(());
        }
        let swap = ReportedSwap { number: reported.number + 1, snapshot };
        let watching = self.watching()?;
        if !watching.is_empty() {
            let event = match self.earlier(&reported.snapshot) {
                Ok(earlier) => {
                    let keys = self.report_changes(earlier, &served, &swap, &watching)?;
                    WatchEvent::Reported { swap: swap.clone(), keys }
                }
                Err(why) => {
                    self.report_unknown(&reported.snapshot, &swap, &watching)?;
                    WatchEvent::Unknown { swap: swap.clone(), why: why.to_string() }
                }
            };
            (self.reporter.tell)(&event);
        }
        self.accounts().set_reported_swap(swap)?;
        self.seen = Some(served);
        Ok(())
    }

    /// The keys that work and watch something.
    fn watching(&self) -> Result<Vec<(KeyId, Vec<WatchRecord>)>, ReportError> {
        let (accounts, now) = (self.accounts(), self.now());
        accounts.forget_watches_of_ended_keys(now)?;
        let mut watching = Vec::new();
        for key in accounts.watching_keys(None, now) {
            let watches = accounts.watches(key)?;
            if !watches.is_empty() {
                watching.push((key, watches));
            }
        }
        Ok(watching)
    }

    /// The snapshot that was served before: still open, or opened again after a restart.
    fn earlier(&self, id: &str) -> Result<Arc<Corpus>, CorpusError> {
        if let Some(seen) = self.seen.as_ref().filter(|seen| seen.id() == id) {
            return Ok(Arc::clone(seen));
        }
        let synonyms = Arc::clone(self.reporter.service.corpus().engine().synonyms());
        Corpus::open_kept(&self.reporter.data, id, synonyms).map(Arc::new)
    }

    /// Returns to how many keys something was reported.
    fn report_changes(
        &self,
        earlier: Arc<Corpus>,
        served: &Arc<Corpus>,
        swap: &ReportedSwap,
        watching: &[(KeyId, Vec<WatchRecord>)],
    ) -> Result<usize, ReportError> {
        let swapped = SwapChanges::between(&self.reporter.data, earlier, Arc::clone(served))?;
        let (now, day) = (self.now(), today(self.reporter.service.now()));
        let mut keys = 0;
        for (key, watches) in watching {
            let MatchedWatches { report, followed } = swapped.report(*key, swap, watches, (now, day));
            if report.total > 0 || report.unknown.is_some() {
                keys += 1;
                self.accounts().store_watch_report(report, followed)?;
            }
        }
        Ok(keys)
    }

    fn report_unknown(
        &self,
        earlier: &str,
        swap: &ReportedSwap,
        watching: &[(KeyId, Vec<WatchRecord>)],
    ) -> Result<(), ReportError> {
        for (key, _) in watching {
            let report = WatchReport {
                key: *key,
                swap: swap.number,
                at: self.now(),
                from: earlier.to_owned(),
                to: swap.snapshot.clone(),
                total: 0,
                changes: Vec::new(),
                unknown: Some(
                    "the snapshot that was served before is not here any more, so what changed is not known".to_owned(),
                ),
                delivery: None,
            };
            self.accounts().store_watch_report(report, Vec::new())?;
        }
        Ok(())
    }

    /// Sends every report that is due.
    fn send_due(&self) -> Result<(), ReportError> {
        let policy = self.accounts().settings().webhooks;
        let now = self.now();
        let is_due = |report: &WatchReport| report.delivery.as_ref().is_some_and(|delivery| delivery.at <= now);
        let due = self.accounts().waiting_reports()?.into_iter().filter(is_due);
        let mut ready = Vec::new();
        for report in due {
            match self.accounts().watch_webhook(report.key)? {
                Some(webhook) if policy != WebhookPolicy::Off => ready.push((report, webhook)),
                Some(_) => self.record(&report, Err("the operator has switched webhooks off".to_owned()))?,
                None => self.give_up(&report, "its webhook was removed")?,
            }
        }
        let sending = stream::iter(ready.into_iter().map(|(report, webhook)| self.sent(report, webhook, policy)));
        let attempts: Vec<_> = self.runtime.block_on(sending.buffer_unordered(SENT_AT_ONCE).collect());
        attempts.into_iter().try_for_each(|(report, result)| self.record(&report, result))
    }

    async fn sent(
        &self,
        report: WatchReport,
        webhook: WatchWebhook,
        policy: WebhookPolicy,
    ) -> (WatchReport, Result<(), String>) {
        let result = async {
            let secret =
                self.accounts().webhook_secret(&webhook, &mut SystemEntropy).map_err(|error| error.to_string())?;
            let (server, path) =
                ServerAddress::with_path(&webhook.url, &Trust::System).map_err(|error| error.to_string())?;
            let server = if policy == WebhookPolicy::Any { server } else { server.public_only() };
            let body = self.body(&report).to_string();
            let sent = SignedWebhook::new((server, path), &secret).post(&body, self.now().0.div_euclid(1000)).await;
            sent.map_err(|error| error.to_string())
        };
        let result = result.await;
        (report, result)
    }

    /// What a webhook receives.
    fn body(&self, report: &WatchReport) -> Value {
        let WatchReport { key, swap, at, from, to, total, changes, unknown, .. } = report;
        let changes: Vec<Value> = changes
            .iter()
            .take(SENT_CHANGES_MAX)
            .map(|watched| {
                let mut listed = watched.change.clone();
                listed["watches"] = json!(watched.watches);
                listed
            })
            .collect();
        json!({
            "kind": "law.changed",
            "id": format!("{key}/{swap}"),
            "at": at.to_string(),
            "from": from,
            "to": to,
            "total": total,
            "changes": changes,
            "unknown": unknown,
            "all": format!("{}/api/v1/watches/changes", self.reporter.service.base_url()),
        })
    }

    fn record(&self, report: &WatchReport, result: Result<(), String>) -> Result<(), ReportError> {
        let attempts = report.delivery.as_ref().map_or(0, |delivery| delivery.attempts) + 1;
        let now = self.now();
        let delivery = match result {
            Ok(()) => Delivery { state: DeliveryState::Delivered, attempts, at: now, why: None },
            Err(why) if attempts >= ATTEMPTS => {
                return self.give_up(report, &format!("{why}; tried {ATTEMPTS} times"));
            }
            Err(why) => {
                let pause = pause_after(attempts, self.reporter.first_pause.unwrap_or(FIRST_PAUSE));
                let at = now.plus_millis(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
                Delivery { state: DeliveryState::Waiting, attempts, at, why: Some(why) }
            }
        };
        Ok(self.accounts().set_delivery(report.key, report.swap, delivery)?)
    }

    fn give_up(&self, report: &WatchReport, why: &str) -> Result<(), ReportError> {
        let attempts = report.delivery.as_ref().map_or(0, |delivery| delivery.attempts);
        let delivery = Delivery { state: DeliveryState::GivenUp, attempts, at: self.now(), why: Some(why.to_owned()) };
        self.accounts().set_delivery(report.key, report.swap, delivery)?;
        (self.reporter.tell)(&WatchEvent::GivenUp { key: report.key, why: why.to_owned() });
        Ok(())
    }
}
