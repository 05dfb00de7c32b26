//! The budgets along a line of keys.
//!
//! A key may have been created by another key. Its debits also count for that key and for the keys above it, so that
//! nobody spends more by creating keys.

use hornbook_base::clock::UnixMillis;

use crate::budget::{BudgetLeft, BudgetSpent, BudgetStatus, SpendingWindow};
use crate::directory::KeyState;
use crate::ids::{EntryNumber, KeyId};

/// The keys of a line that hold the cost of a call: bit 0 is the caller's key, bit 1 the key that created it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BudgetHold(u8);

impl BudgetHold {
    fn includes(self, place: usize) -> bool {
        self.0 & 1 << place != 0
    }
}

/// Holds the cost on the budgets of a line of keys; on all of them or on none.
pub(crate) fn hold(key: &KeyState, cost: u32, at: UnixMillis) -> Result<BudgetHold, BudgetSpent> {
    let mut held = BudgetHold::default();
    for (place, holder) in key.line().enumerate() {
        match holder.spending.hold(cost, at) {
            Ok(false) => {}
            Ok(true) => held.0 |= 1 << place,
            Err(BudgetLeft { window, limit, left }) => {
                release(key, held, cost, at);
                return Err(BudgetSpent { key: holder.id, is_own: place == 0, window, limit, left });
            }
        }
    }
    Ok(held)
}

/// Whether the cost no longer fits into a budget of the line, by the spending that the ledger has now.
pub(crate) fn is_overspent(
    key: &KeyState,
    cost: u32,
    at: UnixMillis,
    spending_of: impl Fn(KeyId) -> Vec<(SpendingWindow, u64)>,
) -> bool {
    key.line().any(|holder| {
        let Some(budget) = holder.spending.budget() else { return false };
        let spending = spending_of(holder.id);
        SpendingWindow::all_at(at).into_iter().any(|window| {
            let spent = spending.iter().find(|(spent_in, _)| *spent_in == window).map_or(0, |(_, spent)| *spent);
            budget.limits.limit(window).is_some_and(|limit| spent + u64::from(cost) > limit)
        })
    })
}

/// Drops the holds of a call that made no debit.
pub(crate) fn release(key: &KeyState, hold: BudgetHold, cost: u32, at: UnixMillis) {
    let holders = key.line().enumerate().filter(|(place, _)| hold.includes(*place));
    holders.for_each(|(_, holder)| holder.spending.release(cost, at));
}

/// Settles the holds of a debit that is in the ledger.
pub(crate) fn settle(key: &KeyState, hold: BudgetHold, cost: u32, at: UnixMillis) {
    key.line().enumerate().for_each(|(place, holder)| holder.spending.settle(hold.includes(place), cost, at));
}

/// Takes back the spending of a debit whose refund is in the ledger.
pub(crate) fn give_back(key: &KeyState, debit: EntryNumber, cost: u32, at: UnixMillis) {
    key.line().for_each(|holder| holder.spending.give_back(debit, cost, at));
}

/// The status of the budgets of all keys of the line.
pub(crate) fn status(key: &KeyState, at: UnixMillis) -> Option<BudgetStatus> {
    key.line().filter_map(|holder| holder.spending.view(at)?.status).reduce(BudgetStatus::and)
}
