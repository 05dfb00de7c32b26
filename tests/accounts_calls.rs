//! Metered calls with concurrency, with a moving clock and with retries: exact counts, exact
//! waiting times, no free calls.

mod support;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};

use hornbook::accounts::admission::Reserved;
use hornbook::accounts::changes::KeyWish;
use hornbook::accounts::entropy::SeededEntropy;
use hornbook::accounts::error::{BadKey, Refusal};
use hornbook::accounts::idempotency::{Idempotency, REPLAYS_MAX};
use hornbook::accounts::ids::Credits;
use hornbook::accounts::key::KeyKind;
use hornbook::accounts::scope::{Scope, ScopeSet};
use hornbook::accounts::{Durability, Settings};
use hornbook::clock::Day;
use support::disk::Disk;
use support::{act, call, customer, failing_call, fast_settings, noon, read, start};

const CALLERS: usize = 64;

#[test]
fn the_steps_refuse_in_the_order_of_the_contract() {
    let clock = noon();
    let now = read(&clock);
    let accounts = start(Disk::with_schema().medium(), Settings::default(), now);
    let owner = customer(&accounts, 0, 1, now);
    let refused = |key: Option<&str>| accounts.authenticate(key, now).err().unwrap();
    assert_eq!(refused(None), Refusal::Key(BadKey::Missing));
    assert_eq!(refused(Some("hb_live_nonsense")), Refusal::Key(BadKey::Malformed));

    let wish = KeyWish {
        account: owner.account,
        name: "narrow".to_owned(),
        kind: KeyKind::Live,
        scopes: ScopeSet::of(&[Scope::Node]),
        expires_at: Some(now.wall.plus_millis(5000)),
    };
    let narrow = accounts.create_key(wish, &act(now), &mut SeededEntropy(9)).unwrap();
    let secret = narrow.secret.reveal();
    let caller = accounts.authenticate(Some(&secret), now).unwrap();
    let refusal = caller.require(ScopeSet::of(&[Scope::Search])).err().unwrap();
    assert!(matches!(refusal, Refusal::Scope { .. }), "{refusal:?}");

    let receipt = call(&accounts, &owner.keys[0], 5, None, now).unwrap();
    assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (0, 995));
    assert_eq!(receipt.left().limits.per_minute, 30);
    for _ in 1..30 {
        call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    }
    let refusal = call(&accounts, &owner.keys[0], 1, None, now).unwrap_err();
    assert_eq!(wait_sec(refusal), 60);
    clock.advance_millis(60_000);
    call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap();

    // The key with the narrow scope has expired by now.
    let expired = accounts.authenticate(Some(&secret), read(&clock)).err().unwrap();
    assert_eq!(expired, Refusal::Key(BadKey::RevokedOrExpired));
    accounts.disable_account(owner.account, &act(now)).unwrap();
    let disabled = accounts.authenticate(Some(&owner.keys[0]), now).err().unwrap();
    assert_eq!(disabled, Refusal::Key(BadKey::AccountNotApproved));
    accounts.verify_ledger().unwrap();
}

#[test]
fn a_thousand_units_serve_exactly_a_thousand_calls() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), fast_settings(Durability::Strict, 1000), now);
    let owner = customer(&accounts, 0, 5, now);
    let (served, refused) = (AtomicU32::new(0), AtomicU32::new(0));
    let remaining = Mutex::new(Vec::new());
    hammer(CALLERS, |caller| {
        for _ in 0..20 {
            match call(&accounts, &owner.keys[caller % 5], 1, None, now) {
                Ok(receipt) => {
                    served.fetch_add(1, Ordering::Relaxed);
                    remaining.lock().unwrap().push(receipt.allotment_remaining());
                }
                Err(refusal) => {
                    assert!(matches!(refusal, Refusal::Credits { .. }), "{refusal:?}");
                    refused.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    });
    assert_eq!((served.into_inner(), refused.into_inner()), (1000, 280));
    let mut remaining = remaining.into_inner().unwrap();
    remaining.sort_unstable();
    assert!(remaining.into_iter().eq(0..1000), "each call saw its own remainder");
    let proof = accounts.verify_ledger().unwrap();
    assert_eq!((proof.books.allotted, proof.books.spent, proof.books.wallets), (-1000, 1000, 0));
}

#[test]
fn five_hundred_credits_of_mixed_costs_never_go_below_zero() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 500, 5, now);
    let steps = Mutex::new(Vec::new());
    hammer(CALLERS, |caller| {
        for round in 0..20 {
            let cost = if (caller + round) % 3 == 0 { 5 } else { 1 };
            if let Ok(receipt) = call(&accounts, &owner.keys[caller % 5], cost, None, now) {
                steps.lock().unwrap().push((receipt.credits_remaining(), u64::from(cost)));
            }
        }
    });
    let mut steps = steps.into_inner().unwrap();
    steps.sort_unstable_by_key(|(remaining, _)| std::cmp::Reverse(*remaining));
    let mut before = 500;
    for (remaining, cost) in steps {
        assert_eq!(remaining, before - cost, "the header values leave no gap");
        before = remaining;
    }
    assert_eq!(before, 0, "costs of 1 use the last credit up");
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 0);
}

#[test]
fn a_debit_alone_takes_the_two_syncs_of_a_two_phase_commit() {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 100, 1, now);
    let before = disk.syncs();
    for _ in 0..10 {
        call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    }
    assert_eq!(disk.syncs() - before, 20);
}

#[test]
fn maintenance_with_nothing_to_do_leaves_the_disk_alone() {
    let clock = noon();
    let disk = Disk::with_schema();
    let settings = Settings { rollup_after_days: Some(30), ..Settings::default() };
    let accounts = start(disk.medium(), settings, read(&clock));
    let owner = customer(&accounts, 0, 1, read(&clock));
    // A call that is counted but not charged.
    drop(
        accounts
            .authenticate(Some(&owner.keys[0]), read(&clock))
            .unwrap()
            .require(ScopeSet::ALL)
            .unwrap()
            .pace(read(&clock)),
    );
    let before = disk.syncs();
    accounts.maintain(read(&clock)).unwrap();
    assert_eq!(disk.syncs() - before, 2, "the count of the call");
    accounts.maintain(read(&clock)).unwrap();
    assert_eq!(disk.syncs() - before, 2);
}

#[test]
fn the_time_of_last_use_is_stored_at_most_every_half_minute() {
    let clock = noon();
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), Settings::default(), read(&clock));
    let owner = customer(&accounts, 0, 1, read(&clock));
    let first = read(&clock).wall;
    let mut accounts = Some(accounts);
    // Seconds since the first use, and the time of last use known after a restart.
    for (at, stored) in [(0, 0), (10, 0), (29, 0), (30, 30), (59, 30), (61, 61)] {
        clock.set_wall(first.plus_millis(at * 1000));
        let used = accounts.take().unwrap_or_else(|| start(disk.medium(), Settings::default(), read(&clock)));
        call(&used, &owner.keys[0], 1, None, read(&clock)).unwrap();
        assert_eq!(used.keys(None)[0].last_used, Some(read(&clock).wall), "in memory it is exact");
        used.close();
        let restarted = start(disk.medium(), Settings::default(), read(&clock));
        assert_eq!(restarted.keys(None)[0].last_used, Some(first.plus_millis(stored * 1000)), "{at} s");
    }
}

#[test]
fn failed_work_is_free_and_dropped_reservations_go_back() {
    let now = read(&noon());
    for durability in [Durability::Strict, Durability::Window] {
        let accounts = start(Disk::with_schema().medium(), fast_settings(durability, 3), now);
        let owner = customer(&accounts, 4, 1, now);
        hammer(8, |_| {
            for _ in 0..5 {
                let _ = failing_call(&accounts, &owner.keys[0], 5, now);
            }
        });
        let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
        drop(paced.pace(now).unwrap().reserve("search", Credits(5), None, now).unwrap());
        let view = accounts.account(owner.account, now).unwrap();
        assert_eq!((view.remaining.wallet, view.remaining.allotment), (4, 3));
        let receipt = call(&accounts, &owner.keys[0], 5, None, now).unwrap();
        assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (2, 0));
        accounts.close();
    }
}

#[test]
fn a_retry_is_replayed_and_another_request_refused() {
    let clock = noon();
    let now = read(&clock);
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 100, 2, now);
    let retry = Some(Idempotency::new("abc", "GET /api/v1/search?q=a"));
    let first = call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
    accounts.close();

    let accounts = start(disk.medium(), fast_settings(Durability::Strict, 0), now);
    call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    let second = call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
    assert!(second.is_replay() && !first.is_replay());
    assert_eq!((first.entry(), first.charged()), (second.entry(), second.charged()));
    assert_eq!((first.credits_remaining(), second.credits_remaining()), (95, 94), "the balance of now");
    let other = Some(Idempotency::new("abc", "GET /api/v1/search?q=b"));
    assert_eq!(call(&accounts, &owner.keys[0], 5, other, now).unwrap_err(), Refusal::OtherRequest);
    // Each API key has its own idempotency keys.
    assert!(!call(&accounts, &owner.keys[1], 5, other, now).unwrap().is_replay());

    clock.advance_millis(599_999);
    accounts.maintain(read(&clock)).unwrap();
    assert!(call(&accounts, &owner.keys[0], 5, retry, read(&clock)).unwrap().is_replay());
    clock.advance_millis(1);
    accounts.maintain(read(&clock)).unwrap();
    assert!(!call(&accounts, &owner.keys[0], 5, other, read(&clock)).unwrap().is_replay());
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 100 - 5 - 1 - 5 - 5);
}

#[test]
fn a_charged_call_is_answered_five_times_again_and_each_counts_against_the_rate() {
    let clock = noon();
    let now = read(&clock);
    for durability in [Durability::Strict, Durability::Window] {
        let accounts = start(Disk::with_schema().medium(), fast_settings(durability, 0), now);
        let owner = customer(&accounts, 100, 1, now);
        let retry = Some(Idempotency::new("abc", "same"));
        let first = call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
        let reserve = || {
            let paced = accounts.authenticate(Some(&owner.keys[0]), now)?.require(ScopeSet::ALL)?.pace(now)?;
            paced.reserve("search", Credits(5), retry, now)
        };
        // Neither a replay that never begins nor one whose work fails counts as one of the five.
        for _ in 0..REPLAYS_MAX {
            assert!(matches!(reserve(), Ok(Reserved::Replay(_))));
            let Ok(Reserved::Replay(failing)) = reserve() else { panic!("the call was charged") };
            failing.begin().give_back();
        }
        for round in 1..REPLAYS_MAX {
            let again = call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
            assert!(again.is_replay());
            let [before, after] = [first, again].map(|receipt| receipt.left().in_minute);
            assert_eq!(before - after, 2 * REPLAYS_MAX + round, "every attempt counts");
        }
        // A client that disconnects during the work has used up one replay.
        let Ok(Reserved::Replay(hung_up)) = reserve() else { panic!("the call was charged") };
        drop(hung_up.begin());
        assert_eq!(call(&accounts, &owner.keys[0], 5, retry, now).unwrap_err(), Refusal::TooManyReplays);
        accounts.approve_account(owner.account, &act(now)).unwrap();
        assert_eq!(call(&accounts, &owner.keys[0], 5, retry, now).unwrap_err(), Refusal::TooManyReplays);
        assert_eq!(accounts.verify_ledger().unwrap().books.spent, 5);
    }
}

#[test]
fn the_retry_horizon_is_a_setting() {
    let clock = noon();
    let settings = Settings { retry_horizon_sec: 2, ..fast_settings(Durability::Strict, 0) };
    let accounts = start(Disk::with_schema().medium(), settings, read(&clock));
    let owner = customer(&accounts, 100, 1, read(&clock));
    let retry = Some(Idempotency::new("abc", "same"));
    call(&accounts, &owner.keys[0], 5, retry, read(&clock)).unwrap();
    clock.advance_millis(1999);
    assert!(call(&accounts, &owner.keys[0], 5, retry, read(&clock)).unwrap().is_replay());
    clock.advance_millis(1);
    assert!(!call(&accounts, &owner.keys[0], 5, retry, read(&clock)).unwrap().is_replay());
}

/// In `window` mode the first answer is sent before its commit, and the retry may come before the commit too.
#[test]
fn a_retry_within_the_window_is_replayed_and_charged_once() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), fast_settings(Durability::Window, 0), now);
    let owner = customer(&accounts, 1000, 1, now);
    for round in 0..50 {
        let retry = Some(Idempotency::new(&format!("round {round}"), "same"));
        let first = call(&accounts, &owner.keys[0], 2, retry, now).unwrap();
        assert!(!first.is_replay());
        for _ in 0..3 {
            let again = call(&accounts, &owner.keys[0], 2, retry, now).unwrap();
            assert!(again.is_replay());
            assert_eq!(again.credits_remaining(), first.credits_remaining());
        }
        let other = Some(Idempotency::new(&format!("round {round}"), "other"));
        assert_eq!(call(&accounts, &owner.keys[0], 2, other, now).unwrap_err(), Refusal::OtherRequest);
    }
    // This change commits after the debits. They are durable now, and retries are recognised by their records.
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 900);
    let retry = Some(Idempotency::new("round 0", "same"));
    let again = call(&accounts, &owner.keys[0], 2, retry, now).unwrap();
    assert!(again.is_replay() && again.entry().is_some());
}

#[test]
fn copies_of_one_request_at_once_are_charged_once() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 1000, 1, now);
    let charged = AtomicU32::new(0);
    hammer(16, |_| {
        for round in 0..20 {
            let retry = Some(Idempotency::new(&format!("round {round}"), "same"));
            loop {
                match call(&accounts, &owner.keys[0], 1, retry, now) {
                    Ok(receipt) => {
                        charged.fetch_add(u32::from(!receipt.is_replay()), Ordering::Relaxed);
                        break;
                    }
                    // There are fifteen copies, of which five are answered again.
                    Err(Refusal::TooManyReplays) => break,
                    Err(refusal) => assert_eq!(refusal, Refusal::SameRequestUnderWay),
                }
            }
        }
    });
    assert_eq!(charged.into_inner(), 20);
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 980);
}

#[test]
fn a_copy_waits_until_the_first_has_ended_well_or_badly() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 100, 1, now);
    let retry = Some(Idempotency::new("abc", "same"));
    let reserve = || {
        let paced = accounts.authenticate(Some(&owner.keys[0]), now)?.require(ScopeSet::ALL)?.pace(now)?;
        paced.reserve("search", Credits(5), retry, now)
    };
    let Ok(Reserved::Fresh(first)) = reserve() else { panic!("nobody was before") };
    let debit = first.begin().unwrap();
    // This change commits after the debit. The debit is durable now, and its work still in progress.
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 5);
    assert_eq!(reserve().err(), Some(Refusal::SameRequestUnderWay));
    debit.refund_blocking().unwrap();
    let Ok(Reserved::Fresh(second)) = reserve() else { panic!("the first was given back, so the copy is charged") };
    let receipt = second.begin().unwrap().settle_blocking().unwrap();
    let Ok(Reserved::Replay(replay)) = reserve() else { panic!("the second was charged") };
    assert_eq!((receipt.credits_remaining(), replay.begin().settle().entry()), (95, receipt.entry()));
    // A client that disconnects has paid, and may retry.
    let hung_up = Some(Idempotency::new("def", "same"));
    let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
    let Ok(Reserved::Fresh(third)) = paced.pace(now).unwrap().reserve("search", Credits(5), hung_up, now) else {
        panic!("nobody was before")
    };
    drop(third.begin().unwrap());
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert!(call(&accounts, &owner.keys[0], 5, hung_up, now).unwrap().is_replay());
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 10);
}

#[test]
fn a_month_is_granted_once_whatever_the_clock_does() {
    let clock = noon();
    let disk = Disk::with_schema();
    let settings = fast_settings(Durability::Strict, 2);
    let mut accounts = start(disk.medium(), settings, read(&clock));
    let owner = customer(&accounts, 0, 1, read(&clock));
    let day = |year, month, day| Day::from_civil(year, month, day).start();
    let end = |year, month, last| day(year, month, last).plus_millis(86_399_999);
    let mut months = std::collections::HashMap::new();
    // Month ends, a leap day, jumps of 400 days both ways, and a return to each.
    let mut visits =
        vec![end(2026, 5, 31), day(2026, 6, 1), end(2028, 2, 28), day(2028, 2, 29), end(2028, 2, 29), day(2028, 3, 1)];
    for start in visits.clone() {
        visits.push(start.plus_millis(400 * 86_400_000));
        visits.push(start);
        visits.push(start.plus_millis(-400 * 86_400_000));
        visits.push(start);
    }
    for (step, wall) in visits.into_iter().enumerate() {
        clock.set_wall(wall);
        if step % 7 == 6 {
            accounts.close();
            accounts = start(disk.medium(), settings, read(&clock));
        }
        while call(&accounts, &owner.keys[0], 1, None, read(&clock)).is_ok() {
            *months.entry(wall.month()).or_insert(0) += 1;
        }
    }
    assert!(months.len() == 8 && months.values().all(|&units| units == 2), "{months:?}");
    accounts.verify_ledger().unwrap();
}

#[test]
fn the_day_count_survives_a_restart_and_so_does_the_minute() {
    let clock = noon();
    let disk = Disk::with_schema();
    let mut settings = Settings::default();
    settings.tariff.free.limits.per_day = 40;
    let accounts = start(disk.medium(), settings, read(&clock));
    let owner = customer(&accounts, 0, 1, read(&clock));
    for _ in 0..30 {
        call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap();
    }
    accounts.close();
    clock.advance_millis(10_000);
    let accounts = start(disk.medium(), settings, read(&clock));
    let refusal = call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap_err();
    assert_eq!(wait_sec(refusal), 50);
    clock.advance_millis(50_000);
    for _ in 30..40 {
        call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap();
    }
    // Calls that are counted but not charged are written to disk by the next maintenance.
    let refusal = call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap_err();
    let wait = wait_sec(refusal);
    assert_eq!(wait, 12 * 3600 - 60);
    clock.advance_millis(wait * 1000);
    call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap();
    let used = accounts.keys(None)[0].last_used;
    assert_eq!(used, Some(read(&clock).wall));
}

fn wait_sec(refusal: Refusal) -> u64 {
    match refusal {
        Refusal::TooFast(too_fast) => too_fast.retry_after_sec,
        other => panic!("{other:?}"),
    }
}

fn hammer(callers: usize, work: impl Fn(usize) + Sync) {
    let start = Barrier::new(callers);
    std::thread::scope(|scope| {
        for caller in 0..callers {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(caller);
            });
        }
    });
}
