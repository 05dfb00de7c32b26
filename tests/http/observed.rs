//! What operators see: the log, the metrics, the probes.

use serde_json::Value;

use crate::house::{House, generous};

fn lines(house: &House) -> Vec<Value> {
    house.log().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_request_is_a_line_of_the_log_without_secrets() {
    let house = House::open(generous());
    let key = house.any_key();
    let answer = house.get("/api/v1/search?q=secretly+searched", &key);
    let bad_key = "hb_live_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    house.get("/api/v1/me", bad_key).error(401, "invalid_api_key");
    house.get("/api/v1/formation/status/x?token=hb_order_secret", &key).error(404, "not_found");
    house.raw("GET / HTTP/1.1\r\n\r\n").error(400, "bad_request");

    let log = lines(&house);
    assert_eq!(log.len(), 4, "{log:?}");
    let [search, refused, _, malformed] = log.as_slice() else { panic!("{log:?}") };
    assert_eq!(search["request"].as_str(), Some(answer.header("x-request-id")));
    assert_eq!((search["operation"].as_str(), search["status"].as_u64()), (Some("search"), Some(200)));
    assert_eq!((search["cost"].as_u64(), search["client"].as_str()), (Some(1), Some("127.0.0.1")));
    assert!(search["key"].as_str().is_some_and(|shown| key.starts_with(shown) && shown.len() < 20), "{search}");
    for stage in ["queue", "keyword", "vector", "snippet", "commit"] {
        assert!(search["stages"][stage].is_number(), "{stage}: {search}");
        assert!(answer.header("server-timing").contains(&format!("{stage};dur=")), "{stage}");
    }
    assert_eq!((refused["error"].as_str(), refused.get("key")), (Some("invalid_api_key"), None));
    assert_eq!((malformed["error"].as_str(), malformed["status"].as_u64()), (Some("bad_request"), Some(400)));
    let text = house.log();
    for secret in [key.as_str(), "secretly", "hb_order_secret", bad_key] {
        assert!(!text.contains(secret), "{secret} is in the log");
    }
}

#[test]
fn metrics_count_answers_stages_errors_and_connections() {
    let house = House::open(generous());
    let key = house.any_key();
    for _ in 0..3 {
        house.get("/api/v1/search?q=deposit", &key);
    }
    house.get("/api/v1/search", &key).error(422, "validation_error");
    house.get_with("/nowhere", &[]).error(404, "not_found");
    for (metric, expected) in [
        ("hornbook_requests_total{operation=\"search\",status=\"200\"}", 3.0),
        ("hornbook_requests_total{operation=\"search\",status=\"422\"}", 1.0),
        ("hornbook_requests_total{operation=\"other\",status=\"404\"}", 1.0),
        ("hornbook_request_seconds_count{operation=\"search\"}", 4.0),
        ("hornbook_stage_seconds_count{stage=\"keyword\"}", 3.0),
        ("hornbook_stage_seconds_count{stage=\"commit\"}", 3.0),
        ("hornbook_errors_total{code=\"validation_error\"}", 1.0),
        ("hornbook_connections_total", 5.0),
        ("hornbook_requests_under_way", 0.0),
        ("hornbook_permits_free", 2.0),
        ("hornbook_ledger_up", 1.0),
    ] {
        assert!((house.metric(metric) - expected).abs() < 1e-9, "{metric} is not {expected}:\n{}", house.metrics());
    }
    let snapshot = format!("hornbook_snapshot_info{{snapshot=\"{}\"", house.service.corpus().id());
    assert!(house.metrics().contains(&snapshot));
}

#[test]
fn the_listener_of_metrics_answers_nothing_else() {
    let house = House::open(generous());
    let ask = |path: &str| house.watch("GET", path);
    for path in ["/metrics", "/healthz", "/readyz"] {
        assert_eq!(ask(path).status, 200, "{path}");
    }
    ask("/api/v1").error(404, "not_found");
    house.watch("POST", "/metrics").error(405, "method_not_allowed");
    house.watch("GET", "/\u{e9}").error(400, "bad_request");
    house.get_with("/metrics", &[]).error(404, "not_found");
}
