//! Texts that a conversion from web pages left with footnotes and the tags of tables within the law.
//!
//! `section 77  [1]   1 So in original.   of title 5` has a footnote in place of its sign. Footnotes become notes, since
//! readers would take them for law; the rows of `<table>` become rows.

use std::sync::LazyLock;

use hornbook_corpus::layout::{Layout, LineKind};
use regex::Regex;

use crate::content::ContentNote;
use crate::import::document::FOOTNOTE_SIGNS;
use crate::import::labels::{Paragraph, Scheme, infer, layout_of};
use crate::import::table_spans::{CellSpan, TableRows};
use crate::import::text_builder::TextBuilder;

/// Why tags are not in the text.
const TAGS: &str = "tags of tables";

/// A sign with its footnote: two times the same number with three or more spaces between, and the words up to three spaces
/// or the end of the line or cell.
static FOOTNOTE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[ \u{a0}]*\[ *(\d{1,3}) *\] {3,}(\d{1,3}) *([^\n]*?)(?: {3,}|\n|</td|$)"));

/// A sign that refers to a footnote that is elsewhere.
static SIGN: LazyLock<Regex> = LazyLock::new(|| pattern(r"[ \u{a0}]*\[ *(\d{1,3}) *\]"));

static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<(/?)(table|tr|td)((?: [a-z]+="[^"<>]*")*)>"#));

static SPAN: LazyLock<Regex> = LazyLock::new(|| pattern(r#"([a-z]+)="([^"]*)""#));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// Characters that replace signs while the lines are set, one for each footnote. Publishers have glyphs of their own
/// only in the private area below these.
const MARKERS: std::ops::RangeInclusive<char> = '\u{f0000}'..='\u{ffffd}';

/// The text of a provision, with its footnotes as notes. Marks of the layout refer to them by their place.
#[derive(Debug, Default)]
pub(super) struct ConvertedText {
    pub(super) text: String,
    pub(super) layout: Layout,
    pub(super) footnotes: Vec<ContentNote>,
    /// Words of the source that are not in the text, each with the reason.
    pub(super) left_out: Vec<(&'static str, String)>,
}

impl ConvertedText {
    pub(super) fn read(text: String) -> Self {
        let footnotes = FOOTNOTE.captures_iter(&text).filter(is_footnote).count();
        let has_tables = text.contains("<table>") && (text.contains("</table>") || text.contains("<td"));
        let is_plain = footnotes == 0 && !has_tables;
        if is_plain || footnotes > MARKERS.count() || text.contains(|c| MARKERS.contains(&c)) {
            let layout = layout_of(&text, &Scheme::found());
            return Self { text, layout, ..Self::default() };
        }
        let mut converted = Self::default();
        let marked = converted.take_footnotes(&text);
        converted.set(&marked);
        converted
    }

    /// Takes the footnotes out of a text, and returns it with markers in place of their signs.
    fn take_footnotes(&mut self, text: &str) -> String {
        let mut numbers = Vec::new();
        let (mut rest, mut end) = (String::with_capacity(text.len()), 0);
        for found in FOOTNOTE.captures_iter(text).filter(is_footnote) {
            let whole = found.get(0).map_or("", |whole| whole.as_str());
            let whole = whole.strip_suffix("</td").unwrap_or(whole);
            let start = found.get(0).map_or(0, |whole| whole.start());
            rest.push_str(&text[end..start]);
            end = start + whole.len();
            rest.push(marker(numbers.len()));
            rest.push_str(separator(whole, &text[end..]));
            numbers.push(found[1].to_owned());
            self.left_out.push((FOOTNOTE_SIGNS, format!("{} {}", &found[1], &found[2])));
            self.footnotes.push(ContentNote {
                topic: "Footnote".into(),
                text: found[3].trim().to_owned(),
                ..ContentNote::default()
            });
        }
        rest.push_str(&text[end..]);
        let mut signs = Vec::new();
        let marked = SIGN.replace_all(&rest, |found: &regex::Captures<'_>| {
            match numbers.iter().position(|number| *number == found[1]) {
                Some(note) => {
                    signs.push((FOOTNOTE_SIGNS, found[1].to_owned()));
                    marker(note).to_string()
                }
                None => found[0].to_owned(),
            }
        });
        let marked = marked.into_owned();
        self.left_out.append(&mut signs);
        marked
    }

    /// Sets lines and tables.
    fn set(&mut self, marked: &str) {
        let mut parts = Vec::new();
        let mut rest = marked;
        while let Some((before, table)) = rest.split_once("<table>") {
            let (table, after, tags) = match table.split_once("</table>") {
                Some((table, after)) => (table, after, "table table"),
                // The copy ends within the table.
                None if table.contains("<td") => (table, "", "table"),
                None => break,
            };
            parts.extend([(before, false), (table, true)]);
            self.left_out.push((TAGS, tags.to_owned()));
            rest = after;
        }
        parts.push((rest, false));
        let lines = |part: &str| part.split('\n').map(without_markers).collect::<Vec<String>>();
        let plain: Vec<String> =
            parts.iter().filter(|(_, is_table)| !is_table).flat_map(|(part, _)| lines(part)).collect();
        let paragraphs: Vec<Paragraph<'_>> = plain.iter().map(|line| Paragraph::from(line.as_str())).collect();
        let mut places = infer(&paragraphs, &Scheme::found()).into_iter();
        let mut builder = TextBuilder::default();
        let mut depth = 0;
        for (part, is_table) in parts {
            if is_table {
                self.set_table(part, depth, &mut builder);
                continue;
            }
            for (line, place) in part.split('\n').zip(&mut places) {
                let (label, words) = after_label(line, place.label_bytes);
                if line.trim().is_empty() {
                    continue;
                }
                depth = place.depth;
                builder.begin(LineKind::Paragraph, depth, &label);
                push(words, &mut builder);
            }
        }
        (self.text, self.layout) = builder.finish();
    }

    fn set_table(&mut self, table: &str, depth: usize, builder: &mut TextBuilder) {
        let mut rows = TableRows::begin(depth, builder);
        let (mut is_in_row, mut cell, mut end) = (false, None, 0);
        for found in TAG.captures_iter(table).map(Some).chain([None]) {
            let place =
                found.as_ref().and_then(|found| found.get(0)).map_or(table.len()..table.len(), |tag| tag.range());
            let words = table[end..place.start].trim();
            end = place.end;
            match cell.take() {
                Some(span) => rows.cell(span, builder, |builder| push(words, builder)),
                None if !words.is_empty() => {
                    rows.begin_line(LineKind::TableNote, builder);
                    push(words, builder);
                    builder.end_line();
                    is_in_row = false;
                }
                None => {}
            }
            let Some(found) = found else { break };
            self.left_out.push((TAGS, found[0].to_owned()));
            match (&found[1], &found[2]) {
                ("", "td") => {
                    if !is_in_row {
                        rows.begin_line(LineKind::TableRow, builder);
                        is_in_row = true;
                    }
                    let attributes = &found[3];
                    cell = Some(CellSpan::of_html(|name| attribute(attributes, name)));
                }
                (_, "tr") if is_in_row => {
                    rows.end_row(builder);
                    is_in_row = false;
                }
                _ => {}
            }
        }
        if is_in_row {
            rows.end_row(builder);
        }
    }
}

/// Whether a match is a sign with its footnote.
fn is_footnote(found: &regex::Captures<'_>) -> bool {
    found[1] == found[2] && !found[3].trim().is_empty()
}

fn marker(note: usize) -> char {
    MARKERS.clone().nth(note).unwrap_or(*MARKERS.end())
}

fn without_markers(line: &str) -> String {
    line.chars().filter(|c| !MARKERS.contains(c)).collect()
}

/// The label of a line, of so many bytes without markers, and the words behind it with their markers.
fn after_label(line: &str, label_bytes: usize) -> (String, &str) {
    let mut label = String::new();
    for (at, c) in line.char_indices() {
        if label.len() >= label_bytes {
            return (label, &line[at..]);
        }
        if !MARKERS.contains(&c) {
            label.push(c);
        }
    }
    (label, "")
}

/// Adds words, with references in place of their markers.
fn push(words: &str, builder: &mut TextBuilder) {
    for piece in words.split_inclusive(|c| MARKERS.contains(&c)) {
        let sign = piece.chars().next_back().filter(|c| MARKERS.contains(c));
        builder.push(&piece[..piece.len() - sign.map_or(0, char::len_utf8)]);
        if let Some(sign) = sign {
            builder.footnote((u32::from(sign) - u32::from(*MARKERS.start())) as usize);
        }
    }
}

/// What remains between the words before a footnote and those behind it.
fn separator(footnote: &str, behind: &str) -> &'static str {
    match footnote.ends_with('\n') {
        true => "\n",
        false if behind.is_empty() || behind.starts_with(['.', ',', ';', ':', ')', '\n']) => "",
        false => " ",
    }
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let found = SPAN.captures_iter(attributes).find(|found| &found[1] == name)?;
    found.get(2).map(|value| value.as_str())
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::MarkKind;

    use super::*;

    fn read(text: &str) -> ConvertedText {
        let read = ConvertedText::read(text.to_owned());
        assert_eq!(read.layout.check_against_text(&read.text).filter(|_| !read.layout.is_empty()), None);
        assert_eq!(words(text), words_of(&read), "each word is in the text, in a footnote or left out");
        read
    }

    fn words(text: &str) -> Vec<String> {
        let mut words: Vec<String> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        words.sort_unstable();
        words
    }

    fn words_of(read: &ConvertedText) -> Vec<String> {
        let notes = read.footnotes.iter().map(|note| note.text.as_str());
        let left_out = read.left_out.iter().map(|(_, text)| text.as_str());
        words(&std::iter::once(read.text.as_str()).chain(notes).chain(left_out).collect::<Vec<_>>().join(" "))
    }

    /// The words before each footnote mark, and the note.
    fn marks(read: &ConvertedText) -> Vec<(&str, u32)> {
        let of = |mark: &hornbook_corpus::layout::Mark| mark.kind() == Some(MarkKind::Footnote);
        let before = |at: usize| read.text[..at].rsplit(' ').next().unwrap();
        read.layout
            .marks
            .iter()
            .filter(|mark| of(mark))
            .map(|mark| (before(mark.start as usize), mark.target))
            .collect()
    }

    #[test]
    fn footnotes_become_notes() {
        let found = read(
            "(a) A fee of section 5  [1]   1 So in original. Probably “six”.   is due.\n(b) An act, [2]   2 See note below.   \
             applies.\n(c)  [3]   3 Amended.\nFees under section 7  [1]  of § 2[31] are due. [4]   4 The last one.",
        );
        let text =
            "(a) A fee of section 5 is due.\n(b) An act, applies.\n(c)\nFees under section 7 of § 2[31] are due.";
        assert_eq!(found.text, text);
        let notes: Vec<&str> = found.footnotes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(notes, ["So in original. Probably “six”.", "See note below.", "Amended.", "The last one."]);
        assert_eq!(marks(&found), [("5", 0), ("act,", 1), ("applies.\n(c)", 2), ("7", 0), ("due.", 3)]);
        let depths: Vec<u8> = found.layout.lines.iter().map(|line| line.depth).collect();
        assert_eq!(depths, [0, 0, 0, 1]);
    }

    #[test]
    fn footnotes_in_headings_have_more_blanks() {
        let found = read(
            "(a)   [  1  ]       1   So in original. There is no subsec. (b).      Establishment\n(1) In general [  1  ] .—",
        );
        assert_eq!(found.text, "(a) Establishment\n(1) In general .—");
        assert_eq!(found.footnotes[0].text, "So in original. There is no subsec. (b).");
        assert_eq!(marks(&found), [("(a)", 0), ("general", 0)]);
    }

    #[test]
    fn tables_become_rows() {
        let found = read(
            "The rates are:\n<table>\n<tr>\n<td>\nGrade  [1]   1 In force.  </td>\n<td colspan=\"2\">\nMonthly\nrate  </td>\n\
             </tr>\n<tr>\n<td>\nO–1 </td>\n<td>\n</td>\n<td>\n$150</td>\n</tr>\nas stated\n</table>\nThey are paid.\n<table> left",
        );
        let text = "The rates are:\nGrade\tMonthly rate\t\nO–1\t\t$150\nas stated\nThey are paid.\n<table> left";
        assert_eq!(found.text, text);
        assert_eq!(marks(&found), [("are:\nGrade", 0)]);
        let kinds: Vec<LineKind> = found.layout.lines.iter().filter_map(|line| line.kind()).collect();
        use LineKind::{Paragraph as P, TableNote, TableRow as Row};
        assert_eq!(kinds, [P, Row, Row, TableNote, P, P]);
    }

    #[test]
    fn glyphs_of_the_publisher_stay() {
        let found = read("A is \u{e0e9} [1]   1 So in original.   B.");
        assert_eq!((found.text.as_str(), marks(&found)), ("A is \u{e0e9} B.", vec![("\u{e0e9}", 0)]));
    }

    #[test]
    fn a_table_that_is_cut_off_is_one() {
        let found =
            read("As follows:\n<table>\n<tr>\n<td>\nThis Title  </td>\n<td>\nTitle 26  </td>\n</tr>\n<tr>\n<td>\n565");
        assert_eq!(found.text, "As follows:\nThis Title\tTitle 26\n565");
    }

    #[test]
    fn other_brackets_and_signs_are_law() {
        for text in ["(a) C[10]H[14]N[2] is nicotine.", "[1] The first.\n[2] The second.", "if x < 5 [1]   2 or more"] {
            let found = read(text);
            assert_eq!(found.text, text);
            assert!(found.footnotes.is_empty() && found.left_out.is_empty());
        }
    }
}
