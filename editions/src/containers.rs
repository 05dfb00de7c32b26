//! What is said of titles, chapters and other containers: that they are new or missing only if their law is.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;

use crate::change::{ChangeKind, LawChange};
use crate::compare::BodyPair;

/// Provisions of which one edition has no counterpart, with what is said of them, in ascending order.
struct Unpaired(Vec<(NodeOrdinal, ChangeKind)>);

impl Unpaired {
    fn of(mut provisions: Vec<(NodeOrdinal, ChangeKind)>) -> Self {
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
        let is_unpaired = |change: &&LawChange| change.old.is_none() && is_provision(self.new, change.new);
        let unpaired = changes.iter().filter(is_unpaired).filter_map(|change| Some((change.new?, change.kind)));
        let unpaired = Unpaired::of(unpaired.collect());
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
        let is_unpaired = |change: &&LawChange| change.new.is_none() && is_provision(self.old, change.old);
        let unpaired = changes.iter().filter(is_unpaired).filter_map(|change| Some((change.old?, change.kind)));
        let unpaired = Unpaired::of(unpaired.collect());
        for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Missing) {
            let Some(container) = change.old.filter(|node| !self.old.outline.is_provision(*node)) else { continue };
            if unpaired.count(self.old, container, ChangeKind::Missing) == 0 {
                change.kind = ChangeKind::Notes;
            }
        }
    }
}

fn is_provision(of: &Snapshot, node: Option<NodeOrdinal>) -> bool {
    node.is_some_and(|node| of.outline.is_provision(node))
}

/// Whether a container has a provision that is or will be law.
fn has_law(of: &Snapshot, container: NodeOrdinal) -> bool {
    let is_law = |node: NodeOrdinal| {
        let status = of.outline.status(node);
        of.outline.is_provision(node) && (status.may_be_in_force() || status == Status::NotYetEffective)
    };
    of.outline.subtree(container).iter().map(NodeOrdinal).any(is_law)
}
