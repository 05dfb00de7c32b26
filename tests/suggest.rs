//! Suggestions in the sample corpus.

use std::sync::atomic::{AtomicUsize, Ordering};

use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_search::{
    CancelCheck, QUERY_CHARS_MAX, QueryError, SUGGESTIONS_MAX, SearchError, SuggestRequest, Suggestion,
};

use sample::ENGINE;

#[path = "support/sample.rs"]
mod sample;

fn suggest(text: &str, limit: usize, range: Option<OrdinalRange>) -> Vec<Suggestion> {
    ENGINE.suggest(&SuggestRequest { limit, range, ..SuggestRequest::new(text) }).unwrap().suggestions
}

fn texts(text: &str) -> Vec<String> {
    suggest(text, 8, None).into_iter().map(|suggestion| suggestion.text).collect()
}

#[test]
fn headings_are_completed_and_typos_forgiven() {
    for typed in ["fences and h", "fences ", "Fences and Hedges", "fecnes and", "fences and hegdes"] {
        let found = texts(typed);
        assert!(found.first().is_some_and(|first| first == "Fences and hedges"), "'{typed}': {found:?}");
    }
    assert!(!suggest("fences", 1, None)[0].is_guess);
    assert!(suggest("fecnes", 1, None)[0].is_guess);
}

#[test]
fn equal_headings_are_one_suggestion() {
    let found = suggest("definitions", 5, None);
    assert_eq!((found[0].text.as_str(), found[0].kind), ("Definitions", "heading"));
    let snapshot = ENGINE.snapshot();
    let bearers = (0..snapshot.outline.len()).map(NodeOrdinal);
    let bearers = bearers.filter(|&node| snapshot.nodes.get(node).unwrap().wording(0).heading == "Definitions").count();
    assert!(bearers > 2);
    assert_eq!(found[0].count as usize, bearers);
    assert!(found[0].status.may_be_in_force());
    assert!(found[1..].iter().all(|other| other.text != "Definitions"));
}

#[test]
fn citations_are_completed_in_the_spelling_of_the_law() {
    let found = texts("arden rev stat 12-2-10");
    assert!(found[0].starts_with("Arden Rev. Stat. § 12-2-10"), "{found:?}");
    assert_eq!(texts("3 sfc 823")[0], "3 S.F.C. § 823");
    assert_eq!(texts("port arden mun. code § 17.40.03")[0], "Port Arden Mun. Code § 17.40.030");
    let wrong_number = texts("3 sfc 8239");
    assert!(!wrong_number.contains(&"3 S.F.C. § 823".to_owned()), "{wrong_number:?}");
}

#[test]
fn suggestions_obey_the_jurisdiction() {
    let snapshot = ENGINE.snapshot();
    for jurisdiction in snapshot.catalogue.jurisdictions.iter().filter(|jurisdiction| !jurisdiction.is_placeholder()) {
        let range = jurisdiction.subtree;
        for typed in ["d", "def", "permit", "fees"] {
            let found = suggest(typed, 50, Some(range));
            assert!(
                found.iter().all(|suggestion| range.contains(suggestion.node.0) && suggestion.count <= range.len())
            );
        }
    }
}

#[test]
fn did_you_mean_only_appears_for_unknown_words() {
    let meant = |text: &str| ENGINE.suggest(&SuggestRequest::new(text)).unwrap().did_you_mean;
    assert_eq!(meant("secruity deposit").as_deref(), Some("security deposit"));
    assert_eq!(meant("harbour  DEFINITOINS, § 823?").as_deref(), Some("harbor  definitions, § 823?"));
    assert_eq!(meant("security deposit"), None);
    assert_eq!(meant("824 xyzzyx qqqqqqqqqq"), None);
    assert_eq!(meant(""), None);
}

#[test]
fn anything_typed_is_answered_within_bounds() {
    let long: String = "fence ".chars().cycle().take(QUERY_CHARS_MAX).collect();
    for typed in ["", " ", "-", "§", "\"", "a", "the ", "é\u{301}\u{feff}", long.as_str(), &"x".repeat(1000)] {
        assert!(suggest(typed, 1_000_000, None).len() <= SUGGESTIONS_MAX);
    }
    assert!(suggest("fence", 0, None).is_empty());
    let too_long = format!("{long}.");
    let refused = ENGINE.suggest(&SuggestRequest::new(&too_long)).err();
    assert!(matches!(refused, Some(SearchError::Query(QueryError::TooLong { chars: 1025 }))), "{refused:?}");
}

#[test]
fn suggestions_stop_when_their_client_has_disconnected() {
    // Each word is misspelt and near a word of some heading.
    let text = "defintions secruity depositt permitt";
    let (asked, last) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let is_abandoned = || asked.fetch_add(1, Ordering::Relaxed) + 1 == last.load(Ordering::Relaxed);
    let plain = SuggestRequest::new(text);
    let watched = SuggestRequest { abandoned: CancelCheck::when(&is_abandoned), ..plain };
    assert_eq!(ENGINE.suggest(&watched).unwrap(), ENGINE.suggest(&plain).unwrap());
    let steps = asked.load(Ordering::Relaxed);
    assert!(steps >= 9, "asked {steps} times for four words that are looked for twice");
    for step in 1..=steps {
        asked.store(0, Ordering::Relaxed);
        last.store(step, Ordering::Relaxed);
        assert!(matches!(ENGINE.suggest(&watched), Err(SearchError::Abandoned)));
        assert_eq!(asked.load(Ordering::Relaxed), step, "the suggestions continued after they were abandoned");
    }
}
