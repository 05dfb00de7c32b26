//! A fake Stripe: creates checkout sessions, once per idempotency key, and sends signed notices,
//! repeatedly until accepted.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use hornbook_base::clock::{Clock, SystemClock};
use ring::hmac;
use serde_json::{Value, json};

pub(crate) const SECRET_KEY: &str = "sk_test_0123456789abcdef";
pub(crate) const WEBHOOK_SECRET: &str = "whsec_0123456789abcdef";

/// What happens to the next request for a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StripeFault {
    /// Refused with this status.
    Refuse(u16),
    /// The session is created, but the answer is lost.
    DropResponse,
    /// Answered only after `release`.
    Hold,
}

/// A received request for a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionRequest {
    pub(crate) path: String,
    /// Header names are in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) form: BTreeMap<String, String>,
}

#[derive(Default)]
struct StripeState {
    received: Vec<SessionRequest>,
    /// Sessions by idempotency key.
    sessions: BTreeMap<String, Value>,
    faults: VecDeque<StripeFault>,
    is_released: bool,
}

pub(crate) struct FakeStripe {
    address: SocketAddr,
    shared: Arc<(Mutex<StripeState>, Condvar)>,
    events: AtomicU64,
}

/// A notice that may be sent any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Notice(pub(crate) String);

impl FakeStripe {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new((Mutex::default(), Condvar::new()));
        let desk = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let desk = Arc::clone(&desk);
                std::thread::spawn(move || answer(stream, &desk));
            }
        });
        Self { address, shared, events: AtomicU64::new(0) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Applies these faults to the next requests, one each.
    pub(crate) fn fail(&self, faults: &[StripeFault]) {
        self.shared.0.lock().unwrap().faults.extend(faults);
    }

    /// Answers the held requests.
    pub(crate) fn release(&self) {
        self.shared.0.lock().unwrap().is_released = true;
        self.shared.1.notify_all();
    }

    pub(crate) fn received(&self) -> Vec<SessionRequest> {
        self.shared.0.lock().unwrap().received.clone()
    }

    /// All sessions, oldest first.
    pub(crate) fn sessions(&self) -> Vec<Value> {
        let mut sessions: Vec<Value> = self.shared.0.lock().unwrap().sessions.values().cloned().collect();
        sessions.sort_by_key(|session| session["number"].as_u64());
        sessions
    }

    /// The session at a URL where a customer pays.
    pub(crate) fn session_at(&self, url: &str) -> Value {
        self.sessions().into_iter().find(|session| session["url"] == url).unwrap_or_else(|| panic!("no page at {url}"))
    }

    /// A notice of this kind about an object.
    pub(crate) fn notice(&self, kind: &str, object: &Value) -> Notice {
        let number = self.events.fetch_add(1, Ordering::Relaxed);
        let event = json!({
            "id": format!("evt_{number}"), "object": "event", "api_version": "2024-06-20", "type": kind, "created": now(),
            "livemode": false, "pending_webhooks": 1, "data": { "object": object },
        });
        Notice(event.to_string())
    }

    /// The notice that the customer has paid.
    pub(crate) fn paid(&self, session: &Value) -> Notice {
        let mut paid = session.clone();
        paid["payment_status"] = json!("paid");
        paid["status"] = json!("complete");
        paid["payment_intent"] = json!(payment_of(session));
        self.notice("checkout.session.completed", &paid)
    }

    pub(crate) fn expired(&self, session: &Value) -> Notice {
        self.notice("checkout.session.expired", session)
    }

    pub(crate) fn refunded(&self, session: &Value, cents: u64) -> Notice {
        let charge = json!({
            "id": "ch_1", "object": "charge", "amount": session["amount_total"], "amount_refunded": cents, "currency": "usd",
            "payment_intent": payment_of(session), "metadata": session["metadata"], "refunded": false,
        });
        self.notice("charge.refunded", &charge)
    }

    pub(crate) fn disputed(&self, session: &Value, kind: &str, status: &str) -> Notice {
        let dispute = json!({
            "id": "dp_1", "object": "dispute", "amount": session["amount_total"], "currency": "usd", "status": status,
            "payment_intent": payment_of(session), "metadata": {},
        });
        self.notice(kind, &dispute)
    }

    /// Sends a notice once and returns the status of the answer; 0 if there is none.
    pub(crate) fn send(&self, notice: &Notice, to: SocketAddr) -> u16 {
        send_signed(notice, &signature(WEBHOOK_SECRET, now(), &notice.0), to)
    }

    /// Sends a notice until it is accepted, as Stripe does.
    pub(crate) fn deliver(&self, notice: &Notice, to: SocketAddr) {
        for _ in 0..300 {
            if self.send(notice, to) == 200 {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("never taken: {}", notice.0);
    }
}

fn payment_of(session: &Value) -> String {
    session["id"].as_str().unwrap().replace("cs_", "pi_")
}

pub(crate) fn now() -> u64 {
    u64::try_from(SystemClock::start().now().wall.0 / 1000).unwrap()
}

/// The value of `Stripe-Signature`.
pub(crate) fn signature(secret: &str, time: u64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{time}.{body}").as_bytes());
    let digits: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={time},v1={digits},v0={}", "0".repeat(64))
}

pub(crate) fn send_signed(Notice(body): &Notice, signature: &str, to: SocketAddr) -> u16 {
    let head = format!(
        "POST /api/v1/billing/webhook HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Stripe-Signature: {signature}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let answered = TcpStream::connect(to).and_then(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.write_all((head + body).as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    });
    answered.ok().and_then(|answer| answer.split(' ').nth(1)?.parse().ok()).unwrap_or(0)
}

fn answer(mut stream: TcpStream, shared: &(Mutex<StripeState>, Condvar)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(received) = read(&mut reader) else { return };
    let (status, body) = reply(&received, shared);
    if status == 0 {
        return;
    }
    let head = format!(
        "HTTP/1.1 {status} X\r\nRequest-Id: req_1\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all((head + &body).as_bytes());
}

fn read(reader: &mut impl BufRead) -> Option<SessionRequest> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let path = lines.first()?.strip_prefix("POST ")?.split(' ').next()?.to_owned();
    let headers: BTreeMap<String, String> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    Some(SessionRequest { path, headers, form: pairs.map(|(name, value)| (decoded(name), decoded(value))).collect() })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

/// The status and body of the answer. With status 0, the connection ends without an answer.
fn reply(received: &SessionRequest, (desk, released): &(Mutex<StripeState>, Condvar)) -> (u16, String) {
    let mut desk = desk.lock().unwrap();
    desk.received.push(received.clone());
    let refused = |status: u16, kind: &str| {
        let message = format!("You sent {received:?}");
        (status, json!({ "error": { "type": kind, "code": "some_code", "message": message } }).to_string())
    };
    if received.headers.get("authorization").map(String::as_str) != Some(&format!("Bearer {SECRET_KEY}")) {
        return refused(401, "invalid_request_error");
    }
    let fault = desk.faults.pop_front();
    if let Some(StripeFault::Refuse(status)) = fault {
        return refused(status, "api_error");
    }
    while fault == Some(StripeFault::Hold) && !desk.is_released {
        desk = released.wait(desk).unwrap();
    }
    let key = received.headers["idempotency-key"].clone();
    let number = desk.sessions.len();
    let session = desk.sessions.entry(key).or_insert_with(|| new_session(number, &received.form)).clone();
    if fault == Some(StripeFault::DropResponse) { (0, String::new()) } else { (200, session.to_string()) }
}

fn new_session(number: usize, form: &BTreeMap<String, String>) -> Value {
    let of = |name: &str| form.get(name).cloned();
    let amount: u64 = of("line_items[0][price_data][unit_amount]").unwrap().parse().unwrap();
    json!({
        "id": format!("cs_test_{number}"), "object": "checkout.session", "number": number, "mode": of("mode"),
        "url": format!("https://checkout.example/c/pay/cs_test_{number}"), "status": "open", "payment_status": "unpaid",
        "payment_intent": null, "amount_total": amount, "currency": of("line_items[0][price_data][currency]"),
        "client_reference_id": of("client_reference_id"), "customer_details": { "email": "jane.roe@example.org" },
        "metadata": { "hornbook_checkout": of("metadata[hornbook_checkout]") },
    })
}
