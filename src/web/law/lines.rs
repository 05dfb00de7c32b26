//! The enumerated structure of a text by its lines and their labels: `(a)` begins a subdivision, `(1)` below it another.
//!
//! Labels are read as drafters write them. Where a label may be two things, such as `(i)` behind `(h)`, the one that
//! continues what stands before it is meant.

use std::collections::HashSet;

/// A paragraph of a provision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line<'t> {
    /// How many subdivisions it lies in, from 0.
    pub(super) depth: usize,
    /// Of the subdivisions that begin with it, outermost first: `a`, `a-1`, `a-1-A`. None of them occurred before.
    pub(super) anchors: Vec<String>,
    /// The labels that it begins with, as written.
    pub(super) label: &'t str,
    pub(super) text: &'t str,
    /// Where the text begins in the whole.
    pub(super) start: usize,
}

/// No drafter goes deeper.
const DEPTH_MAX: usize = 8;

/// A label has at most so many characters.
const LABEL_CHARS_MAX: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Series {
    Digits,
    Lower,
    Upper,
    LowerRoman,
    UpperRoman,
}

/// The lines of a text.
pub(super) fn of(text: &str) -> Vec<Line<'_>> {
    let mut open: Vec<(Series, &str)> = Vec::new();
    let mut used: HashSet<String> = HashSet::new();
    let mut lines = Vec::new();
    let mut at = 0;
    for whole in text.split('\n') {
        let start = at;
        at += whole.len() + 1;
        let line = whole.trim_end();
        if line.trim().is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let line = &line[indent..];
        let (labels, end) = labels(line);
        for label in &labels {
            place(&mut open, label);
        }
        let outer = open.len().saturating_sub(labels.len());
        let anchors = (outer + 1..=open.len()).take(labels.len()).map(|depth| anchor(&open[..depth]));
        let behind = line[end..].trim_start();
        lines.push(Line {
            depth: if labels.is_empty() { 0 } else { outer },
            anchors: anchors.filter(|anchor| used.insert(anchor.clone())).collect(),
            label: line[..end].trim_end(),
            text: behind,
            start: start + indent + (line.len() - behind.len()),
        });
    }
    lines
}

fn anchor(open: &[(Series, &str)]) -> String {
    open.iter().map(|(_, label)| *label).collect::<Vec<_>>().join("-")
}

/// The labels at the beginning of a line, and where they end.
fn labels(line: &str) -> (Vec<&str>, usize) {
    let mut labels = Vec::new();
    let mut end = 0;
    while let Some(inner) = line[end..].trim_start().strip_prefix('(') {
        let skipped = line[end..].len() - line[end..].trim_start().len();
        let Some((label, _)) = inner.split_once(')') else { break };
        let is_label = !label.is_empty()
            && label.len() <= LABEL_CHARS_MAX
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && series_of(label).next().is_some();
        if !is_label || labels.len() == DEPTH_MAX {
            break;
        }
        labels.push(label);
        end += skipped + label.len() + 2;
    }
    (labels, end)
}

/// What a label may be a member of, the likelier first.
fn series_of(label: &str) -> impl Iterator<Item = Series> {
    let all = |is: fn(&u8) -> bool| label.as_bytes().iter().all(is);
    let is_letter = label.len() == 1 || (label.len() <= 3 && label.bytes().all(|byte| byte == label.as_bytes()[0]));
    let is_roman = |digits: &str| label.chars().all(|letter| digits.contains(letter));
    let is = [
        (all(u8::is_ascii_digit) || label.as_bytes()[0].is_ascii_digit(), Series::Digits),
        (all(u8::is_ascii_lowercase) && is_letter, Series::Lower),
        (all(u8::is_ascii_uppercase) && is_letter, Series::Upper),
        (is_roman("ivxl"), Series::LowerRoman),
        (is_roman("IVXL"), Series::UpperRoman),
    ];
    is.into_iter().filter_map(|(is, series)| is.then_some(series))
}

/// Puts a label into its place: behind the last of its series, or one deeper.
fn place<'t>(open: &mut Vec<(Series, &'t str)>, label: &'t str) {
    // Below (A), (i) begins a series even where an (h) stands further out.
    let begins_roman = match (label, open.last()) {
        ("i", Some((Series::Upper, _))) => Some(Series::LowerRoman),
        ("I", Some((Series::LowerRoman, _))) => Some(Series::UpperRoman),
        _ => None,
    };
    let follows = |(series, before): &(Series, &str)| {
        series_of(label).any(|own| own == *series && number(own, label) == number(own, before) + 1)
    };
    let is_first = || {
        let roman = series_of(label).find(|series| matches!(series, Series::LowerRoman | Series::UpperRoman));
        roman.into_iter().chain(series_of(label)).find(|series| number(*series, label) == 1)
    };
    let same = |(series, _): &(Series, &str)| series_of(label).any(|own| own == *series);
    if let Some(series) = begins_roman {
        open.push((series, label));
    } else if let Some(depth) = open.iter().rposition(follows) {
        open.truncate(depth + 1);
        open[depth].1 = label;
    } else if let Some(series) = is_first() {
        // A second beginning of the open series is a new list in the same place.
        if let Some(depth) = open.iter().rposition(|(other, _)| *other == series) {
            open.truncate(depth);
        }
        open.push((series, label));
    } else if let Some(depth) = open.iter().rposition(same) {
        open.truncate(depth + 1);
        open[depth].1 = label;
    } else if let Some(series) = series_of(label).next() {
        open.push((series, label));
    }
    if open.len() > DEPTH_MAX {
        open.remove(0);
    }
}

/// The place of a label in its series, from 1; 0 if it has none.
fn number(series: Series, label: &str) -> u32 {
    match series {
        Series::Digits => label.parse().unwrap_or(0),
        Series::Lower | Series::Upper => {
            let letter = u32::from(label.as_bytes()[0].to_ascii_lowercase() - b'a');
            (label.len() as u32 - 1) * 26 + letter + 1
        }
        Series::LowerRoman | Series::UpperRoman => roman(label),
    }
}

fn roman(label: &str) -> u32 {
    let value = |letter: u8| match letter.to_ascii_lowercase() {
        b'i' => 1,
        b'v' => 5,
        b'x' => 10,
        b'l' => 50,
        _ => 0,
    };
    let letters = label.as_bytes();
    let mut sum: u32 = 0;
    for (place, letter) in letters.iter().enumerate() {
        let own = value(*letter);
        let behind = letters.get(place + 1).map_or(0, |next| value(*next));
        if own < behind { sum = sum.saturating_sub(own) } else { sum += own }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors(text: &str) -> Vec<(usize, String)> {
        of(text).into_iter().map(|mut line| (line.depth, line.anchors.pop().unwrap_or_default())).collect()
    }

    fn expected(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
        lines.iter().map(|(depth, anchor)| (*depth, (*anchor).to_owned())).collect()
    }

    #[test]
    fn labels_nest_as_the_code_numbers_them() {
        let text = "In general:\n(a) One\n(1) x\n(A) y\n(i) z\n(I) w\n(II) v\n(ii) u\n(B) t\n(2) s\n(b) r";
        assert_eq!(
            anchors(text),
            expected(&[
                (0, ""),
                (0, "a"),
                (1, "a-1"),
                (2, "a-1-A"),
                (3, "a-1-A-i"),
                (4, "a-1-A-i-I"),
                (4, "a-1-A-i-II"),
                (3, "a-1-A-ii"),
                (2, "a-1-B"),
                (1, "a-2"),
                (0, "b"),
            ])
        );
    }

    #[test]
    fn the_ninth_letter_follows_the_eighth_and_is_no_roman_number() {
        let text = "(g) a\n(h) b\n(1) c\n(2) d\n(i) e\n(j) f";
        let places: Vec<String> = anchors(text).into_iter().map(|(_, anchor)| anchor).collect();
        assert_eq!(places, ["g", "h", "h-1", "h-2", "i", "j"]);
        let text = "(h) a\n(1) b\n(A) c\n(i) d\n(ii) e";
        assert_eq!(anchors(text).last(), Some(&(3, "h-1-A-ii".to_owned())));
    }

    #[test]
    fn several_labels_on_a_line_open_several_levels() {
        let lines = of("(a)(1) First\n(2) Second\n(aa) last");
        let shown: Vec<_> =
            lines.iter().map(|line| (line.depth, line.anchors.join(" "), line.label, line.text)).collect();
        assert_eq!(shown[0], (0, "a a-1".to_owned(), "(a)(1)", "First"));
        assert_eq!(shown[1], (1, "a-2".to_owned(), "(2)", "Second"));
    }

    #[test]
    fn rules_that_begin_with_digits_and_parentheses_in_sentences_are_read_as_what_they_are() {
        assert_eq!(anchors("(1) a\n(a) b\n(b) c\n(2) d"), expected(&[(0, "1"), (1, "1-a"), (1, "1-b"), (0, "2")]));
        let lines = of("(see section 4) and so on\n(a) x (b) y");
        assert_eq!((lines[0].label, lines[1].label, lines[1].text), ("", "(a)", "x (b) y"));
    }

    #[test]
    fn a_text_keeps_its_place_in_the_whole_and_anchors_are_unique() {
        let text = "(a) one\n\n  (b) two\n(a) again";
        for line in of(text) {
            assert!(text[line.start..].starts_with(line.text));
        }
        let used: Vec<_> = of(text).into_iter().flat_map(|line| line.anchors).collect();
        assert_eq!(used, ["a", "b"]);
    }
}
