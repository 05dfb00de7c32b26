//! Builds the text of a section: enumerated paragraphs with their labels and headings, and
//! everything between them.

use hornbook_corpus::layout::{Layout, LineKind, MarkKind};
use roxmltree::Node;

use super::inline::{self, LineSetting};
use super::remark;
use super::source::{child, name, whole_parts, words, words_of};
use super::table;
use crate::import::text_builder::TextBuilder;

/// The text of a section and its layout.
pub(super) fn set(section: Node<'_, '_>) -> (String, Layout) {
    let mut builder = TextBuilder::default();
    let law = whole_parts(section).filter(|part| !remark::is_remark(section, *part));
    units(&mut builder, law, LineSetting { kind: LineKind::Paragraph, depth: 0 }, false);
    builder.finish()
}

/// Adds the content of a section, a paragraph or a quoted unit. If `fresh`, a line for its first
/// words is already open.
fn units<'t, 'd: 't>(
    builder: &mut TextBuilder,
    parts: impl Iterator<Item = Node<'t, 'd>>,
    setting: LineSetting,
    mut fresh: bool,
) {
    for part in parts {
        match name(part) {
            // Notes, names and statuses are read elsewhere. A paragraph has no status.
            Some("annotations" | "annotation" | "attachments" | "page") => continue,
            Some("num" | "prefix" | "heading" | "reason") if is_name(part) => continue,
            Some("para") => paragraph(builder, part, setting.kind, setting.depth, None),
            Some("include") => {
                let block = LineSetting { kind: LineKind::Block, depth: setting.depth + 1 };
                units(builder, whole_parts(part), block, false);
            }
            Some("container" | "section") => quoted(builder, part, setting),
            Some("table") => table::set(builder, part, setting.depth, inline::cell),
            _ => {
                let setting = if is_centred(part) { LineSetting { kind: LineKind::Block, ..setting } } else { setting };
                if !fresh {
                    builder.begin(setting.kind, setting.depth, "");
                }
                match part.is_text() {
                    true => builder.push(part.text().unwrap_or_default()),
                    false => inline::flow(builder, part, setting),
                }
            }
        }
        fresh = false;
    }
}

/// Whether an element names its unit: the first one of its kind. The reason of a section is its
/// status, but the reason of a paragraph or of quoted law is text.
fn is_name(part: Node<'_, '_>) -> bool {
    let wanted = name(part).unwrap_or_default();
    let Some(unit) = part.parent_element() else { return false };
    let is_provision = || {
        let mut around = unit.ancestors().skip(1);
        name(unit) == Some("section") && around.all(|node| !matches!(name(node), Some("section" | "para")))
    };
    child(unit, wanted) == Some(part) && (wanted != "reason" || is_provision())
}

fn is_centred(part: Node<'_, '_>) -> bool {
    part.attribute("class").is_some_and(|class| class.starts_with("center"))
}

/// Labels whose words have not come yet, and the depth of the first: `(a)` directly followed by `(1)`.
type PendingLabels = Option<(String, usize)>;

fn paragraph(builder: &mut TextBuilder, para: Node<'_, '_>, kind: LineKind, depth: usize, waiting: PendingLabels) {
    let own = [words_of(para, "prefix"), words_of(para, "num")].join(" ").trim().to_owned();
    let (label, at) = match waiting {
        Some((outer, at)) => (outer + &own, at),
        None => (own, depth),
    };
    let first = whole_parts(para).find(|part| !matches!(name(*part), Some("num" | "prefix")));
    if let Some(inner) = first.filter(|inner| shares_line(&label, *inner)) {
        paragraph(builder, inner, kind, depth + 1, Some((label, at)));
        let rest = whole_parts(para).filter(|part| part.range().start > inner.range().start);
        units_below(builder, rest, kind, depth, false);
        return;
    }
    builder.begin(LineKind::Paragraph, at, &label);
    if let Some(heading) = child(para, "heading") {
        builder.begin_mark(MarkKind::RunInHeading);
        builder.push(&words(heading));
        builder.end_mark();
        builder.space();
    }
    units_below(builder, whole_parts(para), kind, depth, true);
}

/// Whether the first paragraph within another one shares its line: `(a)(1)`.
fn shares_line(label: &str, inner: Node<'_, '_>) -> bool {
    let is_bracketed = |label: &str| label.starts_with('(') && label.ends_with(')');
    name(inner) == Some("para")
        && is_bracketed(label)
        && child(inner, "prefix").is_none()
        && is_bracketed(&words_of(inner, "num"))
}

/// Adds the content of a paragraph: its own words at its depth, inner paragraphs one level deeper.
fn units_below<'t, 'd: 't>(
    builder: &mut TextBuilder,
    parts: impl Iterator<Item = Node<'t, 'd>>,
    kind: LineKind,
    depth: usize,
    mut fresh: bool,
) {
    for part in parts {
        match name(part) {
            Some("num" | "prefix" | "heading") if is_name(part) => continue,
            Some("para") => paragraph(builder, part, kind, depth + 1, None),
            _ => units(builder, std::iter::once(part), LineSetting { kind, depth }, fresh),
        }
        fresh = false;
    }
}

/// Adds a unit of another law within the text, such as an article of a compact: its heading, then its content.
fn quoted(builder: &mut TextBuilder, unit: Node<'_, '_>, setting: LineSetting) {
    builder.begin(LineKind::Heading, setting.depth, "");
    for part in ["prefix", "num", "heading"] {
        builder.push(&words_of(unit, part));
        builder.space();
    }
    units(builder, whole_parts(unit), setting, false);
}
