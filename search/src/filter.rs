//! Filters: the restrictions of a search, and whether a provision passes them.
//!
//! Ranges restrict where the search looks, which saves time. Tags and statuses are checked for each
//! provision that would otherwise match. All filters apply to both searches and to cited provisions, so
//! totals and facets count only provisions that pass.

use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::snapshot::Snapshot;

use super::law_on_day::LawOnDay;

/// The filters of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Jurisdictions with their counties and cities, code bodies, subtrees, or an intersection of them;
    /// `None` for everything.
    pub ranges: Option<OrdinalRanges>,
    /// Tags, by their index in the catalogue. A provision must have one of them; `None` for no restriction.
    pub tags: Option<Vec<u16>>,
    /// A provision must have one of these statuses; `None` for no restriction.
    pub statuses: Option<Vec<Status>>,
    /// Hits with a lower score do not match.
    pub min_score: f32,
}

impl Filter {
    /// No restriction.
    pub const NONE: &'static Self = &Self { ranges: None, tags: None, statuses: None, min_score: 0.0 };

    /// Restricts a search to one range; `None` for everything.
    pub fn within(range: Option<OrdinalRange>) -> Self {
        Self { ranges: range.map(OrdinalRanges::from), ..Self::default() }
    }
}

/// The part of one snapshot that one search covers, on a day.
pub(super) struct SearchScope<'s> {
    pub law: &'s LawOnDay,
    pub ranges: OrdinalRanges,
    /// `None` if every provision of the ranges is admitted.
    pub admission: Option<TagStatusFilter<'s>>,
}

impl<'s> SearchScope<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, law: &'s LawOnDay, filter: &'s Filter) -> Self {
        let everything = || OrdinalRange { start: 0, end: snapshot.outline.len() }.into();
        let (tags, statuses) = (filter.tags.as_deref(), filter.statuses.as_deref());
        let is_narrow = tags.is_some() || statuses.is_some();
        Self {
            law,
            ranges: filter.ranges.clone().unwrap_or_else(everything),
            admission: is_narrow.then_some(TagStatusFilter { snapshot, law, tags, statuses }),
        }
    }

    pub(super) fn contains(&self, node: NodeOrdinal) -> bool {
        self.ranges.contains(node.0) && self.admission.as_ref().is_none_or(|admission| admission.admits(node))
    }
}

/// Admits provisions by tag and status.
pub(super) struct TagStatusFilter<'s> {
    snapshot: &'s Snapshot,
    law: &'s LawOnDay,
    tags: Option<&'s [u16]>,
    statuses: Option<&'s [Status]>,
}

impl TagStatusFilter<'_> {
    pub(super) fn admits(&self, node: NodeOrdinal) -> bool {
        let has_status = self.statuses.is_none_or(|wanted| wanted.contains(&self.law.status(node)));
        has_status && self.tags.is_none_or(|wanted| self.snapshot.tags.of(node).iter().any(|tag| wanted.contains(tag)))
    }
}
