//! Sends what each account used to a biller outside: a signed POST for each hour, from the server that leads.
//!
//! A thread does this beside the service. Nothing that answers calls waits for it or knows what became of a report: a
//! biller decides about no call. What is delivered is in the state, so a restart, or another server that leads, goes on
//! where the last one was. Reports are sent in the order of the ledger until they are taken, and receivers recognize a
//! repeated one by its ids.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use hornbook_accounts::Accounts;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::{AccountId, EntryNumber};
use hornbook_accounts::usage_reports::{AccountUsage, HOUR_MILLIS, UsageProgress, UsageReport};
use hornbook_base::clock::Clock;
use serde::Serialize;

use crate::metrics::{Metrics, UsageBacklog};
use crate::webhook::WebhookTarget;

/// The longest wait between two looks at whether an hour has ended.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Pauses after failures grow to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// What happened, for the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UsageEvent {
    /// A report was not taken. It is tried again, without another event, until one is taken.
    Failing { report: String, why: String },
    /// One was taken again, after this many failed attempts.
    Taken { report: String, attempts: u32 },
    /// Entries were rolled up before they were delivered, so what accounts used is not known.
    Lost { report: String },
    /// The state could not be read or written. It is tried again, without another event, until it can.
    Failed { why: String },
}

/// What the thread needs.
pub struct UsageReporter {
    pub accounts: Arc<Accounts>,
    pub clock: Arc<dyn Clock>,
    pub target: WebhookTarget,
    pub metrics: Arc<Metrics>,
    pub tell: Arc<dyn Fn(&UsageEvent) + Send + Sync>,
}

/// The running thread. It ends after what it is doing when this is dropped, or with the process.
pub struct UsageThread {
    _stop: SyncSender<()>,
}

impl UsageThread {
    pub fn start(reporter: UsageReporter) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel(0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let work = UsageWork { reporter, runtime, attempts: 0, next_attempt: Instant::now(), has_failed: false };
        std::thread::Builder::new().name("usage".to_owned()).spawn(move || work.run(&stopped))?;
        Ok(Self { _stop: stop })
    }
}

struct UsageWork {
    reporter: UsageReporter,
    runtime: tokio::runtime::Runtime,
    /// The attempts that failed since a report was last taken.
    attempts: u32,
    next_attempt: Instant,
    /// Whether the state could not be used the last time.
    has_failed: bool,
}

impl UsageWork {
    fn run(mut self, stopped: &Receiver<()>) {
        loop {
            let result = if self.reporter.accounts.leads() { self.report() } else { Ok(self.stand_by()) };
            if let Err(error) = &result
                && !self.has_failed
            {
                (self.reporter.tell)(&UsageEvent::Failed { why: error.to_string() });
            }
            self.has_failed = result.is_err();
            if stopped.recv_timeout(result.unwrap_or(LOOK_EVERY)) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// Another server sends the reports.
    fn stand_by(&mut self) -> Duration {
        self.attempts = 0;
        self.reporter.metrics.set_usage_backlog(UsageBacklog::default());
        LOOK_EVERY
    }

    /// Sends what is due. Returns the time until it should be looked again.
    fn report(&mut self) -> Result<Duration, ChangeError> {
        // Hours that end while the biller is away are still reports of their own.
        let mut progress = self.mark_hours()?;
        let left = self.next_attempt.saturating_duration_since(Instant::now());
        if self.attempts > 0 && !left.is_zero() {
            return Ok(left.min(LOOK_EVERY));
        }
        while progress.oldest_waiting().is_some() && self.reporter.accounts.leads() {
            let Some(report) = self.reporter.accounts.due_usage_report()? else { break };
            if report.range.is_rolled_up && self.attempts == 0 {
                (self.reporter.tell)(&UsageEvent::Lost { report: report.id() });
            }
            if let Err(why) = self.send(&report)? {
                return Ok(self.pause(report.id(), why));
            }
            if self.attempts > 0 {
                (self.reporter.tell)(&UsageEvent::Taken { report: report.id(), attempts: self.attempts });
            }
            self.attempts = 0;
            progress = self.mark_hours()?;
        }
        Ok(LOOK_EVERY)
    }

    fn mark_hours(&self) -> Result<UsageProgress, ChangeError> {
        let progress = self.reporter.accounts.mark_usage_hours(self.reporter.clock.now().wall)?;
        let oldest_ended_at = progress.oldest_waiting().map(|ended| ended.0);
        let waiting = progress.waiting.len() as u64;
        self.reporter.metrics.set_usage_backlog(UsageBacklog { waiting, oldest_ended_at });
        Ok(progress)
    }

    /// Sends the parts that are not delivered, and records each that is taken.
    fn send(&self, report: &UsageReport) -> Result<Result<(), String>, ChangeError> {
        for part in report.range.parts_delivered..report.parts() {
            let now_sec = self.reporter.clock.now().wall.0.div_euclid(1000);
            let sent = self.runtime.block_on(self.reporter.target.post(&body(report, part), now_sec));
            if let Err(why) = sent {
                return Ok(Err(why.to_string()));
            }
            self.reporter.accounts.usage_part_delivered(report, part)?;
        }
        Ok(Ok(()))
    }

    fn pause(&mut self, report: String, why: String) -> Duration {
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts == 1 {
            (self.reporter.tell)(&UsageEvent::Failing { report, why });
        }
        let pause = self.reporter.target.pause_after(self.attempts).min(LONGEST_PAUSE);
        self.next_attempt = Instant::now() + pause;
        pause.min(LOOK_EVERY)
    }
}

/// What the biller receives: one part of a report.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageBody<'r> {
    kind: &'static str,
    id: String,
    part: u32,
    parts: u32,
    /// The beginning of the hour, or of the last of several.
    hour: String,
    hours: i64,
    first_entry: EntryNumber,
    last_entry: EntryNumber,
    last_hash: &'r str,
    /// Whether the sums are lost.
    rolled_up: bool,
    accounts: Vec<UsageOfAccount<'r>>,
}

#[derive(Serialize)]
struct UsageOfAccount<'r> {
    id: String,
    account: AccountId,
    #[serde(flatten)]
    usage: &'r AccountUsage,
}

/// The same for each attempt, so it does not contain the time of sending.
fn body(report: &UsageReport, part: u32) -> String {
    let range = &report.range;
    let of_account = |(account, usage)| UsageOfAccount { id: report.usage_id(account), account, usage };
    let body = UsageBody {
        kind: "usage",
        id: format!("{}-part-{}", report.id(), part + 1),
        part: part + 1,
        parts: report.parts(),
        hour: range.until.plus_millis(-HOUR_MILLIS).to_string(),
        hours: report.hours(),
        first_entry: report.first,
        last_entry: range.through,
        last_hash: &range.hash,
        rolled_up: range.is_rolled_up,
        accounts: report.part(part).iter().map(|(account, usage)| of_account((*account, usage))).collect(),
    };
    // Structs of plain fields; serializing them to memory cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::path::Path;
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use hornbook_accounts::Settings;
    use hornbook_accounts::actor::Actor;
    use hornbook_accounts::admission::Reserved;
    use hornbook_accounts::budget::Budget;
    use hornbook_accounts::changes::{ActContext, NewKey};
    use hornbook_accounts::entropy::SeededEntropy;
    use hornbook_accounts::ids::Credits;
    use hornbook_accounts::key::KeyKind;
    use hornbook_accounts::scope::ScopeSet;
    use hornbook_base::clock::{ManualClock, UnixDay};
    use serde_json::{Value, json};

    use crate::webhook::test_receiver::{receiver, signature_line};

    const SECRET: &str = "0123456789abcdef";

    /// An account with a key whose calls are charged.
    struct TestLedger {
        data: tempfile::TempDir,
        clock: Arc<ManualClock>,
        account: AccountId,
        key: String,
    }

    impl TestLedger {
        /// The ledger is reported from now on, half past eleven.
        fn start() -> Self {
            let data = tempfile::tempdir().unwrap();
            let start = UnixDay::from_civil(2026, 5, 14).start().plus_millis(HOUR_MILLIS * 23 / 2);
            let clock = Arc::new(ManualClock::at(start));
            let accounts = open(data.path(), &clock);
            let act = ActContext { actor: Actor::program("test"), at: start };
            let account = accounts.create_account("A customer".to_owned(), &act).unwrap().id;
            accounts.approve_account(account, &act).unwrap();
            let wish = NewKey {
                account,
                name: "a program".to_owned(),
                kind: KeyKind::Live,
                scopes: ScopeSet::ALL,
                expires_at: None,
                budget: Budget::default(),
            };
            let issued = accounts.create_key(wish, &act, &mut SeededEntropy(1)).unwrap();
            accounts.mark_usage_hours(start).unwrap();
            Self { data, clock, account, key: issued.secret.reveal() }
        }

        fn open(&self) -> Arc<Accounts> {
            open(self.data.path(), &self.clock)
        }

        fn call(&self, accounts: &Accounts, cost: u32) {
            let now = self.clock.now();
            let call = accounts.authenticate(Some(&self.key), now).unwrap().require(ScopeSet::ALL).unwrap();
            let call = call.check_rate(now).unwrap().reserve("search", Credits(cost), None, now).unwrap();
            let Reserved::Fresh(call) = call else { panic!("the call has no idempotency key") };
            call.begin().unwrap().settle_blocking().unwrap();
        }

        fn hour_passes(&self) {
            self.clock.advance_millis(HOUR_MILLIS as u64);
        }

        /// Starts the thread, whose pauses begin with this one.
        fn report(&self, accounts: &Arc<Accounts>, url: &str, pause: Duration, tell: Sender<UsageEvent>) -> Running {
            let metrics = Arc::new(Metrics::default());
            let thread = UsageThread::start(UsageReporter {
                accounts: Arc::clone(accounts),
                clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
                target: WebhookTarget::new(url, SECRET).unwrap().first_pause(pause),
                metrics: Arc::clone(&metrics),
                tell: Arc::new(move |event| drop(tell.send(event.clone()))),
            });
            Running { thread: thread.unwrap(), metrics }
        }
    }

    fn open(data: &Path, clock: &ManualClock) -> Arc<Accounts> {
        let settings = Settings { reports_usage: true, ..Settings::default() };
        Arc::new(Accounts::open(data, settings, clock.now()).unwrap())
    }

    struct Running {
        thread: UsageThread,
        metrics: Arc<Metrics>,
    }

    impl Running {
        /// Ends the thread, and the accounts with it.
        fn stop(self, mut accounts: Arc<Accounts>) {
            drop(self.thread);
            while let Err(shared) = Arc::try_unwrap(accounts) {
                accounts = shared;
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        fn wait_for(&self, backlog: UsageBacklog) {
            while self.metrics.usage_backlog() != Some(backlog) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn body_of(request: &str) -> Value {
        serde_json::from_str(request.rsplit_once("\r\n\r\n").unwrap().1).unwrap()
    }

    #[test]
    fn a_report_is_signed_and_sent_as_it_was_until_it_is_taken() {
        let ledger = TestLedger::start();
        let accounts = ledger.open();
        ledger.call(&accounts, 1);
        ledger.call(&accounts, 4);
        ledger.hour_passes();
        ledger.call(&accounts, 7);
        let (shown, requests) = channel();
        let (tell, events) = channel();
        let url = receiver(&[500, 404], shown);

        // The first attempt fails, and the server ends before the next one.
        let running = ledger.report(&accounts, &url, Duration::from_secs(3600), tell.clone());
        let first = requests.recv().unwrap();
        let UsageEvent::Failing { report, why } = events.recv().unwrap() else { panic!("it was answered with 500") };
        assert_eq!(why, "it answered 500");
        let oldest_ended_at = Some(ledger.clock.now().wall.0 - HOUR_MILLIS / 2);
        assert_eq!(running.metrics.usage_backlog(), Some(UsageBacklog { waiting: 1, oldest_ended_at }));
        running.stop(accounts);

        let accounts = ledger.open();
        let running = ledger.report(&accounts, &url, Duration::from_micros(10), tell);
        let body = first.rsplit_once("\r\n\r\n").unwrap().1;
        assert!(first.contains(&signature_line(ledger.clock.now().wall.0 / 1000, body, SECRET)), "{first}");
        assert_eq!([requests.recv().unwrap(), requests.recv().unwrap()], [first.clone(), first.clone()]);
        assert!(matches!(events.recv().unwrap(), UsageEvent::Failing { report: again, .. } if again == report));
        assert_eq!(events.recv().unwrap(), UsageEvent::Taken { report, attempts: 1 });
        running.wait_for(UsageBacklog::default());
        running.stop(accounts);

        let sent = body_of(&first);
        let entries = (sent["firstEntry"].as_u64().unwrap(), sent["lastEntry"].as_u64().unwrap());
        let hash = sent["lastHash"].as_str().unwrap();
        let id = format!("usage-{}-{}-{}", entries.0, entries.1, &hash[..16]);
        assert_eq!(entries.1 - entries.0, 1, "the calls of the hour");
        let usage = json!({
            "id": format!("{id}-{}", ledger.account), "account": ledger.account,
            "calls": 2, "credits": 5, "units": 5, "refundedCalls": 0, "refundedCredits": 0, "refundedUnits": 0,
            "purchased": 0, "takenBack": 0, "granted": 0, "adjusted": 0,
        });
        let expected = json!({
            "kind": "usage", "id": format!("{id}-part-1"), "part": 1, "parts": 1,
            "hour": "2026-05-14T11:00:00.000Z", "hours": 1,
            "firstEntry": entries.0, "lastEntry": entries.1, "lastHash": hash, "rolledUp": false,
            "accounts": [usage],
        });
        assert_eq!(sent, expected);
        assert!(!first.contains("customer"), "only ids are sent: {first}");
    }

    #[test]
    fn hours_that_ended_while_the_biller_was_away_are_sent_in_order() {
        let ledger = TestLedger::start();
        let accounts = ledger.open();
        let gone = format!("http://{}/", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
        let (tell, events) = channel();
        for hour in 1..=3 {
            ledger.call(&accounts, hour);
            ledger.hour_passes();
            let running = ledger.report(&accounts, &gone, Duration::from_secs(3600), tell.clone());
            assert!(matches!(events.recv().unwrap(), UsageEvent::Failing { .. }));
            assert_eq!(running.metrics.usage_backlog().unwrap().waiting, u64::from(hour));
        }
        let (shown, requests) = channel();
        let running = ledger.report(&accounts, &receiver(&[], shown), Duration::from_secs(3600), tell);
        let sent: Vec<Value> = requests.iter().take(3).map(|request| body_of(&request)).collect();
        running.wait_for(UsageBacklog::default());
        let of = |name: &str| sent.iter().map(|body| body[name].clone()).collect::<Vec<_>>();
        let hours = ["2026-05-14T11:00:00.000Z", "2026-05-14T12:00:00.000Z", "2026-05-14T13:00:00.000Z"];
        assert_eq!(of("hour"), hours.map(|hour| json!(hour)));
        let credits = sent.iter().map(|body| body["accounts"][0]["credits"].clone()).collect::<Vec<_>>();
        assert_eq!(credits, [json!(1), json!(2), json!(3)]);
        let next: Vec<Value> = of("lastEntry").iter().map(|last| json!(last.as_u64().unwrap() + 1)).collect();
        assert_eq!(of("firstEntry")[1..], next[..2]);
        assert!(events.try_recv().is_err(), "nothing failed in this thread");
    }

    #[test]
    fn the_pause_grows_to_an_hour() {
        let target = WebhookTarget::new("http://127.0.0.1:1/", SECRET).unwrap().first_pause(Duration::from_secs(10));
        let pauses = [1, 2, 9, 10, u32::MAX].map(|attempts| target.pause_after(attempts).min(LONGEST_PAUSE).as_secs());
        assert_eq!(pauses, [10, 20, 2560, 3600, 3600]);
    }
}
