//! What is said of titles, chapters and other containers: that they are new or missing only if their law is.

use hornbook_base::roman::from_roman;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::NodeRecord;
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;

use crate::change::{ChangeKind, LawChange};
use crate::compare::{BodyPair, CompareError};
use crate::words::words;

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

/// The level of a container, and the words of its heading.
pub(crate) type ContainerName = (String, Vec<u64>);

/// The name of a container, for comparing it with those of another edition. `PART III` is `Part 3`.
pub(crate) fn container_name(of: &Snapshot, container: NodeOrdinal) -> Result<ContainerName, CompareError> {
    let NodeRecord { level, wordings, .. } = of.nodes.get(container)?;
    let level = level.to_lowercase();
    let heading = with_arabic_number(&wordings[0].heading, &level).to_lowercase();
    Ok((level, words(&heading).collect()))
}

/// A heading whose number behind the name of its level is in digits.
fn with_arabic_number(heading: &str, level: &str) -> String {
    let mut parts = heading.splitn(3, ' ');
    if let (Some(first), Some(second)) = (parts.next(), parts.next()) {
        let number = from_roman(second.trim_end_matches(['.', ':', '-', '—', '–']));
        if let Some(number) = number.filter(|_| first.eq_ignore_ascii_case(level)) {
            return format!("{first} {number} {}", parts.next().unwrap_or_default());
        }
    }
    heading.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_containers_are_compared_in_digits() {
        assert_eq!(with_arabic_number("Part III. Towns", "part"), "Part 3 Towns");
        assert_eq!(with_arabic_number("PART IV", "part"), "PART 4 ");
        for kept in ["Part 3 Towns", "I Towns", "Part CIVIL", "Civil I Towns", ""] {
            assert_eq!(with_arabic_number(kept, "part"), kept);
        }
    }
}
