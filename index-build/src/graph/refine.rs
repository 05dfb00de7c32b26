//! Improves the links that points got when they were inserted.
//!
//! A point that was inserted early saw few other points, and none of its own batch. One more round
//! corrects that: every point searches its surroundings in the finished graph and keeps the links
//! that lead where no other kept link leads. Each point reads only the old links, so the round
//! gives the same links in any order and runs on all cores.

use rayon::prelude::*;

use super::connect::Links;
use super::point_search::{PointSearch, ScoredPoint};
use super::rows::ShardRows;

/// Options of the refinement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefineOptions {
    /// The number of nearest points that each point considers.
    pub ef: usize,
    /// The maximum number of links that a point keeps.
    pub links_max: usize,
    /// A link is dropped if a kept link ends this many times nearer to its end, measured as distance.
    pub stretch: f32,
}

/// Returns the improved links. Each point has room for `room` more.
pub(super) fn refine(
    shard: &ShardRows<'_>,
    points: &[u32],
    old: &Links,
    options: &RefineOptions,
    room: usize,
) -> Links {
    let chosen: Vec<Vec<u32>> = points
        .par_iter()
        .map_init(
            || (PointSearch::new(shard.chunks), Vec::new()),
            |(around, seen), &point| {
                around.search_from(shard, old, &[point], options.ef + 1, |other| shard.cosine(point, other));
                let own = old.of(point).iter().map(|&other| (shard.cosine(point, other), other));
                seen.clear();
                seen.extend(around.nearest().chain(own).filter(|other| other.1 != point));
                select_neighbours(shard, seen, options.links_max, options.stretch)
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
            let mut seen: Vec<ScoredPoint> = chosen.iter().map(|&other| (shard.cosine(point, other), other)).collect();
            select_neighbours(shard, &mut seen, options.links_max, options.stretch)
        })
        .collect();
    let mut links = Links::new(shard.chunks, options.links_max + room);
    for (&point, ends) in points.iter().zip(&both) {
        ends.iter().for_each(|&end| links.add(point, end));
    }
    links
}

/// Selects the seen points that are worth a link, nearest first. A point is skipped if a kept point
/// leads nearer to it.
pub(super) fn select_neighbours(
    shard: &ShardRows<'_>,
    seen: &mut Vec<ScoredPoint>,
    links_max: usize,
    stretch: f32,
) -> Vec<u32> {
    seen.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    seen.dedup();
    let mut kept: Vec<u32> = Vec::with_capacity(links_max);
    for &(similarity, point) in seen.iter() {
        if kept.len() == links_max {
            break;
        }
        // The squared distance between unit vectors is twice the difference between one and the cosine.
        let bar = 1.0 - (1.0 - similarity) / stretch;
        if kept.iter().all(|&other| shard.cosine(point, other) < bar) {
            kept.push(point);
        }
    }
    kept
}
