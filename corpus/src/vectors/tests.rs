//! Tests of the whole index, against brute force over the stored rows, and with damaged files.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::ranges::OrdinalRanges;

const DIMS: usize = 32;

/// A vector with few different values, so that equal rows and equal scores are common.
fn coarse_vector() -> impl Strategy<Value = Vec<f32>> {
    prop_oneof![
        1 => prop::collection::vec(prop_oneof![Just(-1.0f32), Just(0.0), Just(1.0)], DIMS),
        1 => (0usize..DIMS).prop_map(|place| (0..DIMS).map(|d| if d == place { 1.0 } else { 0.0 }).collect()),
        3 => prop::collection::vec(-1.0f32..1.0, DIMS),
    ]
}

fn space() -> SpaceName {
    "test-32".parse().unwrap()
}

fn write_rows(dir: &Path, vectors: &[Vec<f32>]) -> VectorRows {
    let mut writer = VectorWriter::create(dir, &space(), DIMS).unwrap();
    vectors.iter().for_each(|vector| writer.push(vector).unwrap());
    writer.finish().unwrap();
    VectorRows::open(dir, &space()).unwrap()
}

/// Writes graphs in which every point is linked to every other point of its shard. `near_with` returns the earlier
/// chunk to which a chunk is near, if any.
fn write_full_graph(rows: &VectorRows, shard_len: u32, near_with: impl Fn(u32) -> Option<u32>) {
    write_full_graphs(rows, shard_len, &[], near_with);
}

/// The same, with separate graphs for some ranges.
fn write_full_graphs(
    rows: &VectorRows,
    shard_len: u32,
    ranges: &[OrdinalRange],
    near_with: impl Fn(u32) -> Option<u32>,
) {
    let mut writer = GraphWriter::create(rows).unwrap();
    let view = rows.view();
    let shards = (0..rows.chunk_count()).step_by(shard_len as usize);
    let shards = shards.map(|start| OrdinalRange::new(start, (start + shard_len).min(rows.chunk_count())));
    for chunks in shards.chain(ranges.iter().copied()) {
        let start = chunks.start;
        let first_equal = |chunk: u32| (start..chunk).find(|&earlier| view.are_equal(earlier, chunk)).unwrap_or(chunk);
        let is_first = |chunk: u32| first_equal(chunk) == chunk;
        let leader_of = |chunk: u32| {
            near_with(chunk).filter(|&leader| leader >= start && is_first(leader) && near_with(leader).is_none())
        };
        let is_point = |chunk: u32| is_first(chunk) && leader_of(chunk).is_none();
        let points: Vec<u32> = chunks.iter().filter(|&chunk| is_point(chunk)).collect();
        writer.begin(chunks, &points[points.len() / 2..], 0);
        for chunk in chunks.iter() {
            let near: Vec<u32> =
                chunks.iter().filter(|&other| is_first(other) && leader_of(other) == Some(chunk)).collect();
            let equal: Vec<u32> =
                chunks.iter().filter(|&other| other != chunk && first_equal(other) == chunk).collect();
            let links = if is_point(chunk) { points.as_slice() } else { &[] };
            writer.push(ChunkLinks { links, near: &near, equal: &equal }).unwrap();
        }
    }
    writer.finish().unwrap();
}

fn brute_force(rows: &VectorRows, query: &[f32], range: OrdinalRange, k: usize) -> Vec<Neighbour> {
    let mut prepared = QuantisedQuery::default();
    prepared.set(query);
    let within = ChunkFilter { ranges: &[range], admits: None };
    let request =
        VectorRequest { kernel: Kernel::scalar(), rows: rows.view(), query: &prepared, range, within: &within };
    let mut all: Vec<Neighbour> = range
        .iter()
        .take_while(|&chunk| chunk < rows.chunk_count())
        .map(|chunk| Neighbour { chunk: ChunkOrdinal(chunk), score: request.score(chunk) })
        .collect();
    // Positive zero and negative zero are the same score.
    all.sort_by(|a, b| (b.score + 0.0).total_cmp(&(a.score + 0.0)).then(a.chunk.cmp(&b.chunk)));
    all.truncate(k);
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_range_gives_what_brute_force_gives_by_scan_and_by_exhaustive_walk(
        vectors in prop::collection::vec(coarse_vector(), 1..200),
        repeats in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..60),
        query in coarse_vector(),
        asked in prop::collection::vec((0u32..220, 0u32..220), 1..4),
        with_links in prop::collection::vec((any::<prop::sample::Index>(), 1u32..120), 0..5),
        admitted in prop::option::of(2u32..5),
        k in 0usize..40,
        shard_len in 1u32..250,
        near_each in 2u32..9,
    ) {
        let mut vectors = vectors;
        for (from, to) in repeats {
            let vector = vectors[from.index(vectors.len())].clone();
            let to = to.index(vectors.len());
            vectors[to] = vector;
        }
        let dir = tempfile::tempdir().unwrap();
        let rows = write_rows(dir.path(), &vectors);
        let with_links: Vec<OrdinalRange> = with_links
            .iter()
            .map(|(start, len)| {
                let start = start.index(vectors.len()) as u32;
                OrdinalRange::new(start, (start + len).min(vectors.len() as u32))
            })
            .collect();
        write_full_graphs(&rows, shard_len, &with_links, |chunk| (chunk % near_each == 1).then(|| chunk - 1));
        let index = VectorIndex::open(dir.path(), &space()).unwrap();
        let ranges = OrdinalRanges::union(asked.iter().map(|&(a, b)| OrdinalRange::new(a.min(b), a.max(b))));
        let admits = |chunk: ChunkOrdinal| admitted.is_none_or(|each| chunk.0.is_multiple_of(each));
        let within = ChunkFilter { ranges: ranges.as_slice(), admits: admitted.is_some().then_some(&admits) };
        let mut expected = brute_force(&rows, &query, OrdinalRange::new(0, rows.chunk_count()), vectors.len());
        expected.retain(|found| ranges.contains(found.chunk.0) && admits(found.chunk));
        expected.truncate(k);
        let scanned = Effort { ef: 0, scan_chunks_max: u32::MAX };
        let either = Effort { ef: vectors.len(), scan_chunks_max: 20 };
        let walked = Effort { ef: vectors.len(), scan_chunks_max: 0 };
        for kernel in [Kernel::detect(), Kernel::scalar()] {
            let index = index.clone().with_kernel(kernel);
            for effort in [scanned, either, walked] {
                prop_assert_eq!(&index.nearest_within(&query, &within, k, effort), &expected, "{:?}", effort);
            }
        }
    }

    #[test]
    fn the_best_of_a_short_range_is_as_good_as_brute_force_finds_but_for_the_estimate(
        vectors in prop::collection::vec(coarse_vector(), 1..300),
        query in coarse_vector(),
        ends in prop::collection::vec((0..320_u32, 0..320_u32), 1..8),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let rows = write_rows(dir.path(), &vectors);
        write_full_graph(&rows, 50, |_| None);
        let index = VectorIndex::open(dir.path(), &space()).unwrap();
        let ranges: Vec<OrdinalRange> = ends.iter().map(|&(a, b)| OrdinalRange::new(a.min(b), a.max(b))).collect();
        let error = {
            let mut prepared = QuantisedQuery::default();
            prepared.set(&query);
            let scale_max = rows.view().scales.iter().copied().fold(0.0, f32::max);
            2.0 * prepared.error_in_scales(rows.view().residual_norm_max) * scale_max
        };
        for (range, best) in ranges.iter().zip(index.best_of_each(&query, &ranges)) {
            let expected = brute_force(&rows, &query, *range, 1).first().copied();
            prop_assert_eq!(best.is_some(), expected.is_some());
            if let (Some(best), Some(expected)) = (best, expected) {
                prop_assert!(range.contains(best.chunk.0));
                prop_assert!(expected.score - best.score <= error, "{:?} for {:?}", best, expected);
                prop_assert_eq!(brute_force(&rows, &query, OrdinalRange::new(best.chunk.0, best.chunk.0 + 1), 1)[0], best);
            }
        }
    }

    #[test]
    fn flipped_bits_give_errors_or_answers_but_no_panic(
        vectors in prop::collection::vec(coarse_vector(), 40..120),
        flips in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), 0u32..8), 1..12),
        query in coarse_vector(),
        kernel in prop_oneof![Just(Kernel::detect()), Just(Kernel::scalar())],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let rows = write_rows(dir.path(), &vectors);
        write_full_graphs(&rows, 50, &[OrdinalRange::new(5, 38)], |chunk| (chunk % 3 == 1).then(|| chunk - 1));
        drop(rows);
        for (in_graph, place, bit) in flips {
            let file = dir.path().join(if in_graph { space().graph_file() } else { space().vectors_file() });
            let mut bytes = fs::read(&file).unwrap();
            // A checksum covers the bytes before: the header and the section table.
            let body = 32 + 32 * 9;
            let place = body + place.index(bytes.len() - body);
            bytes[place] ^= 1 << bit;
            fs::write(&file, bytes).unwrap();
        }
        if let Ok(index) = VectorIndex::open(dir.path(), &space()) {
            let index = index.with_kernel(kernel);
            for range in [OrdinalRange::new(0, u32::MAX), OrdinalRange::new(7, 90), OrdinalRange { start: 9, end: 3 }] {
                for effort in [Effort { ef: 20, scan_chunks_max: 0 }, Effort { ef: 0, scan_chunks_max: u32::MAX }] {
                    let found = index.nearest(&query, range, 10, effort);
                    prop_assert!(found.len() <= 10);
                    let in_range = |found: &Neighbour| range.contains(found.chunk.0) && found.chunk.0 < index.rows().chunk_count();
                    prop_assert!(found.iter().all(in_range));
                }
            }
        }
    }
}

#[test]
fn thousands_of_equal_chunks_give_the_first_of_the_range() {
    let vectors: Vec<Vec<f32>> =
        (0..3000).map(|chunk| if chunk == 1500 { vec![0.5; DIMS] } else { vec![1.0; DIMS] }).collect();
    let dir = tempfile::tempdir().unwrap();
    write_full_graph(&write_rows(dir.path(), &vectors), 1 << 20, |_| None);
    let index = VectorIndex::open(dir.path(), &space()).unwrap();
    for effort in [Effort { ef: 1, scan_chunks_max: 0 }, Effort { ef: 0, scan_chunks_max: u32::MAX }] {
        let found = index.nearest(&[1.0; DIMS], OrdinalRange::new(1498, 2900), 4, effort);
        let chunks: Vec<u32> = found.iter().map(|found| found.chunk.0).collect();
        assert_eq!(chunks, [1498, 1499, 1501, 1502]);
    }
}

#[test]
fn a_query_buffer_is_emptied_first_and_no_vectors_give_no_neighbours() {
    let dir = tempfile::tempdir().unwrap();
    write_full_graph(&write_rows(dir.path(), &[]), 8, |_| None);
    let index = VectorIndex::open(dir.path(), &space()).unwrap();
    let mut out = vec![Neighbour { chunk: ChunkOrdinal(1), score: 1.0 }];
    let within = ChunkFilter { ranges: &[OrdinalRange::new(0, 9)], admits: None };
    index.nearest_into(&[1.0; DIMS], &within, 5, Effort::default(), &mut out);
    assert!(out.is_empty());
}

#[test]
fn two_embeddings_can_share_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    write_full_graph(&write_rows(dir.path(), &[vec![1.0; DIMS]]), 8, |_| None);
    let wide: SpaceName = "test-wide-384".parse().unwrap();
    let mut writer = VectorWriter::create(dir.path(), &wide, 384).unwrap();
    writer.push(&[0.05; 384]).unwrap();
    writer.finish().unwrap();
    assert_eq!(VectorRows::open(dir.path(), &wide).unwrap().dims(), 384);
    assert_eq!(VectorIndex::open(dir.path(), &space()).unwrap().rows().dims(), DIMS);
}

#[test]
fn files_that_do_not_belong_together_are_refused_by_name() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_full_graph(&write_rows(one.path(), &[vec![1.0; DIMS]]), 8, |_| None);
    write_rows(two.path(), &[vec![1.0; DIMS], vec![2.0; DIMS]]);
    fs::copy(one.path().join(space().graph_file()), two.path().join(space().graph_file())).unwrap();
    let error = VectorIndex::open(two.path(), &space()).unwrap_err().to_string();
    assert!(error.contains("graph-test-32.bin") && error.contains("for 1 vectors"), "{error}");
    let other: SpaceName = "other-32".parse().unwrap();
    fs::copy(one.path().join(space().vectors_file()), two.path().join(other.vectors_file())).unwrap();
    let error = VectorRows::open(two.path(), &other).unwrap_err().to_string();
    assert!(error.contains("space 'test-32', not to 'other-32'"), "{error}");
}

#[test]
fn values_that_are_no_numbers_are_refused_with_the_chunk() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = VectorWriter::create(dir.path(), &space(), DIMS).unwrap();
    writer.push(&[0.0; DIMS]).unwrap();
    let error = writer.push(&[f32::NAN; DIMS]).unwrap_err().to_string();
    assert!(error.contains("chunk 1 in space test-32"), "{error}");
}

#[test]
fn equal_input_gives_equal_bytes() {
    let vectors: Vec<Vec<f32>> =
        (0..70).map(|n| (0..DIMS).map(|d| ((n * 31 + d * 17) % 23) as f32 - 11.0).collect()).collect();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for dir in [&one, &two] {
        write_full_graph(&write_rows(dir.path(), &vectors), 30, |_| None);
    }
    for file in [space().vectors_file(), space().graph_file()] {
        assert_eq!(fs::read(one.path().join(&file)).unwrap(), fs::read(two.path().join(&file)).unwrap());
    }
}

/// A range is searched with a walk if it has its own graph, and with a scan if that is cheaper.
#[test]
fn a_range_is_searched_by_its_own_links_or_by_the_cheaper_way() {
    let vectors: Vec<Vec<f32>> =
        (0..400).map(|n| (0..DIMS).map(|d| ((n * 31 + d * 17) % 23) as f32 - 11.0).collect()).collect();
    let dir = tempfile::tempdir().unwrap();
    let rows = write_rows(dir.path(), &vectors);
    let own = [OrdinalRange::new(100, 300), OrdinalRange::new(120, 180), OrdinalRange::new(300, 360)];
    write_full_graphs(&rows, 400, &own, |_| None);
    let index = VectorIndex::open(dir.path(), &space()).unwrap();
    let steps = |ranges: &[(u32, u32)], admits: Option<&dyn Fn(ChunkOrdinal) -> bool>| {
        let ranges: Vec<OrdinalRange> = ranges.iter().map(|&(start, end)| OrdinalRange::new(start, end)).collect();
        let mut steps = Vec::new();
        let effort = Effort { ef: 8, scan_chunks_max: 50 };
        plan(index.graph().view(), 400, &ChunkFilter { ranges: &ranges, admits }, effort, &mut steps);
        steps.iter().map(|step| (step.range.start, step.range.end, step.graph)).collect::<Vec<_>>()
    };
    assert_eq!(steps(&[(0, 400)], None), [(0, 400, Some(0))], "everything");
    assert_eq!(steps(&[(100, 300)], None), [(100, 300, Some(1))], "links of its own");
    assert_eq!(steps(&[(110, 290)], None), [(110, 290, Some(1))], "nearly all of a graph");
    assert_eq!(steps(&[(190, 250)], None), [(190, 250, None)], "a small part of one");
    assert_eq!(steps(&[(0, 40)], None), [(0, 40, None)], "a small range");
    assert_eq!(
        steps(&[(120, 180), (300, 360)], None),
        [(120, 180, Some(2)), (300, 360, Some(3))],
        "a second walk costs less than the first"
    );
    assert_eq!(steps(&[(90, 365)], None), [(90, 365, Some(0))]);
    assert_eq!(steps(&[(100, 360)], None), [(100, 300, Some(1)), (300, 360, Some(3))], "parts that fit");
    let few = |chunk: ChunkOrdinal| chunk.0.is_multiple_of(20);
    assert_eq!(steps(&[(100, 300)], Some(&few)), [(100, 300, None)], "a walk would pass nineteen of twenty");
    assert!(steps(&[], None).is_empty());
    // Only the graph of the range is walked, and nothing is scanned.
    let mut out = Vec::new();
    let within = ChunkFilter { ranges: &own[..1], admits: None };
    let work = index.nearest_into(&vectors[150], &within, 10, Effort { ef: 8, scan_chunks_max: 50 }, &mut out);
    assert!(work.scanned == 0 && (10..=400).contains(&work.visited), "{work:?}");
}
