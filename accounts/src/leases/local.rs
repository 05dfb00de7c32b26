//! The lease of one account as this server spends it.

use std::ops::Add;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

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

/// A time since the start of the machine, by the clock of this server that goes on while it sleeps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct LeaseTime(Duration);

impl LeaseTime {
    pub(crate) fn now() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        Self(Duration::new(now.tv_sec.max(0).unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0)))
    }
}

impl Add<Duration> for LeaseTime {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0 + time)
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
    pub(crate) usable_until: LeaseTime,
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
