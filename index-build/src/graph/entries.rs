//! The points that searches start from.

/// Searches first compare the query with every entry, so there are few.
const ENTRIES_MAX: usize = 512;

/// The number of entries of a graph with this many points: the square root, within bounds.
pub(super) fn entry_count(points: usize) -> usize {
    points.isqrt().clamp(1, ENTRIES_MAX)
}

/// The kept entries, plus a scattered selection of other points if there are too few.
pub(super) fn entries(mut kept: Vec<u32>, points: &[u32]) -> Vec<u32> {
    kept.sort_unstable();
    kept.dedup();
    let missing = entry_count(points.len()).saturating_sub(kept.len());
    let mut others: Vec<u32> = points.iter().copied().filter(|point| kept.binary_search(point).is_err()).collect();
    others.sort_unstable_by_key(|&point| (shuffle_key(point), point));
    kept.extend(others.into_iter().take(missing));
    kept.sort_unstable();
    kept
}

/// A fixed shuffle of the ordinals: places neighbours in the text far apart.
pub(super) fn shuffle_key(chunk: u32) -> u32 {
    chunk.wrapping_mul(0x9E37_79B1).reverse_bits()
}
