//! Callers who send `X-Corpus-Snapshot` back: each answer is from the snapshot that they name, or a free refusal.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hornbook::api::integrity::IntegrityMonitor;
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::scope::Scope;
use hornbook_base::clock::{Clock, ManualClock, SystemClock};
use serde_json::{Value, json};

use crate::editions::{TwoEditions, node_of};
use crate::mcp::{post, with_mcp};
use crate::pages::page_mounts;
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff, wait_until};

/// How long the snapshot before a swap stays open.
const DRAIN_MILLIS: u64 = 600_000;

/// A snapshot that no server has.
const UNKNOWN: &str = "0123456789abcdef0123456789abcdef";

/// A server of two editions, with a caller.
struct Pinning {
    editions: TwoEditions,
    server: TestServer,
    clock: Arc<ManualClock>,
    account: AccountId,
    key: String,
}

impl Pinning {
    /// Serves the older edition.
    fn start() -> Self {
        let clock = Arc::new(ManualClock::at(SystemClock::start().now().wall));
        let of_server: Arc<ManualClock> = Arc::clone(&clock);
        let options = TestServerOptions {
            clock: of_server,
            mounts: |service| {
                [with_mcp(service), page_mounts(service, 1_000, 1_000, true)].into_iter().flatten().collect()
            },
            ..TestServerOptions::default_for(generous_tariff())
        };
        let server = TestServer::start_with_options(options, |_| ());
        let editions = TwoEditions::build();
        editions.serve_only(&server, &editions.old);
        let account = server.create_account(0);
        let key = server.create_key(account, &Scope::ALL);
        Self { editions, server, clock, account, key }
    }

    fn swap_to_new(&self) {
        self.editions.serve_only(&self.server, &self.editions.new);
    }

    fn get(&self, path: &str, pin: &str) -> TestResponse {
        self.get_with(path, &[("X-Corpus-Snapshot", pin)])
    }

    fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> TestResponse {
        let bearer = format!("Bearer {}", self.key);
        self.server.get_with(path, &[headers, &[("Authorization", bearer.as_str())]].concat())
    }

    fn left(&self) -> u32 {
        self.server.accounts.account(self.account, self.server.clock.now()).unwrap().remaining.allotment
    }

    /// The path of a provision that each edition words in its own way.
    fn deposit(&self) -> String {
        format!("/api/v1/node/{}", node_of(&self.server, &self.key, "Arden Rev. Stat. § 24-2-203", ""))
    }

    fn assert_from_old(&self, answer: &TestResponse) {
        assert_eq!((answer.status, answer.header("x-corpus-snapshot")), (200, self.editions.old.as_str()));
        assert!(answer.text().contains("lessorly") && !answer.text().contains("landlord"), "{}", answer.text());
    }

    fn assert_from_new(&self, answer: &TestResponse) {
        assert_eq!((answer.status, answer.header("x-corpus-snapshot")), (200, self.editions.new.as_str()));
        assert!(answer.text().contains("landlord") && !answer.text().contains("lessorly"), "{}", answer.text());
    }

    /// Refused because the server does not have it, with the way out, and without a charge.
    fn assert_not_served(&self, path: &str, pin: &str, served: &str) {
        let before = self.left();
        let refused = self.get(path, pin);
        let error = refused.expect_error(409, "snapshot_not_served");
        let message = error["message"].as_str().unwrap();
        for part in [pin, served, "Leave X-Corpus-Snapshot and snapshot out", "ask again"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert_eq!((refused.header("x-corpus-snapshot"), self.left()), (served, before), "{path}");
    }
}

#[test]
fn a_pinned_call_is_answered_from_the_served_snapshot_or_for_ten_minutes_from_the_one_before() {
    let pinning = Pinning::start();
    let Pinning { editions, clock, .. } = &pinning;
    let deposit = pinning.deposit();
    pinning.assert_from_old(&pinning.get(&deposit, &editions.old));
    pinning.assert_not_served(&deposit, &editions.new, &editions.old);
    pinning.swap_to_new();
    pinning.assert_from_new(&pinning.get(&deposit, &editions.new));
    let drained = pinning.get(&deposit, &editions.old);
    pinning.assert_from_old(&drained);
    assert_eq!(drained.json()["provenance"]["snapshot"], editions.old.as_str());
    assert!(drained.header("vary").contains("X-Corpus-Snapshot"));
    assert_eq!(pinning.get_with(&deposit, &[]).header("x-corpus-snapshot"), editions.new);
    // Loading the same snapshot again is no swap.
    editions.serve(&pinning.server);
    clock.advance_millis(DRAIN_MILLIS - 1);
    pinning.assert_from_old(&pinning.get(&deposit, &editions.old));
    clock.advance_millis(1);
    pinning.assert_not_served(&deposit, &editions.old, &editions.new);
}

/// The address of the next page, from the header `Link`.
fn next_page(answer: &TestResponse) -> String {
    let links = answer.header("link");
    let next = links.split(", ").find_map(|link| link.strip_suffix("; rel=\"next\""));
    next.unwrap_or_else(|| panic!("no next page: {links}")).trim_matches(['<', '>']).to_owned()
}

#[test]
fn the_links_of_a_list_lead_to_pages_of_the_same_edition() {
    let pinning = Pinning::start();
    let Pinning { editions, clock, .. } = &pinning;
    let mut page = pinning.get_with("/api/v1/search?q=tenant&limit=1", &[]);
    let first = next_page(&page);
    pinning.swap_to_new();
    for number in 2..4 {
        page = pinning.get_with(&next_page(&page), &[]);
        assert_eq!((page.status, page.header("x-corpus-snapshot")), (200, editions.old.as_str()), "page {number}");
    }
    // The header may say the same, and nothing else.
    assert_eq!(pinning.get(&first, &editions.old).header("x-corpus-snapshot"), editions.old);
    pinning.get(&first, &editions.new).expect_error(422, "validation_error");
    // People stay in it, too.
    let people = |snapshot: &str| pinning.server.get_with(&format!("/?q=tenant&page=1&snapshot={snapshot}"), &[]);
    let of_old = people(&editions.old);
    assert_eq!((of_old.status, of_old.header("x-corpus-snapshot")), (200, editions.old.as_str()));
    assert!(!of_old.text().contains("another edition"));
    clock.advance_millis(DRAIN_MILLIS);
    let before = pinning.left();
    pinning.get_with(&first, &[]).expect_error(409, "snapshot_not_served");
    assert_eq!(pinning.left(), before, "it is free");
    let of_new = people(&editions.old);
    assert_eq!((of_new.status, of_new.header("x-corpus-snapshot")), (200, editions.new.as_str()));
    assert!(of_new.text().contains("another edition"));
    // An operation that reads no law has no such parameter.
    pinning.get_with(&format!("/api/v1/me?snapshot={}", editions.old), &[]).expect_error(422, "validation_error");
}

#[test]
fn the_snapshot_before_a_swap_is_closed_when_its_time_is_over() {
    let pinning = Pinning::start();
    let old = Arc::downgrade(&pinning.server.service.corpus());
    pinning.swap_to_new();
    let monitor = IntegrityMonitor::start(Arc::clone(&pinning.server.service), None, |_| ());
    pinning.clock.advance_millis(DRAIN_MILLIS - 1);
    assert!(old.upgrade().is_some());
    pinning.clock.advance_millis(1);
    wait_until("the end of the older snapshot", || old.upgrade().is_none());
    monitor.stop();
}

#[test]
fn of_many_swaps_only_the_last_snapshot_before_stays_open() {
    let pinning = Pinning::start();
    let first = Arc::downgrade(&pinning.server.service.corpus());
    pinning.swap_to_new();
    assert!(first.upgrade().is_some());
    pinning.editions.serve_only(&pinning.server, &pinning.editions.old);
    assert!(first.upgrade().is_none());
}

#[test]
fn a_shelved_snapshot_can_be_pinned_by_any_operation_that_reads_law() {
    let pinning = Pinning::start();
    let Pinning { editions, clock, .. } = &pinning;
    let deposit = pinning.deposit();
    editions.shelve(std::slice::from_ref(&editions.old));
    pinning.swap_to_new();
    clock.advance_millis(DRAIN_MILLIS);
    pinning.assert_from_old(&pinning.get(&deposit, &editions.old));
    let found = pinning.get("/api/v1/search?q=lessorly&mode=keyword", &editions.old);
    assert!(found.json()["total"].as_u64().unwrap() > 0, "{}", found.text());
    for path in ["/api/v1/coverage", "/api/v1/code-bodies", "/api/v1/gis/XA-PORT-ARDEN", "/api/v1/changes"] {
        let answer = pinning.get(path, &editions.old);
        assert_eq!((answer.status, answer.header("x-corpus-snapshot")), (200, editions.old.as_str()), "{path}");
    }
    // What does not come from a snapshot is answered whatever is pinned.
    for path in ["/api/v1/me", "/api/v1/keys", "/api/v1/billing/checkout"] {
        assert_eq!(pinning.get(path, UNKNOWN).status, 200, "{path}");
    }
}

#[test]
fn an_unknown_or_malformed_snapshot_is_refused_after_the_key_and_is_free() {
    let pinning = Pinning::start();
    let deposit = pinning.deposit();
    for path in [&deposit, "/api/v1/search?q=deposit", "/api/v1/nodes?ids=1&dryRun=true"] {
        pinning.server.get_with(path, &[("X-Corpus-Snapshot", UNKNOWN)]).expect_error(401, "invalid_api_key");
    }
    for path in [&deposit, "/api/v1/search?q=deposit", "/api/v1/coverage?dryRun=true", "/api/v1/gis/XA-PORT-ARDEN"] {
        pinning.assert_not_served(path, UNKNOWN, &pinning.editions.old);
    }
    let before = pinning.left();
    let old = pinning.editions.old.as_str();
    for (pins, words) in [
        (&["current"][..], "is not 32 digits"),
        (&[""], "is not 32 digits"),
        (&[old, UNKNOWN], "more than once"),
        (&[&UNKNOWN.to_uppercase()], "is not 32 digits"),
    ] {
        let headers: Vec<(&str, &str)> = pins.iter().map(|pin| ("X-Corpus-Snapshot", *pin)).collect();
        let error = pinning.get_with(&deposit, &headers).expect_error(422, "validation_error");
        assert_eq!(error["details"][0]["parameter"], "X-Corpus-Snapshot", "{pins:?}");
        assert!(error["message"].as_str().unwrap().contains(words), "{pins:?}: {error:#}");
    }
    assert_eq!(pinning.left(), before);
}

#[test]
fn a_day_and_a_pinned_snapshot_must_agree() {
    let pinning = Pinning::start();
    let Pinning { editions, .. } = &pinning;
    let deposit = pinning.deposit();
    let (then, now) = (format!("{deposit}?asOf=2024-06-01"), format!("{deposit}?asOf=2026-06-01"));
    // One edition answers for every day.
    pinning.assert_from_old(&pinning.get(&then, &editions.old));
    pinning.assert_from_old(&pinning.get(&now, &editions.old));
    pinning.swap_to_new();
    // The drained snapshot goes on to do so.
    pinning.assert_from_old(&pinning.get(&then, &editions.old));
    pinning.assert_from_old(&pinning.get(&now, &editions.old));
    editions.shelve(std::slice::from_ref(&editions.old));
    editions.serve(&pinning.server);
    pinning.clock.advance_millis(DRAIN_MILLIS);
    pinning.assert_from_old(&pinning.get(&then, &editions.old));
    pinning.assert_from_new(&pinning.get(&now, &editions.new));
    let before = pinning.left();
    for (path, pin, of_day) in [(&then, &editions.new, &editions.old), (&now, &editions.old, &editions.new)] {
        let error = pinning.get(path, pin).expect_error(422, "validation_error");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&format!("asOf is answered from the snapshot {of_day}")), "{message}");
    }
    assert_eq!(pinning.left(), before);
    pinning.assert_not_served(&then, UNKNOWN, &editions.new);
}

#[test]
fn a_version_and_an_idempotency_key_count_for_one_snapshot() {
    let pinning = Pinning::start();
    let Pinning { editions, .. } = &pinning;
    let deposit = pinning.deposit();
    pinning.swap_to_new();
    let tag = pinning.get(&deposit, &editions.old).header("etag").to_owned();
    let known = |pin: &str| pinning.get_with(&deposit, &[("X-Corpus-Snapshot", pin), ("If-None-Match", &tag)]);
    assert_eq!(
        (known(&editions.old).status, known(&editions.old).header("x-corpus-snapshot")),
        (304, editions.old.as_str())
    );
    pinning.assert_from_new(&known(&editions.new));
    let retry = |pin: &str| pinning.get_with(&deposit, &[("X-Corpus-Snapshot", pin), ("Idempotency-Key", "one")]);
    pinning.assert_from_old(&retry(&editions.old));
    pinning.assert_from_old(&retry(&editions.old));
    assert_eq!(retry(&editions.old).header("x-credits-cost"), "0");
    retry(&editions.new).expect_error(422, "validation_error");
}

/// The ids of all results, with the snapshot of the first page sent back with the others.
fn walk(pinning: &Pinning, path: &str, word: &str, after_page: impl Fn(u64)) -> (String, Vec<String>) {
    let first = pinning.get_with(&format!("{path}&page=1"), &[]);
    let snapshot = first.header("x-corpus-snapshot").to_owned();
    let (mut ids, mut page, mut answer) = (Vec::new(), 1, first);
    loop {
        assert_eq!((answer.status, answer.header("x-corpus-snapshot")), (200, snapshot.as_str()), "page {page}");
        let reply = answer.json();
        let results = reply["results"].as_array().unwrap();
        assert!(results.iter().all(|hit| !hit["snippet"].as_str().unwrap().contains(word)), "{reply:#}");
        ids.extend(results.iter().map(|hit| hit["nodeId"].as_str().unwrap().to_owned()));
        after_page(page);
        if page * 5 >= reply["total"].as_u64().unwrap() {
            return (snapshot, ids);
        }
        page += 1;
        answer = pinning.get(&format!("{path}&page={page}"), &snapshot);
    }
}

const LIST: &str = "/api/v1/search?q=lessorly+landlord+deposit&mode=keyword&limit=5";

#[test]
fn a_walk_over_pages_stays_in_the_edition_in_which_it_began() {
    let pinning = Pinning::start();
    let (whole_path, old) = (LIST.replace("limit=5", "limit=100"), pinning.editions.old.clone());
    let whole: Vec<Value> = pinning.get(&whole_path, &old).json()["results"].as_array().unwrap().clone();
    assert!(whole.len() > 10);
    let swap = |page: u64| {
        if page == 2 {
            pinning.swap_to_new();
        }
    };
    let (snapshot, ids) = walk(&pinning, LIST, "landlord", swap);
    assert_eq!((snapshot, ids.len()), (old, whole.len()));
    assert!(whole.iter().zip(&ids).all(|(hit, id)| hit["nodeId"] == id.as_str()), "{ids:?}");
    // The next walk begins in the newer edition.
    assert_eq!(walk(&pinning, LIST, "lessorly", |_| ()).0, pinning.editions.new);
}

#[test]
fn walks_during_many_swaps_mix_no_snapshots_and_none_is_refused() {
    let pinning = Pinning::start();
    let Pinning { editions, server, .. } = &pinning;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let walker = || {
            let mut seen = HashSet::new();
            while !is_over.load(Ordering::Relaxed) {
                let (snapshot, ids) = walk(&pinning, LIST, "neither edition has this", |_| ());
                assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
                seen.insert((snapshot, ids));
            }
            seen
        };
        let walkers: Vec<_> = (0..2).map(|_| scope.spawn(walker)).collect();
        for round in 0..30 {
            editions.serve_only(server, if round % 2 == 0 { &editions.new } else { &editions.old });
        }
        is_over.store(true, Ordering::Relaxed);
        let seen: HashSet<_> = walkers.into_iter().flat_map(|walker| walker.join().unwrap()).collect();
        assert_eq!(seen.len(), 2, "one list for each edition");
    });
}

#[test]
fn tool_calls_over_http_are_pinned_by_the_same_header() {
    let pinning = Pinning::start();
    let Pinning { editions, server, .. } = &pinning;
    let call = |pin: &str| {
        let arguments = json!({ "id": "Arden Rev. Stat. § 24-2-203" });
        let params = json!({ "name": "law.get_node", "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let bearer = format!("Bearer {}", pinning.key);
        post(server, &body, &[("Authorization", &bearer), ("X-Corpus-Snapshot", pin)])
    };
    pinning.swap_to_new();
    pinning.assert_from_old(&call(&editions.old));
    pinning.assert_from_new(&call(&editions.new));
    let before = pinning.left();
    let refused = call(UNKNOWN);
    let result = &refused.json()["result"];
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["error"]),
        (&json!(true), &json!("snapshot_not_served"))
    );
    assert_eq!((refused.header("x-corpus-snapshot"), pinning.left()), (editions.new.as_str(), before));
}
