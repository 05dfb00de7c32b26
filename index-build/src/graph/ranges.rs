//! Chooses the ranges that get their own graph, in addition to the shards that cover everything.
//!
//! A walk that searches a part of a graph also visits the points around that part. A range
//! therefore gets its own graph if it is too large to be scanned, unless it is most of a graph that
//! exists anyway.

use hornbook_corpus::ids::OrdinalRange;

/// Which ranges get their own graph: by their size, and by their share of the graph around them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeOptions {
    /// Smaller ranges are scanned.
    pub chunks_min: u32,
    /// A range that is more than this share of the graph around it is searched in that graph.
    pub share_max: f32,
}

/// The ranges that get a graph, outer ones first. `chunks` is the number of all chunks, in shards
/// of `shard_chunks_max`.
pub(super) fn ranges_with_graph(
    ranges: &[OrdinalRange],
    chunks: u32,
    shard_chunks_max: u32,
    options: &RangeOptions,
) -> Vec<OrdinalRange> {
    let shards = shards(chunks, shard_chunks_max);
    let mut ranges: Vec<OrdinalRange> = ranges.to_vec();
    ranges.sort_unstable_by_key(|range| (u32::MAX - range.len(), range.start));
    ranges.dedup();
    let mut chosen: Vec<OrdinalRange> = Vec::new();
    for range in ranges {
        let around = shards.iter().chain(&chosen).filter(|around| around.contains_range(range));
        let smallest = around.map(|around| around.len()).min();
        let is_most = smallest.is_some_and(|around| range.len() as f32 > around as f32 * options.share_max);
        if !is_most && (options.chunks_min..=shard_chunks_max).contains(&range.len()) {
            chosen.push(range);
        }
    }
    chosen.sort_unstable_by_key(|range| (range.start, u32::MAX - range.end));
    chosen
}

/// Divides all chunks into runs of at most `most`.
pub(super) fn shards(chunks: u32, most: u32) -> Vec<OrdinalRange> {
    let most = most.max(1);
    let starts = (0..chunks).step_by(most as usize);
    starts.map(|start| OrdinalRange::new(start, start.saturating_add(most).min(chunks))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_ranges_that_are_a_small_part_of_a_graph_get_their_own() {
        let options = RangeOptions { chunks_min: 40, share_max: 0.5 };
        let range = OrdinalRange::new;
        let chosen = |ranges: &[OrdinalRange]| ranges_with_graph(ranges, 1000, 400, &options);
        // A state within a shard, its only code body, a title, a short chapter.
        let (state, body, title, chapter) = (range(100, 280), range(100, 270), range(120, 180), range(120, 150));
        assert_eq!(chosen(&[chapter, title, body, state, state]), [state, title]);
        // Most of a shard; more than a shard; across two shards.
        assert_eq!(chosen(&[range(0, 300), range(0, 600), range(380, 440)]), [range(380, 440)]);
        assert_eq!(chosen(&[]), []);
        assert_eq!(shards(1000, 400), [range(0, 400), range(400, 800), range(800, 1000)]);
        assert_eq!(shards(0, 400), []);
    }
}
