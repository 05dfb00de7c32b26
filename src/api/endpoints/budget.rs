//! The budget of a key, in requests and replies.

use hornbook_accounts::budget::{Budget, BudgetView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The credits that a key may spend. A limit that is absent is no limit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BudgetLimits")]
pub(super) struct BudgetLimits {
    /// In all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<u32>,
    /// In a month (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per_month: Option<u32>,
    /// On a day (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per_day: Option<u32>,
}

impl From<BudgetLimits> for Budget {
    fn from(limits: BudgetLimits) -> Self {
        let BudgetLimits { total, per_month, per_day } = limits;
        Self { total, per_month, per_day }
    }
}

/// What a key may spend, and what it and the keys that it created have spent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Budget")]
pub(super) struct BudgetReply {
    limits: BudgetLimits,
    spent_total: u64,
    /// In this month (UTC).
    spent_in_month: u64,
    /// On this day (UTC).
    spent_on_day: u64,
    /// What is left of the limit that is nearest to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<u64>,
}

impl From<BudgetView> for BudgetReply {
    fn from(view: BudgetView) -> Self {
        let BudgetView { limits, spent_total, spent_in_month, spent_on_day, status } = view;
        let Budget { total, per_month, per_day } = limits;
        let limits = BudgetLimits { total, per_month, per_day };
        Self { limits, spent_total, spent_in_month, spent_on_day, remaining: status.map(|status| status.nearest.left) }
    }
}
