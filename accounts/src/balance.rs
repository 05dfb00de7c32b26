//! The credits that an account can still spend, in memory: its posted wallet and allotment minus
//! the holds of calls in progress.
//!
//! A call first takes a hold, atomically over allotment and wallet. The ledger's writer then posts
//! the debit and settles the hold, or the call ends without a debit and the hold is released. At
//! any moment `spendable = posted - held`, and neither part is below zero. Of that, other servers may have
//! leased a part. There is one exception:
//! when bought credits are taken back, the wallet may become negative. It is then not spendable
//! until later credits have made up for it. This file uses only a mutex, so that a test can replace
//! it and try every interleaving.

use super::leases::local::{Amounts, LeaseId, LeaseTime, LocalLease};
use super::sync::{Mutex, MutexGuard};

/// How the cost of one call is split, and the month whose allotment it uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hold {
    pub(crate) from_allotment: u32,
    pub(crate) from_wallet: u32,
    pub(crate) month: i32,
    /// The lease from which it is taken, if it is.
    pub(crate) lease: Option<LeaseId>,
}

impl Hold {
    pub(crate) fn amounts(self) -> Amounts {
        Amounts { units: self.from_allotment, credits: self.from_wallet }
    }
}

/// Why nothing could be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HoldRefused {
    TooFew(Remaining),
    /// There are enough, but other servers have leased them.
    LeasedElsewhere,
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
    /// What other servers have leased, by month.
    elsewhere: Vec<(i32, Amounts)>,
    lease: Option<LocalLease>,
}

pub(crate) struct AccountBalance {
    contents: Mutex<BalanceState>,
}

impl AccountBalance {
    /// Creates a balance from the ledger: the posted balance, and the posted use by month.
    pub(crate) fn new(wallet: i64, months: impl IntoIterator<Item = (i32, u32)>) -> Self {
        let months = months.into_iter().map(|(month, posted)| AllotmentUse { month, posted, held: 0 }).collect();
        Self { contents: Mutex::new(BalanceState { wallet_posted: wallet, months, ..BalanceState::default() }) }
    }

    fn lock(&self) -> MutexGuard<'_, BalanceState> {
        // Panics in this file happen before any change, so the lock never guards a partial change.
        self.contents.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes `cost` from the allotment as far as possible and the rest from the wallet; all of it or nothing. With
    /// `lease_at`, from the server's lease if it covers the cost then.
    pub(crate) fn hold(
        &self,
        cost: u32,
        units: MonthlyUnits,
        lease_at: Option<LeaseTime>,
    ) -> Result<(Hold, Remaining), HoldRefused> {
        let mut contents = self.lock();
        let leased = lease_at.and_then(|now| contents.take_from_lease(cost, units, now));
        let (taken, lease) = match leased {
            Some((taken, lease)) => (taken, Some(lease)),
            None => (contents.take_unleased(cost, units)?, None),
        };
        contents.month(units.month).held += taken.units;
        contents.wallet_held += i64::from(taken.credits);
        let hold = Hold { from_allotment: taken.units, from_wallet: taken.credits, month: units.month, lease };
        Ok((hold, contents.remaining(units)))
    }

    /// Holds credits of the wallet only, for corrections by the operator.
    pub(crate) fn hold_wallet(&self, credits: u32) -> Option<Hold> {
        let mut contents = self.lock();
        let (free, own) = (contents.unleased_credits(), contents.lease.map_or(0, |lease| lease.left.credits));
        if free + i64::from(own) < i64::from(credits) {
            return None;
        }
        let spendable = u32::try_from(free.max(0)).unwrap_or(u32::MAX);
        if let Some(lease) = &mut contents.lease {
            lease.left = lease.left.minus(Amounts { units: 0, credits: credits.saturating_sub(spendable) });
        }
        contents.wallet_held += i64::from(credits);
        Some(Hold { from_allotment: 0, from_wallet: credits, month: 0, lease: None })
    }

    /// Releases the hold of a call that made no debit.
    pub(crate) fn release(&self, hold: Hold) {
        let mut contents = self.lock();
        contents.drop_hold(hold);
        if let Some(lease) = contents.lease_of(hold) {
            lease.outstanding = lease.outstanding.minus(hold.amounts());
            lease.left = lease.left.plus(hold.amounts());
        }
    }

    /// Drops the hold of a debit that is in the ledger, from which the posted balance was read since.
    pub(crate) fn forget(&self, hold: Hold) {
        let mut contents = self.lock();
        contents.drop_hold(hold);
        if let Some(lease) = contents.lease_of(hold) {
            lease.outstanding = lease.outstanding.minus(hold.amounts());
        }
    }

    /// Settles the hold of a debit that is in the ledger.
    pub(crate) fn settle(&self, hold: Hold) {
        let mut contents = self.lock();
        contents.drop_hold(hold);
        if let Some(lease) = contents.lease_of(hold) {
            lease.outstanding = lease.outstanding.minus(hold.amounts());
        }
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

    /// What other servers have leased.
    pub(crate) fn set_elsewhere(&self, leased: impl IntoIterator<Item = (i32, Amounts)>) {
        let mut contents = self.lock();
        contents.elsewhere.clear();
        contents.elsewhere.extend(leased);
    }

    pub(crate) fn lease(&self) -> Option<LocalLease> {
        self.lock().lease
    }

    /// Adds to the lease of this server, which may be new.
    pub(crate) fn grant(&self, id: LeaseId, month: i32, added: Amounts, usable_until: LeaseTime) {
        let mut contents = self.lock();
        match &mut contents.lease {
            Some(lease) if lease.id == id => {
                lease.left = lease.left.plus(added);
                lease.usable_until = usable_until;
            }
            lease => {
                *lease = Some(LocalLease { id, month, left: added, outstanding: Amounts::default(), usable_until });
            }
        }
    }

    /// Takes back what is left of the lease, up to `most`, before other calls hold it.
    pub(crate) fn take_back(&self, most: Amounts) -> Amounts {
        let mut contents = self.lock();
        let Some(lease) = &mut contents.lease else { return Amounts::default() };
        let taken = lease.left.at_most(most);
        lease.left = lease.left.minus(taken);
        taken
    }

    /// What is left of the lease follows from what the ledger has of it.
    pub(crate) fn reset_lease(&self, id: LeaseId, amounts: Amounts) {
        if let Some(lease) = self.lock().lease.as_mut().filter(|lease| lease.id == id) {
            lease.left = amounts.minus(lease.outstanding);
        }
    }

    /// The lease is over. Calls that hold some of it are late.
    pub(crate) fn end_lease(&self) {
        self.lock().lease = None;
    }

    /// Holds what a call in the journal took from an earlier lease.
    pub(crate) fn restore(&self, hold: Hold) {
        let mut contents = self.lock();
        contents.wallet_held += i64::from(hold.from_wallet);
        contents.month(hold.month).held += hold.from_allotment;
        if let Some(lease) = contents.lease_of(hold) {
            lease.outstanding = lease.outstanding.plus(hold.amounts());
        }
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

    fn take_from_lease(&mut self, cost: u32, units: MonthlyUnits, now: LeaseTime) -> Option<(Amounts, LeaseId)> {
        let lease = self.lease.filter(|lease| lease.month == units.month && now < lease.usable_until)?;
        // Credits are not spent while the account has free units.
        if cost > lease.left.units && self.unleased_units(units) > 0 {
            return None;
        }
        let lease = self.lease.as_mut()?;
        Some((lease.take(cost)?, lease.id))
    }

    /// Takes what nobody leased, and then what is left of this server's lease.
    fn take_unleased(&mut self, cost: u32, units: MonthlyUnits) -> Result<Amounts, HoldRefused> {
        let own = self.lease.map_or(Amounts::default(), |lease| {
            let of_month = if lease.month == units.month { lease.left.units } else { 0 };
            Amounts { units: of_month, ..lease.left }
        });
        let (free_units, free_credits) = (self.unleased_units(units), self.unleased_credits());
        let from_allotment = free_units.saturating_add(own.units).min(cost);
        let from_wallet = cost - from_allotment;
        // The allotment can be used even while the wallet is negative.
        if from_wallet > 0 && free_credits + i64::from(own.credits) < i64::from(from_wallet) {
            let remaining = self.remaining(units);
            let is_enough = u64::from(remaining.allotment) + remaining.credits() >= u64::from(cost);
            return Err(if is_enough { HoldRefused::LeasedElsewhere } else { HoldRefused::TooFew(remaining) });
        }
        if let Some(lease) = &mut self.lease {
            let spendable = u32::try_from(free_credits.max(0)).unwrap_or(u32::MAX);
            lease.left = lease.left.minus(Amounts {
                units: from_allotment.saturating_sub(free_units),
                credits: from_wallet.saturating_sub(spendable),
            });
        }
        Ok(Amounts { units: from_allotment, credits: from_wallet })
    }

    fn unleased_units(&self, units: MonthlyUnits) -> u32 {
        let elsewhere = self.elsewhere.iter().filter(|(month, _)| *month == units.month);
        let own = self.lease.filter(|lease| lease.month == units.month).map_or(0, |lease| lease.left.units);
        let leased: u32 = elsewhere.map(|(_, leased)| leased.units).fold(own, u32::saturating_add);
        self.allotment_left(units).saturating_sub(leased)
    }

    fn unleased_credits(&self) -> i64 {
        let elsewhere: i64 = self.elsewhere.iter().map(|(_, leased)| i64::from(leased.credits)).sum();
        let own = self.lease.map_or(0, |lease| i64::from(lease.left.credits));
        self.wallet_left() - elsewhere - own
    }

    /// The lease from which a hold was taken, if it is still this server's.
    fn lease_of(&mut self, hold: Hold) -> Option<&mut LocalLease> {
        self.lease.as_mut().filter(|lease| hold.lease == Some(lease.id))
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
