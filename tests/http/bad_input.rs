//! The corpus of bad input: `bad_input/*.txt`, one case a line, `statuses | bytes`. Every answer
//! with a status of 400 or more must contain the Error object, whichever layer refused, and the
//! connection must end after the last answer.
//!
//! `support/bytes.rs` describes the notation of the bytes. `{key}` stands for a valid `Authorization` header.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::bytes::unescaped;
use crate::test_server::{TestServer, generous_tariff};

const CASES_MIN: usize = 300;

struct Case {
    /// File and line, for messages.
    place: String,
    statuses: Vec<u16>,
    bytes: Vec<u8>,
}

#[test]
fn every_case_has_the_expected_status() {
    let server = TestServer::start(generous_tariff());
    let cases = cases(&server.create_full_key());
    assert!(cases.len() >= CASES_MIN, "{} cases", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(|case| check(server.address, case).err()).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// For any mutation of a valid request, every error has our Error object, and none is an internal error.
#[test]
fn mutated_requests_always_get_our_error_object() {
    let server = TestServer::start(generous_tariff());
    let good = format!(
        "GET /api/v1/search?q=deposit%20return&limit=2 HTTP/1.1\r\nHost: law.example\r\nAuthorization: Bearer {}\r\n\
         Content-Length: 0\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        server.create_full_key()
    );
    let mutilation = (
        any::<Index>(),
        prop_oneof![Just(Mutation::Remove), Just(Mutation::Duplicate), any::<u8>().prop_map(Mutation::Replace)],
    );
    let mutilations = proptest::collection::vec(mutilation, 1..4);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(400) });
    runner
        .run(&mutilations, |mutilations| {
            let mut bytes = good.clone().into_bytes();
            for (at, edit) in mutilations {
                edit.carry_out(&mut bytes, at);
            }
            // These bytes are refused in any state, so the connection ends even if the mutation
            // removed `Connection: close`.
            bytes.extend_from_slice(b"\n\n");
            let answers = converse(server.address, &bytes).map_err(TestCaseError::fail)?;
            prop_assert!(answers.iter().all(|(status, _)| *status < 500 || *status == 505), "{answers:?}");
            Ok(())
        })
        .unwrap();
}

#[derive(Clone, Copy, Debug)]
enum Mutation {
    Remove,
    Duplicate,
    Replace(u8),
}

impl Mutation {
    fn carry_out(self, bytes: &mut Vec<u8>, at: Index) {
        let at = at.index(bytes.len());
        match self {
            Self::Remove => drop(bytes.remove(at)),
            Self::Duplicate => bytes.insert(at, bytes[at]),
            Self::Replace(byte) => bytes[at] = byte,
        }
    }
}

fn cases(key: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/bad_input");
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| read_cases(file, key)).collect()
}

fn read_cases(file: &Path, key: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let name = file.file_name().unwrap().to_string_lossy();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(number, line): (usize, &str)| {
        let place = format!("{name}:{}", number + 1);
        let (statuses, bytes) =
            line.split_once(" | ").unwrap_or_else(|| panic!("{place}: the separator ' | ' is missing"));
        let statuses = statuses.split(' ').map(|status| status.parse().unwrap()).collect();
        Case { statuses, bytes: unescaped(bytes, key), place }
    };
    lines.map(read).collect()
}

fn check(address: SocketAddr, case: &Case) -> Result<(), String> {
    let answers = converse(address, &case.bytes).map_err(|problem| format!("{}: {problem}", case.place))?;
    let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
    match statuses == case.statuses {
        true => Ok(()),
        false => Err(format!("{}: {statuses:?} instead of {:?}: {answers:?}", case.place, case.statuses)),
    }
}

/// Sends the bytes and reads all answers. Each must be complete, and every refusal must be an Error object.
fn converse(address: SocketAddr, bytes: &[u8]) -> Result<Vec<(u16, String)>, String> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // A server that refuses early may stop reading.
    let _ = stream.write_all(bytes);
    let mut received = Vec::new();
    stream.read_to_end(&mut received).map_err(|error| format!("no end: {error}"))?;
    let asked_head = |number: usize| nth_request(bytes, number).is_some_and(|line| line.starts_with(b"HEAD "));
    let mut answers = Vec::new();
    let mut rest = received.as_slice();
    while !rest.is_empty() {
        let (status, body, behind) = one_answer(rest, asked_head(answers.len()))?;
        answers.push((status, body));
        rest = behind;
    }
    Ok(answers)
}

/// The bytes from the nth request on, for pipelined requests without bodies.
fn nth_request(bytes: &[u8], number: usize) -> Option<&[u8]> {
    let mut rest = bytes;
    for _ in 0..number {
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        rest = &rest[end + 4..];
    }
    Some(rest)
}

fn one_answer(bytes: &[u8], to_head: bool) -> Result<(u16, String, &[u8]), String> {
    let strange = || format!("not an answer: {}", bytes.escape_ascii());
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or_else(strange)?;
    let head = str::from_utf8(&bytes[..end]).map_err(|_| strange())?;
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(strange)?;
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let length: usize = value("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let length = if to_head { 0 } else { length };
    let body = bytes.get(end + 4..end + 4 + length).ok_or_else(strange)?;
    let behind = &bytes[end + 4 + length..];
    if value("x-request-id").is_none() {
        return Err(strange());
    }
    if status >= 400 && !to_head {
        let object: Value = serde_json::from_slice(body).map_err(|_| strange())?;
        if !object["error"].is_string() || object["message"].as_str().is_none_or(|message| message.len() < 20) {
            return Err(strange());
        }
    }
    Ok((status, String::from_utf8_lossy(body).into_owned(), behind))
}
