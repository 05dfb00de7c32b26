//! Betters the links that hnsw_rs made.
//!
//! hnsw_rs lets a point with too many links drop the farthest, not the least useful, and never looks at a point again. One
//! more round repairs both: every point looks around itself in the finished graph, and keeps of all it sees the links that
//! lead somewhere no kept one leads. Each point reads only the old links, so the round gives the same links in any order
//! and runs on all cores.

use hornbook_corpus::ids::OrdinalRange;
use rayon::prelude::*;

use super::ShardRows;
use super::connect::Links;

pub(super) struct RefineOptions {
    /// How many of the nearest points each point looks at.
    pub(super) ef: usize,
    /// The most links a point keeps.
    pub(super) links_max: usize,
    /// A link is dropped if a kept one ends so many times nearer to its end, as distances go.
    pub(super) stretch: f32,
}

impl Default for RefineOptions {
    fn default() -> Self {
        Self { ef: 64, links_max: 32, stretch: 1.2 }
    }
}

/// A similarity and the point it belongs to, by descending similarity.
type Seen = (f32, u32);

pub(super) fn refine(shard: &ShardRows<'_>, points: &[u32], old: &Links, options: &RefineOptions) -> Links {
    let chosen: Vec<Vec<u32>> = points
        .par_iter()
        .map_init(
            || Around::new(shard.chunks),
            |around, &point| {
                around.look(shard, old, point, options.ef);
                choose(shard, &mut around.seen, options)
            },
        )
        .collect();
    let mut incoming = vec![Vec::new(); shard.chunks.len() as usize];
    for (&point, chosen) in points.iter().zip(&chosen) {
        for &end in chosen {
            incoming[(end - shard.chunks.start) as usize].push(point);
        }
    }
    let both: Vec<Vec<u32>> = points
        .par_iter()
        .zip(chosen)
        .map(|(&point, mut chosen)| {
            chosen.extend_from_slice(&incoming[(point - shard.chunks.start) as usize]);
            chosen.sort_unstable();
            chosen.dedup();
            if chosen.len() <= options.links_max {
                return chosen;
            }
            let mut seen: Vec<Seen> = chosen.iter().map(|&other| (shard.cosine(point, other), other)).collect();
            choose(shard, &mut seen, options)
        })
        .collect();
    let mut links = Links::new(shard.chunks, options.links_max);
    for (&point, ends) in points.iter().zip(&both) {
        ends.iter().for_each(|&end| links.add(point, end));
    }
    links
}

/// Of what was seen, the links worth keeping, nearest first.
fn choose(shard: &ShardRows<'_>, seen: &mut [Seen], options: &RefineOptions) -> Vec<u32> {
    seen.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<u32> = Vec::with_capacity(options.links_max);
    for &(similarity, point) in seen.iter() {
        if kept.len() == options.links_max {
            break;
        }
        // Distances between unit vectors: the square of one is twice what is missing from the cosine.
        let bar = 1.0 - (1.0 - similarity) / options.stretch;
        if kept.iter().all(|&other| shard.cosine(point, other) < bar) {
            kept.push(point);
        }
    }
    kept
}

/// What a walk around one point saw; its buffers are reused.
struct Around {
    chunks: OrdinalRange,
    visited: Vec<u32>,
    round: u32,
    /// The best seen so far, best first, and whether their links were followed.
    nearest: Vec<(f32, u32, bool)>,
    seen: Vec<Seen>,
}

impl Around {
    fn new(chunks: OrdinalRange) -> Self {
        Self { chunks, visited: vec![0; chunks.len() as usize], round: 0, nearest: Vec::new(), seen: Vec::new() }
    }

    fn look(&mut self, shard: &ShardRows<'_>, links: &Links, point: u32, ef: usize) {
        self.round += 1;
        self.seen.clear();
        self.nearest.clear();
        self.visited[(point - self.chunks.start) as usize] = self.round;
        self.follow(shard, links, point, point, ef);
        let own = self.seen.len();
        while let Some(next) = self.nearest.iter_mut().find(|near| !near.2) {
            next.2 = true;
            let from = next.1;
            self.follow(shard, links, point, from, ef);
        }
        self.seen.truncate(own);
        let nearest = self.nearest.iter().map(|near| (near.0, near.1));
        self.seen.extend(nearest);
        self.seen.sort_unstable_by_key(|seen| seen.1);
        self.seen.dedup_by_key(|seen| seen.1);
    }

    fn follow(&mut self, shard: &ShardRows<'_>, links: &Links, point: u32, from: u32, ef: usize) {
        for &end in links.of(from) {
            let mark = &mut self.visited[(end - self.chunks.start) as usize];
            if *mark == self.round {
                continue;
            }
            *mark = self.round;
            let similarity = shard.cosine(point, end);
            self.seen.push((similarity, end));
            if self.nearest.len() < ef || self.nearest.last().is_some_and(|last| similarity > last.0) {
                let place = self.nearest.partition_point(|near| near.0 >= similarity);
                self.nearest.insert(place, (similarity, end, false));
                self.nearest.truncate(ef);
            }
        }
    }
}
