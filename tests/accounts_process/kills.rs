//! Servers that are killed: at their first start, under load, and while a form is sent.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hornbook_accounts::entropy::SeededEntropy;
use serde_json::Value;

use crate::fixture::{CALLERS, Client, ProcessFixture, mcp_call, rest_call};

const FIRST_BOOT_KILLS: u64 = 300;

/// How a caller makes its calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CallKind {
    Rest,
    Agent,
    /// A search on a page by a signed-in person.
    Page,
    RestWithRetries,
    AgentWithRetries,
    /// A batch of two calls.
    AgentBatchWithRetries,
}

const CALL_KINDS: [CallKind; 6] = [
    CallKind::Rest,
    CallKind::Agent,
    CallKind::Page,
    CallKind::RestWithRetries,
    CallKind::AgentWithRetries,
    CallKind::AgentBatchWithRetries,
];

impl CallKind {
    /// The account that pays.
    fn account(self) -> usize {
        match self {
            Self::Rest => 0,
            Self::Agent => 1,
            Self::Page => 2,
            Self::RestWithRetries | Self::AgentWithRetries | Self::AgentBatchWithRetries => RETRYING_ACCOUNT,
        }
    }

    fn retries(self) -> bool {
        self.account() == RETRYING_ACCOUNT
    }

    /// The cost of one request in credits.
    fn cost(self) -> u64 {
        if self == Self::AgentBatchWithRetries { 2 } else { 1 }
    }

    /// `secret` is a key, or a session cookie.
    fn request(self, secret: &str, name: &str) -> String {
        match self {
            Self::Rest => rest_call(secret, None),
            Self::RestWithRetries => rest_call(secret, Some(name)),
            Self::Agent => mcp_call(secret, None, 1),
            Self::AgentWithRetries => mcp_call(secret, Some(name), 1),
            Self::AgentBatchWithRetries => mcp_call(secret, Some(name), 2),
            Self::Page => format!("GET /?q=deposit HTTP/1.1\r\nHost: localhost\r\nCookie: {secret}\r\n\r\n"),
        }
    }

    /// Whether a response with status 200 is a success. Errors of agents' calls are in responses
    /// with status 200 too.
    fn is_success(self, body: &[u8]) -> bool {
        let text = String::from_utf8_lossy(body);
        match self {
            Self::Rest | Self::RestWithRetries => true,
            Self::Page => text.contains("<mark>"),
            Self::Agent | Self::AgentWithRetries | Self::AgentBatchWithRetries => {
                let failed = ["\"isError\":true", "\"error\":{"].iter().any(|mark| text.contains(mark));
                !failed
            }
        }
    }
}

/// The account of callers who repeat each call until it is answered.
const RETRYING_ACCOUNT: usize = 3;
const ACCOUNTS: usize = 4;

/// State shared by all callers and the test that kills the server.
#[derive(Default)]
struct SharedLoad {
    /// The address of the server while it runs.
    address: Mutex<Option<String>>,
    /// The total cost of the calls of each account: of those sent, and of those answered.
    sent: [AtomicU64; ACCOUNTS],
    answered: [AtomicU64; ACCOUNTS],
    ending: AtomicBool,
}

impl SharedLoad {
    /// Calls repeatedly and reconnects when the server is dead. With retries, every call is
    /// repeated with its idempotency key until it is answered. Without, a call that got no answer
    /// is given up.
    fn call(&self, secret: &str, caller: usize, way: CallKind) {
        let account = way.account();
        let mut client: Option<Client> = None;
        let mut number = 0;
        while !self.ending.load(Ordering::Relaxed) {
            number += 1;
            let name = format!("{caller}-{number}");
            let request = way.request(secret, &name);
            self.sent[account].fetch_add(way.cost(), Ordering::Relaxed);
            loop {
                let Some(open) = &mut client else {
                    let address = self.address.lock().unwrap().clone();
                    client = address.and_then(|address| Client::connect(&address).ok());
                    std::thread::yield_now();
                    continue;
                };
                match open.exchange(&request) {
                    Ok((200, body)) if way.is_success(&body) => {
                        self.answered[account].fetch_add(way.cost(), Ordering::Relaxed);
                        break;
                    }
                    // The first copy is still in progress, or the server is overloaded.
                    Ok((503, _)) => {}
                    Ok((200, _))
                        if matches!(
                            way,
                            CallKind::Agent | CallKind::AgentWithRetries | CallKind::AgentBatchWithRetries
                        ) => {}
                    Ok((status, body)) => {
                        panic!("{way:?} {name} was answered with {status}: {}", String::from_utf8_lossy(&body))
                    }
                    Err(_) => {
                        client = None;
                        if !way.retries() {
                            break;
                        }
                    }
                }
            }
        }
    }

    fn total_answered(&self) -> u64 {
        self.answered.iter().map(|answered| answered.load(Ordering::Relaxed)).sum()
    }
}

const CREDITS: u64 = 100_000_000;

#[test]
#[expect(clippy::disallowed_methods, reason = "the caller chooses how long to test")]
fn killed_under_load_every_answered_call_is_charged_exactly_once() {
    let kills: u64 = std::env::var("HORNBOOK_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let place = ProcessFixture::new();
    let data = place.path("data");
    let mut secrets = [(); ACCOUNTS].map(|()| place.customer(&data, &CREDITS.to_string()));
    place.build(&data);
    secrets[CallKind::Page.account()] = place.signed_in(&data, "acct-3");
    let load = SharedLoad::default();
    let mut random = SeededEntropy(kills);
    std::thread::scope(|scope| {
        let call = |caller: usize| {
            let (load, way) = (&load, CALL_KINDS[caller % CALL_KINDS.len()]);
            let secret = &secrets[way.account()];
            scope.spawn(move || load.call(secret, caller, way))
        };
        let mut callers: Vec<_> = (0..CALLERS).map(call).collect();
        for kill in 0..=kills {
            let server = place.serve(&data);
            *load.address.lock().unwrap() = Some(server.address.clone());
            // Sometimes the server is killed before the first answer.
            let wanted = if kill % 8 == 7 { 0 } else { random.below(300) };
            let before = load.total_answered();
            while load.total_answered() < before + wanted {
                std::thread::yield_now();
            }
            if kill == kills {
                load.ending.store(true, Ordering::Relaxed);
                // The callers finish before the server stops.
                callers.drain(..).for_each(|caller| caller.join().unwrap());
                server.stop();
            } else {
                std::thread::sleep(Duration::from_micros(random.below(4000)));
                *load.address.lock().unwrap() = None;
                drop(server);
            }
        }
    });
    let charged = ["acct-1", "acct-2", "acct-3", "acct-4"].map(|account| CREDITS - place.credits_left(&data, account));
    let sent = load.sent.map(AtomicU64::into_inner);
    let answered = load.answered.map(AtomicU64::into_inner);
    println!(
        "{kills} kills; by REST, agents, pages, and with retries: {sent:?} sent, {answered:?} answered, {charged:?} charged"
    );
    for account in 0..RETRYING_ACCOUNT {
        let (sent, answered, charged) = (sent[account], answered[account], charged[account]);
        assert!(answered <= charged && charged <= sent, "an answered call was not charged, or one twice");
        assert!(answered > 0, "nothing was answered");
    }
    let (sent, answered) = (sent[RETRYING_ACCOUNT], answered[RETRYING_ACCOUNT]);
    assert_eq!(
        (answered, charged[RETRYING_ACCOUNT]),
        (sent, sent),
        "with retries each call is answered and charged once"
    );
    assert_eq!(place.json(&data, &["ledger", "verify"])["books"]["spent"], charged.iter().sum::<u64>());
}

#[test]
fn a_server_killed_at_first_start_starts_again() {
    let place = ProcessFixture::new();
    let mut random = SeededEntropy(11);
    let mut unfinished = 0;
    for round in 0..FIRST_BOOT_KILLS {
        let data = place.path(&format!("data-{round}"));
        let mut child =
            place.command(&data).args(["account", "create", "First"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(25_000)));
        child.kill().unwrap();
        unfinished += u64::from(!child.wait().unwrap().success());
        place.json(&data, &["account", "list"]);
        std::fs::remove_dir_all(&data).unwrap();
    }
    assert!(unfinished > 0, "no kill came in time");
    println!("{unfinished} of {FIRST_BOOT_KILLS} were killed before they had finished");
}

const ORDER_KILLS: u64 = 10;

const INTAKE: &str = r#"{"state": "DE", "entityType": "llc", "names": ["Elm Street Tools LLC"],
    "people": [{"name": "Ada Example", "roles": ["organizer", "member"], "address": {"street": "12 Elm Street", "city": "Dover", "state": "DE", "zip": "19901"}}],
    "registeredAgent": {"name": "Example Agents Inc.", "address": {"street": "1 Main Street", "city": "Wilmington", "state": "DE", "zip": "19801"}},
    "contact": {"name": "Ada Example", "email": "ada@example.com"}}"#;

/// The whole response to a POST, or an error if the server ended before.
fn post(address: &str, path: &str, key: Option<&str>, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{key}Content-Length: {length}\r\n\r\n");
    stream.write_all((head + body).as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

/// The order id and the tracking token on a page.
fn order_id_and_token(page: &str) -> Option<(String, String)> {
    let mut codes = page.split("<code>").skip(1).filter_map(|rest| rest.split_once("</code>"));
    let (id, token) = (codes.next()?.0, codes.next()?.0);
    page.contains("</html>").then(|| (id.to_owned(), token.to_owned()))
}

#[test]
fn a_form_sent_during_a_kill_creates_one_order() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    let key = place.customer(&data, "1");
    place.build(&data);
    let mut server = place.serve(&data);
    let mut answered = 0;
    for kill in 0..ORDER_KILLS {
        let handed_over = post(&server.address, "/api/v1/formation/handoff", Some(&key), INTAKE).unwrap();
        let (_, token) = handed_over.split_once("/formation/review/").unwrap_or_else(|| panic!("{handed_over}"));
        let path = format!("/formation/review/{}", &token[..32]);
        let (address, sent_to) = (server.address.clone(), path.clone());
        let form = std::thread::spawn(move || post(&address, &sent_to, None, "confirmed=yes"));
        std::thread::sleep(Duration::from_millis(kill * 3));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let first = form.join().unwrap().ok().and_then(|page| order_id_and_token(&page));
        answered += usize::from(first.is_some());
        server = place.serve(&data);
        let second = post(&server.address, &path, None, "confirmed=yes").unwrap();
        let second = order_id_and_token(&second).unwrap_or_else(|| panic!("{second}"));
        assert!(first.is_none_or(|first| first == second), "the second answer differs from the first");
        let orders = place.json(&data, &["order", "list"]);
        assert_eq!(orders.as_array().unwrap().len() as u64, kill + 1);
        let order = place.json(&data, &["--actor", "jane", "order", "confirm-payment", &second.0]);
        assert_eq!(order["state"], "setup");
    }
    assert!(answered < ORDER_KILLS as usize, "no kill came before an answer");
    let orders = place.json(&data, &["order", "list"]);
    let id = orders[0]["id"].as_str().unwrap();
    let order = place.json(&data, &["order", "show", id]);
    let moves: Vec<_> =
        order["moves"].as_array().unwrap().iter().map(|moved| (&moved["stage"], &moved["actor"])).collect();
    let (page, jane) = (Value::from("review page"), Value::from("jane"));
    let stages = ["details", "payment", "setup"].map(Value::from);
    assert_eq!(moves, [(&stages[0], &page), (&stages[1], &page), (&stages[2], &jane)]);
    assert!(!order.to_string().contains("Ada Example"));
    let intake = &place.json(&data, &["order", "show", id, "--intake"])["intake"];
    assert_eq!(intake["people"][0]["name"], "Ada Example");
    let newest = place.json(&data, &["audit", "--count", "1"])[0]["act"].clone();
    assert_eq!(newest, "order show --intake");
}
