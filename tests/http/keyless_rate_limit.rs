//! Requests without a key are limited by client address.

use std::time::{Duration, Instant};

use hornbook::http::Proxies;

use crate::test_server::{TestServer, generous_tariff};

const PER_MINUTE: u32 = 5;

#[test]
fn keyless_requests_share_one_rate_limit() {
    let server = TestServer::start_with(generous_tariff(), |http| http.open_per_minute = Some(PER_MINUTE));
    let key = server.create_full_key();
    for (method, path, status) in [
        ("GET", "/llms.txt", 200),
        ("GET", "/api/v1/billing/checkout", 200),
        ("HEAD", "/api/v1/openapi.json", 200),
        ("GET", "/nowhere", 404),
        ("POST", "/api/v1/search", 405),
    ] {
        assert_eq!(server.request(method, path, &[]).status, status, "{path}");
    }
    for (method, path) in [("GET", "/llms.txt"), ("GET", "/api/v1/billing/checkout"), ("GET", "/a"), ("PUT", "/b")] {
        let refused = server.request(method, path, &[]);
        let error = refused.expect_error(429, "rate_limited");
        let wait = error["retryAfterSec"].as_u64().unwrap();
        assert!((1..=12).contains(&wait), "{error:#}");
        assert_eq!(refused.header_number("retry-after"), wait);
    }
    assert_eq!(server.get("/api/v1/billing/checkout", &key).status, 429, "a key does not help where none is needed");
    for _ in 0..10 {
        assert_eq!(server.get_with("/healthz", &[]).status, 200);
        assert_eq!(server.get_with("/readyz", &[]).status, 200);
        assert_eq!(server.request("OPTIONS", "/api/v1/search", &[]).status, 204);
        assert_eq!(server.get("/api/v1/coverage", &key).status, 200);
        server.get_with("/api/v1/coverage", &[]).expect_error(401, "invalid_api_key");
    }
}

#[test]
fn behind_a_proxy_the_clients_own_address_counts() {
    let server = TestServer::start_with(generous_tariff(), |http| {
        http.open_per_minute = Some(PER_MINUTE);
        http.proxies = Proxies { networks: vec!["127.0.0.1".parse().unwrap()], uses_proxy_protocol: false };
    });
    let answered = |client: &str, times: u32| {
        let statuses = (0..times).map(|_| server.get_with("/llms.txt", &[("X-Forwarded-For", client)]).status);
        statuses.filter(|status| *status == 200).count()
    };
    assert_eq!(answered("203.0.113.9", 8), 5);
    assert_eq!(answered("203.0.113.10", 8), 5);
    assert_eq!(answered("2001:db8:1:2::1", 3) + answered("2001:db8:1:2::2", 3), 5, "of one network");
    assert_eq!(answered("2001:db8:1:3::1", 3), 3);
}

#[test]
fn refusals_are_delayed_for_a_client_that_ignores_them() {
    let server = TestServer::start(generous_tariff());
    let is_delayed = |_: &u32| {
        let asked = Instant::now();
        server.get_with("/api/v1/coverage", &[]).expect_error(401, "invalid_api_key");
        asked.elapsed() >= Duration::from_millis(250)
    };
    // While one is delayed, another prompt one is earned.
    assert!((0..312).filter(is_delayed).count() >= 4);
}
