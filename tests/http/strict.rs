//! The default mode, `strict`, beyond the simple case: an answer is sent when its debit is on disk,
//! refusals cost nothing, retries are charged once, and concurrent callers are charged exactly for
//! their answers.

use std::sync::atomic::{AtomicUsize, Ordering};

use hornbook_accounts::ids::AccountId;
use hornbook_accounts::scope::Scope;

use crate::operations::NODE;
use crate::test_server::{TestServer, generous_tariff};

/// The operations in the usage entries of an account, latest first.
fn charged_operations(server: &TestServer, account: AccountId) -> Vec<String> {
    let entries = server.accounts.recent_entries(account, 200).unwrap();
    entries.into_iter().filter_map(|entry| entry.operation).collect()
}

fn remaining(server: &TestServer, account: AccountId) -> u32 {
    server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment
}

#[test]
fn answers_are_sent_after_their_debit_is_stored() {
    let server = TestServer::start_strict(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let node = format!("/api/v1/node/{}", *NODE);
    for (path, operation) in
        [("/api/v1/coverage", "coverage"), (node.as_str(), "node"), ("/api/v1/search?q=deposit", "search")]
    {
        assert_eq!(server.get(path, &key).status, 200);
        // In `window` mode this entry would appear up to 50 ms later.
        assert_eq!(charged_operations(&server, account)[0], operation);
    }
}

#[test]
fn refusals_cost_nothing_and_leave_no_entry() {
    let server = TestServer::start_strict(generous_tariff());
    let account = server.create_account(0);
    let (key, gis_only) = (server.create_key(account, &Scope::ALL), server.create_key(account, &[Scope::Gis]));
    let before = remaining(&server, account);
    let nobody = "/api/v1/node/00000000-0000-4000-8000-000000000000";
    server.get(nobody, &key).expect_error(404, "not_found");
    server.get("/api/v1/search", &key).expect_error(422, "validation_error");
    server.get("/api/v1/search?q=-deposit", &key).expect_error(422, "validation_error");
    server.get("/api/v1/search?q=deposit", &gis_only).expect_error(403, "insufficient_scope");
    server.get("/api/v1/coverage", "hb_live_nobody").expect_error(401, "invalid_api_key");
    let bearer = format!("Bearer {key}");
    let unacceptable = [("Authorization", bearer.as_str()), ("Accept", "image/png")];
    server.get_with("/api/v1/coverage", &unacceptable).expect_error(406, "not_acceptable");
    assert_eq!((charged_operations(&server, account), remaining(&server, account)), (Vec::new(), before));
}

#[test]
fn a_retry_is_charged_once_and_says_so() {
    let server = TestServer::start_strict(generous_tariff());
    let account = server.create_account(0);
    let bearer = format!("Bearer {}", server.create_key(account, &Scope::ALL));
    let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", "the-same-call")];
    let first = server.get_with("/api/v1/coverage", &headers);
    let again = server.get_with("/api/v1/coverage", &headers);
    assert_eq!((first.status, again.status), (200, 200));
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
    assert_eq!((first.header_number("x-credits-cost"), again.header_number("x-credits-cost")), (1, 0));
    assert_eq!(charged_operations(&server, account), ["coverage"]);
    server.get_with("/api/v1/me", &headers).expect_error(422, "validation_error");
}

#[test]
fn concurrent_callers_are_charged_exactly_for_their_answers() {
    const UNITS: u32 = 30;
    let mut tariff = generous_tariff();
    tariff.free.monthly_units = UNITS;
    let server = TestServer::start_strict(tariff);
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let (answered, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    match server.get("/api/v1/coverage", &key).status {
                        200 => answered.fetch_add(1, Ordering::Relaxed),
                        402 => refused.fetch_add(1, Ordering::Relaxed),
                        other => panic!("{other}"),
                    };
                }
            });
        }
    });
    assert_eq!((answered.into_inner(), refused.into_inner()), (UNITS as usize, 80 - UNITS as usize));
    assert_eq!((charged_operations(&server, account).len(), remaining(&server, account)), (UNITS as usize, 0));
}
