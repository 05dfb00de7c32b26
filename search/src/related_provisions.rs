//! Finds the provisions around a cited provision, for a query that consists only of a citation: the
//! provisions that cite it, those that it cites, and its neighbours in code order.
//!
//! Other sections whose text contains the same numbers do not answer such a query, so the words of the
//! citation are not searched for, in any mode. Filters apply to this list as to any other result.

use std::cmp::Reverse;
use std::collections::HashSet;

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;

use super::filter::SearchScope;
use super::law_on_day::LawOnDay;
use super::ranking::PageRange;
use super::relation::Relation;
use super::request::Hit;

/// The number of neighbours to list before a provision, and after it.
const NEIGHBOURS: usize = 10;

/// The whole list. Each provision appears once, with its first relation.
pub(super) struct RelatedProvisions(Vec<(NodeOrdinal, Relation)>);

impl RelatedProvisions {
    /// Lists the provisions around those named, as far as the filters and the minimum score allow.
    pub(super) fn of(snapshot: &Snapshot, named: &[NodeOrdinal], scope: &SearchScope<'_>, min_score: f32) -> Self {
        let mut seen = HashSet::new();
        let mut list = Vec::new();
        for relation in Relation::ALL.into_iter().filter(|relation| relation.score() >= min_score) {
            let related = match relation {
                Relation::Named => named.to_vec(),
                Relation::Citing => citing(snapshot, scope.law, named),
                Relation::Cited => named.iter().flat_map(|&node| snapshot.references.outgoing(node)).collect(),
                Relation::Neighbour => named.iter().flat_map(|&node| neighbours(snapshot, node)).collect(),
            };
            let new = related.into_iter().filter(|&node| seen.insert(node) && scope.contains(node));
            list.extend(new.map(|node| (node, relation)));
        }
        Self(list)
    }

    pub(super) fn total(&self) -> u32 {
        self.0.len() as u32
    }

    /// All provisions in the list, in ascending order.
    pub(super) fn matches(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.0.iter().map(|(node, _)| node.0).collect();
        all.sort_unstable();
        all
    }

    pub(super) fn page(&self, page: &PageRange, law: &LawOnDay) -> Vec<Hit> {
        let on_page = self.0.iter().take(page.end).skip(page.start);
        let hit = |&(node, relation): &(NodeOrdinal, Relation)| Hit {
            node,
            shown: law.shown(node),
            score: relation.score(),
            chunk: None,
            relation: Some(relation),
            explain: None,
        };
        on_page.map(hit).collect()
    }
}

/// The provisions that cite any of those named, each once: those in force first, then the most cited,
/// then in code order.
fn citing(snapshot: &Snapshot, law: &LawOnDay, named: &[NodeOrdinal]) -> Vec<NodeOrdinal> {
    let mut citing: Vec<NodeOrdinal> = named.iter().flat_map(|&node| snapshot.references.incoming(node)).collect();
    citing.sort_unstable();
    citing.dedup();
    citing.sort_by_cached_key(|&node| {
        let is_dead = !law.status(node).may_be_in_force();
        (is_dead, Reverse(snapshot.references.incoming(node).len()), node)
    });
    citing
}

/// The provisions near one in its container, in code order. Includes the provision itself.
fn neighbours(snapshot: &Snapshot, node: NodeOrdinal) -> Vec<NodeOrdinal> {
    let Some(parent) = snapshot.outline.parent(node) else { return Vec::new() };
    let siblings = snapshot.outline.children(parent).filter(|&sibling| snapshot.outline.is_provision(sibling));
    let siblings: Vec<NodeOrdinal> = siblings.collect();
    let place = siblings.partition_point(|&sibling| sibling < node);
    let last = (place + NEIGHBOURS).min(siblings.len().saturating_sub(1));
    siblings.get(place.saturating_sub(NEIGHBOURS)..=last).unwrap_or_default().to_vec()
}
