//! What a server that shares its ledger says of its leases, for probes and metrics.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::journal::Journal;
use super::local::{Amounts, LeaseTime, LocalLease};
use crate::Accounts;
use crate::error::LedgerError;

/// Without a lease, a server that did not reach the ledger for so long is not ready.
const REACHED_WITHIN: Duration = Duration::from_secs(5);

/// What a server has leased, and whether it reaches the ledger that it shares.
#[derive(Clone, Copy, Debug)]
pub struct LeaseStatus {
    /// Accounts of which the server has leased something.
    pub accounts: usize,
    pub units: u64,
    pub credits: u64,
    /// Calls in the journal that are not in the ledger yet.
    pub unreported: u64,
    /// Servers that share the ledger, this one included; 0 until it is known.
    pub servers: u32,
    /// Time since the ledger was last reached.
    pub not_reached: Duration,
    /// Calls that were refused because another server was faster.
    pub overtaken: u64,
    /// Credits that the service bore because calls were reported after the end of their lease.
    pub borne: u64,
}

impl Accounts {
    /// None if no other server uses the state.
    pub fn leases(&self) -> Option<LeaseStatus> {
        let journal = self.shared.journal.as_ref()?;
        let leases = self.own_leases();
        let sum = |part: fn(Amounts) -> u32| leases.iter().map(|lease| u64::from(part(lease.left))).sum();
        let servers = journal.servers.load(Ordering::Relaxed);
        Some(LeaseStatus {
            accounts: leases.len(),
            units: sum(|left| left.units),
            credits: sum(|left| left.credits),
            unreported: journal.unreported(),
            servers: if servers == u32::MAX { 0 } else { servers },
            not_reached: journal.not_reached(),
            overtaken: journal.overtaken.load(Ordering::Relaxed),
            borne: journal.borne.load(Ordering::Relaxed),
        })
    }

    /// Whether calls are answered now: from the ledger, or from a lease while it cannot be reached.
    pub fn readiness(&self) -> Result<(), LedgerError> {
        let health = self.health();
        let Some(journal) = &self.shared.journal else { return health };
        let is_late = journal.not_reached() > REACHED_WITHIN;
        if (health.is_err() || is_late) && !self.has_usable_lease(journal) {
            return Err(health.err().unwrap_or(LedgerError::Unavailable));
        }
        Ok(())
    }

    /// Whether this server does what one of those that share the state should do. During a change, two may.
    pub fn leads(&self) -> bool {
        self.shared.journal.as_ref().is_none_or(|journal| journal.leads.load(Ordering::Relaxed))
    }

    fn has_usable_lease(&self, journal: &Journal) -> bool {
        let now = LeaseTime::now();
        journal.queue.check_open().is_ok()
            && self.own_leases().iter().any(|lease| lease.left.total() > 0 && now < lease.usable_until)
    }

    fn own_leases(&self) -> Vec<LocalLease> {
        self.shared.directory().accounts().filter_map(|account| account.balance.lease()).collect()
    }
}
