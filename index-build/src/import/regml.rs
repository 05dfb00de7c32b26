//! RegML, the format in which the Bureau of Consumer Financial Protection published its
//! regulations: nested `paragraph`s with markers, marked definitions and references, and official
//! interpretations.
//!
//! An interpretation is a separate provision below the supplement of its part. It is published and
//! cited as a part of the code, but it is long, and readers who search for a rule must find the
//! rule. The analysis of the rulemaking is not law.

use hornbook_corpus::layout::{LineKind, MarkKind};
use roxmltree::{Document as Tree, Node};

use crate::import::cfr::elements::{Elements, run_of};
use crate::import::cfr::names::{CfrLevel, CfrNumbers};
use crate::import::cfr::place::{CfrContainer, CfrPlace, CfrReader, Comment};
use crate::import::cfr::text::CfrText;
use crate::import::document::{Document, Parsed};
use crate::import::table_spans::{CellSpan, TableRows};
use crate::import::target::ImportTarget;
use crate::import::text_builder::TextBuilder;
use crate::import::unknown::{self, KnownElements, is_words};
use crate::import::xml;
use crate::values::is_date;

/// Parses one part.
pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    xml::read(document, |tree| read_tree(tree, document, target))
}

fn read_tree(tree: &Tree<'_>, document: &Document, target: ImportTarget<'_>) -> Parsed {
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
            "the regulation does not state its title and part: fdsys/cfrTitleNum and part/@label must be numbers",
        );
    }
    let mut reading = CfrReader::new(document, target);
    let heading = format!("Title {title}—{}", facts("cfrTitleText"));
    let place = enter(&mut reading, &CfrPlace::default(), CfrLevel::Title, &title, &heading, root);
    let heading = format!("PART {label}—{}", facts("title"));
    let place = enter(&mut reading, &place, CfrLevel::Part, label, &heading, part);
    let mut own = TextBuilder::default();
    let beside = root.children().filter(|node| *node != part && !is_left_out(*node));
    beside.for_each(|node| loose(&mut own, node, 0));
    for node in part.children().filter(|node| !is_left_out(*node)) {
        match node.tag_name().name() {
            "content" => below(&mut reading, node, &place, label),
            _ => loose(&mut own, node, 0),
        }
    }
    introduce(&mut reading, &place, own, part);
    let mut parsed = reading.parsed;
    // Each document has its own date: that of the last rule included in it.
    let published = Some(facts("date")).filter(|date| is_date(date));
    for node in parsed.nodes.iter_mut().filter(|node| node.content.text.is_some()) {
        node.content.current_through.clone_from(&published);
    }
    name_left_out(root, &mut parsed);
    unknown::warn(root, &VOCABULARY, document, &mut parsed);
    parsed
}

const VOCABULARY: KnownElements = KnownElements {
    names: "altText appendix appendixLetter appendixSection appendixSubject appendixTitle callout cell column \
    columnHeaderRow content dash date def em footnote graphic header interpParagraph interpSection \
    interpTitle interpretations label line paragraph part ref regLetter regulation reserved row section \
    sectionNum sectionSubject sub subject subpart subpartLetter subpartTitle sup table text thumbUrl \
    title url variable",
    is_left_out,
};

/// Whether an element is about the rulemaking, or repeats headings.
fn is_left_out(node: Node<'_, '_>) -> bool {
    matches!(node.tag_name().name(), "analysis" | "fdsys" | "preamble" | "tableOfContents")
}

/// Reads the content of a container. Words outside sections and appendices are its own text.
fn below(reading: &mut CfrReader<'_>, content: Node<'_, '_>, place: &CfrPlace, part: &str) {
    let mut own = TextBuilder::default();
    for node in content.children().filter(|node| !is_left_out(*node)) {
        match node.tag_name().name() {
            "subpart" | "section" | "appendix" | "interpretations" => read(reading, node, place, part),
            _ => loose(&mut own, node, 0),
        }
    }
    introduce(reading, place, own, content);
}

fn introduce(reading: &mut CfrReader<'_>, place: &CfrPlace, own: TextBuilder, node: Node<'_, '_>) {
    if !own.is_empty() {
        let (text, layout) = own.finish();
        reading.introduction(place, None, CfrText { text, layout, ..CfrText::default() }, node);
    }
}

/// Adds words and unknown elements directly in an element that contains paragraphs, as one paragraph each.
fn loose(builder: &mut TextBuilder, node: Node<'_, '_>, depth: usize) {
    if is_words(node) {
        builder.paragraph(depth);
        builder.push(node.text().unwrap_or_default());
        builder.end_line();
    } else if node.is_element() {
        line(builder, LineKind::Paragraph, node, depth);
    }
}

fn enter(
    reading: &mut CfrReader<'_>,
    place: &CfrPlace,
    level: CfrLevel,
    number: &str,
    heading: &str,
    node: Node<'_, '_>,
) -> CfrPlace {
    let elements = Elements::default();
    reading.enter(place, CfrContainer { level, number: Some(number), heading, elements, is_whole: false }, node)
}

fn read(reading: &mut CfrReader<'_>, node: Node<'_, '_>, place: &CfrPlace, part: &str) {
    let heading = |name: &str| child(node, name).map(words_of).unwrap_or_default();
    match node.tag_name().name() {
        "subpart" => {
            // A part without subparts has one subpart without a title.
            let heading = heading("title");
            let letter = node.attribute("subpartLetter").filter(|_| !heading.is_empty());
            let inner = letter.map(|letter| enter(reading, place, CfrLevel::Subpart, letter, &heading, node));
            let inner = inner.as_ref().unwrap_or(place);
            let mut own = TextBuilder::default();
            for node in node.children().filter(|node| !is_left_out(*node)) {
                match node.tag_name().name() {
                    "content" => below(reading, node, inner, part),
                    "title" => {}
                    _ => loose(&mut own, node, 0),
                }
            }
            introduce(reading, inner, own, node);
        }
        "section" => {
            let heading = heading("subject");
            let printed = CfrNumbers::label_in(&heading);
            let stated = format!("§ {part}.{}", node.attribute("sectionNum").unwrap_or_default());
            let label = if printed.is_empty() { &stated } else { printed };
            reading.section(place, label, heading[printed.len()..].trim_start(), text_of(node), node);
        }
        "appendix" => reading.add_appendix(place, &heading("appendixTitle"), text_of(node), node),
        "interpretations" => {
            let heading = heading("title");
            let inner = supplement(reading, place, &heading, node);
            let mut own = TextBuilder::default();
            for node in node.children().filter(|node| !is_left_out(*node)) {
                match node.tag_name().name() {
                    "interpSection" => comments(reading, node, &inner, part),
                    "title" => {}
                    _ => loose(&mut own, node, 0),
                }
            }
            introduce(reading, &inner, own, node);
        }
        _ => {}
    }
}

/// The official interpretations of one section or appendix.
fn comments(reading: &mut CfrReader<'_>, section: Node<'_, '_>, place: &CfrPlace, part: &str) {
    let heading = child(section, "title").map(words_of).unwrap_or_default();
    let label = section.attribute("label").unwrap_or_default();
    let number = section.attribute("sectionNum").map(|number| format!("§ {part}.{number}"));
    let comment = Comment { label, number: number.as_deref(), heading: &heading };
    reading.interpretation(place, &comment, text_of(section), section);
}

/// The supplement that contains interpretations. Interpretations of appendices have their own
/// heading within it.
fn supplement(reading: &mut CfrReader<'_>, place: &CfrPlace, heading: &str, node: Node<'_, '_>) -> CfrPlace {
    let words: Vec<&str> = heading.split_whitespace().collect();
    if let ["Supplement", number, ..] = words.as_slice() {
        return enter(reading, place, CfrLevel::Supplement, number, heading, node);
    }
    let around = enter(reading, place, CfrLevel::Supplement, "I", "Supplement I", node);
    let elements = Elements::default();
    reading.enter(
        &around,
        CfrContainer { level: CfrLevel::Group, number: None, heading, elements, is_whole: false },
        node,
    )
}

fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| child.tag_name().name() == name)
}

fn words_of(node: Node<'_, '_>) -> String {
    run_of(node, &[]).text
}

/// The paragraphs of a section, an appendix or an interpretation.
fn text_of(node: Node<'_, '_>) -> CfrText {
    let mut builder = TextBuilder::default();
    let mut is_reserved = false;
    for part in node.children().filter(|part| !is_left_out(*part)) {
        match part.tag_name().name() {
            "paragraph" | "interpParagraph" => paragraph(&mut builder, part, 0),
            "reserved" => {
                is_reserved = true;
                loose(&mut builder, part, 0);
            }
            "appendixSection" => {
                for part in part.children() {
                    match part.tag_name().name() {
                        "subject" => line(&mut builder, LineKind::Heading, part, 0),
                        "paragraph" => paragraph(&mut builder, part, 0),
                        _ => loose(&mut builder, part, 0),
                    }
                }
            }
            // The heading of the provision.
            "subject" | "title" | "appendixTitle" => {}
            _ => loose(&mut builder, part, 0),
        }
    }
    let (text, layout) = builder.finish();
    let reference = node.attribute("label").unwrap_or_default().to_owned();
    CfrText { text, layout, is_reserved, reference, ..CfrText::default() }
}

fn paragraph(builder: &mut TextBuilder, node: Node<'_, '_>, depth: usize) {
    // Paragraphs without a label sometimes have a word as their marker.
    let marker =
        node.attribute("marker").map(str::trim).filter(|marker| !["none", "Interp", "HMDANotice."].contains(marker));
    let marker = marker.unwrap_or_default();
    let title = child(node, "title").filter(|title| title.descendants().any(|part| part.is_text()));
    // Some texts repeat the heading before them.
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
            "title" => {}
            _ if is_words(part) => builder.push(part.text().unwrap_or_default()),
            _ => loose(builder, part, inner),
        }
    }
    builder.end_line();
}

/// Records the words that the source contains twice: in a heading, and in the text after it.
fn name_left_out(root: Node<'_, '_>, parsed: &mut Parsed) {
    for title in root.descendants().filter(|node| node.tag_name().name() == "title") {
        if title.parent_element().is_some_and(|paragraph| repeats(paragraph, title)) {
            parsed.leave_out("headings that the following text repeats", words_of(title));
        }
    }
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

/// Adds words. Content that interrupts them becomes a separate line.
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

/// The description of an image, and its name: for `![Form](ER20DE11.001)`, the words of both.
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
    for part in node.descendants().skip(1) {
        match part.tag_name().name() {
            "columnHeaderRow" => row(&mut rows, part, LineKind::TableHead, builder),
            "row" => row(&mut rows, part, LineKind::TableRow, builder),
            "header" => {}
            _ if part.parent_element().is_some_and(is_frame) => {
                rows.begin_line(LineKind::TableNote, builder);
                builder.push(if part.is_text() { part.text().unwrap_or_default() } else { "" });
                builder.push(&words_of(part));
                builder.end_line();
            }
            _ => {}
        }
    }
}

/// Whether an element contains rows. The elements in a row are its cells.
fn is_frame(node: Node<'_, '_>) -> bool {
    matches!(node.tag_name().name(), "header" | "table")
}

fn row(rows: &mut TableRows, row: Node<'_, '_>, kind: LineKind, builder: &mut TextBuilder) {
    rows.begin_line(kind, builder);
    for cell in row.children().filter(|cell| cell.is_element() || is_words(*cell)) {
        let span = CellSpan::of_html(|name| cell.attribute(name));
        let words = if cell.is_text() { cell.text().unwrap_or_default().to_owned() } else { words_of(cell) };
        rows.cell(span, builder, |builder| builder.push(&words));
    }
    rows.end_row(builder);
}
