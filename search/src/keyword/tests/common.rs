//! Compares cached terms with their posting lists.

use proptest::prelude::*;

use super::super::common_terms::CommonTerm;
use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn cached_term_equals_its_posting_lists(documents in documents(), word in 0..WORDS.len()) {
        let (_dir, index) = build_index(&documents);
        let leg = KeywordLeg::open(&index, &TUNING).unwrap();
        let known = leg.look_up(&query_words(WORDS[word])).unwrap();
        for term in known.iter().flat_map(KnownWord::terms) {
            let held = CommonTerm::read(term.cursors(&leg).unwrap(), documents.len() as u32);
            let mut cursors = term.cursors(&leg).unwrap();
            let count = documents.len() as u32;
            let worths: Vec<f32> =
                (0..count).map(|doc| cursors.iter_mut().map(|cursor| cursor.weighted_frequency_at(doc)).sum()).collect();
            let with: Vec<u32> = (0..count).filter(|&doc| worths[doc as usize] > 0.0).collect();
            let is_set = |bits: &[u64], doc: u32| bits[doc as usize / 64] >> (doc % 64) & 1 == 1;
            for doc in 0..count {
                let worth = worths[doc as usize];
                let mut alone = Vec::new();
                held.look_up_each(&[doc], &mut Vec::new(), |_, worth| alone.push(worth));
                prop_assert_eq!(alone, if worth > 0.0 { vec![worth] } else { vec![] });
                prop_assert_eq!(is_set(held.documents(0), doc), worth > 0.0);
                prop_assert_eq!(is_set(held.high_frequency_bitmap(0), doc), worth > held.most_elsewhere);
                prop_assert_eq!(held.next(doc), with[with.partition_point(|&other| other < doc)..].first().copied());
                prop_assert!(worth <= held.most);
            }
            let much = worths.iter().filter(|&&worth| worth > held.most_elsewhere).count();
            prop_assert!(much <= with.len() / 16, "{much} of {}", with.len());
            let mut all = Vec::new();
            let docs: Vec<u32> = (0..count).chain([count + 64]).collect();
            held.look_up_each(&docs, &mut Vec::new(), |place, _| all.push(docs[place]));
            prop_assert_eq!((held.next(count), all), (None, with));
        }
    }
}

/// A very common and a rare term, requested for the whole corpus and for a part of it.
#[test]
fn common_terms_are_cached_on_the_second_request() {
    let text = |doc: u32| if doc.is_multiple_of(50) { "permit fence" } else { "permit" };
    let document = |doc| Document { heading: String::new(), text: text(doc).into(), breadcrumb: String::new() };
    let documents: Vec<Document> = (0..1_000).map(document).collect();
    let (_dir, index) = build_index(&documents);
    let leg = KeywordLeg::open(&index, &TUNING).unwrap();
    let known = leg.look_up(&query_words("permit fence")).unwrap();
    let is_held = |word: usize, searched| {
        let term = known[word].terms().next().unwrap();
        leg.common.get(term.key(), term.document_frequency(), searched, || term.cursors(&leg)).unwrap().is_some()
    };
    assert!(!is_held(0, 100) && !is_held(0, 100), "reading whole lists does not pay for a search of a small part");
    assert!(!is_held(0, 1_000), "a first request is not cached");
    assert!(is_held(0, 1_000));
    assert!(is_held(0, 100), "a cached term is also used to search a small part");
    assert!(!is_held(1, 1_000) && !is_held(1, 1_000), "rare terms have short lists");
}
