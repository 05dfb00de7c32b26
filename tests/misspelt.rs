//! Searches in the sample corpus with misspelt words.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_search::{Mode, SearchRequest, SearchResponse};
use proptest::prelude::*;

use sample::ENGINE;

#[path = "support/sample.rs"]
mod sample;

fn search(query: &str) -> SearchResponse {
    ENGINE.search(&SearchRequest::new(query)).unwrap()
}

fn corrected(query: &str) -> Option<String> {
    search(query).corrected_query
}

fn nodes(response: &SearchResponse) -> Vec<(NodeOrdinal, f32)> {
    response.hits.iter().map(|hit| (hit.node, hit.score)).collect()
}

#[test]
fn misspelt_words_are_corrected_in_every_mode() {
    for (typed, meant) in [
        ("landlrod", "landlord"),
        ("Landlrod keeps depositt", "Landlord keeps deposit"),
        ("SECURTIY DEPOSIT", "SECURITY DEPOSIT"),
        ("return of the securty depost?", "return of the security deposit?"),
        ("how tall may a fenec be", "how tall may a fence be"),
        ("secruity-deposit", "security-deposit"),
        // English words that the sample does not contain.
        ("dinasaur in the garden", "dinosaur in the garden"),
        ("keeping dolfins", "keeping dolphins"),
    ] {
        for mode in Mode::ALL {
            let request = SearchRequest { mode, limit: 50, ..SearchRequest::new(typed) };
            let response = ENGINE.search(&request).unwrap();
            assert_eq!(response.corrected_query.as_deref(), Some(meant), "{typed}");
            let clean = ENGINE.search(&SearchRequest { query: meant, ..request }).unwrap();
            assert_eq!((clean.corrected_query.as_ref(), clean.total), (None, response.total), "{typed}");
            assert_eq!(nodes(&clean), nodes(&response), "{typed}: the results differ from those of the correct words");
            let exact = ENGINE.search(&SearchRequest { exact: true, ..request }).unwrap();
            assert_eq!(exact.corrected_query, None, "{typed}");
        }
    }
}

/// Two words are equally near the typed one. The one that occurs in the law together with the rest
/// of the query is chosen.
#[test]
fn context_decides_between_equally_near_words() {
    for (typed, meant) in [
        ("flooe plain", "flood plain"),
        ("the flooe of a shop", "the floor of a shop"),
        ("dwelling below the flooe level of the river", "dwelling below the flood level of the river"),
        ("is a smoke alarm required on each flooe", "is a smoke alarm required on each floor"),
        // Decided by adjacent words in the law. Alone, these would be corrected to cuts and resorts.
        ("court custs", "court costs"),
        ("false reaort", "false report"),
    ] {
        assert_eq!(corrected(typed).as_deref(), Some(meant));
    }
}

#[test]
fn correct_words_are_not_changed() {
    for query in [
        "landlord",
        // English words that the sample does not contain.
        "kitten bicycle",
        // Known words that are one slip away from words of the sample.
        "manatee mower",
        "feds lawmakers scammer dope",
        // Regular derivations of words in the sample.
        "permitless permitlike",
        "\"landlrod depositt\"",
        "fence -landlrod",
        "fence -\"securty depositt\"",
        "landlrod \"open",
        "depositt3 landlrod7",
        "3 S.F.C. § 9999",
        "Minn. Stat. § 609.185",
        "Pub. L. 111-148",
        "ERISA § 999",
        "xqzzkvw pfftbrmml",
        "tnt fne",
    ] {
        assert_eq!(corrected(query), None, "{query}");
    }
    assert_eq!(corrected("landlrod \"securty depositt\"").as_deref(), Some("landlord \"securty depositt\""));
}

/// A query in the law's own words is never changed: all headings, and every fifth sentence of the texts.
#[test]
fn words_in_the_law_are_never_changed() {
    let snapshot = ENGINE.snapshot();
    let check = |query: &str| {
        if hornbook_search::check_query(query).is_ok() {
            assert_eq!(corrected(query), None, "{query}");
        }
    };
    let outline = &snapshot.outline;
    for node in (0..outline.len()).map(NodeOrdinal) {
        check(snapshot.cards.get(node).unwrap().heading);
        let span = snapshot.nodes.get(node).unwrap().wording(0).text;
        let text = snapshot.texts.get(span).unwrap();
        text.split(['.', ';', '\n']).step_by(5).for_each(check);
    }
}

#[test]
fn the_number_of_corrected_words_is_limited() {
    let slips = [
        "landlrod",
        "depositt",
        "securtiy",
        "fenec",
        "licesne",
        "permti",
        "vendro",
        "ordinacne",
        "pemalty",
        "proprety",
    ];
    let query = slips.join(" ");
    let corrected = corrected(&query).unwrap();
    let changed = corrected.split(' ').zip(slips).filter(|(word, slip)| word != slip).count();
    assert!((4..=8).contains(&changed), "{corrected}");
    assert!(corrected.ends_with(" pemalty proprety"), "{corrected}");
}

fn piece() -> impl Strategy<Value = (String, bool)> {
    let slip = prop::sample::select(vec!["landlrod", "depositt", "securtiy", "fenec", "licesne"]);
    let word = prop::sample::select(vec!["landlord", "the", "fence", "harbor", "dues", "water"]);
    prop_oneof![
        3 => slip.clone().prop_map(|slip| (slip.to_owned(), false)),
        3 => word.prop_map(|word| (word.to_owned(), true)),
        1 => slip.clone().prop_map(|slip| (format!("\"{slip} depositt\""), true)),
        1 => slip.prop_map(|slip| (format!("-{slip}"), true)),
        1 => "[0-9]{1,5}[a-z]?(-[0-9]{1,2})?".prop_map(|number| (number, true)),
        1 => prop::sample::select(vec!["3 S.F.C. § 823", "42 USC 1983", "ERISA § 502", "124 Stat. 119", "Va. Code § 55.1-1226"])
            .prop_map(|citation| (citation.to_owned(), true)),
    ]
}

proptest! {
    /// Numbers, citations, phrases and exclusions stay unchanged and in place, in any context, and
    /// correction is deterministic.
    #[test]
    fn only_misspelt_words_are_changed(pieces in prop::collection::vec(piece(), 1..7)) {
        let query = pieces.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" , ");
        prop_assume!(hornbook_search::check_query(&query).is_ok());
        let first = corrected(&query);
        prop_assert_eq!(&first, &corrected(&query));
        let after = first.unwrap_or_else(|| query.clone());
        let after: Vec<&str> = after.split(" , ").collect();
        prop_assert_eq!(after.len(), pieces.len());
        for ((before, stays), after) in pieces.iter().zip(after) {
            prop_assert!(before == after || !stays, "{} became {} in {}", before, after, query);
        }
    }
}
