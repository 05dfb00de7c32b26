//! Finds the part of a text where the words of a query are closest together.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use hornbook_corpus::analyzer::Analyzer;

use super::wanted::Wanted;

/// How far apart the first and the last word of a window may stand, in bytes.
const SPAN_MAX: usize = 240;

/// Words that follow each other in the query and stand no further apart count as a row.
const ROW_GAP_MAX: usize = 24;

/// So much of a compound is analysed, in bytes; longer ones are no words.
const COMPOUND_MAX: usize = 96;

/// A window, by the words found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// From the first word to the last.
    pub bytes: Range<usize>,
    pub score: u32,
    /// All words of the query stand in it, as they follow each other there.
    pub is_full: bool,
}

impl Window {
    pub(super) fn moved(self, by: usize) -> Self {
        Self { bytes: self.bytes.start + by..self.bytes.end + by, ..self }
    }
}

/// The best window of a text; of equal ones the first.
pub(super) fn best_window(wanted: &Wanted, analyzer: &mut Analyzer, text: &str) -> Option<Window> {
    if wanted.is_empty() {
        return None;
    }
    let mut slide = Slide::new(wanted);
    each_wanted_word(wanted, analyzer, text, |word, bytes| {
        slide.push(Occurrence { start: bytes.start, end: bytes.end, word });
        match &slide.best {
            Some(best) if best.is_full => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    slide.best
}

/// Hands over every word of the query that stands in a text, in order, a compound before its parts, until it is enough.
pub(super) fn each_wanted_word(
    wanted: &Wanted,
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
        // What a part means depends on what it is joined to: `leas-é` alone is a lease, behind `rent-` it is not.
        let start = compound_start(&bytes[at..start], at);
        // At least the character that is there, even where a compound is cut inside one.
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

/// Where what may be one compound starts of which `before` is what stands before a place in it, from `at` on.
fn compound_start(before: &[u8], at: usize) -> usize {
    at + before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |space| space + 1)
}

/// Where what may be one compound ends that starts at a place: at white space, but not at that within `U. S. C.`
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

/// The occurrences that lie within one span, moved along the text.
struct Slide<'w> {
    wanted: &'w Wanted,
    /// Each with whether it stands in a row with the one before it.
    inside: VecDeque<(Occurrence, bool)>,
    counts: Vec<Counted>,
    score: u32,
    full: u32,
    best: Option<Window>,
    /// For [`Slide::last_start`].
    seen: Vec<Counted>,
}

/// How often a word stands in the window, and how often in a row with the one before it.
#[derive(Clone, Copy, Default)]
struct Counted {
    alone: u32,
    in_row: u32,
}

impl<'w> Slide<'w> {
    fn new(wanted: &'w Wanted) -> Self {
        let words = 0..wanted.word_count() as u8;
        let full = words.map(|word| wanted.weight(word) + row_bonus(wanted, word)).sum();
        let counts = vec![Counted::default(); wanted.word_count()];
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
        self.score += gained(self.wanted, found.word, counted.alone == 1, in_row && counted.in_row == 1);
        self.inside.push_back((found, in_row));
        if self.best.as_ref().is_none_or(|best| self.score > best.score) {
            let bytes = self.last_start()..found.end;
            self.best = Some(Window { bytes, score: self.score, is_full: self.score == self.full });
        }
    }

    fn drop_first(&mut self) {
        let Some((first, in_row)) = self.inside.pop_front() else { return };
        self.lose(first.word, true, in_row);
        // The next one has lost what stood before it.
        if let Some((next, in_row)) = self.inside.front_mut()
            && std::mem::take(in_row)
        {
            let word = next.word;
            self.lose(word, false, true);
        }
    }

    fn lose(&mut self, word: u8, alone: bool, in_row: bool) {
        let counted = &mut self.counts[usize::from(word)];
        counted.alone -= u32::from(alone);
        counted.in_row -= u32::from(in_row);
        self.score -= gained(self.wanted, word, alone && counted.alone == 0, in_row && counted.in_row == 0);
    }

    /// The last place from which on the window still has all that it scores for.
    fn last_start(&mut self) -> usize {
        self.seen.fill(Counted::default());
        let mut score = 0;
        for &(found, in_row) in self.inside.iter().rev() {
            let seen = &mut self.seen[usize::from(found.word)];
            seen.alone += 1;
            seen.in_row += u32::from(in_row);
            score += gained(self.wanted, found.word, seen.alone == 1, in_row && seen.in_row == 1);
            // A row needs the word before it too, which comes next.
            if score == self.score && !in_row {
                return found.start;
            }
        }
        self.inside.front().map_or(0, |(first, _)| first.start)
    }
}

fn gained(wanted: &Wanted, word: u8, alone: bool, in_row: bool) -> u32 {
    u32::from(alone) * wanted.weight(word) + u32::from(in_row) * row_bonus(wanted, word)
}

/// What standing in a row with the word before it adds.
fn row_bonus(wanted: &Wanted, word: u8) -> u32 {
    word.checked_sub(1).map_or(0, |before| wanted.weight(before).min(wanted.weight(word)) / 2)
}
