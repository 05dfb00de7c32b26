//! Renders a text of the law as HTML: indented paragraphs, headings, tables, footnotes, and links
//! for citations.

use std::borrow::Cow;
use std::ops::Range;

use hornbook_corpus::layout::{LayoutRef, LineKind, Mark, MarkKind, TableCell, build_table};
use maud::{Markup, html};

use super::lines::{self, LineView};
use super::mentions::CitationLinks;
use crate::web::untrusted_text::UntrustedText;

/// A text with at least this many bytes gets a table of contents and is rendered in sections.
const LONG_BYTES: usize = 20 << 10;

/// Maximum number of lines in a section of a long text if no subdivision begins.
const PART_LINES_MAX: usize = 60;

/// Maximum number of characters from a subdivision in the table of contents.
const CONTENTS_CHARS: usize = 60;

/// Maximum length of a subdivision's heading in the table of contents. Real headings are shorter.
const CONTENTS_HEADING_CHARS: usize = 160;

/// The prefix that importers write at the beginning of a line for an image.
const IMAGE: &str = "Image: ";

/// A text that will be rendered.
pub(super) struct LawText<'t> {
    text: &'t str,
    lines: Vec<LineView<'t>>,
    marks: &'t [Mark],
    mentions: Option<&'t CitationLinks>,
    /// Whether its subdivisions have anchors. Only the main text has them, not other wordings or
    /// notes.
    has_anchors: bool,
    /// The indexes of the footnotes' notes, in the order of the footnote numbers.
    footnotes: Vec<u32>,
}

impl<'t> LawText<'t> {
    /// The main text of the provision.
    pub(super) fn main_text(text: &'t str, layout: Option<LayoutRef<'t>>, mentions: &'t CitationLinks) -> Self {
        Self { mentions: Some(mentions), has_anchors: true, ..Self::secondary_text(text, layout) }
    }

    /// Another wording, or a note.
    pub(super) fn secondary_text(text: &'t str, layout: Option<LayoutRef<'t>>) -> Self {
        let marks = layout.map_or(&[][..], |layout| layout.marks);
        let mut footnotes = Vec::new();
        for mark in marks.iter().filter(|mark| mark.kind() == Some(MarkKind::Footnote)) {
            if !footnotes.contains(&mark.target) {
                footnotes.push(mark.target);
            }
        }
        Self { text, lines: lines::of(text, layout), marks, mentions: None, has_anchors: false, footnotes }
    }

    pub(super) fn footnotes(&self) -> &[u32] {
        &self.footnotes
    }

    pub(super) fn is_long(&self) -> bool {
        self.text.len() >= LONG_BYTES
    }

    /// The table of contents of a long text: its first-level subdivisions.
    pub(super) fn contents(&self) -> Markup {
        let outermost = self.lines.iter().filter(|line| line.depth == 0 || line.kind == LineKind::Heading);
        let first: Vec<(&String, &LineView<'_>)> =
            outermost.filter_map(|line| Some((line.anchors.first()?, line))).collect();
        html! {
            @if self.is_long() && first.len() > 1 {
                details.contents open {
                    summary { "Contents of this provision" }
                    ol { @for (anchor, line) in first {
                        li { a href={ "#" (anchor) } { span.label { (UntrustedText(line.label)) } " " (UntrustedText(&beginning(line.text))) } }
                    } }
                }
            }
        }
    }

    pub(super) fn html(&self) -> Markup {
        html! {
            div.text.long[self.is_long()] {
                @for part in self.parts() { section { (self.part(part)) } }
            }
        }
    }

    /// Splits a long text by first-level subdivisions. Browsers then draw only the visible
    /// sections.
    fn parts(&self) -> Vec<&[LineView<'t>]> {
        let lines = self.lines.as_slice();
        if !self.is_long() {
            return vec![lines];
        }
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, line) in lines.iter().enumerate().skip(1) {
            let begins = line.depth == 0 && !line.label.is_empty();
            let is_within_table = line.table.is_some() && line.table == lines[at - 1].table;
            if begins || (at - from >= PART_LINES_MAX && !is_within_table) {
                parts.push(&lines[from..at]);
                from = at;
            }
        }
        parts.push(&lines[from..]);
        parts
    }

    /// Renders tables from all of their lines, and everything else line by line.
    fn part(&self, part: &[LineView<'t>]) -> Markup {
        let together = |one: &LineView<'_>, other: &LineView<'_>| one.table.is_some() && one.table == other.table;
        html! {
            @for lines in part.chunk_by(together) {
                @if lines[0].table.is_some() { (self.table(lines)) } @else { @for line in lines { (self.line(line)) } }
            }
        }
    }

    fn line(&self, line: &LineView<'t>) -> Markup {
        let depth = (line.depth > 0).then_some(line.depth);
        let own = line.anchors.last().filter(|_| self.has_anchors);
        let content = html! { (self.label(line)) (self.whole_line(line)) };
        match line.kind {
            LineKind::Heading => html! { h3 id=[own] data-depth=[depth] { (content) } },
            LineKind::Block => html! { p.block id=[own] data-depth=[depth] { (content) } },
            LineKind::Image => {
                let name = line.text.strip_prefix(IMAGE).unwrap_or(line.text);
                let end = line.start + line.text.len();
                html! { p.image data-depth=[depth] { "Image in the official text: " (self.inline(end - name.len()..end)) } }
            }
            _ => html! { p id=[own] data-depth=[depth] { (content) } },
        }
    }

    fn label(&self, line: &LineView<'_>) -> Markup {
        let outer = line.anchors.split_last().map_or(&[][..], |(_, outer)| outer);
        html! {
            @if self.has_anchors { @for anchor in outer { span id=(anchor) {} } }
            @match line.anchors.last() {
                Some(own) if self.has_anchors => { a.label href={ "#" (own) } { (UntrustedText(line.label)) } " " }
                _ if line.label.is_empty() => {}
                _ => { span.label { (UntrustedText(line.label)) } " " }
            }
        }
    }

    fn table(&self, lines: &[LineView<'t>]) -> Markup {
        let is_row = |line: &&LineView<'_>| matches!(line.kind, LineKind::TableHead | LineKind::TableRow);
        let first = lines.iter().position(|line| is_row(&line)).unwrap_or(lines.len());
        let last = lines.iter().rposition(|line| is_row(&line)).map_or(first, |last| last + 1);
        let depth = lines.iter().map(|line| line.depth).min().filter(|depth| *depth > 0);
        let rows: Vec<(Range<usize>, LineKind)> =
            lines[first..last].iter().map(|line| (line.start..line.start + line.text.len(), line.kind)).collect();
        let table = build_table(self.text, &rows, self.marks);
        let mut cells = table.rows.iter();
        let parts = lines[first..last].chunk_by(|one, other| one.kind == other.kind);
        let parts = parts.map(|lines| (lines[0].kind, lines.iter().zip(cells.by_ref()).collect::<Vec<_>>()));
        html! {
            div.table data-depth=[depth] role="group" aria-label="Table" tabindex="0" {
                table {
                    @if first > 0 { caption { @for line in &lines[..first] { (self.whole_line(line)) " " } } }
                    @for (kind, rows) in parts {
                        @match kind {
                            LineKind::TableHead => { thead { @for (_, cells) in rows { (self.row(cells, kind)) } } }
                            LineKind::TableRow => { tbody { @for (_, cells) in rows { (self.row(cells, kind)) } } }
                            _ => { tbody { @for (line, _) in rows { tr { td colspan=(table.columns) { (self.whole_line(line)) } } } } }
                        }
                    }
                }
                @for line in &lines[last..] { p.remark { (self.whole_line(line)) } }
            }
        }
    }

    fn row(&self, cells: &[TableCell], kind: LineKind) -> Markup {
        let several = |spanned: usize| (spanned > 1).then_some(spanned);
        html! {
            tr { @for TableCell { bytes, columns, rows, .. } in cells {
                @let (columns, rows) = (several(*columns), several(*rows));
                @if kind == LineKind::TableHead {
                    th scope={ @if columns.is_some() { "colgroup" } @else { "col" } } colspan=[columns] rowspan=[rows] { (self.inline(bytes.clone())) }
                } @else {
                    td colspan=[columns] rowspan=[rows] { (self.inline(bytes.clone())) }
                }
            } }
        }
    }

    fn whole_line(&self, line: &LineView<'_>) -> Markup {
        self.inline(line.start..line.start + line.text.len())
    }

    /// Renders a range of the text with links for its citations.
    fn inline(&self, bytes: Range<usize>) -> Markup {
        let mentions = self.mentions.map_or(&[][..], |mentions| mentions.within(bytes.clone()));
        let mut at = bytes.start;
        let mut apart = Vec::with_capacity(mentions.len());
        for mention in mentions {
            if mention.bytes.start >= at {
                apart.push((at..mention.bytes.start, mention));
                at = mention.bytes.end;
            }
        }
        html! {
            @for (before, mention) in apart {
                (self.marked(before))
                a.ref title=[&mention.standing] href={ (mention.address) (mention.anchor) } data-preview=[mention.preview.map(|place| format!("preview-{place}"))] {
                    (self.marked(mention.bytes.clone()))
                }
            }
            (self.marked(at..bytes.end))
        }
    }

    /// Renders a range without links. Skips marks that overlap an earlier mark or split a
    /// character.
    fn marked(&self, bytes: Range<usize>) -> Markup {
        let from = self.marks.partition_point(|mark| (mark.start as usize) < bytes.start);
        let ends = |mark: &Mark| mark.start as usize + mark.length as usize;
        // A footnote at the end of a range comes before the next range.
        let here =
            self.marks[from..].iter().take_while(|mark| ends(mark) <= bytes.end && mark.start as usize <= bytes.end);
        let mut at = bytes.start;
        let mut apart = Vec::new();
        for mark in here {
            let (start, end) = (mark.start as usize, ends(mark));
            let lies_well = start >= at && self.text.is_char_boundary(start) && self.text.is_char_boundary(end);
            if lies_well && !(start == bytes.end && bytes.end != self.line_end(bytes.end)) {
                apart.push((at..start, mark, start..end));
                at = end;
            }
        }
        html! {
            @for (before, mark, marked) in apart {
                (UntrustedText(&self.text[before]))
                (self.mark(mark, &self.text[marked]))
            }
            (UntrustedText(&self.text[at..bytes.end]))
        }
    }

    /// The end of the line or table cell that contains the position.
    fn line_end(&self, place: usize) -> usize {
        self.text[place..].find(['\n', '\t']).map_or(self.text.len(), |end| place + end)
    }

    fn mark(&self, mark: &Mark, text: &str) -> Markup {
        let text = UntrustedText(text);
        match mark.kind() {
            Some(MarkKind::Footnote) => {
                let number = self.footnotes.iter().position(|note| *note == mark.target).unwrap_or(0) + 1;
                html! { sup.footnote { a href={ "#note-" (mark.target) } aria-label={ "Footnote " (number) } { (number) } } }
            }
            Some(MarkKind::RunInHeading) => html! { span.runin { (text) } },
            Some(MarkKind::Emphasis) => html! { em { (text) } },
            Some(MarkKind::Strong) => html! { strong { (text) } },
            Some(MarkKind::Superscript) => html! { sup { (text) } },
            Some(MarkKind::Subscript) => html! { sub { (text) } },
            Some(MarkKind::CoveredFromLeft | MarkKind::CoveredFromAbove) | None => html! { (text) },
        }
    }
}

/// The heading of a subdivision, or its first words, shortened.
fn beginning(text: &str) -> Cow<'_, str> {
    let heading = text.split_once(".—").map(|(heading, _)| heading);
    let (text, chars_max) = heading.map_or((text, CONTENTS_CHARS), |heading| (heading, CONTENTS_HEADING_CHARS));
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return Cow::Borrowed(text) };
    let words = text[..end].rsplit_once(' ').map_or(&text[..end], |(words, _)| words);
    Cow::Owned(format!("{}…", words.trim_end_matches([',', ';', ':', ' '])))
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::{Layout, Line as LayoutLine};

    use super::*;

    #[test]
    fn the_contents_name_a_subdivision_by_its_heading_or_first_words() {
        assert_eq!(beginning("Adjustment of Royalty Fees.— As used"), "Adjustment of Royalty Fees");
        assert_eq!(beginning("Short"), "Short");
        let long = beginning("The Mayor shall establish and implement programs, subject to the annual appropriation");
        assert_eq!(long, "The Mayor shall establish and implement programs, subject…");
        let heading = "Information on Rights and Protections Under Servicemembers Civil Relief Act";
        assert_eq!(beginning(&format!("{heading}.—The Secretary")), heading);
        assert_eq!(beginning(&format!("{}.—x", "word ".repeat(100))).chars().count(), CONTENTS_HEADING_CHARS);
    }

    #[test]
    fn a_table_has_its_head_caption_and_cells_and_footnotes_their_numbers() {
        let text = "Fees\nYear\tFee\n2024\t$5\n\tnone\n(a) See it.";
        let lines = vec![
            LayoutLine::in_table(LineKind::TableNote, 0, 0),
            LayoutLine::in_table(LineKind::TableHead, 0, 0),
            LayoutLine::in_table(LineKind::TableRow, 0, 0),
            LayoutLine::in_table(LineKind::TableRow, 0, 0),
            LayoutLine::labelled(LineKind::Paragraph, 0, 3),
        ];
        let see = text.find("See").unwrap();
        let marks = vec![Mark::footnote(13, 4), Mark::new(MarkKind::Emphasis, see, 3), Mark::footnote(text.len(), 2)];
        let layout = Layout { lines, marks };
        assert_eq!(layout.check_against_text(text), None);
        let mentions = CitationLinks::default();
        let set = LawText::main_text(text, Some(layout.as_ref()), &mentions);
        let html = set.html().into_string();
        assert!(html.contains("<caption>Fees </caption><thead><tr><th scope=\"col\">Year</th>"), "{html}");
        assert!(html.contains("<tr><td></td><td>none</td></tr>"), "{html}");
        assert!(html.contains("<p id=\"a\"><a class=\"label\" href=\"#a\">(a)</a> <em>See</em> it."), "{html}");
        assert!(
            html.contains("Fee<sup class=\"footnote\"><a href=\"#note-4\" aria-label=\"Footnote 1\">1</a></sup></th>"),
            "{html}"
        );
        assert!(html.contains("<a href=\"#note-2\" aria-label=\"Footnote 2\">2</a></sup></p>"), "{html}");
        assert_eq!(set.footnotes(), [4, 2]);
    }

    #[test]
    fn cells_have_their_spans_and_heads_their_scopes() {
        let text = "Road\tWidth\t\n\tMin\tMax\nLane\t1\t2";
        let row = |kind| LayoutLine::in_table(kind, 0, 0);
        let lines = vec![row(LineKind::TableHead), row(LineKind::TableHead), row(LineKind::TableRow)];
        let left = text.find("\n\t").unwrap();
        let marks =
            vec![Mark::new(MarkKind::CoveredFromLeft, left, 0), Mark::new(MarkKind::CoveredFromAbove, left + 1, 0)];
        let layout = Layout { lines, marks };
        assert_eq!(layout.check_against_text(text), None);
        let html = LawText::secondary_text(text, Some(layout.as_ref())).html().into_string();
        let head = "<thead><tr><th scope=\"col\" rowspan=\"2\">Road</th><th scope=\"colgroup\" colspan=\"2\">Width</th></tr>\
                    <tr><th scope=\"col\">Min</th><th scope=\"col\">Max</th></tr></thead>";
        assert!(html.contains(head), "{html}");
        assert!(html.contains("<tbody><tr><td>Lane</td><td>1</td><td>2</td></tr></tbody>"), "{html}");
    }

    #[test]
    fn marks_of_another_text_that_cut_characters_in_two_are_passed_over() {
        let text = "§ Säge é end";
        let cuts =
            (0..text.len()).flat_map(|start| [0, 1, 2, 5].map(|length| Mark::new(MarkKind::Strong, start, length)));
        for marks in cuts.clone().map(|mark| vec![mark]).chain([cuts.clone().collect(), cuts.rev().collect()]) {
            let layout = Layout { lines: vec![LayoutLine::labelled(LineKind::Paragraph, 0, 0)], marks };
            let html = LawText::secondary_text(text, Some(layout.as_ref())).html().into_string();
            let words: String = html.split('<').filter_map(|tag| Some(tag.split_once('>')?.1)).collect();
            assert_eq!(words, text, "{html}");
        }
    }

    #[test]
    fn a_table_within_a_subdivision_is_as_deep_as_its_paragraphs() {
        let text = "(a) Fees:\n(1) these:\nYear\tFee\n2024\t$5";
        let row = |kind| LayoutLine::in_table(kind, 2, 0);
        let paragraph = |depth| LayoutLine::labelled(LineKind::Paragraph, depth, 3);
        let lines = vec![paragraph(0), paragraph(1), row(LineKind::TableHead), row(LineKind::TableRow)];
        let layout = Layout { lines, marks: Vec::new() };
        assert_eq!(layout.check_against_text(text), None);
        let html = LawText::secondary_text(text, Some(layout.as_ref())).html().into_string();
        assert!(html.contains("<div class=\"table\" data-depth=\"2\" role=\"group\""), "{html}");
    }
}
