//! Thousands of clients at the same time that send nothing, or half of a request.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::serving::QuickStartServer;

/// The number of clients of each kind. `HORNBOOK_TEST_SLOW_CLIENTS` sets another one (`make slow-clients`).
const CLIENTS: u64 = 500;

/// Files besides connections that either process has open.
const OTHER_FILES: u64 = 500;

#[test]
fn silent_and_incomplete_requests_time_out_while_new_clients_are_served() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    let wanted = std::env::vars().find(|(name, _)| name == "HORNBOOK_TEST_SLOW_CLIENTS");
    let wanted = wanted.map_or(CLIENTS, |(_, clients)| clients.parse().unwrap());
    let clients = wanted.min(limit.saturating_sub(OTHER_FILES) / 2);
    if clients < wanted {
        println!("only {limit} files may be open: {clients} clients of each kind instead of {wanted}");
    }
    let data = tempfile::tempdir().unwrap();
    let settings = ["server.connections_max=20000", "server.connections_per_address_max=20000", "log.requests=errors"];
    let mut server = QuickStartServer::with(data.path(), &settings);
    let connect = || {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    };
    let half = || {
        let mut stream = connect();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n").unwrap();
        stream
    };
    let mut open: Vec<(TcpStream, bool)> = Vec::new();
    for _ in 0..clients {
        open.push((connect(), false));
        open.push((half(), true));
    }
    let opened = Instant::now();
    let done = AtomicBool::new(false);
    let (closed, slowest) = std::thread::scope(|scope| {
        let fresh = scope.spawn(|| {
            let mut slowest = Duration::ZERO;
            while !done.load(Ordering::Relaxed) {
                let began = Instant::now();
                assert!(server.get("/healthz").starts_with("HTTP/1.1 200 OK"));
                slowest = slowest.max(began.elapsed());
                std::thread::sleep(Duration::from_millis(20));
            }
            slowest
        });
        for (mut stream, is_half) in open {
            let mut said = Vec::new();
            stream.read_to_end(&mut said).unwrap();
            assert_eq!(said.starts_with(b"HTTP/1.1 408 "), is_half, "{}", said.escape_ascii());
            assert!(is_half || said.is_empty());
        }
        let closed = opened.elapsed();
        done.store(true, Ordering::Relaxed);
        (closed, fresh.join().unwrap())
    });
    println!("{clients} of each closed after {closed:.1?}, a fresh client waited at most {slowest:.1?}");
    assert_eq!(server.stop(), Some(0));
}
