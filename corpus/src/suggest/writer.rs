//! Writes the file. In memory, a build keeps a few numbers for each word of a heading or citation, and each
//! distinct word once.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::file::{FILE_NAME, KIND};
use super::words::{TEXT_CHARS_MAX, WORDS_MAX, all_words_of};
use crate::ids::NodeOrdinal;
use crate::section_file::{SectionFileError, SectionWriter};

/// Collects headings and citations in the order of their nodes.
#[derive(Debug, Default)]
pub struct SuggestWriter {
    vocabulary: HashMap<Box<str>, u32>,
    /// The index of each entry, by a hash of what all texts of the entry have in common.
    places: HashMap<[u8; 16], usize>,
    entries: Vec<SuggestionEntry>,
}

#[derive(Debug)]
struct SuggestionEntry {
    rank: Rank,
    words: Box<[u32]>,
    nodes: Vec<u32>,
}

/// The order of entries. No two entries have the same rank, because a node has one heading and one citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_dead: bool,
    is_citation: bool,
    chars: u32,
    first: u32,
}

impl SuggestWriter {
    /// Adds the next node. `is_living` is that of its status.
    pub fn push(&mut self, node: NodeOrdinal, heading: &str, citation: &str, is_living: bool) {
        for (text, is_citation) in [(heading, false), (citation, true)] {
            self.push_text(node, text, is_citation, is_living);
        }
    }

    fn push_text(&mut self, node: NodeOrdinal, text: &str, is_citation: bool, is_living: bool) {
        let words = all_words_of(text);
        if words.is_empty() {
            return;
        }
        // A long heading is shown in full, so headings that differ only in their ends are separate entries.
        let end = text.char_indices().nth(TEXT_CHARS_MAX).map_or("", |(at, _)| &text[at..]);
        let key = format!("{is_citation} {} {end}", words.join(" "));
        let key: [u8; 16] = blake3::hash(key.as_bytes()).as_bytes()[..16].try_into().expect("a digest has 32 bytes");
        let next = self.entries.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            let chars = text.chars().count() as u32;
            let rank = Rank { is_dead: true, is_citation, chars, first: node.0 };
            let words = words.iter().take(WORDS_MAX).map(|word| self.word(word)).collect();
            self.entries.push(SuggestionEntry { rank, words, nodes: Vec::with_capacity(1) });
        }
        let entry = &mut self.entries[place];
        entry.nodes.push(node.0);
        entry.rank.is_dead &= !is_living;
    }

    fn word(&mut self, word: &str) -> u32 {
        if let Some(&known) = self.vocabulary.get(word) {
            return known;
        }
        let number = self.vocabulary.len() as u32;
        self.vocabulary.insert(word.into(), number);
        number
    }

    pub fn finish(self, dir: &Path) -> Result<(), SectionFileError> {
        let Self { vocabulary, mut entries, .. } = self;
        let mut words: Vec<(Box<str>, u32)> = vocabulary.into_iter().collect();
        words.sort_unstable();
        let mut number_of = vec![0; words.len()];
        for (number, &(_, gathered)) in (0..).zip(&words) {
            number_of[gathered as usize] = number;
        }
        entries.sort_unstable_by_key(|entry| entry.rank);
        for entry in &mut entries {
            entry.words.iter_mut().for_each(|word| *word = number_of[*word as usize]);
        }
        write(dir, &words, &entries)
    }
}

fn write(dir: &Path, words: &[(Box<str>, u32)], entries: &[SuggestionEntry]) -> Result<(), SectionFileError> {
    let path = dir.join(FILE_NAME);
    let too_long = || SectionFileError::Io {
        path: path.clone(),
        doing: "write",
        source: io::Error::other("headings and citations need more than 4 GiB; split the plan into two snapshots"),
    };
    let mut out = SectionWriter::create(&path, KIND, 11)?;
    let group = |is_dead, is_citation| {
        let inside = |entry: &&SuggestionEntry| entry.rank.is_dead == is_dead && entry.rank.is_citation == is_citation;
        entries.iter().filter(inside).count() as u32
    };
    out.section("groups", &[group(false, false), group(false, true), group(true, false), group(true, true)])?;
    let (texts, starts) = joined(words.iter().map(|(word, _)| word.as_bytes().to_vec())).ok_or_else(too_long)?;
    out.section("words", &texts)?;
    out.section("wordsat", &starts)?;
    let numbers = entries.iter().map(|entry| {
        let mut bytes = Vec::with_capacity(entry.words.len() * 3);
        entry.words.iter().for_each(|&word| push_number(&mut bytes, word));
        bytes
    });
    let (rows, starts) = joined(numbers).ok_or_else(too_long)?;
    out.section("rows", &rows)?;
    out.section("rowsat", &starts)?;
    let (nodes, starts) = joined(entries.iter().map(|entry| entry.nodes.clone())).ok_or_else(too_long)?;
    out.section("nodes", &nodes)?;
    out.section("nodesat", &starts)?;
    for (lists, starts_tag, is_first) in [("first", "firstat", true), ("later", "laterat", false)] {
        let (bytes, starts) = joined(lists_of(words.len(), entries, is_first).into_iter()).ok_or_else(too_long)?;
        out.section(lists, &bytes)?;
        out.section(starts_tag, &starts)?;
    }
    out.finish()
}

/// For every word, the list of the entries that begin with it (`is_first`) or contain it later. Each entry is
/// stored as its distance from the previous one.
fn lists_of(words: usize, entries: &[SuggestionEntry], is_first: bool) -> Vec<Vec<u8>> {
    let mut lists = vec![(Vec::new(), 0); words];
    for (number, entry) in (0..).zip(entries) {
        let (first, later) = entry.words.split_at(1);
        let mut wanted: Vec<u32> = if is_first { first.to_vec() } else { later.to_vec() };
        wanted.sort_unstable();
        wanted.dedup();
        for word in wanted {
            let (list, next) = &mut lists[word as usize];
            push_number(list, number - *next);
            *next = number + 1;
        }
    }
    lists.into_iter().map(|(list, _)| list).collect()
}

/// Concatenates lists. Also returns the start of each list and the end of the last one. `None` if these do not fit
/// 32 bits.
fn joined<T>(lists: impl Iterator<Item = Vec<T>>) -> Option<(Vec<T>, Vec<u32>)> {
    let mut all = Vec::new();
    let mut starts = vec![0];
    for list in lists {
        all.extend(list);
        starts.push(u32::try_from(all.len()).ok()?);
    }
    Some((all, starts))
}

/// Writes a number with seven bits per byte, the lowest bits first. The high bit means that more bytes follow.
fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
