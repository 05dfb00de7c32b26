//! Commands with and without a running server, what they refuse, and what they leave in the log and on disk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::fixture::{ProcessFixture, Server};

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
