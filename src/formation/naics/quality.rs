//! The quality of the lookup: MRR@5 over judged descriptions, the mean of one over the rank of the
//! first correct code. `tests/naics/README.md` explains the figures.

use super::index::IndustryIndex;
use super::lookup::{TUNING, by_words, lookup};
use super::phrases::PLAIN_WORDS;

struct Judged {
    query: String,
    codes: Vec<String>,
}

/// Reads a file in `tests/naics`.
fn judged(file: &str) -> Vec<Judged> {
    let text = std::fs::read_to_string(format!("{}/tests/naics/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let judged = text.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let codes = line["codes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()).collect();
        Judged { query: line["query"].as_str().unwrap().to_owned(), codes }
    });
    judged.collect()
}

/// MRR@5 of a lookup that returns codes, best first.
fn mrr(judged: &[Judged], find: impl Fn(&str) -> Vec<&'static str>) -> f64 {
    let rank = |one: &Judged| find(&one.query).iter().position(|code| one.codes.iter().any(|right| right == code));
    judged.iter().filter_map(rank).map(|before| 1.0 / (before + 1) as f64).sum::<f64>() / judged.len() as f64
}

fn found_in(index: &IndustryIndex) -> impl Fn(&str) -> Vec<&'static str> {
    |query| by_words(index, &TUNING, query, 5).hits.iter().map(|hit| hit.industry.code).collect()
}

#[test]
fn judged_descriptions_find_their_codes() {
    let judged = judged("judged.jsonl");
    assert_eq!(judged.len(), 60);
    let figure = mrr(&judged, |query| lookup(query, 5).hits.iter().map(|hit| hit.industry.code).collect());
    println!("MRR@5 of the judged descriptions: {figure:.3}");
    assert!(figure >= 0.95, "MRR@5 is {figure:.3}");
}

#[test]
fn judged_codes_are_national_industries_and_no_description_is_judged_twice() {
    let mut queries = std::collections::HashSet::new();
    for Judged { query, codes } in judged("judged.jsonl").into_iter().chain(judged("dev.jsonl")) {
        for code in &codes {
            assert!(
                super::find(code).is_some_and(|found| found.level() == super::IndustryLevel::NationalIndustry),
                "{query}"
            );
        }
        assert!(!codes.is_empty() && queries.insert(query.clone()), "{query}");
    }
}

/// A stricter test than the judged descriptions: every seventh plain phrase is left out of the
/// index, and must be found by the other words of its industry.
#[test]
fn plain_phrases_that_are_held_back_find_their_codes() {
    let (mut kept, mut held, mut number) = (String::new(), Vec::new(), 0);
    for (code, texts) in PLAIN_WORDS.lines().filter_map(|line| line.split_once('\t')) {
        let mut left = Vec::new();
        for text in texts.split("; ") {
            number += 1;
            if number % 7 == 0 {
                held.push(Judged { query: text.to_owned(), codes: vec![code.to_owned()] });
            } else {
                left.push(text);
            }
        }
        if !left.is_empty() {
            kept += &format!("{code}\t{}\n", left.join("; "));
        }
    }
    let figure = mrr(&held, found_in(&IndustryIndex::new(&kept)));
    println!("MRR@5 of {} phrases that are held back: {figure:.3}", held.len());
    assert!(figure >= 0.55, "MRR@5 is {figure:.3}");
}

#[test]
fn plain_words_find_what_titles_alone_do_not() {
    let judged = judged("judged.jsonl");
    let titles = mrr(&judged, found_in(&IndustryIndex::new("")));
    println!("MRR@5 of the judged descriptions by titles alone: {titles:.3}");
    assert!(titles < 0.5, "the plain words would be needless: {titles:.3}");
}
