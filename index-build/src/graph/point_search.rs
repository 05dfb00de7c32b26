//! The graph search of the builder: finds the points nearest to a vector. Unlike the search of the
//! server, it remembers every point it has seen.

use hornbook_corpus::ids::OrdinalRange;

use super::connect::Links;
use super::rows::ShardRows;

/// A similarity and its point.
pub(super) type ScoredPoint = (f32, u32);

/// The buffers of a walk, reused by the next walk.
pub(super) struct PointSearch {
    chunks: OrdinalRange,
    visited: Vec<u32>,
    round: u32,
    /// The best points so far, best first, each with a flag that says whether its links were followed.
    nearest: Vec<(f32, u32, bool)>,
    /// The links of all points before this index were followed.
    followed: usize,
}

impl PointSearch {
    pub(super) fn new(chunks: OrdinalRange) -> Self {
        Self { chunks, visited: vec![0; chunks.len() as usize], round: 0, nearest: Vec::new(), followed: 0 }
    }

    /// Searches from `starts` and keeps the `ef` nearest points that the walk meets, best first.
    pub(super) fn search_from(
        &mut self,
        shard: &ShardRows<'_>,
        links: &Links,
        starts: &[u32],
        ef: usize,
        similarity: impl Fn(u32) -> f32,
    ) {
        self.round += 1;
        self.followed = 0;
        self.nearest.clear();
        for &start in starts {
            self.visit_point(start, ef, &similarity);
        }
        while let Some(next) = self.nearest.get_mut(self.followed) {
            self.followed += 1;
            if std::mem::replace(&mut next.2, true) {
                continue;
            }
            let ends = links.of(next.1);
            // The rows are read in an order that the hardware cannot predict.
            ends.iter().filter(|&&end| !self.is_visited(end)).for_each(|&end| shard.rows.prefetch_codes(end));
            for &end in ends {
                self.visit_point(end, ef, &similarity);
            }
        }
    }

    fn is_visited(&self, point: u32) -> bool {
        self.visited[(point - self.chunks.start) as usize] == self.round
    }

    fn visit_point(&mut self, point: u32, ef: usize, similarity: impl Fn(u32) -> f32) {
        let mark = &mut self.visited[(point - self.chunks.start) as usize];
        if *mark == self.round {
            return;
        }
        *mark = self.round;
        let similarity = similarity(point);
        if self.nearest.len() < ef || self.nearest.last().is_some_and(|last| similarity > last.0) {
            let place = self.nearest.partition_point(|near| near.0 >= similarity);
            self.nearest.insert(place, (similarity, point, false));
            self.followed = self.followed.min(place);
            self.nearest.truncate(ef);
        }
    }

    pub(super) fn nearest(&self) -> impl Iterator<Item = ScoredPoint> {
        self.nearest.iter().map(|near| (near.0, near.1))
    }
}
