//! The lease of one account as this server spends it.

use std::time::Instant;

/// Units of a month's allotment, and credits of a wallet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Amounts {
    pub(crate) units: u32,
    pub(crate) credits: u32,
}

impl Amounts {
    pub(crate) fn total(self) -> u64 {
        u64::from(self.units) + u64::from(self.credits)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { units: self.units.saturating_add(other.units), credits: self.credits.saturating_add(other.credits) }
    }

    /// Never below zero.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self { units: self.units.saturating_sub(other.units), credits: self.credits.saturating_sub(other.credits) }
    }

    /// The smaller one of both parts.
    pub(crate) fn at_most(self, other: Self) -> Self {
        Self { units: self.units.min(other.units), credits: self.credits.min(other.credits) }
    }
}

/// The id that a server chose for a lease, at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LeaseId(pub(crate) u64);

#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalLease {
    pub(crate) id: LeaseId,
    pub(crate) month: i32,
    /// What calls may still hold.
    pub(crate) left: Amounts,
    /// What calls hold that are not reported yet.
    pub(crate) outstanding: Amounts,
    /// Earlier than the end by the database's clock.
    pub(crate) usable_until: Instant,
}

impl LocalLease {
    /// Takes a call from the lease, from the units first. None if it does not fit.
    pub(crate) fn take(&mut self, cost: u32) -> Option<Amounts> {
        let units = cost.min(self.left.units);
        let taken = Amounts { units, credits: cost - units };
        if taken.credits > self.left.credits {
            return None;
        }
        self.left = self.left.minus(taken);
        self.outstanding = self.outstanding.plus(taken);
        Some(taken)
    }
}
