//! The ready plans for releases and copies of state codes, each tested on a small file in the
//! format of its state.

use std::path::Path;

use hornbook_corpus::outline::Status;
use hornbook_index_build::content::Content;
use hornbook_index_build::report::WarningKind;

use crate::imported::{Imported, Source, import_one};
use crate::state_json::chapter;

fn plan(name: &str) -> toml::Table {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/fetched");
    toml::from_str(&std::fs::read_to_string(plans.join(format!("{name}.toml"))).unwrap()).unwrap()
}

/// The source of a plan with the law of a jurisdiction.
fn of_plan<'p>(plan: &'p toml::Table, jurisdiction: &str) -> Source<'p> {
    let mut sources = plan["source"].as_array().unwrap().iter();
    let source = sources.find(|source| source["jurisdiction"].as_str() == Some(jurisdiction)).unwrap();
    let text = |name: &str| source[name].as_str().unwrap();
    Source {
        format: text("format"),
        key: text("key"),
        code_body: text("code_body"),
        citation: Some(text("citation")),
        options: source.get("options").and_then(toml::Value::as_table).cloned().unwrap_or_default(),
    }
}

/// Reads a document with the ready plan of an annotated state code.
pub(crate) fn annotated(state: &str, html: &str) -> Imported {
    let plan = plan(&format!("{state}-code-unicourt"));
    import_one("title.html", html, &of_plan(&plan, &state.to_uppercase()))
}

/// Reads a chapter with the ready plan of statutes as JSON.
pub(crate) fn statutes(jurisdiction: &str, path: &str, entries: &[(&str, &str, &str)]) -> Imported {
    statutes_of(jurisdiction, &chapter(path, entries))
}

/// The same for a whole document.
pub(crate) fn statutes_of(jurisdiction: &str, json: &str) -> Imported {
    import_one("content/a.json", json, &of_plan(&plan("states-statutes-json"), jurisdiction))
}

/// The formats of releases that were never built completely: section headings, list labels, the
/// starts of credits and annotations, and the statuses of sections not in force.
#[test]
fn each_untried_plan_reads_the_form_of_its_state() {
    let lists = "<ol><li>One:<ol type=a><li>Two:<ol><li>Three.</ol></ol></ol>";
    let lettered = "<ol type=a><li>One:<ol><li>Two:<ol type=A><li>Three.</ol></ol></ol>";
    let parenthesised = "(1) One:\n(a) Two:\n(1) Three.";
    let states = [
        (
            "ak",
            "Sec. 01.05.006. Dogs.",
            lettered,
            "<b>History.</b> (§ 1 ch 1 SLA 1963)",
            "<p><b>Cross references. —</b></p>",
            "Sec. 01.05.010. Cats. [Repealed, § 2 ch 1 SLA 1963.]",
        ),
        (
            "co",
            "1-1-301. Dogs.",
            lists,
            "<b>Source:</b> <b>L. 2005:</b> Added.",
            "<p><b>Cross references:</b> For cats.</p>",
            "1-1-401 to 1-1-403. (Repealed)",
        ),
        (
            "ga",
            "1-2-1. Dogs.",
            lettered,
            "<b>History.</b> Orig. Code 1863, § 1582.",
            "<p><b>Editor’s notes.</b></p>",
            "1-2-2. Repealed by Ga. L. 1984.",
        ),
        (
            "ky",
            "1.300. Dogs.",
            lists,
            "<b>HISTORY:</b> 2019 ch. 141, § 1.",
            "<h4><b>NOTES TO DECISIONS</b></h4>",
            "2.115. Cats. [Repealed.]",
        ),
        (
            "ms",
            "§ 1-1-9. Dogs.",
            lists,
            "HISTORY: \nLaws, 1999, ch. 310, § 2.",
            "<h4><b>Cross References —</b></h4>",
            "§ 1-1-10. Repealed.",
        ),
        (
            "nd",
            "1-01-01.1. Dogs.",
            lists,
            "<b>Source:</b> R.C. 1943, § 1-0101.",
            "<p><b>Derivation:</b></p>",
            "1-01-43. Cats. [Repealed]",
        ),
        (
            "ri",
            "1-2-2. Dogs.",
            lettered,
            "History of Section. P.L. 1929, ch. 1353, § 2.",
            "<h4><b>Compiler's Notes.</b></h4>",
            "1-2-5. Repealed.",
        ),
    ];
    for (state, heading, lists, credit, annotation, dead) in states {
        let annotation = format!("{annotation}<p>See more.</p>");
        let html = format!(
            "<nav><h1 class=title>Title 1. Pets.</h1></nav><main><h2 class=oneh2><b>Chapter 1. Dogs.</b></h2>\
             <div><h3><b>{heading}</b></h3><p>Be kind.</p>{lists}<p>{credit}</p><div>{annotation}</div></div>\
             <div><h3><b>{dead}</b></h3></div></main>"
        );
        let imported = annotated(state, &html);
        let provisions: Vec<_> = imported.provisions().map(|(_, content, _)| content).collect();
        let expected = match state {
            "ak" | "ga" | "ri" => "(a) One:\n(1) Two:\n(A) Three.",
            "ky" => "(1) One:\n(a) Two:\n1. Three.",
            "nd" => "1. One:\na. Two:\n(1) Three.",
            _ => parenthesised,
        };
        let dogs = provisions[0];
        assert_eq!(dogs.heading, "Dogs.", "{state}");
        assert_eq!(dogs.text.as_deref(), Some(format!("Be kind.\n{expected}").as_str()), "{state}");
        assert!(
            dogs.source_credit
                .as_ref()
                .is_some_and(|own| own.contains("19") || own.contains("20") || own.contains("18")),
            "{state}"
        );
        assert_eq!(dogs.notes.len(), 1, "{state}: {:?}", dogs.notes);
        let number = dogs.number.as_deref().unwrap();
        assert!(
            heading.contains(number) && dogs.citation.ends_with(&format!("§ {number}")),
            "{state}: {}",
            dogs.citation
        );
        assert_eq!((provisions.len(), provisions[1].status), (2, Some(Status::Repealed)), "{state}");
        assert_eq!(provisions[1].parallel_citations.len(), if state == "co" { 2 } else { 0 }, "{state}");
    }
}

/// Releases of Wyoming: the title in the navigation, annotations before the first chapter, labels
/// in parentheses, notes that begin in bold with a dash, lists of case notes, a credit without
/// bold.
#[test]
fn wyoming_is_read_by_its_plan() {
    let html = r##"<!DOCTYPE html><html><body><nav><p class="transformation">Release 84</p><h1 class="title" id="t09"><b>
     Title 9 Ways
    </b></h1><ul class="leaders"><li><a href="#t09c01">Chapter 1 Roads</a></li></ul></nav><main>
    <p><b>Revision of title. —</b></p><p>Revised in 1978.</p>
    <div><h2 class="oneh2" id="t09c01"><b>Chapter 1 Roads</b></h2><nav><ul class="leaders"><li>§ 9-1-101. Again.</li></ul></nav></div>
    <div><h2 class="twoh2" id="t09c01a01"><b>Article 1. In General</b></h2>
    <div><h3 id="t09c01a01s9-1-101"><b>
       § 9-1-101.
       Definitions.
      </b></h3><ol type="a"><li>As used in this act:<ol type="i"><li>“Cart” means:<ol type="A"><li>A wagon; or</li>
      <li>A barrow.</li></ol></li><li>“Way” means a road.</li></ol></li></ol>
      <p><b>History.</b> Laws 1978, ch. 37, § 1.</p><p><b>Meaning of “this act.” —</b></p><p>See § 9-1-102.</p></div>
    <div><h3 id="t09c01a01s9-1-102"><b>§ 9-1-102. Custom.</b></h3><p>Custom is kept.</p>
      <p>History. C.L. 1876, ch. 26, § 1; W.S. 1977, § <cite class="ocwy"><a href="#x">9-3-101</a></cite>.</p>
      <ul class="leaders"><li class="casenote"><a href="#I">I. General Consideration.</a></li></ul>
      <div><h5 id="I">I.General Consideration.</h5><p><b>Custom is old.</b> Smith v. Jones.</p></div></div>
    <div><h3 id="t09c01a01s9-1-103"><b>§§ 9-1-103 through 9-1-105. [Renumbered.]</b></h3>
      <p>Renumbered by Laws 1979, ch. 142, § 3.</p><p><b>Cross references. —</b></p><p>See § 9-1-101.</p></div></div>
    </main></body></html>"##;
    let imported = annotated("wy", html);
    let keys: Vec<_> = imported.nodes.iter().map(|(key, _, depth)| (key.as_str(), *depth)).collect();
    let sections = ["wy/stat/s9-1-101", "wy/stat/s9-1-102", "wy/stat/s9-1-103"].map(|key| (key, 3));
    assert_eq!(keys[..3], [("wy/stat/t9", 0), ("wy/stat/t9/ch1", 1), ("wy/stat/t9/ch1/art1", 2)]);
    assert_eq!(keys[3..], sections);
    assert_eq!(imported.node("wy/stat/t9").notes[0].text, "Revised in 1978.");
    let definitions = imported.node("wy/stat/s9-1-101");
    assert_eq!(definitions.citation, "Wyo. Stat. § 9-1-101");
    let law = "(a) As used in this act:\n(i) “Cart” means:\n(A) A wagon; or\n(B) A barrow.\n(ii) “Way” means a road.";
    assert_eq!((definitions.text.as_deref(), definitions.notes.len()), (Some(law), 1));
    assert_eq!(definitions.layout.lines.iter().map(|line| line.depth).collect::<Vec<_>>(), [0, 1, 2, 2, 1]);
    let custom = imported.node("wy/stat/s9-1-102");
    let credit = "C.L. 1876, ch. 26, § 1; W.S. 1977, § 9-3-101.";
    assert_eq!((custom.text.as_deref(), custom.source_credit.as_deref()), (Some("Custom is kept."), Some(credit)));
    assert_eq!(custom.notes.last().unwrap().topic, "I.General Consideration.");
    let gone = imported.node("wy/stat/s9-1-103");
    assert_eq!((gone.status, gone.parallel_citations.len()), (Some(Status::Renumbered), 2));
    assert_eq!(gone.notes[0].text, "See § 9-1-101.");
}

/// Wyoming prints lists whose labels skip letters, numbers without a section sign, and sections
/// that consist only of a status.
#[test]
fn labels_of_wyoming_are_those_of_its_ids() {
    let html = r#"<nav><h1>Title 9 Ways</h1></nav><main><h3 id="t9s9-1-101">9-1-101. Carts.</h3><ol type="a">
      <li id="t9s9-1-101ol1a">through (c) Repealed by Laws 2019, ch. 24, § 2.</li>
      <li id="t9s9-1-101ol1d">Carts:<ol type="i"><li id="t9s9-1-101ol1di">stop;</li><li id="t9s9-1-101ol1diii">turn.</li></ol></li>
      <li id="t9s9-1-101ol1j">Subsection (j) ends it.</li></ol><p><b>History:</b> Laws 1978, ch. 37, § 1.</p>
      <h3>§ 9-1-102. [Amended and Renumbered.]</h3><p>Amended and renumbered as § 9-2-101 by Laws 1998, ch. 6, § 4.</p></main>"#;
    let imported = annotated("wy", html);
    let carts = imported.node("wy/stat/s9-1-101");
    let law = "(a) through (c) Repealed by Laws 2019, ch. 24, § 2.\n(d) Carts:\n(i) stop;\n(iii) turn.\n(j) Subsection (j) ends it.";
    assert_eq!((carts.text.as_deref(), carts.source_credit.as_deref()), (Some(law), Some("Laws 1978, ch. 37, § 1.")));
    assert_eq!(imported.node("wy/stat/s9-1-102").status, Some(Status::Renumbered));
    assert_eq!(imported.counts.values().sum::<u64>(), 0, "{:?}", imported.warnings);
    // Without ids, only positions are available. The contradicting text causes a warning.
    let bare = annotated("wy", &html.replace(" id=", " data-id="));
    assert!(bare.node("wy/stat/s9-1-101").text.as_ref().is_some_and(|text| text.contains("\n(b) Carts:")));
    assert_eq!(bare.count(WarningKind::DoubtfulLabel), 1);
}

/// Vermont's release 85 begins source credits with its own word, and has letters in italics in numbers.
#[test]
fn histories_of_vermont_are_credits_and_letters_belong_to_numbers() {
    let html = r#"<nav><h1><b>TITLE 16 Schools</b></h1></nav><main>
      <h3><b>§ 706 <i>
      l
      </i>
      . Vacancies.</b></h3><ol type="a"><li>They are filled.</li><li>Soon.
      <p><b>HISTORY:</b> Added <cite>1967, No. 277</cite> (Adj. Sess.), § 16.</p></li></ol>
      <h3><b>§ 707. Cats.</b></h3><p>None.</p><p><b>
      HISTORY:
      </b>
      Added 2015, No. 104, § 1.</p><p><b>References in text.</b> None.</p></main>"#;
    let imported = annotated("vt", html);
    let vacancies = imported.node("vt/stat/t16/s706l");
    assert_eq!((vacancies.heading.as_str(), vacancies.number.as_deref()), ("Vacancies.", Some("706l")));
    assert_eq!(vacancies.text.as_deref(), Some("(a) They are filled.\n(b) Soon."));
    assert_eq!(vacancies.source_credit.as_deref(), Some("Added 1967, No. 277 (Adj. Sess.), § 16."));
    let cats = imported.node("vt/stat/t16/s707");
    assert_eq!(
        (cats.text.as_deref(), cats.source_credit.as_deref()),
        (Some("None."), Some("Added 2015, No. 104, § 1."))
    );
    assert_eq!(cats.notes.len(), 1);
}

/// Remarks on effective time are after the headings of Wyoming and before those of Vermont.
#[test]
fn wordings_of_wyoming_and_vermont_are_joined_whatever_the_form_of_their_remarks() {
    let effects = |content: &Content| {
        let all = [content].into_iter().chain(&content.wordings);
        let days = |own: &Content| {
            format!("{:?} {:?} {:?} {}", own.effect.from, own.effect.to, own.status.unwrap(), own.heading)
        };
        all.map(days).collect::<Vec<_>>()
    };
    let section = |heading: &str, text: &str| format!("<h3><b>{heading}</b></h3><p>{text}</p>");
    let pair = [
        section("§ 9-1-101. Carts. [Effective until July 1, 2024]", "One."),
        section("§ 9-1-101. Carts. [Renumbered to Wyo. Stat. § 9-1-601, effective July 1, 2024]", ""),
        section("§ 9-1-601. Carts. [Renumbered from Wyo. Stat. § 9-1-101, effective July 1, 2024]", "One."),
        section("§ 9-1-102. Ways. [Effective July 1, 2024]", "Two."),
        section("§ 9-1-102. Ways. [Effective until July 1, 2024]", "One."),
    ];
    let imported = annotated("wy", &format!("<nav><h1>Title 9 Ways</h1></nav>{}", pair.concat()));
    let day = r#"Some("2024-07-01")"#;
    let expected = [format!("None {day} InForce Carts."), format!("{day} None Renumbered Carts.")];
    assert_eq!(effects(imported.node("wy/stat/s9-1-101")), expected);
    assert_eq!(effects(imported.node("wy/stat/s9-1-601")), [format!("{day} None InForce Carts.")]);
    let expected = [format!("None {day} InForce Ways."), format!("{day} None InForce Ways.")];
    assert_eq!(effects(imported.node("wy/stat/s9-1-102")), expected);
    let pair = [
        section(
            "§ 753. Section 753 effective until July 1, 2022; see also section 753 effective July 1, 2022 set out below. Cancellation.",
            "One.",
        ),
        section(
            "§ 753. Section 753 effective July 1, 2022; see also section 753 effective until July 1, 2022 set out above Ending.",
            "Two.",
        ),
        section("§ 38. Section 38 repealed effective July 1, 2025. Judicial Masters.", "Three."),
        section("§ 77. Section 77 effective upon occurrence of contingency. Penalty.", "Four."),
    ];
    let imported = annotated("vt", &format!("<nav><h1>TITLE 9 Trade</h1></nav>{}", pair.concat()));
    let day = r#"Some("2022-07-01")"#;
    let expected = [format!("None {day} InForce Cancellation."), format!("{day} None InForce Ending.")];
    assert_eq!(effects(imported.node("vt/stat/t9/s753")), expected);
    let masters = &imported.node("vt/stat/t9/s38").effect;
    assert_eq!((masters.to.as_deref(), masters.then), (Some("2025-07-01"), Some(Status::Repealed)));
    let penalty = &imported.node("vt/stat/t9/s77").effect;
    let remark = "effective upon occurrence of contingency";
    assert_eq!((penalty.uncertain, penalty.remark.as_deref()), (true, Some(remark)));
}

/// Vermont is cited by title. Its source credits are the last paragraph of the last list item.
#[test]
fn vermont_is_cited_by_title_and_its_credits_in_lists_are_found() {
    let html = r#"<nav><h1 class="title"><b>TITLE 28 Pets</b></h1><p>Chapter</p></nav><main>
    <h2 class="oneh2"><b>CHAPTER 1. DOGS</b></h2><p>Sec.</p>
    <div><h3><b>§ 2a. Barking.</b></h3><ol type="a"><li>No dog barks:<ol><li>at night; or</li><li>at cows.
      <p>Added <cite>1971, No. 199</cite> (Adj. Sess.), § 20; amended <cite>2005, No. 63</cite>, § 17.</p></li></ol></li></ol>
      <div><h4><b>History</b></h4><p><b>Amendments--2005</b> Added cows.</p></div>
      <div><h4>ANNOTATIONS</h4><h5><b>1. Noise.</b></h5><p>It is. Doe v. Roe.</p></div></div>
    <div><h3><b>§ 3. Cats.</b></h3><p>None.</p><p>Amended <cite>1965, No. 194</cite>, § 10.</p></div>
    <div><h3><b>§ 4. Repealed. 2015, No. 97 (Adj. Sess.), § 87(1).</b></h3>
      <div><h4><b>History</b></h4><p><b>Former</b> <b>§ 4.</b> Former § 4 was about hens.</p></div></div></main>"#;
    let imported = annotated("vt", html);
    let barking = imported.node("vt/stat/t28/s2a");
    assert_eq!(barking.citation, "Vt. Stat. Ann. tit. 28, § 2a");
    assert_eq!(barking.text.as_deref(), Some("(a) No dog barks:\n(1) at night; or\n(2) at cows."));
    assert_eq!((barking.layout.lines.len(), barking.notes.len()), (3, 4));
    let credit = "Added 1971, No. 199 (Adj. Sess.), § 20; amended 2005, No. 63, § 17.";
    assert_eq!(barking.source_credit.as_deref(), Some(credit));
    assert_eq!((barking.notes[1].topic.as_str(), barking.notes[1].text.as_str()), ("Amendments--2005", "Added cows."));
    let cats = imported.node("vt/stat/t28/s3");
    assert_eq!(
        (cats.text.as_deref(), cats.source_credit.as_deref()),
        (Some("None."), Some("Amended 1965, No. 194, § 10."))
    );
    let hens = imported.node("vt/stat/t28/s4");
    assert_eq!((hens.status, hens.text.as_deref()), (Some(Status::Repealed), Some("")));
}

/// North Carolina labels subsections with letters in parentheses and subdivisions with numbers in
/// parentheses. Deeper levels have plain letters and numbers, whether or not there are subsections.
#[test]
fn lists_of_north_carolina_begin_with_subsections_or_subdivisions() {
    let list = "<li>Two:<ol type=a><li>Three;<ol><li>Four.</ol></ol>";
    let html = format!(
        "<nav><h1 class=title>Chapter 13. Pets.</h1></nav><main><h3><b>§ 13-1. Dogs.</b></h3><ol type=a><li>One:<ol>{list}</ol></ol>\
         <p><b>History.</b> 1971, c. 902.</p><p><b>Effect of Amendments.</b></p><p>New.</p>\
         <h3><b>§ 13-2. Cats.</b></h3><p>A cat:</p><ol>{list}</ol><h4><b>CASE NOTES</b></h4><p>Old.</p>\
         <h3><b>§§ 13-5 through 13-7. [Repealed]</b></h3><p>Repealed by Session Laws 1973, c. 251.</p></main>"
    );
    let imported = annotated("nc", &html);
    let text = |key: &str| imported.node(key).text.clone().unwrap();
    assert_eq!(text("nc/gs/s13-1"), "(a) One:\n(1) Two:\na. Three;\n1. Four.");
    assert_eq!(text("nc/gs/s13-2"), "A cat:\n(1) Two:\na. Three;\n1. Four.");
    assert_eq!(imported.node("nc/gs/s13-1").notes[0].topic, "Effect of Amendments.");
    let gone = imported.node("nc/gs/s13-5");
    assert_eq!((gone.status, gone.parallel_citations.len()), (Some(Status::Repealed), 2));
}

#[test]
fn renumbered_sections_are_law_and_lists_of_repealed_ones_are_notes() {
    let section =
        |heading: &str, rest: &str| format!("<nav><h1>TITLE 17 Pets</h1></nav><h3><b>{heading}</b></h3>{rest}");
    let dakota = section(
        "17-02-02. Dogs. [Renumbered]",
        "<p>Dogs bark.</p><p><b>Source:</b> S.L. 2005, ch. 67, § 2.</p><p><b>Note.</b></p><p>Formerly 4-1-1.</p>",
    );
    let imported = annotated("nd", &dakota);
    let dogs = imported.node("nd/cc/s17-02-02");
    assert_eq!((dogs.status, dogs.notes[0].topic.as_str()), (Some(Status::InForce), "Note."));
    let island = section(
        "13-1-1 — 13-1-3. Repealed.",
        &format!(
            "<div><h4><b>Repealed Sections.</b></h4><p>This chapter {} was repealed.</p></div>",
            "(P.L. 1975, ch. 279) ".repeat(20)
        ),
    );
    let imported = annotated("ri", &island);
    let gone = imported.node("ri/gl/s13-1-1");
    assert_eq!((gone.status, gone.text.as_deref(), gone.notes.len()), (Some(Status::Repealed), Some(""), 1));
    assert_eq!(gone.parallel_citations, ["R.I. Gen. Laws § 13-1-2", "R.I. Gen. Laws § 13-1-3"]);
    let imported = annotated("ri", &section("13-1.1-1 — 13-1.1-3. Repealed.", ""));
    let gone = imported.node("ri/gl/s13-1.1-1");
    assert_eq!((gone.heading.as_str(), gone.parallel_citations.len()), ("Repealed.", 2));
}

#[test]
fn an_annotation_that_goes_on_behind_its_bold_name_is_a_note_of_its_own() {
    let html = "<nav><h1>Title 28 Law</h1></nav><h3><b>§ 28-1-1. Days.</b></h3><p>Ten.</p><p><b>History.</b> Laws 1973, ch. 13, § 1.</p>\
        <p><b>Cross references. —</b></p><p>See § 28-1-2.</p><p><b>The 2011 amendment,</b> effective July 1, 2011, added ten.</p>";
    let imported = annotated("wy", html);
    let notes = &imported.node("wy/stat/s28-1-1").notes;
    let notes: Vec<_> = notes.iter().map(|note| (note.topic.as_str(), note.text.as_str())).collect();
    let amendment = ("The 2011 amendment", "effective July 1, 2011, added ten.");
    assert_eq!(notes, [("Cross references. —", "See § 28-1-2."), amendment]);
}

#[test]
fn iowa_gives_each_act_a_line_and_new_mexico_has_articles_in_chapters() {
    let text =
        "1B.1 Flag of dogs.\n\nIt is blue.\n\n[C24, 27, §468; C46, §31.1]\n\n95 Acts, ch 1, §1\n\nReferred to in §1B.2";
    let imported = statutes(
        "IA",
        "title-title-iv-pets/chapter-chapter-1b-flags",
        &[("1B.1", "Flag of Dogs.Section 1B.2 - Use.", text)],
    );
    let flag = imported.node("ia/code/s1b.1");
    assert_eq!((flag.heading.as_str(), flag.text.as_deref()), ("Flag of dogs.", Some("It is blue.")));
    assert_eq!(flag.source_credit.as_deref(), Some("[C24, 27, §468; C46, §31.1] 95 Acts, ch 1, §1"));
    assert_eq!(
        (flag.notes.len(), imported.node("ia/code/tiv/ch1b").citation.as_str()),
        (1, "Iowa Code, Title IV, Chapter 1B")
    );
    let of_pdf = "505.1 Dogs. A dog may bark. [C24, §8604; C46, §505.1] 86 Acts, ch 1245, §745; 2023 Acts, ch 19, §2726 \
                  Sat Dec 23 00:38:23 2023 Iowa Code 2024, Section 505.1 (19, 1)";
    let imported = statutes("IA", "title-title-xiii-commerce/chapter-chapter-505-dogs", &[("505.1", "Dogs.", of_pdf)]);
    let dogs = imported.node("ia/code/s505.1");
    assert_eq!(dogs.text.as_deref(), Some("A dog may bark."));
    let credit = "[C24, §8604; C46, §505.1] 86 Acts, ch 1245, §745; 2023 Acts, ch 19, §2726";
    assert_eq!((dogs.source_credit.as_deref(), dogs.notes.len()), (Some(credit), 0));
    let path = "title-chapter-10-pets/chapter-article-16b-gifts";
    let imported = statutes(
        "NM",
        path,
        &[(
            "10-16B-1",
            "Repealed.Section 10-16B-2 - Repealed",
            "History:Laws 1987, ch. 160, § 1; repealed by Laws 2018, ch. 79.\n\nRepeals.— It was.",
        )],
    );
    let gone = imported.node("nm/stat/s10-16b-1");
    assert_eq!((gone.status, gone.text.as_deref(), gone.notes.len()), (Some(Status::Repealed), Some(""), 1));
    assert_eq!(imported.node("nm/stat/ch10/art16b").heading, "Gifts");
}

#[test]
fn numbers_of_connecticut_end_with_a_full_stop_and_its_repeals_are_sentences() {
    let entries = [
        (
            "1-4.",
            "Holidays.Section 1-5. - Day.Section 1-6. - Time.",
            "None.\n\n(1949 Rev., S. 8880; P.A. 73-3, S. 1; June 12 Sp. Sess. P.A. 12-2, S. 30.)\n\nHistory: P.A. 73-3 ended one.\n\nCited. 10 CS 205.",
        ),
        (
            "1-42",
            "to 1-44. - Short title",
            "Sections 1-42 to 1-44, inclusive, are repealed, effective October 1, 2016.\n\n(February, 1965, P.A. 573, S. 1–13.)",
        ),
        ("1-55", "and 1-56. - Agents.", "Sections 1-55 and 1-56 are repealed, effective October 1, 2016."),
        ("1-60.", "Repeals.", "Section 1-6 is repealed."),
    ];
    let imported = statutes("CT", "title-title-1-pets/chapter-chapter-2-holidays", &entries);
    let holidays = imported.node("ct/gs/s1-4");
    assert_eq!((holidays.heading.as_str(), holidays.text.as_deref()), ("Holidays.", Some("None.")));
    assert_eq!((holidays.notes.len(), holidays.source_credit.is_some()), (1, true));
    let range = imported.node("ct/gs/s1-42");
    assert_eq!((range.heading.as_str(), range.status), ("Short title", Some(Status::Repealed)));
    assert_eq!(range.parallel_citations, ["Conn. Gen. Stat. § 1-43", "Conn. Gen. Stat. § 1-44"]);
    assert_eq!(imported.node("ct/gs/s1-55").parallel_citations, ["Conn. Gen. Stat. § 1-56"]);
    // A section may repeal another section.
    assert_eq!(imported.node("ct/gs/s1-60").status, Some(Status::InForce));
}

/// The future section is a wording if the note contains the whole of it.
#[test]
fn connecticuts_notes_of_amended_versions_are_wordings() {
    let note = |what: &str| {
        format!(
            "*Note: On and after July 1, 2025, {what}, as amended by section 1 of public act 23-1, is to read as follows:"
        )
    };
    let (whole, part) = (note("this section"), note("subsection (a) of this section"));
    let text = [
        "No dog barks. It is “quiet”.",
        "(Sept. Sp. Sess. P.A. 07-1, S. 20.)",
        &whole,
        "“Sec. 1-4. Dogs. Cats.(a) No “dog” or cat barks.",
        "(b) It is quiet.”",
        "(Sept. Sp. Sess. P.A. 07-1, S. 20; P.A. 23-1, S. 1.)",
        "History: P.A. 23-1 added cats.",
    ];
    let of_part = ["(a) None.", "(S.A. 07-1, S. 20.)", &part, "“(a) All.”", "(P.A.23-1, S. 1.)", "History: New."];
    let entries = [
        ("1-4.", "*(See end of section for amended version and effective date.) Dogs.", &*text.join("\n\n")),
        ("1-5.", "Cats.", &*of_part.join("\n\n")),
    ];
    let imported = statutes("CT", "title-title-1-pets/chapter-chapter-2-dogs", &entries);
    let dogs = imported.node("ct/gs/s1-4");
    assert_eq!((dogs.heading.as_str(), dogs.text.as_deref()), ("Dogs.", Some("No dog barks. It is “quiet”.")));
    assert_eq!(dogs.source_credit.as_deref(), Some("(Sept. Sp. Sess. P.A. 07-1, S. 20.)"));
    assert_eq!(dogs.notes[0].text, "See end of section for amended version and effective date.");
    let [amended] = &dogs.wordings[..] else { panic!("{:?}", dogs.wordings) };
    assert_eq!((amended.heading.as_str(), amended.effect.from.as_deref()), ("Dogs. Cats.", Some("2025-07-01")));
    assert_eq!(amended.text.as_deref(), Some("(a) No “dog” or cat barks.\n(b) It is quiet."));
    assert_eq!((amended.effect.remark.as_deref(), amended.notes.len()), (Some(whole.as_str()), 1));
    assert!(amended.source_credit.as_ref().is_some_and(|acts| acts.ends_with("P.A. 23-1, S. 1.)")));
    let cats = imported.node("ct/gs/s1-5");
    assert_eq!((cats.text.as_deref(), cats.effect.uncertain, cats.wordings.len()), (Some("(a) None."), true, 0));
    assert!(cats.notes.iter().any(|note| note.text.contains("“(a) All.”")), "{:?}", cats.notes);
    assert_eq!(imported.count(WarningKind::UncertainValidity), 1);
}

#[test]
fn a_range_that_is_repealed_in_a_sentence_is_repealed_in_each_section() {
    let text = "Sections 10-75 to 10-75k, inclusive, are repealed, effective July 1, 2016.";
    let entries = [("10-75a.", "Dogs.", text), ("10-76.", "Cats.", text), ("10-75k.", "Reserved for future use.", "")];
    let imported = statutes("CT", "title-title-10-pets/chapter-chapter-2-dogs", &entries);
    let statuses =
        ["10-75a", "10-76", "10-75k"].map(|number| imported.node(&format!("ct/gs/s{number}")).status.unwrap());
    assert_eq!(statuses, [Status::Repealed, Status::InForce, Status::Reserved]);
}

#[test]
fn sentences_that_repeal_several_ranges_or_have_a_saving_clause_repeal_each_section() {
    let several = "Sections 12-21, 12-22 to 12-22b, inclusive, 12-23 and 12-24a are repealed.";
    let with_others = "Sections 4-41 to 4-50, inclusive, and other provisions of the general statutes which are inconsistent with chapter 54 are repealed.";
    let saving = format!(
        "Sections 8-155 to 8-159, inclusive, are repealed; provided, that {}.",
        "any contract made before July 6, 1967, is kept ".repeat(12).trim_end()
    );
    let entries = [
        ("10-75.", "Pupils.", "Sections 10-75 to 10-75k, inclusive, and 10-76 are repealed."),
        ("12-21.", "Grants.", several),
        ("12-22a.", "Grants.", several),
        ("4-41.", "Rules.", with_others),
        ("8-155.", "Towns.", &saving),
        ("8-160.", "Others.", &saving),
    ];
    let imported = statutes("CT", "title-title-10-pets/chapter-chapter-2-dogs", &entries);
    let statuses =
        entries.map(|(number, ..)| imported.node(&format!("ct/gs/s{}", number.trim_end_matches('.'))).status.unwrap());
    assert_eq!(statuses[..5], [Status::Repealed; 5]);
    assert_eq!(statuses[5], Status::InForce);
}

#[test]
fn nebraska_has_the_heading_in_the_text_alone_and_texts_in_one_line() {
    let entries = [
        ("1-119.Dogs", "and cats; fee", "The board shall charge a fee as"),
        (
            "1-119",
            "",
            "1-119.Dogs and cats; fee.\n\nThe board shall charge a fee.\n\nSourceLaws 1957, c. 1, § 14, p. 60;Laws 2016, LB853, § 3.",
        ),
        ("1-169", "", "1-169.\n\nTransferred to section 1-105."),
        (
            "10-1103",
            "Terms, defined.For purposes of the act:(1) Dog means a ",
            "Terms, defined.For purposes of the act:(1) Dog means a pet; and(2) Cat means none.SourceLaws 2000, LB 929, § 19.",
        ),
    ];
    let imported = statutes("NE", "title-chapter-1-pets/chapter-1-119-dogs-and-cats-fee", &entries);
    let fee = imported.node("ne/rs/s1-119");
    assert_eq!(
        (fee.heading.as_str(), fee.text.as_deref()),
        ("Dogs and cats; fee.", Some("The board shall charge a fee."))
    );
    assert_eq!(fee.source_credit.as_deref(), Some("Laws 1957, c. 1, § 14, p. 60;Laws 2016, LB853, § 3."));
    assert_eq!(imported.node("ne/rs/s1-169").status, Some(Status::Transferred));
    let terms = imported.node("ne/rs/s10-1103");
    assert_eq!(terms.heading, "Terms, defined.");
    assert_eq!(terms.text.as_deref(), Some("For purposes of the act:\n(1) Dog means a pet; and\n(2) Cat means none."));
    assert_eq!((imported.node("ne/rs/ch1").heading.as_str(), imported.count(WarningKind::JunkEntry)), ("Pets", 1));
}

#[test]
fn tennessee_repeats_texts_without_line_feeds() {
    let law = "In motions the party wins if it:(1)Barks a good deal; or(2)Bites, as subsection (b) says, and runs.";
    let acts = "Acts 2011, ch. 498, § 1.";
    let whole = format!("{law}{acts}");
    let text = [whole.as_str(), &whole, &whole, "In motions the party wins if it:", acts].join("\n\n");
    let imported = statutes(
        "TN",
        "title-title-20-pets-20-1-101-20-18-105/chapter-chapter-16-dogs-20-16-101",
        &[("20-16-101", "Dogs", &text)],
    );
    let dogs = imported.node("tn/code/s20-16-101");
    let lines =
        "In motions the party wins if it:\n(1) Barks a good deal; or\n(2) Bites, as subsection (b) says, and runs.";
    assert_eq!((dogs.text.as_deref(), dogs.source_credit.as_deref()), (Some(lines), Some(acts)));
    assert_eq!(imported.node("tn/code/t20/ch16").heading, "Dogs");
}

#[test]
fn pages_of_contents_and_older_copies_are_passed_over() {
    let plan = plan("states-statutes-json");
    let text = chapter("title-01/chapter-01", &[("1-1", "1-56r", "1-56r")]);
    for path in [
        "data/states/connecticut/content/title-01/chapter-01.json",
        "data/content/content/a.json",
        "content/chapter-next.json",
    ] {
        let imported = import_one(path, &text, &of_plan(&plan, "CT"));
        assert!(imported.nodes.is_empty() && imported.mistakes.is_empty(), "{path}: {:?}", imported.nodes);
    }
}

/// New Jersey's file has headings in the first column, indented text, and the Western European code page.
#[test]
fn new_jersey_is_read_by_its_plan() {
    let text = "NEW JERSEY GENERAL AND PERMANENT STATUTES\n(UPDATED THROUGH P.L.2025, c.271)\n\nTITLE 1         PETS\n\n\
        1:1-1.  General rules\n    Dogs, as 1:1-2 says, are kept under\n    L.1937, c.188, and \"cats\" too.\n\n    52:1-1. is not here.\n\n     L.1937, c.188, s.1.\n\n\
        52:9H 34  Findings; declarations.\n    None.\n\n     amended 1948, c.4.\n\nAPPENDIX A     EMERGENCY ACTS\n\nApp.A:10-1.  Authority\n    It is.\n";
    let bytes: Vec<u8> = text.chars().map(|c| if c == '"' { 0x93 } else { c as u8 }).collect();
    let plan = plan("nj-code");
    let document = hornbook_index_build::import::document::Document { place: "STATUTES.TXT".into(), bytes };
    let imported = crate::imported::import(&[document], &of_plan(&plan, "NJ"));
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    let rules = imported.node("nj/stat/s1-1-1");
    let law = "Dogs, as 1:1-2 says, are kept under L.1937, c.188, and “cats“ too.\n52:1-1. is not here.";
    assert_eq!((rules.text.as_deref(), rules.source_credit.as_deref()), (Some(law), Some("L.1937, c.188, s.1.")));
    assert_eq!(rules.citation, "N.J. Stat. Ann. § 1:1-1");
    assert_eq!(imported.node("nj/stat/s52-9h-34").source_credit.as_deref(), Some("amended 1948, c.4."));
    assert_eq!(imported.provisions().count(), 3);
    let keys = ["nj/stat/t1", "nj/stat/appa"].map(|key| imported.node(key).heading.as_str());
    assert_eq!(keys, ["Title 1. PETS", "Appendix A. EMERGENCY ACTS"]);
}
