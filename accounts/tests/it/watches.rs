//! Watches of keys: a random history against a plain model, what happens when a key is replaced, ended or deleted, and
//! that a restart loses nothing.

use std::collections::BTreeMap;

use crate::support::fast_settings;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::ids::{AccountId, KeyId, WatchId};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::watches::{
    Delivery, DeliveryState, REPORTS_MAX, ReportedSwap, WATCHES_MAX, WatchRecord, WatchReport, WatchSubject,
    WatchedChange, WebhookPolicy,
};
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Clock, ManualClock, UnixMillis};
use hornbook_base::random::SplitMix64;

const START: UnixMillis = UnixMillis(1_700_000_000_000);

fn act() -> ActContext {
    ActContext { actor: Actor::program("test"), at: START }
}

fn settings() -> Settings {
    Settings { webhooks: WebhookPolicy::Public, ..fast_settings(Durability::Strict, 0) }
}

fn open(data: &std::path::Path) -> Accounts {
    Accounts::open(data, settings(), ManualClock::at(START).now()).unwrap()
}

fn new_account(accounts: &Accounts) -> AccountId {
    let id = accounts.create_account("Watcher".to_owned(), &act()).unwrap().id;
    accounts.approve_account(id, &act()).unwrap();
    id
}

fn new_key(accounts: &Accounts, account: AccountId, seed: u64) -> KeyId {
    let wish = NewKey {
        account,
        name: "a program".to_owned(),
        kind: KeyKind::Live,
        scopes: ScopeSet::ALL,
        expires_at: None,
        budget: Budget::default(),
    };
    accounts.create_key(wish, &act(), &mut SeededEntropy(seed)).unwrap().record.id
}

fn citation(number: usize) -> WatchSubject {
    WatchSubject::Citation(format!("Arden Rev. Stat. § {number}"))
}

fn report(key: KeyId, swap: u32) -> WatchReport {
    let change = WatchedChange { watches: vec![WatchId(1)], change: serde_json::json!({ "kind": "reworded" }) };
    let (from, to) = (format!("snapshot-{}", swap - 1), format!("snapshot-{swap}"));
    WatchReport { key, swap, at: START, from, to, total: 1, changes: vec![change], unknown: None, delivery: None }
}

/// Random watches, removals, replaced and revoked keys, and restarts. The model is a map.
#[test]
fn watches_are_those_of_a_plain_model() {
    for seed in 0..12 {
        let data = tempfile::tempdir().unwrap();
        let mut accounts = open(data.path());
        let account = new_account(&accounts);
        let mut random = SplitMix64(seed);
        let mut keys: Vec<KeyId> = (0..3).map(|number| new_key(&accounts, account, number)).collect();
        let mut model: BTreeMap<WatchId, WatchRecord> = BTreeMap::new();
        for step in 0..60 {
            let at = random.index(keys.len());
            let key = keys[at];
            match random.below(12) {
                0..6 => {
                    let subject = citation(random.index(8));
                    let known = model.values().find(|record| record.key == key && record.subject == subject).cloned();
                    let (record, is_new) = accounts.add_watch(key, subject.clone(), None, START).unwrap();
                    assert_eq!((is_new, &record.subject), (known.is_none(), &subject));
                    if let Some(known) = known {
                        assert_eq!(record, known, "what is watched already keeps its watch");
                    }
                    model.insert(record.id, record);
                }
                6..9 => {
                    let id = WatchId(random.below(40) as u32);
                    let mine = model.get(&id).is_some_and(|record| record.key == key);
                    assert_eq!(accounts.remove_watch(&[key], id).is_ok(), mine);
                    if mine {
                        model.remove(&id);
                    }
                }
                9 => {
                    let new = accounts.rotate_key(key, 1000, &act(), &mut SeededEntropy(1000 + step)).unwrap();
                    keys[at] = new.record.id;
                    model.values_mut().filter(|record| record.key == key).for_each(|record| record.key = keys[at]);
                }
                10 => {
                    accounts.revoke_key(key, &act()).unwrap();
                    accounts.forget_watches_of_ended_keys(START).unwrap();
                    model.retain(|_, record| record.key != key);
                    keys[at] = new_key(&accounts, account, 5000 + step);
                }
                _ => {
                    drop(accounts);
                    accounts = open(data.path());
                }
            }
            for key in &keys {
                let expected: Vec<WatchRecord> = model.values().filter(|record| record.key == *key).cloned().collect();
                assert_eq!(accounts.watches(*key).unwrap(), expected, "seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn a_key_watches_a_thousand_things_and_no_more() {
    let data = tempfile::tempdir().unwrap();
    let settings = Settings { durability: Durability::Window, ..settings() };
    let accounts = Accounts::open(data.path(), settings, ManualClock::at(START).now()).unwrap();
    let account = new_account(&accounts);
    let key = new_key(&accounts, account, 1);
    for number in 0..WATCHES_MAX {
        assert!(accounts.add_watch(key, citation(number), None, START).unwrap().1);
    }
    let refused = accounts.add_watch(key, citation(WATCHES_MAX), None, START).unwrap_err().to_string();
    assert!(refused.contains("1000 things"), "{refused}");
    assert!(!accounts.add_watch(key, citation(7), None, START).unwrap().1, "it is watched already");
    let other = new_key(&accounts, account, 2);
    assert!(accounts.add_watch(other, citation(7), None, START).unwrap().1);
}

#[test]
fn the_newest_reports_are_kept_and_each_swap_is_reported_once() {
    let data = tempfile::tempdir().unwrap();
    let accounts = open(data.path());
    let account = new_account(&accounts);
    let [key, other] = [1, 2].map(|seed| new_key(&accounts, account, seed));
    accounts.store_watch_report(report(other, 1), Vec::new()).unwrap();
    let swaps = REPORTS_MAX as u32 + 5;
    for swap in 1..=swaps {
        accounts.store_watch_report(report(key, swap), Vec::new()).unwrap();
        // A run that was interrupted comes again.
        let again = WatchReport { total: 99, ..report(key, swap) };
        accounts.store_watch_report(again, Vec::new()).unwrap();
    }
    accounts.set_reported_swap(ReportedSwap { number: swaps, snapshot: "s".to_owned() }).unwrap();
    drop(accounts);
    let accounts = open(data.path());
    let kept = accounts.watch_reports(key).unwrap();
    let numbers: Vec<u32> = kept.iter().map(|report| report.swap).collect();
    assert_eq!(numbers, (6..=swaps).rev().collect::<Vec<_>>());
    assert!(kept.iter().all(|report| report.total == 1));
    assert_eq!(accounts.watch_reports(other).unwrap().len(), 1);
    assert_eq!(accounts.reported_swap().unwrap().unwrap().number, swaps);
}

#[test]
fn a_report_waits_for_its_delivery_and_a_replaced_key_keeps_its_secret() {
    let data = tempfile::tempdir().unwrap();
    let accounts = open(data.path());
    let account = new_account(&accounts);
    let key = new_key(&accounts, account, 1);
    let mut random = SeededEntropy(7);
    let url = || Some("https://hooks.example/secret-path".to_owned());
    let webhook = accounts.set_watch_webhook(key, url(), &act(), &mut random).unwrap().unwrap();
    let secret = accounts.webhook_secret(&webhook, &mut random).unwrap();
    assert!(!format!("{webhook:?}").contains("secret-path"));
    accounts.store_watch_report(report(key, 1), Vec::new()).unwrap();
    assert_eq!(accounts.waiting_reports().unwrap().len(), 1);

    let new = accounts.rotate_key(key, 1000, &act(), &mut random).unwrap().record.id;
    drop(accounts);
    let accounts = open(data.path());
    assert_eq!((accounts.watch_reports(key).unwrap().len(), accounts.watch_reports(new).unwrap().len()), (0, 1));
    let moved = accounts.watch_webhook(new).unwrap().unwrap();
    assert_eq!(accounts.webhook_secret(&moved, &mut random).unwrap(), secret);
    assert_eq!(accounts.watch_webhook(key).unwrap(), None);
    let delivered = Delivery { state: DeliveryState::Delivered, attempts: 1, at: START, why: None };
    accounts.set_delivery(new, 1, delivered.clone()).unwrap();
    assert_eq!(accounts.waiting_reports().unwrap(), []);
    assert_eq!(accounts.watch_reports(new).unwrap()[0].delivery, Some(delivered));

    // Another address has another secret, and none has none.
    let second = accounts.set_watch_webhook(new, url(), &act(), &mut random).unwrap().unwrap();
    assert_ne!(accounts.webhook_secret(&second, &mut random).unwrap(), secret);
    accounts.set_watch_webhook(new, None, &act(), &mut random).unwrap();
    accounts.store_watch_report(report(new, 2), Vec::new()).unwrap();
    assert_eq!(accounts.waiting_reports().unwrap(), []);
}

#[test]
fn nothing_about_the_watches_of_a_deleted_account_stays() {
    let data = tempfile::tempdir().unwrap();
    let accounts = open(data.path());
    let account = new_account(&accounts);
    let key = new_key(&accounts, account, 1);
    accounts.add_watch(key, citation(1), Some("my case".to_owned()), START).unwrap();
    let url = Some("https://hooks.example/".to_owned());
    accounts.set_watch_webhook(key, url, &act(), &mut SeededEntropy(7)).unwrap();
    accounts.store_watch_report(report(key, 1), Vec::new()).unwrap();
    accounts.delete_account_as_operator(account, &act()).unwrap();
    assert_eq!(accounts.watches(key).unwrap(), []);
    assert_eq!(accounts.watch_reports(key).unwrap(), []);
    assert_eq!(accounts.watch_webhook(key).unwrap(), None);
    assert_eq!(accounts.waiting_reports().unwrap(), []);
}

#[test]
fn addresses_that_nothing_can_be_sent_to_are_refused() {
    let refused = |webhooks: WebhookPolicy, url: &str| {
        let data = tempfile::tempdir().unwrap();
        let settings = Settings { webhooks, ..settings() };
        let accounts = Accounts::open(data.path(), settings, ManualClock::at(START).now()).unwrap();
        let account = new_account(&accounts);
        let key = new_key(&accounts, account, 1);
        accounts.set_watch_webhook(key, Some(url.to_owned()), &act(), &mut SeededEntropy(1)).is_err()
    };
    let good = "https://hooks.example/a?b=c";
    assert_eq!(
        [WebhookPolicy::Off, WebhookPolicy::Public, WebhookPolicy::Any].map(|policy| refused(policy, good)),
        [true, false, false]
    );
    assert!(refused(WebhookPolicy::Public, "http://hooks.example/") && !refused(WebhookPolicy::Any, "http://a/"));
    for bad in ["ftp://a/", "hooks.example", "", "https://a/\r\nx: y", "https://é/", "https://a/ b"] {
        assert!(refused(WebhookPolicy::Any, bad), "{bad}");
    }
    assert!(refused(WebhookPolicy::Any, &format!("https://a/{}", "b".repeat(2000))));
}
