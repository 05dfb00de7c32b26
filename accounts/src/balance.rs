//! The credits that an account can still spend, in memory: its posted wallet and allotment minus
//! the holds of calls in progress.
//!
//! A call first takes a hold, atomically over allotment and wallet. The ledger's writer then posts
//! the debit and settles the hold, or the call ends without a debit and the hold is released. At
//! any moment `spendable = posted - held`, and neither part is below zero. There is one exception:
//! when bought credits are taken back, the wallet may become negative. It is then not spendable
//! until later credits have made up for it. This file uses only a mutex, so that a test can replace
//! it and try every interleaving.

use super::sync::{Mutex, MutexGuard};

/// How the cost of one call is split, and the month whose allotment it uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hold {
    pub(crate) from_allotment: u32,
    pub(crate) from_wallet: u32,
    pub(crate) month: i32,
}

/// What is left after a hold was taken, with all other holds subtracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remaining {
    pub wallet: i64,
    pub allotment: u32,
}

impl Remaining {
    /// The credits of the wallet that can be spent.
    pub fn credits(self) -> u64 {
        u64::try_from(self.wallet).unwrap_or(0)
    }
}

/// The month of a call, and the number of free units in that month.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MonthlyUnits {
    pub(crate) month: i32,
    pub(crate) limit: u32,
}

/// The use of one month's allotment. Months are kept, so that a clock that returns to a month finds
/// its use unchanged.
#[derive(Clone, Copy, Debug)]
struct AllotmentUse {
    month: i32,
    posted: u32,
    held: u32,
}

#[derive(Default)]
struct BalanceState {
    wallet_posted: i64,
    wallet_held: i64,
    months: Vec<AllotmentUse>,
}

pub(crate) struct AccountBalance {
    contents: Mutex<BalanceState>,
}

impl AccountBalance {
    /// Creates a balance from the ledger: the posted balance, and the posted use by month.
    pub(crate) fn new(wallet: i64, months: impl IntoIterator<Item = (i32, u32)>) -> Self {
        let months = months.into_iter().map(|(month, posted)| AllotmentUse { month, posted, held: 0 }).collect();
        Self { contents: Mutex::new(BalanceState { wallet_posted: wallet, wallet_held: 0, months }) }
    }

    fn lock(&self) -> MutexGuard<'_, BalanceState> {
        // Panics in this file happen before any change, so the lock never guards a partial change.
        self.contents.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes `cost` from the allotment as far as possible and the rest from the wallet; all of it or nothing.
    pub(crate) fn hold(&self, cost: u32, units: MonthlyUnits) -> Result<(Hold, Remaining), Remaining> {
        let mut contents = self.lock();
        let from_allotment = contents.allotment_left(units).min(cost);
        let from_wallet = cost - from_allotment;
        // The allotment can be used even while the wallet is negative.
        if from_wallet > 0 && contents.wallet_left() < i64::from(from_wallet) {
            return Err(contents.remaining(units));
        }
        contents.month(units.month).held += from_allotment;
        contents.wallet_held += i64::from(from_wallet);
        let hold = Hold { from_allotment, from_wallet, month: units.month };
        Ok((hold, contents.remaining(units)))
    }

    /// Holds credits of the wallet only, for corrections by the operator.
    pub(crate) fn hold_wallet(&self, credits: u32) -> Option<Hold> {
        let mut contents = self.lock();
        if contents.wallet_left() < i64::from(credits) {
            return None;
        }
        contents.wallet_held += i64::from(credits);
        Some(Hold { from_allotment: 0, from_wallet: credits, month: 0 })
    }

    /// Releases the hold of a call that made no debit.
    pub(crate) fn release(&self, hold: Hold) {
        let mut contents = self.lock();
        contents.drop_hold(hold);
    }

    /// Settles the hold of a debit that is in the ledger.
    pub(crate) fn settle(&self, hold: Hold) {
        let mut contents = self.lock();
        contents.drop_hold(hold);
        contents.wallet_posted -= i64::from(hold.from_wallet);
        if hold.from_allotment > 0 {
            contents.month(hold.month).posted += hold.from_allotment;
        }
    }

    /// Adds credits that the ledger posted to the wallet: a grant, a purchase, a correction. A
    /// negative amount takes bought credits back, however many are left.
    pub(crate) fn add_posted(&self, credits: i64) {
        self.lock().wallet_posted += credits;
    }

    /// Returns the credits of a debit whose refund is in the ledger.
    pub(crate) fn return_posted(&self, hold: Hold) {
        let mut contents = self.lock();
        contents.wallet_posted += i64::from(hold.from_wallet);
        if hold.from_allotment > 0 {
            let month = contents.month(hold.month);
            month.posted = month.posted.saturating_sub(hold.from_allotment);
        }
    }

    /// Takes over the balances of the ledger after its file was reopened. Holds of calls in progress are kept.
    pub(crate) fn reset_posted(&self, wallet: i64, months: impl IntoIterator<Item = (i32, u32)>) {
        let mut contents = self.lock();
        contents.wallet_posted = wallet;
        for month in &mut contents.months {
            month.posted = 0;
        }
        for (month, posted) in months {
            contents.month(month).posted = posted;
        }
    }

    pub(crate) fn remaining(&self, units: MonthlyUnits) -> Remaining {
        self.lock().remaining(units)
    }
}

impl BalanceState {
    fn wallet_left(&self) -> i64 {
        self.wallet_posted - self.wallet_held
    }

    fn allotment_left(&self, units: MonthlyUnits) -> u32 {
        let used = self.months.iter().find(|use_| use_.month == units.month);
        units.limit.saturating_sub(used.map_or(0, |use_| use_.posted.saturating_add(use_.held)))
    }

    fn remaining(&self, units: MonthlyUnits) -> Remaining {
        Remaining { wallet: self.wallet_left(), allotment: self.allotment_left(units) }
    }

    fn month(&mut self, month: i32) -> &mut AllotmentUse {
        // The newest month is at the end, and nearly always the wanted one.
        let at = match self.months.iter().rposition(|use_| use_.month == month) {
            Some(at) => at,
            None => {
                self.months.push(AllotmentUse { month, posted: 0, held: 0 });
                self.months.len() - 1
            }
        };
        &mut self.months[at]
    }

    fn drop_hold(&mut self, hold: Hold) {
        let from_wallet = i64::from(hold.from_wallet);
        assert!(self.wallet_held >= from_wallet, "a hold of {from_wallet} credits was dropped twice");
        self.wallet_held -= from_wallet;
        if hold.from_allotment > 0 {
            let month = self.month(hold.month);
            assert!(month.held >= hold.from_allotment, "a hold of {} units was dropped twice", hold.from_allotment);
            month.held -= hold.from_allotment;
        }
    }
}
