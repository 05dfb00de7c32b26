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
    /// are older. Otherwise only the older copy lacks it. Without any law it is a note, such as `[Reserved]`.
    pub(crate) fn name_old_containers(&self, changes: &mut [LawChange]) {
        let unpaired = Unpaired::of(self.new, changes, |change| (change.new, change.old));
        for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Added) {
            let Some(container) = change.new.filter(|node| !self.new.outline.is_provision(*node)) else { continue };
            let added = unpaired.count(self.new, container, ChangeKind::Added);
            if !has_law(self.new, container) {
                change.kind = ChangeKind::Notes;
            } else if added == 0 || unpaired.count(self.new, container, ChangeKind::Found) > added {
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
}

/// Whether a container has a provision that is or will be law.
fn has_law(of: &Snapshot, container: NodeOrdinal) -> bool {
    let is_law = |node: NodeOrdinal| {
        let status = of.outline.status(node);
        of.outline.is_provision(node) && (status.may_be_in_force() || status == Status::NotYetEffective)
    };
    of.outline.subtree(container).iter().map(NodeOrdinal).any(is_law)
}
