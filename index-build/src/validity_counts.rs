//! Counts how many wordings of a source state when they are law, and how.

use std::collections::BTreeMap;

use hornbook_corpus::outline::Status;

use crate::content::Content;

/// Counts over the wordings of the provisions of a source. Each wording is counted once, by the
/// days that its source gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidityCounts {
    pub provisions: u64,
    /// Provisions with several wordings.
    pub several: u64,
    pub wordings: u64,
    /// Wordings with only a first day.
    pub from: u64,
    /// Wordings with only a last day.
    pub to: u64,
    pub both: u64,
    /// Wordings with a statement about time that gives no days.
    pub uncertain: u64,
    pub undated: u64,
    pub statuses: BTreeMap<&'static str, u64>,
}

impl ValidityCounts {
    /// Counts the wordings of a node.
    pub(crate) fn count(&mut self, wordings: &[Content]) {
        if wordings.iter().all(|wording| wording.text.is_none()) {
            return;
        }
        self.provisions += 1;
        self.several += u64::from(wordings.len() > 1);
        for wording in wordings {
            self.wordings += 1;
            let effect = &wording.effect;
            let days = match (&effect.from, &effect.to) {
                _ if effect.uncertain => &mut self.uncertain,
                (Some(_), Some(_)) => &mut self.both,
                (Some(_), None) => &mut self.from,
                (None, Some(_)) => &mut self.to,
                (None, None) => &mut self.undated,
            };
            *days += 1;
            *self.statuses.entry(wording.status.unwrap_or(Status::InForce).as_str()).or_default() += 1;
        }
    }
}
