//! Notifies the operator's webhook about items that wait for the operator. Each notice is one
//! signed POST, sent by a separate thread.
//!
//! A notice contains only a kind, an id and a time, so that no customer data leaves the service.
//! Raising a notice never blocks: the queue is bounded, and a notice that does not fit is dropped
//! and reported. A notice that failed waits for its next attempt and does not delay others. When
//! the program starts, it sends notices for all items that still wait for the operator, so that a
//! restart loses nothing. Receivers recognize a repeated notice by its kind and id.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use hornbook_accounts::Accounts;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::{AccountId, OrderId, PurchaseId};
use hornbook_accounts::records::{AccountStatus, AuditRecord, OrderStage, Payable};
use hornbook_base::clock::{Clock, Now, UnixMillis};
use serde_json::json;

use crate::webhook::WebhookTarget;

const QUEUE_MAX: usize = 256;

/// A notice is given up after this many attempts: eight and a half minutes of pauses that double each time.
const ATTEMPTS: u32 = 10;

const PURCHASE_WAITING: &str = "purchase.waiting";
const PAYMENT_PROBLEM: &str = "payment.problem";
const ORDER_WAITING: &str = "order.waiting";
const ACCOUNT_WAITING: &str = "account.waiting";

/// A message that an item waits for the operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    kind: &'static str,
    /// The id of a purchase, an order or an account.
    id: String,
    at: String,
}

impl Notice {
    /// The notice for an administrative act, if the act needs one.
    pub fn of(act: &AuditRecord) -> Option<Self> {
        let id = act.on.split([' ', ',']).next()?;
        let (kind, is_id) = match act.act.as_str() {
            "purchase request" => (PURCHASE_WAITING, id.parse::<PurchaseId>().is_ok()),
            "payment problem" => (PAYMENT_PROBLEM, id.parse::<PurchaseId>().is_ok() || id.parse::<OrderId>().is_ok()),
            "order create" | "order accept" | "order paid" => (ORDER_WAITING, id.parse::<OrderId>().is_ok()),
            "account create" => (ACCOUNT_WAITING, id.parse::<AccountId>().is_ok()),
            _ => return None,
        };
        // Only ids are sent.
        is_id.then(|| Self { kind, id: id.to_owned(), at: act.at.clone() })
    }

    /// Notices for all items that wait for the operator now and whose arrival caused a notice, oldest first.
    pub fn all_pending(accounts: &Accounts, now: Now) -> Result<Vec<Self>, ChangeError> {
        let mut waiting: Vec<(UnixMillis, &'static str, String)> = Vec::new();
        // A purchase by card waits for its customer.
        for purchase in accounts.waiting_purchases()?.into_iter().filter(|purchase| purchase.checkout.is_none()) {
            waiting.push((purchase.requested_at, PURCHASE_WAITING, purchase.id.to_string()));
        }
        for checkout in accounts.payment_problems()? {
            let paid_for = match checkout.pays {
                Payable::Purchase(id) => id.to_string(),
                Payable::Order(id) => id.to_string(),
            };
            waiting.push((checkout.opened_at, PAYMENT_PROBLEM, paid_for));
        }
        // The operator already knows about an order that they have advanced.
        for order in accounts.open_orders()?.into_iter().filter(|order| order.stage() <= OrderStage::Setup) {
            let since = order.stages.last().map_or(now.wall, |reached| reached.at);
            waiting.push((since, ORDER_WAITING, order.id.to_string()));
        }
        for view in accounts.accounts(now)? {
            if view.record.status == AccountStatus::Pending {
                waiting.push((view.record.created_at, ACCOUNT_WAITING, view.record.id.to_string()));
            }
        }
        waiting.sort();
        Ok(waiting.into_iter().map(|(at, kind, id)| Self { kind, id, at: at.to_string() }).collect())
    }

    /// Whether the notice is about a purchase that waits for confirmation.
    pub fn is_about_purchase(&self) -> bool {
        self.kind == PURCHASE_WAITING
    }

    fn body(&self) -> String {
        json!({ "kind": self.kind, "id": self.id, "at": self.at }).to_string()
    }
}

/// A notice that was not delivered, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undelivered {
    pub kind: &'static str,
    pub id: String,
    pub why: String,
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "notice {} for {} was not delivered: {}", self.kind, self.id, self.why)
    }
}

/// Called with each notice that is given up, so that it is logged.
pub type UndeliveredListener = dyn Fn(&Undelivered) + Send + Sync;

/// The queue of notices.
pub struct Notices {
    queue: SyncSender<Notice>,
    tell: Arc<UndeliveredListener>,
}

impl Notices {
    /// Starts the sending thread. It ends when the queue is closed, or with the process.
    pub fn start(
        address: WebhookTarget,
        clock: Arc<dyn Clock>,
        tell: Arc<UndeliveredListener>,
    ) -> std::io::Result<Self> {
        let (queue, arriving) = sync_channel(QUEUE_MAX);
        let reported = Arc::clone(&tell);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sender = NoticeSender { address, clock, tell: reported, runtime, waiting: Vec::new() };
        std::thread::Builder::new().name("notices".to_owned()).spawn(move || sender.run(&arriving))?;
        Ok(Self { queue, tell })
    }

    /// Queues a notice. Never blocks.
    pub fn raise(&self, notice: Notice) {
        if let Err(TrySendError::Full(notice) | TrySendError::Disconnected(notice)) = self.queue.try_send(notice) {
            (self.tell)(&undelivered(notice, too_many_wait()));
        }
    }
}

fn undelivered(notice: Notice, why: String) -> Undelivered {
    Undelivered { kind: notice.kind, id: notice.id, why }
}

fn too_many_wait() -> String {
    format!("{QUEUE_MAX} notices are already waiting")
}

/// The sending thread. It does nothing else, so it may block.
struct NoticeSender {
    address: WebhookTarget,
    clock: Arc<dyn Clock>,
    tell: Arc<UndeliveredListener>,
    runtime: tokio::runtime::Runtime,
    /// Notices that failed and will be sent again, at most [`QUEUE_MAX`].
    waiting: Vec<RetryEntry>,
}

/// A notice that will be sent again.
struct RetryEntry {
    notice: Notice,
    attempts: u32,
    due: Instant,
}

impl NoticeSender {
    fn run(mut self, arriving: &Receiver<Notice>) {
        loop {
            let next = self.next_due();
            let pause = next.map(|next| self.waiting[next].due.saturating_duration_since(Instant::now()));
            // A notice that is due is sent first, so that new notices cannot delay it.
            let arrived = match pause {
                None => arriving.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(Duration::ZERO) => Err(RecvTimeoutError::Timeout),
                Some(pause) => arriving.recv_timeout(pause),
            };
            match (arrived, next) {
                (Ok(notice), _) => self.attempt(notice, 1),
                (Err(RecvTimeoutError::Timeout), Some(next)) => {
                    let RetryEntry { notice, attempts, .. } = self.waiting.swap_remove(next);
                    self.attempt(notice, attempts + 1);
                }
                (Err(RecvTimeoutError::Disconnected), Some(_)) => std::thread::sleep(pause.unwrap_or_default()),
                (Err(_), None) => return,
            }
        }
    }

    fn next_due(&self) -> Option<usize> {
        (0..self.waiting.len()).min_by_key(|at| self.waiting[*at].due)
    }

    fn attempt(&mut self, notice: Notice, attempts: u32) {
        let Err(why) = self.runtime.block_on(send(&self.address, &notice, &*self.clock)) else { return };
        if attempts == ATTEMPTS {
            (self.tell)(&undelivered(notice, format!("{why}; tried {ATTEMPTS} times")));
        } else if self.waiting.len() == QUEUE_MAX {
            (self.tell)(&undelivered(notice, too_many_wait()));
        } else {
            let due = Instant::now() + self.address.pause_after(attempts);
            self.waiting.push(RetryEntry { notice, attempts, due });
        }
    }
}

async fn send(address: &WebhookTarget, notice: &Notice, clock: &dyn Clock) -> Result<(), String> {
    let now_sec = clock.now().wall.0.div_euclid(1000);
    address.post(&notice.body(), now_sec).await.map_err(|error| format!("operator.webhook: {error}"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc::channel;

    use super::*;
    use hornbook_accounts::Settings;
    use hornbook_accounts::actor::Actor;
    use hornbook_accounts::changes::{ActContext, NewOrder};
    use hornbook_accounts::entropy::SeededEntropy;
    use hornbook_accounts::tier::PackName;
    use hornbook_base::clock::ManualClock;

    use crate::webhook::test_receiver::{receiver, signature_line};

    fn act(act: &str, on: &str) -> AuditRecord {
        AuditRecord {
            at: "2026-05-14T12:00:00Z".to_owned(),
            actor: Actor::program("a"),
            act: act.to_owned(),
            on: on.to_owned(),
        }
    }

    #[test]
    fn a_notice_has_an_id_and_nothing_of_a_customer() {
        let notice = Notice::of(&act("account create", "acct-7")).unwrap();
        assert_eq!(notice.body(), r#"{"at":"2026-05-14T12:00:00Z","id":"acct-7","kind":"account.waiting"}"#);
        let kind = |what, on| Notice::of(&act(what, on)).map(|notice| notice.kind);
        assert_eq!(kind("purchase request", "buy-3 of acct-1, pack pro"), Some("purchase.waiting"));
        assert_eq!(kind("payment problem", "buy-3 of acct-1: it was paid twice"), Some("payment.problem"));
        let order = "6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e of acct-1";
        assert_eq!(kind("order create", order), Some("order.waiting"));
        assert_eq!(kind("account create", "Jane Roe"), None, "only ids are sent");
        assert_eq!(kind("key revoke", "key-1 of acct-1"), None);
    }

    fn start(url: &str) -> (Notices, Receiver<Undelivered>) {
        let (reported, telling) = channel();
        let address = WebhookTarget::new(url, "0123456789abcdef").unwrap().first_pause(Duration::from_micros(10));
        let clock = Arc::new(ManualClock::at(UnixMillis(1_700_000_000_000)));
        let tell = Arc::new(move |undelivered: &Undelivered| reported.send(undelivered.clone()).unwrap());
        (Notices::start(address, clock, tell).unwrap(), telling)
    }

    #[test]
    fn a_notice_is_signed_and_sent_until_it_is_taken() {
        let (shown, requests) = channel();
        let (notices, _telling) = start(&receiver(&[500, 404], shown));
        notices.raise(Notice::of(&act("purchase request", "buy-3 of acct-1, pack pro")).unwrap());
        let first = requests.recv().unwrap();
        let body = r#"{"at":"2026-05-14T12:00:00Z","id":"buy-3","kind":"purchase.waiting"}"#;
        let signature = signature_line(1_700_000_000, body, "0123456789abcdef");
        assert!(first.starts_with("POST /hooks/hornbook HTTP/1.1\r\n") && first.ends_with(body), "{first}");
        assert!(first.contains(&signature), "{first}");
        assert_eq!([requests.recv().unwrap(), requests.recv().unwrap()], [first.clone(), first.clone()]);
        notices.raise(Notice::of(&act("purchase request", "buy-4 of acct-1, pack pro")).unwrap());
        assert!(requests.recv().unwrap().contains("buy-4"), "the first was taken");
    }

    #[test]
    fn a_failed_notice_does_not_delay_others() {
        let (shown, requests) = channel();
        let (reported, _telling) = channel();
        let address = WebhookTarget::new(&receiver(&[500], shown), "0123456789abcdef").unwrap();
        let address = address.first_pause(Duration::from_millis(300));
        let clock = Arc::new(ManualClock::at(UnixMillis(0)));
        let tell = Arc::new(move |undelivered: &Undelivered| reported.send(undelivered.clone()).unwrap());
        let notices = Notices::start(address, clock, tell).unwrap();
        let raise = |id: &str| notices.raise(Notice::of(&act("purchase request", id)).unwrap());
        raise("buy-3 of acct-1, pack pro");
        let next = || requests.recv().unwrap();
        assert!(next().contains("buy-3"));
        raise("buy-4 of acct-1, pack pro");
        assert!(next().contains("buy-4"), "the other waits for its second attempt");
        assert!(next().contains("buy-3"));
    }

    #[test]
    fn pending_items_are_notified_again_at_start() {
        let data = tempfile::tempdir().unwrap();
        let clock = ManualClock::at(UnixMillis(1_700_000_000_000));
        let now = clock.now();
        let operator = |at: i64| ActContext { actor: Actor::program("test"), at: now.wall.plus_millis(at) };
        let accounts = Accounts::open(data.path(), Settings::default(), now).unwrap();
        let known = accounts.create_account("Known".to_owned(), &operator(0)).unwrap().id;
        accounts.approve_account(known, &operator(1)).unwrap();
        let waits = accounts.request_purchase(known, PackName::Pro, &operator(2)).unwrap().id;
        let paid = accounts.request_purchase(known, PackName::Pro, &operator(3)).unwrap().id;
        accounts.pay_purchase(paid, None, &operator(4)).unwrap();
        let new = accounts.create_account("New".to_owned(), &operator(5)).unwrap().id;
        let order = |name: &str, at| {
            let wish = NewOrder {
                account: known,
                entity_name: name.to_owned(),
                entity_type: "llc".to_owned(),
                jurisdiction: "DE".to_owned(),
            };
            accounts.create_order(wish, &operator(at), &mut SeededEntropy(at as u64)).unwrap().0.id
        };
        let (opened, filed) = (order("A LLC", 6), order("B LLC", 7));
        accounts.advance_order(filed, OrderStage::Filing, &operator(8)).unwrap();
        drop(accounts);
        let accounts = Accounts::open(data.path(), Settings::default(), now).unwrap();
        let reported = Notice::all_pending(&accounts, now).unwrap();
        let reported: Vec<_> = reported.iter().map(|notice| (notice.kind, notice.id.clone())).collect();
        let expected = [
            ("purchase.waiting", waits.to_string()),
            ("account.waiting", new.to_string()),
            ("order.waiting", opened.to_string()),
        ];
        assert_eq!(reported, expected);
    }

    #[test]
    fn undelivered_notices_are_reported() {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (notices, telling) = start(&format!("http://{gone}/"));
        let notice = Notice::of(&act("purchase request", "buy-3 of acct-1, pack pro")).unwrap();
        notices.raise(notice.clone());
        let undelivered = telling.recv().unwrap();
        assert!(undelivered.why.ends_with("tried 10 times"), "{undelivered}");

        // More notices than the queue can hold: some are dropped, and each drop is reported.
        let (reported, telling) = channel();
        let address = WebhookTarget::new(&format!("http://{gone}/"), "0123456789abcdef").unwrap();
        let clock = Arc::new(ManualClock::at(UnixMillis(0)));
        let tell = Arc::new(move |undelivered: &Undelivered| drop(reported.send(undelivered.why.clone())));
        let notices = Notices::start(address, clock, tell).unwrap();
        (0..QUEUE_MAX + 2).for_each(|_| notices.raise(notice.clone()));
        assert_eq!(telling.recv().unwrap(), "256 notices are already waiting");
    }
}
