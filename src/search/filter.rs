//! What a search is narrowed to, and whether a provision lies within.
//!
//! Ranges say where to look and save the time of looking elsewhere. Tags and statuses are looked up for each provision that
//! would be found otherwise. All of them hold for every leg and for what is cited, so totals and facets count what they leave.

use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::snapshot::Snapshot;

use super::law_on_day::LawOnDay;

/// What a search is narrowed to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Jurisdictions with what lies in them, code bodies, subtrees, or what they have in common; none for everything.
    pub ranges: Option<OrdinalRanges>,
    /// Tags by their places in the catalogue. A provision has one of them; none for any or no tag.
    pub tags: Option<Vec<u16>>,
    /// A provision has one of them; none for any.
    pub statuses: Option<Vec<Status>>,
    /// A lower score is no match.
    pub min_score: f32,
}

impl Filter {
    /// Everything.
    pub const NONE: &'static Self = &Self { ranges: None, tags: None, statuses: None, min_score: 0.0 };

    /// One range, or everything.
    pub fn within(range: Option<OrdinalRange>) -> Self {
        Self { ranges: range.map(OrdinalRanges::from), ..Self::default() }
    }
}

/// Where one search looks in one snapshot, on a day.
pub(super) struct Scope<'s> {
    pub law: &'s LawOnDay,
    pub ranges: OrdinalRanges,
    /// None where every provision of the ranges is admitted.
    pub admission: Option<Admission<'s>>,
}

impl<'s> Scope<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, law: &'s LawOnDay, filter: &'s Filter) -> Self {
        let everything = || OrdinalRange { start: 0, end: snapshot.outline.len() }.into();
        let (tags, statuses) = (filter.tags.as_deref(), filter.statuses.as_deref());
        let is_narrow = tags.is_some() || statuses.is_some();
        Self {
            law,
            ranges: filter.ranges.clone().unwrap_or_else(everything),
            admission: is_narrow.then_some(Admission { snapshot, law, tags, statuses }),
        }
    }

    pub(super) fn contains(&self, node: NodeOrdinal) -> bool {
        self.ranges.contains(node.0) && self.admission.as_ref().is_none_or(|admission| admission.admits(node))
    }
}

/// Which provisions tags and statuses leave.
pub(super) struct Admission<'s> {
    snapshot: &'s Snapshot,
    law: &'s LawOnDay,
    tags: Option<&'s [u16]>,
    statuses: Option<&'s [Status]>,
}

impl Admission<'_> {
    pub(super) fn admits(&self, node: NodeOrdinal) -> bool {
        let has_status = self.statuses.is_none_or(|wanted| wanted.contains(&self.law.status(node)));
        has_status && self.tags.is_none_or(|wanted| self.snapshot.tags.of(node).iter().any(|tag| wanted.contains(tag)))
    }
}
