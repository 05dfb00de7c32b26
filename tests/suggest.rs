//! Suggestions over the sample corpus.

use hornbook::search::{QUERY_CHARS_MAX, QueryError, SUGGESTIONS_MAX, SearchError};
use hornbook_corpus::ids::NodeOrdinal;

use sample::ENGINE;

#[path = "support/sample.rs"]
mod sample;

fn texts(text: &str) -> Vec<String> {
    ENGINE.suggest(text, 8, None).unwrap().into_iter().map(|suggestion| suggestion.text).collect()
}

#[test]
fn headings_are_completed_and_typos_forgiven() {
    for typed in ["fences and h", "fences ", "Fences and Hedges", "fecnes and", "fences and hegdes"] {
        let found = texts(typed);
        assert!(found.first().is_some_and(|first| first == "Fences and hedges"), "'{typed}': {found:?}");
    }
    assert!(!ENGINE.suggest("fences", 1, None).unwrap()[0].is_guess);
    assert!(ENGINE.suggest("fecnes", 1, None).unwrap()[0].is_guess);
}

#[test]
fn headings_that_agree_are_one_suggestion_for_all_that_bear_it() {
    let found = ENGINE.suggest("definitions", 5, None).unwrap();
    assert_eq!((found[0].text.as_str(), found[0].kind), ("Definitions", "heading"));
    let snapshot = ENGINE.snapshot();
    let bearers = (0..snapshot.outline.len()).map(NodeOrdinal);
    let bearers = bearers.filter(|&node| snapshot.nodes.get(node).unwrap().heading == "Definitions").count();
    assert!(bearers > 2);
    assert_eq!(found[0].count as usize, bearers);
    assert!(found[0].status.is_living());
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
fn a_jurisdiction_suggests_its_own() {
    let snapshot = ENGINE.snapshot();
    for jurisdiction in snapshot.catalogue.jurisdictions.iter().filter(|jurisdiction| !jurisdiction.is_placeholder()) {
        let range = jurisdiction.subtree;
        for typed in ["d", "def", "permit", "fees"] {
            let found = ENGINE.suggest(typed, 50, Some(range)).unwrap();
            assert!(
                found.iter().all(|suggestion| range.contains(suggestion.node.0) && suggestion.count <= range.len())
            );
        }
    }
}

#[test]
fn what_was_meant_is_told_only_for_words_that_stand_nowhere() {
    let meant = |text: &str| ENGINE.did_you_mean(text).unwrap();
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
        assert!(ENGINE.suggest(typed, 1_000_000, None).unwrap().len() <= SUGGESTIONS_MAX);
        ENGINE.did_you_mean(typed).unwrap();
    }
    assert!(ENGINE.suggest("fence", 0, None).unwrap().is_empty());
    let too_long = format!("{long}.");
    for refused in [ENGINE.suggest(&too_long, 10, None).err(), ENGINE.did_you_mean(&too_long).err()] {
        assert!(matches!(refused, Some(SearchError::Query(QueryError::TooLong { chars: 1025 }))), "{refused:?}");
    }
}
