//! Backups under load, and what is restored from them.

use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::fixture::{CALLERS, Client, ProcessFixture};

const BACKUPS: usize = 20;

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
