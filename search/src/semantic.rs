//! Semantic search: finds the provisions whose chunks are nearest to the query in meaning.
//!
//! It considers the same number of chunks for every page and limit, and keeps the best chunk of each
//! provision. If the snapshot has a second vector space, which a sentence encoder made, both spaces are
//! searched, and a provision found in either is a candidate.

use hornbook_corpus::embed::embedder;
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, OrdinalRange};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::vectors::{ChunkFilter, Effort, VectorIndex};

use super::feature::{FeatureVector, RankingFeature};
use super::filter::SearchScope;
use super::fuse::{Candidate, SpaceResult};
use super::keyword::Constraints;
use super::law_on_day::LawOnDay;
use super::request::Depth;

/// A provision with its similarity in each space, by its best chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SemanticCandidate {
    pub node: NodeOrdinal,
    pub chunk: ChunkOrdinal,
    pub near: Option<SpaceResult>,
    pub encoded: Option<SpaceResult>,
}

/// The limits of a semantic search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SemanticLimits {
    /// How many chunks of each space are considered.
    pub count: usize,
    /// The minimum similarity in the first space.
    pub floor: f32,
    /// The minimum similarity in the second space.
    pub encoded_floor: f32,
}

/// The vectors of a query in the spaces of a snapshot. `None` if the space is not searched or knows no
/// word of the query.
pub(super) struct QueryVectors {
    first: Option<Vec<f32>>,
    second: Option<Vec<f32>>,
}

impl QueryVectors {
    /// Embeds a query. A space with weight 0 is not searched, unless it is the only one.
    pub(super) fn of(snapshot: &Snapshot, depth: Depth, meaning: &str, weights: &FeatureVector) -> Self {
        let mut tokens = Vec::new();
        embedder().tokenize(meaning, &mut tokens);
        let counts = |feature| weights.get(feature) > 0.0;
        let second = snapshot.encoded.as_ref().filter(|_| counts(RankingFeature::Encoded));
        let is_first_searched = counts(RankingFeature::Similarity) || second.is_none();
        let first = is_first_searched.then(|| embedder().query_vector(&tokens)).filter(|vector| !vector.is_zero());
        let second = second.and_then(|encoded| match depth {
            Depth::Fast => encoded.query(&tokens),
            Depth::Deep => encoded.deep_query(&tokens),
        });
        Self { first: first.map(|vector| vector.0.to_vec()), second }
    }
}

/// The provisions of the nearest chunks of each space. The provisions of the first space come first,
/// most similar first. Then come those that only the second space has.
pub(super) fn candidates(
    snapshot: &Snapshot,
    query: &QueryVectors,
    scope: &SearchScope<'_>,
    constraints: &Constraints,
    SemanticLimits { count, floor, encoded_floor }: SemanticLimits,
) -> Vec<SemanticCandidate> {
    let search = SpaceSearch { snapshot, scope, constraints, count };
    let mut found = match &query.first {
        Some(vector) => search.nearest(&snapshot.vectors, vector, floor),
        None => Vec::new(),
    };
    if let (Some(encoded), Some(vector)) = (&snapshot.encoded, &query.second) {
        let second = search.nearest(encoded.vectors(), vector, encoded_floor);
        join(&mut found, second);
    }
    found
}

/// Joins the results of both spaces. Both spaces number their chunks alike, so a provision found in
/// both keeps the chunk of the first.
fn join(found: &mut Vec<SemanticCandidate>, second: Vec<SemanticCandidate>) {
    let mut known: Vec<(NodeOrdinal, usize)> =
        found.iter().enumerate().map(|(place, candidate)| (candidate.node, place)).collect();
    known.sort_unstable();
    for candidate in second {
        match known.binary_search_by_key(&candidate.node, |&(node, _)| node) {
            Ok(at) => found[known[at].1].encoded = candidate.near,
            Err(_) => found.push(SemanticCandidate { near: None, encoded: candidate.near, ..candidate }),
        }
    }
}

/// A search of one space.
struct SpaceSearch<'a> {
    snapshot: &'a Snapshot,
    scope: &'a SearchScope<'a>,
    constraints: &'a Constraints,
    count: usize,
}

impl SpaceSearch<'_> {
    /// The provisions of the nearest `count` chunks, most similar first; equal ones in the order of chunks.
    fn nearest(&self, index: &VectorIndex, vector: &[f32], floor: f32) -> Vec<SemanticCandidate> {
        let Self { snapshot, scope, constraints, count } = *self;
        let ranges: Vec<OrdinalRange> =
            scope.ranges.as_slice().iter().map(|&nodes| snapshot.chunks.chunk_range(nodes)).collect();
        let admits = |chunk| {
            let admitted = |node| scope.admission.as_ref().is_none_or(|admission| admission.admits(node));
            snapshot.chunks.node_of(chunk).is_some_and(admitted)
        };
        let within = ChunkFilter { ranges: &ranges, admits: scope.admission.is_some().then_some(&admits) };
        let nearest = index.nearest_within(vector, &within, count, Effort::default());
        let mut seen = Vec::with_capacity(nearest.len());
        let mut found = Vec::with_capacity(nearest.len());
        for neighbour in nearest.into_iter().take_while(|neighbour| neighbour.score >= floor) {
            let node = snapshot.chunks.node_of(neighbour.chunk).filter(|&node| scope.law.shows(node, neighbour.chunk));
            let Some(node) = node else { continue };
            seen.push((node, found.len()));
            let near = SpaceResult { similarity: neighbour.score, rank: None };
            found.push(SemanticCandidate { node, chunk: neighbour.chunk, near: Some(near), encoded: None });
        }
        // The first chunk of a provision in the list is its best chunk.
        seen.sort_unstable();
        let mut is_first = vec![false; found.len()];
        for (place, &(node, at)) in seen.iter().enumerate() {
            is_first[at] = (place == 0 || seen[place - 1].0 != node) && constraints.admit(node.0);
        }
        let mut is_first = is_first.into_iter();
        found.retain(|_| is_first.next().unwrap_or(false));
        for (rank, candidate) in (1..).zip(&mut found) {
            candidate.near.iter_mut().for_each(|near| near.rank = Some(rank));
        }
        found
    }
}

/// Computes the missing similarities of candidates: a provision that is not among the nearest may still
/// have a similar meaning.
pub(super) fn add_missing_similarities(
    snapshot: &Snapshot,
    law: &LawOnDay,
    query: &QueryVectors,
    head: &mut [Candidate],
) {
    if let Some(vector) = &query.first {
        complete_in(law, &snapshot.vectors, vector, head, |candidate| &mut candidate.near);
    }
    if let (Some(encoded), Some(vector)) = (&snapshot.encoded, &query.second) {
        complete_in(law, encoded.vectors(), vector, head, |candidate| &mut candidate.encoded);
    }
}

fn complete_in(
    law: &LawOnDay,
    index: &VectorIndex,
    vector: &[f32],
    head: &mut [Candidate],
    near: impl Fn(&mut Candidate) -> &mut Option<SpaceResult>,
) {
    let mut missing: Vec<&mut Candidate> = head.iter_mut().filter_map(|c| near(c).is_none().then_some(c)).collect();
    let ranges: Vec<OrdinalRange> = missing.iter().map(|candidate| law.chunks_of(candidate.node)).collect();
    for (candidate, found) in missing.iter_mut().zip(index.best_of_each(vector, &ranges)) {
        if let Some(found) = found {
            *near(candidate) = Some(SpaceResult { similarity: found.score, rank: None });
            candidate.chunk = candidate.chunk.or(Some(found.chunk));
        }
    }
}
