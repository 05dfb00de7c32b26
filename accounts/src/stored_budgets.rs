//! The budgets of keys as the state file has them, for work that reads the file and not the memory of a server.

use std::collections::HashMap;

use crate::budget::{KEYS_IN_LINE_MAX, KeyBudget};
use crate::ids::{EntryNumber, KeyId};
use crate::records::{KeyRecord, read_all_json};
use crate::state::{StateError, StateReader, StateTable};

/// The lines and budgets of all keys, as stored.
#[derive(Default)]
pub(crate) struct StoredBudgets(HashMap<KeyId, StoredLine>);

struct StoredLine {
    parent: Option<KeyId>,
    replaces: Option<KeyId>,
    budget: Option<KeyBudget>,
}

impl StoredBudgets {
    pub(crate) fn read(reading: &StateReader) -> Result<Self, StateError> {
        let keys: Vec<KeyRecord> = read_all_json(reading, StateTable::Keys)?;
        let line = |KeyRecord { id, parent, replaces, budget, .. }| (id, StoredLine { parent, replaces, budget });
        Ok(Self(keys.into_iter().map(line).collect()))
    }

    /// The keys of a key's line whose budgets count a debit.
    pub(crate) fn counted_by(&self, key: KeyId, debit: EntryNumber) -> impl Iterator<Item = KeyId> {
        let parent = |key: &KeyId| self.0.get(key)?.parent;
        let budget = |key: &KeyId| self.0.get(key)?.budget;
        let counts = move |key: &KeyId| budget(key).is_some_and(|budget| debit > budget.since);
        std::iter::successors(Some(key), parent).take(KEYS_IN_LINE_MAX).filter(counts)
    }

    /// The keys whose budget began at this entry or later, without those that took over the spending of another.
    pub(crate) fn begun_after(&self, entry: EntryNumber) -> impl Iterator<Item = (KeyId, KeyBudget)> {
        let own = self.0.iter().filter(|(_, line)| line.replaces.is_none());
        own.filter_map(|(key, line)| Some((*key, line.budget?))).filter(move |(_, budget)| budget.since >= entry)
    }
}
