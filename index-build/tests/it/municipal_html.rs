//! Municipal codes as HTML: difficult cases in a small file, and the whole code of Spanish Fork.

use hornbook_corpus::layout::{LineKind, MarkKind};
use hornbook_corpus::outline::Status;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::report::WarningKind;

use crate::corpora::corpora;
use crate::imported::{Source, check_damaged, documents, import, import_one};
use crate::{golden, state_key_compare};

pub(crate) fn spanish_fork() -> Source<'static> {
    Source {
        format: "municipal-html",
        key: "ut-spanish-fork/code",
        code_body: "Spanish Fork Municipal Code",
        citation: Some("Spanish Fork Mun. Code § {number}"),
        options: toml::from_str("skip = '/public-works/'").unwrap(),
    }
}

const TITLE: &str = r#"<!DOCTYPE html><body><header><h1>Title 5 - Shops</h1><nav>Contents</nav></header>
<section id="5_04_010"><h3>5.04.010 Licence</h3></section>
<section id="5_04_020"><h3>5.04.020 Gone</h3></section>
<section id="5_04_010"><h3>5.04.010 Licence</h3><p>All must have one:</p><ul><li>bakers</li></ul>
<dl class="definitions"><dt><dfn>Shop</dfn></dt><dd>a room.</dd></dl>
<table><tr><th>Kind</th><th>Fee</th></tr><tr><td>Small</td><td>1</td></tr></table>
<p>(Ord. No. 07-93, Amended 08/04/1993)</p><p>(Ord. No. 09-93, Amended 11/03/1993)</p></section>
<section id="5_04_030"><h3>5.04.030 Appeals</h3><p>To the council.</p><h4>History</h4><ul><li>Ord. 24-2023 on 12/12/2023</li></ul></section>
</body>"#;

#[test]
fn lists_of_contents_are_dropped_and_ordinances_are_the_credit() {
    let imported = import_one("a.html", TITLE, &spanish_fork());
    let node = imported.node("ut-spanish-fork/code/s5.04.010");
    assert_eq!(node.text.as_deref(), Some("All must have one:\nbakers\nShop a room.\nKind\tFee\nSmall\t1"));
    assert_eq!(node.layout.lines[3].kind(), Some(LineKind::TableHead));
    assert_eq!(
        node.source_credit.as_deref(),
        Some("(Ord. No. 07-93, Amended 08/04/1993) (Ord. No. 09-93, Amended 11/03/1993)")
    );
    let appeals = imported.node("ut-spanish-fork/code/s5.04.030");
    assert_eq!(
        (appeals.text.as_deref(), appeals.source_credit.as_deref()),
        (Some("To the council."), Some("Ord. 24-2023 on 12/12/2023"))
    );
    // A section that occurs only in the list is kept, with a warning that it is empty.
    assert_eq!((imported.provisions().count(), imported.count(WarningKind::EmptyProvision)), (3, 1));
    assert_eq!(imported.nodes[0].0, "ut-spanish-fork/code/t5");
}

#[test]
fn a_line_of_contents_may_have_a_history_and_resolutions_are_credits() {
    let html = "<h1>Title 5 - Shops</h1><section><h3>5.04.010 Hens</h3></section>
        <section><h3>5.04.020 Sites</h3><p>HISTORY</p><p>Adopted by Ord. 19-19 on 9/2/2019</p></section>
        <section><h3>5.04.010 Hens</h3><p>They lay.</p><p>(Res. No. 15-17, Enacted 11/03/2015)</p></section>
        <section><h3>5.04.020 Sites</h3><p>A plan.</p><p>(ORD 15-19, amended 11/05/2019)</p></section>
        <section><h3>5.04.030 Geese</h3><p>HISTORY</p><p>Repealed by Ord. 19-19 on 9/2/2019</p></section>
        <section><h3>5.04.030 Geese</h3><p>They cackle.</p></section>
        <section><h3>5.04.040 Lost</h3><p>HISTORY</p><p>Adopted by Ord. 19-19 on 9/2/2019</p></section>";
    let imported = import_one("a.html", html, &spanish_fork());
    let node = |number: &str| imported.node(&format!("ut-spanish-fork/code/s{number}"));
    let (hens, sites) = (node("5.04.010"), node("5.04.020"));
    assert_eq!(hens.source_credit.as_deref(), Some("(Res. No. 15-17, Enacted 11/03/2015)"));
    assert_eq!((sites.text.as_deref(), sites.wordings.len()), (Some("A plan."), 0));
    assert_eq!(sites.source_credit.as_deref(), Some("(ORD 15-19, amended 11/05/2019)"));
    assert_eq!(node("5.04.030").wordings.len(), 1, "a repeal is no line of contents");
    assert_eq!((node("5.04.040").text.as_deref(), imported.count(WarningKind::EmptyProvision)), (Some(""), 1));
}

#[test]
fn labels_in_words_nest_where_the_file_has_no_lists() {
    let html = |law: &str| format!("<h1>Title 5 - Shops</h1><section><h3>5.04.010 Trees</h3>{law}</section>");
    let places = |law: &str| {
        let imported = import_one("a.html", &html(law), &spanish_fork());
        let node = imported.node("ut-spanish-fork/code/s5.04.010");
        node.layout.lines.iter().map(|line| (line.depth, line.label_bytes())).collect::<Vec<_>>()
    };
    let law = "<p>A.   Intent</p><p>Trees are planted.</p><p>B.  Design</p><p>1. Small:</p><p>a. oak</p><p>b. elm</p><p>2. Large.</p>";
    let nested = [(0, 2), (1, 0), (0, 2), (1, 2), (2, 2), (2, 2), (1, 2)];
    assert_eq!(places(law), nested);
    let table = format!("{law}<table><tr><td>1</td></tr></table>");
    assert_eq!(places(&table)[..7], nested);
    assert_eq!(places("<p>A. Intent</p><ol><li>oak</li></ol>"), [(0, 0), (0, 2)]);
    assert_eq!(places("<p>Trees.</p>").iter().filter(|place| **place != (0, 0)).count(), 0);
}

#[test]
fn terms_captions_and_heads_are_marked_and_a_section_must_begin_with_its_heading() {
    let html = "<h1>Title 5 - Shops</h1><section><h3>5.04.010 Shops</h3><dl><dt>Shop</dt><dd>a room.</dd></dl>
        <table><caption>Fees</caption><tr><td>1</td></tr></table></section>";
    let imported = import_one("a.html", html, &spanish_fork());
    let node = imported.node("ut-spanish-fork/code/s5.04.010");
    let kinds: Vec<_> = node.layout.lines.iter().map(|line| line.kind().unwrap()).collect();
    assert_eq!(kinds, [LineKind::Paragraph, LineKind::TableNote, LineKind::TableRow]);
    let marks: Vec<_> = node.layout.marks.iter().map(|mark| (mark.kind().unwrap(), mark.start, mark.length)).collect();
    assert_eq!(marks, [(MarkKind::RunInHeading, 0, 4)]);
    let bare = import_one("a.html", &html.replace("h3", "h5"), &spanish_fork()).mistakes.to_string();
    assert!(bare.starts_with("a.html:1: this section does not begin with an h3"), "{bare}");
}

/// Where the publisher's page had the heading of a chapter between two sections, it became part of
/// the first one.
#[test]
fn headings_of_chapters_and_histories_without_headings_are_no_law() {
    let html = "<h1>Title 14 - Houses</h1><section><h3>14.12.010 Pipes</h3></section>
        <section><h3>14.08.080 Walls</h3><p>They stand.</p><p>(Ord No. 9-5, Amended 07/05/2005)</p><p>14.12 Plumbing Code</p></section>
        <section><h3>14.12.010 Pipes</h3><p>They run.</p><p>(Ord. No. 1-1)</p><p>HISTORY</p><p>Adopted by Ord. 12-22</p></section>
        <section><h3>14.16.010 Wires</h3><p>See</p><p>14.16 Wires And Poles</p></section>";
    let imported = import_one("a.html", html, &spanish_fork());
    let order: Vec<_> =
        imported.nodes.iter().map(|(key, _, depth)| (&key["ut-spanish-fork/code/".len()..], *depth)).collect();
    assert_eq!(
        order,
        [("t14", 0), ("s14.08.080", 1), ("t14/14.12-plumbing-code", 1), ("s14.12.010", 2), ("s14.16.010", 1)]
    );
    let (walls, pipes) =
        (imported.node("ut-spanish-fork/code/s14.08.080"), imported.node("ut-spanish-fork/code/s14.12.010"));
    assert_eq!(
        (walls.text.as_deref(), walls.source_credit.as_deref()),
        (Some("They stand."), Some("(Ord No. 9-5, Amended 07/05/2005)"))
    );
    assert_eq!(
        (pipes.text.as_deref(), pipes.source_credit.as_deref()),
        (Some("They run."), Some("(Ord. No. 1-1) Adopted by Ord. 12-22"))
    );
    // A section may refer to its own chapter.
    assert_eq!(imported.node("ut-spanish-fork/code/s14.16.010").text.as_deref(), Some("See\n14.16 Wires And Poles"));
}

/// A heading that no section follows is kept as text, and the heading of a repealed chapter as a container.
#[test]
fn headings_of_parts_and_of_chapters_without_sections_are_not_lost() {
    let html = "<h1>Title 15 - Land</h1>
        <section><h3>15.2.04.010 Maps</h3><p>They show.</p><p>15.2.08 Plans</p><h4>Part 3 Zones</h4><p>15.3.04 Use</p>
        <p>15.3.08 Signs</p><p>15.3.12 Lamps (Repealed)</p><p>15.3.04 Use</p></section>
        <section><h3>15.3.04.010 Fields</h3><p>They rest.</p><p>15.3.16 Stones</p></section>
        <section><h3>15.3.08.010 Boards</h3><p>They hang.</p></section>";
    let imported = import_one("a.html", html, &spanish_fork());
    let order: Vec<_> =
        imported.nodes.iter().map(|(key, _, depth)| (&key["ut-spanish-fork/code/".len()..], *depth)).collect();
    let part = [
        ("t15/pt3", 1),
        ("t15/pt3/15.3.04-use", 2),
        ("s15.3.04.010", 3),
        ("t15/pt3/15.3.08-signs", 2),
        ("s15.3.08.010", 3),
        ("t15/pt3/15.3.12-lamps-repealed", 2),
    ];
    assert_eq!(order, [[("t15", 0), ("s15.2.04.010", 1)].as_slice(), &part].concat());
    let text = |number: &str| imported.node(&format!("ut-spanish-fork/code/s{number}")).text.as_deref();
    assert_eq!(text("15.2.04.010"), Some("They show.\n15.2.08 Plans"));
    assert_eq!(text("15.3.04.010"), Some("They rest.\n15.3.16 Stones"));
    let gone = imported.node("ut-spanish-fork/code/t15/pt3/15.3.12-lamps-repealed");
    assert_eq!((gone.status, gone.text.as_deref()), (Some(Status::Repealed), None));
}

#[test]
fn a_section_without_text_has_the_status_that_its_acts_say() {
    let html = "<h1>Title 8 - Waste</h1>
        <section><h3>8.04.010 Bins</h3><p>(Ord. No. 9-95, Repealed & Reenacted 06/07/1995)</p><p>(Ord No. 12-15, Repealed 06/16/2015)</p></section>
        <section><h3>8.04.020 Boards (Reserved)</h3></section>
        <section><h3>8.04.030 Lids</h3><p>HISTORY</p><p>Adopted by Ord. 25-19 on 11/4/2019</p></section>
        <section><h3>8.04.040 Carts</h3><p>Closed.</p><p>(Ord. No. 1-1, Repealed; Re-enacted 09/03/2013)</p></section>";
    let kept = format!(
        "<section><h3>8.04.050 Repealed 07-16-2024 Sacks</h3><p>{}</p></section>",
        "They hold waste. ".repeat(30)
    );
    let named = format!("<section><h3>8.04.060 Reserved Names</h3><p>{}</p></section>", "A name is kept. ".repeat(30));
    let shouted = "<section><h3>8.04.070 REPEALED Board of Hens</h3></section>";
    let imported = import_one("a.html", &format!("{html}{kept}{named}{shouted}"), &spanish_fork());
    let statuses: Vec<_> = imported.provisions().map(|(_, content, _)| content.status.unwrap()).collect();
    assert_eq!(
        statuses,
        [
            Status::Repealed,
            Status::Reserved,
            Status::InForce,
            Status::InForce,
            Status::Repealed,
            Status::InForce,
            Status::Repealed
        ]
    );
    assert_eq!(imported.count(WarningKind::EmptyProvision), 1);
}

#[test]
fn damaged_files_are_refused_with_their_place() {
    check_damaged(&Document { place: "a.html".into(), bytes: TITLE.into() }, &spanish_fork());
    let bad = TITLE.replace("<h3>5.04.030 Appeals</h3>", "<h3>Appeals</h3>");
    let message = import_one("a.html", &bad, &spanish_fork()).mistakes.to_string();
    assert!(message.starts_with("a.html:8: 'Appeals' does not match the option 'section'"), "{message}");
}

#[test]
fn spanish_fork_is_read_whole() {
    let Some(corpora) = corpora() else { return };
    let source = spanish_fork();
    let archive = corpora.join("spanish-fork-ut-code-html-2024.tar.zst");
    let imported = import(&documents(&archive, source.format, |_| true), &source);
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    // 901 sections with text or history, of which six are repeated word for word and two are lines of contents with a
    // history; and five without text.
    assert_eq!(imported.provisions().count(), 901 - 6 - 2 + 5);
    let counts = [WarningKind::RepeatedProvision, WarningKind::SecondWording, WarningKind::EmptyProvision];
    // 8.20.020 is missing in the source.
    assert_eq!(counts.map(|kind| imported.count(kind)), [6, 0, 1]);
    let with_status = |status| imported.provisions().filter(|(_, content, _)| content.status == Some(status)).count();
    assert_eq!([Status::Repealed, Status::Reserved].map(with_status), [61, 8]);
    // Five repealed chapters of title 2 without sections.
    let bare = imported
        .nodes
        .iter()
        .filter(|(_, content, _)| content.text.is_none() && content.status == Some(Status::Repealed));
    assert_eq!(bare.count(), 5);
    let (missing, extra) =
        state_key_compare::keys_that_differ(&corpora.join("ut-spanish-fork-code.jsonl.zst"), &imported, source.key);
    let without_text = ["15.3.20.020", "15.3.20.030", "7.12.040", "7.28.120", "8.20.020"];
    assert_eq!((missing, extra), (vec![], without_text.map(|number| format!("{}/s{number}", source.key)).to_vec()));
    golden::check("ut-spanish-fork", &imported);
}
