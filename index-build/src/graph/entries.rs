//! The points that searches start from.

/// Searches compare the query with every entry first, so there are few.
const ENTRIES_MAX: usize = 512;

/// How many entries a graph of so many points has: the square root of their number.
pub(super) fn entry_count(points: usize) -> usize {
    points.isqrt().clamp(1, ENTRIES_MAX)
}

/// Entries that were kept, and a scattered selection of the points where they have become too few.
pub(super) fn entries(mut kept: Vec<u32>, points: &[u32]) -> Vec<u32> {
    kept.sort_unstable();
    kept.dedup();
    let missing = entry_count(points.len()).saturating_sub(kept.len());
    let mut others: Vec<u32> = points.iter().copied().filter(|point| kept.binary_search(point).is_err()).collect();
    others.sort_unstable_by_key(|&point| (scattered(point), point));
    kept.extend(others.into_iter().take(missing));
    kept.sort_unstable();
    kept
}

/// A fixed shuffle of the ordinals: neighbours in the text land far apart.
pub(super) fn scattered(chunk: u32) -> u32 {
    chunk.wrapping_mul(0x9E37_79B1).reverse_bits()
}
