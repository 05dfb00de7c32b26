//! Verifies every entry's hash link, every balance, every sum, and every record that refers to the ledger.

use std::collections::{BTreeMap, HashMap, HashSet};

use hornbook_base::clock::Month;
use hornbook_base::hex;
use serde::{Deserialize, Serialize};

use super::books::Books;
use super::entry::{Draft, Entry, EntryKind, Reference};
use super::load::{
    LedgerHead, block_entries, parse_block, read_allotments, read_operations, read_spending, read_wallets,
};
use super::rollup::{ArchiveDigest, Archived, Checkpoint, SERVICE_ACCOUNT, each_row};
use crate::Accounts;
use crate::budget::SpendingWindow;
use crate::ids::{AccountId, EntryNumber, KeyId, PurchaseId};
use crate::records::{AccountRecord, IdempotencyRecord, KeyRecord, PurchaseRecord, PurchaseStatus, read_all_json};
use crate::state::{State, StateError, StateReader, StateTable};
use crate::stored_budgets::StoredBudgets;

/// The result of a successful verification, in numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    pub accounts: u64,
    pub keys: u64,
    /// All entries ever appended.
    pub entries: u64,
    /// The entries among them that were rolled up.
    pub rolled_up: u64,
    pub books: Books,
    /// The hash of the last entry. Anyone who noted an earlier one can prove that nothing before it changed.
    pub last_hash: String,
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// An invariant does not hold.
    #[error(
        "the ledger is inconsistent: {0}; keep a copy of the file for inspection and run 'hornbook restore' with \
         the newest backup that verifies"
    )]
    Broken(String),
    #[error("{0}")]
    State(#[from] StateError),
}

impl Accounts {
    /// Verifies the ledger as it is at this moment, while debits continue.
    pub fn verify_ledger(&self) -> Result<VerifyReport, VerifyError> {
        self.shared.with_reading(|reading| Ok(verify(reading)))?
    }
}

/// Verifies the ledger of a state that nobody else uses, such as a backup.
pub(crate) fn verify_state(state: &State) -> Result<VerifyReport, VerifyError> {
    verify(&state.read()?)
}

/// Sums computed from the entries, to be compared with the stored ones.
#[derive(Default)]
struct VerifyTotals {
    number: u64,
    hash: [u8; 32],
    balances: HashMap<AccountId, i64>,
    newest: HashMap<AccountId, EntryNumber>,
    taken_back: HashMap<AccountId, i64>,
    months: BTreeMap<(AccountId, Month), i64>,
    books: Books,
    purchases: HashMap<PurchaseId, Vec<Draft>>,
    refunded: HashSet<EntryNumber>,
    budgets: StoredBudgets,
    spending: BTreeMap<(KeyId, SpendingWindow), i64>,
}

fn verify(reading: &StateReader) -> Result<VerifyReport, VerifyError> {
    let checkpoint = Checkpoint::read(reading)?;
    let mut walk = VerifyTotals { budgets: StoredBudgets::read(reading)?, ..VerifyTotals::default() };
    walk_archive(reading, &checkpoint, &mut walk)?;
    (walk.number, walk.hash) = (checkpoint.through, checkpoint.hash);
    walk_entries(reading, &checkpoint, &mut walk)?;
    compare_sums(reading, &walk)?;
    check_spending(reading, &checkpoint, &walk)?;
    check_purchases(reading, &walk)?;
    check_idempotency(reading, &walk)?;
    let (accounts, keys) = check_owners(reading, &walk)?;
    let last_hash = hex::encode(&walk.hash);
    Ok(VerifyReport {
        accounts,
        keys,
        entries: walk.number,
        rolled_up: checkpoint.through,
        books: walk.books,
        last_hash,
    })
}

fn broken(what: impl Into<String>) -> VerifyError {
    VerifyError::Broken(what.into())
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), VerifyError> {
    if holds { Ok(()) } else { Err(VerifyError::Broken(what())) }
}

fn walk_archive(reading: &StateReader, checkpoint: &Checkpoint, walk: &mut VerifyTotals) -> Result<(), VerifyError> {
    let mut archive = [0; 32];
    let mut rows = 0;
    let mut entries = 0;
    for step in 1..=checkpoint.step {
        let mut digest = ArchiveDigest::after(archive);
        each_row(reading, step, &mut |key, payload, row| {
            digest.row(key, payload);
            rows += 1;
            entries += walk.archived(row);
        })?;
        archive = digest.finish();
    }
    ensure(archive == checkpoint.archive, || "the archive of rolled-up entries was changed".to_owned())?;
    let stored = reading.count(StateTable::ArchivedDays)? + reading.count(StateTable::ArchivedEntries)?;
    ensure(stored == rows, || format!("the archive has {stored} rows, but only {rows} of them belong to a roll-up"))?;
    ensure(entries == checkpoint.through, || {
        format!("{} entries were rolled up, but the archive accounts for {entries}", checkpoint.through)
    })
}

fn walk_entries(reading: &StateReader, checkpoint: &Checkpoint, walk: &mut VerifyTotals) -> Result<(), VerifyError> {
    let mut found = Ok(());
    reading.scan(StateTable::Ledger, &[], &mut |key, payload| {
        found = walk_block(key, payload, checkpoint, walk)?;
        Ok(found.is_ok())
    })?;
    found
}

fn walk_block(
    key: &[u8],
    payload: &[u8],
    checkpoint: &Checkpoint,
    walk: &mut VerifyTotals,
) -> Result<Result<(), VerifyError>, StateError> {
    let block_hash = parse_block(key, payload)?.hash;
    for entry in block_entries(key, payload)? {
        if let Err(error) = walk.live(&entry, checkpoint) {
            return Ok(Err(error));
        }
    }
    let number = walk.number;
    Ok(ensure(walk.hash == block_hash, || format!("entry {number} or one before it in its block was changed")))
}

impl VerifyTotals {
    /// Adds a row of the archive. Returns the number of entries that it replaces.
    fn archived(&mut self, row: Archived) -> u64 {
        match row {
            Archived::Day { day, account, sums } => {
                *self.balances.entry(account).or_default() += sums.credits + sums.from_allotment;
                if sums.from_allotment != 0 {
                    *self.months.entry((account, day.start().month())).or_default() += sums.from_allotment;
                }
                self.books.wallets += sums.credits + sums.from_allotment;
                self.books.allotted -= sums.from_allotment;
                self.books.spent -= sums.credits;
                sums.calls
            }
            Archived::Entry(entry) => {
                if let Reference::Entry(debit) = entry.draft.reference {
                    self.refunded.insert(debit);
                }
                self.post(&entry.draft);
                1
            }
        }
    }

    fn post(&mut self, draft: &Draft) {
        *self.balances.entry(draft.account).or_default() += draft.to_wallet();
        if draft.from_allotment != 0 {
            *self.months.entry((draft.account, draft.month)).or_default() += draft.from_allotment;
        }
        self.books.post(draft);
        if draft.taken_back() != 0 {
            *self.taken_back.entry(draft.account).or_default() += draft.taken_back();
        }
        if let Reference::Purchase(id) = draft.reference {
            self.purchases.entry(id).or_default().push(draft.clone());
        }
    }

    /// Adds a debit, or the refund of one, to the spending of the keys that count it.
    fn add_spending(&mut self, entry: &Entry) {
        let draft = &entry.draft;
        let debit = match (draft.kind, draft.reference) {
            (EntryKind::Usage, _) => entry.number,
            (EntryKind::Refund, Reference::Entry(debit)) => debit,
            _ => return,
        };
        for key in draft.key.into_iter().flat_map(|key| self.budgets.counted_by(key, debit)) {
            for window in SpendingWindow::all_at(draft.at) {
                *self.spending.entry((key, window)).or_default() -= draft.credits;
            }
        }
    }

    fn live(&mut self, entry: &Entry, checkpoint: &Checkpoint) -> Result<(), VerifyError> {
        let (number, draft) = (entry.number, &entry.draft);
        ensure(number.0 == self.number + 1, || format!("entry {number} follows entry {}", self.number))?;
        let previous = self.newest.insert(draft.account, number);
        let rolled_up = entry.previous.is_some_and(|previous| previous.0 <= checkpoint.through);
        ensure(previous == entry.previous || previous.is_none() && rolled_up, || {
            format!("entry {number} does not link to the entry before it of {}", draft.account)
        })?;
        if draft.kind == EntryKind::Usage {
            let sane = draft.credits <= 0 && (0..=-draft.credits).contains(&draft.from_allotment);
            ensure(sane, || {
                format!(
                    "usage entry {number} has invalid amounts: credits {}, from allotment {}",
                    draft.credits, draft.from_allotment
                )
            })?;
        }
        if let Reference::Entry(debit) = draft.reference {
            ensure(debit < number && self.refunded.insert(debit), || format!("entry {debit} was refunded twice"))?;
        }
        self.add_spending(entry);
        self.post(draft);
        let balance = self.balances[&draft.account];
        ensure(balance == entry.balance_after, || {
            format!(
                "entry {number} states a balance of {1} for {0}, but the entries add up to {balance}",
                draft.account, entry.balance_after
            )
        })?;
        let taken_back = self.taken_back.get(&draft.account).copied().unwrap_or(0);
        ensure(balance >= -taken_back, || {
            format!("entry {number} leaves {} with {balance}, though only {taken_back} were taken back", draft.account)
        })?;
        self.hash = entry.hash_after(&self.hash);
        self.number = number.0;
        Ok(())
    }
}

fn compare_sums(reading: &StateReader, walk: &VerifyTotals) -> Result<(), VerifyError> {
    let head = LedgerHead::read(reading)?;
    ensure((head.entries, head.hash) == (walk.number, walk.hash), || {
        format!("the head is at entry {}, but the last entry is {}", head.entries, walk.number)
    })?;
    ensure(head.books == walk.books, || {
        format!("the books are {:?}, but the entries add up to {:?}", head.books, walk.books)
    })?;
    ensure(walk.books.sum() == 0, || format!("the books do not balance: {:?}", walk.books))?;

    let wallets = read_wallets(reading)?;
    for (account, wallet) in &wallets {
        let balance = walk.balances.get(account).copied().unwrap_or(0);
        ensure(wallet.balance == balance, || {
            format!("the wallet of {account} has {}, but its entries add up to {balance}", wallet.balance)
        })?;
        let taken_back = walk.taken_back.get(account).copied().unwrap_or(0);
        ensure(wallet.taken_back == taken_back, || {
            format!(
                "the wallet of {account} states that {} were taken back, but its entries state {taken_back}",
                wallet.taken_back
            )
        })?;
        let newest = walk.newest.get(account).copied();
        ensure(newest.is_none() || wallet.newest == newest, || {
            format!("the wallet of {account} does not refer to its newest entry")
        })?;
    }
    let without = walk.balances.keys().find(|account| !wallets.contains_key(account));
    ensure(without.is_none(), || format!("{without:?} has entries and no wallet"))?;
    let circulating: i64 = wallets.values().map(|wallet| wallet.balance).sum();
    ensure(circulating == walk.books.wallets, || {
        format!("{circulating} credits are in wallets, {} in the books", walk.books.wallets)
    })?;

    let used: BTreeMap<_, i64> = read_allotments(reading)?.into_iter().map(|(at, used)| (at, used.into())).collect();
    let differs = |at: &(AccountId, Month)| used.get(at).unwrap_or(&0) != walk.months.get(at).unwrap_or(&0);
    let wrong = used.keys().chain(walk.months.keys()).find(|at| differs(at));
    ensure(wrong.is_none(), || format!("the allotment used by {wrong:?} is not the sum of its entries"))
}

/// Checks what keys with a budget spent, unless some of the entries since then were rolled up: those no longer name
/// their keys. Of the months and days only the latest are stored.
fn check_spending(reading: &StateReader, checkpoint: &Checkpoint, walk: &VerifyTotals) -> Result<(), VerifyError> {
    let stored = read_spending(reading)?;
    for (key, budget) in walk.budgets.begun_after(EntryNumber(checkpoint.through)) {
        let summed = |window| walk.spending.get(&(key, window)).copied().unwrap_or(0);
        let in_all = stored.get(&(key, SpendingWindow::Total)).map_or(0, |spent| *spent as i64);
        ensure(in_all == summed(SpendingWindow::Total), || {
            format!("{key} is said to have spent {in_all} since entry {}, which its entries do not say", budget.since)
        })?;
        let mut of_key = stored.iter().filter(|((owner, _), _)| *owner == key);
        let wrong = of_key.find(|((_, window), spent)| **spent as i64 != summed(*window));
        ensure(wrong.is_none(), || format!("what {key} spent, {wrong:?}, is not the sum of its entries"))?;
    }
    Ok(())
}

fn check_purchases(reading: &StateReader, walk: &VerifyTotals) -> Result<(), VerifyError> {
    let records: Vec<PurchaseRecord> = read_all_json(reading, StateTable::Purchases)?;
    for record in &records {
        let drafts = walk.purchases.get(&record.id).map_or(&[][..], Vec::as_slice);
        let is_paid = matches!(record.status, PurchaseStatus::Paid | PurchaseStatus::Refunded);
        ensure(drafts.is_empty() != is_paid && entries_match_record(record, drafts), || {
            let entries: Vec<(EntryKind, i64)> = drafts.iter().map(|draft| (draft.kind, draft.credits)).collect();
            format!("purchase {} is {:?}, its entries are {entries:?}", record.id, record.status)
        })?;
    }
    let known: HashSet<PurchaseId> = records.iter().map(|record| record.id).collect();
    let unknown = walk.purchases.keys().find(|id| !known.contains(id));
    ensure(unknown.is_none(), || format!("entries refer to purchase {unknown:?}, which does not exist"))
}

/// Whether the entries of a purchase first give all of its credits, then take and return parts of
/// them, and leave the credits that the record states.
fn entries_match_record(record: &PurchaseRecord, drafts: &[Draft]) -> bool {
    let all = i64::from(record.credits.0);
    let mut left = 0;
    for (at, draft) in drafts.iter().enumerate() {
        left += draft.credits;
        let fits = match draft.kind {
            EntryKind::Purchase => draft.credits > 0 && (at > 0 || left == all),
            EntryKind::Refund => draft.credits < 0,
            _ => false,
        };
        if !fits || draft.account != record.account || !(0..=all).contains(&left) {
            return false;
        }
    }
    drafts.is_empty() || left == all - i64::from(record.taken_back().0)
}

/// Checks that each idempotency record has its own debit, which exists and was not refunded.
fn check_idempotency(reading: &StateReader, walk: &VerifyTotals) -> Result<(), VerifyError> {
    let mut seen = HashSet::new();
    let mut wrong = None;
    reading.scan(StateTable::Idempotency, &[], &mut |key, payload| {
        let record = IdempotencyRecord::from_bytes(payload);
        let record = record.map_err(|_| StateError::bad_record(StateTable::Idempotency.name(), key))?;
        if record.entry.0 > walk.number || !seen.insert(record.entry) || walk.refunded.contains(&record.entry) {
            wrong = Some(record.entry);
        }
        Ok(wrong.is_none())
    })?;
    wrong.map_or(Ok(()), |entry| Err(broken(format!("an idempotency record refers to the wrong entry {entry}"))))
}

fn check_owners(reading: &StateReader, walk: &VerifyTotals) -> Result<(u64, u64), VerifyError> {
    let accounts: Vec<AccountRecord> = read_all_json(reading, StateTable::Accounts)?;
    let ids: HashSet<AccountId> = accounts.iter().map(|account| account.id).collect();
    let stranger = walk.balances.keys().find(|account| **account != SERVICE_ACCOUNT && !ids.contains(account));
    ensure(stranger.is_none(), || format!("entries belong to {stranger:?}, which does not exist"))?;
    let keys: Vec<KeyRecord> = read_all_json(reading, StateTable::Keys)?;
    let orphan = keys.iter().find(|key| !ids.contains(&key.account));
    ensure(orphan.is_none(), || format!("key {:?} has no account", orphan.map(|key| key.id)))?;
    read_operations(reading)?;
    Ok((accounts.len() as u64, keys.len() as u64))
}
