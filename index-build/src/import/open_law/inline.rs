//! Words within a line: citations, emphasis, line breaks, and blocks in the middle of words.

use hornbook_corpus::layout::{LineKind, MarkKind};
use roxmltree::Node;

use super::source::name;
use super::table;
use crate::import::text_builder::TextBuilder;

/// The kind of line around the words, used to continue after a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSetting {
    pub(super) kind: LineKind,
    pub(super) depth: usize,
}

/// Adds the content of an element to the current line. Tables, images and centred lines become separate lines.
pub(super) fn flow(builder: &mut TextBuilder, element: Node<'_, '_>, setting: LineSetting) {
    for node in element.children() {
        let Some(name) = name(node) else {
            if node.is_text() {
                builder.push(node.text().unwrap_or_default());
            }
            continue;
        };
        match name {
            "table" => in_between(builder, setting, |builder| table::set(builder, node, setting.depth, cell)),
            "img" => in_between(builder, setting, |builder| image(builder, node, setting.depth)),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => block(builder, node, setting, LineKind::Heading),
            "center" => block(builder, node, setting, LineKind::Block),
            "p" | "text" | "para" | "include" | "container" | "section" | "aftertext" | "li" | "recital"
            | "footnote" => {
                block(builder, node, setting, setting.kind);
            }
            "br" => builder.space(),
            _ => marked(builder, node, setting),
        }
    }
}

/// Adds words with emphasis or a similar mark. Other elements, such as citations, are plain words.
fn marked(builder: &mut TextBuilder, node: Node<'_, '_>, setting: LineSetting) {
    let kind = match name(node) {
        Some("em" | "i" | "e" | "u" | "underline") => Some(MarkKind::Emphasis),
        Some("strong" | "b") => Some(MarkKind::Strong),
        Some("sup") => Some(MarkKind::Superscript),
        Some("sub") => Some(MarkKind::Subscript),
        _ => None,
    };
    if let Some(kind) = kind {
        builder.begin_mark(kind);
    }
    flow(builder, node, setting);
    if kind.is_some() {
        builder.end_mark();
    }
}

fn block(builder: &mut TextBuilder, node: Node<'_, '_>, setting: LineSetting, kind: LineKind) {
    in_between(builder, setting, |builder| {
        builder.begin(kind, setting.depth, "");
        flow(builder, node, LineSetting { kind, ..setting });
    });
}

/// Adds a block, and continues after it in a line of the same kind.
fn in_between(builder: &mut TextBuilder, setting: LineSetting, set: impl FnOnce(&mut TextBuilder)) {
    set(builder);
    builder.begin(setting.kind, setting.depth, "");
}

/// The text contains no images, only their names and descriptions.
fn image(builder: &mut TextBuilder, node: Node<'_, '_>, depth: usize) {
    builder.begin(LineKind::Image, depth, "");
    let source = node.attribute("src").unwrap_or_default();
    let file = if source.starts_with("data:") { "" } else { source.rsplit('/').next().unwrap_or_default() };
    let shown = node.attribute("alt").unwrap_or_default();
    let between = if file.is_empty() || shown.trim().is_empty() { "" } else { ": " };
    builder.push("Image");
    builder.push(if file.is_empty() && shown.trim().is_empty() { "" } else { ": " });
    builder.push(&format!("{file}{between}{shown}"));
}

/// Adds the words of a cell. Its paragraphs and other content stay on one line.
pub(super) fn cell(builder: &mut TextBuilder, node: Node<'_, '_>, depth: usize) {
    for child in node.children() {
        match name(child) {
            None if child.is_text() => builder.push(child.text().unwrap_or_default()),
            None => {}
            Some("p" | "text" | "para" | "table" | "tr" | "td" | "th" | "br" | "center" | "li" | "caption") => {
                builder.space();
                cell(builder, child, depth);
                builder.space();
            }
            Some("img") => builder.push(child.attribute("alt").unwrap_or("Image")),
            Some(_)
                if child.descendants().any(|inner| matches!(name(inner), Some("table" | "img" | "p" | "center"))) =>
            {
                cell(builder, child, depth);
            }
            Some(_) => marked(builder, child, LineSetting { kind: LineKind::TableRow, depth }),
        }
    }
}
