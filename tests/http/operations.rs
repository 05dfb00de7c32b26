//! Checks all operations over a real socket: the rules that every operation must follow. An
//! operation without a valid path here fails the tests.

use std::sync::LazyLock;

use hornbook::api::operation::{Cost, Metering, Operation};
use hornbook::api::operations::OPERATIONS;
use hornbook::api::parameters::{Location, Need, ParameterKind};
use hornbook_accounts::changes::{NewChildKey, NewOrder};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::ids::{KeyId, WatchId};
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::watches::WatchSubject;
use serde_json::json;

use crate::sample::ENGINE;
use crate::test_server::{TestResponse, TestServer, generous_tariff};

pub(crate) const UNKNOWN_NODE_ID: &str = "6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e";

pub(crate) static NODE: LazyLock<String> = LazyLock::new(|| {
    let answers = ENGINE.resolve("Arden Rev. Stat. § 12-2-104").unwrap();
    answers[0].node_id.unwrap().to_string()
});

fn path_of(operation: &Operation) -> &'static str {
    operation.route.unwrap().path
}

/// A path that is answered with 200.
pub(crate) fn valid_path(server: &TestServer, operation: &Operation) -> String {
    let path = path_of(operation);
    match operation.name {
        "search" | "suggest" => format!("{path}?q=security%20deposit"),
        "node" => path.replace("{id}", &NODE),
        "references" | "history" | "diff" => path.replace("{id}", &NODE),
        "nodes" => format!("{path}?ids={}", *NODE),
        "resolve" => format!("{path}?citation=3%20S.F.C.%20%C2%A7%20823"),
        "verify" => format!("{path}?citation=3%20S.F.C.%20%C2%A7%20823&quote=of%20the%20Board"),
        "browse" => format!("{path}?codeBodyId={}", ENGINE.snapshot().catalogue.code_bodies[0].id),
        "gis" => path.replace("{shortCode}", "XA-PORT-ARDEN"),
        "gis-zones" => path.replace("{shortCode}", "XA-PORT-ARDEN"),
        "gis-tile" => {
            format!("{}/15/5078/11908", path.replace("/{z}/{x}/{y}", "").replace("{shortCode}", "XA-PORT-ARDEN"))
        }
        "gis-at" => format!("{}?lat=44.054&lon=-124.217", path.replace("{shortCode}", "XA-PORT-ARDEN")),
        "formation-lookup-naics" => format!("{path}?q=dog%20grooming%20van"),
        "formation-requirements" => format!("{path}?state=VA&entityType=llc"),
        "formation-status" => order_status_path(server, path),
        "code-bodies" | "changes" | "coverage" | "me" | "checkout" | "purchase" | "formation-handoff" | "keys"
        | "key-create" | "check" | "key-revoke" | "watches" | "watch-create" | "watch-remove" | "watch-changes"
        | "watch-webhook" => path.to_owned(),
        other => panic!("the operation {other} needs an address here"),
    }
}

pub(crate) fn order_status_path(server: &TestServer, path: &str) -> String {
    let wish = NewOrder {
        account: server.create_account(0),
        entity_name: "Arden Ferries LLC".to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "DE".to_owned(),
    };
    let (order, token) = server.accounts.create_order(wish, &server.test_act(), &mut SystemEntropy).unwrap();
    format!("{}?token={token}", path.replace("{orderId}", &order.id.to_string()))
}

/// The operations with a route. Those that only agents can call are tested in `mcp`.
pub(crate) fn routed_operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(|operation| operation.route.is_some())
}

/// Calls an operation at a path, with its example body if it takes one.
pub(crate) fn ask(server: &TestServer, operation: &Operation, path: &str, key: Option<&str>) -> TestResponse {
    let body = operation.body.map(|body| match (operation.name, key) {
        ("key-revoke", Some(key)) => json!({ "id": key_created_by(server, key) }).to_string(),
        ("watch-remove", Some(key)) => json!({ "id": watch_of(server, key) }).to_string(),
        _ => body.example.to_owned(),
    });
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    let (method, body) = match body {
        None => ("GET", String::new()),
        Some(body) => ("POST", format!("Content-Length: {}\r\n\r\n{body}", body.len())),
    };
    let body = if body.is_empty() { "\r\n".to_owned() } else { body };
    server.send_raw(&format!("{method} {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n{key}{body}"))
}

/// The id of a new key that a key creates; that of another key if it is no key.
fn key_created_by(server: &TestServer, key: &str) -> KeyId {
    let keys = server.accounts.keys(None);
    let Some(creator) = keys.iter().find(|known| key.starts_with(&known.record.prefix)) else { return KeyId(1) };
    let wish = NewChildKey { name: "below".to_owned(), ..NewChildKey::default() };
    let created = server.accounts.create_child_key(creator.record.id, wish, &server.test_act(), &mut SystemEntropy);
    created.unwrap().record.id
}

/// The id of a watch that a key has; that of another key if it is no key.
fn watch_of(server: &TestServer, key: &str) -> WatchId {
    let keys = server.accounts.keys(None);
    let Some(owner) = keys.iter().find(|known| key.starts_with(&known.record.prefix)) else { return WatchId(1) };
    let subject = WatchSubject::Citation("3 S.F.C. § 823".to_owned());
    server.accounts.add_watch(owner.record.id, subject, None, server.test_act().at).unwrap().0.id
}

fn metered() -> impl Iterator<Item = (&'static Operation, ScopeSet, Cost)> {
    routed_operations().filter_map(|operation| {
        let Metering { any_of, cost } = operation.metering()?;
        Some((operation, any_of, cost))
    })
}

fn ok(answered: TestResponse, what: &str) -> TestResponse {
    assert_eq!(answered.status, 200, "{what}: {}", answered.text());
    answered
}

#[test]
fn metered_responses_have_cost_and_balance_headers() {
    let server = TestServer::start(generous_tariff());
    for (operation, _, cost) in metered() {
        let key = server.create_full_key();
        let answered = ok(ask(&server, operation, &valid_path(&server, operation), Some(&key)), operation.name);
        let credits = u64::from(cost.credits);
        assert_eq!(answered.header_number("x-credits-remaining"), 0);
        assert_eq!(answered.header_number("x-research-allotment-remaining"), 50_000 - credits, "{}", operation.name);
        assert_eq!(answered.header_number("x-credits-cost"), credits);
        assert_eq!(answered.header_number("x-ratelimit-limit"), 100_000);
        assert_eq!(answered.header_number("x-ratelimit-remaining"), 99_999);
        assert!(answered.header_number("x-ratelimit-reset") <= 60);
        assert!(answered.header("ratelimit").contains("\"minute\";r=99999"));
        assert!(answered.header("ratelimit-policy").contains("q=100000;w=60"));
        assert_eq!(answered.header("content-type"), "application/json");
        assert_eq!(answered.header("cache-control"), "private, no-cache");
        assert_eq!(answered.header("x-corpus-snapshot"), ENGINE.snapshot().manifest.snapshot);
        assert!(answered.header("vary").contains("Authorization"));
        assert!(!answered.header("x-request-id").is_empty());
        assert!(answered.json().is_object(), "{}", operation.name);
    }
}

#[test]
fn without_a_good_key_there_is_a_401_and_what_is_open_needs_none() {
    let server = TestServer::start(generous_tariff());
    let mistyped = format!("{}x", server.create_full_key());
    for operation in routed_operations() {
        let path = valid_path(&server, operation);
        let anonymous = ask(&server, operation, &path, None);
        if operation.metering().is_none() {
            ok(anonymous, operation.name);
            continue;
        }
        anonymous.expect_error(401, "invalid_api_key");
        assert!(anonymous.header("www-authenticate").starts_with("Bearer"));
        ask(&server, operation, &path, Some(&mistyped)).expect_error(401, "invalid_api_key");
        let by_query =
            format!("{path}{}api_key={}", if path.contains('?') { '&' } else { '?' }, server.create_full_key());
        ask(&server, operation, &by_query, None).expect_error(401, "invalid_api_key");
    }
}

/// The scopes that allow each operation: first the endpoints of the contract, in its order, then ours.
const SCOPES_OF_OPERATIONS: &[(&str, &[Scope])] = &[
    ("search", &[Scope::Search]),
    ("node", &[Scope::Node]),
    ("code-bodies", &[Scope::Browse]),
    ("browse", &[Scope::Browse]),
    ("gis", &[Scope::Gis]),
    ("coverage", &[Scope::Search, Scope::Node, Scope::Browse, Scope::Gis]),
    ("me", &[Scope::Search, Scope::Node, Scope::Browse, Scope::Gis, Scope::Formation]),
    ("formation-status", &[Scope::Formation]),
    ("formation-requirements", &[Scope::Formation]),
    ("formation-lookup-naics", &[Scope::Formation]),
    ("formation-handoff", &[Scope::Formation]),
    ("references", &[Scope::Node]),
    ("nodes", &[Scope::Node]),
    ("resolve", &[Scope::Node]),
    ("changes", &[Scope::Browse]),
    ("history", &[Scope::Node]),
    ("diff", &[Scope::Node]),
    ("check", &[Scope::Search, Scope::Node]),
    ("verify", &[Scope::Search, Scope::Node]),
    ("suggest", &[Scope::Search]),
    ("gis-at", &[Scope::Gis]),
    ("gis-zones", &[Scope::Gis]),
    ("gis-tile", &[Scope::Gis]),
    ("purchase", &Scope::ALL),
    ("keys", &Scope::ALL),
    ("key-create", &Scope::ALL),
    ("watches", &[Scope::Search, Scope::Node]),
    ("watch-create", &[Scope::Search, Scope::Node]),
    ("watch-remove", &[Scope::Search, Scope::Node]),
    ("watch-changes", &[Scope::Search, Scope::Node]),
    ("watch-webhook", &[Scope::Search, Scope::Node]),
    ("key-revoke", &Scope::ALL),
];

#[test]
fn scopes_allow_exactly_the_operations_of_the_contract() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    assert_eq!(metered().count(), SCOPES_OF_OPERATIONS.len());
    for scope in Scope::ALL {
        let key = server.create_key(account, &[scope]);
        for (name, scopes) in SCOPES_OF_OPERATIONS {
            let (operation, ..) = metered().find(|(operation, ..)| operation.name == *name).unwrap();
            let answered = ask(&server, operation, &valid_path(&server, operation), Some(&key));
            if scopes.contains(&scope) {
                ok(answered, name);
            } else {
                let error = answered.expect_error(403, "insufficient_scope");
                let needed = ScopeSet::of(scopes).to_string();
                assert!(error["message"].as_str().unwrap().contains(&needed), "{error:#}");
            }
        }
    }
}

#[test]
fn without_credits_there_is_a_402_that_says_where_to_buy_some() {
    let mut tariff = generous_tariff();
    tariff.free.monthly_units = 0;
    let server = TestServer::start(tariff);
    for (operation, _, cost) in metered() {
        let account = server.create_account(cost.credits);
        let key = server.create_key(account, &Scope::ALL);
        let path = valid_path(&server, operation);
        assert_eq!(
            ok(ask(&server, operation, &path, Some(&key)), operation.name).header_number("x-credits-remaining"),
            0
        );
        let refused = ask(&server, operation, &path, Some(&key));
        if cost.credits == 0 {
            ok(refused, operation.name);
            continue;
        }
        let error = refused.expect_error(402, "insufficient_credits");
        assert_eq!(error["upgradeUrl"], "https://law.example/api/v1/billing/checkout");
        assert_eq!(refused.header_number("x-ratelimit-limit"), 100_000);
    }
}

#[test]
fn rate_limited_calls_get_retry_after() {
    let mut tariff = generous_tariff();
    tariff.free.limits.per_minute = 1;
    let server = TestServer::start(tariff);
    for (operation, ..) in metered() {
        let (key, path) = (server.create_full_key(), valid_path(&server, operation));
        ok(ask(&server, operation, &path, Some(&key)), operation.name);
        let refused = ask(&server, operation, &path, Some(&key));
        let error = refused.expect_error(429, "rate_limited");
        let wait = error["retryAfterSec"].as_u64().unwrap();
        assert!((1..=60).contains(&wait), "{error:#}");
        assert_eq!(refused.header_number("retry-after"), wait);
        assert_eq!(refused.header_number("x-ratelimit-remaining"), 0);
    }
}

#[test]
fn parameter_rules_are_enforced_for_free() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    for (operation, ..) in metered() {
        let path = valid_path(&server, operation);
        let with = |more: &str| format!("{path}{}{more}", if path.contains('?') { '&' } else { '?' });
        let violated = |path: &str, parameter: &str| {
            let error = ask(&server, operation, path, Some(&key)).expect_error(422, "validation_error");
            let named = error["details"].as_array().unwrap().iter().any(|detail| detail["parameter"] == parameter);
            assert!(named, "{path}: {error:#}");
        };
        violated(&with("surprise=1"), "surprise");
        for parameter in operation.parameters {
            let name = parameter.name;
            let bad = match parameter.kind {
                ParameterKind::Text { .. } => "%20",
                ParameterKind::Uuids { .. } => "1,2",
                _ => "n%20o",
            };
            match parameter.location {
                Location::Query if path.contains(&format!("{name}=")) => {
                    violated(&with(&format!("{name}=again")), name);
                    let (before, value) = path.split_once(&format!("{name}=")).unwrap();
                    let behind = value.split_once('&').map_or("", |(_, behind)| behind);
                    violated(&format!("{before}{name}={bad}&{behind}"), name);
                    if parameter.need == Need::Required {
                        violated(&format!("{before}{behind}"), name);
                    }
                }
                Location::Query => violated(&with(&format!("{name}={bad}")), name),
                Location::Path if parameter.kind == ParameterKind::Uuid => {
                    let path = path_of(operation).replace(&format!("{{{name}}}"), "no-id");
                    let query =
                        valid_path(&server, operation).split_once('?').map_or(String::new(), |(_, q)| q.to_owned());
                    ask(&server, operation, &format!("{path}?{query}"), Some(&key)).expect_error(404, "not_found");
                }
                Location::Path => {
                    // The other placeholders of the path are replaced by a harmless value.
                    let mut path = path_of(operation).replace(&format!("{{{name}}}"), bad);
                    while let Some((before, (_, behind))) =
                        path.split_once('{').map(|(b, r)| (b, r.split_once('}').unwrap()))
                    {
                        path = format!("{before}0{behind}");
                    }
                    violated(&path, name);
                }
            }
        }
    }
    let now = server.clock.now();
    assert_eq!(server.accounts.account(account, now).unwrap().remaining.allotment, 50_000, "nothing was charged");
}

#[test]
fn missing_resources_are_a_free_404() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let order = order_status_path(&server, "/api/v1/formation/status/{orderId}");
    let (known, _) = order.split_once('?').unwrap();
    let wrong_token = server.get(&format!("{known}?token=hb_order_wrong"), &key).expect_error(404, "not_found");
    let unknown =
        server.get(&format!("/api/v1/formation/status/{UNKNOWN_NODE_ID}?token=x"), &key).expect_error(404, "not_found");
    assert_eq!(wrong_token, unknown, "the answers for a wrong token and an unknown order differ");
    for path in [
        format!("/api/v1/node/{UNKNOWN_NODE_ID}"),
        format!("/api/v1/node/{UNKNOWN_NODE_ID}/references"),
        format!("/api/v1/nodes?ids={UNKNOWN_NODE_ID}"),
        "/api/v1/gis/XA-GREYFORD".to_owned(),
        "/api/v1/gis/ZZ-TOP".to_owned(),
        "/api/v1/gis/XA-GREYFORD/at?lat=44&lon=-124".to_owned(),
        "/api/v1/gis/XA-PORT-ARDEN/at?lat=0&lon=0".to_owned(),
    ] {
        server.get(&path, &key).expect_error(404, "not_found");
    }
    let now = server.clock.now();
    assert_eq!(server.accounts.account(account, now).unwrap().remaining.allotment, 50_000);
    let entries = server.accounts.recent_entries(account, 9).unwrap();
    assert!(entries.is_empty(), "nothing was charged and given back either: {entries:?}");
}
