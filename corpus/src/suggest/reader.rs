//! Reads the file: words, entries, and which entries have which words. A damaged list is read as far as it makes sense.

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
    /// How many entries are living headings, living citations, dead headings, dead citations.
    groups: [u32; 4],
    /// How many letters each word has in common with the one before; made when first asked for.
    common_beginnings: OnceLock<Box<[u8]>>,
    words: Lists<u8>,
    rows: Lists<u8>,
    nodes: Lists<u32>,
    /// For each word the entries that begin with it, and those that have it further on.
    pub(super) first: Lists<u8>,
    pub(super) later: Lists<u8>,
}

/// Lists end to end.
#[derive(Clone, Debug)]
pub(super) struct Lists<T: Pod> {
    all: Column<T>,
    starts: Column<u32>,
}

impl<T: Pod> Lists<T> {
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

    /// How much a run of lists holds.
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
            words: Lists::open(&file, "words", "wordsat")?,
            rows: Lists::open(&file, "rows", "rowsat")?,
            nodes: Lists::open(&file, "nodes", "nodesat")?,
            first: Lists::open(&file, "first", "firstat")?,
            later: Lists::open(&file, "later", "laterat")?,
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

    /// A word by its number; words are sorted. Empty beyond the last.
    pub fn word(&self, number: u32) -> &str {
        std::str::from_utf8(self.words.get(number)).unwrap_or_default()
    }

    /// How many letters each word has in common with the one before.
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

    /// The number of the first word behind those that begin with a digit.
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

    /// The numbers of an entry's words, in a row.
    pub fn row(&self, entry: u32) -> impl Iterator<Item = u32> + '_ {
        Numbers(self.rows.get(entry))
    }

    /// The nodes that bear an entry, ascending.
    pub fn nodes(&self, entry: u32) -> &[u32] {
        self.nodes.get(entry)
    }

    /// The run of words that are this one or, if it is open, begin with it.
    pub(super) fn exact(&self, word: &str, is_open: bool) -> Range<u32> {
        let start = self.first_word(|known| known >= word);
        let end = match is_open {
            true => self.end_of_prefix(word),
            false => start.saturating_add(u32::from(start < self.word_count() && self.word(start) == word)),
        };
        start..end.max(start)
    }

    /// The number behind the last word with a beginning.
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

    /// The entries of one list, ascending.
    pub(super) fn entries<'s>(&'s self, lists: &'s Lists<u8>, word: u32) -> impl Iterator<Item = u32> + 's {
        let mut next = 0_u32;
        Numbers(lists.get(word)).map_while(move |distance| {
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

/// Numbers of seven bits a byte.
struct Numbers<'s>(&'s [u8]);

impl Iterator for Numbers<'_> {
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
        // Longer than any number: damaged, and so is what follows.
        self.0 = &[];
        None
    }
}
