//! Refunds that are owed for debits whose callers got an error.
//!
//! When a commit fails, its outcome is unknown until the file has been read again, and the callers
//! do not wait for that. The refunds that may be owed to them are recorded beside the database
//! before the callers get the error ([`StateStorage::record_owed`]). The refunds are made, for the debits
//! that the file contains, when the ledger is repaired or when the program starts again.
//!
//! [`StateStorage::record_owed`]: crate::state::StateStorage::record_owed

use std::collections::{BTreeMap, HashSet};

use hornbook_base::clock::UnixMillis;

use super::idempotency;
use super::ids::{AccountId, Credits, EntryNumber, KeyId};
use super::job::Post;
use super::ledger::entry::{Draft, Entry, EntryKind, Reference};
use super::ledger::load::{LedgerState, block_entries};
use super::ledger::poster::LedgerTransaction;
use super::stored_budgets::StoredBudgets;
use crate::state::codec::{Decoder, Malformed, RecordEncoder};
use crate::state::{State, StateError, StateStorage, StateTable};

/// A debit to refund if the file contains it. The fields other than its number distinguish it from
/// another debit that got the same number because the commit of this one did not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OwedRefund {
    entry: EntryNumber,
    account: AccountId,
    key: KeyId,
    at: UnixMillis,
    cost: Credits,
}

impl OwedRefund {
    /// None for a debit that never got a number: no refund can be owed for it.
    pub(crate) fn of(post: &Post) -> Option<Self> {
        let Post { key, at, cost, .. } = post;
        let account = key.account.id;
        post.placed.get().map(|entry| Self { entry, account, key: key.id, at: *at, cost: *cost })
    }

    fn is_for(&self, entry: &Entry) -> bool {
        let Draft { at, kind, account, key, credits, .. } = entry.draft;
        (kind, account, key, at) == (EntryKind::Usage, self.account, Some(self.key), self.at)
            && credits == -i64::from(self.cost.0)
    }
}

/// Records owed refunds. They are durable when this returns.
pub(crate) fn note(medium: &dyn StateStorage, owed: &[OwedRefund]) -> Result<(), StateError> {
    if owed.is_empty() {
        return Ok(());
    }
    let mut encoder = RecordEncoder::default();
    for refund in owed {
        encoder.unsigned(refund.entry.0);
        encoder.unsigned(refund.account.0.into());
        encoder.unsigned(refund.key.0.into());
        encoder.signed(refund.at.0);
        encoder.unsigned(refund.cost.0.into());
    }
    medium.record_owed(&encoder.bytes)
}

/// Reads the owed refunds that are recorded and not yet made.
pub(crate) fn noted(medium: &dyn StateStorage) -> Result<Vec<OwedRefund>, StateError> {
    let mut owed = Vec::new();
    for record in medium.owed()? {
        decode(&record, &mut owed).map_err(|_| StateError::bad_record("owed", &[]))?;
    }
    Ok(owed)
}

fn decode(record: &[u8], owed: &mut Vec<OwedRefund>) -> Result<(), Malformed> {
    let mut decoder = Decoder::new(record);
    while !decoder.is_empty() {
        owed.push(OwedRefund {
            entry: EntryNumber(decoder.unsigned()?),
            account: AccountId(decoder.number()?),
            key: KeyId(decoder.number()?),
            at: UnixMillis(decoder.signed()?),
            cost: Credits(decoder.number()?),
        });
    }
    Ok(())
}

/// Refunds the debits that the file contains and that are not refunded yet, and removes their
/// idempotency records. Must run before anything else is appended.
pub(crate) fn repay(state: &State, owed: &[OwedRefund]) -> Result<(), StateError> {
    let by_entry: BTreeMap<EntryNumber, &OwedRefund> = owed.iter().map(|refund| (refund.entry, refund)).collect();
    let Some(first) = by_entry.keys().next() else { return Ok(()) };
    // First, so that no other server changes what is read.
    let writing = state.write()?;
    let reading = state.read()?;
    let Some((start, _)) = reading.at_or_before(StateTable::Ledger, &first.to_key())? else { return Ok(()) };
    let (mut due, mut refunded) = (Vec::new(), HashSet::new());
    reading.scan(StateTable::Ledger, &start, &mut |key, payload| {
        for entry in block_entries(key, payload)? {
            if let Reference::Entry(debit) = entry.draft.reference {
                refunded.insert(debit);
            }
            if by_entry.get(&entry.number).is_some_and(|refund| refund.is_for(&entry)) {
                due.push(entry);
            }
        }
        Ok(true)
    })?;
    due.retain(|entry| !refunded.contains(&entry.number));
    let given_back: HashSet<EntryNumber> = due.iter().map(|entry| entry.number).collect();
    let records = idempotency::read_all(&reading)?;
    let posted = LedgerState::load(&reading)?;
    let budgets = StoredBudgets::read(&reading)?;
    drop(reading);
    let mut poster = LedgerTransaction::new(writing, &posted);
    for entry in due {
        for key in entry.draft.key.into_iter().flat_map(|key| budgets.counted_by(key, entry.number)) {
            poster.subtract_spending(key, entry.draft.charged(), entry.draft.at);
        }
        poster.append(entry.draft.refunded(entry.number));
    }
    for (key, _) in records.iter().filter(|(_, record)| given_back.contains(&record.entry)) {
        poster.writing.remove(StateTable::Idempotency, key)?;
    }
    poster.commit().map(drop)
}
