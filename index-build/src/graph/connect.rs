//! Makes sure that a search can get from every point to every other point.
//!
//! A point keeps its best links and drops the rest, so a tight cluster can end up with no link in
//! or no link out. Each unreachable part is linked to its nearest reachable point. A search can
//! start at any entry, so both directions count: the points reachable from the first point, and the
//! points that reach it.

use hornbook_corpus::ids::{ChunkOrdinal, OrdinalRange};

use super::error::GraphBuildError;
use super::rows::ShardRows;

/// Extra links that a point may have. The last one is reserved for a link that leads out.
const SLACK: usize = 16;

/// The links of the points of a shard, in rows of equal length.
pub(super) struct Links {
    chunks: OrdinalRange,
    capacity: usize,
    counts: Vec<u16>,
    ends: Vec<u32>,
}

impl Links {
    pub(super) fn new(chunks: OrdinalRange, links_per_point_max: usize) -> Self {
        let capacity = links_per_point_max + SLACK;
        let count = chunks.len() as usize;
        Self { chunks, capacity, counts: vec![0; count], ends: vec![0; count * capacity] }
    }

    pub(super) fn of(&self, point: u32) -> &[u32] {
        let place = self.place(point);
        &self.ends[place * self.capacity..][..usize::from(self.counts[place])]
    }

    /// Adds a link unless it exists, leads to its own point, or there is no room for it.
    pub(super) fn add(&mut self, from: u32, to: u32) {
        if from == to || self.room(from) == 0 || self.of(from).contains(&to) {
            return;
        }
        let place = self.place(from);
        self.ends[place * self.capacity + usize::from(self.counts[place])] = to;
        self.counts[place] += 1;
    }

    /// Replaces the links of a point.
    pub(super) fn set(&mut self, from: u32, ends: &[u32]) {
        let place = self.place(from);
        self.ends[place * self.capacity..][..ends.len()].copy_from_slice(ends);
        self.counts[place] = ends.len() as u16;
    }

    fn room(&self, point: u32) -> usize {
        self.capacity - usize::from(self.counts[self.place(point)])
    }

    fn place(&self, point: u32) -> usize {
        (point - self.chunks.start) as usize
    }

    /// The same links in the opposite direction.
    fn reversed(&self, points: &[u32]) -> Vec<Vec<u32>> {
        let mut reversed = vec![Vec::new(); self.counts.len()];
        for &from in points {
            for &to in self.of(from) {
                reversed[self.place(to)].push(from);
            }
        }
        reversed
    }
}

/// Adds missing links and returns how many were added.
pub(super) fn connect(shard: &ShardRows<'_>, points: &[u32], links: &mut Links) -> Result<u32, GraphBuildError> {
    let Some(&root) = points.first() else {
        return Ok(0);
    };
    let added = make_reachable(shard, points, root, links) + make_root_reachable(shard, points, root, links);
    let mut reached = ReachableSet::new(shard.chunks);
    reached.mark_reachable_from(root, |point| links.of(point));
    check_all_reached(points, &reached)?;
    let reversed = links.reversed(points);
    let mut reaching = ReachableSet::new(shard.chunks);
    reaching.mark_reachable_from(root, |point| &reversed[links.place(point)]);
    check_all_reached(points, &reaching)?;
    Ok(added)
}

/// Makes every point reachable from the root.
fn make_reachable(shard: &ShardRows<'_>, points: &[u32], root: u32, links: &mut Links) -> u32 {
    let mut reached = ReachableSet::new(shard.chunks);
    reached.mark_reachable_from(root, |point| links.of(point));
    let mut added = 0;
    for &point in points {
        if reached.has(point) {
            continue;
        }
        let can_take = |other: &u32| reached.has(*other) && links.room(*other) > 1;
        let own = nearest(shard, point, links.of(point).iter().copied().filter(can_take));
        let found = own.or_else(|| nearest(shard, point, points.iter().copied().filter(can_take)));
        let Some(nearest) = found else { continue };
        links.add(nearest, point);
        if links.room(point) > 1 {
            links.add(point, nearest);
        }
        added += 1;
        reached.mark_reachable_from(point, |point| links.of(point));
    }
    added
}

/// Makes the root reachable from every point.
fn make_root_reachable(shard: &ShardRows<'_>, points: &[u32], root: u32, links: &mut Links) -> u32 {
    let reversed = links.reversed(points);
    let place = |point: u32| (point - shard.chunks.start) as usize;
    let mut reaching = ReachableSet::new(shard.chunks);
    reaching.mark_reachable_from(root, |point| &reversed[place(point)]);
    let mut added = 0;
    for &point in points {
        if reaching.has(point) {
            continue;
        }
        let Some(nearest) = nearest(shard, point, points.iter().copied().filter(|&other| reaching.has(other))) else {
            continue;
        };
        links.add(point, nearest);
        added += 1;
        reaching.mark_reachable_from(point, |point| &reversed[place(point)]);
    }
    added
}

fn nearest(shard: &ShardRows<'_>, point: u32, others: impl Iterator<Item = u32>) -> Option<u32> {
    let ranked = others.map(|other| (shard.cosine(point, other), other));
    ranked.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, other)| other)
}

fn check_all_reached(points: &[u32], reached: &ReachableSet) -> Result<(), GraphBuildError> {
    let mut missing = points.iter().filter(|&&point| !reached.has(point));
    match missing.next() {
        None => Ok(()),
        Some(&first) => Err(GraphBuildError::Unreachable {
            point: ChunkOrdinal(first),
            points_unreachable: 1 + missing.count(),
            shard: reached.chunks,
        }),
    }
}

/// The points known to be reachable.
struct ReachableSet {
    chunks: OrdinalRange,
    marks: Vec<bool>,
    to_follow: Vec<u32>,
}

impl ReachableSet {
    fn new(chunks: OrdinalRange) -> Self {
        Self { chunks, marks: vec![false; chunks.len() as usize], to_follow: Vec::new() }
    }

    fn has(&self, point: u32) -> bool {
        self.marks[(point - self.chunks.start) as usize]
    }

    /// Marks a point and all points reachable from it.
    fn mark_reachable_from<'a>(&mut self, from: u32, links: impl Fn(u32) -> &'a [u32]) {
        self.mark(from);
        while let Some(point) = self.to_follow.pop() {
            links(point).iter().for_each(|&next| self.mark(next));
        }
    }

    fn mark(&mut self, point: u32) {
        let mark = &mut self.marks[(point - self.chunks.start) as usize];
        if !*mark {
            *mark = true;
            self.to_follow.push(point);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hornbook_corpus::vectors::{SpaceName, VectorRows, VectorWriter};

    const DIMS: usize = 32;

    /// Rows that all differ, so none are merged.
    fn rows(dir: &std::path::Path, count: usize) -> VectorRows {
        let space: SpaceName = "test-32".parse().unwrap();
        let mut writer = VectorWriter::create(dir, &space, DIMS).unwrap();
        for chunk in 0..count {
            let vector: Vec<f32> =
                (0..DIMS).map(|d| if d == chunk % DIMS { 1.0 } else { 0.01 * chunk as f32 }).collect();
            writer.push(&vector).unwrap();
        }
        writer.finish().unwrap();
        VectorRows::open(dir, &space).unwrap()
    }

    #[test]
    fn unreachable_parts_are_linked_in_both_directions() {
        let dir = tempfile::tempdir().unwrap();
        let rows = rows(dir.path(), 9);
        let shard = ShardRows::new(&rows, OrdinalRange::new(0, 9));
        let points: Vec<u32> = (0..9).collect();
        let mut links = Links::new(shard.chunks, 4);
        // A ring of three; a ring with only links in; a ring with only links out.
        for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 5), (5, 3), (6, 7), (7, 8), (8, 6), (6, 0)] {
            links.add(from, to);
        }
        assert!(connect(&shard, &points, &mut links).unwrap() >= 2);
        assert_eq!(connect(&shard, &points, &mut links).unwrap(), 0);
    }

    #[test]
    fn an_unlinkable_point_is_an_error_with_its_chunk() {
        let dir = tempfile::tempdir().unwrap();
        let rows = rows(dir.path(), 30);
        let shard = ShardRows::new(&rows, OrdinalRange::new(0, 30));
        let points: Vec<u32> = (0..30).collect();
        let mut links = Links::new(shard.chunks, 1);
        // All points but the last have the maximum number of links, and none of them leads to the last.
        for from in 0..29 {
            (1..=18).for_each(|step| links.add(from, (from + step) % 29));
        }
        let error = connect(&shard, &points, &mut links).unwrap_err().to_string();
        assert!(error.contains("1 points, the first at chunk 29"), "{error}");
    }
}
