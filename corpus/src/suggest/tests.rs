use std::fs;

use proptest::prelude::*;

use super::words::edits_allowed;
use super::*;
use crate::ids::{NodeOrdinal, OrdinalRange};

/// A node: heading, citation, and whether it is in force.
type Node = (String, String, bool);

fn written(nodes: &[Node]) -> (tempfile::TempDir, Suggestions) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = SuggestWriter::default();
    for (node, (heading, citation, is_living)) in (0..).zip(nodes) {
        writer.push(NodeOrdinal(node), heading, citation, *is_living);
    }
    writer.finish(dir.path()).unwrap();
    let suggestions = Suggestions::open(dir.path()).unwrap();
    (dir, suggestions)
}

fn law() -> Vec<Node> {
    [
        ("Return of security deposit", "Arden Rev. Stat. § 24-2-201", true),
        ("Security deposits", "Arden Rev. Stat. § 24-2-202", true),
        ("Security deposit; limits on amount", "Arden Rev. Stat. § 24-2-203", true),
        ("Definitions", "3 S.F.C. § 823", true),
        ("Definitions", "3 S.F.C. § 832", true),
        ("DEFINITIONS.", "3 S.F.C. § 1823", false),
        ("Security of tugs", "3 S.F.C. § 140", false),
        ("Licensing of façade painters", "42 U.S.C. § 1395w–4", true),
        ("", "3 S.F.C. ch. 2", true),
    ]
    .map(|(heading, citation, is_living)| (heading.to_owned(), citation.to_owned(), is_living))
    .to_vec()
}

const ALL: OrdinalRange = OrdinalRange { start: 0, end: u32::MAX };

fn complete<'s>(suggestions: &'s Suggestions, text: &str, limit: usize, range: OrdinalRange) -> Vec<Suggested<'s>> {
    let Ok(found) = suggestions.complete(text, limit, range, || Ok::<(), std::convert::Infallible>(()));
    found
}

/// The nodes of each suggestion.
fn suggested(suggestions: &Suggestions, text: &str) -> Vec<Vec<u32>> {
    complete(suggestions, text, 10, ALL).iter().map(|found| found.nodes.to_vec()).collect()
}

#[test]
fn results_are_ordered_by_closeness_status_and_length() {
    let (_dir, suggestions) = written(&law());
    assert_eq!(suggested(&suggestions, "secur"), [[1], [2], [6], [0]]);
    assert_eq!(suggested(&suggestions, "Security Deposit"), [[1], [2], [0]]);
    assert_eq!(suggested(&suggestions, "security deposit "), [[2], [0], [1]], "then what nearly is so");
    assert_eq!(suggested(&suggestions, "deposit return"), [[0]]);
    assert_eq!(suggested(&suggestions, "facade"), [[7]]);
    assert_eq!(suggested(&suggestions, ""), Vec::<Vec<u32>>::new());
}

#[test]
fn equal_headings_share_one_entry() {
    let (_dir, suggestions) = written(&law());
    assert_eq!(suggested(&suggestions, "defin"), [[3, 4, 5]]);
    let inside = complete(&suggestions, "defin", 10, OrdinalRange { start: 4, end: 9 });
    assert_eq!(inside[0].nodes, [4, 5]);
    assert_eq!(inside[0].node(|node| node.0 == 5), NodeOrdinal(5));
    assert_eq!(inside[0].node(|_| false), NodeOrdinal(4));
    assert!(complete(&suggestions, "defin", 10, OrdinalRange { start: 0, end: 3 }).is_empty());
}

#[test]
fn citations_are_completed_in_any_spelling_and_numbers_are_never_guessed() {
    let (_dir, suggestions) = written(&law());
    assert_eq!(suggested(&suggestions, "3 sfc 8"), [[3], [4]]);
    assert_eq!(suggested(&suggestions, "3 S.F.C. § 823"), [[3]]);
    assert_eq!(suggested(&suggestions, "arden rev stat 24-2-2"), [[0], [1], [2]]);
    assert_eq!(suggested(&suggestions, "1395W-"), [[7]]);
    assert_eq!(complete(&suggestions, "3 sfc 8", 10, ALL)[0].kind, SuggestedKind::Citation);
}

#[test]
fn typos_are_tolerated_in_long_words() {
    let (_dir, suggestions) = written(&law());
    for text in ["definiitons", "defintions", "dfinitions", "definitoin", "difinision"] {
        assert_eq!(suggested(&suggestions, text), [[3, 4, 5]], "{text}");
    }
    assert_eq!(suggested(&suggestions, "retrun of scurity"), [[0]]);
    let closeness = |text: &str| complete(&suggestions, text, 10, ALL)[0].closeness;
    assert_eq!(closeness("return"), Closeness::Begins);
    assert_eq!(closeness("deposit"), Closeness::ContainsWords);
    assert_eq!(closeness("retrun"), Closeness::NearlyBegins);
    assert_eq!(closeness("depisit"), Closeness::NearlyContainsWords);
    assert!(suggested(&suggestions, "ot").is_empty(), "short words are taken as typed");
}

#[test]
fn nearest_word_corrects_only_unknown_words() {
    let (_dir, suggestions) = written(&law());
    assert_eq!(suggestions.nearest_word("secruity"), Some("security"));
    assert_eq!(suggestions.nearest_word("depositt"), Some("deposit"));
    assert_eq!(suggestions.nearest_word("security"), None);
    assert_eq!(suggestions.nearest_word("zebra"), None);
    assert_eq!(suggestions.nearest_word("824"), None);
}

/// Computes the edit distance with the textbook table. A swap of neighbours counts as one edit.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let exchanged = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let least = exchanged.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    let swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if swaps { least.min(table[i - 2][j - 2] + 1) } else { least }
                }
            };
        }
    }
    table[a.len()][b.len()]
}

/// Whether a word matches a typed one.
fn stands_for(word: &str, typed: &str, is_open: bool, edits: u8) -> bool {
    let (word, typed): (Vec<char>, Vec<char>) = (word.chars().collect(), typed.chars().collect());
    if edits > 0 && word[0].is_ascii_digit() {
        return word == typed;
    }
    let shortest = if is_open { 0 } else { word.len() };
    (shortest..=word.len()).any(|end| distance(&typed, &word[..end]) <= usize::from(edits))
}

/// Compares every entry with the typed text.
fn naive(suggestions: &Suggestions, text: &str, limit: usize, range: OrdinalRange) -> Vec<(u32, Closeness, Vec<u32>)> {
    let typed = parse_typed(text);
    let mut found = Vec::new();
    for entry in 0..suggestions.entry_count() {
        let nodes = suggestions.nodes(entry).iter().copied().filter(|&node| range.contains(node));
        let nodes: Vec<u32> = nodes.collect();
        let words: Vec<&str> = suggestions.row(entry).map(|word| suggestions.word(word)).collect();
        let is = |place: usize, word: &str, forgiving: bool| {
            let typed_word = &typed.words[place];
            let edits = if forgiving { edits_allowed(typed_word) } else { 0 };
            stands_for(word, typed_word, typed.last_is_open && place + 1 == typed.words.len(), edits)
        };
        let begins = |forgiving| {
            words.len() >= typed.words.len() && (0..typed.words.len()).all(|place| is(place, words[place], forgiving))
        };
        let has = |forgiving| (0..typed.words.len()).all(|place| words.iter().any(|word| is(place, word, forgiving)));
        let closeness = match () {
            _ if nodes.is_empty() || typed.words.is_empty() => continue,
            _ if begins(false) => Closeness::Begins,
            _ if has(false) => Closeness::ContainsWords,
            _ if begins(true) => Closeness::NearlyBegins,
            _ if has(true) => Closeness::NearlyContainsWords,
            _ => continue,
        };
        found.push((entry, closeness, nodes));
    }
    found.sort_by_key(|&(entry, closeness, _)| (closeness, entry));
    found.truncate(limit);
    found
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(return|retrun|returns|deposit|deposits|depot|security|securities|of|the|tax|taxes|facade|façade)",
        1 => "[ab]{1,9}",
        1 => "[1-9]{1,2}(-[1-3])?",
    ]
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(word(), count).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn suggestions_are_those_of_a_scan(
        nodes in prop::collection::vec((words(0..5), words(0..3), any::<bool>()), 0..60),
        typed in prop::collection::vec(("(return|deposti|secur|sceurity|tax|taxse|facad|a|b|ab|abab|aabb|babab|1|2-|of|the)", "( |  | - |)"), 1..4),
        limit in 1..8_usize,
        start in 0..40_u32,
        len in 0..80_u32,
    ) {
        let (_dir, suggestions) = written(&nodes);
        let text: String = typed.iter().map(|(word, gap)| format!("{word}{gap}")).collect();
        for range in [ALL, OrdinalRange { start, end: start + len }] {
            let found = complete(&suggestions, &text, limit, range);
            let found: Vec<_> = found.iter().map(|f| (f.entry, f.closeness, f.nodes.to_vec())).collect();
            prop_assert_eq!(found, naive(&suggestions, &text, limit, range), "'{}'", text);
        }
    }

    #[test]
    fn every_text_is_found_by_itself_and_entries_are_in_order(
        nodes in prop::collection::vec((words(0..6), words(0..3), any::<bool>()), 1..40)
    ) {
        let (_dir, suggestions) = written(&nodes);
        let mut last = None;
        for entry in 0..suggestions.entry_count() {
            let bearers = suggestions.nodes(entry);
            let is_dead = bearers.iter().all(|&node| !nodes[node as usize].2);
            let is_citation = suggestions.kind(entry) == SuggestedKind::Citation;
            let rank = Some((is_dead, is_citation));
            prop_assert!(last <= rank);
            last = rank;
        }
        for (node, (heading, citation, _)) in (0..).zip(&nodes) {
            for text in [heading, citation].into_iter().filter(|text| !words_of(text).is_empty()) {
                let found = complete(&suggestions, text, usize::from(u16::MAX), ALL);
                prop_assert!(found.iter().any(|found| found.nodes.contains(&node)), "'{}'", text);
            }
        }
    }

    #[test]
    fn the_same_law_gives_the_same_bytes_and_damaged_ones_never_panic(
        at in any::<prop::sample::Index>(), bit in 0..8_u32, text in "(secur|definiitons|3 sfc|of the|s)",
    ) {
        let (dir, _) = written(&law());
        let path = dir.path().join(FILE_NAME);
        let mut bytes = fs::read(&path).unwrap();
        prop_assert_eq!(&bytes, &fs::read(written(&law()).0.path().join(FILE_NAME)).unwrap());
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        fs::remove_file(&path).unwrap();
        fs::write(&path, &bytes).unwrap();
        let Ok(suggestions) = Suggestions::open(dir.path()) else { return Ok(()) };
        prop_assert!(complete(&suggestions, &text, 5, ALL).len() <= 5);
        suggestions.nearest_word("definiitons");
        for entry in 0..20 {
            prop_assert!(suggestions.row(entry).count() + suggestions.nodes(entry).len() < bytes.len());
        }
    }
}
