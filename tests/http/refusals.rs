//! Refusals: small for any request, with a clear message, and free.

use hornbook_accounts::ids::AccountId;
use hornbook_accounts::scope::Scope;

use crate::test_server::{TestResponse, TestServer, generous_tariff};

/// The largest size of a refusal, so that a small request cannot cause a large response.
const REFUSAL_BYTES_MAX: usize = 4 << 10;

fn left(server: &TestServer, account: AccountId) -> u32 {
    server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment
}

/// A query with this many parameters, none of which any operation knows.
fn unknown_parameters(count: usize, name: impl Fn(usize) -> String) -> String {
    (0..count).map(name).collect::<Vec<_>>().join("&")
}

#[test]
fn a_refusal_is_small_whatever_was_sent() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let checkout = "/api/v1/billing/checkout";
    let long = "a".repeat(8_000);
    let paths = [
        (422, format!("{checkout}?{}", unknown_parameters(2_000, |n| format!("{n:x}")))),
        (422, format!("{checkout}?{}", unknown_parameters(64, |n| format!("{n:03}{}", "x".repeat(110))))),
        // A character that JSON writes in two bytes.
        (422, format!("{checkout}?{}", unknown_parameters(50, |n| format!("{n:03}{}", "%5C".repeat(50))))),
        (422, format!("{checkout}?{long}")),
        (422, format!("/api/v1/search?q=a&jurisdiction={long}&mode={}", "")),
        (422, format!("/api/v1/search?{}", unknown_parameters(64, |n| format!("q{n}=1")))),
        (422, format!("/api/v1/search?q={long}")),
        (404, format!("/api/v1/node/{long}")),
        (404, format!("/{long}")),
        (404, format!("/api/v1/gis/{}/at?lat=1&lon=1", "Z".repeat(40))),
        (422, format!("/api/v1/gis/{long}")),
    ];
    for (status, path) in paths {
        let refused = server.get(&path, &key);
        assert_eq!(refused.status, status, "{}: {}", &path[..60], refused.text());
        assert!(refused.body.len() <= REFUSAL_BYTES_MAX, "{} bytes for {}", refused.body.len(), &path[..60]);
        assert!(refused.json()["message"].is_string());
    }
}

#[test]
fn more_than_64_parameters_are_refused_and_16_violations_are_listed() {
    let server = TestServer::start(generous_tariff());
    let checkout = |count: usize| {
        let query = unknown_parameters(count, |n| format!("x{n}"));
        server.get_with(&format!("/api/v1/billing/checkout?{query}"), &[]).expect_error(422, "validation_error")
    };
    let listed = checkout(64);
    assert_eq!(listed["details"].as_array().unwrap().len(), 16);
    assert_eq!(listed["details"][15]["parameter"], "x15");
    assert!(listed["message"].as_str().unwrap().contains("61 more"), "{listed:#}");
    let too_many = checkout(65);
    let message = too_many["message"].as_str().unwrap();
    assert!(message.contains("65 parameters") && message.contains("at most 64"), "{message}");
    assert!(too_many.get("details").is_none());
}

#[test]
fn a_bad_idempotency_key_is_refused_in_its_own_words_and_charges_nothing() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let bearer = format!("Bearer {}", server.create_key(account, &Scope::ALL));
    let call = |keys: &[&str]| -> TestResponse {
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(keys.iter().map(|key| ("Idempotency-Key", *key)));
        server.get_with("/api/v1/coverage", &headers)
    };
    let long = "k".repeat(256);
    for (keys, words) in [
        (&[""][..], "is empty"),
        (&["  "], "is empty"),
        (&["a", "a"], "more than once"),
        (&["a", "b"], "more than once"),
        (&["schlüssel"], "not printable ASCII"),
        (&[long.as_str()], "256 characters"),
    ] {
        let error = call(keys).expect_error(422, "validation_error");
        assert_eq!(error["details"][0]["parameter"], "Idempotency-Key", "{keys:?}");
        assert!(error["message"].as_str().unwrap().contains(words), "{keys:?}: {error:#}");
    }
    assert_eq!(left(&server, account), 50_000);
    assert_eq!(call(&[&long[1..]]).status, 200);
    assert_eq!(left(&server, account), 49_999);
}

#[test]
fn text_that_is_too_long_or_has_control_characters_is_refused_before_any_charge() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let long = |chars: usize| "%C3%A9".repeat(chars);
    for (path, name) in [("search", "q"), ("suggest", "q"), ("resolve", "citation")] {
        for bad in ["a%09b", "a%0Ab", "a%0D", "%0Aa", &"a".repeat(1025), &long(1025)] {
            let error = server.get(&format!("/api/v1/{path}?{name}={bad}"), &key).expect_error(422, "validation_error");
            assert_eq!(error["details"][0]["parameter"], name);
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("1024 characters") && message.contains("control characters"), "{message}");
        }
    }
    assert_eq!(left(&server, account), 50_000);
    assert_eq!(server.get(&format!("/api/v1/search?q={}", long(1024)), &key).status, 200);
}

#[test]
fn a_query_that_excludes_too_much_or_everything_is_refused_before_any_charge() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let with = |exclusions: usize| format!("/api/v1/search?q=deposit{}", "%20-hen".repeat(exclusions));
    for (path, words) in [(with(9), "at most 8"), ("/api/v1/search?q=-hens".to_owned(), "only excludes words")] {
        let error = server.get(&path, &key).expect_error(422, "validation_error");
        assert_eq!(error["details"][0]["parameter"], "q");
        assert!(error["message"].as_str().unwrap().contains(words), "{error:#}");
    }
    assert_eq!(left(&server, account), 50_000);
    assert_eq!(server.get(&with(8), &key).status, 200);
}
