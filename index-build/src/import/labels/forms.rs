//! Forms within a text, such as the required wording of a notice or a summons. Their numbers are
//! words of the form, not labels of the law around them.

use super::token::{Paragraph, Prefix, Reading};

/// Longer forms are treated as law, so that law is never treated as a form.
const PARAGRAPHS_MAX: usize = 600;

/// Removes the labels from the paragraphs of forms. A form follows a paragraph such as
/// `in the following form:`, contains blanks to fill in, and ends where a label continues a series
/// that was open before it.
pub(super) fn leave_out(paragraphs: &[Paragraph<'_>], prefixes: &mut [Prefix]) {
    let mut open: Vec<Reading> = Vec::new();
    let mut at = 0;
    while at < paragraphs.len() {
        add(&prefixes[at], &mut open);
        at += 1;
        let begins = !open.is_empty() && introduces(paragraphs[at - 1].text);
        if !begins || prefixes.get(at).is_none_or(|prefix| !prefix.labels.is_empty()) {
            continue;
        }
        let window = prefixes.len().min(at + PARAGRAPHS_MAX);
        let end = end_of_form(&prefixes[at..window], &open).map(|length| at + length);
        let Some(end) = end.or_else(|| (window == prefixes.len()).then_some(window)) else { continue };
        if paragraphs[at..end].iter().any(|paragraph| has_blank(paragraph.text)) {
            prefixes[at..end].fill_with(Prefix::default);
            at = end;
        }
    }
}

/// Whether a paragraph introduces a form: `shall be substantially in the following form:`.
fn introduces(text: &str) -> bool {
    let text = text.trim_end().trim_end_matches(['"', '“']);
    let Some(sentence) = text.strip_suffix([':', '—']) else { return false };
    let sentence = sentence.rsplit(['.', ':', ';']).next().unwrap_or_default();
    sentence.split(|c: char| !c.is_alphabetic()).any(|word| word.eq_ignore_ascii_case("form"))
}

/// Whether a text contains a blank to fill in: `. . . .` or `____`.
fn has_blank(text: &str) -> bool {
    [". . . .", "....", "____"].iter().any(|blank| text.contains(blank))
}

/// The place of the label that continues the law. A form may use the same numbers: if there are two
/// `(2)` and the first continues a series of the form, the second one is law.
fn end_of_form(prefixes: &[Prefix], open: &[Reading]) -> Option<usize> {
    let mut own: Vec<Reading> = Vec::new();
    for (place, prefix) in prefixes.iter().enumerate() {
        let Some(readings) = prefix.labels.first() else { continue };
        let is_law = readings.iter().any(|reading| {
            let comes_again = || {
                let later = prefixes[place + 1..].iter().filter_map(|prefix| prefix.labels.first()).flatten();
                later.into_iter().any(|later| later.style.is_like(reading.style) && later.first == reading.first)
            };
            continues(*reading, open) && !(continues(*reading, &own) && comes_again())
        });
        if is_law {
            return Some(place);
        }
        add(prefix, &mut own);
    }
    None
}

/// Updates the open series after a paragraph. Each is represented by the last label of its style.
fn add(prefix: &Prefix, open: &mut Vec<Reading>) {
    for reading in prefix.labels.iter().flatten() {
        open.retain(|series| !series.style.is_like(reading.style));
        open.push(*reading);
    }
}

fn continues(reading: Reading, open: &[Reading]) -> bool {
    open.iter().any(|series| series.style.is_like(reading.style) && reading.first.follows(series.last))
}
