use proptest::prelude::*;
use tantivy::tokenizer::{TokenStream, Tokenizer};

use super::*;

/// Formats a word as `term@position`, a compound as `term@position/positions`, and a part of it as `(term@position)`.
fn terms(text: &str) -> String {
    let mut terms = Vec::new();
    Analyzer::new().analyze(text, |token| {
        let AnalyzedToken { text, position, position_count, .. } = token;
        terms.push(match token.role {
            TokenRole::Word => format!("{text}@{position}"),
            TokenRole::Whole => format!("{text}@{position}/{position_count}"),
            TokenRole::Part => format!("({text}@{position})"),
        });
    });
    terms.join(" ")
}

/// Input and expected terms. A change here changes the snapshot format: give the analysis a new id.
const CASES: &[(&str, &str)] = &[
    // Section numbers, whole and in parts.
    ("§ 1395w-4", "1395w-4@0/2 (1395w@0) (4@1)"),
    ("§ 1395w–4(b)(2)(A)", "1395w-4@0/2 (1395w@0) (4@1) b@2 2@3 a@4"),
    ("240.10b-5", "240.10b-5@0/3 (240@0) (10b@1) (5@2)"),
    ("10b-5 rule", "10b-5@0/2 (10b@0) (5@1) rule@2"),
    ("13.1-345", "13.1-345@0/3 (13@0) (1@1) (345@2)"),
    ("COMAR 26.08.02.01.", "comar@0 26.08.02.01@1/4 (26@1) (08@2) (02@3) (01@4)"),
    ("Regulation .03 of", "regul@0 03@1 of@2"),
    ("300aa-1", "300aa-1@0/2 (300aa@0) (1@1)"),
    ("300aa—1", "300aa-1@0/2 (300aa@0) (1@1)"),
    ("2C:11-3", "2c:11-3@0/3 (2c@0) (11@1) (3@2)"),
    ("§§293a...293c, 5", "293a@0 293c@1 5@2"),
    ("232a and 823", "232a@0 and@1 823@2"),
    ("F.2d", "f.2d@0/2 (f@0) (2d@1)"),
    ("COVID-19", "covid-19@0/2 (covid@0) (19@1)"),
    ("Act.2 and 5.Definitions", "act@0 2@1 and@2 5@3 definit@4"),
    ("$1,250,000, or 12,34", "1250000@0/3 (1@0) (250@1) (000@2) or@3 12@4 34@5"),
    ("sections 5,6,7", "section@0 5@1 6@2 7@3"),
    (
        "1-2-3-4-5-6-7-8-9-10",
        "1-2-3-4-5-6-7-8@0/8 (1@0) (2@1) (3@2) (4@3) (5@4) (6@5) (7@6) (8@7) 9-10@8/2 (9@8) (10@9)",
    ),
    ("3½ percent", "3@0 1@1 2@2 percent@3"),
    ("12:30", "12:30@0/2 (12@0) (30@1)"),
    // Abbreviations.
    ("42 U.S.C. § 1983", "42@0 usc@1 1983@2"),
    ("42 U. S. C. § 1983", "42@0 usc@1 1983@2"),
    ("42 U.\u{a0}S.\u{a0}C. 1983", "42@0 usc@1 1983@2"),
    ("42 USC 1983", "42@0 usc@1 1983@2"),
    ("D.C. Code", "dc@0 code@1"),
    ("17 C.F.R. 240", "17@0 cfr@1 240@2"),
    ("U.S.C", "usc@0"),
    ("U. S. Code", "us@0 code@1"),
    ("U. S.\nC. The", "us@0 c@1 the@2"),
    ("e.g., a.m.", "eg@0 am@1"),
    ("end.The", "end@0 the@1"),
    ("P.L.116-5", "pl@0 116-5@1/2 (116@1) (5@2)"),
    ("non-U.S. person", "nonus@0/2 (non@0) (us@1) person@2"),
    ("U.S.-flag", "us@0 flag@1"),
    ("A. Definitions", "a@0 definit@1"),
    // Hyphens and dashes between words.
    ("non-profit", "nonprofit@0/2 (non@0) (profit@1)"),
    ("nonprofits", "nonprofit@0"),
    ("non\u{2011}profit", "nonprofit@0/2 (non@0) (profit@1)"),
    ("cost-of-living", "cost@0 of@1 live@2"),
    ("context otherwise—words", "context@0 otherwis@1 word@2"),
    ("TITLE 1—GENERAL", "titl@0 1@1 general@2"),
    ("and/or -- AT&T", "and@0 or@1 at@2 t@3"),
    // Case, accents, ligatures, apostrophes, spaces.
    ("Façade NAÏVE re\u{301}sume\u{301}", "facad@0 naiv@1 resum@2"),
    ("ﬁling Ærø Straße", "file@0 aero@1 strass@2"),
    ("ΑΘΗΝΑ 北京", "αθηνα@0 北京@1"),
    ("employer's employers' licensee’s", "employ@0 employ@1 license@2"),
    ("EMPLOYER'S duty", "employ@0 duti@1"),
    ("o'clock O’Brien", "oclock@0 obrien@1"),
    ("1990's", "1990@0"),
    ("‘quoted’ “words”", "quot@0 word@1"),
    ("pro\u{a0}tempore\u{2009}of", "pro@0 tempor@1 of@2"),
    ("co\u{ad}operate zero\u{200b}width \u{feff}start", "cooper@0 zerowidth@1 start@2"),
    ("property¹ mark™ x²", "properti@0 mark@1 x@2"),
    ("ＦＵＬＬ", "full@0"),
    // Stems.
    ("organizations organizing", "organ@0 organ@1"),
    ("flies dying generally", "fli@0 die@1 general@2"),
    ("", ""),
    (" \n§§ ... — ' \u{301} \u{ad}", ""),
];

#[test]
fn every_case_gives_exactly_these_terms() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter(|(input, expected)| terms(input) != *expected)
        .map(|(input, expected)| format!("{input}\n  expected {expected}\n  found    {}", terms(input)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_fingerprint_is_pinned_with_the_id() {
    assert_eq!(ANALYZER_ID, "hornbook-english-1");
    assert_eq!(fingerprint().to_hex().as_str(), "6e34c864a93418f88f405a4777b1b08baacd743f64ce4937677e8f25a9364ffb");
}

#[test]
fn offsets_are_those_of_the_letters_in_the_source() {
    let text = "The licensee’s U. S. C. § 1395w–4, façade.";
    let mut found = Vec::new();
    Analyzer::new().analyze(text, |token| found.push(&text[token.bytes.range()]));
    assert_eq!(found, ["The", "licensee", "U. S. C", "1395w–4", "1395w", "4", "façade"]);
}

#[test]
fn long_words_are_truncated_and_long_texts_are_handled() {
    for unit in ["a", "1", "a-", "1.", "a.", "é", "北", "A. ", "a\u{ad}", "-\u{200b}", "1,000,", "'s", "½", "\u{301}"]
    {
        let text = unit.repeat(876_342 / unit.len());
        let mut analyzer = Analyzer::new();
        analyzer.analyze(&text, |token| assert!(token.text.len() <= TERM_BYTES_MAX && !token.text.is_empty()));
    }
    assert_eq!(terms(&"x".repeat(100)), format!("{}@0", "x".repeat(64)));
    assert_eq!(terms(&"é".repeat(100)), format!("{}@0", "e".repeat(64)));
    assert_eq!(terms(&"北".repeat(100)), format!("{}@0", "北".repeat(21)));
}

fn legal_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,8}",
        2 => "[0-9]{1,4}[a-z]?",
        3 => "[-.,:'’—–§ \u{a0}\u{ad}\u{200b}\n()]",
        1 => any::<String>(),
        1 => "[A-Z]\\. ?",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn tokens_are_ordered_bounded_and_lie_in_the_text(text in legal_text()) {
        let mut last_position = 0;
        let mut whole_ends_at = None;
        Analyzer::new().analyze(&text, |token| {
            assert!(!token.text.is_empty() && token.text.len() <= TERM_BYTES_MAX);
            assert!(!token.text.contains(char::is_whitespace) && !token.text.contains(char::is_uppercase) || !token.text.is_ascii());
            assert!(token.bytes.start < token.bytes.end && text.get(token.bytes.range()).is_some());
            assert!(token.position >= last_position && token.position <= last_position + 1);
            last_position = token.position;
            match token.role {
                TokenRole::Word => assert!(token.position_count == 1 && whole_ends_at.is_none_or(|end| token.position >= end)),
                TokenRole::Whole => whole_ends_at = Some(token.position + token.position_count),
                TokenRole::Part => assert!(whole_ends_at.is_some_and(|end| token.position < end)),
            }
        });
    }

    #[test]
    fn the_tantivy_stream_gives_the_same_tokens(texts in prop::collection::vec(legal_text(), 1..4)) {
        let mut tokenizer = LawTokenizer::default();
        for text in &texts {
            let mut expected = Vec::new();
            Analyzer::new().analyze(text, |token| {
                expected.push((token.text.to_owned(), token.bytes.range(), token.position as usize, token.position_count as usize));
            });
            let mut found = Vec::new();
            let mut stream = tokenizer.token_stream(text);
            while let Some(token) = stream.next() {
                found.push((token.text.clone(), token.offset_from..token.offset_to, token.position, token.position_length));
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn case_and_typography_make_no_difference(words in prop::collection::vec("[a-z]{2,9}|[0-9]{1,3}[a-z]?-[0-9]|[a-z]{3,6}'s", 0..20)) {
        let plain = words.join(" ");
        prop_assert_eq!(terms(&plain.to_uppercase()), terms(&plain));
        let typeset = plain.replace('-', "–").replace('\'', "’").replace(' ', "\u{a0}\u{2009}");
        prop_assert_eq!(terms(&typeset), terms(&plain));
    }

    #[test]
    fn the_fast_path_for_plain_words_gives_the_same_tokens(text in "[a-zA-Z0-9 .,;:'()-]{0,60}") {
        // A soft hyphen inside every run of letters and digits forces the slow path.
        let mut long_way = String::new();
        let mut last_was_alnum = false;
        for c in text.chars() {
            if last_was_alnum && c.is_ascii_alphanumeric() {
                long_way.push('\u{ad}');
            }
            long_way.push(c);
            last_was_alnum = c.is_ascii_alphanumeric();
        }
        prop_assert_eq!(terms(&long_way), terms(&text));
    }
}
