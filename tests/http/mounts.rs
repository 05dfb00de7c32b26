//! Request bodies, and mounts: handlers besides the operations, with the same limits and headers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use bytes::Bytes;
use hornbook::api::service::Service;
use hornbook::http::{Mounts, Timeouts};
use hornbook::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use hyper::{Method, Request, Response, StatusCode};

use crate::http2::{ask, talk};
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};

/// Answers with the request body.
struct Echo;

impl Mount for Echo {
    fn matches_path(&self, path: &str) -> bool {
        path == "/echo"
    }

    fn methods(&self, _: &str) -> Methods {
        Methods::Post
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        let mut response = Response::new(Bytes::from(request.body.to_vec()));
        if request.body.is_empty() {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        Box::pin(async { MountResponse::from(response) })
    }
}

fn with_echo(_: &Arc<Service>) -> Mounts {
    vec![Arc::new(Echo)]
}

fn open() -> TestServer {
    TestServer::start_with_options(
        TestServerOptions { mounts: with_echo, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    )
}

fn post(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn a_mount_gets_whole_requests_and_its_responses_have_the_common_headers() {
    let server = open();
    let answered = server.send_raw(&post("/echo", "{\"a\": 1}"));
    assert_eq!((answered.status, answered.text().as_str()), (200, "{\"a\": 1}"));
    for header in ["x-request-id", "x-corpus-snapshot", "date", "x-content-type-options"] {
        assert!(answered.headers.contains_key(header), "{header}");
    }
    assert_eq!(server.send_raw(&post("/echo", "")).status, 204);
    let largest = "a".repeat(64 << 10);
    assert_eq!(server.send_raw(&post("/echo", &largest)).text(), largest);
    server.send_raw(&post("/echo", &(largest + "a"))).expect_error(413, "request_too_large");
    let refused = server.get_with("/echo", &[]);
    refused.expect_error(405, "method_not_allowed");
    assert_eq!(refused.header("allow"), "POST, OPTIONS");
    assert_eq!(server.request("OPTIONS", "/echo", &[]).header("allow"), "POST, OPTIONS");
    assert!(server.log().contains("\"path\":\"/echo\""), "{}", server.log());
}

/// hyper reads a request in parts of 8 KB.
#[test]
fn a_long_body_arrives_on_a_connection_that_had_a_request_before() {
    let server = open();
    let long = "a".repeat(30_000);
    let first = post("/echo", "first").replace("Connection: close\r\n", "");
    let answered = server.send_raw(&(first + &post("/echo", &long)));
    assert_eq!(answered.text().matches("HTTP/1.1 200 OK").count(), 1, "the second answer follows the first");
    assert!(answered.text().ends_with(&long));
}

#[test]
fn a_request_inside_a_body_is_not_served_and_the_next_one_is() {
    let server = open();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let inner = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    let kept = post("/echo", inner).replace("Connection: close\r\n", "");
    stream.write_all(kept.as_bytes()).unwrap();
    stream.write_all(kept.replace("/echo", "/healthz").as_bytes()).unwrap();
    stream.write_all(post("/echo", "last").as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let statuses: Vec<&str> = text.match_indices("HTTP/1.1 ").map(|(at, _)| &text[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "405", "200"], "{text}");
    assert!(text.ends_with("last"));
}

#[test]
fn slow_and_incomplete_bodies_are_refused() {
    let second = std::time::Duration::from_secs(1);
    let server = TestServer::start_with_options(
        TestServerOptions { mounts: with_echo, ..TestServerOptions::default_for(generous_tariff()) },
        |http| {
            http.timeouts = Timeouts { head: second, idle: second, unread: second, read_rate_min: 4096 };
        },
    );
    let half = post("/echo", "half of it").replace("half of it", "half");
    server.send_raw(&half).expect_error(408, "request_timeout");
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(half.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    TestResponse::read(&bytes).expect_error(400, "bad_request");
}

#[test]
fn over_http2_bodies_are_whole_and_bounded_too() {
    let server = open();
    let request = |length: Option<usize>| {
        let request = Request::builder().method(Method::POST).uri("http://law.example/echo");
        length
            .map_or(request, |length| {
                Request::builder().method(Method::POST).uri("http://law.example/echo").header("content-length", length)
            })
            .body(())
            .unwrap()
    };
    static LARGEST: [u8; 64 << 10] = [b'a'; 64 << 10];
    static TOO_LARGE: [u8; (64 << 10) + 1] = [b'a'; (64 << 10) + 1];
    talk(&server, async |client| {
        let (status, headers, body) = ask(client, request(None), Some(&b"frames"[..])).await;
        assert_eq!((status.as_u16(), &body[..]), (200, &b"frames"[..]));
        assert!(headers.contains_key("x-request-id"));
        assert_eq!(ask(client, request(None), Some(&LARGEST[..])).await.2.len(), LARGEST.len());
        assert_eq!(ask(client, request(None), Some(&TOO_LARGE[..])).await.0.as_u16(), 413);
        assert_eq!(ask(client, request(Some(TOO_LARGE.len())), Some(&TOO_LARGE[..])).await.0.as_u16(), 413);
    });
}

#[test]
fn mounts_without_their_own_limit_are_limited_by_address() {
    let server = TestServer::start_with_options(
        TestServerOptions { mounts: with_echo, ..TestServerOptions::default_for(generous_tariff()) },
        |http| {
            http.open_per_minute = Some(2);
        },
    );
    let statuses: Vec<u16> = (0..4).map(|_| server.send_raw(&post("/echo", "a")).status).collect();
    assert_eq!(statuses, [200, 200, 429, 429]);
}
