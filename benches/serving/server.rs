//! Servers as separate processes: started on a loopback port, measured through `/proc`, stopped by process id.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::processors;

/// Clock ticks per second in which `/proc` reports processor time.
const CLOCK_TICKS_PER_SEC: f64 = 100.0;

/// The timeout of all requests here.
const BENCH_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Rate limits and unit limits that are never reached, and a connection limit above ten thousand.
const UNLIMITED_SETTINGS: [&str; 5] = [
    "server.listen=127.0.0.1:0",
    "server.connections_per_address_max=12000",
    "free.per_minute=1000000000",
    "free.per_day=1000000000",
    "free.monthly_units=1000000000",
];

/// A running server, stopped when dropped.
pub(crate) struct ServerProcess {
    child: Child,
    /// Host and port.
    pub(crate) address: String,
}

/// A data directory with a link to a snapshot.
pub(crate) struct BenchData<'d> {
    pub(crate) folder: &'d Path,
    pub(crate) key: String,
    metrics: String,
}

impl<'d> BenchData<'d> {
    /// Links the snapshot, and starts the server once so that the quick start creates an account.
    pub(crate) fn prepare(folder: &'d Path, snapshot: &Path) -> Self {
        let snapshot = snapshot.canonicalize().expect("a snapshot");
        symlink(snapshot, folder.join("current")).expect("a link to the snapshot");
        // The port is free now. If another process takes it, the server fails to start and says so in its log.
        let free = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a free port");
        let mut data = Self { folder, key: String::new(), metrics: free.to_string() };
        drop(ServerProcess::start(&mut data.hornbook(&[])));
        let key = std::fs::read_to_string(folder.join("demo.key")).expect("the demo key");
        key.trim().clone_into(&mut data.key);
        data
    }

    /// A command for the released program. Its log goes to a file, like in production to the journal.
    fn hornbook(&self, settings: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
        let log = File::options().create(true).append(true).open(self.folder.join("log")).expect("a log");
        command.arg("--data").arg(self.folder).stderr(log);
        let metrics = format!("metrics.listen={}", self.metrics);
        for setting in UNLIMITED_SETTINGS.iter().chain(settings).chain([&&*metrics]) {
            command.args(["--set", setting]);
        }
        command
    }

    /// Starts `hornbook serve`. Returns the server and the time until the first 200 from `/readyz`.
    pub(crate) fn serve(&self, settings: &[&str]) -> (ServerProcess, Duration) {
        let mut command = self.hornbook(settings);
        command.arg("serve");
        let began = Instant::now();
        let running = ServerProcess::start(&mut command);
        while !get(&running.address, "/readyz", None).starts_with(b"HTTP/1.1 200") {
            assert!(began.elapsed() < BENCH_REQUEST_TIMEOUT, "{} does not become ready", running.address);
        }
        (running, began.elapsed())
    }

    /// The number of answers of an operation, in total and within each of these bounds in seconds,
    /// from the server's metrics.
    pub(crate) fn within<const N: usize>(&self, operation: &str, seconds: [&str; N]) -> BucketCounts<N> {
        let page = String::from_utf8(get(&self.metrics, "/metrics", None)).expect("text");
        let bucket = |bound: &str| {
            let name = format!("hornbook_request_seconds_bucket{{operation=\"{operation}\",le=\"{bound}\"}} ");
            let count = page.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok());
            count.unwrap_or(0.0)
        };
        BucketCounts { all: bucket("+Inf"), within: seconds.map(bucket) }
    }
}

/// Counts reported by the server.
pub(crate) struct BucketCounts<const N: usize> {
    all: f64,
    within: [f64; N],
}

impl<const N: usize> BucketCounts<N> {
    /// The percentages within each bound since an earlier count.
    pub(crate) fn since(&self, earlier: &Self) -> [f64; N] {
        let all = self.all - earlier.all;
        std::array::from_fn(|bound| 100.0 * (self.within[bound] - earlier.within[bound]) / all)
    }
}

impl ServerProcess {
    /// Starts a command that prints `listening on http://ADDRESS`.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            processors::start_on_server_processors(|| command.stdout(Stdio::piped()).spawn()).expect("a process");
        let out = child.stdout.take().expect("its standard output");
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("listening on http://").map(str::to_owned));
        Self { child, address: address.expect("the server printed no address; see its log") }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Seconds of processor time so far.
    pub(crate) fn cpu(&self) -> f64 {
        let stat = self.proc("stat");
        // The fields follow the process name, which may contain spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields[11..13].iter().map(|ticks| ticks.parse::<f64>().expect("ticks")).sum::<f64>() / CLOCK_TICKS_PER_SEC
    }

    /// Anonymous memory of the process in megabytes, without mapped files.
    pub(crate) fn memory(&self) -> f64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("RssAnon in /proc");
        let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kibibytes * 1024.0 / 1e6
    }

    fn proc(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).expect("a process that runs")
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let reported = kill_process(Pid::from_child(&self.child), Signal::TERM);
        if reported.is_err() || self.child.wait().is_err() {
            let _ = self.child.kill();
        }
    }
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    stream.set_read_timeout(Some(BENCH_REQUEST_TIMEOUT)).expect("a socket");
    stream
}

/// Sends a request on a new connection and returns the whole response.
pub(crate) fn get(address: &str, path: &str, key: Option<&str>) -> Vec<u8> {
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{key}Connection: close\r\n\r\n");
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).expect("a request sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    answer
}
