//! The real program: administered while it runs and while it does not, backed up under load, and killed again and again.
//!
//! `HORNBOOK_TEST_KILLS` sets how often it is killed under load; 100 unless told.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hornbook::accounts::entropy::SeededEntropy;
use serde_json::Value;

const CALLERS: u64 = 16;
const FIRST_BOOT_KILLS: u64 = 300;
const BACKUPS: usize = 50;

struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, data: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
        // No limits on the pace and no allotment: every call is a debit from the wallet.
        for name in ["free.per_minute=4000000000", "free.per_day=4000000000", "free.monthly_units=0"] {
            command.args(["--set", name]);
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

    /// An account with a key and credits.
    fn customer(&self, data: &Path, credits: &str) -> String {
        self.json(data, &["account", "create", "Test", "--approve"]);
        self.json(data, &["grant", "acct-1", credits, "--reason", "test"]);
        let key = self.json(data, &["key", "create", "acct-1", "--test"]);
        key["key"].as_str().unwrap().to_owned()
    }

    fn serve(&self, data: &Path) -> Server {
        let mut child = self.command(data).arg("drill").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (calls, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(answers).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Server { child, calls, answers: receiver }
    }
}

struct Server {
    child: Child,
    calls: ChildStdin,
    answers: Receiver<String>,
}

impl Server {
    /// False once the server is gone.
    fn send(&mut self, number: u64, key: &str) -> bool {
        writeln!(self.calls, "{number} {key} 1").is_ok()
    }

    fn stop(self) {
        let Self { mut child, calls, .. } = self;
        drop(calls);
        assert!(child.wait().unwrap().success());
    }

    fn kill(mut self) -> Receiver<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.answers
    }
}

#[test]
fn commands_work_with_and_without_a_server() {
    let place = Place::new();
    let data = place.path("data");
    let key = place.customer(&data, "100");
    assert!(key.starts_with("hb_test_"));

    let mut server = place.serve(&data);
    assert!(server.send(1, &key));
    assert_eq!(server.answers.recv_timeout(Duration::from_secs(20)).unwrap(), "1 ok");
    let mode = std::fs::metadata(data.join("admin.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["creditsRemaining"], 99);
    let bought = place.json(&data, &["purchase", "request", "acct-1", "pro"]);
    let id = bought["id"].as_str().unwrap();
    place.json(&data, &["purchase", "approve", id]);
    let shown = place.json(&data, &["account", "show", "acct-1"]);
    assert_eq!((&shown["tier"], &shown["creditsRemaining"]), (&"pro".into(), &5099.into()));
    assert!(!shown.to_string().contains(&key) && !shown.to_string().contains("digest"));
    assert!(place.refusal(&data, &["restore", "nothing.redb", "--force"]).contains(&server.child.id().to_string()));
    assert!(place.refusal(&data, &["key", "revoke", "key-9"]).contains("no key key-9"));
    place.json(&data, &["key", "revoke", "key-1"]);
    assert!(server.send(2, &key));
    assert_eq!(server.answers.recv_timeout(Duration::from_secs(20)).unwrap(), "2 invalid_api_key");
    std::fs::remove_file(data.join("admin.sock")).unwrap();
    let message = place.refusal(&data, &["account", "list"]);
    assert!(message.contains(&format!("process {}", server.child.id())), "{message}");
    server.stop();

    assert_eq!(place.json(&data, &["ledger", "verify"])["books"]["wallets"], 5099);
    place.json(&data, &["ledger", "adjust", "acct-1", "-99", "--reason", "correction"]);
    assert_eq!(place.json(&data, &["ledger", "show", "acct-1"])[0]["balanceAfter"], 5000);
    let order = place.json(&data, &["order", "create", "acct-1", "Acme LLC", "--jurisdiction", "us-de"]);
    let id = order["id"].as_str().unwrap();
    assert_eq!(place.json(&data, &["order", "advance", id, "completed"])["state"], "completed");
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["allotmentRemaining"], 5000);
    let table = place.command(&data).args(["account", "list"]).output().unwrap();
    assert!(table.status.success());
}

#[test]
fn a_command_waits_for_a_server_that_is_starting() {
    let place = Place::new();
    let data = place.path("data");
    place.customer(&data, "100");
    // A server has the directory before it listens.
    let owner = hornbook::state::DataLock::acquire(&data).unwrap();
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
    let place = Place::new();
    let (data, copy) = (place.path("data"), place.path("copy.redb"));
    place.customer(&data, "100");
    let copy_text = copy.to_str().unwrap();
    place.json(&data, &["backup", copy_text]);
    assert!(place.refusal(&data, &["backup", copy_text]).contains("is there already"));
    place.json(&data, &["grant", "acct-1", "11", "--reason", "after the backup"]);
    assert!(place.refusal(&data, &["restore", copy_text]).contains("--force"));

    let broken = place.path("broken.redb");
    let mut bytes = std::fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    std::fs::write(&broken, bytes).unwrap();
    place.refusal(&data, &["restore", broken.to_str().unwrap(), "--force"]);
    place.refusal(&data, &["restore", "missing.redb", "--force"]);
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["creditsRemaining"], 111);
    let beside = |name: &OsStr| [".restore", ".part", ".new"].iter().any(|end| name.to_string_lossy().ends_with(end));
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| beside(name)), "{left:?}");
    for file in [&data.join("state.redb"), &copy] {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }

    place.json(&data, &["restore", copy_text, "--force"]);
    assert_eq!(place.json(&data, &["account", "show", "acct-1"])["creditsRemaining"], 100);
    assert!(data.join("state.redb.replaced").exists());
}

#[test]
fn the_configuration_is_shown_with_origins_and_slips_are_named() {
    let place = Place::new();
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
        // Somebody else's, and no text at all.
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

    type Slip<'s> = (&'s str, &'s [(&'s str, &'s OsStr)], &'s [&'s str], &'s str);
    let slips: [Slip<'_>; 5] = [
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
fn backups_under_load_open_and_add_up() {
    let place = Place::new();
    let data = place.path("data");
    let key = place.customer(&data, "1000000");
    let mut server = place.serve(&data);
    let mut number = 0;
    for _ in 0..CALLERS {
        number += 1;
        assert!(server.send(number, &key));
    }
    // Until the server has the state open, a backup would open it itself, and the server would find it taken.
    let first = server.answers.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(first.ends_with(" ok"), "{first}");
    number += 1;
    assert!(server.send(number, &key));
    let (finished, backups) = channel();
    let mut last = 0;
    std::thread::scope(|scope| {
        let (place, data) = (&place, &data);
        scope.spawn(move || {
            for round in 0..BACKUPS {
                let copy = place.path(&format!("copy-{round}.redb"));
                let proof = place.json(data, &["backup", copy.to_str().unwrap()])["proof"].clone();
                finished.send((copy, proof)).unwrap();
            }
        });
        for _ in 0..BACKUPS {
            let (copy, proof) = loop {
                if let Ok(done) = backups.try_recv() {
                    break done;
                }
                let answer = server.answers.recv_timeout(Duration::from_secs(20)).unwrap();
                assert!(answer.ends_with(" ok"), "{answer}");
                number += 1;
                assert!(server.send(number, &key));
            };
            let books = &proof["books"];
            let sum = |name: &str| books[name].as_i64().unwrap();
            assert_eq!(sum("wallets") + sum("spent"), 1_000_000, "{proof}");
            assert!(sum("spent") >= last, "{proof}");
            last = sum("spent");
            std::fs::remove_file(copy).unwrap();
        }
    });
    assert!(last > 0, "no load while backing up");
    server.stop();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how long to test is the tester's choice")]
fn killed_under_load_every_call_is_charged_exactly_once() {
    let kills: u64 = std::env::var("HORNBOOK_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let place = Place::new();
    let data = place.path("data");
    let key = place.customer(&data, "100000000");
    let mut random = SeededEntropy(kills);
    let mut waiting: HashSet<u64> = (1..=CALLERS).collect();
    let mut last_number = CALLERS;
    for kill in 0..=kills {
        let mut server = place.serve(&data);
        for number in &waiting {
            server.send(*number, &key);
        }
        // Now and then during recovery, before the first answer.
        let answers_before_kill = if kill % 8 == 0 { 0 } else { random.below(60) };
        let is_last = kill == kills;
        let mut answered = 0;
        while !waiting.is_empty() && (is_last || answered < answers_before_kill) {
            let answer = server.answers.recv_timeout(Duration::from_secs(30)).unwrap();
            answered += 1;
            if take(&mut waiting, &answer) && !is_last {
                last_number += 1;
                waiting.insert(last_number);
                server.send(last_number, &key);
            } else if let Some(number) = answer.strip_suffix(" overloaded") {
                // Its first copy is under way still.
                server.send(number.parse().unwrap(), &key);
            }
        }
        if is_last {
            server.stop();
            break;
        }
        std::thread::sleep(Duration::from_micros(random.below(4000)));
        for answer in server.kill() {
            // Answered before the kill, read after it.
            if take(&mut waiting, &answer) {
                last_number += 1;
                waiting.insert(last_number);
            }
        }
    }
    let proof = place.json(&data, &["ledger", "verify"]);
    assert_eq!(proof["books"]["spent"], last_number, "{proof}");
    println!("{kills} kills, {last_number} calls");
}

fn take(waiting: &mut HashSet<u64>, answer: &str) -> bool {
    let number = answer.strip_suffix(" ok").and_then(|number| number.parse().ok());
    number.is_some_and(|number: u64| waiting.remove(&number))
}

#[test]
fn killed_at_first_boot_it_starts_the_second_time() {
    let place = Place::new();
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
