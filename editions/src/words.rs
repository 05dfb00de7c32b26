//! The words and signs of a text without its typography.
//!
//! White space, invisible characters, the shapes of quotation marks and dashes, and ligatures make no difference.
//! Letters keep their case: a publisher may mean it.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rustc_hash::FxHasher;

/// Fewer dots are a full stop or an ellipsis, which can have four.
const LINE_DOTS_MIN: usize = 5;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The hash of the word without typography.
    pub(crate) hash: u64,
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
}

/// The words and signs of a text, in order.
pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

/// Whether two texts differ at most in typography and white space.
pub fn has_same_words(one: &str, other: &str) -> bool {
    one == other || tokens(one).map(|token| token.hash).eq(tokens(other).map(|token| token.hash))
}

/// Whether two texts have the same words; signs make no difference.
pub(crate) fn has_same_letters(one: &str, other: &str) -> bool {
    words(one).eq(words(other))
}

/// The words of a text as hashes, without its signs.
pub(crate) fn words(text: &str) -> impl Iterator<Item = u64> + '_ {
    let is_word = move |token: &Token| text[token.range.clone()].starts_with(char::is_alphanumeric);
    tokens(text).filter(is_word).map(|token| token.hash)
}

pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let letter = self.text[self.at..].chars().next()?;
            let start = self.at;
            match SignKind::of(letter) {
                SignKind::Nothing => self.at += letter.len_utf8(),
                SignKind::Word => return Some(self.word(start)),
                SignKind::Quote => return Some(self.run_of(SignKind::Quote, '\'', start)),
                SignKind::Dash => return Some(self.run_of(SignKind::Dash, '-', start)),
                SignKind::Dots => match self.line_of_dots() {
                    Some(length) => self.at += length,
                    None => return Some(self.run_of(SignKind::Dots, '.', start)),
                },
                SignKind::Sign => {
                    self.at += letter.len_utf8();
                    return Some(Token { hash: hash_of(letter), range: start..self.at });
                }
            }
        }
    }
}

impl Tokens<'_> {
    fn word(&mut self, start: usize) -> Token {
        let mut hasher = FxHasher::default();
        let mut end = start;
        for (offset, letter) in self.text[start..].char_indices() {
            match SignKind::of(letter) {
                SignKind::Word => {
                    match plain(letter) {
                        Some(letters) => letters.chars().for_each(|plain| plain.hash(&mut hasher)),
                        None => letter.hash(&mut hasher),
                    }
                    end = start + offset + letter.len_utf8();
                }
                // A soft hyphen or a zero-width space does not end a word, but white space does.
                SignKind::Nothing if !letter.is_whitespace() => {}
                _ => break,
            }
        }
        self.at = end;
        Token { hash: hasher.finish(), range: start..end }
    }

    /// The length of a line of dots to write on, or one that leads to a number: at least [`LINE_DOTS_MIN`] dots, also
    /// with spaces between them.
    fn line_of_dots(&self) -> Option<usize> {
        let rest = &self.text[self.at..];
        let is_between = |letter: char| matches!(letter, ' ' | '\u{a0}');
        let length = rest.find(|letter| SignKind::of(letter) != SignKind::Dots && !is_between(letter));
        let line = rest[..length.unwrap_or(rest.len())].trim_end_matches(is_between);
        let dots = line.chars().map(|letter| match letter {
            '.' => 1,
            '…' => 3,
            _ => 0,
        });
        (dots.sum::<usize>() >= LINE_DOTS_MIN).then_some(line.len())
    }

    /// Signs of one class side by side, which are one: `''` is a quotation mark, `--` a dash, `...` an ellipsis.
    fn run_of(&mut self, class: SignKind, sign: char, start: usize) -> Token {
        let rest = &self.text[start..];
        let length = rest.char_indices().find(|&(_, letter)| SignKind::of(letter) != class);
        self.at = start + length.map_or(rest.len(), |(offset, _)| offset);
        Token { hash: hash_of(sign), range: start..self.at }
    }
}

fn hash_of(sign: char) -> u64 {
    let mut hasher = FxHasher::default();
    sign.hash(&mut hasher);
    hasher.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SignKind {
    Word,
    Quote,
    Dash,
    /// A full stop, or several: an ellipsis.
    Dots,
    /// White space and what cannot be seen.
    Nothing,
    Sign,
}

impl SignKind {
    fn of(letter: char) -> Self {
        match letter {
            _ if letter.is_alphanumeric() => Self::Word,
            '"' | '\'' | '`' | '‘' | '’' | '‚' | '‛' | '“' | '”' | '„' | '‟' | '′' | '″' | '´' => {
                Self::Quote
            }
            '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => Self::Dash,
            '.' | '…' => Self::Dots,
            // A line to write on.
            '_' => Self::Nothing,
            _ if letter.is_whitespace() || letter.is_control() => Self::Nothing,
            _ if hornbook_base::invisible::is_hidden(letter) => Self::Nothing,
            _ => Self::Sign,
        }
    }
}

/// The letters of a ligature.
fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typography_makes_no_difference() {
        for (one, other) in [
            ("“Board” means", "''Board'' means"),
            ("the term—\n(1) a", "the term -- (1)  a"),
            ("in\u{ad}formation", "information"),
            ("ﬁling oﬃce", "filing office"),
            ("a person’s house", "a person's house"),
            ("and so on…", "and so on..."),
            ("\u{feff} § 5", "§5"),
            ("Name ........ Date . . . . . . .", "Name ____ Date"),
            ("Fee………… 5", "Fee 5"),
        ] {
            assert!(has_same_words(one, other), "{one} | {other}");
        }
    }

    #[test]
    fn words_signs_and_case_make_one() {
        for (one, other) in [
            ("may", "shall"),
            ("10 days", "10days"),
            ("a, b", "a b"),
            ("(1)", "(2)"),
            ("State", "state"),
            ("$5", "5"),
            ("not", ""),
            ("§ 5", "§§ 5"),
            ("the law . . . . applies", "the law applies"),
        ] {
            assert!(!has_same_words(one, other), "{one} | {other}");
        }
    }

    #[test]
    fn signs_do_not_make_another_heading() {
        assert!(has_same_letters("part 10 fees; permits", "part 10. fees, permits."));
        assert!(!has_same_letters("part 10 fees", "part 11 fees"));
    }

    #[test]
    fn every_letter_is_in_a_token() {
        let text = "§ 12. “Fee”—a $5.50 charge…";
        let found: Vec<&str> = tokens(text).map(|token| &text[token.range]).collect();
        assert_eq!(found, ["§", "12", ".", "“", "Fee", "”", "—", "a", "$", "5", ".", "50", "charge", "…"]);
    }
}
