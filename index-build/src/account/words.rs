//! A multiset of words. A word is a run of letters and digits, as it is written.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

#[derive(Clone, Debug, Default)]
pub struct Words {
    counts: HashMap<Box<str>, i64, FxBuildHasher>,
    total: u64,
}

impl Words {
    pub fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.add(text);
        words
    }

    /// Adds the words of a text and returns how many they are.
    pub fn add(&mut self, text: &str) -> u64 {
        let mut added = 0;
        for word in words(text) {
            added += 1;
            self.change(word, 1);
        }
        self.total += added;
        added
    }

    pub fn merge(&mut self, other: Self) {
        if self.counts.is_empty() {
            *self = other;
            return;
        }
        for (word, count) in &other.counts {
            self.change(word, *count);
        }
        self.total += other.total;
    }

    /// How many words were added.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How often each word is in this beyond the other (above zero), or is missing (below).
    pub(super) fn less(mut self, other: &Self) -> Balance {
        for (word, count) in &other.counts {
            self.change(word, -count);
        }
        self.counts.retain(|_, count| *count != 0);
        Balance { counts: self.counts }
    }

    fn change(&mut self, word: &str, by: i64) {
        match self.counts.get_mut(word) {
            Some(count) => *count += by,
            None => {
                self.counts.insert(word.into(), by);
            }
        }
    }
}

/// The runs of letters and digits of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Words that are in one of two places only, or more often than in the other.
#[derive(Debug)]
pub(super) struct Balance {
    counts: HashMap<Box<str>, i64, FxBuildHasher>,
}

impl Balance {
    /// Settles what is beyond with words that may be there, and returns how many that were.
    pub(super) fn settle_beyond(&mut self, with: &Words) -> u64 {
        self.settle(with, 1)
    }

    /// The same for what is missing.
    pub(super) fn settle_missing(&mut self, with: &Words) -> u64 {
        self.settle(with, -1)
    }

    fn settle(&mut self, with: &Words, sign: i64) -> u64 {
        let mut settled = 0;
        for (word, open) in &mut self.counts {
            let most = with.counts.get(word).copied().unwrap_or_default();
            let taken = (*open * sign).clamp(0, most.max(0));
            *open -= taken * sign;
            settled += taken as u64;
        }
        self.counts.retain(|_, open| *open != 0);
        settled
    }

    /// Settles words beyond that are several missing words without a blank between them, and returns how many that were.
    pub(super) fn settle_joined(&mut self) -> u64 {
        let mut joined: Vec<Box<str>> =
            self.counts.iter().filter(|(_, count)| **count > 0).map(|(word, _)| word.clone()).collect();
        joined.sort();
        let mut settled = 0;
        for word in joined {
            while self.counts[&word] > 0 {
                let mut parts = Vec::new();
                if !self.divide(&word, &mut parts) {
                    break;
                }
                parts.iter().for_each(|part| *self.counts.entry((*part).into()).or_default() += 1);
                *self.counts.entry(word.clone()).or_default() -= 1;
                settled += 1;
            }
        }
        self.counts.retain(|_, open| *open != 0);
        settled
    }

    /// Divides a text into missing words, the longest first.
    fn divide<'w>(&self, text: &'w str, parts: &mut Vec<&'w str>) -> bool {
        const PARTS_MAX: usize = 12;
        if text.is_empty() {
            return parts.len() > 1;
        }
        let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        for end in ends {
            let (part, rest) = text.split_at(end);
            let taken = parts.iter().filter(|other| **other == part).count() as i64;
            let is_missing = self.counts.get(part).is_some_and(|count| -count > taken);
            if is_missing && parts.len() < PARTS_MAX {
                parts.push(part);
                if self.divide(rest, parts) {
                    return true;
                }
                parts.pop();
            }
        }
        false
    }

    pub(super) fn beyond(&self) -> u64 {
        self.counts.values().map(|count| (*count).max(0) as u64).sum()
    }

    pub(super) fn missing(&self) -> u64 {
        self.counts.values().map(|count| (-*count).max(0) as u64).sum()
    }

    /// The words of each side that occur most often, such as `the ×3`.
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
