//! Tests the limits of the importers: extreme nesting, chains of footnotes, and texts too long for
//! a snapshot give a text or a message with its place, never a panic or a stack overflow.

use std::fmt::Write;

use hornbook_corpus::texts::TEXT_BYTES_MAX;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::xml::DEPTH_MAX;

use crate::imported::{Source, import_one, parse_and_check};

fn source(format: &'static str) -> Source<'static> {
    Source { format, key: "us/x", code_body: "Code", citation: None, options: toml::Table::new() }
}

/// For each XML format: the markup before and after elements nested in a provision, and the
/// elements that can nest.
const FORMS: [(&str, &str, &str, &[&str]); 5] = [
    (
        "uslm",
        "<uscDoc><main><title><num value=\"1\">1</num><section identifier=\"/us/usc/t1/s1\"><num value=\"1\">1</num>",
        "</section></title></main></uscDoc>",
        &["paragraph", "content", "i", "table", "note type=\"footnote\"", "quotedContent", "toc", "odd", "heading"],
    ),
    (
        "ecfr",
        "<ECFR><DIV1 N=\"1\" TYPE=\"TITLE\"><HEAD>Title 1</HEAD><DIV5 N=\"2\" TYPE=\"PART\"><HEAD>PART 2</HEAD>",
        "</DIV5></DIV1></ECFR>",
        &["DIV8 TYPE=\"SECTION\"", "DIV5", "P", "EXTRACT", "NOTE", "FTNT", "EDNOTE", "TABLE", "GPOTABLE", "odd", "E"],
    ),
    (
        "cfr-annual",
        "<CFRDOC><TITLENUM>Title 1</TITLENUM><TITLE><CHAPTER><PART><HD>PART 2</HD>",
        "</PART></CHAPTER></TITLE></CFRDOC>",
        &["SECTION", "PART", "P", "EXTRACT", "REVTXT", "EFFDNOT", "FTNT", "APPENDIX", "GPOTABLE", "odd", "SUBJGRP"],
    ),
    (
        "regml",
        "<regulation><fdsys><cfrTitleNum>1</cfrTitleNum></fdsys><part label=\"2\"><content><section sectionNum=\"1\">",
        "</section></content></part></regulation>",
        &["paragraph", "content", "def", "table", "callout", "odd", "interpParagraph"],
    ),
    (
        "open-law",
        "<document><container><num>1</num><section><num>1</num><heading>A</heading>",
        "</section></container></document>",
        &["para", "text", "table", "include", "container", "annotations", "attachments", "odd", "section"],
    ),
];

fn nested(form: &(&str, &str, &str, &[&str]), element: &str, depth: usize) -> String {
    let (_, before, after, _) = form;
    let name = element.split(' ').next().unwrap();
    let (open, close) = (format!("<{element}>"), format!("</{name}>"));
    format!("{before}{}Deep{}{after}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn every_form_of_xml_is_read_to_the_deepest_level_and_refused_beyond_it() {
    for form in &FORMS {
        let (format, before, _, elements) = form;
        let source = source(format);
        let around = before.matches('<').count() - 2 * before.matches("</").count();
        for element in *elements {
            let read = |depth| import_one("d.xml", &nested(form, element, depth), &source).mistakes.to_string();
            let deepest = DEPTH_MAX - around - 1;
            assert!(!read(deepest).contains("levels deep"), "{format} {element}: {}", read(deepest));
            for depth in [DEPTH_MAX, 20_000] {
                assert!(read(depth).contains("levels deep"), "{format} {element}: {}", read(depth));
            }
        }
        let unclosed = "<a>".repeat(20_000);
        parse_and_check(&Document { place: "d.xml".into(), bytes: unclosed.into() }, &source);
    }
}

/// Each footnote cites the next one; the last one cites the first.
#[test]
fn footnotes_that_cite_footnotes_need_no_stack() {
    const CHAIN: usize = 20_000;
    let (_, before, after, _) = &FORMS[0];
    let mut text = format!("{before}<content><p>Law<ref class=\"footnoteRef\" idref=\"f0\">0</ref></p></content>");
    for number in 0..CHAIN {
        let next = (number + 1) % CHAIN;
        write!(
            text,
            "<note type=\"footnote\" id=\"f{number}\">Note {number}\
             <ref class=\"footnoteRef\" idref=\"f{next}\">{next}</ref></note>"
        )
        .unwrap();
    }
    let imported = import_one("f.xml", &(text + after), &source("uslm"));
    let section = imported.provisions().next().unwrap();
    let reported: Vec<&str> = section.1.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!((reported.len(), reported[0], reported[CHAIN - 1]), (CHAIN, "Note 0", "Note 19999"));
    let cited: Vec<u32> = section.1.notes[..3].iter().map(|note| note.layout.marks[0].target).collect();
    assert_eq!(cited, [1, 2, 3]);
}

#[test]
fn a_text_that_is_too_long_is_refused_with_its_place() {
    let (_, before, after, _) = &FORMS[0];
    let long = "law ".repeat(TEXT_BYTES_MAX / 4 + 1);
    let text = format!("{before}\n<content><p>{long}</p></content>{after}");
    let imported = import_one("t.xml", &text, &source("uslm"));
    let reported = imported.mistakes.to_string();
    assert!(reported.starts_with("t.xml:1: 'us/x/t1/s1' has a text of 67108"), "{reported}");
}
