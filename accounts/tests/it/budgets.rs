//! Budgets of keys, and keys that keys create: nobody spends more than a budget allows, at any concurrency.

use std::sync::atomic::{AtomicU32, Ordering};

use hornbook_accounts::admission::Reserved;
use hornbook_accounts::budget::{Budget, BudgetSpent, KEYS_IN_LINE_MAX, SpendingWindow};
use hornbook_accounts::changes::{IssuedKey, NewChildKey};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{BadKey, ChangeError, Refusal};
use hornbook_accounts::ids::{Credits, KeyId};
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::{Accounts, Durability};
use hornbook_base::clock::Now;

use crate::TestState;
use crate::support::{
    Customer, act, clock_at_noon, create_customer, failing_call, fast_settings, make_call, now_of, start_accounts,
};

const DAY_MILLIS: u64 = 86_400_000;

fn opened(durability: Durability, now: Now) -> (Accounts, Customer) {
    let accounts = start_accounts(TestState::fresh().medium(), fast_settings(durability, 10), now);
    let owner = create_customer(&accounts, 1_000_000, 1, now);
    (accounts, owner)
}

#[expect(clippy::needless_pass_by_value, reason = "callers make the wish in the call")]
fn child(accounts: &Accounts, parent: KeyId, wish: NewChildKey, now: Now) -> Result<IssuedKey, ChangeError> {
    let mut entropy = SeededEntropy(7_000 + accounts.keys(None).len() as u64);
    accounts.create_child_key(parent, NewChildKey { name: "child".to_owned(), ..wish }, &act(now), &mut entropy)
}

fn spent_budget(refusal: Refusal) -> BudgetSpent {
    match refusal {
        Refusal::Budget { spent, .. } => spent,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_beyond_a_budget_is_refused_until_its_window_ends() {
    let clock = clock_at_noon();
    let now = || now_of(&clock);
    let (accounts, owner) = opened(Durability::Strict, now());
    let (id, key) = (owner.key_ids[0], &owner.keys[0]);
    make_call(&accounts, key, 50, None, now()).unwrap();
    let limits = Budget { total: Some(30), per_month: Some(20), per_day: Some(10) };
    accounts.set_key_budget(id, limits, &act(now())).unwrap();

    let receipt = make_call(&accounts, key, 7, None, now()).unwrap();
    let status = receipt.budget().unwrap();
    let left = status.nearest;
    assert_eq!(
        (left.window, left.limit, left.left, status.notice()),
        (SpendingWindow::Day(now().wall.day()), 10, 3, None)
    );
    let refused = spent_budget(make_call(&accounts, key, 4, None, now()).unwrap_err());
    assert_eq!((refused.key, refused.is_own, refused.limit, refused.left), (id, true, 10, 3));
    failing_call(&accounts, key, 3, now()).unwrap();
    assert_eq!(accounts.key_budget(id, now().wall).unwrap().spent_on_day, 7, "a refund gives the budget back");
    let receipt = make_call(&accounts, key, 1, None, now()).unwrap();
    assert_eq!(receipt.budget().unwrap().notice().unwrap(), "80 % of 10 credits today");
    make_call(&accounts, key, 0, None, now()).unwrap();

    clock.advance_millis(DAY_MILLIS);
    // The notice is about the limit of which most is spent, even if another one has fewer credits left.
    let tight = Budget { total: Some(10), per_day: Some(1), per_month: None };
    accounts.set_key_budget(id, tight, &act(now())).unwrap();
    let status = accounts.budget_status(id, now().wall).unwrap();
    assert_eq!((status.nearest.left, status.notice().as_deref()), (1, Some("80 % of 10 credits in all")));
    accounts.set_key_budget(id, limits, &act(now())).unwrap();
    make_call(&accounts, key, 10, None, now()).unwrap();
    clock.advance_millis(DAY_MILLIS);
    let refused = spent_budget(make_call(&accounts, key, 3, None, now()).unwrap_err());
    assert_eq!((refused.window, refused.left), (SpendingWindow::Month(now().wall.month()), 2));
    clock.advance_millis(31 * DAY_MILLIS);
    make_call(&accounts, key, 10, None, now()).unwrap();
    clock.advance_millis(DAY_MILLIS);
    let refused = spent_budget(make_call(&accounts, key, 3, None, now()).unwrap_err());
    assert_eq!((refused.window, refused.limit, refused.left), (SpendingWindow::Total, 30, 2));

    let raised = Budget { total: Some(40), ..limits };
    accounts.set_key_budget(id, raised, &act(now())).unwrap();
    make_call(&accounts, key, 3, None, now()).unwrap();
    assert_eq!(accounts.key_budget(id, now().wall).unwrap().spent_total, 31);
    accounts.set_key_budget(id, Budget::default(), &act(now())).unwrap();
    assert_eq!(make_call(&accounts, key, 500, None, now()).unwrap().budget(), None);
    accounts.verify_ledger().unwrap();
}

#[test]
fn what_a_key_spent_outlasts_a_restart_and_its_replacement() {
    let clock = clock_at_noon();
    let now = || now_of(&clock);
    let (state, settings) = (TestState::fresh(), fast_settings(Durability::Window, 10));
    let mut accounts = start_accounts(state.medium(), settings, now());
    let owner = create_customer(&accounts, 1_000, 1, now());
    let limits = Budget { total: Some(10), ..Budget::default() };
    accounts.set_key_budget(owner.key_ids[0], limits, &act(now())).unwrap();
    make_call(&accounts, &owner.keys[0], 6, None, now()).unwrap();
    drop(accounts);
    accounts = start_accounts(state.medium(), settings, now());
    assert_eq!(spent_budget(make_call(&accounts, &owner.keys[0], 5, None, now()).unwrap_err()).left, 4);

    let next = accounts.rotate_key(owner.key_ids[0], DAY_MILLIS, &act(now()), &mut SeededEntropy(5)).unwrap();
    let old = accounts.authenticate(Some(&owner.keys[0]), now()).err();
    assert_eq!(old, Some(Refusal::Key(BadKey::RevokedOrExpired)), "the budget is not there twice");
    let secret = next.secret.reveal();
    assert_eq!(spent_budget(make_call(&accounts, &secret, 5, None, now()).unwrap_err()).left, 4);
    make_call(&accounts, &secret, 4, None, now()).unwrap();
    drop(accounts);
    accounts = start_accounts(state.medium(), settings, now());
    assert_eq!(spent_budget(make_call(&accounts, &secret, 1, None, now()).unwrap_err()).left, 0);
    accounts.verify_ledger().unwrap();
}

#[test]
fn a_key_that_a_key_created_spends_from_both_budgets_and_ends_with_it() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let (accounts, owner) = opened(Durability::Strict, now);
    let parent = owner.key_ids[0];
    accounts.set_key_budget(parent, Budget { total: Some(10), ..Budget::default() }, &act(now)).unwrap();
    let limits = Budget { per_day: Some(6), ..Budget::default() };
    let first = child(&accounts, parent, NewChildKey { budget: limits, ..NewChildKey::default() }, now).unwrap();
    let second = child(&accounts, parent, NewChildKey::default(), now).unwrap();
    let (first_secret, second_secret) = (first.secret.reveal(), second.secret.reveal());

    make_call(&accounts, &first_secret, 5, None, now).unwrap();
    let refused = spent_budget(make_call(&accounts, &first_secret, 2, None, now).unwrap_err());
    assert_eq!((refused.key, refused.is_own), (first.record.id, true));
    let receipt = make_call(&accounts, &second_secret, 3, None, now).unwrap();
    assert_eq!(receipt.budget().unwrap().nearest.left, 2, "the budget above it is the nearest");
    let refused = spent_budget(make_call(&accounts, &second_secret, 3, None, now).unwrap_err());
    assert_eq!((refused.key, refused.is_own, refused.left), (parent, false, 2));
    let held = accounts.key_budget(first.record.id, now.wall).unwrap().spent_total;
    assert_eq!((held, accounts.key_budget(parent, now.wall).unwrap().spent_total), (5, 8), "no hold is left behind");
    accounts.verify_ledger().unwrap();

    accounts.revoke_key(parent, &act(now)).unwrap();
    for secret in [&first_secret, &second_secret] {
        let refused = accounts.authenticate(Some(secret), now).err();
        assert_eq!(refused, Some(Refusal::Key(BadKey::RevokedOrExpired)));
    }
    assert!(child(&accounts, first.record.id, NewChildKey::default(), now).is_err(), "its line has ended");
}

#[test]
fn a_key_creates_no_key_that_may_do_more() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let (accounts, owner) = opened(Durability::Strict, now);
    let narrow = ScopeSet::of(&[Scope::Search, Scope::Node]);
    let ends = now.wall.plus_millis(60_000);
    let wish = NewChildKey { scopes: Some(narrow), expires_at: Some(ends), ..NewChildKey::default() };
    let first = child(&accounts, owner.key_ids[0], wish, now).unwrap().record;
    assert_eq!((first.scopes, first.expires_at), (narrow, Some(ends)));
    let wider = NewChildKey { scopes: Some(ScopeSet::ALL), ..NewChildKey::default() };
    let refused = child(&accounts, first.id, wider, now).unwrap_err().to_string();
    assert!(refused.contains("its scopes are search,node"), "{refused}");
    let longer = NewChildKey { expires_at: Some(ends.plus_millis(1)), ..NewChildKey::default() };
    let mut last = child(&accounts, first.id, longer, now).unwrap().record;
    assert_eq!((last.scopes, last.expires_at), (narrow, Some(ends)), "at most the time of the key that creates it");
    for _ in 3..KEYS_IN_LINE_MAX {
        last = child(&accounts, last.id, NewChildKey::default(), now).unwrap().record;
    }
    let refused = child(&accounts, last.id, NewChildKey::default(), now).unwrap_err().to_string();
    assert!(refused.contains("levels below the key of a person"), "{refused}");
}

#[test]
fn keys_share_the_rate_limits_of_the_key_that_created_them() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let mut settings = fast_settings(Durability::Strict, 1000);
    settings.tariff.free.limits.per_minute = 5;
    let state = TestState::fresh();
    let accounts = start_accounts(state.medium(), settings, now);
    let owner = create_customer(&accounts, 100, 1, now);
    let secret = child(&accounts, owner.key_ids[0], NewChildKey::default(), now).unwrap().secret.reveal();
    for key in [&owner.keys[0], &secret, &secret, &owner.keys[0], &secret] {
        make_call(&accounts, key, 1, None, now).unwrap();
    }
    drop(accounts);
    let accounts = start_accounts(state.medium(), settings, now);
    for key in [&owner.keys[0], &secret] {
        assert!(matches!(make_call(&accounts, key, 1, None, now), Err(Refusal::TooFast(_))), "after a restart too");
    }
}

#[test]
fn concurrent_calls_spend_exactly_the_budget() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    for durability in [Durability::Strict, Durability::Window] {
        let (accounts, owner) = opened(durability, now);
        let parent = owner.key_ids[0];
        let limits = Budget { per_day: Some(60), ..Budget::default() };
        accounts.set_key_budget(parent, limits, &act(now)).unwrap();
        let secrets: Vec<String> =
            (0..2).map(|_| child(&accounts, parent, NewChildKey::default(), now).unwrap().secret.reveal()).collect();
        let (served, refused) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for caller in 0..8 {
                let (accounts, secret, served, refused) = (&accounts, &secrets[caller % 2], &served, &refused);
                scope.spawn(move || {
                    for call in 0..20 {
                        let cost = 1 + call % 3;
                        match call % 5 {
                            4 => drop(failing_call(accounts, secret, cost, now)),
                            3 => drop(reserved(accounts, secret, cost, now)),
                            _ => match make_call(accounts, secret, cost, None, now) {
                                Ok(_) => drop(served.fetch_add(cost, Ordering::Relaxed)),
                                Err(refusal) => {
                                    assert_eq!(spent_budget(refusal).limit, 60);
                                    refused.fetch_add(1, Ordering::Relaxed);
                                }
                            },
                        }
                    }
                });
            }
        });
        let (served, refused) = (served.into_inner(), refused.into_inner());
        assert!(served <= 60 && refused > 0, "{served} credits were served");
        while make_call(&accounts, &secrets[0], 1, None, now).is_ok() {}
        assert_eq!(accounts.key_budget(parent, now.wall).unwrap().spent_total, 60, "no hold is left behind");
        // A change waits for the debits before it.
        accounts.set_key_budget(parent, limits, &act(now)).unwrap();
        assert_eq!(accounts.verify_ledger().unwrap().books.spent, 60);
    }
}

/// A call that ends before its work begins.
fn reserved(accounts: &Accounts, key: &str, cost: u32, now: Now) -> Result<Reserved, Refusal> {
    let paced = accounts.authenticate(Some(key), now)?.require(ScopeSet::ALL)?.check_rate(now)?;
    paced.reserve("search", Credits(cost), None, now)
}
