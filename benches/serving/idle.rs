//! Idle connections: what they cost, and whether they slow down a new client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::server::{BenchData, ServerProcess, connect, get};

const IDLE_CONNECTIONS: usize = 10_000;

/// Files that this process needs besides connections.
const OTHER_OPEN_FILES_MAX: usize = 500;

/// The number of new clients, one after the other.
const CLIENTS: usize = 400;

pub(crate) fn measure(data: &BenchData<'_>) {
    let waiting = IDLE_CONNECTIONS.min(files().saturating_sub(OTHER_OPEN_FILES_MAX));
    let server = data.serve(&["ledger.durability=window"]).0;
    // A first round, so that memory allocated at the first call is not attributed to connections.
    fresh_clients(&server, &data.key);
    let (memory, alone) = (server.memory(), fresh_clients(&server, &data.key));
    let connections: Vec<TcpStream> = (0..waiting).map(|_| asked_once(&server)).collect();
    let beside = fresh_clients(&server, &data.key);
    let added = server.memory() - memory;
    println!("| {waiting} idle connections after one request each: added memory | {added:.1} MB | |");
    for (what, times) in [("alone", alone), ("beside them", beside)] {
        let last = times.len() - 1;
        let (median, p99) = (times[last / 2], times[last * 99 / 100]);
        println!("| a new client {what}, including connecting: median; p99 | {median:.0}; {p99:.0} us | |");
    }
    drop(connections);
}

/// Raises the limit of open files, which the server inherits, as far as allowed, and returns it.
fn files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    now.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

fn asked_once(server: &ServerProcess) -> TcpStream {
    let mut stream = connect(&server.address);
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).expect("a request sent");
    let mut answer = [0; 2048];
    let length = stream.read(&mut answer).expect("an answer");
    assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..length]));
    stream
}

/// Microseconds for each client, shortest first.
fn fresh_clients(server: &ServerProcess, key: &str) -> Vec<f64> {
    let ask = |_| {
        let began = Instant::now();
        assert!(get(&server.address, "/api/v1/coverage", Some(key)).starts_with(b"HTTP/1.1 200"));
        began.elapsed().as_secs_f64() * 1e6
    };
    let mut times: Vec<f64> = (0..CLIENTS).map(ask).collect();
    times.sort_by(f64::total_cmp);
    times
}
