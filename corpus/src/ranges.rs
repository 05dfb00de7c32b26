//! A part of the corpus: ranges of ordinals in ascending order that are not empty and do not touch each other.

use crate::ids::OrdinalRange;

/// The union of several ranges. An ordinal is counted once, even if ranges overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OrdinalRanges(Vec<OrdinalRange>);

impl OrdinalRanges {
    pub fn union(ranges: impl IntoIterator<Item = OrdinalRange>) -> Self {
        let mut sorted: Vec<OrdinalRange> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        sorted.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<OrdinalRange> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match merged.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => merged.push(range),
            }
        }
        Self(merged)
    }

    /// The ordinals that are in both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|&own| other.0.iter().map(move |&other| (own, other)));
        Self::union(pairs.map(|(own, other)| {
            let (start, end) = (own.start.max(other.start), own.end.min(other.end));
            OrdinalRange { start, end }
        }))
    }

    /// The ordinals that are in this one but not in the other.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        let starts = std::iter::once(0).chain(other.0.iter().map(|range| range.end));
        let ends = other.0.iter().map(|range| range.start).chain([u32::MAX]);
        self.intersect(&Self::union(starts.zip(ends).map(|(start, end)| OrdinalRange { start, end })))
    }

    pub fn as_slice(&self) -> &[OrdinalRange] {
        &self.0
    }

    pub fn contains(&self, ordinal: u32) -> bool {
        let behind = self.0.partition_point(|range| range.start <= ordinal);
        self.0[..behind].last().is_some_and(|range| range.contains(ordinal))
    }

    /// The number of ordinals.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|range| range.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first and the second half of the ordinals. If their number is odd, the first half has one more.
    #[must_use]
    pub fn halves(&self) -> [Self; 2] {
        let mut rest = self.len().div_ceil(2);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for range in &self.0 {
            let middle = range.start + rest.min(range.len());
            rest -= middle - range.start;
            first.push(OrdinalRange { start: range.start, end: middle });
            second.push(OrdinalRange { start: middle, end: range.end });
        }
        [first, second].map(Self::union)
    }
}

impl From<OrdinalRange> for OrdinalRanges {
    fn from(range: OrdinalRange) -> Self {
        Self::union([range])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    fn some_ranges() -> impl Strategy<Value = Vec<OrdinalRange>> {
        let range = (0_u32..40, 0_u32..12).prop_map(|(start, len)| OrdinalRange::new(start, start + len));
        prop::collection::vec(range, 0..8)
    }

    #[test]
    fn halves_follow_each_other() {
        let ranges =
            OrdinalRanges::union([OrdinalRange::new(3, 5), OrdinalRange::new(10, 15), OrdinalRange::new(20, 22)]);
        let [first, second] = ranges.halves();
        assert_eq!(first.as_slice(), [OrdinalRange::new(3, 5), OrdinalRange::new(10, 13)]);
        assert_eq!(second.as_slice(), [OrdinalRange::new(13, 15), OrdinalRange::new(20, 22)]);
    }

    fn ordinals(ranges: &[OrdinalRange]) -> BTreeSet<u32> {
        ranges.iter().flat_map(|range| range.iter()).collect()
    }

    proptest! {
        #[test]
        fn unions_and_intersections_match_sets(one in some_ranges(), other in some_ranges()) {
            let (a, b) = (OrdinalRanges::union(one.clone()), OrdinalRanges::union(other.clone()));
            let (one, other) = (ordinals(&one), ordinals(&other));
            prop_assert_eq!(ordinals(a.as_slice()), one.clone());
            let [first, second] = a.halves();
            prop_assert_eq!(first.len(), a.len().div_ceil(2));
            prop_assert_eq!(OrdinalRanges::union([first.as_slice(), second.as_slice()].concat()), a.clone());
            prop_assert_eq!(a.len() as usize, one.len());
            prop_assert!(a.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start));
            let common = a.intersect(&b);
            prop_assert_eq!(ordinals(common.as_slice()), one.intersection(&other).copied().collect());
            prop_assert_eq!(ordinals(a.subtract(&b).as_slice()), one.difference(&other).copied().collect());
            prop_assert!((0..60).all(|ordinal| common.contains(ordinal) == (one.contains(&ordinal) && other.contains(&ordinal))));
        }
    }
}
