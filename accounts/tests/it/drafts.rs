//! Drafts and orders of company formations: accepted only once and paid only once, with any
//! failure; moved and completed.

use std::sync::Barrier;

use hornbook_accounts::actor::Actor;
use hornbook_accounts::changes::{Acceptance, DraftView, OPEN_DRAFTS_MAX, UNPAID_ORDERS_MAX};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::ids::{AccountId, OrderId};
use hornbook_accounts::key::{KeyDigest, LinkToken};
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::tier::PackName;
use hornbook_accounts::{Durability, Settings};

use crate::support::disk::{DiskFault, EIO, FaultOn};
use crate::support::drafts::{DAY_MILLIS, accept, draft_content, open, start_with_customer, view_draft};
use crate::support::{act, clock_at_noon, create_customer, fast_settings, now_of, start_accounts, wait_until_healthy};

const HOUR_MILLIS: u64 = 3_600_000;

#[test]
fn a_draft_becomes_an_order_that_is_paid_moved_and_completed() {
    let clock = clock_at_noon();
    let (_, accounts, owner) = start_with_customer(&clock, Settings::default());
    let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
    assert_eq!(draft.expires_at, now_of(&clock).wall.plus_millis(14 * DAY_MILLIS as i64));
    let Some(DraftView::Open { content: shown, expires_at }) = view_draft(&accounts, &draft.token, now_of(&clock))
    else {
        panic!("the draft is open");
    };
    assert_eq!((shown, expires_at), (draft_content("Ondarza Holdings LLC"), draft.expires_at));
    clock.advance_millis(5000);
    let accepted = accept(&accounts, &draft.token, now_of(&clock), 2).unwrap().unwrap();
    let token = accepted.tracking_token.clone().unwrap();
    let id = accepted.order.id;
    assert!(accepted.is_new && token.starts_with("hb_order_"));
    assert_eq!((accepted.order.stage(), accepted.order.price_cents), (OrderStage::Payment, Some(21_900)));
    assert!(accepted.order.token.matches(&KeyDigest::of_secret(&token)));
    assert!(
        matches!(view_draft(&accounts, &draft.token, now_of(&clock)), Some(DraftView::Accepted { order, .. }) if order.id == id)
    );

    clock.advance_millis(5000);
    let operator = hornbook_accounts::changes::ActContext { actor: Actor::program("jane"), at: now_of(&clock).wall };
    assert_eq!(accounts.pay_order(id, Some("wire 7".to_owned()), &operator).unwrap().stage(), OrderStage::Setup);
    assert_eq!(accounts.account(owner, now_of(&clock)).unwrap().remaining.allotment, 1000);
    let intake = accounts.order_intake(id, &operator, &mut SeededEntropy(3)).unwrap().unwrap();
    assert_eq!(intake, draft_content("Ondarza Holdings LLC").intake);
    for stage in [OrderStage::FinalReview, OrderStage::Filing, OrderStage::Completed] {
        clock.advance_millis(1000);
        let operator =
            hornbook_accounts::changes::ActContext { actor: Actor::program("jane"), at: now_of(&clock).wall };
        accounts.advance_order(id, stage, &operator).unwrap();
    }
    assert_eq!(accounts.account(owner, now_of(&clock)).unwrap().remaining.allotment, 5000);
    let order = accounts.order(id).unwrap().unwrap();
    let moves: Vec<_> = order
        .stages
        .iter()
        .map(|reached| (reached.stage.name(), (reached.at.0 - noon_millis()) / 1000, reached.actor.clone().unwrap()))
        .collect();
    let expected = [
        ("details", 5, "test"),
        ("payment", 5, "test"),
        ("setup", 10, "jane"),
        ("final_review", 11, "jane"),
        ("filing", 12, "jane"),
        ("completed", 13, "jane"),
    ];
    assert_eq!(moves, expected.map(|(stage, at, actor)| (stage, at, Actor::program(actor))));
    let tracked = accounts.track_order(id, &token).unwrap().unwrap();
    assert_eq!(tracked.state, OrderStage::Completed);
    assert!(accounts.track_order(id, &token.replace("hb_order_", "hb_ordex_")).unwrap().is_none());
    let acts: Vec<_> = accounts.acts(9).unwrap().into_iter().map(|act| act.act).collect();
    let orders: Vec<_> = acts.iter().filter(|act| act.starts_with("order")).map(String::as_str).collect();
    let advance = "order advance";
    assert_eq!(orders, ["order accept", "order confirm-payment", "order show --intake", advance, advance, advance]);
}

fn noon_millis() -> i64 {
    now_of(&clock_at_noon()).wall.0
}

#[test]
fn concurrent_acceptances_create_one_order() {
    let clock = clock_at_noon();
    let (_, accounts, owner) = start_with_customer(&clock, fast_settings(Durability::Strict, 0));
    for round in 0..8 {
        let draft = open(&accounts, owner, now_of(&clock), 100 + round).unwrap();
        let before = accounts.orders().unwrap().len();
        let barrier = Barrier::new(8);
        let accepted: Vec<Acceptance> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|seed| {
                    let (accounts, token, barrier, now) = (&accounts, &draft.token, &barrier, now_of(&clock));
                    scope.spawn(move || {
                        barrier.wait();
                        accept(accounts, token, now, round * 8 + seed).unwrap().unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(accounts.orders().unwrap().len(), before + 1);
        assert_eq!(accepted.iter().filter(|accepted| accepted.is_new).count(), 1);
        let first = &accepted[0];
        assert!(accepted.iter().all(|other| other.order.id == first.order.id));
        assert!(accepted.iter().all(|other| other.tracking_token == first.tracking_token));
        let token = first.tracking_token.as_deref().unwrap();
        assert!(accounts.track_order(first.order.id, token).unwrap().is_some());
        accounts.pay_order(first.order.id, None, &act(now_of(&clock))).unwrap();
    }
}

/// The disk fails once, at each write and sync of the commit in turn, and the caller does not know the outcome.
#[test]
fn an_acceptance_retried_after_a_disk_fault_creates_one_order() {
    let clock = clock_at_noon();
    let mut interrupted = 0;
    for on in [FaultOn::Write, FaultOn::Sync] {
        for after in 0..12 {
            let (disk, accounts, owner) = start_with_customer(&clock, Settings::default());
            let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
            disk.fail(Some(DiskFault {
                successes_before: after,
                on,
                error: EIO,
                lasting: false,
                hits_owed_file: false,
            }));
            let first = accept(&accounts, &draft.token, now_of(&clock), 2);
            disk.fail(None);
            wait_until_healthy(&accounts).unwrap();
            let second = accept(&accounts, &draft.token, now_of(&clock), 3).unwrap().unwrap();
            assert_eq!(accounts.orders().unwrap().len(), 1, "{on:?} {after}");
            if let Ok(first) = &first {
                let first = first.as_ref().unwrap();
                assert_eq!((first.order.id, &first.tracking_token), (second.order.id, &second.tracking_token));
            } else {
                interrupted += 1;
            }
            let token = second.tracking_token.unwrap();
            // As after a kill: the file is opened again without closing it first.
            let again = start_accounts(disk.medium(), Settings::default(), now_of(&clock));
            assert!(again.track_order(second.order.id, &token).unwrap().is_some());
            let third = accept(&again, &draft.token, now_of(&clock), 4).unwrap().unwrap();
            assert_eq!((third.order.id, third.tracking_token, third.is_new), (second.order.id, Some(token), false));
        }
    }
    assert!(interrupted >= 4, "only {interrupted} faults hit a commit");
}

#[test]
fn the_tracking_token_is_shown_again_for_an_hour_and_no_longer() {
    let clock = clock_at_noon();
    let (_, accounts, owner) = start_with_customer(&clock, Settings::default());
    let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
    let first = accept(&accounts, &draft.token, now_of(&clock), 2).unwrap().unwrap();
    clock.advance_millis(HOUR_MILLIS - 1);
    let again = accept(&accounts, &draft.token, now_of(&clock), 3).unwrap().unwrap();
    assert_eq!((again.tracking_token.as_ref(), again.is_new), (first.tracking_token.as_ref(), false));
    clock.advance_millis(1);
    let late = accept(&accounts, &draft.token, now_of(&clock), 4).unwrap().unwrap();
    assert_eq!((late.order.id, late.tracking_token), (first.order.id, None));
}

#[test]
fn drafts_are_hidden_without_link_or_account() {
    let clock = clock_at_noon();
    let (_, accounts, owner) = start_with_customer(&clock, Settings::default());
    let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
    let other = LinkToken::parse(&"A".repeat(32)).unwrap();
    assert!(view_draft(&accounts, &other, now_of(&clock)).is_none());
    assert!(accept(&accounts, &other, now_of(&clock), 2).unwrap().is_none());
    accounts.disable_account(owner, &act(now_of(&clock))).unwrap();
    assert!(view_draft(&accounts, &draft.token, now_of(&clock)).is_none());
    assert!(accept(&accounts, &draft.token, now_of(&clock), 3).unwrap().is_none());
    accounts.approve_account(owner, &act(now_of(&clock))).unwrap();
    assert!(view_draft(&accounts, &draft.token, now_of(&clock)).is_some());
    assert!(open(&accounts, AccountId(99), now_of(&clock), 4).unwrap_err().to_string().contains("acct-99"));
}

#[test]
fn drafts_and_unpaid_orders_of_an_account_are_bounded() {
    let clock = clock_at_noon();
    let (_, accounts, owner) = start_with_customer(&clock, Settings::default());
    let drafts: Vec<_> =
        (0..OPEN_DRAFTS_MAX).map(|n| open(&accounts, owner, now_of(&clock), n as u64).unwrap()).collect();
    let refused = open(&accounts, owner, now_of(&clock), 999).unwrap_err().to_string();
    assert!(refused.contains("100 drafts"), "{refused}");
    let neighbour = create_customer(&accounts, 0, 1, now_of(&clock)).account;
    open(&accounts, neighbour, now_of(&clock), 1000).unwrap();

    let mut orders: Vec<OrderId> = Vec::new();
    for (seed, draft) in drafts[..UNPAID_ORDERS_MAX].iter().enumerate() {
        orders.push(accept(&accounts, &draft.token, now_of(&clock), seed as u64).unwrap().unwrap().order.id);
    }
    let next = &drafts[UNPAID_ORDERS_MAX].token;
    let refused = accept(&accounts, next, now_of(&clock), 1).unwrap_err().to_string();
    assert!(refused.contains("20 orders"), "{refused}");
    // Accepted drafts are no longer open.
    open(&accounts, owner, now_of(&clock), 1001).unwrap();
    accounts.discard_order(orders[0], &act(now_of(&clock))).unwrap();
    assert!(accounts.order(orders[0]).unwrap().is_none());
    assert!(view_draft(&accounts, &drafts[0].token, now_of(&clock)).is_none(), "its link still works");
    assert!(accept(&accounts, &drafts[0].token, now_of(&clock), 1).unwrap().is_none());
    accept(&accounts, next, now_of(&clock), 101).unwrap().unwrap();
    accounts.pay_order(orders[1], None, &act(now_of(&clock))).unwrap();
    let refused = accounts.discard_order(orders[1], &act(now_of(&clock))).unwrap_err().to_string();
    assert!(refused.contains("at stage setup"), "{refused}");
    accept(&accounts, &drafts[UNPAID_ORDERS_MAX + 1].token, now_of(&clock), 102).unwrap().unwrap();
}

#[test]
fn a_payment_counts_once_for_orders_and_purchases_together() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let (_, accounts, owner) = start_with_customer(&clock, Settings::default());
    let accepted = |seed| {
        let draft = open(&accounts, owner, now, seed).unwrap();
        accept(&accounts, &draft.token, now, seed).unwrap().unwrap().order.id
    };
    let (first, second) = (accepted(1), accepted(2));
    let pay = |order, reference: &str| accounts.pay_order(order, Some(reference.to_owned()), &act(now));
    let paid = pay(first, "pi_1").unwrap();
    assert_eq!(pay(first, "pi_1").unwrap().stages, paid.stages, "the same payment, reported again");
    assert!(pay(first, "pi_2").unwrap_err().to_string().contains("already paid"));
    let refused = pay(second, "pi_1").unwrap_err().to_string();
    assert!(refused.contains(&format!("already used for order {first}")), "{refused}");
    let [one, other] = [(), ()].map(|()| accounts.request_purchase(owner, PackName::Pro, &act(now)).unwrap().id);
    assert!(accounts.pay_purchase(one, Some("pi_1".to_owned()), &act(now)).is_err());
    accounts.pay_purchase(one, Some("pi_3".to_owned()), &act(now)).unwrap();
    assert!(pay(second, "pi_3").unwrap_err().to_string().contains("already used for buy-1"));
    assert!(pay(second, " ").is_err());
    accounts.advance_order(second, OrderStage::Filing, &act(now)).unwrap();
    assert_eq!(pay(second, "pi_4").unwrap().stage(), OrderStage::Filing, "a late confirmation moved the order back");
    accounts.pay_purchase(other, None, &act(now)).unwrap();
}
