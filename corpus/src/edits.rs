//! Edit distance: the number of letters that must be deleted, inserted, replaced, or swapped with a neighbour to
//! turn one word into another.
//!
//! [`EditDistanceTable`] keeps the rows of the table, so a word costs only the letters after the prefix that it shares with
//! the previous word. It computes only the cells near the diagonal, because distances beyond a maximum are not
//! distinguished. [`BitParallelWord`] compares one word with many words in any order. It stores a column of the table as
//! the differences between its cells, one bit each, and computes it in about a dozen operations per letter (Hyyrö
//! 2003).

/// The upper limit of `edits_max`.
const EDITS_MAX: u8 = 250;

/// A table of distances to a fixed word. It has a column for each letter of the fixed word, and a row for each
/// letter of the other word.
#[derive(Debug)]
pub struct EditDistanceTable<'w> {
    word: &'w [char],
    /// Larger distances are not distinguished.
    edits_max: usize,
    letters: Vec<char>,
    /// The rows, one after another. The first row is that of the empty word.
    cells: Vec<u8>,
}

impl<'w> EditDistanceTable<'w> {
    pub fn new(word: &'w [char], edits_max: u8) -> Self {
        let edits_max = edits_max.min(EDITS_MAX);
        let far = edits_max + 1;
        let cells = (0..=word.len()).map(|column| u8::try_from(column).unwrap_or(far).min(far)).collect();
        Self { word, edits_max: usize::from(edits_max), letters: Vec::new(), cells }
    }

    fn width(&self) -> usize {
        self.word.len() + 1
    }

    /// The number of letters that the other word has so far.
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Shortens the other word to its first `len` letters.
    pub fn truncate(&mut self, len: usize) {
        self.letters.truncate(len);
        self.cells.truncate((self.letters.len() + 1) * self.width());
    }

    /// Adds a letter to the other word. Returns whether some continuation could still be within the maximum distance.
    pub fn push(&mut self, letter: char) -> bool {
        let (width, far) = (self.width(), self.far());
        let row = self.letters.len() + 1;
        let (before, above) = (self.cells.len().wrapping_sub(2 * width), self.cells.len() - width);
        let here = self.cells.len();
        self.cells.resize(here + width, far);
        let mut is_open = false;
        for column in row.saturating_sub(self.edits_max)..width.min(row + self.edits_max + 1) {
            let least = match column.checked_sub(1) {
                None => self.cells[above].saturating_add(1),
                Some(left) => {
                    let typed = self.word[left];
                    let exchanged = self.cells[above + left] + u8::from(typed != letter);
                    let one_more = self.cells[above + column].min(self.cells[here + left]) + 1;
                    let swaps = left > 0 && self.word[left - 1] == letter && self.letters.last() == Some(&typed);
                    let swapped = if swaps { self.cells[before + left - 1] + 1 } else { far };
                    exchanged.min(one_more).min(swapped)
                }
            };
            self.cells[here + column] = least.min(far);
            is_open |= least < far;
        }
        self.letters.push(letter);
        is_open
    }

    /// The value of all distances beyond the maximum.
    fn far(&self) -> u8 {
        self.edits_max as u8 + 1
    }

    /// The distance between the two words so far, if it is at most the maximum.
    pub fn distance(&self) -> Option<u8> {
        self.cells.last().copied().filter(|&distance| usize::from(distance) <= self.edits_max)
    }
}

/// The distance between two words, if it is at most `edits_max`.
pub fn edit_distance(from: &str, to: &str, edits_max: u8) -> Option<u8> {
    let from: Vec<char> = from.chars().collect();
    let mut table = EditDistanceTable::new(&from, edits_max);
    to.chars().all(|letter| table.push(letter)).then(|| table.distance()).flatten()
}

/// Maximum number of letters of a [`BitParallelWord`]: one bit of a `u64` for each.
const TYPED_LETTERS_MAX: usize = 64;

/// A typed word, ready to be compared with many words.
#[derive(Debug)]
pub struct BitParallelWord {
    /// For each ASCII character, its positions in the word as a bit set.
    places: [u64; 128],
    len: u32,
}

impl BitParallelWord {
    /// Returns `None` for an empty word and for one with more than 64 letters.
    pub fn new(word: &str) -> Option<Self> {
        let mut places = [0; 128];
        let mut len = 0;
        for letter in word.chars() {
            if len == TYPED_LETTERS_MAX {
                return None;
            }
            // Letters that are not ASCII match no letter of the other words, which are ASCII.
            if let Some(places) = places.get_mut(letter as usize) {
                *places |= 1 << len;
            }
            len += 1;
        }
        (len > 0).then_some(Self { places, len: len as u32 })
    }

    /// The distance to an ASCII word. Bytes that are not ASCII match no letter.
    pub fn distance(&self, word: &[u8]) -> u32 {
        let last = 1_u64 << (self.len - 1);
        let (mut rises, mut falls, mut same, mut places_before) = (!0_u64, 0_u64, 0_u64, 0_u64);
        let mut distance = self.len;
        for byte in word {
            let places = self.places.get(usize::from(*byte)).copied().unwrap_or_default();
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

/// The name that is nearest to `written`, or the first of several that are equally near. `None` if all are further
/// away than `edits_max`.
pub fn nearest_name<N: AsRef<str>>(written: &str, names: impl Iterator<Item = N>, edits_max: u8) -> Option<N> {
    let near = names.filter_map(|name| Some((edit_distance(written, name.as_ref(), edits_max)?, name)));
    near.min_by_key(|&(distance, _)| distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes the whole table with the textbook algorithm.
    fn naive(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ => {
                        let exchanged = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                        let least = exchanged.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                        let swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                        if swaps { least.min(table[i - 2][j - 2] + 1) } else { least }
                    }
                };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn distances_are_those_counted_by_hand() {
        for (from, to, distance) in
            [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("listen", "lisen", 1), ("é", "e", 1)]
        {
            assert_eq!(edit_distance(from, to, 3), Some(distance), "{from} {to}");
        }
        assert_eq!(edit_distance("deposit", "landlord", 3), None);
        assert_eq!(edit_distance("a", "", 0), None);
        assert_eq!(nearest_name("semantci", ["hybrid", "semantic", "keyword"].into_iter(), 2), Some("semantic"));
        assert_eq!(nearest_name("mode", ["hybrid", "keyword"].into_iter(), 2), None);
    }

    #[test]
    fn a_word_that_does_not_fit_into_a_number_is_not_compared() {
        assert!(BitParallelWord::new("").is_none() && BitParallelWord::new(&"é".repeat(65)).is_none());
        assert_eq!(BitParallelWord::new(&"é".repeat(64)).unwrap().distance(b"e"), 64);
    }

    proptest! {
        #[test]
        fn the_distance_in_bits_is_that_of_the_whole_table(
            typed in "[a-d]{1,10}|[a-z]{1,32}|[a-cé-]{1,64}", word in "[a-d]{0,10}|[a-z]{0,32}|[a-c-]{0,70}",
        ) {
            prop_assert_eq!(BitParallelWord::new(&typed).unwrap().distance(word.as_bytes()) as usize, naive(&typed, &word));
        }

        #[test]
        fn any_distance_is_that_of_the_whole_table(
            words in prop::collection::vec("[abc]{0,9}", 2..12), edits_max in 0..5_u8, word in "[abc]{0,9}",
        ) {
            let letters: Vec<char> = word.chars().collect();
            let mut table = EditDistanceTable::new(&letters, edits_max);
            for pair in words.windows(2) {
                // Keep the rows of the common prefix.
                let common = pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
                table.truncate(common.min(table.len()));
                let mut is_open = true;
                for letter in pair[1].chars().skip(table.len()).collect::<Vec<_>>() {
                    is_open = table.push(letter);
                }
                let expected = Some(naive(&word, &pair[1])).filter(|&distance| distance <= usize::from(edits_max));
                prop_assert_eq!(table.distance().map(usize::from), expected, "{} {}", word, &pair[1]);
                prop_assert!(is_open || expected.is_none());
                prop_assert_eq!(edit_distance(&word, &pair[1], edits_max).map(usize::from), expected);
            }
        }
    }
}
