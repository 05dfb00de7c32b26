//! HTTP/2 clients that request little and stay long: handwritten frames, and responses that are not read.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hornbook::http::Timeouts;
use hornbook_accounts::scope::Scope;

use crate::test_server::{TestServer, TestServerOptions, generous_tariff, wait_until};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const UNKNOWN: u8 = 0xfa;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A server with timeouts of one second.
fn start_with_short_timeouts() -> TestServer {
    let second = Duration::from_secs(1);
    let timeouts = Timeouts { head: second, idle: second, unread: second, read_rate_min: 1 << 20 };
    TestServer::start_with(generous_tariff(), |http| http.timeouts = timeouts)
}

/// Opens a connection: preface, and settings with this window for each response.
fn open(server: &TestServer, window: u32) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let settings = [&[0, 4][..], &window.to_be_bytes()].concat();
    stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &settings)].concat()).unwrap();
    stream
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The head of a GET, in HPACK without tables.
fn head(path: &str, key: Option<&str>) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let mut block = [&[0x82, 0x86, 0x04][..], &text(path), &[0x01], &text("law.example")].concat();
    if let Some(key) = key {
        block.extend([&[0x00][..], &text("authorization"), &text(&format!("Bearer {key}"))].concat());
    }
    block
}

fn request(stream: u32, path: &str, key: Option<&str>) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &head(path, key))
}

/// Returns whether the server closes a connection that sends `first`, then each of `then` 50 ms apart.
fn is_closed_by_server(
    mut stream: TcpStream,
    first: &[u8],
    then: impl IntoIterator<Item = Vec<u8>> + Send + 'static,
) -> bool {
    // The server may close the connection before all of it is sent.
    let _ = stream.write_all(first);
    let mut writer = stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        for bytes in then {
            std::thread::sleep(Duration::from_millis(50));
            if writer.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    let mut piece = [0; 64 << 10];
    let is_ended = loop {
        match stream.read(&mut piece) {
            Ok(0) => break true,
            Ok(_) => {}
            Err(error) => break error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    };
    let _ = stream.shutdown(std::net::Shutdown::Both);
    writing.join().unwrap();
    is_ended
}

/// The bytes one by one.
fn byte_by_byte(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.iter().map(|byte| vec![*byte]).collect()
}

#[test]
fn control_frames_do_not_keep_a_connection_open() {
    let server = start_with_short_timeouts();
    for (kind, payload) in [(PING, 8), (SETTINGS, 0), (PRIORITY, 5), (UNKNOWN, 3)] {
        let stream_number = u32::from(kind == PRIORITY);
        let one = frame(kind, 0, stream_number, &vec![0; payload]);
        let now_and_then = std::iter::repeat_n(one, 2000);
        assert!(is_closed_by_server(open(&server, 65_535), b"", now_and_then), "frames of kind {kind}");
    }
    assert_eq!(server.get_with("/healthz", &[]).status, 200);
}

#[test]
fn a_frame_and_a_head_must_be_complete_in_time() {
    let server = start_with_short_timeouts();
    let long_settings = frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9].repeat(500));
    assert!(is_closed_by_server(open(&server, 65_535), b"", byte_by_byte(&long_settings)), "a dribbled frame");

    let long_head = frame(HEADERS, END_STREAM | END_HEADERS, 1, &[head("/healthz", None), vec![0; 3000]].concat());
    assert!(is_closed_by_server(open(&server, 65_535), b"", byte_by_byte(&long_head)), "a dribbled head");

    let begun = frame(HEADERS, END_STREAM, 1, &head("/healthz", None));
    let continuations = std::iter::repeat_n(frame(9, 0, 1, b""), 500);
    assert!(is_closed_by_server(open(&server, 65_535), &begun, continuations), "a head in frames without an end");
}

#[test]
fn floods_of_control_frames_close_the_connection() {
    let server = TestServer::start(generous_tariff());
    let increment = 1_u32.to_be_bytes();
    for (kind, stream, payload) in [
        (PING, 0, &[0; 8][..]),
        (SETTINGS, 0, b""),
        (PRIORITY, 1, &[0; 5]),
        (WINDOW_UPDATE, 0, &increment),
        (UNKNOWN, 0, b"?"),
    ] {
        let flood = frame(kind, 0, stream, payload).repeat(20);
        assert!(
            is_closed_by_server(open(&server, 65_535), &flood, std::iter::repeat_n(flood.clone(), 500)),
            "frames of kind {kind}"
        );
    }
    let reset_at_once = |stream: u32| [request(stream, "/healthz", None), frame(3, 0, stream, &[0, 0, 0, 8])].concat();
    let rapid: Vec<u8> = (0..2000).flat_map(|number| reset_at_once(2 * number + 1)).collect();
    assert!(is_closed_by_server(open(&server, 65_535), &rapid, []), "requests that are reset");
    let body = frame(DATA, 0, 1, b"").repeat(2000);
    let begun = frame(HEADERS, END_HEADERS, 1, &head("/healthz", None));
    assert!(is_closed_by_server(open(&server, 65_535), &[begun, body].concat(), []), "a body of empty frames");
    assert_eq!(server.get_with("/healthz", &[]).status, 200);
}

#[test]
fn unread_responses_close_the_connection_whatever_else_is_sent() {
    let server = start_with_short_timeouts();
    let key = server.create_full_key();
    let burst: Vec<u8> = (0..64).flat_map(|number| request(2 * number + 1, "/api/v1/coverage", Some(&key))).collect();
    let pings = std::iter::repeat_n(frame(PING, 0, 0, &[0; 8]), 2000);
    assert!(is_closed_by_server(open(&server, 0), &burst, pings), "with a window of zero");

    // Other responses are requested and read meanwhile, but each response has its own deadline.
    let held = request(1, "/api/v1/openapi.json", None);
    let more = (1..2000).map(|number| {
        let stream = 2 * number + 1;
        let window = frame(WINDOW_UPDATE, 0, stream, &1000_u32.to_be_bytes());
        [request(stream, "/healthz", None), window].concat()
    });
    assert!(is_closed_by_server(open(&server, 0), &held, more), "beside others that are read");
    wait_until("the end of all connections", || server.metric_value("hornbook_connections") < 0.5);
}

#[test]
fn an_address_with_too_many_unread_bytes_gets_a_503() {
    let server = TestServer::start_with(generous_tariff(), |http| http.unread_bytes_per_address_max = 1);
    let mut greedy = open(&server, 0);
    greedy.write_all(&request(1, "/nowhere", None)).unwrap();
    wait_until("an answer", || {
        server.metric_value("hornbook_requests_total{operation=\"other\",status=\"404\"}") > 0.5
    });
    let refused = server.get_with("/healthz", &[]).expect_error(503, "overloaded");
    assert_eq!(refused["retryAfterSec"], 1);
    drop(greedy);
    wait_until("room for another", || server.get_with("/healthz", &[]).status == 200);
}

#[test]
fn an_account_with_too_many_unread_bytes_gets_a_503_and_pays_nothing_for_it() {
    let server = TestServer::start_with_options(
        TestServerOptions { unread_bytes_per_account_max: 1, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    );
    let account = server.create_account(0);
    let (key, other) = (server.create_key(account, &Scope::ALL), server.create_full_key());
    let left = || server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    let mut greedy = open(&server, 0);
    greedy.write_all(&request(1, "/api/v1/coverage", Some(&key))).unwrap();
    wait_until("an answer", || {
        server.metric_value("hornbook_requests_total{operation=\"coverage\",status=\"200\"}") > 0.5
    });
    let refused = server.get("/api/v1/coverage", &key).expect_error(503, "overloaded");
    assert!(refused["message"].as_str().unwrap().contains("this account"), "{refused}");
    assert_eq!(left(), 50_000 - 1, "the answer that is not read");
    assert_eq!(server.get("/api/v1/coverage", &other).status, 200, "other accounts notice nothing");
    drop(greedy);
    wait_until("room for another", || server.get("/api/v1/coverage", &key).status == 200);
    assert_eq!(left(), 50_000 - 2);
}
