//! A snapshot that is damaged while the program serves it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::hornbook;
use crate::serving::QuickStartServer;

/// A server that writes its log to a file.
fn started(data: &Path, log: &Path) -> QuickStartServer {
    QuickStartServer::with_log(data, &["log.format=json"], Stdio::from(File::create_new(log).unwrap()))
}

/// The served file with this name, made writable.
fn served_file(data: &Path, name: &str) -> PathBuf {
    let file = data.join("current").join(name).canonicalize().unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    file
}

fn first_hit(server: &QuickStartServer) -> String {
    let found = server.get("/api/v1/search?q=return+of+the+security+deposit");
    found.split("\"nodeId\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn a_flipped_bit_is_logged_and_fails_the_healthcheck() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let mut server = started(data.path(), &log);
    let node = format!("/api/v1/node/{}", first_hit(&server));
    assert!(server.get(&node).starts_with("HTTP/1.1 200 "));
    let path = served_file(data.path(), "texts.bin");
    let whole = fs::read(&path).unwrap();
    let words = b"security deposit";
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    for place in (0..whole.len() - words.len()).filter(|place| whole[*place..].starts_with(words)) {
        file.write_all_at(b"S", place as u64).unwrap();
    }
    let answer = server.get(&node);
    assert!(answer.starts_with("HTTP/1.1 500 ") && !answer.contains("ecurity deposit"), "{answer}");
    let reported = (0..3000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        let lines = fs::read_to_string(&log).unwrap();
        lines.lines().find(|line| line.contains("THE SERVED SNAPSHOT IS DAMAGED")).map(str::to_owned)
    });
    let reported: serde_json::Value = serde_json::from_str(&reported.unwrap()).unwrap();
    assert_eq!(reported["level"], "error");
    assert!(reported["why"].as_str().unwrap().contains("texts.bin"), "{reported}");
    let check = hornbook().args(["healthcheck", "--listen", &server.address]).output().unwrap();
    assert!(!check.status.success() && crate::stderr(&check).contains("snapshot_damaged"), "{check:?}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_truncated_file_ends_the_server_with_one_clear_line_and_a_safe_state() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let mut server = started(data.path(), &log);
    let node = format!("/api/v1/node/{}", first_hit(&server));
    for _ in 0..5 {
        assert!(server.get(&node).starts_with("HTTP/1.1 200 "));
    }
    let path = served_file(data.path(), "texts.bin");
    let whole = fs::read(&path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert_eq!(server.get(&node), "", "the request was answered");
    assert_eq!(server.ended().code(), Some(74));
    let log = fs::read_to_string(&log).unwrap();
    let reported: Vec<&str> = log.lines().filter(|line| line.contains("SIGBUS")).collect();
    assert!(reported.len() == 1 && reported[0].starts_with("hornbook: a file that is in use became shorter"), "{log}");

    // While the file is short, it is refused. Once it is restored, it is served again, and nothing
    // that was answered is lost.
    let refused = hornbook().arg("--data").arg(data.path()).arg("serve").output().unwrap();
    assert!(!refused.status.success() && crate::stderr(&refused).contains("texts.bin"), "{refused:?}");
    fs::write(&path, whole).unwrap();
    let mut again = started(data.path(), &data.path().join("second-log"));
    let me = again.get("/api/v1/me");
    let left = me.split("\"researchAllotmentRemaining\":").nth(1).unwrap().split([',', '}']).next().unwrap();
    // One search, five nodes and this call were answered. The call without an answer may have been charged.
    assert!(["993", "992"].contains(&left), "{me}");
    assert!(again.get(&node).starts_with("HTTP/1.1 200 "));
    assert_eq!(again.stop(), Some(0));
    let proof = hornbook().arg("--data").arg(data.path()).args(["ledger", "verify"]).output().unwrap();
    assert!(proof.status.success(), "{}", crate::stderr(&proof));
}
