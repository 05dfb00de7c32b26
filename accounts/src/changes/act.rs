//! The actor and time of a change, its record in the audit log, and limits on amounts.

use hornbook_base::clock::UnixMillis;

use crate::actor::Actor;
use crate::audit_text::{AuditPart, audit_text};
use crate::error::ChangeError;
use crate::ids::Credits;
use crate::ledger::entry::EntryNote;
use crate::ledger::poster::LedgerTransaction;
use crate::records::AuditRecord;
use crate::visible_text::VisibleText;

/// Larger amounts are typing errors; an entry could not hold much more.
pub const CREDITS_MAX: u32 = 1_000_000_000;

/// The actor and the time of a change.
#[derive(Clone, Debug)]
pub struct ActContext {
    pub actor: Actor,
    pub at: UnixMillis,
}

/// Records an act in the audit log, in the transaction of its change.
pub(crate) fn audit(
    poster: &mut LedgerTransaction<'_>,
    act: &ActContext,
    what: &'static str,
    on: &[&dyn AuditPart],
) -> Result<(), ChangeError> {
    let (at, actor) = (act.at.to_string(), act.actor.clone());
    poster.record_act(AuditRecord { at, actor, act: what.to_owned(), on: audit_text(on) });
    Ok(())
}

/// The actor and the reason, for the ledger.
pub(super) fn note(act: &ActContext, reason: String) -> Result<EntryNote, ChangeError> {
    let reason = VisibleText::new("reason", reason)?;
    Ok(EntryNote { actor: act.actor.clone().into(), reason: reason.into() })
}

pub(super) fn check_amount(credits: u64) -> Result<Credits, ChangeError> {
    let checked = u32::try_from(credits).ok().filter(|credits| (1..=CREDITS_MAX).contains(credits));
    checked.map(Credits).ok_or_else(|| {
        ChangeError::Refused(format!("the amount is {credits}; give between 1 and {CREDITS_MAX} credits"))
    })
}
