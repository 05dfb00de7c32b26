//! Tests how well citations are found. The citations of a hundred provisions of the District of
//! Columbia Code, picked at random once, were written down by eye (ids and targets only), and are
//! compared with what the citation grammar finds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hornbook_corpus::citation::{EnclosingProvision, Grammar, Locator};

use crate::corpora::corpora;
use crate::open_law_source::{district, documents};

/// The sections of the same code that a text cites. For a range, the first and the last.
fn found(grammar: &Grammar, own: &str, text: &str) -> BTreeSet<String> {
    let citation = grammar.parse(&format!("D.C. Code § {own}")).unwrap();
    let cited = grammar.find_in_provision(text, EnclosingProvision::of(&citation).unwrap());
    let ends = cited.filter(|(_, cited)| cited.body == citation.body).flat_map(|(_, cited)| match cited.place {
        Locator::Numbered { number, last, .. } => std::iter::once(number).chain(last).collect(),
        Locator::Constitution(_) => Vec::new(),
    });
    ends.map(String::from).filter(|number| number != own).collect()
}

#[test]
fn citations_of_a_hundred_provisions_are_found() {
    let Some(corpora) = corpora() else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/open-law-references.tsv");
    let golden = std::fs::read_to_string(path).unwrap();
    let expected: BTreeMap<&str, BTreeSet<&str>> = golden
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(own, cited)| (own, cited.split_whitespace().collect()))
        .collect();
    assert_eq!(expected.len(), 100);
    let documents = documents(&corpora.join(district().archive));
    let is_picked = |place: &str| {
        let file = place.rsplit('/').next().unwrap_or_default().trim_end_matches(".xml").replace('~', ":");
        expected.contains_key(file.as_str())
    };
    let (mut right, mut named, mut all_found) = (0, 0, 0);
    for document in documents.iter().filter(|document| is_picked(&document.place)) {
        let mut parsed = hornbook_index_build::import::open_law::parse(document, district().target());
        let content = parsed.nodes.remove(0).content;
        let own = content.number.unwrap();
        let found = found(Grammar::built_in(), &own, content.text.as_deref().unwrap_or_default());
        let expected = &expected[own.as_str()];
        let missed: Vec<_> = expected.iter().filter(|number| !found.contains(**number)).collect();
        let wrong: Vec<_> = found.iter().filter(|number| !expected.contains(number.as_str())).collect();
        if !missed.is_empty() || !wrong.is_empty() {
            println!("{own}: missed {missed:?}, wrong {wrong:?}");
        }
        right += found.iter().filter(|number| expected.contains(number.as_str())).count();
        named += expected.len();
        all_found += found.len();
    }
    println!("precision {right}/{all_found}, recall {right}/{named}");
    assert_eq!(named, expected.values().map(BTreeSet::len).sum::<usize>());
    assert!(right * 100 >= all_found * 90, "precision {right}/{all_found}");
    assert!(right * 100 >= named * 80, "recall {right}/{named}");
}
