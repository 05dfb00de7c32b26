//! Tests that no word is lost or invented: compares the words of every document in the open.law
//! format with those of its nodes.

use hornbook_corpus::layout::LineKind;
use hornbook_index_build::content::{Content, OnRepeat};
use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::open_law;
use rayon::prelude::*;
use roxmltree::Node;

use crate::corpora::corpora;
use crate::open_law_source::{OpenLawSource, baltimore, district, documents, maryland, san_mateo, turtle_mountain};
use crate::words::WordLedger;

/// Elements within a line. All other elements separate words.
const WITHIN_LINES: [&str; 13] =
    ["cite", "Cite", "em", "strong", "b", "u", "underline", "e", "s", "span", "sup", "sub", "a"];

fn name<'d>(node: Node<'_, 'd>) -> &'d str {
    node.tag_name().name()
}

fn is_of_editors(node: Node<'_, '_>) -> bool {
    node.tag_name().namespace().is_some_and(|namespace| namespace.contains("codif"))
}

/// The rule by which the importer does not turn a node into text.
fn rule(node: Node<'_, '_>) -> Option<&'static str> {
    let parent = node.parent().map(name).unwrap_or_default();
    let is_quoted = || node.ancestors().any(|around| name(around) == "include");
    match name(node) {
        _ if is_of_editors(node) => Some("commands of editors"),
        "meta" => Some("data about the code"),
        "heading" if parent == "document" => Some("the full name of the code"),
        "prefix" if parent == "section" && !is_quoted() => Some("words before the number of a section"),
        // The reason of a paragraph or an attachment is text (`(c) Repealed`), and a second reason
        // contains more.
        "reason" if matches!(parent, "section" | "container") && is_first_of_its_name(node) => {
            Some("reasons, which become the status")
        }
        _ => None,
    }
}

fn is_first_of_its_name(node: Node<'_, '_>) -> bool {
    node.prev_siblings().skip(1).all(|before| name(before) != name(node))
}

/// Adds the words of a node, except those that a rule leaves out.
fn read(node: Node<'_, '_>, account: &mut WordLedger, text: &mut String) {
    for child in node.children() {
        if child.is_text() {
            text.push_str(child.text().unwrap_or_default());
        }
        if !child.is_element() {
            continue;
        }
        if let Some(rule) = rule(child) {
            let left_out: Vec<&str> =
                child.descendants().filter_map(|inner| inner.text().filter(|_| inner.is_text())).collect();
            account.left_out(rule, &left_out.join(" "));
            text.push(' ');
            continue;
        }
        let is_within_line = WITHIN_LINES.contains(&name(child));
        text.push_str(if is_within_line { "" } else { " " });
        read(child, account, text);
        text.push_str(if is_within_line { "" } else { " " });
    }
}

/// Adds the words of nodes that are not in the text of the document, by rule.
fn add_what_is_not_text(content: &Content, is_wording: bool, account: &mut WordLedger) {
    for note in &content.notes {
        if note.topic.starts_with("Status") {
            account.added("reasons that say more than the status", &note.text);
        }
        account.added("types of annotations, which are topics of notes", &note.topic);
    }
    let sets = content.notes.iter().map(|note| (note.text.as_str(), &note.layout));
    for (text, layout) in sets.chain([(content.text.as_deref().unwrap_or_default(), &content.layout)]) {
        for (line, _) in text.split('\n').zip(&layout.lines).filter(|(_, set)| set.kind() == Some(LineKind::Image)) {
            account.added("names of images and attachments, and what they show", line);
        }
    }
    if is_wording {
        account.left_out("the mark of permanent wordings", "Perm");
    }
}

/// Adds the history that is only in attributes: the date, if it is known, and the act, once for each act.
fn add_history_of_attributes(tree: &roxmltree::Document<'_>, account: &mut WordLedger) {
    let only_words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).collect::<String>();
    let (mut last, mut of) = (String::new(), None);
    for annotation in tree.descendants().filter(|node| name(*node) == "annotation" && !is_of_editors(*node)) {
        let section = annotation.ancestors().nth(2).filter(|owner| name(*owner) == "section");
        if annotation.attribute("type") != Some("History") || section.is_none() {
            continue;
        }
        if of != section {
            (last, of) = (String::new(), section);
        }
        let attribute = |name| annotation.attribute(name).unwrap_or_default();
        let written: String = annotation.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
        if !written.trim().is_empty() {
            last = only_words(&written);
            continue;
        }
        let date: Vec<&str> = attribute("eff").split('-').collect();
        let is_date = date.len() == 3 && date[0] > "1700";
        if attribute("display") == "false" || attribute("doc").is_empty() {
            continue;
        }
        let written = || {
            let numbers: Vec<usize> = date.iter().map(|part| part.parse().unwrap()).collect();
            let months = ["Jan", "Feb", "Mar", "Apr", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec"];
            format!("{} {} {}", months[numbers[1] - 1], numbers[2], numbers[0])
        };
        let day = if is_date { written() } else { String::new() };
        let section = attribute("path").split('|').next().filter(|part| part.starts_with('§')).unwrap_or_default();
        let credit = format!("{day} {} {section}", attribute("doc"));
        if only_words(&credit) != last {
            account.added("history that stands in attributes", &credit);
            last = only_words(&credit);
        }
    }
}

fn settle(document: &Document, plan: &OpenLawSource) -> WordLedger {
    let mut account = WordLedger::default();
    let tree = roxmltree::Document::parse(std::str::from_utf8(&document.bytes).unwrap()).unwrap();
    let mut text = String::new();
    read(tree.root(), &mut account, &mut text);
    add_history_of_attributes(&tree, &mut account);
    let parsed = open_law::parse(document, plan.target());
    for (rule, last) in parsed.left_out.iter().filter(|(rule, _)| rule.starts_with("the last numbers of ranges")) {
        account.kept_as(rule, last);
    }
    for node in &parsed.nodes {
        let is_wording = node.on_repeat == OnRepeat::Wording;
        add_what_is_not_text(&node.content, is_wording, &mut account);
        if let Some(label) = &node.content.effect.remark {
            account.added("the label of permanent wordings", label);
        }
        account.imported_with_remarks_apart(&node.content);
        if node.content.heading == "About this code" {
            account.added("the heading of what a document says of its code", &node.content.heading);
        }
        if is_wording {
            text = text.replacen("(Perm)", "", 1);
        }
    }
    account.source(&text);
    account.assert_settled(&document.place);
    account
}

fn settle_all(plan: &OpenLawSource) {
    let Some(corpora) = corpora() else { return };
    let mut all = documents(&corpora.join(plan.archive));
    all.retain(|document| document.path().contains(plan.folder));
    let accounts: Vec<WordLedger> = all.par_iter().map(|document| settle(document, plan)).collect();
    println!("{} documents", accounts.len());
    let mut rules: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    accounts.iter().flat_map(WordLedger::rules).for_each(|(rule, words)| *rules.entry(rule).or_default() += words);
    rules.iter().for_each(|(rule, words)| println!("{words:>9} words: {rule}"));
}

#[test]
fn every_word_of_the_district_code_is_kept() {
    settle_all(&district());
}

#[test]
fn every_word_of_maryland_regulations_is_kept() {
    settle_all(&maryland());
}

#[test]
fn every_word_of_two_cities_and_a_tribe_is_kept() {
    [baltimore(), san_mateo(), turtle_mountain()].iter().for_each(settle_all);
}
