//! Sections: the provisions of a code.

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::notes::Notes;
use super::source::{OpenLawDocument, child, elements, words, words_of};
use super::{effect, law_text, numbers, remark, status};
use crate::content::{Content, NewNode, NodeHandle, OnRepeat};
use crate::effect::{Effect, PERMANENT as PERMANENT_WORDING};
use crate::import::crosswalk::formerly_in_notes;
use crate::import::ranges::numbers_after;
use crate::import::remark::moved_to;
use crate::import::slug::slug;
use crate::import::target::ImportTarget;
use crate::naming::NameParts;
use crate::order::SortKey;
use crate::report::WarningKind;

/// The mark of the permanent wording of a section that is printed in its title as temporarily amended.
const PERMANENT: &str = "(Perm)";
/// The maximum length of the part of a key that is made from a number.
const NUMBER_CHARS_MAX: usize = 120;

pub(super) fn add(source: &mut OpenLawDocument<'_, '_>, section: Node<'_, '_>, parent: Option<NodeHandle>) {
    let written = words_of(section, "num");
    let is_wording = written.ends_with(PERMANENT);
    if is_wording {
        source.parsed.leave_out("marks of permanent wordings", PERMANENT);
    }
    let number = written.strip_suffix(PERMANENT).unwrap_or(&written).trim().to_owned();
    if number.is_empty() {
        source.refuse(section, "this section has no number; every section needs a 'num'");
        return;
    }
    let (heading, others) = heading_and_others(source, section, &number);
    let (text, layout) = law_text::set(section);
    let mut notes = Notes::of(section);
    let remarks = || elements(section).filter(|part| remark::is_remark(section, *part));
    remarks().for_each(|remark| notes.add("Note", remark));
    let status = read_status(source, section, &heading, &text, &mut notes);
    if status.may_be_in_force() && text.is_empty() {
        source.warn(WarningKind::EmptyProvision, section, format!("section {number} is in force but has no text"));
    }
    let effect = match is_wording {
        // No date: it is law whenever the temporarily amended wording is not.
        true => Effect { remark: Some(PERMANENT_WORDING.to_owned()), ..Effect::default() },
        false => {
            // A reason such as `Applicable October 1, 2025` is about the last act.
            let reason = child(section, "reason").map(words).unwrap_or_default();
            let of_remarks = remark::effect_of(remarks());
            let is_temporary = !status.may_be_in_force() && of_remarks.to.is_some();
            let from = || match is_temporary {
                true => effect::since_temporary_acts(section),
                false => effect::effective_from(section, &number, status),
            };
            let of_reason = remark::effect_of_reason(&reason).unwrap_or_else(|| Effect::starting(from()));
            of_reason.and(of_remarks).and(remark::effect_of_text(&text))
        }
    };
    let (notes, source_credit) = notes.finish();
    let effect =
        if is_wording || !status.may_be_in_force() { effect } else { effect.and(remark::effect_of_notes(&notes)) };
    let target = source.target;
    let (key, citation, sort, name_parts) = if source.joins_numbers() {
        let parts = NameParts { number: number.clone(), ..NameParts::default() };
        (format!("{}/s{{number}}", target.key), template(target), SortKey::default(), Some(parts))
    } else {
        let citation = citation(target, &number);
        (key(target, &number), citation.clone(), SortKey::of_citation(&citation), None)
    };
    let mut tags = target.tags.to_vec();
    tags.sort_unstable();
    let now = moved_to(&number, &text).map(|number| self::citation(target, number));
    let former_citations = formerly_in_notes(&citation, &notes);
    let node = NewNode {
        handle: source.handle(section),
        parent,
        key,
        sort,
        on_repeat: if is_wording { OnRepeat::Wording } else { OnRepeat::Reconcile },
        content: Content {
            citation,
            heading,
            level: "section".into(),
            number: Some(number),
            status: Some(status),
            text: Some(text),
            layout,
            notes,
            source_credit,
            tags,
            former_citations,
            parallel_citations: others,
            now: now.filter(|_| status == Status::Transferred),
            effect,
            reference: source.document.path().to_owned(),
            source: target.source,
            name_parts,
            ..Content::default()
        },
        position: source.position(section),
    };
    source.parsed.nodes.push(node);
}

/// The heading of a section, and the citations of the other numbers that it represents: bare numbers if citations are
/// joined from those of the containers.
fn heading_and_others(
    source: &mut OpenLawDocument<'_, '_>,
    section: Node<'_, '_>,
    number: &str,
) -> (String, Vec<String>) {
    let written = words_of(section, "heading");
    let (heading, others) = match numbers::range_in_heading(number, &written) {
        Some((last, heading)) => {
            source.parsed.leave_out("the last numbers of ranges, which are citations", last);
            (heading.to_owned(), numbers_after(number, last))
        }
        None => (written, numbers::represented(number)),
    };
    let is_joined = source.joins_numbers();
    let cited = |number: String| if is_joined { number } else { citation(source.target, &number) };
    (heading, others.into_iter().map(cited).collect())
}

/// The key of a section.
pub(super) fn key(target: ImportTarget<'_>, number: &str) -> String {
    let own: String = slug(number).chars().take(NUMBER_CHARS_MAX).collect();
    format!("{}/s{own}", target.key)
}

/// The citation of a section.
pub(super) fn citation(target: ImportTarget<'_>, number: &str) -> String {
    template(target).replace("{number}", number)
}

fn template(target: ImportTarget<'_>) -> String {
    target.citation.map_or_else(|| format!("{} § {{number}}", target.code_body), str::to_owned)
}

fn read_status(
    source: &mut OpenLawDocument<'_, '_>,
    section: Node<'_, '_>,
    heading: &str,
    text: &str,
    notes: &mut Notes,
) -> Status {
    let by_heading = status::of_heading(heading, !text.is_empty());
    let by_text = || status::of_text(text).unwrap_or(by_heading);
    let by_words = || if by_heading.may_be_in_force() { by_text() } else { by_heading };
    let Some(reason) = child(section, "reason").map(words).filter(|reason| !reason.is_empty()) else {
        return by_words();
    };
    let by_reason = match remark::effect_of_reason(&reason) {
        Some(_) => Some(Status::InForce),
        None => status::of_reason(&reason),
    };
    if by_reason.is_none() {
        source.warn(
            WarningKind::UnknownStatus,
            section,
            format!("the reason '{reason}' is unknown; treated as in force"),
        );
    }
    if by_reason.is_none() || reason.contains(' ') {
        // The reason contains more than the status.
        notes.add_words("Status", &reason);
    }
    by_reason.unwrap_or_else(by_words)
}
