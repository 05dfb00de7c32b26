//! Reads the labels at the start of a paragraph, with all their possible readings.

use hornbook_base::roman::from_roman;

/// The maximum number of labels on one line: `(a)(1)(i)(A)`.
const LABELS_MAX: usize = 8;

/// A paragraph as in its source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paragraph<'a> {
    pub text: &'a str,
    /// Byte ranges in italics, by ascending start. Federal regulations distinguish two levels by italics.
    pub italics: &'a [(usize, usize)],
}

impl<'a> From<&'a str> for Paragraph<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, italics: &[] }
    }
}

/// The punctuation around a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LabelPunctuation {
    /// `(a)`
    Parentheses,
    /// `a.`
    Period,
    /// `a)`
    HalfParenthesis,
}

/// The kind of numbering of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alphabet {
    Number,
    Small,
    Capital,
    SmallRoman,
    CapitalRoman,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    pub form: LabelPunctuation,
    pub alphabet: Alphabet,
    pub italic: bool,
}

impl Style {
    /// Whether the styles are equal except for italics, which sources sometimes omit.
    pub(super) fn is_like(self, other: Self) -> bool {
        (self.form, self.alphabet) == (other.form, other.alphabet)
    }
}

/// The position of a label in its series, from 1. Labels inserted later come in between: `(a-1)`
/// after `(a)`, `(1A)` after `(1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LabelPosition {
    pub(super) main: u16,
    pub(super) inserted: u16,
}

impl LabelPosition {
    pub(super) fn follows(self, before: Self) -> bool {
        let next = self.main == before.main.saturating_add(1) && self.inserted == 0;
        next || (self.main == before.main && self.inserted == before.inserted.saturating_add(1))
    }
}

/// One possible reading of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) style: Style,
    pub(super) first: LabelPosition,
    /// Equal to `first`, except for a range such as `(c)-(e)`.
    pub(super) last: LabelPosition,
}

/// The labels at the start of a paragraph, outermost first, each with its readings.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    pub(super) labels: Vec<Vec<Reading>>,
    pub(super) bytes: usize,
}

impl Prefix {
    /// Whether the first label can be the first of its series.
    pub(super) fn begins_series(&self) -> bool {
        self.labels.first().is_some_and(|readings| readings.iter().any(|reading| reading.first.main == 1))
    }
}

/// Larger numbers are not labels: `(1976)` is a year.
const NUMBER_MAX: u16 = 400;
/// The maximum length of a label.
const LABEL_BYTES_MAX: usize = 10;

pub(super) fn read(paragraph: Paragraph<'_>) -> Prefix {
    let text = paragraph.text;
    let mut prefix = Prefix::default();
    let mut at = text.len() - text.trim_start().len();
    while prefix.labels.len() < LABELS_MAX
        && let Some(mut label) = read_label(paragraph, at)
    {
        let mut end = label.end;
        if let Some((last, range_end)) = read_range_end(paragraph, end, label.form) {
            label.readings.retain_mut(|reading| {
                let end_of = last.readings.iter().find(|end| end.style.is_like(reading.style));
                end_of.is_some_and(|end| {
                    reading.last = end.first;
                    reading.last > reading.first
                })
            });
            end = range_end;
        }
        if label.readings.is_empty() {
            break;
        }
        let is_range = end != label.end;
        prefix.labels.push(label.readings);
        prefix.bytes = end;
        at = end + (text[end..].len() - text[end..].trim_start().len());
        let may_be_followed = match label.form {
            // `(a) (1)` is two labels.
            LabelPunctuation::Parentheses => text[at..].starts_with('('),
            LabelPunctuation::Period => begins_inner_series(paragraph, at),
            LabelPunctuation::HalfParenthesis => false,
        };
        if is_range || !may_be_followed {
            break;
        }
    }
    if reads_on(&text[prefix.bytes..]) { Prefix::default() } else { prefix }
}

/// Whether a label such as `5.` is followed by the first label of the series within it: `5. (1) The`, `5. a. The`. Capitals
/// may be a name: `5. A. B. Smith`.
fn begins_inner_series(paragraph: Paragraph<'_>, at: usize) -> bool {
    let is_first = |reading: &Reading| reading.first == LabelPosition { main: 1, inserted: 0 };
    let is_capital = |reading: &Reading| matches!(reading.style.alphabet, Alphabet::Capital | Alphabet::CapitalRoman);
    read_label(paragraph, at).is_some_and(|inner| match inner.form {
        LabelPunctuation::Parentheses => inner.readings.iter().any(is_first),
        LabelPunctuation::Period => inner.readings.iter().any(|reading| is_first(reading) && !is_capital(reading)),
        LabelPunctuation::HalfParenthesis => false,
    })
}

/// Whether the labels are a reference at the start of a sentence, or part of a word.
fn reads_on(rest: &str) -> bool {
    const REFERENCES: [&str; 8] =
        ["of this ", "of the Act", "of section ", "of paragraph ", "of subsection ", "and (", "or (", "through ("];
    let sentence = rest.trim_start();
    REFERENCES.iter().any(|words| sentence.starts_with(words))
        || rest.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit())
}

struct Label {
    form: LabelPunctuation,
    readings: Vec<Reading>,
    end: usize,
}

fn read_label(paragraph: Paragraph<'_>, start: usize) -> Option<Label> {
    let text = &paragraph.text[start..];
    let (form, from, to, end) = if text.starts_with("[(") {
        // Brackets around a label show that the editors supplied it.
        let close = text.as_bytes().iter().take(LABEL_BYTES_MAX + 3).position(|&byte| byte == b')')?;
        let is_closed = text[close + 1..].starts_with(']');
        let ends = is_closed && text[close + 2..].chars().next().is_none_or(char::is_whitespace);
        ends.then_some((LabelPunctuation::Parentheses, 2, close, close + 2))?
    } else if text.starts_with('(') {
        let close = text.as_bytes().iter().take(LABEL_BYTES_MAX + 2).position(|&byte| byte == b')')?;
        (LabelPunctuation::Parentheses, 1, close, close + 1)
    } else {
        let close = text.as_bytes().iter().take(LABEL_BYTES_MAX + 1).position(|&byte| matches!(byte, b'.' | b')'))?;
        let form =
            if text.as_bytes()[close] == b'.' { LabelPunctuation::Period } else { LabelPunctuation::HalfParenthesis };
        // `1.5` is a number, not a label.
        let ends = text[close + 1..].chars().next().is_none_or(char::is_whitespace);
        ends.then_some((form, 0, close, close + 1))?
    };
    let inner = text.get(from..to)?;
    let label = inner.trim();
    let offset = start + from + (inner.len() - inner.trim_start().len());
    let italic = !label.is_empty() && paragraph.italics.iter().any(|&(a, b)| a <= offset && offset < b);
    let readings = read_count(label)
        .into_iter()
        .map(|(alphabet, count)| Reading { style: Style { form, alphabet, italic }, first: count, last: count })
        .collect::<Vec<_>>();
    (!readings.is_empty()).then_some(Label { form, readings, end: start + end })
}

/// Reads the end of a range or list that begins with the label before: `-(e)`, ` through (e)`,
/// `, (d)`, ` and (d)`. A list counts only before words like `[Reserved]`, because `(a) and (b)`
/// may begin a sentence.
fn read_range_end(paragraph: Paragraph<'_>, mut at: usize, form: LabelPunctuation) -> Option<(Label, usize)> {
    if form != LabelPunctuation::Parentheses {
        return None;
    }
    let mut last = None;
    loop {
        let rest = &paragraph.text[at..];
        let bare = rest.trim_start();
        let joint = ["-", "–", "—", "through ", "to ", ", and ", ",", "and ", "or "]
            .iter()
            .find(|joint| bare.starts_with(**joint));
        let Some(after) = joint.map(|joint| bare[joint.len()..].trim_start()) else { break };
        let start = paragraph.text.len() - after.len();
        let Some(label) = after.starts_with('(').then(|| read_label(paragraph, start)).flatten() else { break };
        at = label.end;
        last = Some((label, at));
    }
    let tail =
        paragraph.text[at..].trim_start().trim_start_matches(['[', '.', '—', '–']).trim_start().to_ascii_lowercase();
    let dead = ["reserved", "repealed", "deleted", "omitted", "[reserved", "removed", "expired"];
    last.filter(|_| dead.iter().any(|word| tail.starts_with(word)) || tail.is_empty())
}

/// Every alphabet that a label can belong to, with its position there.
fn read_count(label: &str) -> Vec<(Alphabet, LabelPosition)> {
    if label.is_empty() || label.len() > LABEL_BYTES_MAX || !label.is_ascii() {
        return Vec::new();
    }
    let (main, inserted) = match split_inserted(label) {
        Some(parts) => parts,
        None => return Vec::new(),
    };
    let mut readings = Vec::with_capacity(2);
    let mut push = |alphabet, main: Option<u16>| {
        if let Some(main) = main {
            readings.push((alphabet, LabelPosition { main, inserted }));
        }
    };
    if main.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = main.parse().ok().filter(|number| (1..=NUMBER_MAX).contains(number));
        push(Alphabet::Number, number.filter(|_| !main.starts_with('0')));
    } else if main.bytes().all(|byte| byte.is_ascii_lowercase()) {
        push(Alphabet::Small, letters(main.as_bytes(), b'a'));
        push(Alphabet::SmallRoman, from_roman(&main.to_ascii_uppercase()));
    } else if main.bytes().all(|byte| byte.is_ascii_uppercase()) {
        push(Alphabet::Capital, letters(main.as_bytes(), b'A'));
        push(Alphabet::CapitalRoman, from_roman(main));
    }
    readings
}

/// Splits an inserted label: `a-1` and `1A` were inserted after `a` and `1`.
fn split_inserted(label: &str) -> Option<(&str, u16)> {
    if let Some((main, inserted)) = label.split_once(['-', '.']) {
        let count = match inserted.parse::<u16>() {
            Ok(count) => Some(count),
            Err(_) => letters(inserted.to_ascii_lowercase().as_bytes(), b'a'),
        };
        return count.filter(|count| *count > 0 && !main.is_empty()).map(|count| (main, count));
    }
    let digits = label.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && digits < label.len() {
        let suffix = label[digits..].to_ascii_lowercase();
        return letters(suffix.as_bytes(), b'a').filter(|count| *count <= 26).map(|count| (&label[..digits], count));
    }
    Some((label, 0))
}

/// The position of a letter label: `a` to `z`, then `aa`, `bb` or `aa`, `ab`.
fn letters(label: &[u8], first: u8) -> Option<u16> {
    let place = |byte: u8| byte.checked_sub(first).filter(|place| *place < 26).map(u16::from);
    match *label {
        [] => None,
        [one, ref rest @ ..] if rest.iter().all(|byte| *byte == one) && rest.len() < 5 => {
            Some(place(one)? + 1 + 26 * rest.len() as u16)
        }
        [one, two] => Some(26 * (place(one)? + 1) + place(two)? + 1),
        _ => None,
    }
}
