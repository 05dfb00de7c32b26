//! The editions of the law that are kept beside the served snapshot, and what changed between them.
//!
//! A shelf belongs to one served snapshot, so a call that has the snapshot has its shelf. The editions of each code
//! body are in the order of their days, whatever the order in which the snapshots were shelved.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hornbook_base::hex;
use hornbook_corpus::ids::{CodeBodyId, NodeOrdinal};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::{BodyEditions, CodeEdition, CompareError, LawChange, changes_between};
use sha2::{Digest, Sha256};

/// The place of an edition on the shelf; `None` is the served snapshot.
pub(crate) type ShelfPlace = Option<usize>;

/// What is kept beside the served snapshot. `Kept` is an open edition.
pub(super) struct Shelf<Kept> {
    kept: Vec<Arc<Kept>>,
    bodies: HashMap<CodeBodyId, BodyEditions<ShelfPlace>>,
    changes: HashMap<(CodeBodyId, ShelfPlace, ShelfPlace), ChangesByNode>,
    version: String,
}

/// The changes of a code body from one edition to the next, with the first change of each node in both.
pub(crate) struct ChangesByNode {
    changes: Vec<LawChange>,
    by_old: HashMap<NodeOrdinal, u32>,
    by_new: HashMap<NodeOrdinal, u32>,
}

impl ChangesByNode {
    fn new(changes: Vec<LawChange>) -> Self {
        let (mut by_old, mut by_new) = (HashMap::new(), HashMap::new());
        for (change, place) in changes.iter().zip(0..) {
            change.old.map(|node| *by_old.entry(node).or_insert(place));
            change.new.map(|node| *by_new.entry(node).or_insert(place));
        }
        Self { changes, by_old, by_new }
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, LawChange> {
        self.changes.iter()
    }

    /// The change of a node of the older edition.
    pub(crate) fn of_old(&self, node: NodeOrdinal) -> Option<&LawChange> {
        Some(&self.changes[*self.by_old.get(&node)? as usize])
    }

    /// The change of a node of the newer edition.
    pub(crate) fn of_new(&self, node: NodeOrdinal) -> Option<&LawChange> {
        Some(&self.changes[*self.by_new.get(&node)? as usize])
    }
}

impl<Kept: AsRef<Snapshot>> Shelf<Kept> {
    /// An empty shelf.
    pub(super) fn alone(served: &Snapshot) -> Self {
        let bodies = editions_of::<Kept>(&[], served);
        Self { kept: Vec::new(), bodies, changes: HashMap::new(), version: String::new() }
    }

    /// Orders the editions and compares each with the next, or reads what was compared before.
    pub(super) fn new(data: &Path, served: &Snapshot, kept: Vec<Arc<Kept>>) -> Result<Self, CompareError> {
        let bodies = editions_of(&kept, served);
        let mut pairs: Vec<(ShelfPlace, ShelfPlace)> = Vec::new();
        for editions in bodies.values() {
            pairs.extend(editions.pairs().map(|((_, old), (_, new))| (*old, *new)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let snapshot_at = |place: ShelfPlace| place.map_or(served, |place| (*kept[place]).as_ref());
        let mut changes = HashMap::new();
        for (old, new) in pairs {
            let is_next = |body: CodeBodyId| {
                let editions = bodies.get(&body);
                editions
                    .is_some_and(|editions| editions.pairs().any(|((_, one), (_, next))| (*one, *next) == (old, new)))
            };
            for of_body in changes_between(data, snapshot_at(old), snapshot_at(new), |_| ())? {
                if is_next(of_body.body) {
                    changes.insert((of_body.body, old, new), ChangesByNode::new(of_body.changes));
                }
            }
        }
        let version = version_of(served, &kept);
        Ok(Self { kept, bodies, changes, version })
    }

    /// The kept editions, in the order in which they were shelved.
    pub(super) fn kept(&self) -> &[Arc<Kept>] {
        &self.kept
    }

    /// The editions of a code body, the oldest first.
    pub(super) fn editions(&self, body: CodeBodyId) -> Option<&BodyEditions<ShelfPlace>> {
        self.bodies.get(&body)
    }

    /// The changes of a code body from one edition to the next.
    pub(super) fn changes(&self, body: CodeBodyId, old: ShelfPlace, new: ShelfPlace) -> Option<&ChangesByNode> {
        self.changes.get(&(body, old, new))
    }

    /// Differs between shelves with different editions. Empty if nothing is kept beside the served snapshot.
    pub(super) fn version(&self) -> &str {
        &self.version
    }
}

fn version_of<Kept: AsRef<Snapshot>>(served: &Snapshot, kept: &[Arc<Kept>]) -> String {
    if kept.is_empty() {
        return String::new();
    }
    let mut hasher = Sha256::new();
    for snapshot in kept.iter().map(|kept| (**kept).as_ref()).chain([served]) {
        hasher.update(snapshot.manifest.snapshot.as_bytes());
    }
    hex::encode(&hasher.finalize()[..6])
}

/// The editions of each code body, in the order of their days.
fn editions_of<Kept: AsRef<Snapshot>>(
    kept: &[Arc<Kept>],
    served: &Snapshot,
) -> HashMap<CodeBodyId, BodyEditions<ShelfPlace>> {
    let mut found: HashMap<CodeBodyId, Vec<(CodeEdition, ShelfPlace)>> = HashMap::new();
    let kept = kept.iter().zip(0..).map(|(kept, place)| ((**kept).as_ref(), Some(place)));
    for (snapshot, place) in kept.chain([(served, None)]) {
        for body in &snapshot.catalogue.code_bodies {
            found.entry(body.id).or_default().push((CodeEdition::of(snapshot, body), place));
        }
    }
    found.into_iter().map(|(body, editions)| (body, BodyEditions::new(editions))).collect()
}
