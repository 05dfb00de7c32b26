//! What changed between two snapshots among the things that keys watch.
//!
//! A provision or container is watched with everything in it, and with the containers that it is in as far as they end as
//! a whole. A citation is what it names in each of the two snapshots. A saved search is its first results in each.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use hornbook_accounts::ids::{KeyId, WatchId};
use hornbook_accounts::watches::{
    REPORTED_CHANGES_MAX, ReportedSwap, SavedSearch, WatchRecord, WatchReport, WatchSubject, WatchedChange,
};
use hornbook_base::clock::UnixMillis;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal, OrdinalRange, ShortCode};
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_editions::{
    ChangeKind, ChangedParts, CodeEdition, CompareError, LawChange, changes_between, compare, listed,
    without_counterpart,
};
use hornbook_search::{Filter, SearchRequest};

use super::corpus::Corpus;
use super::error::ApiError;

/// The number of results of a saved search that are watched.
pub const WATCHED_RESULTS: u32 = 50;

/// A change by its place in the list of all changes.
type ChangePlace = usize;

/// All changes between two snapshots, and where to find those of a node.
pub struct SwapChanges {
    old: Arc<Corpus>,
    new: Arc<Corpus>,
    /// The editions of each code body before and after.
    editions: Vec<(CodeEdition, CodeEdition)>,
    /// Each change with the place of its code body in `editions`, in code order.
    changes: Vec<(usize, LawChange)>,
    /// Sorted by the node in the older snapshot, and by the one in the newer.
    by_old: Vec<(u32, ChangePlace)>,
    by_new: Vec<(u32, ChangePlace)>,
}

/// A report, and what watches of renumbered provisions watch from now on.
pub struct MatchedWatches {
    pub report: WatchReport,
    pub followed: Vec<(WatchId, WatchSubject)>,
}

impl SwapChanges {
    /// Compares two snapshots, or reads what was compared when the older one was shelved.
    pub fn between(data: &Path, old: Arc<Corpus>, new: Arc<Corpus>) -> Result<Self, CompareError> {
        let (before, after) = (old.snapshot(), new.snapshot());
        let is_shelved = new.shelved().any(|id| id == old.id());
        let bodies =
            if is_shelved { changes_between(data, before, after, |_| ())? } else { compare(before, after, |_| ())? };
        let (mut editions, mut changes) = (Vec::new(), Vec::new());
        for of_body in bodies {
            let sides = [before, after].map(|snapshot| {
                let body = snapshot.catalogue.code_body(of_body.body);
                body.map(|body| CodeEdition::of(snapshot, body))
            });
            let [Some(earlier), Some(later)] = sides else { continue };
            changes.extend(of_body.changes.into_iter().map(|change| (editions.len(), change)));
            editions.push((earlier, later));
        }
        for body in without_counterpart(before, after) {
            let gone = CodeEdition {
                snapshot: after.manifest.snapshot.clone(),
                edition: String::new(),
                current_through: None,
                retrieved_at: None,
            };
            let parts = ChangedParts::default();
            let missing =
                |node| LawChange { kind: ChangeKind::Missing, old: Some(node), new: None, parts, effective: None };
            changes.extend(before.outline.top_level(body.nodes).map(|node| (editions.len(), missing(node))));
            editions.push((CodeEdition::of(before, body), gone));
        }
        let by = |side: fn(&LawChange) -> Option<NodeOrdinal>| {
            let places = changes.iter().enumerate();
            let mut found: Vec<(u32, ChangePlace)> =
                places.filter_map(|(place, (_, change))| Some((side(change)?.0, place))).collect();
            found.sort_unstable();
            found
        };
        let (by_old, by_new) = (by(|change| change.old), by(|change| change.new));
        Ok(Self { old, new, editions, changes, by_old, by_new })
    }

    /// What changed for the watches of a key. Saved searches are run for the law of `today`. The report says which
    /// watches could not be checked.
    pub fn report(
        &self,
        key: KeyId,
        swap: &ReportedSwap,
        watches: &[WatchRecord],
        (at, today): (UnixMillis, Day),
    ) -> MatchedWatches {
        let mut matched: BTreeMap<ChangePlace, Vec<WatchId>> = BTreeMap::new();
        let (mut followed, mut failed) = (Vec::new(), Vec::new());
        for watch in watches {
            let places = self.concerning(&watch.subject, today).unwrap_or_else(|error| {
                failed.push(format!("{} could not be checked: {}", watch.id, error.message));
                Vec::new()
            });
            for place in places {
                let (_, change) = &self.changes[place];
                if change.kind.is_of_law() {
                    matched.entry(place).or_default().push(watch.id);
                }
                followed.extend(self.followed(&watch.subject, change).map(|subject| (watch.id, subject)));
            }
        }
        let total = u32::try_from(matched.len()).unwrap_or(u32::MAX);
        let mut changes = Vec::new();
        for (place, watches) in matched.into_iter().take(REPORTED_CHANGES_MAX) {
            match self.listed(place) {
                Ok(change) => changes.push(WatchedChange { watches, change }),
                Err(error) => failed.push(format!("a change could not be read: {}", error.message)),
            }
        }
        let unknown = (!failed.is_empty()).then(|| failed.join("; "));
        let (from, to) = (self.old.id().to_owned(), swap.snapshot.clone());
        let report = WatchReport { key, swap: swap.number, at, from, to, total, changes, unknown, delivery: None };
        MatchedWatches { report, followed }
    }

    fn listed(&self, place: ChangePlace) -> Result<serde_json::Value, ApiError> {
        let (body, change) = &self.changes[place];
        let (earlier, later) = &self.editions[*body];
        let listed = listed(change, (self.old.snapshot(), earlier), (self.new.snapshot(), later))?;
        serde_json::to_value(listed).map_err(|error| ApiError::internal(format!("list a change: {error}")))
    }

    fn concerning(&self, subject: &WatchSubject, today: Day) -> Result<Vec<ChangePlace>, ApiError> {
        let mut places = match subject {
            WatchSubject::Node(id) => {
                let nodes = [&self.old, &self.new].map(|corpus| corpus.snapshot().ordinal(NodeId(*id)));
                self.within(nodes)
            }
            WatchSubject::Citation(citation) => {
                let [old, new] = [&self.old, &self.new].map(|corpus| corpus.named_by(citation));
                self.within([old?, new?])
            }
            WatchSubject::Search(search) => self.found_by(search, today)?,
        };
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    /// The changes of a node and of everything in it, given the node in each snapshot, and the end of what it is in.
    fn within(&self, [old, new]: [Option<NodeOrdinal>; 2]) -> Vec<ChangePlace> {
        let mut places = Vec::new();
        if let Some(node) = old {
            let outline = &self.old.snapshot().outline;
            places.extend(in_range(&self.by_old, outline.subtree(node)));
            for above in outline.ancestors(node) {
                let of_it = in_range(&self.by_old, OrdinalRange::new(above.0, above.0 + 1));
                places.extend(of_it.filter(|place| ends(self.changes[*place].1.kind)));
            }
        }
        if let Some(node) = new {
            places.extend(in_range(&self.by_new, self.new.snapshot().outline.subtree(node)));
        }
        places
    }

    fn found_by(&self, search: &SavedSearch, today: Day) -> Result<Vec<ChangePlace>, ApiError> {
        let mut places = Vec::new();
        for (corpus, side) in [(&self.old, &self.by_old), (&self.new, &self.by_new)] {
            let found: HashSet<u32> = corpus.first_results(search, today)?.into_iter().map(|node| node.0).collect();
            places.extend(side.iter().filter(|(node, _)| found.contains(node)).map(|(_, place)| *place));
        }
        Ok(places)
    }

    /// A watched provision that has another id now is watched under the new one.
    fn followed(&self, subject: &WatchSubject, change: &LawChange) -> Option<WatchSubject> {
        let (WatchSubject::Node(id), ChangeKind::Renumbered) = (subject, change.kind) else { return None };
        let id_in = |corpus: &Corpus, node: Option<NodeOrdinal>| corpus.snapshot().outline.id(node?);
        let (before, now) = (id_in(&self.old, change.old)?, id_in(&self.new, change.new)?);
        (before == NodeId(*id) && now != before).then_some(WatchSubject::Node(now.0))
    }
}

/// Whether a change of a container is one of everything in it.
const fn ends(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Repealed | ChangeKind::Renumbered | ChangeKind::Ended | ChangeKind::Missing)
}

fn in_range(sorted: &[(u32, ChangePlace)], range: OrdinalRange) -> impl Iterator<Item = ChangePlace> {
    let from = sorted.partition_point(|(node, _)| *node < range.start);
    sorted[from..].iter().take_while(move |(node, _)| *node < range.end).map(|(_, place)| *place)
}

impl Corpus {
    /// The node that a citation names, if it names one.
    pub(crate) fn named_by(&self, citation: &str) -> Result<Option<NodeOrdinal>, ApiError> {
        let answers = self.engine().resolve(citation)?;
        let [answer] = &answers[..] else { return Ok(None) };
        Ok(answer.node_id.and_then(|id| self.snapshot().ordinal(id)))
    }

    /// The first results of a saved search. A place that this snapshot does not have has no results.
    fn first_results(&self, search: &SavedSearch, today: Day) -> Result<Vec<NodeOrdinal>, ApiError> {
        let catalogue = self.catalogue();
        let jurisdictions = search
            .jurisdictions
            .iter()
            .filter_map(|code| Some(catalogue.jurisdiction(&code.parse::<ShortCode>().ok()?)?.subtree));
        let bodies = search.code_bodies.iter().filter_map(|id| Some(catalogue.code_body(CodeBodyId(*id))?.nodes));
        let parts = [
            (!search.jurisdictions.is_empty()).then(|| OrdinalRanges::union(jurisdictions)),
            (!search.code_bodies.is_empty()).then(|| OrdinalRanges::union(bodies)),
        ];
        let ranges = parts.into_iter().flatten().reduce(|one, other| one.intersect(&other));
        let filter = Filter { ranges, ..Filter::default() };
        let request = SearchRequest {
            filter: &filter,
            limit: WATCHED_RESULTS,
            day: Some(today),
            ..SearchRequest::new(&search.q)
        };
        Ok(self.engine().search(&request)?.hits.into_iter().map(|hit| hit.node).collect())
    }
}
