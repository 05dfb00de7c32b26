//! The containers of a section: those that its number implies, and the parts whose headings precede
//! it, on its page or on an earlier one.

use std::collections::HashSet;

use super::page::{PageParagraph, PrintedSection};
use super::section::{is_topic, read_notes};
use super::settings::PageJsonSettings;
use crate::content::{ContentNote, NodeHandle};
use crate::import::document::{Document, Parsed, REPEATED_HEADING};
use crate::import::flat_section::{self, FlatContainer};
use crate::import::levels;
use crate::import::target::ImportTarget;
use crate::pattern::Pattern;

/// The containers that are open at the current section.
#[derive(Debug, Default)]
pub(super) struct OpenContainers {
    /// Those that the number of the section implies.
    numbered: Vec<FlatContainer>,
    parts: Vec<OpenPart>,
    /// The parts that have begun. Some pages repeat the heading of one.
    begun: HashSet<NodeHandle>,
}

#[derive(Clone, Debug)]
struct OpenPart {
    rank: PartRank,
    heading: String,
}

/// The order in which parts contain each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PartRank {
    /// A heading without letter or number, before that of a part on the same page.
    Group,
    Article,
    Part,
    /// A letter: `B. Leases`.
    Subpart,
    /// A number: `2. Disposition for residential purposes`.
    Division,
    /// A heading without letter or number.
    Named,
}

impl OpenContainers {
    /// Moves to a section. The notes of the parts that begin with it are added to `parsed`. A part that
    /// is marked as `[OLD]` has the number of a present one, and is no container.
    pub(super) fn enter(
        &mut self,
        printed: &PrintedSection,
        document: &Document,
        target: ImportTarget<'_>,
        settings: &PageJsonSettings,
        parsed: &mut Parsed,
    ) {
        let numbered = by_number(&printed.number, settings);
        if numbered != self.numbered {
            self.parts.clear();
            self.numbered = numbered;
        }
        if printed.is_in_old_part() {
            self.parts.clear();
            return;
        }
        let mut head = printed.head.as_slice();
        while !head.is_empty() {
            let notes_begin = head.iter().position(|paragraph| is_topic(paragraph, settings)).unwrap_or(head.len());
            for part in parts_in(&head[..notes_begin]) {
                self.parts.retain(|open| open.rank < part.rank);
                let heading = part.heading.clone();
                self.parts.push(part);
                let handle = flat_section::infer_containers(&self.path(), document, target, parsed);
                if handle.is_some_and(|handle| !self.begun.insert(handle)) {
                    parsed.leave_out(REPEATED_HEADING, heading);
                }
            }
            let notes_end = (notes_begin + 1..head.len()).find(|&at| is_heading(&head[at], settings));
            let notes_end = notes_end.unwrap_or(head.len());
            let notes = read_notes(head.get(notes_begin..notes_end).unwrap_or_default(), settings);
            if !notes.is_empty() {
                add_notes(notes, &self.path(), document, target, parsed);
            }
            head = &head[notes_end..];
        }
    }

    /// The containers of the current section, outermost first.
    pub(super) fn path(&self) -> Vec<FlatContainer> {
        let parts = self.parts.iter().map(|part| FlatContainer { line: 1, heading: part.heading.clone() });
        self.numbered.iter().cloned().chain(parts).collect()
    }
}

/// Adds notes to the innermost container of a path. Several pages may have notes about one container.
fn add_notes(
    notes: Vec<ContentNote>,
    path: &[FlatContainer],
    document: &Document,
    target: ImportTarget<'_>,
    parsed: &mut Parsed,
) {
    let Some(handle) = flat_section::infer_containers(path, document, target, parsed) else { return };
    if let Some(known) = parsed.nodes.iter_mut().rev().find(|node| node.handle == handle) {
        known.content.notes.extend(notes);
    } else if let Some(mut container) = parsed.inferred.pop() {
        container.content.notes = notes;
        parsed.nodes.push(container);
    }
}

fn by_number(number: &str, settings: &PageJsonSettings) -> Vec<FlatContainer> {
    let found = settings.containers.iter().filter_map(|container| {
        let number = container.number.find(number)?.as_str();
        let heading = format!("{} {number}", levels::capitalised(&container.level));
        Some(FlatContainer { line: 1, heading })
    });
    found.collect()
}

/// Whether a paragraph after notes is a heading. Notes are indented, except for their topics and
/// leads, which end with a full stop.
fn is_heading(paragraph: &PageParagraph, settings: &PageJsonSettings) -> bool {
    paragraph.indent == 0 && !is_topic(paragraph, settings) && !paragraph.lines.ends_with('.')
}

/// The parts that a run of headings names. A heading without a label continues the one before it
/// on the page: `PART X. QUI TAM ACTIONS` and `FALSE CLAIMS` are one.
fn parts_in(headings: &[PageParagraph]) -> Vec<OpenPart> {
    let mut parts: Vec<OpenPart> = Vec::new();
    for paragraph in headings {
        let line = paragraph.text();
        match (labelled(&line), parts.last_mut()) {
            (Some(part), before) => {
                if let Some(before) = before.filter(|before| before.rank == PartRank::Named) {
                    before.rank = PartRank::Group;
                }
                parts.push(part);
            }
            (None, Some(last)) => last.heading = format!("{} {}", last.heading, line.trim_end_matches(']')),
            (None, None) => parts.push(OpenPart { rank: PartRank::Named, heading: bare(&line) }),
        }
    }
    parts
}

/// Reads a heading that begins with a label: `[PART IV.] CRIMINAL OFFENSES`, `B. Leases`.
fn labelled(line: &str) -> Option<OpenPart> {
    let form = Pattern::fixed(concat!(
        r"^\[?(?:(?P<word>(?i:PART|ARTICLE|SUBPART)) (?P<number>[IVXL]+[A-Z]?|\d+[A-Z]?|[A-Z])(?:[.\]:]+|--| |$)",
        r"|(?P<letter>[A-Z])\.(?: |$)|(?P<digit>\d{1,2})\.(?: |$)) ?(?P<heading>.*)$",
    ));
    let found = form.captures(line)?;
    let heading = bare(&found["heading"]);
    let named = |level: &str, number: &str| format!("{level} {number}. {heading}").trim_end().to_owned();
    let (rank, heading) = match (found.name("word"), found.name("letter"), found.name("digit")) {
        (Some(word), ..) => {
            let rank = match word.as_str().to_ascii_lowercase().as_str() {
                "article" => PartRank::Article,
                "part" => PartRank::Part,
                _ => PartRank::Subpart,
            };
            (rank, named(word.as_str(), &found["number"]))
        }
        (None, Some(letter), _) => (PartRank::Subpart, named("Subpart", letter.as_str())),
        (None, None, digit) => (PartRank::Division, named("Division", digit?.as_str())),
    };
    Some(OpenPart { rank, heading })
}

/// A heading without the brackets around it, or around a part of it.
fn bare(heading: &str) -> String {
    let heading = heading.trim_start_matches(['[', ']', '.', ' ']).trim_end_matches([']', ' ']);
    if heading.contains('[') { heading.to_owned() } else { heading.replace(']', "") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(lines: &[&str]) -> Vec<String> {
        let paragraphs: Vec<PageParagraph> =
            lines.iter().map(|line| PageParagraph { indent: 0, lines: (*line).to_owned() }).collect();
        parts_in(&paragraphs).into_iter().map(|part| part.heading).collect()
    }

    #[test]
    fn parts_are_read_in_all_their_forms() {
        assert_eq!(headings(&["PART I.\nGENERAL PROVISIONS"]), ["PART I. GENERAL PROVISIONS"]);
        assert_eq!(headings(&["[PART IV.\nMISCELLANEOUS]"]), ["PART IV. MISCELLANEOUS"]);
        assert_eq!(headings(&["[Part VIIA.]  ELECTIONS BY MAIL"]), ["Part VIIA. ELECTIONS BY MAIL"]);
        assert_eq!(
            headings(&["PART X.  ACTIONS OR RECOVERY\nOF", "FALSE\nCLAIMS"]),
            ["PART X. ACTIONS OR RECOVERY OF FALSE CLAIMS"]
        );
        assert_eq!(
            headings(&["PART II.  RETIREMENT", "A.  Definitions; Board"]),
            ["PART II. RETIREMENT", "Subpart A. Definitions; Board"]
        );
        assert_eq!(headings(&["ARTICLE 1", "DEFINITIONS\nAND DUTIES"]), ["ARTICLE 1. DEFINITIONS AND DUTIES"]);
        assert_eq!(
            headings(&["2.  disposition\nfor residential purposes"]),
            ["Division 2. disposition for residential purposes"]
        );
        assert_eq!(headings(&["GENERAL\nPROVISIONS"]), ["GENERAL PROVISIONS"]);
        assert_eq!(headings(&["[PART V.\nNEW] STATEMENT"]), ["PART V. NEW STATEMENT"]);
        let rules = [
            PageParagraph { indent: 0, lines: "RULES OF\nTHE ROAD".into() },
            PageParagraph { indent: 0, lines: "PART III.\nSIGNS".into() },
        ];
        let ranks: Vec<PartRank> = parts_in(&rules).into_iter().map(|part| part.rank).collect();
        assert_eq!(ranks, [PartRank::Group, PartRank::Part]);
    }
}
