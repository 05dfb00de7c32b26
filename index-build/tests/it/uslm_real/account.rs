//! Tests that no word of the law is lost or invented: an independent walk compares the words of
//! each file with those of its nodes.

use hornbook_index_build::import::document::{Document, Parsed};
use roxmltree::Node;

use super::{regulations, titles};
use crate::words::{WordLedger, Words};

const CONTENTS: &str = "tables of contents, which repeat headings";
const BOOK: &str = "front matter, index and running heads of the printed book, and data about the file";
const SIGNS: &str = "signs of footnotes, which become marks";
const GROUPS: &str = "headings over groups of notes (Editorial Notes, Statutory Notes)";
const NAMES_OF_GROUPS: [&str; 4] = [
    "Editorial Notes",
    "Statutory Notes and Related Subsidiaries",
    "Executive Documents",
    "Court Rules and Judicial Documents",
];
const APPENDIX: &str = "headings of appendices that are only that of their first act";
const RULE: &str = "the word Rule in the number of a court rule";
const KINDS: &str = "topics of notes without a heading";
const IMAGES: &str = "names of images";
const PLANS: &str = "numbers of reorganization plans, which their headings contain";

struct Walk {
    account: WordLedger,
    /// Blocks separate words; inline elements may be within a word.
    text: String,
}

impl Walk {
    fn of(document: &Document, parsed: &Parsed) -> WordLedger {
        let text = std::str::from_utf8(&document.bytes).unwrap();
        let tree = roxmltree::Document::parse(text).unwrap();
        let mut walk = Self { account: WordLedger::default(), text: String::new() };
        walk.visit(tree.root_element());
        let Self { mut account, text } = walk;
        account.source(&text);
        parsed.nodes.iter().for_each(|node| account.imported(&node.content));
        account
    }

    fn words(&mut self, node: Node<'_, '_>, text: &str) {
        let above = node.parent_element().and_then(|parent| Some((parent, parent.parent_element()?)));
        let is_of_rule = above.is_some_and(|(num, rule)| num.has_tag_name("num") && rule.has_tag_name("courtRule"));
        match text.strip_prefix("Rule ").filter(|_| is_of_rule) {
            Some(number) => {
                self.account.left_out(RULE, "Rule");
                self.text.push_str(number);
            }
            None => self.text.push_str(text),
        }
    }

    fn visit(&mut self, node: Node<'_, '_>) {
        if let Some(text) = node.text().filter(|_| node.is_text()) {
            self.words(node, text);
        }
        if !node.is_element() {
            return;
        }
        if let Some(rule) = left_out(node) {
            self.text.push(' ');
            return self.account.left_out(rule, &words_of(node));
        }
        match node.tag_name().name() {
            "img" => {
                let name = node.attribute("src").unwrap().trim().rsplit('/').next().unwrap();
                self.account.added(IMAGES, name);
            }
            "note" | "authority" | "source" | "editorialNote" | "crossHeading" if topic_is_added(node) => {
                self.account.added(KINDS, &kind(node));
            }
            "reorganizationPlan" => {
                self.account.added(PLANS, node.attribute("identifier").unwrap().rsplit('/').next().unwrap());
            }
            _ => {}
        }
        let is_inline = matches!(
            node.tag_name().name(),
            "i" | "b" | "em" | "strong" | "sup" | "sub" | "inline" | "ref" | "date" | "a" | "span"
        );
        let gap = if is_inline { "" } else { " " };
        self.text.push_str(gap);
        node.children().for_each(|child| self.visit(child));
        self.text.push_str(gap);
    }
}

fn words_of(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect::<Vec<_>>().join(" ")
}

fn left_out(node: Node<'_, '_>) -> Option<&'static str> {
    let parent = node.parent_element();
    let is_in = |name: &str| parent.is_some_and(|parent| parent.has_tag_name(name));
    match node.tag_name().name() {
        "toc" => Some(CONTENTS),
        "meta" | "preface" | "backMatter" | "endMarker" | "leftRunningHead" | "rightRunningHead" | "ear" => Some(BOOK),
        "ref" if node.attribute("class") == Some("footnoteRef") => Some(SIGNS),
        "num" if parent.is_some_and(is_footnote) => Some(SIGNS),
        "sup" if refers_to_footnote(node) => Some(SIGNS),
        "note"
            if node.attribute("role") == Some("crossHeading") && NAMES_OF_GROUPS.contains(&words_of(node).trim()) =>
        {
            Some(GROUPS)
        }
        "heading" if is_in("appendix") && is_first_of_its_acts(node) => Some(APPENDIX),
        _ => None,
    }
}

fn is_footnote(node: Node<'_, '_>) -> bool {
    node.has_tag_name("note") && node.attribute("type") == Some("footnote")
}

/// Whether a raised number is that of a footnote of its provision. Numerators are followed by a bar.
fn refers_to_footnote(sup: Node<'_, '_>) -> bool {
    let provision = sup.ancestors().find(|above| ["section", "courtRule"].contains(&above.tag_name().name()));
    let is_numerator = sup.next_sibling().and_then(|after| after.text()).is_some_and(|after| after.starts_with('⁄'));
    let is_own =
        |note: Node<'_, '_>| is_footnote(note) && words_of(note).trim().starts_with(&format!("{} ", words_of(sup)));
    !is_numerator && provision.is_some_and(|provision| provision.descendants().any(is_own))
}

fn is_first_of_its_acts(heading: Node<'_, '_>) -> bool {
    let appendix = heading.parent_element().unwrap();
    let first =
        appendix.children().filter_map(|child| child.children().find(|inner| inner.has_tag_name("heading"))).next();
    first.is_some_and(|first| Words::of(&words_of(first)).less(&Words::of(&words_of(heading))).count() == 0)
}

/// Notes of provisions and containers without a heading, and footnotes. Other notes are in the text.
fn topic_is_added(node: Node<'_, '_>) -> bool {
    if is_footnote(node) {
        return true;
    }
    let parent = node.parent_element().unwrap().tag_name().name();
    let is_note_of_a_node = matches!(node.tag_name().name(), "authority" | "editorialNote" | "crossHeading")
        || (parent == "section" && node.ancestors().all(|above| !above.has_tag_name("quotedContent")))
        || matches!(
            parent,
            "notes" | "title" | "appendix" | "chapter" | "subchapter" | "part" | "subpart" | "level" | "courtRules"
        );
    let is_credit = node.has_tag_name("source") && matches!(parent, "section" | "content");
    is_note_of_a_node && !is_credit && !node.children().any(|child| child.has_tag_name("heading"))
}

fn kind(node: Node<'_, '_>) -> String {
    if is_footnote(node) {
        return "Footnote".to_owned();
    }
    let name = node.attribute("topic").unwrap_or(node.tag_name().name());
    let mut words = String::new();
    for (place, c) in name.chars().enumerate() {
        match (place, c.is_uppercase()) {
            (0, _) => words.extend(c.to_uppercase()),
            (_, true) => words.extend([' ', c.to_ascii_lowercase()]),
            (_, false) => words.push(c),
        }
    }
    words
}

#[test]
fn no_word_of_the_code_is_lost_or_invented() {
    let Some(titles) = titles() else { return };
    let mut failed = Vec::new();
    for (document, parsed) in titles {
        let account = Walk::of(document, parsed);
        println!("{}: {:?}", document.path(), account.rules());
        failed.extend(
            std::panic::catch_unwind(|| account.assert_settled(document.path())).is_err().then(|| document.path()),
        );
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn no_word_of_the_regulations_is_lost_or_invented() {
    let Some((document, parsed)) = regulations() else { return };
    let account = Walk::of(&document, &parsed);
    println!("{:?}", account.rules());
    account.assert_settled(document.path());
}
