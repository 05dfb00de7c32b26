//! Exports of long ledgers: sent in parts, whole, one at a time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hornbook_accounts::ids::{AccountId, Credits};
use hyper::Request;

use crate::browser::{Browser, SESSION_COOKIE, start_with_account_pages};
use crate::http2;
use crate::test_server::{TestResponse, TestServer, wait_until};

/// More than two parts.
const ENTRIES: u32 = 2_300;

/// Gives the account a long ledger.
fn fill_ledger(server: &TestServer, account: AccountId) {
    const THREADS: u32 = 20;
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ENTRIES / THREADS {
                    server.accounts.grant(account, Credits(1), "one".to_owned(), &server.test_act()).unwrap();
                }
            });
        }
    });
}

/// Checks that the file has each entry once, newest first.
fn assert_is_whole(csv: &[u8], server: &TestServer, account: AccountId) {
    let mut reader = csv::ReaderBuilder::new().from_reader(csv);
    let rows: Vec<String> = reader.records().map(|row| row.unwrap()[0].to_owned()).collect();
    let entries = server.accounts.recent_entries(account, 10_000).unwrap();
    assert!(entries.len() >= ENTRIES as usize);
    assert_eq!(rows, entries.iter().map(|entry| entry.id.to_string()).collect::<Vec<_>>());
}

fn request_of(browser: &Browser<'_>, method: &str, path: &str) -> Vec<u8> {
    let cookie = format!("{SESSION_COOKIE}={}", browser.cookies[SESSION_COOKIE]);
    format!("{method} {path} HTTP/1.1\r\nHost: law.example\r\nCookie: {cookie}\r\n\r\n").into_bytes()
}

#[test]
fn a_long_ledger_is_one_file_over_both_versions_of_http_and_the_connection_goes_on() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    fill_ledger(&server, account);
    let csv = browser.get("/settings/ledger.csv");
    assert_eq!((csv.status, csv.header("content-length")), (200, ""));
    assert_is_whole(&csv.body, &server, account);

    // On one connection: the head alone, the file, and the next request.
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(&request_of(&browser, "HEAD", "/settings/ledger.csv")).unwrap();
    let head = read_until(&mut stream, b"\r\n\r\n");
    assert!(head.starts_with(b"HTTP/1.1 200") && !String::from_utf8_lossy(&head).contains("content-length"));
    stream.write_all(&request_of(&browser, "GET", "/settings/ledger.csv")).unwrap();
    let answered = read_until(&mut stream, b"\r\n0\r\n\r\n");
    assert_is_whole(&TestResponse::read(&answered).body, &server, account);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(TestResponse::read(&rest).status, 200);

    let cookie = format!("{SESSION_COOKIE}={}", browser.cookies[SESSION_COOKIE]);
    http2::talk(&server, async |client| {
        let request = Request::builder().uri("http://law.example/settings/ledger.csv").header("cookie", cookie);
        let (status, _, body) = http2::ask(client, request.body(()).unwrap(), None).await;
        assert_eq!(status, 200);
        assert_is_whole(&body, &server, account);
    });
}

#[test]
fn an_account_has_one_export_at_a_time_which_ends_with_its_reader() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    fill_ledger(&server, browser.account());
    // Over HTTP/2 the server sends what fits into the window, and waits for this client.
    http2::talk(&server, async |client| {
        let cookie = format!("{SESSION_COOKIE}={}", browser.cookies[SESSION_COOKIE]);
        let request = Request::builder().uri("http://law.example/settings/ledger.csv").header("cookie", cookie);
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, _) = ready.send_request(request.body(()).unwrap(), true).unwrap();
        let (head, unread) = answer.await.unwrap().into_parts();
        assert_eq!(head.status, 200);
        assert_eq!(browser.get("/settings/ledger.csv").status, 503, "one is in progress");
        drop(unread);
    });
    wait_until("the end of the export", || browser.get("/settings/ledger.csv").status == 200);
}

/// A reader whose download ended early goes on from the last entry of the file.
#[test]
fn an_export_begins_at_an_entry() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    fill_ledger(&server, account);
    let entries = server.accounts.recent_entries(account, 10_000).unwrap();
    let ids = |csv: &[u8]| -> Vec<String> {
        let mut reader = csv::ReaderBuilder::new().from_reader(csv);
        reader.records().map(|row| row.unwrap()[0].to_owned()).collect()
    };
    // In the first part, and so late that one part is enough.
    for at in [100, entries.len() - 20] {
        let rest: Vec<String> = entries[at..].iter().map(|entry| entry.id.to_string()).collect();
        let export = browser.get(&format!("/settings/ledger.csv?from={}", rest[0]));
        assert_eq!((export.status, ids(&export.body)), (200, rest), "from entry {at}");
    }
}

#[test]
fn an_account_has_four_exports_a_minute() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    for export in 1..=4 {
        assert_eq!(browser.get("/settings/ledger.csv").status, 200, "export {export}");
    }
    let refused = browser.get("/settings/ledger.csv");
    assert_eq!(refused.status, 429);
    assert!((1..=15).contains(&refused.header_number("retry-after")), "{}", refused.header("retry-after"));
    assert_eq!(browser.get("/settings/ledger").status, 200, "the pages of the ledger can still be read");
    assert_eq!(Browser::approved(&server, "john").get("/settings/ledger.csv").status, 200, "another account");
}

fn read_until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let (mut read, mut space) = (Vec::new(), [0; 4096]);
    while !read.ends_with(end) {
        let length = stream.read(&mut space).unwrap();
        assert!(length > 0, "the connection ended: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&space[..length]);
    }
    read
}
