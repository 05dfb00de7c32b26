//! Cross references in 200 provisions picked at random once: compares the citations that the
//! grammar finds with the actual ones.
//!
//! The list was made by a second, independent way of finding citations. Every disagreement was then
//! decided by reading the text. `references.txt` has a line for each provision: its key and the
//! citations of the United States Code in its text, except those of itself, as citation keys.
//! Chapters and titles are not provisions and are not counted.

use std::collections::BTreeSet;
use std::path::Path;

use hornbook_corpus::citation::{Citation, EnclosingProvision, Grammar, Locator, Unit};
use hornbook_index_build::content::Content;

use super::titles;

fn golden() -> Vec<(String, BTreeSet<String>)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/uslm_real/references.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut words = line.split(' ');
        (words.next().unwrap().to_owned(), words.map(str::to_owned).collect())
    });
    lines.collect()
}

fn is_section(citation: &Citation) -> bool {
    matches!(citation.place, Locator::Numbered { unit: Unit::Section, .. })
}

/// The citations found in the text of a provision.
fn found(content: &Content) -> BTreeSet<String> {
    let grammar = Grammar::built_in();
    let text = content.text.as_deref().unwrap();
    let own = grammar.parse(&content.citation).ok();
    let own_key = own.as_ref().map(|own| grammar.key(own).to_string());
    let found: Vec<_> = match own.as_ref().and_then(EnclosingProvision::of) {
        Some(home) => grammar.find_in_provision(text, home).collect(),
        None => grammar.find_in(text).collect(),
    };
    let sections = found.into_iter().filter(|(_, citation)| is_section(citation));
    let keys = sections.map(|(_, citation)| grammar.key(&citation).to_string());
    keys.filter(|key| key.starts_with("us/usc/") && Some(key) != own_key.as_ref()).collect()
}

#[test]
fn citations_in_two_hundred_provisions_are_found() {
    let Some(titles) = titles() else { return };
    let golden = golden();
    assert_eq!(golden.len(), 200);
    let nodes = || titles.iter().flat_map(|(_, parsed)| &parsed.nodes);
    let (mut right, mut wrong, mut missed) = (0, Vec::new(), Vec::new());
    for (key, cited) in &golden {
        let node = nodes().find(|node| node.key == *key).unwrap_or_else(|| panic!("{key}"));
        let found = found(&node.content);
        right += found.intersection(cited).count();
        wrong.extend(found.difference(cited).map(|one| format!("{key}: {one}")));
        missed.extend(cited.difference(&found).map(|one| format!("{key}: {one}")));
    }
    let precision = right as f64 / (right + wrong.len()) as f64;
    let recall = right as f64 / (right + missed.len()) as f64;
    println!("{right} right, precision {precision:.3}, recall {recall:.3}");
    println!("wrong: {wrong:#?}\nmissed: {missed:#?}");
    // Most missed citations are in lists without the word "section", or in
    // `sections 3302 and 3509 of subtitle I of title 41`.
    assert!(precision >= 0.97, "{precision}");
    assert!(recall >= 0.84, "{recall}");
}
