//! The difficult cases of the open.law format, each in a small code that we wrote.

use hornbook_corpus::layout::{LineKind, layout_lines};
use hornbook_corpus::outline::Status;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::open_law;
use hornbook_index_build::report::WarningKind;

use crate::common::SeededRandom;
use crate::open_law_source::{Node, OpenLawSource, district, import, maryland, written};

const OPEN: &str = "xmlns='https://open.law/schemas/library' xmlns:xi='http://www.w3.org/2001/XInclude' \
    xmlns:codify='https://open.law/schemas/codify' xmlns:codified='https://open.law/schemas/codified'";

fn element(name: &str, within: &str) -> String {
    format!("<{name} {OPEN}>{within}</{name}>")
}

fn plan() -> OpenLawSource {
    OpenLawSource { key: "xa/code", code_body: "Arden Code", citation: "Arden Code § {number}", ..district() }
}

/// A code of one title with one chapter that contains these sections.
fn code(sections: &[(&str, &str)]) -> Vec<Document> {
    let includes: String = sections.iter().map(|(file, _)| format!("<xi:include href='./{file}'/>")).collect();
    let chapter =
        format!("<container><prefix>Chapter</prefix><num>1</num><heading>Bridges.</heading>{includes}</container>");
    let title = element("container", &format!("<prefix>Title</prefix><num>1</num><heading>Roads.</heading>{chapter}"));
    let root = element(
        "document",
        "<heading>Arden Code</heading><meta><x>1999</x></meta><subheading>Division I. Ways.</subheading>\
         <xi:include href='./titles/1/index.xml'/>",
    );
    let mut files = vec![("c/index.xml".to_owned(), root), ("c/titles/1/index.xml".to_owned(), title)];
    files.extend(sections.iter().map(|(file, text)| (format!("c/titles/1/{file}"), element("section", text))));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    written(&files)
}

fn nodes(documents: &[Document]) -> Vec<Node> {
    import(documents, &plan()).unwrap().0
}

/// The only section of a code.
fn section(text: &str) -> Node {
    let mut nodes = nodes(&code(&[("1-101.xml", text)]));
    assert_eq!(nodes.len(), 4);
    nodes.pop().unwrap()
}

fn refused(documents: &[Document]) -> String {
    import(documents, &plan()).map(|(nodes, _)| nodes).unwrap_err()
}

/// Depth, anchor and words of every line.
fn lines(node: &Node) -> Vec<(u8, String, String)> {
    let text = node.content.text.as_deref().unwrap();
    let lines = layout_lines(text, Some(node.content.layout.as_ref())).into_iter();
    lines
        .map(|line| (line.depth, line.anchor.map(|a| a.name).unwrap_or_default(), text[line.range].to_owned()))
        .collect()
}

fn line(depth: u8, anchor: &str, text: &str) -> (u8, String, String) {
    (depth, anchor.to_owned(), text.to_owned())
}

#[test]
fn documents_are_joined_into_one_tree_with_keys_from_all_of_them() {
    let found = nodes(&code(&[("1-101.xml", "<num>1-101</num><heading>Width.</heading><text>Ten feet.</text>")]));
    let keys: Vec<(&str, u8)> = found.iter().map(|node| (node.key.as_str(), node.depth)).collect();
    let expected = [("xa/code/di", 0), ("xa/code/di/t1", 1), ("xa/code/di/t1/ch1", 2), ("xa/code/s1-101", 3)];
    assert_eq!(keys, expected);
    assert_eq!(found[2].content.citation, "Arden Code, Division I, Title 1, Chapter 1");
    assert_eq!(found[2].content.heading, "Chapter 1. Bridges.");
    assert_eq!(
        (found[3].content.citation.as_str(), found[3].content.heading.as_str()),
        ("Arden Code § 1-101", "Width.")
    );
    // The order of the files changes nothing.
    let mut documents = code(&[("1-101.xml", "<num>1-101</num><heading>Width.</heading><text>Ten feet.</text>")]);
    documents.reverse();
    assert!(nodes(&documents).iter().map(|node| (node.key.as_str(), node.depth)).eq(keys));
}

#[test]
fn includes_that_lead_nowhere_or_elsewhere_are_refused_with_their_line() {
    let good = "<num>1-101</num><heading>Width.</heading><text>Ten feet.</text>";
    let broken = |from: &str, to: &str| {
        let mut documents = code(&[("1-101.xml", good)]);
        let text = String::from_utf8(documents[1].bytes.clone()).unwrap();
        assert!(text.contains(from));
        documents[1].bytes = text.replace(from, to).into_bytes();
        refused(&documents)
    };
    let missing = broken("<prefix>Title", "\n<xi:include href='./1-102.xml'/><prefix>Title");
    assert!(
        missing.starts_with("a.zip!c/titles/1/index.xml:2: 'c/titles/1/1-102.xml' is included here, but"),
        "{missing}"
    );
    let outside = broken("./1-101.xml", "../../../../etc/passwd");
    assert!(outside.contains("index.xml:1: it includes '../../../../etc/passwd', which is outside"), "{outside}");
    let elsewhere = broken("./1-101.xml", "https://example.org/a.xml");
    assert!(elsewhere.contains("not a relative path"), "{elsewhere}");
    let twice = broken("<prefix>Title", "<xi:include href='./1-101.xml'/><prefix>Title");
    assert!(twice.contains("already included"), "{twice}");
    let pointer = broken("href='./1-101.xml'", "href='./1-101.xml' xpointer='x'");
    assert!(pointer.contains("an include with 'xpointer' is not supported"), "{pointer}");
    let circle = broken("./1-101.xml", "./index.xml");
    assert!(circle.contains("already included"), "{circle}");
    // Two titles that include each other, but that no other document includes.
    let title = |num: &str, other: &str| {
        element("container", &format!("<prefix>Title</prefix><num>{num}</num><xi:include href='{other}'/>"))
    };
    let (one, two) = (title("1", "b.xml"), title("2", "a.xml"));
    let circle = refused(&written(&[("c/a.xml", &one), ("c/b.xml", &two)]));
    assert!(circle.contains("is its own ancestor") && circle.contains("a.zip!c/"), "{circle}");
    let alone = refused(&written(&[("c/a.xml", &element("section", good))]));
    assert!(alone.starts_with("a.zip!c/a.xml:1: ") && alone.contains("parent"), "{alone}");
}

#[test]
fn enumerated_paragraphs_keep_labels_depths_and_flush_text() {
    let node = section(
        "<num>1-101</num><heading>Width.</heading><text>A bridge:</text>\
         <para><num>(a)</num><para><num>(1)</num><heading>Roads. —</heading><text>is ten feet;</text>\
           <para><num>(A)</num><text>or <cite path='§1-102'>twelve</cite><em>s</em>;</text></para>\
           <aftertext>whichever is wider;</aftertext></para>\
         <para><num>(2)</num><text>is dry.</text></para></para>\
         <para><prefix>Article</prefix><num>II</num><text>Ends.</text></para>\
         <aftertext>This holds for all.</aftertext>",
    );
    let expected = [
        line(0, "", "A bridge:"),
        line(0, "a-1", "(a)(1) Roads. — is ten feet;"),
        line(2, "a-1-A", "(A) or twelves;"),
        line(1, "", "whichever is wider;"),
        line(1, "a-2", "(2) is dry."),
        line(0, "II", "Article II Ends."),
        line(0, "", "This holds for all."),
    ];
    assert_eq!(lines(&node), expected);
}

#[test]
fn editing_commands_are_skipped_and_annotations_are_notes() {
    let node = section(
        "<codify:insert path='x'><container><heading>Chapter 9</heading></container></codify:insert>\
         <num>1-101</num><text>*NOTE: Expires soon.*</text><heading>Width.</heading>\
         <text>Ten feet.</text><codify:annotation type='Applicability'>Not here.</codify:annotation>\
         <codify:find-replace><find>Ten</find><replace>Nine</replace></codify:find-replace>\
         <annotations><annotation type='History'>Jan. 1, 1901, ch. 2</annotation>\
         <annotation type='History' doc='Law 7-9' eff='2019-09-11' path='§3|(a)'/>\
         <annotation type='History' doc='Law 7-9' eff='2019-09-11' path='§3|(b)'/>\
         <annotation type='History' doc='Act 1-1' eff='2020-01-01' display='false'/>\
         <text type='References in Text'>The first.</text><annotation type='Short Title'>A title.</annotation>\
         <annotation type='References in Text'>The second.</annotation></annotations>",
    );
    assert_eq!(node.content.text.as_deref(), Some("Ten feet."));
    assert_eq!(node.content.source_credit.as_deref(), Some("Jan. 1, 1901, ch. 2; Sept. 11, 2019, Law 7-9, § 3"));
    let notes: Vec<(&str, &str)> = node.notes().map(|note| (note.topic.as_str(), note.text.as_str())).collect();
    let expected = [
        ("References in Text", "The first.\nThe second."),
        ("Short Title", "A title."),
        ("Note", "*NOTE: Expires soon.*"),
    ];
    assert_eq!(notes, expected);
}

#[test]
fn reasons_give_the_status_of_sections() {
    let status = |reason: &str, text: &str| {
        let node =
            section(&format!("<reason>{reason}</reason><num>1-101</num><heading>Width.</heading><text>{text}</text>"));
        (node.content.status.unwrap(), node.content.notes.iter().map(|note| note.text.clone()).collect::<Vec<_>>())
    };
    assert_eq!(status("Repealed", "Repealed."), (Status::Repealed, vec![]));
    assert_eq!(status("Expired", "Expired."), (Status::Expired, vec![]));
    assert_eq!(status("Recodified", "Recodified as § 1-102."), (Status::Transferred, vec![]));
    assert_eq!(status("Transferred", "Transferred."), (Status::Transferred, vec![]));
    assert_eq!(status("Not Funded", "Not Funded."), (Status::Reserved, vec!["Not Funded".to_owned()]));
    assert_eq!(status("Commissioner", "Ten feet."), (Status::InForce, vec!["Commissioner".to_owned()]));
    assert_eq!(status("", "Repealed."), (Status::Repealed, vec![]));
}

#[test]
fn a_text_that_only_states_where_the_law_is_gives_status_and_place() {
    let read = |heading: &str, text: &str| {
        let node = section(&format!("<num>1-101</num><heading>{heading}</heading><text>{text}</text>"));
        (node.content.status.unwrap(), node.content.now)
    };
    let to = |number: &str| Some(format!("Arden Code § {number}"));
    assert_eq!(read("Width.", "Recodified as § 1-102.03."), (Status::Transferred, to("1-102.03")));
    assert_eq!(read("Width. [Recodified]", "Recodified as § 1-102a"), (Status::Transferred, to("1-102a")));
    assert_eq!(read("Width.", "[Not funded]."), (Status::Reserved, None));
    assert_eq!(read("Reserved/Open#", "[placeholder]"), (Status::Reserved, None));
    assert_eq!(read("Width.", "Reserved spaces are ten feet wide."), (Status::InForce, None));
    let moved = section("<num>1-101</num><reason>Recodified</reason><text>Recodified as § 1-102.</text>");
    assert_eq!(moved.content.now, to("1-102"));
}

#[test]
fn a_section_that_stands_for_several_is_found_by_each_number() {
    let node = section("<prefix>§§</prefix><num>1-4 to 1-6</num><heading>[Reserved]</heading>");
    assert_eq!((node.key.as_str(), node.content.citation.as_str()), ("xa/code/s1-4-to-1-6", "Arden Code § 1-4 to 1-6"));
    assert_eq!(node.content.parallel_citations, ["Arden Code § 1-4", "Arden Code § 1-5", "Arden Code § 1-6"]);
    let rest = section("<num>1-4</num><heading>to 1-6. Repealed.</heading>");
    assert_eq!((rest.content.heading.as_str(), rest.content.status), ("Repealed.", Some(Status::Repealed)));
    assert_eq!(rest.content.parallel_citations, ["Arden Code § 1-5", "Arden Code § 1-6"]);
    let plan = OpenLawSource { key: "xa/regs", code_body: "Arden Regulations", citation: "ARR {number}", ..maryland() };
    let chapter = element(
        "container",
        "<prefix>Chapter</prefix><num>02</num><heading>Depth</heading>\
         <section><num>.03</num><heading>— .05 Recodified to ARR 14.23.01.</heading></section>\
         <section><num>.08—.10</num><heading>Reserved.</heading></section>",
    );
    let root = element("document", "<heading>Regulations</heading><xi:include href='02.xml'/>");
    let found = import(&written(&[("r/index.xml", &root), ("r/02.xml", &chapter)]), &plan).unwrap().0;
    let of = |key: &str| found.iter().find(|node| node.key == key).map(|node| &node.content).unwrap();
    let recodified = of("xa/regs/s02.03");
    assert_eq!(
        (recodified.heading.as_str(), recodified.status),
        ("Recodified to ARR 14.23.01.", Some(Status::Transferred))
    );
    assert_eq!(recodified.parallel_citations, ["ARR 02.04", "ARR 02.05"]);
    assert_eq!(of("xa/regs/s02.08-.10").parallel_citations, ["ARR 02.08", "ARR 02.09", "ARR 02.10"]);
}

#[test]
fn acts_without_a_date_are_credits_too() {
    let credit = |acts: &str| {
        section(&format!("<num>1-101</num><text>Ten.</text><annotations>{acts}</annotations>")).content.source_credit
    };
    let act = |rest: &str| format!("<annotation type='History' doc='City of Arden Ord. No. 1982-1' {rest}/>");
    assert_eq!(credit(&act("path='§1'")).as_deref(), Some("City of Arden Ord. No. 1982-1, § 1"));
    let dated = act("") + &act("path='§2|(a)' eff='2019-09-11'") + &act("eff='0001-01-01' display='false'");
    assert_eq!(
        credit(&dated).as_deref(),
        Some("City of Arden Ord. No. 1982-1; Sept. 11, 2019, City of Arden Ord. No. 1982-1, § 2")
    );
    assert_eq!(credit("<annotation type='History' path='§1'/>"), None);
}

#[test]
fn a_permanent_wording_joins_the_section_in_its_own_title() {
    let mut documents =
        code(&[("1-101.xml", "<num>1-101</num><heading>Width.</heading><text>Ten feet for now.</text>")]);
    let reserved = element(
        "container",
        "<prefix>Title</prefix><num>99</num><heading>Reserved.</heading><xi:include href='1-101(Perm).xml'/>\
         <xi:include href='7(Perm).xml'/>",
    );
    let section = |num: &str, text: &str| {
        let note = "<annotations><annotation type='History'>1901</annotation></annotations>";
        element(
            "section",
            &format!("<prefix>§</prefix><num>{num}</num><heading>Width.</heading><text>{text}</text>{note}"),
        )
    };
    let (own, other) = (section("1-101(Perm)", "Nine feet."), section("7(Perm)", "Alone."));
    documents.extend(written(&[
        ("c/titles/99/index.xml", &reserved),
        ("c/titles/99/1-101(Perm).xml", &own),
        ("c/titles/99/7(Perm).xml", &other),
    ]));
    let root = String::from_utf8(documents[0].bytes.clone()).unwrap();
    documents[0].bytes =
        root.replace("</document>", "<xi:include href='titles/99/index.xml'/></document>").into_bytes();
    let (nodes, warnings) = import(&documents, &plan()).unwrap();
    assert_eq!(warnings.into_parts().1[&WarningKind::SecondWording], 1);
    let node = nodes.iter().find(|node| node.key == "xa/code/s1-101").unwrap();
    assert_eq!(node.content.text.as_deref(), Some("Ten feet for now."));
    let [wording] = &node.wordings[..] else { panic!("{:?}", node.wordings) };
    assert_eq!(
        (wording.text.as_deref(), wording.effect.remark.as_deref()),
        (Some("Nine feet."), Some("Permanent wording"))
    );
    // It is complete, with its own credit and no date: it is law whenever the other one is not.
    assert_eq!((wording.source_credit.as_deref(), wording.effect.uncertain), (Some("1901"), false));
    // Without another section, it is the provision itself.
    let alone = nodes.iter().find(|node| node.key == "xa/code/s7").unwrap();
    assert_eq!((alone.content.citation.as_str(), alone.depth), ("Arden Code § 7", 2));
}

/// As in D.C. Code §§ 42-851.11 and 8-403 (2024): after the heading and before it.
#[test]
fn remarks_of_editors_are_notes_and_say_until_when_a_wording_is_law() {
    let remark =
        "<text>*NOTE: This section was created by temporary legislation that will expire on November 21, 2024.*</text>";
    for text in [
        format!("<num>1-101</num><heading>Width.</heading>{remark}<text>Ten feet.</text>"),
        format!("<num>1-101</num>{remark}<heading>Width.</heading><text>Ten feet.</text>"),
    ] {
        let section = section(&text);
        assert_eq!(section.content.text.as_deref(), Some("Ten feet."));
        assert!(section.notes().next().unwrap().text.starts_with("*NOTE: This section was created"));
        let effect = &section.content.effect;
        assert_eq!((effect.to.as_deref(), effect.then), (Some("2024-11-21"), Some(Status::Expired)));
    }
    let coming = section(
        "<num>1-101</num><heading>Width.</heading><reason>Applicable October 1, 2025</reason><text>Ten.</text>",
    );
    assert_eq!(coming.content.status, Some(Status::InForce));
    assert_eq!(coming.content.effect.from.as_deref(), Some("2025-10-01"));
}

#[test]
fn citations_are_joined_from_containers_in_other_documents() {
    let plan = OpenLawSource { key: "xa/regs", code_body: "Arden Regulations", citation: "ARR {number}", ..maryland() };
    let root = element("document", "<heading>Regulations</heading><xi:include href='26/index.xml'/>");
    let title = element(
        "container",
        "<prefix>Title</prefix><num>26</num><heading>WATER</heading><xi:include href='08/index.xml'/>",
    );
    let subtitle = element(
        "container",
        "<prefix>Subtitle</prefix><num>08</num><heading>WELLS</heading><xi:include href='02.xml'/><xi:include href='03.xml'/>",
    );
    let chapter = element(
        "container",
        "<prefix>Chapter</prefix><num>02</num><heading>Depth</heading>\
         <section><prefix>Regulation</prefix><num>.01</num><heading>Scope.</heading><text>All wells.</text></section>\
         <section><prefix>Regulation</prefix><num>.10</num><heading>Fees. — Repealed</heading></section>\
         <section><prefix>Regulation</prefix><num>.02</num><heading>Model.</heading><include><text>Form</text>\
         <section><prefix>Section</prefix><num>1</num><heading>Title.</heading><text>Not a node.</text></section></include></section>\
         <attachments><attachment name='02-form' url='/x/02-form.pdf'/></attachments>\
         <annotations><annotation type='History' subtype='Administrative History'>Effective 1974</annotation></annotations>",
    );
    let vacant = element("container", "<prefix>Chapter</prefix><num>03</num><reason>Vacant</reason>");
    let documents = written(&[
        ("r/26/08/03.xml", &vacant),
        ("r/26/08/02.xml", &chapter),
        ("r/index.xml", &root),
        ("r/26/08/index.xml", &subtitle),
        ("r/26/index.xml", &title),
    ]);
    let nodes = import(&documents, &plan).unwrap().0;
    let names: Vec<(&str, &str)> =
        nodes.iter().map(|node| (node.key.as_str(), node.content.citation.as_str())).collect();
    let expected = [
        ("xa/regs/t26", "Arden Regulations, Title 26"),
        ("xa/regs/t26/st08", "Arden Regulations, Title 26, Subtitle 08"),
        ("xa/regs/t26/st08/ch02", "Arden Regulations, Title 26, Subtitle 08, Chapter 02"),
        ("xa/regs/s26.08.02.01", "ARR 26.08.02.01"),
        ("xa/regs/s26.08.02.02", "ARR 26.08.02.02"),
        ("xa/regs/s26.08.02.10", "ARR 26.08.02.10"),
        ("xa/regs/t26/st08/ch03", "Arden Regulations, Title 26, Subtitle 08, Chapter 03"),
    ];
    assert_eq!(names, expected);
    let notes: Vec<(&str, &str)> = nodes[2].notes().map(|note| (note.topic.as_str(), note.text.as_str())).collect();
    assert_eq!(notes, [("Attachment", "02-form (/x/02-form.pdf)"), ("Administrative History", "Effective 1974")]);
    assert_eq!(nodes[4].content.text.as_deref(), Some("Form\nSection 1 Title.\nNot a node."));
    assert_eq!((nodes[5].content.status, nodes[6].content.status), (Some(Status::Repealed), Some(Status::Reserved)));
}

#[test]
fn tables_are_rows_and_cells_and_images_are_named() {
    let node = section(
        "<num>1-101</num><heading>Width.</heading><text>Widths:\
         <table><thead><tr><th rowspan='2'>Road</th><th colspan='2'>Width</th></tr><tr><th>Min</th><th>Max</th></tr></thead>\
         <tbody><tr><td>Lane<br/>small</td><td><p>9</p><p>feet</p></td><td>10<sup>2</sup></td></tr></tbody></table>\
         as shown.</text><text><img src='./1-101-1.jpeg'/></text><text><img alt='A bridge.' src='data:image/png;base64,AAAA'/></text>",
    );
    let expected =
        "Widths:\nRoad\tWidth\t\n\tMin\tMax\nLane small\t9 feet\t102\nas shown.\nImage: 1-101-1.jpeg\nImage: A bridge.";
    assert_eq!(node.content.text.as_deref(), Some(expected));
    let kinds: Vec<LineKind> = node.content.layout.lines.iter().map(|line| line.kind().unwrap()).collect();
    use LineKind::{Image, Paragraph, TableHead, TableRow};
    assert_eq!(kinds, [Paragraph, TableHead, TableHead, TableRow, Paragraph, Image, Image]);
}

#[test]
fn centred_lines_are_blocks_and_feet_of_tables_are_remarks() {
    let node = section(
        "<num>1-101</num><text>As follows:</text><text class='center'>FORM</text>\
         <table><tr><td>a</td></tr><tfoot><tr><td>Rounded.</td></tr></tfoot></table>",
    );
    let kinds: Vec<LineKind> = node.content.layout.lines.iter().map(|line| line.kind().unwrap()).collect();
    assert_eq!(kinds, [LineKind::Paragraph, LineKind::Block, LineKind::TableRow, LineKind::TableNote]);
}

#[test]
fn two_containers_with_one_heading_are_one() {
    let part = |number: &str, history: &str| {
        format!(
            "<container><prefix>Part</prefix><num>A</num><heading>Wood.</heading>{history}<section><num>{number}</num>\
             <text>Law.</text></section></container>"
        )
    };
    let title = element(
        "container",
        &format!(
            "<prefix>Title</prefix><num>1</num><heading>Roads.</heading>{}{}",
            part("1-1", ""),
            part("1-2", "<annotations><annotation type='Note'>Kept.</annotation></annotations>")
        ),
    );
    let root = element("document", "<heading>Arden Code</heading><xi:include href='./1.xml'/>");
    let found = nodes(&written(&[("c/index.xml", root.as_str()), ("c/1.xml", title.as_str())]));
    let parts: Vec<&Node> = found.iter().filter(|node| node.content.heading == "Part A. Wood.").collect();
    assert_eq!((parts.len(), parts[0].content.notes.len()), (1, 1));
    assert_eq!(found.len(), 4);
}

#[test]
fn absurd_spans_and_numbers_do_no_harm() {
    let node = section(
        "<num>1-101</num><text>x<table><tr><td colspan='4000000000' rowspan='4000000000'>a</td><td>b</td></tr>\
         <tr><td>c</td></tr></table></text>",
    );
    assert!(node.content.text.unwrap().len() < 2_000);
    let without = refused(&code(&[("1-101.xml", "<heading>Width.</heading>")]));
    assert!(without.contains("1-101.xml:1: this section has no number"), "{without}");
    let other = refused(&written(&[("c/x.xml", "<html/>")]));
    assert!(other.contains("a.zip!c/x.xml:1: the root element"), "{other}");
}

/// Documents with many kinds of elements, to be damaged.
fn rich() -> Vec<Document> {
    let mut documents = code(&[(
        "1-101.xml",
        "<reason>Repealed</reason><num>1-101</num><heading>Width é.</heading><text>A <cite path='§1'>b</cite><em>c</em></text>\
         <para><num>(a)</num><para><num>(1)</num><heading>H.</heading><text>§ 3<table><tr><th colspan='2'>x</th></tr>\
         <tr><td rowspan='2'>y</td><td>z</td></tr></table></text><aftertext>t</aftertext></para></para>\
         <include><text class='center'>F</text><container><num>I</num><heading>K</heading></container></include>\
         <annotations><annotation type='History' doc='L' eff='2019-09-11'/><text type='T'>n</text></annotations>",
    )]);
    let chapter = "<container><num>1</num><heading>A</heading><subheading>S</subheading><section><num>.1</num>\
        <text>x<img src='a.png' alt='b'/></text></section><attachments><attachment name='n' url='u'/></attachments></container>";
    documents.extend(written(&[("c/26.xml", &element("container", chapter))]));
    documents
}

#[test]
fn documents_cut_or_damaged_anywhere_are_refused_with_their_place_or_read() {
    for plan in [plan(), maryland()] {
        for document in rich() {
            let check = |bytes: Vec<u8>| {
                let parsed = open_law::parse(&Document { place: document.place.clone(), bytes }, plan.target());
                for (position, what) in &parsed.mistakes {
                    assert!(position.file == document.place && position.line.is_some() && !what.is_empty());
                }
                for node in parsed.nodes {
                    let text = node.content.text.unwrap_or_default();
                    let layout = node.content.layout;
                    assert_eq!(layout.check_against_text(&text).filter(|_| !layout.is_empty()), None);
                }
            };
            (0..=document.bytes.len()).for_each(|end| check(document.bytes[..end].to_vec()));
            let mut numbers = SeededRandom(7);
            for _ in 0..2_000 {
                let mut bytes = document.bytes.clone();
                let place = numbers.below(bytes.len() as u64) as usize;
                bytes[place] ^= 1 << numbers.below(8);
                check(bytes);
            }
        }
    }
}

#[test]
fn a_recodification_table_gives_sections_their_former_numbers() {
    let table = |rows: &[[&str; 2]]| {
        let row = |[former, new]: &[&str; 2]| format!("<tr>\n<td>{former}</td><td>{new}</td></tr>");
        let rows: String = rows.iter().map(row).collect();
        format!(
            "<heading>Table</heading><text><table><thead><tr><th>Old Section</th><th>New Section</th></tr></thead>\
             <tbody>{rows}<tr></tr></tbody></table></text>"
        )
    };
    let sections =
        [("1-101.xml", "<num>1-101</num><text>Ten feet.</text>"), ("1-102.xml", "<num>1-102</num><text>Two.</text>")];
    let with_table = |rows: &[[&str; 2]]| {
        let mut documents = code(&sections);
        let root = element("document", "<xi:include href='./titles/1/index.xml'/><xi:include href='./table.xml'/>");
        documents.retain(|document| document.path() != "c/index.xml");
        documents.extend(written(&[("c/index.xml", &root), ("c/table.xml", &element("attachment", &table(rows)))]));
        let (nodes, warnings) = import(&documents, &plan()).unwrap();
        let of = |number: &str| {
            let citation = format!("Arden Code § {number}");
            nodes.iter().find(|node| node.content.citation == citation).unwrap().content.former_citations.clone()
        };
        let kept = warnings.into_parts().0.iter().map(ToString::to_string).collect::<Vec<_>>();
        (of("1-101"), of("1-102"), kept)
    };
    let (first, second, warnings) =
        with_table(&[["7", "<cite path='|1-101'>§1-101</cite>"], ["8.01", "§ 1-101"], ["9", "§1-102"]]);
    assert_eq!(
        (first, second),
        (vec!["Arden Code § 7".to_owned(), "Arden Code § 8.01".into()], vec!["Arden Code § 9".into()])
    );
    assert!(warnings.is_empty(), "{warnings:?}");
    let doubtful = [["7", "§1-101"], ["7", "§1-102"], ["8", "§1-103"], ["9(a)", "§1-101"], ["10", "§§1-101 to 1-102"]];
    let (first, second, warnings) = with_table(&doubtful);
    assert_eq!([first, second], [vec![], Vec::<String>::new()]);
    for what in [
        "'Arden Code § 7' is not used: it is in several rows",
        "'Arden Code § 8' is not used: no provision has the new number",
        "'9(a) | §1-101' of a table of former numbers is not understood",
        "'10 | §§1-101 to 1-102' of a table of former numbers is not understood",
    ] {
        assert!(
            warnings.iter().any(|warning| warning.contains("a.zip!c/table.xml:") && warning.contains(what)),
            "{what}"
        );
    }
    assert_eq!(warnings.len(), 5, "{warnings:#?}");
}
