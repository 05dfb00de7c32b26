//! State codes as HTML: difficult cases in small files, and the whole code of Virginia.

use std::path::Path;

use hornbook_corpus::day::Day;
use hornbook_corpus::layout::LineKind;
use hornbook_corpus::outline::Status;
use hornbook_index_build::content::Content;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::report::WarningKind;
use hornbook_index_build::wording_validity::wordings_of;

use crate::corpora::corpora;
use crate::imported::{Imported, Source, check_damaged, documents, import, import_one};
use crate::state_json::of_plan;
use crate::{golden, state_key_compare};

pub(crate) fn virginia() -> Source<'static> {
    Source {
        format: "state-html",
        key: "va/code",
        code_body: "Code of Virginia",
        citation: Some("Va. Code § {number}"),
        options: toml::from_str("skip = 'constitution'").unwrap(),
    }
}

fn constitution() -> Source<'static> {
    Source {
        key: "va/const",
        code_body: "Constitution of Virginia",
        citation: Some("Va. Const. {container}, § {number}"),
        options: toml::Table::new(),
        ..virginia()
    }
}

const TITLE: &str = r##"<html><head><title>X</title></head><body><h1 class="title">Title 9. Ways.</h1>
<nav><ul><li><a href="#x">Chapter 1. Roads.</a></li></ul></nav><main>
<div><h2 class="oneh2" id="c1"><b>Chapter 1. Roads.</b></h2><nav><ul><li>§ 9-1. Again.</li></ul></nav>
<p><b>Editor’s note.</b></p><p>Of the chapter.</p>
<div><h3 id="s9-1"><b>§ 9-1. Who may pass.</b></h3>
<ol type="A"><li>All may pass: <ol><li>on foot <cite><a href="#y">9-2</a></cite>;</li><li value="4">by cart.</li></ol></li><li>None may stay.</li></ol>
<p><b>History.</b> 1990, c. 1.</p>
<p><b>Cross references.</b></p><p>See 9-2.</p>
<h4>CASE NOTES</h4><p>Held so.</p></div>
<h3 id="s9-2">§§ 9-2 through 9-4. Repealed by Acts 1991, c. 2.</h3>
<p><b>Editor’s note.</b></p><p>Former 9-2.</p>
<h3 id="s9-5a">§ 9-5. (Effective until July 1, 2022) Tolls.</h3><p>One.</p><p><b>History.</b> 1990.</p>
<h3 id="s9-5b">§ 9-5. (Effective July 1, 2022) Tolls.</h3><p>Two.</p><p><b>History.</b> 1990; 2022.</p>
</div>
<h2 class="twoh2">Article 1. Bridges.</h2><h3 id="s9-6">§ 9-6. [Reserved.]</h3>
<h3 id="s9-7">§ 9-7. Compact.</h3><h4>Article I.</h4><p>They agree.</p>
<h2 class="oneh2">Chapter 2. Rivers.</h2><h3 id="s9-8">§ 9-8. Fish.</h3><p>Free.</p><p>Stray words
</main></body></html>"##;

fn small() -> Imported {
    import_one("t9.html", TITLE, &virginia())
}

#[test]
fn list_positions_become_labels_and_annotations_notes() {
    let imported = small();
    let node = imported.node("va/code/s9-1");
    assert_eq!(node.text.as_deref(), Some("A. All may pass:\n1. on foot 9-2;\n4. by cart.\nB. None may stay."));
    assert_eq!(node.layout.lines.iter().map(|line| line.depth).collect::<Vec<_>>(), [0, 1, 1, 0]);
    assert_eq!((node.heading.as_str(), node.source_credit.as_deref()), ("Who may pass.", Some("1990, c. 1.")));
    let notes: Vec<_> = node.notes.iter().map(|note| (note.topic.as_str(), note.text.as_str())).collect();
    assert_eq!(notes, [("Cross references.", "See 9-2."), ("CASE NOTES", "Held so.")]);
}

#[test]
fn an_item_that_is_printed_twice_is_read_once_with_a_warning() {
    let mut source = virginia();
    source.options.insert("label".to_owned(), "({})".into());
    let item = "<ol><li>It is <i>free</i> for all.\n (a) (1) It is <i>free</i> for all.</li></ol>";
    let imported = import_one("t9.html", &TITLE.replace("<p>Free.</p>", item), &source);
    let node = imported.node("va/code/s9-8");
    assert_eq!(node.text.as_deref(), Some("(1) It is free for all.\nStray words"));
    assert_eq!((node.layout.lines.len(), node.layout.marks.len()), (2, 1));
    assert_eq!(imported.counts.get(&WarningKind::RepeatedText), Some(&1));
}

#[test]
fn what_the_page_has_in_place_of_an_image_is_one() {
    let source = virginia();
    let document = TITLE.replace("<p>Free.</p>", "<ol><li>Free:<p>Click to view</p></li></ol><p>Click to view it.</p>");
    let imported = import_one("t9.html", &document, &source);
    let node = imported.node("va/code/s9-8");
    assert_eq!(node.text.as_deref(), Some("1. Free:\nClick to view\nClick to view it.\nStray words"));
    let kinds: Vec<_> = node.layout.lines.iter().map(|line| line.kind() == Some(LineKind::Image)).collect();
    assert_eq!(kinds, [false, true, false, false]);
}

#[test]
fn ranges_are_found_by_each_number_and_wordings_joined() {
    let imported = small();
    let range = imported.node("va/code/s9-2");
    assert_eq!((range.heading.as_str(), range.text.as_deref()), ("Repealed by Acts 1991, c. 2.", Some("")));
    assert_eq!(
        (range.status, range.parallel_citations.join(",").as_str()),
        (Some(Status::Repealed), "Va. Code § 9-3,Va. Code § 9-4")
    );
    let two = imported.node("va/code/s9-5");
    let two: Vec<_> = std::iter::once(two).chain(&two.wordings).collect();
    let said = two.iter().map(|one| (one.text.as_deref(), one.effect.from.as_deref(), one.effect.to.as_deref()));
    let day = Some("2022-07-01");
    assert_eq!(said.collect::<Vec<_>>(), [(Some("One."), None, day), (Some("Two."), day, None)]);
    assert_eq!(imported.count(WarningKind::SecondWording), 1);
    assert_eq!(imported.node("va/code/s9-6").status, Some(Status::Reserved));
    // A heading within the law does not end it.
    assert_eq!(imported.node("va/code/s9-7").text.as_deref(), Some("Article I.\nThey agree."));
}

#[test]
fn containers_come_from_classes() {
    let imported = small();
    let order: Vec<_> = imported.nodes.iter().map(|(key, _, depth)| (key.as_str(), *depth)).collect();
    let expected = [
        ("va/code/t9", 0),
        ("va/code/t9/ch1", 1),
        ("va/code/s9-1", 2),
        ("va/code/s9-2", 2),
        ("va/code/s9-5", 2),
        ("va/code/t9/ch1/art1", 2),
        ("va/code/s9-6", 3),
        ("va/code/s9-7", 3),
        ("va/code/t9/ch2", 1),
        ("va/code/s9-8", 2),
    ];
    assert_eq!(order, expected);
    assert_eq!(imported.node("va/code/t9/ch1").notes[0].text, "Of the chapter.");
    assert_eq!(imported.node("va/code/s9-8").text.as_deref(), Some("Free.\nStray words"));
}

#[test]
fn a_source_credit_without_bold_ends_the_law_too() {
    let html = "<h1>Title 9. Ways.</h1><h3>§ 9-1. Carts.</h3><p>Carts stop.</p><p>History. 1990, c. 1, § <a href=x>9-2</a>.</p>
        <p><b>Stops.</b></p><p>Held so.</p><h3>§ 9-2. Past.</h3><p>History is taught.</p><p><b>History.</b> 1991.</p>";
    let imported = import_one("t9.html", html, &virginia());
    let carts = imported.node("va/code/s9-1");
    assert_eq!(
        (carts.text.as_deref(), carts.source_credit.as_deref()),
        (Some("Carts stop."), Some("1990, c. 1, § 9-2."))
    );
    assert_eq!(carts.notes[0].text, "Held so.");
    assert_eq!(imported.node("va/code/s9-2").text.as_deref(), Some("History is taught."));
}

#[test]
fn a_source_credit_in_parentheses_ends_the_law_of_older_releases() {
    let html = "<h1>Title 9. Ways.</h1><h3>§ 9-1. Carts.</h3><ol type=A><li>Carts stop (1950 carts too).</li>
        <li>All do. (Code 1950, § 9-3; 1984, c. 611 (part); 2012, cc. 78, 84.)</li></ol><p>The 2012 amendments. - All new.</p>
        <p><b>Michie's Jurisprudence.</b> - See Carts.</p>
        <h3>§ 9-2. Past.</h3><p>It is past.</p><p>(1930, p. 5.)</p>
        <h3>§ 9-3. Repealed by Acts 1995.</h3><p>Editor's note. - Former § 9-3 was of 1930.</p>";
    let imported = import_one("t9.html", html, &virginia());
    let carts = imported.node("va/code/s9-1");
    assert_eq!(carts.text.as_deref(), Some("A. Carts stop (1950 carts too).\nB. All do."));
    assert_eq!(carts.layout.check_against_text(carts.text.as_deref().unwrap()), None);
    assert_eq!(carts.source_credit.as_deref(), Some("(Code 1950, § 9-3; 1984, c. 611 (part); 2012, cc. 78, 84.)"));
    assert!(carts.notes[0].text.starts_with("The 2012 amendments. - All new."));
    let past = imported.node("va/code/s9-2");
    assert_eq!((past.text.as_deref(), past.source_credit.as_deref()), (Some("It is past."), Some("(1930, p. 5.)")));
    assert_eq!(past.layout.check_against_text("It is past."), None);
    assert_eq!(imported.node("va/code/s9-3").text.as_deref(), Some(""));
}

#[test]
fn credits_of_older_releases_have_several_forms_and_annotations_before_them() {
    for credit in [
        "( 2005, cc. 497, 588.)",
        "(Code 1950 §§ 15-20.1; 1952, c. 694.)",
        "(R. P. 1948, § 1-2.1.)",
        "(2021 Sp. Sess. I, c. 5.)",
    ] {
        let html = format!(
            "<h1>Title 9. Ways.</h1><h3>§ 9-1. Carts.</h3><ol type=A><li>Carts stop.</li><li>All do.\
             <p><b>Law review.</b> - For carts, see 1 L. Rev. 2.</p></li></ol><p>{credit}</p>"
        );
        let imported = import_one("t9.html", &html, &virginia());
        let carts = imported.node("va/code/s9-1");
        assert_eq!(
            (carts.text.as_deref(), carts.source_credit.as_deref()),
            (Some("A. Carts stop.\nB. All do."), Some(credit))
        );
        let note = &carts.notes[0];
        assert_eq!((note.topic.as_str(), note.text.as_str()), ("Law review", "For carts, see 1 L. Rev. 2."));
    }
}

/// If the program that generated an older release moved a list or a form behind the credit, it is still law.
#[test]
fn law_behind_its_source_credit_stays_law() {
    let html = "<h1>Title 9. Ways.</h1><h3>§ 9-1. Carts.</h3><ol type=A><li>A cart stops for:</li>
        <li>All <i>others</i> do not. (1984, c. 611.)</li></ol><ol type=1><li>cows;</li><li><b>geese</b>.</li></ol>
        <p><b>Law review. </b>- For carts, see 1 L. Rev. 2.</p><p>More on carts.</p>
        <h3>§ 9-2. Form.</h3><p>(Acts 2019, c. 297.)</p><p>Name: ____</p><p>Applied in Cart v. Cow, 1 Va. 2 (2020).</p>
        <h3>§ 9-3. Old.</h3><p>It was.</p><p>(1930, p. 5.)</p><p>The 1999 amendment added it.</p>
        <h3>§ 9-4. Kept.</h3><p>It goes on.</p><p>The number of this section was assigned by the Virginia Code Commission, the 1956 act having assigned no number.</p>";
    let imported = import_one("t9.html", html, &virginia());
    let node = |number: &str| imported.node(&format!("va/code/s{number}"));
    let carts = node("9-1");
    let text = carts.text.as_deref().unwrap();
    assert_eq!(text, "A. A cart stops for:\nB. All others do not.\n1. cows;\n2. geese.");
    assert_eq!((carts.layout.check_against_text(text), carts.layout.lines.len()), (None, 4));
    let marked: Vec<_> =
        carts.layout.marks.iter().map(|mark| &text[mark.start as usize..][..mark.length as usize]).collect();
    assert_eq!(marked, ["others", "geese"]);
    assert_eq!((carts.source_credit.as_deref(), carts.notes.len()), (Some("(1984, c. 611.)"), 1));
    let form = node("9-2");
    assert_eq!((form.text.as_deref(), form.layout.lines.len()), (Some("Name: ____"), 1));
    assert_eq!(form.source_credit.as_deref(), Some("(Acts 2019, c. 297.)"));
    let texts = ["9-3", "9-4"].map(|number| node(number).text.as_deref());
    assert_eq!((texts, node("9-4").notes.len()), ([Some("It was."), Some("It goes on.")], 1));
}

/// Other releases of the family have other classes and credits, which the plan defines.
/// Forms of Colorado, Kentucky, Alaska and Rhode Island, as whole releases of these codes have them.
#[test]
fn other_states_write_credits_remarks_and_labels_in_their_own_ways() {
    let source = Source {
        options: toml::from_str(
            r#"section = '^(?:Sec\. )?(\d[\w.-]*?)\.?(?: |$)'
            credit = '^(?:Source:|History\.)'
            label = '({})'"#,
        )
        .unwrap(),
        ..virginia()
    };
    let html = "<h1>Title 9</h1>
        <h3>9-1. Fees.</h3><p>Paid.</p><p>Source: L. 96: Entire section added, p. 1, § 2.</p>
        <h3>9-2. Rolls.</h3><p>Kept.</p><p><b>History.</b> 186m.</p><h4>NOTES</h4><p>Old.</p>
        <h3>9-3. Competition.</h3><p><b>History.</b> <i>[Repealed, § 15 ch 24 SLA 2019.]</i></p>
        <h3>Sec. 9-4. Labels.</h3>
        <ol type=a><li id=s9-4ol1e>E.<li id=s9-4ol1-e.5>Between.<li id=s9-4ol1f>(1.5) (f) Printed.</ol>
        <h3>9-5. [Repealed effective January 1, 2023.]</h3><p><b>History.</b> 1990; repealed by P.L. 2022, ch. 1.</p>
        <h3>9-6. Law.</h3><p><b>History.</b> C. 12, s. 3.</p><p>They are law.</p>
        <h3>9-7. Rolls.</h3><p>Kept.</p><p>History. The board keeps 2 rolls.</p>";
    let imported = import_one("t9.html", html, &source);
    let node = |number: &str| imported.node(&format!("va/code/s{number}"));
    let parts = |number: &str| (node(number).text.clone().unwrap(), node(number).source_credit.clone());
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(parts("9-1"), ("Paid.".to_owned(), some("L. 96: Entire section added, p. 1, § 2.")));
    assert_eq!(parts("9-2"), ("Kept.".to_owned(), some("186m.")));
    assert_eq!(parts("9-3"), (String::new(), some("[Repealed, § 15 ch 24 SLA 2019.]")));
    assert_eq!(node("9-3").status, Some(Status::Repealed));
    assert_eq!(parts("9-4").0, "(e) E.\n(e.5) Between.\n(1.5) (f) Printed.");
    let gone = node("9-5");
    assert_eq!((gone.status, gone.effect.from.as_deref()), (Some(Status::Repealed), Some("2023-01-01")));
    assert_eq!(parts("9-6").0, "History. C. 12, s. 3.\nThey are law.", "what follows is law");
    assert_eq!(parts("9-7").0, "Kept.\nHistory. The board keeps 2 rolls.", "a sentence is law");
    assert_eq!(imported.count(WarningKind::DoubtfulEnd), 2, "both are named");
    assert_eq!(imported.count(WarningKind::EmptyProvision), 0);
}

#[test]
fn levels_credit_and_labels_are_options() {
    let options = "levels = ['ch']\ncredit = '^Source:'\nlabel = '({})'\nsection = '^Sec\\. (\\d+)\\.'";
    let source = Source { options: toml::from_str(options).unwrap(), ..virginia() };
    let html = "<h1>TITLE 1</h1><h2 class=ch>CHAPTER 1 - A</h2><h3>Sec. 12. Fees.</h3><ol type=a><li>Pay.</ol><p><b>Source:</b> 1.</p>";
    let imported = import_one("w.html", html, &source);
    let node = imported.node("va/code/s12");
    assert_eq!((node.text.as_deref(), node.source_credit.as_deref()), (Some("(a) Pay."), Some("1.")));
    assert_eq!(imported.nodes[1].0, "va/code/t1/ch1");
}

/// A source credit precedes all annotations and names the year of an act.
#[test]
fn law_that_begins_like_annotations_or_a_credit_stays_law() {
    let html = "<h1>Title 9. Ways.</h1><h3>§ 9-1. Carts.</h3>\n<p>Carts stop.</p>\n<p><b>Effective date.</b></p><p>Now.</p>
        <p><b>History.</b> of carts is kept.</p><p>All do.</p><p><b>History.</b> 1990, c. 1.</p><p><b>Editor’s note.</b></p><p>New.</p>
        <h3>§ 9-2. Past.</h3><p>It was.</p><h4>CASE NOTES</h4><p><b>History.</b> 1930.</p>
        <h3>§ 9-3. Inns.</h3><p>Inns have beds.</p><p><b>Effective date.</b></p><ol type=a><li>A bed is free.</li></ol>";
    let imported = import_one("t9.html", html, &virginia());
    let carts = imported.node("va/code/s9-1");
    assert_eq!(carts.text.as_deref(), Some("Carts stop.\nEffective date.\nNow.\nHistory. of carts is kept.\nAll do."));
    assert_eq!((carts.source_credit.as_deref(), carts.notes.len()), (Some("1990, c. 1."), 1));
    let doubts: Vec<_> = imported.warnings.iter().filter(|own| own.kind == WarningKind::DoubtfulEnd).collect();
    let reported: Vec<_> = doubts.iter().map(|own| own.to_string()).collect();
    assert_eq!(
        reported,
        [
            "t9.html:3: 'Effective date.' begins like annotations, but the source credit comes later; it is kept as law",
            "t9.html:4: 'History. of carts is kept.' begins like a source credit, but names no year; it is kept as law",
            "t9.html:6: 'Effective date.' begins like annotations without a source credit before it, but labelled paragraphs follow; they are kept as notes",
        ]
    );
    // Under a heading that begins annotations, it is an annotation.
    let past = imported.node("va/code/s9-2");
    assert_eq!((past.text.as_deref(), past.source_credit.as_deref()), (Some("It was."), None));
}

#[test]
fn sections_have_the_time_that_their_container_names() {
    let html = "<h1>Title 9. Ways.</h1><h2 class=oneh2>Chapter 3. Inns. (Effective until July 1, 2025)</h2>\
                <h3>§ 9-9. Beds.</h3><p>Two to a room.</p><h3>§ 9-10. (Expires May 1, 2020) Stables.</h3><p>Hay.</p>\
                <h3>§ 9-11. (Effective January 1, 2023) Mangers.</h3><p>Oats.</p>\
                <h2 class=oneh2>Chapter 3. Inns. (Effective July 1, 2025)</h2><h3>§ 9-9. Beds.</h3><p>One to a room.</p>";
    let imported = import_one("t9.html", html, &virginia());
    let days = |key: &str| -> Vec<_> {
        let wordings = wordings_of(imported.node(key).clone(), Day::LAST).into_iter().map(|(_, wording)| wording);
        wordings.map(|Content { text, effect, .. }| (text.unwrap(), effect.from, effect.to)).collect()
    };
    let day = || Some("2025-07-01".to_owned());
    let beds = [("Two to a room.".to_owned(), None, day()), ("One to a room.".to_owned(), day(), None)];
    assert_eq!(days("va/code/s9-9"), beds);
    assert_eq!(days("va/code/s9-10"), [("Hay.".to_owned(), None, Some("2020-05-01".to_owned()))], "its own remark");
    assert_eq!(days("va/code/s9-11"), [("Oats.".to_owned(), Some("2023-01-01".to_owned()), day())], "both");
}

/// Links in the pages of these releases have a line break before and after them.
#[test]
fn line_breaks_at_links_part_no_punctuation() {
    let html = "<h1>Title 9. Ways.</h1><h3>§ 9-1. Notice.</h3><p>\n As § \n<cite>\n<a href=x>\n9-2\n</a>\n</cite>\n.The tenant\n (\n<i>\nall\n</i>\n), so\n</p>";
    let imported = import_one("t9.html", html, &virginia());
    assert_eq!(imported.node("va/code/s9-1").text.as_deref(), Some("As § 9-2. The tenant (all), so"));
}

#[test]
fn elements_that_html_has_not_are_kept_and_named_once_a_file() {
    let html = "<h1>Title 9. Ways.</h1><h3>§ 9-1. Carts.</h3>\n<p>Carts <law>stop <law>here</law></law>.</p><rule>All do.</rule>";
    let imported = import_one("t9.html", html, &virginia());
    assert_eq!(imported.node("va/code/s9-1").text.as_deref(), Some("Carts stop here.\nAll do."));
    let reported: Vec<_> = imported.warnings.iter().map(|own| own.to_string()).collect();
    assert_eq!(
        reported,
        ["law", "rule"].map(|name| format!("t9.html:2: HTML has no element '{name}'; its words are kept as text"))
    );
}

#[test]
fn articles_of_a_constitution_count_their_sections() {
    let html = "<h1>Constitution</h1><h2 class=oneh2>Article I. Rights.</h2><h3>§ 1. People.</h3><p>All.</p>\
                <h2 class=oneh2>Article II. Votes.</h2><h3>§ 1. Voters.</h3><p>Some.</p>\
                <h2 class=oneh2>Schedule</h2><h3>§ 1. When.</h3><p>Now.</p>";
    let imported = import_one("c.html", html, &constitution());
    let cited: Vec<_> =
        imported.provisions().map(|(key, content, _)| (key.as_str(), content.citation.as_str())).collect();
    let expected = [
        ("va/const/constitution/arti/s1", "Va. Const. art. I, § 1"),
        ("va/const/constitution/artii/s1", "Va. Const. art. II, § 1"),
        ("va/const/constitution/schedule/s1", "Va. Const. Schedule, § 1"),
    ];
    assert_eq!(cited, expected);
}

#[test]
fn virginias_constitution_is_read_whole() {
    let Some(corpora) = corpora() else { return };
    let source = constitution();
    let is_it = |path: &str| path.ends_with("constitution.va.html");
    let imported = import(&documents(&corpora.join("va-code-html-2022.tar.zst"), source.format, is_it), &source);
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    assert_eq!((imported.provisions().count(), imported.nodes.len()), (133, 133 + 14));
    assert_eq!(imported.counts.values().sum::<u64>(), 0, "{:?}", imported.warnings);
    let citations = ["Va. Const. art. I, § 1", "Va. Const. art. I, § 8-A", "Va. Const. Schedule, § 1"];
    for citation in citations {
        let found = imported.provisions().find(|(_, content, _)| content.citation == citation);
        assert!(
            found.is_some_and(|(_, content, _)| content.text.as_ref().is_some_and(|text| !text.is_empty())),
            "{citation}"
        );
    }
}

/// A complete release, read by its plan in `corpus/plans/real-files`, if the files are present.
pub(crate) fn release(name: &str) -> Option<Imported> {
    let corpora = corpora()?;
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files");
    let plan: toml::Table = std::fs::read_to_string(plans.join(format!("{name}.toml"))).unwrap().parse().unwrap();
    let archive = corpora.join(plan["source"][0]["path"].as_str().unwrap());
    let source = of_plan(&plan);
    let member = plan["source"][0].get("member").and_then(toml::Value::as_str).unwrap_or_default();
    let imported = import(&documents(&archive, source.format, |path| path.starts_with(member)), &source);
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    Some(imported)
}

/// The number of wordings with a source credit, and of those whose law still has a line that begins with one.
fn credits(imported: &Imported) -> (usize, usize) {
    let begins_credit = |line: &str| ["History:", "History.", "HISTORY:"].iter().any(|lead| line.starts_with(lead));
    let in_law = |own: &&Content| own.text.as_ref().is_some_and(|text| text.lines().any(begins_credit));
    let wordings = || imported.provisions().flat_map(|(_, own, _)| std::iter::once(own).chain(&own.wordings));
    (wordings().filter(|own| own.source_credit.is_some()).count(), wordings().filter(in_law).count())
}

/// The first day of each wording, and the day on which it ends.
fn effects(content: &Content) -> Vec<(Option<&str>, Option<&str>)> {
    let wordings = std::iter::once(content).chain(&content.wordings);
    wordings.map(|own| (own.effect.from.as_deref(), own.effect.to.as_deref())).collect()
}

fn labels(content: &Content) -> Vec<&str> {
    let text = content.text.as_deref().unwrap_or_default();
    text.lines().zip(&content.layout.lines).map(|(line, own)| &line[..own.label_bytes()]).collect()
}

#[test]
fn wyoming_is_read_whole() {
    let Some(imported) = release("wy-statutes-html") else { return };
    assert_eq!(credits(&imported), (15_987, 0));
    assert_eq!([WarningKind::MissingNumber, WarningKind::DoubtfulLabel].map(|kind| imported.count(kind)), [0, 5]);
    // Letters that differ from the positions in the lists: a list skips (i), or one item represents
    // several labels.
    for (number, label, words) in [
        ("6-2-102", "(j)", "Mitigating circumstances"),
        ("31-5-233", "(m)", "Any person eighteen"),
        ("35-8-301", "(e)", "A special cemetery district"),
        ("40-1-109", "(c)", "The secretary shall by regulation"),
    ] {
        let section = imported.node(&format!("wy/stat/s{number}"));
        let place = labels(section).iter().position(|own| *own == label);
        let line = section.text.as_deref().unwrap_or_default().lines().nth(place.unwrap()).unwrap();
        assert!(line[label.len()..].trim_start().starts_with(words), "{number}: {line}");
    }
}

#[test]
fn vermont_is_read_whole() {
    let Some(imported) = release("vt-statutes-html") else { return };
    assert_eq!(credits(&imported), (10_414, 0));
    let letters = imported.node("vt/stat/t16/s706l");
    assert_eq!((letters.heading.as_str(), letters.number.as_deref()), ("Vacancies in district offices.", Some("706l")));
    golden::check("vt", &imported);
}

#[test]
fn damaged_files_are_refused_with_their_place() {
    check_damaged(&Document { place: "t9.html".into(), bytes: TITLE.into() }, &virginia());
    let deep = import_one("d.html", &"<div>".repeat(500), &virginia()).mistakes.to_string();
    assert!(deep.starts_with("d.html:1: elements are nested"), "{deep}");
    let other = import_one("e.html", "<p>no law</p>", &virginia()).mistakes.to_string();
    assert!(other.contains("neither a title (h1) nor a section (h3)"), "{other}");
}

#[test]
fn virginia_is_read_whole() {
    let Some(corpora) = corpora() else { return };
    let source = virginia();
    let documents = documents(&corpora.join("va-code-html-2022.tar.zst"), source.format, |_| true);
    let headings = |picks: fn(&Document) -> bool| -> usize {
        let picked = documents.iter().filter(|document| picks(document));
        picked.map(|document| String::from_utf8_lossy(&document.bytes).matches("<h3").count()).sum()
    };
    assert_eq!(headings(|_| true), 20_227);
    let imported = import(&documents, &source);
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    // Every section is a provision, a wording of one, or an exact repeat.
    let joined = imported.count(WarningKind::SecondWording) + imported.count(WarningKind::RepeatedProvision);
    let of_code = headings(|document| !document.path().contains("constitution"));
    // Eighteen of these headings are in the navigation of a document of title 3.2, which only repeats headings.
    assert_eq!(imported.provisions().count() + joined as usize, of_code - 18);
    let (missing, _) = state_key_compare::keys_that_differ(&corpora.join("va-code.jsonl.zst"), &imported, "va/code");
    // Sections of the constitutions have a plain number, or a number followed by a letter (`8-A`).
    // The odd one was made from `30-19.1, 30-19.1`.
    let is_of_code = |key: &&String| {
        let last = key.rsplit_once('-').map_or("", |(_, last)| last);
        last.starts_with(|c: char| c.is_ascii_digit()) && !key.contains('~') && !key.contains("unnumbered")
    };
    let of_code: Vec<&String> = missing.iter().filter(is_of_code).collect();
    assert_eq!(of_code, ["va/code/s30-19.1-30-19.1"]);
    // Pairs of wordings whose day was in the future.
    let days =
        [("4.1-119", "2024-07-01"), ("5.1-1", "2025-09-01"), ("23.1-815.1", "2026-07-01"), ("28.2-618", "2035-07-01")];
    for (number, day) in days {
        let effects = effects(imported.node(&format!("va/code/s{number}")));
        assert_eq!(effects, [(None, Some(day)), (Some(day), None)], "{number}");
    }
    // From a day until the later of two events: the end is unknown.
    let rent = imported.node("va/code/s55.1-1245");
    assert!(rent.effect.uncertain && rent.wordings.len() == 1 && effects(rent) == [(None, None); 2]);
    golden::check("va", &imported);
}
