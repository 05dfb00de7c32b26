//! Tests the codes of two cities and a tribe, which publish in the same format as the District of
//! Columbia, with the real files, if present.

use std::collections::BTreeMap;

use hornbook_corpus::outline::Status;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::report::WarningKind;

use crate::corpora::corpora;
use crate::open_law_source::{Node, OpenLawSource, baltimore, documents, import, san_mateo, turtle_mountain};

/// The code of a publisher, without its ordinances and registers. Prints a message and returns None
/// if the files are missing.
fn code(plan: &OpenLawSource) -> Option<Vec<Document>> {
    let all = documents(&corpora()?.join(plan.archive));
    Some(all.into_iter().filter(|document| document.path().contains(plan.folder)).collect())
}

fn statuses(nodes: &[Node]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.is_provision()) {
        *counts.entry(node.content.status.unwrap_or(Status::InForce).as_str()).or_default() += 1;
    }
    counts
}

/// Two of the 1,773 section elements of San Mateo, and four of the 6,117 of Baltimore, are quoted
/// in another section.
#[test]
fn the_codes_of_san_mateo_and_turtle_mountain_are_read_whole() {
    for (plan, sections) in [(san_mateo(), 1_771), (turtle_mountain(), 3_753)] {
        let Some(documents) = code(&plan) else { return };
        let (nodes, warnings) = import(&documents, &plan).unwrap();
        let (kept, counts) = warnings.into_parts();
        println!("{}: {:?} {counts:?}", plan.code_body, statuses(&nodes));
        kept.iter().take(40).for_each(|warning| println!("{warning}"));
        assert_eq!(nodes.iter().filter(|node| node.is_provision()).count(), sections, "{}", plan.code_body);
    }
}

/// Of the 3,752 rows of the table, another reader finds 27 with a former number that two or three rows have.
#[test]
fn sections_of_turtle_mountain_know_the_numbers_before_the_recodification() {
    let plan = turtle_mountain();
    let Some(documents) = code(&plan) else { return };
    let (nodes, warnings) = import(&documents, &plan).unwrap();
    let former: Vec<&Node> = nodes.iter().filter(|node| !node.content.former_citations.is_empty()).collect();
    assert_eq!((former.len(), warnings.into_parts().1[&WarningKind::UnreadRenumbering]), (3_725, 27));
    let section = former.iter().find(|node| node.content.citation == "Turtle Mountain Tribal Code § 1.02.020").unwrap();
    assert_eq!(section.content.former_citations, ["Turtle Mountain Tribal Code § 1.0202"]);
    assert!(former.iter().all(|node| node.content.former_citations.len() == 1));
}

/// Its section numbers start again in each article, which no citation template can express yet, so
/// only the parser is tested.
#[test]
fn the_code_of_baltimore_is_parsed_without_a_mistake() {
    let plan = baltimore();
    let Some(documents) = code(&plan) else { return };
    let parsed =
        documents.iter().map(|document| hornbook_index_build::import::open_law::parse(document, plan.target()));
    let (mut provisions, mut warnings) = (0, BTreeMap::new());
    for parsed in parsed {
        assert!(parsed.mistakes.is_empty(), "{:?}", parsed.mistakes);
        provisions += parsed.nodes.iter().filter(|node| node.content.text.is_some()).count();
        for (kind, position, what) in parsed.warnings {
            *warnings.entry(kind).or_insert(0) += 1;
            println!("{position}: {what}");
        }
    }
    println!("{provisions} provisions, {warnings:?}");
    assert_eq!(provisions, 6_113);
}
