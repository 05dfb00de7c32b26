//! Sections of codes whose documents list each section under its containers: the common part of
//! municipal HTML and plain text.
//!
//! Such documents often begin a chapter with a list of its sections, in the same form as the
//! sections themselves. An entry without text is treated as a line of such a list if the same
//! number has a text elsewhere in the document.

use std::collections::HashSet;

use hornbook_corpus::layout::Layout;
use hornbook_corpus::outline::Status;

use crate::content::{Content, NewNode, NodeHandle, OnRepeat};
use crate::effect::Effect;
use crate::import::document::{Document, Parsed};
use crate::import::flat_text;
use crate::import::levels::Label;
use crate::import::remark::{REMARK_BYTES_MAX, named_status};
use crate::import::slug::slug;
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::report::WarningKind;

/// A section as read from the document.
#[derive(Debug, Default)]
pub(crate) struct FlatSection {
    pub(crate) line: u32,
    pub(crate) number: String,
    pub(crate) heading: String,
    pub(crate) text: String,
    pub(crate) layout: Layout,
    pub(crate) credit: Option<String>,
    pub(crate) effect: Effect,
    /// The containers around it, outermost first.
    pub(crate) path: Vec<FlatContainer>,
}

impl FlatSection {
    /// The status of the section. Without text, it may be stated after the heading or in the acts
    /// of the history. Some sections keep the repealed text:
    /// `Repealed 07-16-2024 Treatment Bypasses`. But in `Reserved Name`, the heading is about a
    /// name that can be reserved.
    fn status(&self) -> Status {
        let short = self.text.len() <= REMARK_BYTES_MAX;
        let by_heading = named_status(&self.heading).filter(|status| short || *status == Status::Repealed);
        let named = by_heading.or_else(|| named_status(&self.text).filter(|_| short));
        let of_acts = || {
            let is_repealed = self.credit.as_ref().is_some_and(|acts| acts.contains("Repealed"));
            is_repealed.then_some(Status::Repealed)
        };
        let left = || if self.text.is_empty() { remark_behind(&self.heading).or_else(of_acts) } else { None };
        named.or_else(left).unwrap_or(Status::InForce)
    }
}

/// The status in the remark at the end of a heading: `Utility Board (Reserved)`.
fn remark_behind(heading: &str) -> Option<Status> {
    heading.rsplit_once('(').and_then(|(_, remark)| named_status(remark))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlatContainer {
    pub(crate) line: u32,
    /// A heading such as `Title 10 - Traffic`, which contains level, number and heading.
    pub(crate) heading: String,
}

/// The nodes of the sections of a document and of their containers.
pub(crate) fn into_nodes(sections: Vec<FlatSection>, document: &Document, target: ImportTarget<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    // The last line of a list may have the history of the chapter. A section that is repealed may have no more than that.
    let is_empty = |section: &FlatSection| {
        section.text.is_empty() && (section.credit.is_none() || section.status().may_be_in_force())
    };
    let set: HashSet<String> =
        sections.iter().filter(|section| !is_empty(section)).map(|section| section.number.clone()).collect();
    let mut listed = HashSet::new();
    for (place, section) in sections.into_iter().enumerate() {
        if is_empty(&section) && (set.contains(&section.number) || !listed.insert(section.number.clone())) {
            let credit = section.credit.as_deref().unwrap_or_default();
            parsed
                .leave_out("entries of lists of sections", format!("{} {} {credit}", section.number, section.heading));
            continue;
        }
        let position = document.position(section.line);
        if section.text.is_empty() && section.status().may_be_in_force() {
            let what = format!("'{}' is in force but has no text", section.number);
            parsed.warn(WarningKind::EmptyProvision, position.clone(), what);
        }
        let parent = infer_containers(&section.path, document, target, &mut parsed);
        let reference = format!("{}#{}", document.path().rsplit('/').next().unwrap_or_default(), section.number);
        let handle = NodeHandle::new(target.key, &format!("section\n{}\n{place}", document.place));
        let (content, key, sort) = into_content(section, reference, target);
        parsed.nodes.push(NewNode { handle, parent, key, sort, on_repeat: OnRepeat::Reconcile, content, position });
    }
    parsed
}

/// Adds a chapter of which only the heading is left: `2.28 Chief of Police (Repealed)`.
pub(crate) fn add_container_without_sections(
    number: &str,
    path: &[FlatContainer],
    document: &Document,
    target: ImportTarget<'_>,
    parsed: &mut Parsed,
) {
    infer_containers(path, document, target, parsed);
    let Some(own) = parsed.inferred.last_mut() else { return };
    own.sort = SortKey::of_citation(&flat_text::citation(number, target));
    own.content.status = remark_behind(&own.content.heading);
}

/// Adds the containers of a path, and returns the handle of the innermost one.
pub(crate) fn infer_containers(
    path: &[FlatContainer],
    document: &Document,
    target: ImportTarget<'_>,
    parsed: &mut Parsed,
) -> Option<NodeHandle> {
    let (mut key, mut citation, mut parent) = (target.key.to_owned(), target.code_body.to_owned(), None);
    let mut name = String::from("path");
    for container in path {
        let heading = container.heading.as_str();
        let label = Label::of(heading);
        key = format!("{key}/{}", label.key_part(heading));
        citation = format!("{citation}, {}", label.citation_part(heading));
        // Lists of contents and running heads write headings in capitals, so containers are
        // identified by number.
        name = format!("{name}\n{}", label.key_part(heading));
        let handle = NodeHandle::new(target.key, &name);
        let content = Content {
            citation: citation.clone(),
            heading: heading.to_owned(),
            level: label.level.to_ascii_lowercase(),
            number: label.number.map(str::to_owned),
            reference: name.clone(),
            source: target.source,
            ..Content::default()
        };
        let (sort, position) = (SortKey::default(), document.position(container.line));
        let on_repeat = OnRepeat::Reconcile;
        parsed.inferred.push(NewNode { handle, parent, key: key.clone(), sort, on_repeat, content, position });
        parent = Some(handle);
    }
    parent
}

fn into_content(section: FlatSection, reference: String, target: ImportTarget<'_>) -> (Content, String, SortKey) {
    let citation = flat_text::citation(&section.number, target);
    let key = format!("{}/s{}", target.key, slug(&section.number));
    let sort = SortKey::of_citation(&citation);
    let status = section.status();
    let mut tags = target.tags.to_vec();
    tags.sort_unstable();
    let content = Content {
        citation,
        heading: section.heading,
        level: "section".into(),
        number: Some(section.number),
        status: Some(status),
        text: Some(section.text),
        layout: section.layout,
        source_credit: section.credit,
        effect: section.effect,
        tags,
        reference,
        source: target.source,
        ..Content::default()
    };
    (content, key, sort)
}
