//! Documents made of what the readers look for: every finding lies within the text, in order, and the same findings come
//! again.

use hornbook_check::{Brief, BriefFormat, Found};
use hornbook_corpus::citation::Grammar;
use proptest::prelude::*;

const PIECES: [&str; 46] = [
    "17 U.S.C. § 107",
    "§",
    "§§ 106, 107",
    "Id.",
    "id. § 108(b)",
    "Id. at 12",
    "(b)",
    "subsection (b)",
    "section 12",
    "of the Act",
    "(the “Act”)",
    "“",
    "”",
    "\"",
    "‘",
    "’",
    "'",
    "\n\n“",
    "\u{fffd}",
    "title 17 of the United States Code",
    "[a]",
    ". . .",
    "…",
    ".",
    ";",
    "\n\n",
    "\n> ",
    "    ",
    "- ",
    "# ",
    "[^1]",
    "\n\n[^1]: ",
    "510 U.S. 569",
    "Smith v. Jones",
    "Ex. A",
    "RCW 59.18.280",
    "24-3-104(b)",
    "U.S.C.",
    "Va. Code",
    "the words of the law",
    "é",
    "\u{200b}",
    "<p>",
    "</blockquote>",
    "<q>",
    "&amp;",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn findings_lie_within_the_text_in_order(
        pieces in prop::collection::vec((0..PIECES.len(), any::<bool>()), 0..60),
        format in 0..3_usize,
    ) {
        let text: String = pieces.iter().map(|&(piece, spaced)| PIECES[piece].to_owned() + if spaced { " " } else { "" }).collect();
        let brief = Brief::read(text.as_bytes(), BriefFormat::ALL[format]).unwrap();
        let found = Found::in_document(&brief, Grammar::built_in()).unwrap();
        let ranges = found.ranges();
        prop_assert_eq!(ranges.len(), found.count());
        prop_assert!(ranges.is_sorted_by_key(|range| range.start), "{text}");
        for range in &ranges {
            // A quotation may have several paragraphs.
            let is_inside = |at: usize| brief.paragraphs().any(|(paragraph, _)| (paragraph.start..=paragraph.end).contains(&at));
            prop_assert!(brief.text().get(range.clone()).is_some_and(|found| !found.is_empty()), "{text}");
            prop_assert!(is_inside(range.start) && is_inside(range.end), "{text}");
        }
        prop_assert_eq!(ranges, Found::in_document(&brief, Grammar::built_in()).unwrap().ranges());
    }
}
