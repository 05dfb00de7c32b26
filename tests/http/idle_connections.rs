//! Connections between requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hornbook_accounts::scope::Scope;

use crate::test_server::{TestServer, generous_tariff, wait_until};

const QUESTION: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

fn connect(server: &TestServer) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Reads until this many responses have begun. The last one may be incomplete.
fn read_answers(stream: &mut TcpStream, wanted: usize) {
    let mut received = Vec::new();
    let mut piece = [0; 64 << 10];
    let begins = |bytes: &[u8]| bytes.windows(15).filter(|window| *window == b"HTTP/1.1 200 OK").count();
    let mut begun = 0;
    while begun < wanted {
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "{begun} answers of {wanted}");
        received.extend_from_slice(&piece[..length]);
        begun += begins(&received);
        // Keeps the last bytes, which may be the start of the next one.
        let kept = received.len().min(14);
        received.drain(..received.len() - kept);
    }
}

#[test]
fn idle_connections_keep_no_buffers() {
    let server = TestServer::start(generous_tariff());
    let waiting = |count: u32| (server.metric_value("hornbook_connections_waiting") - f64::from(count)).abs() < 0.5;
    let mut connections: Vec<TcpStream> = (0..3).map(|_| connect(&server)).collect();
    wait_until("three silent ones", || waiting(3));
    for stream in &mut connections {
        stream.write_all(QUESTION).unwrap();
        read_answers(stream, 1);
    }
    wait_until("three that were answered", || waiting(3));

    let taken = server.occupy_workers();
    let key = server.create_key(server.create_account(0), &Scope::ALL);
    let search =
        format!("GET /api/v1/search?q=deposit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n").into_bytes();
    connections[0].write_all(&search).unwrap();
    wait_until("the search", || server.service.waiting() == 1);
    assert!(waiting(2), "{}", server.metrics());
    drop(taken);
    read_answers(&mut connections[0], 1);
    wait_until("all of them again", || waiting(3));
    drop(connections);
    wait_until("their end", || waiting(0));
}

#[test]
fn a_client_that_pipelines_and_reads_late_gets_every_response() {
    const REQUESTS: usize = 600;
    let server = TestServer::start(generous_tariff());
    let mut stream = connect(&server);
    let mut writer = stream.try_clone().unwrap();
    let request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n";
    let writing = std::thread::spawn(move || writer.write_all(&request.repeat(REQUESTS)).unwrap());
    // Until the buffers of both sides are full.
    let answered = || server.metric_value("hornbook_requests_total{operation=\"other\",status=\"200\"}");
    let mut before = -1.0;
    wait_until("an answer that cannot be sent", || {
        let now = answered();
        now > 1.0 && (now - std::mem::replace(&mut before, now)).abs() < 0.5
    });
    assert!(answered() < REQUESTS as f64, "all responses fitted into the socket buffers; the test needs more requests");
    read_answers(&mut stream, REQUESTS);
    writing.join().unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}
