//! Pairs the quotation marks of one paragraph: “…” and "…", and, where they are not within those, ‘…’ and '…'.
//!
//! A closing single mark looks like an apostrophe. One with a letter or digit after it is an apostrophe. One after an `s`
//! with a word after it may be either: `the tenants’ rights`. It closes a passage only if nothing else does.

use std::ops::Range;

/// Words that begin with an apostrophe.
const ELISIONS: [&str; 5] = ["em", "n", "til", "tis", "twas"];

/// The mark that opens a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpeningMark {
    Double,
    StraightDouble,
    Single,
    StraightSingle,
}

/// The passages in quotation marks of a paragraph.
#[derive(Debug, Default)]
pub(crate) struct QuotedPassages {
    /// Those that are closed, without their marks, in order. A quotation within a quotation is a part of it.
    pub(crate) closed: Vec<Range<usize>>,
    /// Where the first passage begins that is not closed in this paragraph. Of a quotation of several paragraphs, each
    /// begins with a mark, and only the last is closed.
    pub(crate) unclosed: Option<(usize, OpeningMark)>,
    /// The mark that begins the paragraph, and where the text after it begins.
    pub(crate) opening: Option<(usize, OpeningMark)>,
}

impl QuotedPassages {
    pub(crate) fn of(text: &str) -> Self {
        let doubles = double_passages(text);
        let singles = single_passages(text);
        let first = [&doubles.unclosed, &singles.unclosed].into_iter().flatten().min_by_key(|(start, _)| *start);
        Self { unclosed: first.copied(), opening: opening(text), closed: outermost(doubles.closed, singles.closed) }
    }
}

/// The opening mark with which a text begins.
fn opening(text: &str) -> Option<(usize, OpeningMark)> {
    let first = text.chars().next()?;
    let mark = match first {
        '“' | '„' => OpeningMark::Double,
        '"' => OpeningMark::StraightDouble,
        '‘' => OpeningMark::Single,
        '\'' => OpeningMark::StraightSingle,
        _ => return None,
    };
    Some((first.len_utf8(), mark))
}

/// The passages of one kind of marks.
struct PairedMarks {
    closed: Vec<Range<usize>>,
    unclosed: Option<(usize, OpeningMark)>,
}

/// The outermost passages between double marks. Marks that do not pair are ignored.
fn double_passages(text: &str) -> PairedMarks {
    let mut open: Vec<(usize, OpeningMark)> = Vec::new();
    let mut closed: Vec<Range<usize>> = Vec::new();
    for (at, sign) in text.char_indices().filter(|(_, sign)| matches!(sign, '“' | '„' | '”' | '"')) {
        let is_closing = match sign {
            '”' => !open.is_empty(),
            '"' => open.last().is_some_and(|(_, mark)| *mark == OpeningMark::StraightDouble),
            _ => false,
        };
        if is_closing && let Some((start, _)) = open.pop() {
            while closed.last().is_some_and(|inner| inner.start >= start) {
                closed.pop();
            }
            closed.push(start..at);
        } else if matches!(sign, '“' | '„') {
            open.push((at + sign.len_utf8(), OpeningMark::Double));
        } else if sign == '"' && open.is_empty() {
            open.push((at + sign.len_utf8(), OpeningMark::StraightDouble));
        }
    }
    PairedMarks { closed, unclosed: open.first().copied() }
}

/// A single mark that may open or close a passage.
struct SingleMark {
    at: usize,
    len: usize,
    kind: SingleMarkKind,
    opens: OpeningMark,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SingleMarkKind {
    Opening,
    Closing,
    /// It may be the apostrophe of a plural: `tenants’ rights`.
    ClosingOrApostrophe,
}

/// The passages between single marks.
fn single_passages(text: &str) -> PairedMarks {
    let marks = single_marks(text);
    let mut paired = PairedMarks { closed: Vec::new(), unclosed: None };
    let mut next = 0;
    while let Some(mark) = marks.get(next) {
        next += 1;
        if mark.kind != SingleMarkKind::Opening {
            continue;
        }
        let following = marks[next..].iter().take_while(|other| other.kind != SingleMarkKind::Opening);
        let alike = following.filter(|other| other.opens == mark.opens);
        let closing =
            alike.clone().find(|other| other.kind == SingleMarkKind::Closing).or_else(|| alike.clone().next());
        let start = mark.at + mark.len;
        match closing {
            Some(closing) => paired.closed.push(start..closing.at),
            None => {
                paired.unclosed.get_or_insert((start, mark.opens));
            }
        }
    }
    paired
}

fn single_marks(text: &str) -> Vec<SingleMark> {
    let mut marks = Vec::new();
    let mut before: Option<char> = None;
    for (at, sign) in text.char_indices() {
        let after = text[at + sign.len_utf8()..].chars().next();
        let opens = if sign == '\'' { OpeningMark::StraightSingle } else { OpeningMark::Single };
        let kind = match sign {
            '‘' | '\'' if may_open(before, &text[at + sign.len_utf8()..]) => Some(SingleMarkKind::Opening),
            '’' | '\'' => closing_kind(before, after, &text[at + sign.len_utf8()..]),
            _ => None,
        };
        marks.extend(kind.map(|kind| SingleMark { at, len: sign.len_utf8(), kind, opens }));
        before = Some(sign);
    }
    marks
}

/// Whether a single mark may open a passage: it is before a word, not within or after one, and the word does not begin with
/// an apostrophe, as `’tis` and `’90s` do.
fn may_open(before: Option<char>, rest: &str) -> bool {
    let is_apart = before
        .is_none_or(|before| before.is_whitespace() || matches!(before, '(' | '[' | '“' | '"' | '—' | '–' | '-' | '/'));
    let begins = rest.starts_with(|first: char| {
        first.is_alphanumeric() || matches!(first, '[' | '(' | '“' | '"' | '…' | '.' | '§' | '$')
    });
    let word = rest.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    let is_decade = word.len() == 3 && word.ends_with('s') && word.starts_with(|first: char| first.is_ascii_digit());
    is_apart && begins && !is_decade && !ELISIONS.iter().any(|elision| word.eq_ignore_ascii_case(elision))
}

fn closing_kind(before: Option<char>, after: Option<char>, rest: &str) -> Option<SingleMarkKind> {
    let before = before.filter(|before| !before.is_whitespace())?;
    if after.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let goes_on = rest.strip_prefix(' ').is_some_and(|next| next.starts_with(char::is_alphanumeric));
    Some(match matches!(before, 's' | 'S') && goes_on {
        true => SingleMarkKind::ClosingOrApostrophe,
        false => SingleMarkKind::Closing,
    })
}

/// The passages that are not within others. Of two that cross, the one in double marks counts.
fn outermost(doubles: Vec<Range<usize>>, mut singles: Vec<Range<usize>>) -> Vec<Range<usize>> {
    singles.retain(|single| {
        let first = doubles.partition_point(|double| double.end <= single.start);
        let overlapping = doubles[first..].iter().take_while(|double| double.start < single.end);
        overlapping.clone().all(|double| single.start <= double.start && double.end <= single.end)
    });
    let mut all = Vec::with_capacity(doubles.len() + singles.len());
    for double in doubles {
        let next = singles.partition_point(|single| single.end <= double.start);
        if singles.get(next).is_none_or(|single| single.start > double.start) {
            all.push(double);
        }
    }
    all.append(&mut singles);
    all.sort_by_key(|range| range.start);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages(text: &str) -> Vec<&str> {
        QuotedPassages::of(text).closed.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn passages_are_between_marks_that_pair() {
        assert_eq!(passages("It is “one” and \"two\", not “three"), ["one", "two"]);
        assert_eq!(passages("“the term ‘author’ means”"), ["the term ‘author’ means"]);
        assert_eq!(passages("“the term “author” means” it"), ["the term “author” means"]);
        assert_eq!(passages("5'10\" tall"), Vec::<&str>::new());
        assert_eq!(passages("” lost “found”"), ["found"]);
        assert_eq!(passages("“lost “found”"), ["found"]);
    }

    #[test]
    fn single_marks_are_marks_of_their_own() {
        for (text, expected) in [
            ("It says ‘no person shall be denied’ it.", &["no person shall be denied"][..]),
            ("It says 'no person shall be denied' it.", &["no person shall be denied"]),
            ("(‘One.’) 'Two'; ‘[t]hree’", &["One.", "Two", "[t]hree"]),
            ("‘the term “author” means a person’ only", &["the term “author” means a person"]),
            ("‘the tenants’ rights shall be kept,’ it says", &["the tenants’ rights shall be kept,"]),
            ("'the tenant's and the owners' rights'.", &["the tenant's and the owners' rights"]),
            ("‘all tenants and owners’ must pay", &["all tenants and owners"]),
            ("‘one’ and ‘all owners’ must", &["one", "all owners"]),
        ] {
            assert_eq!(passages(text), expected, "{text}");
        }
    }

    #[test]
    fn apostrophes_are_no_marks() {
        for text in [
            "the tenant’s rights and the owners’ duties",
            "the tenants' rights, and the owners' duties",
            "It’s the landlord’s, isn't it? Y'all",
            "in the '90s the owners' rule",
            "‘Tis the owners’ rule, and 'twas the tenants'.",
            "6' 2\" and 5'",
        ] {
            assert_eq!(passages(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn a_passage_may_be_closed_in_a_later_paragraph() {
        let read = QuotedPassages::of("“First ‘inner words’ here.");
        assert_eq!(read.unclosed, Some((3, OpeningMark::Double)));
        assert_eq!(read.opening, Some((3, OpeningMark::Double)));
        let read = QuotedPassages::of("It says: 'First.");
        assert_eq!((read.unclosed, read.opening), (Some((10, OpeningMark::StraightSingle)), None));
        assert_eq!(QuotedPassages::of("“One.” Two").unclosed, None);
    }
}
