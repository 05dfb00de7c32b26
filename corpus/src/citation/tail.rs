//! Reads the text after the name of a code: section signs, numbers with subdivisions, ranges, lists and `et seq.`

use std::ops::Range;

use super::number::{self, NumberMark, NumberRules, NumberShape, NumberText};
use super::text::{CitationText, PILCROW, SECTION_SIGN};
use super::value::{Unit, WordingKind};

/// Maximum number of numbers read from one list. Longer lists are cut, which bounds the work at one position.
const LIST_MAX: usize = 32;
const SUBDIVISIONS_MAX: usize = 8;

/// A number in a list, not yet assigned to a code body.
#[derive(Debug)]
pub(super) struct ListedNumber {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) first: NumberText,
    pub(super) last: Option<NumberText>,
    pub(super) wording: Option<WordingKind>,
    pub(super) subdivisions: Vec<Box<str>>,
    /// Whether the notes to the section are cited.
    pub(super) note: bool,
}

impl ListedNumber {
    /// Whether this could be a number of the same code as the first one of its list, and not a count (`30 days`).
    /// It must contain more than digits, or have three or more digits, as many as the first number begins with.
    pub(super) fn resembles(&self, first: &Self) -> bool {
        let number = self.first.as_bytes();
        let is_plain = number.iter().all(u8::is_ascii_digit);
        let alike = number.len() >= 3
            && first.first.as_bytes().iter().take_while(|byte| byte.is_ascii_digit()).count() == number.len();
        std::ptr::eq(self, first) || !is_plain || alike
    }

    /// Whether both numbers have parts, with the same signs between them: `38.05.055` and `38.05.057`. Such a number is
    /// of the same code, even without a mark before the list.
    fn has_parts_like(&self, first: &Self) -> bool {
        let signs = |number: &Self| -> Vec<u8> {
            number.first.as_bytes().iter().copied().filter(|byte| !byte.is_ascii_alphanumeric()).collect()
        };
        let own = signs(self);
        !own.is_empty() && own == signs(first)
    }
}

/// Which numbers a list may contain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'s> {
    pub(super) shape: &'s NumberShape,
    pub(super) mark: NumberMark,
    /// Whether a number must fit the shape even after a section sign.
    pub(super) strict: bool,
    pub(super) unit: Unit,
    /// Whether more numbers may follow a singular mark: `section 922 or 948`.
    pub(super) alternatives: bool,
}

impl<'s> Expected<'s> {
    /// Expects numbers that fit the shape strictly, without alternatives.
    pub(super) fn of(shape: &'s NumberShape, mark: NumberMark, unit: Unit) -> Self {
        Self { shape, mark, strict: true, unit, alternatives: false }
    }

    /// The rules for one number of the list.
    pub(super) fn number(self) -> NumberRules<'s> {
        NumberRules { shape: self.shape, mark: self.mark, strict: self.strict }
    }
}

/// Reads `§`, `§§`, `sec.`, `art.`, `part` and the like.
pub(super) fn read_mark(text: CitationText<'_>, pos: usize) -> Option<(NumberMark, Unit, usize)> {
    let (sign, len) = text.at(pos);
    if sign == SECTION_SIGN {
        let next = text.skip_spaces(pos + len);
        let many = text.folded_at(next) == SECTION_SIGN;
        return Some(if many {
            (NumberMark::Many, Unit::Section, next + text.at(next).1)
        } else {
            (NumberMark::One, Unit::Section, pos + len)
        });
    }
    let words: &[(&str, NumberMark, Unit)] = match sign.to_ascii_lowercase() {
        b's' => &[
            ("section", NumberMark::One, Unit::Section),
            ("sections", NumberMark::Many, Unit::Section),
            ("sec", NumberMark::One, Unit::Section),
            ("secs", NumberMark::Many, Unit::Section),
            ("s", NumberMark::One, Unit::Section),
            ("ss", NumberMark::Many, Unit::Section),
        ],
        b'a' => &[
            ("article", NumberMark::One, Unit::Section),
            ("articles", NumberMark::Many, Unit::Section),
            ("art", NumberMark::One, Unit::Section),
            ("arts", NumberMark::Many, Unit::Section),
        ],
        b'r' => &[
            ("rule", NumberMark::One, Unit::Section),
            ("rules", NumberMark::Many, Unit::Section),
            ("r", NumberMark::One, Unit::Section),
            ("regulation", NumberMark::One, Unit::Section),
            ("regulations", NumberMark::Many, Unit::Section),
        ],
        b'p' => &[
            ("part", NumberMark::One, Unit::Part),
            ("parts", NumberMark::Many, Unit::Part),
            ("pt", NumberMark::One, Unit::Part),
            ("pts", NumberMark::Many, Unit::Part),
        ],
        b'c' => &[
            ("chapter", NumberMark::One, Unit::Chapter),
            ("chapters", NumberMark::Many, Unit::Chapter),
            ("chap", NumberMark::One, Unit::Chapter),
            ("ch", NumberMark::One, Unit::Chapter),
            ("chs", NumberMark::Many, Unit::Chapter),
        ],
        _ => return None,
    };
    words.iter().find_map(|(word, mark, unit)| text.word(pos, word).map(|end| (*mark, *unit, end)))
}

/// Reads one number or a list of them.
pub(super) fn read_list(
    text: CitationText<'_>,
    pos: usize,
    expected: Expected<'_>,
) -> Option<(Vec<ListedNumber>, usize)> {
    let first = read_entry(text, pos, expected)?;
    let mut end = skip_et_seq(text, first.end);
    let mut entries = vec![first];
    while entries.len() < LIST_MAX {
        let Some(next) = next_in_list(text, end, expected, &entries[0]) else { break };
        end = skip_et_seq(text, next.end);
        entries.push(next);
    }
    Some((entries, end))
}

fn read_entry(text: CitationText<'_>, start: usize, expected: Expected<'_>) -> Option<ListedNumber> {
    let bracketed = text.folded_at(start) == b'[';
    let number_start = if bracketed { start + 1 } else { start };
    let span = number::read(text, number_start, expected.number())?;
    let mut end = span.end;
    if bracketed && text.folded_at(end) == b']' {
        end += 1;
    }
    let mut last = span.last;
    if last.is_none()
        && let Some((range_last, range_end)) = number::read_range_end(text, end, &span.first, expected.number())
    {
        (last, end) = (Some(range_last), range_end);
    }
    let wording = text.slice(end, end + 6).eq_ignore_ascii_case("(perm)").then_some(WordingKind::Permanent);
    if wording.is_some() {
        end += 6;
    }
    let mut subdivisions = Vec::new();
    if expected.shape.dot_is_subdivision && text.folded_at(end) == b'.' {
        let digits = text.digits_end(end + 1);
        if digits > end + 1 && text.ends_word(digits) {
            subdivisions.push(text.slice(end + 1, digits).into());
            end = digits;
        }
    }
    end = read_subdivisions(text, end, expected.shape.capital_is_subdivision, &mut subdivisions);
    let note_end = skip_note(text, end).filter(|_| expected.unit == Unit::Section);
    let (note, end) = (note_end.is_some(), note_end.unwrap_or(end));
    Some(ListedNumber { start, end, first: span.first, last, wording, subdivisions, note })
}

/// Skips `note` in `17 U.S.C. 101 note`. If a word other than `and` or `or` follows, `note` is a verb and is not
/// skipped.
fn skip_note(text: CitationText<'_>, pos: usize) -> Option<usize> {
    let start = text.skip_spaces(pos);
    let end = start + "note".len();
    let found = start > pos && text.slice(start, end).eq_ignore_ascii_case("note") && text.ends_word(end);
    let next = text.skip_spaces(end);
    let goes_on =
        next > end && text.folded_at(next).is_ascii_alphabetic() && text.any_word(next, &["and", "or"]).is_none();
    (found && !goes_on).then_some(end)
}

/// Reads the next number of a list, as in `, 5`, `and 7` or `, § 9`. A number that begins another citation
/// (`, 5 U.S.C. § 552`) is rejected because of the text after it.
fn next_in_list(
    text: CitationText<'_>,
    end: usize,
    expected: Expected<'_>,
    first: &ListedNumber,
) -> Option<ListedNumber> {
    let separator = text.skip_spaces(end);
    let mut pos = separator;
    if matches!(text.folded_at(pos), b',' | b';') {
        pos = text.skip_spaces(pos + 1);
    }
    if let Some(after) = text.any_word(pos, &["and", "or"]) {
        pos = text.skip_spaces(after);
    } else if text.folded_at(pos) == b'&' {
        pos = text.skip_spaces(pos + 1);
    }
    if pos == separator {
        return None;
    }
    let mut expected = expected;
    let mut goes_on = expected.mark == NumberMark::Many || expected.alternatives;
    if text.folded_at(pos) == SECTION_SIGN {
        // In `chapter 1, § 223` the section is not part of the list of chapters.
        let (mark, unit, after) = read_mark(text, pos)?;
        if unit != expected.unit {
            return None;
        }
        expected.mark = mark;
        goes_on = true;
        pos = text.skip_spaces(after);
    } else if !goes_on && expected.mark != NumberMark::None {
        return None;
    }
    if !text.folded_at(pos).is_ascii_digit() {
        return None;
    }
    let entry = read_entry(text, pos, expected)?;
    // A number before a capitalised word is more likely a title or a count than a section.
    let after = text.skip_spaces(entry.end);
    let continues = after > entry.end && text.folded_at(after).is_ascii_uppercase();
    let is_alike = entry.has_parts_like(first);
    ((goes_on && !continues) || is_alike).then_some(entry)
}

/// The last part of a number, or of the two numbers of a range: `.04C(1)`, `.03—.06`.
#[derive(Debug)]
pub(super) struct NumberSuffix {
    pub(super) range: Range<usize>,
    pub(super) first: Box<str>,
    pub(super) last: Option<Box<str>>,
    pub(super) subdivisions: Vec<Box<str>>,
}

/// Reads one `.04` or a list of them, each with its period.
pub(super) fn read_number_ends(
    text: CitationText<'_>,
    pos: usize,
    capital_first: bool,
) -> Option<(Vec<NumberSuffix>, usize)> {
    let mut entries = Vec::new();
    let mut next = pos;
    let mut list_end = None;
    while entries.len() < LIST_MAX
        && let Some((first, mut end)) = read_number_end(text, next)
    {
        let mut subdivisions = Vec::new();
        end = read_subdivisions(text, end, capital_first, &mut subdivisions);
        let (dash, len) = text.at(end);
        let last = if dash == b'-' { read_number_end(text, end + len) } else { None };
        if let Some((_, range_end)) = &last {
            end = *range_end;
        }
        entries.push(NumberSuffix { range: next..end, first, last: last.map(|(last, _)| last), subdivisions });
        list_end = Some(end);
        next = text.skip_comma(end);
        if let Some(after) = text.any_word(next, &["and", "or"]) {
            next = text.skip_spaces(after);
        }
    }
    list_end.map(|end| (entries, end))
}

/// Reads `.04` or `.04-1`. The result does not contain the period.
fn read_number_end(text: CitationText<'_>, pos: usize) -> Option<(Box<str>, usize)> {
    let digits = pos + 1;
    let mut end = text.digits_end(digits);
    if text.folded_at(pos) != b'.' || end == digits {
        return None;
    }
    let mut number = text.slice(digits, end).to_owned();
    let (dash, len) = text.at(end);
    let more = text.digits_end(end + len);
    if dash == b'-' && more > end + len {
        number = format!("{number}-{}", text.slice(end + len, more));
        end = more;
    }
    Some((number.into(), end))
}

/// Reads `(b)(2)(A)`, `, subd. 2(a)` and the capital of `26.08.02.01A(1)`. Returns their end.
pub(super) fn read_subdivisions(
    text: CitationText<'_>,
    mut end: usize,
    capital_first: bool,
    into: &mut Vec<Box<str>>,
) -> usize {
    if capital_first && text.folded_at(end).is_ascii_uppercase() && text.ends_word(end + 1) {
        into.push(text.slice(end, end + 1).into());
        end += 1;
    }
    while into.len() < SUBDIVISIONS_MAX {
        let next = read_parenthesised(text, end).or_else(|| read_worded(text, end));
        let Some((inner, next_end)) = next else { break };
        into.push(inner.into());
        end = next_end;
    }
    if into.is_empty() { end } else { skip_subdivision_range(text, end) }
}

fn read_parenthesised<'t>(text: CitationText<'t>, pos: usize) -> Option<(&'t str, usize)> {
    let open = text.skip_spaces(pos);
    // A line that begins with `(b)` is a new paragraph.
    if text.folded_at(open) != b'(' || text.slice(pos, open).contains('\n') {
        return None;
    }
    let close = (open + 1..open + 9).find(|at| text.folded_at(*at) == b')')?;
    let inner = text.slice(open + 1, close);
    let spaced = open > pos;
    is_subdivision(inner, spaced).then_some((inner, close + 1))
}

/// Whether a text in parentheses is a subdivision, and not a year, publisher or remark.
fn is_subdivision(inner: &str, spaced: bool) -> bool {
    let piece_ok = |piece: &str| {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let letters = &piece[digits..];
        let roman = letters.bytes().all(|byte| b"ivxlc".contains(&byte.to_ascii_lowercase()));
        let repeated = letters.bytes().all(|byte| letters.as_bytes().first() == Some(&byte));
        let short = letters.len() == 2 && !spaced && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
        !piece.is_empty()
            && digits <= 3
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (roman || repeated || short)
    };
    inner.is_ascii() && inner.split(['-', '.']).all(piece_ok)
}

/// Reads `, subd. 2` or `subsection (b)`.
fn read_worded(text: CitationText<'_>, pos: usize) -> Option<(&str, usize)> {
    const WORDS: [&str; 9] =
        ["subd", "subds", "subdivision", "subdiv", "subsection", "subsec", "paragraph", "para", "par"];
    let word = text.skip_comma(pos);
    let is_sign = text.folded_at(word) == PILCROW;
    read_inner(text, if is_sign { word + text.at(word).1 } else { text.any_word(word, &WORDS)? })
}

/// Reads the subdivision after such a word: `(b)`, `2`, `A`.
pub(super) fn read_inner(text: CitationText<'_>, after_word: usize) -> Option<(&str, usize)> {
    let start = text.skip_spaces(after_word);
    if let Some(found) = read_parenthesised(text, start) {
        return Some(found);
    }
    let len = (0..6).take_while(|offset| text.folded_at(start + offset).is_ascii_alphanumeric()).count();
    let inner = text.slice(start, start + len);
    (text.ends_word(start + len) && is_subdivision(inner, true)).then_some((inner, start + len))
}

/// Skips `-(3)` or `to (3)`: only the first subdivision of a range is kept.
fn skip_subdivision_range(text: CitationText<'_>, end: usize) -> usize {
    let mut pos = text.skip_spaces(end);
    if text.folded_at(pos) == b'-' {
        pos += text.at(pos).1;
    } else if let Some(after) = text.any_word(pos, &["to", "through"]) {
        pos = after;
    } else {
        return end;
    }
    read_parenthesised(text, pos).map_or(end, |(_, range_end)| range_end)
}

fn skip_et_seq(text: CitationText<'_>, end: usize) -> usize {
    let et = text.skip_comma(end);
    let seq = text.word(et, "et").map(|after| text.skip_spaces(after));
    seq.and_then(|pos| text.any_word(pos, &["seq", "sequens", "sequentes"])).unwrap_or(end)
}

/// Reads a title or chapter number: `42`, `5A`, `17-A`, `93A`.
pub(super) fn read_title(text: CitationText<'_>, pos: usize) -> Option<(&str, usize)> {
    let digits = text.digits_end(pos);
    if digits == pos || digits > pos + 4 || text.folded_at(pos) == b'0' {
        return None;
    }
    let letter = |at: usize| text.folded_at(at).is_ascii_alphabetic() && text.ends_word(at + 1);
    let mut end = digits;
    if letter(digits) && text.folded_at(digits + 1) != b'.' {
        end = digits + 1;
    } else if text.slice(digits, digits + 1) == "-" && letter(digits + 1) {
        end = digits + 2;
    }
    let more =
        text.folded_at(end) == b'.' && text.folded_at(end + 1).is_ascii_digit() || text.folded_at(end).is_ascii_digit();
    (!more).then(|| (text.slice(pos, end), end))
}
