//! The other editions of a served snapshot, and the history of a provision in them.

use std::sync::Arc;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal};
use hornbook_editions::{BodyEditions, ChangeKind, ChangedParts, CodeEdition, LawChange, ListedChange, listed};

use super::corpus::Corpus;
use super::error::ApiError;
use super::shelf::{ChangesByNode, ShelfPlace};

impl Corpus {
    /// The ids of the snapshots that are kept beside this one.
    pub fn shelved(&self) -> impl Iterator<Item = &str> {
        self.shelf.kept().iter().map(|kept| kept.id())
    }

    /// This snapshot, then those on its shelf.
    pub(super) fn with_shelved(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::once(self).chain(self.shelf.kept())
    }

    pub(crate) fn has_shelf(&self) -> bool {
        !self.shelf.kept().is_empty()
    }

    /// Differs between shelves with different editions. Empty if nothing is kept beside this snapshot.
    pub(crate) fn shelf_version(&self) -> &str {
        self.shelf.version()
    }

    /// The editions of a code body, the oldest first.
    pub(crate) fn editions(&self, body: CodeBodyId) -> Option<&BodyEditions<ShelfPlace>> {
        self.shelf.editions(body)
    }

    /// The snapshot at a place of the shelf.
    pub(crate) fn at(self: &Arc<Self>, place: ShelfPlace) -> &Arc<Self> {
        place.map_or(self, |place| &self.shelf.kept()[place])
    }

    /// The changes of a code body from one edition to the next.
    pub(crate) fn changes(&self, body: CodeBodyId, old: ShelfPlace, new: ShelfPlace) -> Option<&ChangesByNode> {
        self.shelf.changes(body, old, new)
    }

    /// The edition that answers for a day, for law of these code bodies: the one that is right for most of their
    /// provisions, and of two the newer one.
    pub(crate) fn on_day(self: &Arc<Self>, day: Day, bodies: &[CodeBodyId]) -> Arc<Self> {
        let mut votes: Vec<(u64, ShelfPlace)> = Vec::new();
        for body in bodies {
            let Some(place) = self.editions(*body).and_then(|editions| editions.on(day)) else { continue };
            let provisions = self.at(place).catalogue().code_body(*body).map_or(0, |body| u64::from(body.provisions));
            match votes.iter_mut().find(|(_, other)| *other == place) {
                Some((count, _)) => *count += provisions,
                None => votes.push((provisions, place)),
            }
        }
        let best = votes.into_iter().max_by_key(|&(count, place)| (count, place.is_none(), place));
        Arc::clone(self.at(best.and_then(|(_, place)| place)))
    }

    /// The code body of a node, also of one that only an older edition has.
    pub(crate) fn body_of_id(&self, id: NodeId) -> Option<CodeBodyId> {
        let of = |corpus: &Self| {
            let snapshot = corpus.snapshot();
            Some(snapshot.code_body_of(snapshot.ordinal(id)?)?.id)
        };
        self.in_any_edition(of)
    }

    /// Searches the served snapshot, then the shelved ones, the last shelved first.
    pub(crate) fn in_any_edition<T>(&self, find: impl Fn(&Self) -> Option<T>) -> Option<T> {
        find(self).or_else(|| self.shelf.kept().iter().rev().find_map(|kept| find(kept)))
    }

    /// The newest edition that has a node which the served one does not have.
    pub(crate) fn last_edition_with(&self, id: NodeId) -> Option<&CodeEdition> {
        let editions = self.editions(self.body_of_id(id)?)?;
        let has =
            |place: ShelfPlace| place.is_some_and(|place| self.shelf.kept()[place].snapshot().ordinal(id).is_some());
        editions.iter().rev().find(|(_, place)| has(*place)).map(|(edition, _)| edition)
    }
}

/// One edition of a provision: where it is on the shelf, and which node it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EditionOfNode {
    pub(crate) place: ShelfPlace,
    pub(crate) node: NodeOrdinal,
}

/// A provision through the editions of its code body, under whatever number.
#[derive(Debug)]
pub(crate) struct NodeHistory<'s> {
    pub(crate) body: CodeBodyId,
    /// Each edition that has it, the oldest first.
    pub(crate) editions: Vec<(&'s CodeEdition, EditionOfNode)>,
    /// Each change of it, the oldest first, with the editions before and after.
    pub(crate) changes: Vec<NodeChange<'s>>,
}

/// A change, with the editions that it is between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeChange<'s> {
    pub(crate) change: &'s LawChange,
    pub(crate) old: (&'s CodeEdition, ShelfPlace),
    pub(crate) new: (&'s CodeEdition, ShelfPlace),
}

impl NodeChange<'_> {
    /// The change as readers see it.
    pub(crate) fn listed(&self, corpus: &Arc<Corpus>) -> Result<ListedChange, ApiError> {
        let [before, now] = [self.old, self.new].map(|(edition, place)| (corpus.at(place).snapshot(), edition));
        Ok(listed(self.change, before, now)?)
    }
}

impl<'s> NodeHistory<'s> {
    /// Follows a node through all editions: forward to what it is now, and backward to what it was.
    pub(crate) fn of(corpus: &'s Arc<Corpus>, id: NodeId) -> Option<Self> {
        let body = corpus.body_of_id(id)?;
        let editions: Vec<&'s (CodeEdition, ShelfPlace)> = corpus.editions(body)?.iter().collect();
        let node_at = |at: usize| {
            let (_, place) = editions[at];
            corpus.at(*place).snapshot().ordinal(id)
        };
        let start = (0..editions.len()).rev().find(|&at| node_at(at).is_some())?;
        let mut found: Vec<Option<NodeOrdinal>> = vec![None; editions.len()];
        found[start] = node_at(start);
        let mut changes: Vec<Option<NodeChange<'s>>> = vec![None; editions.len()];
        let between = |at: usize| {
            let ((old, old_place), (new, new_place)) = (editions[at - 1], editions[at]);
            (corpus.changes(body, *old_place, *new_place), (old, *old_place), (new, *new_place))
        };
        for at in start + 1..editions.len() {
            let Some(node) = found[at - 1] else { break };
            let (listed, old, new) = between(at);
            let change = listed.and_then(|listed| listed.of_old(node));
            changes[at] = change.map(|change| NodeChange { change, old, new });
            found[at] = match change {
                Some(change) => change.new,
                None => same_node(corpus, (old.1, node), new.1),
            };
        }
        for at in (1..=start).rev() {
            let Some(node) = found[at] else { break };
            let (listed, old, new) = between(at);
            let change = listed.and_then(|listed| listed.of_new(node));
            changes[at] = change.map(|change| NodeChange { change, old, new });
            found[at - 1] = match change {
                Some(change) => change.old,
                None => same_node(corpus, (new.1, node), old.1),
            };
        }
        let editions = editions.into_iter().zip(found);
        let editions = editions
            .filter_map(|((edition, place), node)| Some((edition, EditionOfNode { place: *place, node: node? })));
        Some(Self { body, editions: editions.collect(), changes: changes.into_iter().flatten().collect() })
    }

    /// The edition that answers for a day, if it has the provision.
    pub(crate) fn on(&self, corpus: &Corpus, day: Day) -> Option<(&'s CodeEdition, EditionOfNode)> {
        let place = corpus.editions(self.body)?.on(day)?;
        self.editions.iter().find(|(_, edition)| edition.place == place).copied()
    }

    /// The newest change of its words.
    pub(crate) fn last_rewording(&self) -> Option<&NodeChange<'s>> {
        let is_rewording = |change: &&NodeChange<'_>| {
            change.change.parts.has(ChangedParts::TEXT) && change.change.kind != ChangeKind::Notes
        };
        self.changes.iter().rev().find(is_rewording)
    }
}

/// The node with the same id in another edition.
fn same_node(corpus: &Arc<Corpus>, (place, node): (ShelfPlace, NodeOrdinal), other: ShelfPlace) -> Option<NodeOrdinal> {
    let id = corpus.at(place).snapshot().outline.id(node)?;
    corpus.at(other).snapshot().ordinal(id)
}
