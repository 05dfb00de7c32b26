//! Reading the file: from what someone typed to entries, best first. A damaged list is read as far as it makes sense.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use bytemuck::Pod;

use super::file::{FILE_NAME, KIND};
use super::words::{NearRun, Typed, edits_allowed, typed};
use crate::ids::{NodeOrdinal, OrdinalRange};
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
    first: Lists<u8>,
    later: Lists<u8>,
}

/// Lists end to end.
#[derive(Clone, Debug)]
struct Lists<T: Pod> {
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
    fn size(&self, numbers: &Range<u32>) -> usize {
        let start = |number: u32| self.starts.get(number as usize).map_or(0, |&start| start as usize);
        start(numbers.end).saturating_sub(start(numbers.start))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestedKind {
    Heading,
    Citation,
}

/// How an entry answers what was typed, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// It begins with it.
    Begins,
    /// It has every word of it.
    Has,
    /// It begins with it but for a letter or two.
    NearlyBegins,
    /// It has every word of it but for a letter or two.
    NearlyHas,
}

/// An entry that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggested<'s> {
    /// The number of the entry.
    pub entry: u32,
    pub kind: SuggestedKind,
    pub closeness: Closeness,
    /// The nodes of the range that bear it, in order; at least one.
    pub nodes: &'s [u32],
}

/// What may stand for each typed word: runs of words, ascending.
type Alternatives = Vec<Vec<Range<u32>>>;

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

    /// The entries that answer what was typed, best first: by closeness, then by number. Only those that a node of the
    /// range bears.
    pub fn complete(&self, text: &str, limit: usize, range: OrdinalRange) -> Vec<Suggested<'_>> {
        let typed = typed(text);
        if typed.words.is_empty() || limit == 0 {
            return Vec::new();
        }
        let mut found = Vec::new();
        let exact = self.alternatives(&typed, false);
        let [begins, has] = [Closeness::Begins, Closeness::Has];
        self.gather(&exact, range, limit, begins, has, &mut found);
        let may_be_wrong = typed.words.iter().any(|word| edits_allowed(word) > 0);
        if found.len() < limit && may_be_wrong {
            let nearly = self.alternatives(&typed, true);
            self.gather(&nearly, range, limit, Closeness::NearlyBegins, Closeness::NearlyHas, &mut found);
        }
        found
    }

    /// The word nearest to one that no heading and no citation has; of equally near ones the one that most have.
    pub fn nearest_word(&self, word: &str) -> Option<&str> {
        if !self.exact(word, false).is_empty() {
            return None;
        }
        let allowed = edits_allowed(word);
        if allowed == 0 {
            return None;
        }
        let found = self.near(word, allowed, false);
        let rank = |NearRun { words, edits }: &NearRun| {
            let borne = self.first.size(words) + self.later.size(words);
            (std::cmp::Reverse(*edits), borne, std::cmp::Reverse(words.start))
        };
        found.iter().max_by_key(|run| rank(run)).map(|run| self.word(run.words.start))
    }

    fn alternatives(&self, typed: &Typed, nearly: bool) -> Alternatives {
        let last = typed.words.len() - 1;
        let words = typed.words.iter().enumerate();
        words
            .map(|(place, word)| {
                let is_open = typed.last_is_open && place == last;
                let edits = edits_allowed(word);
                match nearly && edits > 0 {
                    // What is right is near, too.
                    true => self.near(word, edits, is_open).into_iter().map(|run| run.words).collect(),
                    false => Vec::from_iter(Some(self.exact(word, is_open)).filter(|run| !run.is_empty())),
                }
            })
            .collect()
    }

    /// The run of words that are this one or, if it is open, begin with it.
    fn exact(&self, word: &str, is_open: bool) -> Range<u32> {
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

    /// Adds the entries that have an alternative for every word, those that begin with them first, up to `limit` in all.
    fn gather<'s>(
        &'s self,
        alternatives: &Alternatives,
        range: OrdinalRange,
        limit: usize,
        begins: Closeness,
        has: Closeness,
        found: &mut Vec<Suggested<'s>>,
    ) {
        let known: Vec<u32> = found.iter().map(|suggested| suggested.entry).collect();
        let is_new = |entry: u32| !known.contains(&entry);
        let wanted = limit - found.len();
        let (beginning, having) = match alternatives.as_slice() {
            [only] => self.with_word(only, range, wanted, is_new),
            several => self.with_words(several, range, wanted, is_new),
        };
        let both = [(beginning, begins), (having, has)];
        let all = both.into_iter().flat_map(|(entries, closeness)| entries.into_iter().map(move |e| (e, closeness)));
        found.extend(all.take(wanted).map(|(entry, closeness)| Suggested {
            entry,
            kind: self.kind(entry),
            closeness,
            nodes: self.nodes_in(entry, range),
        }));
    }

    /// For one word: the first so many entries of each list, for the lists are in order.
    fn with_word(
        &self,
        alternatives: &[Range<u32>],
        range: OrdinalRange,
        wanted: usize,
        is_new: impl Fn(u32) -> bool,
    ) -> (Vec<u32>, Vec<u32>) {
        let is_meant = |word: u32| alternatives.iter().any(|run| run.contains(&word));
        let is_wanted = |entry: &u32| !self.nodes_in(*entry, range).is_empty() && is_new(*entry);
        let is_first = |entry: u32| self.row(entry).next().is_some_and(is_meant);
        let mut beginning = Vec::new();
        let mut having = Vec::new();
        for word in alternatives.iter().cloned().flatten() {
            beginning.extend(self.entries(&self.first, word).filter(is_wanted).take(wanted));
            let later = self.entries(&self.later, word).filter(is_wanted);
            having.extend(later.filter(|&entry| !is_first(entry)).take(wanted));
        }
        for entries in [&mut beginning, &mut having] {
            entries.sort_unstable();
            entries.dedup();
            entries.truncate(wanted);
        }
        (beginning, having)
    }

    /// For several words: the entries of the one that fewest have, each looked at for the others.
    fn with_words(
        &self,
        alternatives: &[Vec<Range<u32>>],
        range: OrdinalRange,
        wanted: usize,
        is_new: impl Fn(u32) -> bool,
    ) -> (Vec<u32>, Vec<u32>) {
        let size = |runs: &Vec<Range<u32>>| -> usize {
            runs.iter().map(|run| self.first.size(run) + self.later.size(run)).sum()
        };
        let rarest = alternatives.iter().min_by_key(|runs| size(runs));
        let words = rarest.into_iter().flatten().cloned().flatten();
        let mut candidates: Vec<u32> = words
            .flat_map(|word| self.entries(&self.first, word).chain(self.entries(&self.later, word)))
            .filter(|&entry| is_new(entry))
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        let mut beginning = Vec::new();
        let mut having = Vec::new();
        let mut row = Vec::new();
        for entry in candidates {
            row.clear();
            row.extend(self.row(entry));
            let is = |word: u32, runs: &[Range<u32>]| runs.iter().any(|run| run.contains(&word));
            let has_all = alternatives.iter().all(|runs| row.iter().any(|&word| is(word, runs)));
            if !has_all || self.nodes_in(entry, range).is_empty() {
                continue;
            }
            let begins =
                row.len() >= alternatives.len() && row.iter().zip(alternatives).all(|(&word, runs)| is(word, runs));
            let entries = if begins { &mut beginning } else { &mut having };
            if entries.len() < wanted {
                entries.push(entry);
            }
            if beginning.len() == wanted {
                break;
            }
        }
        (beginning, having)
    }

    /// The entries of one list, ascending.
    fn entries<'s>(&'s self, lists: &'s Lists<u8>, word: u32) -> impl Iterator<Item = u32> + 's {
        let mut next = 0_u32;
        Numbers(lists.get(word)).map_while(move |distance| {
            let entry = next.checked_add(distance).filter(|&entry| entry < self.entry_count())?;
            next = entry + 1;
            Some(entry)
        })
    }

    fn nodes_in(&self, entry: u32, range: OrdinalRange) -> &[u32] {
        let nodes = self.nodes(entry);
        let from = nodes.partition_point(|&node| node < range.start);
        let to = nodes.partition_point(|&node| node < range.end);
        nodes.get(from..to).unwrap_or_default()
    }
}

impl Suggested<'_> {
    /// The node that stands for it: the first of the range for which that holds, or else the first.
    pub fn node(&self, is_preferred: impl Fn(NodeOrdinal) -> bool) -> NodeOrdinal {
        let nodes = self.nodes.iter().copied().map(NodeOrdinal);
        let preferred = nodes.clone().find(|&node| is_preferred(node));
        preferred.or_else(|| nodes.clone().next()).unwrap_or(NodeOrdinal(0))
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
