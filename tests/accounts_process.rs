//! The real program: administered with and without a running server, backed up under load, and
//! killed repeatedly while clients call it over HTTP.
//!
//! `HORNBOOK_TEST_KILLS` sets how often it is killed under load; the default is 12.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hornbook_accounts::entropy::SeededEntropy;
use serde_json::Value;

const CALLERS: usize = 16;
const FIRST_BOOT_KILLS: u64 = 300;
const BACKUPS: usize = 20;
/// A metered call that costs one credit.
const CALL: &str = "/api/v1/code-bodies";

struct ProcessFixture {
    directory: tempfile::TempDir,
}

impl ProcessFixture {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, data: &Path) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_hornbook")), data)
    }

    fn command_of(&self, program: &Path, data: &Path) -> Command {
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

    fn json(&self, data: &Path, words: &[&str]) -> Value {
        let output = self.run(data, words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn refusal(&self, data: &Path, words: &[&str]) -> String {
        let output = self.run(data, words);
        assert!(!output.status.success(), "{words:?} went through");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Creates an account with credits and returns a key of it.
    fn customer(&self, data: &Path, credits: &str) -> String {
        let account = self.json(data, &["account", "create", "Test", "--approve"]);
        let account = account["id"].as_str().unwrap();
        self.json(data, &["grant", account, credits, "--reason", "test"]);
        let key = self.json(data, &["key", "create", account, "--test"]);
        key["key"].as_str().unwrap().to_owned()
    }

    fn credits_left(&self, data: &Path, account: &str) -> u64 {
        self.json(data, &["account", "show", account])["creditsRemaining"].as_u64().unwrap()
    }

    /// Builds the sample corpus into the data directory.
    fn build(&self, data: &Path) {
        let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample/plan.toml");
        let output = self.command(data).arg("build").arg(plan).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The session cookie of a person who signed in to this account.
    fn signed_in(&self, data: &Path, account: &str) -> String {
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
    fn serve(&self, data: &Path) -> Server {
        let mut command = self.command(data);
        command.env("HORNBOOK_WEB_SEARCHES_PER_MINUTE", "0");
        Server::start(command, Stdio::null())
    }
}

/// A running server; killed when dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(mut command: Command, log: Stdio) -> Self {
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("listening on http://").map(str::to_owned));
        Self { child, address: address.expect("a server that listens") }
    }

    /// Makes one call and returns the status.
    fn call(&self, key: &str) -> u16 {
        Client::connect(&self.address).and_then(|mut client| client.call(key, None)).unwrap()
    }

    fn stop(mut self) {
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
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Self(BufReader::new(stream)))
    }

    fn call(&mut self, key: &str, idempotency_key: Option<&str>) -> std::io::Result<u16> {
        self.exchange(&rest_call(key, idempotency_key)).map(|(status, _)| status)
    }

    /// Sends a request and reads one whole response; an error if it is incomplete.
    fn exchange(&mut self, request: &str) -> std::io::Result<(u16, Vec<u8>)> {
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

fn rest_call(key: &str, idempotency_key: Option<&str>) -> String {
    let retry = idempotency_key.map(|name| format!("Idempotency-Key: {name}\r\n")).unwrap_or_default();
    format!("GET {CALL} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{retry}\r\n")
}

/// The same operation, called by an agent this many times: one message, or several as a batch.
fn mcp_call(key: &str, idempotency_key: Option<&str>, times: u64) -> String {
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

#[test]
fn commands_work_with_and_without_a_server() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    let key = place.customer(&data, "100");
    assert!(key.starts_with("hb_test_"));

    place.build(&data);
    let server = place.serve(&data);
    assert_eq!(server.call(&key), 200);
    let mode = |name: &str| std::fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("admin.sock"), 0o600);
    // The account can be given by its name as well as by its id.
    assert_eq!(place.credits_left(&data, "Test"), 99);
    let bought = place.json(&data, &["purchase", "request", "Test", "pro"]);
    let id = bought["id"].as_str().unwrap();
    place.json(&data, &["purchase", "approve", id]);
    let shown = place.json(&data, &["account", "show", "acct-1"]);
    assert_eq!((&shown["tier"], &shown["creditsRemaining"]), (&"pro".into(), &5099.into()));
    assert!(!shown.to_string().contains(&key) && !shown.to_string().contains("digest"));
    assert!(place.refusal(&data, &["restore", "nothing.redb", "--yes"]).contains(&server.child.id().to_string()));
    assert!(place.refusal(&data, &["key", "revoke", "key-9"]).contains("no key key-9"));
    let missing = place.refusal(&data, &["account", "show", "Nobody"]);
    assert!(missing.contains("no account with the id or name 'Nobody'"), "{missing}");
    place.json(&data, &["key", "revoke", &key[..12]]);
    assert_eq!(server.call(&key), 401);
    std::fs::remove_file(data.join("admin.sock")).unwrap();
    let message = place.refusal(&data, &["account", "list"]);
    assert!(message.contains(&format!("process {}", server.child.id())), "{message}");
    server.stop();

    assert_eq!(place.json(&data, &["ledger", "verify"])["books"]["wallets"], 5099);
    place.json(&data, &["--actor", "jane", "ledger", "adjust", "acct-1", "-99", "--reason", "correction"]);
    let newest = place.json(&data, &["ledger", "show", "acct-1"])[0].clone();
    assert_eq!((&newest["balanceAfter"], &newest["actor"]), (&5000.into(), &"jane".into()));
    let order = place.json(&data, &["order", "create", "Test", "Acme LLC", "--jurisdiction", "us-de"]);
    assert_eq!(order["jurisdiction"], "DE");
    let id = order["id"].as_str().unwrap();
    assert_eq!(place.json(&data, &["order", "advance", id, "completed"])["state"], "completed");
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["allotmentRemaining"], 5000);
    place.json(&data, &["account", "create", "Test"]);
    let several = place.refusal(&data, &["account", "approve", "Test"]);
    assert!(several.contains("acct-1, acct-2"), "{several}");
    let table = place.command(&data).args(["account", "list"]).output().unwrap();
    assert!(table.status.success());
}

#[test]
fn impossible_arguments_are_refused() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    place.customer(&data, "100");
    let order = |words: [&str; 2]| {
        let given = ["order", "create", "acct-1", "Acme", "--jurisdiction"];
        place.refusal(&data, &[&given[..], &[words[0], "--entity-type", words[1]]].concat())
    };
    assert!(order(["ZZ", "llc"]).contains("'ZZ' is not a state"));
    assert!(order(["DE", "spaceship"]).contains("'spaceship' is not an entity type"));
    assert!(place.refusal(&data, &["key", "create", "acct-1", "--expires-in-days", "0"]).contains("1..=36500"));
    assert!(place.refusal(&data, &["account", "create", "acct-7"]).contains("is an account id"));
    assert!(place.refusal(&data, &["--actor", "", "key", "revoke", "key-1"]).contains("the actor has 0 characters"));
}

#[test]
fn every_administrative_act_is_in_the_audit_log_and_in_the_log() {
    let place = ProcessFixture::new();
    let (data, copy, log) = (place.path("data"), place.path("copy.redb"), place.path("log"));
    place.customer(&data, "100");
    place.build(&data);
    let server = Server::start(place.command(&data), std::fs::File::create_new(&log).unwrap().into());
    place.json(&data, &["--actor", "jane", "key", "revoke", "key-1"]);
    place.json(&data, &["--actor", "jane", "account", "disable", "Test"]);
    place.json(&data, &["backup", copy.to_str().unwrap()]);
    place.json(&data, &["reload"]);
    place.refusal(&data, &["--actor", "mallory", "key", "revoke", "key-9"]);
    server.stop();
    let written = std::fs::read_to_string(&log).unwrap();
    let reported: Vec<&str> = written.lines().filter(|line| line.contains("administrative act")).collect();
    assert_eq!(reported.len(), 5, "{written}");
    assert!(reported[0].contains("operator link"), "{}", reported[0]);
    assert!(
        reported[1].contains("jane") && reported[1].contains("key revoke") && reported[1].contains("key-1"),
        "{}",
        reported[1]
    );

    let acts = place.json(&data, &["audit"]);
    let line = |act: &Value| ["actor", "act", "on"].map(|field| act[field].as_str().unwrap().to_owned()).join(" | ");
    let lines: Vec<String> = acts.as_array().unwrap().iter().map(line).collect();
    let expected = [
        "operator | account create | acct-1",
        "operator | account approve | acct-1",
        "operator | grant | acct-1, 100 credits: test",
        "operator | key create | key-1 of acct-1, search,node,browse,gis,formation",
        "first start | operator link | the first operator",
        "jane | key revoke | key-1 of acct-1",
        "jane | account disable | acct-1",
    ];
    assert_eq!(lines[..7], expected);
    assert!(lines[7].starts_with("operator | backup | ") && lines[8].starts_with("operator | reload | "), "{lines:?}");
    assert_eq!(lines.len(), 9, "what was refused is no act");
    assert!(acts[0]["at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(place.json(&data, &["audit", "--count", "1"]).as_array().unwrap().len(), 1);
}

#[test]
fn data_directory_and_process_memory_are_private() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    place.customer(&data, "100");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for file in ["state.redb", "state.lock", "state.mark", "state.owed"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    place.build(&data);
    // An older version created these with a wider mode. The server fixes the lock; the mode of the
    // directory is the owner's choice.
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    open(&data);
    open(&data.join("state.lock"));
    open(place.directory.path());
    let program = place.path("hornbook");
    std::fs::copy(env!("CARGO_BIN_EXE_hornbook"), &program).unwrap();
    let log = place.path("log");
    let mut command = place.command_of(&program, &data);
    let is_root = std::fs::metadata(place.directory.path()).unwrap().uid() == 0;
    if is_root {
        // If a process cannot be dumped, its files in `/proc` belong to root. This only shows when
        // another user runs it.
        let given = Command::new("chown").args(["-R", "65534:65534"]).arg(&data).status().unwrap();
        assert!(given.success());
        std::os::unix::process::CommandExt::uid(&mut command, 65534);
        std::os::unix::process::CommandExt::gid(&mut command, 65534);
    }
    let server = Server::start(command, std::fs::File::create_new(&log).unwrap().into());
    assert_eq!(mode(&data.join("state.lock")), 0o600);
    let process = std::fs::metadata(format!("/proc/{}/mem", server.child.id())).unwrap();
    assert_eq!(process.uid(), 0, "the process can be dumped and traced by its user");
    server.stop();
    let written = std::fs::read_to_string(&log).unwrap();
    assert!(written.contains("run 'chmod 700 "), "{written}");
}

#[test]
fn a_command_waits_for_a_server_that_is_starting() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    place.customer(&data, "100");
    // A starting server holds the lock of the directory before it listens.
    let owner = hornbook_accounts::state::DataLock::acquire(&data).unwrap();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| place.json(&data, &["account", "list"]));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!asked.is_finished());
        drop(owner);
        assert_eq!(asked.join().unwrap()[0]["creditsRemaining"], 100);
    });
}

#[test]
fn a_restore_asks_first_and_fails_without_harm() {
    let place = ProcessFixture::new();
    let (data, copy) = (place.path("data"), place.path("copy.redb"));
    place.customer(&data, "100");
    let copy_text = copy.to_str().unwrap();
    place.json(&data, &["backup", copy_text]);
    assert!(place.refusal(&data, &["backup", copy_text]).contains("already exists"));
    place.json(&data, &["grant", "acct-1", "11", "--reason", "after the backup"]);
    assert!(place.refusal(&data, &["restore", copy_text]).contains("--yes"));

    let broken = place.path("broken.redb");
    let mut bytes = std::fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    std::fs::write(&broken, bytes).unwrap();
    place.refusal(&data, &["restore", broken.to_str().unwrap(), "--yes"]);
    place.refusal(&data, &["restore", "missing.redb", "--yes"]);
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["creditsRemaining"], 111);
    let beside = |name: &OsStr| [".restore", ".part", ".new"].iter().any(|end| name.to_string_lossy().ends_with(end));
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| beside(name)), "{left:?}");
    for file in [&data.join("state.redb"), &copy] {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }

    place.json(&data, &["restore", copy_text, "--yes"]);
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["creditsRemaining"], 100);
    assert!(data.join("state.redb.replaced").exists());
}

#[test]
fn only_a_plain_file_is_restored() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    place.customer(&data, "100");
    let pipe = place.path("pipe.redb");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (backup, what) in [("/dev/zero", "it is a device"), (pipe.to_str().unwrap(), "it is a named pipe")] {
        // Copying an endless file would hit a limit of time and size.
        let script = "ulimit -f 20000; exec timeout 20 \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(env!("CARGO_BIN_EXE_hornbook")).arg("--data").arg(&data);
        let output =
            command.args(["restore", backup, "--yes"]).env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(message.contains(what) && message.contains(backup), "{message}");
        assert!(!data.join("state.redb.restore").exists(), "a partial file is left behind");
    }
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["creditsRemaining"], 100);
}

#[test]
fn restore_lists_changes_and_does_not_revive_keys() {
    let place = ProcessFixture::new();
    let (data, copy) = (place.path("data"), place.path("copy.redb"));
    let key = place.customer(&data, "100");
    for name in ["Shut out", "Gone"] {
        place.json(&data, &["account", "create", name, "--approve"]);
    }
    for account in ["Test", "Shut out", "Gone"] {
        place.json(&data, &["key", "create", account]);
    }
    let copy_text = copy.to_str().unwrap();
    place.json(&data, &["backup", copy_text]);
    place.json(&data, &["--actor", "jane", "key", "revoke", "key-2"]);
    place.json(&data, &["key", "rotate", "key-4", "--overlap-sec", "0"]);
    place.json(&data, &["account", "disable", "Shut out"]);
    place.json(&data, &["account", "create", "Late", "--approve"]);
    place.json(&data, &["grant", "Late", "7", "--reason", "test"]);
    place.json(&data, &["grant", "Test", "11", "--reason", "test"]);

    let list = place.refusal(&data, &["restore", copy_text]);
    let expected = [
        "account acct-1 (Test) will have 100 credits instead of 111",
        "account acct-2 (Shut out) stays disabled",
        "account acct-4 (Late) will be lost, with 7 credits",
        "key key-2 of acct-1 (hb_live_",
        "stays revoked",
        "key key-4 of acct-3",
        "keeps its present expiry time",
        "key key-5 of acct-3",
        "add --yes to do it",
    ];
    for part in expected {
        assert!(list.contains(part), "{part} is not in:\n{list}");
    }
    assert!(!list.contains("key-1 ") && !list.contains("resumes"), "{list}");
    assert_eq!(place.credits_left(&data, "Late"), 7, "nothing was changed");

    let is_root = std::fs::metadata(&data).unwrap().uid() == 0;
    if is_root {
        let given = Command::new("chown").args(["-R", "12345:12345"]).arg(&data).status().unwrap();
        assert!(given.success());
    }
    let owner = std::fs::metadata(data.join("state.redb")).unwrap();
    std::fs::set_permissions(data.join("state.redb"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let restored = place.json(&data, &["--actor", "joe", "restore", copy_text, "--yes"]);
    assert!(list.contains(restored["changes"][0].as_str().unwrap()), "{restored}");
    for file in std::fs::read_dir(&data).unwrap().map(Result::unwrap) {
        let made = file.metadata().unwrap();
        assert_eq!((made.uid(), made.gid()), (owner.uid(), owner.gid()), "{}", file.path().display());
    }
    assert_eq!(std::fs::metadata(data.join("state.redb")).unwrap().permissions().mode() & 0o777, 0o640);

    let keys = place.json(&data, &["key", "list"]);
    let works = |at: usize| keys[at]["revokedAt"].is_null() && keys[at]["expiresAt"].is_null();
    assert_eq!([0, 1, 2, 3].map(works), [true, false, true, false], "{keys}");
    assert_eq!(keys[0]["prefix"], key[..12]);
    assert_eq!(place.json(&data, &["account", "show", "Shut out"])["status"], "disabled");
    let acts = place.json(&data, &["audit"]);
    let acts = acts.as_array().unwrap();
    let last = acts.last().unwrap();
    assert_eq!((&last["actor"], &last["act"]), (&"joe".into(), &"restore".into()));
    assert!(acts.iter().any(|act| act["actor"] == "jane" && act["act"] == "key revoke"), "audit entries were removed");
    place.json(&data, &["ledger", "verify"]);

    // If the present state cannot be read, the refusal lists only what the backup brings back.
    std::fs::write(data.join("state.redb"), "not a state file").unwrap();
    let blind = place.refusal(&data, &["restore", copy_text]);
    assert!(blind.contains("the present state cannot be read") && blind.contains("key key-2 of acct-1"), "{blind}");
}

#[test]
fn config_show_lists_origins_and_suggests_corrections() {
    let place = ProcessFixture::new();
    let run = |file: &str, environment: &[(&str, &OsStr)], words: &[&str]| {
        std::fs::write(place.path("hornbook.toml"), file).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
        let output = command.current_dir(place.path("")).env_clear().envs(environment.iter().copied()).args(words);
        let output = output.args(["config", "show"]).output().unwrap();
        let text =
            format!("{}{}", String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        (output.status.success(), text)
    };
    let file = "[free]\nper_minute = 11\nper_day = 12\n";
    let environment = [
        ("HORNBOOK_FREE_PER_DAY", OsStr::new("22")),
        // A variable of another program, whose value is not UTF-8.
        ("LESSOPEN", OsStr::from_bytes(&[0xff, 0xfe])),
    ];
    let (well, text) = run(file, &environment, &["--json", "--set", "free.monthly_units=33"]);
    assert!(well, "{text}");
    let shown: Value = serde_json::from_str(&text).unwrap();
    let row = |name: &str| {
        let row = shown.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        (row["value"].as_str().unwrap().to_owned(), row["from"].as_str().unwrap().to_owned())
    };
    assert_eq!(row("free.per_minute"), ("11".to_owned(), "hornbook.toml:2".to_owned()));
    assert_eq!(row("free.per_day"), ("22".to_owned(), "$HORNBOOK_FREE_PER_DAY".to_owned()));
    assert_eq!(row("free.monthly_units"), ("33".to_owned(), "--set".to_owned()));
    assert_eq!(row("ledger.durability"), ("strict".to_owned(), "default".to_owned()));
    let (well, text) = run(file, &environment, &[]);
    let line = text.lines().find(|line| line.starts_with("free.per_minute ")).unwrap_or_default();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["free.per_minute", "11", "hornbook.toml:2"]);
    assert!(well && text.starts_with("setting ") && !text.contains("null"), "{text}");

    type ConfigMistake<'s> = (&'s str, &'s [(&'s str, &'s OsStr)], &'s [&'s str], &'s str);
    let slips: [ConfigMistake<'_>; 5] = [
        ("[fre]\nper_day = 1\n", &[], &[], "did you mean free.per_day?"),
        ("", &[("HORNBOOK_FREE_PER_DYA", OsStr::new("1"))], &[], "did you mean HORNBOOK_FREE_PER_DAY?"),
        ("", &[], &["--set", "free.per_dya=1"], "did you mean free.per_day?"),
        ("", &[("HORNBOOK_DATA_DIR", OsStr::from_bytes(&[0xff]))], &[], "$HORNBOOK_DATA_DIR is not valid UTF-8"),
        ("[free]\nprofile = \"grant\nx = 1\n", &[], &[], "hornbook.toml: line 2"),
    ];
    for (file, environment, words, expected) in slips {
        let (well, text) = run(file, environment, words);
        assert!(!well && text.contains(expected), "{text}");
    }
}

#[test]
fn backups_under_load_are_consistent() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    let key = place.customer(&data, "1000000");
    place.build(&data);
    let server = place.serve(&data);
    let (calls, done) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                let mut client = Client::connect(&server.address).unwrap();
                while !done.load(Ordering::Relaxed) {
                    assert_eq!(client.call(&key, None).unwrap(), 200);
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut last = 0;
        for round in 0..BACKUPS {
            // Each backup is taken at another time.
            let before = calls.load(Ordering::Relaxed);
            while calls.load(Ordering::Relaxed) < before + 10 {
                std::thread::yield_now();
            }
            let copy = place.path(&format!("copy-{round}.redb"));
            let proof = place.json(&data, &["backup", copy.to_str().unwrap()])["proof"].clone();
            let sum = |name: &str| proof["books"][name].as_i64().unwrap();
            assert_eq!(sum("wallets") + sum("spent"), 1_000_000, "{proof}");
            assert!(sum("spent") > last, "{proof}");
            last = sum("spent");
            std::fs::remove_file(copy).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    server.stop();
}

/// How a caller makes its calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CallKind {
    Rest,
    Agent,
    /// A search on a page by a signed-in person.
    Page,
    RestWithRetries,
    AgentWithRetries,
    /// A batch of two calls.
    AgentBatchWithRetries,
}

const CALL_KINDS: [CallKind; 6] = [
    CallKind::Rest,
    CallKind::Agent,
    CallKind::Page,
    CallKind::RestWithRetries,
    CallKind::AgentWithRetries,
    CallKind::AgentBatchWithRetries,
];

impl CallKind {
    /// The account that pays.
    fn account(self) -> usize {
        match self {
            Self::Rest => 0,
            Self::Agent => 1,
            Self::Page => 2,
            Self::RestWithRetries | Self::AgentWithRetries | Self::AgentBatchWithRetries => RETRYING_ACCOUNT,
        }
    }

    fn retries(self) -> bool {
        self.account() == RETRYING_ACCOUNT
    }

    /// The cost of one request in credits.
    fn cost(self) -> u64 {
        if self == Self::AgentBatchWithRetries { 2 } else { 1 }
    }

    /// `secret` is a key, or a session cookie.
    fn request(self, secret: &str, name: &str) -> String {
        match self {
            Self::Rest => rest_call(secret, None),
            Self::RestWithRetries => rest_call(secret, Some(name)),
            Self::Agent => mcp_call(secret, None, 1),
            Self::AgentWithRetries => mcp_call(secret, Some(name), 1),
            Self::AgentBatchWithRetries => mcp_call(secret, Some(name), 2),
            Self::Page => format!("GET /?q=deposit HTTP/1.1\r\nHost: localhost\r\nCookie: {secret}\r\n\r\n"),
        }
    }

    /// Whether a response with status 200 is a success. Errors of agents' calls are in responses
    /// with status 200 too.
    fn is_success(self, body: &[u8]) -> bool {
        let text = String::from_utf8_lossy(body);
        match self {
            Self::Rest | Self::RestWithRetries => true,
            Self::Page => text.contains("<mark>"),
            Self::Agent | Self::AgentWithRetries | Self::AgentBatchWithRetries => {
                let failed = ["\"isError\":true", "\"error\":{"].iter().any(|mark| text.contains(mark));
                !failed
            }
        }
    }
}

/// The account of callers who repeat each call until it is answered.
const RETRYING_ACCOUNT: usize = 3;
const ACCOUNTS: usize = 4;

/// State shared by all callers and the test that kills the server.
#[derive(Default)]
struct SharedLoad {
    /// The address of the server while it runs.
    address: Mutex<Option<String>>,
    /// The total cost of the calls of each account: of those sent, and of those answered.
    sent: [AtomicU64; ACCOUNTS],
    answered: [AtomicU64; ACCOUNTS],
    ending: AtomicBool,
}

impl SharedLoad {
    /// Calls repeatedly and reconnects when the server is dead. With retries, every call is
    /// repeated with its idempotency key until it is answered. Without, a call that got no answer
    /// is given up.
    fn call(&self, secret: &str, caller: usize, way: CallKind) {
        let account = way.account();
        let mut client: Option<Client> = None;
        let mut number = 0;
        while !self.ending.load(Ordering::Relaxed) {
            number += 1;
            let name = format!("{caller}-{number}");
            let request = way.request(secret, &name);
            self.sent[account].fetch_add(way.cost(), Ordering::Relaxed);
            loop {
                let Some(open) = &mut client else {
                    let address = self.address.lock().unwrap().clone();
                    client = address.and_then(|address| Client::connect(&address).ok());
                    std::thread::yield_now();
                    continue;
                };
                match open.exchange(&request) {
                    Ok((200, body)) if way.is_success(&body) => {
                        self.answered[account].fetch_add(way.cost(), Ordering::Relaxed);
                        break;
                    }
                    // The first copy is still in progress, or the server is overloaded.
                    Ok((503, _)) => {}
                    Ok((200, _))
                        if matches!(
                            way,
                            CallKind::Agent | CallKind::AgentWithRetries | CallKind::AgentBatchWithRetries
                        ) => {}
                    Ok((status, body)) => {
                        panic!("{way:?} {name} was answered with {status}: {}", String::from_utf8_lossy(&body))
                    }
                    Err(_) => {
                        client = None;
                        if !way.retries() {
                            break;
                        }
                    }
                }
            }
        }
    }

    fn total_answered(&self) -> u64 {
        self.answered.iter().map(|answered| answered.load(Ordering::Relaxed)).sum()
    }
}

const CREDITS: u64 = 100_000_000;

#[test]
#[expect(clippy::disallowed_methods, reason = "the caller chooses how long to test")]
fn killed_under_load_every_answered_call_is_charged_exactly_once() {
    let kills: u64 = std::env::var("HORNBOOK_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let place = ProcessFixture::new();
    let data = place.path("data");
    let mut secrets = [(); ACCOUNTS].map(|()| place.customer(&data, &CREDITS.to_string()));
    place.build(&data);
    secrets[CallKind::Page.account()] = place.signed_in(&data, "acct-3");
    let load = SharedLoad::default();
    let mut random = SeededEntropy(kills);
    std::thread::scope(|scope| {
        let call = |caller: usize| {
            let (load, way) = (&load, CALL_KINDS[caller % CALL_KINDS.len()]);
            let secret = &secrets[way.account()];
            scope.spawn(move || load.call(secret, caller, way))
        };
        let mut callers: Vec<_> = (0..CALLERS).map(call).collect();
        for kill in 0..=kills {
            let server = place.serve(&data);
            *load.address.lock().unwrap() = Some(server.address.clone());
            // Sometimes the server is killed before the first answer.
            let wanted = if kill % 8 == 7 { 0 } else { random.below(300) };
            let before = load.total_answered();
            while load.total_answered() < before + wanted {
                std::thread::yield_now();
            }
            if kill == kills {
                load.ending.store(true, Ordering::Relaxed);
                // The callers finish before the server stops.
                callers.drain(..).for_each(|caller| caller.join().unwrap());
                server.stop();
            } else {
                std::thread::sleep(Duration::from_micros(random.below(4000)));
                *load.address.lock().unwrap() = None;
                drop(server);
            }
        }
    });
    let charged = ["acct-1", "acct-2", "acct-3", "acct-4"].map(|account| CREDITS - place.credits_left(&data, account));
    let sent = load.sent.map(AtomicU64::into_inner);
    let answered = load.answered.map(AtomicU64::into_inner);
    println!(
        "{kills} kills; by REST, agents, pages, and with retries: {sent:?} sent, {answered:?} answered, {charged:?} charged"
    );
    for account in 0..RETRYING_ACCOUNT {
        let (sent, answered, charged) = (sent[account], answered[account], charged[account]);
        assert!(answered <= charged && charged <= sent, "an answered call was not charged, or one twice");
        assert!(answered > 0, "nothing was answered");
    }
    let (sent, answered) = (sent[RETRYING_ACCOUNT], answered[RETRYING_ACCOUNT]);
    assert_eq!(
        (answered, charged[RETRYING_ACCOUNT]),
        (sent, sent),
        "with retries each call is answered and charged once"
    );
    assert_eq!(place.json(&data, &["ledger", "verify"])["books"]["spent"], charged.iter().sum::<u64>());
}

#[test]
fn a_server_killed_at_first_start_starts_again() {
    let place = ProcessFixture::new();
    let mut random = SeededEntropy(11);
    let mut unfinished = 0;
    for round in 0..FIRST_BOOT_KILLS {
        let data = place.path(&format!("data-{round}"));
        let mut child =
            place.command(&data).args(["account", "create", "First"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(25_000)));
        child.kill().unwrap();
        unfinished += u64::from(!child.wait().unwrap().success());
        place.json(&data, &["account", "list"]);
        std::fs::remove_dir_all(&data).unwrap();
    }
    assert!(unfinished > 0, "no kill came in time");
    println!("{unfinished} of {FIRST_BOOT_KILLS} were killed before they had finished");
}

const ORDER_KILLS: u64 = 10;

const INTAKE: &str = r#"{"state": "DE", "entityType": "llc", "names": ["Elm Street Tools LLC"],
    "people": [{"name": "Ada Example", "roles": ["organizer", "member"], "address": {"street": "12 Elm Street", "city": "Dover", "state": "DE", "zip": "19901"}}],
    "registeredAgent": {"name": "Example Agents Inc.", "address": {"street": "1 Main Street", "city": "Wilmington", "state": "DE", "zip": "19801"}},
    "contact": {"name": "Ada Example", "email": "ada@example.com"}}"#;

/// The whole response to a POST, or an error if the server ended before.
fn post(address: &str, path: &str, key: Option<&str>, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{key}Content-Length: {length}\r\n\r\n");
    stream.write_all((head + body).as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

/// The order id and the tracking token on a page.
fn order_id_and_token(page: &str) -> Option<(String, String)> {
    let mut codes = page.split("<code>").skip(1).filter_map(|rest| rest.split_once("</code>"));
    let (id, token) = (codes.next()?.0, codes.next()?.0);
    page.contains("</html>").then(|| (id.to_owned(), token.to_owned()))
}

#[test]
fn a_form_sent_during_a_kill_creates_one_order() {
    let place = ProcessFixture::new();
    let data = place.path("data");
    let key = place.customer(&data, "1");
    place.build(&data);
    let mut server = place.serve(&data);
    let mut answered = 0;
    for kill in 0..ORDER_KILLS {
        let handed_over = post(&server.address, "/api/v1/formation/handoff", Some(&key), INTAKE).unwrap();
        let (_, token) = handed_over.split_once("/formation/review/").unwrap_or_else(|| panic!("{handed_over}"));
        let path = format!("/formation/review/{}", &token[..32]);
        let (address, sent_to) = (server.address.clone(), path.clone());
        let form = std::thread::spawn(move || post(&address, &sent_to, None, "confirmed=yes"));
        std::thread::sleep(Duration::from_millis(kill * 3));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let first = form.join().unwrap().ok().and_then(|page| order_id_and_token(&page));
        answered += usize::from(first.is_some());
        server = place.serve(&data);
        let second = post(&server.address, &path, None, "confirmed=yes").unwrap();
        let second = order_id_and_token(&second).unwrap_or_else(|| panic!("{second}"));
        assert!(first.is_none_or(|first| first == second), "the second answer differs from the first");
        let orders = place.json(&data, &["order", "list"]);
        assert_eq!(orders.as_array().unwrap().len() as u64, kill + 1);
        let order = place.json(&data, &["--actor", "jane", "order", "confirm-payment", &second.0]);
        assert_eq!(order["state"], "setup");
    }
    assert!(answered < ORDER_KILLS as usize, "no kill came before an answer");
    let orders = place.json(&data, &["order", "list"]);
    let id = orders[0]["id"].as_str().unwrap();
    let order = place.json(&data, &["order", "show", id]);
    let moves: Vec<_> =
        order["moves"].as_array().unwrap().iter().map(|moved| (&moved["stage"], &moved["actor"])).collect();
    let (page, jane) = (Value::from("review page"), Value::from("jane"));
    let stages = ["details", "payment", "setup"].map(Value::from);
    assert_eq!(moves, [(&stages[0], &page), (&stages[1], &page), (&stages[2], &jane)]);
    assert!(!order.to_string().contains("Ada Example"));
    let intake = &place.json(&data, &["order", "show", id, "--intake"])["intake"];
    assert_eq!(intake["people"][0]["name"], "Ada Example");
    let newest = place.json(&data, &["audit", "--count", "1"])[0]["act"].clone();
    assert_eq!(newest, "order show --intake");
}
