//! What of an account nobody has leased, and what of it this server may still take.

use hornbook_base::clock::Month;

use super::local::Amounts;
use super::record::{Lease, ServerId};
use super::terms::Unleased;
use crate::balance::MonthlyUnits;
use crate::directory::AccountState;
use crate::ids::AccountId;
use crate::job::Post;
use crate::ledger::poster::LedgerTransaction;
use crate::shared::SharedAccounts;

impl LedgerTransaction<'_> {
    /// What nobody but `except` has leased of an account.
    pub(crate) fn unleased(&self, account: AccountId, units: MonthlyUnits, except: Option<ServerId>) -> Unleased {
        let used = self.allotment_used(account, Month(units.month));
        let mut free = Unleased { units: units.limit.saturating_sub(used), credits: self.wallet(account).balance };
        for (server, lease) in self.leases_of(account) {
            if Some(server) != except {
                let units = if lease.month == units.month { lease.amounts.units } else { 0 };
                free = free.minus(Amounts { units, ..lease.amounts });
            }
        }
        free
    }

    /// Takes a call from its lease, if that is still in force and has enough.
    pub(super) fn draw_lease(&mut self, server: ServerId, post: &Post) -> bool {
        let (account, hold) = (post.key.account.id, post.hold.balance);
        let lease = self.lease(account, server).filter(|lease| Some(lease.id) == hold.lease);
        let Some(lease) = lease.filter(|lease| lease.amounts.at_most(hold.amounts()) == hold.amounts()) else {
            return false;
        };
        self.put_lease(account, server, Some(Lease { amounts: lease.amounts.minus(hold.amounts()), ..lease }));
        true
    }
}

/// The part of the account that this server's lease needs after the transaction.
pub(super) fn own_lease(account: &AccountState, reporting: Amounts, month: i32) -> Amounts {
    account.balance.lease().map_or(Amounts::default(), |lease| {
        let needed = lease.left.plus(lease.outstanding.minus(reporting));
        let units = if lease.month == month { needed.units } else { 0 };
        Amounts { units, ..needed }
    })
}

/// Whether a change may take credits from a wallet: other servers have not leased them. What is left of this server's own
/// lease gives way.
pub(crate) fn may_take(
    poster: &mut LedgerTransaction<'_>,
    shared: &SharedAccounts,
    account: &AccountState,
    credits: u32,
) -> bool {
    let own = shared.journal.as_ref().map(|journal| journal.server);
    let free = poster.unleased(account.id, MonthlyUnits { month: 0, limit: 0 }, own);
    let taken = Amounts { units: 0, credits };
    let needed = || own_lease(account, Amounts::default(), 0).credits;
    if !free.minus(Amounts { units: 0, credits: needed() }).covers(taken) {
        account.balance.take_back(taken);
    }
    if !free.minus(Amounts { units: 0, credits: needed() }).covers(taken) {
        shared.journal.iter().for_each(|journal| journal.recall(account.id));
        return false;
    }
    // What gave way must not come back when the leases are read again.
    if let Some((own, lease)) = own.and_then(|own| Some((own, poster.lease(account.id, own)?))) {
        let amounts = Amounts { credits: lease.amounts.credits.min(needed()), ..lease.amounts };
        poster.put_lease(account.id, own, Some(Lease { amounts, ..lease }));
    }
    true
}
