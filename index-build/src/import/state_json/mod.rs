//! State codes as JSON, one document per chapter, extracted from public web pages:
//! `{"path", "sections": [{"number", "heading", "text", ...}]}`.
//!
//! The extraction caused faults, which are detected, counted and reported: entries that are links
//! to other pages, headings that are cut short or too long, number and heading repeated in the
//! text, whole texts repeated part by part, lists of contents in place of a text, source credit and
//! notes as part of the text, characters of one font. See FORMAT.md for the options.

mod containers;
mod entry;
mod future_wording;
mod heading;
mod printed_pages;
mod repetition;
mod run_in;
mod section;
mod settings;
mod signs;
mod wording;

use std::collections::BTreeSet;

use hornbook_corpus::outline::Status;
use serde::Deserialize;

use crate::content::{Content, NewNode, NodeHandle, OnRepeat};
use crate::effect::{self, Effect};
use crate::import::crosswalk::formerly_in_credit;
use crate::import::document::{Document, Parsed};
use crate::import::flat_text;
use crate::import::options;
use crate::import::ranges::numbers_after;
use crate::import::remark::{REMARK_BYTES_MAX, heading_status, moved_to, named_status, whole_status};
use crate::import::slug::slug;
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::pattern::Pattern;
use crate::report::{SourcePosition, WarningKind};
use containers::ContentsPage;
use entry::StateJsonEntry;
use section::{PrintedWording, StateJsonSection};
pub(crate) use settings::StateJsonSettings;

#[derive(Debug, Deserialize)]
struct Chapter {
    path: String,
    sections: Vec<StateJsonEntry>,
}

/// Whether a file is a chapter or the contents page. The manifest adds nothing to the plan.
pub fn wants(path: &str) -> bool {
    path.ends_with(".json") && file_name(path) != "manifest.json"
}

/// Reads a chapter, or the headings of a contents page.
pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    options::read_by(document, target, |settings: &StateJsonSettings| {
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

fn read_contents(
    contents: &ContentsPage,
    document: &Document,
    target: ImportTarget<'_>,
    settings: &StateJsonSettings,
) -> Parsed {
    let mut parsed = Parsed::default();
    let mut seen = BTreeSet::new();
    for chain in containers::listed(contents, settings) {
        let (mut nodes, handle) = containers::nodes(&chain, target, &document.position(1));
        // Each of the containers around it has its own entry, or none.
        if let Some(node) = nodes.pop().filter(|_| handle.is_some_and(|handle| seen.insert(handle))) {
            parsed.nodes.push(node);
        }
        parsed.inferred.append(&mut nodes);
    }
    parsed
}

fn read_chapter(
    chapter: &Chapter,
    document: &Document,
    target: ImportTarget<'_>,
    settings: &StateJsonSettings,
) -> Parsed {
    let mut parsed = Parsed::default();
    let twice = repetition::writes_twice(chapter.sections.iter().map(StateJsonEntry::text));
    let newest = chapter.sections.iter().filter_map(|entry| edition(entry, settings)).max();
    for (place, (entry, line)) in chapter.sections.iter().zip(entry_lines(&document.bytes)).enumerate() {
        let position = document.position(line);
        if let Some(year) = edition(entry, settings).filter(|year| Some(year) < newest.as_ref()) {
            let what = format!("'{}' repeats a section in its edition of {year}; left out", entry.number);
            parsed.warn(WarningKind::JunkEntry, position, what);
            parsed.left_out.extend(entry::left_out(entry, twice, "sections in an older edition"));
            continue;
        }
        match entry::section(entry, twice, settings) {
            Ok(section) => add(section, entry, place, &chapter.path, target, settings, &position, &mut parsed),
            Err(what) => {
                parsed.warn(WarningKind::JunkEntry, position, what);
                parsed.left_out.extend(entry::left_out(entry, twice, "entries that are not sections"));
            }
        }
    }
    parsed
}

fn edition<'e>(entry: &'e StateJsonEntry, settings: &StateJsonSettings) -> Option<&'e str> {
    settings.edition.as_ref()?.captures(&entry.number)?.get(1).map(|year| year.as_str())
}

/// The line of the number of each entry. JSON escapes quotation marks within texts, so these bytes
/// can only be a field name.
fn entry_lines(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (mut counted, mut line) = (0, 1);
    let places = memchr::memmem::find_iter(bytes, b"\"number\"").map(move |place| {
        line += memchr::memchr_iter(b'\n', &bytes[counted..place]).count() as u32;
        counted = place;
        line
    });
    places.chain(std::iter::repeat(1))
}

#[expect(clippy::too_many_arguments, reason = "used in one place only; a struct would only repeat the names")]
fn add(
    mut section: StateJsonSection,
    entry: &StateJsonEntry,
    place: usize,
    path: &str,
    target: ImportTarget<'_>,
    settings: &StateJsonSettings,
    position: &SourcePosition,
    parsed: &mut Parsed,
) {
    let chain = containers::chain(&section.number, path, settings);
    let (mut above, parent) = containers::nodes(&chain, target, position);
    parsed.inferred.append(&mut above);
    for (kind, what) in &section.faults {
        parsed.warn(*kind, position.clone(), what.clone());
    }
    parsed.left_out.append(&mut section.left_out);
    let provision = provision(section, entry, &format!("{path}#{place}"), target);
    if provision.content.status == Some(Status::InForce) && provision.content.text.as_deref() == Some("") {
        let what = format!("'{}' has no text in the source", provision.content.citation);
        parsed.warn(WarningKind::EmptyProvision, position.clone(), what);
    }
    let ParsedProvision { content, key, sort } = provision;
    let handle = NodeHandle::new(target.key, &format!("entry\n{path}\n{place}"));
    let on_repeat = if entry.is_of_contents_page() { OnRepeat::GiveWay } else { OnRepeat::Reconcile };
    parsed.nodes.push(NewNode { handle, parent, key, sort, on_repeat, content, position: position.clone() });
}

/// The status in a text such as `Sections 1-42 to 1-54, inclusive, are repealed.`, which is all
/// that is left of sections 1-42 to 1-54.
fn stated_status(number: &str, text: &str) -> Option<Status> {
    let stated = Pattern::fixed(concat!(
        r"^Sections? (?<first>\d[\w.:-]*)(?<more>(?:,? inclusive|(?:,? and|,| to) ?\d[\w.:-]*)*),?",
        r"(?: and other [^.;]{2,160}?)? (?:is|are) ",
        r"(?<rest>(?:repealed|deleted|reserved|omitted|transferred|recodified|renumbered|redesignated|expired)\b.*)",
    ));
    let stated = stated.captures(text)?;
    let numbers = Pattern::fixed(r"(to )?(\d[\w.:-]*)");
    let mut from = stated["first"].to_owned();
    let mut names = from == number;
    for next in numbers.captures_iter(&stated["more"]) {
        let is_range = next.get(1).is_some();
        let is_between = SortKey::of_number(&from) < SortKey::of_number(number)
            && SortKey::of_number(number) < SortKey::of_number(&next[2]);
        names |= next[2] == *number || (is_range && is_between);
        from = next[2].to_owned();
    }
    named_status(&stated["rest"]).filter(|_| names)
}

/// The status in a credit that is all that is left: `Former Section 1-2-3, titled Dogs, had the following history: 1999
/// Act No. 7. Repealed by 2017 Act No. 40.`
fn status_of_former(credit: &str) -> Option<Status> {
    let what_happened =
        Pattern::fixed(r"^Former (?:(?:Section|Chapter|Article)\b|\d).*[.,;] (?P<rest>[A-Z][a-z]+ by .*)$");
    named_status(&what_happened.captures(credit)?["rest"])
}

struct ParsedProvision {
    content: Content,
    key: String,
    sort: SortKey,
}

fn provision(
    section: StateJsonSection,
    entry: &StateJsonEntry,
    place: &str,
    target: ImportTarget<'_>,
) -> ParsedProvision {
    let cited = |number: &str| flat_text::citation(number, target);
    let citation = cited(&section.number);
    let range = section.last_number.iter().flat_map(|last| numbers_after(&section.number, last));
    let parallel_citations = range.map(|number| cited(&number)).collect();
    let url = Some(entry.source_url.clone()).filter(|url| !url.is_empty());
    let reference = url.clone().unwrap_or_else(|| place.to_owned());
    let reference = match &section.found_as {
        // If there is a section under its own name, it sorts first.
        Some(name) => format!("{reference} (found as {name})"),
        None => reference,
    };
    let mut wordings = section.wordings.into_iter().map(|wording| wording_content(wording, &section.number));
    let own = wordings.next().unwrap_or_default();
    let mut tags = target.tags.to_vec();
    tags.sort_unstable();
    let credit = own.source_credit.as_deref().unwrap_or_default();
    let is_gone = own.status.is_some_and(|status| !status.may_be_in_force());
    let remarks = [own.heading.as_str(), own.text.as_deref().unwrap_or_default()];
    let now = remarks.into_iter().filter(|_| is_gone).find_map(|remark| moved_to(&section.number, remark)).map(cited);
    let content = Content {
        now,
        citation: citation.clone(),
        former_citations: formerly_in_credit(&citation, credit),
        level: "section".into(),
        number: Some(section.number.clone()),
        tags,
        parallel_citations,
        wordings: wordings.collect(),
        source_url: url,
        reference,
        source: target.source,
        ..own
    };
    ParsedProvision {
        content,
        key: format!("{}/s{}", target.key, slug(&section.number)),
        sort: SortKey::of_citation(&citation),
    }
}

/// The content of one wording.
fn wording_content(wording: PrintedWording, number: &str) -> Content {
    let (text, layout) = flat_text::set(&run_in::separated(&wording.law));
    let named = heading_status(&wording.heading).or_else(|| named_status(&text));
    // Below a heading that is only a status, a longer text is an editor's.
    let named = named.filter(|_| text.len() <= REMARK_BYTES_MAX).or_else(|| whole_status(&wording.heading));
    // A sentence that names the section's own number states its status, whatever saving clause follows.
    let former = || wording.credit.as_deref().filter(|_| text.is_empty()).and_then(status_of_former);
    let stated = || stated_status(number, &text).or_else(|| stated_status(number, &wording.heading));
    let status = named.or_else(stated).or_else(former);
    let (of_heading, heading) = effect::of_heading(&wording.heading);
    let of_heading = of_heading.and(wording::effect_in_heading(&heading));
    let mut effect = of_heading.and(wording.effect).and(wording::effect_in(&wording.notes, number));
    let status = status.unwrap_or(Status::InForce);
    if !status.may_be_in_force() && effect.from.is_none() {
        // For `[Effective until July 1, 2025] Definitions.` followed by `Repealed.`, the wording
        // that was law until then is not printed.
        effect = Effect { from: effect.to.take(), then: None, ..effect };
    }
    Content {
        heading,
        status: Some(status),
        text: Some(text),
        layout,
        notes: flat_text::notes(&wording.notes),
        source_credit: wording.credit,
        effect,
        ..Content::default()
    }
}
