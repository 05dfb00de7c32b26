//! Sets of documents, a bit each.

/// One bit a document.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct Bits(Vec<u64>);

impl Bits {
    pub(in crate::search) fn from_fn(len: u32, is_set: impl Fn(u32) -> bool) -> Self {
        let mut words = vec![0_u64; (len as usize).div_ceil(64)];
        for place in (0..len).filter(|&place| is_set(place)) {
            words[place as usize / 64] |= 1 << (place % 64);
        }
        Self(words)
    }

    pub(super) fn set(&mut self, place: u32) {
        if let Some(word) = self.0.get_mut(place as usize / 64) {
            *word |= 1 << (place % 64);
        }
    }

    pub(super) fn keep_common(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// The places whose bit is set, ascending.
    pub(super) fn places(&self) -> Vec<u32> {
        let mut places = Vec::new();
        for (start, &word) in (0..).step_by(64).zip(&self.0) {
            each_bit(word, |bit| places.push(start + bit));
        }
        places
    }

    /// Which of a group of 64 are set.
    #[inline]
    pub(super) fn group(&self, group: usize) -> u64 {
        self.0.get(group).copied().unwrap_or_default()
    }

    #[inline]
    pub(in crate::search) fn has(&self, place: u32) -> bool {
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

/// Sets a bit, if there is such a place.
#[inline]
pub(super) fn set(bits: &mut [u64], place: u32) {
    if let Some(bits) = bits.get_mut(place as usize / 64) {
        *bits |= 1 << (place % 64);
    }
}

/// Hands over the places of the bits that are set, ascending.
#[inline]
pub(super) fn each_bit(mut word: u64, mut sink: impl FnMut(u32)) {
    while word != 0 {
        sink(word.trailing_zeros());
        word &= word - 1;
    }
}
