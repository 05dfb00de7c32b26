//! Finds the part of a text where the words of a query are closest together.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use hornbook_corpus::analyzer::Analyzer;

use super::query_matcher::QueryMatcher;

/// The maximum length of a window, in bytes.
const SPAN_MAX: usize = 240;

/// Words that follow each other in the query form a row if at most this many bytes lie between them.
const ROW_GAP_MAX: usize = 24;

/// The maximum number of bytes of a compound that are analysed. Longer ones are not words.
const COMPOUND_MAX: usize = 96;

/// A range of a text that contains words of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnippetWindow {
    /// From the start of the first word to the end of the last one.
    pub bytes: Range<usize>,
    pub score: u32,
    /// Whether it contains all words of the query in a row, in the order of the query.
    pub is_full: bool,
}

impl SnippetWindow {
    pub(super) fn moved(self, by: usize) -> Self {
        Self { bytes: self.bytes.start + by..self.bytes.end + by, ..self }
    }
}

/// The best window of a text; the first one of several equal ones.
pub(super) fn best_window(wanted: &QueryMatcher, analyzer: &mut Analyzer, text: &str) -> Option<SnippetWindow> {
    if wanted.is_empty() {
        return None;
    }
    let mut slide = SlidingWindow::new(wanted);
    each_wanted_word(wanted, analyzer, text, |word, bytes| {
        slide.push(Occurrence { start: bytes.start, end: bytes.end, word });
        match &slide.best {
            Some(best) if best.is_full => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    slide.best
}

/// Calls `sink` for every word of the query in a text, in order, until `sink` breaks. A compound comes
/// before its parts.
pub(super) fn each_wanted_word(
    wanted: &QueryMatcher,
    analyzer: &mut Analyzer,
    text: &str,
    mut sink: impl FnMut(u8, Range<usize>) -> ControlFlow<()>,
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut flow = ControlFlow::Continue(());
    while flow.is_continue()
        && let Some(start) = wanted.next_candidate(bytes, at)
    {
        // What a part means depends on what it is joined to: `leas-é` alone is a lease, but not after `rent-`.
        let start = compound_start(&bytes[at..start], at);
        // At least one character, even if the maximum length cuts through a character.
        let end = text.floor_char_boundary(compound_end(bytes, start)).max(text.ceil_char_boundary(start + 1));
        analyzer.analyze(&text[start..end], |token| {
            if flow.is_continue()
                && let Some(word) = wanted.word_of(token.text)
            {
                flow = sink(word, start + token.bytes.start..start + token.bytes.end);
            }
        });
        at = end;
    }
}

/// The start of the compound that reaches the end of `before`, which begins at `at`.
fn compound_start(before: &[u8], at: usize) -> usize {
    at + before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |space| space + 1)
}

/// The end of the compound that begins at `start`: the next white space, except the spaces within `U. S. C.`.
fn compound_end(text: &[u8], start: usize) -> usize {
    let text = &text[..text.len().min(start + COMPOUND_MAX)];
    let space =
        |from: usize| text[from..].iter().position(u8::is_ascii_whitespace).map_or(text.len(), |len| from + len);
    let mut end = space(start);
    while let [.., capital, b'.'] = &text[start..end]
        && let [b' ', next, b'.', ..] = &text[end..]
        && capital.is_ascii_uppercase()
        && next.is_ascii_uppercase()
    {
        end = space(end + 1);
    }
    end
}

#[derive(Clone, Copy, Debug)]
struct Occurrence {
    start: usize,
    end: usize,
    word: u8,
}

/// The occurrences within one window, which moves along the text.
struct SlidingWindow<'w> {
    wanted: &'w QueryMatcher,
    /// Each occurrence, with whether it is in a row with the one before it.
    inside: VecDeque<(Occurrence, bool)>,
    counts: Vec<OccurrenceCounts>,
    score: u32,
    full: u32,
    best: Option<SnippetWindow>,
    /// Scratch buffer for [`SlidingWindow::last_start`].
    seen: Vec<OccurrenceCounts>,
}

/// How often a word occurs in the window, and how often in a row with the word before it.
#[derive(Clone, Copy, Default)]
struct OccurrenceCounts {
    alone: u32,
    in_row: u32,
}

impl<'w> SlidingWindow<'w> {
    fn new(wanted: &'w QueryMatcher) -> Self {
        let words = 0..wanted.word_count() as u8;
        let full = words.map(|word| wanted.weight(word) + row_bonus(wanted, word)).sum();
        let counts = vec![OccurrenceCounts::default(); wanted.word_count()];
        let seen = counts.clone();
        Self { wanted, inside: VecDeque::with_capacity(32), counts, score: 0, full, best: None, seen }
    }

    fn push(&mut self, found: Occurrence) {
        while self.inside.front().is_some_and(|(first, _)| found.end > first.start + SPAN_MAX) {
            self.drop_first();
        }
        let in_row = self.inside.back().is_some_and(|(before, _)| {
            before.word + 1 == found.word && found.start.saturating_sub(before.end) <= ROW_GAP_MAX
        });
        let counted = &mut self.counts[usize::from(found.word)];
        counted.alone += 1;
        counted.in_row += u32::from(in_row);
        self.score += score_of_counts(self.wanted, found.word, counted.alone == 1, in_row && counted.in_row == 1);
        self.inside.push_back((found, in_row));
        if self.best.as_ref().is_none_or(|best| self.score > best.score) {
            let bytes = self.last_start()..found.end;
            self.best = Some(SnippetWindow { bytes, score: self.score, is_full: self.score == self.full });
        }
    }

    fn drop_first(&mut self) {
        let Some((first, in_row)) = self.inside.pop_front() else { return };
        self.remove_counts(first.word, true, in_row);
        // The next occurrence has lost its predecessor.
        if let Some((next, in_row)) = self.inside.front_mut()
            && std::mem::take(in_row)
        {
            let word = next.word;
            self.remove_counts(word, false, true);
        }
    }

    fn remove_counts(&mut self, word: u8, alone: bool, in_row: bool) {
        let counted = &mut self.counts[usize::from(word)];
        counted.alone -= u32::from(alone);
        counted.in_row -= u32::from(in_row);
        self.score -= score_of_counts(self.wanted, word, alone && counted.alone == 0, in_row && counted.in_row == 0);
    }

    /// The last start at which the window still has its full score.
    fn last_start(&mut self) -> usize {
        self.seen.fill(OccurrenceCounts::default());
        let mut score = 0;
        for &(found, in_row) in self.inside.iter().rev() {
            let seen = &mut self.seen[usize::from(found.word)];
            seen.alone += 1;
            seen.in_row += u32::from(in_row);
            score += score_of_counts(self.wanted, found.word, seen.alone == 1, in_row && seen.in_row == 1);
            // A row also needs the word before it, which comes next in this loop.
            if score == self.score && !in_row {
                return found.start;
            }
        }
        self.inside.front().map_or(0, |(first, _)| first.start)
    }
}

fn score_of_counts(wanted: &QueryMatcher, word: u8, alone: bool, in_row: bool) -> u32 {
    u32::from(alone) * wanted.weight(word) + u32::from(in_row) * row_bonus(wanted, word)
}

/// The extra score of a word that is in a row with the word before it.
fn row_bonus(wanted: &QueryMatcher, word: u8) -> u32 {
    word.checked_sub(1).map_or(0, |before| wanted.weight(before).min(wanted.weight(word)) / 2)
}
