//! Blocks of HTML as a text with its layout: paragraphs, lists whose labels are only positions, definitions and tables.

use hornbook_corpus::layout::{LineKind, MarkKind};

use crate::import::html::{Element, Part};
use crate::import::table_spans::{Span, TableRows};
use crate::import::text_builder::TextBuilder;

/// Adds an element that stands among paragraphs; `labels` are how items of lists are labelled, with `{}`, by depth. The last
/// one is for all further depths.
pub(crate) fn add_block(element: Element<'_>, depth: usize, labels: &[String], builder: &mut TextBuilder) {
    match element.name() {
        "nav" | "script" | "style" | "head" | "title" => {}
        "ol" => add_list(element, depth, labels, builder),
        "ul" => element.elements().for_each(|item| add_item(item, "", depth, labels, builder)),
        "dl" => add_definitions(element, depth, labels, builder),
        "table" => add_table(element, depth, builder),
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
            builder.begin(LineKind::Heading, depth, "");
            add_inline(element, builder);
            builder.end_line();
        }
        _ => {
            builder.paragraph(depth);
            add_mixed(element, depth, labels, builder);
            builder.end_line();
        }
    }
}

/// Words of a paragraph or item, and the blocks that lie in it.
fn add_mixed(element: Element<'_>, depth: usize, labels: &[String], builder: &mut TextBuilder) {
    for part in element.parts() {
        match part {
            Part::Words(words) => builder.push(words),
            Part::Element(inner) if is_block(inner.name()) => {
                add_block(inner, depth, labels, builder);
                builder.end_line();
            }
            Part::Element(inner) => add_inline_element(inner, builder),
        }
    }
}

pub(crate) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div" | "section" | "main" | "body" | "article" | "blockquote" | "ol" | "ul" | "dl" | "table" | "nav"
    ) || matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "center")
}

fn add_inline(element: Element<'_>, builder: &mut TextBuilder) {
    for part in element.parts() {
        match part {
            Part::Words(words) => builder.push(words),
            Part::Element(inner) => add_inline_element(inner, builder),
        }
    }
}

fn add_inline_element(element: Element<'_>, builder: &mut TextBuilder) {
    let mark = match element.name() {
        "br" => {
            builder.space();
            return;
        }
        "b" | "strong" => Some(MarkKind::Strong),
        "i" | "em" => Some(MarkKind::Emphasis),
        "sup" => Some(MarkKind::Superscript),
        "sub" => Some(MarkKind::Subscript),
        _ => None,
    };
    if let Some(kind) = mark {
        builder.begin_mark(kind);
    }
    add_inline(element, builder);
    if mark.is_some() {
        builder.end_mark();
    }
}

/// An ordered list: the label of an item is its position, counted as `type`, `start` and `value` say.
fn add_list(list: Element<'_>, depth: usize, labels: &[String], builder: &mut TextBuilder) {
    let number = |value: Option<&str>| value.and_then(|value| value.trim().parse::<u32>().ok());
    let style = list.attribute("type").unwrap_or("1");
    let mut next = number(list.attribute("start")).unwrap_or(1);
    let label = labels.get(depth).or(labels.last()).map_or("{}", String::as_str);
    for item in list.elements() {
        next = number(item.attribute("value")).unwrap_or(next);
        let own = label.replace("{}", &counted(next, style));
        add_item(item, &own, depth, labels, builder);
        next = next.saturating_add(1);
    }
}

/// An item: its first words belong to its label, even if they are a paragraph; what follows lies one deeper.
fn add_item(item: Element<'_>, own: &str, depth: usize, labels: &[String], builder: &mut TextBuilder) {
    builder.begin(LineKind::Paragraph, depth, own);
    let mut begun = false;
    for part in item.parts() {
        match part {
            Part::Words(words) => {
                builder.push(words);
                begun |= !words.trim().is_empty();
            }
            Part::Element(inner) if inner.name() == "p" && !begun => {
                add_mixed(inner, depth + 1, labels, builder);
                begun = true;
            }
            Part::Element(inner) if is_block(inner.name()) => {
                add_block(inner, depth + 1, labels, builder);
                begun = true;
            }
            Part::Element(inner) => {
                add_inline_element(inner, builder);
                begun = true;
            }
        }
    }
    builder.end_line();
}

/// A list of terms: each with what it means is a paragraph.
fn add_definitions(list: Element<'_>, depth: usize, labels: &[String], builder: &mut TextBuilder) {
    for element in list.elements() {
        if element.name() == "dt" {
            builder.paragraph(depth);
            builder.begin_mark(MarkKind::RunInHeading);
            add_inline(element, builder);
            builder.end_mark();
            builder.space();
        } else {
            add_mixed(element, depth, labels, builder);
            builder.end_line();
        }
    }
}

fn add_table(table: Element<'_>, depth: usize, builder: &mut TextBuilder) {
    let mut rows = TableRows::begin(depth, builder);
    let mut open: Vec<Element<'_>> = table.elements().rev().collect();
    while let Some(element) = open.pop() {
        match element.name() {
            "caption" => {
                rows.begin_line(LineKind::TableNote, builder);
                builder.push(&element.text());
                builder.end_line();
            }
            "tr" => {
                let is_head = element.elements().next().is_some() && element.elements().all(|cell| cell.name() == "th");
                rows.begin_line(if is_head { LineKind::TableHead } else { LineKind::TableRow }, builder);
                for cell in element.elements() {
                    let span = Span::of_html(|name| cell.attribute(name));
                    rows.cell(span, builder, |builder| builder.push(&cell.text()));
                }
                rows.end_row(builder);
            }
            name => {
                if matches!(name, "thead" | "tbody" | "tfoot") {
                    rows.begin_part();
                }
                open.extend(element.elements().rev());
            }
        }
    }
}

/// A position as lists count: `A` to `Z`, then `AA`; roman numerals; digits.
fn counted(position: u32, style: &str) -> String {
    let number = match style {
        "a" | "A" => letters(position),
        "i" | "I" => roman(position),
        _ => None,
    };
    let number = number.unwrap_or_else(|| position.to_string());
    if matches!(style, "a" | "i") { number.to_lowercase() } else { number }
}

fn letters(mut position: u32) -> Option<String> {
    let mut reversed = String::new();
    while position > 0 {
        reversed.push(char::from(b'A' + ((position - 1) % 26) as u8));
        position = (position - 1) / 26;
    }
    (!reversed.is_empty()).then(|| reversed.chars().rev().collect())
}

fn roman(mut position: u32) -> Option<String> {
    const DIGITS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..4_000).contains(&position) {
        return None;
    }
    let mut text = String::new();
    for (value, digit) in DIGITS {
        while position >= value {
            text.push_str(digit);
            position -= value;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::document::Document;
    use crate::import::html;

    fn set(source: &str) -> String {
        let labels = ["({})", "({})", "[{}]"].map(str::to_owned);
        let tree = html::parse(&Document { place: "a.html".into(), bytes: source.into() }).unwrap();
        let mut builder = TextBuilder::default();
        tree.root().elements().for_each(|element| add_block(element, 0, &labels, &mut builder));
        let (text, layout) = builder.finish();
        assert_eq!(layout.mistake_for(&text).filter(|_| !layout.is_empty()), None);
        let lines = text.split('\n').zip(&layout.lines).map(|(text, line)| format!("{}|{text}\n", line.depth));
        lines.collect()
    }

    #[test]
    fn positions_become_labels() {
        let list = "<ol type=a start=25><li>y<li>z<li><p>aa</p><ol type=I><li value=4>iv<li>v</ol>rest</ol>";
        assert_eq!(set(list), "0|(y) y\n0|(z) z\n0|(aa) aa\n1|(IV) iv\n1|(V) v\n0|rest\n");
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
}
