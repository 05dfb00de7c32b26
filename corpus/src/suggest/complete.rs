//! Completes typed text: finds the entries that begin with it or contain its words, exactly or with typing errors.

use std::ops::Range;

use super::reader::{SuggestedKind, Suggestions};
use super::words::{NearRun, edits_allowed, parse_typed};
use crate::ids::{NodeOrdinal, OrdinalRange};

/// How an entry matches the typed text, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// The entry begins with the typed text.
    Begins,
    /// The entry contains every typed word.
    ContainsWords,
    /// The entry begins with the typed text, except for one or two letters of a word.
    NearlyBegins,
    /// The entry contains every typed word, except for one or two letters of a word.
    NearlyContainsWords,
}

/// An entry that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggested<'s> {
    /// The number of the entry.
    pub entry: u32,
    pub kind: SuggestedKind,
    pub closeness: Closeness,
    /// The nodes of the range that have the entry's heading or citation, in order; at least one.
    pub nodes: &'s [u32],
}

/// The words that match a typed one, as ascending ranges of word numbers.
type Alternatives = Vec<Range<u32>>;

/// The entries that begin with the typed text, and the other entries that contain all its words.
type BeginningAndContaining = (Vec<u32>, Vec<u32>);

/// With more candidates than this, a word is checked with a bit set of all entries, not in the row of each candidate.
const ROWS_READ_MAX: usize = if cfg!(test) { 4 } else { 512 };

impl Suggestions {
    /// The entries that match the typed text, best first: by closeness, then by number. Entries without a node in
    /// the range are left out. `check` is called before each costly step and can end the work with an error.
    pub fn complete<E>(
        &self,
        text: &str,
        limit: usize,
        range: OrdinalRange,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<Suggested<'_>>, E> {
        let typed = parse_typed(text);
        let mut found = Vec::new();
        if typed.words.is_empty() || limit == 0 {
            return Ok(found);
        }
        let last = typed.words.len() - 1;
        let words = || {
            let places = typed.words.iter().enumerate();
            places.map(|(place, word)| (word.as_str(), typed.last_is_open && place == last))
        };
        let exact: Vec<Alternatives> = words().map(|(word, is_open)| self.exactly(word, is_open)).collect();
        check()?;
        self.add_matches(&exact, range, limit, [Closeness::Begins, Closeness::ContainsWords], &mut found);
        let may_be_wrong = typed.words.iter().any(|word| edits_allowed(word) > 0);
        if found.len() == limit || !may_be_wrong {
            return Ok(found);
        }
        let mut nearly: Vec<Alternatives> = Vec::with_capacity(exact.len());
        for ((word, is_open), exact) in words().zip(exact) {
            // The near words include the exact one.
            let alternatives = match edits_allowed(word) {
                0 => exact,
                edits => {
                    check()?;
                    self.near(word, edits, is_open).into_iter().map(|run| run.words).collect()
                }
            };
            if alternatives.is_empty() {
                return Ok(found);
            }
            nearly.push(alternatives);
        }
        check()?;
        self.add_matches(&nearly, range, limit, [Closeness::NearlyBegins, Closeness::NearlyContainsWords], &mut found);
        Ok(found)
    }

    /// The word nearest to one that occurs in no heading and no citation. Of equally near words, the most frequent
    /// one is returned. `None` if the given word occurs, or if no word is near.
    pub fn nearest_word(&self, word: &str) -> Option<&str> {
        let edits = edits_allowed(word);
        if edits == 0 || !self.exact(word, false).is_empty() {
            return None;
        }
        let rank = |NearRun { words, edits }: &NearRun| {
            (std::cmp::Reverse(*edits), self.size(words), std::cmp::Reverse(words.start))
        };
        let found = self.near(word, edits, false);
        found.iter().max_by_key(|run| rank(run)).map(|run| self.word(run.words.start))
    }

    fn exactly(&self, word: &str, is_open: bool) -> Alternatives {
        Vec::from_iter(Some(self.exact(word, is_open)).filter(|run| !run.is_empty()))
    }

    /// The size of the lists for a range of words.
    fn size(&self, words: &Range<u32>) -> usize {
        self.first.size(words) + self.later.size(words)
    }

    /// Adds the entries that contain an alternative for every word, up to `limit` entries in all. Entries that
    /// begin with the words come first.
    fn add_matches<'s>(
        &'s self,
        alternatives: &[Alternatives],
        range: OrdinalRange,
        limit: usize,
        [begins, has]: [Closeness; 2],
        found: &mut Vec<Suggested<'s>>,
    ) {
        let mut known: Vec<u32> = found.iter().map(|suggested| suggested.entry).collect();
        known.sort_unstable();
        let is_wanted = |entry: u32| known.binary_search(&entry).is_err() && !self.nodes_in(entry, range).is_empty();
        let wanted = limit - found.len();
        let (beginning, having) = match alternatives {
            [only] => self.with_word(only, wanted, is_wanted),
            several => self.with_words(several, wanted, is_wanted),
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

    /// The entries for one word. Only the first `wanted` entries of each list are needed, because the lists are in
    /// order.
    fn with_word(
        &self,
        alternatives: &[Range<u32>],
        wanted: usize,
        is_wanted: impl Fn(u32) -> bool,
    ) -> BeginningAndContaining {
        let is_first = |entry: u32| self.row(entry).next().is_some_and(|word| is_one_of(word, alternatives));
        let mut beginning = Vec::new();
        let mut having = Vec::new();
        for word in alternatives.iter().cloned().flatten() {
            beginning.extend(self.entries(&self.first, word).filter(|&entry| is_wanted(entry)).take(wanted));
            let later = self.entries(&self.later, word).filter(|&entry| is_wanted(entry) && !is_first(entry));
            having.extend(later.take(wanted));
        }
        for entries in [&mut beginning, &mut having] {
            entries.sort_unstable();
            entries.dedup();
            entries.truncate(wanted);
        }
        (beginning, having)
    }

    /// The entries for several words: those of the rarest word, each checked for the other words.
    fn with_words(
        &self,
        alternatives: &[Alternatives],
        wanted: usize,
        is_wanted: impl Fn(u32) -> bool,
    ) -> BeginningAndContaining {
        let mut by_size: Vec<&Alternatives> = alternatives.iter().collect();
        by_size
            .sort_by_key(|runs| (runs.iter().map(|run| self.size(run)).sum::<usize>(), runs.first().map(|r| r.start)));
        // A repeated word is not a further condition.
        by_size.dedup();
        let Some((rarest, others)) = by_size.split_first() else { return (Vec::new(), Vec::new()) };
        let words = rarest.iter().cloned().flatten();
        let mut candidates: Vec<u32> =
            words.flat_map(|word| self.entries(&self.first, word).chain(self.entries(&self.later, word))).collect();
        candidates.sort_unstable();
        candidates.dedup();
        for runs in others {
            if candidates.len() > ROWS_READ_MAX {
                let having = self.entry_bits_with(runs, true);
                candidates.retain(|&entry| having.has(entry));
            } else {
                candidates.retain(|&entry| self.row(entry).any(|word| is_one_of(word, runs)));
            }
        }
        let may_begin = (candidates.len() > ROWS_READ_MAX).then(|| self.entry_bits_with(&alternatives[0], false));
        let begins = |entry: u32| {
            let mut row = self.row(entry);
            may_begin.as_ref().is_none_or(|may_begin| may_begin.has(entry))
                && alternatives.iter().all(|runs| row.next().is_some_and(|word| is_one_of(word, runs)))
        };
        let mut beginning = Vec::new();
        let mut having = Vec::new();
        for entry in candidates {
            let entries = if begins(entry) { &mut beginning } else { &mut having };
            if entries.len() < wanted && is_wanted(entry) {
                entries.push(entry);
            }
            if beginning.len() == wanted {
                break;
            }
        }
        (beginning, having)
    }

    /// A bit for each entry: whether it begins with one of the words or, if `anywhere`, contains one.
    fn entry_bits_with(&self, words: &[Range<u32>], anywhere: bool) -> EntryBits {
        let mut bits = EntryBits(vec![0; (self.entry_count() as usize).div_ceil(64)]);
        for word in words.iter().cloned().flatten() {
            self.entries(&self.first, word).for_each(|entry| bits.set(entry));
            if anywhere {
                self.entries(&self.later, word).for_each(|entry| bits.set(entry));
            }
        }
        bits
    }
}

fn is_one_of(word: u32, runs: &[Range<u32>]) -> bool {
    runs.iter().any(|run| run.contains(&word))
}

/// One bit for each entry.
struct EntryBits(Vec<u64>);

impl EntryBits {
    fn set(&mut self, entry: u32) {
        if let Some(bits) = self.0.get_mut(entry as usize / 64) {
            *bits |= 1 << (entry % 64);
        }
    }

    fn has(&self, entry: u32) -> bool {
        self.0.get(entry as usize / 64).is_some_and(|bits| bits >> (entry % 64) & 1 == 1)
    }
}

impl Suggested<'_> {
    /// The node that represents the entry: the first preferred node of the range, or else the first node.
    pub fn node(&self, is_preferred: impl Fn(NodeOrdinal) -> bool) -> NodeOrdinal {
        let nodes = self.nodes.iter().copied().map(NodeOrdinal);
        let preferred = nodes.clone().find(|&node| is_preferred(node));
        preferred.or_else(|| nodes.clone().next()).unwrap_or(NodeOrdinal(0))
    }
}
