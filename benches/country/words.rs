//! The words of the real law, in classes by frequency and ending. A word is replaced by one of its class.

use std::collections::HashMap;

use hornbook_base::random::SplitMix64;

use crate::law::RealLaw;

/// The number of most frequent words that are never replaced: they make the grammar of a sentence.
const KEPT_WORD_COUNT: usize = 400;
/// Words with a length outside this range are never replaced.
const REPLACEABLE_LENGTHS: std::ops::RangeInclusive<usize> = 4..=24;
/// A word that occurs at most this often is a name or a typing error.
const RARE_COUNT_MAX: u32 = 3;
/// A word that occurs at most this often is a name if it has a capital inside a sentence.
const NAME_COUNT_MAX: u32 = 400;

/// Endings that the words of a class share, so that a verb is usually replaced by a verb.
const ENDINGS: [&str; 7] = ["ings", "ing", "ions", "ion", "ed", "ly", "s"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u32);

struct Entry {
    text: Box<str>,
    class: u16,
    place: u32,
    count: u32,
}

pub(crate) struct Words {
    ids: HashMap<Box<str>, u32>,
    entries: Vec<Entry>,
    /// The words of each class in alphabetical order.
    classes: Vec<Vec<u32>>,
}

impl Words {
    pub(crate) fn of(law: &RealLaw) -> Self {
        let mut counts: HashMap<Box<str>, u32> = HashMap::new();
        let mut lower = String::new();
        for &node in law.groups().iter().flat_map(|group| &group.provisions) {
            for word in law.text(node).split(|c: char| !c.is_ascii_alphabetic()) {
                if REPLACEABLE_LENGTHS.contains(&word.len()) {
                    lower.clear();
                    lower.push_str(word);
                    lower.make_ascii_lowercase();
                    match counts.get_mut(lower.as_str()) {
                        Some(count) => *count += 1,
                        None => {
                            counts.insert(lower.as_str().into(), 1);
                        }
                    }
                }
            }
        }
        let mut counted: Vec<(Box<str>, u32)> = counts.into_iter().collect();
        counted.sort_unstable_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        // At most one word in eight, because the law of a small snapshot has few words.
        counted.drain(..KEPT_WORD_COUNT.min(counted.len() / 8));
        counted.sort_unstable();
        let mut words = Self { ids: HashMap::new(), entries: Vec::new(), classes: Vec::new() };
        for (id, (text, count)) in (0..).zip(counted) {
            let class = class_of(&text, count);
            if words.classes.len() <= class {
                words.classes.resize_with(class + 1, Vec::new);
            }
            let place = words.classes[class].len() as u32;
            words.classes[class].push(id);
            words.ids.insert(text.clone(), id);
            words.entries.push(Entry { text, class: class as u16, place, count });
        }
        words
    }

    /// The word with this spelling in lower case; `None` for the most frequent words, which are never replaced.
    pub(crate) fn find(&self, lower: &str) -> Option<Word> {
        self.ids.get(lower).copied().map(Word)
    }

    pub(crate) fn is_rare(&self, word: Word) -> bool {
        self.entries[word.0 as usize].count <= RARE_COUNT_MAX
    }

    pub(crate) fn is_scarce(&self, word: Word) -> bool {
        self.entries[word.0 as usize].count <= NAME_COUNT_MAX
    }

    pub(crate) fn text(&self, word: Word) -> &str {
        &self.entries[word.0 as usize].text
    }

    pub(crate) fn are_of_one_class(&self, left: Word, right: Word) -> bool {
        self.entries[left.0 as usize].class == self.entries[right.0 as usize].class
    }

    /// The word that a jurisdiction always uses instead of this one.
    pub(crate) fn fixed_replacement(&self, word: Word, seed: u64) -> &str {
        let mut of_word = SplitMix64(seed ^ u64::from(word.0) << 20);
        self.random_of_class(word, &mut of_word)
    }

    /// A random word of the same class.
    pub(crate) fn random_of_class(&self, word: Word, random: &mut SplitMix64) -> &str {
        let entry = &self.entries[word.0 as usize];
        let class = &self.classes[usize::from(entry.class)];
        let step = 1 + random.index(class.len().max(2) - 1);
        &self.entries[class[(entry.place as usize + step) % class.len()] as usize].text
    }
}

fn class_of(text: &str, count: u32) -> usize {
    let ending = ENDINGS.iter().position(|ending| text.ends_with(ending)).map_or(0, |place| place + 1);
    count.ilog2() as usize * (ENDINGS.len() + 1) + ending
}
