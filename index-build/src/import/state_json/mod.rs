//! State codes as JSON, a document for each chapter: `{"path", "sections": [{"number", "heading", "text", ...}]}`, as they
//! were read from public web pages.
//!
//! Reading pages left faults, which are recognised, counted and reported: entries that are links to other pages, headings
//! that are cut short or run on, number and heading repeated in the text, whole texts repeated part by part, lists of
//! contents in place of a text, source credit and notes as part of the text, characters of one font. See FORMAT.md for the options.

mod containers;
mod entry;
mod repetition;
mod run_in;
mod settings;
mod signs;

use std::collections::BTreeSet;

use hornbook_corpus::outline::Status;
use serde::Deserialize;

use crate::content::{Content, Handle, NewNode, OnRepeat};
use crate::effect::{self, Effect};
use crate::import::document::{Document, Parsed};
use crate::import::flat_text;
use crate::import::options::{self, Pattern};
use crate::import::ranges::numbers_after;
use crate::import::remark::{REMARK_BYTES_MAX, heading_status, named_status};
use crate::import::slug::slug;
use crate::import::target::Target;
use crate::order::SortKey;
use crate::report::{SourcePosition, WarningKind};
use containers::Contents;
use entry::{Entry, Section};
pub(crate) use settings::Settings;

#[derive(Debug, Deserialize)]
struct Chapter {
    path: String,
    sections: Vec<Entry>,
}

/// Chapters and the page of contents; the manifest says nothing that a plan does not.
pub fn wants(path: &str) -> bool {
    path.ends_with(".json") && file_name(path) != "manifest.json"
}

/// Reads a chapter, or the headings that a page of contents gives.
pub fn parse(document: &Document, target: Target<'_>) -> Parsed {
    options::read_by(document, target, |settings: &Settings| {
        let refused = |error: serde_json::Error| {
            let what = format!("this is not a chapter of this format: {error}");
            (document.position(error.line().max(1) as u32), what)
        };
        if file_name(document.path()) == "toc.json" {
            let contents = serde_json::from_slice(&document.bytes).map_err(refused)?;
            return Ok(read_contents(&contents, document, target, settings));
        }
        let chapter = serde_json::from_slice(&document.bytes).map_err(refused)?;
        Ok(read_chapter(&chapter, document, target, settings))
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn read_contents(contents: &Contents, document: &Document, target: Target<'_>, settings: &Settings) -> Parsed {
    let mut parsed = Parsed::default();
    let mut seen = BTreeSet::new();
    for chain in containers::listed(contents, settings) {
        let (mut nodes, handle) = containers::nodes(&chain, target, &document.position(1));
        // The containers around it are stated by their own entry, or by nobody.
        if let Some(node) = nodes.pop().filter(|_| handle.is_some_and(|handle| seen.insert(handle))) {
            parsed.nodes.push(node);
        }
        parsed.inferred.append(&mut nodes);
    }
    parsed
}

fn read_chapter(chapter: &Chapter, document: &Document, target: Target<'_>, settings: &Settings) -> Parsed {
    let mut parsed = Parsed::default();
    let twice = repetition::writes_twice(chapter.sections.iter().map(Entry::text));
    let newest = chapter.sections.iter().filter_map(|entry| edition(entry, settings)).max();
    for (place, (entry, line)) in chapter.sections.iter().zip(entry_lines(&document.bytes)).enumerate() {
        let position = document.position(line);
        if let Some(year) = edition(entry, settings).filter(|year| Some(year) < newest.as_ref()) {
            let what = format!("'{}' repeats a section in its edition of {year}; left out", entry.number);
            parsed.warn(WarningKind::JunkEntry, position, what);
            continue;
        }
        match entry::section(entry, twice, settings) {
            Ok(section) => add(section, entry, place, &chapter.path, target, settings, &position, &mut parsed),
            Err(what) => parsed.warn(WarningKind::JunkEntry, position, what),
        }
    }
    parsed
}

fn edition<'e>(entry: &'e Entry, settings: &Settings) -> Option<&'e str> {
    settings.edition.as_ref()?.captures(&entry.number)?.get(1).map(|year| year.as_str())
}

/// The line of each entry's number. Within texts, JSON writes quotation marks with a backslash before them, so these bytes
/// stand for a name alone.
fn entry_lines(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (mut counted, mut line) = (0, 1);
    let places = memchr::memmem::find_iter(bytes, b"\"number\"").map(move |place| {
        line += memchr::memchr_iter(b'\n', &bytes[counted..place]).count() as u32;
        counted = place;
        line
    });
    places.chain(std::iter::repeat(1))
}

#[expect(clippy::too_many_arguments, reason = "one place of use; a struct would only name them again")]
fn add(
    section: Section,
    entry: &Entry,
    place: usize,
    path: &str,
    target: Target<'_>,
    settings: &Settings,
    position: &SourcePosition,
    parsed: &mut Parsed,
) {
    let chain = containers::chain(&section.number, path, settings);
    let (mut above, parent) = containers::nodes(&chain, target, position);
    parsed.inferred.append(&mut above);
    for (kind, what) in &section.faults {
        parsed.warn(*kind, position.clone(), what.clone());
    }
    let provision = provision(section, entry, &format!("{path}#{place}"), target);
    if provision.content.status == Some(Status::InForce) && provision.content.text.as_deref() == Some("") {
        let what = format!("'{}' has no text in the source", provision.content.citation);
        parsed.warn(WarningKind::EmptyProvision, position.clone(), what);
    }
    let Provision { content, key, sort } = provision;
    let handle = Handle::new(target.key, &format!("entry\n{path}\n{place}"));
    let on_repeat = OnRepeat::Reconcile;
    parsed.nodes.push(NewNode { handle, parent, key, sort, on_repeat, content, position: position.clone() });
}

/// `Sections 1-42 to 1-54, inclusive, are repealed.` is all that is left of section 1-42.
fn stated_status(number: &str, text: &str) -> Option<Status> {
    let after = text.strip_prefix("Section ").or_else(|| text.strip_prefix("Sections "))?.strip_prefix(number)?;
    let verb = Pattern::fixed(r"^(?:(?:,| and| to) ?[\d.:A-Za-z-]*\d[\d.:A-Za-z-]*)*(?:, inclusive,)? (?:is|are) ");
    named_status(&after[verb.find(after)?.end()..])
}

struct Provision {
    content: Content,
    key: String,
    sort: SortKey,
}

fn provision(section: Section, entry: &Entry, place: &str, target: Target<'_>) -> Provision {
    let cited = |number: &str| flat_text::citation(number, target);
    let citation = cited(&section.number);
    let (text, layout) = flat_text::set(&run_in::separated(&section.law));
    let short = text.len() <= REMARK_BYTES_MAX;
    let named = heading_status(&section.heading).or_else(|| named_status(&text));
    let status = named.or_else(|| stated_status(&section.number, &text)).filter(|_| short);
    let range = section.last_number.iter().flat_map(|last| numbers_after(&section.number, last));
    let parallel_citations = range.map(|number| cited(&number)).collect();
    let url = Some(entry.source_url.clone()).filter(|url| !url.is_empty());
    let reference = url.clone().unwrap_or_else(|| place.to_owned());
    let reference = match &section.found_as {
        // The section under its own name goes first, if there is one.
        Some(name) => format!("{reference} (found as {name})"),
        None => reference,
    };
    let (effect, heading) = effect::of_heading(&section.heading);
    let wordings = section.later.map(|later| {
        let (text, layout) = flat_text::set(&run_in::separated(&later.law));
        let effect = effect::read(&later.label).unwrap_or_else(|| Effect::unknown(&later.label));
        let status = Some(named_status(&text).filter(|_| text.len() <= REMARK_BYTES_MAX).unwrap_or(Status::InForce));
        let (heading, text) = (later.heading, Some(text));
        Content { heading, status, text, layout, source_credit: later.credit, effect, ..Content::default() }
    });
    let mut tags = target.tags.to_vec();
    tags.sort_unstable();
    let content = Content {
        citation: citation.clone(),
        heading,
        level: "section".into(),
        number: Some(section.number.clone()),
        status: Some(status.unwrap_or(Status::InForce)),
        text: Some(text),
        layout,
        notes: flat_text::notes(&section.notes),
        source_credit: section.credit,
        tags,
        parallel_citations,
        effect,
        wordings: wordings.into_iter().collect(),
        source_url: url,
        reference,
        source: target.source,
        ..Content::default()
    };
    Provision {
        content,
        key: format!("{}/s{}", target.key, slug(&section.number)),
        sort: SortKey::of_citation(&citation),
    }
}
