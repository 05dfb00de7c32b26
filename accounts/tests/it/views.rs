//! The views of accounts, orders and rate limits, in the exact shapes that clients see.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};

use hornbook_accounts::admission::{PendingDebit, Reserved};
use hornbook_accounts::changes::NewOrder;
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::Refusal;
use hornbook_accounts::ids::{Credits, OrderId};
use hornbook_accounts::ledger::entry::EntryKind;
use hornbook_accounts::rate_limit::{RateLimits, RateRemaining};
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::tier::{FreeTier, PackName, Tariff};
use hornbook_accounts::tracking::{StageStatus, StageView};
use hornbook_accounts::{Accounts, Durability, Settings};

use crate::support::disk::{DiskFault, EIO, FaultOn, SimulatedDisk};
use crate::support::{
    act, clock_at_noon, create_customer, failing_call, fast_settings, make_call, now_of, start_accounts,
    wait_until_healthy,
};

#[test]
fn an_account_sees_its_newest_entries_and_what_it_can_spend() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let accounts = start_accounts(SimulatedDisk::with_schema().medium(), Settings::default(), now);
    let owner = create_customer(&accounts, 7, 1, now);
    clock.advance_millis(1500);
    make_call(&accounts, &owner.keys[0], 5, None, now_of(&clock)).unwrap();
    failing_call(&accounts, &owner.keys[0], 1, now_of(&clock)).unwrap();
    let view = accounts.account(owner.account, now_of(&clock)).unwrap();
    assert_eq!((view.remaining.wallet, view.remaining.allotment), (7, 995));
    assert_eq!((view.limits.per_minute, view.limits.per_day), (30, 1000));
    let seen: Vec<_> = accounts.recent_entries(owner.account, 3).unwrap();
    let numbers: Vec<_> = seen
        .iter()
        .map(|entry| (entry.id.0, entry.kind, entry.credits, entry.from_allotment, entry.balance_after))
        .collect();
    let expected = [(4, EntryKind::Refund, 1, -1, 7), (3, EntryKind::Usage, -1, 1, 7), (2, EntryKind::Usage, -5, 5, 7)];
    assert_eq!(numbers, expected);
    let notes: Vec<_> = seen.iter().map(|entry| entry.note.as_deref()).collect();
    assert_eq!(notes, [Some("the response to the call was not 200"), None, None]);
    for entry in &seen {
        assert_eq!(entry.at.to_string(), "2026-05-14T12:00:01.500Z");
        assert_eq!(entry.operation.as_deref(), Some("search"));
        assert_eq!(entry.key_prefix.as_deref(), Some(&owner.keys[0][..12]));
    }
    let grant = accounts.recent_entries(owner.account, 9).unwrap().pop().unwrap();
    assert_eq!((grant.operation, grant.key_prefix, grant.note.as_deref()), (None, None, Some("for the test")));
}

#[test]
fn reserved_credits_are_not_in_the_account_view() {
    let now = now_of(&clock_at_noon());
    let accounts = start_accounts(SimulatedDisk::with_schema().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer(&accounts, 7, 1, now);
    let debit = begin(&accounts, &owner.keys[0], 2);
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 5);
    assert_eq!(debit.settle_blocking().unwrap().credits_remaining(), 5);
}

#[test]
fn an_order_is_visible_only_with_its_token() {
    let clock = clock_at_noon();
    let noon_wall = now_of(&clock).wall;
    let accounts = start_accounts(SimulatedDisk::with_schema().medium(), Settings::default(), now_of(&clock));
    let owner = create_customer(&accounts, 0, 1, now_of(&clock));
    let wish = |name: &str| NewOrder {
        account: owner.account,
        entity_name: name.to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "DE".to_owned(),
    };
    let (order, token) = accounts.create_order(wish("Acme LLC"), &act(now_of(&clock)), &mut SeededEntropy(5)).unwrap();
    let (_, other) = accounts.create_order(wish("Other LLC"), &act(now_of(&clock)), &mut SeededEntropy(6)).unwrap();
    clock.advance_millis(60_000);
    accounts.advance_order(order.id, OrderStage::Setup, &act(now_of(&clock))).unwrap();
    let seen = accounts.track_order(order.id, &token).unwrap().unwrap();
    let (opened, moved) = (noon_wall, now_of(&clock).wall);
    let stage = |stage, status, at| StageView { stage, status, at };
    assert_eq!(
        seen.stages,
        [
            stage(OrderStage::Details, StageStatus::Completed, Some(opened)),
            stage(OrderStage::Payment, StageStatus::Completed, None),
            stage(OrderStage::Setup, StageStatus::Current, Some(moved)),
            stage(OrderStage::FinalReview, StageStatus::Pending, None),
            stage(OrderStage::Filing, StageStatus::Pending, None),
            stage(OrderStage::Completed, StageStatus::Pending, None),
        ]
    );
    assert_eq!(
        (seen.order_id, seen.state, seen.created_at, seen.updated_at),
        (order.id, OrderStage::Setup, opened, moved)
    );
    let reported = [&seen.entity_name, &seen.entity_type, &seen.jurisdiction];
    assert_eq!(reported, ["Acme LLC", "llc", "DE"]);

    let unknown = OrderId(uuid_of(9));
    for (id, token) in [(order.id, &*other), (order.id, ""), (unknown, &*token), (unknown, &*other)] {
        assert!(accounts.track_order(id, token).unwrap().is_none());
    }
    accounts.advance_order(order.id, OrderStage::Completed, &act(now_of(&clock))).unwrap();
    let done = accounts.track_order(order.id, &token).unwrap().unwrap();
    assert_eq!((done.state, done.stages[5].status), (OrderStage::Completed, StageStatus::Completed));
}

fn uuid_of(byte: u8) -> uuid::Uuid {
    uuid::Builder::from_random_bytes([byte; 16]).into_uuid()
}

#[test]
fn the_demo_account_is_created_once_and_atomically() {
    let now = now_of(&clock_at_noon());
    let tariff = Tariff { free: FreeTier::GRANT, ..Tariff::CONTRACT };
    let settings = Settings { tariff, ..Settings::default() };
    let disk = SimulatedDisk::with_schema();
    let accounts = start_accounts(disk.medium(), settings, now);
    let made = accounts.create_demo_account(&act(now), &mut SeededEntropy(1)).unwrap().unwrap();
    let key = made.secret.reveal();
    let receipt = make_call(&accounts, &key, 1, None, now).unwrap();
    assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (499, 0));
    assert_eq!(receipt.left().limits.per_minute, 10);
    assert!(accounts.create_demo_account(&act(now), &mut SeededEntropy(2)).unwrap().is_none());
    accounts.close();
    let accounts = start_accounts(disk.medium(), settings, now);
    assert!(accounts.create_demo_account(&act(now), &mut SeededEntropy(3)).unwrap().is_none());
    assert_eq!(make_call(&accounts, &key, 1, None, now).unwrap().credits_remaining(), 498);
    assert_eq!((accounts.verify_ledger().unwrap().accounts, accounts.keys(None).len()), (1, 1));

    // A failed commit leaves all of it or nothing.
    for after in 0..4 {
        let disk = SimulatedDisk::with_schema();
        let accounts = start_accounts(disk.medium(), settings, now);
        disk.fail(Some(DiskFault {
            successes_before: after,
            on: FaultOn::Sync,
            error: EIO,
            lasting: false,
            hits_owed_file: false,
        }));
        let made = accounts.create_demo_account(&act(now), &mut SeededEntropy(1));
        disk.fail(None);
        wait_until_healthy(&accounts).unwrap();
        let found = (accounts.accounts(now).unwrap().len(), accounts.keys(None).len());
        assert!(found == (1, 1) || made.is_err() && found == (0, 0), "{found:?}");
        accounts.verify_ledger().unwrap();
    }
}

#[test]
fn every_receipt_has_the_rate_limit_state() {
    let clock = clock_at_noon();
    let mut settings = Settings::default();
    settings.tariff.free.limits.per_minute = 3;
    let accounts = start_accounts(SimulatedDisk::with_schema().medium(), settings, now_of(&clock));
    let owner = create_customer(&accounts, 0, 1, now_of(&clock));
    let minute = |left: RateRemaining| (left.in_minute, left.minute_reset_sec);
    let receipt = make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap();
    assert_eq!(minute(receipt.left()), (2, 60));
    clock.advance_millis(10_000);
    let paced = accounts.authenticate(Some(&owner.keys[0]), now_of(&clock)).unwrap();
    assert_eq!(paced.key_prefix(), owner.keys[0][..12]);
    let paced = paced.require(ScopeSet::ALL).unwrap().check_rate(now_of(&clock)).unwrap();
    assert_eq!(minute(paced.left()), (1, 50));
    make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap();
    let Err(Refusal::TooFast(refused)) = make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)) else {
        panic!("the call was not rate limited")
    };
    assert_eq!(minute(refused.left), (0, 50));
    assert_eq!(refused.retry_after_sec, 50);
    let bulk = accounts.request_purchase(owner.account, PackName::Bulk, &act(now_of(&clock))).unwrap();
    accounts.pay_purchase(bulk.id, None, &act(now_of(&clock))).unwrap();
    let receipt = make_call(&accounts, &owner.keys[0], 1, None, now_of(&clock)).unwrap();
    let limits = RateLimits { per_minute: 300, per_day: 50_000 };
    let left = RateRemaining { limits, in_minute: 296, minute_reset_sec: 50, in_day: 49_996, day_reset_sec: 43_190 };
    assert_eq!(receipt.left(), left);
}

#[test]
fn awaiting_an_answer_is_the_same_as_blocking_for_it() {
    let now = now_of(&clock_at_noon());
    for durability in [Durability::Strict, Durability::Window] {
        let accounts = start_accounts(SimulatedDisk::with_schema().medium(), fast_settings(durability, 0), now);
        let owner = create_customer(&accounts, 10, 1, now);
        let receipt = block_on(assert_send(begin(&accounts, &owner.keys[0], 3).settle())).unwrap();
        assert_eq!((receipt.credits_remaining(), receipt.charged()), (7, Credits(3)));
        block_on(assert_send(begin(&accounts, &owner.keys[0], 3).refund())).unwrap();
        // A client that disconnects before its answer arrives has paid.
        drop(begin(&accounts, &owner.keys[0], 3).settle());
        accounts.approve_account(owner.account, &act(now)).unwrap();
        assert_eq!(accounts.verify_ledger().unwrap().books.spent, 6);
        assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 4);
    }
}

fn begin(accounts: &Accounts, key: &str, cost: u32) -> PendingDebit {
    let now = now_of(&clock_at_noon());
    let paced = accounts.authenticate(Some(key), now).unwrap().require(ScopeSet::ALL).unwrap().check_rate(now).unwrap();
    let Ok(Reserved::Fresh(reservation)) = paced.reserve("search", Credits(cost), None, now) else {
        panic!("credits are there")
    };
    reservation.begin().unwrap()
}

/// A server moves tasks between threads, so its futures must be `Send`.
fn assert_send<F: Future + Send>(future: F) -> F {
    future
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
