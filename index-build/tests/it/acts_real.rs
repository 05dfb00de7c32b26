//! Tests the table of acts against the United States Code: its places exist, and they match the
//! places that the law prints next to sections of acts, as in "section 502 of the Employee
//! Retirement Income Security Act of 1974 (29 U.S.C. 1132)".

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use hornbook_corpus::citation::{Citation, CitationKey, Grammar, PopularCitation};
use serde_json::Value;

use crate::corpora::corpora;

const TABLE: &str = include_str!("../../../corpus/src/citation/acts.tsv");

/// The maximum distance between the name of an act and its parallel citation.
const NAME_BYTES_MAX: usize = 160;

/// The maximum number of differing places. The law of 2016 also prints some places from before
/// sections moved to title 52.
const ODD_MAX: usize = 20;

pub(crate) fn each_section(corpora: &Path, name: &str, mut sink: impl FnMut(&Value)) {
    let file = File::open(corpora.join(name)).unwrap();
    for line in BufReader::new(zstd::Decoder::new(file).unwrap()).lines() {
        sink(&serde_json::from_str(&line.unwrap()).unwrap());
    }
}

/// The section of the code that a text refers to by the name of an act.
fn place_of(text: &str) -> Option<Citation> {
    match Grammar::built_in().parse_popular(text)?.as_slice() {
        [PopularCitation::Act(citation) | PopularCitation::Section { listed: Some(citation), .. }] => {
            Some(citation.clone())
        }
        _ => None,
    }
}

/// The sections of acts in a text that have a parallel citation: as written, and the place that the law states.
pub(crate) fn parallels(text: &str) -> Vec<(&str, CitationKey)> {
    let grammar = Grammar::built_in();
    let mut found = Vec::new();
    for (at, _) in text.match_indices(" U.S.C. ") {
        let Some(open) = text[..at].rfind('(') else { continue };
        let end = text[at + 8..]
            .find(|c: char| !c.is_alphanumeric() && c != '–' && c != '-')
            .map_or(text.len(), |len| at + 8 + len);
        let Ok(parallel) = grammar.parse(&text[open + 1..end]) else { continue };
        let from = (open.saturating_sub(NAME_BYTES_MAX)..open).find(|&at| text.is_char_boundary(at)).unwrap_or(open);
        let Some(section) = text[from..open].rfind("section ") else { continue };
        found.push((text[from + section..open].trim_end(), grammar.key(&parallel)));
    }
    found
}

#[test]
fn the_table_of_acts_agrees_with_the_law() {
    let Some(corpora) = corpora() else { return };
    let grammar = Grammar::built_in();
    let mut held: HashSet<CitationKey> = HashSet::new();
    let mut agreed = 0;
    let mut wrong: Vec<(String, String)> = Vec::new();
    for name in ["us-code-text-2016.jsonl.zst", "us-code-text-2016-empty.jsonl.zst"] {
        each_section(&corpora, name, |section| {
            held.extend(section["citation"].as_str().and_then(|citation| grammar.key_of_text(citation)));
            for (act, law) in section["text"].as_str().map(parallels).unwrap_or_default() {
                match place_of(act).map(|place| grammar.key(&place)) {
                    Some(place) if place == law => agreed += 1,
                    Some(place) => wrong.push((act.to_owned(), format!("{law}, in the table {place}"))),
                    None => {}
                }
            }
        });
    }
    assert!(agreed > 400 && wrong.len() <= ODD_MAX, "{agreed} agree; {wrong:#?}");
    let mut missing = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let act = fields[0].split(';').next().unwrap();
        for numbers in fields[4].split(' ').filter_map(|item| item.split_once('>')).map(|(numbers, _)| numbers) {
            let ends =
                numbers.split_once('-').and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
            let texts: Vec<String> = match ends {
                _ if numbers == "whole" => continue,
                Some((first, last)) => (first..=last).map(|number| format!("{act} § {number}")).collect(),
                None => vec![format!("{act} § {numbers}")],
            };
            missing.extend(
                texts
                    .into_iter()
                    .filter(|text| place_of(text).is_none_or(|place| !held.contains(&grammar.key(&place)))),
            );
        }
    }
    // Sections in ranges of repealed ones have no line of their own.
    assert!(missing.len() <= 20, "{missing:#?}");
}
