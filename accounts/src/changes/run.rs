//! Runs a change on the writer's thread: how it reads and writes accounts, and its effect in memory
//! once it is durable.

use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;

use crate::error::{ChangeError, LedgerError};
use crate::ids::AccountId;
pub(crate) use crate::job::no_memory_effect;
use crate::job::{AfterCommit, Change};
use crate::ledger::poster::LedgerTransaction;
use crate::people::PersonRecord;
use crate::records::{AccountRecord, LAST_IDS_KEY, LastIds, from_json, get_json, put_json};
use crate::reply::reply_channel;
use crate::shared::SharedAccounts;
use crate::state::{StateError, StateTable, StateWriter};
use crate::{Accounts, blocking};

impl Accounts {
    pub(crate) fn change<T: Send + Sync + 'static>(
        &self,
        run: impl FnOnce(&mut LedgerTransaction<'_>) -> Result<(T, AfterCommit), ChangeError> + Send + 'static,
    ) -> Result<T, ChangeError> {
        self.shared.change(run)
    }

    /// Removes the records of a table that have expired.
    pub(super) fn remove_expired<T: DeserializeOwned>(
        &self,
        table: StateTable,
        has_expired: impl Fn(&T) -> bool,
    ) -> Result<(), ChangeError> {
        let mut expired: Vec<Vec<u8>> = Vec::new();
        self.shared.with_reading(|reading| {
            reading.scan(table, &[], &mut |key, payload| {
                let record: T = from_json(table, key, payload)?;
                expired.extend(has_expired(&record).then(|| key.to_vec()));
                Ok(true)
            })
        })?;
        if expired.is_empty() {
            return Ok(());
        }
        self.change(move |poster| {
            for key in &expired {
                poster.writing.remove(table, key)?;
            }
            Ok(((), no_memory_effect()))
        })
    }
}

impl SharedAccounts {
    /// Runs a change on the writer's thread and waits until it is durable and in effect.
    pub(crate) fn change<T: Send + Sync + 'static>(
        &self,
        run: impl FnOnce(&mut LedgerTransaction<'_>) -> Result<(T, AfterCommit), ChangeError> + Send + 'static,
    ) -> Result<T, ChangeError> {
        blocking::assert_allowed();
        let made = Arc::new(OnceLock::new());
        let makes = Arc::clone(&made);
        let (promise, ticket) = reply_channel();
        let run = Box::new(move |poster: &mut LedgerTransaction<'_>| {
            let (value, after) = run(poster)?;
            // Empty until now, because a change runs once.
            let _ = makes.set(value);
            Ok(after)
        });
        self.queue.change(Change { run, promise })?;
        ticket.wait().unwrap_or(Err(ChangeError::Ledger(LedgerError::Closed)))?;
        let made = Arc::into_inner(made).and_then(OnceLock::into_inner);
        made.ok_or(ChangeError::Ledger(LedgerError::Closed))
    }
}

pub(super) fn last_ids(poster: &LedgerTransaction<'_>) -> Result<LastIds, ChangeError> {
    Ok(get_json(&poster.writing, StateTable::Meta, LAST_IDS_KEY)?.unwrap_or_default())
}

pub(super) fn account(poster: &LedgerTransaction<'_>, id: AccountId) -> Result<AccountRecord, ChangeError> {
    get_json(&poster.writing, StateTable::Accounts, &id.to_key())?.ok_or_else(|| ChangeError::not_found("account", id))
}

pub(super) fn put_account(poster: &mut LedgerTransaction<'_>, record: &AccountRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, StateTable::Accounts, &record.id.to_key(), record)?)
}

/// Updates the account's record and balance in memory after the commit.
pub(super) fn update_account_after(record: AccountRecord, credits: i64) -> AfterCommit {
    Box::new(move |directory| {
        if let Some(state) = directory.account(record.id) {
            state.balance.add_posted(credits);
            state.replace(record);
        }
    })
}

/// Removes the name and password of an account, if it has a person.
pub(crate) fn remove_stored_person(writing: &mut StateWriter, id: AccountId) -> Result<(), StateError> {
    let person: Option<PersonRecord> = get_json(writing, StateTable::People, &id.to_key())?;
    let Some(person) = person else { return Ok(()) };
    writing.remove(StateTable::Logins, person.login.as_str().as_bytes())?;
    writing.remove(StateTable::People, &id.to_key())
}
