//! The place that a query names: it narrows the search, or its law ranks higher.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::ranges::OrdinalRanges;

use super::retrieval::always_scored;
use super::{Engine, SearchTerms};
use crate::error::SearchError;
use crate::filter::SearchScope;
use crate::keyword::KeywordFound;
use crate::ranking::PageRange;
use crate::request::{Mode, PlaceEffect, SearchRequest, UnderstoodPlace};
use crate::semantic::SemanticCandidate;
use crate::understand::{ParsedQuery, PlaceMeaning, SearchedPlace};

impl Engine {
    /// Narrows the scope to the place that the query names, or to the ranges of the request.
    pub(super) fn restrict_to_place(
        &self,
        understood: &ParsedQuery,
        request: &SearchRequest<'_>,
        scope: &mut SearchScope<'_>,
    ) {
        let place = understood.place.as_ref().filter(|place| place.effect == PlaceMeaning::Narrows);
        let of_request = || request.filter.ranges.clone().unwrap_or_else(|| self.all_nodes().into());
        scope.ranges = place.map_or_else(of_request, |place| self.places.get(place.named.place).nodes.into());
    }

    /// The nodes of the place whose law the query prefers, if there is one.
    pub(super) fn preferred_ranges(&self, understood: &ParsedQuery) -> Option<OrdinalRanges> {
        let place = understood.place.as_ref().filter(|place| place.effect == PlaceMeaning::IsPreferred)?;
        Some(self.places.get(place.named.place).nodes.into())
    }

    /// Runs keyword search for a query that prefers the law of a place. The place and the rest are
    /// searched separately, so that the best matches of both are known and their order does not depend
    /// on the page.
    pub(super) fn retrieve_preferring(
        &self,
        request: &SearchRequest<'_>,
        scope: &SearchScope<'_>,
        page: &PageRange,
        terms: &SearchTerms,
        (cited, nearest): (&[NodeOrdinal], &[SemanticCandidate]),
        preferred: &OrdinalRanges,
    ) -> Result<KeywordFound, SearchError> {
        if request.mode == Mode::Semantic {
            return Ok(KeywordFound::default());
        }
        let watched = always_scored(cited, nearest);
        let search = |ranges: OrdinalRanges| {
            let (inside, query) =
                (nodes_in_ranges(&ranges, &watched), self.keyword_query(request, scope, page, terms, &ranges));
            self.keyword.search(&query, &inside)
        };
        let mut found = search(scope.ranges.intersect(preferred))?;
        found.add_elsewhere(search(scope.ranges.subtract(preferred))?, self.tuning.elsewhere);
        Ok(found)
    }

    pub(super) fn understood_place(&self, query: &str, place: &SearchedPlace) -> Option<UnderstoodPlace> {
        let effect = match place.effect {
            PlaceMeaning::Narrows => PlaceEffect::Filter,
            PlaceMeaning::IsPreferred => PlaceEffect::Preference,
            PlaceMeaning::AlreadyFiltered | PlaceMeaning::IsNotLoaded => return None,
        };
        let said: Vec<&str> = place.named.bytes.iter().map(|bytes| &query[bytes.clone()]).collect();
        let known = self.places.get(place.named.place);
        let (jurisdiction, name) = (known.jurisdiction.clone(), known.name.clone());
        Some(UnderstoodPlace { jurisdiction, name, words: said.join(", "), effect })
    }

    pub(super) fn not_loaded(&self, place: &SearchedPlace) -> Option<String> {
        let is_not_loaded = place.effect == PlaceMeaning::IsNotLoaded;
        is_not_loaded.then(|| self.places.get(place.named.place).name.clone())
    }
}

/// The given nodes that are in the ranges.
fn nodes_in_ranges(ranges: &OrdinalRanges, nodes: &[u32]) -> Vec<u32> {
    nodes.iter().copied().filter(|&node| ranges.contains(node)).collect()
}
