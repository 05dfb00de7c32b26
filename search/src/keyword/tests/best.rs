//! Compares a search that prunes candidates with one that keeps everything. The corpora have long
//! posting lists, and words from very common to very rare.

use hornbook_base::random::SplitMix64;
use hornbook_corpus::ids::OrdinalRange;
use proptest::prelude::*;

use super::*;

/// Words with their rarity (one in how many provisions), from very common to very rare. One is a
/// compound.
const WORDS_BY_RARITY: [(&str, usize); 9] = [
    ("the", 1),
    ("permit", 2),
    ("state", 3),
    ("profit", 6),
    ("non-profit", 20),
    ("fence", 12),
    ("harbor", 50),
    ("1395w-4", 90),
    ("vessel", 300),
];

/// Provisions of all lengths. Many consecutive ones share the headings above them.
fn corpus(count: usize, seed: u64) -> Vec<Document> {
    let mut random = SplitMix64(seed);
    let mut breadcrumb = String::new();
    let of_words = |random: &mut SplitMix64, rarer: usize, times: usize| -> String {
        let mut text = String::new();
        for (word, one_in) in WORDS_BY_RARITY {
            if random.index(one_in * rarer) == 0 {
                for _ in 0..=random.index(times) {
                    text += word;
                    text.push(' ');
                }
            }
        }
        text
    };
    (0..count)
        .map(|_| {
            if breadcrumb.is_empty() || random.index(90) == 0 {
                breadcrumb = of_words(&mut random, 3, 1);
            }
            let times = [1, 1, 2, 12][random.index(4)];
            let mut text = of_words(&mut random, 1, times);
            for _ in 0..[0, 3, 40, 400][random.index(4)] {
                text += "other ";
            }
            Document { heading: of_words(&mut random, 6, 1), text, breadcrumb: breadcrumb.clone() }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn pruning_does_not_change_the_top_k(
        count in 300..800_usize,
        seed in any::<u64>(),
        asked in prop::collection::vec(prop::collection::vec(0..WORDS_BY_RARITY.len(), 1..5), 1..4),
        also in prop::collection::vec((prop::sample::select(&["harbor", "state", "nowhere"][..]), 0.1..1.0_f32), 0..3),
        bounds in prop::collection::vec((0..800_u32, 0..800_u32), 0..4),
        phrase in prop::option::of(prop::sample::select(&["the permit", "fence", "state profit"][..])),
        without in prop::option::of(prop::sample::select(&["harbor", "the state"][..])),
        keep in 1..30_usize,
        one_dead_in in 2..40_u32,
        watched in prop::collection::btree_set(0..800_u32, 0..20),
    ) {
        let documents = corpus(count, seed);
        let (_dir, index) = build_index(&documents);
        let leg = KeywordLeg::open(&index, &TUNING).unwrap();
        let twin = ReferenceSearch::new(&documents);
        let dead = DocumentBitmap::from_fn(count as u32, |doc| doc % one_dead_in == 0);
        let watched: Vec<u32> = watched.into_iter().collect();
        let phrases: Vec<Vec<String>> = phrase.iter().map(|phrase| row(phrase)).collect();
        let excluded: Vec<Vec<String>> = without.iter().map(|phrase| row(phrase)).collect();
        let ranges = match bounds.is_empty() {
            true => OrdinalRange::new(0, count as u32).into(),
            false => OrdinalRanges::union(bounds.iter().map(|&(a, b)| OrdinalRange::new(a.min(b), a.max(b)))),
        };
        let constraints = leg.constraints(&phrases, &excluded, &ranges).unwrap();
        for asked in asked {
            let asked: Vec<&str> = asked.into_iter().map(|word| WORDS_BY_RARITY[word].0).collect();
            let mut words = query_words(&asked.join(" "));
            for (word, (also, share)) in words.iter_mut().zip(&also) {
                word.add(also, *share);
            }
            let known = leg.look_up(&words).unwrap();
            let search = |keep, list_matches| {
                let (words, constraints, ranges, dead) = (known.as_slice(), &constraints, &ranges, &dead);
                let query = KeywordQuery { words, constraints, ranges, admission: None, keep, list_matches, not_in_force: dead };
                leg.search(&query, &watched).unwrap()
            };
            let (all, best) = (search(count, true), search(keep, false));

            let mut expected = twin.matches(&words, &phrases, &excluded);
            expected.retain(|&doc, _| ranges.contains(doc));
            prop_assert_eq!(&all.matches, &expected.keys().copied().collect::<Vec<_>>());
            prop_assert_eq!(all.law_in_force.len() + all.not_in_force.len(), expected.len());
            for scored in all.law_in_force.iter().chain(&all.not_in_force) {
                prop_assert!(close(scored.score, expected[&scored.doc]));
            }
            prop_assert_eq!(best.total, all.total);
            prop_assert_eq!(best.total as usize, expected.len());
            prop_assert_eq!(&best.law_in_force[..], &all.law_in_force[..keep.min(all.law_in_force.len())]);
            prop_assert_eq!(&best.not_in_force[..], &all.not_in_force[..keep.min(all.not_in_force.len())]);
            prop_assert_eq!(&best.watched, &all.watched);
            prop_assert_eq!(best.possible, all.possible);
            let watched: Vec<u32> = watched.iter().copied().filter(|doc| expected.contains_key(doc)).collect();
            prop_assert_eq!(best.watched.iter().map(|scored| scored.doc).collect::<Vec<_>>(), watched);
        }
    }
}
