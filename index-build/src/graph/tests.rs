//! Tests that graphs are complete, reproducible, fully reachable, and good enough to search.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU32;

use hornbook_corpus::vectors::{ChunkFilter, Effort, Graph, Neighbour, SpaceName, VectorIndex, VectorWriter, Work};
use proptest::prelude::*;

use super::*;

const DIMS: usize = 64;

fn space() -> SpaceName {
    "test-64".parse().unwrap()
}

/// Pseudo-random numbers that are the same in every run.
struct TestRandom(u64);

impl TestRandom {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1 << 24) as f32) * 2.0 - 1.0
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMS).map(|_| self.next()).collect()
    }

    /// Vectors around centres. With a spread of zero they are equal, with a small one nearly equal.
    fn clustered(&mut self, clusters: usize, per_cluster: usize, spread: f32) -> Vec<Vec<f32>> {
        let mut vectors = Vec::new();
        for _ in 0..clusters {
            let centre = self.vector();
            for _ in 0..per_cluster {
                vectors.push(unit(&centre.iter().map(|value| value + spread * self.next()).collect::<Vec<_>>()));
            }
        }
        vectors
    }
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().map(|value| value / norm).collect()
}

fn build(dir: &Path, vectors: &[Vec<f32>], options: &GraphOptions) -> (VectorIndex, GraphStats) {
    build_with(dir, vectors, &[], &[], options)
}

fn build_with_probes(
    dir: &Path,
    vectors: &[Vec<f32>],
    asked: &[Vec<f32>],
    options: &GraphOptions,
) -> (VectorIndex, GraphStats) {
    build_with(dir, vectors, asked, &[], options)
}

fn build_with(
    dir: &Path,
    vectors: &[Vec<f32>],
    asked: &[Vec<f32>],
    ranges: &[OrdinalRange],
    options: &GraphOptions,
) -> (VectorIndex, GraphStats) {
    let mut probes = Probes::new(DIMS);
    asked.iter().for_each(|probe| probes.push(0, probe));
    let mut writer = VectorWriter::create(dir, &space(), DIMS).unwrap();
    vectors.iter().for_each(|vector| writer.push(vector).unwrap());
    writer.finish().unwrap();
    let rows = VectorRows::open(dir, &space()).unwrap();
    let mut last = 0;
    let input = GraphInput { ranges, probes: &probes, earlier: None };
    let stats = build_graph(&rows, &input, options, &mut |done, total| {
        assert!(last <= done && done <= total, "progress went from {last} to {done} of {total}");
        last = done;
    });
    assert_eq!(u64::from(last), options.chunks_linked(rows.chunk_count(), ranges));
    (VectorIndex::open(dir, &space()).unwrap(), stats.unwrap())
}

fn small() -> GraphOptions {
    GraphOptions { links_per_point: 6, ef_construction: 24, ..GraphOptions::default() }
}

/// Asserts that every chunk is in the shards exactly once, and that in each graph a walk reaches
/// every point from every entry.
fn assert_complete_and_reachable(index: &VectorIndex) {
    let view = index.graph().view();
    assert_once_and_in_reach(view.shards(), OrdinalRange::new(0, index.rows().chunk_count()));
    view.ranges().for_each(|range| assert_once_and_in_reach([range].into_iter(), range.chunks));
}

fn assert_once_and_in_reach<'a>(graphs: impl Iterator<Item = Graph<'a>>, chunks: OrdinalRange) {
    let mut seen = BTreeSet::new();
    for graph in graphs {
        let points: BTreeSet<u32> = points_of(graph.entries, &graph);
        for &entry in graph.entries {
            assert_eq!(
                points_of(&[entry], &graph),
                points,
                "entry {entry} does not reach all points that other entries reach"
            );
        }
        for &point in &points {
            assert!(graph.chunks.contains(point));
            let near = graph.near(point).iter().copied();
            for chunk in std::iter::once(point).chain(near) {
                for chunk in std::iter::once(chunk).chain(graph.equal(chunk).iter().copied()) {
                    assert!(seen.insert(chunk), "chunk {chunk} is in the graph twice");
                }
            }
        }
    }
    let missing: Vec<u32> = chunks.iter().filter(|chunk| !seen.contains(chunk)).collect();
    assert!(missing.is_empty(), "unreachable: {missing:?}");
}

fn points_of(from: &[u32], graph: &Graph<'_>) -> BTreeSet<u32> {
    let mut reached: BTreeSet<u32> = from.iter().copied().collect();
    let mut to_follow = from.to_vec();
    while let Some(point) = to_follow.pop() {
        to_follow.extend(graph.links(point).iter().copied().filter(|&next| reached.insert(next)));
    }
    reached
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_chunk_stays_in_reach_in_clusters_of_near_duplicates(
        seed in any::<u64>(),
        clusters in 1usize..40,
        per_cluster in 1usize..60,
        spread in prop_oneof![Just(0.0f32), Just(1e-4), Just(0.02), Just(0.06), Just(0.3)],
        shard_chunks_max in prop_oneof![Just(1u32), Just(37), Just(500), Just(1 << 19)],
        collapsing in any::<bool>(),
        range in (0u32..2000, 5u32..400),
    ) {
        let vectors = TestRandom(seed).clustered(clusters, per_cluster, spread);
        let dir = tempfile::tempdir().unwrap();
        // With a minimum cosine above one, only equal vectors are merged, and near-duplicates
        // remain separate points.
        let near_cosine_min = if collapsing { 0.999 } else { 1.1 };
        let ranges = RangeOptions { chunks_min: 5, share_max: 0.9 };
        let options = GraphOptions { shard_chunks_max, near_cosine_min, links_per_point: 3, ef_construction: 8, ranges, ..GraphOptions::default() };
        let start = range.0.min(vectors.len() as u32 - 1);
        let range = OrdinalRange::new(start, (start + range.1).min(vectors.len() as u32));
        let (index, stats) = build_with(dir.path(), &vectors, &vectors[..1], &[range], &options);
        assert_complete_and_reachable(&index);
        prop_assert_eq!(stats.points + stats.collapsed_equal + stats.collapsed_near, vectors.len() as u32);
        prop_assert_eq!(stats.shards, (vectors.len() as u32).div_ceil(shard_chunks_max));
        if spread == 0.0 && vectors.len() <= shard_chunks_max as usize {
            prop_assert_eq!(stats.points, clusters as u32);
        }
    }
}

#[test]
fn near_duplicates_become_one_point_but_are_found_individually() {
    let vectors = TestRandom(7).clustered(30, 40, 0.01);
    let dir = tempfile::tempdir().unwrap();
    let (index, stats) = build(dir.path(), &vectors, &small());
    assert!(stats.points <= 60, "{stats:?}");
    let everything = OrdinalRange::new(0, vectors.len() as u32);
    let walked = Effort { ef: 8, scan_chunks_max: 0 };
    for query in vectors.iter().step_by(97) {
        assert_eq!(index.nearest(query, everything, 10, walked), index.nearest_exact(query, everything, 10));
    }
}

#[test]
fn two_builds_write_the_same_bytes() {
    let mut vectors = TestRandom(3).clustered(60, 20, 0.2);
    vectors.extend(TestRandom(4).clustered(10, 20, 0.0));
    let options = GraphOptions { shard_chunks_max: 500, ..small() };
    let files = [0, 1].map(|_| {
        let dir = tempfile::tempdir().unwrap();
        build_with_probes(dir.path(), &vectors, &vectors[..300], &options);
        fs::read(dir.path().join(space().graph_file())).unwrap()
    });
    assert!(files[0] == files[1], "a second build wrote different bytes");
}

#[test]
fn links_do_not_depend_on_the_number_of_cores() {
    let vectors = TestRandom(17).clustered(150, 20, 0.3);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = VectorWriter::create(dir.path(), &space(), DIMS).unwrap();
    vectors.iter().for_each(|vector| writer.push(vector).unwrap());
    writer.finish().unwrap();
    let rows = VectorRows::open(dir.path(), &space()).unwrap();
    let shard = ShardRows::new(&rows, OrdinalRange::new(0, vectors.len() as u32));
    let points: Vec<u32> = shard.chunks.iter().collect();
    let [one, three] = [1, 3].map(|cores| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().unwrap();
        pool.install(|| {
            let (links, entries) = link(&shard, &points, &small(), &GraphProgress::new(&AtomicU32::new(0)));
            (points.iter().map(|&point| links.of(point).to_vec()).collect::<Vec<_>>(), entries)
        })
    });
    assert!(one == three, "three cores made different links than one");
}

/// A query between two distant clusters has answers in both, so links must cross between them.
#[test]
fn points_that_answer_the_same_probe_are_linked() {
    let vectors = TestRandom(21).clustered(40, 20, 0.1);
    let (left, right) = (3 * 20..4 * 20, 30 * 20..31 * 20);
    let between: Vec<f32> = vectors[left.start].iter().zip(&vectors[right.start]).map(|(a, b)| a + b).collect();
    let crossings = |probes: &[Vec<f32>]| {
        let dir = tempfile::tempdir().unwrap();
        let (index, _) = build_with_probes(dir.path(), &vectors, probes, &small());
        assert_complete_and_reachable(&index);
        let graph = index.graph().view().shards().next().unwrap();
        let ends = left.clone().flat_map(|point| graph.links(point as u32).iter().map(|&end| end as usize));
        ends.filter(|end| right.contains(end)).count()
    };
    let (without, with) = (crossings(&[]), crossings(&[vec![0.0; DIMS], unit(&between)]));
    assert!(with > without + 4, "{without} links across without the probe, {with} with it");
}

#[test]
fn graph_search_has_nearly_the_recall_of_a_scan() {
    let vectors = TestRandom(11).clustered(200, 15, 0.5);
    let dir = tempfile::tempdir().unwrap();
    let options = GraphOptions { shard_chunks_max: 2000, ..small() };
    let (index, _) = build(dir.path(), &vectors, &options);
    let mut numbers = TestRandom(12);
    for range in [OrdinalRange::new(0, 3000), OrdinalRange::new(700, 2300)] {
        let (mut hits, mut wanted) = (0, 0);
        for place in (0..vectors.len()).step_by(50) {
            let query = unit(&vectors[place].iter().map(|value| value + 0.05 * numbers.next()).collect::<Vec<_>>());
            let exact = index.nearest_exact(&query, range, 10);
            let walked = index.nearest(&query, range, 10, Effort { ef: 64, scan_chunks_max: 0 });
            hits += exact.iter().filter(|&found| walked.contains(found)).count();
            wanted += exact.len();
        }
        assert!(hits * 100 >= wanted * 97, "{hits} of {wanted} in {range:?}");
    }
}

#[test]
fn ten_thousand_equal_chunks_are_one_point() {
    let mut vectors = TestRandom(5).clustered(1, 10_000, 0.0);
    vectors.extend(TestRandom(6).clustered(100, 1, 0.0));
    let dir = tempfile::tempdir().unwrap();
    let (index, stats) = build(dir.path(), &vectors, &small());
    assert_eq!((stats.points, stats.collapsed_equal), (101, 9_999));
    let found = index.nearest(&vectors[0], OrdinalRange::new(5_000, 10_100), 3, Effort { ef: 5, scan_chunks_max: 0 });
    let chunks: Vec<u32> = found.iter().map(|Neighbour { chunk, .. }| chunk.0).collect();
    assert_eq!(chunks, [5_000, 5_001, 5_002]);
}

#[test]
fn zero_vectors_and_no_vectors_build() {
    let dir = tempfile::tempdir().unwrap();
    let (_, stats) = build(dir.path(), &[], &small());
    assert_eq!(stats, GraphStats::default());
    let dir = tempfile::tempdir().unwrap();
    let (index, stats) = build(dir.path(), &[vec![0.0; DIMS], unit(&[1.0; DIMS]), vec![0.0; DIMS]], &small());
    assert_eq!((stats.points, stats.collapsed_equal), (2, 1));
    assert_complete_and_reachable(&index);
}

/// The share of the ten nearest vectors that searches find.
fn recall(index: &VectorIndex, queries: &[Vec<f32>]) -> f64 {
    let all = OrdinalRange::new(0, index.rows().chunk_count());
    let found = queries.iter().map(|query| {
        let exact = index.nearest_exact(query, all, 10);
        let found = index.nearest(query, all, 10, Effort::default());
        exact.iter().filter(|one| found.iter().any(|other| other.chunk == one.chunk)).count() as f64
            / exact.len() as f64
    });
    found.sum::<f64>() / queries.len() as f64
}

/// Builds the graphs over `after`, and reuses those over `before` where possible.
fn build_reusing(
    before: (&[Vec<f32>], &[OrdinalRange]),
    after: (&[Vec<f32>], &[OrdinalRange]),
) -> (VectorIndex, GraphStats) {
    let old = tempfile::tempdir().unwrap();
    let (before, ranges_before) = before;
    build_with(old.path(), before, &[], ranges_before, &default_with_small_ranges());
    carried_from(old.path(), after)
}

fn carried_from(old: &Path, (after, ranges): (&[Vec<f32>], &[OrdinalRange])) -> (VectorIndex, GraphStats) {
    let new = tempfile::tempdir().unwrap();
    let stats = carry_into(new.path(), old, (after, ranges));
    (VectorIndex::open(new.path(), &space()).unwrap(), stats)
}

fn carry_into(new: &Path, old: &Path, (after, ranges): (&[Vec<f32>], &[OrdinalRange])) -> GraphStats {
    let earlier = EarlierGraph::open(old, &space()).unwrap();
    let mut writer = VectorWriter::create(new, &space(), DIMS).unwrap();
    after.iter().for_each(|vector| writer.push(vector).unwrap());
    writer.finish().unwrap();
    let rows = VectorRows::open(new, &space()).unwrap();
    let mut probes = Probes::new(DIMS);
    (0..).zip(after).step_by(7).for_each(|(chunk, vector)| probes.push(chunk, vector));
    let input = GraphInput { ranges, probes: &probes, earlier: Some(&earlier) };
    build_graph(&rows, &input, &default_with_small_ranges(), &mut |_, _| {}).unwrap()
}

fn default_with_small_ranges() -> GraphOptions {
    GraphOptions { ranges: RangeOptions { chunks_min: 50, share_max: 0.67 }, ..GraphOptions::default() }
}

#[test]
fn a_reused_graph_is_complete_and_has_the_recall_of_a_new_one() {
    let mut numbers = TestRandom(11);
    let before = numbers.clustered(300, 10, 0.4);
    // Some law is removed, some is inserted in between.
    let mut after: Vec<Vec<f32>> =
        before.iter().enumerate().filter(|(n, _)| n % 23 != 0).map(|(_, v)| v.clone()).collect();
    for (place, vector) in numbers.clustered(20, 10, 0.4).into_iter().enumerate() {
        after.insert(place * 13, vector);
    }
    let (index, stats) = build_reusing((&before, &[]), (&after, &[]));
    assert_eq!(stats.inserted, 200);
    assert_complete_and_reachable(&index);
    let queries: Vec<Vec<f32>> = after.iter().step_by(17).cloned().collect();
    let dir = tempfile::tempdir().unwrap();
    let (new, _) = build(dir.path(), &after, &GraphOptions::default());
    let (taken_over, built) = (recall(&index, &queries), recall(&new, &queries));
    assert!(taken_over >= built - 0.01 && taken_over > 0.97, "recall is {taken_over}, but a new graph has {built}");
    // Searches find the new points.
    let of_new: Vec<Vec<f32>> = (0..200).map(|n| after[n * 13].clone()).collect();
    assert!(recall(&index, &of_new) > 0.97);
}

#[test]
fn a_graph_with_too_many_new_points_is_rebuilt() {
    let mut numbers = TestRandom(13);
    let before = numbers.clustered(100, 5, 0.4);
    let mut after = before.clone();
    after.extend(numbers.clustered(40, 5, 0.4));
    let inserted = |before: &[Vec<f32>], after: &[Vec<f32>]| build_reusing((before, &[]), (after, &[])).1.inserted;
    assert_eq!(inserted(&before, &after), 0);
    // Few in each build, but too many together with those of the earlier builds.
    let dirs = [0, 1, 2, 3, 4, 5, 6].map(|_| tempfile::tempdir().unwrap());
    build(dirs[0].path(), &before, &default_with_small_ranges());
    let mut grown = before.clone();
    let counts = [1, 2, 3, 4, 5, 6].map(|build| {
        grown.extend(numbers.clustered(4, 5, 0.4));
        carry_into(dirs[build].path(), dirs[build - 1].path(), (&grown, &[])).inserted
    });
    assert_eq!(counts, [20, 40, 60, 80, 100, 120], "each at most a fifth of 520, 540, 560, 580, 600, 620");
    grown.extend(numbers.clustered(4, 5, 0.4));
    assert_eq!(carried_from(dirs[6].path(), (&grown, &[])).1.inserted, 0);
    // The two have nothing in common.
    assert_eq!(inserted(&numbers.clustered(100, 5, 0.4), &before), 0);
}

/// An unchanged range keeps its links even if its chunks moved, and a changed range inserts the new points.
#[test]
fn ranges_take_over_their_own_links() {
    let mut numbers = TestRandom(31);
    let (one, other, rest) =
        (numbers.clustered(20, 10, 0.4), numbers.clustered(30, 10, 0.4), numbers.clustered(90, 10, 0.4));
    let before = [&one[..], &other, &rest].concat();
    let grown = [&other[..], &numbers.clustered(1, 10, 0.4)].concat();
    let after = [&rest[..], &grown, &one].concat();
    let range = OrdinalRange::new;
    let ranges_before = [range(0, 200), range(200, 500)];
    let ranges = [range(900, 1210), range(1210, 1410)];
    let old = tempfile::tempdir().unwrap();
    let (old_index, stats) = build_with(old.path(), &before, &[], &ranges_before, &default_with_small_ranges());
    assert_eq!(stats.ranges, 2);
    let (index, _) = carried_from(old.path(), (&after, &ranges));
    assert_complete_and_reachable(&index);
    let new: Vec<Graph<'_>> = index.graph().view().ranges().collect();
    assert_eq!(
        new.iter().map(|graph| (graph.chunks, graph.inserted)).collect::<Vec<_>>(),
        [(ranges[0], 10), (ranges[1], 0)]
    );
    let old_one = old_index.graph().view().ranges().next().unwrap();
    for chunk in 0..200 {
        let moved: BTreeSet<u32> = old_one.links(chunk).iter().map(|end| end + 1210).collect();
        assert_eq!(new[1].links(chunk + 1210).iter().copied().collect::<BTreeSet<_>>(), moved);
    }
}

/// A filter must cost no more than a snapshot of just this range, and must find the same, for every
/// range and union.
#[test]
fn a_range_search_costs_and_finds_as_much_as_in_its_own_snapshot() {
    let mut numbers = TestRandom(41);
    // States with the same law in other words: points outside a state are as near to a query
    // as points inside.
    let topics = numbers.clustered(400, 1, 0.0);
    let vectors: Vec<Vec<f32>> = (0..6 * 2000)
        .map(|n| unit(&topics[n % 400].iter().map(|value| value + 0.15 * numbers.next()).collect::<Vec<_>>()))
        .collect();
    let state = |place: u32| OrdinalRange::new(place * 2000, (place + 1) * 2000);
    let states: Vec<OrdinalRange> = (0..6).map(state).collect();
    let title = OrdinalRange::new(4100, 5000);
    let ranges = [&states[..], &[title]].concat();
    let options = GraphOptions { ranges: RangeOptions { chunks_min: 500, share_max: 0.67 }, ..small() };
    let dir = tempfile::tempdir().unwrap();
    let (index, stats) = build_with(dir.path(), &vectors, &[], &ranges, &options);
    assert_eq!(stats.ranges, 7);
    let queries: Vec<Vec<f32>> = (0..60)
        .map(|n| unit(&topics[n * 6].iter().map(|value| value + 0.15 * numbers.next()).collect::<Vec<_>>()))
        .collect();
    let effort = Effort { ef: 160, scan_chunks_max: 0 };
    let measure = |index: &VectorIndex, ranges: &[OrdinalRange], effort: Effort| -> (f64, u64) {
        let (mut found, mut wanted, mut compared) = (0, 0, 0);
        for query in &queries {
            let mut out = Vec::new();
            let within = ChunkFilter { ranges, admits: None };
            let Work { scanned, visited } = index.nearest_into(query, &within, 10, effort, &mut out);
            compared += scanned + visited;
            let exact = index.nearest_within(query, &within, 10, Effort { ef: 0, scan_chunks_max: u32::MAX });
            found += exact.iter().filter(|one| out.contains(one)).count();
            wanted += exact.len();
        }
        (f64::from(found as u32) / f64::from(wanted as u32), compared)
    };
    let alone_of = |ranges: &[OrdinalRange]| {
        let own: Vec<Vec<f32>> =
            ranges.iter().flat_map(|range| range.iter()).map(|n| vectors[n as usize].clone()).collect();
        let dir = tempfile::tempdir().unwrap();
        let (alone, _) = build(dir.path(), &own, &options);
        measure(&alone, &[OrdinalRange::new(0, own.len() as u32)], effort)
    };
    for range in [states[0], states[3], title] {
        let ((recall, cost), (recall_alone, cost_alone)) = (measure(&index, &[range], effort), alone_of(&[range]));
        assert!(recall >= 0.985, "{range:?}: {recall}, alone {recall_alone}");
        assert!(cost <= cost_alone * 11 / 10, "{range:?} compared {cost} rows, alone {cost_alone}");
    }
    // A union of four separate ranges costs less than three times one walk.
    let union = [states[0], states[2], states[4], states[5]];
    let ((recall, cost), (_, cost_alone)) = (measure(&index, &union, effort), alone_of(&union));
    assert!(recall >= 0.985, "{recall}");
    assert!(cost <= cost_alone * 3, "a union compared {cost} rows, alone {cost_alone}");
}
