//! Compares filters with a simple model: a filtered search returns the hits of the unfiltered
//! search that match the filter.

use std::collections::BTreeSet;

use hornbook_corpus::embed::embedder;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_search::{Filter, Mode, SearchRequest, SearchResponse, Tuning};
use proptest::prelude::*;

use sample::ENGINE;

#[path = "support/sample.rs"]
mod sample;

/// Queries without phrases and citations, and the part of each that is embedded.
const QUERIES: [(&str, &str); 4] = [
    ("how tall may a fence be", "tall fence"),
    ("returning a deposit to the renter", "returning a deposit to the renter"),
    ("harbor dues", "harbor dues"),
    ("permit fee", "permit fee"),
];

fn everything(query: &str, mode: Mode, filter: &Filter) -> SearchResponse {
    let request = SearchRequest { mode, filter, limit: 10_000, facets: true, ..SearchRequest::new(query) };
    ENGINE.search(&SearchRequest { explain: true, ..request }).unwrap()
}

fn nodes(response: &SearchResponse) -> BTreeSet<NodeOrdinal> {
    response.hits.iter().map(|hit| hit.node).collect()
}

/// Every part of the sample that a filter can name.
fn parts() -> Vec<OrdinalRange> {
    let (catalogue, outline) = (&ENGINE.snapshot().catalogue, &ENGINE.snapshot().outline);
    let jurisdictions = catalogue.jurisdictions.iter().map(|jurisdiction| jurisdiction.subtree);
    let bodies = catalogue.code_bodies.iter().map(|body| body.nodes);
    let subtrees = (0..outline.len()).map(|node| outline.subtree(NodeOrdinal(node))).filter(|range| range.len() > 3);
    jurisdictions.chain(bodies).chain(subtrees).collect()
}

/// A filter with a naive implementation.
#[derive(Clone, Debug)]
struct Model {
    ranges: Option<Vec<OrdinalRange>>,
    tags: Option<Vec<u16>>,
    statuses: Option<Vec<Status>>,
}

impl Model {
    fn filter(&self) -> Filter {
        let ranges = self.ranges.clone().map(OrdinalRanges::union);
        Filter { ranges, tags: self.tags.clone(), statuses: self.statuses.clone(), min_score: 0.0 }
    }

    fn keeps_node(&self, node: NodeOrdinal) -> bool {
        let snapshot = ENGINE.snapshot();
        let is_within = |ranges: &Vec<OrdinalRange>| ranges.iter().any(|range| range.iter().any(|own| own == node.0));
        self.ranges.as_ref().is_none_or(is_within)
            && self.tags.as_ref().is_none_or(|tags| tags.iter().any(|tag| snapshot.tags.of(node).contains(tag)))
            && self.statuses.as_ref().is_none_or(|wanted| wanted.contains(&snapshot.outline.status(node)))
    }

    /// The provisions of the nearest chunks that match the filter, found by comparing every chunk
    /// with the query.
    fn nearest(&self, embedded: &str, count: usize) -> BTreeSet<NodeOrdinal> {
        let snapshot = ENGINE.snapshot();
        let all = snapshot.chunks.chunk_range(OrdinalRange::new(0, snapshot.outline.len()));
        let order = snapshot.vectors.nearest_exact(&embedder().embed_query(embedded).0, all, all.len() as usize);
        let named = order.iter().map(|near| (snapshot.chunks.node_of(near.chunk).unwrap(), near.score));
        let left = named.filter(|&(node, _)| self.keeps_node(node)).take(count);
        left.filter(|&(_, score)| score >= Tuning::MEASURED.similarity_floor).map(|(node, _)| node).collect()
    }
}

fn models() -> impl Strategy<Value = Model> {
    let (parts, tags) = (parts(), ENGINE.snapshot().catalogue.tags.len() as u16);
    let ranges = prop::option::weighted(0.7, prop::collection::vec(prop::sample::select(parts), 1..=10));
    let tags = prop::option::weighted(0.4, prop::collection::vec(0..tags, 1..4));
    let statuses = prop::collection::vec(prop::sample::select(&Status::ALL[..]), 1..4);
    (ranges, tags, prop::option::weighted(0.4, statuses)).prop_map(|(ranges, tags, statuses)| Model {
        ranges,
        tags,
        statuses,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn totals_and_facets_equal_a_naive_count_in_every_mode(model in models(), asked in prop::sample::select(&QUERIES[..])) {
        let (query, embedded) = asked;
        let (filter, tuning) = (model.filter(), Tuning::MEASURED);
        let mut by_words = nodes(&everything(query, Mode::Keyword, Filter::NONE));
        by_words.retain(|&node| model.keeps_node(node));
        for mode in Mode::ALL {
            let found = everything(query, mode, &filter);
            let count = match (mode, found.explain.as_ref().unwrap().kind) {
                (Mode::Semantic | Mode::Keyword, _) => tuning.chunk_candidates,
                (Mode::Hybrid, "question") => tuning.question.chunk_candidates,
                (Mode::Hybrid, "topic") => tuning.topic.chunk_candidates,
                (Mode::Hybrid, _) => tuning.phrase.chunk_candidates,
            };
            let mut expected = if mode == Mode::Semantic { BTreeSet::new() } else { by_words.clone() };
            if mode != Mode::Keyword {
                expected.extend(model.nearest(embedded, count));
            }
            prop_assert_eq!(nodes(&found), expected.clone(), "'{}' in mode {}", query, mode);
            prop_assert_eq!(found.total as usize, expected.len());
            let facets = found.facets.unwrap();
            for facet in &facets.tags {
                let bears = |node: &&NodeOrdinal| ENGINE.snapshot().tags.of(**node).contains(&(facet.place as u16));
                prop_assert_eq!(facet.count as usize, expected.iter().filter(bears).count());
            }
            for (place, jurisdiction) in ENGINE.snapshot().catalogue.jurisdictions.iter().enumerate() {
                let counted = facets.jurisdictions.iter().find(|facet| facet.place == place).map_or(0, |facet| facet.count);
                let within = expected.iter().filter(|node| jurisdiction.subtree.contains(node.0)).count();
                prop_assert_eq!(counted as usize, within);
            }
        }
    }

    #[test]
    fn min_score_keeps_hits_with_at_least_this_score(
        model in models(),
        (query, _) in prop::sample::select(&QUERIES[..]),
        mode in prop::sample::select(&Mode::ALL[..]),
        min_score in 0.01_f32..1.0,
    ) {
        let scored = |response: &SearchResponse| -> Vec<(NodeOrdinal, f32)> {
            response.hits.iter().map(|hit| (hit.node, hit.score)).collect()
        };
        let mut expected = scored(&everything(query, mode, &model.filter()));
        expected.retain(|&(_, score)| score >= min_score);
        let found = everything(query, mode, &Filter { min_score, ..model.filter() });
        prop_assert_eq!(found.total as usize, expected.len());
        let counted: u32 = found.facets.as_ref().unwrap().jurisdictions.iter()
            .filter(|facet| ENGINE.snapshot().catalogue.jurisdictions[facet.place].parent.is_none())
            .map(|facet| facet.count)
            .sum();
        prop_assert_eq!(counted, found.total);
        prop_assert_eq!(scored(&found), expected);
    }
}

#[test]
fn citations_obey_the_filter() {
    let snapshot = ENGINE.snapshot();
    let query = "Arden Rev. Stat. § 12-2-104";
    let node = snapshot.nodes_with_citation(query).unwrap()[0].0;
    let is_found = |filter: &Filter| {
        let found = everything(query, Mode::Hybrid, filter);
        assert_eq!(found.total as usize, found.hits.len());
        nodes(&found).contains(&node)
    };
    assert!(is_found(Filter::NONE));
    assert!(!is_found(&Filter { statuses: Some(vec![Status::Repealed]), ..Filter::default() }));
    assert!(!is_found(&Filter { tags: Some(vec![]), ..Filter::default() }));
    assert!(is_found(&Filter { min_score: 1.0, ..Filter::within(Some(OrdinalRange::new(node.0, node.0 + 1))) }));
    assert!(!is_found(&Filter::within(Some(OrdinalRange::new(node.0 + 1, snapshot.outline.len())))));
}
