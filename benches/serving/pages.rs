//! Pages: the server's processor time for a reading page and for a results page, minus that of an
//! empty request, and the results page relative to the same search over the API. Uncompressed, and
//! compressed as browsers with and without TLS request it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hornbook::bench::queries::read;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;

use crate::server::{BenchData, ServerProcess, connect};
use crate::{ROUNDS, row, spread};

/// The number of provisions around the median length, and of the longest ones.
const MEDIAN: usize = 200;
const LONGEST: usize = 5;

/// How long each kind is requested in a round.
const DURATION: Duration = Duration::from_millis(1000);

/// Without citations, because the page redirects from a citation to its provision.
const JUDGED: [&str; 3] = ["questions", "topics", "phrases"];

const CODINGS: [(&str, &str); 3] = [("", ""), (", compressed with zstd", "zstd"), (", compressed with gzip", "gzip")];

pub(crate) fn measure(data: &BenchData<'_>, snapshot: &Snapshot) {
    let settings = [
        "ledger.durability=window",
        "server.open_per_minute=0",
        "web.reads_per_minute=1000000000",
        "web.searches_per_minute=1000000000",
    ];
    let server = data.serve(&settings).0;
    let by_length = provisions(snapshot);
    let middle = by_length.len() / 2;
    let median = &by_length[middle.saturating_sub(MEDIAN / 2)..(middle + MEDIAN / 2).min(by_length.len())];
    let longest = &by_length[by_length.len().saturating_sub(LONGEST)..];
    let queries = queries();
    let pages: Vec<String> = queries.iter().map(|query| format!("/?as=words&q={query}")).collect();
    let calls = queries.iter().map(|query| format!("/api/v1/search?facets=true&limit=20&q={query}"));
    let calls: Vec<String> = calls.collect();

    for (name, coding) in CODINGS {
        let accepts = if coding.is_empty() { String::new() } else { format!("Accept-Encoding: {coding}\r\n") };
        let with_key = format!("{accepts}Authorization: Bearer {}\r\n", data.key);
        let mut figures: [Vec<f64>; 4] = Default::default();
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let empty = cost(&server, &["/healthz".to_owned()], "");
            let net = |paths: &[String], head: &str| cost(&server, paths, head) - empty;
            let (page, call) = (net(&pages, &accepts), net(&calls, &with_key));
            for (taken, cost) in figures.iter_mut().zip([net(median, &accepts), net(longest, &accepts), page, call]) {
                taken.push(cost);
            }
            ratios.push(page / call);
        }
        let [median, longest, page, call] = figures;
        row(&format!("reading page of a median provision{name}"), "us", spread(median));
        row(&format!("reading page of the longest provisions{name}"), "us", spread(longest));
        row(&format!("page of results{name}"), "us", spread(page));
        row(&format!("the same search over the API{name}"), "us", spread(call));
        row(&format!("results page relative to the API{name}"), "times", spread(ratios));
    }
}

/// The page paths of all provisions with a text, shortest text first.
fn provisions(snapshot: &Snapshot) -> Vec<String> {
    let outline = &snapshot.outline;
    let lengths = (0..outline.len()).map(NodeOrdinal).filter(|node| outline.is_provision(*node)).filter_map(|node| {
        let record = snapshot.nodes.get(node).ok()?;
        let length = snapshot.texts.get(record.wording(0).text).ok()?.len();
        Some((length, format!("/law/{}", outline.id(node)?)))
    });
    let mut lengths: Vec<(usize, String)> = lengths.collect();
    lengths.sort();
    lengths.into_iter().map(|(_, path)| path).collect()
}

/// The judged queries, percent-encoded.
fn queries() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
    let file = |kind: &str| read(&folder.join(format!("{kind}.jsonl"))).unwrap_or_else(|error| panic!("{error}"));
    let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    JUDGED.into_iter().flat_map(file).map(|query| encoded(&query.text)).collect()
}

/// Microseconds of the server's processor time per request. The requests follow each other on one connection.
fn cost(server: &ServerProcess, paths: &[String], head: &str) -> f64 {
    let mut connection = BufReader::new(connect(&server.address));
    let mut ask = |path: &String| get(&mut connection, &server.address, path, head);
    paths.iter().for_each(&mut ask);
    let (before, began, mut asked) = (server.cpu(), Instant::now(), 0.0);
    while began.elapsed() < DURATION {
        paths.iter().for_each(&mut ask);
        asked += paths.len() as f64;
    }
    (server.cpu() - before) * 1e6 / asked
}

/// Reads the response and discards it.
fn get(connection: &mut BufReader<TcpStream>, host: &str, path: &str, head: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{head}\r\n");
    connection.get_mut().write_all(request.as_bytes()).expect("a request sent");
    let mut line = String::new();
    connection.read_line(&mut line).expect("an answer");
    assert!(line.starts_with("HTTP/1.1 200"), "{path}: {line}");
    let mut length = 0;
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line).expect("a header");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body).expect("the body");
}
