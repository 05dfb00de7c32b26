//! A multiset of words as they are written.

use std::collections::HashMap;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

const SOFT_HYPHEN: char = '\u{ad}';

/// Counts words. Nearly all are short: those lie in their entries, so that finding one reads one
/// place in memory and compares two numbers.
#[derive(Clone, Debug, Default)]
pub struct WordMultiset {
    short: HashTable<(ShortWord, i64)>,
    long: HashMap<Box<str>, i64, FxBuildHasher>,
    total: u64,
}

impl WordMultiset {
    pub fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.add(text);
        words
    }

    /// Adds the words of a text and returns their number.
    pub fn add(&mut self, text: &str) -> u64 {
        // Soft hyphens are no ends of words, and importers leave them out.
        if text.contains(SOFT_HYPHEN) {
            return self.add(&text.replace(SOFT_HYPHEN, ""));
        }
        let mut added = 0;
        for word in words(text) {
            added += 1;
            match ShortWord::of(word) {
                Some(short) => self.change_short(short, 1),
                None => self.change_long(word, 1),
            }
        }
        self.total += added;
        added
    }

    pub fn merge(&mut self, other: Self) {
        if self.total == 0 {
            *self = other;
            return;
        }
        other.short.iter().for_each(|(word, count)| self.change_short(*word, *count));
        other.long.iter().for_each(|(word, count)| self.change_long(word, *count));
        self.total += other.total;
    }

    /// The number of words added.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The difference of the two multisets: how often each word is in surplus here (above zero) or
    /// missing (below zero).
    pub(super) fn word_difference(&self, other: &Self) -> WordDifference {
        let own = self.iter().map(|(word, count)| (word, count - other.count(word)));
        let others = other.iter().filter(|(word, _)| !self.contains(word)).map(|(word, count)| (word, -count));
        let unequal = own.chain(others).filter(|(_, count)| *count != 0);
        let counts = unequal.map(|(word, count)| (word.into(), count)).collect();
        WordDifference { counts, spare: HashMap::default() }
    }

    fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        let short = self.short.iter().map(|(word, count)| (word.as_str(), *count));
        short.chain(self.long.iter().map(|(word, count)| (&**word, *count)))
    }

    fn contains(&self, word: &str) -> bool {
        self.find(word).is_some()
    }

    fn count(&self, word: &str) -> i64 {
        self.find(word).unwrap_or_default()
    }

    fn find(&self, word: &str) -> Option<i64> {
        match ShortWord::of(word) {
            Some(short) => self.short.find(short.hash(), |(other, _)| *other == short).map(|(_, count)| *count),
            None => self.long.get(word).copied(),
        }
    }

    fn change_short(&mut self, word: ShortWord, by: i64) {
        let hash = word.hash();
        match self.short.find_mut(hash, |(other, _)| *other == word) {
            Some((_, count)) => *count += by,
            None => {
                self.short.insert_unique(hash, (word, by), |(other, _)| other.hash());
            }
        }
    }

    fn change_long(&mut self, word: &str, by: i64) {
        match self.long.get_mut(word) {
            Some(count) => *count += by,
            None => {
                self.long.insert(word.into(), by);
            }
        }
    }
}

/// A word of at most 16 bytes, filled with zeros, which no word contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShortWord([u8; 16]);

impl ShortWord {
    fn of(word: &str) -> Option<Self> {
        let bytes = word.as_bytes();
        let length = bytes.len();
        // The first and the last bytes overlap where they are the same bytes.
        let value = match length {
            8..=16 => {
                let [first, last] = [bytes.first_chunk()?, bytes.last_chunk()?];
                u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << (8 * (length - 8))
            }
            4..=7 => {
                let [first, last] = [bytes.first_chunk()?, bytes.last_chunk()?];
                u128::from(u32::from_le_bytes(*first)) | u128::from(u32::from_le_bytes(*last)) << (8 * (length - 4))
            }
            1..=3 => {
                let [first, middle, last] = [0, length / 2, length - 1].map(|at| u128::from(bytes[at]) << (8 * at));
                first | middle | last
            }
            _ => return None,
        };
        Some(Self(value.to_le_bytes()))
    }

    fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }

    fn hash(self) -> u64 {
        FxBuildHasher.hash_one(u128::from_le_bytes(self.0))
    }
}

/// The words of a text: runs of letters or of digits. A capital after a small letter begins a new
/// word, because sources that lost the line feeds of their tables contain `$50.00Nonresident` and
/// `FeeAmount`, which importers divide.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    WordSplitter { text, at: 0 }
}

struct WordSplitter<'t> {
    text: &'t str,
    at: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum CharKind {
    Separator,
    Digit,
    Small,
    Capital,
    /// A letter without case.
    Letter,
    /// The first byte of a character that is not ASCII.
    Wide,
}

impl CharKind {
    const ALL: [Self; 5] = [Self::Separator, Self::Digit, Self::Small, Self::Capital, Self::Letter];

    const fn of_byte(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => Self::Digit,
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Capital,
            0x80.. => Self::Wide,
            _ => Self::Separator,
        }
    }

    fn of(letter: char) -> Self {
        match letter {
            _ if letter.is_numeric() => Self::Digit,
            _ if letter.is_lowercase() => Self::Small,
            _ if letter.is_uppercase() => Self::Capital,
            _ if letter.is_alphabetic() => Self::Letter,
            _ => Self::Separator,
        }
    }

    /// Whether a word that goes on to here ends before `next`.
    const fn ends_before(self, next: Self) -> bool {
        matches!(next, Self::Separator)
            || matches!(self, Self::Digit) != matches!(next, Self::Digit)
            || matches!((self, next), (Self::Small, Self::Capital))
    }
}

static BYTE_KINDS: [CharKind; 256] = {
    let mut kinds = [CharKind::Separator; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = CharKind::of_byte(byte as u8);
        byte += 1;
    }
    kinds
};

/// [`CharKind::ends_before`] of every two kinds: one look instead of several comparisons a character.
static WORD_ENDS: [[bool; 8]; 8] = {
    let mut ends = [[false; 8]; 8];
    let (mut last, all) = (0, CharKind::ALL);
    while last < all.len() {
        let mut next = 0;
        while next < all.len() {
            ends[last][next] = all[last].ends_before(all[next]);
            next += 1;
        }
        last += 1;
    }
    ends
};

impl WordSplitter<'_> {
    /// The kind of the next character, and where it ends.
    #[inline]
    fn peek(&self) -> Option<(CharKind, usize)> {
        let kind = BYTE_KINDS[usize::from(*self.text.as_bytes().get(self.at)?)];
        if kind == CharKind::Wide { self.peek_wide() } else { Some((kind, self.at + 1)) }
    }

    #[cold]
    fn peek_wide(&self) -> Option<(CharKind, usize)> {
        let letter = self.text[self.at..].chars().next()?;
        Some((CharKind::of(letter), self.at + letter.len_utf8()))
    }
}

impl<'t> Iterator for WordSplitter<'t> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        let (mut last, mut end) = self.peek()?;
        while last == CharKind::Separator {
            self.at = end;
            (last, end) = self.peek()?;
        }
        let start = self.at;
        self.at = end;
        while let Some((kind, end)) = self.peek() {
            if WORD_ENDS[last as usize & 7][kind as usize & 7] {
                break;
            }
            last = kind;
            self.at = end;
        }
        Some(&self.text[start..self.at])
    }
}

/// The maximum number of ways to divide a word that are tried. Digits can be divided in very many ways.
const STEPS_MAX: usize = 20_000;

/// Longer words are not divided.
const WORD_BYTES_MAX: usize = 400;

/// The surplus and missing words of a comparison.
#[derive(Debug)]
pub(super) struct WordDifference {
    counts: HashMap<Box<str>, i64, FxBuildHasher>,
    /// Words that were left out for a reason but are not in surplus: the source contains them
    /// within another word.
    spare: HashMap<Box<str>, i64, FxBuildHasher>,
}

impl WordDifference {
    /// Settles surplus words that `with` also contains, and returns how many were settled.
    pub(super) fn settle_beyond(&mut self, with: &WordMultiset) -> u64 {
        self.settle(with, 1)
    }

    /// Settles missing words in the same way.
    pub(super) fn settle_missing(&mut self, with: &WordMultiset) -> u64 {
        self.settle(with, -1)
    }

    /// Settles surplus words with words that were left out.
    pub(super) fn settle_left_out(&mut self, with: &WordMultiset) -> u64 {
        for (word, count) in with.iter() {
            let beyond = self.counts.get(word).copied().unwrap_or_default().max(0);
            if count > beyond {
                *self.spare.entry(word.into()).or_default() += count - beyond;
            }
        }
        self.settle(with, 1)
    }

    fn settle(&mut self, with: &WordMultiset, sign: i64) -> u64 {
        let mut settled = 0;
        for (word, open) in &mut self.counts {
            let most = with.count(word);
            let taken = (*open * sign).clamp(0, most.max(0));
            *open -= taken * sign;
            settled += taken as u64;
        }
        self.counts.retain(|_, open| *open != 0);
        settled
    }

    /// Settles surplus words that consist of several missing or left-out words written without a
    /// blank, and returns how many were settled. A word that also occurs elsewhere in the snapshot,
    /// such as `cannot`, is one word and is not divided into left-out words.
    pub(super) fn settle_joined(&mut self, held: &WordMultiset) -> u64 {
        let beyond = self.counts.iter().filter(|(word, count)| **count > 0 && word.len() <= WORD_BYTES_MAX);
        let mut joined: Vec<Box<str>> = beyond.map(|(word, _)| word.clone()).collect();
        // Long words first: their parts are rarely in other words.
        joined.sort_by_key(|word| (std::cmp::Reverse(word.len()), word.clone()));
        let mut settled = 0;
        for word in joined {
            while self.counts[&word] > 0 {
                let mut parts = Vec::new();
                let mut steps = STEPS_MAX;
                let with_spare = !held.contains(&word);
                if !self.divide(&word, &mut parts, with_spare, &mut steps) {
                    break;
                }
                parts.iter().for_each(|part| self.take(part));
                *self.counts.entry(word.clone()).or_default() -= 1;
                settled += 1;
            }
        }
        self.counts.retain(|_, open| *open != 0);
        settled
    }

    /// Consumes one missing or left-out word.
    fn take(&mut self, word: &str) {
        match self.counts.get_mut(word).filter(|count| **count < 0) {
            Some(missing) => *missing += 1,
            None => *self.spare.entry(word.into()).or_default() -= 1,
        }
    }

    /// How often a word is missing or was left out.
    fn takable(&self, word: &str, with_spare: bool) -> i64 {
        let missing = self.counts.get(word).map_or(0, |count| (-*count).max(0));
        missing + self.spare.get(word).copied().filter(|_| with_spare).unwrap_or_default()
    }

    /// Divides a text into missing words, the longest first.
    fn divide<'w>(&self, text: &'w str, parts: &mut Vec<&'w str>, with_spare: bool, steps: &mut usize) -> bool {
        const PARTS_MAX: usize = 12;
        if text.is_empty() {
            return parts.len() > 1;
        }
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        for end in ends {
            let (part, rest) = text.split_at(end);
            let taken = parts.iter().filter(|other| **other == part).count() as i64;
            if self.takable(part, with_spare) > taken && parts.len() < PARTS_MAX {
                parts.push(part);
                if self.divide(rest, parts, with_spare, steps) {
                    return true;
                }
                parts.pop();
            }
        }
        false
    }

    /// Settles surplus words that the snapshot contains within a longer word, if the source prints
    /// that longer word too (`printed`), and returns how many were settled. The other parts of the
    /// longer word must be words of the source.
    pub(super) fn settle_glued(&mut self, printed: &WordMultiset, source: [&WordMultiset; 2]) -> u64 {
        let is_known = |word: &str| source.iter().any(|words| words.count(word) > 0);
        let is_printed = |word: &str| printed.contains(word) && word.len() <= WORD_BYTES_MAX;
        let missing = self.counts.iter().filter(|(word, count)| **count < 0 && is_printed(word));
        let mut glued: Vec<(Box<str>, i64)> = missing.map(|(word, count)| (word.clone(), -count)).collect();
        glued.sort();
        let mut settled = 0;
        for (word, count) in glued {
            for _ in 0..count {
                let mut steps = STEPS_MAX;
                let Some(parts) = self.divide_glued(&word, &is_known, 0, &mut steps) else { break };
                let mut taken = 0;
                for part in parts {
                    if let Some(beyond) = self.counts.get_mut(part).filter(|count| **count > 0) {
                        *beyond -= 1;
                        taken += 1;
                    }
                }
                if taken == 0 {
                    break;
                }
                *self.counts.entry(word.clone()).or_default() += 1;
                settled += taken;
            }
        }
        self.counts.retain(|_, open| *open != 0);
        settled
    }

    /// Divides a missing word into words of the source, surplus words first.
    fn divide_glued<'w>(
        &self,
        text: &'w str,
        is_known: &impl Fn(&str) -> bool,
        depth: usize,
        steps: &mut usize,
    ) -> Option<Vec<&'w str>> {
        const PARTS_MAX: usize = 8;
        if text.is_empty() {
            return (depth > 1).then(Vec::new);
        }
        if depth == PARTS_MAX || *steps == 0 {
            return None;
        }
        *steps -= 1;
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]).collect();
        let is_beyond = |word: &str| self.counts.get(word).is_some_and(|count| *count > 0);
        let beyond = ends.iter().rev().filter(|&&end| is_beyond(&text[..end]));
        let known = ends.iter().rev().filter(|&&end| !is_beyond(&text[..end]) && is_known(&text[..end]));
        beyond.chain(known).find_map(|&end| {
            let mut rest = self.divide_glued(&text[end..], is_known, depth + 1, steps)?;
            rest.insert(0, &text[..end]);
            Some(rest)
        })
    }

    pub(super) fn surplus_count(&self) -> u64 {
        self.counts.values().map(|count| (*count).max(0) as u64).sum()
    }

    pub(super) fn missing(&self) -> u64 {
        self.counts.values().map(|count| (-*count).max(0) as u64).sum()
    }

    /// The most frequent words of each side, such as `the ×3`.
    pub(super) fn examples(&self, number: usize) -> [Vec<String>; 2] {
        [1, -1].map(|sign| {
            let mut listed: Vec<(i64, &str)> = self
                .counts
                .iter()
                .map(|(word, count)| (count * sign, &**word))
                .filter(|(count, _)| *count > 0)
                .collect();
            listed.sort_by_key(|(count, word)| (-count, *word));
            listed.truncate(number);
            listed.into_iter().map(|(count, word)| format!("{word} ×{count}")).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_end_at_separators_digits_and_capitals_after_small_letters() {
        let found = |text| words(text).collect::<Vec<_>>();
        assert_eq!(found("  $50.00Nonresident FeeAmount"), ["50", "00", "Nonresident", "Fee", "Amount"]);
        assert_eq!(found("§ 12a—Écoles IIIb, 東京3½"), ["12", "a", "Écoles", "IIIb", "東京", "3½"]);
        assert!(found(" .—§ ").is_empty() && found("").is_empty());
    }

    #[test]
    fn a_short_word_keeps_its_bytes() {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        for length in 1..=16 {
            let word = &letters[..length];
            assert_eq!(ShortWord::of(word).unwrap().as_str(), word);
        }
        assert_eq!(ShortWord::of("é").unwrap().as_str(), "é");
        assert!(ShortWord::of("").is_none() && ShortWord::of(&letters[..17]).is_none());
    }

    proptest! {
        #[test]
        fn words_are_counted_as_in_a_plain_map(texts in prop::collection::vec("[a-cé ]{0,60}", 1..6)) {
            let mut all = WordMultiset::default();
            let mut plain: HashMap<&str, i64> = HashMap::new();
            for text in &texts {
                all.merge(WordMultiset::of(text));
                words(text).for_each(|word| *plain.entry(word).or_default() += 1);
            }
            prop_assert_eq!(all.total(), plain.values().sum::<i64>() as u64);
            prop_assert_eq!(all.iter().collect::<HashMap<_, _>>(), plain);
        }
    }
}
