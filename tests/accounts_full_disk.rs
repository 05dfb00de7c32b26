//! A full disk: nothing is charged that is not on disk, and service resumes by itself when there is space.

#[expect(dead_code, reason = "the tests of accounts use all of it")]
#[path = "../accounts/tests/it/support/mod.rs"]
mod support;

use std::io::Write;
use std::path::Path;
use std::process::Command;

use hornbook_accounts::error::{LedgerError, Refusal};
use hornbook_accounts::ids::Credits;
use hornbook_accounts::{Accounts, Durability};

use support::{act, clock_at_noon, create_customer_with_budgets, fast_settings, make_call, now_of, wait_until_healthy};

#[test]
fn a_full_disk_refuses_until_space_returns() {
    let mount = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=6m", "tmpfs"]).arg(mount.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        // Written to stderr directly, because the test harness would capture it.
        writeln!(std::io::stderr(), "a_full_disk_refuses_until_space_returns: SKIPPED, no tmpfs can be mounted here")
            .unwrap();
        return;
    }
    let result = std::panic::catch_unwind(|| fill_and_free(mount.path()));
    assert!(Command::new("umount").arg(mount.path()).status().unwrap().success());
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

/// A backup that does not fit reports it and leaves no partial file behind.
fn backup_onto(full: &Path) {
    let data = tempfile::tempdir().unwrap();
    let hornbook = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
        command.current_dir(data.path()).env_clear().args(words).output().unwrap()
    };
    assert!(hornbook(&["account", "create", "Test"]).status.success());
    let copy = full.join("copy.redb");
    let refused = hornbook(&["backup", copy.to_str().unwrap()]);
    assert!(!refused.status.success());
    let left: Vec<_> = std::fs::read_dir(full).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "data" || name == "ballast"), "{left:?}");
}

/// A restore that does not fit is refused before a byte is copied.
fn restore_onto(small: &Path) {
    let backup = tempfile::NamedTempFile::new().unwrap();
    backup.as_file().set_len(64 << 20).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
    command.env_clear().arg("--data").arg(small.join("restored")).arg("restore").arg(backup.path()).arg("--yes");
    let refused = command.output().unwrap();
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(message.contains("has 67108864 bytes, but the disk has room for "), "{message}");
    assert!(!small.join("restored/state.redb.restore").exists());
    std::fs::remove_dir_all(small.join("restored")).unwrap();
}

fn fill_and_free(disk: &Path) {
    restore_onto(disk);
    let now = now_of(&clock_at_noon());
    let accounts = Accounts::open(&disk.join("data"), fast_settings(Durability::Strict, 0), now).unwrap();
    let owner = create_customer_with_budgets(&accounts, 900_000, 1, now);
    let ballast = disk.join("ballast");
    let full = std::fs::write(&ballast, vec![1; 16 << 20]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let mut paid = 0;
    let reason = "x".repeat(200);
    let refusal = loop {
        // Long reasons fill the file faster than calls do.
        let _ = accounts.grant(owner.account, Credits(1), reason.clone(), &act(now));
        match make_call(&accounts, &owner.keys[0], 1, None, now) {
            Ok(_) => paid += 1,
            Err(refusal) => break refusal,
        }
        assert!(paid < 20_000, "the disk never filled up");
    };
    assert_eq!(refusal, Refusal::Ledger(LedgerError::StorageFull));
    backup_onto(disk);
    std::fs::remove_file(&ballast).unwrap();
    wait_until_healthy(&accounts).unwrap();
    for _ in 0..100 {
        make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
        paid += 1;
    }
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, paid);
}
