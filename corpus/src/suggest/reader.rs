//! Reads the file: words, entries, and which entries contain which words. A damaged list is read as far as it is valid.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use bytemuck::Pod;

use super::file::{FILE_NAME, KIND};
use crate::ids::OrdinalRange;
use crate::section_file::{Column, SectionFile, SectionFileError};

/// The mapped suggestions.
#[derive(Clone, Debug)]
pub struct Suggestions {
    /// The numbers of living headings, living citations, dead headings and dead citations. Living means law in force.
    groups: [u32; 4],
    /// The length of the prefix that each word shares with the word before it. Computed on first use.
    common_beginnings: OnceLock<Box<[u8]>>,
    words: PackedLists<u8>,
    rows: PackedLists<u8>,
    nodes: PackedLists<u32>,
    /// For each word, the entries that begin with it (`first`), and the entries that contain it later (`later`).
    pub(super) first: PackedLists<u8>,
    pub(super) later: PackedLists<u8>,
}

/// Lists, stored one after another.
#[derive(Clone, Debug)]
pub(super) struct PackedLists<T: Pod> {
    all: Column<T>,
    starts: Column<u32>,
}

impl<T: Pod> PackedLists<T> {
    fn open(file: &SectionFile, all: &'static str, starts: &'static str) -> Result<Self, SectionFileError> {
        let lists = Self { all: file.column(all)?, starts: file.column(starts)? };
        let counted = lists.starts.last().map(|&end| end as usize);
        let numbered = u32::try_from(lists.starts.len()).is_ok();
        if lists.starts.first() != Some(&0) || counted != Some(lists.all.len()) || !numbered {
            return Err(file.damaged(format!("section {starts} does not end where section {all} does")));
        }
        Ok(lists)
    }

    fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    fn get(&self, number: u32) -> &[T] {
        let number = number as usize;
        let bounds = self.starts.get(number).zip(self.starts.get(number + 1));
        bounds.and_then(|(&start, &end)| self.all.get(start as usize..end as usize)).unwrap_or_default()
    }

    /// The total length of a range of lists.
    pub(super) fn size(&self, numbers: &Range<u32>) -> usize {
        let start = |number: u32| self.starts.get(number as usize).map_or(0, |&start| start as usize);
        start(numbers.end).saturating_sub(start(numbers.start))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestedKind {
    Heading,
    Citation,
}

impl Suggestions {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let groups = file.slice::<u32>("groups")?.try_into();
        let suggestions = Self {
            groups: groups.map_err(|_| file.damaged("section groups does not have four numbers"))?,
            common_beginnings: OnceLock::new(),
            words: PackedLists::open(&file, "words", "wordsat")?,
            rows: PackedLists::open(&file, "rows", "rowsat")?,
            nodes: PackedLists::open(&file, "nodes", "nodesat")?,
            first: PackedLists::open(&file, "first", "firstat")?,
            later: PackedLists::open(&file, "later", "laterat")?,
        };
        let entries: u64 = suggestions.groups.iter().map(|&count| u64::from(count)).sum();
        let Self { words, rows, nodes, first, later, .. } = &suggestions;
        let counts = [(rows.count(), entries), (nodes.count(), entries)];
        let words = u64::from(words.count());
        let counts = counts.into_iter().chain([(first.count(), words), (later.count(), words)]);
        match counts.into_iter().find(|&(found, expected)| u64::from(found) != expected) {
            Some((found, expected)) => Err(file.damaged(format!("it has {found} lists instead of {expected}"))),
            None => Ok(suggestions),
        }
    }

    pub fn entry_count(&self) -> u32 {
        self.rows.count()
    }

    pub fn word_count(&self) -> u32 {
        self.words.count()
    }

    /// The word with this number. Words are sorted. Empty if there is no such word.
    pub fn word(&self, number: u32) -> &str {
        std::str::from_utf8(self.words.get(number)).unwrap_or_default()
    }

    /// The length of the prefix that each word shares with the word before it.
    pub(super) fn common_beginnings(&self) -> &[u8] {
        self.common_beginnings.get_or_init(|| {
            let mut before = "";
            let numbers = 0..self.word_count();
            let common = numbers.map(|number| {
                let word = self.word(number);
                let pairs = before.chars().zip(word.chars());
                before = word;
                u8::try_from(pairs.take_while(|(a, b)| a == b).count()).unwrap_or(u8::MAX)
            });
            common.collect()
        })
    }

    /// The number of the first word after those that begin with a digit.
    pub(super) fn first_without_digit(&self) -> u32 {
        self.first_word(|known| known > ":")
    }

    pub fn kind(&self, entry: u32) -> SuggestedKind {
        let [living_headings, living_citations, dead_headings, _] = self.groups;
        let living = living_headings.saturating_add(living_citations);
        match entry {
            _ if entry < living_headings => SuggestedKind::Heading,
            _ if entry < living => SuggestedKind::Citation,
            _ if entry < living.saturating_add(dead_headings) => SuggestedKind::Heading,
            _ => SuggestedKind::Citation,
        }
    }

    /// The numbers of an entry's words, in order.
    pub fn row(&self, entry: u32) -> impl Iterator<Item = u32> + '_ {
        VarintNumbers(self.rows.get(entry))
    }

    /// The nodes of an entry, ascending.
    pub fn nodes(&self, entry: u32) -> &[u32] {
        self.nodes.get(entry)
    }

    /// The range of words that equal this one or, if it is open, begin with it.
    pub(super) fn exact(&self, word: &str, is_open: bool) -> Range<u32> {
        let start = self.first_word(|known| known >= word);
        let end = match is_open {
            true => self.end_of_prefix(word),
            false => start.saturating_add(u32::from(start < self.word_count() && self.word(start) == word)),
        };
        start..end.max(start)
    }

    /// The number after that of the last word with this prefix.
    pub(super) fn end_of_prefix(&self, prefix: &str) -> u32 {
        self.first_word(|known| known > prefix && !known.starts_with(prefix))
    }

    fn first_word(&self, is_behind: impl Fn(&str) -> bool) -> u32 {
        let (mut from, mut to) = (0, self.word_count());
        while from < to {
            let middle = from + (to - from) / 2;
            if is_behind(self.word(middle)) { to = middle } else { from = middle + 1 }
        }
        from
    }

    /// The entries in the list of a word, ascending.
    pub(super) fn entries<'s>(&'s self, lists: &'s PackedLists<u8>, word: u32) -> impl Iterator<Item = u32> + 's {
        let mut next = 0_u32;
        VarintNumbers(lists.get(word)).map_while(move |distance| {
            let entry = next.checked_add(distance).filter(|&entry| entry < self.entry_count())?;
            next = entry + 1;
            Some(entry)
        })
    }

    pub(super) fn nodes_in(&self, entry: u32, range: OrdinalRange) -> &[u32] {
        let nodes = self.nodes(entry);
        let from = nodes.partition_point(|&node| node < range.start);
        let to = nodes.partition_point(|&node| node < range.end);
        nodes.get(from..to).unwrap_or_default()
    }
}

/// Decodes numbers that are stored with seven bits per byte.
struct VarintNumbers<'s>(&'s [u8]);

impl Iterator for VarintNumbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut number = 0_u32;
        for shift in (0..u32::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        // Longer than any number, so this number and the rest are damaged.
        self.0 = &[];
        None
    }
}
