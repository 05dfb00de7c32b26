//! Metered calls with concurrency, with a moving clock and with retries: exact counts, exact
//! waiting times, no free calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};

use hornbook_accounts::admission::Reserved;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::NewKey;
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{BadKey, Refusal};
use hornbook_accounts::idempotency::{Idempotency, REPLAYS_MAX};
use hornbook_accounts::ids::Credits;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::{Durability, Settings};
use hornbook_base::clock::UnixDay;

use crate::TestState;
use crate::support::{
    act, clock_at_noon, create_customer, failing_call, fast_settings, make_call, now_of, start_accounts,
};

const CALLERS: usize = 64;

#[test]
fn refusals_follow_the_order_of_the_contract() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let accounts = start_accounts(TestState::fresh().medium(), Settings::default(), now);
    let owner = create_customer(&accounts, 0, 1, now);
    let refused = |key: Option<&str>| accounts.authenticate(key, now).err().unwrap();
    assert_eq!(refused(None), Refusal::Key(BadKey::Missing));
    assert_eq!(refused(Some("hb_live_nonsense")), Refusal::Key(BadKey::Malformed));

    let wish = NewKey {
        account: owner.account,
        name: "narrow".to_owned(),
        kind: KeyKind::Live,
        scopes: ScopeSet::of(&[Scope::Node]),
        expires_at: Some(now.wall.plus_millis(5000)),
        budget: Budget::default(),
    };
    let narrow = accounts.create_key(wish, &act(now), &mut SeededEntropy(9)).unwrap();
    let secret = narrow.secret.reveal();
    let caller = accounts.authenticate(Some(&secret), now).unwrap();
    let refusal = caller.require(ScopeSet::of(&[Scope::Search])).err().unwrap();
    assert!(matches!(refusal, Refusal::Scope { .. }), "{refusal:?}");

    let receipt = make_call(&accounts, &owner.keys[0], 5, None, now).unwrap();
    assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (0, 995));
    assert_eq!(receipt.left().limits.per_minute, 30);
    for _ in 1..30 {
        make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    }
    let refusal = make_call(&accounts, &owner.keys[0], 1, None, now).unwrap_err();
    assert_eq!(wait_sec(refusal), 60);
    clock.advance_millis(60_000);
    make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap();

    // The key with the narrow scope has expired by now.
    let expired = accounts.authenticate(Some(&secret), now_of(&clock)).err().unwrap();
    assert_eq!(expired, Refusal::Key(BadKey::RevokedOrExpired));
    accounts.disable_account(owner.account, &act(now)).unwrap();
    let disabled = accounts.authenticate(Some(&owner.keys[0]), now).err().unwrap();
    assert_eq!(disabled, Refusal::Key(BadKey::AccountNotApproved));
    accounts.verify_ledger().unwrap();
}

#[test]
fn a_thousand_units_serve_exactly_a_thousand_calls() {
    let now = now_of(&clock_at_noon());
    let accounts = start_accounts(TestState::fresh().medium(), fast_settings(Durability::Strict, 1000), now);
    let owner = create_customer(&accounts, 0, 5, now);
    let (served, refused) = (AtomicU32::new(0), AtomicU32::new(0));
    let remaining = Mutex::new(Vec::new());
    run_concurrently(CALLERS, |caller| {
        for _ in 0..20 {
            match make_call(&accounts, &owner.keys[caller % 5], 1, None, now) {
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
    assert!(remaining.into_iter().eq(0..1000), "each call got a different remainder");
    let proof = accounts.verify_ledger().unwrap();
    assert_eq!((proof.books.allotted, proof.books.spent, proof.books.wallets), (-1000, 1000, 0));
}

#[test]
fn five_hundred_credits_of_mixed_costs_never_go_below_zero() {
    let now = now_of(&clock_at_noon());
    let accounts = start_accounts(TestState::fresh().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer(&accounts, 500, 5, now);
    let steps = Mutex::new(Vec::new());
    run_concurrently(CALLERS, |caller| {
        for round in 0..20 {
            let cost = if (caller + round) % 3 == 0 { 5 } else { 1 };
            if let Ok(receipt) = make_call(&accounts, &owner.keys[caller % 5], cost, None, now) {
                steps.lock().unwrap().push((receipt.credits_remaining(), u64::from(cost)));
            }
        }
    });
    let mut steps = steps.into_inner().unwrap();
    steps.sort_unstable_by_key(|(remaining, _)| std::cmp::Reverse(*remaining));
    let mut before = 500;
    for (remaining, cost) in steps {
        assert_eq!(remaining, before - cost, "the header values have gaps");
        before = remaining;
    }
    assert_eq!(before, 0, "calls of cost 1 use the last credit");
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 0);
}

#[test]
fn the_time_of_last_use_is_stored_at_most_every_half_minute() {
    let clock = clock_at_noon();
    let state = TestState::fresh();
    let accounts = start_accounts(state.medium(), Settings::default(), now_of(&clock));
    let owner = create_customer(&accounts, 0, 1, now_of(&clock));
    let first = now_of(&clock).wall;
    let mut accounts = Some(accounts);
    // Seconds since the first use, and the time of last use known after a restart.
    for (at, stored) in [(0, 0), (10, 0), (29, 0), (30, 30), (59, 30), (61, 61)] {
        clock.set_wall(first.plus_millis(at * 1000));
        let used =
            accounts.take().unwrap_or_else(|| start_accounts(state.medium(), Settings::default(), now_of(&clock)));
        make_call(&used, &owner.keys[0], 1, None, now_of(&clock)).unwrap();
        assert_eq!(used.keys(None)[0].last_used, Some(now_of(&clock).wall), "in memory it is exact");
        used.close();
        let restarted = start_accounts(state.medium(), Settings::default(), now_of(&clock));
        assert_eq!(restarted.keys(None)[0].last_used, Some(first.plus_millis(stored * 1000)), "{at} s");
    }
}

#[test]
fn failed_work_and_dropped_reservations_cost_nothing() {
    let now = now_of(&clock_at_noon());
    for durability in [Durability::Strict, Durability::Window] {
        let accounts = start_accounts(TestState::fresh().medium(), fast_settings(durability, 3), now);
        let owner = create_customer(&accounts, 4, 1, now);
        run_concurrently(8, |_| {
            for _ in 0..5 {
                let _ = failing_call(&accounts, &owner.keys[0], 5, now);
            }
        });
        let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
        drop(paced.check_rate(now).unwrap().reserve("search", Credits(5), None, now).unwrap());
        let view = accounts.account(owner.account, now).unwrap();
        assert_eq!((view.remaining.wallet, view.remaining.allotment), (4, 3));
        let receipt = make_call(&accounts, &owner.keys[0], 5, None, now).unwrap();
        assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (2, 0));
        accounts.close();
    }
}

#[test]
fn a_retry_is_replayed_and_another_request_refused() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let state = TestState::fresh();
    let accounts = start_accounts(state.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer(&accounts, 100, 2, now);
    let retry = Some(Idempotency::new("abc", "GET /api/v1/search?q=a"));
    let first = make_call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
    accounts.close();

    let accounts = start_accounts(state.medium(), fast_settings(Durability::Strict, 0), now);
    make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    let second = make_call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
    assert!(second.is_replay() && !first.is_replay());
    assert_eq!((first.entry(), first.charged()), (second.entry(), second.charged()));
    assert_eq!((first.credits_remaining(), second.credits_remaining()), (95, 94), "the balance of now");
    let other = Some(Idempotency::new("abc", "GET /api/v1/search?q=b"));
    assert_eq!(make_call(&accounts, &owner.keys[0], 5, other, now).unwrap_err(), Refusal::OtherRequest);
    // Each API key has its own idempotency keys.
    assert!(!make_call(&accounts, &owner.keys[1], 5, other, now).unwrap().is_replay());

    clock.advance_millis(599_999);
    accounts.maintain(now_of(&clock)).unwrap();
    assert!(make_call(&accounts, &owner.keys[0], 5, retry, now_of(&clock)).unwrap().is_replay());
    clock.advance_millis(1);
    accounts.maintain(now_of(&clock)).unwrap();
    assert!(!make_call(&accounts, &owner.keys[0], 5, other, now_of(&clock)).unwrap().is_replay());
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 100 - 5 - 1 - 5 - 5);
}

#[test]
fn a_call_is_replayed_at_most_five_times_and_replays_count_for_the_rate() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    for durability in [Durability::Strict, Durability::Window] {
        let accounts = start_accounts(TestState::fresh().medium(), fast_settings(durability, 0), now);
        let owner = create_customer(&accounts, 100, 1, now);
        let retry = Some(Idempotency::new("abc", "same"));
        let first = make_call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
        let reserve = || {
            let paced = accounts.authenticate(Some(&owner.keys[0]), now)?.require(ScopeSet::ALL)?.check_rate(now)?;
            paced.reserve("search", Credits(5), retry, now)
        };
        // Neither a replay that never begins nor one whose work fails counts as one of the five.
        for _ in 0..REPLAYS_MAX {
            assert!(matches!(reserve(), Ok(Reserved::Replay(_))));
            let Ok(Reserved::Replay(failing)) = reserve() else { panic!("the call was charged") };
            failing.begin().give_back();
        }
        for round in 1..REPLAYS_MAX {
            let again = make_call(&accounts, &owner.keys[0], 5, retry, now).unwrap();
            assert!(again.is_replay());
            let [before, after] = [first, again].map(|receipt| receipt.left().in_minute);
            assert_eq!(before - after, 2 * REPLAYS_MAX + round, "every attempt counts");
        }
        // A client that disconnects during the work has used up one replay.
        let Ok(Reserved::Replay(hung_up)) = reserve() else { panic!("the call was charged") };
        drop(hung_up.begin());
        assert_eq!(make_call(&accounts, &owner.keys[0], 5, retry, now).unwrap_err(), Refusal::TooManyReplays);
        accounts.approve_account(owner.account, &act(now)).unwrap();
        assert_eq!(make_call(&accounts, &owner.keys[0], 5, retry, now).unwrap_err(), Refusal::TooManyReplays);
        assert_eq!(accounts.verify_ledger().unwrap().books.spent, 5);
    }
}

#[test]
fn the_retry_horizon_is_a_setting() {
    let clock = clock_at_noon();
    let settings = Settings { retry_horizon_sec: 2, ..fast_settings(Durability::Strict, 0) };
    let accounts = start_accounts(TestState::fresh().medium(), settings, now_of(&clock));
    let owner = create_customer(&accounts, 100, 1, now_of(&clock));
    let retry = Some(Idempotency::new("abc", "same"));
    make_call(&accounts, &owner.keys[0], 5, retry, now_of(&clock)).unwrap();
    clock.advance_millis(1999);
    assert!(make_call(&accounts, &owner.keys[0], 5, retry, now_of(&clock)).unwrap().is_replay());
    clock.advance_millis(1);
    assert!(!make_call(&accounts, &owner.keys[0], 5, retry, now_of(&clock)).unwrap().is_replay());
}

/// In `window` mode the first answer is sent before its commit, and the retry may come before the commit too.
#[test]
fn a_retry_within_the_window_is_replayed_and_charged_once() {
    let now = now_of(&clock_at_noon());
    let accounts = start_accounts(TestState::fresh().medium(), fast_settings(Durability::Window, 0), now);
    let owner = create_customer(&accounts, 1000, 1, now);
    for round in 0..50 {
        let retry = Some(Idempotency::new(&format!("round {round}"), "same"));
        let first = make_call(&accounts, &owner.keys[0], 2, retry, now).unwrap();
        assert!(!first.is_replay());
        for _ in 0..3 {
            let again = make_call(&accounts, &owner.keys[0], 2, retry, now).unwrap();
            assert!(again.is_replay());
            assert_eq!(again.credits_remaining(), first.credits_remaining());
        }
        let other = Some(Idempotency::new(&format!("round {round}"), "other"));
        assert_eq!(make_call(&accounts, &owner.keys[0], 2, other, now).unwrap_err(), Refusal::OtherRequest);
    }
    // This change commits after the debits. They are durable now, and retries are recognised by their records.
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 900);
    let retry = Some(Idempotency::new("round 0", "same"));
    let again = make_call(&accounts, &owner.keys[0], 2, retry, now).unwrap();
    assert!(again.is_replay() && again.entry().is_some());
}

#[test]
fn concurrent_copies_of_a_request_are_charged_once() {
    let now = now_of(&clock_at_noon());
    let accounts = start_accounts(TestState::fresh().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer(&accounts, 1000, 1, now);
    let charged = AtomicU32::new(0);
    run_concurrently(16, |_| {
        for round in 0..20 {
            let retry = Some(Idempotency::new(&format!("round {round}"), "same"));
            loop {
                match make_call(&accounts, &owner.keys[0], 1, retry, now) {
                    Ok(receipt) => {
                        charged.fetch_add(u32::from(!receipt.is_replay()), Ordering::Relaxed);
                        break;
                    }
                    // There are fifteen copies, of which five are answered again.
                    Err(Refusal::TooManyReplays) => break,
                    Err(refusal) => assert_eq!(refusal, Refusal::SameRequestInProgress),
                }
            }
        }
    });
    assert_eq!(charged.into_inner(), 20);
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 980);
}

#[test]
fn a_copy_is_refused_until_the_first_request_ends() {
    let now = now_of(&clock_at_noon());
    let accounts = start_accounts(TestState::fresh().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer(&accounts, 100, 1, now);
    let retry = Some(Idempotency::new("abc", "same"));
    let reserve = || {
        let paced = accounts.authenticate(Some(&owner.keys[0]), now)?.require(ScopeSet::ALL)?.check_rate(now)?;
        paced.reserve("search", Credits(5), retry, now)
    };
    let Ok(Reserved::Fresh(first)) = reserve() else { panic!("there was no earlier request") };
    let debit = first.begin().unwrap();
    // This change commits after the debit. The debit is durable now, and its work still in progress.
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 5);
    assert_eq!(reserve().err(), Some(Refusal::SameRequestInProgress));
    debit.refund_blocking().unwrap();
    let Ok(Reserved::Fresh(second)) = reserve() else { panic!("the first was given back, so the copy is charged") };
    let receipt = second.begin().unwrap().settle_blocking().unwrap();
    let Ok(Reserved::Replay(replay)) = reserve() else { panic!("the second was charged") };
    assert_eq!((receipt.credits_remaining(), replay.begin().settle().entry()), (95, receipt.entry()));
    // A client that disconnects has paid, and may retry.
    let hung_up = Some(Idempotency::new("def", "same"));
    let paced = accounts.authenticate(Some(&owner.keys[0]), now).unwrap().require(ScopeSet::ALL).unwrap();
    let Ok(Reserved::Fresh(third)) = paced.check_rate(now).unwrap().reserve("search", Credits(5), hung_up, now) else {
        panic!("there was no earlier request")
    };
    drop(third.begin().unwrap());
    accounts.approve_account(owner.account, &act(now)).unwrap();
    assert!(make_call(&accounts, &owner.keys[0], 5, hung_up, now).unwrap().is_replay());
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 10);
}

#[test]
fn the_monthly_allotment_is_granted_once_despite_clock_jumps() {
    let clock = clock_at_noon();
    let state = TestState::fresh();
    let settings = fast_settings(Durability::Strict, 2);
    let mut accounts = start_accounts(state.medium(), settings, now_of(&clock));
    let owner = create_customer(&accounts, 0, 1, now_of(&clock));
    let day = |year, month, day| UnixDay::from_civil(year, month, day).start();
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
            accounts = start_accounts(state.medium(), settings, now_of(&clock));
        }
        while make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).is_ok() {
            *months.entry(wall.month()).or_insert(0) += 1;
        }
    }
    assert!(months.len() == 8 && months.values().all(|&units| units == 2), "{months:?}");
    accounts.verify_ledger().unwrap();
}

#[test]
fn day_and_minute_counts_survive_a_restart() {
    let clock = clock_at_noon();
    let state = TestState::fresh();
    let mut settings = Settings::default();
    settings.tariff.free.limits.per_day = 40;
    let accounts = start_accounts(state.medium(), settings, now_of(&clock));
    let owner = create_customer(&accounts, 0, 1, now_of(&clock));
    for _ in 0..30 {
        make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap();
    }
    accounts.close();
    clock.advance_millis(10_000);
    let accounts = start_accounts(state.medium(), settings, now_of(&clock));
    let refusal = make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap_err();
    assert_eq!(wait_sec(refusal), 50);
    clock.advance_millis(50_000);
    for _ in 30..40 {
        make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap();
    }
    // Calls that are counted but not charged are written to disk by the next maintenance.
    let refusal = make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap_err();
    let wait = wait_sec(refusal);
    assert_eq!(wait, 12 * 3600 - 60);
    clock.advance_millis(wait * 1000);
    make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap();
    let used = accounts.keys(None)[0].last_used;
    assert_eq!(used, Some(now_of(&clock).wall));
}

fn wait_sec(refusal: Refusal) -> u64 {
    match refusal {
        Refusal::TooFast(too_fast) => too_fast.retry_after_sec,
        other => panic!("{other:?}"),
    }
}

fn run_concurrently(callers: usize, work: impl Fn(usize) + Sync) {
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
