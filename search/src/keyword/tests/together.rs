//! Compares co-occurrence with a count over all documents.

use super::*;

fn document(number: usize) -> Document {
    let mut text = vec!["harbor"];
    if number.is_multiple_of(20) {
        text.push("fence");
    }
    if number.is_multiple_of(40) || number == 7 {
        text.push("height");
    }
    let heading = if number % 40 == 9 { "permit" } else { "" };
    Document { heading: heading.to_owned(), text: text.join(" "), breadcrumb: String::new() }
}

fn leg_over(count: usize) -> (tempfile::TempDir, KeywordLeg) {
    let documents: Vec<Document> = (0..count).map(document).collect();
    let (dir, index) = build_index(&documents);
    (dir, KeywordLeg::open(&index, &TUNING).unwrap())
}

#[test]
fn lifts_are_counted_over_the_searched_ranges() {
    let (_dir, leg) = leg_over(800);
    let has = |number: usize, term: &str| {
        let document = document(number);
        terms(&document.text).into_iter().chain(terms(&document.heading)).any(|(own, _)| own == term)
    };
    let everything = OrdinalRanges::from(OrdinalRange::new(0, 800));
    let parts = OrdinalRanges::union([OrdinalRange::new(5, 90), OrdinalRange::new(300, 570)]);
    let [fence, height, permit, harbor] = ["fence", "height", "permit", "harbor"].map(term);
    for ranges in [everything, parts] {
        let inside: Vec<usize> = (0..800).filter(|&number| ranges.contains(number as u32)).collect();
        let count =
            |wanted: &[&String]| inside.iter().filter(|&&n| wanted.iter().all(|term| has(n, term))).count() as f32;
        let others = [&fence, &permit].map(|term| leg.documents_having(term, &ranges).unwrap().unwrap());
        for asked in [&height, &permit] {
            let lifts = leg.lifts(asked, &others, &ranges).unwrap();
            for (lift, other) in lifts.into_iter().zip([&fence, &permit]) {
                let expected = count(&[asked]) * count(&[other]) / inside.len() as f32;
                let expected = ((count(&[asked, other]) + 0.5) / (expected + 0.5)).ln();
                assert!((lift - expected).abs() < 1e-4, "{asked} with {other}: {lift}, not {expected}");
            }
        }
        assert!(leg.documents_having(&harbor, &ranges).unwrap().is_none(), "the term is too common");
        assert!(leg.documents_having("vessel", &ranges).unwrap().is_none());
    }
    let elsewhere = OrdinalRanges::from(OrdinalRange::new(1, 6));
    assert!(leg.documents_having(&fence, &elsewhere).unwrap().is_none(), "this range has no such document");
}

#[test]
fn words_in_a_row_are_counted_in_the_searched_ranges() {
    let (_dir, leg) = leg_over(800);
    let everything = OrdinalRanges::from(OrdinalRange::new(0, 800));
    let part = OrdinalRanges::from(OrdinalRange::new(0, 100));
    let rows = |words: [&str; 2], ranges, most| {
        let [first, second] = words.map(term);
        leg.count_adjacent(&first, &second, ranges, most).unwrap()
    };
    // `height` is in 21 documents; one of them does not contain `fence`.
    assert_eq!(rows(["fence", "height"], &everything, 100), (20, 21));
    assert_eq!(rows(["fence", "height"], &everything, 4).0, 4);
    assert_eq!(rows(["fence", "height"], &part, 100), (3, 4));
    assert_eq!(rows(["height", "fence"], &everything, 100).0, 0, "the order of the words matters");
    assert_eq!(
        rows(["harbor", "height"], &everything, 100),
        (1, 21),
        "words with another word between them do not count"
    );
    assert_eq!(rows(["harbor", "permit"], &everything, 100).0, 0, "words in different fields do not count");
    assert_eq!(rows(["harbor", "vessel"], &everything, 100), (0, 0));
}

#[test]
fn samples_are_spread_over_the_corpus() {
    let (_dir, leg) = leg_over(20_000);
    let everything = OrdinalRanges::from(OrdinalRange::new(0, 20_000));
    let fence = [leg.documents_having(&term("fence"), &everything).unwrap().unwrap()];
    let of_all = leg.lifts(&term("harbor"), &fence, &everything).unwrap();
    assert!(of_all[0].abs() < 0.1, "a word in every document has no lift: {of_all:?}");
    let looked_at = leg.sample_documents_with(&term("harbor"), &everything, 4096).unwrap();
    assert!(looked_at.len() <= 4096, "{}", looked_at.len());
    assert!(looked_at[0] < 100 && looked_at.last().copied().unwrap() > 18_000);
}

fn term(word: &str) -> String {
    terms(word).remove(0).0
}
