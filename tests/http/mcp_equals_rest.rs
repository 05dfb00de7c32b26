//! REST and MCP compared: the same calls have the same answers, costs, limits and refusals over both protocols.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};

use hornbook::api::operation::Operation;
use hornbook::mcp::MCP_PATH;
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::ledger::entry::EntryKind;
use hornbook_accounts::scope::Scope;
use serde_json::{Value, json};

use crate::mcp::{arguments, as_rest, call, open, open_as, tools};
use crate::operations::{UNKNOWN_NODE_ID, ask, valid_path};
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff, wait_until};

/// The headers with the cost of a call and the remaining credits and limits.
const USAGE_HEADERS: [&str; 8] = [
    "x-credits-remaining",
    "x-research-allotment-remaining",
    "x-credits-cost",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "ratelimit-policy",
    "idempotency-replayed",
    "x-corpus-snapshot",
];

/// The tools whose operation is also available over REST.
fn tools_with_rest_route() -> impl Iterator<Item = (&'static Operation, &'static str)> {
    tools().filter(|(operation, _)| operation.route.is_some())
}

fn figures(answered: &TestResponse) -> Vec<&str> {
    USAGE_HEADERS.iter().map(|name| answered.header(name)).collect()
}

/// The JSON of an answer without the members that differ between calls: the time it took, what it
/// created, and whether its own debit is in the ledger yet.
fn without_varying_members(mut body: Value) -> Value {
    if let Some(members) = body.as_object_mut() {
        for name in ["tookMs", "reviewUrl", "handoffId", "expiresAt", "ledger"] {
            members.remove(name);
        }
    }
    body
}

pub(crate) fn structured(answered: &TestResponse) -> Value {
    answered.json()["result"]["structuredContent"].clone()
}

#[test]
fn rest_and_mcp_answers_and_costs_are_equal() {
    let server = open();
    for (operation, tool) in tools_with_rest_route() {
        let by_rest = ask(&server, operation, &valid_path(&server, operation), Some(&server.create_full_key()));
        let given = as_rest(operation, arguments(operation));
        let by_tool = call(&server, tool, given, Some(&server.create_full_key()));
        assert_eq!((by_rest.status, by_tool.status), (200, 200), "{tool}: {}", by_tool.text());
        assert_eq!(figures(&by_rest), figures(&by_tool), "{tool}");
        assert_eq!(without_varying_members(by_rest.json()), without_varying_members(structured(&by_tool)), "{tool}");
    }
}

#[test]
fn rest_and_mcp_refusals_are_equal() {
    let server = open();
    let same = |by_rest: TestResponse, by_tool: TestResponse, what: &str| {
        assert!(by_rest.status >= 400, "{what}");
        let object = match by_tool.status {
            401 => by_tool.json()["error"]["data"].clone(),
            _ => structured(&by_tool),
        };
        assert_eq!(by_rest.json()["error"], object["error"], "{what}");
        assert_eq!(by_rest.json()["message"], object["message"], "{what}");
        assert_eq!(figures(&by_rest)[..7], figures(&by_tool)[..7], "{what}");
        assert_eq!(by_rest.header("retry-after"), by_tool.header("retry-after"), "{what}");
    };
    for (operation, tool) in tools_with_rest_route() {
        let path = valid_path(&server, operation);
        let given = || arguments(operation);
        same(ask(&server, operation, &path, None), call(&server, tool, given(), None), tool);
        same(
            ask(&server, operation, &path, Some("hb_live_no")),
            call(&server, tool, given(), Some("hb_live_no")),
            tool,
        );
        let needed = operation.metering().unwrap().any_of;
        if let Some(other) = Scope::ALL.into_iter().find(|scope| !needed.to_string().contains(scope.name())) {
            let key = || server.create_key(server.create_account(0), &[other]);
            same(ask(&server, operation, &path, Some(&key())), call(&server, tool, given(), Some(&key())), tool);
        }
    }
    let unknown = format!("/api/v1/node/{UNKNOWN_NODE_ID}");
    let by_tool = call(&server, "law.get_node", json!({ "id": UNKNOWN_NODE_ID }), Some(&server.create_full_key()));
    same(server.get(&unknown, &server.create_full_key()), by_tool, "an id that nothing has");
    let by_tool =
        call(&server, "law.search", json!({ "q": "a", "page": 101, "limit": 100 }), Some(&server.create_full_key()));
    same(server.get("/api/v1/search?q=a&page=101&limit=100", &server.create_full_key()), by_tool, "a page too far");
}

#[test]
fn rest_and_mcp_share_credits_and_limits() {
    let mut tariff = generous_tariff();
    tariff.free.monthly_units = 0;
    let server = open_as(TestServerOptions::default_for(tariff));
    let key = server.create_key(server.create_account(2), &Scope::ALL);
    assert_eq!(server.get("/api/v1/search?q=a", &key).header_number("x-credits-remaining"), 1);
    assert_eq!(call(&server, "law.search", json!({ "q": "a" }), Some(&key)).header_number("x-credits-remaining"), 0);
    server.get("/api/v1/search?q=a", &key).expect_error(402, "insufficient_credits");
    let refused = structured(&call(&server, "law.search", json!({ "q": "a" }), Some(&key)));
    assert_eq!(refused["error"], "insufficient_credits");
    let mut tariff = generous_tariff();
    tariff.free.limits.per_minute = 2;
    let server = open_as(TestServerOptions::default_for(tariff));
    let key = server.create_full_key();
    assert_eq!(server.get("/api/v1/search?q=a", &key).header_number("x-ratelimit-remaining"), 1);
    assert_eq!(call(&server, "law.search", json!({ "q": "a" }), Some(&key)).header_number("x-ratelimit-remaining"), 0);
    server.get("/api/v1/search?q=a", &key).expect_error(429, "rate_limited");
    assert_eq!(structured(&call(&server, "law.search", json!({ "q": "a" }), Some(&key)))["error"], "rate_limited");
}

#[test]
fn an_idempotency_key_is_charged_once_across_rest_and_mcp() {
    let server = open();
    let key = server.create_full_key();
    let bearer = format!("Bearer {key}");
    let first =
        server.get_with("/api/v1/search?q=a&limit=8", &[("Authorization", &bearer), ("Idempotency-Key", "retry-1")]);
    assert_eq!(first.header_number("x-credits-cost"), 1);
    let params = json!({
        "name": "law.search", "arguments": { "q": "a" }, "_meta": { "hornbook/idempotencyKey": "retry-1" },
    });
    let again = crate::mcp::ask(&server, "2026-07-28", "tools/call", params, Some(&key));
    assert_eq!((again.header_number("x-credits-cost"), again.header("idempotency-replayed")), (0, "true"));
    let params = json!({
        "name": "law.search", "arguments": { "q": "b" }, "_meta": { "hornbook/idempotencyKey": "retry-1" },
    });
    let other = crate::mcp::ask(&server, "2026-07-28", "tools/call", params, Some(&key));
    assert_eq!(structured(&other)["error"], "validation_error");
}

/// Concurrent callers over both protocols, some of whom disconnect before the answer. Every
/// answered call is charged once, and each abandoned call at most once.
#[test]
fn concurrent_rest_and_mcp_calls_are_charged_once_even_after_disconnects() {
    const CALLERS: u64 = 8;
    const CALLS: u64 = 12;
    let server = open();
    let account = server.create_account(0);
    let (paid, left) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|threads| {
        for caller in 0..CALLERS {
            let (server, paid, left) = (&server, &paid, &left);
            threads.spawn(move || {
                let key = server.create_key(account, &Scope::ALL);
                for turn in 0..CALLS {
                    match (caller + turn) % 4 {
                        0 => paid.fetch_add(
                            server.get("/api/v1/search?q=deposit", &key).header_number("x-credits-cost"),
                            Ordering::Relaxed,
                        ),
                        1 | 2 => {
                            let answered = call(server, "law.search", json!({ "q": "deposit" }), Some(&key));
                            paid.fetch_add(answered.header_number("x-credits-cost"), Ordering::Relaxed)
                        }
                        _ => {
                            send_and_disconnect(server, &key);
                            left.fetch_add(1, Ordering::Relaxed)
                        }
                    };
                }
            });
        }
    });
    let (paid, left) = (paid.into_inner(), left.into_inner());
    let held = || charged(&server, account);
    wait_until("the last debit", || held() >= paid && server.service.waiting() == 0);
    assert!((paid..=paid + left).contains(&held()), "{} charged, {paid} answered, {left} hung up", held());
    let entries = server.accounts.recent_entries(account, 1000).unwrap();
    wait_until("every debit in the ledger", || {
        server
            .accounts
            .recent_entries(account, 1000)
            .unwrap()
            .iter()
            .filter(|entry| entry.kind == EntryKind::Usage)
            .count() as u64
            == held()
    });
    assert!(entries.iter().all(|entry| entry.kind == EntryKind::Usage), "nothing was given back");
}

fn charged(server: &TestServer, account: AccountId) -> u64 {
    let remaining = server.accounts.account(account, server.clock.now()).unwrap().remaining;
    50_000 - u64::from(remaining.allotment)
}

/// Sends a call and closes the connection without reading.
fn send_and_disconnect(server: &TestServer, key: &str) {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "search_law", "arguments": { "q": "deposit" } },
    })
    .to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST {MCP_PATH} HTTP/1.1\r\nHost: law.example\r\nContent-Type: application/json\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
}
