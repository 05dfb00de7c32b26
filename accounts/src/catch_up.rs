//! Takes over what other servers changed: only the changed records, or everything if it is not known which.

use std::sync::PoisonError;

use hornbook_base::clock::UnixMillis;

use super::directory::{self, Stored, lock, read_counters};
use super::idempotency::{self, RecordKey};
use super::ids::{AccountId, EntryNumber, KeyId};
use super::ledger::load::{LedgerState, calls_after};
use super::ledger::newer::NewerEntries;
use super::people::people_index::StoredPeople;
use super::records::{AccountRecord, IdempotencyRecord, KeyRecord, from_json};
use super::shared::SharedAccounts;
use crate::state::{ChangeNumber, ChangedRecord, StateError, StateReader, StateTable};

/// The tables whose records are in memory, beside those of the ledger.
const IN_MEMORY: [StateTable; 5] =
    [StateTable::Accounts, StateTable::Keys, StateTable::Sessions, StateTable::People, StateTable::Idempotency];

/// Reads the ledger's state, and puts the stored accounts, keys and retries in place of those in memory.
pub(crate) fn load_all(shared: &SharedAccounts, reading: &StateReader) -> Result<LedgerState, StateError> {
    let posted = LedgerState::load(reading)?;
    let stored = directory::read_stored(reading)?;
    let counters = read_counters(reading, &shared.directory().missing(&stored))?;
    let retries = idempotency::read_all(reading)?;
    let mut directory = shared.directory.write().unwrap_or_else(PoisonError::into_inner);
    directory.take_over(stored, &counters, &posted);
    drop(directory);
    lock(&shared.retries).reload(retries);
    shared.medium.set_mark(posted.head.mark());
    Ok(posted)
}

/// Takes over what was changed after `number`, and counts the calls that other servers charged.
pub(crate) fn catch_up(
    shared: &SharedAccounts,
    posted: &mut LedgerState,
    number: ChangeNumber,
    reading: &StateReader,
) -> Result<(), StateError> {
    let tables = [&NewerEntries::TABLES[..], &IN_MEMORY[..]].concat();
    match reading.changed_after(number, &tables)? {
        Some(changed) => NewerRecords::read(changed, posted, reading)?.apply(shared, posted, reading),
        None => {
            let calls = calls_after(reading, EntryNumber(posted.head.entries))?;
            *posted = load_all(shared, reading)?;
            count_calls(shared, calls);
            Ok(())
        }
    }
}

fn count_calls(shared: &SharedAccounts, calls: Vec<(UnixMillis, KeyId)>) {
    let directory = shared.directory();
    for (at, key) in calls {
        if let Some(key) = directory.key(key) {
            key.rate_limiter().count_elsewhere(at);
        }
    }
}

/// Changed records, read completely before the first one is taken over.
struct NewerRecords {
    entries: NewerEntries,
    stored: Stored,
    removed_accounts: Vec<AccountId>,
    removed_keys: Vec<KeyId>,
    retries: Vec<(RecordKey, Option<IdempotencyRecord>)>,
}

impl NewerRecords {
    fn read(changed: Vec<ChangedRecord>, posted: &LedgerState, reading: &StateReader) -> Result<Self, StateError> {
        let mut entries = NewerEntries::after(posted);
        let (mut accounts, mut keys): (Vec<AccountRecord>, Vec<KeyRecord>) = Default::default();
        let (mut removed_accounts, mut removed_keys, mut retries) = (Vec::new(), Vec::new(), Vec::new());
        let mut people_changed = false;
        for changed in changed {
            let ChangedRecord { table, ref key, ref record } = changed;
            let damaged = || StateError::bad_record(table.name(), key);
            match table {
                StateTable::Accounts => match record {
                    Some(record) => accounts.push(from_json(table, key, record)?),
                    None => removed_accounts.push(AccountId::from_key(key).ok_or_else(damaged)?),
                },
                StateTable::Keys => match record {
                    Some(record) => keys.push(from_json(table, key, record)?),
                    None => removed_keys.push(KeyId::from_key(key).ok_or_else(damaged)?),
                },
                StateTable::Idempotency => {
                    let record = record.as_deref().map(IdempotencyRecord::from_bytes).transpose();
                    let record = record.map_err(|_| damaged())?;
                    retries.push((key.as_slice().try_into().map_err(|_| damaged())?, record));
                }
                StateTable::Sessions | StateTable::People => people_changed = true,
                _ => entries.add(changed, posted)?,
            }
        }
        let people = if people_changed { Some(StoredPeople::read(reading)?) } else { None };
        let stored = Stored { accounts, keys, people };
        Ok(Self { entries, stored, removed_accounts, removed_keys, retries })
    }

    fn apply(self, shared: &SharedAccounts, posted: &mut LedgerState, reading: &StateReader) -> Result<(), StateError> {
        let Self { mut entries, stored, removed_accounts, removed_keys, retries } = self;
        let counters = read_counters(reading, &shared.directory().missing(&stored))?;
        let (calls, accounts, keys) = (std::mem::take(&mut entries.calls), entries.accounts(), entries.keys());
        entries.apply(posted)?;
        let mut directory = shared.directory.write().unwrap_or_else(PoisonError::into_inner);
        directory.take_over(stored, &counters, posted);
        removed_keys.into_iter().for_each(|key| directory.remove_key(key));
        removed_accounts.into_iter().for_each(|account| directory.remove_account(account));
        directory.take_over_balances(accounts, keys, posted);
        drop(directory);
        lock(&shared.retries).take_over(retries);
        shared.medium.set_mark(posted.head.mark());
        count_calls(shared, calls);
        Ok(())
    }
}
