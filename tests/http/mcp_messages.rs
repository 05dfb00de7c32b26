//! The corpus of bad messages: `mcp_messages/*.txt`, one case a line, `status what | how | body`.
//!
//! `what` is an error code, `ok` for a result, `tool` for a tool error, `list` for a batch of
//! responses, `-` for an empty body, `http` for the Error object. `how` is `old` for no headers,
//! `now` for those of the current version, followed by the method and the name, or the version to
//! send in the header. In the body, `\xHH` is a byte, `<<text*N>>` repeats a text N times, and
//! `$META` is the `_meta` of a valid request.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use hornbook::mcp::MCP_PATH;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::mcp::{call, open};
use crate::test_server::{TestResponse, TestServer};

const CASES_MIN: usize = 150;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

#[test]
fn every_bad_message_gets_the_expected_answer_for_free() {
    let server = open();
    let account = server.create_account(0);
    let key = server.create_key(account, &hornbook_accounts::scope::Scope::ALL);
    let cases = cases();
    assert!(cases.len() >= CASES_MIN, "{} cases", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(|case| check(&server, &key, case).err()).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let entries = server.accounts.recent_entries(account, 9).unwrap();
    assert!(entries.is_empty(), "nothing was charged and given back either: {entries:?}");
    assert!(!server.log().contains("\"status\":500"), "nothing broke");
    let answered = call(&server, "law.search", json!({ "q": "deposit" }), Some(&key));
    assert_eq!(answered.header_number("x-credits-cost"), 1);
}

/// For any mutation of a valid message, the answer is an MCP message, and none is an internal error.
#[test]
fn mutated_messages_get_valid_answers() {
    let server = open();
    let key = server.create_full_key();
    let good = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{META},"name":"law.search","arguments":{{"q":"deposit","limit":2}}}}}}"#
    );
    let edit = (any::<Index>(), prop_oneof![Just(None), any::<u8>().prop_map(Some)], any::<bool>());
    let edits = proptest::collection::vec(edit, 1..4);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(300) });
    runner
        .run(&edits, |edits| {
            let mut body = good.clone().into_bytes();
            for (at, put, is_inserted) in edits {
                let at = at.index(body.len());
                match put {
                    None => drop(body.remove(at)),
                    Some(byte) if is_inserted => body.insert(at, byte),
                    Some(byte) => body[at] = byte,
                }
            }
            let how = "now tools/call law.search".to_owned();
            let case =
                Case { place: "mutilated".to_owned(), status: 0, expected_kind: String::new(), header_mode: how, body };
            let answered = send(&server, &key, &case);
            prop_assert!(matches!(answered.status, 200 | 202 | 400 | 404), "{answered:?}");
            prop_assert!(kind(&answered) != "http", "{answered:?}");
            Ok(())
        })
        .unwrap();
    assert!(!server.log().contains("\"status\":500"), "nothing broke");
}

struct Case {
    /// File and line, for messages.
    place: String,
    status: u16,
    expected_kind: String,
    header_mode: String,
    body: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/mcp_messages");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{name}:{}", number + 1);
            let mut parts = line.splitn(3, '|');
            let mut part = || parts.next().unwrap_or_else(|| panic!("{place}: a separator ' | ' is missing"));
            let (expected, how, body) = (part().trim(), part().trim().to_owned(), part());
            let (status, what) = expected.split_once(' ').unwrap();
            let body = unescaped(body.strip_prefix(' ').unwrap_or(body));
            cases.push(Case {
                status: status.parse().unwrap(),
                expected_kind: what.to_owned(),
                header_mode: how,
                body,
                place,
            });
        }
    }
    cases
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut text = text.replace("$META", META);
    while let Some((before, rest)) = text.split_once("<<") {
        let (inside, behind) = rest.split_once(">>").unwrap();
        let (repeated, times) = inside.rsplit_once('*').unwrap();
        text = format!("{before}{}{behind}", repeated.repeat(times.parse().unwrap()));
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, escape)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&escape[..2], 16).unwrap());
        rest = &escape[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn check(server: &TestServer, key: &str, case: &Case) -> Result<(), String> {
    let answered = send(server, key, case);
    let found = format!("{} {}", answered.status, kind(&answered));
    match found == format!("{} {}", case.status, case.expected_kind) {
        true => Ok(()),
        false => Err(format!("{}: {found} instead of {} {}", case.place, case.status, case.expected_kind)),
    }
}

fn send(server: &TestServer, key: &str, case: &Case) -> TestResponse {
    let mut head = format!(
        "POST {MCP_PATH} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {key}\r\nContent-Length: {}\r\n",
        case.body.len()
    );
    match case.header_mode.split(' ').collect::<Vec<_>>().as_slice() {
        ["old"] => {}
        ["now", names @ ..] => {
            head += "MCP-Protocol-Version: 2026-07-28\r\n";
            for (header, value) in ["Mcp-Method", "Mcp-Name"].iter().zip(names) {
                head += &format!("{header}: {value}\r\n");
            }
        }
        [version] => head += &format!("MCP-Protocol-Version: {version}\r\n"),
        other => panic!("{}: {other:?}", case.place),
    }
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    // A server that refuses early may stop reading.
    let _ = stream.write_all(&[head.as_bytes(), b"\r\n", &case.body].concat());
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    TestResponse::read(&received)
}

/// The kind of an answer, in the notation of the cases.
fn kind(answered: &TestResponse) -> String {
    if answered.body.is_empty() {
        return "-".to_owned();
    }
    let body: Value = answered.json();
    if body.is_array() {
        let is_response = |response: &Value| {
            response["jsonrpc"] == "2.0" && (response.get("result").is_some() || response.get("error").is_some())
        };
        assert!(body.as_array().unwrap().iter().all(is_response), "{body:#}");
        return "list".to_owned();
    }
    if body["error"].is_string() {
        return "http".to_owned();
    }
    assert_eq!(body["jsonrpc"], "2.0", "{body:#}");
    match (&body["error"]["code"], body["result"]["isError"].as_bool()) {
        (Value::Number(code), _) => code.to_string(),
        (_, Some(true)) => "tool".to_owned(),
        _ => "ok".to_owned(),
    }
}
