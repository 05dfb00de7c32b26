//! RegML, in which the Bureau of Consumer Financial Protection published its regulations: nested `paragraph`s with markers,
//! definitions and references marked, and official interpretations.
//!
//! An interpretation is a provision of its own, below the supplement of its part: it is published and cited as a part of
//! the code, but it is long, and readers who look for a rule must find the rule. The analysis of the rulemaking is no law.

use hornbook_corpus::layout::{LineKind, MarkKind};
use roxmltree::{Document as Tree, Node};

use crate::import::cfr::elements::{Elements, run_of};
use crate::import::cfr::names::{Level, Numbers};
use crate::import::cfr::place::{Comment, Container, Place, Reading};
use crate::import::cfr::setter::Text;
use crate::import::document::{Document, Parsed};
use crate::import::table_spans::{Span, TableRows};
use crate::import::target::Target;
use crate::import::text_builder::TextBuilder;
use crate::import::xml;

/// Parses one part.
pub fn parse(document: &Document, target: Target<'_>) -> Parsed {
    xml::read(document, |tree| read_tree(tree, document, target))
}

fn read_tree(tree: &Tree<'_>, document: &Document, target: Target<'_>) -> Parsed {
    let root = tree.root_element();
    let refuse = |what: &str| Parsed::refused(document.position(xml::line_of(tree, root)), what);
    let part = child(root, "part").filter(|_| root.tag_name().name() == "regulation");
    let Some(part) = part else {
        let name = root.tag_name().name();
        return refuse(&format!(
            "the document is <{name}>, but RegML is a <regulation> with a <part>; leave this file out or choose another format"
        ));
    };
    let facts =
        |name: &str| child(root, "fdsys").and_then(|facts| child(facts, name)).map(words_of).unwrap_or_default();
    let (title, label) = (facts("cfrTitleNum"), part.attribute("label").unwrap_or_default());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(&title) || !is_number(label) {
        return refuse(
            "the regulation does not say its title and part: fdsys/cfrTitleNum and part/@label must be numbers",
        );
    }
    let mut reading = Reading::new(document, target);
    let heading = format!("Title {title}—{}", facts("cfrTitleText"));
    let place = enter(&mut reading, &Place::default(), Level::Title, &title, &heading, root);
    let heading = format!("PART {label}—{}", facts("title"));
    let place = enter(&mut reading, &place, Level::Part, label, &heading, part);
    child(part, "content")
        .into_iter()
        .flat_map(|content| content.children())
        .for_each(|node| read(&mut reading, node, &place, label));
    reading.parsed
}

fn enter(
    reading: &mut Reading<'_>,
    place: &Place,
    level: Level,
    number: &str,
    heading: &str,
    node: Node<'_, '_>,
) -> Place {
    reading.enter(place, Container { level, number: Some(number), heading, elements: Elements::default() }, node)
}

fn read(reading: &mut Reading<'_>, node: Node<'_, '_>, place: &Place, part: &str) {
    let heading = |name: &str| child(node, name).map(words_of).unwrap_or_default();
    match node.tag_name().name() {
        "subpart" => {
            // A part without subparts has one without a title.
            let heading = heading("title");
            let letter = node.attribute("subpartLetter").filter(|_| !heading.is_empty());
            let inner = letter.map(|letter| enter(reading, place, Level::Subpart, letter, &heading, node));
            let content = child(node, "content").into_iter().flat_map(|content| content.children());
            content.for_each(|node| read(reading, node, inner.as_ref().unwrap_or(place), part));
        }
        "section" => {
            let heading = heading("subject");
            let printed = Numbers::label_in(&heading);
            let stated = format!("§ {part}.{}", node.attribute("sectionNum").unwrap_or_default());
            let label = if printed.is_empty() { &stated } else { printed };
            reading.section(place, label, heading[printed.len()..].trim_start(), text_of(node), node);
        }
        "appendix" => reading.attachment(place, &heading("appendixTitle"), text_of(node), node),
        "interpretations" => {
            let heading = heading("title");
            let inner = supplement(reading, place, &heading, node);
            for section in node.children().filter(|child| child.tag_name().name() == "interpSection") {
                let heading = child(section, "title").map(words_of).unwrap_or_default();
                let label = section.attribute("label").unwrap_or_default();
                let number = section.attribute("sectionNum").map(|number| format!("§ {part}.{number}"));
                let comment = Comment { label, number: number.as_deref(), heading: &heading };
                reading.interpretation(&inner, &comment, text_of(section), section);
            }
        }
        _ => {}
    }
}

/// The supplement that interpretations stand in. Those of appendices have a heading of their own within it.
fn supplement(reading: &mut Reading<'_>, place: &Place, heading: &str, node: Node<'_, '_>) -> Place {
    let words: Vec<&str> = heading.split_whitespace().collect();
    if let ["Supplement", number, ..] = words.as_slice() {
        return enter(reading, place, Level::Supplement, number, heading, node);
    }
    let around = enter(reading, place, Level::Supplement, "I", "Supplement I", node);
    let elements = Elements::default();
    reading.enter(&around, Container { level: Level::Group, number: None, heading, elements }, node)
}

fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| child.tag_name().name() == name)
}

fn words_of(node: Node<'_, '_>) -> String {
    run_of(node, &[]).text
}

/// The paragraphs of a section, an appendix or an interpretation.
fn text_of(node: Node<'_, '_>) -> Text {
    let mut builder = TextBuilder::default();
    let mut is_reserved = false;
    for part in node.children().filter(Node::is_element) {
        match part.tag_name().name() {
            "paragraph" | "interpParagraph" => paragraph(&mut builder, part, 0),
            "reserved" => is_reserved = true,
            "appendixSection" => {
                for part in part.children().filter(Node::is_element) {
                    match part.tag_name().name() {
                        "subject" => line(&mut builder, LineKind::Heading, part, 0),
                        _ => paragraph(&mut builder, part, 0),
                    }
                }
            }
            _ => {}
        }
    }
    let (text, layout) = builder.finish();
    let reference = node.attribute("label").unwrap_or_default().to_owned();
    Text { text, layout, is_reserved, reference, ..Text::default() }
}

fn paragraph(builder: &mut TextBuilder, node: Node<'_, '_>, depth: usize) {
    // Paragraphs without a label are sometimes marked by a word.
    let marker =
        node.attribute("marker").map(str::trim).filter(|marker| !["none", "Interp", "HMDANotice."].contains(marker));
    let marker = marker.unwrap_or_default();
    let title = child(node, "title").filter(|title| title.descendants().any(|part| part.is_text()));
    // Some texts repeat the heading that stands before them.
    let title = title.filter(|title| !repeats(node, *title));
    let runs_in = title.is_some_and(|title| title.attribute("type") == Some("keyterm"));
    match title {
        Some(title) if marker.is_empty() && !runs_in => {
            line(builder, LineKind::Heading, title, depth);
            builder.paragraph(depth);
        }
        Some(title) => {
            builder.begin(LineKind::Paragraph, depth, marker);
            builder.begin_mark(MarkKind::RunInHeading);
            inline(builder, title, depth);
            builder.end_mark();
            builder.space();
        }
        None => builder.begin(LineKind::Paragraph, depth, marker),
    }
    let inner = depth + usize::from(!marker.is_empty());
    for part in node.children() {
        match part.tag_name().name() {
            "content" => inline(builder, part, inner),
            "paragraph" | "interpParagraph" => paragraph(builder, part, inner),
            _ => {}
        }
    }
    builder.end_line();
}

fn repeats(paragraph: Node<'_, '_>, title: Node<'_, '_>) -> bool {
    let is_run_in = title.attribute("type") == Some("keyterm");
    is_run_in && child(paragraph, "content").is_some_and(|content| words_of(content).starts_with(&words_of(title)))
}

fn line(builder: &mut TextBuilder, kind: LineKind, node: Node<'_, '_>, depth: usize) {
    builder.begin(kind, depth, "");
    inline(builder, node, depth);
    builder.end_line();
}

/// Words, and what interrupts them as a line of its own.
fn inline(builder: &mut TextBuilder, node: Node<'_, '_>, depth: usize) {
    for part in node.children() {
        if part.is_text() {
            builder.push(part.text().unwrap_or_default());
            continue;
        }
        match part.tag_name().name() {
            "def" | "em" => {
                builder.begin_mark(MarkKind::Emphasis);
                inline(builder, part, depth);
                builder.end_mark();
            }
            "dash" => {
                line(builder, LineKind::Block, part, depth);
                builder.paragraph(depth);
            }
            "callout" => {
                part.children().filter(Node::is_element).for_each(|row| line(builder, LineKind::Block, row, depth));
                builder.paragraph(depth);
            }
            "graphic" => {
                builder.begin(LineKind::Image, depth, "");
                builder.push(&image_name(part));
                builder.paragraph(depth);
            }
            "table" => {
                table(builder, part, depth);
                builder.paragraph(depth);
            }
            _ => inline(builder, part, depth),
        }
    }
}

/// What an image shows, and its name: of `![Form](ER20DE11.001)` the words in both.
fn image_name(node: Node<'_, '_>) -> String {
    let of = |name: &str| child(node, name).map(words_of).unwrap_or_default();
    let text = of("text");
    let marked = text.strip_prefix("![").and_then(|rest| rest.strip_suffix(')')).and_then(|rest| rest.split_once("]("));
    let (shown, name) = marked.unwrap_or(("", &text));
    let alternative = of("altText");
    let shown = if shown.is_empty() { &alternative } else { shown };
    [shown, name].map(str::trim).join(" ").trim().to_owned()
}

fn table(builder: &mut TextBuilder, node: Node<'_, '_>, depth: usize) {
    let mut rows = TableRows::begin(depth, builder);
    for row in node.descendants() {
        match row.tag_name().name() {
            "columnHeaderRow" => rows.begin_line(LineKind::TableHead, builder),
            "row" => rows.begin_line(LineKind::TableRow, builder),
            _ => continue,
        }
        for cell in row.children().filter(Node::is_element) {
            let span = Span::of_html(|name| cell.attribute(name));
            rows.cell(span, builder, |builder| builder.push(&run_of(cell, &[]).text));
        }
        rows.end_row(builder);
    }
}
