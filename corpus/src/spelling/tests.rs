use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::edits::edit_distance;

fn spelling(dir: &Path, texts: &[String]) -> Spelling {
    let mut counts = WordCounts::default();
    texts.iter().for_each(|text| counts.add_node([text.as_str()]));
    counts.finish(dir, []).unwrap();
    Spelling::open(dir).unwrap()
}

#[test]
fn words_are_found_with_their_counts() {
    let dir = tempfile::tempdir().unwrap();
    let texts = ["Security deposit", "The deposit of a tenant", "Tenants"].map(str::to_owned);
    let spelling = spelling(dir.path(), &texts);
    assert_eq!(spelling.word_count(), 5);
    for (word, nodes) in [("deposit", 2), ("security", 1), ("tenant", 1), ("landlord", 0), ("of", 0), ("Deposit", 0)] {
        assert_eq!(spelling.nodes_with(word), nodes, "{word}");
    }
    let near = |word: &str, edits| -> Vec<(&str, u8)> {
        spelling.near(word, edits).iter().map(|near| (near.word, near.edits)).collect()
    };
    assert_eq!(near("depositt", 2), [("deposit", 1)]);
    assert_eq!(near("tenatn", 1), [("tenant", 1)]);
    assert_eq!(near("tenants", 1), [("tenant", 1), ("tenants", 0)]);
    assert_eq!(near("mortgage", 2), []);
    assert_eq!(near("123", 2), []);
}

#[test]
fn an_empty_word_list_works() {
    let dir = tempfile::tempdir().unwrap();
    let spelling = spelling(dir.path(), &[]);
    assert_eq!((spelling.word_count(), spelling.nodes_with("tenant")), (0, 0));
    assert_eq!(spelling.near("tenant", 2), []);
}

#[test]
fn a_file_whose_sections_disagree_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = crate::section_file::SectionWriter::create(&dir.path().join(FILE_NAME), file::KIND, 4).unwrap();
    out.section("lengths", &[0_u32; WORD_LETTERS_MAX + 2]).unwrap();
    out.section("words", b"abc").unwrap();
    out.section("letters", &[7_u32]).unwrap();
    out.section("nodes", &[1_u32]).unwrap();
    out.finish().unwrap();
    let message = Spelling::open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("spelling.bin") && message.contains("number of words"), "{message}");
}

proptest! {
    /// `near` finds the same words as a comparison with every word.
    #[test]
    fn near_finds_all_near_words(
        texts in prop::collection::vec("([a-c]{3,9} ){0,12}", 0..8), typed in "[a-c]{3,9}", edits_max in 0..3_u8,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let spelling = spelling(dir.path(), &texts);
        let mut nodes: BTreeMap<(usize, &str), u32> = BTreeMap::new();
        for text in &texts {
            let words: std::collections::BTreeSet<&str> = text.split_ascii_whitespace().collect();
            words.into_iter().for_each(|word| *nodes.entry((word.len(), word)).or_default() += 1);
        }
        let mut expected = Vec::new();
        for (&(_, word), &nodes) in &nodes {
            prop_assert_eq!(spelling.nodes_with(word), nodes);
            expected.extend(edit_distance(&typed, word, edits_max).map(|edits| NearWord { word, nodes, edits }));
        }
        prop_assert_eq!(spelling.near(&typed, edits_max), expected);
    }
}
