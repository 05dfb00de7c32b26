//! Behind proxies: which proxies may name the client of a request, and whose limits apply.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hornbook::http::Proxies;
use serde_json::Value;

use crate::test_server::{TestResponse, TestServer, generous_tariff};

const REQUEST: &str = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

fn server(proxies: &str, announce: bool, per_address: usize) -> TestServer {
    let networks = proxies.split(',').map(|network| network.trim().parse().unwrap()).collect();
    let proxies = Proxies { networks, uses_proxy_protocol: announce };
    TestServer::start_with(generous_tariff(), |http| {
        http.proxies = proxies;
        http.connections_per_address_max = per_address;
    })
}

/// The client in the last line of the log.
fn client(server: &TestServer) -> String {
    let log = server.log();
    let line: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    line["client"].as_str().unwrap().to_owned()
}

#[test]
fn only_configured_proxies_name_the_client() {
    let forwarded = [("X-Forwarded-For", "198.51.100.1, 203.0.113.9")];
    let trusting = server("127.0.0.0/8", false, 10);
    assert_eq!(trusting.get_with("/healthz", &forwarded).status, 200);
    assert_eq!(client(&trusting), "203.0.113.9");
    let wary = server("10.0.0.0/8", false, 10);
    assert_eq!(wary.get_with("/healthz", &forwarded).status, 200);
    assert_eq!(client(&wary), "127.0.0.1");
}

#[test]
fn connections_of_proxies_begin_with_the_proxy_protocol_where_that_is_configured() {
    let server = server("127.0.0.1", true, 10);
    let version_2 =
        [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x09\x7f\0\0\x01\0\x50\x01\xbb"[..], REQUEST.as_bytes()];
    let version_1 = [&b"PROXY TCP4 203.0.113.9 127.0.0.1 80 443\r\n"[..], REQUEST.as_bytes()];
    for bytes in [version_1.concat(), version_2.concat()] {
        assert_eq!(send(&server, &bytes).map(|answer| answer.status), Some(200));
        assert_eq!(client(&server), "203.0.113.9");
    }
    let of_itself = [&b"PROXY UNKNOWN\r\n"[..], REQUEST.as_bytes()].concat();
    assert_eq!(send(&server, &of_itself).map(|answer| answer.status), Some(200));
    assert_eq!(client(&server), "127.0.0.1");
    assert!(send(&server, REQUEST.as_bytes()).is_none(), "a connection without the PROXY header was answered");
    assert!((server.metric_value("hornbook_connections_refused_total{why=\"no_proxy_protocol\"}") - 1.0).abs() < 1e-9);
}

#[test]
fn the_proxy_protocol_is_ignored_from_other_peers() {
    let server = server("10.0.0.0/8", true, 10);
    let bytes = [&b"PROXY TCP4 203.0.113.9 127.0.0.1 80 443\r\n"[..], REQUEST.as_bytes()].concat();
    send(&server, &bytes).unwrap().expect_error(400, "bad_request");
    assert_eq!(send(&server, REQUEST.as_bytes()).map(|answer| answer.status), Some(200));
}

#[test]
fn the_connection_limit_counts_the_client_address() {
    let server = server("127.0.0.1", true, 1);
    let hello = |address: &str| format!("PROXY TCP4 {address} 127.0.0.1 80 443\r\n");
    let mut kept = TcpStream::connect(server.address).unwrap();
    kept.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    kept.write_all(format!("{}GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", hello("203.0.113.9")).as_bytes()).unwrap();
    kept.read_exact(&mut [0; 12]).unwrap();
    let from = |address: &str| send(&server, format!("{}{REQUEST}", hello(address)).as_bytes());
    assert!(from("203.0.113.9").is_none(), "a second connection of one address");
    assert_eq!(from("203.0.113.10").map(|answer| answer.status), Some(200));
    drop(kept);
    let is_free = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        from("203.0.113.9").is_some()
    });
    assert!(is_free, "the closed connection still counts");
}

/// Sends the bytes and reads the response; `None` if the connection ends without one.
fn send(server: &TestServer, bytes: &[u8]) -> Option<TestResponse> {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let _ = stream.write_all(bytes);
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    (!received.is_empty()).then(|| TestResponse::read(&received))
}
