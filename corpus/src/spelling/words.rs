//! Splits text into the words of the spelling file, which are runs of English letters folded to lower case, and
//! counts the nodes that contain each word.

use rustc_hash::FxHashMap;

/// Shorter and longer words are neither stored nor corrected.
pub const WORD_LETTERS_MIN: usize = 3;
pub const WORD_LETTERS_MAX: usize = 32;

/// Calls `sink` with the words of a text, in order. A run that contains digits or other letters is not a word.
pub(super) fn each_word(text: &str, mut sink: impl FnMut(&[u8])) {
    let mut word = [0; WORD_LETTERS_MAX];
    let mut length = 0;
    let mut is_word = true;
    let mut at = 0;
    loop {
        // Nearly all legal text is ASCII. Only other bytes are decoded to characters.
        let next = text.as_bytes().get(at).copied();
        let (is_alphanumeric, read) = match next {
            Some(letter) if letter.is_ascii_alphabetic() => {
                is_word &= length < WORD_LETTERS_MAX;
                if is_word {
                    word[length] = letter.to_ascii_lowercase();
                    length += 1;
                }
                (true, 1)
            }
            Some(byte) if byte.is_ascii() => {
                is_word &= !byte.is_ascii_digit();
                (byte.is_ascii_digit(), 1)
            }
            _ => {
                let other = text[at..].chars().next();
                let is_alphanumeric = other.is_some_and(char::is_alphanumeric);
                is_word &= !is_alphanumeric;
                (is_alphanumeric, other.map_or(0, char::len_utf8))
            }
        };
        if !is_alphanumeric {
            if is_word && length >= WORD_LETTERS_MIN {
                sink(&word[..length]);
            }
            (length, is_word) = (0, true);
        }
        if next.is_none() {
            return;
        }
        at += read;
    }
}

/// The letters of a word as a bit set, with `a` as the lowest bit. `None` if it cannot be a word of the file.
pub(super) fn letters_of(word: &str) -> Option<u32> {
    let fits = (WORD_LETTERS_MIN..=WORD_LETTERS_MAX).contains(&word.len());
    let letter = |byte: u8| byte.is_ascii_lowercase().then(|| 1 << (byte - b'a'));
    if fits { word.bytes().try_fold(0, |letters, byte| Some(letters | letter(byte)?)) } else { None }
}

/// The number of nodes that contain each word. Parts of a corpus can be counted separately and merged in any order.
#[derive(Debug, Default)]
pub struct WordCounts {
    counts: FxHashMap<Box<[u8]>, WordCount>,
    nodes: u32,
}

#[derive(Clone, Copy, Debug)]
struct WordCount {
    nodes: u32,
    /// The last node that was counted, so that each node counts once.
    last: u32,
}

impl WordCounts {
    /// Counts the words of one node.
    pub fn add_node<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        self.nodes += 1;
        let node = self.nodes;
        for text in texts {
            each_word(text, |word| match self.counts.get_mut(word) {
                Some(count) if count.last == node => {}
                Some(count) => *count = WordCount { nodes: count.nodes + 1, last: node },
                None => {
                    self.counts.insert(word.into(), WordCount { nodes: 1, last: node });
                }
            });
        }
    }

    /// Adds the counts of other nodes.
    pub fn merge(&mut self, other: Self) {
        self.nodes += other.nodes;
        for (word, count) in other.counts {
            self.counts
                .entry(word)
                .and_modify(|own| own.nodes += count.nodes)
                .or_insert(WordCount { last: 0, ..count });
        }
    }

    /// All words that at least one in `one_in` nodes contains, and all known words, by length and then alphabetically.
    pub(super) fn sorted<'w>(self, one_in: u32, known: impl IntoIterator<Item = &'w str>) -> Vec<(Box<str>, u32)> {
        let least = self.nodes / one_in;
        let mut counts = self.counts;
        let known = known.into_iter().filter(|word| letters_of(word).is_some());
        let mut count_of = |word: &str| counts.remove(word.as_bytes()).map_or(0, |count| count.nodes);
        let mut words: Vec<(Box<str>, u32)> = known.map(|word| (word.into(), count_of(word))).collect();
        let kept = counts.into_iter().filter(|(_, count)| count.nodes >= least);
        words.extend(kept.map(|(word, count)| (String::from_utf8_lossy(&word).into(), count.nodes)));
        words.sort_unstable_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters() {
        let words = |text: &str| {
            let mut words = Vec::new();
            each_word(text, |word| words.push(String::from_utf8_lossy(word).into_owned()));
            words
        };
        assert_eq!(words("The landlord’s Deposit—non-refundable"), ["the", "landlord", "deposit", "non", "refundable"]);
        assert_eq!(words("§ 823a, façade of 10b-5, B2B"), Vec::<String>::new());
        assert_eq!(words(&format!("{} {}", "x".repeat(32), "y".repeat(33))), ["x".repeat(32)]);
        assert_eq!(words("naïve Éire’s rent… (Lease)"), ["rent", "lease"]);
    }

    #[test]
    fn counting_in_parts_makes_no_difference() {
        let texts = ["rent is rent", "the rent", "the lease", "deposit deposit"];
        let mut whole = WordCounts::default();
        texts.iter().for_each(|text| whole.add_node([*text]));
        let mut parts = WordCounts::default();
        for half in [&texts[2..], &texts[..2]] {
            let mut counts = WordCounts::default();
            half.iter().for_each(|text| counts.add_node([*text]));
            parts.merge(counts);
        }
        let words = whole.sorted(100, []);
        assert_eq!(words, parts.sorted(100, []));
        let reported: Vec<(&str, u32)> = words.iter().map(|(word, nodes)| (&**word, *nodes)).collect();
        assert_eq!(reported, [("the", 2), ("rent", 2), ("lease", 1), ("deposit", 1)]);
    }

    #[test]
    fn in_a_large_corpus_the_rarest_words_are_dropped() {
        let mut counts = WordCounts::default();
        ["rent rare", "rent", "rent", "rent"].iter().for_each(|text| counts.add_node([*text]));
        assert_eq!(counts.sorted(2, []).iter().map(|(word, _)| &**word).collect::<Vec<_>>(), ["rent"]);
    }

    #[test]
    fn words_that_are_known_without_the_corpus_are_kept_however_rare() {
        let mut counts = WordCounts::default();
        ["rent rare", "rent", "rent", "rent"].iter().for_each(|text| counts.add_node([*text]));
        let words = counts.sorted(2, ["rare", "kayak", "rent", "##ing", "an"]);
        let words: Vec<(&str, u32)> = words.iter().map(|(word, nodes)| (&**word, *nodes)).collect();
        assert_eq!(words, [("rare", 1), ("rent", 4), ("kayak", 0)]);
    }
}
