//! Snapshots as files: packing, signing, installing on another machine, and following a channel.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::bad_input::PLAN_HEAD;
use crate::publisher::{Publisher, ResponseFault};
use crate::serving::ServeProcess;
use crate::{hornbook, stderr, stdout};

/// The folder of the channel at the publisher.
pub(crate) const FOLDER: &str = "/us-law";

/// One machine that builds and signs, and one that installs.
pub(crate) struct Machines {
    dir: tempfile::TempDir,
    pub(crate) key: String,
}

impl Machines {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let machines = Self { dir, key: String::new() };
        let secret = machines.at("law.key").display().to_string();
        assert!(machines.builder(&["snapshot", "keygen", "--out", &secret]).contains("TRUSTED_KEYS=RW"));
        let public = fs::read_to_string(machines.at("law.pub")).unwrap();
        Self { key: public.lines().nth(1).unwrap().to_owned(), ..machines }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn run(&self, data: &str, arguments: &[&str]) -> Result<String, String> {
        let output = hornbook().args(arguments).arg("--data").arg(self.at(data)).output().unwrap();
        if output.status.success() { Ok(stdout(&output)) } else { Err(stderr(&output)) }
    }

    fn builder(&self, arguments: &[&str]) -> String {
        self.run("builder", arguments).unwrap()
    }

    /// Builds the law with this text, and returns the id of the snapshot.
    pub(crate) fn build(&self, text: &str) -> String {
        fs::write(self.at("plan.toml"), PLAN_HEAD).unwrap();
        let line = |number: u32, text: &str| {
            format!(r#"{{"key":"s{number}","level":"section","number":"{number}","heading":"H","text":"{text}"}}"#)
        };
        let lines: Vec<String> = (2..40).map(|number| line(number, "Dogs must be on a leash.")).collect();
        fs::write(self.at("law.jsonl"), format!("{}\n{}", line(1, text), lines.join("\n"))).unwrap();
        self.builder(&["build", &self.at("plan.toml").display().to_string(), "--accept-loss"]);
        current(&self.at("builder"))
    }

    /// Publishes the current snapshot in the channel, and gives all its files to the publisher.
    pub(crate) fn publish(&self, publisher: &Publisher) {
        let (folder, key) = (self.at("channel").display().to_string(), self.at("law.key").display().to_string());
        self.builder(&["snapshot", "pack", "--channel", &folder, "--name", "us-law", "--key", &key]);
        for entry in fs::read_dir(self.at("channel")).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{FOLDER}/{}", entry.file_name().into_string().unwrap());
            publisher.offer(&path, &fs::read(entry.path()).unwrap());
        }
    }

    fn pull(&self, publisher: &Publisher, more: &[&str]) -> Result<Value, String> {
        let url = format!("{}{FOLDER}/", publisher.base);
        let arguments = [&["snapshot", "pull", url.as_str(), "--trust", self.key.as_str(), "--json"], more].concat();
        self.run("box", &arguments).map(|text| serde_json::from_str(&text).unwrap())
    }
}

/// A search of a server, and the snapshot that answered.
fn searched(server: &ServeProcess, key: &str, words: &str) -> (String, String) {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let request = format!(
        "GET /api/v1/search?q={words} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let snapshot = answer.lines().find_map(|line| line.strip_prefix("x-corpus-snapshot: ")).unwrap().to_owned();
    (snapshot, answer)
}

/// The origin is a running server that shares its channel, and the box a running server that switches without a failed
/// request.
#[test]
fn a_serving_box_follows_a_serving_origin() {
    let machines = Machines::new();
    let first = machines.build("Cats are free.");
    let channel = machines.at("channel").display().to_string();
    let publish = || {
        let key = machines.at("law.key").display().to_string();
        machines.builder(&["snapshot", "pack", "--channel", &channel, "--name", "us-law", "--key", &key]);
    };
    publish();
    let share = format!("snapshots.share={channel}");
    let origin = ServeProcess::start(&machines.at("builder"), &[&share]);
    let url = format!("http://{}/channel", origin.address);
    let pull = || {
        let arguments = ["snapshot", "pull", &url, "--trust", &machines.key, "--json", "--swap"];
        let text = machines.run("box", &arguments).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(pull()["snapshot"], first.as_str());
    let account = machines.run("box", &["account", "create", "Edge", "--approve"]).unwrap();
    let account = account.split_whitespace().find(|word| word.starts_with("acct-")).unwrap().to_owned();
    let key = machines.run("box", &["key", "create", account.trim_matches(','), "--name", "edge"]).unwrap();
    let key = key.split_whitespace().find(|word| word.starts_with("hb_live_")).unwrap().to_owned();
    let edge = ServeProcess::start(
        &machines.at("box"),
        &["free.per_minute=100000", "free.per_day=100000", "free.monthly_units=100000"],
    );
    assert_eq!(searched(&edge, &key, "cats").0, first);

    let second = machines.build("Cats must be on a leash, too.");
    publish();
    let stopped = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut seen = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let (snapshot, answer) = searched(&edge, &key, "cats");
                let text = if snapshot == first { "Cats are free" } else { "Cats must be" };
                assert!(answer.contains(text), "{answer}");
                seen.push(snapshot);
            }
            seen
        });
        let pulled = pull();
        assert_eq!((&pulled["snapshot"], &pulled["isCurrent"]), (&second.as_str().into(), &true.into()));
        assert!(pulled["localBytes"].as_u64() > pulled["fetchedBytes"].as_u64(), "most blocks were there: {pulled}");
        while searched(&edge, &key, "cats").0 != second {}
        stopped.store(true, Ordering::Relaxed);
        asking.join().unwrap()
    });
    let switched = seen.iter().position(|snapshot| *snapshot == second).unwrap_or(seen.len());
    assert!(switched > 0 && seen[switched..].iter().all(|snapshot| *snapshot == second), "it never goes back");

    // What is not of the channel is not offered, and parts of files are.
    let get = |path: &str, range: &str| {
        let mut stream = TcpStream::connect(&origin.address).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{range}\r\n", origin.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    };
    let whole = fs::read(machines.at("channel").join(format!("{second}.pack"))).unwrap();
    let part = get(&format!("/channel/{second}.pack"), "Range: bytes=5-1004\r\n");
    let text = String::from_utf8_lossy(&part).into_owned();
    assert!(
        text.starts_with("HTTP/1.1 206 ") && text.contains(&format!("content-range: bytes 5-1004/{}\r\n", whole.len()))
    );
    assert!(part.ends_with(&whole[5..1005]));
    assert!(get(&format!("/channel/{second}.pack"), "").ends_with(&whole));
    for other in
        ["/channel/", "/channel/..%2Flaw.key", "/channel/../law.key", "/channel/.hidden", "/channel/absent.pack"]
    {
        let answer = String::from_utf8_lossy(&get(other, "")).into_owned();
        assert!(answer.starts_with("HTTP/1.1 404 ") || answer.starts_with("HTTP/1.1 400 "), "{other}: {answer}");
    }
}

pub(crate) fn current(data: &Path) -> String {
    let link = fs::canonicalize(data.join("current")).unwrap();
    link.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_signed_pack_is_installed_on_another_machine_and_nothing_else_is() {
    let machines = Machines::new();
    let first = machines.build("Cats are free.");
    let path = |name: &str| machines.at(name).display().to_string();
    let (pack, key) = (path("law.pack"), path("law.key"));
    assert!(machines.builder(&["snapshot", "pack", "--out", &pack, "--key", &key]).contains("signed"));
    assert!(machines.run("builder", &["snapshot", "pack", "--out", &pack]).unwrap_err().contains("exists already"));

    let install = |more: &[&str]| machines.run("box", &[&["snapshot", "install", pack.as_str()], more].concat());
    let trust = ["--trust", machines.key.as_str()];
    assert!(install(&[]).unwrap_err().contains("snapshots.trusted_keys"));
    let whole = fs::read(&pack).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(&pack, &changed).unwrap();
    assert!(install(&trust).unwrap_err().contains("does not match its signature"));
    // Without the signature, the damaged block is found.
    assert!(install(&["--allow-unsigned"]).unwrap_err().contains("is damaged"));
    assert!(machines.run("box", &["snapshot", "list"]).unwrap().contains("no snapshots"));
    fs::write(&pack, &whole).unwrap();
    assert!(install(&trust).unwrap().contains("is installed"));
    assert!(install(&[&trust[..], &["--activate"]].concat()).unwrap().contains("was installed already"));
    assert_eq!(current(&machines.at("box")), first);
    machines.run("box", &["verify", &machines.at("box/current").display().to_string()]).unwrap();

    let second = machines.build("Cats must be on a leash, too.");
    let changes = path("changes.pack");
    machines.builder(&["snapshot", "pack", "--since", &first[..8], "--out", &changes]);
    assert!(fs::metadata(&changes).unwrap().len() < whole.len() as u64);
    let refused = machines.run("box", &["snapshot", "install", &changes]).unwrap_err();
    assert!(refused.contains("has no signature") && refused.contains("--allow-unsigned"), "{refused}");
    let refused = machines.run("other", &["snapshot", "install", &changes, "--allow-unsigned"]).unwrap_err();
    assert!(refused.contains(&first), "{refused}");
    machines.run("box", &["snapshot", "install", &changes, "--allow-unsigned", "--activate"]).unwrap();
    assert_eq!(current(&machines.at("box")), second);
    assert_eq!(machines.run("box", &["search", "cats leash"]), machines.run("builder", &["search", "cats leash"]));
}

#[test]
fn a_box_follows_a_channel_through_faults_and_never_back() {
    let (machines, publisher) = (Machines::new(), Publisher::start());
    let first = machines.build("Cats are free.");
    machines.publish(&publisher);
    assert!(machines.run("box", &["snapshot", "pull"]).unwrap_err().contains("snapshots.origin"));
    let list = format!("{FOLDER}/channel.json");
    let pack = format!("{FOLDER}/{first}.pack");
    publisher.add_faults(&list, [ResponseFault::Status(503, "")]);
    publisher.add_faults(
        &pack,
        [
            ResponseFault::Corrupt,
            ResponseFault::CloseAfter(40_000),
            ResponseFault::WrongRangeStart,
            ResponseFault::Corrupt,
        ],
    );
    let pulled = machines.pull(&publisher, &["--swap"]).unwrap();
    assert_eq!(
        (&pulled["snapshot"], &pulled["isCurrent"], &pulled["sequence"]),
        (&first.as_str().into(), &true.into(), &1.into())
    );
    machines.run("box", &["verify", &machines.at("box/current").display().to_string()]).unwrap();

    let earlier: Vec<(String, Vec<u8>)> = ["channel.json", "channel.json.minisig"]
        .map(|name| (format!("{FOLDER}/{name}"), fs::read(machines.at("channel").join(name)).unwrap()))
        .into();
    let second = machines.build("Cats must be on a leash, too.");
    machines.publish(&publisher);
    publisher.take_requests();
    let next = machines.pull(&publisher, &[]).unwrap();
    assert_eq!((&next["isNew"], &next["isCurrent"]), (&true.into(), &false.into()));
    assert!(next["fetchedBytes"].as_u64() < pulled["fetchedBytes"].as_u64(), "{next} {pulled}");
    let requests = publisher.take_requests();
    assert!(
        requests.iter().all(|request| !request.path.ends_with(&format!("{second}.pack"))),
        "only changes were fetched"
    );
    assert_eq!(machines.pull(&publisher, &["--swap"]).unwrap()["isNew"], false);
    assert_eq!(current(&machines.at("box")), second);

    // The publisher's folder is put back to the day before.
    for (path, bytes) in &earlier {
        publisher.offer(path, bytes);
    }
    let refused = machines.pull(&publisher, &["--swap"]).unwrap_err();
    assert!(refused.contains("edition 1 of the channel 'us-law', but edition 2 was accepted before"), "{refused}");
    assert_eq!(current(&machines.at("box")), second);
}

#[test]
fn an_origin_that_cannot_serve_a_channel_is_refused_with_the_reason() {
    let (machines, publisher) = (Machines::new(), Publisher::start());
    assert!(machines.pull(&publisher, &[]).unwrap_err().contains("404"));
    let id = machines.build("Cats are free.");
    machines.publish(&publisher);
    publisher
        .add_faults(&format!("{FOLDER}/channel.json"), [ResponseFault::Redirect("http://127.0.0.1:9/".to_owned())]);
    assert!(machines.pull(&publisher, &[]).unwrap_err().contains("redirects are not followed"));
    publisher.add_faults(&format!("{FOLDER}/{id}.pack"), [ResponseFault::IgnoreRange]);
    assert!(machines.pull(&publisher, &[]).unwrap_err().contains("parts of files"));
    let url = format!("{}{FOLDER}", publisher.base);
    assert!(machines.run("box", &["snapshot", "pull", &url]).unwrap_err().contains("no key is trusted"));
    let other = Machines::new();
    let refused = machines.run("box", &["snapshot", "pull", &url, "--trust", &other.key]).unwrap_err();
    assert!(refused.contains("is not trusted"), "{refused}");
    machines.pull(&publisher, &["--swap"]).unwrap();
}

#[test]
fn a_secret_key_is_never_replaced_and_only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let machines = Machines::new();
    let secret = machines.at("law.key");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = machines.run("box", &["snapshot", "keygen", "--out", &secret.display().to_string()]).unwrap_err();
    assert!(refused.contains("law.key"), "{refused}");
}
