//! Compares the leg with a simple reference that scores every document from its words.

mod best;
mod common;
mod together;

use std::collections::BTreeMap;

use hornbook_corpus::analyzer::{Analyzer, TokenRole};
use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::keyword::{KeywordDocument, KeywordIndex, KeywordWriter};
use proptest::prelude::*;
use tantivy::fieldnorm::FieldNormReader;

use super::*;

use crate::{FieldTuning, Tuning};

const TUNING: Tuning = Tuning::MEASURED;

/// Few words, so that they often occur together. They include compounds and numbers.
const WORDS: [&str; 12] = [
    "fence",
    "height",
    "permit",
    "non-profit",
    "nonprofit",
    "profit",
    "1395w-4",
    "1395w",
    "4",
    "the",
    "harbor",
    "vessel",
];

#[derive(Clone, Debug)]
struct Document {
    heading: String,
    text: String,
    breadcrumb: String,
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), count).prop_map(|words| words.join(" "))
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    let document = (words(0..4), words(0..30), words(0..3));
    let document = document.prop_map(|(heading, text, breadcrumb)| Document { heading, text, breadcrumb });
    prop::collection::vec(document, 1..200)
}

fn build_index(documents: &[Document]) -> (tempfile::TempDir, KeywordIndex) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyword");
    let mut writer = KeywordWriter::create(&path, 32 << 20).unwrap();
    for document in documents {
        let text = [document.text.as_str()];
        let breadcrumb = [document.breadcrumb.as_str()];
        writer
            .push(KeywordDocument { heading: &document.heading, text: &text, citation: "", breadcrumb: &breadcrumb })
            .unwrap();
    }
    writer.finish().unwrap();
    let index = KeywordIndex::open(&path, documents.len() as u32).unwrap();
    (dir, index)
}

fn terms(text: &str) -> Vec<(String, TokenRole)> {
    let mut terms = Vec::new();
    Analyzer::new().analyze(text, |token| terms.push((token.text.to_owned(), token.role)));
    terms
}

fn row(text: &str) -> Vec<String> {
    terms(text).into_iter().filter(|(_, role)| *role != TokenRole::Whole).map(|(term, _)| term).collect()
}

fn query_words(text: &str) -> Vec<QueryWord> {
    let mut words: Vec<QueryWord> = Vec::new();
    for (term, role) in terms(text) {
        match role {
            TokenRole::Whole => words.push(QueryWord::compound(term)),
            TokenRole::Part => words.last_mut().unwrap().parts.push(term),
            TokenRole::Word => words.push(QueryWord::of(term)),
        }
    }
    let mut unique: Vec<QueryWord> = Vec::new();
    words.into_iter().for_each(|word| {
        if !unique.contains(&word) {
            unique.push(word);
        }
    });
    unique
}

/// The reference: it reads every document and has no index.
struct ReferenceSearch<'d> {
    documents: &'d [Document],
    /// For each document, the terms of text, heading and breadcrumb.
    read: Vec<[Vec<String>; 3]>,
    /// The average number of terms in each of these fields.
    averages: [f32; 3],
}

impl<'d> ReferenceSearch<'d> {
    const FIELDS: [FieldTuning; 3] = [TUNING.text, TUNING.heading, TUNING.breadcrumb];

    fn new(documents: &'d [Document]) -> Self {
        let read = |text: &str| terms(text).into_iter().map(|(term, _)| term).collect();
        let read =
            |document: &Document| [&document.text, &document.heading, &document.breadcrumb].map(|text| read(text));
        let read: Vec<[Vec<String>; 3]> = documents.iter().map(read).collect();
        let averages = [0, 1, 2].map(|place: usize| {
            let total: usize = read.iter().map(|fields| fields[place].len()).sum();
            (total as f32 / documents.len() as f32).max(1.0)
        });
        Self { documents, read, averages }
    }

    fn with(&self, field: usize, term: &str) -> usize {
        self.read.iter().filter(|fields| fields[field].iter().any(|other| other == term)).count()
    }

    fn weight(&self, term: &str) -> f32 {
        let said = self.with(0, term).max(self.with(1, term));
        let found = if said == 0 { self.with(2, term) } else { said } as f32;
        if found == 0.0 { 0.0 } else { (1.0 + (self.documents.len() as f32 - found + 0.5) / (found + 0.5)).ln() }
    }

    fn saturated(&self, doc: usize, term: &str) -> f32 {
        let mut worth = 0.0;
        for (place, tuning) in Self::FIELDS.into_iter().enumerate() {
            let average = self.averages[place];
            let text = &self.read[doc][place];
            let length = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(text.len() as u32)) as f32;
            let freq = text.iter().filter(|other| *other == term).count() as f32;
            let b = tuning.length_normalisation;
            worth += freq * tuning.weight / (1.0 - b + b * length / average);
        }
        worth / (worth + TUNING.saturation)
    }

    fn matches(&self, words: &[QueryWord], phrases: &[Vec<String>], excluded: &[Vec<String>]) -> BTreeMap<u32, f32> {
        let mass_of = |word: &QueryWord| {
            let rarest = word.parts.iter().map(|part| self.weight(part)).fold(0.0, f32::max);
            let whole = word.whole.as_deref().map_or(0.0, |whole| self.weight(whole));
            let also = word.alternative_terms.iter().map(|also| self.weight(&also.term)).fold(0.0, f32::max);
            [rarest, whole, also].into_iter().find(|&mass| mass > 0.0).unwrap_or(0.0)
        };
        let required = words.iter().map(mass_of).sum::<f32>() * TUNING.share_required * 0.9999;
        let in_row = |document: &Document, phrase: &[String]| {
            [&document.heading, &document.text].iter().any(|text| match phrase {
                // A single word is also found as the whole of a compound.
                [only] => terms(text).iter().any(|(term, _)| term == only),
                _ => row(text).windows(phrase.len()).any(|words| words == phrase),
            })
        };
        let weights: BTreeMap<&String, f32> =
            words.iter().flat_map(QueryWord::terms).map(|term| (term, self.weight(term))).collect();
        let masses: Vec<f32> = words.iter().map(mass_of).collect();
        let mut found = BTreeMap::new();
        for (doc, document) in (0..).zip(self.documents) {
            let (mut mass, mut score) = (0.0, 0.0);
            for (word, &mass_of_word) in words.iter().zip(&masses) {
                let mut of_word = 0.0;
                let known = word.parts.iter().filter(|part| weights[part] > 0.0).count().max(1) as f32;
                let terms = word.whole.iter().map(|whole| (whole, mass_of_word));
                for (term, mass) in terms.chain(word.parts.iter().map(|part| (part, mass_of_word / known))) {
                    let saturated = self.saturated(doc as usize, term);
                    score += weights[term] * (TUNING.saturation + 1.0) * saturated;
                    of_word += if saturated > 0.0 { mass } else { 0.0 };
                }
                let is_known = word.whole.iter().chain(&word.parts).any(|term| weights[term] > 0.0);
                let share_max = word.alternative_terms.iter().map(|also| also.share).fold(0.0, f32::max);
                for also in word.alternative_terms.iter().filter(|also| weights[&also.term] > 0.0) {
                    let share = if is_known { also.share } else { also.share / share_max };
                    let saturated = self.saturated(doc as usize, &also.term);
                    score += weights[&also.term].min(mass_of_word) * share * (TUNING.saturation + 1.0) * saturated;
                    of_word += if saturated > 0.0 { mass_of_word * share } else { 0.0 };
                }
                mass += of_word.min(mass_of_word);
            }
            let allowed = phrases.iter().all(|phrase| in_row(document, phrase))
                && !excluded.iter().any(|phrase| in_row(document, phrase));
            // If the corpus contains none of the words, phrases alone decide.
            if allowed && (mass > 0.0 || !phrases.is_empty()) && mass >= required {
                found.insert(doc, score);
            }
        }
        found
    }
}

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 1e-3 * (1.0 + b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn search_agrees_with_reference(
        documents in documents(),
        asked in words(1..6),
        phrase in prop::option::of(prop::sample::select(&["fence height", "harbor vessel", "non-profit", "1395w-4 permit"][..])),
        without in prop::option::of(prop::sample::select(&["permit", "nonprofit", "the harbor"][..])),
        bounds in prop::collection::vec((0..210_u32, 0..210_u32), 1..4),
        keep in 1..40_usize,
        watched in prop::collection::btree_set(0..200_u32, 0..20),
    ) {
        let (_dir, index) = build_index(&documents);
        let leg = KeywordLeg::open(&index, &TUNING).unwrap();
        let words = query_words(&asked);
        let phrases: Vec<Vec<String>> = phrase.iter().map(|phrase| row(phrase)).collect();
        let excluded: Vec<Vec<String>> = without.iter().map(|phrase| row(phrase)).collect();
        let ranges = OrdinalRanges::union(bounds.iter().map(|&(a, b)| OrdinalRange::new(a.min(b), a.max(b))));
        let constraints = leg.constraints(&phrases, &excluded, &ranges).unwrap();
        let dead = DocumentBitmap::from_fn(documents.len() as u32, |doc| doc % 5 == 0);
        let known = leg.look_up(&words).unwrap();
        let query = KeywordQuery {
            words: &known,
            constraints: &constraints,
            ranges: &ranges,
            admission: None,
            keep,
            list_matches: true,
            not_in_force: &dead,
        };
        let watched: Vec<u32> = watched.into_iter().collect();
        let found = leg.search(&query, &watched).unwrap();
        // The result must not depend on sharing, nor on when the watched documents become known.
        for begins_before in [false, true] {
            let shared = leg.shared_search(&query);
            let before = begins_before.then(|| shared.search_parts().unwrap());
            let of_both = std::thread::scope(|threads| {
                let there = threads.spawn(|| shared.search_parts().unwrap());
                shared.watch(watched.clone());
                let here = before.unwrap_or_else(|| shared.search_parts().unwrap());
                [here, there.join().unwrap()]
            });
            prop_assert_eq!(&shared.finish(of_both).unwrap(), &found);
        }

        let mut expected = ReferenceSearch::new(&documents).matches(&words, &phrases, &excluded);
        expected.retain(|&doc, _| ranges.contains(doc));
        prop_assert_eq!(&found.matches, &expected.keys().copied().collect::<Vec<_>>());
        prop_assert_eq!(found.total as usize, expected.len());
        for (list, is_dead) in [(&found.law_in_force, false), (&found.not_in_force, true)] {
            let mut scores: Vec<f32> = expected.iter().filter(|(doc, _)| (*doc % 5 == 0) == is_dead).map(|(_, s)| *s).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            scores.truncate(keep);
            prop_assert_eq!(list.len(), scores.len());
            prop_assert!(list.windows(2).all(|pair| by_rank(&pair[0], &pair[1]).is_lt()));
            for (scored, score) in list.iter().zip(scores) {
                prop_assert!(close(scored.score, score), "{} is {}", scored.score, score);
                prop_assert!(close(scored.score, expected[&scored.doc]));
            }
        }
        let watched: Vec<u32> = watched.into_iter().filter(|doc| expected.contains_key(doc)).collect();
        prop_assert_eq!(found.watched.iter().map(|scored| scored.doc).collect::<Vec<_>>(), watched);
    }
}

#[test]
fn positions_are_checked_within_the_budget() {
    let mut budget = PositionBudget(100);
    assert_eq!(budget.spend_on_terms(&[10, 10, 15]), 3);
    assert_eq!(budget.spend_on_terms(&[10, 25, 31]), 2, "all three would cost 66, but only 65 are left");
    assert_eq!(budget.spend_on_terms(&[20, 11]), 0, "one term alone proves nothing");
    assert_eq!(budget.spend_on_terms(&[20, 10, 1]), 2);
    assert_eq!(budget.spend_on_terms(&[1, 1]), 0);
    assert_eq!(PositionBudget(5).spend_on_terms(&[]), 0);
}

/// If a phrase is too common to check all positions, only its rarest words must be in a row. If
/// even two words cost too much, the provision only has to contain all words.
#[test]
fn phrases_of_common_words_are_relaxed() {
    let text = |doc: u32| match doc % 4 {
        0 => "permit of the harbor vessel",
        1 => "the harbor vessel permit of",
        2 => "vessel permit of the harbor",
        _ => "of harbor vessel permit",
    };
    let document = |doc| Document { heading: String::new(), text: text(doc).into(), breadcrumb: String::new() };
    // Each document contains each word once, so a list of positions costs 65 of the million.
    let documents: Vec<Document> = (0..12_000).map(document).collect();
    let (_dir, index) = build_index(&documents);
    let leg = KeywordLeg::open(&index, &TUNING).unwrap();
    let range = OrdinalRange { start: 0, end: documents.len() as u32 };
    let with = |phrases: &[&str], excluded: &[&str], range: OrdinalRange| -> Vec<u32> {
        let rows = |of: &[&str]| -> Vec<Vec<String>> { of.iter().map(|phrase| row(phrase)).collect() };
        let constraints = leg.constraints(&rows(phrases), &rows(excluded), &range.into()).unwrap();
        let mut kinds: Vec<u32> = range.iter().filter(|&doc| constraints.admit(doc)).map(|doc| doc % 4).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    };
    // 9,000 documents contain all words. One list in each costs more than half of the budget, so
    // two terms cannot be checked.
    assert_eq!(with(&["the harbor"], &[], range), [0, 1, 2]);
    assert_eq!(with(&["harbor the"], &[], range), [0, 1, 2]);
    // In 6,000 documents, two terms can be checked: the rarest.
    let half = OrdinalRange { start: 0, end: 8_000 };
    assert!(with(&["harbor the"], &[], half).is_empty());
    assert_eq!(with(&["the harbor vessel permit"], &[], half), [0, 1, 2]);
    // In 3,000 documents, all terms can be checked.
    let part = OrdinalRange { start: 0, end: 4_000 };
    assert_eq!(with(&["the harbor vessel permit"], &[], part), [1]);
    // If the first phrase uses up the budget, the next one requires only its words.
    assert_eq!(with(&["the harbor", "harbor vessel"], &[], half), [0, 1, 2]);
    assert_eq!(with(&["the harbor", "harbor vessel"], &[], part), [0, 1]);
    // A document is excluded only if its positions were checked.
    assert_eq!(with(&[], &["permit of the harbor"], half), [0, 1, 2, 3]);
    assert_eq!(with(&[], &["permit of the harbor"], part), [1, 3]);
}

/// Long provisions cost more than short ones.
#[test]
fn position_cost_is_estimated_from_a_sample() {
    let text = |doc: u32| "of the harbor ".repeat(if doc < 100 { 50 } else { 1 });
    let document = |doc| Document { heading: String::new(), text: text(doc), breadcrumb: String::new() };
    let documents: Vec<Document> = (0..200).map(document).collect();
    let (_dir, index) = build_index(&documents);
    let leg = KeywordLeg::open(&index, &TUNING).unwrap();
    let all: Vec<u32> = (0..200).collect();
    let of = |docs: &[u32]| {
        let rows = leg.phrase_readers(&row("the harbor")).unwrap();
        costs(&rows, docs).unwrap()
    };
    assert_eq!(of(&all[100..]), [6_500, 6_500]);
    assert_eq!(of(&all[..100]), [11_400, 11_400]);
    assert_eq!(of(&all), [17_900, 17_900]);
    assert_eq!(of(&[]), [0, 0]);
}

/// Enough documents for several windows and for lists of many blocks, where common words are looked
/// up instead of read through.
#[test]
fn windows_and_lookups_do_not_change_results() {
    let document = |doc: u32| {
        let mut text = String::from("the permit");
        if doc.is_multiple_of(3) {
            text += " harbor harbor";
        }
        if doc % 701 == 7 {
            text += " fence";
        }
        Document { heading: String::new(), text, breadcrumb: String::new() }
    };
    let documents: Vec<Document> = (0..9_100).map(document).collect();
    let (_dir, index) = build_index(&documents);
    let leg = KeywordLeg::open(&index, &TUNING).unwrap();
    let constraints = Constraints::default();
    let dead = DocumentBitmap::default();
    let mut scores_of_fence: BTreeMap<u32, f32> = BTreeMap::new();
    for (asked, step, rest) in [("fence", 701, 7), ("fence harbor permit", 701, 7), ("harbor the", 3, 0)] {
        let all = OrdinalRange { start: 0, end: documents.len() as u32 };
        for range in [all, OrdinalRange { start: 4_095, end: 5_600 }] {
            let words = query_words(asked);
            let query = KeywordQuery {
                words: &leg.look_up(&words).unwrap(),
                constraints: &constraints,
                ranges: &range.into(),
                admission: None,
                keep: 50,
                list_matches: true,
                not_in_force: &dead,
            };
            let found = leg.search(&query, &[]).unwrap();
            let matches: Vec<u32> = range.iter().filter(|doc| doc % step == rest).collect();
            assert_eq!(found.matches, matches, "{asked}");
            match asked {
                "fence" => scores_of_fence.extend(found.law_in_force.iter().map(|scored| (scored.doc, scored.score))),
                "fence harbor permit" => {
                    // Words that are looked up in the documents with `fence` are scored where they
                    // occur: `harbor` in a third of them, `permit` in all.
                    for scored in &found.law_in_force {
                        let added = scored.score - scores_of_fence[&scored.doc];
                        assert_eq!(added > 0.5, scored.doc % 3 == 0, "{scored:?}");
                    }
                }
                _ => {}
            }
        }
    }
}

/// For any query, the number of postings read is bounded by the size of the corpus. Everyday words
/// are all read.
#[test]
fn postings_read_are_limited_for_long_queries() {
    let numbers: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
    let document = |doc: usize| {
        let text = numbers
            .iter()
            .enumerate()
            .filter(|(n, _)| *n < 30 || doc.is_multiple_of(50))
            .map(|(_, word)| word.as_str());
        Document { heading: String::new(), text: text.collect::<Vec<_>>().join(" "), breadcrumb: String::new() }
    };
    let documents: Vec<Document> = (0..3_000).map(document).collect();
    let (_dir, index) = build_index(&documents);
    let leg = KeywordLeg::open(&index, &TUNING).unwrap();
    let work = |asked: &str| {
        let known = leg.look_up(&query_words(asked)).unwrap();
        let plan = KeywordPlan::new(&leg, &known, 3_000).unwrap();
        (plan.word_count(), plan.postings())
    };
    let (words, postings) = work(&numbers.join(" "));
    // The ten rare words have 60 postings each. Of the common words with 3,000 each, 21 fit and one
    // more would not.
    assert_eq!((words, postings), (31, 10 * 60 + 21 * 3_000));
    assert!(postings <= 1 << 16);
    assert_eq!(work("w1 w2 w35"), (3, 6_060));
}

/// Several phrases and exclusions together have the same effect as each alone, in any order.
#[test]
fn phrases_and_exclusions_combine_in_any_order() {
    let text = |doc: u32| match doc % 6 {
        0 => "fence height permit harbor vessel",
        1 => "fence height",
        2 => "harbor vessel fence height",
        3 => "vessel harbor height fence",
        4 => "harbor vessel",
        _ => "permit",
    };
    let document = |doc| Document { heading: String::new(), text: text(doc).into(), breadcrumb: String::new() };
    let documents: Vec<Document> = (0..60).map(document).collect();
    let (_dir, index) = build_index(&documents);
    let leg = KeywordLeg::open(&index, &TUNING).unwrap();
    let all = OrdinalRange { start: 0, end: 60 }.into();
    let admitted = |phrases: &[&str], excluded: &[&str]| -> Vec<u32> {
        let rows = |texts: &[&str]| texts.iter().map(|text| row(text)).collect::<Vec<_>>();
        let constraints = leg.constraints(&rows(phrases), &rows(excluded), &all).unwrap();
        (0..6).filter(|&doc| constraints.admit(doc)).collect()
    };
    assert_eq!(admitted(&["fence height", "harbor vessel"], &[]), [0, 2]);
    assert_eq!(admitted(&["harbor vessel", "fence height"], &["permit"]), [2]);
    assert_eq!(admitted(&["fence height"], &["harbor vessel"]), [1]);
    assert_eq!(admitted(&[], &["harbor vessel", "permit"]), [1, 3]);
    assert_eq!(admitted(&["fence height", "nowhere"], &[]), [0_u32; 0]);
}

/// What common terms are held in is given back once another index is served, and nothing is found otherwise without it.
#[test]
fn held_terms_are_given_back_and_not_held_again() {
    let document = |doc: u32| Document {
        heading: String::new(),
        text: if doc.is_multiple_of(2) { "harbor vessel" } else { "vessel" }.into(),
        breadcrumb: String::new(),
    };
    let (_dir, index) = build_index(&(0..200).map(document).collect::<Vec<_>>());
    let leg = KeywordLeg::open(&index, &TUNING).unwrap();
    let all = OrdinalRange { start: 0, end: 200 }.into();
    let ask = || {
        for _ in 0..3 {
            leg.constraints(&[row("harbor vessel")], &[], &all).unwrap();
        }
        let words = leg.look_up(&query_words("harbor vessel")).unwrap();
        let mut found = Vec::new();
        for _ in 0..3 {
            let query = KeywordQuery {
                words: &words,
                constraints: &Constraints::default(),
                ranges: &all,
                admission: None,
                keep: 50,
                list_matches: true,
                not_in_force: &DocumentBitmap::default(),
            };
            found = leg.search(&query, &[]).unwrap().law_in_force;
        }
        found
    };
    let before = ask();
    assert!(leg.common.held.entries() > 0 && leg.term_bitmap_cache.held.entries() > 0);
    leg.release_memory();
    assert_eq!((leg.common.held.entries(), leg.term_bitmap_cache.held.entries()), (0, 0));
    assert_eq!(ask(), before);
    assert_eq!((leg.common.held.entries(), leg.term_bitmap_cache.held.entries()), (0, 0));
}
