//! Changes by operators: purchases, tiers, grants, keys, orders, roll-ups; and that no change can
//! break the ledger.

use hornbook_accounts::actor::Actor;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey, NewOrder};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{BadKey, Refusal};
use hornbook_accounts::ids::Credits;
use hornbook_accounts::key::{KeyDigest, KeyKind};
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::tier::{FreeTier, PackName, Tariff, Tier};
use hornbook_accounts::{Durability, Settings};

use crate::TestState;
use crate::support::{
    act, clock_at_noon, create_customer, failing_call, fast_settings, make_call, now_of, start_accounts,
};

#[test]
fn purchases_raise_the_tier_and_formation_the_allotment() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let accounts = start_accounts(TestState::fresh().medium(), Settings::default(), now);
    let owner = create_customer(&accounts, 0, 1, now);
    let act = act(now);
    let bulk = accounts.request_purchase(owner.account, PackName::Bulk, &act).unwrap();
    let starter = accounts.request_purchase(owner.account, PackName::Starter, &act).unwrap();
    let paid = accounts.pay_purchase(bulk.id, Some("pi_1".to_owned()), &act).unwrap();
    assert_eq!(accounts.pay_purchase(bulk.id, Some("pi_1".to_owned()), &act).unwrap(), paid);
    assert!(accounts.pay_purchase(bulk.id, Some("pi_2".to_owned()), &act).is_err());
    accounts.pay_purchase(starter.id, None, &act).unwrap();
    let view = accounts.account(owner.account, now).unwrap();
    assert_eq!((view.record.tier, view.remaining.wallet, view.limits.per_minute), (Tier::Bulk, 16_000, 300));
    accounts.refund_purchase(bulk.id, "ordered twice".to_owned(), &act).unwrap();
    assert!(accounts.refund_purchase(bulk.id, "again".to_owned(), &act).is_err());
    accounts.adjust(owner.account, -1000, "correction".to_owned(), &act).unwrap();
    assert!(accounts.adjust(owner.account, -1, "too much".to_owned(), &act).is_err());
    let huge = accounts.adjust(owner.account, -90_000_000_000, "a slip".to_owned(), &act).unwrap_err().to_string();
    assert!(huge.contains("the amount is 90000000000; give between 1 and"), "{huge}");

    let wish = NewOrder {
        account: owner.account,
        entity_name: "Acme LLC".to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "us-de".to_owned(),
    };
    let (order, token) = accounts.create_order(wish, &act, &mut SeededEntropy(5)).unwrap();
    assert!(order.token.matches(&KeyDigest::of_secret(&token)));
    accounts.advance_order(order.id, OrderStage::Filing, &act).unwrap();
    assert!(accounts.advance_order(order.id, OrderStage::Payment, &act).is_err());
    accounts.advance_order(order.id, OrderStage::Completed, &act).unwrap();
    assert_eq!(accounts.account(owner.account, now).unwrap().remaining.allotment, 5000);
    let proof = accounts.verify_ledger().unwrap();
    assert_eq!((proof.books.sold, proof.books.adjusted, proof.books.wallets), (-1000, 1000, 0));
    let kinds: Vec<_> = accounts.recent_entries(owner.account, 9).unwrap().into_iter().map(|e| e.kind.name()).collect();
    assert_eq!(kinds, ["adjustment", "refund", "purchase", "purchase"]);
}

#[test]
fn one_payment_pays_one_purchase() {
    let now = now_of(&clock_at_noon());
    let accounts = start_accounts(TestState::fresh().medium(), Settings::default(), now);
    let owner = create_customer(&accounts, 0, 1, now);
    let act = act(now);
    let [first, second] = [(), ()].map(|()| accounts.request_purchase(owner.account, PackName::Pro, &act).unwrap().id);
    accounts.pay_purchase(first, Some("pi_1".to_owned()), &act).unwrap();
    let refused = accounts.pay_purchase(second, Some("pi_1".to_owned()), &act).unwrap_err().to_string();
    assert!(refused.contains("already used for buy-1"), "{refused}");
    accounts.refund_purchase(first, "asked for".to_owned(), &act).unwrap();
    assert!(accounts.pay_purchase(second, Some("pi_1".to_owned()), &act).is_err());
    assert!(accounts.pay_purchase(second, Some(String::new()), &act).is_err());
    accounts.pay_purchase(second, Some("pi_2".to_owned()), &act).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.wallets, 5000);
}

#[test]
fn amounts_out_of_range_are_refused() {
    let now = now_of(&clock_at_noon());
    let state = TestState::fresh();
    let mut settings = Settings::default();
    settings.tariff.free.credits_on_approval = Credits(3_000_000_000);
    settings.tariff.pack_mut(PackName::Bulk).credits = Credits(3_000_000_000);
    let accounts = start_accounts(state.medium(), settings, now);
    let act = act(now);
    let id = accounts.create_account("rich".to_owned(), &act).unwrap().id;
    assert!(accounts.approve_account(id, &act).unwrap_err().to_string().contains("and 1000000000 credits"));
    assert!(accounts.request_purchase(id, PackName::Bulk, &act).is_err());
    for actor in ["", " ", &*"x".repeat(201), "jane\u{1b}[2J"] {
        assert!(actor.parse::<Actor>().is_err(), "{actor:?}");
    }
    for reason in ["", &*"x".repeat(201), "because\u{202e}"] {
        let act = ActContext { actor: "who".parse().unwrap(), at: now.wall };
        assert!(accounts.grant(id, Credits(1), reason.to_owned(), &act).is_err());
    }
    accounts.close();
    start_accounts(state.medium(), Settings::default(), now).verify_ledger().unwrap();
}

#[test]
fn approval_grants_once_and_further_keys_grant_nothing() {
    let now = now_of(&clock_at_noon());
    let tariff = Tariff { free: FreeTier::GRANT, ..Tariff::CONTRACT };
    let accounts =
        start_accounts(TestState::fresh().medium(), Settings { tariff, lease_millis: 0, ..Settings::default() }, now);
    let owner = create_customer(&accounts, 0, 3, now);
    accounts.disable_account(owner.account, &act(now)).unwrap();
    accounts.approve_account(owner.account, &act(now)).unwrap();
    let receipt = make_call(&accounts, &owner.keys[2], 1, None, now).unwrap();
    let limit = receipt.left().limits.per_minute;
    assert_eq!((receipt.credits_remaining(), limit, receipt.allotment_remaining()), (499, 10, 0));
}

#[test]
fn revoked_keys_are_refused_and_rotated_keys_overlap() {
    let clock = clock_at_noon();
    let now = now_of(&clock);
    let accounts = start_accounts(TestState::fresh().medium(), fast_settings(Durability::Strict, 100), now);
    let owner = create_customer(&accounts, 0, 2, now);
    let narrow = NewKey {
        account: owner.account,
        name: "narrow".to_owned(),
        kind: KeyKind::Live,
        scopes: ScopeSet::of(&[Scope::Gis]),
        expires_at: None,
        budget: Budget::default(),
    };
    let steering = NewKey { name: "a\u{1b}[2J".to_owned(), ..narrow.clone() };
    let refused = accounts.create_key(steering, &act(now), &mut SeededEntropy(1)).unwrap_err().to_string();
    assert!(refused.contains("U+001B"), "{refused}");
    let old = accounts.create_key(narrow, &act(now), &mut SeededEntropy(1)).unwrap();
    let new = accounts.rotate_key(old.record.id, 10_000, &act(now), &mut SeededEntropy(2)).unwrap();
    assert_eq!((new.record.scopes, new.record.replaces), (old.record.scopes, Some(old.record.id)));
    assert!(accounts.authenticate(Some(&old.secret.reveal()), now).is_ok());
    clock.advance_millis(10_000);
    assert!(accounts.authenticate(Some(&old.secret.reveal()), now_of(&clock)).is_err());
    assert!(accounts.authenticate(Some(&new.secret.reveal()), now_of(&clock)).is_ok());
    assert!(accounts.rotate_key(old.record.id, 10_000, &act(now_of(&clock)), &mut SeededEntropy(3)).is_err());

    accounts.revoke_key(owner.key_ids[0], &act(now)).unwrap();
    let refused = accounts.authenticate(Some(&owner.keys[0]), now).err();
    assert_eq!(refused, Some(Refusal::Key(BadKey::RevokedOrExpired)));
    assert!(accounts.authenticate(Some(&owner.keys[1]), now).is_ok());
    let shown = format!("{:?} {:?} {:?}", old, accounts.keys(None), accounts.key_record(old.record.id).unwrap());
    assert!(!shown.contains(&old.secret.reveal()), "secrets print themselves: {shown}");
}

#[test]
fn roll_up_keeps_sums_and_hash_chain() {
    let clock = clock_at_noon();
    let state = TestState::fresh();
    let settings = fast_settings(Durability::Window, 500);
    let accounts = start_accounts(state.medium(), settings, now_of(&clock));
    let owners =
        [create_customer(&accounts, 3000, 1, now_of(&clock)), create_customer(&accounts, 3000, 1, now_of(&clock))];
    for round in 0..3000 {
        make_call(&accounts, &owners[round % 2].keys[0], 1, None, now_of(&clock)).unwrap();
        clock.advance_millis(60_000);
    }
    failing_call(&accounts, &owners[0].keys[0], 1, now_of(&clock)).unwrap();
    let before = accounts.verify_ledger().unwrap();
    let went = accounts.roll_up(now_of(&clock).wall.plus_millis(-86_400_000), now_of(&clock).wall).unwrap();
    assert!(went > 1000, "{went}");
    let after = accounts.verify_ledger().unwrap();
    assert_eq!((after.books, after.rolled_up), (before.books, went));
    assert!(after.entries > before.entries, "the chain has an entry for the roll-up");
    assert_eq!(accounts.recent_entries(owners[1].account, 5).unwrap().len(), 5);
    clock.advance_millis(86_400_000);
    make_call(&accounts, &owners[1].keys[0], 5, None, now_of(&clock)).unwrap();
    accounts.close();
    let accounts = start_accounts(state.medium(), settings, now_of(&clock));
    assert!(accounts.roll_up(now_of(&clock).wall, now_of(&clock).wall).unwrap() > 0);
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, before.books.spent + 5);
}
