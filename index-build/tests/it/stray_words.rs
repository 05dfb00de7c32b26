//! Inserts a word between any two tags of a document, alone or in an unknown element. The
//! importer's output must contain the word once, and the element must cause one warning.

use hornbook_index_build::content::Content;
use hornbook_index_build::import::document::{Document, ParseDocument, Parsed};
use hornbook_index_build::import::{cfr_annual, ecfr, open_law, regml, uslm};
use hornbook_index_build::report::WarningKind;
use roxmltree::Node;

use crate::cfr::{ANNUAL, ECFR, REGML};
use crate::common::target;
use crate::uslm::{REGULATIONS, TITLE};

const WORD: &str = "Strayword";

const OPEN_LAW: &str = r#"<document xmlns="https://open.law/schemas/library"><heading>Arden Code</heading><meta><x>1</x></meta>
<container><prefix>Title</prefix><num>1</num><heading>Roads.</heading><annotations><annotation type="Note">New.</annotation></annotations>
<section><num>1-101</num><heading>Width <em>now</em>.</heading><text>Ten feet <cite path="x">here</cite>.</text>
<para><num>(a)</num><heading>Old.</heading><text>Of stone:</text><para><num>(1)</num><text>grey;</text></para><aftertext>or red.</aftertext></para>
<table><thead><tr><th>Road</th></tr></thead><tbody><tr><td><p>A</p></td></tr></tbody></table>
<include><section><num>1</num><heading>Quoted.</heading><para><num>A.</num><text>Law.</text></para></section></include>
<annotations><annotation type="History">Apr. 1, 2001</annotation><annotation type="Note"><text>See.</text></annotation></annotations></section>
</container></document>"#;

/// A format, and its elements whose words are left out, or are not words, for a stated reason.
struct Form {
    parse: ParseDocument,
    text: &'static str,
    left_out: &'static [&'static str],
}

const FORMS: [Form; 6] = [
    // Data about the file, contents, running heads, signs of footnotes; numbers, which become citations.
    Form { parse: uslm::parse, text: TITLE, left_out: &["meta", "toc", "ref"] },
    Form { parse: uslm::parse, text: REGULATIONS, left_out: &["meta", "preface", "toc", "leftRunningHead", "ear"] },
    Form { parse: ecfr::parse, text: ECFR, left_out: &["HEADER", "AMDDATE", "CFRTOC", "SU", "FTREF"] },
    Form {
        parse: cfr_annual::parse,
        text: ANNUAL,
        left_out: &[
            "AMDDATE", "FMTR", "LRH", "CFRTITLE", "TOC", "EAR", "CONTENTS", "BMTR", "SU", "FTREF", "PRTPAGE", "SECTNO",
        ],
    },
    // The `text` of an image is its name.
    Form {
        parse: regml::parse,
        text: REGML,
        left_out: &["fdsys", "preamble", "tableOfContents", "analysis", "graphic"],
    },
    Form { parse: open_law::parse, text: OPEN_LAW, left_out: &["meta"] },
];

fn is_left_out(word: Node<'_, '_>, form: &Form) -> bool {
    let is_named = |node: Node<'_, '_>| form.left_out.contains(&node.tag_name().name());
    let is_name_of_code = |node: Node<'_, '_>| {
        node.tag_name().name() == "heading"
            && node.parent_element().is_some_and(|parent| parent.tag_name().name() == "document")
    };
    word.ancestors().any(|node| is_named(node) || is_sign_of_footnote(node) || is_name_of_code(node))
}

fn is_sign_of_footnote(node: Node<'_, '_>) -> bool {
    node.tag_name().name() == "num"
        && node.parent_element().is_some_and(|note| note.attribute("type") == Some("footnote"))
}

/// How often the word occurs in the displayed parts of a node.
fn count(content: &Content) -> usize {
    let notes = content.notes.iter().flat_map(|note| [note.topic.as_str(), note.text.as_str()]);
    let own = [Some(content.heading.as_str()), content.text.as_deref(), content.source_credit.as_deref()];
    own.into_iter().flatten().chain(notes).map(|text| text.matches(WORD).count()).sum()
}

/// The error in reading a document with a stray word.
fn mistake(form: &Form, text: &str, is_element: bool) -> Option<String> {
    let tree = roxmltree::Document::parse(text).ok()?;
    let word = tree.descendants().find(|node| node.is_text() && node.text().is_some_and(|text| text.contains(WORD)))?;
    if is_left_out(word, form) {
        return None;
    }
    let document = Document { place: "x.xml".into(), bytes: text.into() };
    let parsed: Parsed = (form.parse)(&document, target("Code", "us/x"));
    let found: usize = parsed.nodes.iter().map(|node| count(&node.content)).sum();
    let number = |content: &Content| content.number.as_deref().unwrap_or_default().contains(WORD);
    let is_in_number = parsed.nodes.iter().any(|node| node.content.citation.contains(WORD) || number(&node.content));
    let warned = parsed
        .warnings
        .iter()
        .filter(|(kind, _, what)| *kind == WarningKind::UnknownElement && what.starts_with("<odd>"));
    let place: Vec<&str> = word.ancestors().skip(1).map(|node| node.tag_name().name()).take(4).collect();
    if !parsed.mistakes.is_empty() {
        return None;
    }
    if found != 1 && !(found == 0 && is_in_number) {
        return Some(format!("in {place:?} the word is found {found} times"));
    }
    let count = warned.count();
    (count != usize::from(is_element)).then(|| format!("in {place:?} there are {count} warnings"))
}

#[test]
fn every_word_between_two_tags_is_kept_and_every_unknown_element_is_named() {
    let mut mistakes = Vec::new();
    for form in &FORMS {
        let ends = form.text.match_indices('>').map(|(at, _)| at + 1);
        for at in ends {
            for (stray, is_element) in [(format!(" {WORD} "), false), (format!("<odd>{WORD}</odd>"), true)] {
                let text = [&form.text[..at], &stray, &form.text[at..]].concat();
                mistakes.extend(mistake(form, &text, is_element));
            }
        }
    }
    mistakes.sort();
    mistakes.dedup();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}
