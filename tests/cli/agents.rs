//! `hornbook mcp`, started by agents: with a snapshot, or as a proxy to a server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::serving::QuickStartServer;
use crate::{hornbook, sample_plan};

/// A running `hornbook mcp`.
struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Agent {
    fn start(arguments: &[&str], key: Option<&str>) -> Self {
        let mut command = hornbook();
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(key) = key {
            command.env("HORNBOOK_KEY", key);
        }
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        let answer = self.read();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{answer:#}");
        answer
    }

    /// Closes the input and reads the remaining answers.
    fn end(mut self) -> Vec<Value> {
        drop(self.input.take());
        let lines = self.output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

fn snapshot(folder: &Path) -> String {
    let out = folder.join("snapshot");
    let built = hornbook().args(["build", "--out"]).arg(&out).arg(sample_plan()).output().unwrap();
    assert!(built.status.success(), "{}", crate::stderr(&built));
    out.display().to_string()
}

fn meta() -> Value {
    json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} })
}

fn search() -> Value {
    json!({ "name": "law.search", "arguments": { "q": "return of the security deposit" } })
}

#[test]
fn a_local_snapshot_needs_no_key_in_any_protocol_version() {
    let dir = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(&[&snapshot(dir.path())], None);
    let discovered = agent.ask(1, "server/discover", &json!({ "_meta": meta() }));
    assert_eq!(discovered["result"]["supportedVersions"][0], "2026-07-28");
    let mut params = search();
    params["_meta"] = meta();
    let found = agent.ask(2, "tools/call", &params);
    assert_eq!(found["result"]["isError"], false, "{found:#}");
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let agreed = agent.ask(3, "initialize", &params);
    assert_eq!(agreed["result"]["protocolVersion"], "2025-06-18");
    agent.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let older = agent.ask(4, "tools/call", &search());
    assert_eq!(older["result"]["content"][0], found["result"]["content"][0]);
    assert!(older["result"].get("resultType").is_none());
    for id in 5..105 {
        assert_eq!(agent.ask(id, "tools/call", &search())["result"]["isError"], false, "nothing runs out");
    }
    assert_eq!(agent.end(), [] as [Value; 0]);
}

#[test]
fn invalid_messages_are_refused_and_the_next_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(&[&snapshot(dir.path())], None);
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "a".repeat(70_000));
    for (line, code) in [("{", -32700), (long.as_str(), -32700), ("7", -32600), ("[]", -32600)] {
        agent.send(line);
        assert_eq!(agent.read()["error"]["code"], code);
    }
    agent.send("");
    agent.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    agent.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nothing"}}"#);
    assert_eq!(agent.ask(2, "ping", &json!({}))["result"], json!({}));
    // The last line has no line end, and it is answered although the input is already closed.
    agent.input.as_mut().unwrap().write_all(br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#).unwrap();
    assert_eq!(agent.end(), [json!({ "jsonrpc": "2.0", "id": 3, "result": {} })]);
}

#[test]
fn a_cancelled_request_gets_no_answer_and_the_others_do() {
    let dir = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(&[&snapshot(dir.path())], None);
    // So many at the same time that most are still queued when they are cancelled.
    let line = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": search() }).to_string();
    let cancelled = |id: u32| {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }).to_string()
    };
    let sent: Vec<String> = (0..50).map(line).chain((1..50).map(cancelled)).collect();
    agent.send(&sent.join("\n"));
    agent.send(&line(99));
    let answers = agent.end();
    let ids: Vec<u64> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert!(ids.contains(&0) && ids.contains(&99), "{ids:?}");
    assert!(ids.len() < 51, "some were cancelled in time: {ids:?}");
}

#[test]
fn a_key_is_not_sent_unencrypted_to_another_machine() {
    let dir = tempfile::tempdir().unwrap();
    let key_file = dir.path().join("key").display().to_string();
    std::fs::write(&key_file, "hb_live_x\n").unwrap();
    for (arguments, key, is_refused) in [
        (&["http://192.0.2.1"][..], Some("hb_live_x"), true),
        (&["http://192.0.2.1", "--key-file", &key_file], None, true),
        (&["http://192.0.2.1", "--plain"], Some("hb_live_x"), false),
        (&["http://192.0.2.1", "--plain", "--key-file", &key_file], None, false),
        // Without a key there is nothing to read.
        (&["http://192.0.2.1"], None, false),
        (&["https://192.0.2.1"], Some("hb_live_x"), false),
        (&["http://127.0.0.1:1"], Some("hb_live_x"), false),
        (&["http://localhost:1"], Some("hb_live_x"), false),
    ] {
        let mut command = hornbook();
        command.args(["mcp", "--server"]).args(arguments).stdin(Stdio::null());
        if let Some(key) = key {
            command.env("HORNBOOK_KEY", key);
        }
        let output = command.output().unwrap();
        let reported = crate::stderr(&output);
        assert_eq!(
            (!output.status.success(), reported.contains("could read the key") && reported.contains("--plain")),
            (is_refused, is_refused),
            "{arguments:?}: {reported}"
        );
    }
}

#[test]
fn messages_are_forwarded_to_a_server_and_charged() {
    let dir = tempfile::tempdir().unwrap();
    let server = QuickStartServer::with(&dir.path().join("data"), &["free.monthly_units=3"]);
    let url = format!("http://{}", server.address);
    let mut agent = Agent::start(&["--server", &url], Some(&server.key));
    let mut params = search();
    params["_meta"] = meta();
    assert_eq!(agent.ask(1, "tools/call", &params)["result"]["isError"], false);
    let names = agent.ask(2, "tools/list", &json!({ "_meta": meta() }));
    assert_eq!(names["result"]["tools"][0]["name"], "law.search");
    let older =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    assert_eq!(agent.ask(3, "initialize", &older)["result"]["protocolVersion"], "2025-11-25");
    agent.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(agent.ask(4, "tools/call", &search())["result"]["isError"], false);
    let account = agent.ask(5, "tools/call", &json!({ "name": "account.status", "arguments": {} }));
    assert_eq!(account["result"]["structuredContent"]["researchAllotmentRemaining"], 0, "{account:#}");
    let refused = agent.ask(6, "tools/call", &search());
    assert_eq!(refused["result"]["structuredContent"]["error"], "insufficient_credits");
    agent.end();
    let mut stranger = Agent::start(&["--server", &url], None);
    assert_eq!(stranger.ask(1, "tools/call", &search())["error"]["data"]["error"], "invalid_api_key");
    drop(server);
    let lost = stranger.ask(2, "tools/call", &search());
    assert!(lost["error"]["message"].as_str().unwrap().contains("gave no answer"), "{lost:#}");
    stranger.end();
}
