//! Disks that fail, fill up, flip bits and lose their ends: never a wrong balance, no 200 without a durable debit, and
//! work goes on by itself once the disk does.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use hornbook::accounts::admission::{PendingDebit, Reserved};
use hornbook::accounts::entropy::SeededEntropy;
use hornbook::accounts::error::{ChangeError, LedgerError, Refusal};
use hornbook::accounts::ids::Credits;
use hornbook::accounts::ledger::verify::Proof;
use hornbook::accounts::scope::ScopeSet;
use hornbook::accounts::{Accounts, Durability};
use hornbook::state::{MARK_FILE, STATE_FILE};
use support::disk::{Disk, EIO, ENOSPC, Fault, FaultOn};
use support::{act, call, customer, failing_call, fast_settings, noon, read, start, wait_until_healthy};

const FLIPS: u64 = 1000;
const TRUNCATIONS: u64 = 300;

#[test]
fn the_nth_write_or_sync_fails() {
    for on in [FaultOn::Write, FaultOn::Sync] {
        for error in [EIO, ENOSPC] {
            for after in 0..50 {
                for lasting in [true, false] {
                    fail_at(Fault { after, on, error, lasting });
                }
            }
        }
    }
}

fn fail_at(fault: Fault) {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let settings = fast_settings(Durability::Strict, 50);
    let accounts = start(disk.medium(), settings, now);
    let owner = customer(&accounts, 1000, 2, now);
    let paid = AtomicI64::new(0);
    disk.fail(Some(fault));
    std::thread::scope(|scope| {
        for caller in 0..4 {
            let (accounts, owner, paid) = (&accounts, &owner, &paid);
            scope.spawn(move || {
                for round in 0..12 {
                    let key = &owner.keys[caller % 2];
                    if round % 4 == 3 {
                        let _ = failing_call(accounts, key, 1, now);
                        continue;
                    }
                    match call(accounts, key, 5, None, now) {
                        Ok(_) => drop(paid.fetch_add(5, Ordering::Relaxed)),
                        Err(Refusal::Ledger(LedgerError::Unavailable | LedgerError::StorageFull)) => {}
                        Err(other) => panic!("{fault:?}: {other:?}"),
                    }
                }
            });
        }
    });
    if fault.lasting && fault.error == ENOSPC && accounts.health().is_err() {
        assert_eq!(accounts.health(), Err(LedgerError::StorageFull), "{fault:?}");
    }
    disk.fail(None);
    wait_until_healthy(&accounts).unwrap_or_else(|error| panic!("{fault:?}: {error}: {:?}", accounts.last_trouble()));
    // One change behind everything that is still owed.
    accounts.approve_account(owner.account, &act(now)).unwrap();
    let proof = accounts.verify_ledger().unwrap_or_else(|error| panic!("{fault:?}: {error}"));
    let paid = paid.into_inner();
    assert_eq!(proof.books.spent, paid, "{fault:?}: only answered calls are charged");
    let left = accounts.account(owner.account, now).unwrap().remaining;
    assert_eq!(left.wallet + i64::from(left.allotment), 1050 - paid, "{fault:?}: nothing stays held");
    call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    accounts.close();
    assert_eq!(start(disk.medium(), settings, now).verify_ledger().unwrap().books.spent, paid + 1);
}

#[test]
fn window_mode_survives_a_failing_sync_in_the_customers_favour() {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), fast_settings(Durability::Window, 0), now);
    let owner = customer(&accounts, 100, 1, now);
    disk.fail(Some(Fault { after: 0, on: FaultOn::Sync, error: EIO, lasting: true }));
    let answered = (0..20).filter(|_| call(&accounts, &owner.keys[0], 1, None, now).is_ok()).count();
    assert!(answered > 0);
    while accounts.health().is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    disk.fail(None);
    wait_until_healthy(&accounts).unwrap();
    accounts.approve_account(owner.account, &act(now)).unwrap();
    let spent = accounts.verify_ledger().unwrap().books.spent;
    assert!(spent <= answered as i64, "{spent} of {answered}");
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 100 - spent);
}

#[test]
fn credits_of_a_correction_with_unknown_outcome_stay_held() {
    let now = read(&noon());
    for after in 0..4 {
        let disk = Disk::with_schema();
        let accounts = start(disk.medium(), fast_settings(Durability::Strict, 0), now);
        let owner = customer(&accounts, 100, 1, now);
        let left = || accounts.account(owner.account, now).unwrap().remaining.wallet;
        disk.fail(Some(Fault { after, on: FaultOn::Sync, error: EIO, lasting: true }));
        let result = accounts.adjust(owner.account, -100, "correction".to_owned(), &act(now));
        if let Err(ChangeError::OutcomeUnknown(_)) = result {
            assert_eq!(left(), 0, "what may be spent is not to be had");
        } else {
            assert!(after >= 2, "{result:?}");
        }
        disk.fail(None);
        wait_until_healthy(&accounts).unwrap();
        accounts.approve_account(owner.account, &act(now)).unwrap();
        assert_eq!(left(), accounts.verify_ledger().unwrap().books.wallets);
    }
}

#[test]
fn a_refund_during_an_outage_is_owed_and_nobody_waits_for_it() {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 100, 1, now);
    let begin = || {
        let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
        match paced.pace(now).unwrap().reserve("search", Credits(5), None, now).unwrap() {
            Reserved::Fresh(reservation) => reservation.begin().unwrap(),
            Reserved::Replay(_) => panic!("no retry was made"),
        }
    };
    let refund = |debit: PendingDebit| {
        let (told, answer) = channel();
        std::thread::spawn(move || told.send(debit.refund_blocking()));
        answer.recv_timeout(Duration::from_secs(20)).expect("an answer before the outage ends")
    };
    let [during, after] = [begin(), begin()];
    accounts.approve_account(owner.account, &act(now)).unwrap();
    disk.fail(Some(Fault { after: 0, on: FaultOn::Sync, error: EIO, lasting: true }));
    assert!(accounts.approve_account(owner.account, &act(now)).is_err());
    // Everything that waited when it failed has been told so by now: what comes is on its own.
    while accounts.last_trouble().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(refund(during), Err(LedgerError::Unavailable));
    disk.fail(None);
    wait_until_healthy(&accounts).unwrap();
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 5, "one was given back, the other not yet");
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 95);
    accounts.close();
    assert!(refund(after).is_err());
}

#[test]
fn a_disk_that_stalls_is_an_overload_and_costs_nobody_anything() {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 100_000, 1, now);
    disk.stall(true);
    let mut begun = Vec::new();
    let error = loop {
        let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
        let reserved = paced.pace(now).unwrap().reserve("search", Credits(1), None, now).unwrap();
        let Reserved::Fresh(reservation) = reserved else { panic!("no retry was made") };
        match reservation.begin() {
            Ok(debit) => begun.push(debit),
            Err(error) => break error,
        }
        assert!(begun.len() < 20_000, "the queue has no bound");
    };
    assert_eq!(error, LedgerError::Overloaded);
    disk.stall(false);
    let spent = begun.len() as i64;
    for (number, debit) in begun.into_iter().enumerate() {
        assert_eq!(debit.settle_blocking().unwrap().credits_remaining(), 99_999 - number as u64);
    }
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, spent);
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 100_000 - spent);
}

/// A data directory with some history, closed cleanly or torn off.
fn sample(data: &Path, clean: bool) -> Proof {
    let clock = noon();
    let now = read(&clock);
    let settings = fast_settings(Durability::Strict, 40);
    let accounts = Accounts::open(data, settings, now).unwrap();
    let owners: Vec<_> = (0..4).map(|_| customer(&accounts, 500, 2, now)).collect();
    for round in 0..200 {
        let owner = &owners[round % 4];
        call(&accounts, &owner.keys[round % 2], 1 + (round % 2) as u32, None, now).unwrap();
    }
    let proof = accounts.verify_ledger().unwrap();
    if !clean {
        // What a killed process leaves.
        for file in [STATE_FILE, MARK_FILE] {
            std::fs::copy(data.join(file), data.join(format!("{file}.torn"))).unwrap();
        }
        accounts.close();
        for file in [STATE_FILE, MARK_FILE] {
            std::fs::rename(data.join(format!("{file}.torn")), data.join(file)).unwrap();
        }
    }
    proof
}

#[test]
fn flipped_bits_are_harmless_or_refused() {
    damage(FLIPS, |bytes, random, round| {
        // Every fifth hits the header, where one bit selects another commit.
        let within = if round % 5 == 0 { 512 } else { bytes.len() as u64 };
        let at = random.below(within) as usize;
        bytes[at] ^= 1 << random.below(8);
        format!("bit flip at byte {at}")
    });
}

#[test]
fn truncations_are_harmless_or_refused() {
    damage(TRUNCATIONS, |bytes, random, _| {
        let length = random.below(bytes.len() as u64) as usize;
        bytes.truncate(length);
        format!("cut to {length} bytes")
    });
}

/// Kept in memory where the system offers that: what is hurt here is the file, not the disk's promise to keep it.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn damage(rounds: u64, hurt: impl Fn(&mut Vec<u8>, &mut SeededEntropy, u64) -> String) {
    for clean in [true, false] {
        let original = directory();
        let proof = sample(original.path(), clean);
        let bytes = std::fs::read(original.path().join(STATE_FILE)).unwrap();
        let mark = std::fs::read(original.path().join(MARK_FILE)).unwrap();
        let mut random = SeededEntropy(77 + u64::from(clean));
        let mut refused = 0;
        for round in 0..rounds / 2 {
            let mut bytes = bytes.clone();
            let what = hurt(&mut bytes, &mut random, round);
            let data = directory();
            std::fs::write(data.path().join(STATE_FILE), &bytes).unwrap();
            std::fs::write(data.path().join(MARK_FILE), &mark).unwrap();
            refused += u64::from(!is_same_or_refused(data.path(), &proof, &what));
        }
        println!("{refused} of {} were refused, the rest read the same", rounds / 2);
        assert!(refused > 0, "no damage was noticed at all");
    }
}

/// Whether the state opened; then it must be the same to the last credit.
fn is_same_or_refused(data: &Path, proof: &Proof, what: &str) -> bool {
    let now = read(&noon());
    match Accounts::open(data, fast_settings(Durability::Strict, 40), now) {
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("hornbook restore"), "{what}: {message}");
            false
        }
        Ok(accounts) => {
            let found = accounts.verify_ledger().unwrap_or_else(|error| panic!("{what}: opened, then {error}"));
            assert_eq!(&found, proof, "{what}");
            true
        }
    }
}

#[test]
fn an_older_file_put_in_place_is_refused_and_so_is_a_lost_one() {
    let data = tempfile::tempdir().unwrap();
    let now = read(&noon());
    let settings = fast_settings(Durability::Strict, 40);
    let accounts = Accounts::open(data.path(), settings, now).unwrap();
    let owner = customer(&accounts, 500, 1, now);
    accounts.close();
    drop(accounts);
    let old = std::fs::read(data.path().join(STATE_FILE)).unwrap();
    let accounts = Accounts::open(data.path(), settings, now).unwrap();
    call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    drop(accounts);
    std::fs::write(data.path().join(STATE_FILE), old).unwrap();
    let message = Accounts::open(data.path(), settings, now).err().unwrap().to_string();
    assert!(message.contains("holds 1 ledger entries") && message.contains("remembers 2"), "{message}");
    std::fs::remove_file(data.path().join(STATE_FILE)).unwrap();
    assert!(Accounts::open(data.path(), settings, now).is_err());
}

#[test]
fn a_full_disk_refuses_until_space_returns() {
    let mount = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=6m", "tmpfs"]).arg(mount.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        // Past the test harness, which would keep it to itself.
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

/// A backup that does not fit says so and does not stay in the way.
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

fn fill_and_free(disk: &Path) {
    let now = read(&noon());
    let accounts = Accounts::open(&disk.join("data"), fast_settings(Durability::Strict, 0), now).unwrap();
    let owner = customer(&accounts, 900_000, 1, now);
    let ballast = disk.join("ballast");
    let full = std::fs::write(&ballast, vec![1; 16 << 20]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let mut paid = 0;
    let reason = "x".repeat(200);
    let refusal = loop {
        // Long reasons fill the file faster than calls do.
        let _ = accounts.grant(owner.account, Credits(1), reason.clone(), &act(now));
        match call(&accounts, &owner.keys[0], 1, None, now) {
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
        call(&accounts, &owner.keys[0], 1, None, now).unwrap();
        paid += 1;
    }
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, paid);
}
