//! Clients that keep the service waiting, and an overloaded service.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use hornbook::http::{HttpSettings, Timeouts};
use hornbook_accounts::scope::Scope;
use rustls::pki_types::CertificateDer;

use crate::test_server::{TestResponse, TestServer, generous_tariff, wait_until};
use crate::tls::{TlsServer, tls_connect};

const HEALTH_REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

/// A server with timeouts of one second.
fn impatient() -> TestServer {
    TestServer::start_with(generous_tariff(), set_short_timeouts)
}

fn set_short_timeouts(http: &mut HttpSettings) {
    let second = Duration::from_secs(1);
    http.timeouts = Timeouts { head: second, idle: second, unread: second, read_rate_min: 4096 };
}

fn connect(server: &TestServer) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn read_to_close(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn silent_clients_are_closed_and_half_a_head_is_answered_with_408() {
    let server = impatient();
    let silent = connect(&server);
    let mut half = connect(&server);
    half.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n").unwrap();
    let mut kept = connect(&server);
    kept.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut dripping = connect(&server);
    dripping.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    let (reader, mut writer) = (dripping.try_clone().unwrap(), dripping.try_clone().unwrap());
    std::thread::spawn(move || {
        // Constant progress, but the head never ends.
        while writer.write_all(b"X: y\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });

    assert_eq!(read_to_close(silent), b"");
    TestResponse::read(&read_to_close(half)).expect_error(408, "request_timeout");
    assert_eq!(TestResponse::read(&read_to_close(kept)).status, 200);
    TestResponse::read(&read_to_close(reader)).expect_error(408, "request_timeout");
    assert_eq!(server.get_with("/healthz", &[]).status, 200);
}

const LARGE_RESPONSE_REQUEST: &[u8] = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n";

/// A connection with a tiny receive buffer.
fn connect_with_small_buffer(server: &TestServer) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4 << 10).unwrap();
        socket.connect(server.address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}

/// The same, plain or with TLS.
fn connect_with_small_buffer_over(
    server: &TestServer,
    certificate: Option<&CertificateDer<'static>>,
) -> Box<dyn ReadWrite> {
    let stream = connect_with_small_buffer(server);
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // The test must not wait for a server that stopped reading.
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    match certificate {
        None => Box::new(stream),
        Some(certificate) => Box::new(tls_connect(stream, certificate, &[b"http/1.1"])),
    }
}

trait ReadWrite: Read + Write + Send {}

impl<S: Read + Write + Send> ReadWrite for S {}

/// Runs the test without and with TLS.
fn with_and_without_tls(
    change: impl Fn(&mut HttpSettings),
    test: impl Fn(&TestServer, Option<&CertificateDer<'static>>),
) {
    test(&TestServer::start_with(generous_tariff(), &change), None);
    let encrypted = TlsServer::open_changed(&change);
    test(&encrypted.server, Some(&encrypted.certificate));
}

#[test]
fn a_client_that_asks_and_never_reads_is_closed() {
    with_and_without_tls(set_short_timeouts, |server, certificate| {
        let mut streams: Vec<_> = (0..3).map(|_| connect_with_small_buffer_over(server, certificate)).collect();
        for stream in &mut streams {
            // More responses than all buffers can hold, and one byte after the requests.
            let _ = stream.write_all(&[&LARGE_RESPONSE_REQUEST.repeat(120)[..], b"G"].concat());
            let _ = stream.flush();
        }
        wait_until("the end of the connections", || server.metric_value("hornbook_connections") < 0.5);
        drop(streams);
    });
}

#[test]
fn a_client_that_reads_too_slowly_is_closed() {
    let change = |http: &mut HttpSettings| {
        set_short_timeouts(http);
        // Faster than any client can read, so that all waits add up although each is too short for
        // a timeout by itself.
        http.timeouts.read_rate_min = u32::MAX;
    };
    with_and_without_tls(change, |server, certificate| {
        let mut stream = connect_with_small_buffer_over(server, certificate);
        let (mut read, mut piece) = (0, vec![0; 256 << 10]);
        let mut asked = 0;
        let is_closed = loop {
            // One request for each read, so that there is always more to read.
            if stream.write_all(LARGE_RESPONSE_REQUEST).is_err() {
                break true;
            }
            asked += 1;
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => break true,
                Ok(length) => read += length,
            }
            if asked > 20_000 {
                break false;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert!(is_closed, "{read} bytes were read of the answers to {asked} requests");
        wait_until("its end", || server.metric_value("hornbook_connections") < 0.5);
    });
}

#[test]
fn half_closed_clients_still_get_their_responses() {
    let encrypted = TlsServer::open_changed(|_| ());
    let plain = TestServer::start(generous_tariff());
    for (server, certificate) in [(&plain, None), (&encrypted.server, Some(&encrypted.certificate))] {
        let account = server.create_account(0);
        let key = server.create_key(account, &Scope::ALL);
        let taken = server.occupy_workers();
        let asked = format!("GET /api/v1/search?q=deposit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n");
        let both = [asked.as_bytes(), HEALTH_REQUEST].concat();
        let mut stream = connect(server);
        let received = match certificate {
            None => {
                stream.write_all(&both).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
                // The server sees the end of the stream before the response is ready.
                wait_until("the search", || server.service.waiting() == 1);
                drop(taken);
                read_to_close(stream)
            }
            Some(certificate) => {
                let mut stream = tls_connect(stream, certificate, &[b"http/1.1"]);
                stream.write_all(&both).unwrap();
                stream.conn.send_close_notify();
                stream.flush().unwrap();
                wait_until("the search", || server.service.waiting() == 1);
                drop(taken);
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).unwrap();
                bytes
            }
        };
        let text = String::from_utf8(received).unwrap();
        assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
        let left = server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
        assert_eq!(left, 50_000 - 1);
    }
}

fn search(key: &str) -> String {
    format!(
        "GET /api/v1/search?q=deposit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    )
}

#[test]
fn searches_without_a_thread_are_refused_for_free() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let taken = server.occupy_workers();
    let waiting: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = connect(&server);
            stream.write_all(search(&key).as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(server.get("/api/v1/coverage", &key).status, 200, "light calls need no thread");
    for stream in waiting {
        let refused = TestResponse::read(&read_to_close(stream));
        refused.expect_error(503, "overloaded");
        assert_eq!(refused.header("retry-after"), "1");
    }
    drop(taken);
    assert_eq!(server.get("/api/v1/search?q=deposit", &key).status, 200);
    let left = server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    assert_eq!(left, 50_000 - 2, "one inventory and one search were answered");
}

#[test]
fn no_more_searches_wait_than_can_be_served_in_time() {
    let server = TestServer::start_with(generous_tariff(), |http| {
        http.connections_max = 1000;
        http.connections_per_address_max = 1000;
    });
    let key = server.create_full_key();
    let taken = server.occupy_workers();
    let mut streams = Vec::new();
    let mut most = 0;
    for _ in 0..400 {
        let mut stream = connect(&server);
        stream.write_all(search(&key).as_bytes()).unwrap();
        streams.push(stream);
        most = most.max(server.service.waiting());
    }
    assert!(streams.into_iter().all(|stream| TestResponse::read(&read_to_close(stream)).status == 503));
    // A request may be counted before the full queue refuses it.
    assert!(most <= 2 * 128 + 16, "{most} waited");
    assert_eq!(server.service.waiting(), 0);
    drop(taken);
}

#[test]
fn a_client_that_disconnects_leaves_the_queue_and_pays_nothing() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let taken = server.occupy_workers();
    let mut stream = connect(&server);
    // Closing a socket with unread bytes resets the connection.
    stream.write_all(HEALTH_REQUEST).unwrap();
    stream.peek(&mut [0]).unwrap();
    stream.write_all(search(&key).as_bytes()).unwrap();
    wait_until("the search", || server.service.waiting() == 1);
    drop(stream);
    wait_until("the end of the wait", || server.service.waiting() == 0);
    assert!(
        (server.metric_value("hornbook_requests_abandoned_total") - 1.0).abs() < 1e-9,
        "it was answered: {}",
        server.log()
    );
    assert!(server.metric_value("hornbook_requests_total{operation=\"search\",status=\"503\"}") < 0.5);
    drop(taken);
    let left = server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    assert_eq!(left, 50_000);
}
