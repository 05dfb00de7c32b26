use proptest::prelude::*;

use super::*;

fn found(law: &str, quote: &str) -> Option<(String, bool)> {
    let folded = FoldedLaw::new(law);
    let passage = MarkedQuotation::new(quote).find_in(&folded)?;
    Some((law[folded.range_of(&passage)].to_owned(), passage.is_marked))
}

const LAW: &str = "(a) A licensee’s non-profit “club”—and no other—shall not be liable under § 12, if the\u{a0}club:\n(1) acts in good faith; and\n(2) keeps its books for 5 years.";

#[test]
fn typography_makes_no_difference() {
    for quote in [
        "A licensee’s non-profit “club”",
        "a licensee's nonprofit \"club\"",
        "licensee‘s non‐profit 'club' -- and no other — shall not be liable under §12, if the club",
        "the club: (1) acts in good faith; and (2) keeps its books",
        "the   club:\n( 1 ) acts in good faith",
        "non-\u{ad}profit",
        "keeps its books for 5 years,",
        "Keeps its books for 5 years.’",
        "no other",
    ] {
        let passage = found(LAW, quote);
        assert!(passage.as_ref().is_some_and(|(_, is_marked)| !is_marked), "{quote}: {passage:?}");
    }
    assert_eq!(found(LAW, "no other—shall").unwrap().0, "no other—shall");
}

#[test]
fn other_words_and_parts_of_words_are_not_found() {
    for quote in [
        "shall be liable",
        "the clubs",
        "ub”—and",
        "good faiths",
        "in good faith and",
        "other shall",
        "5 year",
        "liable if",
    ] {
        assert_eq!(found(LAW, quote), None, "{quote}");
    }
}

#[test]
fn brackets_and_ellipses_announce_changes() {
    for quote in [
        "[t]he club: (1) acts in good faith",
        "[A] licensee’s non-profit “club” . . . shall not be liable",
        "a licensee’s … club . . . keeps its books",
        "acts [honestly]; and (2) keeps",
        "keeps [its] books for 5 years. . . .",
        "licensee[]’s non-profit",
        "keeps its [sic] books",
        "the club * * * keeps its books for [five] years",
        "shall not be [held] liable [. . .] if",
    ] {
        let passage = found(LAW, quote);
        assert!(passage.as_ref().is_some_and(|(_, is_marked)| *is_marked), "{quote}: {passage:?}");
    }
    for quote in ["keeps its books . . . acts in good faith", "shall [not] keep its books", "acts [x] keeps . . . acts"]
    {
        assert_eq!(found(LAW, quote), None, "{quote}");
    }
    let (_, is_marked) = found("as in force [January 1] and later", "in force [January 1] and later").unwrap();
    assert!(!is_marked, "the brackets are the law's");
}

fn altered(law: &str, quote: &str) -> Option<String> {
    let compared = compare_words(&MarkedQuotation::new(quote), &LawWords::new(law), &mut 1_000_000, &mut false)?;
    Some(compared_text(&compared.differences))
}

#[test]
fn altered_copies_show_their_words_and_the_laws() {
    for (quote, expected) in [
        ("club—and no other—shall be liable under § 12", "club and no other shall {+not+} be liable under 12"),
        ("acts in bad faith; and (2) keeps its books", "acts in [-bad-] {+good+} faith and 2 keeps its books"),
        ("keeps its own books for 5 years", "keeps its [-own-] books for 5 years"),
        ("keeps its books for 7 years", "keeps its books for [-7-] {+5+} years"),
        ("shall not be liable under § 13", "shall not be liable under [-13-] {+12+}"),
        (
            "it shall not be liable . . . if the club acts in bad faith",
            "[-it-] {+other+} shall not be liable … if the club {+1+} acts in [-bad-] {+good+} faith",
        ),
    ] {
        assert_eq!(altered(LAW, quote).as_deref(), Some(expected), "{quote}");
    }
    for quote in ["a landlord must return the deposit", "the club shall pay its members", "one two three four five"] {
        assert_eq!(altered(LAW, quote), None, "{quote}");
    }
    let (mut nothing, mut is_cut) = (10, false);
    let quote = MarkedQuotation::new("shall be liable under");
    assert!(compare_words(&quote, &LawWords::new(LAW), &mut nothing, &mut is_cut).is_none());
    assert_eq!((nothing, is_cut), (10, true), "a comparison beyond the budget is not begun");
}

/// Words that no dash joins and of which none contains another.
const WORDS: [&str; 12] =
    ["court", "shall", "license", "void", "tenant", "deposit", "éclair", "1983", "notice", "ferry", "quorum", "member"];

/// A word with its typography in the law and in the quotation.
fn word() -> impl Strategy<Value = (usize, usize)> {
    (0..WORDS.len(), 0..6_usize)
}

fn law_of(words: &[(usize, usize)]) -> String {
    let written = words.iter().map(|&(word, style)| match style {
        0 => format!("{}\t", WORDS[word]),
        1 => format!("({}) ", WORDS[word]),
        2 => format!("{}\n", WORDS[word]),
        3 => WORDS[word].to_uppercase(),
        4 => format!("{},", WORDS[word]),
        _ => WORDS[word].to_owned(),
    });
    written.collect::<Vec<_>>().join(" ")
}

fn quotation_of(words: &[(usize, usize)]) -> String {
    let written = words.iter().map(|&(word, style)| match style {
        0 => format!("{}\u{ad}", WORDS[word]),
        1 => format!("( {} )", WORDS[word]),
        2 => format!(" {}", WORDS[word]),
        3 => WORDS[word].to_owned(),
        4 => format!("{} ,", WORDS[word].to_uppercase()),
        _ => format!("{}\u{200b}", WORDS[word]),
    });
    written.collect::<Vec<_>>().join("\u{a0}")
}

proptest! {
    /// The plain model: a quotation is in the law if its words are, in a row.
    #[test]
    fn a_passage_is_found_exactly_if_its_words_are_there_in_a_row(
        law in prop::collection::vec(word(), 1..60),
        start in 0..60_usize,
        length in 1..12_usize,
        changed in prop::option::of((0..12_usize, 0..WORDS.len())),
    ) {
        let start = start.min(law.len() - 1);
        let mut quoted: Vec<(usize, usize)> = law[start..law.len().min(start + length)].to_vec();
        if let Some((place, word)) = changed {
            let place = place % quoted.len();
            quoted[place].0 = word;
        }
        // Punctuation is compared too, except a comma at the end.
        let key = |words: &[(usize, usize)]| -> Vec<(usize, usize)> {
            words.iter().map(|&(word, style)| (word, if matches!(style, 1 | 4) { style } else { 0 })).collect()
        };
        let (law_key, quoted_key) = (key(&law), key(&quoted));
        let is_same = |place: usize, law: &(usize, usize), quoted: &(usize, usize)| {
            let ends = place + 1 == quoted_key.len() && quoted.1 != 1 && (law.1 != 1 || place == 0);
            law.0 == quoted.0 && (law.1 == quoted.1 || ends)
        };
        let expected = law_key.windows(quoted_key.len()).any(|window| {
            (0..window.len()).all(|place| is_same(place, &window[place], &quoted_key[place]))
        });
        let found = found(&law_of(&law), &quotation_of(&quoted)).is_some();
        prop_assert_eq!(found, expected, "{} in {}", quotation_of(&quoted), law_of(&law));
    }
}
