//! The semantic leg: the provisions whose passages are nearest in meaning to the query.
//!
//! It always considers the same number of chunks, whatever the page or limit, and keeps the best chunk of each
//! provision.

use hornbook_corpus::embed::{Vector, embedder};
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, OrdinalRange};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::vectors::{Effort, Within};

use super::filter::Scope;
use super::fuse::Candidate;
use super::keyword::Constraints;

/// A provision, by its best chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SemanticCandidate {
    pub node: NodeOrdinal,
    pub chunk: ChunkOrdinal,
    pub similarity: f32,
}

/// Which chunks are near enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearness {
    /// How many chunks are looked at.
    pub count: usize,
    /// The least similarity.
    pub floor: f32,
}

/// The vector of a query; nothing if no word of it is known.
pub(super) fn query_vector(meaning: &str) -> Option<Vector> {
    let vector = embedder().embed(meaning);
    (!vector.is_zero()).then_some(vector)
}

/// The provisions of the nearest `count` chunks, most similar first, equal ones by chunk.
pub(super) fn candidates(
    snapshot: &Snapshot,
    vector: &Vector,
    scope: &Scope<'_>,
    constraints: &Constraints,
    Nearness { count, floor }: Nearness,
) -> Vec<SemanticCandidate> {
    let ranges: Vec<OrdinalRange> =
        scope.ranges.as_slice().iter().map(|&nodes| snapshot.chunks.chunk_range(nodes)).collect();
    let admits = |chunk| {
        let admitted = |node| scope.admission.as_ref().is_none_or(|admission| admission.admits(node));
        snapshot.chunks.node_of(chunk).is_some_and(admitted)
    };
    let within = Within { ranges: &ranges, admits: scope.admission.is_some().then_some(&admits) };
    let nearest = snapshot.vectors.nearest_within(&vector.0, &within, count, Effort::default());
    let mut seen = Vec::with_capacity(nearest.len());
    let mut found = Vec::with_capacity(nearest.len());
    for neighbour in nearest.into_iter().take_while(|neighbour| neighbour.score >= floor) {
        let Some(node) = snapshot.chunks.node_of(neighbour.chunk) else { continue };
        seen.push((node, found.len()));
        found.push(SemanticCandidate { node, chunk: neighbour.chunk, similarity: neighbour.score });
    }
    // The first chunk of a provision is its best.
    seen.sort_unstable();
    let mut is_first = vec![false; found.len()];
    for (place, &(node, at)) in seen.iter().enumerate() {
        is_first[at] = (place == 0 || seen[place - 1].0 != node) && constraints.admit(node.0);
    }
    let mut is_first = is_first.into_iter();
    found.retain(|_| is_first.next().unwrap_or(false));
    found
}

/// Compares also those with the query that another leg found: what is not among the nearest is not without meaning.
pub(super) fn complete(snapshot: &Snapshot, vector: &Vector, head: &mut [Candidate]) {
    let is_missing = |candidate: &Candidate| candidate.similarity.is_none();
    let missing = head.iter().filter(|candidate| is_missing(candidate));
    let ranges: Vec<OrdinalRange> = missing.map(|candidate| snapshot.chunks.chunks_of(candidate.node)).collect();
    let mut best = snapshot.vectors.best_of_each(&vector.0, &ranges).into_iter();
    for candidate in head.iter_mut().filter(|candidate| is_missing(candidate)) {
        if let Some(found) = best.next().flatten() {
            candidate.similarity = Some(found.score);
            candidate.chunk = Some(found.chunk);
        }
    }
}
