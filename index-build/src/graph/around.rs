//! The builder's own graph search: finds the points nearest to a vector. Unlike the server's search it remembers every
//! point it has seen.

use hornbook_corpus::ids::OrdinalRange;

use super::connect::Links;

/// A similarity and the point it belongs to.
pub(super) type Seen = (f32, u32);

/// A walk's buffers, reused from walk to walk.
pub(super) struct Around {
    chunks: OrdinalRange,
    visited: Vec<u32>,
    round: u32,
    /// The best seen so far, best first, and whether their links were followed.
    nearest: Vec<(f32, u32, bool)>,
    seen: Vec<Seen>,
}

impl Around {
    pub(super) fn new(chunks: OrdinalRange) -> Self {
        Self { chunks, visited: vec![0; chunks.len() as usize], round: 0, nearest: Vec::new(), seen: Vec::new() }
    }

    /// The `ef` nearest points, best first, of those that a walk meets behind the ends of the `starts`' links.
    pub(super) fn look(&mut self, links: &Links, starts: &[u32], ef: usize, similarity: impl Fn(u32) -> f32) {
        self.round += 1;
        self.seen.clear();
        self.nearest.clear();
        for &start in starts {
            self.meet(start, ef, &similarity);
        }
        while let Some(next) = self.nearest.iter_mut().find(|near| !near.2) {
            next.2 = true;
            for &end in links.of(next.1) {
                self.meet(end, ef, &similarity);
            }
        }
    }

    fn meet(&mut self, point: u32, ef: usize, similarity: impl Fn(u32) -> f32) {
        let mark = &mut self.visited[(point - self.chunks.start) as usize];
        if *mark == self.round {
            return;
        }
        *mark = self.round;
        let similarity = similarity(point);
        if self.nearest.len() < ef || self.nearest.last().is_some_and(|last| similarity > last.0) {
            let place = self.nearest.partition_point(|near| near.0 >= similarity);
            self.nearest.insert(place, (similarity, point, false));
            self.nearest.truncate(ef);
        }
    }

    pub(super) fn nearest(&self) -> impl Iterator<Item = Seen> {
        self.nearest.iter().map(|near| (near.0, near.1))
    }
}
