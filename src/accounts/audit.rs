//! The audit log: every administrative act with its time, who did it, what, and on what. An act is stored in the commit
//! of its own change, so that neither is there without the other.

use serde::{Deserialize, Serialize};

use super::Accounts;
use super::changes::{Act, nothing_more, record};
use super::error::ChangeError;
use super::records::from_json;
use crate::state::Table;

/// One line of the audit log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActRecord {
    /// RFC 3339, UTC.
    pub at: String,
    pub actor: String,
    /// In the words of the command line.
    pub act: String,
    /// What it was done to, with amounts and reasons.
    pub on: String,
}

pub(super) type TellAct = dyn Fn(&ActRecord) + Send + Sync;

impl Accounts {
    /// Hears of every act once it is durable; for the log. Only the first listener counts.
    pub fn on_act(&self, tell: impl Fn(&ActRecord) + Send + Sync + 'static) {
        let _ = self.shared.tell_act.set(Box::new(tell));
    }

    /// Records an act that changes nothing else in the state.
    pub fn record_act(&self, act: &Act, what: &'static str, on: String) -> Result<(), ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            record(poster, &act, what, on)?;
            Ok(((), nothing_more()))
        })
    }

    /// The newest acts, in the order in which they were done.
    pub fn acts(&self, count: usize) -> Result<Vec<ActRecord>, ChangeError> {
        let stored = self.shared.with_reading(|reading| reading.last(Table::Acts, count))?;
        let acts = stored.into_iter().rev().map(|(key, payload)| from_json(Table::Acts, &key, &payload));
        Ok(acts.collect::<Result<_, _>>()?)
    }
}
