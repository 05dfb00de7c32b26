//! Splits text into the words of suggestions: not stemmed, without case, accents and the dots of abbreviations. A
//! section number is one word.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum number of words of a text. Further words are ignored.
pub const WORDS_MAX: usize = 16;

/// Maximum number of characters of a word. Further characters are ignored.
pub(super) const WORD_CHARS_MAX: usize = 32;

/// Maximum number of characters read from a text.
pub(super) const TEXT_CHARS_MAX: usize = 1024;

/// Typed text, split into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    pub words: Vec<String>,
    /// Whether the last word may be incomplete: no white space follows it.
    pub last_is_open: bool,
}

pub fn parse_typed(text: &str) -> Typed {
    Typed { words: words_of(text), last_is_open: !text.ends_with(char::is_whitespace) }
}

/// The first [`WORDS_MAX`] words of a heading, a citation or typed text.
pub fn words_of(text: &str) -> Vec<String> {
    let mut words = all_words_of(text);
    words.truncate(WORDS_MAX);
    words
}

/// A range of words near a typed one, and the number of edits.
pub(super) struct NearRun {
    pub words: Range<u32>,
    pub edits: u8,
}

/// How many letters of a word may be wrong: none in a short word or one longer than [`WORD_CHARS_MAX`], and none in
/// a number, because § 823 is not § 832.
pub(super) fn edits_allowed(word: &str) -> u8 {
    match word.chars().count() {
        _ if !word.chars().all(char::is_alphabetic) => 0,
        4..8 => 1,
        8..=WORD_CHARS_MAX => 2,
        _ => 0,
    }
}

pub(super) fn all_words_of(text: &str) -> Vec<String> {
    let folded = text.chars().take(TEXT_CHARS_MAX).nfkd().filter(|c| !is_combining_mark(*c));
    let signs: Vec<char> = folded.flat_map(char::to_lowercase).collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = SuggestWord::default();
    let mut at = 0;
    while let Some(&c) = signs.get(at) {
        at += 1;
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if is_apostrophe(c) && !word.is_empty() {
            continue;
        }
        let next = signs[at..].iter().position(|sign| !is_joiner(*sign)).map(|len| at + len);
        let joined = next.filter(|&next| is_joiner(c) && word.goes_on_with(c, signs[next], next - at));
        match joined {
            Some(next) => {
                word.join(&signs[at - 1..next]);
                at = next;
            }
            None => word.end(&mut words),
        }
    }
    word.end(&mut words);
    words
}

#[derive(Default)]
struct SuggestWord {
    text: String,
    chars: usize,
    /// Letters since the last dot.
    letters: usize,
    last_is_digit: bool,
    has_digit: bool,
}

impl SuggestWord {
    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn push(&mut self, c: char) {
        self.last_is_digit = c.is_ascii_digit();
        self.has_digit |= self.last_is_digit;
        self.letters += 1;
        self.write(c);
    }

    fn write(&mut self, c: char) {
        if self.chars < WORD_CHARS_MAX {
            self.text.push(c);
            self.chars += 1;
        }
    }

    /// Whether `next` belongs to the same word, although a joiner and `more` further joiners precede it.
    fn goes_on_with(&self, joiner: char, next: char, more: usize) -> bool {
        if self.is_empty() || !next.is_alphanumeric() {
            return false;
        }
        let is_abbreviation = joiner == '.' && more == 0 && !self.has_digit && self.letters == 1;
        is_abbreviation || self.last_is_digit || next.is_ascii_digit()
    }

    fn join(&mut self, joiners: &[char]) {
        // `u.s.c` becomes `usc`, but `17.40` keeps its dot.
        if self.has_digit || joiners != ['.'] {
            joiners.iter().for_each(|&joiner| self.write(if is_dash(joiner) { '-' } else { joiner }));
        }
        self.letters = 0;
    }

    fn end(&mut self, words: &mut Vec<String>) {
        let word = std::mem::take(self);
        if !word.is_empty() {
            words.push(word.text);
        }
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{02bc}')
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2013}' | '\u{2212}')
}

fn is_joiner(c: char) -> bool {
    is_dash(c) || matches!(c, '.' | ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_people_type() {
        for (text, expected) in [
            ("Fees; Façades & Employer’s duties", &["fees", "facades", "employers", "duties"][..]),
            ("42 U.S.C. § 1395w–4", &["42", "usc", "1395w-4"]),
            ("Port Arden Mun. Code § 17.40.030", &["port", "arden", "mun", "code", "17.40.030"]),
            ("r. 310-2-.04", &["r", "310-2-.04"]),
            ("17.40.", &["17.40"]),
            ("non-profit act.Next", &["non", "profit", "act", "next"]),
            ("N.J.S. 2C:11-3", &["njs", "2c:11-3"]),
            ("  --  ", &[]),
        ] {
            assert_eq!(words_of(text), expected, "{text}");
        }
        assert_eq!(words_of(&"many words ".repeat(50)).len(), WORDS_MAX);
        assert_eq!(words_of(&"x".repeat(500)), ["x".repeat(WORD_CHARS_MAX)]);
        assert!(parse_typed("fence").last_is_open && !parse_typed("fence ").last_is_open);
    }
}
