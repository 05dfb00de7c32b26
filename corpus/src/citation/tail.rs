//! Reads the text after the name of a code: section signs, numbers with subdivisions, ranges, lists and `et seq.`

use std::ops::Range;

use super::number::{self, NumberMark, NumberRules, NumberShape, NumberText};
use super::text::{CitationText, END, PILCROW, SECTION_SIGN};
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

    /// Whether both numbers have parts, and either two signs or more (`62A.9A-102`) or the same signs: `5.057` and `5.055`.
    /// Such a number is of the same code, even without a mark before the list.
    fn has_parts_like(&self, first: &Self) -> bool {
        let signs = |number: &Self| number.signs().count();
        let has_many = signs(self) >= 2 && signs(first) >= 2;
        has_many || (self.has_parts() && self.signs().eq(first.signs()))
    }

    fn signs(&self) -> impl Iterator<Item = u8> + '_ {
        self.first.as_bytes().iter().copied().filter(|byte| !byte.is_ascii_alphanumeric())
    }

    /// Whether this can be a section after a word such as `subsection`, whose own number is plain: `subsection 2`.
    pub(super) fn names_section(&self) -> bool {
        self.has_parts() || !self.subdivisions.is_empty()
    }

    /// Whether the number has parts: `12-3`, not `12` or `12a`.
    pub(super) fn has_parts(&self) -> bool {
        self.signs().next().is_some()
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
    /// The shape of the numbers of the text's own code, if the list is of another code: `40 U.S.C. § 8124 and
    /// § 10-111`.
    pub(super) home: Option<&'s NumberShape>,
}

impl<'s> Expected<'s> {
    /// Expects numbers that fit the shape strictly, without alternatives.
    pub(super) fn of(shape: &'s NumberShape, mark: NumberMark, unit: Unit) -> Self {
        Self { shape, mark, strict: true, unit, alternatives: false, home: None }
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
        let next = next_in_list(text, end, expected, &entries[0]);
        let Some(next) = next.or_else(|| next_after_remark(text, end, expected, &entries[0])) else { break };
        end = skip_et_seq(text, next.end);
        entries.push(next);
    }
    // `section 405(a) and (b) of this title`, but not `section 405(a) or (b) of this section`.
    let of = |more: &usize| {
        let of = text.skip_comma(*more);
        text.word(of, "of").is_some()
            && text.words(of, &["of", "this", "section"]).is_none()
            && !text.slice(*more, of).contains('\n')
    };
    let more = skip_more_subdivisions(text, end).filter(of);
    Some((entries, more.unwrap_or(end)))
}

fn read_entry(text: CitationText<'_>, start: usize, expected: Expected<'_>) -> Option<ListedNumber> {
    let bracketed = text.folded_at(start) == b'[';
    let number_start = skip_stars(text, if bracketed { start + 1 } else { start });
    let start = if bracketed { start } else { number_start };
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
    pos = skip_conjunction(text, pos);
    if pos == separator {
        return None;
    }
    let mut expected = expected;
    let has_mark = text.folded_at(pos) == SECTION_SIGN;
    let mut goes_on = expected.mark == NumberMark::Many || expected.alternatives;
    if has_mark {
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
    if !text.folded_at(skip_stars(text, pos)).is_ascii_digit() {
        return None;
    }
    let entry = read_entry(text, pos, expected)?;
    if has_mark && expected.home.is_some_and(|home| is_of_home(text, &entry, first, home)) {
        return None;
    }
    // A number before a capitalised word is more likely a title or a count than a section.
    let after = text.skip_spaces(entry.end);
    let continues = after > entry.end && text.folded_at(after).is_ascii_uppercase();
    let is_alike = entry.has_parts_like(first);
    ((goes_on && !continues) || is_alike).then_some(entry)
}

/// Whether a number after a mark of its own is one of the text's own code and not of the code before: `40 U.S.C. § 8124
/// and § 10-111`, of which no range from 10 to 111 can be meant.
fn is_of_home(text: CitationText<'_>, entry: &ListedNumber, first: &ListedNumber, home: &NumberShape) -> bool {
    let rules = NumberRules { shape: home, mark: NumberMark::One, strict: true };
    let rises = number::compare(first.first.as_str(), entry.first.as_str()).is_lt();
    let is_alike = entry.has_parts_like(first) || (entry.last.is_some() && rises);
    !is_alike && number::read(text, entry.start, rules).is_some_and(|own| own.last.is_none())
}

/// Skips `and`, `or`, `and/or` or `&`.
fn skip_conjunction(text: CitationText<'_>, pos: usize) -> usize {
    if text.folded_at(pos) == b'&' {
        return text.skip_spaces(pos + 1);
    }
    let Some(after) = text.any_word(pos, &["and", "or"]) else { return pos };
    let after = if text.folded_at(after) == b'/' { text.word(after + 1, "or").unwrap_or(after) } else { after };
    text.skip_spaces(after)
}

/// Reads the next number of a list after a remark on the one before (`22-3009.02 (second degree); 22-3009.03`) or after
/// more of its subdivisions (`25-741(a) and (b), 25-742`). It must be more than a plain number, which could be a count.
fn next_after_remark(
    text: CitationText<'_>,
    end: usize,
    expected: Expected<'_>,
    first: &ListedNumber,
) -> Option<ListedNumber> {
    let start = skip_remark(text, end).or_else(|| skip_more_subdivisions(text, end))?;
    next_in_list(text, start, expected, first).filter(ListedNumber::has_parts)
}

/// Skips `[repealed]`, `(second degree theft)` or `{"Definitions"}`.
fn skip_remark(text: CitationText<'_>, end: usize) -> Option<usize> {
    const LEN_MAX: usize = 96;
    let open = text.skip_spaces(end);
    let closing = match text.folded_at(open) {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => return None,
    };
    let close = (open + 1..open + LEN_MAX).find(|&at| matches!(text.folded_at(at), b')' | b']' | b'}' | END))?;
    let letters = text.slice(open, close).bytes().filter(u8::is_ascii_alphabetic).count();
    (text.folded_at(close) == closing && letters >= 4).then_some(close + 1)
}

/// Skips ` and (b)` or `, (c), and (d)` after subdivisions: only the first of such a list is kept.
fn skip_more_subdivisions(text: CitationText<'_>, end: usize) -> Option<usize> {
    if end == 0 || text.slice(end - 1, end) != ")" {
        return None;
    }
    let mut last = None;
    let mut pos = end;
    for _ in 0..SUBDIVISIONS_MAX {
        let next = skip_conjunction(text, text.skip_comma(pos));
        if next == pos || text.slice(pos, next).contains('\n') {
            break;
        }
        let Some((_, first_end)) = read_parenthesised(text, next) else { break };
        let inner = |end: usize| read_parenthesised(text, end).map(|(_, inner)| inner);
        let after = std::iter::successors(Some(first_end), |&end| inner(end)).take(SUBDIVISIONS_MAX).last();
        let after = after.unwrap_or(first_end);
        pos = skip_subdivision_range(text, after);
        last = Some(pos);
    }
    last
}

/// Skips the `*` with which some publishers mark a number that a note explains: `RCW *10.77.129`.
fn skip_stars(text: CitationText<'_>, pos: usize) -> usize {
    let stars = (0..3).take_while(|offset| text.folded_at(pos + offset) == b'*').count();
    if stars == 0 { pos } else { text.skip_spaces(pos + stars) }
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
    let found = read_inner(text, if is_sign { word + text.at(word).1 } else { text.any_word(word, &WORDS)? });
    found.filter(|&(_, end)| !is_of_another(text, end))
}

/// Whether the subdivision that ends here belongs to what follows: `section 3-1, subsection (a) or (b) of section 3-2`.
fn is_of_another(text: CitationText<'_>, end: usize) -> bool {
    const OWNERS: [&str; 6] = ["section", "sections", "subsection", "subdivision", "subparagraph", "paragraph"];
    let more = skip_more_subdivisions(text, end).unwrap_or(end);
    let Some(of) = text.word(text.skip_spaces(more), "of") else { return false };
    let owner = text.skip_spaces(of);
    text.folded_at(owner) == SECTION_SIGN || text.any_word(owner, &OWNERS).is_some()
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

/// Skips `, et seq.` or `, inclusive`.
fn skip_et_seq(text: CitationText<'_>, end: usize) -> usize {
    let et = text.skip_comma(end);
    let both = text.word(et, "both").map_or(et, |after| text.skip_spaces(after));
    // `inclusive of solar power` is no remark on a list.
    let goes_on = |after| text.word(text.skip_spaces(after), "of").map(|of| text.skip_spaces(of));
    if let Some(after) = text.word(both, "inclusive")
        && goes_on(after).is_none_or(|of| text.word(of, "this").is_some())
    {
        return if text.slice(after - 1, after) == "." { after - 1 } else { after };
    }
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
