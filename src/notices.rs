//! Tells an address of the operator what waits for them: one signed POST for each, by a thread of its own.
//!
//! A notice has a kind and an id and nothing else, so that nothing of a customer leaves the service. Whoever raises one
//! never waits: the queue is bounded, and what does not fit is dropped and reported. `hornbook inbox` is complete at any
//! time, so a notice that is lost costs only time.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use ring::hmac;
use serde_json::json;

use crate::accounts::ids::{AccountId, OrderId, PurchaseId};
use crate::accounts::records::ActRecord;
use crate::client::{ClientError, Limits, Request, Server, send_once};
use crate::clock::Clock;
use crate::hex;
use crate::tls_client::Trust;

const QUEUE_MAX: usize = 256;

const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), total: Duration::from_secs(10), body_bytes_max: 64 << 10 };

/// Notices are given up after eight and a half minutes of doubled pauses.
const ATTEMPTS: u32 = 10;

/// The header with time and signature: `t=1700000000,v1=5257...`, HMAC-SHA256 over the time, a full stop and the body.
const SIGNATURE: &str = "hornbook-signature";

/// What waits for the operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    kind: &'static str,
    /// Of a purchase, an order or an account.
    id: String,
    at: String,
}

impl Notice {
    /// The notice that an act calls for, if any.
    pub fn of(act: &ActRecord) -> Option<Self> {
        let id = act.on.split([' ', ',']).next()?;
        let (kind, is_id) = match act.act.as_str() {
            "purchase request" => ("purchase.waiting", id.parse::<PurchaseId>().is_ok()),
            "payment problem" => ("payment.problem", id.parse::<PurchaseId>().is_ok() || id.parse::<OrderId>().is_ok()),
            "order create" | "order accept" | "order paid" => ("order.waiting", id.parse::<OrderId>().is_ok()),
            "account create" => ("account.waiting", id.parse::<AccountId>().is_ok()),
            _ => return None,
        };
        // Nothing but an id is sent on.
        is_id.then(|| Self { kind, id: id.to_owned(), at: act.at.clone() })
    }

    /// Whether it says that a purchase waits to be confirmed.
    pub fn is_of_purchase(&self) -> bool {
        self.kind == "purchase.waiting"
    }

    fn body(&self) -> String {
        json!({ "kind": self.kind, "id": self.id, "at": self.at }).to_string()
    }
}

/// Where notices go.
pub struct Address {
    server: Server,
    path: String,
    key: hmac::Key,
    first_pause: Duration,
}

impl Address {
    pub fn new(url: &str, secret: &str) -> Result<Self, ClientError> {
        let (server, path) = Server::with_path(url, &Trust::System)?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        Ok(Self { server, path, key, first_pause: Duration::from_secs(1) })
    }

    /// The pause after the first failure; each later one is twice as long.
    #[must_use]
    pub fn first_pause(self, first_pause: Duration) -> Self {
        Self { first_pause, ..self }
    }

    fn request(&self, body: &str, now_sec: i64) -> Request {
        let tag = hmac::sign(&self.key, format!("{now_sec}.{body}").as_bytes());
        let signature = format!("t={now_sec},v1={}", hex::encode(tag.as_ref()));
        Request::post(&self.path, "application/json", body.to_owned()).header(SIGNATURE, signature)
    }
}

/// A notice that did not arrive, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undelivered {
    pub kind: &'static str,
    pub id: String,
    pub why: String,
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the notice {} of {} was not delivered: {}", self.kind, self.id, self.why)
    }
}

/// What hears of notices that are given up; for the log.
pub type TellUndelivered = dyn Fn(&Undelivered) + Send + Sync;

/// The queue of notices.
pub struct Notices {
    queue: SyncSender<Notice>,
    tell: Arc<TellUndelivered>,
}

impl Notices {
    /// Starts the thread that sends. It ends with the queue, or with the process.
    pub fn start(address: Address, clock: Arc<dyn Clock>, tell: Arc<TellUndelivered>) -> std::io::Result<Self> {
        let (queue, waiting) = sync_channel(QUEUE_MAX);
        let told = Arc::clone(&tell);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("notices".to_owned()).spawn(move || {
            runtime.block_on(async { send_all(&address, &waiting, &*clock, &*told).await });
        })?;
        Ok(Self { queue, tell })
    }

    /// Never waits.
    pub fn raise(&self, notice: Notice) {
        if let Err(full) = self.queue.try_send(notice) {
            let (std::sync::mpsc::TrySendError::Full(notice) | std::sync::mpsc::TrySendError::Disconnected(notice)) =
                full;
            let why = format!("{QUEUE_MAX} notices wait already");
            (self.tell)(&Undelivered { kind: notice.kind, id: notice.id, why });
        }
    }
}

async fn send_all(address: &Address, waiting: &Receiver<Notice>, clock: &dyn Clock, tell: &TellUndelivered) {
    // This thread has nothing else to do, so that it may block here.
    while let Ok(notice) = waiting.recv() {
        if let Err(why) = send(address, &notice, clock).await {
            tell(&Undelivered { kind: notice.kind, id: notice.id, why });
        }
    }
}

async fn send(address: &Address, notice: &Notice, clock: &dyn Clock) -> Result<(), String> {
    let body = notice.body();
    let mut pause = address.first_pause;
    let mut attempt = 1;
    loop {
        let now_sec = clock.now().wall.0.div_euclid(1000);
        let why = match send_once(&address.server, LIMITS, address.request(&body, now_sec)).await {
            Ok(answer) if (200..300).contains(&answer.status) => return Ok(()),
            Ok(answer) => format!("operator.webhook answered {}", answer.status),
            Err(error) => format!("operator.webhook: {error}"),
        };
        if attempt == ATTEMPTS {
            return Err(format!("{why}; tried {ATTEMPTS} times"));
        }
        attempt += 1;
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::clock::{ManualClock, UnixMillis};

    fn act(act: &str, on: &str) -> ActRecord {
        ActRecord {
            at: "2026-05-14T12:00:00Z".to_owned(),
            actor: "a".to_owned(),
            act: act.to_owned(),
            on: on.to_owned(),
        }
    }

    #[test]
    fn a_notice_has_an_id_and_nothing_of_a_customer() {
        let notice = Notice::of(&act("account create", "acct-7, Jane Roe")).unwrap();
        assert_eq!(notice.body(), r#"{"at":"2026-05-14T12:00:00Z","id":"acct-7","kind":"account.waiting"}"#);
        let kind = |what, on| Notice::of(&act(what, on)).map(|notice| notice.kind);
        assert_eq!(kind("purchase request", "buy-3 of acct-1, pack pro"), Some("purchase.waiting"));
        assert_eq!(kind("payment problem", "buy-3 of acct-1: it was paid twice"), Some("payment.problem"));
        let order = "6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e of acct-1";
        assert_eq!(kind("order create", order), Some("order.waiting"));
        assert_eq!(kind("account create", "Jane Roe"), None, "what is no id is not sent");
        assert_eq!(kind("key revoke", "key-1 of acct-1"), None);
    }

    /// Answers with these statuses in turn, then with 204; shows each request.
    fn server(statuses: &'static [u16], shown: Sender<String>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hooks/hornbook", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut statuses = statuses.iter();
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut request = String::new();
                while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).unwrap() > 0 {}
                let length = request.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                let mut body = vec![0; length.parse().unwrap()];
                reader.read_exact(&mut body).unwrap();
                let status = statuses.next().unwrap_or(&204);
                write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
                if shown.send(request + &String::from_utf8(body).unwrap()).is_err() {
                    return;
                }
            }
        });
        url
    }

    fn start(url: &str) -> (Notices, Receiver<Undelivered>) {
        let (told, telling) = channel();
        let address = Address::new(url, "0123456789abcdef").unwrap().first_pause(Duration::from_micros(10));
        let clock = Arc::new(ManualClock::at(UnixMillis(1_700_000_000_000)));
        let tell = Arc::new(move |undelivered: &Undelivered| told.send(undelivered.clone()).unwrap());
        (Notices::start(address, clock, tell).unwrap(), telling)
    }

    #[test]
    fn a_notice_is_signed_and_sent_until_it_is_taken() {
        let (shown, requests) = channel();
        let (notices, _telling) = start(&server(&[500, 404], shown));
        notices.raise(Notice::of(&act("purchase request", "buy-3 of acct-1, pack pro")).unwrap());
        let first = requests.recv().unwrap();
        let body = r#"{"at":"2026-05-14T12:00:00Z","id":"buy-3","kind":"purchase.waiting"}"#;
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"0123456789abcdef");
        let tag = hmac::sign(&key, format!("1700000000.{body}").as_bytes());
        let signature = format!("hornbook-signature: t=1700000000,v1={}\r\n", hex::encode(tag.as_ref()));
        assert!(first.starts_with("POST /hooks/hornbook HTTP/1.1\r\n") && first.ends_with(body), "{first}");
        assert!(first.contains(&signature), "{first}");
        assert_eq!([requests.recv().unwrap(), requests.recv().unwrap()], [first.clone(), first.clone()]);
        notices.raise(Notice::of(&act("purchase request", "buy-4 of acct-1, pack pro")).unwrap());
        assert!(requests.recv().unwrap().contains("buy-4"), "the first was taken");
    }

    #[test]
    fn nobody_waits_for_an_address_that_is_down_and_what_is_lost_is_told() {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (notices, telling) = start(&format!("http://{gone}/"));
        let notice = Notice::of(&act("purchase request", "buy-3 of acct-1, pack pro")).unwrap();
        notices.raise(notice.clone());
        let undelivered = telling.recv().unwrap();
        assert!(undelivered.why.ends_with("tried 10 times"), "{undelivered}");

        // Of more than the queue holds some are dropped, and all are told of.
        let (told, telling) = channel();
        let address = Address::new(&format!("http://{gone}/"), "0123456789abcdef").unwrap();
        let clock = Arc::new(ManualClock::at(UnixMillis(0)));
        let tell = Arc::new(move |undelivered: &Undelivered| drop(told.send(undelivered.why.clone())));
        let notices = Notices::start(address, clock, tell).unwrap();
        (0..QUEUE_MAX + 2).for_each(|_| notices.raise(notice.clone()));
        assert_eq!(telling.recv().unwrap(), "256 notices wait already");
    }
}
