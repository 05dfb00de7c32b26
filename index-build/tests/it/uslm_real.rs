//! Tests the real titles and the volume of regulations, if the shared corpora are present.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hornbook_index_build::content::NewNode;
use hornbook_index_build::import::document::{Document, Parsed};
use hornbook_index_build::import::{uslm, xml};

use crate::common::{documents_in, target};
use crate::corpora::corpora;

mod account;
mod edition_2016;
mod golden;
mod references;

/// The titles with their parse results.
pub(crate) fn titles() -> Option<&'static [(Document, Parsed)]> {
    static READ: OnceLock<Option<Vec<(Document, Parsed)>>> = OnceLock::new();
    READ.get_or_init(|| {
        let documents = documents_in(&corpora()?.join("us-code-uslm-2025.tar.zst"), xml::is_source_file);
        Some(documents.into_iter().map(|document| read(document, "United States Code", "us/usc")).collect())
    })
    .as_deref()
}

fn regulations() -> Option<(Document, Parsed)> {
    let is_uslm: fn(&str) -> bool = |path| path.contains("/uslm/") && xml::is_source_file(path);
    let document = documents_in(&corpora()?.join("cfr-samples.tar.zst"), is_uslm).pop().unwrap();
    Some(read(document, "Code of Federal Regulations", "us/cfr"))
}

fn read(document: Document, name: &'static str, key: &'static str) -> (Document, Parsed) {
    let parsed = uslm::parse(&document, target(name, key));
    assert!(parsed.mistakes.is_empty(), "{:?}", parsed.mistakes);
    (document, parsed)
}

fn levels(parsed: &Parsed) -> BTreeMap<(&str, bool), usize> {
    let mut counts = BTreeMap::new();
    for node in &parsed.nodes {
        *counts.entry((node.content.level.as_str(), node.content.text.is_some())).or_default() += 1;
    }
    counts
}

#[test]
fn all_sections_rules_and_plans_are_there() {
    let Some(titles) = titles() else { return };
    let mut counts: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for (_, parsed) in titles {
        for (level, count) in levels(parsed) {
            *counts.entry(level).or_default() += count;
        }
    }
    // 3,398 sections with an identifier, and 20 sections of appendices, not in force, without one.
    assert_eq!(counts[&("section", true)], 3_398 + 20, "{counts:?}");
    assert_eq!(counts[&("rule", true)], 306);
    assert_eq!(counts[&("reorganization plan", true)], 107);
    // The images of an appendix to the bankruptcy rules.
    assert_eq!(counts[&("division", true)], 1);
    let provisions: usize = counts.iter().filter(|((_, is_provision), _)| *is_provision).map(|(_, count)| count).sum();
    assert_eq!(provisions, 3_832);
    let containers: Vec<_> = counts.iter().filter(|((_, is_provision), _)| !is_provision).collect();
    println!("containers: {containers:?}");
    let mut warnings: BTreeMap<String, usize> = BTreeMap::new();
    for (_, position, what) in titles.iter().flat_map(|(_, parsed)| &parsed.warnings) {
        println!("{position}: {what}");
        *warnings.entry(what.clone()).or_default() += 1;
    }
    println!("{} warnings", warnings.len());
}

/// Counted with a separate reader: 343 sections have a note in a known form. 15 of them have two
/// dates, and 14 have a note about only a part of the last law. The 91 different paragraphs that
/// date the others, and 12 with exceptions, were read by eye.
#[test]
fn dates_of_present_wordings_are_those_of_notes() {
    let Some(titles) = titles() else { return };
    let dated = |level: &str| {
        let nodes = titles.iter().flat_map(|(_, parsed)| &parsed.nodes).map(|node| &node.content);
        nodes.filter(|content| content.level == level && content.effect.from.is_some()).count()
    };
    assert_eq!((dated("section"), dated("rule")), (313, 299));
    let date = |key: &str| {
        let mut nodes = titles.iter().flat_map(|(_, parsed)| &parsed.nodes);
        nodes.find(|node| node.key == key).unwrap().content.effect.from.as_deref()
    };
    // One year after September 16, 2011, as the publisher counts it elsewhere.
    assert_eq!(date("us/usc/t35/s132"), Some("2012-09-16"));
    assert_eq!(date("us/usc/t44/s3563"), Some("2019-07-13"));
    assert_eq!(date("us/usc/t4/s119"), Some("2000-07-28"));
    // Exceptions, one of which has an earlier date; and words on the cases that the wording governs.
    assert_eq!((date("us/usc/t35/s6"), date("us/usc/t35/s326")), (None, None));
    assert_eq!(date("us/usc/t35/s119"), Some("2013-12-18"));
    // Two sections of the last law took effect on different days; and the later of two dates.
    assert_eq!((date("us/usc/t17/s104"), date("us/usc/t35/s381")), (None, None));
}

#[test]
fn all_sections_of_the_regulations_are_there() {
    let Some((_, parsed)) = regulations() else { return };
    let counts = levels(&parsed);
    println!("{counts:?} {:?}", parsed.warnings);
    assert_eq!(counts[&("section", true)], 1_023);
    assert_eq!(counts[&("part", false)], 11);
}

/// 74 reorganization plans and six sections of older acts have labels only in their words. Court
/// rules have none.
#[test]
fn enumerated_words_have_labels_in_the_layout() {
    let Some(titles) = titles() else { return };
    let nodes = titles.iter().flat_map(|(_, parsed)| &parsed.nodes);
    let is_enumerated = |node: &NewNode| {
        let text = node.content.text.as_deref().unwrap_or_default();
        let firsts = ["(a) ", "(1) ", "Section 1. ", "Sec. 2. "];
        text.lines().any(|line| firsts.iter().any(|first| line.starts_with(first)))
    };
    let has_labels = |node: &NewNode| node.content.layout.lines.iter().any(|line| line.label_bytes() > 0);
    let bare: Vec<&str> =
        nodes.filter(|node| is_enumerated(node) && !has_labels(node)).map(|node| node.key.as_str()).collect();
    assert_eq!(bare, [""; 0]);
}

#[test]
fn all_layouts_fit_their_texts() {
    let Some(titles) = titles() else { return };
    let regulations = regulations().into_iter().map(|(_, parsed)| parsed).collect::<Vec<_>>();
    for node in titles.iter().map(|(_, parsed)| parsed).chain(&regulations).flat_map(|parsed| &parsed.nodes) {
        let text = (node.content.text.as_deref().unwrap_or_default(), &node.content.layout);
        let notes = node.content.notes.iter().map(|note| (note.text.as_str(), &note.layout));
        for (text, layout) in std::iter::once(text).chain(notes).filter(|(text, _)| !text.is_empty()) {
            assert_eq!(layout.check_against_text(text), None, "{}", node.key);
        }
    }
}
