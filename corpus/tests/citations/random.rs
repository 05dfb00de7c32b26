//! Random citations are read back, and random and hostile texts are read without harm.

use hornbook_corpus::citation::{Citation, ConstitutionUnit, Grammar, Locator, Unit};
use proptest::prelude::*;

use crate::grammar;

fn citations() -> impl Strategy<Value = (usize, u16, String, bool, Vec<String>, u8)> {
    let number = "[1-9][0-9]{0,3}[a-z]{0,2}(\\.[0-9]{1,3})?(-[1-9][0-9]{0,2}[a-z]?)?";
    let subdivision = prop_oneof!["[a-hj-z]", "[1-9][0-9]?", "[A-H]", "i{1,3}"];
    (0..10_000usize, 1..16u16, number, any::<bool>(), prop::collection::vec(subdivision, 0..4), 0..8u8)
}

/// A citation of a numbered body that the form of the body can write.
fn make_citation(
    grammar: &Grammar,
    (row, title, number, in_range, subdivisions, unit): (usize, u16, String, bool, Vec<String>, u8),
) -> Option<Citation> {
    let bodies: Vec<_> = grammar.bodies().collect();
    let (reference, body) = bodies[row % bodies.len()];
    let titled = grammar.parse(&format!("{} tit. {title}, § 1.1", body.name)).ok();
    let sample = titled.or_else(|| grammar.parse(&format!("{} § 1.1", body.name)).ok())?;
    if sample.body != reference || body.key.ends_with("/const") {
        return None;
    }
    let unit = match unit {
        0 => Unit::Part,
        _ => Unit::Section,
    };
    let last = in_range.then(|| format!("9{number}").into());
    Some(Citation {
        place: Locator::Numbered { unit, number: number.into(), last, wording: None },
        subdivisions: subdivisions.into_iter().map(String::into_boxed_str).collect(),
        ..sample
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The canonical form of a parsed citation is parsed to the same citation.
    #[test]
    fn canonical_forms_round_trip(parts in citations()) {
        let grammar = Grammar::built_in();
        if let Some(citation) = make_citation(grammar, parts)
            && let Ok(read) = grammar.parse(&grammar.format(&citation))
        {
            let canonical = grammar.format(&read);
            prop_assert_eq!(grammar.parse(&canonical).ok(), Some(read), "{}", canonical);
        }
    }

    #[test]
    fn constitutions_read_back(row in 0..56usize, article in 1..60u16, letter in "[A-D]?", section in prop::option::of(1..99u16), is_amendment in any::<bool>()) {
        let grammar = Grammar::built_in();
        let bodies: Vec<_> = grammar.bodies().filter(|(_, body)| body.key.ends_with("/const")).collect();
        let (body, _) = bodies[row % bodies.len()];
        let unit = if is_amendment { ConstitutionUnit::Amendment } else { ConstitutionUnit::Article };
        let mut parts = vec![(unit, format!("{article}{letter}").into_boxed_str())];
        parts.extend(section.map(|section| (ConstitutionUnit::Section, section.to_string().into_boxed_str())));
        let citation = Citation { body, title: None, appendix: false, place: Locator::Constitution(parts), subdivisions: Vec::new(), note: false };
        let canonical = grammar.format(&citation);
        prop_assert_eq!(grammar.parse(&canonical).ok(), Some(citation), "{}", canonical);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,80}") {
        let grammar = Grammar::built_in();
        let _ = grammar.parse(&text);
        let _ = grammar.key_or_folded(&text);
        let mut end = 0;
        for (range, _) in grammar.find_in(&text) {
            prop_assert!(range.start >= end && range.start < range.end && text.get(range.clone()).is_some());
            end = range.end;
        }
    }

    /// Texts made of pieces of citations test more of the grammar than random texts.
    #[test]
    fn pieces_of_citations_in_any_order_are_read_without_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        let text = pieces.concat();
        let grammar = Grammar::built_in();
        let mut end = 0;
        for (range, citation) in grammar.find_in(&text) {
            prop_assert!(range.start >= end && range.start < range.end && text.get(range.clone()).is_some(), "{:?} {:?}", text, range);
            end = range.end;
            let canonical = grammar.format(&citation);
            prop_assert_eq!(grammar.parse(&canonical).ok(), Some(citation), "{:?} {}", text, canonical);
        }
    }
}

const PIECES: &[&str] = &[
    "42",
    " ",
    " ",
    "U.S.C.",
    "§",
    "§§",
    "1983",
    "300aa–1",
    "(b)",
    "(2)",
    "-",
    "–",
    " to ",
    "...",
    "…",
    ",",
    ", ",
    " and ",
    "title 42",
    "section ",
    "sections ",
    " of ",
    "the ",
    "Va. Code",
    "13.1-345",
    "App.",
    "et seq.",
    "(West 2020)",
    "é",
    "\u{a0}",
    "[",
    "]",
    "(Perm)",
    "U.S. Const.",
    "art. ",
    "XIII A",
    "amend. ",
    "I",
    "COMAR",
    "26.08.02.01",
    "A",
    "subd. ",
    "subsection ",
    ".",
    ";",
    "5/2-1401",
    "735 ILCS",
    "Mass. Gen. Laws",
    "ch. ",
    "93A",
    "(",
    ")",
    "ORS ",
    "63.047",
    "through -9",
    "¶",
    "part ",
    "1,129",
    "K.S.A. 8-",
    "\u{1F600}",
];

#[test]
fn scanning_hostile_text_takes_linear_time() {
    let grammar = grammar();
    for piece in [
        "§ 1, ",
        "section 1, ",
        "42 ",
        "U.",
        "§",
        "(",
        "1",
        "a",
        " ",
        "title 1 ",
        "42 U.S.C. ",
        "U.S.C. § 1-",
        "subsection (a) of ",
    ] {
        // Quadratic work on these lengths would take hours.
        let text = piece.repeat(1_000_000 / piece.len());
        let last = grammar.find_in(&text).last().map(|(range, _)| range.end);
        assert!(last.is_none_or(|end| end <= text.len()));
    }
}
