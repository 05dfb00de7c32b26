//! Reuses the links of an earlier graph, so that a build with few changes links only new points.
//! Shards reuse the links of the earlier shards. A range with its own graph reuses the links of the
//! most similar earlier range.
//!
//! A point whose row was already a point keeps its links to the points that still exist. Every
//! other point is inserted: it searches for its neighbours over the existing links and is linked
//! with the best of them in both directions. The result is as good as a new graph as long as few
//! points are inserted. The builder counts the inserted points over all builds and builds a new
//! graph when there are too many.

use std::collections::HashMap;
use std::sync::OnceLock;

use hornbook_corpus::section_file::SectionFileError;
use hornbook_corpus::vectors::{Graph, GraphFile, RowsView, SpaceName, VectorRows};

use super::collapse::{Clusters, hash_of_codes};
use super::connect::Links;
use super::entries::entries;
use super::point_search::{PointSearch, ScoredPoint};
use super::refine::{RefineOptions, select_neighbours};
use super::rows::ShardRows;

/// At most one point in this many may be inserted.
const INSERTED_SHARE: u32 = 5;
/// The number of entries that a new point starts its search from.
const STARTS: usize = 4;

/// The number of chunks of a range, evenly spread, that are sampled to find the most similar earlier range.
const SAMPLED: u32 = 256;
/// The maximum number of chunks with equal rows that are examined.
const EQUAL_MAX: usize = 8;

/// The vectors and graphs of an earlier snapshot, built with the same options.
#[derive(Debug)]
pub struct EarlierGraph {
    rows: VectorRows,
    graph: GraphFile,
    /// The hash of every row with its chunk, ascending; computed on first use.
    by_hash: OnceLock<Vec<(u64, u32)>>,
}

impl EarlierGraph {
    pub fn open(dir: &std::path::Path, space: &SpaceName) -> Result<Self, SectionFileError> {
        let rows = VectorRows::open(dir, space)?;
        let graph = GraphFile::open(&rows)?;
        Ok(Self { rows, graph, by_hash: OnceLock::new() })
    }

    pub(super) fn shards(&self) -> Vec<Graph<'_>> {
        self.graph.view().shards().collect()
    }

    /// How many points were inserted into this shard since its last full build.
    pub(super) fn inserted(&self, place: usize) -> u32 {
        self.graph.view().shards().nth(place).map_or(0, |shard| shard.inserted)
    }

    /// The earlier range, among those with their own graph, that shares the most sampled chunks,
    /// weighted by the ratio of the sizes.
    pub(super) fn most_similar_range(&self, shard: &ShardRows<'_>) -> Option<Graph<'_>> {
        let ranges: Vec<Graph<'_>> = self.graph.view().ranges().collect();
        let mut shared = vec![0_u32; ranges.len()];
        for chunk in shard.chunks.iter().step_by((shard.chunks.len() / SAMPLED).max(1) as usize) {
            let same: Vec<u32> = self.with_codes(shard.rows.codes(chunk)).collect();
            for (shared, range) in shared.iter_mut().zip(&ranges) {
                *shared += u32::from(same.iter().any(|&same| range.chunks.contains(same)));
            }
        }
        let likeness = |place: usize| {
            let (old, new) = (ranges[place].chunks.len(), shard.chunks.len());
            f64::from(shared[place]) * f64::from(old.min(new)) / f64::from(old.max(new))
        };
        let best = (0..ranges.len()).max_by(|&a, &b| likeness(a).total_cmp(&likeness(b)))?;
        (shared[best] > 0).then(|| ranges[best])
    }

    /// Up to `EQUAL_MAX` chunks whose codes have this hash.
    fn with_codes(&self, codes: &[i8]) -> impl Iterator<Item = u32> {
        let rows = self.rows.view();
        let by_hash = self.by_hash.get_or_init(|| {
            let mut hashes: Vec<(u64, u32)> =
                (0..self.rows.chunk_count()).map(|chunk| (hash_of_codes(rows.codes(chunk)), chunk)).collect();
            hashes.sort_unstable();
            hashes
        });
        let hash = hash_of_codes(codes);
        let first = by_hash.partition_point(|&(other, _)| other < hash);
        by_hash[first..].iter().take_while(move |(other, _)| *other == hash).take(EQUAL_MAX).map(|&(_, chunk)| chunk)
    }
}

/// The earlier graphs that a new graph reuses.
pub(super) struct ReusableGraphs<'e> {
    pub(super) earlier: &'e EarlierGraph,
    /// Graphs that do not overlap.
    pub(super) graphs: Vec<Graph<'e>>,
    /// How many points were inserted into them since their last full build.
    pub(super) inserted: u32,
}

/// The links of a shard, most of them reused.
pub(super) struct ReusedLinks {
    pub(super) links: Links,
    pub(super) entries: Vec<u32>,
    /// The points that were inserted, ascending.
    pub(super) inserted: Vec<u32>,
}

/// Options for inserting points.
#[derive(Clone, Copy)]
pub(super) struct ReuseOptions<'o> {
    pub(super) refine: &'o RefineOptions,
    /// The number of candidates that the search of a new point keeps.
    pub(super) ef: usize,
    /// How many links a point may get later.
    pub(super) room: usize,
}

/// Returns None if too many points are new, so that a full build of the shard is better.
pub(super) fn reuse_links(
    shard: &ShardRows<'_>,
    clusters: &Clusters,
    old: &ReusableGraphs<'_>,
    options: ReuseOptions<'_>,
) -> Option<ReusedLinks> {
    let kept = KeptPoints::find(shard, clusters, &old.earlier.rows.view(), &old.graphs);
    let inserted: Vec<u32> = clusters.points.iter().copied().filter(|&point| !kept.has(shard, point)).collect();
    let too_many = (inserted.len() as u32).saturating_add(old.inserted) > clusters.points.len() as u32 / INSERTED_SHARE;
    if too_many || inserted.len() == clusters.points.len() {
        return None;
    }
    let mut links = Links::new(shard.chunks, options.refine.links_max + options.room);
    for graph in &old.graphs {
        for (before, now) in graph.chunks.iter().filter_map(|before| Some((before, kept.now(before)?))) {
            for now_end in graph.links(before).iter().filter_map(|&end| kept.now(end)) {
                links.add(now, now_end);
            }
        }
    }
    let old_entries = old.graphs.iter().flat_map(|graph| graph.entries.iter().copied());
    let entries = entries(old_entries.filter_map(|entry| kept.now(entry)).collect(), &clusters.points);
    let mut around = PointSearch::new(shard.chunks);
    for &point in &inserted {
        insert(shard, point, &entries, options, &mut around, &mut links);
    }
    Some(ReusedLinks { links, entries, inserted })
}

fn insert(
    shard: &ShardRows<'_>,
    point: u32,
    entries: &[u32],
    options: ReuseOptions<'_>,
    around: &mut PointSearch,
    links: &mut Links,
) {
    let mut starts: Vec<ScoredPoint> = entries.iter().map(|&entry| (shard.cosine(point, entry), entry)).collect();
    starts.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let starts: Vec<u32> = starts.iter().take(STARTS).map(|start| start.1).collect();
    around.search_from(shard, links, &starts, options.ef, |other| shard.cosine(point, other));
    let mut seen: Vec<ScoredPoint> = around.nearest().filter(|near| near.1 != point).collect();
    for other in select_neighbours(shard, &mut seen, options.refine.links_max, options.refine.stretch) {
        links.add(point, other);
        links.add(other, point);
    }
}

/// The points of an earlier graph that are, or belong to, points of the new graph.
struct KeptPoints {
    /// The new point of each old chunk.
    now: Vec<u32>,
    /// For each new chunk, by its place in the shard: whether it is the new point of an old point.
    is_kept: Vec<bool>,
}

const NONE: u32 = u32::MAX;

impl KeptPoints {
    fn find(shard: &ShardRows<'_>, clusters: &Clusters, old_rows: &RowsView<'_>, old: &[Graph<'_>]) -> Self {
        let place = |chunk: u32| (chunk - shard.chunks.start) as usize;
        let mut by_row: HashMap<u64, u32> = HashMap::with_capacity(shard.chunks.len() as usize);
        for chunk in shard.chunks.iter() {
            by_row.entry(hash_of_codes(shard.rows.codes(chunk))).or_insert(chunk);
        }
        let point_of = clusters.points_by_chunk(shard.chunks);
        let old_end = old.iter().map(|graph| graph.chunks.end).max().unwrap_or(0);
        let mut kept = Self { now: vec![NONE; old_end as usize], is_kept: vec![false; shard.chunks.len() as usize] };
        let points =
            old.iter().flat_map(|&graph| graph.chunks.iter().filter(move |&before| !graph.links(before).is_empty()));
        for before in points {
            let codes = old_rows.codes(before);
            let same = by_row.get(&hash_of_codes(codes)).filter(|&&chunk| shard.rows.codes(chunk) == codes);
            if let Some(&chunk) = same {
                let point = point_of[place(chunk)];
                kept.now[before as usize] = point;
                kept.is_kept[place(point)] = true;
            }
        }
        kept
    }

    fn has(&self, shard: &ShardRows<'_>, point: u32) -> bool {
        self.is_kept[(point - shard.chunks.start) as usize]
    }

    fn now(&self, before: u32) -> Option<u32> {
        self.now.get(before as usize).copied().filter(|&now| now != NONE)
    }
}
