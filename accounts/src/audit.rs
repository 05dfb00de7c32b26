//! The audit log: every administrative act with its time, its actor, the action and its object. An
//! act is stored in the same commit as its change, so that neither exists without the other.

use super::Accounts;
use super::audit_text::{AuditPart, WrittenText, audit_text};
use super::changes::{ActContext, audit, no_memory_effect};
use super::error::ChangeError;
use super::records::{AuditRecord, from_json};
use crate::state::StateTable;

impl Accounts {
    /// Sets the function that is called with every act once it is durable; for the log. Only the
    /// first function is kept.
    pub fn on_act(&self, tell: impl Fn(&AuditRecord) + Send + Sync + 'static) {
        let _ = self.shared.tell_act.set(Box::new(tell));
    }

    /// Records an act that changes nothing else in the state.
    pub fn record_act(&self, act: &ActContext, what: &'static str, on: &[&dyn AuditPart]) -> Result<(), ChangeError> {
        let (act, on) = (act.clone(), audit_text(on));
        self.change(move |poster| {
            audit(poster, &act, what, &[&WrittenText(&on)])?;
            Ok(((), no_memory_effect()))
        })
    }

    /// The newest acts, in chronological order.
    pub fn acts(&self, count: usize) -> Result<Vec<AuditRecord>, ChangeError> {
        let stored = self.shared.with_reading(|reading| reading.last(StateTable::Acts, count))?;
        let acts = stored.into_iter().rev().map(|(key, payload)| from_json(StateTable::Acts, &key, &payload));
        Ok(acts.collect::<Result<_, _>>()?)
    }
}
