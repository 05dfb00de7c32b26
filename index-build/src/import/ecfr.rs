//! The electronic Code of Federal Regulations: `DIV1` to `DIV9`, each with its `TYPE`, a `HEAD`, and flat paragraphs.
//!
//! `AMDDATE` before a title is the day through which amendments are included in it.

use hornbook_corpus::day::Day;
use roxmltree::{Document as Tree, Node};

use crate::effect::date_in;
use crate::import::cfr::elements::{Elements, VOCABULARY};
use crate::import::cfr::names::{CfrLevel, CfrNumbers};
use crate::import::cfr::place::{CfrContainer, CfrPlace, CfrReader};
use crate::import::document::{Document, Parsed};
use crate::import::target::ImportTarget;
use crate::import::unknown::{self, has_words};
use crate::import::xml;
use crate::pattern::Pattern;
use crate::report::WarningKind;

/// Parses one title, or a part of one.
pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    xml::read(document, |tree| read_tree(tree, document, target))
}

fn read_tree(tree: &Tree<'_>, document: &Document, target: ImportTarget<'_>) -> Parsed {
    let root = tree.root_element();
    let Some(title) = root.descendants().find(|node| level_of(*node) == Some(DivisionKind::Container(CfrLevel::Title)))
    else {
        let what = format!(
            "the document is <{}> and has no division of TYPE=\"TITLE\", so it is no title of the electronic Code of Federal \
             Regulations; leave this file out or choose another format",
            root.tag_name().name()
        );
        return Parsed::refused(document.position(1), what);
    };
    let mut reading = CfrReader::new(document, target);
    let siblings = title.parent().into_iter().flat_map(|parent| parent.children());
    let mut through = None;
    for node in siblings {
        if node.tag_name().name() == "AMDDATE" {
            through = edition_day(&mut reading, node);
        } else if is_division(node) {
            let before = reading.parsed.nodes.len();
            read(&mut reading, node, &CfrPlace::default());
            let read = reading.parsed.nodes.iter_mut().skip(before);
            read.for_each(|node| node.content.current_through.clone_from(&through));
        }
    }
    let mut words = Vec::new();
    outside(root, &mut words);
    reading.outside(words);
    let mut parsed = reading.parsed;
    unknown::warn(root, &VOCABULARY, document, &mut parsed);
    parsed
}

/// The day that an element states for its edition: `Dec. 29, 2022(fm)`. Another text is a warning.
pub(super) fn edition_day(reading: &mut CfrReader<'_>, node: Node<'_, '_>) -> Option<String> {
    let words = node.text().unwrap_or_default().trim();
    let day = date_in(words);
    if day.is_none() && !words.is_empty() {
        let what = format!("the day '{words}' of this edition is not understood");
        reading.parsed.warn(WarningKind::Dates, reading.position(node), what);
    }
    day
}

/// Reads that day from the beginning of a file.
pub(crate) fn stated_day(head: &str) -> Option<Day> {
    date_in(&Pattern::fixed(r"<AMDDATE>([^<]+)").captures(head)?[1])?.parse().ok()
}

/// Finds elements with words outside the divisions, except data about the file.
fn outside<'a>(node: Node<'a, 'a>, found: &mut Vec<Node<'a, 'a>>) {
    for child in node.children().filter(|child| !is_division(*child) && !(VOCABULARY.is_left_out)(*child)) {
        match child.descendants().any(is_division) {
            true => outside(child, found),
            false => found.extend(Some(child).filter(|child| has_words(*child))),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DivisionKind {
    Container(CfrLevel),
    Section,
    Appendix,
}

fn level_of(node: Node<'_, '_>) -> Option<DivisionKind> {
    if !is_division(node) {
        return None;
    }
    Some(match node.attribute("TYPE")?.to_ascii_uppercase().as_str() {
        "TITLE" => DivisionKind::Container(CfrLevel::Title),
        "SUBTITLE" => DivisionKind::Container(CfrLevel::Subtitle),
        "CHAPTER" => DivisionKind::Container(CfrLevel::Chapter),
        "SUBCHAP" | "SUBCHAPTER" => DivisionKind::Container(CfrLevel::Subchapter),
        "PART" => DivisionKind::Container(CfrLevel::Part),
        "SUBPART" => DivisionKind::Container(CfrLevel::Subpart),
        "SUBJGRP" => DivisionKind::Container(CfrLevel::Group),
        "SECTION" => DivisionKind::Section,
        "APPENDIX" => DivisionKind::Appendix,
        _ => return None,
    })
}

/// Whether an element is `DIV1` to `DIV9`. A `DIV` without a digit is only layout.
fn is_division(node: Node<'_, '_>) -> bool {
    let digit = node.tag_name().name().strip_prefix("DIV").unwrap_or_default();
    digit.len() == 1 && digit.bytes().all(|byte| byte.is_ascii_digit())
}

fn read<'a>(reading: &mut CfrReader<'_>, node: Node<'a, 'a>, place: &CfrPlace) {
    let heading = head_of(node).map(|head| Elements::new(node, None).run(head).text).unwrap_or_default();
    // A division of unknown type is a container if it contains divisions, and is otherwise read as an appendix.
    let kind = level_of(node).unwrap_or_else(|| match node.children().any(is_division) {
        true => DivisionKind::Container(CfrLevel::Group),
        false => DivisionKind::Appendix,
    });
    match kind {
        DivisionKind::Container(level) => {
            let elements = elements_of(node, None);
            let number = node.attribute("N").map(str::trim).filter(|_| level < CfrLevel::Group);
            let number = number.filter(|number| !number.is_empty()).map(|number| number.replace(['–', '—'], "-"));
            // Volumes belong to the printed edition, not to the code.
            let (heading, volume) = heading.split_once("--Volume").unwrap_or((&heading, ""));
            if !volume.is_empty() {
                reading.parsed.leave_out("volume numbers of the printed edition", format!("Volume {volume}"));
            }
            let heading = heading.trim_end();
            let is_whole = !node.children().any(is_division);
            let container = CfrContainer { level, number: number.as_deref(), heading, elements, is_whole };
            let below = reading.enter(place, container, node);
            for child in node.children().filter(|child| is_division(*child)) {
                read(reading, child, &below);
            }
        }
        DivisionKind::Section => {
            let printed = CfrNumbers::label_in(&heading);
            let label = node.attribute("N").map(str::trim).filter(|label| !label.is_empty()).unwrap_or(printed);
            let number = CfrNumbers::of(label).map(|numbers| numbers.first);
            let text = elements_of(node, number).into_text(reference_of(node));
            reading.section(place, label, heading[printed.len()..].trim_start(), text, node);
        }
        DivisionKind::Appendix => {
            let text = elements_of(node, None).into_text(reference_of(node));
            reading.add_appendix(place, &heading, text, node);
        }
    }
}

fn elements_of<'a>(node: Node<'a, 'a>, number: Option<String>) -> Elements<'a, 'a> {
    let mut elements = Elements::new(node, number);
    let head = head_of(node);
    let own = node.children().filter(|child| !is_division(*child) && Some(*child) != head);
    elements.parts(own, &mut Elements::child);
    elements
}

fn head_of<'a>(node: Node<'a, 'a>) -> Option<Node<'a, 'a>> {
    node.children().find(|child| child.tag_name().name() == "HEAD")
}

fn reference_of(node: Node<'_, '_>) -> String {
    node.attribute("NODE").unwrap_or_default().to_owned()
}
