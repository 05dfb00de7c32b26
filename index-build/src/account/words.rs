//! A multiset of words as they are written.

use std::collections::HashMap;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Counts words. The words lie one after another in one text: most words of a source are few and
/// short, and an allocation for each would take longer than counting it.
#[derive(Clone, Debug, Default)]
pub struct WordMultiset {
    entries: HashTable<CountedWord>,
    spellings: String,
    total: u64,
}

#[derive(Clone, Copy, Debug)]
struct CountedWord {
    hash: u64,
    start: usize,
    end: usize,
    count: i64,
}

impl WordMultiset {
    pub fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.add(text);
        words
    }

    /// Adds the words of a text and returns their number.
    pub fn add(&mut self, text: &str) -> u64 {
        let mut added = 0;
        for word in words(text) {
            added += 1;
            self.change(word, FxBuildHasher.hash_one(word), 1);
        }
        self.total += added;
        added
    }

    pub fn merge(&mut self, other: Self) {
        if self.entries.is_empty() {
            *self = other;
            return;
        }
        for entry in &other.entries {
            self.change(&other.spellings[entry.start..entry.end], entry.hash, entry.count);
        }
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
        self.entries.iter().map(|entry| (&self.spellings[entry.start..entry.end], entry.count))
    }

    fn contains(&self, word: &str) -> bool {
        self.find(word).is_some()
    }

    fn count(&self, word: &str) -> i64 {
        self.find(word).map_or(0, |entry| entry.count)
    }

    fn find(&self, word: &str) -> Option<&CountedWord> {
        let spellings = &self.spellings;
        self.entries.find(FxBuildHasher.hash_one(word), |entry| &spellings[entry.start..entry.end] == word)
    }

    fn change(&mut self, word: &str, hash: u64, by: i64) {
        let spellings = &mut self.spellings;
        let is_same = |entry: &CountedWord| entry.hash == hash && &spellings[entry.start..entry.end] == word;
        if let Some(entry) = self.entries.find_mut(hash, is_same) {
            entry.count += by;
            return;
        }
        let start = spellings.len();
        spellings.push_str(word);
        let entry = CountedWord { hash, start, end: spellings.len(), count: by };
        self.entries.insert_unique(hash, entry, |entry| entry.hash);
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
    Letter,
}

impl CharKind {
    const fn of_ascii(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => Self::Digit,
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Capital,
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
    fn ends_before(self, next: Self) -> bool {
        next == Self::Separator
            || (self == Self::Digit) != (next == Self::Digit)
            || self == Self::Small && next == Self::Capital
    }
}

static ASCII_KINDS: [CharKind; 128] = {
    let mut kinds = [CharKind::Separator; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = CharKind::of_ascii(byte as u8);
        byte += 1;
    }
    kinds
};

impl<'t> WordSplitter<'t> {
    /// The kind of the next character, and where it ends.
    fn peek(&self) -> Option<(CharKind, usize)> {
        let byte = *self.text.as_bytes().get(self.at)?;
        if byte.is_ascii() {
            return Some((ASCII_KINDS[usize::from(byte)], self.at + 1));
        }
        let letter = self.text[self.at..].chars().next()?;
        Some((CharKind::of(letter), self.at + letter.len_utf8()))
    }
}

impl<'t> Iterator for WordSplitter<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let (mut last, mut end) = self.peek()?;
        while last == CharKind::Separator {
            self.at = end;
            (last, end) = self.peek()?;
        }
        let start = self.at;
        self.at = end;
        while let Some((kind, end)) = self.peek().filter(|(kind, _)| !last.ends_before(*kind)) {
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
