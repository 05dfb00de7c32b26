//! How large a lease is, and what is charged for calls that were reported after its end.

use super::local::Amounts;

/// The most that a server leases of one account. With the number of servers, it bounds what they can spend of an
/// account while the database is out of reach.
pub(crate) const LEASE_MAX: u64 = 10_000;
/// A lease is this part of what is left of the account, so that it shrinks with the balance.
const LEASE_PART: u64 = 8;
/// A smaller lease would not save a round trip.
const LEASE_LEAST: u64 = 2;

/// What an account has and nobody leased. Credits may be below zero after bought ones were taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unleased {
    pub(crate) units: u32,
    pub(crate) credits: i64,
}

impl Unleased {
    pub(crate) fn minus(self, amounts: Amounts) -> Self {
        Self { units: self.units.saturating_sub(amounts.units), credits: self.credits - i64::from(amounts.credits) }
    }

    pub(crate) fn covers(self, amounts: Amounts) -> bool {
        amounts.units <= self.units && (amounts.credits == 0 || i64::from(amounts.credits) <= self.credits)
    }

    fn spendable_credits(self) -> u64 {
        u64::try_from(self.credits).unwrap_or(0)
    }
}

/// How what is left of a lease should change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Adjustment {
    Add(Amounts),
    Return(Amounts),
    Keep,
}

/// `free` is what the server could add to what is left of its lease.
pub(crate) fn adjust(left: Amounts, free: Unleased) -> Adjustment {
    let whole = left.total() + u64::from(free.units) + free.spendable_credits();
    let target = match (whole / LEASE_PART).min(LEASE_MAX) {
        too_small if too_small < LEASE_LEAST => 0,
        target => target,
    };
    if left.total() > target {
        let surplus = left.total() - target;
        // The units are spent first, so the credits go back first.
        let credits = u32::try_from(surplus).unwrap_or(u32::MAX).min(left.credits);
        let units = u32::try_from(surplus - u64::from(credits)).unwrap_or(u32::MAX);
        return Adjustment::Return(Amounts { units, credits });
    }
    let wanted = u32::try_from(target - left.total()).unwrap_or(u32::MAX);
    // A lease that is nearly full is left as it is.
    if u64::from(wanted) * 4 < target || wanted == 0 {
        return Adjustment::Keep;
    }
    let units = wanted.min(free.units);
    let credits = u64::from(wanted - units).min(free.spendable_credits()) as u32;
    Adjustment::Add(Amounts { units, credits })
}

/// How a call is charged whose lease ended before it was reported: from what nobody leased, and the service bears the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LateCharge {
    pub(crate) from: Amounts,
    pub(crate) short: u32,
}

pub(crate) fn late_charge(cost: u32, free: Unleased) -> LateCharge {
    let units = cost.min(free.units);
    let credits = u64::from(cost - units).min(free.spendable_credits()) as u32;
    LateCharge { from: Amounts { units, credits }, short: cost - units - credits }
}
