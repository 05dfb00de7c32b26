//! Bitmaps: sets of documents with one bit per document.

use hornbook_base::byte_cache::ByteSize;
use hornbook_corpus::ranges::OrdinalRanges;

/// A set of documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentBitmap(Vec<u64>);

impl DocumentBitmap {
    /// An empty set for documents below `len`.
    pub(crate) fn empty_for(len: u32) -> Self {
        Self(vec![0; (len as usize).div_ceil(64)])
    }

    pub(crate) fn from_fn(len: u32, is_set: impl Fn(u32) -> bool) -> Self {
        let mut bits = Self::empty_for(len);
        (0..len).filter(|&place| is_set(place)).for_each(|place| bits.set(place));
        bits
    }

    pub(crate) fn set(&mut self, place: u32) {
        if let Some(word) = self.0.get_mut(place as usize / 64) {
            *word |= 1 << (place % 64);
        }
    }

    pub(crate) fn put(&mut self, place: u32, is_set: bool) {
        if let Some(word) = self.0.get_mut(place as usize / 64) {
            *word = *word & !(1 << (place % 64)) | u64::from(is_set) << (place % 64);
        }
    }

    pub(crate) fn intersect_with(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    pub(crate) fn union_with(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The documents of the set that are within the ranges, ascending.
    pub(crate) fn set_bits_in(&self, ranges: &OrdinalRanges) -> Vec<u32> {
        let mut places = Vec::new();
        for range in ranges.as_slice() {
            let groups = range.start as usize / 64..(range.end as usize).div_ceil(64).min(self.0.len());
            for group in groups {
                let start = group as u32 * 64;
                each_bit(self.0[group], |bit| {
                    if range.contains(start + bit) {
                        places.push(start + bit);
                    }
                });
            }
        }
        places
    }

    /// The bits of a group of 64 documents.
    #[inline]
    pub(crate) fn group(&self, group: usize) -> u64 {
        self.0.get(group).copied().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn has(&self, place: u32) -> bool {
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

impl ByteSize for DocumentBitmap {
    fn byte_size(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// Sets a bit; does nothing if it is out of range.
#[inline]
pub(crate) fn set(bits: &mut [u64], place: u32) {
    if let Some(bits) = bits.get_mut(place as usize / 64) {
        *bits |= 1 << (place % 64);
    }
}

/// Calls `sink` with the index of each set bit, ascending.
#[inline]
pub(crate) fn each_bit(mut word: u64, mut sink: impl FnMut(u32)) {
    while word != 0 {
        sink(word.trailing_zeros());
        word &= word - 1;
    }
}
