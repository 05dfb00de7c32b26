//! The views of accounts, orders and rate limits, in the exact shapes that clients see.

mod support;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};

use hornbook::accounts::admission::{PendingDebit, Reserved};
use hornbook::accounts::changes::OrderWish;
use hornbook::accounts::entropy::SeededEntropy;
use hornbook::accounts::error::Refusal;
use hornbook::accounts::ids::{Credits, OrderId};
use hornbook::accounts::ledger::entry::EntryKind;
use hornbook::accounts::pace::{PaceLeft, PaceLimits};
use hornbook::accounts::records::OrderStage;
use hornbook::accounts::scope::ScopeSet;
use hornbook::accounts::tier::{FreeTier, PackName, Tariff};
use hornbook::accounts::tracking::{StageStatus, StageView};
use hornbook::accounts::{Accounts, Durability, Settings};
use support::disk::{Disk, EIO, Fault, FaultOn};
use support::{act, call, customer, failing_call, fast_settings, noon, read, start, wait_until_healthy};

#[test]
fn an_account_sees_its_newest_entries_and_what_it_can_spend() {
    let clock = noon();
    let now = read(&clock);
    let accounts = start(Disk::with_schema().medium(), Settings::default(), now);
    let owner = customer(&accounts, 7, 1, now);
    clock.advance_millis(1500);
    call(&accounts, &owner.keys[0], 5, None, read(&clock)).unwrap();
    failing_call(&accounts, &owner.keys[0], 1, read(&clock)).unwrap();
    let view = accounts.account(owner.account, read(&clock)).unwrap();
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
    assert_eq!(notes, [Some("the call was not answered with 200"), None, None]);
    for entry in &seen {
        assert_eq!(entry.at.to_string(), "2026-05-14T12:00:01.500Z");
        assert_eq!(entry.operation.as_deref(), Some("search"));
        assert_eq!(entry.key_prefix.as_deref(), Some(&owner.keys[0][..12]));
    }
    let grant = accounts.recent_entries(owner.account, 9).unwrap().pop().unwrap();
    assert_eq!((grant.operation, grant.key_prefix, grant.note.as_deref()), (None, None, Some("for the test")));
}

#[test]
fn what_a_call_holds_is_gone_from_its_own_account_view() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), fast_settings(Durability::Strict, 0), now);
    let owner = customer(&accounts, 7, 1, now);
    let debit = begin(&accounts, &owner.keys[0], 2);
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 5);
    assert_eq!(debit.settle_blocking().unwrap().credits_remaining(), 5);
}

#[test]
fn an_order_is_seen_with_its_token_and_not_at_all_without() {
    let clock = noon();
    let noon_wall = read(&clock).wall;
    let accounts = start(Disk::with_schema().medium(), Settings::default(), read(&clock));
    let owner = customer(&accounts, 0, 1, read(&clock));
    let wish = |name: &str| OrderWish {
        account: owner.account,
        entity_name: name.to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "DE".to_owned(),
    };
    let (order, token) = accounts.create_order(wish("Acme LLC"), &act(read(&clock)), &mut SeededEntropy(5)).unwrap();
    let (_, other) = accounts.create_order(wish("Other LLC"), &act(read(&clock)), &mut SeededEntropy(6)).unwrap();
    clock.advance_millis(60_000);
    accounts.advance_order(order.id, OrderStage::Setup, &act(read(&clock))).unwrap();
    let seen = accounts.track_order(order.id, &token).unwrap().unwrap();
    let (opened, moved) = (noon_wall, read(&clock).wall);
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
    let told = [&seen.entity_name, &seen.entity_type, &seen.jurisdiction];
    assert_eq!(told, ["Acme LLC", "llc", "DE"]);

    let unknown = OrderId(uuid_of(9));
    for (id, token) in [(order.id, &*other), (order.id, ""), (unknown, &*token), (unknown, &*other)] {
        assert!(accounts.track_order(id, token).unwrap().is_none());
    }
    accounts.advance_order(order.id, OrderStage::Completed, &act(read(&clock))).unwrap();
    let done = accounts.track_order(order.id, &token).unwrap().unwrap();
    assert_eq!((done.state, done.stages[5].status), (OrderStage::Completed, StageStatus::Completed));
}

fn uuid_of(byte: u8) -> uuid::Uuid {
    uuid::Builder::from_random_bytes([byte; 16]).into_uuid()
}

#[test]
fn the_demo_account_is_made_once_and_whole() {
    let now = read(&noon());
    let tariff = Tariff { free: FreeTier::GRANT, ..Tariff::CONTRACT };
    let settings = Settings { tariff, ..Settings::default() };
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), settings, now);
    let made = accounts.create_demo_account(&act(now), &mut SeededEntropy(1)).unwrap().unwrap();
    let key = made.secret.reveal();
    let receipt = call(&accounts, &key, 1, None, now).unwrap();
    assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (499, 0));
    assert_eq!(receipt.left().limits.per_minute, 10);
    assert!(accounts.create_demo_account(&act(now), &mut SeededEntropy(2)).unwrap().is_none());
    accounts.close();
    let accounts = start(disk.medium(), settings, now);
    assert!(accounts.create_demo_account(&act(now), &mut SeededEntropy(3)).unwrap().is_none());
    assert_eq!(call(&accounts, &key, 1, None, now).unwrap().credits_remaining(), 498);
    assert_eq!((accounts.verify_ledger().unwrap().accounts, accounts.keys(None).len()), (1, 1));

    // A failed commit leaves all of it or nothing.
    for after in 0..4 {
        let disk = Disk::with_schema();
        let accounts = start(disk.medium(), settings, now);
        disk.fail(Some(Fault { after, on: FaultOn::Sync, error: EIO, lasting: false, everywhere: false }));
        let made = accounts.create_demo_account(&act(now), &mut SeededEntropy(1));
        disk.fail(None);
        wait_until_healthy(&accounts).unwrap();
        let found = (accounts.accounts(now).unwrap().len(), accounts.keys(None).len());
        assert!(found == (1, 1) || made.is_err() && found == (0, 0), "{found:?}");
        accounts.verify_ledger().unwrap();
    }
}

#[test]
fn the_pace_is_told_with_every_answer() {
    let clock = noon();
    let mut settings = Settings::default();
    settings.tariff.free.limits.per_minute = 3;
    let accounts = start(Disk::with_schema().medium(), settings, read(&clock));
    let owner = customer(&accounts, 0, 1, read(&clock));
    let minute = |left: PaceLeft| (left.in_minute, left.minute_reset_sec);
    let receipt = call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap();
    assert_eq!(minute(receipt.left()), (2, 60));
    clock.advance_millis(10_000);
    let paced = accounts.authenticate(Some(&owner.keys[0]), read(&clock)).unwrap();
    assert_eq!(paced.key_prefix(), owner.keys[0][..12]);
    let paced = paced.require(ScopeSet::ALL).unwrap().pace(read(&clock)).unwrap();
    assert_eq!(minute(paced.left()), (1, 50));
    call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap();
    let Err(Refusal::TooFast(refused)) = call(&accounts, &owner.keys[0], 1, None, read(&clock)) else {
        panic!("three calls a minute")
    };
    assert_eq!(minute(refused.left), (0, 50));
    assert_eq!(refused.retry_after_sec, 50);
    let bulk = accounts.request_purchase(owner.account, PackName::Bulk, &act(read(&clock))).unwrap();
    accounts.pay_purchase(bulk.id, None, &act(read(&clock))).unwrap();
    let receipt = call(&accounts, &owner.keys[0], 1, None, read(&clock)).unwrap();
    let limits = PaceLimits { per_minute: 300, per_day: 50_000 };
    let left = PaceLeft { limits, in_minute: 296, minute_reset_sec: 50, in_day: 49_996, day_reset_sec: 43_190 };
    assert_eq!(receipt.left(), left);
}

#[test]
fn awaiting_an_answer_is_the_same_as_blocking_for_it() {
    let now = read(&noon());
    for durability in [Durability::Strict, Durability::Window] {
        let accounts = start(Disk::with_schema().medium(), fast_settings(durability, 0), now);
        let owner = customer(&accounts, 10, 1, now);
        let receipt = block_on(sendable(begin(&accounts, &owner.keys[0], 3).settle())).unwrap();
        assert_eq!((receipt.credits_remaining(), receipt.charged()), (7, Credits(3)));
        block_on(sendable(begin(&accounts, &owner.keys[0], 3).refund())).unwrap();
        // A client that disconnects before its answer arrives has paid.
        drop(begin(&accounts, &owner.keys[0], 3).settle());
        accounts.approve_account(owner.account, &act(now)).unwrap();
        assert_eq!(accounts.verify_ledger().unwrap().books.spent, 6);
        assert_eq!(accounts.account(owner.account, now).unwrap().remaining.wallet, 4);
    }
}

fn begin(accounts: &Accounts, key: &str, cost: u32) -> PendingDebit {
    let now = read(&noon());
    let paced = accounts.authenticate(Some(key), now).unwrap().require(ScopeSet::ALL).unwrap().pace(now).unwrap();
    let Ok(Reserved::Fresh(reservation)) = paced.reserve("search", Credits(cost), None, now) else {
        panic!("credits are there")
    };
    reservation.begin().unwrap()
}

/// A server moves tasks between threads, so its futures must be `Send`.
fn sendable<F: Future + Send>(future: F) -> F {
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
