//! The program with a data directory of its own, a running server, and a client that keeps its connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// How many clients call at once under load.
pub(crate) const CALLERS: usize = 16;
/// A metered call that costs one credit.
const CALL: &str = "/api/v1/code-bodies";

pub(crate) struct ProcessFixture {
    pub(crate) directory: tempfile::TempDir,
}

impl ProcessFixture {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn command(&self, data: &Path) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_hornbook")), data)
    }

    pub(crate) fn command_of(&self, program: &Path, data: &Path) -> Command {
        let mut command = Command::new(program);
        // No rate limits and no allotment: every call is a debit from the wallet.
        let unlimited = ["free.per_minute=4000000000", "free.per_day=4000000000", "free.monthly_units=0"];
        for setting in unlimited.into_iter().chain(["mcp.free_per_minute=0", "server.open_per_minute=0"]) {
            command.args(["--set", setting]);
        }
        command.args(["--json", "--data"]).arg(data).current_dir(self.directory.path()).env_clear();
        command
    }

    fn run(&self, data: &Path, words: &[&str]) -> Output {
        self.command(data).args(words).output().unwrap()
    }

    pub(crate) fn json(&self, data: &Path, words: &[&str]) -> Value {
        let output = self.run(data, words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn refusal(&self, data: &Path, words: &[&str]) -> String {
        let output = self.run(data, words);
        assert!(!output.status.success(), "{words:?} went through");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Creates an account with credits and returns a key of it.
    pub(crate) fn customer(&self, data: &Path, credits: &str) -> String {
        let account = self.json(data, &["account", "create", "Test", "--approve"]);
        let account = account["id"].as_str().unwrap();
        self.json(data, &["grant", account, credits, "--reason", "test"]);
        let key = self.json(data, &["key", "create", account, "--test"]);
        key["key"].as_str().unwrap().to_owned()
    }

    pub(crate) fn credits_left(&self, data: &Path, account: &str) -> u64 {
        self.json(data, &["account", "show", account])["creditsRemaining"].as_u64().unwrap()
    }

    /// Builds the sample corpus into the data directory.
    pub(crate) fn build(&self, data: &Path) {
        let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample/plan.toml");
        let output = self.command(data).arg("build").arg(plan).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The session cookie of a person who signed in to this account.
    pub(crate) fn signed_in(&self, data: &Path, account: &str) -> String {
        let link = self.json(data, &["account", "link", account]);
        let text = link.to_string();
        let at = text.find("/settings/link/").expect("a link");
        let path: String = text[at..].chars().take_while(|letter| !matches!(letter, '"' | '\\')).collect();
        let server = self.serve(data);
        let ask = |request: String| {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let cookie = |answer: &str| {
            let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: __host-"));
            let pair = line.unwrap_or_else(|| panic!("no cookie: {answer}")).split_once(": ").unwrap().1;
            pair.split(';').next().unwrap().to_owned()
        };
        let page = ask(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
        let token = page.split_once("name=\"token\" value=\"").unwrap().1.split('"').next().unwrap();
        let form = format!("login=jane&password=correct+horse&token={token}");
        let answer = ask(format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nOrigin: http://localhost\r\nCookie: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            cookie(&page),
            form.len()
        ));
        assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
        server.stop();
        cookie(&answer)
    }

    /// A server on which every search on a page is paid for.
    pub(crate) fn serve(&self, data: &Path) -> Server {
        let mut command = self.command(data);
        command.env("HORNBOOK_WEB_SEARCHES_PER_MINUTE", "0");
        Server::start(command, Stdio::null())
    }
}

/// A running server; killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(mut command: Command, log: Stdio) -> Self {
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("listening on http://").map(str::to_owned));
        Self { child, address: address.expect("a server that listens") }
    }

    /// Makes one call and returns the status.
    pub(crate) fn call(&self, key: &str) -> u16 {
        Client::connect(&self.address).and_then(|mut client| client.call(key, None)).unwrap()
    }

    pub(crate) fn stop(mut self) {
        let reported = Command::new("kill").args(["-s", "TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(reported.success() && self.child.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A keep-alive connection.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn connect(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Self(BufReader::new(stream)))
    }

    pub(crate) fn call(&mut self, key: &str, idempotency_key: Option<&str>) -> std::io::Result<u16> {
        self.exchange(&rest_call(key, idempotency_key)).map(|(status, _)| status)
    }

    /// Sends a request and reads one whole response; an error if it is incomplete.
    pub(crate) fn exchange(&mut self, request: &str) -> std::io::Result<(u16, Vec<u8>)> {
        self.0.get_mut().write_all(request.as_bytes())?;
        let torn = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let (mut status, mut length) = (None, 0);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line)? == 0 {
                return Err(torn());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            status = status.or_else(|| line.split(' ').nth(1)?.parse().ok());
            length = line.strip_prefix("content-length: ").map_or(length, |text| text.parse().unwrap());
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok((status.ok_or_else(torn)?, body))
    }
}

pub(crate) fn rest_call(key: &str, idempotency_key: Option<&str>) -> String {
    let retry = idempotency_key.map(|name| format!("Idempotency-Key: {name}\r\n")).unwrap_or_default();
    format!("GET {CALL} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{retry}\r\n")
}

/// The same operation, called by an agent this many times: one message, or several as a batch.
pub(crate) fn mcp_call(key: &str, idempotency_key: Option<&str>, times: u64) -> String {
    let message = |id: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"law.code_bodies","arguments":{{}}}}}}"#
        )
    };
    let body = match times {
        1 => message(1),
        times => format!("[{}]", (0..times).map(message).collect::<Vec<_>>().join(",")),
    };
    let retry = idempotency_key.map(|name| format!("Idempotency-Key: {name}\r\n")).unwrap_or_default();
    format!(
        "POST /api/mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{retry}Content-Type: \
         application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
