//! Clients that keep the service waiting, and a service that has more to do than it can.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use hornbook::accounts::scope::Scope;
use hornbook::http::Patience;

use crate::house::{Answered, House, generous, wait_until};

/// A server that waits a second for anything.
fn impatient() -> House {
    let second = Duration::from_secs(1);
    House::open_changed(generous(), |http| http.patience = Patience { head: second, idle: second })
}

fn connect(house: &House) -> TcpStream {
    let stream = TcpStream::connect(house.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn who_says_nothing_is_closed_and_who_says_half_is_told_why() {
    let house = impatient();
    let silent = connect(&house);
    let mut half = connect(&house);
    half.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n").unwrap();
    let mut kept = connect(&house);
    kept.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut dripping = connect(&house);
    dripping.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    let (reader, mut writer) = (dripping.try_clone().unwrap(), dripping.try_clone().unwrap());
    std::thread::spawn(move || {
        // Some progress at any time, and yet never a head.
        while writer.write_all(b"X: y\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });

    assert_eq!(rest(silent), b"");
    Answered::read(&rest(half)).error(408, "request_timeout");
    assert_eq!(Answered::read(&rest(kept)).status, 200);
    Answered::read(&rest(reader)).error(408, "request_timeout");
    assert_eq!(house.get_with("/healthz", &[]).status, 200);
}

#[test]
fn who_does_not_read_the_answers_is_let_go() {
    let house = impatient();
    let mut greedy = connect(&house);
    let request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n";
    // More answers than the buffers of both sides hold.
    greedy.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let _ = greedy.write_all(&request.repeat(2000));
    wait_until("the end of the connection", || house.metric("hornbook_connections") < 0.5);
    assert_eq!(house.get_with("/healthz", &[]).status, 200);
}

fn search(key: &str) -> String {
    format!(
        "GET /api/v1/search?q=deposit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    )
}

#[test]
fn searches_that_do_not_get_their_turn_are_refused_for_nothing_and_light_calls_go_on() {
    let house = House::open(generous());
    let account = house.account(0);
    let key = house.key(account, &Scope::ALL);
    let permits = Arc::clone(house.service.permits());
    let taken = permits.try_acquire_many(2).unwrap();
    let waiting: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = connect(&house);
            stream.write_all(search(&key).as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(house.get("/api/v1/coverage", &key).status, 200, "light calls need no permit");
    for stream in waiting {
        let refused = Answered::read(&rest(stream));
        refused.error(503, "overloaded");
        assert_eq!(refused.header("retry-after"), "1");
    }
    drop(taken);
    assert_eq!(house.get("/api/v1/search?q=deposit", &key).status, 200);
    let left = house.accounts.account(account, house.clock.now()).unwrap().remaining.allotment;
    assert_eq!(left, 50_000 - 2, "one inventory and one search were answered");
}

#[test]
fn no_more_searches_wait_than_can_be_served_in_time() {
    let house = House::open_changed(generous(), |http| {
        http.connections_max = 1000;
        http.connections_per_address_max = 1000;
    });
    let key = house.any_key();
    let permits = Arc::clone(house.service.permits());
    let taken = permits.try_acquire_many(2).unwrap();
    let mut streams = Vec::new();
    let mut most = 0;
    for _ in 0..400 {
        let mut stream = connect(&house);
        stream.write_all(search(&key).as_bytes()).unwrap();
        streams.push(stream);
        most = most.max(house.service.waiting());
    }
    assert!(streams.into_iter().all(|stream| Answered::read(&rest(stream)).status == 503));
    // One more may have come in to learn that the queue is full.
    assert!(most <= 2 * 128 + 16, "{most} waited");
    assert_eq!(house.service.waiting(), 0);
    drop(taken);
}

#[test]
fn a_client_that_hangs_up_leaves_the_queue_and_pays_nothing() {
    let house = House::open(generous());
    let account = house.account(0);
    let key = house.key(account, &Scope::ALL);
    let permits = Arc::clone(house.service.permits());
    let taken = permits.try_acquire_many(2).unwrap();
    let mut stream = connect(&house);
    stream.write_all(search(&key).as_bytes()).unwrap();
    wait_until("the search", || house.service.waiting() == 1);
    drop(stream);
    wait_until("the end of the wait", || house.service.waiting() == 0);
    assert!((house.metric("hornbook_requests_abandoned_total") - 1.0).abs() < 1e-9, "it was answered: {}", house.log());
    assert!(house.metric("hornbook_requests_total{operation=\"search\",status=\"503\"}") < 0.5);
    drop(taken);
    let left = house.accounts.account(account, house.clock.now()).unwrap().remaining.allotment;
    assert_eq!(left, 50_000);
}
