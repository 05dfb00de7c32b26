//! Links the points of a graph. Each point is inserted in turn, searches for its neighbours over
//! the existing links, and is linked with the best of them in both directions.
//!
//! Points are inserted in batches that grow with the graph. The points of a batch do not see each
//! other; `refine` corrects that. All cores therefore work on one batch, and the result does not
//! depend on which core did what.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::connect::Links;
use super::entries::{entry_count, shuffle_key};
use super::options::GraphOptions;
use super::parallel::GraphProgress;
use super::point_search::{PointSearch, ScoredPoint};
use super::refine::select_neighbours;
use super::rows::ShardRows;

/// The size of a batch is the number of points already linked divided by this, but at most `BATCH_MAX`.
const BATCH_SHARE: usize = 16;
const BATCH_MAX: usize = 1 << 13;
/// A walk starts from the best of these points, which are inserted before all others.
const LANDMARKS: usize = 64;
const STARTS: usize = 2;
/// The number of points that one core handles at a time.
const POINTS_PER_TASK: usize = 16;

/// Returns the links of the points and the entry points of searches.
pub(super) fn link(
    shard: &ShardRows<'_>,
    points: &[u32],
    options: &GraphOptions,
    done: &GraphProgress<'_>,
) -> (Links, Vec<u32>) {
    // Consecutive points in the law are alike. In this order, points from every part of the law come early.
    let mut order = points.to_vec();
    order.sort_unstable_by_key(|&point| (shuffle_key(point), point));
    let linking = Linking { shard, options, links_max: 2 * options.links_per_point, walkers: Mutex::default() };
    let mut links = Links::new(shard.chunks, linking.links_max);
    let mut linked = 0;
    while linked < order.len() {
        let (before, rest) = order.split_at(linked);
        let batch = &rest[..(linked / BATCH_SHARE).clamp(1, BATCH_MAX).min(rest.len())];
        let landmarks = &before[..before.len().min(LANDMARKS)];
        let chosen = linking.neighbours(landmarks, batch, &links);
        linking.add(batch, &chosen, &mut links);
        linked += batch.len();
        // The following steps take the other half of the time.
        done.set((linked / 2) as u32);
    }
    let mut entries = order;
    entries.truncate(entry_count(points.len()));
    entries.sort_unstable();
    (links, entries)
}

struct Linking<'a> {
    shard: &'a ShardRows<'a>,
    options: &'a GraphOptions,
    links_max: usize,
    /// Buffers that no thread uses at the moment.
    walkers: Mutex<Vec<PointSearch>>,
}

impl Linking<'_> {
    /// For each point of the batch, the points that it should be linked to.
    fn neighbours(&self, landmarks: &[u32], batch: &[u32], links: &Links) -> Vec<Vec<u32>> {
        let runs = batch.par_chunks(POINTS_PER_TASK).map(|run| {
            let walker = self.walkers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut around = walker.unwrap_or_else(|| PointSearch::new(self.shard.chunks));
            let found = run.iter().map(|&point| self.neighbours_of(point, landmarks, links, &mut around)).collect();
            self.walkers.lock().unwrap_or_else(PoisonError::into_inner).push(around);
            found
        });
        let runs: Vec<Vec<Vec<u32>>> = runs.collect();
        runs.into_iter().flatten().collect()
    }

    fn neighbours_of(&self, point: u32, landmarks: &[u32], links: &Links, around: &mut PointSearch) -> Vec<u32> {
        let mut starts: Vec<ScoredPoint> =
            landmarks.iter().map(|&mark| (self.shard.cosine(point, mark), mark)).collect();
        starts.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let starts: Vec<u32> = starts.iter().take(STARTS).map(|start| start.1).collect();
        around.search_from(self.shard, links, &starts, self.options.ef_construction, |other| {
            self.shard.cosine(point, other)
        });
        let mut seen: Vec<ScoredPoint> = around.nearest().collect();
        select_neighbours(self.shard, &mut seen, self.links_max, self.options.refine.stretch)
    }

    /// Links the points of a batch in both directions. A point with more links than allowed keeps the best.
    fn add(&self, batch: &[u32], chosen: &[Vec<u32>], links: &mut Links) {
        let mut incoming: Vec<(u32, u32)> = Vec::new();
        for (&point, chosen) in batch.iter().zip(chosen) {
            for &other in chosen {
                links.add(point, other);
                incoming.push((other, point));
            }
        }
        incoming.sort_unstable();
        let groups: Vec<&[(u32, u32)]> = incoming.chunk_by(|left, right| left.0 == right.0).collect();
        let old = &*links;
        let changed: Vec<(u32, Vec<u32>)> = groups
            .par_iter()
            .map(|group| {
                let point = group[0].0;
                let mut ends = old.of(point).to_vec();
                ends.extend(group.iter().map(|link| link.1));
                if ends.len() > self.links_max {
                    let mut seen: Vec<ScoredPoint> =
                        ends.iter().map(|&end| (self.shard.cosine(point, end), end)).collect();
                    ends = select_neighbours(self.shard, &mut seen, self.links_max, self.options.refine.stretch);
                }
                (point, ends)
            })
            .collect();
        for (point, ends) in changed {
            links.set(point, &ends);
        }
    }
}
