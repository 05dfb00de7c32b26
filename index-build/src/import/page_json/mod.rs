//! State codes as JSON volumes of plain text, one web page per section:
//! `{"15732": {"t": "text of the page", "u": "its address"}}`.
//!
//! The text of a page has hard line ends, empty lines between paragraphs, and indentation. It
//! begins with the headings of the parts that begin on the page (`containers`). One section
//! follows, rarely several, each with its source credit and notes (`section`). Navigation links end
//! it. See FORMAT.md for the options.

mod containers;
mod page;
mod section;
mod settings;

use std::collections::BTreeMap;

use hornbook_corpus::outline::Status;
use serde::Deserialize;

use crate::content::{Content, ContentNote, NewNode, NodeHandle, OnRepeat};
use crate::import::document::{Document, DocumentError, Parsed};
use crate::import::flat_section;
use crate::import::flat_text;
use crate::import::options;
use crate::import::remark::moved_to;
use crate::import::slug::slug;
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::report::WarningKind;
use containers::OpenContainers;
use page::{DividedPage, PrintedSection};
use section::PageSection;
pub(crate) use settings::PageJsonSettings;

/// The topic of a note about a section that had the same number before.
const FORMER_SECTION: &str = "Former section";
/// The topic of a note about a part that had the same number before.
const FORMER_PART: &str = "Former part";

#[derive(Debug, Deserialize)]
struct VolumePage {
    #[serde(rename = "t")]
    text: String,
    #[serde(rename = "u", default)]
    url: String,
}

/// Whether a file is a volume.
pub fn wants(path: &str) -> bool {
    path.ends_with(".json")
}

pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    options::read_by(document, target, |settings: &PageJsonSettings| read_volume(document, target, settings))
}

fn read_volume(
    document: &Document,
    target: ImportTarget<'_>,
    settings: &PageJsonSettings,
) -> Result<Parsed, DocumentError> {
    let entries: BTreeMap<String, VolumePage> = serde_json::from_slice(&document.bytes).map_err(|error| {
        let what = format!("this is not a volume of this format: {error}");
        (document.position(error.line().max(1) as u32), what)
    })?;
    let mut parsed = Parsed::default();
    let mut pages: Vec<(SortKey, &str, &VolumePage, DividedPage)> = Vec::with_capacity(entries.len());
    for (name, entry) in &entries {
        let page = DividedPage::divide(&entry.text, settings);
        match page.sections.first() {
            Some(first) => pages.push((section::sort_key(&first.number), name, entry, page)),
            None => {
                let what = format!("page '{name}' has no section that begins with '§' and a number; left out");
                parsed.warn(WarningKind::JunkEntry, document.position(1), what);
                parsed.leave_out("pages without a section", entry.text.clone());
            }
        }
    }
    // A part begins on the page of its first section, so pages are read in the order of their numbers.
    pages.sort_by(|(key, name, ..), (other_key, other_name, ..)| (key, name).cmp(&(other_key, other_name)));
    let mut open = OpenContainers::default();
    for (_, name, entry, page) in pages {
        read_page(page, PageOrigin { name, url: &entry.url }, &mut open, document, target, settings, &mut parsed);
    }
    Ok(parsed)
}

/// The name and address of a page.
#[derive(Clone, Copy)]
struct PageOrigin<'a> {
    name: &'a str,
    url: &'a str,
}

fn read_page(
    page: DividedPage,
    name: PageOrigin<'_>,
    open: &mut OpenContainers,
    document: &Document,
    target: ImportTarget<'_>,
    settings: &PageJsonSettings,
    parsed: &mut Parsed,
) {
    for words in page.navigation {
        parsed.leave_out("links to other pages", words);
    }
    let mut sections = Vec::with_capacity(page.sections.len());
    for (printed, section) in with_former_sections(page.sections, settings) {
        open.enter(&printed, document, target, settings, parsed);
        for (kind, what) in &section.faults {
            parsed.warn(*kind, document.position(1), format!("page '{}': {what}", name.name));
        }
        sections.push((open.path(), section));
    }
    let mut sections = sections.into_iter().peekable();
    let mut place = 0;
    while let Some((path, section)) = sections.next() {
        let mut wordings = Vec::new();
        while let Some((_, wording)) = sections.next_if(|(_, next)| next.number == section.number) {
            wordings.push(content_of(wording, name, target));
        }
        let parent = flat_section::infer_containers(&path, document, target, parsed);
        let number = section.number.clone();
        let content = Content { wordings, ..content_of(section, name, target) };
        if content.text.as_deref() == Some("") && content.status.is_some_and(Status::may_be_in_force) {
            let what = format!("'{}' is in force but has no text", content.citation);
            parsed.warn(WarningKind::EmptyProvision, document.position(1), what);
        }
        parsed.nodes.push(NewNode {
            handle: NodeHandle::new(target.key, &format!("page\n{}\n{}\n{place}", document.place, name.name)),
            parent,
            key: format!("{}/s{}", target.key, slug(&number)),
            sort: section::sort_key(&number),
            on_repeat: OnRepeat::Reconcile,
            content,
            position: document.position(1),
        });
        place += 1;
    }
}

/// Reads the sections of a page. A section that is gone becomes a note of the section that has its
/// number now: `§132-4  [OLD]  REPEALED.  L 1978, c 241.`
fn with_former_sections(
    printed: Vec<PrintedSection>,
    settings: &PageJsonSettings,
) -> Vec<(PrintedSection, PageSection)> {
    let mut sections: Vec<(PrintedSection, PageSection)> = printed
        .into_iter()
        .map(|printed| {
            let mut section = section::read(&printed, settings);
            if printed.is_in_old_part() {
                section.notes.push(flat_text::note(FORMER_PART, &printed.head_in_one_line()));
            }
            (printed, section)
        })
        .collect();
    let mut present = Vec::with_capacity(sections.len());
    while !sections.is_empty() {
        let (head, section) = sections.remove(0);
        let has_its_number = |(_, other): &&mut (PrintedSection, PageSection)| other.number == section.number;
        let mut others = present.iter_mut().chain(&mut sections).filter(has_its_number);
        let successor = others.rfind(|(_, other)| section.is_former_of(other));
        match successor {
            None => present.push((head, section)),
            Some((_, now)) => {
                let words = format!("{} {}", head.head_in_one_line(), section.in_one_line());
                let notes = std::iter::once(flat_text::note(FORMER_SECTION, &words)).chain(section.notes);
                now.notes.splice(0..0, notes.collect::<Vec<ContentNote>>());
            }
        }
    }
    present
}

fn content_of(section: PageSection, name: PageOrigin<'_>, target: ImportTarget<'_>) -> Content {
    let cited = |number: &str| flat_text::citation(number, target);
    let mut tags = target.tags.to_vec();
    tags.sort_unstable();
    let status = section.status();
    let now = moved_to(&section.number, &section.heading).filter(|_| !status.may_be_in_force());
    Content {
        citation: cited(&section.number),
        level: "section".into(),
        status: Some(status),
        now: now.map(cited),
        parallel_citations: section.others.iter().map(|number| cited(number)).collect(),
        number: Some(section.number),
        heading: section.heading,
        text: Some(section.text),
        layout: section.layout,
        notes: section.notes,
        source_credit: section.credit,
        effect: section.effect,
        tags,
        source_url: Some(name.url.to_owned()).filter(|url| !url.is_empty()),
        reference: format!("page {}", name.name),
        source: target.source,
        ..Content::default()
    }
}
