//! The difficult cases of United States Legislative Markup, each in a small document written for it.

use hornbook_corpus::layout::{LineKind, MarkKind, layout_lines};
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::content::{Content, NewNode};
use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::document::{Document, Parsed};
use hornbook_index_build::import::intake::SourceIntake;
use hornbook_index_build::import::uslm;
use hornbook_index_build::import::xml::{self, DEPTH_MAX};
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::Warnings;

use crate::common::{SeededRandom, build_at, target};

pub(crate) const TITLE: &str = include_str!("uslm/title.xml");
const APPENDIX: &str = include_str!("uslm/appendix.xml");
pub(crate) const REGULATIONS: &str = include_str!("uslm/regulations.xml");

pub(crate) fn parse(bytes: impl Into<Vec<u8>>) -> Parsed {
    let document = Document { place: "usc.zip!t.xml".into(), bytes: bytes.into() };
    let is_code = document.bytes.windows(8).any(|window| window == b"<uscDoc ");
    let (name, key) =
        if is_code { ("United States Code", "us/usc") } else { ("Code of Federal Regulations", "us/cfr") };
    uslm::parse(&document, target(name, key))
}

pub(crate) fn keys(parsed: &Parsed) -> Vec<&str> {
    parsed.nodes.iter().map(|node| node.key.as_str()).collect()
}

fn node<'p>(parsed: &'p Parsed, key: &str) -> &'p NewNode {
    parsed.nodes.iter().find(|node| node.key == key).unwrap_or_else(|| panic!("{key} is not in {:?}", keys(parsed)))
}

pub(crate) fn content<'p>(parsed: &'p Parsed, key: &str) -> &'p Content {
    &node(parsed, key).content
}

/// The lines of a text: depth, anchor and words.
pub(crate) fn lines(content: &Content) -> Vec<(u8, String, String)> {
    let text = content.text.as_deref().unwrap();
    let set = layout_lines(text, Some(content.layout.as_ref())).into_iter();
    let lines = set.map(|line| {
        (line.depth, line.anchor.map(|anchor| anchor.name).unwrap_or_default(), text[line.range].to_owned())
    });
    lines.collect()
}

pub(crate) fn line(depth: u8, anchor: &str, text: &str) -> (u8, String, String) {
    (depth, anchor.to_owned(), text.to_owned())
}

pub(crate) fn notes(content: &Content) -> Vec<(&str, &str)> {
    content.notes.iter().map(|note| (note.topic.as_str(), note.text.as_str())).collect()
}

#[test]
fn sections_become_provisions_and_quoted_law_does_not() {
    let parsed = parse(TITLE);
    // The document does not say where sections 6 and 7 went.
    let warned: Vec<&str> = parsed.warnings.iter().map(|(_, _, what)| what.as_str()).collect();
    assert_eq!(warned, ["'90 U.S.C. § 6': the number in 'Transferred' is not understood"]);
    assert!(parsed.mistakes.is_empty(), "{:?}", parsed.mistakes);
    let expected = ["t90", "t90/ch1", "t90/s1", "t90/s2", "t90/s3...5", "t90/s6", "t90/s8", "t90/s8"];
    assert_eq!(keys(&parsed), expected.map(|key| format!("us/usc/{key}")));
    assert_eq!(node(&parsed, "us/usc/t90/s1").position.line, Some(13));
    let chapter = content(&parsed, "us/usc/t90/ch1");
    assert_eq!((chapter.heading.as_str(), chapter.level.as_str()), ("CHAPTER 1—PIERS", "chapter"));
    assert_eq!((chapter.citation.as_str(), &chapter.text), ("United States Code, Title 90, Chapter 1", &None));
    // The heading of the group and the contents are left out; the note stays.
    assert_eq!(notes(chapter), [("Amendments", "2020—Added item 2.")]);
    assert_eq!(notes(content(&parsed, "us/usc/t90")), [("Enacting", "This title was enacted by law.")]);
}

#[test]
fn enumerated_paragraphs_footnotes_and_run_in_headings_are_set() {
    let parsed = parse(TITLE);
    let section = content(&parsed, "us/usc/t90/s1");
    assert_eq!((section.citation.as_str(), section.heading.as_str()), ("90 U.S.C. § 1", "Definitions"));
    assert_eq!(section.number.as_deref(), Some("1"));
    assert_eq!(
        lines(section),
        [
            line(0, "", "In this chapter—"),
            line(0, "1", "(1) Pier.— The term “pier” means a fixed platform; and"),
            line(0, "2-A", "(2)(A) a quay;"),
            line(1, "2-B", "(B) a jetty;"),
            line(1, "", "a mole."),
            line(0, "", "All of them float."),
            line(0, "", "Nothing else is one."),
        ]
    );
    let text = section.text.as_deref().unwrap();
    let marks: Vec<_> = section.layout.marks.iter().map(|mark| (mark.kind().unwrap(), mark.target)).collect();
    assert_eq!(
        marks,
        [
            (MarkKind::RunInHeading, 0),
            (MarkKind::Emphasis, 0),
            (MarkKind::Footnote, 0),
            // The second sign refers to the same footnote.
            (MarkKind::Footnote, 0)
        ]
    );
    let heading = section.layout.marks[0];
    assert_eq!(&text[heading.start as usize..][..heading.length as usize], "Pier.—");
    assert_eq!(
        notes(section),
        [
            ("Footnote", "So in original."),
            ("Effective Date", "Section effective Oct. 1, 1985, see section 9 of this title."),
            (
                "Short Title",
                "Pub. L. 99–1 provided that:\n“SECTION 1. QUOTED LAW.\n“(a) This is no section of the code.”"
            ),
        ]
    );
    let credit = "(Pub. L. 99–1, § 1, Mar. 4, 1985, 99 Stat. 1.)";
    assert_eq!((section.source_credit.as_deref(), section.effect.from.as_deref()), (Some(credit), Some("1985-10-01")));
    assert_eq!(section.layout.check_against_text(text), None);
}

#[test]
fn units_without_words_keep_their_labels_and_remarks_stay_in_place() {
    let parsed = parse(TITLE);
    let moorings = &parsed.nodes.last().unwrap().content;
    assert_eq!(
        lines(moorings),
        [
            line(0, "a", "(a) Use."),
            line(0, "", "[Amended section 1 of this title.]"),
            line(0, "b", "(b)"),
            line(0, "c", "(c) Rope is free.")
        ]
    );
}

#[test]
fn dead_sections_ranges_and_lists_are_one_record_each() {
    let parsed = parse(TITLE);
    let dead = content(&parsed, "us/usc/t90/s2");
    assert_eq!(dead.heading, "Repealed. Pub. L. 99–1, § 2, Mar. 4, 1985, 99 Stat. 1");
    assert_eq!((dead.status, dead.text.as_deref()), (Some(Status::Repealed), Some("")));
    assert_eq!(notes(dead), [("Removal description", "Section related to rafts.")]);
    let range = content(&parsed, "us/usc/t90/s3...5");
    assert_eq!((range.citation.as_str(), range.status), ("90 U.S.C. § 3...5", Some(Status::Omitted)));
    assert_eq!(range.number.as_deref(), Some("3 to 5"));
    let list = content(&parsed, "us/usc/t90/s6");
    assert_eq!((list.citation.as_str(), list.status), ("90 U.S.C. § 6", Some(Status::Transferred)));
    assert_eq!(list.parallel_citations, ["90 U.S.C. § 7"]);
}

#[test]
fn tables_become_rows_of_cells() {
    let parsed = parse(TITLE);
    let fees = content(&parsed, "us/usc/t90/s8");
    let kinds = fees.layout.lines.iter().map(|line| line.kind().unwrap());
    let texts = fees.text.as_deref().unwrap().split('\n');
    let set: Vec<_> = kinds.zip(texts).collect();
    assert_eq!(
        set,
        [
            (LineKind::Paragraph, "Fees are as follows:"),
            (LineKind::TableNote, "Table of fees\t"),
            (LineKind::TableHead, "Ship\tFee"),
            (LineKind::TableHead, "\tdollars"),
            (LineKind::TableRow, "small\t5a"),
            (LineKind::TableRow, "none above\t"),
            (LineKind::TableNote, "a By day.\t"),
            (LineKind::Heading, "Exemption"),
            (LineKind::Paragraph, "Rowing boats."),
        ]
    );
    assert_eq!(fees.layout.lines[8].depth, 1);
    assert_eq!(fees.layout.check_against_text(fees.text.as_deref().unwrap()), None);
    assert_eq!(fees.notes[0].text, "Another section 8 follows.");
    assert_eq!((fees.number.as_deref(), fees.effect.from.as_deref()), (Some("8"), Some("2021-07-01")));
}

#[test]
fn appendices_hold_acts_plans_and_rules() {
    let parsed = parse(APPENDIX);
    assert!(parsed.mistakes.is_empty() && parsed.warnings.is_empty(), "{:?} {:?}", parsed.mistakes, parsed.warnings);
    let cited: Vec<(&str, &str)> =
        parsed.nodes.iter().map(|node| (node.key.as_str(), node.content.citation.as_str())).collect();
    let rules = "us/usc/t90a/federal-rules-of-bankruptcy-procedure";
    let rules_citation = "United States Code, Title 90A, FEDERAL RULES OF BANKRUPTCY PROCEDURE";
    assert_eq!(
        cited,
        [
            ("us/usc/t90a", "United States Code, Title 90A"),
            ("us/usc/t90a/pilots-act", "United States Code, Title 90A, PILOTS ACT"),
            ("us/usc/t90a/pl/92/463/s2...4", "90 U.S.C. App. § 2...4"),
            ("us/usc/t90a/pilots-act/tiv", "United States Code, Title 90A, PILOTS ACT, Title IV"),
            ("us/usc/t90a/pl/92/463/s401", "90 U.S.C. App. § 401"),
            ("us/usc/t90a/lights", "United States Code, Title 90A, LIGHTS"),
            ("us/usc/t90a/lights/s1", "90 U.S.C. App. § 1"),
            ("us/usc/t90a/reorganization-plans", "United States Code, Title 90A, REORGANIZATION PLANS"),
            ("us/usc/t90a/reorgplan/1939/i", "Reorg. Plan No. I of 1939"),
            (rules, rules_citation),
            (&format!("{rules}/pti"), &format!("{rules_citation}, Part I")),
            ("us/usc/t90a/rule1001", "Fed. R. Bankr. P. 1001"),
            (&format!("{rules}/forms"), &format!("{rules_citation}, FORMS")),
            (&format!("{rules}/appendix"), &format!("{rules_citation}, APPENDIX")),
        ]
    );
    // The publisher's heading of the appendix is the heading of its first act.
    assert_eq!(content(&parsed, "us/usc/t90a").heading, "Title 90—APPENDIX");
    let rule = content(&parsed, "us/usc/t90a/rule1001");
    assert_eq!((rule.number.as_deref(), rule.effect.from.as_deref()), (Some("1001"), Some("2017-12-01")));
    assert_eq!(rule.parallel_citations, ["90 U.S.C. App. Rule 1001"]);
    let plan = content(&parsed, "us/usc/t90a/reorgplan/1939/i");
    assert!(plan.parallel_citations.contains(&"Reorganization Plan No. 1 of 1939".to_owned()));
    assert_eq!(plan.layout.lines[0].kind(), Some(LineKind::Heading));
    let image = content(&parsed, &format!("{rules}/appendix"));
    assert_eq!((image.text.as_deref(), image.layout.lines[0].kind()), (Some("p1.eps"), Some(LineKind::Image)));
}

#[test]
fn regulations_in_the_second_version_are_read() {
    let parsed = parse(REGULATIONS);
    assert!(parsed.mistakes.is_empty() && parsed.warnings.is_empty(), "{:?} {:?}", parsed.mistakes, parsed.warnings);
    let expected =
        ["t27", "t27/ch1", "t27/p40", "t27/p40/spa", "t27/s40.1", "t27/p40/spa/taxes", "t27/s40.2", "t27/s40.3"];
    assert_eq!(keys(&parsed), expected.map(|key| format!("us/cfr/{key}")));
    let scope = content(&parsed, "us/cfr/t27/s40.1");
    assert_eq!(
        (scope.citation.as_str(), scope.text.as_deref()),
        ("27 C.F.R. § 40.1", Some("This part is about snuff."))
    );
    assert_eq!(scope.source_credit.as_deref(), Some("[T.D. 1, June 22, 2009]"));
    assert_eq!(scope.layout.marks[0].kind(), Some(MarkKind::Emphasis));
    let rates = content(&parsed, "us/cfr/t27/s40.2");
    assert_eq!(lines(rates), [line(0, "a", "(a) Small. One."), line(1, "a-1", "(1) Two.")]);
    assert_eq!(notes(rates), [("Authority", "(Sec. 1)")]);
    assert_eq!(notes(content(&parsed, "us/cfr/t27/p40")), [("Authority", "26 U.S.C. 448.")]);
    let reserved = content(&parsed, "us/cfr/t27/s40.3");
    assert_eq!((reserved.status, reserved.heading.as_str()), (Some(Status::Reserved), "[Reserved]"));
}

#[test]
fn volumes_of_one_title_share_its_containers() {
    let dir = tempfile::tempdir().unwrap();
    let (mut gatherer, mut warnings, mut mistakes) =
        (Gatherer::new(dir.path()).unwrap(), Warnings::default(), Mistakes::default());
    let volumes = [REGULATIONS.to_owned(), REGULATIONS.replace("40", "50")];
    for (volume, text) in volumes.into_iter().enumerate() {
        let document = Document { place: format!("volume-{volume}.xml"), bytes: text.into_bytes() };
        let parsed = uslm::parse(&document, target("Code of Federal Regulations", "us/cfr"));
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        intake.take(parsed).unwrap();
    }
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    assert!(mistakes.is_empty() && warnings.total() == 0, "{mistakes}");
    let keys: Vec<&str> = tree.iter().map(|node| node.key.strip_prefix("us/cfr/t27").unwrap()).collect();
    let expected = ["", "/ch1", "/p40", "/p40/spa", "/s40.1", "/p40/spa/taxes", "/s40.2", "/s40.3"];
    assert_eq!(keys[..8], expected);
    assert_eq!(keys[8..], ["/p50", "/p50/spa", "/s50.1", "/p50/spa/taxes", "/s50.2", "/s50.3"]);
}

/// A snapshot of the small title and its appendix.
fn built() -> (tempfile::TempDir, Snapshot) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("usc")).unwrap();
    for (name, text) in [("t90.xml", TITLE), ("t90a.xml", APPENDIX), ("usctitle.css", "title {}")] {
        std::fs::write(dir.path().join("usc").join(name), text).unwrap();
    }
    let plan = r#"
name = "Title 90"
[[source]]
format = "uslm"
path = "usc"
jurisdiction = "US"
code_body = "United States Code"
key = "us/usc"
publisher = "we ourselves"
edition = "1"
retrieved = "2026-11-22"
license = "public domain"
url = "https://example.org/"
"#;
    std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let out = dir.path().join("out");
    build_at(&dir.path().join("plan.toml"), &out).unwrap();
    let snapshot = Snapshot::verify(&out, |_| ()).unwrap();
    (dir, snapshot)
}

#[test]
fn a_built_title_answers_to_every_number_and_keeps_its_layouts() {
    let (_dir, snapshot) = built();
    let named = |cited: &str| {
        let found = snapshot.nodes_with_citation(cited).unwrap();
        found.iter().map(|(node, _)| snapshot.nodes.get(*node).unwrap().source_key).collect::<Vec<_>>()
    };
    // Title 90 is beyond the titles that the grammar knows, so its citations stay unchanged.
    assert_eq!(named("90 U.S.C. § 6"), ["us/usc/t90/s6"]);
    assert_eq!(named("90 U.S.C. § 7"), ["us/usc/t90/s6"]);
    assert_eq!(named("90 U.S.C. § 8"), ["us/usc/t90/s8", "us/usc/t90/s8~2"]);
    assert_eq!(named("Fed. R. Bankr. P. 1001"), ["us/usc/t90a/rule1001"]);
    assert_eq!(named("reorganization plan no. 1 of 1939"), ["us/usc/t90a/reorgplan/1939/i"]);
    let (node, _) = snapshot.nodes_with_citation("90 U.S.C. § 1").unwrap()[0];
    let record = snapshot.nodes.get(node).unwrap();
    assert_eq!(
        record.wording(0).notes.iter().map(|note| note.topic.as_str()).collect::<Vec<_>>(),
        ["Footnote", "Effective Date", "Short Title"]
    );
    assert_eq!(record.wording(0).validity.from, Some("1985-10-01".parse().unwrap()));
}

#[test]
fn other_documents_are_refused_with_their_place() {
    let refused = |bytes: &[u8]| {
        let parsed = parse(bytes);
        assert!(parsed.nodes.is_empty());
        let (position, what) = &parsed.mistakes[0];
        format!("{position}: {what}")
    };
    let other = refused(b"<?xml version=\"1.0\"?>\n<bill/>");
    assert!(other.starts_with("usc.zip!t.xml:2: the document is <bill>"), "{other}");
    assert!(refused(b"<uscDoc>\n<main></uscDoc>").starts_with("usc.zip!t.xml:2: "));
    assert!(refused(b"<!DOCTYPE uscDoc [<!ENTITY x \"y\">]><uscDoc>&x;</uscDoc>").contains("document type"));
    assert!(refused(b"<uscDoc >\xff</uscDoc>").contains("UTF-8"));
    assert!(xml::is_source_file("usc/usc17.XML") && !xml::is_source_file("usc/usctitle.css"));
}

#[test]
fn unknown_statuses_and_elements_are_warned_of() {
    let text = TITLE
        .replace("status=\"repealed\"", "status=\"forgotten\"")
        .replace("</toc>\n<notes", "</toc>\n<poem>A word.</poem><notes");
    let parsed = parse(text);
    let warned: Vec<&str> = parsed.warnings.iter().map(|(_, _, what)| what.as_str()).collect();
    assert_eq!(
        warned,
        [
            "the status 'forgotten' is unknown; treated as in force",
            "'90 U.S.C. § 2' is in force but has no text",
            "'90 U.S.C. § 6': the number in 'Transferred' is not understood",
            "<poem> is unknown; its words are kept as text",
        ]
    );
    let poem = content(&parsed, "us/usc/t90/ch1/introduction");
    assert_eq!(poem.citation, "United States Code, Title 90, Chapter 1, introductory text");
    assert_eq!(poem.text.as_deref(), Some("A word."));
}

/// The titles of 2013 write ranges and lists within one identifier.
#[test]
fn earlier_documents_have_the_keys_and_citations_of_later_ones() {
    let earlier = TITLE
        .replace("/us/usc/t90/s3...5", "/us/usc/t90/s3 to 5")
        .replace("/us/usc/t90/s6 /us/usc/t90/s7", "/us/usc/t90/s6, 7");
    assert_ne!(earlier, TITLE);
    let names = |parsed: &Parsed| -> Vec<(String, String, Vec<String>)> {
        let nodes = parsed.nodes.iter();
        nodes.map(|n| (n.key.clone(), n.content.citation.clone(), n.content.parallel_citations.clone())).collect()
    };
    let (earlier, later) = (names(&parse(earlier)), names(&parse(TITLE)));
    assert_eq!(earlier, later);
    assert!(later.iter().any(|(_, _, parallel)| parallel == &["90 U.S.C. § 7"]));
}

#[test]
fn deep_documents_are_read_to_the_limit_and_refused_beyond_it() {
    let nested = |element: &str, depth: usize| {
        let open = format!("<{element}><num>(a)</num>");
        let close = format!("</{element}>");
        format!(
            "<uscDoc ><main><section><num value=\"1\">1</num>{}deep{}</section></main></uscDoc>",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    for element in ["paragraph", "content", "note", "quotedContent", "i", "p", "table", "td", "heading", "section"] {
        // Root, main, section; below the innermost element, a number with its words.
        let deepest = DEPTH_MAX - 5;
        let parsed = parse(nested(element, deepest));
        assert!(parsed.mistakes.is_empty(), "{element}: {:?}", parsed.mistakes);
        assert!(parse(nested(element, 50_000)).mistakes[0].1.contains("levels deep"), "{element}");
    }
}

/// Nodes read from damaged bytes must at least be valid.
fn assert_read_or_refused(bytes: Vec<u8>) {
    let parsed = parse(bytes);
    for (position, _) in &parsed.mistakes {
        assert!(position.file == "usc.zip!t.xml" && position.line.is_some());
    }
    for node in &parsed.nodes {
        let content = &node.content;
        let text = content.text.as_deref().unwrap_or_default();
        if !content.layout.is_empty() {
            assert_eq!(content.layout.check_against_text(text), None, "{}", node.key);
        }
        for note in content.notes.iter().filter(|note| !note.layout.is_empty()) {
            assert_eq!(note.layout.check_against_text(&note.text), None, "{}", node.key);
        }
    }
}

#[test]
fn files_cut_anywhere_are_refused() {
    for text in [TITLE, APPENDIX, REGULATIONS] {
        let end = text.trim_end().len();
        for cut in 0..end {
            let parsed = parse(&text.as_bytes()[..cut]);
            assert!(parsed.nodes.is_empty() && parsed.mistakes.len() == 1, "cut at {cut}");
            assert!(parsed.mistakes[0].0.line.is_some(), "cut at {cut}");
        }
    }
}

#[test]
fn flipped_bits_are_read_or_refused() {
    let mut numbers = SeededRandom(7);
    for text in [TITLE, APPENDIX, REGULATIONS] {
        for place in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[place] ^= 1 << numbers.below(8);
            assert_read_or_refused(bytes);
        }
    }
}

/// A reorganization plan with these paragraphs: class and words.
fn plan(paragraphs: &[(&str, &str)]) -> Parsed {
    let paragraphs: String =
        paragraphs.iter().map(|(class, words)| format!("<p class=\"{class}\">{words}</p>")).collect();
    let own = "<p class=\"centered\">PART 1. PORTS</p><p>(a) The ports move.</p>";
    assert!(APPENDIX.contains(own));
    parse(APPENDIX.replace(own, &paragraphs))
}

#[test]
fn paragraphs_that_are_enumerated_in_words_alone_get_their_labels() {
    let parsed = plan(&[
        ("centered", "Eff. July 1, 1939"),
        ("centered", "PART 1. PORTS"),
        ("centered smallCaps", "Section 1. Piers"),
        ("indent0", "(a) The piers move:"),
        ("indent1", "(1) at once; and"),
        ("indent1", "(2) whole."),
        ("indent0", "(b) So do ports."),
        ("centered smallCaps", "Sec. 2. Ships"),
        ("centered smallCaps", "(a) Tugs"),
        ("indent0", "Tugs stay."),
        ("centered", "GENERAL PROVISIONS"),
        ("indent0", "Nothing else changes. Section 5 of the act"),
        ("indent0", "Sec. 3. (a) Pay stops."),
        ("indent0", "(b) Rent stops."),
        ("indent0", "Secs. 4, 5. [Repealed.]"),
        ("centered smallCaps", "Message of the President"),
        ("indent0", "To the Congress:"),
        ("indent0", "(1) I send this plan."),
    ]);
    let plan = content(&parsed, "us/usc/t90a/reorgplan/1939/i");
    assert_eq!(
        lines(plan),
        [
            line(0, "", "Eff. July 1, 1939"),
            line(0, "", "PART 1. PORTS"),
            line(0, "1", "Section 1. Piers"),
            line(1, "1-a", "(a) The piers move:"),
            line(2, "1-a-1", "(1) at once; and"),
            line(2, "1-a-2", "(2) whole."),
            line(1, "1-b", "(b) So do ports."),
            line(0, "2", "Sec. 2. Ships"),
            line(1, "2-a", "(a) Tugs"),
            line(2, "", "Tugs stay."),
            line(0, "", "GENERAL PROVISIONS"),
            line(0, "", "Nothing else changes. Section 5 of the act"),
            line(0, "3-a", "Sec. 3. (a) Pay stops."),
            line(1, "3-b", "(b) Rent stops."),
            line(0, "4", "Secs. 4, 5. [Repealed.]"),
        ]
    );
    assert_eq!(plan.layout.lines[7].kind(), Some(LineKind::Heading));
    // The President sent it to Congress with a message, which is not a part of the plan.
    assert_eq!(notes(plan), [("Message of the President", "To the Congress:\n(1) I send this plan.")]);
}
