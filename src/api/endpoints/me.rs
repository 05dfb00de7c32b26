//! `me`: the caller's account.

use std::sync::Arc;

use hornbook_accounts::error::{ChangeError, LedgerError};
use hornbook_accounts::ledger::entry::EntryKind;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::tier::{PackName, Tariff, Tier};
use hornbook_accounts::views::{AccountView, EntryView};
use schemars::JsonSchema;
use serde::Serialize;

use super::budget::BudgetReply;
use crate::api::error::ApiError;
use crate::api::operation::{CostUnit, MeteredCall, Operation, PreparedWork, Tool, ToolAnswer};
use crate::api::parameters::Param;
use crate::api::reply::Reply;
use crate::api::rows::{JSON, metered, route};
use crate::api::subject::Subject;

/// Number of ledger entries shown.
const ENTRIES: usize = 20;

pub(in crate::api) const LEDGER: Param<bool> =
    Param::with_default("ledger", "true", "false: without the latest ledger entries");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Account")]
pub(in crate::api) struct AccountReply {
    tier: Tier,
    credits_remaining: u64,
    research_allotment_remaining: u32,
    rate_limit: RateLimitReply,
    /// The budget of the calling key, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetReply>,
    /// What is left of the budget of the calling key, or of the key that created it, whichever is less. Absent without a
    /// budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_remaining: Option<u64>,
    /// The latest ledger entries, latest first. Absent if `ledger=false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<Vec<EntryReply>>,
    upgrade_options: [UpgradeOption; 3],
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RateLimit")]
struct RateLimitReply {
    requests_per_minute: u32,
    requests_per_day: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LedgerEntry")]
struct EntryReply {
    id: u64,
    /// When the entry was made. A time in UTC, in the format of RFC 3339.
    at: String,
    kind: EntryKind,
    operation: Option<String>,
    credits: i64,
    from_allotment: i64,
    balance_after: i64,
    key_prefix: Option<String>,
    note: Option<String>,
}

/// A pack that can be bought.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UpgradeOption {
    pack: PackName,
    price_cents: u32,
    credits: u32,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "me",
    subject: Subject::Account,
    summary: "Your account: tier, credits, limits, latest ledger entries, packs",
    details: Some(
        "Costs a credit like every call. With an empty wallet and no free units left it returns 402. Every paid response \
         reports the balance in its headers as well.",
    ),
    route: route("/api/v1/me", "/api/v1/me"),
    tool: Some(Tool {
        name: "account.status",
        use_for: "Use it for what is left to spend, and for limits and prices. No call needs it first.",
        older_name: None,
        defaults: &[("ledger", "false")],
        answer: ToolAnswer::Both,
    }),
    parameters: &[LEDGER.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<AccountReply>(),
    model_text: None,
    access: metered(&Scope::ALL, 1, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let (account, key, now) = (call.caller.account, call.caller.key, call.now);
    let accounts = Arc::clone(call.accounts);
    let with_ledger = call.get(&LEDGER);
    Ok(PreparedWork::heavy(move |_| {
        let view = accounts.account(account, now).map_err(|error| accounts_error(&error))?;
        let entries = with_ledger.then(|| accounts.recent_entries(account, ENTRIES)).transpose();
        let entries = entries.map_err(|error| accounts_error(&error))?;
        let reply = AccountReply {
            budget: accounts.key_budget(key, now.wall).map(BudgetReply::from),
            budget_remaining: accounts.budget_status(key, now.wall).map(|status| status.nearest.left),
            ..AccountReply::of(&view, entries, &accounts.settings().tariff)
        };
        Reply::json(&reply)
    }))
}

impl AccountReply {
    fn of(view: &AccountView, entries: Option<Vec<EntryView>>, tariff: &Tariff) -> Self {
        Self {
            tier: view.record.tier,
            credits_remaining: u64::try_from(view.remaining.wallet).unwrap_or(0),
            research_allotment_remaining: view.remaining.allotment,
            rate_limit: RateLimitReply {
                requests_per_minute: view.limits.per_minute,
                requests_per_day: view.limits.per_day,
            },
            budget: None,
            budget_remaining: None,
            ledger: entries.map(|entries| entries.into_iter().map(EntryReply::from).collect()),
            upgrade_options: PackName::ALL.map(|pack| {
                let terms = tariff.pack(pack);
                UpgradeOption { pack, price_cents: terms.price_cents, credits: terms.credits.0 }
            }),
        }
    }
}

impl From<EntryView> for EntryReply {
    fn from(entry: EntryView) -> Self {
        Self {
            id: entry.id.0,
            at: entry.at.to_string(),
            kind: entry.kind,
            operation: entry.operation,
            credits: entry.credits,
            from_allotment: entry.from_allotment,
            balance_after: entry.balance_after,
            key_prefix: entry.key_prefix,
            note: entry.note,
        }
    }
}

/// The accounts could not be read. The error is that of a ledger that cannot be written, because both are
/// in one file.
pub(super) fn accounts_error(error: &ChangeError) -> ApiError {
    match error {
        ChangeError::Ledger(error) => ApiError::from(*error),
        other => ApiError { internal: Some(other.to_string()), ..ApiError::from(LedgerError::Unavailable) },
    }
}
