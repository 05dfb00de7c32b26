//! What operators see: the log, the metrics, the probes.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hornbook::log::RequestLogging;
use hornbook::metrics::UsageBacklog;
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::key::{KeyKind, PlainKey};
use hornbook_accounts::scope::Scope;
use hornbook_base::clock::{ManualClock, UnixMillis};
use hornbook_pack::PULL_STATE_FILE_NAME;
use serde_json::{Value, json};

use crate::test_server::{TestServer, TestServerOptions, generous_tariff, wait_until};

fn lines(server: &TestServer) -> Vec<Value> {
    server.log().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A key with a valid checksum that was never issued.
fn never_issued_key() -> String {
    PlainKey::generate(KeyKind::Live, &mut SeededEntropy(5)).unwrap().reveal()
}

#[test]
fn each_request_is_a_line_of_the_log_without_secrets() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let answer = server.get("/api/v1/search?q=secretly+searched", &key);
    let invented = never_issued_key();
    server.get("/api/v1/me", &invented).expect_error(401, "invalid_api_key");
    server.get("/api/v1/formation/status/x?token=hb_order_secret", &key).expect_error(404, "not_found");
    server.send_raw("GET / HTTP/1.1\r\n\r\n").expect_error(400, "bad_request");

    let log = lines(&server);
    assert_eq!(log.len(), 4, "{log:?}");
    let [search, refused, order, malformed] = log.as_slice() else { panic!("{log:?}") };
    assert_eq!(search["request"].as_str(), Some(answer.header("x-request-id")));
    assert_eq!((search["operation"].as_str(), search["status"].as_u64()), (Some("search"), Some(200)));
    assert_eq!((search["cost"].as_u64(), search["client"].as_str()), (Some(1), Some("127.0.0.1")));
    assert_eq!(search["path"], "/api/v1/search");
    assert!(search["key"].as_str().is_some_and(|shown| key.starts_with(shown) && shown.len() < 20), "{search}");
    for stage in ["queue", "keyword", "vector", "snippet", "commit"] {
        assert!(search["stages"][stage].is_number(), "{stage}: {search}");
        assert!(answer.header("server-timing").contains(&format!("{stage};dur=")), "{stage}");
    }
    assert_eq!((&refused["error"], &refused["path"]), (&"invalid_api_key".into(), &"/api/v1/me".into()));
    assert_eq!((&order["path"], order.get("cost")), (&"/api/v1/formation/status/x".into(), None));
    assert_eq!((malformed["error"].as_str(), malformed["status"].as_u64()), (Some("bad_request"), Some(400)));
    assert_eq!(malformed.get("path"), None, "the path of a malformed request is unknown");
    let text = server.log();
    for secret in [key.as_str(), "secretly", "hb_order_secret", &invented[..12]] {
        assert!(!text.contains(secret), "{secret} is in the log");
    }
}

#[test]
fn the_log_contains_only_valid_key_prefixes() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let good = server.create_key(account, &[Scope::Search]);
    let revoked = server.create_key(account, &Scope::ALL);
    let id = server
        .accounts
        .keys(Some(account))
        .iter()
        .find(|key| revoked.starts_with(&key.record.prefix))
        .unwrap()
        .record
        .id;
    server.accounts.revoke_key(id, &server.test_act()).unwrap();
    let mistyped = format!("{good}x");
    let logged = |path: &str, key: Option<&str>| {
        let answered = key.map_or_else(|| server.get_with(path, &[]), |key| server.get(path, key));
        (answered.status, lines(&server).pop().unwrap()["key"].as_str().map(str::to_owned))
    };
    let unknown = Some("unknown".to_owned());
    for bad in [never_issued_key(), revoked, mistyped] {
        assert_eq!(logged("/api/v1/me", Some(&bad)), (401, unknown.clone()));
        // A key has no effect where none is needed.
        assert_eq!(logged("/api/v1", Some(&bad)), (200, unknown.clone()));
    }
    assert_eq!(logged("/api/v1/me", None), (401, None));
    let bearer = format!("Bearer {}", never_issued_key());
    let odd = server.get_with("/api/v1/me", &[("Authorization", &bearer), ("Accept", "image/png")]);
    odd.expect_error(401, "invalid_api_key");
    assert_eq!(lines(&server).pop().unwrap()["key"], "unknown");
    let shown = Some(good[..12].to_owned());
    assert_eq!(logged("/api/v1/search?q=deposit", Some(&good)), (200, shown.clone()));
    assert_eq!(logged("/api/v1/search", Some(&good)), (422, shown.clone()));
    assert_eq!(logged("/api/v1/coverage", Some(&good)), (200, shown.clone()));
    assert_eq!(logged("/api/v1/code-bodies", Some(&good)), (403, shown));
}

#[test]
fn only_errors_are_logged_if_configured() {
    let server = TestServer::start_with_options(
        TestServerOptions {
            logged_requests: RequestLogging::Errors,
            ..TestServerOptions::default_for(generous_tariff())
        },
        |_| {},
    );
    let key = server.create_full_key();
    server.get("/api/v1/coverage", &key);
    server.get("/api/v1/search", &key).expect_error(422, "validation_error");
    server.get_with("/nowhere", &[]).expect_error(404, "not_found");
    server.get_with("/healthz", &[]);
    let statuses: Vec<u64> = lines(&server).iter().map(|line| line["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [422, 404]);
}

/// A connection with an unread response. Dropping it sends a reset, so the server certainly notices.
fn connection_that_resets_on_drop(server: &TestServer) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
    stream
}

#[test]
fn charged_calls_are_logged_even_after_a_disconnect() {
    const CLIENTS: usize = 30;
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let request = format!("GET /api/v1/search?q=deposit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n");
    let left = || server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    let costs = |message: &str| {
        let costs = lines(&server).into_iter().filter(|line| line["message"] == message);
        costs.filter_map(|line| line["cost"].as_u64()).sum::<u64>()
    };
    // All threads for heavy work are occupied until the requests wait. Then some of them are
    // charged and in progress when the connections break.
    for _ in 0..100 {
        let mut streams: Vec<TcpStream> = (0..CLIENTS).map(|_| connection_that_resets_on_drop(&server)).collect();
        let taken = server.occupy_workers();
        for stream in &mut streams {
            stream.write_all(request.as_bytes()).unwrap();
        }
        wait_until("a search", || server.service.waiting() > 0);
        let before = left();
        drop(taken);
        // On a busy machine all may have been refused as overloaded by then.
        let is_over = || server.metric_value("hornbook_requests_under_way") < 0.5;
        // Polls without a pause, because all might be answered during one.
        let deadline = Instant::now() + Duration::from_secs(30);
        while left() >= before && !is_over() {
            assert!(Instant::now() < deadline, "neither a charge nor the end of all came");
            std::thread::yield_now();
        }
        drop(streams);
        wait_until("the end of all", is_over);
        if costs("client disconnected") > 0 {
            break;
        }
    }
    assert!(costs("client disconnected") > 0, "no client disconnected at the right moment");
    assert_eq!(costs("client disconnected") + costs("answered"), u64::from(50_000 - left()));
    let log = lines(&server);
    let line = log.iter().find(|line| line["message"] == "client disconnected" && line["cost"] == 1).unwrap();
    assert_eq!((&line["operation"], &line["path"]), (&"search".into(), &"/api/v1/search".into()));
    assert!(line["key"].as_str().is_some_and(|shown| key.starts_with(shown)), "{line}");
}

#[test]
fn the_date_header_follows_the_clock_and_unrepresentable_dates_are_a_503() {
    let clock = Arc::new(ManualClock::at(UnixMillis(784_111_777_000)));
    let served: Arc<ManualClock> = Arc::clone(&clock);
    let server = TestServer::start_with_options(
        TestServerOptions { clock: served, ..TestServerOptions::default_for(generous_tariff()) },
        |_| {},
    );
    let key = server.create_full_key();
    let answered = server.get("/api/v1/search?q=deposit", &key);
    assert_eq!((answered.status, answered.header("date")), (200, "Sun, 06 Nov 1994 08:49:37 GMT"));
    for beyond in [253_402_300_800_000, 9_000_000_000_000_000] {
        clock.set_wall(UnixMillis(beyond));
        for path in ["/healthz", "/api/v1", "/api/v1/search?q=deposit"] {
            let answered = server.get(path, &key);
            answered.expect_error(503, "overloaded");
            assert_eq!((answered.header("connection"), answered.headers.get("date")), ("close", None), "{path}");
        }
    }
    clock.set_wall(UnixMillis(784_111_777_000));
    assert_eq!(server.get("/api/v1/search?q=deposit", &key).status, 200);
}

#[test]
fn metrics_count_answers_stages_errors_and_connections() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    for _ in 0..3 {
        server.get("/api/v1/search?q=deposit", &key);
    }
    server.get("/api/v1/search", &key).expect_error(422, "validation_error");
    server.get_with("/nowhere", &[]).expect_error(404, "not_found");
    // A permit is given back after the answer.
    wait_until("all permits", || server.metric_value("hornbook_permits_free") > 1.5);
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
        assert!(
            (server.metric_value(metric) - expected).abs() < 1e-9,
            "{metric} is not {expected}:\n{}",
            server.metrics()
        );
    }
    let snapshot = format!("hornbook_snapshot_info{{snapshot=\"{}\"", server.service.corpus().id());
    assert!(server.metrics().contains(&snapshot));
}

#[test]
fn metrics_and_a_probe_say_whether_the_newest_pulled_snapshot_is_served() {
    const IS_NEWEST: &str = "hornbook_snapshot_is_newest";
    let data = tempfile::tempdir().unwrap();
    let server = TestServer::start_with(generous_tariff(), |http| http.pulls = Some(data.path().to_owned()));
    let probe = |path| server.get_with(path, &[]);
    assert!(!server.metrics().contains(IS_NEWEST), "nothing was pulled");
    assert_eq!(probe("/readyz?newest").status, 200, "it follows no channel");
    let pulled = |snapshot: &str| {
        let record = json!({ "channel": "us-law", "sequence": 7, "snapshot": snapshot, "accepted": "2026-11-29" });
        std::fs::write(data.path().join(PULL_STATE_FILE_NAME), record.to_string()).unwrap();
        server.metric_value(IS_NEWEST)
    };
    assert_eq!(pulled("0123456789abcdef0123456789abcdef"), 0.0);
    assert_eq!(probe("/readyz").status, 200, "older law is better than none");
    let behind = probe("/readyz?newest");
    assert_eq!((behind.status, &behind.json()["status"]), (503, &json!("snapshot_behind")));
    assert_eq!(server.get_from_metrics_listener("GET", "/readyz?newest").status, 503);
    assert_eq!(pulled(server.service.corpus().id()), 1.0);
    assert_eq!(probe("/readyz?newest").status, 200);
}

#[test]
fn metrics_say_how_late_reports_of_usage_are() {
    const LATE: &str = "hornbook_usage_reports_late_seconds";
    let server = TestServer::start(generous_tariff());
    assert!(!server.metrics().contains(LATE), "usage is not reported");
    server.counters.set_usage_backlog(UsageBacklog::default());
    assert_eq!(server.metric_value(LATE), 0.0);
    let oldest_ended_at = Some(server.clock.now().wall.0 - 600_000);
    server.counters.set_usage_backlog(UsageBacklog { waiting: 2, oldest_ended_at });
    assert_eq!(server.metric_value("hornbook_usage_reports_waiting"), 2.0);
    let late = server.metric_value(LATE);
    assert!((600.0..660.0).contains(&late), "{late}");
}

#[test]
fn the_listener_of_metrics_answers_nothing_else() {
    let server = TestServer::start(generous_tariff());
    let ask = |path: &str| server.get_from_metrics_listener("GET", path);
    for path in ["/metrics", "/healthz", "/readyz"] {
        assert_eq!(ask(path).status, 200, "{path}");
    }
    ask("/api/v1").expect_error(404, "not_found");
    server.get_from_metrics_listener("POST", "/metrics").expect_error(405, "method_not_allowed");
    server.get_from_metrics_listener("GET", "/\u{e9}").expect_error(400, "bad_request");
    server.get_with("/metrics", &[]).expect_error(404, "not_found");
}
