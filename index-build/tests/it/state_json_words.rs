//! Tests that no word is lost or invented: compares the entries of Washington and South Dakota with
//! their nodes, letter by letter and in order, which a multiset of words would not detect.
//!
//! This test reads each entry from the top: a paragraph whose letters are all in the one before it
//! repeats a part of it. The importer reads from the bottom. White space and punctuation are
//! ignored on both sides, because the repetition lost them.

use std::collections::BTreeMap;

use hornbook_index_build::content::Content;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::state_json;
use rayon::prelude::*;
use serde_json::Value;

use crate::corpora::corpora;
use crate::imported::{Source, documents, target};
use crate::state_json::{south_dakota, washington};

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The letters of an entry, without the paragraphs that repeat parts of the one before them.
fn letters_without_repetitions(text: &str) -> String {
    let paragraphs: Vec<String> = text.split('\n').map(letters).filter(|letters| !letters.is_empty()).collect();
    let (mut said, mut whole) = (String::new(), "");
    for paragraph in &paragraphs {
        if !whole.contains(paragraph.as_str()) {
            whole = paragraph;
            said.push_str(paragraph);
        }
    }
    said
}

/// All words of a node, in the order of the source. `lead` is the word before its source credit.
fn letters_of_node(content: &Content, lead: &str) -> String {
    let own = [content.text.as_deref().unwrap_or_default(), lead, content.source_credit.as_deref().unwrap_or_default()];
    // Notes without a lead have a topic that the importer added.
    let topic = |topic: &str| if topic == "Note" { String::new() } else { topic.to_owned() };
    let notes = content.notes.iter().flat_map(|note| [topic(&note.topic), note.text.clone()]);
    own.into_iter().map(str::to_owned).chain(notes).map(|text| letters(&text)).collect()
}

/// How the entry and its node agree: the name of a rule, or the place where they differ.
fn compare(entry: &Value, content: &Content) -> Result<&'static str, String> {
    let text = entry["text"].as_str().unwrap_or_default();
    let said = letters_without_repetitions(text);
    let number = letters(content.number.as_deref().unwrap_or_default());
    let rest = said.strip_prefix("RCW").unwrap_or(&said);
    let rest = rest.strip_prefix(number.as_str()).unwrap_or(rest);
    // A remark about its validity is before or after the heading.
    let remark = letters(content.effect.remark.as_deref().unwrap_or_default());
    let heading = letters(&content.heading);
    let headings = [heading.clone(), format!("{remark}{heading}"), format!("{heading}{remark}")];
    if content.text.as_deref() == Some("") && text.lines().all(|line| line.is_empty() || line.contains("Section ")) {
        return Ok("a list of other sections in place of a text");
    }
    let mut best = String::new();
    for (rule, whole) in headings.iter().flat_map(|heading| wholes(content, heading, &number)) {
        if rest == whole {
            return Ok(rule);
        }
        if rest.strip_suffix(whole.as_str()).is_some_and(is_number) && !content.heading.is_empty() {
            return Ok("further numbers of a range");
        }
        if in_common(rest, &whole) >= in_common(rest, &best) {
            best = whole;
        }
    }
    let (same, lengths) = (in_common(rest, &best), (rest.len(), best.len()));
    let at = |text: &str| text[same..].chars().take(40).collect::<String>();
    Err(format!("the first {same} letters are the same, then '{}' is '{}' {lengths:?}", at(rest), at(&best)))
}

/// The possible words of an entry, by rule: most texts repeat the heading, and some have a word
/// before the source credit.
fn wholes(content: &Content, heading: &str, number: &str) -> Vec<(&'static str, String)> {
    if let [_, ..] = &content.wordings[..] {
        return wholes_of_several(content, number);
    }
    let mut wholes = Vec::new();
    for (rule, lead) in
        [("the same", ""), ("a word before the credit", "Source"), ("a word before the credit", "History")]
    {
        let said = letters_of_node(content, lead);
        wholes.push((rule, format!("{heading}{said}")));
        wholes.push((rule, said));
    }
    wholes
}

/// The wordings one after another, each after its number, or the later ones after the heading of the first.
fn wholes_of_several(content: &Content, number: &str) -> Vec<(&'static str, String)> {
    let remark_of = |wording: &Content| letters(wording.effect.remark.as_deref().unwrap_or_default());
    let (mut numbered, mut unnumbered) = (String::new(), String::new());
    for (place, wording) in std::iter::once(content).chain(&content.wordings).enumerate() {
        let (heading, remark) = (letters(&wording.heading), remark_of(wording));
        if place == 0 {
            numbered += &heading;
            unnumbered += &format!("{heading}{remark}");
        } else {
            numbered += &format!("{remark}{number}{heading}");
        }
        numbered += &letters_of_node(wording, "Source");
        unnumbered += &letters_of_node(wording, "");
    }
    vec![("two wordings", numbered), ("two wordings under one heading", unnumbered)]
}

/// Whether the letters are further numbers, such as `to 1-6-28`.
fn is_number(further: &str) -> bool {
    let rest = ["to", "and", "through"].iter().find_map(|word| further.strip_prefix(word)).unwrap_or(further);
    rest.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
}

fn in_common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

fn settle(document: &Document, source: &Source<'_>) -> Vec<(String, Result<&'static str, String>)> {
    let parsed = state_json::parse(document, target(source));
    let chapter: Value = serde_json::from_slice(&document.bytes).unwrap();
    let mut nodes = parsed.nodes.iter().map(|node| &node.content).peekable();
    let mut found = Vec::new();
    for entry in chapter["sections"].as_array().unwrap() {
        let opens = |content: &&&Content| {
            let number = content.number.as_deref().unwrap_or_default();
            let named = entry["number"].as_str().unwrap_or_default();
            let text = entry["text"].as_str().unwrap_or_default();
            named.split(' ').next() == Some(number) || text.starts_with(&format!("RCW {number}\n"))
        };
        match nodes.peek().filter(opens) {
            Some(content) => {
                found.push((content.citation.clone(), compare(entry, content)));
                nodes.next();
            }
            None => found.push((document.place.clone(), Ok("no section"))),
        }
    }
    assert_eq!(nodes.count(), 0, "{}", document.place);
    found
}

fn settle_all(archive: &str, source: &Source<'_>, named: &[(&str, &str)]) -> Vec<(&'static str, u64)> {
    let Some(corpora) = corpora() else { return Vec::new() };
    let is_chapter = |path: &str| !path.ends_with("toc.json");
    let all = documents(&corpora.join(archive), source.format, is_chapter);
    let found: Vec<_> = all.par_iter().flat_map(|document| settle(document, source)).collect();
    let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
    let mut open = Vec::new();
    for (place, result) in &found {
        match result {
            Ok(rule) => *rules.entry(rule).or_default() += 1,
            Err(what) => open.push((place, what)),
        }
    }
    open.retain(|(place, _)| named.iter().all(|(name, _)| name != place));
    assert!(open.is_empty(), "{} of {} differ: {:#?}", open.len(), found.len(), &open[..open.len().min(100)]);
    rules.into_iter().collect()
}

const SAID_AGAIN: &str = "the law repeats a line that is part of the one before";
const CELL_AGAIN: &str = "a table on one line, with some of its cells repeated without proof";
const WORDINGS: &str = "two wordings, with notes between them or after the second";

/// Provisions that differ for a reason other than a rule.
const OF_SOUTH_DAKOTA: [(&str, &str); 21] = [
    ("SDCL § 10-18A-6", CELL_AGAIN),
    ("SDCL § 10-45-27.2", WORDINGS),
    ("SDCL § 13-49-40", WORDINGS),
    ("SDCL § 15-39-78", SAID_AGAIN),
    ("SDCL § 24-15A-32", SAID_AGAIN),
    ("SDCL § 29A-6-430", SAID_AGAIN),
    ("SDCL § 36-4A-3.1", SAID_AGAIN),
    ("SDCL § 36-10B-4", SAID_AGAIN),
    ("SDCL § 36-20B-36", "the credit is at the end of the last paragraph, and then repeated separately"),
    ("SDCL § 36-29-8", SAID_AGAIN),
    ("SDCL § 36-31-2", SAID_AGAIN),
    ("SDCL § 36-36-15", SAID_AGAIN),
    ("SDCL § 37-24-5.4", SAID_AGAIN),
    ("SDCL § 37-24-51", SAID_AGAIN),
    ("SDCL § 43-4-44", CELL_AGAIN),
    ("SDCL § 49-31-60", SAID_AGAIN),
    ("SDCL § 58-5-21", CELL_AGAIN),
    ("SDCL § 58-43-16.9", CELL_AGAIN),
    ("SDCL § 58-49-1", SAID_AGAIN),
    ("SDCL § 61-5-25.5", SAID_AGAIN),
    ("SDCL § 61-5-25.7", SAID_AGAIN),
];

const OF_WASHINGTON: [(&str, &str); 4] = [
    ("RCW 62A.2-710", SAID_AGAIN),
    ("RCW 62A.8-509", SAID_AGAIN),
    ("RCW 62A.9A-309", SAID_AGAIN),
    ("RCW 62A.9A-402", SAID_AGAIN),
];

#[test]
fn every_letter_of_south_dakota_is_kept() {
    let rules = settle_all("sd-statutes-json-2026.tar.zst", &south_dakota(), &OF_SOUTH_DAKOTA);
    let expected = [
        ("a list of other sections in place of a text", 278),
        ("a word before the credit", 39_299),
        ("further numbers of a range", 1_324),
        ("no section", 4),
        ("the same", 4_637),
        ("two wordings", 45),
    ];
    assert!(corpora().is_none() || rules == expected, "{rules:?}");
}

#[test]
fn every_letter_of_washington_is_kept() {
    let rules = settle_all("wa-statutes-json-2026.tar.zst", &washington(), &OF_WASHINGTON);
    assert!(
        corpora().is_none()
            || rules == [("no section", 635), ("the same", 51_782), ("two wordings under one heading", 609)],
        "{rules:?}"
    );
}
