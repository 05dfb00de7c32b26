//! Errors in HTTP itself: each refusal has its status and the Error object.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::test_server::{TestResponse, TestServer, generous_tariff, wait_until};

#[test]
fn unknown_paths_and_methods_get_the_error_object() {
    let server = TestServer::start(generous_tariff());
    for path in ["/", "/api/v1/search/", "/api/v2/search", "/api/v1/node", "/docs/../api"] {
        server.get_with(path, &[]).expect_error(404, "not_found");
    }
    for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
        let refused = server.request(method, "/api/v1/search?q=a", &[]);
        refused.expect_error(405, "method_not_allowed");
        assert_eq!(refused.header("allow"), "GET, HEAD, OPTIONS");
    }
    // The key is checked first.
    server.get_with("/api/v1/search?q=a", &[("Accept", "image/png")]).expect_error(401, "invalid_api_key");
    let bearer = format!("Bearer {}", server.create_full_key());
    let refused = server.get_with("/api/v1/search?q=a", &[("Authorization", &bearer), ("Accept", "image/png")]);
    refused.expect_error(406, "not_acceptable");
    assert_eq!(refused.header_number("x-ratelimit-remaining"), 99_999, "a refusal counts");
    server.get_with("/api/v1/billing/checkout", &[("Accept", "image/png")]).expect_error(406, "not_acceptable");
}

#[test]
fn oversized_requests_get_the_error_object() {
    let server = TestServer::start(generous_tariff());
    let body = server.send_raw("GET /api/v1/me HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    body.expect_error(413, "request_too_large");
    assert_eq!(body.header("connection"), "close");
    let chunked = "GET /api/v1/me HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    server.send_raw(chunked).expect_error(413, "request_too_large");
    let long = "a".repeat(9000);
    server.get_with(&format!("/api/v1/search?q={long}"), &[]).expect_error(414, "request_too_large");
    server.get_with("/api/v1/me", &[("X-Long", &long), ("X-Longer", &long)]).expect_error(431, "request_too_large");
}

#[test]
fn malformed_requests_are_refused() {
    let server = TestServer::start(generous_tariff());
    for path in ["/api/v1/search?q=%zz", "/api/v1/search?q=%00", "/api/v1/search?q=%ff", "/api/v1/node/%c0%af"] {
        server.get_with(path, &[]).expect_error(400, "bad_request");
    }
    for hosts in ["", "Host: a\r\nHost: b\r\n"] {
        server
            .send_raw(&format!("GET /readyz HTTP/1.1\r\nConnection: close\r\n{hosts}\r\n"))
            .expect_error(400, "bad_request");
    }
}

#[test]
fn head_has_the_length_and_options_the_methods() {
    let server = TestServer::start(generous_tariff());
    let get = server.get_with("/api/v1/openapi.json", &[]);
    let head = server.request("HEAD", "/api/v1/openapi.json", &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header_number("content-length"), get.body.len() as u64);
    let options = server.request("OPTIONS", "/api/v1/search", &[]);
    assert_eq!((options.status, options.header("allow")), (204, "GET, HEAD, OPTIONS"));
}

#[test]
fn only_configured_origins_may_read_answers() {
    let server = TestServer::start(generous_tariff());
    let allowed = server.get_with("/api/v1", &[("Origin", "https://app.example")]);
    assert_eq!(allowed.header("access-control-allow-origin"), "https://app.example");
    assert!(allowed.header("access-control-expose-headers").contains("X-Credits-Remaining"));
    assert!(allowed.header("vary").contains("Origin"));
    let other = server.get_with("/api/v1", &[("Origin", "https://other.example")]);
    assert_eq!(other.header("access-control-allow-origin"), "");
    assert!(other.header("vary").contains("Origin"));
    let preflight = server.request("OPTIONS", "/api/v1/search", &[("Origin", "https://app.example")]);
    for header in ["Authorization", "X-Corpus-Snapshot"] {
        assert!(preflight.header("access-control-allow-headers").contains(header), "{header}");
    }
}

#[test]
fn pages_of_origins_for_agents_may_call_mcp_and_nothing_else() {
    let server = TestServer::start(generous_tariff());
    let asks = [
        ("Origin", "https://agents.example"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name"),
    ];
    let preflight = server.request("OPTIONS", "/api/mcp", &asks);
    assert_eq!(preflight.header("access-control-allow-origin"), "https://agents.example");
    let may_send = preflight.header("access-control-allow-headers").to_ascii_lowercase();
    for header in asks[2].1.split(',') {
        assert!(may_send.split(", ").any(|allowed| allowed == header), "{header} in {may_send}");
    }
    assert_eq!(server.get_with("/api/v1", &asks[..1]).header("access-control-allow-origin"), "");
    let of_both = server.get_with("/api/mcp", &[("Origin", "https://app.example")]);
    assert_eq!(of_both.header("access-control-allow-origin"), "https://app.example");
}

#[test]
fn one_connection_carries_many_requests_and_each_has_its_own_id() {
    let server = TestServer::start(generous_tariff());
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let request = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    let last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(format!("{request}{request}{last}").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3);
    let mut ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("x-request-id: ")).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const HEAD: &str = "POST /api/mcp HTTP/1.1\r\nHost: law.example\r\nContent-Type: application/json\r\n";

/// Many clients send bodies in chunks, or wait for `100 Continue` before they send one.
#[test]
fn chunked_and_expect_continue_bodies_are_read() {
    let server = crate::mcp::open();
    let expected = crate::mcp::post(&server, MESSAGE, &[]);
    assert_eq!(expected.status, 200);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (first, rest) = MESSAGE.split_at(7);
    let chunks = format!("7\r\n{first}\r\n{:X}\r\n{rest}\r\n0\r\n\r\n", rest.len());
    for byte in format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{chunks}").bytes() {
        stream.write_all(&[byte]).unwrap();
    }
    // The second request on the same connection waits for `100 Continue`.
    let asking = |framing: &str| format!("{HEAD}{framing}Expect: 100-continue\r\nConnection: close\r\n\r\n");
    let mut answered = Vec::new();
    let mut byte = [0];
    while !answered.ends_with(expected.body.as_slice()) {
        stream.read_exact(&mut byte).unwrap();
        answered.push(byte[0]);
    }
    assert!(answered.starts_with(b"HTTP/1.1 200"));
    stream.write_all(asking("Transfer-Encoding: chunked\r\n").as_bytes()).unwrap();
    let mut word = [0; 25];
    stream.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(chunks.as_bytes()).unwrap();
    answered.clear();
    stream.read_to_end(&mut answered).unwrap();
    assert_eq!(TestResponse::read(&answered).body, expected.body, "there must be exactly one 100 Continue");
    // A client that does not wait gets no `100 Continue`.
    let sent = asking(&format!("Content-Length: {}\r\n", MESSAGE.len())) + MESSAGE;
    assert_eq!(server.send_raw(&sent).body, expected.body);
}

#[test]
fn the_key_is_checked_before_the_body() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let post = |key: &str, headers: &str| {
        server.send_raw(&format!(
            "POST /api/v1/billing/checkout HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{key}{headers}Content-Length: 1\r\n\r\n{{"
        ))
    };
    post("", "").expect_error(401, "invalid_api_key");
    post("Authorization: Bearer hb_live_x\r\n", "").expect_error(401, "invalid_api_key");
    let good = format!("Authorization: Bearer {key}\r\n");
    post(&good, "").expect_error(400, "bad_request");
    for coding in ["gzip", "br, gzip", "\u{e9}"] {
        post(&good, &format!("Content-Encoding: {coding}\r\n")).expect_error(415, "unsupported_media_type");
    }
    post(&good, "Content-Encoding: identity\r\n").expect_error(400, "bad_request");
}

#[test]
fn a_server_that_stops_closes_idle_connections_and_takes_no_new_ones() {
    let server = TestServer::start(generous_tariff());
    let address = server.address;
    let mut idle = TcpStream::connect(address).unwrap();
    idle.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    drop(server);
    idle.read_to_end(&mut Vec::new()).unwrap();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn incomplete_bodies_are_limited_and_do_not_affect_other_requests() {
    let server = TestServer::start_with(generous_tariff(), |http| {
        http.connections_max = 700;
        http.connections_per_address_max = 700;
    });
    let key = server.create_full_key();
    let post = |sent: usize| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = format!(
            "POST /api/v1/billing/checkout HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Length: 65536\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b' '; sent]).unwrap();
        stream
    };
    // Sends one more request. Returns the answer, or the connection if the server waits for the
    // rest of the body.
    let next = |sent: usize| {
        let mut next = post(sent);
        next.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut answer = [0; 12];
        if next.read_exact(&mut answer).is_err() {
            return Err(next);
        }
        next.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut refusal = answer.to_vec();
        next.read_to_end(&mut refusal).unwrap();
        Ok(refusal)
    };
    // A head that announces a body reserves no memory. The bytes of unfinished bodies of one
    // address are limited to a sixth of 64 MB.
    let promised: Vec<TcpStream> = (0..300).map(|_| post(0)).collect();
    assert!(next(1).is_err(), "it waits for the rest");
    let hold = || -> Vec<TcpStream> { (0..170).map(|_| post(65_535)).collect() };
    let (mut waiting, mut began) = (hold(), Instant::now());
    let mut refusal = Vec::new();
    wait_until("every byte to be read", || {
        // On a busy machine the first may have timed out before the last was read.
        if began.elapsed() > Duration::from_secs(5) {
            waiting.clear();
            (waiting, began) = (hold(), Instant::now());
        }
        match next(65_535) {
            Ok(answer) => refusal = answer,
            // Several requests near the limit arrived at the same time and were refused, so there
            // is space again.
            Err(more) => waiting.push(more),
        }
        !refusal.is_empty()
    });
    drop(promised);
    let bearer = format!("Bearer {key}");
    assert_eq!(server.get("/api/v1/search?q=a", &key).status, 200, "requests without a body are not affected");
    let refused = TestResponse::read(&refusal);
    refused.expect_error(503, "overloaded");
    assert_eq!(refused.header("retry-after"), "1");
    waiting.clear();
    wait_until("the room to be given back", || {
        let buys = "POST /api/v1/billing/checkout HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
        let body = r#"{"pack":"starter"}"#;
        let sent = format!("{buys}Authorization: {bearer}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        server.send_raw(&sent).status == 200
    });
}
