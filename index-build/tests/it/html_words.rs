//! Tests that no word is lost or invented: compares the nodes of Virginia's release and Spanish
//! Fork's code with words that a short, independent reader extracts from the markup.

use std::collections::{BTreeMap, HashSet};

use hornbook_index_build::content::NewNode;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::{municipal_html, state_html};
use rayon::prelude::*;

use crate::corpora::corpora;
use crate::imported::{Source, documents};
use crate::municipal_html::spanish_fork;
use crate::state_html::virginia;
use crate::stripped::{strip, without};
use crate::words::{WordLedger, remark_at_heading};

fn text_of(document: &Document) -> &str {
    std::str::from_utf8(&document.bytes).unwrap()
}

/// The words of the element at the start of a piece of markup, such as its heading.
fn first_element(piece: &str, name: &str) -> String {
    strip(piece.split_once(&format!("</{name}>")).map_or(piece, |(first, _)| first)).text
}

/// Settles every document, and counts the words that each rule explains.
fn settle_all(documents: &[Document], settle: fn(&Document) -> WordLedger) -> Vec<(&'static str, u64)> {
    let accounts: Vec<(&Document, WordLedger)> =
        documents.par_iter().map(|document| (document, settle(document))).collect();
    let open: Vec<String> =
        accounts.iter().filter_map(|(document, account)| account.unsettled(&document.place)).collect();
    assert!(open.is_empty(), "{} of {} documents:\n{}", open.len(), accounts.len(), open.join("\n"));
    let mut rules = BTreeMap::new();
    accounts
        .iter()
        .flat_map(|(_, account)| account.rules())
        .for_each(|(rule, words)| *rules.entry(*rule).or_default() += words);
    rules.into_iter().collect()
}

/// Adds the text between section number and heading: `through 50-43.12`.
fn add_numbers_of_ranges(title: &str, node: &NewNode, account: &mut WordLedger) {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(number) = &node.content.number else { return };
    let before = title.strip_suffix(node.content.heading.as_str()).expect("the heading ends the title");
    // A remark about its validity precedes the heading.
    let remark = remark_at_heading(&node.content).map(|remark| format!("({})", remark.replace("; ", ") (")));
    let before = remark.and_then(|remark| before.trim_end().strip_suffix(&remark)).unwrap_or(before);
    let further = before.split_once(number.as_str()).expect("the number begins it").1;
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut words = further.split([' ', ',', '.', '–']).filter(|word| !word.is_empty() && !is_number(word));
    assert!(words.all(|word| ["through", "to", "and"].contains(&word)), "'{title}': '{further}'");
    account.kept_as("further numbers of ranges, which are parallel citations", further);
}

fn settle_virginia(document: &Document) -> WordLedger {
    let mut account = WordLedger::default();
    let source = Source { options: toml::Table::new(), ..virginia() };
    let parsed = state_html::parse(document, crate::imported::target(&source));
    let (markup, cut) = without(text_of(document), &["head", "script", "style", "nav"]);
    for navigation in cut.iter().filter(|cut| cut.starts_with("<nav")) {
        let title = navigation.split_once("<h1").map(|(_, title)| format!("<h1{title}"));
        account.source(&title.map(|title| first_element(&title, "h1")).unwrap_or_default());
    }
    let stripped = strip(&markup);
    account.source(&stripped.text);
    stripped.labels.iter().for_each(|label| account.added("labels, which are positions in lists", label));
    let titles: Vec<String> =
        markup.split("<h3").skip(1).map(|piece| first_element(&format!("<h3{piece}"), "h3")).collect();
    assert_eq!(titles.len(), parsed.nodes.len(), "{}", document.place);
    for (title, node) in titles.iter().zip(&parsed.nodes) {
        add_numbers_of_ranges(title, node, &mut account);
        // Older releases have the credit in parentheses instead.
        if node.content.source_credit.as_ref().is_some_and(|credit| !credit.starts_with('(')) {
            account.kept_as("the word before a source credit", "History");
        }
    }
    for (_, copy) in parsed.left_out.iter().filter(|(reason, _)| reason.starts_with("items that a release prints")) {
        account.kept_as("items that are printed twice", copy);
    }
    for node in parsed.nodes.iter().chain(&parsed.inferred) {
        for note in node.content.notes.iter().filter(|note| note.topic == "Note") {
            account.added("the topic of notes without a heading", &note.topic);
        }
        account.imported(&node.content);
    }
    account
}

#[test]
fn every_word_of_virginia_is_kept() {
    let Some(corpora) = corpora() else { return };
    let source = virginia();
    let is_code = |path: &str| !path.contains("constitution");
    let documents = documents(&corpora.join("va-code-html-2022.tar.zst"), source.format, is_code);
    let rules = [
        ("further numbers of ranges, which are parallel citations", 1_744),
        ("items that are printed twice", 19_358),
        ("labels, which are positions in lists", 61_805),
        ("the topic of notes without a heading", 348),
        ("the word before a source credit", 18_235),
    ];
    assert_eq!(settle_all(&documents, settle_virginia), rules);
}

#[test]
fn every_word_of_virginias_constitution_is_kept() {
    let Some(corpora) = corpora() else { return };
    let is_it = |path: &str| path.ends_with("constitution.va.html");
    let documents = documents(&corpora.join("va-code-html-2022.tar.zst"), virginia().format, is_it);
    assert_eq!(documents.len(), 1);
    settle_all(&documents, settle_virginia);
}

fn settle_spanish_fork(document: &Document) -> WordLedger {
    let mut account = WordLedger::default();
    let source = spanish_fork();
    let parsed = municipal_html::parse(document, crate::imported::target(&source));
    let (markup, _) = without(text_of(document), &["head", "script", "style", "nav"]);
    let pieces: Vec<&str> = markup.split("<section").collect();
    account.source(&strip(pieces[0]).text);
    let sections = || pieces[1..].iter().map(|piece| strip(&format!("<section{piece}")));
    let titles: Vec<String> =
        pieces[1..].iter().map(|piece| first_element(&format!("<section{piece}"), "h3")).collect();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let number = |title: &str| words(title).swap_remove(0);
    let is_bare: Vec<bool> = sections().zip(&titles).map(|(all, title)| words(&all.text) == words(title)).collect();
    let mut known: HashSet<String> =
        titles.iter().zip(&is_bare).filter(|(_, bare)| !**bare).map(|(title, _)| number(title)).collect();
    for ((section, title), bare) in sections().zip(&titles).zip(is_bare) {
        if bare && !known.insert(number(title)) {
            account.left_out("lines of lists of contents, which repeat headings", &section.text);
            continue;
        }
        account.source(&section.text);
        section.labels.iter().for_each(|label| account.added("labels, which are positions in lists", label));
    }
    for piece in &pieces[1..] {
        for heading in piece.split("<h4").skip(1).map(|rest| first_element(&format!("<h4{rest}"), "h4")) {
            if heading.trim() == "History" {
                account.kept_as("the heading of the history", "History");
            }
        }
        if piece.contains("<p>HISTORY</p>") {
            account.kept_as("the heading of the history", "HISTORY");
        }
    }
    let with_history = |line: &&String| !titles.iter().any(|title| words(title) == words(line));
    for line in parsed.left_out.iter().map(|(_, line)| line).filter(with_history) {
        account.kept_as("lines of lists of contents with a history", line);
    }
    // A part begins with a list of its chapters. The heading of each chapter is repeated where the
    // chapter begins.
    let headings: HashSet<String> = parsed.inferred.iter().map(|node| words(&node.content.heading).join(" ")).collect();
    let mut headed = HashSet::new();
    for line in markup.split("<p>").skip(1).map(|piece| words(&first_element(piece, "p")).join(" ")) {
        if headings.contains(&line) && !headed.insert(line.clone()) {
            account.kept_as("lists of chapters, which repeat headings", &line);
        }
    }
    let mut inferred = HashSet::new();
    for node in parsed.nodes.iter().chain(parsed.inferred.iter().filter(|node| inferred.insert(node.handle))) {
        account.imported(&node.content);
    }
    account
}

#[test]
fn every_word_of_spanish_fork_is_kept() {
    let Some(corpora) = corpora() else { return };
    let source = spanish_fork();
    let archive = corpora.join("spanish-fork-ut-code-html-2024.tar.zst");
    let documents = documents(&archive, source.format, |path| !path.contains("/public-works/"));
    assert_eq!(documents.len(), 14);
    let rules = [
        ("labels, which are positions in lists", 28),
        ("lines of lists of contents with a history", 31),
        ("lines of lists of contents, which repeat headings", 4_618),
        ("lists of chapters, which repeat headings", 59),
        ("the heading of the history", 215),
    ];
    assert_eq!(settle_all(&documents, settle_spanish_fork), rules);
}
