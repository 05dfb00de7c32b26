//! Footnotes and tables that a conversion from web pages left within the text of a provision.
//!
//! `section 77  [1]   1 So in original.   of title 5` has a footnote in place of its sign. It becomes a note: readers
//! would take it for law. `<table>`, `<tr>` and `<td>` become lines with tabs between their cells.

use std::sync::LazyLock;

use hornbook_corpus::layout::{Layout, Mark};
use regex::Regex;

use crate::content::ContentNote;
use crate::import::labels::{Scheme, layout_of};

/// A sign with its footnote: two times the same number, three spaces, and the words up to three spaces or the end of the
/// line.
static FOOTNOTE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[ \u{a0}]*\[(\d{1,3})\] {3}(\d{1,3}) ?([^\n]*?)(?: {3}|\n|$)"));

/// A sign that refers to a footnote that is elsewhere.
static SIGN: LazyLock<Regex> = LazyLock::new(|| pattern(r"[ \u{a0}]*\[(\d{1,3})\]"));

static TABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)\n?<table>(.*?)</table>\n?"));

static ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)<tr>(.*?)</tr>"));

static CELL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)<td[^<>]*>(.*?)</td>"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// The text of a provision, with its footnotes as notes.
pub(super) struct ConvertedText {
    pub(super) text: String,
    pub(super) layout: Layout,
    pub(super) footnotes: Vec<ContentNote>,
}

impl ConvertedText {
    pub(super) fn read(text: String) -> Self {
        let text = if text.contains("<table>") { with_plain_tables(&text) } else { text };
        let is_noted = FOOTNOTE.captures_iter(&text).any(|found| found[1] == found[2]);
        let (text, footnotes, places) =
            if is_noted { without_footnotes(&text) } else { (text, Vec::new(), Vec::new()) };
        let mut layout = layout_of(&text, &Scheme::found());
        // A text without a layout has no marks.
        if !layout.is_empty() {
            layout.marks.extend(places.into_iter().map(|(at, note)| Mark::footnote(at, note)));
        }
        Self { text, layout, footnotes }
    }
}

/// The text without footnotes and their signs, the footnotes, and for each sign its place and footnote.
fn without_footnotes(text: &str) -> (String, Vec<ContentNote>, Vec<(usize, usize)>) {
    let (mut footnotes, mut numbers) = (Vec::new(), Vec::new());
    let (mut rest, mut ends) = (String::with_capacity(text.len()), 0);
    for found in FOOTNOTE.captures_iter(text) {
        let whole = found.get(0).map_or(0..0, |whole| whole.range());
        if found[1] != found[2] || found[3].trim().is_empty() {
            continue;
        }
        rest.push_str(&text[ends..whole.start]);
        // The sign stays until all numbers are known.
        rest.push_str(&format!("[{}]", &found[1]));
        rest.push_str(separator(&text[whole.clone()], &text[whole.end..]));
        ends = whole.end;
        numbers.push(found[1].to_owned());
        let text = found[3].trim().to_owned();
        footnotes.push(ContentNote { topic: "Footnote".into(), text, ..ContentNote::default() });
    }
    rest.push_str(&text[ends..]);
    let (mut plain, mut places, mut ends) = (String::with_capacity(rest.len()), Vec::new(), 0);
    for found in SIGN.captures_iter(&rest) {
        let Some(note) = numbers.iter().position(|number| *number == found[1]) else { continue };
        let whole = found.get(0).map_or(0..0, |whole| whole.range());
        plain.push_str(&rest[ends..whole.start]);
        places.push((plain.len(), note));
        ends = whole.end;
    }
    plain.push_str(&rest[ends..]);
    (plain, footnotes, places)
}

/// What remains between the words before a footnote and those behind it.
fn separator(footnote: &str, behind: &str) -> &'static str {
    match footnote.ends_with('\n') {
        true => "\n",
        false if behind.is_empty() || behind.starts_with(['.', ',', ';', ':', ')', '\n']) => "",
        false => " ",
    }
}

fn with_plain_tables(text: &str) -> String {
    let lines = |table: &str| -> String {
        let rows = ROW.captures_iter(table).map(|row| {
            let cells =
                CELL.captures_iter(&row[1]).map(|cell| cell[1].split_whitespace().collect::<Vec<_>>().join(" "));
            cells.collect::<Vec<_>>().join("\t")
        });
        rows.filter(|row| !row.trim().is_empty()).collect::<Vec<_>>().join("\n")
    };
    let plain = TABLE.replace_all(text, |table: &regex::Captures<'_>| format!("\n{}\n", lines(&table[1])));
    plain.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footnotes_become_notes() {
        let text = "(a) A fee of section 5  [1]   1 So in original. Probably “six”.   is due.\n(b) An act, [2]   2See note below.   \
                    applies.\n(c) Fees under section 5  [1]  of § 2[31] are due. [3]   3 The last one.";
        let read = ConvertedText::read(text.to_owned());
        assert_eq!(
            read.text,
            "(a) A fee of section 5 is due.\n(b) An act, applies.\n(c) Fees under section 5  of § 2[31] are due."
        );
        let notes: Vec<&str> = read.footnotes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(notes, ["So in original. Probably “six”.", "See note below.", "The last one."]);
        assert_eq!(read.layout.marks.len(), 4);
        assert_eq!(read.layout.marks[0], Mark::footnote("(a) A fee of section 5".len(), 0));
    }

    #[test]
    fn tables_become_lines() {
        let text = "The rates are:\n<table>\n<tr>\n<td>\nGrade  </td>\n<td colspan=\"2\">\nMonthly\nrate  </td>\n</tr>\n<tr>\n\
                    <td>\nO–1 </td>\n<td>\n$150</td>\n</tr>\n</table>\nThey are paid.";
        assert_eq!(
            ConvertedText::read(text.to_owned()).text,
            "The rates are:\nGrade\tMonthly rate\nO–1\t$150\nThey are paid."
        );
    }

    #[test]
    fn other_brackets_and_signs_are_law() {
        for text in ["(a) C[10]H[14]N[2] is nicotine.", "[1] The first.\n[2] The second.", "if x < 5 [1]   2 or more"] {
            let read = ConvertedText::read(text.to_owned());
            assert_eq!(read.text, text);
            assert!(read.footnotes.is_empty());
        }
    }
}
