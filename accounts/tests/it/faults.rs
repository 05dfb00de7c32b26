//! Disks that fail, fill up, flip bits or truncate files: balances are never wrong, no call
//! succeeds without a durable debit, and service resumes by itself when the disk works again.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use hornbook_accounts::admission::{PendingDebit, Reserved};
use hornbook_accounts::balance::Remaining;
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{ChangeError, LedgerError, Refusal};
use hornbook_accounts::idempotency::Idempotency;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::ledger::verify::VerifyReport;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::state::{MARK_FILE, STATE_FILE};
use hornbook_accounts::{Accounts, Durability};

use crate::support::disk::{DiskFault, EIO, ENOSPC, FaultOn, SimulatedDisk};
use crate::support::{
    act, clock_at_noon, create_customer_with_budgets, failing_call, fast_settings, make_call, now_of, start_accounts,
    wait_until_healthy,
};

const FLIPS: u64 = 1000;
const TRUNCATIONS: u64 = 300;
const CREDITS: u16 = 50_000;

/// Faults at each of the first 20 operations and then at every ninth of 500.
/// `HORNBOOK_TEST_FAULTS=every` tries each one.
#[test]
fn the_nth_write_or_sync_fails() {
    let stride = if std::env::var_os("HORNBOOK_TEST_FAULTS").is_some() { 1 } else { 9 };
    let points = (0..20).chain((20..500).step_by(stride));
    for (round, after) in points.enumerate() {
        for on in [FaultOn::Write, FaultOn::Sync] {
            // Each kind of error is lasting in every other round.
            for (number, error) in [EIO, ENOSPC].into_iter().enumerate() {
                let lasting = (round + number) % 2 == 0;
                check_fault(DiskFault { successes_before: after, on, error, lasting, hits_owed_file: false });
            }
        }
    }
}

/// Enough rounds for every fault here to occur.
const ROUNDS_MAX: usize = 2000;

fn check_fault(fault: DiskFault) {
    let now = now_of(&clock_at_noon());
    let disk = SimulatedDisk::with_schema();
    let settings = fast_settings(Durability::Strict, 50);
    let accounts = start_accounts(disk.medium(), settings, now);
    let owner = create_customer_with_budgets(&accounts, CREDITS.into(), 2, now);
    let paid = AtomicI64::new(0);
    disk.fail(Some(fault));
    std::thread::scope(|scope| {
        for caller in 0..4 {
            let (accounts, owner, paid, disk) = (&accounts, &owner, &paid, &disk);
            scope.spawn(move || {
                let mut rounds_after_the_fault = 0;
                for round in 0..ROUNDS_MAX {
                    rounds_after_the_fault += usize::from(disk.faults_fired() > 0);
                    if rounds_after_the_fault > 8 {
                        return;
                    }
                    let key = &owner.keys[caller % 2];
                    if round % 4 == 3 {
                        let _ = failing_call(accounts, key, 1, now);
                        continue;
                    }
                    match make_call(accounts, key, 5, None, now) {
                        Ok(_) => drop(paid.fetch_add(5, Ordering::Relaxed)),
                        Err(Refusal::Ledger(LedgerError::Unavailable | LedgerError::StorageFull)) => {}
                        Err(other) => panic!("{fault:?}: {other:?}"),
                    }
                }
            });
        }
    });
    assert!(disk.faults_fired() > 0, "{fault:?} never occurred");
    if fault.lasting && fault.error == ENOSPC && accounts.health().is_err() {
        assert_eq!(accounts.health(), Err(LedgerError::StorageFull), "{fault:?}");
    }
    disk.fail(None);
    wait_until_healthy(&accounts).unwrap_or_else(|error| panic!("{fault:?}: {error}: {:?}", accounts.last_trouble()));
    // This change commits after all refunds that are still owed.
    accounts.approve_account(owner.account, &act(now)).unwrap();
    let proof = accounts.verify_ledger().unwrap_or_else(|error| panic!("{fault:?}: {error}"));
    let paid = paid.into_inner();
    assert_eq!(proof.books.spent, paid, "{fault:?}: only answered calls are charged");
    let left = accounts.account(owner.account, now).unwrap().remaining;
    assert_eq!(
        left.wallet + i64::from(left.allotment),
        i64::from(CREDITS) + 50 - paid,
        "{fault:?}: credits stay reserved"
    );
    make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    accounts.close();
    assert_eq!(start_accounts(disk.medium(), settings, now).verify_ledger().unwrap().books.spent, paid + 1);
}

/// The credits of all calls, by the answers that their callers got.
#[derive(Default)]
struct AnsweredCredits {
    paid: AtomicI64,
    unknown: AtomicI64,
}

/// The program ends during the outage. The file may contain debits of calls which were answered with an error.
#[test]
fn answers_stay_valid_after_a_restart_during_an_outage() {
    let mut repaid = 0;
    for after in 0..40 {
        for everywhere in [false, true] {
            for error in [EIO, ENOSPC] {
                repaid += refunds_after_restart_during(DiskFault {
                    successes_before: after,
                    on: FaultOn::Sync,
                    error,
                    lasting: true,
                    hits_owed_file: everywhere,
                });
            }
        }
    }
    assert!(repaid > 0, "no commit that failed survived in the file");
}

/// Returns the number of refunds made by the restart.
fn refunds_after_restart_during(fault: DiskFault) -> usize {
    let now = now_of(&clock_at_noon());
    let disk = SimulatedDisk::with_schema();
    let settings = fast_settings(Durability::Strict, 50);
    let accounts = start_accounts(disk.medium(), settings, now);
    let owner = create_customer_with_budgets(&accounts, 1000, 2, now);
    let reported = AnsweredCredits::default();
    disk.fail(Some(fault));
    std::thread::scope(|scope| {
        for caller in 0..4 {
            let (accounts, owner, reported) = (&accounts, &owner, &reported);
            scope.spawn(move || {
                for round in 0..20 {
                    let (key, retry) =
                        (&owner.keys[caller % 2], Idempotency::new(&format!("{caller}-{round}"), "same"));
                    match make_call(accounts, key, 5, Some(retry), now) {
                        Ok(_) => drop(reported.paid.fetch_add(5, Ordering::Relaxed)),
                        Err(Refusal::Ledger(LedgerError::OutcomeUnknown)) => {
                            assert!(fault.hits_owed_file, "{fault:?}");
                            reported.unknown.fetch_add(5, Ordering::Relaxed);
                        }
                        Err(Refusal::Ledger(LedgerError::Unavailable | LedgerError::StorageFull)) => {}
                        Err(other) => panic!("{fault:?}: {other:?}"),
                    }
                }
            });
        }
    });
    assert!(disk.faults_fired() > 0, "{fault:?} never occurred");
    accounts.close();
    disk.fail(None);
    let accounts = start_accounts(disk.medium(), settings, now);
    let proof = accounts.verify_ledger().unwrap_or_else(|error| panic!("{fault:?}: {error}"));
    let (paid, in_doubt) = (reported.paid.into_inner(), reported.unknown.into_inner());
    let spent = proof.books.spent;
    assert!((paid..=paid + in_doubt).contains(&spent), "{fault:?}: {spent} of {paid} and {in_doubt} in doubt");
    let entries = accounts.recent_entries(owner.account, usize::MAX).unwrap();
    // A second restart makes no more refunds.
    accounts.close();
    let accounts = start_accounts(disk.medium(), settings, now);
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, spent);
    // Refunded calls are charged again when they are retried.
    let before = accounts.account(owner.account, now).unwrap().remaining;
    let mut fresh = 0;
    for (caller, round) in (0..4).flat_map(|caller| (0..20).map(move |round| (caller, round))) {
        let retry = Idempotency::new(&format!("{caller}-{round}"), "same");
        fresh += i64::from(!make_call(&accounts, &owner.keys[caller % 2], 5, Some(retry), now).unwrap().is_replay());
    }
    assert_eq!(fresh, 80 - spent / 5, "{fault:?}");
    let after = accounts.account(owner.account, now).unwrap().remaining;
    let left = |remaining: Remaining| remaining.wallet + i64::from(remaining.allotment);
    assert_eq!(left(before) - left(after), fresh * 5);
    entries.iter().filter(|entry| entry.kind.name() == "refund").count()
}

/// The debit of work that fails during the outage is refunded, whether the program keeps running or not.
#[test]
fn a_delayed_refund_is_made_at_the_next_start() {
    let now = now_of(&clock_at_noon());
    let disk = SimulatedDisk::with_schema();
    let settings = fast_settings(Durability::Strict, 0);
    let accounts = start_accounts(disk.medium(), settings, now);
    let owner = create_customer_with_budgets(&accounts, 100, 1, now);
    let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
    let Ok(Reserved::Fresh(reservation)) = paced.check_rate(now).unwrap().reserve("search", Credits(5), None, now)
    else {
        panic!("credits are there")
    };
    let debit = reservation.begin().unwrap();
    accounts.approve_account(owner.account, &act(now)).unwrap();
    disk.fail(Some(DiskFault {
        successes_before: 0,
        on: FaultOn::Sync,
        error: EIO,
        lasting: true,
        hits_owed_file: false,
    }));
    assert!(accounts.approve_account(owner.account, &act(now)).is_err());
    assert!(debit.refund_blocking().is_err(), "it cannot be made now");
    accounts.close();
    disk.fail(None);
    let accounts = start_accounts(disk.medium(), settings, now);
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 0);
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 100);
}

#[test]
fn in_window_mode_a_failed_sync_never_overcharges() {
    let now = now_of(&clock_at_noon());
    let disk = SimulatedDisk::with_schema();
    let accounts = start_accounts(disk.medium(), fast_settings(Durability::Window, 0), now);
    let owner = create_customer_with_budgets(&accounts, 100, 1, now);
    for _ in 0..10 {
        make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    }
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 10, "durable before the fault");
    disk.fail(Some(DiskFault {
        successes_before: 0,
        on: FaultOn::Sync,
        error: EIO,
        lasting: true,
        hits_owed_file: false,
    }));
    let answered = (0..20).filter(|_| make_call(&accounts, &owner.keys[0], 1, None, now).is_ok()).count();
    assert!(answered > 0);
    while accounts.health().is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    disk.fail(None);
    wait_until_healthy(&accounts).unwrap();
    accounts.approve_account(owner.account, &act(now)).unwrap();
    let spent = accounts.verify_ledger().unwrap().books.spent;
    assert!((10..=10 + answered as i64).contains(&spent), "{spent} spent, expected 10 to 10 + {answered}");
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 100 - spent);
    for _ in 0..10 {
        make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    }
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, spent + 10, "and it goes on charging");
}

#[test]
fn credits_of_a_correction_with_unknown_outcome_stay_held() {
    let now = now_of(&clock_at_noon());
    for after in 0..4 {
        let disk = SimulatedDisk::with_schema();
        let accounts = start_accounts(disk.medium(), fast_settings(Durability::Strict, 0), now);
        let owner = create_customer_with_budgets(&accounts, 100, 1, now);
        let left = || accounts.account(owner.account, now).unwrap().remaining.wallet;
        disk.fail(Some(DiskFault {
            successes_before: after,
            on: FaultOn::Sync,
            error: EIO,
            lasting: true,
            hits_owed_file: false,
        }));
        let result = accounts.adjust(owner.account, -100, "correction".to_owned(), &act(now));
        if let Err(ChangeError::OutcomeUnknown(_)) = result {
            assert_eq!(left(), 0, "credits that may be spent are still available");
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
fn a_refund_during_an_outage_fails_fast_and_is_made_later() {
    let now = now_of(&clock_at_noon());
    let disk = SimulatedDisk::with_schema();
    let accounts = start_accounts(disk.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer_with_budgets(&accounts, 100, 1, now);
    let begin = || {
        let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
        match paced.check_rate(now).unwrap().reserve("search", Credits(5), None, now).unwrap() {
            Reserved::Fresh(reservation) => reservation.begin().unwrap(),
            Reserved::Replay(_) => panic!("no retry was made"),
        }
    };
    let refund = |debit: PendingDebit| {
        let (reported, answer) = channel();
        std::thread::spawn(move || reported.send(debit.refund_blocking()));
        answer.recv_timeout(Duration::from_secs(20)).expect("an answer before the outage ends")
    };
    let [during, after] = [begin(), begin()];
    accounts.approve_account(owner.account, &act(now)).unwrap();
    disk.fail(Some(DiskFault {
        successes_before: 0,
        on: FaultOn::Sync,
        error: EIO,
        lasting: true,
        hits_owed_file: false,
    }));
    assert!(accounts.approve_account(owner.account, &act(now)).is_err());
    // Everything that waited when the disk failed has got its answer by now. The refund comes after that.
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
fn a_stalled_disk_causes_overload_refusals_and_no_wrong_charge() {
    let now = now_of(&clock_at_noon());
    let disk = SimulatedDisk::with_schema();
    let accounts = start_accounts(disk.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer_with_budgets(&accounts, 100_000, 1, now);
    disk.stall(true);
    let mut begun = Vec::new();
    let error = loop {
        let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
        let reserved = paced.check_rate(now).unwrap().reserve("search", Credits(1), None, now).unwrap();
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

/// A data directory with some history, closed cleanly or as after a kill.
fn write_sample_history(data: &Path, clean: bool) -> VerifyReport {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let settings = fast_settings(Durability::Strict, 40);
    let accounts = Accounts::open(data, settings, now).unwrap();
    let owners: Vec<_> = (0..4).map(|_| create_customer_with_budgets(&accounts, 500, 2, now)).collect();
    for round in 0..200 {
        let owner = &owners[round % 4];
        make_call(&accounts, &owner.keys[round % 2], 1 + (round % 2) as u32, None, now).unwrap();
    }
    let proof = accounts.verify_ledger().unwrap();
    if !clean {
        // The files that a killed process leaves.
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
    check_damage(FLIPS, |bytes, random, round| {
        // Every fifth flip hits the header, where one bit selects another commit.
        let within = if round % 5 == 0 { 512 } else { bytes.len() as u64 };
        let at = random.below(within) as usize;
        bytes[at] ^= 1 << random.below(8);
        format!("bit flip at byte {at}")
    });
}

#[test]
fn truncations_are_harmless_or_refused() {
    check_damage(TRUNCATIONS, |bytes, random, _| {
        let length = random.below(bytes.len() as u64) as usize;
        bytes.truncate(length);
        format!("cut to {length} bytes")
    });
}

/// A directory in memory if the system has one, because these tests damage files and not the
/// durability of the disk.
fn memory_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn check_damage(rounds: u64, hurt: impl Fn(&mut Vec<u8>, &mut SeededEntropy, u64) -> String) {
    for clean in [true, false] {
        let original = memory_directory();
        let proof = write_sample_history(original.path(), clean);
        let bytes = std::fs::read(original.path().join(STATE_FILE)).unwrap();
        let mark = std::fs::read(original.path().join(MARK_FILE)).unwrap();
        let mut random = SeededEntropy(77 + u64::from(clean));
        let mut refused = 0;
        for round in 0..rounds / 2 {
            let mut bytes = bytes.clone();
            let what = hurt(&mut bytes, &mut random, round);
            let data = memory_directory();
            std::fs::write(data.path().join(STATE_FILE), &bytes).unwrap();
            std::fs::write(data.path().join(MARK_FILE), &mark).unwrap();
            refused += u64::from(!is_same_or_refused(data.path(), &proof, &what));
        }
        println!("{refused} of {} were refused, the rest read the same", rounds / 2);
        assert!(refused > 0, "no damage was noticed at all");
    }
}

/// Returns whether the state opened. If it did, it must be equal to the last credit.
fn is_same_or_refused(data: &Path, proof: &VerifyReport, what: &str) -> bool {
    let now = now_of(&clock_at_noon());
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
fn an_older_or_missing_state_file_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let now = now_of(&clock_at_noon());
    let settings = fast_settings(Durability::Strict, 40);
    let accounts = Accounts::open(data.path(), settings, now).unwrap();
    let owner = create_customer_with_budgets(&accounts, 500, 1, now);
    accounts.close();
    drop(accounts);
    let old = std::fs::read(data.path().join(STATE_FILE)).unwrap();
    let accounts = Accounts::open(data.path(), settings, now).unwrap();
    make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    drop(accounts);
    std::fs::write(data.path().join(STATE_FILE), old).unwrap();
    let message = Accounts::open(data.path(), settings, now).err().unwrap().to_string();
    assert!(message.contains("contains 1 ledger entries") && message.contains("records 2"), "{message}");
    std::fs::remove_file(data.path().join(STATE_FILE)).unwrap();
    assert!(Accounts::open(data.path(), settings, now).is_err());
}
