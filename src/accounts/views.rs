//! What operators and account owners see.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::Accounts;
use super::error::ChangeError;
use super::ids::{AccountId, Credits, EntryNumber, KeyId, OrderId};
use super::key::KeyDigest;
use super::ledger::entry::{Entry, EntryKind};
use super::ledger::load::{newest_entries, read_operations};
use super::pace::PaceLimits;
use super::purse::{MonthlyUnits, Remaining};
use super::records::{
    AccountRecord, AccountStatus, KeyRecord, OrderRecord, PurchaseRecord, SessionRecord, read_all_json, read_json,
};
use super::tier::{PackName, Tier};
use crate::clock::{Now, UnixMillis};
use crate::state::{StateError, Table};

/// An account with what it can spend.
#[derive(Clone, Debug)]
pub struct AccountView {
    pub record: AccountRecord,
    pub remaining: Remaining,
    pub monthly_units: u32,
    pub limits: PaceLimits,
}

/// A key as its owner and the operator see it.
#[derive(Clone, Debug)]
pub struct KeyView {
    pub record: KeyRecord,
    pub last_used: Option<UnixMillis>,
}

/// A pack that can be bought.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeOption {
    pub pack: PackName,
    pub price_cents: u32,
    #[schemars(with = "u32")]
    pub credits: Credits,
}

/// A ledger entry as its account sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LedgerEntry")]
pub struct EntryView {
    #[schemars(with = "u64")]
    pub id: EntryNumber,
    /// RFC 3339, UTC.
    pub at: String,
    pub kind: EntryKind,
    pub operation: Option<String>,
    pub credits: i64,
    pub from_allotment: i64,
    pub balance_after: i64,
    pub key_prefix: Option<String>,
    pub note: Option<String>,
}

/// What an account is told about itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Account")]
pub struct Me {
    pub tier: Tier,
    pub credits_remaining: u64,
    pub research_allotment_remaining: u32,
    pub rate_limit: RateLimitView,
    /// The newest entries, newest first.
    pub ledger: Vec<EntryView>,
    pub upgrade_options: [UpgradeOption; 3],
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RateLimit")]
pub struct RateLimitView {
    pub requests_per_minute: u32,
    pub requests_per_day: u32,
}

impl Accounts {
    /// The account with its newest ledger entries. What the call that asks holds is already taken off.
    pub fn me(&self, id: AccountId, entries: usize, now: Now) -> Result<Me, ChangeError> {
        let view = self.account(id, now)?;
        let PaceLimits { per_minute, per_day } = view.limits;
        Ok(Me {
            tier: view.record.tier,
            credits_remaining: u64::try_from(view.remaining.wallet).unwrap_or(0),
            research_allotment_remaining: view.remaining.allotment,
            rate_limit: RateLimitView { requests_per_minute: per_minute, requests_per_day: per_day },
            ledger: self.recent_entries(id, entries)?,
            upgrade_options: self.upgrade_options(),
        })
    }

    pub fn account(&self, id: AccountId, now: Now) -> Result<AccountView, ChangeError> {
        let directory = self.shared.directory();
        let state = directory.account(id).ok_or_else(|| ChangeError::not_found("account", id))?;
        let record = state.record();
        let tariff = &self.settings().tariff;
        let limit = tariff.monthly_units(record.company_formed);
        let remaining = state.purse.remaining(MonthlyUnits { month: now.wall.month().0, limit });
        Ok(AccountView { limits: tariff.limits(record.tier), monthly_units: limit, record, remaining })
    }

    pub fn accounts(&self, now: Now) -> Result<Vec<AccountView>, ChangeError> {
        let mut ids: Vec<AccountId> = self.shared.directory().accounts().map(|state| state.id).collect();
        ids.sort_unstable();
        ids.into_iter().map(|id| self.account(id, now)).collect()
    }

    /// The keys of one account, or all.
    pub fn keys(&self, account: Option<AccountId>) -> Vec<KeyView> {
        let directory = self.shared.directory();
        let wanted = directory.keys().filter(|key| account.is_none_or(|account| key.account.id == account));
        let mut keys: Vec<KeyView> = wanted
            .map(|key| {
                let last_used = Some(key.last_used()).filter(|at| *at > UnixMillis(0));
                KeyView { record: key.record(), last_used }
            })
            .collect();
        keys.sort_unstable_by_key(|key| key.record.id);
        keys
    }

    pub fn key_record(&self, id: KeyId) -> Result<KeyRecord, ChangeError> {
        let directory = self.shared.directory();
        directory.key(id).map(|key| key.record()).ok_or_else(|| ChangeError::not_found("key", id))
    }

    pub fn purchases(&self) -> Result<Vec<PurchaseRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_all_json(reading, Table::Purchases))?)
    }

    pub fn orders(&self) -> Result<Vec<OrderRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_all_json(reading, Table::Orders))?)
    }

    pub fn order(&self, id: OrderId) -> Result<Option<OrderRecord>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_json(reading, Table::Orders, id.0.as_bytes()))?)
    }

    /// The session behind a token, unless it has expired or its account is shut out.
    pub fn session(&self, token: KeyDigest, now: Now) -> Result<Option<SessionRecord>, ChangeError> {
        let found: Option<SessionRecord> =
            self.shared.with_reading(|reading| read_json(reading, Table::Sessions, token.bytes()))?;
        let Some(session) = found.filter(|session| now.wall < session.expires_at) else { return Ok(None) };
        let directory = self.shared.directory();
        let status = directory.account(session.account).map(|account| account.record().status);
        Ok(Some(session).filter(|_| status.is_some_and(|status| status != AccountStatus::Disabled)))
    }

    /// One consistent moment of the state in a file beside `to`; debits go on meanwhile.
    pub(crate) fn write_backup(&self, to: &Path) -> Result<PathBuf, StateError> {
        self.shared.with_reading(|reading| crate::state::copy::write_part(reading, to))
    }

    pub fn upgrade_options(&self) -> [UpgradeOption; 3] {
        PackName::ALL.map(|pack| {
            let terms = self.settings().tariff.pack(pack);
            UpgradeOption { pack, price_cents: terms.price_cents, credits: terms.credits }
        })
    }

    /// An account's newest ledger entries, newest first; entries that were rolled up are not among them.
    pub fn recent_entries(&self, account: AccountId, count: usize) -> Result<Vec<EntryView>, ChangeError> {
        let (entries, operations) = self
            .shared
            .with_reading(|reading| Ok((newest_entries(reading, account, count)?, read_operations(reading)?)))?;
        let view = |entry: Entry| {
            let draft = entry.draft;
            EntryView {
                id: entry.number,
                at: draft.at.to_string(),
                kind: draft.kind,
                operation: draft.operation.and_then(|code| operations.get(&code).cloned()),
                credits: draft.credits,
                from_allotment: draft.from_allotment,
                balance_after: entry.balance_after,
                key_prefix: draft.key.and_then(|key| self.key_record(key).ok()).map(|key| key.prefix),
                note: draft.note.map(|note| note.reason),
            }
        };
        Ok(entries.into_iter().map(view).collect())
    }
}
