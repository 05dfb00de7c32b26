//! Which ranges get links of their own, next to the shards that cover everything.
//!
//! A walk that looks for a part of a graph passes what lies around it. A range is therefore given a graph of its own if it is
//! too large to be scanned with others, and if it is not most of a graph that there is anyway.

use hornbook_corpus::ids::OrdinalRange;

/// How large a range must be, and how little of what surrounds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeOptions {
    /// Smaller ranges are scanned.
    pub chunks_min: u32,
    /// A range that has more than this of a graph around it is looked for there.
    pub share_max: f32,
}

/// Those of the ranges that get a graph, outer ones first. `chunks` are all there are, in shards of `shard_chunks_max`.
pub(super) fn with_links(
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

/// All chunks in runs of at most so many.
pub(super) fn shards(chunks: u32, most: u32) -> Vec<OrdinalRange> {
    let most = most.max(1);
    let starts = (0..chunks).step_by(most as usize);
    starts.map(|start| OrdinalRange::new(start, start.saturating_add(most).min(chunks))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_ranges_that_are_a_small_part_of_what_is_around_them_get_links() {
        let options = RangeOptions { chunks_min: 40, share_max: 0.5 };
        let range = OrdinalRange::new;
        let chosen = |ranges: &[OrdinalRange]| with_links(ranges, 1000, 400, &options);
        // A state within a shard, its one code body, a title, a short chapter.
        let (state, body, title, chapter) = (range(100, 280), range(100, 270), range(120, 180), range(120, 150));
        assert_eq!(chosen(&[chapter, title, body, state, state]), [state, title]);
        // Most of a shard, more than one, across two.
        assert_eq!(chosen(&[range(0, 300), range(0, 600), range(380, 440)]), [range(380, 440)]);
        assert_eq!(chosen(&[]), []);
        assert_eq!(shards(1000, 400), [range(0, 400), range(400, 800), range(800, 1000)]);
        assert_eq!(shards(0, 400), []);
    }
}
