//! The snapshots that the service has open, without those on their shelves: the served one and, for a while after a swap,
//! the one before it, for callers who [pin](super::pinned_snapshot) it.

use std::sync::Arc;

use hornbook_base::clock::{Now, SteadyMicros};

use super::corpus::Corpus;

/// How long a replaced snapshot stays open.
const DRAIN_SECONDS: u64 = 600;

pub(super) struct ServedSnapshots {
    current: Arc<Corpus>,
    /// An earlier one is closed at the next swap, so that many swaps cannot fill the memory.
    previous: Option<PreviousSnapshot>,
}

/// A replaced snapshot.
pub(super) struct PreviousSnapshot {
    corpus: Arc<Corpus>,
    /// From then on it is closed.
    open_until: SteadyMicros,
}

impl PreviousSnapshot {
    fn has_ended(&self, now: Now) -> bool {
        now.steady >= self.open_until
    }
}

impl ServedSnapshots {
    pub(super) fn new(current: Arc<Corpus>) -> Self {
        Self { current, previous: None }
    }

    pub(super) fn current(&self) -> &Arc<Corpus> {
        &self.current
    }

    /// The snapshot that was served before the last swap, while it stays open.
    pub(super) fn previous(&self, now: Now) -> Option<&Arc<Corpus>> {
        self.previous.as_ref().filter(|previous| !previous.has_ended(now)).map(|previous| &previous.corpus)
    }

    /// Serves another snapshot. The caller closes what this returns.
    #[must_use]
    pub(super) fn swap(&mut self, fresh: Arc<Corpus>, now: Now) -> Option<PreviousSnapshot> {
        let replaced = std::mem::replace(&mut self.current, fresh);
        // The same snapshot with another shelf, or from undamaged files, takes the place of the replaced one.
        if replaced.id() == self.current.id() {
            return None;
        }
        let open_until = now.steady.plus_micros(DRAIN_SECONDS * 1_000_000);
        self.previous.replace(PreviousSnapshot { corpus: replaced, open_until })
    }

    /// Takes the snapshot before out, once its time is over. The caller closes it.
    #[must_use]
    pub(super) fn take_ended(&mut self, now: Now) -> Option<PreviousSnapshot> {
        self.previous.take_if(|previous| previous.has_ended(now))
    }
}
