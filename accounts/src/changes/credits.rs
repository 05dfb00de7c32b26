//! Credits granted and corrected by operators, with actor and reason.

use std::sync::Arc;

use super::act::{ActContext, audit, check_amount, note};
use super::run::{account, update_account_after};
use crate::Accounts;
use crate::audit_text::{AuditPart, WrittenText};
use crate::balance::Hold;
use crate::directory::AccountState;
use crate::error::ChangeError;
use crate::ids::{AccountId, Credits, EntryNumber};
use crate::job::AfterCommit;
use crate::leases::unleased::may_take;
use crate::ledger::entry::{Draft, EntryKind, Reference};
use crate::ledger::poster::LedgerTransaction;

impl Accounts {
    pub fn grant(
        &self,
        id: AccountId,
        credits: Credits,
        reason: String,
        act: &ActContext,
    ) -> Result<EntryNumber, ChangeError> {
        check_amount(credits.0.into())?;
        self.credit(id, EntryKind::Grant, credits, reason, act)
    }

    /// Corrects a balance in either direction, with a reason; never below zero.
    pub fn adjust(
        &self,
        id: AccountId,
        credits: i64,
        reason: String,
        act: &ActContext,
    ) -> Result<EntryNumber, ChangeError> {
        let amount = check_amount(credits.unsigned_abs())?;
        if credits > 0 {
            return self.credit(id, EntryKind::Adjustment, amount, reason, act);
        }
        self.debit(id, EntryKind::Adjustment, amount, Reference::None, reason, act, |_| Ok(()))
    }

    fn credit(
        &self,
        id: AccountId,
        kind: EntryKind,
        credits: Credits,
        reason: String,
        act: &ActContext,
    ) -> Result<EntryNumber, ChangeError> {
        let note = note(act, reason)?;
        let (at, act) = (act.at, act.clone());
        self.change(move |poster| {
            let record = account(poster, id)?;
            audit(poster, &act, command(kind), &[&id, &", ", &credits, &" credits: ", &WrittenText(&note.reason)])?;
            let entry = poster.append(Draft::correction(id, kind, credits.0.into(), at, Reference::None, note));
            Ok((entry.number, update_account_after(record, credits.0.into())))
        })
    }

    /// Takes credits from a wallet. They are held first, as for a call, so that the wallet cannot
    /// be overdrawn in between.
    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of one ledger entry, of a private function with two callers"
    )]
    pub(super) fn debit(
        &self,
        id: AccountId,
        kind: EntryKind,
        credits: Credits,
        reference: Reference,
        reason: String,
        act: &ActContext,
        also: impl FnOnce(&mut LedgerTransaction<'_>) -> Result<(), ChangeError> + Send + 'static,
    ) -> Result<EntryNumber, ChangeError> {
        let note = note(act, reason)?;
        let account = self.shared.directory().account(id).cloned();
        let held = HeldCredits::take(account.ok_or_else(|| ChangeError::not_found("account", id))?, credits)?;
        let (at, act, shared) = (act.at, act.clone(), Arc::clone(&self.shared));
        self.change(move |poster| {
            // Another server may have spent them after they were held.
            if !may_take(poster, &shared, &held.account, credits.0) {
                return Err(too_few(id, credits));
            }
            also(poster)?;
            let (reason, of) = (WrittenText(&note.reason), &" of ");
            let mut on: Vec<&dyn AuditPart> = match &reference {
                Reference::Purchase(purchase) => vec![purchase, of],
                _ => Vec::new(),
            };
            on.extend::<[&dyn AuditPart; 5]>([&id, &", -", &credits, &" credits: ", &reason]);
            audit(poster, &act, command(kind), &on)?;
            let entry = poster.append(Draft::correction(id, kind, -i64::from(credits.0), at, reference, note));
            let after: AfterCommit = Box::new(move |_| held.settle());
            Ok((entry.number, after))
        })
    }
}

const fn command(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Usage | EntryKind::Adjustment => "ledger adjust",
        EntryKind::Grant => "grant",
        EntryKind::Purchase => "purchase approve",
        EntryKind::Refund => "purchase refund",
    }
}

fn too_few(account: AccountId, credits: Credits) -> ChangeError {
    ChangeError::Refused(format!(
        "{account} has fewer than {credits} credits left; take fewer, or wait until the calls in progress have ended"
    ))
}

/// Credits that a change is about to take. If dropped before they are settled, they are released:
/// at once if the change is refused, and after a failed commit only when the writer has read from
/// the file whether it happened.
struct HeldCredits {
    account: Arc<AccountState>,
    hold: Option<Hold>,
}

impl HeldCredits {
    fn take(account: Arc<AccountState>, credits: Credits) -> Result<Self, ChangeError> {
        let Some(hold) = account.balance.hold_wallet(credits.0) else {
            return Err(too_few(account.id, credits));
        };
        Ok(Self { account, hold: Some(hold) })
    }

    fn settle(mut self) {
        if let Some(hold) = self.hold.take() {
            self.account.balance.settle(hold);
        }
    }
}

impl Drop for HeldCredits {
    fn drop(&mut self) {
        if let Some(hold) = self.hold.take() {
            self.account.balance.release(hold);
        }
    }
}
