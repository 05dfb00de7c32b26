//! Section numbers: which characters belong to a number, where it ends, and which dashes make a range.
//!
//! In some codes a dash is part of a number (`13.1-345`), in others only before letters (`349-a`); elsewhere it
//! makes a range. The [`NumberShape`] of a code defines this. A number without a section sign must fit its shape
//! strictly.

use std::cmp::Ordering;
use std::fmt;

use super::text::{CitationText, ELLIPSIS, SECTION_SIGN};

/// Maximum length of a section number, in bytes: more than the longest one of any known code.
const NUMBER_LEN_MAX: usize = 40;

/// When a dash between two rising plain numbers makes a range, in a code whose numbers may contain dashes: `1981-1988`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DashRangeRule {
    Never,
    /// After `§§` only.
    WhenMany,
    /// After `§§`, and wherever the second number has three digits or more.
    Always,
}

/// How many of each punctuation mark the numbers of a code may contain, as the least and the most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NumberShape {
    pub(super) dots: (u8, u8),
    pub(super) dashes: (u8, u8),
    pub(super) colons: (u8, u8),
    /// `735 ILCS 5/2-1401`.
    pub(super) slashes: (u8, u8),
    /// Minimum number of dots and dashes together. It distinguishes the sections `25.15.071` and `62A.9A-102` from
    /// the chapter `25.15`.
    pub(super) separators_min: u8,
    /// Whether a letter or digit in parentheses before a dash belongs to the number: `1.401(a)-1`.
    pub(super) parentheses: bool,
    /// Whether digits may follow a dash inside a number.
    pub(super) dash_digits: bool,
    /// Whether a number may contain a comma directly before three digits: `60-6,196`.
    pub(super) commas: bool,
    pub(super) rising: DashRangeRule,
    /// Whether a capital after the number is its first subdivision: `COMAR 26.08.02.01A`.
    pub(super) capital_is_subdivision: bool,
    /// Whether a dot and digits after a whole number are its first subdivision: `407.025.1` is 407.025(1).
    pub(super) dot_is_subdivision: bool,
}

impl NumberShape {
    /// Accepts anything that could be a number of some code.
    pub(super) const ANY: Self = Self {
        dots: (0, 9),
        dashes: (0, 9),
        colons: (0, 2),
        slashes: (0, 1),
        separators_min: 0,
        parentheses: false,
        dash_digits: true,
        commas: false,
        rising: DashRangeRule::Never,
        capital_is_subdivision: false,
        dot_is_subdivision: false,
    };

    /// Whether a number can be parsed if it is written without a section sign.
    pub(super) fn fits_text(&self, number: &str) -> bool {
        number.len() <= NUMBER_LEN_MAX && self.fits(&NumberText::of(number.as_bytes()))
    }

    /// Whether a capital directly after this number is read as a subdivision.
    pub(super) fn takes_capital(&self, number: &str) -> bool {
        let ends_in_digit = number.bytes().last().is_some_and(|byte| byte.is_ascii_digit());
        self.capital_is_subdivision && ends_in_digit && number.bytes().filter(|byte| *byte == b'.').count() >= 3
    }

    fn fits(&self, number: &NumberText) -> bool {
        let within = |count: u8, (least, most): (u8, u8)| least <= count && count <= most;
        let counts = number.counts();
        number.as_bytes().first().is_some_and(u8::is_ascii_digit)
            && within(counts.dots, self.dots)
            && within(counts.dashes, self.dashes)
            && counts.dots + counts.dashes >= self.separators_min
            && within(counts.colons, self.colons)
            && within(counts.slashes, self.slashes)
            && (self.dash_digits || !counts.dash_digit)
    }
}

/// A number's text in the folded form: plain hyphens, original case.
#[derive(Clone, Copy)]
pub(super) struct NumberText {
    bytes: [u8; NUMBER_LEN_MAX],
    len: u8,
}

#[derive(Default)]
struct PunctuationCounts {
    dots: u8,
    dashes: u8,
    colons: u8,
    slashes: u8,
    dash_digit: bool,
}

impl NumberText {
    const EMPTY: Self = Self { bytes: [0; NUMBER_LEN_MAX], len: 0 };

    fn push(&mut self, sign: u8) -> bool {
        match self.bytes.get_mut(self.len as usize) {
            Some(slot) => {
                *slot = sign;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    fn of(bytes: &[u8]) -> Self {
        let mut number = Self::EMPTY;
        for byte in bytes {
            number.push(*byte);
        }
        number
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len as usize).unwrap_or(&[])
    }

    pub(super) fn as_str(&self) -> &str {
        // Only ASCII is ever pushed.
        std::str::from_utf8(self.as_bytes()).unwrap_or("")
    }

    fn counts(&self) -> PunctuationCounts {
        let mut counts = PunctuationCounts::default();
        let mut before = 0;
        for byte in self.as_bytes() {
            match byte {
                b'.' => counts.dots += 1,
                b'-' => counts.dashes += 1,
                b':' => counts.colons += 1,
                b'/' => counts.slashes += 1,
                b'0'..=b'9' if before == b'-' => counts.dash_digit = true,
                _ => {}
            }
            before = *byte;
        }
        counts
    }
}

impl fmt::Debug for NumberText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A number or a range as written, and its end in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberSpan {
    pub(super) first: NumberText,
    pub(super) last: Option<NumberText>,
    pub(super) end: usize,
}

/// The mark before a number. It decides how strictly the number must fit its shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberMark {
    /// No mark: `ORS 63.047`.
    None,
    /// `§`, `sec.`, `art.`.
    One,
    /// `§§`, `sections`.
    Many,
}

/// Which numbers to accept.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberRules<'s> {
    pub(super) shape: &'s NumberShape,
    pub(super) mark: NumberMark,
    /// Whether a number must fit the shape even after a section sign.
    pub(super) strict: bool,
}

/// Reads a number, or a range written with a dash. `None` if the text at `pos` is not a number of this shape.
pub(super) fn read(text: CitationText<'_>, pos: usize, wanted: NumberRules<'_>) -> Option<NumberSpan> {
    let NumberRules { shape, mark, strict } = wanted;
    let (token, end) = read_token(text, pos, shape)?;
    if let Some((first, last)) = split_range(&token, shape, mark) {
        return Some(NumberSpan { first, last: Some(last), end });
    }
    let (token, end) = split_capital(token, end, shape);
    let (token, end) = split_dot(token, end, shape);
    if strict && !shape.fits(&token) {
        return None;
    }
    Some(NumberSpan { first: token, last: None, end })
}

/// Drops a capital after the last digit if it is a subdivision.
fn split_capital(token: NumberText, end: usize, shape: &NumberShape) -> (NumberText, usize) {
    match token.as_str().split_at_checked(usize::from(token.len).saturating_sub(1)) {
        Some((number, last)) if last.bytes().all(|byte| byte.is_ascii_uppercase()) && shape.takes_capital(number) => {
            (NumberText::of(number.as_bytes()), end - 1)
        }
        _ => (token, end),
    }
}

/// Drops the last dot and the digits after it if they are a subdivision.
fn split_dot(token: NumberText, end: usize, shape: &NumberShape) -> (NumberText, usize) {
    if !shape.dot_is_subdivision || token.counts().dots != shape.dots.1 + 1 {
        return (token, end);
    }
    match token.as_str().rsplit_once('.') {
        Some((number, subdivision)) if subdivision.bytes().all(|byte| byte.is_ascii_digit()) => {
            (NumberText::of(number.as_bytes()), end - 1 - subdivision.len())
        }
        _ => (token, end),
    }
}

/// Reads the longest run of characters that could be one number. The caller decides about dashes.
fn read_token(text: CitationText<'_>, start: usize, shape: &NumberShape) -> Option<(NumberText, usize)> {
    let mut number = NumberText::EMPTY;
    let mut pos = start;
    loop {
        pos = read_piece(text, pos, &mut number)?;
        if shape.parentheses {
            pos = read_parenthesised(text, pos, &mut number)?;
        }
        let (sign, len) = text.at(pos);
        let next = text.folded_at(pos + len);
        let joins = match sign {
            b'.' => next.is_ascii_digit(),
            b'-' if next == b'.' => text.folded_at(pos + len + 1).is_ascii_digit(),
            b'-' => next.is_ascii_digit() || letters_suffix(text, pos + len),
            b':' => shape.colons.1 > 0 && next.is_ascii_digit(),
            b'/' => shape.slashes.1 > 0 && next.is_ascii_alphanumeric(),
            b',' => shape.commas && comma_digits(text, pos + len),
            _ => false,
        };
        if !joins {
            break;
        }
        if !number.push(sign) {
            return None;
        }
        pos += len;
        // `310-2-.03`, as some codes of regulations number their rules.
        if sign == b'-' && next == b'.' {
            if !number.push(next) {
                return None;
            }
            pos += 1;
        }
    }
    text.ends_word(pos).then_some((number, pos))
}

/// Reads `(a)` or `(c)(3)` if a dash and a digit follow. Otherwise it is a subdivision and is not read here.
fn read_parenthesised(text: CitationText<'_>, pos: usize, number: &mut NumberText) -> Option<usize> {
    let mut end = pos;
    for _ in 0..3 {
        let letters = (1..4).take_while(|offset| text.folded_at(end + offset).is_ascii_alphanumeric()).count();
        if text.folded_at(end) != b'(' || letters == 0 || text.folded_at(end + letters + 1) != b')' {
            break;
        }
        end += letters + 2;
    }
    let (dash, dash_len) = text.at(end);
    if end == pos || dash != b'-' || !text.folded_at(end + dash_len).is_ascii_digit() {
        return Some(pos);
    }
    text.slice(pos, end).bytes().all(|byte| number.push(byte)).then_some(end)
}

/// Reads digits and the letters between or after them. Words are rejected: `5th`, `12and`, `1983Act`.
fn read_piece(text: CitationText<'_>, start: usize, number: &mut NumberText) -> Option<usize> {
    let mut pos = start;
    loop {
        let digits = pos;
        while text.folded_at(pos).is_ascii_digit() {
            if !number.push(text.folded_at(pos)) {
                return None;
            }
            pos += 1;
        }
        let letters = pos;
        while text.folded_at(pos).is_ascii_alphabetic() {
            if !number.push(text.folded_at(pos)) {
                return None;
            }
            pos += 1;
        }
        if pos == digits {
            return (pos > start).then_some(pos);
        }
        if !is_letter_suffix(text.slice(letters, pos)) {
            return None;
        }
    }
}

/// Whether letters could belong to a number: `a`, `bb`, `nnn`, `12a`; longer runs repeat one letter.
fn is_letter_suffix(letters: &str) -> bool {
    let bytes = letters.as_bytes();
    let repeats = || bytes.iter().all(|byte| byte.eq_ignore_ascii_case(&bytes[0]));
    match bytes.len() {
        0 | 1 => true,
        2 => !["st", "nd", "rd", "th"].iter().any(|ordinal| letters.eq_ignore_ascii_case(ordinal)),
        3..=6 => repeats(),
        _ => false,
    }
}

/// Whether a letter suffix, and not a word, follows a dash.
fn letters_suffix(text: CitationText<'_>, start: usize) -> bool {
    let mut pos = start;
    while pos < start + 7 && text.folded_at(pos).is_ascii_alphabetic() {
        pos += 1;
    }
    pos > start && is_letter_suffix(text.slice(start, pos)) && !is_short_word(text.slice(start, pos))
}

/// Two-letter words that may follow a number and a dash in running text: `101-to`, `12-or`.
fn is_short_word(letters: &str) -> bool {
    ["to", "or", "in", "of", "is", "by", "on"].iter().any(|word| letters.eq_ignore_ascii_case(word))
}

fn comma_digits(text: CitationText<'_>, pos: usize) -> bool {
    (0..3).all(|offset| text.folded_at(pos + offset).is_ascii_digit()) && !text.folded_at(pos + 3).is_ascii_digit()
}

/// Splits a token with dashes if it is a range: `1-3` in a code whose numbers contain no dash, `13.1-345-13.1-350`
/// in a code whose numbers contain one.
fn split_range(token: &NumberText, shape: &NumberShape, mark: NumberMark) -> Option<(NumberText, NumberText)> {
    let bytes = token.as_bytes();
    if !bytes.contains(&b'-') {
        return None;
    }
    let whole_fits = shape.fits(token);
    let dashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'-').map(|(at, _)| at);
    for at in dashes {
        let first = NumberText::of(&bytes[..at]);
        let last = NumberText::of(&bytes[at + 1..]);
        if !shape.fits(&first) || !shape.fits(&last) || compare(first.as_str(), last.as_str()) != Ordering::Less {
            continue;
        }
        let plain = |number: &NumberText| number.as_bytes().iter().all(u8::is_ascii_digit);
        // `61-62` could be a section; `1981-1988` and `§§ 61-62` are ranges.
        let may_rise = match shape.rising {
            DashRangeRule::Never => false,
            DashRangeRule::WhenMany => mark == NumberMark::Many,
            DashRangeRule::Always => mark == NumberMark::Many || last.len >= 3,
        };
        let rises = may_rise && plain(&first) && plain(&last);
        if !whole_fits || rises {
            return Some((first, last));
        }
    }
    None
}

/// Reads `to 45`, `through 45` or `...45` after a number. `to -45` leaves out the part up to the last dash of `first`.
pub(super) fn read_range_end(
    text: CitationText<'_>,
    pos: usize,
    first: &NumberText,
    wanted: NumberRules<'_>,
) -> Option<(NumberText, usize)> {
    let NumberRules { shape, mark, .. } = wanted;
    let after_word = |pos: usize| {
        let start = text.skip_spaces(pos);
        let end = text.any_word(start, &["to", "through", "thru"])?;
        (start > pos).then(|| text.skip_spaces(end))
    };
    let start = if text.slice(pos, pos + 3) == "..." {
        pos + 3
    } else if text.folded_at(pos) == ELLIPSIS {
        pos + text.at(pos).1
    } else if text.folded_at(text.skip_spaces(pos)) == b'-' && text.skip_spaces(pos) > pos {
        let dash = text.skip_spaces(pos);
        text.skip_spaces(dash + text.at(dash).1)
    } else {
        after_word(pos)?
    };
    let start = skip_signs(text, start);
    if text.folded_at(start) == b'-' {
        return read_abbreviated(text, start, first, shape);
    }
    let (last, end) = read_token(text, start, shape)?;
    let rises = last.as_bytes().first().is_some_and(u8::is_ascii_digit)
        && compare(first.as_str(), last.as_str()) == Ordering::Less;
    let alike = shape.fits(&last) || !shape.fits(first);
    // In `2 U.S.C. § 1 to 5 U.S.C. § 5` the number after `to` is the title of another citation.
    let after = text.skip_spaces(end);
    let is_title = mark != NumberMark::Many && after > end && text.folded_at(after).is_ascii_uppercase();
    (rises && alike && !is_title).then_some((last, end))
}

/// Reads the end of `§§ 18.2-308 to -309`: the second number leaves out the part that it shares with the first.
fn read_abbreviated(
    text: CitationText<'_>,
    dash: usize,
    first: &NumberText,
    shape: &NumberShape,
) -> Option<(NumberText, usize)> {
    let (tail, end) = read_token(text, dash + text.at(dash).1, shape)?;
    let cut = first.as_bytes().iter().rposition(|byte| *byte == b'-')?;
    let mut last = NumberText::of(&first.as_bytes()[..=cut]);
    let fits = tail.as_bytes().iter().all(|byte| last.push(*byte));
    (fits && compare(first.as_str(), last.as_str()) == Ordering::Less).then_some((last, end))
}

fn skip_signs(text: CitationText<'_>, mut pos: usize) -> usize {
    for _ in 0..2 {
        if text.folded_at(pos) == SECTION_SIGN {
            pos = text.skip_spaces(pos + text.at(pos).1);
        }
    }
    pos
}

/// Compares two numbers in code order: digits by value, letters `a` < `z` < `aa`, a number before its continuations.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len());
        };
        let order = match (class(*first_a), class(*first_b)) {
            (Class::Digit, Class::Digit) => {
                let (run_a, run_b) = (run(&mut a, Class::Digit), run(&mut b, Class::Digit));
                let trim = |run: &[u8]| run.iter().take_while(|digit| **digit == b'0').count().min(run.len());
                let (run_a, run_b) = (&run_a[trim(run_a)..], &run_b[trim(run_b)..]);
                run_a.len().cmp(&run_b.len()).then_with(|| run_a.cmp(run_b))
            }
            (Class::Letter, Class::Letter) => {
                let (run_a, run_b) = (run(&mut a, Class::Letter), run(&mut b, Class::Letter));
                run_a.len().cmp(&run_b.len()).then_with(|| run_a.to_ascii_lowercase().cmp(&run_b.to_ascii_lowercase()))
            }
            (Class::Sign, Class::Sign) => {
                a = &a[1..];
                b = &b[1..];
                Ordering::Equal
            }
            (class_a, class_b) => class_a.cmp(&class_b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Sign,
    Digit,
    Letter,
}

fn class(byte: u8) -> Class {
    match byte {
        b'0'..=b'9' => Class::Digit,
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        _ => Class::Sign,
    }
}

fn run<'a>(bytes: &mut &'a [u8], wanted: Class) -> &'a [u8] {
    let len = bytes.iter().take_while(|byte| class(**byte) == wanted).count();
    let (run, rest) = bytes.split_at(len);
    *bytes = rest;
    run
}
