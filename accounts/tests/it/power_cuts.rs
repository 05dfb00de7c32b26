//! Power failures at any moment: unsynced sectors survive at random, and the power may fail again
//! during the recovery. No acknowledged debit is lost and none is doubled.
//!
//! A workload runs once on a disk that records all writes and syncs. Each power cut replays the
//! record up to some point and opens a possible disk state.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::idempotency::Idempotency;
use hornbook_accounts::ids::{AccountId, Credits};
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Now, UnixMillis};

use crate::support::disk::{DiskEvent, SECTOR_BYTES, SimulatedDisk};
use crate::support::{
    act, clock_at_noon, create_customer_with_budgets, failing_call, fast_settings, make_call, now_of, start_accounts,
};

/// `HORNBOOK_TEST_CUTS` sets another number.
const CUTS: u64 = 20_000;
const WORKLOADS: u64 = 16;
const CALLERS: u64 = 6;
const CALLS_EACH: u64 = 6;
const CREDITS: u32 = 10_000;
/// Marks operations that are acknowledged only when durable, in window mode too: grants and refunds.
const ALWAYS_DURABLE: u64 = 1 << 32;

#[test]
#[expect(clippy::disallowed_methods, reason = "the caller chooses how long to test")]
fn no_acknowledged_debit_is_lost_and_none_doubled() {
    let cuts = std::env::var("HORNBOOK_TEST_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(CUTS);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= WORKLOADS {
                        return;
                    }
                    check_power_cuts(seed, cuts / WORKLOADS);
                }
            });
        }
    });
}

struct Workload {
    begin: Vec<u8>,
    events: Vec<DiskEvent>,
    account: AccountId,
    key: String,
    settings: Settings,
    durability: Durability,
    base: Now,
}

/// Records concurrent calls with idempotency keys, some of them failing, and grants between them.
/// Each call has a unique millisecond, which identifies it in the ledger.
fn record(seed: u64) -> Workload {
    let base = now_of(&clock_at_noon());
    let durability = if seed % 4 == 3 { Durability::Window } else { Durability::Strict };
    let settings = fast_settings(durability, 20);
    let disk = SimulatedDisk::with_schema();
    let accounts = start_accounts(disk.medium(), settings, base);
    let owner = create_customer_with_budgets(&accounts, CREDITS, 1, base);
    let begin = disk.bytes();
    disk.record();
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (accounts, owner, disk) = (&accounts, &owner, &disk);
            scope.spawn(move || {
                let mut random = SeededEntropy(seed * 100 + caller);
                for round in 0..CALLS_EACH {
                    let id = caller * CALLS_EACH + round + 1;
                    let now = at(base, id);
                    match random.below(8) {
                        0 => {
                            failing_call(accounts, &owner.keys[0], 1, now).unwrap();
                            disk.acknowledge(id | ALWAYS_DURABLE);
                        }
                        1 => {
                            let reason = "a grant".to_owned();
                            accounts.grant(owner.account, Credits(7), reason, &act(now)).map(drop).unwrap();
                            disk.acknowledge(id | ALWAYS_DURABLE);
                        }
                        _ => {
                            make_call(accounts, &owner.keys[0], 1, Some(retry(id)), now).unwrap();
                            disk.acknowledge(id);
                        }
                    }
                }
            });
        }
    });
    let events = disk.events();
    Workload { begin, events, account: owner.account, key: owner.keys[0].clone(), settings, durability, base }
}

fn at(base: Now, id: u64) -> Now {
    Now { wall: base.wall.plus_millis(id as i64), ..base }
}

fn retry(id: u64) -> Idempotency {
    Idempotency::new(&format!("call {id}"), "the same request")
}

fn check_power_cuts(seed: u64, cuts: u64) {
    let workload = record(seed);
    let mut random = SeededEntropy(seed + 1_000_000);
    let mut points: Vec<usize> = (0..cuts).map(|_| random.below(workload.events.len() as u64 + 1) as usize).collect();
    points.sort_unstable();
    let mut durable = workload.begin.clone();
    let mut synced = 0;
    let mut acknowledged = BTreeSet::new();
    let mut done = 0;
    for (cut, &point) in points.iter().enumerate() {
        for event in &workload.events[done..point] {
            if let DiskEvent::Acknowledged(id) = event {
                acknowledged.insert(*id);
            }
        }
        done = done.max(point);
        if let Some(last) = workload.events[synced..point].iter().rposition(|event| matches!(event, DiskEvent::Sync)) {
            let sync = synced + last;
            workload.events[synced..sync].iter().for_each(|event| apply(&mut durable, event));
            synced = sync + 1;
        }
        let image = state_after_power_cut(&durable, &workload.events[synced..point], &mut random);
        let context = format!("workload {seed}, cut {cut} at event {point}");
        let disk = SimulatedDisk::from_bytes(image.clone());
        disk.record();
        // Retries write as well, so only recoveries without retries are cut a second time.
        let found = check_disk(&workload, &disk, &acknowledged, cut % 48 == 0, &context);
        if cut % 2 == 1 {
            check_cut_during_recovery(&workload, image, &disk.events(), &acknowledged, &found, &mut random, &context);
        }
    }
}

/// The power fails again during the recovery.
fn check_cut_during_recovery(
    workload: &Workload,
    image: Vec<u8>,
    recovery: &[DiskEvent],
    acknowledged: &BTreeSet<u64>,
    found: &BTreeSet<u64>,
    random: &mut SeededEntropy,
    context: &str,
) {
    let point = random.below(recovery.len() as u64 + 1) as usize;
    let synced = recovery[..point].iter().rposition(|event| matches!(event, DiskEvent::Sync)).map_or(0, |at| at + 1);
    let mut durable = image;
    recovery[..synced].iter().for_each(|event| apply(&mut durable, event));
    let image = state_after_power_cut(&durable, &recovery[synced..point], random);
    let context = format!("{context}, again at {point} of the recovery");
    let again = check_disk(workload, &SimulatedDisk::from_bytes(image), acknowledged, false, &context);
    assert!(again.is_superset(found) || found.is_superset(&again), "{context}");
}

fn apply(bytes: &mut Vec<u8>, event: &DiskEvent) {
    match event {
        DiskEvent::Write { offset, data } => {
            let end = *offset as usize + data.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*offset as usize..end].copy_from_slice(data);
        }
        DiskEvent::SetLen(len) => bytes.resize(*len as usize, 0),
        DiskEvent::Sync | DiskEvent::Acknowledged(_) => {}
    }
}

/// A possible disk state after a power failure: unsynced sectors survive at random.
fn state_after_power_cut(durable: &[u8], unsynced: &[DiskEvent], random: &mut SeededEntropy) -> Vec<u8> {
    let mut bytes = durable.to_vec();
    let survivors_in_4 = random.below(5);
    for event in unsynced {
        match event {
            DiskEvent::Write { offset, data } => {
                for (sector, chunk) in data.chunks(SECTOR_BYTES).enumerate() {
                    let at = *offset as usize + sector * SECTOR_BYTES;
                    if random.below(4) < survivors_in_4 && at + chunk.len() <= bytes.len() {
                        bytes[at..at + chunk.len()].copy_from_slice(chunk);
                    }
                }
            }
            // File systems journal the length, so it may survive without the data.
            DiskEvent::SetLen(_) => apply(&mut bytes, event),
            DiskEvent::Sync | DiskEvent::Acknowledged(_) => {}
        }
    }
    bytes
}

/// Opens a disk, verifies its ledger and compares it with the acknowledged calls. Returns the calls
/// in the ledger.
fn check_disk(
    workload: &Workload,
    disk: &SimulatedDisk,
    acknowledged: &BTreeSet<u64>,
    retry_all: bool,
    context: &str,
) -> BTreeSet<u64> {
    let accounts = start_accounts(disk.medium(), workload.settings, workload.base);
    let proof = accounts.verify_ledger().unwrap_or_else(|error| panic!("{context}: {error}"));
    let mut known = BTreeSet::new();
    let mut usage = 0;
    for entry in accounts.recent_entries(workload.account, 10_000).unwrap() {
        let id = id_of(entry.at, workload.base.wall);
        match entry.kind.name() {
            "usage" => {
                usage += 1;
                assert!(known.insert(id), "{context}: call {id} is there twice");
            }
            "refund" => usage -= 1,
            _ => {
                known.insert(id);
            }
        }
    }
    assert_eq!(proof.books.spent, usage, "{context}");
    let strict = workload.durability == Durability::Strict;
    let binding = acknowledged.iter().filter(|id| strict || **id & ALWAYS_DURABLE != 0);
    let lost: Vec<_> = binding.map(|id| id & !ALWAYS_DURABLE).filter(|id| !known.contains(id)).collect();
    assert!(lost.is_empty(), "{context}: acknowledged and lost: {lost:?}");
    if retry_all {
        let charged = retry_everything(workload, &accounts, &known, context);
        accounts.close();
        let accounts = start_accounts(disk.medium(), workload.settings, workload.base);
        assert_eq!(accounts.verify_ledger().unwrap().books.spent, usage + charged, "{context}");
    }
    accounts.close();
    known
}

/// Clients retry all calls: those in the ledger are replayed, the others are charged once.
fn retry_everything(workload: &Workload, accounts: &Accounts, known: &BTreeSet<u64>, context: &str) -> i64 {
    let mut charged = 0;
    for id in 1..=CALLERS * CALLS_EACH {
        let receipt = make_call(accounts, &workload.key, 1, Some(retry(id)), at(workload.base, id)).unwrap();
        assert!(!receipt.is_replay() || known.contains(&id), "{context}: call {id} was never made");
        charged += i64::from(!receipt.is_replay());
    }
    charged
}

fn id_of(at: UnixMillis, base: UnixMillis) -> u64 {
    // All calls are within one second after clock_at_noon, so the milliseconds are the id.
    assert_eq!(at.0.div_euclid(1000), base.0.div_euclid(1000));
    u64::try_from(at.0.rem_euclid(1000)).unwrap()
}
