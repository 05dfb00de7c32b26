//! Turns blocks of HTML into a text with its layout: paragraphs, lists with the labels of their
//! items, definitions and tables.
//!
//! No word is lost, wherever it is. A block within an inline element ends the line and begins its
//! own. Words directly in a list form a paragraph. An element that HTML does not have is treated as
//! words.

use hornbook_corpus::layout::{Layout, LineKind, MarkKind};

use crate::import::html::{DisplayKind, Element, HtmlPart, flow};
use crate::import::html_labels::ListLabels;
use crate::import::table_spans::{CellSpan, TableRows};
use crate::import::text_builder::TextBuilder;

/// Adds parts of a document one after the other.
#[derive(Debug)]
pub(crate) struct HtmlSetter<'l> {
    builder: TextBuilder,
    /// The label templates of list items, with `{}`, by depth. The last one applies to all greater depths.
    labels: &'l [String],
    line: LineState,
    /// The open marks, outermost first.
    marks: Vec<MarkKind>,
    doubts: Vec<(u32, String)>,
}

/// The state of the current line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineState {
    None,
    /// It contains only a label: the first paragraph of an item follows on the same line.
    Label,
    Words,
}

impl<'l> HtmlSetter<'l> {
    pub(crate) fn new(labels: &'l [String]) -> Self {
        Self { builder: TextBuilder::default(), labels, line: LineState::None, marks: Vec::new(), doubts: Vec::new() }
    }

    /// Changes the label templates for the following items.
    pub(crate) fn set_labels(&mut self, labels: &'l [String]) {
        self.labels = labels;
    }

    /// Adds a part, either between paragraphs or within one.
    pub(crate) fn part(&mut self, part: HtmlPart<'_>) {
        self.part_within(part, 0, "");
    }

    /// Returns the text, the layout, and doubtful places by line.
    pub(crate) fn finish(self) -> (String, Layout, Vec<(u32, String)>) {
        let (text, layout) = self.builder.finish();
        (text, layout, self.doubts)
    }

    /// `item` is the id of the list item that contains the part.
    fn part_within(&mut self, part: HtmlPart<'_>, depth: usize, item: &str) {
        match part {
            HtmlPart::Words(words) => self.words(words, depth),
            HtmlPart::Element(element) if element.name() == "br" => self.builder.space(),
            HtmlPart::Element(element) if is_block(element.name()) => self.block(element, depth, item),
            HtmlPart::Element(element) => self.inline(element, depth, item),
        }
    }

    fn parts(&mut self, element: Element<'_>, depth: usize, item: &str) {
        element.parts().for_each(|part| self.part_within(part, depth, item));
    }

    fn words(&mut self, words: &str, depth: usize) {
        if words.trim().is_empty() {
            self.builder.space();
            return;
        }
        if self.line == LineState::None {
            self.begin(LineKind::Paragraph, depth, "");
        }
        self.builder.push(words);
        self.line = LineState::Words;
    }

    fn begin(&mut self, kind: LineKind, depth: usize, label: &str) {
        self.builder.begin(kind, depth, label);
        self.line = if label.is_empty() { LineState::Words } else { LineState::Label };
    }

    fn end_line(&mut self) {
        self.builder.end_line();
        self.line = LineState::None;
    }

    fn inline(&mut self, element: Element<'_>, depth: usize, item: &str) {
        let Some(kind) = mark_of(element.name()) else { return self.parts(element, depth, item) };
        self.builder.begin_mark(kind);
        self.marks.push(kind);
        self.parts(element, depth, item);
        self.marks.pop();
        self.builder.end_mark();
    }
    /// A block ends the open marks, because a mark must be within one line. They are reopened afterwards.
    fn block(&mut self, element: Element<'_>, depth: usize, item: &str) {
        let marks = std::mem::take(&mut self.marks);
        marks.iter().for_each(|_| self.builder.end_mark());
        self.block_content(element, depth, item);
        marks.iter().for_each(|kind| self.builder.begin_mark(*kind));
        self.marks = marks;
    }

    fn block_content(&mut self, element: Element<'_>, depth: usize, item: &str) {
        match element.name() {
            "nav" | "head" | "title" => {}
            "ol" | "ul" | "menu" | "dir" => self.list(element, depth, item),
            "dl" => self.definitions(element, depth, item),
            "table" => self.table(element, depth),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.begin(LineKind::Heading, depth, "");
                self.parts(element, depth, item);
                self.end_line();
            }
            // Elements that only group others, whose content ends lines itself.
            _ => {
                if self.line != LineState::Label {
                    self.end_line();
                }
                self.parts(element, depth, item);
                self.end_line();
            }
        }
    }

    fn list(&mut self, list: Element<'_>, depth: usize, item: &str) {
        self.end_line();
        let labels = ListLabels::of(list, item);
        self.doubts.extend(labels.doubt.map(|what| (list.line(), what)));
        let mut labels = labels.labels.into_iter().zip(labels.printed);
        let form = self.labels.get(depth).or(self.labels.last()).map_or("{}", String::as_str);
        for part in list.parts() {
            match part {
                HtmlPart::Element(item) if item.name() == "li" => {
                    let label = labels.next().filter(|(_, is_printed)| !(*is_printed && form == "({})"));
                    let label = label.map(|(label, _)| form.replace("{}", &label));
                    self.begin(LineKind::Paragraph, depth, label.as_deref().unwrap_or_default());
                    self.line = LineState::Label;
                    self.parts(item, depth + 1, item.attribute("id").unwrap_or_default());
                    self.end_line();
                }
                // A list directly within a list belongs to the item before it.
                HtmlPart::Element(inner) if is_list(inner.name()) => self.block(inner, depth + 1, item),
                part => self.part_within(part, depth, item),
            }
        }
        self.end_line();
    }

    /// A list of terms: each term with its definition is a paragraph.
    fn definitions(&mut self, list: Element<'_>, depth: usize, item: &str) {
        for part in list.parts() {
            match part {
                HtmlPart::Element(term) if term.name() == "dt" => {
                    self.end_line();
                    self.begin(LineKind::Paragraph, depth, "");
                    self.inline(term, depth, item);
                    self.builder.space();
                    self.line = LineState::Label;
                }
                HtmlPart::Element(group) if group.name() == "div" => self.definitions(group, depth, item),
                part => self.part_within(part, depth, item),
            }
        }
        self.end_line();
    }

    fn table(&mut self, table: Element<'_>, depth: usize) {
        self.end_line();
        let form = self.labels.first().map_or("{}", String::as_str);
        let mut rows = TableRows::begin(depth, &mut self.builder);
        let mut open: Vec<HtmlPart<'_>> = table.parts().rev().collect();
        while let Some(part) = open.pop() {
            let element = match part {
                HtmlPart::Element(element) => element,
                HtmlPart::Words(words) if words.trim().is_empty() => continue,
                // Words between rows are not valid HTML. They are treated as a remark.
                HtmlPart::Words(words) => {
                    rows.begin_line(LineKind::TableNote, &mut self.builder);
                    self.builder.push(words);
                    self.builder.end_line();
                    continue;
                }
            };
            match element.name() {
                "tr" => set_row(element, form, &mut rows, &mut self.builder),
                "thead" | "tbody" | "tfoot" => {
                    rows.begin_part();
                    open.extend(element.parts().rev());
                }
                _ => {
                    rows.begin_line(LineKind::TableNote, &mut self.builder);
                    set_cell(element, form, &mut self.builder);
                    self.builder.end_line();
                }
            }
        }
    }
}

/// Whether an element ends the paragraph around it.
pub(crate) fn is_block(name: &str) -> bool {
    name != "br" && flow(name) == DisplayKind::Block
}

fn is_list(name: &str) -> bool {
    matches!(name, "ol" | "ul" | "menu" | "dir")
}

fn mark_of(name: &str) -> Option<MarkKind> {
    match name {
        "b" | "strong" => Some(MarkKind::Strong),
        "i" | "em" => Some(MarkKind::Emphasis),
        "sup" => Some(MarkKind::Superscript),
        "sub" => Some(MarkKind::Subscript),
        "dt" => Some(MarkKind::RunInHeading),
        _ => None,
    }
}

fn set_row(row: Element<'_>, form: &str, rows: &mut TableRows, builder: &mut TextBuilder) {
    let is_head = row.elements().next().is_some() && row.elements().all(|cell| cell.name() == "th");
    rows.begin_line(if is_head { LineKind::TableHead } else { LineKind::TableRow }, builder);
    for cell in row.elements() {
        let span = CellSpan::of_html(|name| cell.attribute(name));
        rows.cell(span, builder, |builder| set_cell(cell, form, builder));
    }
    rows.end_row(builder);
}

/// Writes a cell as one line: its paragraphs follow each other, and list items keep their labels.
fn set_cell(cell: Element<'_>, form: &str, builder: &mut TextBuilder) {
    let mut labels = ListLabels::of(cell, "").labels.into_iter();
    for part in cell.parts() {
        let inner = match part {
            HtmlPart::Words(words) => {
                builder.push(words);
                continue;
            }
            HtmlPart::Element(inner) => inner,
        };
        let is_apart = flow(inner.name()) == DisplayKind::Block;
        let mark = mark_of(inner.name());
        if is_apart {
            builder.space();
        }
        if let Some(label) = if inner.name() == "li" { labels.next() } else { None } {
            builder.push(&form.replace("{}", &label));
            builder.space();
        }
        mark.into_iter().for_each(|kind| builder.begin_mark(kind));
        set_cell(inner, form, builder);
        mark.into_iter().for_each(|_| builder.end_mark());
        if is_apart {
            builder.space();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::document::Document;
    use crate::import::html;

    /// Lines with their depths, such as `0|(a) text`, and the marks.
    fn set_with_marks(source: &str) -> (String, Vec<String>) {
        let labels = ["({})", "({})", "[{}]"].map(str::to_owned);
        let tree = html::parse(&Document { place: "a.html".into(), bytes: source.into() }).unwrap();
        let mut setter = HtmlSetter::new(&labels);
        let body = tree.root().elements().next().unwrap().elements().last().unwrap();
        body.parts().for_each(|part| setter.part(part));
        let (text, layout, _) = setter.finish();
        assert_eq!(layout.check_against_text(&text).filter(|_| !layout.is_empty()), None);
        let marked = |mark: &hornbook_corpus::layout::Mark| text[mark.start as usize..mark.end()].to_owned();
        let marks = layout.marks.iter().map(marked).collect();
        let lines = text.split('\n').zip(&layout.lines).map(|(text, line)| format!("{}|{text}\n", line.depth));
        (lines.collect(), marks)
    }

    fn set(source: &str) -> String {
        set_with_marks(source).0
    }

    #[test]
    fn positions_become_labels() {
        let list = "<ol type=a start=25><li>y<li>z<li><p>aa</p><ol type=I><li value=4>iv<li>v</ol>rest</ol>";
        assert_eq!(set(list), "0|(y) y\n0|(z) z\n0|(aa) aa\n1|(IV) iv\n1|(V) v\n1|rest\n");
        let deep = "<ol><li>a<ol type=a><li>b<ol><li>c<ol type=i><li>d</ol></ol></ol></ol>";
        assert_eq!(set(deep), "0|(1) a\n1|(a) b\n2|[1] c\n3|[i] d\n");
        assert_eq!(set("<ol start=x><li value=-3>a</ol><ul><li>b</ul>"), "0|(1) a\n0|b\n");
    }

    #[test]
    fn tables_and_definitions_keep_their_cells() {
        let table = "<table><caption>T</caption><tr><th>a<th>b<tr><td colspan=2>c<tbody><tr><td>d<p>e</p><td></table>";
        assert_eq!(set(table), "0|T\n0|a\tb\n0|c\t\n0|d e\t\n");
        assert_eq!(set("<dl><dt>Lot<dd>Land.<dt>Yard<dd>Open.</dl>"), "0|Lot Land.\n0|Yard Open.\n");
        assert_eq!(set("<p>a <sup>2</sup> &lt; <b> b </b></p>"), "0|a 2 < b\n");
    }

    #[test]
    fn blocks_within_inline_elements_are_paragraphs() {
        assert_eq!(set("<span><p>a</p><p>b</p></span>"), "0|a\n0|b\n");
        assert_eq!(set("<span>a<div>b</div>c</span>d"), "0|a\n0|b\n0|cd\n");
        assert_eq!(set("<ol><li><span>a<ol type=a><li>b</ol>c</span></ol>"), "0|(1) a\n1|(a) b\n1|c\n");
        let (text, marks) = set_with_marks("<p>x <ins><b>a<div>b</div>c</b></ins> d");
        assert_eq!(
            (text.as_str(), marks.as_slice()),
            ("0|x a\n0|b\n0|c d\n", ["a", "b", "c"].map(str::to_owned).as_slice())
        );
    }

    #[test]
    fn words_directly_in_lists_tables_and_rows_are_kept() {
        assert_eq!(
            set("<ol>a<li>b</li>c<p>d</p><ol type=a><li>e</ol><li>f</ol>"),
            "0|a\n0|(1) b\n0|c\n0|d\n1|(a) e\n0|(2) f\n"
        );
        assert_eq!(set("<table>a<tr>b<td>c</td>d</tr></table>"), "0|abd\n0|c\n");
        assert_eq!(set("<dl>a<dt>b</dt>c<dd>d</dd></dl>"), "0|a\n0|b c\n0|d\n");
        assert_eq!(set("<law>a</law><p>b</p>c"), "0|a\n0|b\n0|c\n");
    }

    #[test]
    fn cells_keep_marks_labels_and_paragraphs_apart() {
        let cell = "<td>m<sup>2</sup><p>a</p>b<ol type=a><li>c<li>d<ul><li>e</ul></ol><table><tr><td>f<td>g</table>";
        let (text, marks) = set_with_marks(&format!("<table><tr>{cell}</table>"));
        assert_eq!((text.as_str(), marks), ("0|m2 a b (a) c (b) d e f g\n", vec!["2".to_owned()]));
    }
}
