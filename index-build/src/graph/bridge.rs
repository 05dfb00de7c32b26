//! Links points that answer the same question.
//!
//! Queries are short and passages are long. The nearest passages of a query can therefore be far
//! from each other, and a search that found one of them finds no link to the next. *Probes*
//! represent future queries: they are the headings of the corpus, as vectors. Each probe searches
//! for its nearest points over the existing links, and these points are then linked to each other.
//! A second round finds the points that the first round made reachable. The new links of a point
//! depend only on the old links, so a round gives the same links in any order and runs on all
//! cores.

use rayon::prelude::*;

use super::connect::Links;
use super::point_search::{PointSearch, ScoredPoint};
use super::refine::select_neighbours;
use super::rows::ShardRows;

/// How points that answer the same probe are linked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BridgeOptions {
    pub rounds: usize,
    /// The number of candidates that the search of a probe keeps.
    pub ef: usize,
    /// How many of the nearest points are treated as answers to the probe.
    pub answers: usize,
    /// How many of those answers are linked with all the others, in both directions.
    pub pivots: usize,
    /// The maximum number of links that a point gets in a round.
    pub links_max: usize,
}

/// The number of best entries that a probe starts from.
const STARTS: usize = 4;

/// Vectors of expected queries, rounded to bytes. Only the order of similarities matters here.
#[derive(Clone, Debug)]
pub struct Probes {
    dims: usize,
    codes: Vec<i8>,
    /// For each probe, the first chunk of the node that has this heading.
    chunks: Vec<u32>,
}

impl Probes {
    /// # Panics
    /// If `dims` is zero.
    pub fn new(dims: usize) -> Self {
        assert!(dims > 0, "probes need at least one dimension");
        Self { dims, codes: Vec::new(), chunks: Vec::new() }
    }

    /// Adds the heading of the node that begins with `chunk`. A zero vector is skipped.
    ///
    /// # Panics
    /// If the vector has a different number of dimensions.
    pub fn push(&mut self, chunk: u32, vector: &[f32]) {
        assert_eq!(vector.len(), self.dims, "the probe has a different number of dimensions");
        let largest = vector.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        if largest > 0.0 {
            let scale = f32::from(i8::MAX) / largest;
            self.chunks.push(chunk);
            self.codes.extend(vector.iter().map(|value| (value * scale).round() as i8));
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.codes.iter().map(|code| code.cast_unsigned()).collect()
    }

    /// Only the probes whose chunk is `wanted`.
    pub(super) fn of_chunks(&self, wanted: impl Fn(u32) -> bool) -> Self {
        let mut some = Self::new(self.dims);
        for (&chunk, codes) in self.chunks.iter().zip(self.codes.chunks_exact(self.dims)).filter(|(c, _)| wanted(**c)) {
            some.chunks.push(chunk);
            some.codes.extend_from_slice(codes);
        }
        some
    }

    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

/// Adds links between points that answer the same probes and returns their number. Each point must
/// have room for `rounds * links_max` more links.
pub(super) fn bridge(
    shard: &ShardRows<'_>,
    points: &[u32],
    entries: &[u32],
    probes: &Probes,
    options: &BridgeOptions,
    links: &mut Links,
) -> u32 {
    let mut added = 0;
    for _ in 0..options.rounds {
        let partners = partners(shard, &answers(shard, entries, probes, options, links), options.pivots);
        let old = &*links;
        let chosen: Vec<Vec<u32>> = points
            .par_iter()
            .map(|&point| {
                let has = old.of(point);
                let partners = partners[(point - shard.chunks.start) as usize].iter();
                let new = partners.filter(|&other| *other != point && !has.contains(other));
                let mut new: Vec<ScoredPoint> = new.map(|&other| (shard.cosine(point, other), other)).collect();
                select_neighbours(shard, &mut new, options.links_max, 1.0)
            })
            .collect();
        for (&point, ends) in points.iter().zip(&chosen) {
            ends.iter().for_each(|&end| links.add(point, end));
            added += ends.len() as u32;
        }
    }
    added
}

/// The nearest points of each probe, best first, as found by a search of the graph.
fn answers(
    shard: &ShardRows<'_>,
    entries: &[u32],
    probes: &Probes,
    options: &BridgeOptions,
    links: &Links,
) -> Vec<Vec<u32>> {
    let codes = probes.codes.par_chunks_exact(probes.dims);
    let answers = codes.map_init(
        || (PointSearch::new(shard.chunks), Vec::new()),
        |(around, starts), codes| {
            let similarity =
                |point| shard.kernel.dot_of_codes(codes, shard.rows.codes(point)) as f32 * shard.inverse_norm(point);
            starts.clear();
            starts.extend(entries.iter().map(|&entry| (similarity(entry), entry)));
            starts.sort_unstable_by(|a: &ScoredPoint, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let starts: Vec<u32> = starts.iter().take(STARTS).map(|start| start.1).collect();
            around.search_from(shard, links, &starts, options.ef, similarity);
            around.nearest().take(options.answers).map(|near| near.1).collect()
        },
    );
    answers.collect()
}

/// For each chunk of the shard, the points it should be linked to; may contain duplicates.
fn partners(shard: &ShardRows<'_>, answers: &[Vec<u32>], pivots: usize) -> Vec<Vec<u32>> {
    let mut partners = vec![Vec::new(); shard.chunks.len() as usize];
    let place = |point: u32| (point - shard.chunks.start) as usize;
    for answers in answers {
        for &pivot in answers.iter().take(pivots) {
            for &other in answers {
                partners[place(pivot)].push(other);
                partners[place(other)].push(pivot);
            }
        }
    }
    partners
}
