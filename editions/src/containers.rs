//! What is said of titles, chapters and other containers: that they are new or missing only if their law is.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;

use crate::change::{ChangeKind, LawChange};
use crate::compare::BodyPair;

/// Provisions of which one edition has no counterpart, with what is said of them, in ascending order.
struct Unpaired(Vec<(NodeOrdinal, ChangeKind)>);

/// The node of a change in one edition, and its counterpart in the other.
type ChangeSides = fn(&LawChange) -> (Option<NodeOrdinal>, Option<NodeOrdinal>);

impl Unpaired {
    fn of(edition: &Snapshot, changes: &[LawChange], sides: ChangeSides) -> Self {
        let unpaired = changes.iter().filter_map(|change| match sides(change) {
            (Some(own), None) if edition.outline.is_provision(own) => Some((own, change.kind)),
            _ => None,
        });
        let mut provisions: Vec<(NodeOrdinal, ChangeKind)> = unpaired.collect();
        provisions.sort_unstable_by_key(|&(node, _)| node);
        Self(provisions)
    }

    /// How many provisions in a container are of a kind.
    fn count(&self, edition: &Snapshot, container: NodeOrdinal, kind: ChangeKind) -> usize {
        let range = edition.outline.subtree(container);
        let from = self.0.partition_point(|&(node, _)| node.0 < range.start);
        self.0[from..].iter().take_while(|&&(node, _)| node.0 < range.end).filter(|&&(_, own)| own == kind).count()
    }
}

impl BodyPair<'_> {
    /// A container that only the newer edition has is new if new provisions in it are at least as many as those that
    /// are older. Otherwise only the older copy lacks it, or, if it has most of them elsewhere, that is a note. Without
    /// any law it is a note, such as `[Reserved]`.
    pub(crate) fn name_old_containers(&self, changes: &mut [LawChange]) {
        let unpaired = Unpaired::of(self.new, changes, |change| (change.new, change.old));
        for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Added) {
            let Some(container) = change.new.filter(|node| !self.new.outline.is_provision(*node)) else { continue };
            let added = unpaired.count(self.new, container, ChangeKind::Added);
            let found = unpaired.count(self.new, container, ChangeKind::Found);
            let from_elsewhere = law_in(self.new, container).saturating_sub(added + found);
            if from_elsewhere > added + found || from_elsewhere + added + found == 0 {
                change.kind = ChangeKind::Notes;
            } else if added == 0 || found + from_elsewhere > added {
                change.kind = ChangeKind::Found;
            }
        }
    }

    /// A container that only the older edition has is missing if law in it is. If the newer copy has its law elsewhere, or
    /// it had none, that is a note.
    pub(crate) fn name_left_containers(&self, changes: &mut [LawChange]) {
        let unpaired = Unpaired::of(self.old, changes, |change| (change.old, change.new));
        for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Missing) {
            let Some(container) = change.old.filter(|node| !self.old.outline.is_provision(*node)) else { continue };
            if unpaired.count(self.old, container, ChangeKind::Missing) == 0 {
                change.kind = ChangeKind::Notes;
            }
        }
    }

    /// A container that the newer edition calls repealed has ended only if law in it had not ended before.
    pub(crate) fn name_ended_containers(&self, changes: &mut [LawChange]) {
        let ended = [ChangeKind::Repealed, ChangeKind::Ended, ChangeKind::Restated];
        for change in changes.iter_mut().filter(|change| ended.contains(&change.kind)) {
            let container = change.old.filter(|node| !self.old.outline.is_provision(*node));
            if container.is_some_and(|container| law_in(self.old, container) == 0) {
                change.kind = ChangeKind::Notes;
            }
        }
    }
}

/// How many provisions in a container are or will be law.
fn law_in(of: &Snapshot, container: NodeOrdinal) -> usize {
    let is_law = |node: NodeOrdinal| {
        let status = of.outline.status(node);
        of.outline.is_provision(node) && (status.may_be_in_force() || status == Status::NotYetEffective)
    };
    of.outline.subtree(container).iter().map(NodeOrdinal).filter(|&node| is_law(node)).count()
}
