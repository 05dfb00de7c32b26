//! Finds every citation in running text, in one pass.

use std::collections::VecDeque;
use std::ops::Range;

use super::matching::Matcher;
use super::names::NameTrie;
use super::text::{CitationText, END, SECTION_SIGN};
use super::value::Citation;

/// The words, besides names of codes, that can begin a citation in prose order (`section 5 of ...`).
const PROSE_OPENINGS: [&str; 18] = [
    "rule",
    "section",
    "ss",
    "s",
    "article",
    "art",
    "amendment",
    "part",
    "pt",
    "chapter",
    "title",
    "subsection",
    "subdivision",
    "paragraph",
    "clause",
    "preamble",
    "declaration",
    "bill",
];

/// The pairs of letters that a citation may begin with. This check alone skips most words of a text.
#[derive(Clone)]
pub(super) struct FirstLetters(Box<[[bool; 27]; 27]>);

impl FirstLetters {
    pub(super) fn new(names: &NameTrie) -> Self {
        let mut openings = Self(Box::new([[false; 27]; 27]));
        let prose = PROSE_OPENINGS.iter().map(|word| (word.as_bytes()[0], word.as_bytes().get(1).copied()));
        for (first, second) in names.first_letters().chain(prose) {
            openings.0[letter_index(first)][second.map_or(NO_LETTER, letter_index)] = true;
        }
        openings
    }

    #[inline]
    fn admits(&self, first: u8, second: u8) -> bool {
        self.0[letter_index(first)][letter_index(second)]
    }
}

const NO_LETTER: usize = 26;

fn letter_index(sign: u8) -> usize {
    if sign.is_ascii_alphabetic() { usize::from(sign.to_ascii_lowercase() - b'a') } else { NO_LETTER }
}

/// The citations of a text, in order, each with its byte range; ranges never overlap.
pub struct Citations<'g, 't> {
    matcher: Matcher<'g, 't>,
    openings: &'g FirstLetters,
    pos: usize,
    /// The remaining citations of a list that was read at once.
    pending: VecDeque<(Range<usize>, Citation)>,
}

impl<'g, 't> Citations<'g, 't> {
    pub(super) fn new(matcher: Matcher<'g, 't>, openings: &'g FirstLetters) -> Self {
        Self { matcher, openings, pos: 0, pending: VecDeque::new() }
    }

    /// The position after the word or character at `pos`.
    pub(super) fn step(text: CitationText<'_>, pos: usize) -> usize {
        let (sign, len) = text.at(pos);
        let mut next = pos + len;
        if sign.is_ascii_alphanumeric() {
            while text.folded_at(next).is_ascii_alphanumeric() {
                next += 1;
            }
        }
        next
    }

    /// Whether a citation could begin at `pos`. It cannot begin inside a word or after the point of a number such
    /// as `12.42`.
    fn may_begin(&self, pos: usize, sign: u8) -> bool {
        let text = self.matcher.text;
        if sign == SECTION_SIGN {
            return true;
        }
        if sign.is_ascii_alphabetic() && !self.openings.admits(sign, text.folded_at(pos + 1)) {
            return false;
        }
        if !sign.is_ascii_alphanumeric() || !text.begins_word(pos) {
            return false;
        }
        let joined = pos >= 2 && matches!(text.slice(pos - 1, pos), "." | "-" | "," | ":" | "/");
        !(sign.is_ascii_digit() && joined && text.folded_at(pos - 2).is_ascii_digit())
    }
}

impl Iterator for Citations<'_, '_> {
    type Item = (Range<usize>, Citation);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.pending.pop_front() {
                return Some(item);
            }
            let sign = self.matcher.text.folded_at(self.pos);
            if sign == END {
                return None;
            }
            let found = if self.may_begin(self.pos, sign) { self.matcher.at(self.pos) } else { None };
            match found {
                Some(found) => {
                    self.pos = found.end.max(self.pos + 1);
                    self.pending = found.items.into();
                }
                None => self.pos = Self::step(self.matcher.text, self.pos),
            }
        }
    }
}
