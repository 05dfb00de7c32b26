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

/// Whether two texts differ at most in typography and white space. Copies join words where a line ended
/// (`PREMISESUnder`), so where words end makes no difference, and neither does how a label at the beginning of a line is
/// written: `(6)`, `6.`
pub fn has_same_words(one: &str, other: &str) -> bool {
    one == other
        || tokens(one).map(|token| token.hash).eq(tokens(other).map(|token| token.hash))
        || plain_signs(one, Labels::AsWritten) == plain_signs(other, Labels::AsWritten)
        || plain_signs(one, Labels::Bare) == plain_signs(other, Labels::Bare)
}

/// Whether two texts differ at most in typography, white space and capitals.
pub(crate) fn has_same_words_but_capitals(one: &str, other: &str) -> bool {
    let lower = |text: &str| plain_signs(text, Labels::AsWritten).to_lowercase();
    lower(one) == lower(other)
}

/// Whether two texts have the same lines in another order: copies put the end of a list behind what follows it.
pub(crate) fn has_same_lines(one: &str, other: &str) -> bool {
    let sorted = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> =
            text.lines().map(|line| plain_signs(line, Labels::Bare)).filter(|line| !line.is_empty()).collect();
        lines.sort_unstable();
        lines
    };
    sorted(one) == sorted(other)
}

/// Whether two texts have the same words but for signs of footnotes, which one copy prints as numbers within the text: `507 2
/// became`. The numbers are from 1 to that of the last footnote.
pub(crate) fn has_same_words_but_footnote_signs(one: &str, other: &str, footnotes: usize) -> bool {
    let [one, other] = [one, other].map(without_editors_words);
    let (one, other) = (one.as_str(), other.as_str());
    let is_sign = |text: &str, token: &Token| {
        text[token.range.clone()].parse::<usize>().is_ok_and(|number| (1..=footnotes).contains(&number))
    };
    let (mut ones, mut others) = (tokens(one).peekable(), tokens(other).peekable());
    loop {
        match (ones.peek(), others.peek()) {
            (None, None) => return true,
            (Some(left), Some(right)) if left.hash == right.hash => {
                ones.next();
                others.next();
            }
            (Some(left), _) if is_sign(one, left) => {
                ones.next();
            }
            (_, Some(right)) if is_sign(other, right) => {
                others.next();
            }
            _ => return false,
        }
    }
}

/// The longest label of a line: `xviii`, `A-1`.
const LABEL_BYTES_MAX: usize = 6;

/// `6`, `6a`, `a`, `aa`, `iv`, `A-1`
fn is_numeral(label: &str) -> bool {
    let signs = label.as_bytes();
    let is_of = |numerals: &[u8]| signs.iter().all(|sign| numerals.contains(sign));
    signs[0].is_ascii_digit()
        || is_of(&signs[..1])
        || is_of(b"ivxlc")
        || is_of(b"IVXLC")
        || (signs.get(1) == Some(&b'-') && signs[2..].iter().all(u8::is_ascii_digit))
}

/// A text without `of this section` behind a subsection. Editors add these words and take them away.
fn without_editors_words(text: &str) -> String {
    text.replace(") of this section", ")")
}

/// How labels at the beginning of a line are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    AsWritten,
    /// Without the signs around them.
    Bare,
}

/// The letters and signs of a text without typography and white space.
fn plain_signs(text: &str, labels: Labels) -> String {
    let text = without_editors_words(text);
    let mut written = String::with_capacity(text.len());
    for line in text.lines() {
        let (label, rest) = if labels == Labels::Bare { label_of(line) } else { ("", line) };
        written.push_str(label);
        for token in tokens(rest) {
            let of_token = &rest[token.range];
            match of_token.chars().next().map(SignKind::of) {
                // `.” “` and `.”“`
                Some(SignKind::Quote) if written.ends_with('\'') => {}
                Some(SignKind::Quote) => written.push('\''),
                Some(SignKind::Dash) => written.push('-'),
                Some(SignKind::Dots) => written.push('.'),
                _ => of_token.chars().for_each(|letter| push_plain(&mut written, letter)),
            }
        }
    }
    written
}

fn push_plain(written: &mut String, letter: char) {
    match plain(letter) {
        Some(letters) => written.push_str(letters),
        // How files of old programs write degrees: `38ø`.
        None if matches!(letter, 'ø' | 'º') && written.ends_with(|before: char| before.is_ascii_digit()) => {
            written.push('°');
        }
        None if SignKind::of(letter) == SignKind::Nothing => {}
        None => written.push(letter),
    }
}

/// The label at the beginning of a line without the signs around it, and the rest.
fn label_of(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    let inner = line.strip_prefix('(').unwrap_or(line);
    let end = inner.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(inner.len());
    let (label, behind) = inner.split_at(end);
    let closed = behind.strip_prefix(')').or_else(|| behind.strip_prefix('.').filter(|_| inner.len() == line.len()));
    let is_label = (1..=LABEL_BYTES_MAX).contains(&label.len()) && is_numeral(label);
    match closed.filter(|rest| is_label && (rest.is_empty() || rest.starts_with(char::is_whitespace))) {
        Some(rest) => (label, rest),
        None => ("", line),
    }
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
            ("subsections (e) and (f) of this section may", "subsections (e) and (f) may"),
            ("costs.\" \"Gas\"", "costs.”“Gas”"),
            ("(b)\n(1)\nThe Director, under (c) of this section", "(b)(1) The Director, under (c)"),
            ("10 days", "10days"),
            ("WARNINGDOMESTICATED ANIMAL PREMISESUnder", "WARNING DOMESTICATED ANIMAL PREMISES\nUnder"),
            ("38ø 01´ and 39º12´", "38°01´ and 39° 12´"),
            ("of:\n(6) a fee;\n(A-1) a rate", "of:\n6. a fee;\nA-1. a rate"),
        ] {
            assert!(has_same_words(one, other), "{one} | {other}");
        }
    }

    #[test]
    fn words_signs_and_case_make_one() {
        for (one, other) in [
            ("may", "shall"),
            ("a, b", "a b"),
            ("køb", "k°b"),
            ("under (6) a", "under 6. a"),
            ("of:\n(6) a fee", "of:\n(7) a fee"),
            ("(see) it", "see it"),
            ("No. 5", "No 5"),
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
    fn the_order_of_lines_makes_no_difference_to_their_words() {
        let copied = "A. Fees:\n1. One.\n2. Two.\nB. Rates.";
        assert!(has_same_lines(copied, "A. Fees:\n(1) One.\n\nB. Rates.\n(2) Two."));
        for other in ["A. Fees:\n1. One.\nB. Rates.", "A. Fees:\n1. Two.\n2. One.\nB. Rates."] {
            assert!(!has_same_lines(copied, other), "{other}");
        }
    }

    #[test]
    fn signs_of_footnotes_make_no_difference_up_to_the_last_footnote() {
        let is_same = |one, other, footnotes| has_same_words_but_footnote_signs(one, other, footnotes);
        let (with, without) =
            ("section 507 2 became, et seq.1 and 507,2 and", "section 507 became, et seq. and 507, and");
        assert!(is_same(with, without, 2) && is_same(without, with, 2) && !is_same(with, without, 1));
        assert!(is_same("(c) of this section 1 and", "(c) and", 1));
        for (one, other) in [("10 days", "2 days"), ("2", "may"), ("section 2 of", "section 3 of"), ("a 3 b", "a b")] {
            assert!(!is_same(one, other, 2), "{one} | {other}");
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
