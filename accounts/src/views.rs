//! Views of the state for operators and account owners.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hornbook_base::clock::{Now, UnixMillis};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use super::Accounts;
use super::balance::{MonthlyUnits, Remaining};
use super::budget::{BudgetStatus, BudgetView};
use super::error::ChangeError;
use super::ids::{AccountId, CheckoutId, EntryNumber, KeyId, OrderId};
use super::ledger::entry::{Entry, EntryKind, OperationCode};
use super::ledger::load::{entries_after, entries_from, newest_entries, read_operations};
use super::ledger::verify::{VerifyError, VerifyReport, verify_state};
use super::line_budgets;
use super::rate_limit::RateLimits;
use super::records::{
    AccountRecord, CheckoutRecord, KeyRecord, OrderRecord, PurchaseRecord, all_from_json, read_all_json, read_json,
};
use crate::state::{Index, StateTable, copy};

/// An account and the credits it can spend.
#[derive(Clone, Debug)]
pub struct AccountView {
    pub record: AccountRecord,
    pub remaining: Remaining,
    pub monthly_units: u32,
    pub limits: RateLimits,
}

/// A key as its owner and the operator see it.
#[derive(Clone, Debug)]
pub struct KeyView {
    pub record: KeyRecord,
    pub last_used: Option<UnixMillis>,
}

/// A ledger entry.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    pub id: EntryNumber,
    #[serde(serialize_with = "as_text")]
    pub at: UnixMillis,
    pub kind: EntryKind,
    pub operation: Option<String>,
    pub credits: i64,
    pub from_allotment: i64,
    pub balance_after: i64,
    pub key_prefix: Option<String>,
    pub note: Option<String>,
    /// Who made the entry; for operators only.
    #[serde(skip)]
    pub actor: Option<String>,
    /// The account's previous entry, where the next page begins.
    #[serde(skip)]
    pub previous: Option<EntryNumber>,
}

impl Accounts {
    /// An account. The holds of calls in progress are already subtracted.
    pub fn account(&self, id: AccountId, now: Now) -> Result<AccountView, ChangeError> {
        let directory = self.shared.directory();
        let state = directory.account(id).ok_or_else(|| ChangeError::not_found("account", id))?;
        let record = state.record();
        let tariff = &self.settings().tariff;
        let limit = tariff.monthly_units(record.company_formed);
        let remaining = state.balance.remaining(MonthlyUnits { month: now.wall.month().0, limit });
        Ok(AccountView { limits: tariff.limits(record.tier), monthly_units: limit, record, remaining })
    }

    pub fn accounts(&self, now: Now) -> Result<Vec<AccountView>, ChangeError> {
        let mut ids: Vec<AccountId> = self.shared.directory().accounts().map(|state| state.id).collect();
        ids.sort_unstable();
        ids.into_iter().map(|id| self.account(id, now)).collect()
    }

    /// The keys of one account, or of all accounts.
    pub fn keys(&self, account: Option<AccountId>) -> Vec<KeyView> {
        let directory = self.shared.directory();
        let wanted = directory.keys().filter(|key| account.is_none_or(|account| key.account.id == account));
        // Records are copied after the lock is released, because calls wait for it.
        let wanted: Vec<_> = wanted.cloned().collect();
        drop(directory);
        let mut keys: Vec<KeyView> = wanted
            .into_iter()
            .map(|key| {
                let last_used = Some(key.last_used()).filter(|at| *at > UnixMillis(0));
                KeyView { record: key.record(), last_used }
            })
            .collect();
        keys.sort_unstable_by_key(|key| key.record.id);
        keys
    }

    /// The budget of a key and what is spent of it, calls in progress included; none if it has no budget.
    pub fn key_budget(&self, id: KeyId, now: UnixMillis) -> Option<BudgetView> {
        self.shared.directory().key(id)?.spending.view(now)
    }

    /// The keys that a key created, and the keys that they created, oldest first.
    pub fn keys_below(&self, id: KeyId) -> Vec<KeyRecord> {
        let directory = self.shared.directory();
        let below = directory.keys().filter(|key| key.line().skip(1).any(|above| above.id == id));
        let below: Vec<_> = below.cloned().collect();
        drop(directory);
        let mut records: Vec<KeyRecord> = below.into_iter().map(|key| key.record()).collect();
        records.sort_unstable_by_key(|record| record.id);
        records
    }

    /// What is left of the budget of a key, or of a key above it, that is nearest to its end.
    pub fn budget_status(&self, id: KeyId, now: UnixMillis) -> Option<BudgetStatus> {
        let directory = self.shared.directory();
        let key = Arc::clone(directory.key(id)?);
        drop(directory);
        line_budgets::status(&key, now)
    }

    pub(crate) fn key_count(&self, account: AccountId) -> usize {
        self.shared.directory().keys().filter(|key| key.account.id == account).count()
    }

    pub fn key_record(&self, id: KeyId) -> Result<KeyRecord, ChangeError> {
        let directory = self.shared.directory();
        directory.key(id).map(|key| key.record()).ok_or_else(|| ChangeError::not_found("key", id))
    }

    /// An account's newest purchases, newest first.
    pub fn newest_purchases(&self, account: AccountId, count: usize) -> Result<Vec<PurchaseRecord>, ChangeError> {
        let (index, owner) = (Index::Purchases, account.to_string());
        let found = self.shared.with_reading(|reading| reading.newest_owned_by(index, &owner, count))?;
        Ok(all_from_json(index, &found)?)
    }

    /// The purchases that wait for their payment, in the order of their requests.
    pub fn waiting_purchases(&self) -> Result<Vec<PurchaseRecord>, ChangeError> {
        let mut found: Vec<PurchaseRecord> = self.indexed(Index::WaitingPurchases)?;
        found.sort_by_key(|purchase| purchase.id);
        Ok(found)
    }

    /// The checkouts with a problem that the operator must look at, oldest first.
    pub fn payment_problems(&self) -> Result<Vec<CheckoutRecord>, ChangeError> {
        let mut found: Vec<CheckoutRecord> = self.indexed(Index::PaymentProblems)?;
        found.sort_by_key(|checkout| checkout.opened_at);
        Ok(found)
    }

    /// The orders that are not completed. The order that has been in its stage for the longest time
    /// is the first.
    pub fn open_orders(&self) -> Result<Vec<OrderRecord>, ChangeError> {
        let mut found: Vec<OrderRecord> = self.indexed(Index::OpenOrders)?;
        found.sort_by_key(|order| order.stages.last().map(|reached| reached.at));
        Ok(found)
    }

    fn indexed<T: DeserializeOwned>(&self, index: Index) -> Result<Vec<T>, ChangeError> {
        let found = self.shared.with_reading(|reading| reading.indexed(index))?;
        Ok(all_from_json(index, &found)?)
    }

    pub fn purchases(&self) -> Result<Vec<PurchaseRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_all_json(reading, StateTable::Purchases))?)
    }

    pub fn checkout(&self, id: CheckoutId) -> Result<Option<CheckoutRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_json(reading, StateTable::Checkouts, id.0.as_bytes()))?)
    }

    pub fn checkouts(&self) -> Result<Vec<CheckoutRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_all_json(reading, StateTable::Checkouts))?)
    }

    pub fn orders(&self) -> Result<Vec<OrderRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_all_json(reading, StateTable::Orders))?)
    }

    pub fn order(&self, id: OrderId) -> Result<Option<OrderRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_json(reading, StateTable::Orders, id.0.as_bytes()))?)
    }

    /// Writes a consistent copy of the state that verifies to a new file, or nothing; debits continue
    /// meanwhile.
    pub fn back_up(&self, to: &Path) -> Result<VerifyReport, VerifyError> {
        let part = self.shared.with_reading(|reading| copy::write_temporary(reading, to))?;
        copy::check_and_rename(&part, to, verify_state)
    }

    /// An account's newest ledger entries, newest first, without the entries that were rolled up.
    pub fn recent_entries(&self, account: AccountId, count: usize) -> Result<Vec<EntryView>, ChangeError> {
        self.entries_from(account, None, count)
    }

    /// Like [`Self::recent_entries`], from a given entry on; for pages of a list.
    pub fn entries_from(
        &self,
        account: AccountId,
        from: Option<EntryNumber>,
        count: usize,
    ) -> Result<Vec<EntryView>, ChangeError> {
        let (entries, operations) = self.shared.with_reading(|reading| {
            let entries = match from {
                Some(from) => entries_from(reading, account, from, count)?,
                None => newest_entries(reading, account, count)?,
            };
            Ok((entries, read_operations(reading)?))
        })?;
        Ok(self.views_of(entries, &operations))
    }

    /// The newest of the entries after a given one, newest first.
    pub fn entries_after(
        &self,
        account: AccountId,
        after: EntryNumber,
        count: usize,
    ) -> Result<Vec<EntryView>, ChangeError> {
        let (entries, operations) = self
            .shared
            .with_reading(|reading| Ok((entries_after(reading, account, after, count)?, read_operations(reading)?)))?;
        Ok(self.views_of(entries, &operations))
    }

    fn views_of(&self, entries: Vec<Entry>, operations: &BTreeMap<OperationCode, String>) -> Vec<EntryView> {
        let view = |entry: Entry| {
            let draft = entry.draft;
            let (actor, note) = draft.note.map(|note| (note.actor, note.reason)).unzip();
            EntryView {
                id: entry.number,
                at: draft.at,
                kind: draft.kind,
                operation: draft.operation.and_then(|code| operations.get(&code).cloned()),
                credits: draft.credits,
                from_allotment: draft.from_allotment,
                balance_after: entry.balance_after,
                key_prefix: draft.key.and_then(|key| self.key_record(key).ok()).map(|key| key.prefix),
                note,
                actor,
                previous: entry.previous,
            }
        };
        entries.into_iter().map(view).collect()
    }
}

fn as_text<S: Serializer>(at: &UnixMillis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}
