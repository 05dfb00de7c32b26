//! The distance of one typed word to many: letters left out, put in, exchanged, or swapped with a neighbour.
//!
//! A column of the table is kept as the differences between its cells, a bit each, and worked out in a dozen operations a
//! letter (Hyyrö 2003). `crate::edits` has the table by the book, and a test compares the two.

/// A typed word, ready to be compared.
pub(super) struct TypedWord {
    /// For each letter, where it stands in the word.
    places: [u64; 26],
    len: u32,
}

impl TypedWord {
    /// A word of at most 32 letters, all of them English.
    pub(super) fn new(word: &str) -> Self {
        let mut places = [0; 26];
        for (place, byte) in word.bytes().enumerate() {
            places[usize::from(byte - b'a')] |= 1 << place;
        }
        Self { places, len: word.len() as u32 }
    }

    /// The distance to a word, which is any bytes: what is no letter is like none.
    pub(super) fn distance(&self, word: &[u8]) -> u32 {
        let last = 1_u64 << (self.len - 1);
        let (mut rises, mut falls, mut same, mut places_before) = (!0_u64, 0_u64, 0_u64, 0_u64);
        let mut distance = self.len;
        for byte in word {
            let places = self.places.get(usize::from(byte.wrapping_sub(b'a'))).copied().unwrap_or_default();
            let swapped = ((!same & places) << 1) & places_before;
            same = ((places & rises).wrapping_add(rises) ^ rises) | places | falls | swapped;
            let (across_rises, across_falls) = (falls | !(same | rises), same & rises);
            distance += u32::from(across_rises & last != 0);
            distance -= u32::from(across_falls & last != 0);
            let (across_rises, across_falls) = (across_rises << 1 | 1, across_falls << 1);
            rises = across_falls | !(same | across_rises);
            falls = across_rises & same;
            places_before = places;
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edits::edit_distance;

    proptest! {
        #[test]
        fn the_distance_is_that_of_the_whole_table(typed in "[a-d]{1,10}|[a-z]{1,32}", word in "[a-d]{0,10}|[a-z]{0,32}") {
            let expected = edit_distance(&typed, &word, 200).map(u32::from);
            prop_assert_eq!(Some(TypedWord::new(&typed).distance(word.as_bytes())), expected);
        }
    }
}
