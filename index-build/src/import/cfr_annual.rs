//! Volumes of the annual edition of the Code of Federal Regulations: `PART > SUBPART > SECTION > SECTNO, SUBJECT, P`.
//!
//! The title page states the day of the edition: `Revised as of October 1, 2011`.
//!
//! Front matter, tables of contents and finding aids are not law. Where the publisher did not close
//! the revised text of a note, everything that follows is inside the note, even whole parts. The
//! importer takes it out and puts it in its place.

use hornbook_corpus::day::Day;
use roxmltree::{Document as Tree, Node};

use crate::effect::date_in;
use crate::import::cfr::elements::{Elements, VOCABULARY, run_of};
use crate::import::cfr::names::{CfrLevel, CfrNumbers};
use crate::import::cfr::place::{CfrContainer, CfrPlace, CfrReader};
use crate::import::document::{Document, Parsed};
use crate::import::ecfr::edition_day;
use crate::import::target::ImportTarget;
use crate::import::{unknown, xml};
use crate::pattern::Pattern;
use crate::report::WarningKind;

/// Parses one volume.
pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    xml::read(document, |tree| read_tree(tree, document, target))
}

fn read_tree(tree: &Tree<'_>, document: &Document, target: ImportTarget<'_>) -> Parsed {
    let root = tree.root_element();
    let refuse = |what: &str| Parsed::refused(document.position(xml::line_of(tree, root)), what);
    if root.tag_name().name() != "CFRDOC" {
        let name = root.tag_name().name();
        return refuse(&format!(
            "the document is <{name}>, but a volume of the annual edition is <CFRDOC>; leave this file out or choose another format"
        ));
    }
    let Some(heading) = title_heading(root) else {
        return refuse("the volume does not state its title: TITLEHD and TITLENUM are missing");
    };
    let mut reading = CfrReader::new(document, target);
    let (mut elements, mut below) = (Elements::default(), Vec::new());
    // Printed matter other than the law is next to the title element.
    let own = root.children().filter(|child| !is_around_law(*child));
    elements.parts(own, &mut |elements, child| match child.tag_name().name() {
        "TITLE" => elements.parts(child.children().filter(|child| !is_around_law(*child)), &mut |elements, child| {
            if is_law(child.tag_name().name()) { below.push(child) } else { elements.child(child) }
        }),
        name if is_law(name) => below.push(child),
        _ => elements.child(child),
    });
    let is_whole = below.is_empty();
    let container = CfrContainer { level: CfrLevel::Title, number: None, heading: &heading, elements, is_whole };
    let place = reading.enter(&CfrPlace::default(), container, root);
    below.into_iter().for_each(|child| read(&mut reading, child, &place));
    let revised = root.children().find(|child| child.has_tag_name("FMTR"));
    let revised = revised.and_then(|front| front.descendants().find(|node| node.has_tag_name("REVISED")));
    let through = revised.and_then(|revised| edition_day(&mut reading, revised));
    let mut parsed = reading.parsed;
    parsed.nodes.iter_mut().for_each(|node| node.content.current_through.clone_from(&through));
    unknown::warn(root, &VOCABULARY, document, &mut parsed);
    parsed
}

/// Reads the day of the edition from the beginning of a file.
pub(crate) fn stated_day(head: &str) -> Option<Day> {
    date_in(&Pattern::fixed(r"<REVISED>([^<]+)").captures(head)?[1])?.parse().ok()
}

/// Front and back matter, running heads, and the heading of the title.
fn is_around_law(node: Node<'_, '_>) -> bool {
    (VOCABULARY.is_left_out)(node) || matches!(node.tag_name().name(), "TITLEHD" | "TITLENUM")
}

/// The heading of the title: `Title 47—Telecommunication`.
fn title_heading(root: Node<'_, '_>) -> Option<String> {
    let head = root.descendants().find(|node| node.tag_name().name() == "TITLEHD");
    let head = head.and_then(|head| head.children().find(|node| node.tag_name().name() == "HD"));
    let number = root.descendants().find(|node| node.tag_name().name() == "TITLENUM");
    let headings = [head, number].into_iter().flatten().map(|node| run_of(node, &[]).text);
    headings.into_iter().find(|heading| CfrLevel::Title.number_in(heading).is_some())
}

fn read<'a>(reading: &mut CfrReader<'_>, node: Node<'a, 'a>, place: &CfrPlace) {
    let level = match node.tag_name().name() {
        "SUBTITLE" => CfrLevel::Subtitle,
        "CHAPTER" => CfrLevel::Chapter,
        "SUBCHAP" => CfrLevel::Subchapter,
        "PART" => CfrLevel::Part,
        "SUBPART" => CfrLevel::Subpart,
        "SUBJGRP" => CfrLevel::Group,
        "SECTION" => return section(reading, node, place),
        "APPENDIX" => return appendix(reading, node, place),
        _ => return,
    };
    let mut elements = Elements::new(node, None);
    let head = head_of(node);
    let heading = heading_of(node, head, level, &elements);
    let (heading, continued) = without_continued(&heading);
    reading.parsed.leave_out("remarks that a container is continued from another volume", continued);
    let (below, own): (Vec<_>, Vec<_>) =
        node.children().filter(|child| Some(*child) != head).partition(|child| is_law(child.tag_name().name()));
    let is_whole = below.is_empty();
    elements.parts(own.into_iter(), &mut |elements, child| match child.tag_name().name() {
        // This element refers to something else in the container.
        "RESERVED" if !is_whole => elements.paragraph(child),
        _ => elements.child(child),
    });
    let misplaced = std::mem::take(&mut elements.misplaced);
    let inner = reading.enter(place, CfrContainer { level, number: None, heading, elements, is_whole }, node);
    below.into_iter().for_each(|child| read(reading, child, &inner));
    put_back(reading, misplaced, &inner);
}

fn is_law(name: &str) -> bool {
    matches!(name, "SUBTITLE" | "CHAPTER" | "SUBCHAP" | "PART" | "SUBPART" | "SUBJGRP" | "SECTION" | "APPENDIX")
}

/// The heading of a container, or else the remark that it is reserved.
fn head_of<'a>(node: Node<'a, 'a>) -> Option<Node<'a, 'a>> {
    let direct = |name: &'static str| node.children().find(move |child| child.tag_name().name() == name);
    direct("HD").or_else(|| direct("RESERVED"))
}

/// The heading text of a container. A chapter has its heading only in its table of contents; a
/// reserved container has a remark.
fn heading_of(node: Node<'_, '_>, head: Option<Node<'_, '_>>, level: CfrLevel, elements: &Elements<'_, '_>) -> String {
    let direct = |name: &'static str| node.children().find(move |child| child.tag_name().name() == name);
    let in_contents = || {
        let contents = direct("TOC")?.children().find(|child| child.tag_name().name() == "TOCHD")?;
        contents.children().find(|child| child.tag_name().name() == "HD")
    };
    let heading = head.or_else(|| Some(level).filter(|level| *level == CfrLevel::Chapter).and_then(|_| in_contents()));
    heading.map(|heading| elements.run(heading).text).unwrap_or_default()
}

/// Splits a heading from a trailing `(continued)`, which occurs when a chapter is printed in several volumes.
fn without_continued(heading: &str) -> (&str, &str) {
    let plain = heading.to_ascii_lowercase().strip_suffix("(continued)").map(str::len);
    let (plain, continued) = heading.split_at(plain.unwrap_or(heading.len()));
    (plain.trim_end(), continued)
}

fn section<'a>(reading: &mut CfrReader<'_>, node: Node<'a, 'a>, place: &CfrPlace) {
    let (mut label, mut heading, mut is_reserved, mut rest) = (None, None, false, Vec::new());
    for child in node.children() {
        match child.tag_name().name() {
            "SECTNO" if label.is_none() => label = Some(run_of(child, &[]).text),
            "SUBJECT" if heading.is_none() => heading = Some(child),
            "RESERVED" if heading.is_none() => {
                heading = Some(child);
                is_reserved = true;
            }
            _ => rest.push(child),
        }
    }
    let label = label.unwrap_or_default();
    let mut elements = Elements::new(node, CfrNumbers::of(&label).map(|numbers| numbers.first));
    let heading = heading.map(|heading| elements.run(heading).text).unwrap_or_default();
    elements.is_reserved = is_reserved;
    elements.parts(rest.into_iter(), &mut Elements::child);
    let misplaced = std::mem::take(&mut elements.misplaced);
    reading.section(place, &label, &heading, elements.into_text(label.clone()), node);
    put_back(reading, misplaced, place);
}

fn appendix<'a>(reading: &mut CfrReader<'_>, node: Node<'a, 'a>, place: &CfrPlace) {
    let first = node.children().find(|child| child.tag_name().name() == "HD");
    let heading = first.map(|heading| run_of(heading, &[]).text).unwrap_or_default();
    let mut elements = Elements::new(node, None);
    elements.parts(node.children().filter(|child| Some(*child) != first), &mut Elements::child);
    let misplaced = std::mem::take(&mut elements.misplaced);
    let short = node.children().find(|child| child.tag_name().name() == "EAR");
    let reference = short.map(|short| run_of(short, &[]).text).unwrap_or_default();
    reading.add_appendix(place, &heading, elements.into_text(reference), node);
    put_back(reading, misplaced, place);
}

/// Imports law that was inside a note at the place where it belongs.
fn put_back<'a>(reading: &mut CfrReader<'_>, misplaced: Vec<Node<'a, 'a>>, place: &CfrPlace) {
    if let Some(first) = misplaced.first() {
        let what = format!(
            "{} elements of law are inside the revised text of a note; they were moved after it",
            misplaced.len()
        );
        reading.parsed.warn(WarningKind::Misplaced, reading.position(*first), what);
    }
    misplaced.into_iter().for_each(|node| read(reading, node, place));
}
