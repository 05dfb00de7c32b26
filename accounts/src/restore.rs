//! Replaces the state with a backup.
//!
//! Access that was taken away stays taken away: keys that are revoked now, or end earlier now, and
//! accounts that are disabled now are so in the restored state too. After a restore nobody is
//! signed in, one-time links have ended, and deleted accounts stay deleted. This needs the present
//! state. If that cannot be read, the list of changes says so.

use std::path::Path;

use hornbook_base::clock::UnixMillis;

use crate::changes::remove_stored_person;
use crate::ids::AccountId;
use crate::ledger::load::{LedgerState, read_wallets};
use crate::ledger::poster::LedgerTransaction;
use crate::ledger::verify::{VerifyError, VerifyReport, verify_state};
use crate::records::{AccountRecord, AccountStatus, AuditRecord, KeyRecord, put_json, read_all_json};
use crate::state::{State, StateError, StateTable, copy};

/// A restored state.
#[derive(Debug)]
pub struct Restored {
    /// What the restore changed for accounts and keys, as text for people.
    pub changes: Vec<String>,
    pub proof: VerifyReport,
}

/// Replaces the state of a data directory with a backup. `confirm` gets the list of changes before
/// anything is changed; its error leaves everything as it was. `act` is the entry in the audit log.
pub fn restore<E: From<StateError> + From<VerifyError>>(
    data: &Path,
    backup: &Path,
    now: UnixMillis,
    act: AuditRecord,
    confirm: impl FnOnce(&[String]) -> Result<(), E>,
) -> Result<Restored, E> {
    copy::restore(data, backup, |copy, present| {
        let proof = verify_state(copy)?;
        let plan = RestorePlan::compare(copy, present, now)?;
        confirm(&plan.lines)?;
        plan.apply_to_copy(copy, act)?;
        Ok(Restored { changes: plan.lines, proof })
    })
}

/// The accounts, keys and acts of one state.
struct StateSummary {
    accounts: Vec<(AccountRecord, i64)>,
    keys: Vec<KeyRecord>,
    acts: Vec<AuditRecord>,
}

impl StateSummary {
    fn read(state: &State) -> Result<Self, StateError> {
        let reading = state.read()?;
        let wallets = read_wallets(&reading)?;
        let balance = |record: &AccountRecord| wallets.get(&record.id).map_or(0, |wallet| wallet.balance);
        let accounts: Vec<AccountRecord> = read_all_json(&reading, StateTable::Accounts)?;
        let accounts = accounts.into_iter().map(|record| (record.clone(), balance(&record))).collect();
        let (keys, acts) = (read_all_json(&reading, StateTable::Keys)?, read_all_json(&reading, StateTable::Acts)?);
        Ok(Self { accounts, keys, acts })
    }

    /// Finds the same account. The time of creation must match too, because numbers are reused after a restore.
    fn account(&self, like: &AccountRecord) -> Option<&(AccountRecord, i64)> {
        self.accounts.iter().find(|(record, _)| (record.id, record.created_at) == (like.id, like.created_at))
    }

    fn key(&self, like: &KeyRecord) -> Option<&KeyRecord> {
        self.keys.iter().find(|record| is_same_key(record, like))
    }
}

/// The changes made by the restore, as text for people, and the records that keep access taken away.
#[derive(Default)]
struct RestorePlan {
    lines: Vec<String>,
    accounts: Vec<AccountRecord>,
    keys: Vec<KeyRecord>,
    /// The accounts that were deleted.
    deleted: Vec<AccountId>,
    /// Acts since the backup; the audit log keeps them.
    acts: Vec<AuditRecord>,
}

impl RestorePlan {
    fn compare(copy: &State, present: Option<Result<State, StateError>>, now: UnixMillis) -> Result<Self, StateError> {
        let backup = StateSummary::read(copy)?;
        let mut plan = Self::default();
        match present.map(|state| state.and_then(|state| StateSummary::read(&state))) {
            None => {}
            Some(Ok(present)) => plan.compare_with(&backup, &present, now),
            Some(Err(error)) => plan.warn_unreadable_state(&backup, &error, now),
        }
        Ok(plan)
    }

    fn compare_with(&mut self, backup: &StateSummary, present: &StateSummary, now: UnixMillis) {
        for (record, balance) in &present.accounts {
            let name = account_name(record);
            match backup.account(record) {
                None => self.lines.push(format!("{name} will be lost, with {balance} credits")),
                Some((then, before)) => {
                    if before != balance {
                        self.lines.push(format!("{name} will have {before} credits instead of {balance}"));
                    }
                    self.compare_status(record, then);
                }
            }
        }
        for (record, balance) in backup.accounts.iter().filter(|(record, _)| present.account(record).is_none()) {
            self.lines.push(format!("{} will come back, with {balance} credits", account_name(record)));
        }
        for record in &present.keys {
            match backup.key(record) {
                None => self.lines.push(format!("{} is lost", key_name(record))),
                Some(then) => self.compare_key(record, then),
            }
        }
        for record in backup.keys.iter().filter(|record| present.key(record).is_none() && is_live(record, now)) {
            self.lines.push(format!("{} will come back and work again", key_name(record)));
        }
        self.acts.extend(present.acts.iter().skip(backup.acts.len()).cloned());
    }

    fn compare_status(&mut self, now: &AccountRecord, then: &AccountRecord) {
        if now.status == then.status {
            return;
        }
        let name = account_name(now);
        let [is, was] = [now.status, then.status].map(|status| format!("{status:?}").to_lowercase());
        if now.status == AccountStatus::Disabled {
            self.lines.push(format!("{name} stays disabled (in the backup it is {was})"));
            self.accounts.push(AccountRecord { status: AccountStatus::Disabled, ..then.clone() });
        } else if now.status == AccountStatus::Deleted {
            self.lines.push(format!("{name} stays deleted (in the backup it is {was})"));
            self.accounts.push(AccountRecord { status: now.status, name: now.name.clone(), ..then.clone() });
            self.deleted.push(now.id);
        } else {
            self.lines.push(format!("{name} will be {was} again (it is {is} now)"));
        }
    }

    /// Ensures that a key never works longer than it does now.
    fn compare_key(&mut self, now: &KeyRecord, then: &KeyRecord) {
        let ends_at = now.expires_at.filter(|ends_at| then.expires_at.is_none_or(|then| *ends_at < then));
        let revoked_at = now.revoked_at.filter(|_| then.revoked_at.is_none());
        if ends_at.is_none() && revoked_at.is_none() {
            return;
        }
        let name = key_name(now);
        self.lines.push(match revoked_at {
            Some(_) => format!("{name} stays revoked (in the backup it works)"),
            None => format!("{name} keeps its present expiry time (in the backup it expires later)"),
        });
        let expires_at = ends_at.or(then.expires_at);
        self.keys.push(KeyRecord { expires_at, revoked_at: revoked_at.or(then.revoked_at), ..then.clone() });
    }

    fn warn_unreadable_state(&mut self, backup: &StateSummary, error: &StateError, now: UnixMillis) {
        self.lines.push(format!(
            "the present state cannot be read ({error}): what was revoked or disabled after the backup works again; \
             revoke the keys and disable the accounts that should not"
        ));
        for record in backup.keys.iter().filter(|record| is_live(record, now)) {
            self.lines.push(format!("{} works", key_name(record)));
        }
    }

    fn apply_to_copy(&self, copy: &State, act: AuditRecord) -> Result<(), StateError> {
        let posted = LedgerState::load(&copy.read()?)?;
        let mut poster = LedgerTransaction::new(copy.write()?, &posted);
        for record in &self.accounts {
            put_json(&mut poster.writing, StateTable::Accounts, &record.id.to_key(), record)?;
        }
        for record in &self.keys {
            put_json(&mut poster.writing, StateTable::Keys, &record.id.to_key(), record)?;
        }
        // Sessions and links that ended since the backup must not work again.
        poster.writing.clear_table(StateTable::Sessions)?;
        poster.writing.clear_table(StateTable::Links)?;
        for account in &self.deleted {
            remove_stored_person(&mut poster.writing, *account)?;
        }
        self.acts.iter().cloned().for_each(|act| poster.record_act(act));
        poster.record_act(act);
        poster.commit().map(drop)
    }
}

fn account_name(record: &AccountRecord) -> String {
    format!("account {} ({})", record.id, record.name)
}

fn key_name(record: &KeyRecord) -> String {
    format!("key {} of {} ({}...)", record.id, record.account, record.prefix)
}

/// The text of a key never changes. An agent gets a new access token every hour and keeps the family of its grant.
fn is_same_key(one: &KeyRecord, other: &KeyRecord) -> bool {
    match (&one.grant, &other.grant) {
        (Some(one), Some(other)) => one.family.matches(&other.family),
        _ => one.digest.matches(&other.digest),
    }
}

fn is_live(record: &KeyRecord, now: UnixMillis) -> bool {
    record.revoked_at.is_none() && record.expires_at.is_none_or(|ends_at| now < ends_at)
}
