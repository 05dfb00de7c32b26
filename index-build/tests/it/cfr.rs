//! Tests the published formats of the Code of Federal Regulations on small files with the
//! difficulties of real ones.

use std::fs;

use hornbook_corpus::citation::Grammar;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::layout::{LineKind, MarkKind, layout_lines};
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::content::NewNode;
use hornbook_index_build::import::document::{Document, ParseDocument, Parsed};
use hornbook_index_build::import::target::ImportTarget;
use hornbook_index_build::import::{cfr_annual, ecfr, regml};
use hornbook_index_build::report::WarningKind;

use crate::common::build_at;
use crate::imported::{Source, import_one};

pub(crate) fn parse_bytes(parse: ParseDocument, place: &str, bytes: Vec<u8>) -> Parsed {
    let options = toml::Table::new();
    let target = ImportTarget {
        jurisdiction: "US",
        code_body: "Code of Federal Regulations",
        key: "us/cfr",
        citation: None,
        source: 0,
        tags: &[],
        options: &options,
    };
    parse(&Document { place: place.to_owned(), bytes }, target)
}

/// Parses a document that must have no mistakes.
fn parsed(parse: ParseDocument, text: &str) -> Parsed {
    let parsed = parse_bytes(parse, "x.xml", text.as_bytes().to_vec());
    assert!(parsed.mistakes.is_empty(), "{:?}", parsed.mistakes);
    parsed
}

fn by_citation<'p>(parsed: &'p Parsed, citation: &str) -> &'p NewNode {
    let found = parsed.nodes.iter().find(|node| node.content.citation == citation);
    found.unwrap_or_else(|| {
        let all: Vec<&str> = parsed.nodes.iter().map(|node| node.content.citation.as_str()).collect();
        panic!("{citation} is not among {all:?}")
    })
}

/// Each line as depth, kind and words: `1P (1) One.`
fn lines(node: &NewNode) -> Vec<String> {
    let text = node.content.text.as_deref().unwrap();
    assert_eq!(node.content.layout.check_against_text(text).filter(|_| !node.content.layout.is_empty()), None);
    let reported = layout_lines(text, Some(node.content.layout.as_ref()));
    reported
        .iter()
        .map(|line| {
            let kind = match line.kind {
                LineKind::Paragraph => 'P',
                LineKind::Heading => 'H',
                LineKind::TableHead => 'T',
                LineKind::TableRow => 'R',
                LineKind::TableNote => 'N',
                LineKind::Block => 'B',
                LineKind::Image => 'I',
            };
            format!("{}{kind} {}", line.depth, &text[line.range.clone()])
        })
        .collect()
}

/// The marked words of a kind in a text.
fn marked(node: &NewNode, kind: MarkKind) -> Vec<&str> {
    let text = node.content.text.as_deref().unwrap();
    let marks = node.content.layout.marks.iter().filter(|mark| mark.kind() == Some(kind));
    marks.map(|mark| &text[mark.start as usize..(mark.start + mark.length) as usize]).collect()
}

pub(crate) const ECFR: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<DLPSTEXTCLASS><HEADER><FILEDESC><TITLESTMT><TITLE>Title 9: Arden</TITLE></TITLESTMT></FILEDESC></HEADER>
<TEXT><BODY><ECFRBRWS><AMDDATE>Jan. 1, 2024</AMDDATE>
<DIV1 N="9" NODE="9:1" TYPE="TITLE"><HEAD>Title 9—Arden--Volume 1</HEAD>
<CFRTOC><CHAPTI><SUBJECT>chapter i—Office</SUBJECT><PG>1</PG></CHAPTI></CFRTOC>
<DIV3 N="I" NODE="9:1.0.1" TYPE="CHAPTER"><HEAD> CHAPTER I—OFFICE</HEAD>
<DIV5 N="7" NODE="9:1.0.1.1.7" TYPE="PART"><HEAD>PART 7—PONDS
</HEAD>
<AUTH><HED>Authority:</HED><PSPACE>44 U.S.C. 1506.</PSPACE></AUTH>
<SOURCE><HED>Source:</HED><PSPACE>37 FR 23603.</PSPACE></SOURCE>
<DIV6 N="V" TYPE="SUBPART"><HEAD>Subpart V—Depth</HEAD>
<DIV8 N="§ 7.1" NODE="9:7.1" TYPE="SECTION"><HEAD>§ 7.1   Ponds.</HEAD>
<P>(a) <I>Depth</I>—(1) <I>In general.</I> A pond has depth.<SU>1</SU><FTREF/> Not 2<SU>3</SU>.
</P>
<FTNT><P><SU>1</SU> Some more than others.</P></FTNT>
<P>(2) It is 8<FR>1/2</FR> feet:
</P>
<P>(i) deep,</P>
<P>(A) here</P>
<P>(<I>1</I>) and there.</P>
<P>(<I>i</I>) or there.</P>
<P>(ii) or not.</P>
<EXTRACT><FP>Form 1</FP><FP-DASH>Name:</FP-DASH></EXTRACT>
<EXAMPLE><HED>Example 1.</HED><PSPACE>A puddle.</PSPACE></EXAMPLE>
<AUTH><HED>Authority:</HED><PSPACE>9 U.S.C. 1.</PSPACE></AUTH>
<P>(b) Shores.</P>
<img src="/graphics/er01.gif"/>
<DIV width="100%"><DIV class="table"><TABLE><TR><TH rowspan="2">Pond</TH><TH colspan="2">Depth</TH></TR><TR><TH>min</TH><TH>max</TH></TR>
<TR><TD>A</TD><TD>1</TD><TD>2</TD></TR></TABLE></DIV></DIV>
<CITA TYPE="N">[37 FR 23603]</CITA>
<EDNOTE><HED>Editorial Note:</HED><PSPACE>At 54 FR 1, a table was omitted.</PSPACE></EDNOTE>
</DIV8>
<DIV8 N="§§ 7.4-7.9" NODE="9:7.4" TYPE="SECTION"><HEAD>§§ 7.4-7.9   [Reserved]</HEAD></DIV8>
</DIV6>
<DIV6 N="X" TYPE="SUBPART"><HEAD>Subpart X [Reserved]</HEAD></DIV6>
<DIV9 N="Appendix A to Part 7" TYPE="APPENDIX"><HEAD>Appendix A to Part 7—Forms</HEAD><HD1>I. General</HD1><P>A. First.</P><P>1. One.</P><P>2. Two.</P><P>B. Second.</P></DIV9>
</DIV5></DIV3></DIV1></ECFRBRWS></BODY></TEXT></DLPSTEXTCLASS>"#;

#[test]
fn the_electronic_edition_is_read_with_its_structure() {
    let parsed = parsed(ecfr::parse, ECFR);
    let ponds = by_citation(&parsed, "9 C.F.R. § 7.1");
    assert_eq!((ponds.key.as_str(), ponds.content.heading.as_str()), ("us/cfr/t9/s7.1", "Ponds."));
    assert_eq!(
        lines(ponds),
        [
            "0P (a) Depth—",
            "1P (1) In general. A pond has depth. Not 23.",
            "1P (2) It is 8 1/2 feet:",
            "2P (i) deep,",
            "3P (A) here",
            "4P (1) and there.",
            "5P (i) or there.",
            "2P (ii) or not.",
            "3B Form 1",
            "3B Name:",
            "3B Example 1. A puddle.",
            "3B Authority: 9 U.S.C. 1.",
            "0P (b) Shores.",
            "1I /graphics/er01.gif",
            "1T Pond\tDepth\t",
            "1T \tmin\tmax",
            "1R A\t1\t2",
        ]
    );
    assert_eq!(marked(ponds, MarkKind::RunInHeading), ["Depth", "In general.", "Example 1.", "Authority:"]);
    assert_eq!(marked(ponds, MarkKind::Superscript), ["3"]);
    let footnote = ponds.content.layout.marks.iter().find(|mark| mark.kind() == Some(MarkKind::Footnote)).unwrap();
    assert!(ponds.content.text.as_deref().unwrap()[footnote.start as usize..].starts_with(" Not"));
    let notes: Vec<(&str, &str)> = ponds.content.notes.iter().map(|n| (n.topic.as_str(), n.text.as_str())).collect();
    assert_eq!(notes, [("Footnote", "Some more than others."), ("Editorial Note", "At 54 FR 1, a table was omitted.")]);
    assert_eq!(footnote.target, 0);
    assert_eq!(ponds.content.source_credit.as_deref(), Some("[37 FR 23603]"));
    let range = by_citation(&parsed, "9 C.F.R. § 7.4...7.9");
    assert_eq!((range.content.status, range.content.text.as_deref()), (Some(Status::Reserved), Some("")));
    assert_eq!((range.key.as_str(), range.content.heading.as_str()), ("us/cfr/t9/s7.4...7.9", "[Reserved]"));
}

#[test]
fn containers_have_their_notes_and_appendices_belong_to_their_part() {
    let parsed = parsed(ecfr::parse, ECFR);
    let part = by_citation(&parsed, "Code of Federal Regulations, Title 9, Chapter I, Part 7");
    assert_eq!(part.content.parallel_citations, ["9 C.F.R. pt. 7"]);
    assert_eq!(part.content.notes.iter().map(|n| n.topic.as_str()).collect::<Vec<_>>(), ["Authority", "Source"]);
    let appendix = by_citation(&parsed, "9 C.F.R. pt. 7, App. A");
    assert_eq!((appendix.key.as_str(), appendix.parent), ("us/cfr/t9/pt7/appa", Some(part.handle)));
    assert_eq!(lines(appendix), ["0H I. General", "0P A. First.", "1P 1. One.", "1P 2. Two.", "0P B. Second."]);
    let title = &parsed.nodes[0].content;
    assert_eq!((title.heading.as_str(), title.number.as_deref()), ("Title 9—Arden", Some("9")));
    let subparts: Vec<&NewNode> = parsed.nodes.iter().filter(|node| node.content.level == "subpart").collect();
    assert_eq!(subparts.iter().map(|node| node.content.status).collect::<Vec<_>>(), [None, Some(Status::Reserved)]);
    assert!(subparts.windows(2).all(|pair| pair[0].sort < pair[1].sort) && subparts[1].sort < appendix.sort);
}

pub(crate) const ANNUAL: &str = r#"<?xml version="1.0"?>
<CFRDOC><AMDDATE>Oct. 1, 2011</AMDDATE><FMTR><TITLEPG><TITLENUM>Title 9</TITLENUM></TITLEPG><EXPLA><P>Not law.</P></EXPLA></FMTR>
<TITLE><LRH>9 CFR</LRH><CFRTITLE><TITLEHD><HD>Title 9—Arden</HD></TITLEHD></CFRTITLE>
<CHAPTER><TOC><TOCHD><HD>CHAPTER I—OFFICE (CONTINUED)</HD></TOCHD></TOC>
<SUBCHAP TYPE="N"><HD>SUBCHAPTER B—WATERS</HD>
<PART><EAR>Pt. 8</EAR><HD>PART 8—RIVERS<SU>1</SU><FTREF/></HD><FTNT><P><SU>1</SU> Wet.</P></FTNT><CONTENTS><SECTNO>8.1</SECTNO><SUBJECT>Rivers.</SUBJECT></CONTENTS>
<AUTH><HD>Authority:</HD><P>47 U.S.C. 154.</P></AUTH>
<SUBJGRP><HD>General</HD>
<SECTION><SECTNO>§ 8.1</SECTNO><SUBJECT>Rivers.<PRTPAGE P="5"/></SUBJECT>
<P>(a) Rivers run<STARS/></P>
<GPOTABLE COLS="3"><TTITLE>Table 1</TTITLE><BOXHD><CHED H="1">River</CHED><CHED H="1">Length<LI>(miles)</LI></CHED><CHED H="2">up</CHED><CHED H="2">down</CHED></BOXHD>
<ROW><ENT I="01">Arden</ENT><ENT>1</ENT><ENT>2</ENT></ROW><ROW><ENT A="01">both</ENT><ENT>3</ENT></ROW><TNOTE>Rounded.</TNOTE></GPOTABLE>
<MATH><MID>er12.001</MID></MATH>
<NOTE><HD>Note:</HD><P>See § 8.2.</P></NOTE>
<EFFDNOT><HD>Effective Date Note:</HD><P>At 76 FR 1, § 8.1 was revised.</P>
<REVTXT><SECTION><SECTNO>§ 8.1</SECTNO><SUBJECT>Rivers.</SUBJECT><STARS/><P>(b) They will run.</P></SECTION>
<SECTION><SECTNO>§ 8.2</SECTNO><SUBJECT>Brooks.</SUBJECT><P>Brooks run.</P></SECTION>
<PART><EAR>Pt. 9</EAR><HD>PART 9—LAKES</HD><SECTION><SECTNO>§§ 9.1-9.3</SECTNO><RESERVED>[Reserved]</RESERVED></SECTION>
<SUBPART><HD>Subpart A—Salt</HD><SECTION><SECTNO>§ 9.5</SECTNO><SUBJECT>Salt.</SUBJECT><P>Salt.</P></SECTION>
<APPENDIX><EAR>Pt. 9, App.</EAR><HD>Appendix to Part 9—Maps</HD><P>A map.</P></APPENDIX></SUBPART></PART>
<PART><RESERVED>PARTS 10-12 [RESERVED]</RESERVED></PART>
</REVTXT></EFFDNOT></SECTION></SUBJGRP></PART></SUBCHAP></CHAPTER></TITLE>
<BMTR><OMBNOS><SECTION><P>Not law either.</P></SECTION></OMBNOS></BMTR></CFRDOC>"#;

#[test]
fn law_inside_an_unclosed_note_is_moved_out() {
    let parsed = parsed(cfr_annual::parse, ANNUAL);
    let provisions: Vec<(&str, &str)> = parsed
        .nodes
        .iter()
        .filter(|node| node.content.text.is_some())
        .map(|node| (node.content.citation.as_str(), node.content.heading.as_str()))
        .collect();
    assert_eq!(
        provisions,
        [
            ("9 C.F.R. § 8.1", "Rivers."),
            ("9 C.F.R. § 8.2", "Brooks."),
            ("9 C.F.R. § 9.1...9.3", "[Reserved]"),
            ("9 C.F.R. § 9.5", "Salt."),
            ("9 C.F.R. pt. 9, App.", "Appendix to Part 9—Maps"),
        ]
    );
    let rivers = by_citation(&parsed, "9 C.F.R. § 8.1");
    let note = &rivers.content.notes[0];
    assert_eq!(note.topic, "Effective Date Note");
    assert_eq!(note.text, "At 76 FR 1, § 8.1 was revised.\n§ 8.1 Rivers.\n* * * * *\n(b) They will run.");
    let group = parsed.nodes.iter().find(|node| node.content.heading == "General").unwrap();
    assert_eq!(by_citation(&parsed, "9 C.F.R. § 8.2").parent, Some(group.handle));
    let subchapter = parsed.nodes.iter().find(|node| node.content.level == "subchapter").unwrap();
    let lakes = by_citation(&parsed, "Code of Federal Regulations, Title 9, Chapter I, Subchapter B, Part 9");
    assert_eq!(lakes.parent, Some(subchapter.handle));
    assert_eq!(by_citation(&parsed, "9 C.F.R. pt. 9, App.").parent, Some(lakes.handle));
    assert!(parsed.nodes.iter().any(|node| node.content.parallel_citations == ["9 C.F.R. pt. 10-12"]));
    assert_eq!(parsed.warnings.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>(), [WarningKind::Misplaced]);
    assert_eq!(parsed.nodes[1].content.heading, "CHAPTER I—OFFICE");
    let part = &by_citation(&parsed, "Code of Federal Regulations, Title 9, Chapter I, Subchapter B, Part 8").content;
    assert_eq!(part.heading, "PART 8—RIVERS");
    assert_eq!(part.notes.iter().map(|note| note.topic.as_str()).collect::<Vec<_>>(), ["Footnote", "Authority"]);
}

#[test]
fn tables_of_the_annual_edition_are_rows_and_cells() {
    let parsed = parsed(cfr_annual::parse, ANNUAL);
    assert_eq!(
        lines(by_citation(&parsed, "9 C.F.R. § 8.1")),
        [
            "0P (a) Rivers run",
            "1B * * * * *",
            "1N Table 1",
            "1T River\tLength (miles)\t",
            "1T \tup\tdown",
            "1R Arden\t1\t2",
            "1R both\t\t3",
            "1N Rounded.",
            "1I er12.001",
            "1B Note: See § 8.2.",
        ]
    );
}

pub(crate) const REGML: &str = r#"<?xml version="1.0"?><regulation xmlns="eregs"><fdsys><cfrTitleNum>9</cfrTitleNum><cfrTitleText>Arden</cfrTitleText><title>BANKS</title></fdsys>
<preamble><cfr><title>9</title><section>1002</section></cfr></preamble>
<part label="1002"><tableOfContents><tocSecEntry target="1002-1"><sectionNum>1</sectionNum></tocSecEntry></tableOfContents><content>
<subpart label="1002-Subpart"><content>
<section label="1002-1" sectionNum="1"><subject>§ 1002.1 Scope.</subject>
<paragraph label="1002-1-a" marker="(a)"><title type="keyterm">General.</title><content>A <def term="bank">bank</def> is <ref target="x" reftype="term">one</ref>:<dash>Name:</dash> and so on</content>
<paragraph label="1002-1-a-1" marker="(1)"><title type="keyterm">One.</title><content>One. There is here;<table><header><columnHeaderRow><column colspan="2" rowspan="1">Banks</column></columnHeaderRow></header><row><cell>A</cell><cell>B</cell></row></table></content></paragraph></paragraph>
<paragraph label="1002-1-p1" marker="none"><content><graphic><altText/><text>![Form](ER01)</text><url>https://x/ER01.gif</url></graphic></content></paragraph></section>
<section label="1002-2" sectionNum="2"><subject>§ 1002.2 [Reserved]</subject><reserved/></section>
</content></subpart>
<appendix appendixLetter="A" label="1002-A"><appendixTitle>Appendix A to Part 1002—Forms</appendixTitle><appendixSection appendixSecNum="1" label="1002-A-1"><subject>One</subject><paragraph marker="1."><content>First.</content></paragraph></appendixSection></appendix>
<interpretations label="1002-Interp"><title>Supplement I to Part 1002—Official Interpretations</title>
<interpSection label="1002-1-Interp" sectionNum="1"><title>Section 1002.1 Scope</title><interpParagraph label="1002-1-a-Interp" target="1002-1-a"><title>1(a) General.</title><content/><interpParagraph label="1002-1-a-Interp-1" marker="1."><title type="keyterm">Branches.</title><content>Too.</content></interpParagraph></interpParagraph></interpSection></interpretations>
</content></part><analysis label="1002-Analysis"><analysisSection><title>Why</title><analysisParagraph>Because.</analysisParagraph></analysisSection></analysis></regulation>"#;

#[test]
fn regml_keeps_its_nesting_and_interpretations_are_provisions() {
    let parsed = parsed(regml::parse, REGML);
    let scope = by_citation(&parsed, "9 C.F.R. § 1002.1");
    assert_eq!(
        lines(scope),
        [
            "0P (a) General. A bank is one:",
            "1B Name:",
            "1P and so on",
            "1P (1) One. There is here;",
            "2T Banks\t",
            "2R A\tB",
            "0I Form ER01",
        ]
    );
    assert_eq!(marked(scope, MarkKind::RunInHeading), ["General."]);
    assert_eq!(marked(scope, MarkKind::Emphasis), ["bank"]);
    assert_eq!(by_citation(&parsed, "9 C.F.R. § 1002.2").content.status, Some(Status::Reserved));
    assert_eq!(lines(by_citation(&parsed, "9 C.F.R. pt. 1002, App. A")), ["0H One", "0P 1. First."]);
    let comment = by_citation(&parsed, "9 C.F.R. pt. 1002, Supp. I, § 1002.1");
    assert_eq!(lines(comment), ["0H 1(a) General.", "0P 1. Branches. Too."]);
    assert_eq!(comment.key, "us/cfr/t9/pt1002/suppi/1002-1-interp");
    assert_eq!(parsed.nodes.iter().filter(|node| node.content.level == "subpart").count(), 0);
}

/// The paragraph at the start of 14 C.F.R. § 61.3(j), with and without a dash after its heading.
#[test]
fn a_run_in_heading_ends_at_the_first_label_below_it() {
    for dash in ["—", ""] {
        let parsed = electronic(&format!(
            "<DIV8 N='§ 7.3' TYPE='SECTION'><HEAD>§ 7.3 Age.</HEAD>\
             <P>(a) A pilot needs a certificate. <I>Note</I> (1) of this section is a reference.</P>\
             <P>(b) <I>Age limitation for certain operations</I>{dash}(1) <I>Age limitation.</I> No person may serve.</P>\
             <P>(2) <I>Definitions.</I> In this paragraph:</P><P>(i) One.</P><P>(c) <I>Special purpose.</I> Two.</P></DIV8>"
        ));
        let reported = lines(by_citation(&parsed, "9 C.F.R. § 7.3"));
        assert_eq!(
            reported[1..],
            [
                format!("0P (b) Age limitation for certain operations{dash}"),
                "1P (1) Age limitation. No person may serve.".to_owned(),
                "1P (2) Definitions. In this paragraph:".to_owned(),
                "2P (i) One.".to_owned(),
                "0P (c) Special purpose. Two.".to_owned(),
            ]
        );
    }
}

/// Paragraphs, a table with its footnote and an extract directly below a part and a subpart.
#[test]
fn text_right_below_a_container_is_its_first_provision() {
    let parsed = electronic(
        "<AUTH><HED>Authority:</HED><PSPACE>9 U.S.C. 1.</PSPACE></AUTH><P>(a) This part is about ponds.<SU>1</SU><FTREF/></P>\
         <FTNT><P><SU>1</SU> And pools.</P></FTNT><TABLE><TR><TD>Pond</TD><TD>3</TD></TR></TABLE>\
         <DIV6 N='A' TYPE='SUBPART'><HEAD>Subpart A—Frogs</HEAD><EXTRACT><P>Frogs croak.</P></EXTRACT></DIV6>\
         <DIV8 N='§ 7.1' TYPE='SECTION'><HEAD>§ 7.1 Ponds.</HEAD><P>Wet.</P></DIV8>",
    );
    let part = parsed.nodes.iter().find(|node| node.content.level == "part").unwrap();
    let topics: Vec<&str> = part.content.notes.iter().map(|note| note.topic.as_str()).collect();
    assert_eq!((topics, &part.content.text), (vec!["Authority"], &None));
    let ponds = by_citation(&parsed, "9 C.F.R. pt. 7, introductory text");
    assert_eq!(lines(ponds), ["0P (a) This part is about ponds.", "1R Pond\t3"]);
    assert_eq!((ponds.parent, ponds.key.as_str()), (Some(part.handle), "us/cfr/t9/pt7/introduction"));
    assert_eq!(ponds.content.notes[0].text, "And pools.");
    assert_eq!(ponds.content.layout.marks.iter().map(|mark| mark.target).collect::<Vec<_>>(), [0]);
    assert!(ponds.sort < by_citation(&parsed, "9 C.F.R. § 7.1").sort);
    // A subpart without anything else.
    let frogs = by_citation(&parsed, "9 C.F.R. pt. 7, subpt. A, text");
    assert_eq!((lines(frogs), frogs.content.heading.as_str()), (vec!["0B Frogs croak.".to_owned()], "Subpart A—Frogs"));
    assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
}

/// A part with these sections, in the electronic edition.
fn electronic(sections: &str) -> Parsed {
    let head = "<DIV1 N='9' TYPE='TITLE'><HEAD>Title 9—Arden</HEAD><DIV5 N='7' TYPE='PART'><HEAD>PART 7—PONDS</HEAD>";
    parsed(ecfr::parse, &format!("<X>{head}{sections}</DIV5></DIV1></X>"))
}

#[test]
fn signs_mean_their_own_footnotes_and_labels_count_anew_below_headings() {
    let parsed = electronic(
        "<DIV8 N='§§ 7.1 and 7.2' TYPE='SECTION'><HEAD>Ponds.</HEAD><EAR>§ 7.1</EAR>\
         <P>(a) One<SU>1</SU><FTREF/> of 10<SU>1</SU> x.</P><FTNT><P><SU>1</SU> First.</P></FTNT>\
         <P>(b) Two<SU>1</SU><FTREF/>.</P><FTNT><P><SU>1</SU> Second.</P></FTNT>\
         <HD1>Shores</HD1><P>(1) Three.</P><P>(2) Four.</P></DIV8>",
    );
    let ponds = by_citation(&parsed, "9 C.F.R. § 7.1");
    assert_eq!(ponds.content.parallel_citations, ["9 C.F.R. § 7.2"]);
    assert_eq!(lines(ponds), ["0P (a) One of 101 x.", "0P (b) Two.", "0H Shores", "0P (1) Three.", "0P (2) Four."]);
    assert_eq!(ponds.content.layout.lines[3].label_bytes(), 3);
    assert_eq!(marked(ponds, MarkKind::Superscript), ["1"]);
    let signs = ponds.content.layout.marks.iter().filter(|mark| mark.kind() == Some(MarkKind::Footnote));
    assert_eq!(signs.map(|mark| mark.target).collect::<Vec<_>>(), [0, 1]);
}

/// A note that prints the whole future section gives a wording; a note that prints one paragraph does not.
#[test]
fn a_revised_text_of_the_whole_section_is_its_next_wording() {
    let volume = |revised: &str| {
        let text = format!(
            "<CFRDOC><TITLE><CFRTITLE><TITLEHD><HD>Title 9—Arden</HD></TITLEHD></CFRTITLE><PART><HD>PART 8—RIVERS</HD>\
             <SECTION><SECTNO>§ 8.1</SECTNO><SUBJECT>Rivers.</SUBJECT><P>Rivers run.</P><CITA>[70 FR 1, Jan. 3, 2005]</CITA>\
             <EFFDNOT><HD>Effective Date Note:</HD><P>At 76 FR 5, Sept. 13, 2011, § 8.1 was revised, effective Oct. 13, 2011. \
             For the convenience of the user, the revised text is set forth as follows:</P>\
             <REVTXT><SECTION><SECTNO>§ 8.1</SECTNO><SUBJECT>Streams.</SUBJECT>{revised}</SECTION></REVTXT></EFFDNOT>\
             </SECTION></PART></TITLE></CFRDOC>"
        );
        parsed(cfr_annual::parse, &text)
    };
    let whole = volume("<P>(a) Streams run.</P><P>(b) Some stop.</P>");
    let rivers = &by_citation(&whole, "9 C.F.R. § 8.1").content;
    assert_eq!((rivers.effect.to.as_deref(), rivers.effect.then), (Some("2011-10-13"), None));
    let [streams] = rivers.wordings.as_slice() else { panic!("{:?}", rivers.wordings) };
    assert_eq!((streams.heading.as_str(), streams.effect.from.as_deref()), ("Streams.", Some("2011-10-13")));
    assert_eq!(streams.text.as_deref(), Some("(a) Streams run.\n(b) Some stop."));
    assert!(!rivers.notes[0].text.contains("Streams run") && whole.warnings.is_empty());

    let part = volume("<STARS/><P>(b) Some stop.</P>");
    let rivers = &by_citation(&part, "9 C.F.R. § 8.1").content;
    assert_eq!((rivers.effect.to.as_deref(), rivers.effect.then), (Some("2011-10-13"), Some(Status::Uncertain)));
    assert!(rivers.wordings.is_empty() && rivers.notes[0].text.contains("(b) Some stop."));
    assert_eq!(part.warnings.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>(), [WarningKind::UncertainValidity]);
}

/// 47 C.F.R. part 61, subpart F. The warnings have the place of each section.
#[test]
fn a_note_that_waits_for_an_approval_makes_law_uncertain() {
    let waiting =
        "At 76 FR 5, July 20, 2011, this subpart F was added. This subpart F will not become effective until approval.";
    let own = "At 76 FR 5, July 20, 2011, § 8.2 was revised. It will not become effective until approval.";
    let note = |text: &str| format!("<EFFDNOT><HD>Effective Date Note:</HD><P>{text}</P></EFFDNOT>");
    let section = |number: &str, note: &str| {
        format!("<SECTION><SECTNO>§ {number}</SECTNO><SUBJECT>Rivers.</SUBJECT><P>Rivers run.</P>{note}</SECTION>\n")
    };
    let text = format!(
        "<CFRDOC><TITLE><CFRTITLE><TITLEHD><HD>Title 9—Arden</HD></TITLEHD></CFRTITLE><PART><HD>PART 8—RIVERS</HD>\n{}\
         <SUBPART><HD>Subpart F—Floods</HD>{}{}{}</SUBPART></PART></TITLE></CFRDOC>",
        section("8.1", ""),
        note(waiting),
        section("8.2", &note(own)),
        section("8.3", ""),
    );
    let source =
        Source { format: "cfr-annual", key: "us/cfr", code_body: "CFR", citation: None, options: toml::Table::new() };
    let imported = import_one("x.xml", &text, &source);
    let effect = |number: &str| {
        let effect = &imported.node(&format!("us/cfr/t9/s{number}")).effect;
        (effect.uncertain, effect.remark.clone().unwrap_or_default())
    };
    assert_eq!(effect("8.1"), (false, String::new()));
    assert_eq!(effect("8.2"), (true, format!("{own}; {waiting}")));
    assert_eq!(effect("8.3"), (true, waiting.to_owned()));
    let warnings = imported.warnings.iter().filter(|warning| warning.kind == WarningKind::UncertainValidity);
    assert_eq!(warnings.map(|warning| warning.place.as_str()).collect::<Vec<_>>(), ["x.xml:3", "x.xml:4"]);
}

#[test]
fn reserved_sections_say_so_by_an_element_and_groups_of_one_heading_are_two() {
    let group = |number: &str| {
        format!(
            "<SUBJGRP><HD>General</HD><SECTION><SECTNO>§ {number}</SECTNO><RESERVED>Kept free</RESERVED></SECTION></SUBJGRP>"
        )
    };
    let volume = format!(
        "<CFRDOC><FMTR><CHAPTER><HD>CHAPTER IX—NOT LAW</HD></CHAPTER></FMTR><TITLE><CFRTITLE><TITLEHD><HD>Title 9—Arden</HD></TITLEHD></CFRTITLE>\
         <PART><HD>PART 8—RIVERS</HD>{}{}</PART></TITLE></CFRDOC>",
        group("8.1"),
        group("8.2")
    );
    let parsed = parsed(cfr_annual::parse, &volume);
    assert_eq!(by_citation(&parsed, "9 C.F.R. § 8.2").content.status, Some(Status::Reserved));
    let containers: Vec<&str> =
        parsed.nodes.iter().filter(|node| node.content.text.is_none()).map(|node| node.key.as_str()).collect();
    assert_eq!(containers, ["us/cfr/t9", "us/cfr/t9/pt8", "us/cfr/t9/pt8/general", "us/cfr/t9/pt8/general~2"]);
}

#[test]
fn terms_run_in_without_a_marker_and_images_say_what_they_show() {
    let own = r#"<paragraph label="1002-1-p1" marker="none"><content><graphic><altText/><text>![Form](ER01)</text>"#;
    assert!(REGML.contains(own));
    let other = r#"<paragraph label="1002-1-p1" marker="none"><title type="keyterm">Note.</title><content>See:<graphic><altText>A bank</altText><text>![](ER02)</text>"#;
    let parsed = parsed(regml::parse, &REGML.replace(own, other));
    let scope = lines(by_citation(&parsed, "9 C.F.R. § 1002.1"));
    assert_eq!(scope[scope.len() - 2..], ["0P Note. See:", "0I A bank ER02"]);
}

const FORMS: [(&str, ParseDocument, &str); 3] =
    [("ecfr", ecfr::parse, ECFR), ("cfr-annual", cfr_annual::parse, ANNUAL), ("regml", regml::parse, REGML)];

/// Asserts that a document was parsed, or refused with its place.
fn assert_sound(parsed: &Parsed) {
    assert!(parsed.nodes.is_empty() || parsed.mistakes.is_empty());
    for (position, what) in &parsed.mistakes {
        assert!(position.file == "x.xml" && position.line.is_some() && !what.is_empty());
    }
    for node in &parsed.nodes {
        let content = &node.content;
        let texts = [(&content.layout, content.text.as_deref().unwrap_or_default())];
        let notes = content.notes.iter().map(|note| (&note.layout, note.text.as_str()));
        for (layout, text) in texts.into_iter().chain(notes).filter(|(layout, _)| !layout.is_empty()) {
            assert_eq!(layout.check_against_text(text), None, "{text}");
        }
    }
}

#[test]
fn documents_cut_or_changed_anywhere_are_refused_with_the_place_or_read() {
    for (_, parse, text) in FORMS {
        let whole = text.as_bytes();
        for end in 0..whole.len() {
            let cut = parse_bytes(parse, "x.xml", whole[..end].to_vec());
            assert!(!cut.mistakes.is_empty() && cut.nodes.is_empty(), "cut at {end}");
            assert_sound(&cut);
        }
        for at in 0..whole.len() {
            for change in [1, 0x20, 0x80] {
                let mut bytes = whole.to_vec();
                bytes[at] ^= change;
                assert_sound(&parse_bytes(parse, "x.xml", bytes));
            }
        }
    }
}

#[test]
fn documents_of_other_forms_are_refused_with_what_they_are() {
    for (own, parse, _) in FORMS {
        for (other, _, text) in FORMS.iter().filter(|(other, ..)| *other != own) {
            let refused = parse_bytes(parse, "x.xml", text.as_bytes().to_vec());
            let (position, what) = &refused.mistakes[0];
            assert!(position.line.is_some() && what.contains("choose another format"), "{own} read {other}: {what}");
        }
    }
}

#[test]
fn two_editions_fill_one_code_and_ranges_are_found_by_each_number() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = "name = \"CFR\"\n".to_owned();
    // The annual edition is in two volumes, so that they share their title.
    let second = ANNUAL.replace(" 8.", " 18.").replace(" 9.", " 19.").replace("-9.3", "-19.3");
    let second = second
        .replace("PART 8—", "PART 18—")
        .replace("PART 9—", "PART 19—")
        .replace("Part 9", "Part 19")
        .replace("10-12", "20-22");
    let ecfr = ECFR.replace("Title 9—", "Title 1—").replace("DIV1 N=\"9\"", "DIV1 N=\"1\"");
    for (format, name, text) in [
        ("ecfr", "e", ecfr.as_str()),
        ("cfr-annual", "a1", ANNUAL),
        ("cfr-annual", "a2", &second),
        ("regml", "r", REGML),
    ] {
        fs::write(dir.path().join(format!("{name}.xml")), text).unwrap();
        plan += &format!(
            "[[source]]\nformat = \"{format}\"\npath = \"{name}.xml\"\njurisdiction = \"US\"\ncode_body = \"Code of Federal Regulations\"\n\
             key = \"us/cfr\"\npublisher = \"P\"\nedition = \"E\"\nretrieved = \"2026-01-01\"\nlicense = \"public domain\"\nurl = \"https://example.org\"\n"
        );
    }
    fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let out = dir.path().join("out");
    build_at(&dir.path().join("plan.toml"), &out).unwrap();
    let snapshot = Snapshot::verify(&out, |_| ()).unwrap();
    let cited = |text: &str| {
        let found = snapshot.nodes_with_citation(text).unwrap();
        let all: Vec<String> = found.iter().map(|&(node, _)| snapshot.nodes.get(node).unwrap().citation).collect();
        all.join("; ")
    };
    assert_eq!(cited("1 CFR 7.1"), "1 C.F.R. § 7.1");
    assert_eq!(cited("section 9.5 of title 9, Code of Federal Regulations"), "9 C.F.R. § 9.5");
    assert_eq!(cited("9 CFR 19.5"), "9 C.F.R. § 19.5");
    assert_eq!(cited("9 CFR part 8"), "Code of Federal Regulations, Title 9, Chapter I, Subchapter B, Part 8");
    assert_eq!(cited("9 C.F.R. pt. 9, App."), "9 C.F.R. pt. 9, App.");
    let range = cited("9 CFR §§ 9.1-9.3");
    assert!(range.starts_with("9 C.F.R. §"), "{range}");
    // As a range, it is found by every number in it.
    assert_eq!(Grammar::built_in().key_or_folded(&range).as_str(), "us/cfr/9/9.1...9.3");
    let titles = (0..snapshot.outline.len()).filter(|&node| snapshot.outline.depth(NodeOrdinal(node)) == 0).count();
    assert_eq!(titles, 2, "volumes of one title share it");
}
