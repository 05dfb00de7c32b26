//! Agents: a search through the tool compared with the same search over REST, and listing tools.
//! The same client sends both, so only the interface differs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use hornbook::bench::load::{Load, Pace};
use hornbook::bench::queries::read;
use hornbook::bench::{BenchError, BenchTarget, BoxFuture, Sample, SampleResult, Worker};
use serde_json::json;

use crate::server::{BenchData, ServerProcess};
use crate::{ROUNDS, round, row, spread};

const LOAD: Load =
    Load { pace: Pace::Closed, workers: 8, warm_up: Duration::from_millis(500), duration: Duration::from_secs(3) };

const JUDGED: [&str; 4] = ["questions", "topics", "citations", "phrases"];

/// The number of tool lists timed in a row.
const LISTS: usize = 500;

pub(crate) fn measure(data: &BenchData<'_>) {
    let server = data.serve(&["ledger.durability=window", "mcp.free_per_minute=0"]).0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
    let file = |kind: &str| read(&folder.join(format!("{kind}.jsonl"))).unwrap_or_else(|error| panic!("{error}"));
    let queries: Vec<String> = JUDGED.into_iter().flat_map(file).map(|query| query.text).collect();
    let by_rest = RawTarget::new(&server, queries.iter().map(|query| rest(&data.key, query)));
    let by_tool = RawTarget::new(&server, queries.iter().map(|query| tool(&data.key, query)));
    let (mut rest_a_second, mut tools_a_second, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let rest = round(&by_rest, &LOAD).throughput;
        let tools = round(&by_tool, &LOAD).throughput;
        rest_a_second.push(rest);
        tools_a_second.push(tools);
        ratios.push(100.0 * tools / rest);
    }
    row("tools/call of law.search, relative to the same search over REST", "%", spread(ratios));
    row("tools/call of law.search", "a second", spread(tools_a_second));
    row("search over REST, by the same client", "a second", spread(rest_a_second));
    let mut lists = Vec::new();
    for _ in 0..ROUNDS {
        lists.push(median_list(&server));
    }
    row("tools/list as a client sees it, median", "us", spread(lists));
}

fn rest(key: &str, query: &str) -> Vec<u8> {
    let words: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("GET /api/v1/search?q={words} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n")
        .into_bytes()
}

fn tool(key: &str, query: &str) -> Vec<u8> {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "law.search", "arguments": { "q": query } },
    });
    post(&format!("Authorization: Bearer {key}\r\n"), &body.to_string())
}

fn post(headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /api/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         {headers}\r\n{body}"
    )
    .into_bytes()
}

/// The median time of a tool list in microseconds.
fn median_list(server: &ServerProcess) -> f64 {
    let list = post("", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let mut connection = Connection::open(&server.address).expect("a connection");
    let mut took: Vec<f64> = (0..LISTS)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(connection.ask(&list).expect("a list"), 200);
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    took.sort_by(f64::total_cmp);
    took[LISTS / 2]
}

/// A target for requests as raw bytes.
struct RawTarget {
    address: String,
    requests: Vec<Vec<u8>>,
}

impl RawTarget {
    fn new(server: &ServerProcess, requests: impl Iterator<Item = Vec<u8>>) -> Self {
        Self { address: server.address.clone(), requests: requests.collect() }
    }
}

impl BenchTarget for RawTarget {
    fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>> {
        Box::pin(async {
            let connection = Connection::open(&self.address).map_err(|error| BenchError(error.to_string()))?;
            Ok(Box::new(RawWorker { connection, requests: &self.requests }) as Box<dyn Worker>)
        })
    }
}

struct RawWorker<'r> {
    connection: Connection,
    requests: &'r [Vec<u8>],
}

impl Worker for RawWorker<'_> {
    fn send(&mut self, index: usize) -> BoxFuture<'_, Sample> {
        Box::pin(async move { self.asked(index) })
    }
}

impl RawWorker<'_> {
    fn asked(&mut self, index: usize) -> Sample {
        match self.connection.ask(&self.requests[index % self.requests.len()]) {
            Ok(200) => SampleResult::Answered.into(),
            Ok(503) => SampleResult::Refused.into(),
            Ok(status) => SampleResult::Failed(format!("status {status}").into()).into(),
            Err(error) => SampleResult::Failed(error.to_string().into()).into(),
        }
    }
}

/// A keep-alive connection.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request, reads the whole response and returns its status.
    fn ask(&mut self, request: &[u8]) -> std::io::Result<u16> {
        self.0.get_mut().write_all(request)?;
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest.get(..3).and_then(|status| status.parse().ok()).unwrap_or(0);
            } else if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.parse().unwrap_or(0);
            }
        }
        std::io::copy(&mut self.0.by_ref().take(length), &mut std::io::sink())?;
        Ok(status)
    }
}
