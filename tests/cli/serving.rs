//! The program as a server: the quick start, its key, and stopping by signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::hornbook;

/// A running server; killed when dropped, so that a failed test leaves none behind.
pub(crate) struct QuickStartServer {
    child: Child,
    pub(crate) address: String,
    pub(crate) key: String,
}

impl QuickStartServer {
    pub(crate) fn quick(data: &Path) -> Self {
        Self::with(data, &[])
    }

    /// With these settings.
    pub(crate) fn with(data: &Path, settings: &[&str]) -> Self {
        Self::with_log(data, settings, Stdio::null())
    }

    /// The same, with the log written to `log`.
    pub(crate) fn with_log(data: &Path, settings: &[&str], log: Stdio) -> Self {
        let mut command = hornbook();
        command.arg("--data").arg(data);
        Self::from(command, settings, log)
    }

    /// The quick start by a command that already has its data directory.
    fn from(mut command: Command, settings: &[&str], log: Stdio) -> Self {
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let mut child = command
            .args(["--set", "server.listen=127.0.0.1:0"])
            .args(settings)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut reported =
            |beginning: &str| lines.find_map(|line| line.strip_prefix(beginning).map(str::to_owned)).unwrap();
        let url = reported("listening on ");
        let address = url.split_once("://").unwrap().1.to_owned();
        let key = reported("demo key: ").split(' ').next().unwrap().to_owned();
        Self { child, address, key }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let Self { address, key, .. } = self;
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Waits until the server ends by itself.
    pub(crate) fn ended(&mut self) -> std::process::ExitStatus {
        self.child.wait().unwrap()
    }

    pub(crate) fn stop(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for QuickStartServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `hornbook serve` on a data directory; killed when dropped.
pub(crate) struct ServeProcess {
    child: Child,
    pub(crate) address: String,
}

impl ServeProcess {
    pub(crate) fn start(data: &Path, settings: &[&str]) -> Self {
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let mut child = hornbook()
            .arg("--data")
            .arg(data)
            .args(settings)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("listening on http://").map(str::to_owned));
        Self { child, address: address.expect("a server that listens") }
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn stop(&mut self) -> Option<i32> {
        signal(&self.child, "TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn the_quick_start_serves_a_sample_with_a_demo_key_and_reuses_both() {
    let data = tempfile::tempdir().unwrap();
    let mut first = QuickStartServer::quick(data.path());
    let found = first.get("/api/v1/search?q=return+of+the+security+deposit");
    assert!(found.starts_with("HTTP/1.1 200 OK") && found.contains("Arden Rev. Stat. § 24-2-201"), "{found}");
    assert!(found.contains("x-research-allotment-remaining: 999\r\n"), "{found}");
    assert_eq!(first.stop(), Some(0));

    let kept = data.path().join("demo.key");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let snapshot = data.path().join("current").canonicalize().unwrap();
    let mut second = QuickStartServer::quick(data.path());
    assert_eq!(second.key, first.key);
    assert_eq!(data.path().join("current").canonicalize().unwrap(), snapshot);
    let me = second.get("/api/v1/me");
    assert!(me.contains("\"researchAllotmentRemaining\":998"), "what was spent stays spent: {me}");
    assert_eq!(second.stop(), Some(0));
}

#[test]
fn the_program_alone_in_an_empty_folder_serves_the_sample() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = hornbook();
    command.current_dir(folder.path());
    let mut server = QuickStartServer::from(command, &[], Stdio::null());
    let found = server.get("/api/v1/search?q=return+of+the+security+deposit");
    assert!(found.starts_with("HTTP/1.1 200 OK") && found.contains("Arden Rev. Stat. § 24-2-201"), "{found}");
    assert_eq!(server.stop(), Some(0));
    let mode = std::fs::metadata(folder.path().join("data")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else may look into the data directory");
    // It is the same snapshot that the sample in the source tree builds to, and no other files are left.
    let built = folder.path().join("built");
    let output = hornbook().arg("build").arg(crate::sample_plan()).arg("--out").arg(&built).output().unwrap();
    assert!(output.status.success(), "{}", crate::stderr(&output));
    let id = |path: &Path| hornbook_corpus::manifest::Manifest::open(path).unwrap().snapshot;
    assert_eq!(id(&folder.path().join("data/current")), id(&built));
    let names = std::fs::read_dir(folder.path().join("data")).unwrap().map(|entry| entry.unwrap().file_name());
    let strange: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".sample")).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn serving_without_a_snapshot_says_how_to_build_one() {
    let data = tempfile::tempdir().unwrap();
    let output = hornbook().arg("--data").arg(data.path()).arg("serve").output().unwrap();
    assert!(!output.status.success());
    assert!(crate::stderr(&output).contains("hornbook build"), "{}", crate::stderr(&output));
}

/// The snapshot that the server answers from.
fn served(server: &QuickStartServer) -> String {
    let answer = server.get("/healthz");
    let line = answer.lines().find_map(|line| line.strip_prefix("x-corpus-snapshot: "));
    line.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn reload_and_sighup_switch_to_the_current_snapshot() {
    let data = tempfile::tempdir().unwrap();
    let link = |snapshot: &str| {
        let fresh = data.path().join("fresh");
        std::os::unix::fs::symlink(snapshot, &fresh).unwrap();
        std::fs::rename(&fresh, data.path().join("current")).unwrap();
    };
    let reload = || hornbook().arg("--data").arg(data.path()).args(["reload", "--json"]).output().unwrap();
    assert!(crate::stderr(&reload()).contains("no server runs"));
    let mut server = QuickStartServer::quick(data.path());
    let first = served(&server);

    // The same law with another name is another snapshot.
    let plan = data.path().join("sample/plan.toml");
    let copied = Command::new("cp").arg("-r").arg(crate::project().join("corpus/sample")).arg(data.path()).status();
    assert!(copied.unwrap().success());
    let text = std::fs::read_to_string(&plan).unwrap().replacen("State of Arden", "Commonwealth of Arden", 1);
    std::fs::write(&plan, text).unwrap();
    let built = hornbook().arg("--data").arg(data.path()).arg("build").arg(&plan).output().unwrap();
    assert!(built.status.success(), "{}", crate::stderr(&built));
    assert_eq!(served(&server), first, "nothing changes before it is told to");
    let answer: serde_json::Value = serde_json::from_slice(&reload().stdout).unwrap();
    let second = served(&server);
    assert_eq!((answer["before"].as_str(), answer["snapshot"].as_str()), (Some(&*first), Some(&*second)));
    assert_ne!(first, second);

    link("snapshots/nowhere");
    let refused = reload();
    assert!(!refused.status.success() && crate::stderr(&refused).contains("the old one stays"), "{refused:?}");
    assert_eq!(served(&server), second);

    link(&format!("snapshots/{first}"));
    server.signal("HUP");
    let changed = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        served(&server) == first
    });
    assert!(changed, "SIGHUP changed nothing within five seconds");
    assert_eq!(server.stop(), Some(0));
}

/// The results of a client with keep-alive connections until the server stops.
struct ClientTotals {
    answered: u64,
    /// Requests that got no answer on a connection that had answered before.
    lost: u64,
}

/// Sends requests until no new connection is accepted.
fn ask_until_stopped(address: &str, key: &str) -> ClientTotals {
    let request = format!("GET /api/v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n");
    let mut asked = ClientTotals { answered: 0, lost: 0 };
    while let Ok(mut stream) = TcpStream::connect(address) {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        for number in 0.. {
            let answer = match stream.write_all(request.as_bytes()) {
                Ok(()) => read_answer(&mut stream),
                Err(_) => None,
            };
            match answer {
                Some(head) => {
                    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
                    asked.answered += 1;
                    if head.contains("connection: close") {
                        break;
                    }
                }
                // The kernel accepted the connection, but the server did not.
                None if number == 0 => break,
                None => {
                    asked.lost += 1;
                    break;
                }
            }
        }
    }
    asked
}

/// Reads one whole response and returns its head.
fn read_answer(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&piece[..length]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..end + 2].to_vec()).unwrap();
    let length: usize = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let missing = length - (bytes.len() - end - 4);
    stream.read_exact(&mut vec![0; missing]).ok()?;
    Some(head)
}

#[test]
fn stopping_under_load_loses_no_request_and_keeps_the_ledger_consistent() {
    let data = tempfile::tempdir().unwrap();
    let settings = ["free.per_minute=1000000", "free.per_day=1000000", "free.monthly_units=1000000"];
    let mut answered = 0;
    for _ in 0..3 {
        let mut server = QuickStartServer::with(data.path(), &settings);
        let (address, key) = (server.address.clone(), server.key.clone());
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let (address, key) = (address.clone(), key.clone());
                std::thread::spawn(move || ask_until_stopped(&address, &key))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(server.stop(), Some(0));
        for client in clients {
            let ClientTotals { answered: more, lost } = client.join().unwrap();
            assert_eq!(lost, 0, "requests on kept connections were not answered");
            answered += more;
        }
        assert!(answered > 0);
        let proof = hornbook().arg("--data").arg(data.path()).args(["ledger", "verify", "--json"]).output().unwrap();
        assert!(proof.status.success(), "{}", crate::stderr(&proof));
    }
    let me = QuickStartServer::with(data.path(), &settings).get("/api/v1/me");
    let left = format!("\"researchAllotmentRemaining\":{}", 1_000_000 - answered - 1);
    assert!(me.contains(&left), "{answered} calls were answered: {me}");
}

#[test]
fn a_healthcheck_tells_by_its_exit_code_whether_the_server_is_ready() {
    let data = tempfile::tempdir().unwrap();
    let mut server = QuickStartServer::quick(data.path());
    let check =
        |json: &[&str]| hornbook().args(["healthcheck", "--listen", &server.address]).args(json).output().unwrap();
    let well = check(&["--json"]);
    let said: serde_json::Value = serde_json::from_slice(&well.stdout).unwrap();
    assert!(well.status.success() && said["ready"] == true && said["snapshot"] == served(&server), "{said}");
    assert_eq!(crate::stdout(&check(&[])), format!("{} is ready\n", server.address));
    server.signal("TERM");
    server.child.wait().unwrap();
    let gone = check(&["--json"]);
    let said: serde_json::Value = serde_json::from_slice(&gone.stdout).unwrap();
    assert_eq!((gone.status.code(), said["ready"].as_bool()), (Some(1), Some(false)));
    assert!(crate::stderr(&gone).contains("is not ready"), "{}", crate::stderr(&gone));
}

#[test]
fn serving_without_tls_beyond_loopback_logs_a_warning() {
    let data = tempfile::tempdir().unwrap();
    drop(QuickStartServer::quick(data.path()));
    let log = std::fs::File::create_new(data.path().join("log")).unwrap();
    let mut open = hornbook()
        .arg("--data")
        .arg(data.path())
        .args(["--set", "log.format=json", "serve", "--listen", "0.0.0.0:0"])
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(open.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // Stopped with SIGTERM, so that the log is complete.
    assert!(Command::new("kill").arg(open.id().to_string()).status().unwrap().success());
    open.wait().unwrap();
    let log = std::fs::read_to_string(data.path().join("log")).unwrap();
    let warning: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(warning["level"], "warning");
    assert!(warning["message"].as_str().unwrap().contains("tls.certificate"), "{warning}");
}

#[test]
fn visitors_search_by_default_and_without_a_wall_on_the_quick_start() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let search = |n: usize| format!("/?q=notice+{n}");
    let is_found = |answer: String| answer.starts_with("HTTP/1.1 200 ");
    let mut quick = QuickStartServer::quick(&data);
    assert!((0..30).all(|n| is_found(quick.get(&search(n)))));
    assert_eq!(quick.stop(), Some(0));

    // A limit that is set stays, and `serve` has the limit of the documents.
    // A slow machine may let a few more through.
    let mut limited = QuickStartServer::with(&data, &["web.searches_per_minute=3"]);
    let answered = (0..20).take_while(|n| is_found(limited.get(&search(*n)))).count();
    assert!((3..10).contains(&answered), "{answered}");
    assert_eq!(limited.stop(), Some(0));
    let served = ServeProcess::start(&data, &[]);
    let get = |path: String| {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answers: Vec<String> = (0..40).map(|n| get(search(n))).collect();
    let answered = answers.iter().take_while(|answer| is_found((*answer).clone())).count();
    assert!((10..30).contains(&answered), "{answered}");
    let refused = &answers[answered];
    assert!(refused.starts_with("HTTP/1.1 429 ") && refused.contains("or sign in"), "{refused}");
}
