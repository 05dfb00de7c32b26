//! Builds the graphs over the vectors of a space and writes them next to the vectors. First come
//! the shards, which together cover all chunks, then the ranges that get their own graph
//! (`ranges`). Several graphs are built in parallel, as far as memory allows (`parallel`).
//!
//! Each graph is built in five steps. Equal and nearly equal vectors are merged into points
//! (`collapse`). The points are inserted batch by batch (`link`). Their links are improved
//! (`refine`). Points that answer the same question are linked (`bridge`). Points that no search
//! could reach are linked (`connect`). No step depends on the number of cores, so the same vectors
//! give the same bytes.

mod bridge;
mod collapse;
mod connect;
mod entries;
mod error;
mod link;
mod link_reuse;
mod options;
mod parallel;
mod point_search;
mod ranges;
mod refine;
mod rows;
mod stats;
#[cfg(test)]
mod tests;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::vectors::{ChunkLinks, GraphWriter, VectorRows};

use bridge::bridge;
pub use bridge::{BridgeOptions, Probes};
use collapse::{Clusters, collapse};
use connect::{Links, connect};
pub use error::GraphBuildError;
use link::link;
pub use link_reuse::EarlierGraph;
use link_reuse::{ReusableGraphs, ReuseOptions, ReusedLinks, reuse_links};
pub use options::GraphOptions;
use parallel::{BuiltGraph, GraphProgress, build_in_parallel};
pub use ranges::RangeOptions;
use ranges::{ranges_with_graph, shards};
pub use refine::RefineOptions;
use refine::refine;
use rows::ShardRows;
pub use stats::GraphStats;

/// The chunks in work at once may exceed a full shard by one part in this many.
const EXTRA_CHUNKS_DIVISOR: u32 = 4;

/// The input of a graph build, besides the vectors.
#[derive(Clone, Copy, Debug)]
pub struct GraphInput<'a> {
    /// Jurisdictions, code bodies and subtrees, as chunk ranges: the ranges that searches filter by.
    pub ranges: &'a [OrdinalRange],
    /// Vectors of likely queries in the same embedding space; may be empty.
    pub probes: &'a Probes,
    /// The earlier graph whose unchanged parts are reused.
    pub earlier: Option<&'a EarlierGraph>,
}

/// Writes `graph-<space>.bin` next to the vectors. `progress` receives the number of chunks done
/// and the total. A chunk counts once for each graph that contains it.
pub fn build_graph(
    rows: &VectorRows,
    input: &GraphInput<'_>,
    options: &GraphOptions,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<GraphStats, GraphBuildError> {
    let chunks = rows.chunk_count();
    let shards = shards(chunks, options.shard_chunks_max);
    let ranges = ranges_with_graph(input.ranges, chunks, options.shard_chunks_max, &options.ranges);
    let total = shards.iter().chain(&ranges).map(|graph| graph.len()).sum();
    let mut writer = GraphWriter::create(rows)?;
    let mut stats =
        GraphStats { chunks, shards: shards.len() as u32, ranges: ranges.len() as u32, ..GraphStats::default() };
    let graphs: Vec<OrdinalRange> = shards.iter().chain(&ranges).copied().collect();
    let sizes: Vec<u32> = graphs.iter().map(|graph| graph.len()).collect();
    let at_once = options.shard_chunks_max.saturating_add(options.shard_chunks_max / EXTRA_CHUNKS_DIVISOR);
    let build = |place: usize, done: &GraphProgress<'_>| {
        let shard = ShardRows::new(rows, graphs[place]);
        if place < shards.len() {
            let old = input.earlier.map(|earlier| ReusableGraphs {
                inserted: earlier.inserted(place),
                graphs: earlier.shards(),
                earlier,
            });
            return build_one(&shard, input.probes, options, old.as_ref(), done);
        }
        // A range uses only the probes whose headings lie in it.
        let probes = input.probes.of_chunks(|chunk| shard.chunks.contains(chunk));
        let old = input.earlier.and_then(|earlier| {
            let graph = earlier.most_similar_range(&shard)?;
            Some(ReusableGraphs { inserted: graph.inserted, graphs: vec![graph], earlier })
        });
        build_one(&shard, &probes, options, old.as_ref(), done)
    };
    let take = |place: usize, built: BuiltGraph| {
        writer.begin(graphs[place], &built.entries, built.stats.inserted);
        built.write(&mut writer)?;
        if place < shards.len() {
            stats.add_shard(&built.stats);
        } else {
            stats.links += built.stats.links;
            stats.links_added += built.stats.links_added;
        }
        Ok(())
    };
    build_in_parallel(&sizes, at_once, rows.directory(), build, take, |done| progress(done, total))?;
    writer.finish()?;
    progress(total, total);
    Ok(stats)
}

fn build_one(
    shard: &ShardRows<'_>,
    probes: &Probes,
    options: &GraphOptions,
    old: Option<&ReusableGraphs<'_>>,
    done: &GraphProgress<'_>,
) -> Result<BuiltGraph, GraphBuildError> {
    let clusters = collapse(shard, options.near_cosine_min);
    let carrying = ReuseOptions { refine: &options.refine, ef: options.ef_construction, room: options.bridge_room() };
    let carried = old.and_then(|old| Some((old, reuse_links(shard, &clusters, old, carrying)?)));
    let mut stats = GraphStats { points: clusters.points.len() as u32, ..GraphStats::default() };
    let (mut links, entries) = match carried {
        Some((old, carried)) => {
            stats.inserted = old.inserted + carried.inserted.len() as u32;
            link_inserted(shard, &clusters, carried, probes, options)
        }
        None => link_all(shard, &clusters, probes, options, done),
    };
    stats.links_added = connect(shard, &clusters.points, &mut links)?;
    let mut built = BuiltGraph { entries, stats, lists: Vec::new() };
    for chunk in shard.chunks.iter() {
        built.push(ChunkLinks { links: links.of(chunk), near: clusters.near(chunk), equal: clusters.equal(chunk) });
    }
    Ok(built)
}

/// Links all points of a shard. Returns the links and the entry points of searches.
fn link_all(
    shard: &ShardRows<'_>,
    clusters: &Clusters,
    probes: &Probes,
    options: &GraphOptions,
    done: &GraphProgress<'_>,
) -> (Links, Vec<u32>) {
    // Linking takes half of the time. The rest is reported in a few large steps.
    let eighths = |count: u64| (u64::from(shard.chunks.len()) * count / 8) as u32;
    let (links, entries) = link(shard, &clusters.points, options, done);
    let mut links = refine(shard, &clusters.points, &links, &options.refine, options.bridge_room());
    done.set(eighths(5));
    bridge(shard, &clusters.points, &entries, probes, &options.bridge, &mut links);
    done.set(eighths(7));
    (links, entries)
}

/// Bridges only the probes of inserted points; all other links are reused.
fn link_inserted(
    shard: &ShardRows<'_>,
    clusters: &Clusters,
    carried: ReusedLinks,
    probes: &Probes,
    options: &GraphOptions,
) -> (Links, Vec<u32>) {
    let ReusedLinks { mut links, entries, inserted } = carried;
    let point_of = clusters.points_by_chunk(shard.chunks);
    let is_new = |chunk: u32| {
        let is_here = shard.chunks.contains(chunk);
        is_here && inserted.binary_search(&point_of[(chunk - shard.chunks.start) as usize]).is_ok()
    };
    bridge(shard, &clusters.points, &entries, &probes.of_chunks(is_new), &options.bridge, &mut links);
    (links, entries)
}
