//! REST and MCP calls on one account at the same time, while the server is killed repeatedly:
//! answered calls are charged once, and a retry may use the other protocol.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hornbook_accounts::entropy::SeededEntropy;
use serde_json::{Value, json};

use crate::serving::ServeProcess;
use crate::{hornbook, sample_plan, stderr};

const CALLERS: usize = 8;
const KILLS: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallProtocol {
    Rest,
    Mcp,
}

impl CallProtocol {
    fn switched(self) -> Self {
        match self {
            Self::Rest => Self::Mcp,
            Self::Mcp => Self::Rest,
        }
    }
}

/// The same call in either protocol. The number of results is stated, because the defaults differ.
fn request(way: CallProtocol, key: &str, retry: Option<&str>) -> String {
    let head = |line: &str| {
        format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n")
    };
    if way == CallProtocol::Rest {
        let retry = retry.map(|name| format!("Idempotency-Key: {name}\r\n")).unwrap_or_default();
        return format!("{}{retry}\r\n", head("GET /api/v1/search?q=deposit&limit=8"));
    }
    let mut params = json!({ "name": "law.search", "arguments": { "q": "deposit", "limit": 8 } });
    if let Some(name) = retry {
        params["_meta"] = json!({ "hornbook/idempotencyKey": name });
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let head = head("POST /api/mcp");
    format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The status and the JSON body; an error if the response is incomplete.
fn exchange(address: &str, request: &str) -> std::io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let torn = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(torn)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(torn)?;
    Ok((status, serde_json::from_str(body).map_err(|_| torn())?))
}

/// Returns true for an answer with results, and false if the call must be retried.
fn call(address: &str, way: CallProtocol, key: &str, retry: Option<&str>) -> std::io::Result<bool> {
    let (status, body) = exchange(address, &request(way, key, retry))?;
    let answer = match way {
        CallProtocol::Rest => body,
        CallProtocol::Mcp => body["result"].clone(),
    };
    match answer["error"].as_str().or_else(|| answer["structuredContent"]["error"].as_str()) {
        None if status == 200 && (answer["results"].is_array() || answer["isError"] == false) => Ok(true),
        Some("overloaded" | "ledger_unavailable") => Ok(false),
        other => panic!("answered with {status} {other:?}: {answer}"),
    }
}

/// State shared by the callers and the test that kills the server.
#[derive(Default)]
struct Load {
    address: Mutex<Option<String>>,
    /// Totals without retries, then with them.
    sent: [AtomicU64; 2],
    answered: [AtomicU64; 2],
    by_way: [AtomicU64; 2],
    ending: AtomicBool,
    /// A caller panicked: the others stop at once, also between retries.
    has_failed: AtomicBool,
}

impl Load {
    fn run(&self, caller: usize, key: &str, retries: bool) {
        let kind = usize::from(retries);
        let mut way = if caller % 4 < 2 { CallProtocol::Rest } else { CallProtocol::Mcp };
        for number in 0.. {
            if self.ending.load(Ordering::Relaxed) {
                return;
            }
            let name = format!("{caller}-{number}");
            self.sent[kind].fetch_add(1, Ordering::Relaxed);
            loop {
                if self.has_failed.load(Ordering::Relaxed) {
                    return;
                }
                let Some(address) = self.address.lock().unwrap().clone() else {
                    std::thread::yield_now();
                    continue;
                };
                match call(&address, way, key, retries.then_some(&*name)) {
                    Ok(true) => {
                        self.answered[kind].fetch_add(1, Ordering::Relaxed);
                        self.by_way[usize::from(way == CallProtocol::Mcp)].fetch_add(1, Ordering::Relaxed);
                        break;
                    }
                    Err(_) if !retries => break,
                    // The retry uses the other protocol.
                    Ok(false) | Err(_) => way = way.switched(),
                }
            }
            way = way.switched();
        }
    }

    fn total_answered(&self) -> u64 {
        self.answered.iter().map(|answered| answered.load(Ordering::Relaxed)).sum()
    }
}

fn command(data: &Path, words: &[&str]) -> Value {
    let output = hornbook().args(["--json", "--data"]).arg(data).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

const CREDITS: u64 = 1_000_000;

const SETTINGS: [&str; 4] =
    ["free.per_minute=4000000000", "free.per_day=4000000000", "free.monthly_units=0", "mcp.free_per_minute=0"];

#[test]
fn rest_and_mcp_calls_to_a_killed_server_are_charged_once() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    command(&data, &["account", "create", "Test", "--approve"]);
    command(&data, &["ledger", "adjust", "Test", &CREDITS.to_string(), "--reason", "test"]);
    let before = command(&data, &["account", "show", "Test"])["creditsRemaining"].as_u64().unwrap();
    let keys = [(); 2].map(|()| command(&data, &["key", "create", "Test"])["key"].as_str().unwrap().to_owned());
    let built = hornbook().arg("--data").arg(&data).args(["build", "--quiet"]).arg(sample_plan()).output().unwrap();
    assert!(built.status.success(), "{}", stderr(&built));

    let load = Load::default();
    let mut random = SeededEntropy(KILLS);
    std::thread::scope(|threads| {
        let start = |caller: usize| {
            let (load, keys) = (&load, &keys);
            threads.spawn(move || load.run(caller, &keys[caller % 2], caller % 2 == 1))
        };
        let mut callers: Vec<_> = (0..CALLERS).map(start).collect();
        for kill in 0..=KILLS {
            let mut server = ServeProcess::start(&data, &SETTINGS);
            *load.address.lock().unwrap() = Some(server.address.clone());
            let wanted = load.total_answered() + 20 + random.below(60);
            while load.total_answered() < wanted {
                load.has_failed
                    .store(callers.iter().any(std::thread::ScopedJoinHandle::is_finished), Ordering::Relaxed);
                assert!(!load.has_failed.load(Ordering::Relaxed), "a caller got an unexpected answer");
                std::thread::sleep(Duration::from_millis(1));
            }
            if kill == KILLS {
                load.ending.store(true, Ordering::Relaxed);
                callers.drain(..).for_each(|caller| caller.join().unwrap());
                assert_eq!(server.stop(), Some(0));
            } else {
                *load.address.lock().unwrap() = None;
                server.kill();
            }
        }
    });

    let [sent, answered, by_way] = [load.sent, load.answered, load.by_way].map(|both| both.map(AtomicU64::into_inner));
    let total = sent.iter().sum::<u64>() + 100;
    let entries = command(&data, &["ledger", "show", "Test", "--count", &total.to_string()]);
    let mut charged = BTreeMap::new();
    for entry in entries.as_array().unwrap().iter().filter(|entry| entry["kind"] == "usage") {
        assert_eq!(entry["credits"], -1, "nothing was given back: {entry}");
        *charged.entry(entry["keyPrefix"].as_str().unwrap()).or_insert(0) += 1;
    }
    let charged = keys.each_ref().map(|key| charged[&key[..12]]);
    println!("{sent:?} sent, {answered:?} answered, {charged:?} charged, {by_way:?} answered by REST and by MCP");
    assert!(answered[0] <= charged[0] && charged[0] <= sent[0], "without retries");
    assert_eq!((answered[1], charged[1]), (sent[1], sent[1]), "with retries each call is answered and charged once");
    assert!(by_way.iter().all(|answered| *answered > 50), "both ways were used");
    let left = command(&data, &["account", "show", "Test"])["creditsRemaining"].as_u64().unwrap();
    assert_eq!(before - left, charged[0] + charged[1]);
    assert_eq!(command(&data, &["ledger", "verify"])["books"]["spent"], charged[0] + charged[1]);
}
