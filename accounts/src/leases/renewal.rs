//! The lease of one account as a transaction leaves it: taken, made larger or smaller, renewed or returned.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hornbook_base::clock::UnixMillis;

use super::local::{Amounts, LeaseId};
use super::record::{Lease, ServerId};
use super::terms::{Adjustment, adjust};
use super::unleased::own_lease;
use crate::balance::MonthlyUnits;
use crate::directory::AccountState;
use crate::entropy::{Entropy, SystemEntropy};
use crate::ids::AccountId;
use crate::ledger::poster::LedgerTransaction;
use crate::state::StateError;

/// An account whose lease a transaction looks at.
pub(super) struct Touched {
    pub(super) account: Arc<AccountState>,
    pub(super) units: MonthlyUnits,
    pub(super) may_lease: bool,
    /// What this transaction reports of the lease.
    pub(super) reporting: Amounts,
    pub(super) returns: bool,
}

/// The account among those that a transaction looks at, in the latest month.
pub(super) fn touch<'t>(
    touched: &'t mut BTreeMap<AccountId, Touched>,
    account: &Arc<AccountState>,
    units: MonthlyUnits,
) -> &'t mut Touched {
    let entry = touched.entry(account.id).or_insert_with(|| Touched {
        account: Arc::clone(account),
        units,
        may_lease: false,
        reporting: Amounts::default(),
        returns: false,
    });
    if units.month > entry.units.month {
        entry.units = units;
    }
    entry
}

pub(super) enum Renewed {
    Granted { id: LeaseId, month: i32, added: Amounts },
    Ended,
    Nothing,
}

/// Writes the lease of an account as it is needed from now on.
pub(super) fn renew_one(
    poster: &mut LedgerTransaction<'_>,
    touched: &Touched,
    server: ServerId,
    ends_at: UnixMillis,
) -> Result<Renewed, StateError> {
    let (id, balance) = (touched.account.id, &touched.account.balance);
    let stored = poster.lease(id, server);
    let local = balance.lease().filter(|lease| stored.is_some_and(|stored| stored.id == lease.id));
    let Some(lease) = local else {
        // The lease of an earlier run of this server is returned.
        poster.put_lease(id, server, None);
        if !touched.may_lease {
            return Ok(Renewed::Nothing);
        }
        let free = poster.unleased(id, touched.units, Some(server));
        let Adjustment::Add(added) = adjust(Amounts::default(), free) else { return Ok(Renewed::Nothing) };
        let (lease, month) = (new_lease_id()?, touched.units.month);
        poster.put_lease(id, server, Some(Lease { id: lease, month, amounts: added, ends_at, is_recalled: false }));
        return Ok(Renewed::Granted { id: lease, month, added });
    };
    let returns = touched.returns || lease.month != touched.units.month;
    let free = poster.unleased(id, touched.units, Some(server));
    let free = free.minus(own_lease(&touched.account, touched.reporting, touched.units.month));
    let mut added = Amounts::default();
    if returns {
        balance.take_back(Amounts { units: u32::MAX, credits: u32::MAX });
    } else {
        match adjust(lease.left, free) {
            Adjustment::Add(more) => added = more,
            Adjustment::Return(surplus) => drop(balance.take_back(surplus)),
            Adjustment::Keep => {}
        }
    }
    let needed = own_lease(&touched.account, touched.reporting, lease.month);
    let amounts = needed.plus(added);
    if amounts.total() == 0 {
        poster.put_lease(id, server, None);
        return Ok(Renewed::Ended);
    }
    let is_recalled = false;
    poster.put_lease(id, server, Some(Lease { id: lease.id, month: lease.month, amounts, ends_at, is_recalled }));
    Ok(Renewed::Granted { id: lease.id, month: lease.month, added })
}

/// How long a lease is used: shorter than it lasts, because clocks do not run at the same speed.
pub(super) fn usable_for(lease_millis: i64) -> Duration {
    Duration::from_millis((lease_millis - lease_millis / 20).max(0).unsigned_abs())
}

fn new_lease_id() -> Result<LeaseId, StateError> {
    let mut bytes = [0; 8];
    let filled = SystemEntropy.fill(&mut bytes);
    filled.map_err(|e| StateError::file("read random bytes from", Path::new("/dev/urandom"), e))?;
    Ok(LeaseId(u64::from_le_bytes(bytes)))
}
