//! Snapshots that are swapped while clients send requests.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hornbook_index_build::build::Destination;
use serde_json::Value;

use crate::sample::build_plan;
use crate::test_server::{TestServer, generous_tariff};

const SWAPS: usize = 100;
const CLIENTS: usize = 4;

/// The sample corpus in two wordings, in one data directory that serves them alternately.
pub(crate) struct TwoSnapshots {
    pub(crate) data: tempfile::TempDir,
    /// The id of each, and the word that only its texts contain.
    pub(crate) snapshots: [(String, &'static str); 2],
}

impl TwoSnapshots {
    pub(crate) fn build() -> Self {
        let data = tempfile::tempdir().unwrap();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample");
        let snapshots = ["landlord", "lessorly"].map(|word| {
            let sources = data.path().join(word);
            copy_with(&sample, &sources, word);
            let outcome = build_plan(sources.join("plan.toml"), Destination::DataDirectory(data.path().to_owned()));
            (outcome.path.file_name().unwrap().to_str().unwrap().to_owned(), word)
        });
        assert_ne!(snapshots[0].0, snapshots[1].0);
        Self { data, snapshots }
    }

    pub(crate) fn set_current(&self, snapshot: &str) {
        let fresh = self.data.path().join("fresh");
        std::os::unix::fs::symlink(Path::new("snapshots").join(snapshot), &fresh).unwrap();
        fs::rename(&fresh, self.data.path().join("current")).unwrap();
    }

    fn word_of(&self, snapshot: &str) -> &'static str {
        self.snapshots
            .iter()
            .find(|(id, _)| id == snapshot)
            .unwrap_or_else(|| panic!("{snapshot} is neither of the two snapshots"))
            .1
    }
}

/// Copies the sources with another word for the landlord.
pub(crate) fn copy_with(from: &Path, to: &Path, word: &str) {
    fs::create_dir(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match (path.is_dir(), fs::read_to_string(&path)) {
            (true, _) => copy_with(&path, &target, word),
            (false, Ok(text)) => fs::write(target, text.replace("landlord", word)).unwrap(),
            (false, Err(_)) => drop(fs::copy(&path, target).unwrap()),
        }
    }
}

/// A keep-alive connection.
struct Client {
    stream: BufReader<TcpStream>,
    key: String,
}

impl Client {
    fn new(address: SocketAddr, key: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream: BufReader::new(stream), key: key.to_owned() }
    }

    /// The status, the snapshot named in the headers, and the body.
    fn get(&mut self, path: &str) -> (u16, String, Value) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n", self.key);
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut status, mut length, mut snapshot) = (0, 0, String::new());
        loop {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the connection ended before the answer to {path}");
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("x-corpus-snapshot", value)) => value.clone_into(&mut snapshot),
                None if line == "\r\n" => break,
                None => status = line.split(' ').nth(1).unwrap().parse().unwrap(),
                Some(_) => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (status, snapshot, serde_json::from_slice(&body).unwrap())
    }
}

#[test]
fn swaps_under_load_fail_no_request_and_mix_no_snapshots() {
    let corpora = TwoSnapshots::build();
    let server = TestServer::start(generous_tariff());
    server.service.reload_snapshot(corpora.data.path(), None).unwrap();
    let key = server.create_full_key();
    let path = "/api/v1/search?q=landlord+lessorly+deposit&limit=5";
    let (_, _, found) = Client::new(server.address, &key).get(path);
    let id = found["results"][0]["nodeId"].as_str().unwrap().to_owned();

    let done = AtomicBool::new(false);
    let ask = || {
        let mut client = Client::new(server.address, &key);
        let mut seen = HashSet::new();
        while !done.load(Ordering::Relaxed) {
            let (status, snapshot, node) = client.get(&format!("/api/v1/node/{id}"));
            let word = corpora.word_of(&snapshot);
            assert_eq!((status, node["provenance"]["snapshot"].as_str()), (200, Some(snapshot.as_str())));
            assert!(node["text"].as_str().unwrap().contains(word), "{snapshot}: {node:#}");
            seen.insert(snapshot);

            let (status, snapshot, found) = client.get(path);
            let word = corpora.word_of(&snapshot);
            let snippets: Vec<&str> =
                found["results"].as_array().unwrap().iter().filter_map(|hit| hit["snippet"].as_str()).collect();
            let strange =
                |snippet: &&&str| corpora.snapshots.iter().any(|(_, other)| *other != word && snippet.contains(other));
            assert_eq!((status, snippets.iter().find(strange)), (200, None), "{snapshot}");
            assert!(snippets.iter().any(|snippet| snippet.contains(word)), "{snapshot}: {found:#}");

            let (status, snapshot, discovery) = client.get("/api/v1");
            assert_eq!((status, discovery["snapshot"].as_str()), (200, Some(snapshot.as_str())));
        }
        seen
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
        for swap in 0..SWAPS {
            let (snapshot, _) = &corpora.snapshots[swap % 2];
            corpora.set_current(snapshot);
            assert_eq!(&server.service.reload_snapshot(corpora.data.path(), None).unwrap().snapshot, snapshot);
        }
        done.store(true, Ordering::Relaxed);
        for client in clients {
            assert_eq!(client.join().unwrap().len(), 2, "a client saw one snapshot only");
        }
    });
}

#[test]
fn a_bad_snapshot_is_refused_with_the_reason_and_the_old_one_stays() {
    let corpora = TwoSnapshots::build();
    let server = TestServer::start(generous_tariff());
    let (good, _) = &corpora.snapshots[0];
    corpora.set_current(good);
    server.service.reload_snapshot(corpora.data.path(), None).unwrap();
    let key = server.create_full_key();
    let still_good = || {
        let answer = server.get("/api/v1/search?q=landlord", &key);
        assert_eq!((answer.status, answer.header("x-corpus-snapshot")), (200, good.as_str()));
    };

    let bad = corpora.data.path().join("snapshots").join(&corpora.snapshots[1].0);
    flip_middle_bit(&bad.join("texts.bin"));
    corpora.set_current(&corpora.snapshots[1].0);
    let error = server.service.reload_snapshot(corpora.data.path(), None).unwrap_err().to_string();
    assert!(error.contains("texts.bin") && error.contains("damaged"), "{error}");
    still_good();

    corpora.set_current("nowhere");
    let error = server.service.reload_snapshot(corpora.data.path(), None).unwrap_err().to_string();
    assert!(error.contains("hornbook build"), "{error}");
    still_good();
}

/// Flips one bit in the middle of a read-only file.
fn flip_middle_bit(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    for path in [file.parent().unwrap(), file] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(file, bytes).unwrap();
}
