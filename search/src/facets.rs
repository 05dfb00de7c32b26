//! Counts of all matches by jurisdiction and by tag.

use hornbook_corpus::catalogue::Catalogue;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;

/// A jurisdiction or tag, by its index in the catalogue, with the number of its matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FacetCount {
    pub place: usize,
    pub count: u32,
}

/// The facets of a search. Facets without matches are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// In the order of the catalogue. A jurisdiction includes its counties and cities, as in the filter.
    pub jurisdictions: Vec<FacetCount>,
    /// Most matches first; equal counts in the order of the catalogue.
    pub tags: Vec<FacetCount>,
}

/// Counts the facets of matches, which must be in ascending order.
pub(super) fn count(snapshot: &Snapshot, matches: &[u32]) -> Facets {
    Facets { jurisdictions: by_jurisdiction(&snapshot.catalogue, matches), tags: by_tag(snapshot, matches) }
}

fn by_jurisdiction(catalogue: &Catalogue, matches: &[u32]) -> Vec<FacetCount> {
    let below = |ordinal: u32| matches.partition_point(|&doc| doc < ordinal);
    let counts = catalogue.jurisdictions.iter().enumerate().map(|(place, jurisdiction)| {
        let range = jurisdiction.subtree;
        FacetCount { place, count: (below(range.end) - below(range.start)) as u32 }
    });
    counts.filter(|facet| facet.count > 0).collect()
}

fn by_tag(snapshot: &Snapshot, matches: &[u32]) -> Vec<FacetCount> {
    let mut counts = vec![0_u32; snapshot.catalogue.tags.len()];
    for &doc in matches {
        for &tag in snapshot.tags.of(NodeOrdinal(doc)) {
            if let Some(count) = counts.get_mut(usize::from(tag)) {
                *count += 1;
            }
        }
    }
    let mut facets: Vec<FacetCount> =
        counts.into_iter().enumerate().map(|(place, count)| FacetCount { place, count }).collect();
    facets.retain(|facet| facet.count > 0);
    facets.sort_by(|a, b| b.count.cmp(&a.count).then(a.place.cmp(&b.place)));
    facets
}
