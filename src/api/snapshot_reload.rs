//! Replacing the served snapshot while the service runs.
//!
//! A call uses the snapshot that is served when the call arrives, for everything in its answer. A
//! replaced snapshot [stays open for a while](super::served_snapshots), and is closed after the last answer that uses
//! it. A new snapshot is verified before it is served. If it is bad, it is refused, and the current one stays.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use hornbook_corpus::snapshot::{Snapshot, SnapshotError};
use hornbook_editions::{CompareError, shelved};
use hornbook_search::{SearchError, SynonymTable};
use serde::Serialize;

use super::corpus::Corpus;
use super::own_synonyms::{SynonymsError, read_synonyms};
use super::service::Service;
use super::shelf::Shelf;

/// The symbolic link in the data directory that points to the snapshot to serve.
pub const CURRENT: &str = "current";

/// The folder of all snapshots in the data directory.
const SNAPSHOTS: &str = "snapshots";

/// The result of a renewal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReloadResult {
    pub snapshot: String,
    /// The snapshot that was served before; the same one if there is no new one.
    pub before: String,
    /// The rows of the operator's synonyms.
    pub own_synonyms: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    #[error("there is no snapshot at {}: {source}; build one with 'hornbook build PLAN'", .link.display())]
    NoSnapshot { link: PathBuf, source: std::io::Error },
    #[error("{0}")]
    Snapshot(#[from] SnapshotError),
    #[error("{0}")]
    Search(#[from] SearchError),
    #[error("cannot read the list of shelved snapshots in {}: {source}", .data.display())]
    Shelf { data: PathBuf, source: std::io::Error },
    #[error("{0}")]
    Synonyms(#[from] SynonymsError),
    #[error("cannot compare the shelved editions: {0}; 'hornbook snapshot unshelve ID' takes one from the shelf")]
    Compare(#[from] CompareError),
}

impl Corpus {
    /// Verifies and opens the snapshot that the link in a data directory points to, and those on its shelf. `synonyms`
    /// is the operator's file of synonyms, if there is one.
    pub fn open_current(data: &Path, synonyms: Option<&Path>) -> Result<Self, CorpusError> {
        Self::open_beside(data, read_synonyms(synonyms)?, &[])
    }

    /// The same. Shelved snapshots that are already open with these synonyms are used as they are.
    fn open_beside(data: &Path, synonyms: Arc<SynonymTable>, open: &[Arc<Self>]) -> Result<Self, CorpusError> {
        let link = data.join(CURRENT);
        // Opens the snapshot itself, not the link, which may point elsewhere later.
        let dir = link.canonicalize().map_err(|source| CorpusError::NoSnapshot { link, source })?;
        let served = Arc::new(Snapshot::verify(&dir, |_| ())?);
        let mut kept = Vec::new();
        for id in shelved(data).map_err(|source| CorpusError::Shelf { data: data.to_owned(), source })? {
            if id != served.manifest.snapshot {
                let is_usable = |corpus: &&Arc<Self>| {
                    corpus.id() == id && !corpus.is_damaged() && *corpus.engine().synonyms() == synonyms
                };
                kept.push(match open.iter().find(is_usable) {
                    Some(open) => Arc::clone(open),
                    None => Arc::new(Self::open_kept(data, &id, Arc::clone(&synonyms))?),
                });
            }
        }
        let shelf = Shelf::new(data, &served, kept)?;
        Ok(Self::with_shelf(served, synonyms, shelf)?)
    }

    /// Verifies and opens another snapshot of a data directory, without a shelf.
    pub fn open_kept(data: &Path, id: &str, synonyms: Arc<SynonymTable>) -> Result<Self, CorpusError> {
        let snapshot = Snapshot::verify(&data.join(SNAPSHOTS).join(id), |_| ())?;
        Ok(Self::with_synonyms(Arc::new(snapshot), synonyms)?)
    }

    fn is_damaged(&self) -> bool {
        self.snapshot().damage().first().is_some()
    }
}

impl Service {
    /// Serves the snapshot that the link in the data directory points to now, with the synonyms that the operator's
    /// file contains now. Renewals run one at a time, so that the snapshot linked last is the one served last.
    pub fn reload_snapshot(&self, data: &Path, synonyms: Option<&Path>) -> Result<ReloadResult, CorpusError> {
        let _only = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let served = self.corpus();
        let fresh = Arc::new(Corpus::open_beside(data, read_synonyms(synonyms)?, served.shelf.kept())?);
        let snapshot = fresh.id().to_owned();
        let before = served.id().to_owned();
        let own_synonyms = fresh.engine().synonyms().rows();
        let has_same_synonyms = served.engine().synonyms() == fresh.engine().synonyms();
        // A damaged snapshot is also replaced by an undamaged copy of the same snapshot.
        let is_same = snapshot == before && !served.is_damaged() && has_same_synonyms;
        if !is_same || !served.shelved().eq(fresh.shelved()) {
            let closed = self.snapshots.write().unwrap_or_else(PoisonError::into_inner).swap(fresh, self.clock.now());
            // Only now, without the lock: closing files takes time, in which no call should wait.
            drop(closed);
            // Callers may keep it open for long; without its caches it hardly takes memory.
            served.release_memory();
        }
        Ok(ReloadResult { snapshot, before, own_synonyms })
    }

    /// The served snapshot, and the one that was served before the last swap, while it stays open.
    pub(super) fn current_and_previous(&self) -> (Arc<Corpus>, Option<Arc<Corpus>>) {
        let snapshots = self.snapshots.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(snapshots.current()), snapshots.previous(self.clock.now()).cloned())
    }

    /// Closes the snapshot that was served before, once its time is over.
    pub(super) fn close_previous(&self) {
        let closed = self.snapshots.write().unwrap_or_else(PoisonError::into_inner).take_ended(self.clock.now());
        drop(closed);
    }
}
