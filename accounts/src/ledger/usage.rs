//! What each account used within a range of entries, and where in the ledger an hour ends.

use std::collections::BTreeMap;

use hornbook_base::clock::UnixMillis;
use serde::Serialize;

use super::entry::{Draft, EntryKind, Reference};
use super::links::hash_of;
use super::load::{LedgerHead, block_entries};
use super::rollup::SERVICE_ACCOUNT;
use crate::ids::{AccountId, EntryNumber};
use crate::state::{LedgerMark, StateError, StateReader, StateTable};

/// Servers report the calls of an hour within this time after it. Calls that are reported later count for another hour.
pub(crate) const SETTLED_AFTER_MILLIS: i64 = 120_000;

/// The end of an hour is not looked for before so many more entries of the hour than of the next one.
const LOOKED_BACK: i64 = 100_000;

/// The sums of an account's entries within a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountUsage {
    pub calls: i64,
    /// What these calls cost.
    pub credits: i64,
    /// The part of it that monthly allotments paid.
    pub units: i64,
    /// Calls that failed after their debit, in this range or an earlier one.
    pub refunded_calls: i64,
    pub refunded_credits: i64,
    pub refunded_units: i64,
    /// Credits that the wallet gained or lost otherwise.
    pub purchased: i64,
    pub taken_back: i64,
    pub granted: i64,
    pub adjusted: i64,
}

impl AccountUsage {
    fn add(&mut self, draft: &Draft) {
        match (draft.kind, draft.reference) {
            (EntryKind::Usage, _) => {
                self.calls += 1;
                self.credits -= draft.credits;
                self.units += draft.from_allotment;
            }
            (EntryKind::Refund, Reference::Purchase(_)) => self.taken_back -= draft.credits,
            (EntryKind::Refund, Reference::None | Reference::Entry(_)) => {
                self.refunded_calls += 1;
                self.refunded_credits += draft.credits;
                self.refunded_units -= draft.from_allotment;
            }
            (EntryKind::Purchase, _) => self.purchased += draft.credits,
            (EntryKind::Grant, _) => self.granted += draft.credits,
            (EntryKind::Adjustment, _) => self.adjusted += draft.credits,
        }
    }
}

/// The sums by account of the entries after `after` up to `through`, none of which may be rolled up. The service's own
/// notes are left out.
pub(crate) fn sums_of(
    reading: &StateReader,
    after: EntryNumber,
    through: EntryNumber,
) -> Result<BTreeMap<AccountId, AccountUsage>, StateError> {
    let mut sums: BTreeMap<AccountId, AccountUsage> = BTreeMap::new();
    let mut last = after;
    let block = reading.at_or_before(StateTable::Ledger, &EntryNumber(after.0 + 1).to_key())?;
    let start = block.map_or_else(Vec::new, |(key, _)| key);
    reading.scan(StateTable::Ledger, &start, &mut |key, payload| {
        for entry in block_entries(key, payload)? {
            if entry.number <= last || entry.number > through {
                continue;
            }
            if entry.number.0 != last.0 + 1 {
                return Err(StateError::bad_record(StateTable::Ledger.name(), key));
            }
            last = entry.number;
            if entry.draft.account != SERVICE_ACCOUNT {
                sums.entry(entry.draft.account).or_default().add(&entry.draft);
            }
        }
        Ok(last < through)
    })?;
    // A sum over a part of the range would look like the sum over all of it.
    if last < through {
        return Err(StateError::bad_record(StateTable::Ledger.name(), &through.to_key()));
    }
    Ok(sums)
}

/// The last entry of the hours before `until`. None if no entry after `after` belongs to them.
///
/// Entries of two hours mix where they meet, because servers report calls a little after they were made. The hour ends
/// where the fewest entries are on the wrong side. Times after `now` come from a clock that is ahead, and do not count.
pub(crate) fn end_of_hour(
    reading: &StateReader,
    after: EntryNumber,
    until: UnixMillis,
    now: UnixMillis,
) -> Result<Option<LedgerMark>, StateError> {
    let head = LedgerHead::read(reading)?;
    // How many more entries than at the end of the ledger are on the right side, if the hour ends before this entry.
    let (mut gain, mut most) = (0_i64, 0);
    let (mut end, mut before) = (head.entries, head.entries);
    while before > after.0 {
        let Some((key, payload)) = reading.at_or_before(StateTable::Ledger, &before.to_be_bytes())? else { break };
        let entries = block_entries(&key, &payload)?;
        for entry in entries.iter().rev().filter(|entry| entry.number > after) {
            let at = entry.draft.at;
            gain += match at {
                at if at > now => 0,
                at if at >= until => 1,
                _ => -1,
            };
            if gain > most {
                (most, end) = (gain, entry.number.0 - 1);
            }
        }
        let Some(first) = entries.first().filter(|_| most - gain < LOOKED_BACK) else { break };
        before = first.number.0 - 1;
    }
    if end <= after.0 {
        return Ok(None);
    }
    let hash = hash_of(reading, EntryNumber(end))?;
    Ok(hash.map(|hash| LedgerMark { entries: end, hash }))
}
