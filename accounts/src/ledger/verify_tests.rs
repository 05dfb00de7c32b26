//! Verification must fail if an invariant is broken. Each case forges one place in a state with
//! some history, with valid checksums. Each forgery must be reported.

use std::path::Path;

use hornbook_base::clock::{Clock, ManualClock, Month, UnixDay};

use super::block::TailBlock;
use super::entry::{Draft, Entry, EntryKind, EntryNote, Reference};
use super::load::{HEAD_KEY, LedgerHead, block_entries, parse_block};
use super::verify::{VerifyError, VerifyReport, verify_state};
use crate::actor::Actor;
use crate::admission::Reserved;
use crate::budget::Budget;
use crate::changes::{ActContext, NewKey};
use crate::entropy::SeededEntropy;
use crate::idempotency::Idempotency;
use crate::ids::{AccountId, Credits, EntryNumber, PurchaseId};
use crate::key::KeyKind;
use crate::records::{PurchaseRecord, PurchaseStatus, get_json, put_json};
use crate::scope::ScopeSet;
use crate::state::{State, StateError, StateTable, StateWriter};
use crate::tier::{PackName, Tariff};
use crate::{Accounts, Durability, Settings};

const CALLS: u64 = 1000;
const OWNER: AccountId = AccountId(1);

/// Creates calls with and without idempotency keys, a purchase, refunds, and a roll-up of the older calls.
fn history(data: &Path) -> VerifyReport {
    let clock = ManualClock::at(UnixDay::from_civil(2026, 5, 14).start());
    let mut tariff = Tariff::CONTRACT;
    tariff.free.limits = tariff.packs[2].limits;
    tariff.free.monthly_units = 100;
    let settings = Settings { tariff, durability: Durability::Window, ..Settings::default() };
    let accounts = Accounts::open(data, settings, clock.now()).unwrap();
    let act = ActContext { actor: Actor::program("test"), at: clock.now().wall };
    let id = accounts.create_account("test".to_owned(), &act).unwrap().id;
    accounts.approve_account(id, &act).unwrap();
    let bought = accounts.request_purchase(id, PackName::Pro, &act).unwrap();
    accounts.pay_purchase(bought.id, None, &act).unwrap();
    let wish = NewKey {
        account: id,
        name: "k".to_owned(),
        kind: KeyKind::Test,
        scopes: ScopeSet::ALL,
        expires_at: None,
        budget: Budget::default(),
    };
    let key = accounts.create_key(wish, &act, &mut SeededEntropy(1)).unwrap().secret.reveal();
    let issued = accounts.keys(Some(id))[0].record.id;
    for call in 0..CALLS {
        clock.advance_millis(1000);
        if call == CALLS - 100 {
            let limits = Budget { total: Some(1000), ..Budget::default() };
            accounts.set_key_budget(issued, limits, &act).unwrap();
        }
        let now = clock.now();
        let caller = accounts.authenticate(Some(&key), now).unwrap().require(ScopeSet::ALL).unwrap();
        let retry = (call > CALLS - 3).then(|| Idempotency::new(&call.to_string(), "same"));
        let reserved = caller.check_rate(now).unwrap().reserve("search", Credits(1), retry, now).unwrap();
        let Reserved::Fresh(reservation) = reserved else { panic!("no retry was made") };
        let debit = reservation.begin().unwrap();
        if call % 100 == 50 {
            debit.refund_blocking().unwrap();
        } else {
            debit.settle_blocking().unwrap();
        }
    }
    let now = clock.now().wall;
    assert!(accounts.roll_up(now.plus_millis(-600_000), now).unwrap() > 100);
    accounts.verify_ledger().unwrap()
}

type Forge = fn(&mut StateWriter) -> Result<(), StateError>;

#[test]
fn every_forgery_is_named() {
    let original = tempfile::tempdir().unwrap();
    let proof = history(original.path());
    assert!(proof.rolled_up > 0 && proof.entries > proof.rolled_up);
    let forgeries: [(&str, Forge, &str); 17] = [
        ("nothing", |_| Ok(()), ""),
        ("a wallet", |w| change_record(w, StateTable::Wallets, 0, |bytes| bytes[0] += 1), "the wallet of acct-1 has"),
        ("no wallet", |w| remove_first(w, StateTable::Wallets, 1), "has entries and no wallet"),
        (
            "the allotment",
            |w| change_record(w, StateTable::Allotments, 0, |bytes| bytes[0] += 1),
            "the allotment used by",
        ),
        ("what a key spent", |w| change_record(w, StateTable::Spending, 0, |bytes| bytes[0] += 1), "key-1 is said to"),
        (
            "what a key spent in a month",
            |w| change_record(w, StateTable::Spending, 1, |bytes| bytes[0] += 1),
            "what key-1 spent",
        ),
        ("the books", |w| change_head(w, |head| head.books.granted += 1), "the books are"),
        ("the head's hash", |w| change_head(w, |head| head.hash[0] ^= 1), "the head is at"),
        ("an entry's time", |w| change_entry(w, |draft| draft.at.0 += 1), "was changed"),
        ("an entry's credits", |w| change_entry(w, |draft| draft.credits += 1), "the entries add up"),
        ("an entry gone", |w| remove_first(w, StateTable::Ledger, 0), "follows entry"),
        ("an archived sum", |w| change_record(w, StateTable::ArchivedDays, 0, |bytes| bytes[0] += 1), "the archive of"),
        ("an archived entry gone", |w| remove_first(w, StateTable::ArchivedEntries, 0), "the archive of"),
        ("a row added to the archive", |w| w.put(StateTable::ArchivedDays, &[9; 12], &[1, 0, 0]), "the archive has"),
        ("a purchase", unpaid, "purchase buy-1 is Requested"),
        ("an idempotency record", |w| copy_first(w, StateTable::Idempotency), "an idempotency record refers"),
        ("an account gone", |w| remove_first(w, StateTable::Accounts, 0), "which does not exist"),
    ];
    for (what, forge, expected) in forgeries {
        let found = forged(original.path(), forge);
        match found {
            Ok(found) => assert!(expected.is_empty() && found == proof, "{what} went unnoticed"),
            Err(VerifyError::Broken(why)) => {
                assert!(!expected.is_empty() && why.contains(expected), "{what}: {why}");
            }
            Err(VerifyError::State(error)) => panic!("{what}: {error}"),
        }
    }
}

fn forged(original: &Path, forge: Forge) -> Result<VerifyReport, VerifyError> {
    let data = tempfile::tempdir().unwrap();
    let file = crate::state::STATE_FILE;
    std::fs::copy(original.join(file), data.path().join(file)).unwrap();
    let state = State::open(data.path()).unwrap();
    let mut writing = state.write().unwrap();
    forge(&mut writing).unwrap();
    writing.commit().unwrap();
    verify_state(&state)
}

/// Record number `at` of a table.
fn record(writing: &StateWriter, table: StateTable, at: usize) -> (Vec<u8>, Vec<u8>) {
    let mut records = Vec::new();
    let collect = &mut |key: &[u8], payload: &[u8]| {
        records.push((key.to_vec(), payload.to_vec()));
        Ok(true)
    };
    writing.scan(table, &[], collect).unwrap();
    records.swap_remove(at)
}

fn change_record(
    writing: &mut StateWriter,
    table: StateTable,
    at: usize,
    change: impl FnOnce(&mut [u8]),
) -> Result<(), StateError> {
    // The first wallet is that of the service, without a balance.
    let at = if table == StateTable::Wallets { at + 1 } else { at };
    let (key, mut payload) = record(writing, table, at);
    change(&mut payload);
    writing.put(table, &key, &payload)
}

fn remove_first(writing: &mut StateWriter, table: StateTable, at: usize) -> Result<(), StateError> {
    let (key, _) = record(writing, table, at);
    writing.remove(table, &key)
}

fn copy_first(writing: &mut StateWriter, table: StateTable) -> Result<(), StateError> {
    let (mut key, payload) = record(writing, table, 0);
    key[10] ^= 1;
    writing.put(table, &key, &payload)
}

fn change_head(writing: &mut StateWriter, change: impl FnOnce(&mut LedgerHead)) -> Result<(), StateError> {
    let mut head = LedgerHead::from_bytes(&writing.get(StateTable::Meta, HEAD_KEY)?.unwrap()).unwrap();
    change(&mut head);
    writing.put(StateTable::Meta, HEAD_KEY, &head.to_bytes())
}

/// Changes the second entry that is not rolled up, and keeps the hash stored in its block.
fn change_entry(writing: &mut StateWriter, change: impl FnOnce(&mut Draft)) -> Result<(), StateError> {
    let (key, payload) = record(writing, StateTable::Ledger, 0);
    let hash = parse_block(&key, &payload)?.hash;
    let mut entries: Vec<Entry> = block_entries(&key, &payload)?;
    change(&mut entries[1].draft);
    let mut block = TailBlock::empty(entries[0].number);
    assert!(entries.iter().all(|entry| block.push(entry, hash)));
    writing.put(StateTable::Ledger, &key, &block.to_bytes())
}

fn unpaid(writing: &mut StateWriter) -> Result<(), StateError> {
    let key = PurchaseId(1).to_key();
    let mut record: PurchaseRecord = get_json(writing, StateTable::Purchases, &key)?.unwrap();
    record.status = PurchaseStatus::Requested;
    put_json(writing, StateTable::Purchases, &key, &record)
}

#[test]
fn a_debit_given_back_twice_is_found_even_across_a_roll_up() {
    for roll_up in [false, true] {
        let data = tempfile::tempdir().unwrap();
        history(data.path());
        let clock = ManualClock::at(UnixDay::from_civil(2026, 5, 15).start());
        let accounts = Accounts::open(data.path(), Settings::default(), clock.now()).unwrap();
        let refund = |at| {
            let refund = Draft {
                at,
                kind: EntryKind::Refund,
                account: OWNER,
                key: None,
                operation: None,
                credits: 1,
                from_allotment: 0,
                month: Month(0),
                reference: Reference::Entry(EntryNumber(20)),
                note: Some(EntryNote { actor: "test".to_owned(), reason: "x".repeat(200) }),
            };
            let done = accounts.change(move |poster| {
                poster.append(refund);
                Ok(((), crate::changes::no_memory_effect()))
            });
            done.unwrap();
        };
        refund(clock.now().wall);
        accounts.verify_ledger().unwrap();
        if roll_up {
            // Enough later entries to fill its block.
            let act = ActContext { actor: Actor::program("test"), at: clock.now().wall };
            for _ in 0..40 {
                accounts.grant(OWNER, Credits(1), "x".repeat(200), &act).unwrap();
            }
            clock.advance_millis(86_400_000);
            assert!(accounts.roll_up(clock.now().wall, clock.now().wall).unwrap() > 0);
        }
        refund(clock.now().wall);
        let error = accounts.verify_ledger().unwrap_err().to_string();
        assert!(error.contains("entry 20 was refunded twice"), "{error}");
    }
}
