use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, Term};

use super::*;
use crate::analyzer::{ANALYZER_ID, Analyzer, TokenRole};
use crate::ids::{NodeOrdinal, OrdinalRange};

/// Enough for everything that a test writes.
const AMPLE_BUDGET: usize = 64 << 20;

/// Results in the smallest budget, which `many_nodes(3000)` fills several times.
const TINY_BUDGET: usize = 0;

#[derive(Clone, Debug, Default)]
struct Node {
    heading: String,
    text: Vec<String>,
    citation: String,
    breadcrumb: Vec<String>,
}

fn build(path: &Path, nodes: &[Node], budget: usize) -> KeywordStats {
    let mut writer = KeywordWriter::create(path, budget).unwrap();
    for node in nodes {
        let text: Vec<&str> = node.text.iter().map(String::as_str).collect();
        let breadcrumb: Vec<&str> = node.breadcrumb.iter().map(String::as_str).collect();
        let Node { heading, citation, .. } = node;
        writer.push(KeywordDocument { heading, text: &text, citation, breadcrumb: &breadcrumb }).unwrap();
    }
    writer.finish().unwrap()
}

fn build_and_open(nodes: &[Node], budget: usize) -> (tempfile::TempDir, KeywordIndex) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyword");
    build(&path, nodes, budget);
    let index = KeywordIndex::open(&path, nodes.len() as u32).unwrap();
    (dir, index)
}

fn file_bytes(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

/// Nodes that make several runs under the tiny budget, because each of them has words that the others do not have.
fn many_nodes(count: u32) -> Vec<Node> {
    let node = |number: u32| {
        if number.is_multiple_of(7) {
            return Node::default();
        }
        let own: Vec<String> =
            (0..60).map(|word| format!("w{:x}", (number * 60 + word).wrapping_mul(2_654_435_761))).collect();
        Node {
            heading: format!("Duties of officer {number}"),
            text: vec!["The officer shall keep a record of non-profit wages.".into(), own.join(" ")],
            citation: format!("42 U.S.C. § {number}a–1"),
            breadcrumb: vec!["Title 42—The Public Health".into(), format!("Chapter {}", number / 50)],
        }
    };
    (0..count).map(node).collect()
}

#[test]
fn document_ids_follow_push_order_for_any_number_of_runs() {
    let dir = tempfile::tempdir().unwrap();
    let nodes = many_nodes(3000);
    let path = dir.path().join("keyword");
    let stats = build(&path, &nodes, TINY_BUDGET);
    assert!(stats.run_count > 2, "the budget was meant to make several runs, not {}", stats.run_count);
    assert_eq!(stats.document_count, 3000);
    let index = KeywordIndex::open(&path, 3000).unwrap();
    index.verify_order().unwrap();
    for number in [1, 1499, 1500, 2999] {
        let found = index.matching(&format!("officer {number}"), OrdinalRange::new(0, 3000)).unwrap();
        assert!(found.contains(&NodeOrdinal(number)), "{number}: {found:?}");
    }
}

#[test]
fn the_same_documents_give_the_same_bytes_whatever_the_budget() {
    let dir = tempfile::tempdir().unwrap();
    let nodes = many_nodes(3000);
    let mut builds = Vec::new();
    for (name, budget) in
        [("first", AMPLE_BUDGET), ("second", AMPLE_BUDGET), ("third", TINY_BUDGET), ("fourth", 16 << 20)]
    {
        let path = dir.path().join(name);
        let stats = build(&path, &nodes, budget);
        let files = file_bytes(&path);
        let sizes: BTreeMap<String, u64> =
            files.iter().map(|(name, bytes)| (name.display().to_string(), bytes.len() as u64)).collect();
        assert_eq!(sizes, stats.files.into_iter().collect(), "exactly the files of the report are left");
        builds.push(files);
    }
    for (number, other) in builds.iter().enumerate().skip(1) {
        for (name, bytes) in &builds[0] {
            assert!(other[name] == *bytes, "build {number}: {} differs", name.display());
        }
    }
}

#[test]
fn the_store_is_that_of_an_index_without_documents() {
    let dir = tempfile::tempdir().unwrap();
    build(&dir.path().join("nothing"), &[], AMPLE_BUDGET);
    build(&dir.path().join("much"), &many_nodes(3000), TINY_BUDGET);
    let store = |name: &str| fs::read(dir.path().join(name).join("segment.store")).unwrap();
    assert_eq!(store("much"), store("nothing"));
}

#[test]
fn an_index_of_nothing_and_of_empty_nodes_opens() {
    for count in [0, 3] {
        let (_dir, index) = build_and_open(&vec![Node::default(); count], AMPLE_BUDGET);
        index.verify_order().unwrap();
        assert_eq!(index.document_count(), count as u32);
        assert_eq!(index.matching("officer", OrdinalRange::new(0, 10)).unwrap(), []);
    }
}

#[test]
fn an_existing_folder_is_not_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let error = KeywordWriter::create(dir.path(), AMPLE_BUDGET).unwrap_err().to_string();
    assert!(error.contains("create") && error.contains(&dir.path().display().to_string()), "{error}");
}

#[test]
fn another_number_of_nodes_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyword");
    build(&path, &many_nodes(5), AMPLE_BUDGET);
    let error = KeywordIndex::open(&path, 6).unwrap_err().to_string();
    assert!(error.contains("holds 5 documents, the snapshot has 6 nodes"), "{error}");
}

#[test]
fn an_index_of_another_analysis_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyword");
    build(&path, &many_nodes(5), AMPLE_BUDGET);
    let meta = fs::read_to_string(path.join("meta.json")).unwrap();
    fs::write(path.join("meta.json"), meta.replace(ANALYZER_ID, "older-analysis")).unwrap();
    let error = KeywordIndex::open(&path, 5).unwrap_err();
    assert!(matches!(error, KeywordError::OtherSchema { .. }), "{error}");
}

#[test]
fn a_missing_or_shortened_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyword");
    build(&path, &many_nodes(50), AMPLE_BUDGET);
    for (name, bytes) in file_bytes(&path) {
        let file = path.join(&name);
        let named = |what: &str| {
            let error = KeywordIndex::open(&path, 50).expect_err(what).to_string();
            assert!(error.contains(&file.display().to_string()), "{what}: {error}");
        };
        fs::remove_file(&file).unwrap();
        named("missing");
        for length in (0..bytes.len()).rev().take(200).chain(0..bytes.len().min(200)) {
            fs::write(&file, &bytes[..length]).unwrap();
            if name == Path::new("meta.json") && length + 1 == bytes.len() {
                // Only the line feed at the end is missing.
                continue;
            }
            named(&format!("cut to {length}"));
        }
        fs::write(&file, &bytes).unwrap();
    }
    KeywordIndex::open(&path, 50).unwrap();
}

#[test]
fn opening_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyword");
    build(&path, &many_nodes(50), AMPLE_BUDGET);
    let before = file_bytes(&path);
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions.clone()).unwrap();
    let index = KeywordIndex::open(&path, 50).unwrap();
    assert!(!index.matching("record", OrdinalRange::new(0, 50)).unwrap().is_empty());
    assert_eq!(file_bytes(&path), before);
    #[expect(clippy::permissions_set_readonly_false, reason = "only so that the temporary folder can be removed")]
    permissions.set_readonly(false);
    fs::set_permissions(&path, permissions).unwrap();
}

#[test]
fn a_range_bounds_the_matches_on_both_sides() {
    let (_dir, index) = build_and_open(&many_nodes(50), AMPLE_BUDGET);
    let found = index.matching("record keeping", OrdinalRange::new(6, 16)).unwrap();
    assert_eq!(found, [6, 8, 9, 10, 11, 12, 13, 15].map(NodeOrdinal));
    assert_eq!(index.matching("record", OrdinalRange::new(40, u32::MAX)).unwrap().len(), 8);
    assert_eq!(index.matching("record", OrdinalRange::new(900, 901)).unwrap(), []);
    assert_eq!(index.matching("record", OrdinalRange::new(5, 5)).unwrap(), []);
    assert_eq!(index.matching("§ —", OrdinalRange::new(0, 50)).unwrap(), []);
}

/// The words of a text that must match: all terms except the wholes of compounds.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    Analyzer::new().analyze(text, |token| {
        if token.role != TokenRole::Whole {
            words.insert(token.text.to_owned());
        }
    });
    words
}

fn naive_matching(nodes: &[Node], query: &str, range: OrdinalRange) -> Vec<NodeOrdinal> {
    let required = words(query);
    let has_all = |node: &Node| {
        let held: BTreeSet<String> = node.text.iter().chain([&node.heading]).flat_map(|text| words(text)).collect();
        !required.is_empty() && required.is_subset(&held)
    };
    let in_range = (0..nodes.len() as u32).filter(|&ordinal| range.contains(ordinal));
    in_range.filter(|&ordinal| has_all(&nodes[ordinal as usize])).map(NodeOrdinal).collect()
}

/// The positions of each term in the spans of a node, from the analysis alone. Between spans there is a gap of one.
fn naive_positions(spans: &[String]) -> BTreeMap<String, Vec<u32>> {
    let mut positions: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut offset = 0;
    for span in spans.iter().filter(|span| !span.is_empty()) {
        let mut end = offset;
        Analyzer::new().analyze(span, |token| {
            let position = offset + token.position;
            end = end.max(position + token.position_count);
            positions.entry(token.text.to_owned()).or_default().push(position);
        });
        offset = end + 1;
    }
    positions
}

fn indexed_positions(index: &KeywordIndex, field: Field, term: &str) -> BTreeMap<u32, Vec<u32>> {
    let inverted = index.segment().inverted_index(field).unwrap();
    let recorded = IndexRecordOption::WithFreqsAndPositions;
    let mut found = BTreeMap::new();
    if let Some(mut postings) = inverted.read_postings(&Term::from_field_text(field, term), recorded).unwrap() {
        while postings.doc() != tantivy::TERMINATED {
            let mut positions = Vec::new();
            postings.positions(&mut positions);
            found.insert(postings.doc(), positions);
            postings.advance();
        }
    }
    found
}

fn random_text() -> impl Strategy<Value = String> {
    let word =
        prop_oneof!["officer|record|wage|duty|non-profit|10b-5|5|10b|profit|shall|the|U\\.S\\.C\\.", "[a-d]{1,2}"];
    prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "))
}

fn random_node() -> impl Strategy<Value = Node> {
    (
        random_text(),
        prop::collection::vec(random_text(), 0..3),
        random_text(),
        prop::collection::vec(random_text(), 0..3),
    )
        .prop_map(|(heading, text, citation, breadcrumb)| Node { heading, text, citation, breadcrumb })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn matching_agrees_with_a_scan(
        nodes in prop::collection::vec(random_node(), 0..150),
        queries in prop::collection::vec((random_text(), 0_u32..160, 0_u32..160), 1..20),
    ) {
        let (_dir, index) = build_and_open(&nodes, TINY_BUDGET);
        index.verify_order().unwrap();
        for (query, start, len) in queries {
            let range = OrdinalRange::new(start, start + len);
            prop_assert_eq!(index.matching(&query, range).unwrap(), naive_matching(&nodes, &query, range), "{}", query);
        }
    }

    #[test]
    fn positions_are_those_of_the_analysis(nodes in prop::collection::vec(random_node(), 1..60)) {
        let (_dir, index) = build_and_open(&nodes, TINY_BUDGET);
        let KeywordFields { heading, text, .. } = index.fields();
        for (field, spans_of) in [
            (heading, (|node: &Node| vec![node.heading.clone()]) as fn(&Node) -> Vec<String>),
            (text, |node: &Node| node.text.clone()),
        ] {
            let mut expected: BTreeMap<String, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
            for (ordinal, node) in nodes.iter().enumerate() {
                for (term, positions) in naive_positions(&spans_of(node)) {
                    expected.entry(term).or_default().insert(ordinal as u32, positions);
                }
            }
            for (term, positions) in expected {
                prop_assert_eq!(indexed_positions(&index, field, &term), positions, "{}", term);
            }
        }
    }
}
