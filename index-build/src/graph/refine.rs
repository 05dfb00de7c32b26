//! Improves the links that points got when they were inserted.
//!
//! A point that was inserted early saw few others, and none of its own batch. One more round corrects that: every point
//! searches around itself in the finished graph, and keeps those links that lead where no other kept link leads. Each
//! point reads only the old links, so the round gives the same links in any order and runs on all cores.

use rayon::prelude::*;

use super::around::{Around, Seen};
use super::connect::Links;
use super::rows::ShardRows;

/// How the first links are improved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefineOptions {
    /// How many of the nearest points each point looks at.
    pub ef: usize,
    /// The most links a point keeps.
    pub links_max: usize,
    /// A link is dropped if a kept one ends so many times nearer to its end, as distances go.
    pub stretch: f32,
}

/// The bettered links; each point has room for `room` more.
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
            || (Around::new(shard.chunks), Vec::new()),
            |(around, seen), &point| {
                around.look(shard, old, &[point], options.ef + 1, |other| shard.cosine(point, other));
                let own = old.of(point).iter().map(|&other| (shard.cosine(point, other), other));
                seen.clear();
                seen.extend(around.nearest().chain(own).filter(|other| other.1 != point));
                choose(shard, seen, options.links_max, options.stretch)
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
            choose(shard, &mut seen, options.links_max, options.stretch)
        })
        .collect();
    let mut links = Links::new(shard.chunks, options.links_max + room);
    for (&point, ends) in points.iter().zip(&both) {
        ends.iter().for_each(|&end| links.add(point, end));
    }
    links
}

/// Of the points seen, in any order, those worth a link, nearest first: none that a kept one leads nearer to.
pub(super) fn choose(shard: &ShardRows<'_>, seen: &mut Vec<Seen>, links_max: usize, stretch: f32) -> Vec<u32> {
    seen.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    seen.dedup();
    let mut kept: Vec<u32> = Vec::with_capacity(links_max);
    for &(similarity, point) in seen.iter() {
        if kept.len() == links_max {
            break;
        }
        // Distances between unit vectors: the square of one is twice what is missing from the cosine.
        let bar = 1.0 - (1.0 - similarity) / stretch;
        if kept.iter().all(|&other| shard.cosine(point, other) < bar) {
            kept.push(point);
        }
    }
    kept
}
