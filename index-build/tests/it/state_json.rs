//! State codes as JSON: the faults of extraction from web pages, in small files, and Washington and
//! South Dakota.

use std::fs;
use std::path::Path;

use hornbook_corpus::outline::Status;
use hornbook_index_build::content::Content;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::report::WarningKind;

use crate::corpora::corpora;
use crate::imported::{Imported, Source, check_damaged, documents, import, import_one};
use crate::{golden, state_key_compare};

pub(crate) fn washington() -> Source<'static> {
    Source {
        format: "state-json",
        key: "wa/rcw",
        code_body: "Revised Code of Washington",
        citation: Some("RCW {number}"),
        options: toml::from_str(
            r#"
opening = "RCW "
number = '^\d+[A-Z]?\.\d+[A-Z]*[.-]\d+[A-Z]?$'
edition = '^(\d{4}) Rev\. Code of Wash\.$'
signs = { F0FC = " } ", F0EF = "", F0FD = "", F0FE = "" }
container = [{ level = "title", number = '^\d+[A-Z]?' }, { level = "chapter", number = '^\d+[A-Z]?\.\d+[A-Z]*' }]
"#,
        )
        .unwrap(),
    }
}

pub(crate) fn south_dakota() -> Source<'static> {
    Source {
        format: "state-json",
        key: "sd/sdcl",
        code_body: "South Dakota Codified Laws",
        citation: Some("SDCL § {number}"),
        options: toml::from_str(r#"signs = { F021 = "−", F025 = "✓", F045 = "°", F048 = "✗", F054 = "✓" }"#).unwrap(),
    }
}

/// The source of a plan for real files.
pub(crate) fn of_plan<'p>(plan: &'p toml::Table) -> Source<'p> {
    let source = plan["source"][0].as_table().unwrap();
    let text = |name: &str| source[name].as_str().unwrap();
    Source {
        format: text("format"),
        key: text("key"),
        code_body: text("code_body"),
        citation: Some(text("citation")),
        options: source["options"].as_table().cloned().unwrap(),
    }
}

pub(crate) fn idaho_plan() -> toml::Table {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files");
    toml::from_str(&fs::read_to_string(plans.join("id-statutes-json.toml")).unwrap()).unwrap()
}

/// A chapter with these entries: number, heading and text.
pub(crate) fn chapter(path: &str, entries: &[(&str, &str, &str)]) -> String {
    let entry = |(number, heading, text): &(&str, &str, &str)| serde_json::json!({"id": "x", "number": number, "heading": heading, "text": text, "source_url": format!("https://law.example/{number}")});
    let sections: Vec<_> = entries.iter().map(entry).collect();
    serde_json::to_string_pretty(&serde_json::json!({"state": "x", "path": path, "sections": sections})).unwrap()
}

fn in_dakota(entries: &[(&str, &str, &str)]) -> Imported {
    import_one("content/a.json", &chapter("title-title-1-state/chapter-chapter-02a-lines", entries), &south_dakota())
}

#[test]
fn number_and_heading_are_not_law_and_the_credit_ends_it() {
    let text = "1-2A-1. Short title.\n\nThe act:\n\n(1)Is short.\n\nSource:SL 1980, ch 1.\n\nCommission Note: Kept.";
    let imported = in_dakota(&[("1-2A-1", "Short title.", text)]);
    let node = imported.node("sd/sdcl/s1-2a-1");
    assert_eq!((node.heading.as_str(), node.text.as_deref()), ("Short title.", Some("The act:\n(1) Is short.")));
    assert_eq!((node.citation.as_str(), node.source_credit.as_deref()), ("SDCL § 1-2A-1", Some("SL 1980, ch 1.")));
    assert_eq!((node.notes[0].topic.as_str(), node.notes[0].text.as_str()), ("Commission Note", "Kept."));
    assert_eq!(node.layout.lines[1].label_bytes(), 3);
    let chapter = imported.node("sd/sdcl/t1/ch02a");
    assert_eq!(
        (chapter.heading.as_str(), chapter.citation.as_str()),
        ("Lines", "South Dakota Codified Laws, Title 1, Chapter 02A")
    );
    assert_eq!(imported.counts.values().sum::<u64>(), 0);
}

/// Forms contain equal lines to be filled in. Only repetitions that the document proves are removed.
#[test]
fn equal_lines_of_a_form_stay() {
    let form = "1-2A-1. Form.\n\nTo:\n\n____\n\n____\n\n____\n\nTO: ____\n\nTO: ____\n\nSource:SL 1980, ch 1.";
    let other = "1-2A-2. Short title.\n\nThe act.\n\nIt is short.\n\nSource:SL 1980, ch 1.";
    let imported = in_dakota(&[("1-2A-1", "Form.", form), ("1-2A-2", "Short title.", other)]);
    assert_eq!(imported.node("sd/sdcl/s1-2a-1").text.as_deref(), Some("To:\n____\n____\n____\nTO: ____\nTO: ____"));
    assert_eq!(imported.counts.values().sum::<u64>(), 0);
}

/// Words left out without evidence that the source wrote them twice cause a warning with file and line.
#[test]
fn words_left_out_without_proof_are_named() {
    let text = "1-2A-1. Pets.\n\nA pet is:(1)A dog;(2)A cat.\n\nA pet is:\n\n(1)A dog;\n\n(2)A cat.\n\nA cat.\n\nSource:SL 1980, ch 1.";
    let imported = in_dakota(&[("1-2A-1", "Pets.", text)]);
    assert_eq!(imported.count(WarningKind::DoubtfulRepeat), 1);
    let doubtful = imported.warnings.iter().find(|warning| warning.kind == WarningKind::DoubtfulRepeat).unwrap();
    assert!(doubtful.place == "content/a.json:7" && doubtful.what.contains("'A cat.'"), "{doubtful}");
}

#[test]
fn headings_that_run_on_are_cut_and_lists_of_contents_are_not_law() {
    let imported = in_dakota(&[
        ("1-2A-1", "Holidays.Section 1-2A-2 - Sundays.", "1-2A-1. Holidays.\n\nNone.\n\nSource:SL 1980, ch 1."),
        ("1-2A-3", "Repealed by SL 1990Section 1-2A-4 - Next", "Section 1-2A-5 - Other.Section 1-2A-6 - More."),
        ("1-2A-9", "1-2A-9 to 1-2A-11.Repealed by SL 1991, ch 2.", "1-2A-9 to 1-2A-11.Repealed by SL 1991, ch 2."),
        ("1-2A-20", ", 1-2A-21. Repealed.", ", 1-2A-21. Repealed."),
    ]);
    assert_eq!(imported.node("sd/sdcl/s1-2a-1").heading, "Holidays.");
    let gone = imported.node("sd/sdcl/s1-2a-3");
    assert_eq!((gone.heading.as_str(), gone.text.as_deref()), ("Repealed by SL 1990", Some("")));
    assert_eq!(gone.status, Some(Status::Repealed));
    let range = imported.node("sd/sdcl/s1-2a-9");
    assert_eq!((range.heading.as_str(), range.status), ("Repealed by SL 1991, ch 2.", Some(Status::Repealed)));
    assert_eq!(range.parallel_citations, ["SDCL § 1-2A-10", "SDCL § 1-2A-11"]);
    assert_eq!(imported.node("sd/sdcl/s1-2a-20").parallel_citations, ["SDCL § 1-2A-21"]);
    assert_eq!((imported.count(WarningKind::RunOnHeading), imported.count(WarningKind::ContentsAsText)), (2, 1));
}

#[test]
fn a_wording_that_takes_effect_later_is_one() {
    let text = "1-2A-1. Tax.\n\nTwo.\n\nSource:SL 1980.\n\nEffective July 1, 2027\n\n1-2A-1. Tax.\n\nThree.\n\nSource:SL 2023.";
    let imported = in_dakota(&[("1-2A-1", "Tax.", text)]);
    let node = imported.node("sd/sdcl/s1-2a-1");
    assert_eq!((node.text.as_deref(), node.source_credit.as_deref()), (Some("Two."), Some("SL 1980.")));
    let later = &node.wordings[0];
    assert_eq!(
        (later.effect.remark.as_deref(), later.text.as_deref()),
        (Some("Effective July 1, 2027"), Some("Three."))
    );
    assert_eq!((later.effect.from.as_deref(), later.source_credit.as_deref()), (Some("2027-07-01"), Some("SL 2023.")));
}

/// A rule with forms has a source credit after each form. Only the last one ends the section.
#[test]
fn a_credit_with_law_behind_it_is_law_and_named() {
    let forms = "1-2A-1. Forms.\n\nForm 1. Summons\n\nSource:SL 1980, ch 1.\n\n(1) You shall answer.\n\nSource:SL 1981, ch 2.\n\nCommission Note: Kept.";
    let plain = "1-2A-2. Water.\n\nSource: a well or spring that the owner shall keep clean.\n\nHistory: the board writes it.\n\nSource:\n\nSL 1982, ch 3.";
    let unknown = "1-2A-3. Wells.\n\nNone.\n\nSource:SL 1983, ch 4.\n\nWells of the county";
    let imported =
        in_dakota(&[("1-2A-1", "Forms.", forms), ("1-2A-2", "Water.", plain), ("1-2A-3", "Wells.", unknown)]);
    let forms = imported.node("sd/sdcl/s1-2a-1");
    assert_eq!(forms.text.as_deref(), Some("Form 1. Summons\nSource:SL 1980, ch 1.\n(1) You shall answer."));
    assert_eq!((forms.source_credit.as_deref(), forms.notes.len()), (Some("SL 1981, ch 2."), 1));
    let water = imported.node("sd/sdcl/s1-2a-2");
    let law = "Source: a well or spring that the owner shall keep clean.\nHistory: the board writes it.";
    assert_eq!((water.text.as_deref(), water.source_credit.as_deref()), (Some(law), Some("SL 1982, ch 3.")));
    assert_eq!(imported.node("sd/sdcl/s1-2a-3").notes[0].text, "Wells of the county");
    let doubtful: Vec<_> =
        imported.warnings.iter().filter(|warning| warning.kind == WarningKind::DoubtfulCredit).collect();
    assert_eq!(doubtful.len(), 2, "{doubtful:?}");
    assert!(doubtful[0].what.contains("law follows 'Source:SL 1980, ch 1.'"), "{doubtful:?}");
    assert!(doubtful[1].what.contains("'Wells of the county' follows the source credit"), "{doubtful:?}");
}

/// Washington's pages print a pair of wordings under the heading of the first.
#[test]
fn a_second_wording_without_a_heading_is_one() {
    let text = "RCW 1.2.3\n\nPowers. (Effective until January 1, 2026.)\n\nIt may own land.\n\n[ 2022 c 259 s 3.]\n\nIt may lease land.\n\n[ 2024 c 164 s 5; 2022 c 259 s 3.]\n\nIntent—2024 c 164: See note following RCW 1.2.1.";
    let imported = import_one("content/a.json", &chapter("x", &[("1.2.3", "", text)]), &washington());
    let node = imported.node("wa/rcw/s1.2.3");
    assert_eq!((node.heading.as_str(), node.effect.to.as_deref()), ("Powers.", Some("2026-01-01")));
    assert_eq!(
        (node.text.as_deref(), node.source_credit.as_deref()),
        (Some("It may own land."), Some("2022 c 259 s 3."))
    );
    let [second] = &node.wordings[..] else { panic!("{:?}", node.wordings) };
    assert_eq!((second.heading.as_str(), second.text.as_deref()), ("Powers.", Some("It may lease land.")));
    assert_eq!(second.source_credit.as_deref(), Some("2024 c 164 s 5; 2022 c 259 s 3."));
    assert_eq!((second.notes.len(), second.effect.from.as_deref()), (1, None));
    assert_eq!(imported.count(WarningKind::SecondWording), 1);
}

/// Usually there are notes between the wordings of a page, as in RCW 9.94A.030 and 18.79.030. The
/// law after them is not a note.
#[test]
fn a_wording_after_the_notes_of_another_is_found() {
    let notes = "Findings—2024 c 1: \"The people find:\n\n(1) Dogs are kind.\n\n(2) It is so.\" [ 2024 c 1 s 1.]\n\n*Reviser's note: *(1) RCW 1.2.4 is gone.\n\n(2) See above.";
    let page = |heading: &str, laws: &[&str]| {
        let wordings: Vec<String> =
            laws.iter().enumerate().map(|(at, law)| format!("{law}\n\n[ 202{at} c 259 s 3.]\n\n{notes}")).collect();
        format!("RCW 1.2.3\n\n{heading}\n\n{}", wordings.join("\n\n"))
    };
    let of = |heading: &str, laws: &[&str]| {
        let text = page(heading, laws);
        let imported = import_one("content/a.json", &chapter("x", &[("1.2.3", "", &text)]), &washington());
        let node = imported.node("wa/rcw/s1.2.3").clone();
        let all: Vec<Content> = [node.clone()].into_iter().chain(node.wordings).collect();
        assert_eq!(imported.count(WarningKind::SecondWording) as usize, all.len() - 1);
        all
    };
    let laws = ["(1) It may own land.", "It may lease and own land.", "As used in this act:\n\n(1) \"It\" is a dog."];
    for count in 1..4 {
        let all = of("Powers. (Effective until January 1, 2026.)", &laws[..count]);
        let texts: Vec<_> = all.iter().map(|wording| wording.text.clone().unwrap().replace('\n', "\n\n")).collect();
        assert_eq!(texts, laws[..count]);
        let credits: Vec<_> = all.iter().map(|wording| wording.source_credit.clone().unwrap()).collect();
        assert_eq!(credits, (0..count).map(|at| format!("202{at} c 259 s 3.")).collect::<Vec<_>>());
        assert!(all.iter().all(|wording| wording.notes.len() == 2 && wording.heading == "Powers."), "{all:?}");
        let ends: Vec<_> = all.iter().filter_map(|wording| wording.effect.to.as_deref()).collect();
        assert_eq!(ends, ["2026-01-01"]);
    }
    // Without days, a wording after notes begins like the other one. Each act is unaware of the other.
    let same =
        ["It may lease land, and all that is built on it.", "It may lease land, and all that is built on the land."];
    let all = of("Powers (as amended by 2024 c 2).", &same);
    assert_eq!((all.len(), all[0].heading.as_str()), (2, "Powers"));
    assert_eq!((all[0].effect.uncertain, all[0].effect.remark.as_deref()), (true, Some("as amended by 2024 c 2")));
    assert_eq!(of("Powers.", &[same[0]]).len(), 1);
    // If the end of a wording is unknown, so is the beginning of the next one.
    let all = of("Powers. (Contingent expiration date.)", &laws[..2]);
    assert!(all.iter().all(|wording| wording.effect.uncertain), "{all:?}");
}

/// The publisher's own statements about the time in which a section is law.
#[test]
fn remarks_in_notes_and_headings_are_read_or_make_a_section_uncertain() {
    let section = |number: &str, heading: &str, rest: &str| format!("{number}. {heading}\n\n{rest}");
    let with_note = |note: &str| {
        section("1-2A-1", "Dogs.", &format!("None.\n\nSource: SL 2006, ch 44, §1.\n\nCommission Note: {note}"))
    };
    let of = |heading: &str, text: &str| in_dakota(&[("1-2A-1", heading, text)]).node("sd/sdcl/s1-2a-1").clone();
    let ends =
        of("Dogs.", &with_note("This section is repealed effective January 1, 2046, pursuant to SL 2013, ch 51, §2."));
    assert_eq!((ends.effect.to.as_deref(), ends.effect.then), (Some("2046-01-01"), Some(Status::Repealed)));
    for unknown in [
        "This section is repealed under its own terms on the date when a federal law is repealed.",
        "This section is suspended and nonenforceable, effective July 1, 2025, until June 30, 2028, pursuant to SL 2025.",
    ] {
        assert!(of("Dogs.", &with_note(unknown)).effect.uncertain, "{unknown}");
    }
    let heading = "(Text of section effective until the first plan year on or after January 1, 2019) Dogs.";
    let text = of(heading, &section("1-2A-1", heading, "None."));
    assert_eq!((text.effect.uncertain, text.heading.as_str()), (true, "Dogs."));
    // The wording that was law until then is not printed.
    let heading = "[Effective until July 1, 2025] Dogs.";
    let gone = of(heading, &section("1-2A-1", "Repealed.", "Source: SL 2020, ch 3, § 1, eff. Jul. 1, 2025."));
    assert_eq!((gone.status, gone.effect.from.as_deref()), (Some(Status::Repealed), Some("2025-07-01")));
    assert_eq!(gone.effect.to, None);
    let plan = idaho_plan();
    let law =
        "1-101. PENALTIES — EFFECTIVE UPON A CERTAIN OCCURRENCE. (1) None.\n\n[1-101, added 1972, ch. 336, sec. 1.]";
    let imported = import_one("a.json", &chapter("title-1/chapter-1", &[("1-101", "", law)]), &of_plan(&plan));
    assert!(imported.node("id/code/s1-101").effect.uncertain);
    assert_eq!(imported.count(WarningKind::UncertainValidity), 1);
}

#[test]
fn a_repeal_that_takes_effect_later_is_a_wording() {
    let credit = "Source:SL 2004, ch 75, §11; SL 2025, ch 40, §24, eff. Jan. 1, 2026.";
    let text = format!(
        "1-2A-1. Petitions.\n\nTen.\n\nSource:SL 2004, ch 75, §11.\n\nEffective January 1, 2026\n\nEffective January 1, 2026\n\n\
         1-2A-1. Repealed.{credit}\n\n1-2A-1. Repealed.\n\n{credit}"
    );
    let imported = in_dakota(&[
        ("1-2A-1", "Petitions.", &text),
        ("1-2A-2", "A.", "1-2A-2. A.\n\nB."),
        ("1-2A-3", "A.", "1-2A-3. A.\n\nB."),
    ]);
    let node = imported.node("sd/sdcl/s1-2a-1");
    assert_eq!((node.status, node.text.as_deref(), node.notes.len()), (Some(Status::InForce), Some("Ten."), 0));
    let [gone] = &node.wordings[..] else { panic!("{:?}", node.wordings) };
    assert_eq!(
        (gone.status, gone.heading.as_str(), gone.text.as_deref()),
        (Some(Status::Repealed), "Repealed.", Some(""))
    );
    assert_eq!(gone.effect.from.as_deref(), Some("2026-01-01"));
    assert!(gone.source_credit.as_ref().is_some_and(|acts| acts.ends_with("eff. Jan. 1, 2026.")));
}

/// Idaho has no separate headings: number, catchline in capitals and law are one paragraph.
#[test]
fn catchlines_in_capitals_are_cut_from_the_law() {
    let plan = idaho_plan();
    let law = "The court shall hear it.";
    let entries = [
        (
            "1-101",
            "",
            "1-101. SHORT TITLE — DOGS. The court shall hear it.\n\n[1-101, added 1972, ch. 336, sec. 1, p. 954.]",
        ),
        (
            "1-102",
            "“DOG” DEFINED",
            "1-102. \"DOG\" DEFINED. The court shall hear it.\n\n[(1-102) C.C.P. 1881, sec. 8; I.C.A., sec. 70-109.]",
        ),
        ("1-103", "", "1-103. PENALTIES. 1. The court shall hear it.\n\n[I.C., sec. 1-103, as added by 1970, ch. 11.]"),
        (
            "1-104",
            "",
            "1-107 [1-104]. U.S. DOGS. The court shall hear it.\n\n[1-107 [1-104], added 2025, ch. 256, sec. 1.]",
        ),
        ("1-105", "", "1-105 DOGS ACT. (1) The court shall hear it.\n\n1-105, added 2013, ch. 72, sec. 7, p. 187.]"),
        (
            "1-106",
            "",
            "1-106. METHODS. [EFFECTIVE UNTIL JULY 1, 2026] The court shall hear it.\n\n1-106. WAYS. [EFFECTIVE JULY 1, 2026]\n\n(1) No court.\n\n[1-106, added 1990, ch. 1, sec. 1.]",
        ),
    ];
    let imported = import_one("content/a.json", &chapter("title-title-1/chapter-chapter-1", &entries), &of_plan(&plan));
    let of = |key: &str| {
        let node = imported.node(&format!("id/code/s{key}"));
        (node.heading.clone(), node.text.clone().unwrap(), node.source_credit.clone().unwrap_or_default())
    };
    let expected = |heading: &str, text: &str, credit: &str| (heading.to_owned(), text.to_owned(), credit.to_owned());
    assert_eq!(of("1-101"), expected("SHORT TITLE — DOGS.", law, "1-101, added 1972, ch. 336, sec. 1, p. 954."));
    assert_eq!(of("1-102"), expected("\"DOG\" DEFINED.", law, "(1-102) C.C.P. 1881, sec. 8; I.C.A., sec. 70-109."));
    assert_eq!(
        of("1-103"),
        expected("PENALTIES.", &format!("1. {law}"), "I.C., sec. 1-103, as added by 1970, ch. 11.")
    );
    assert_eq!(of("1-104"), expected("U.S. DOGS.", law, "1-107 [1-104], added 2025, ch. 256, sec. 1."));
    assert_eq!(of("1-105").0, "DOGS ACT.");
    let pair = imported.node("id/code/s1-106");
    assert_eq!(
        (pair.heading.as_str(), pair.text.as_deref(), pair.effect.to.as_deref()),
        ("METHODS.", Some(law), Some("2026-07-01"))
    );
    let [later] = &pair.wordings[..] else { panic!("{:?}", pair.wordings) };
    assert_eq!((later.heading.as_str(), later.text.as_deref()), ("WAYS.", Some("(1) No court.")));
    assert_eq!((later.effect.from.as_deref(), later.source_credit == pair.source_credit), (Some("2026-07-01"), true));
    assert_eq!(imported.counts.values().sum::<u64>(), 0, "{:?}", imported.warnings);
}

/// A first line that continues with law after its first sentence is not a heading.
#[test]
fn a_heading_of_the_text_ends_with_its_sentence() {
    let long = format!("1-2A-2. {} shall pay.\n\nNone.", "The owner of a dog ".repeat(20));
    let imported = in_dakota(&[
        ("1-2A-1", "", "1-2A-1. Short title. This act may be cited as the Dog Act.\n\nIt is short."),
        ("1-2A-2", "", &long),
        ("1-2A-3", "", "1-2A-3. Powers. Duties.\n\nNone."),
    ]);
    let of = |key: &str| (imported.node(key).heading.clone(), imported.node(key).text.clone().unwrap());
    let law = "This act may be cited as the Dog Act.\nIt is short.";
    assert_eq!(of("sd/sdcl/s1-2a-1"), ("Short title.".to_owned(), law.to_owned()));
    assert_eq!(of("sd/sdcl/s1-2a-2").0, "");
    assert_eq!(of("sd/sdcl/s1-2a-3"), ("Powers. Duties.".to_owned(), "None.".to_owned()));
}

#[test]
fn a_remark_that_the_source_took_for_the_heading_is_a_remark() {
    let remark = "Section effective on the date federal funding is received";
    let text = format!("1-2A-1.({remark}.) Vaccination program.\n\nThere is one.");
    let imported = in_dakota(&[("1-2A-1", &format!("({remark}"), &text)]);
    let section = imported.node("sd/sdcl/s1-2a-1");
    assert_eq!((section.heading.as_str(), section.text.as_deref()), ("Vaccination program.", Some("There is one.")));
    assert_eq!((section.effect.uncertain, section.effect.remark.as_deref()), (true, Some(remark)));
}

#[test]
fn a_heading_keeps_its_closing_quotation_mark() {
    let text = "RCW 1.2.3\n\nDefinitions—\"Board.\"\n\nNone.\n\n[ 1999 c 1 s 1.]";
    let imported =
        import_one("content/a.json", &chapter("x", &[("1.2.3 - Definitions—\"Board.\"", "", text)]), &washington());
    assert_eq!(imported.node("wa/rcw/s1.2.3").heading, "Definitions—\"Board.\"");
    assert_eq!(imported.count(WarningKind::RunOnHeading), 0);
}

#[test]
fn junk_is_left_out_or_found_by_its_text_and_counted() {
    let text = |number: &str| format!("RCW {number}\n\nScope.\n\nA (1) B.\n\nA\n\n(1) B.\n\n[ 2012 c 214 s 1.]");
    let (own, next) = (text("62A.1-101"), text("62A.1-102"));
    let entries = [
        ("2024 Rev. Code of Wash.", "", own.as_str()),
        ("2023 Rev. Code of Wash.", "", own.as_str()),
        ("Next", "", next.as_str()),
        ("1-800-562", "6000", "6000"),
        (
            "10.22.030 - Compromise in all other cases forb",
            "",
            "RCW 10.22.030\n\nCompromise in all other cases forbidden.\n\nNo.\n\nNo.",
        ),
    ];
    let imported = import_one("content/a.json", &chapter("title-title-62a/x", &entries), &washington());
    let node = imported.node("wa/rcw/s62a.1-101");
    assert_eq!((node.heading.as_str(), node.text.as_deref()), ("Scope.", Some("A\n(1) B.")));
    assert_eq!(imported.node("wa/rcw/s62a.1-102").source_credit.as_deref(), Some("2012 c 214 s 1."));
    let cut = imported.node("wa/rcw/s10.22.030");
    assert_eq!((cut.heading.as_str(), cut.text.as_deref()), ("Compromise in all other cases forbidden.", Some("No.")));
    assert_eq!(imported.node("wa/rcw/t62a/ch62a.1").heading, "Chapter 62A.1");
    assert_eq!(imported.provisions().count(), 3);
    assert_eq!((imported.count(WarningKind::JunkEntry), imported.count(WarningKind::CutHeading)), (4, 1));
    assert!(
        imported.warnings.iter().all(|warning| warning.place.starts_with("content/a.json:")),
        "{:?}",
        imported.warnings
    );
}

#[test]
fn a_page_of_contents_gives_containers_their_headings() {
    let contents = r#"{"children": [{"number": "title-10", "heading": "Title 10", "children": [
        {"number": "10.22", "heading": "Compromise."}, {"number": "Show Dispositions", "heading": ""}]}]}"#;
    let law = chapter("x", &[("10.22.010 - When", "", "RCW 10.22.010\n\nWhen\n\nNow.")]);
    let document = |place: &str, text: &str| Document { place: place.into(), bytes: text.into() };
    for places in [["toc.json", "a.json"], ["z/toc.json", "a.json"]] {
        let mut both = [document(places[0], contents), document(places[1], &law)];
        for _ in 0..2 {
            both.reverse();
            let imported = import(&both, &washington());
            assert_eq!(imported.node("wa/rcw/t10/ch10.22").heading, "Compromise.");
            assert_eq!(imported.nodes.iter().map(|(_, _, depth)| *depth).collect::<Vec<_>>(), [0, 1, 2]);
        }
    }
}

fn with_options(options: &str) -> Source<'static> {
    Source {
        format: "state-json",
        key: "xa/code",
        code_body: "Arden Code",
        citation: Some("Arden Code § {number}"),
        options: toml::from_str(options).unwrap(),
    }
}

/// Missouri prints the names of title and chapter above each section, and its heading before the law.
#[test]
fn running_heads_and_headings_within_a_paragraph_are_not_law() {
    let options =
        "running_heads = '^(?:Title [IVX]+ [^a-z]*|Chapter \\d+)$'\nheading_end = '. —'\ncredit = '^\\(L\\. '";
    let text = "Title XI DOGS AND CATS\n\nChapter 9\n\n9.020. Leashes — who pays — when. —1. The owner pays.\n\n2. Chapter 9 applies.\n\nChapter 9\n\n(L. 1972 H.B. 1, A.L. 1999 S.B. 2)\n\nEffective 8-28-99";
    let imported =
        import_one("a.json", &chapter("title-title-xi/chapter-9", &[("9.020", "", text)]), &with_options(options));
    let node = imported.node("xa/code/s9.020");
    assert_eq!(node.heading, "Leashes — who pays — when");
    assert_eq!(node.text.as_deref(), Some("1. The owner pays.\n2. Chapter 9 applies.\nChapter 9"));
    assert_eq!(node.source_credit.as_deref(), Some("(L. 1972 H.B. 1, A.L. 1999 S.B. 2)"));
    assert_eq!(node.notes[0].text, "Effective 8-28-99");
    assert_eq!(imported.counts.values().sum::<u64>(), 0);
}

#[test]
fn a_note_about_a_sunset_makes_the_validity_uncertain() {
    let text = "9.2 Dogs.\n\nThe dog barks.\n\n(L. 2017 H.B. 1)\n\nSunset date 8-28-24";
    let read = |text: &str| {
        let source = with_options("credit = '^\\(L\\. '");
        let imported = import_one("a.json", &chapter("chapter-9", &[("9.2", "Dogs.", text)]), &source);
        let effect = imported.node("xa/code/s9.2").effect.clone();
        (effect.uncertain, effect.remark)
    };
    assert_eq!(read(text), (true, Some("Sunset date 8-28-24".to_owned())));
    assert_eq!(read(&text.replace("Sunset date 8-28-24", "Effective 8-28-24")), (false, None));
}

/// Annotations contain words such as `may` that otherwise show that law follows a line that looks like a credit.
#[test]
fn the_plan_names_the_paragraphs_that_begin_notes() {
    let text = "The dog barks.\n\nHistory: Laws 2011, ch. 7, § 2.\n\nThe 2019 amendment, effective July 1, 2019, provided that a dog may bark.\n\nHistory: Laws 2012, ch. 3.";
    let entries = [("1-2-3", "Dogs.", text)];
    let notes = "notes = '^The (?:19|20)\\d\\d amendment'";
    let read = |options: &str| import_one("a.json", &chapter("chapter-1", &entries), &with_options(options));
    let node = |imported: &Imported| imported.node("xa/code/s1-2-3").text.clone().unwrap();
    let imported = read(notes);
    assert_eq!((node(&imported).as_str(), imported.count(WarningKind::DoubtfulCredit)), ("The dog barks.", 0));
    assert_eq!(read("").count(WarningKind::DoubtfulCredit), 1, "without it, that is doubtful");
    let joined =
        "The dog barks.\n\nHistory: 1968, Act 1, Eff. Nov. 15, 1968Compiler's Notes:For transfer, see MCL 37.111.";
    let of_michigan = chapter("chapter-1", &[("1-2-3", "Dogs.", joined)]);
    let imported = import_one("a.json", &of_michigan, &with_options(r#"notes = "Compiler's Notes?:""#));
    let node = imported.node("xa/code/s1-2-3");
    assert_eq!(node.source_credit.as_deref(), Some("1968, Act 1, Eff. Nov. 15, 1968"));
    assert!(node.notes.iter().any(|note| note.text.contains("see MCL 37.111.")), "{:?}", node.notes);
}

#[test]
fn what_is_left_of_a_former_section_says_that_it_is_gone() {
    let gone = "HISTORY: Former Section, titled Dogs, had the following history: 1999 Act No. 7. Repealed by 2017 Act No. 40, Section 1, eff July 1, 2017.";
    let law =
        "This section replaces a former section.\n\nHISTORY: Former Section 1-2-4 was 1999 Act No. 7; 2018 Act No. 2.";
    let entries =
        [("1-2-3", "", gone), ("1-2-4", "Cats.", law), ("1-2-5", "Recompiled.", "History: Laws 2011, ch. 7.")];
    let imported =
        import_one("a.json", &chapter("chapter-1", &entries), &with_options("credit = '^(?:HISTORY|History):'"));
    let status = |number: &str| imported.node(&format!("xa/code/s{number}")).status;
    assert_eq!(status("1-2-3"), Some(Status::Repealed));
    assert_eq!(status("1-2-4"), Some(Status::InForce));
    assert_eq!(status("1-2-5"), Some(Status::Renumbered));
    assert_eq!(imported.count(WarningKind::EmptyProvision), 0);
}

/// Only pages of sections have an address. Texts that were read from pages of contents break off.
#[test]
fn lines_of_contents_pages_are_not_law_and_give_way_to_the_section() {
    let text = "The owner of a dog pays for it.\n\nSource: SL 1980, ch 1.";
    let whole = chapter("chapter-1", &[("1-2-3", "Dogs.", text)]);
    let fragment = chapter(
        "chapter-2",
        &[("1-2-3", "and to cats", "State v. Artis. The owner of a d"), ("1-2-4", "Cats.", "A cat is free to go whe")],
    );
    let fragment = fragment.replace("https://law.example/1-2-3", "").replace("https://law.example/1-2-4", "");
    let document = |place: &str, text: &str| Document { place: place.into(), bytes: text.into() };
    let mut documents = [document("a.json", &whole), document("b.json", &fragment)];
    for _ in 0..2 {
        documents.reverse();
        let imported = import(&documents, &with_options(""));
        assert_eq!(imported.provisions().count(), 2);
        let dogs = imported.node("xa/code/s1-2-3");
        assert_eq!((dogs.heading.as_str(), dogs.text.as_deref()), ("Dogs.", Some("The owner of a dog pays for it.")));
        let cats = imported.node("xa/code/s1-2-4");
        assert_eq!((cats.heading.as_str(), cats.text.as_deref()), ("Cats.", Some("")));
        assert_eq!(imported.count(WarningKind::ContentsAsText), 2);
        assert_eq!((imported.count(WarningKind::JunkEntry), imported.count(WarningKind::SharedCitation)), (1, 0));
    }
}

#[test]
fn a_banner_about_validity_makes_it_uncertain() {
    let text = "***** 9.2 THIS SECTION IS AMENDED EFFECTIVE APRIL 2, 2030: See 9.2.amended *****\n\nThe dog barks.\n\nHistory: 1968, Act 1.";
    let imported = import_one("a.json", &chapter("chapter-9", &[("9.2", "Dogs.", text)]), &with_options(""));
    let node = imported.node("xa/code/s9.2");
    assert_eq!(node.text.as_deref(), Some("The dog barks."));
    let remark = "9.2 THIS SECTION IS AMENDED EFFECTIVE APRIL 2, 2030: See 9.2.amended";
    assert_eq!((node.effect.uncertain, node.effect.remark.as_deref()), (true, Some(remark)));
}

#[test]
fn damaged_files_are_refused_with_their_place() {
    let text =
        chapter("title-title-1-a/chapter-1", &[("1-2-1", "A.", "1-2-1. A.\n\nB:(1)C\n\nB:\n\n(1)C\n\nSource:SL 1.")]);
    check_damaged(&Document { place: "a.json".into(), bytes: text.clone().into_bytes() }, &south_dakota());
    let refused = import_one("a.json", &text[..text.len() / 2], &south_dakota());
    assert!(refused.mistakes.to_string().starts_with("a.json:"), "{}", refused.mistakes);
}

#[test]
fn south_dakota_is_read_whole_without_its_faults() {
    let Some(corpora) = corpora() else { return };
    let source = south_dakota();
    let imported = import(&documents(&corpora.join("sd-statutes-json-2026.tar.zst"), source.format, |_| true), &source);
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    // 45,606 entries, four of which are not sections; the manifest also counts 45,602.
    assert_eq!((imported.provisions().count(), imported.count(WarningKind::JunkEntry)), (45_602, 4));
    // 31 of them begin with the end of a heading or a status; that no page of a section has them shows that they are lists.
    assert_eq!(imported.count(WarningKind::ContentsAsText), 267);
    // Appendices of forms, each with its own source credit.
    assert_eq!((imported.count(WarningKind::DoubtfulCredit), imported.count(WarningKind::DoubtfulRepeat)), (54, 5));
    assert_eq!(imported.count(WarningKind::PoorFit), 0);
    let (missing, extra) =
        state_key_compare::keys_that_differ(&corpora.join("sd-statutes.jsonl.zst"), &imported, "sd/sdcl");
    let of_title_pages = ["sd/sdcl/sline", "sd/sdcl/sondary", "sd/sdcl/sretary", "sd/sdcl/surities"];
    assert_eq!((missing, extra), (of_title_pages.map(str::to_owned).to_vec(), vec![]));
    for number in ["13-7-10.2", "13-7-10.4", "9-13-1.2", "9-13-40"] {
        let node = imported.node(&format!("sd/sdcl/s{number}"));
        let [gone] = &node.wordings[..] else { panic!("{number}: {:?}", node.wordings) };
        assert_eq!((node.status, gone.status), (Some(Status::InForce), Some(Status::Repealed)), "{number}");
        assert_eq!((gone.effect.from.as_deref(), gone.heading.as_str()), (Some("2026-01-01"), "Repealed."), "{number}");
        assert!(gone.source_credit.as_ref().is_some_and(|acts| acts.ends_with("eff. Jan. 1, 2026.")), "{number}");
    }
    let since = |content: &Content| content.wordings.first().and_then(|later| later.effect.from.clone());
    let of_2026 = imported.provisions().filter(|(_, content, _)| since(content).as_deref() == Some("2026-01-01"));
    assert_eq!(of_2026.count(), 23);
    // Lines of forms.
    let blanks = |key: &str| {
        let text = imported.node(key).text.as_deref().unwrap_or_default();
        text.lines().filter(|line| line.bytes().all(|byte| byte == b'_')).count()
    };
    assert_eq!([blanks("sd/sdcl/s44-8-3"), blanks("sd/sdcl/s16-18-20.2")], [3, 11]);
    let forms = imported.node("sd/sdcl/s15-26a-a").text.as_deref().unwrap_or_default();
    assert_eq!(forms.matches("NOTICE OF APPEAL").count(), 2);
    golden::check("sd", &imported);
}

/// Washington's archive has 195 MB. All numbers are counted, and some titles are read completely.
#[test]
fn some_titles_of_washington_are_read_without_their_faults() {
    let Some(corpora) = corpora() else { return };
    let source = washington();
    let wants = |path: &str| {
        [
            "toc.json",
            "/title-rcws/",
            "/title-title-1/",
            "/title-title-10/",
            "/title-title-59/",
            "/title-title-62a/",
            "chapter-18-59.json",
        ]
        .iter()
        .any(|part| path.contains(part))
    };
    let imported = import(&documents(&corpora.join("wa-statutes-json-2026.tar.zst"), source.format, wants), &source);
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    // All 1,923 entries without a section number are in these titles.
    assert_eq!(imported.count(WarningKind::JunkEntry), 1_923);
    assert_eq!((imported.count(WarningKind::RepeatedProvision), imported.count(WarningKind::SecondWording)), (631, 22));
    let commercial = imported.provisions().filter(|(key, _, _)| key.starts_with("wa/rcw/s62a.")).count();
    assert_eq!(commercial, 633 + 23);
    // The entry of 876,342 characters contains each of its words up to nine times.
    let compact = imported.node("wa/rcw/s18.59.180");
    assert_eq!(compact.text.as_ref().map(|text| text.chars().count() < 50_000), Some(true));
    assert_eq!(imported.node("wa/rcw/t10/ch10.22").heading, "Compromise of misdemeanors.");
    golden::check("wa", &imported);
}

/// Four characters together are one brace, and one is unknown.
#[test]
fn characters_of_one_font_become_the_signs_they_stand_for_or_are_left_out() {
    let text = "RCW 1.2.3\n\nOath.\n\nState of\u{f0fc}\u{f0ef}\u{f0fd}\u{f0ef}\u{f0fe}ss.A\u{f041}B\u{f041}\n\n[ 1999 c 1 s 1.]";
    let imported = import_one("content/a.json", &chapter("x", &[("1.2.3", "Oath.", text)]), &washington());
    assert_eq!(imported.node("wa/rcw/s1.2.3").text.as_deref(), Some("State of } ss.A B"));
    assert_eq!(imported.count(WarningKind::PrivateCharacter), 1);
    assert!(imported.warnings[0].what.contains("U+F041 2 times"), "{:?}", imported.warnings);
    let degrees = in_dakota(&[("1-2A-1", "Heat.", "1-2A-1. Heat.\n\nTo 145\u{f045}F.\n\nSource:SL 1980, ch 1.")]);
    assert_eq!(degrees.node("sd/sdcl/s1-2a-1").text.as_deref(), Some("To 145°F."));
    assert_eq!(degrees.counts.values().sum::<u64>(), 0);
    let options = toml::from_str(r#"signs = { "45" = "°" }"#).unwrap();
    let refused = import_one("a.json", &chapter("x", &[]), &Source { options, ..south_dakota() });
    assert!(refused.mistakes.to_string().contains("'45' is not a private-use character"), "{}", refused.mistakes);
}

#[test]
fn a_history_of_its_own_is_the_source_credit() {
    let text = chapter("x", &[("1-2A-1", "Lines.", "1-2A-1. Lines.\n\nNone.")]);
    let with = text.replace("\"source_url\"", "\"history\": \" SL 1980, ch 1. \", \"source_url\"");
    let credit = |text: &str| import_one("a.json", text, &south_dakota()).node("sd/sdcl/s1-2a-1").source_credit.clone();
    assert_eq!((credit(&text), credit(&with)), (None, Some("SL 1980, ch 1.".to_owned())));
}

/// Of two editions of one section, the newest in the chapter is law, wherever it is.
#[test]
fn an_older_edition_is_left_out() {
    let text = |words: &str| format!("RCW 62A.1-101\n\nScope.\n\n{words}\n\n[ 2012 c 214 s 1.]");
    let (old, new) = (text("Old."), text("New."));
    let entries = [("2023 Rev. Code of Wash.", "", old.as_str()), ("2024 Rev. Code of Wash.", "", new.as_str())];
    let imported = import_one("a.json", &chapter("x", &entries), &washington());
    let node = imported.node("wa/rcw/s62a.1-101");
    assert_eq!((node.text.as_deref(), node.wordings.len()), (Some("New."), 0));
}

/// The numbers of a form do not belong to the section.
#[test]
fn the_numbers_of_a_form_are_words_of_the_form() {
    let form = "(1) Serve it.\n\n(2) The summons shall be in the following form:\n\nTO: . . . . (Name)\n\n(1) You must answer\n\n(2) Within . . . . days\n\n";
    let text = format!("RCW 1.2.3\n\nForm.\n\n{form}(3) Nothing else is due.\n\n[ 1999 c 1 s 1.]");
    let imported = import_one("content/a.json", &chapter("x", &[("1.2.3", "Form.", &text)]), &washington());
    let node = imported.node("wa/rcw/s1.2.3");
    let lines: Vec<_> = node.layout.lines.iter().map(|line| (line.depth, line.label_bytes())).collect();
    assert_eq!(lines, [(0, 3), (0, 3), (1, 0), (1, 0), (1, 0), (0, 3)]);
}

/// Each section of Idaho has a catchline, its law and a credit.
#[test]
fn idaho_is_read_by_its_plan() {
    let Some(corpora) = corpora() else { return };
    let plan = idaho_plan();
    let source = of_plan(&plan);
    let imported = import(&documents(&corpora.join("id-statutes-json-2026.tar.zst"), source.format, |_| true), &source);
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    let all: Vec<_> = imported.provisions().collect();
    let count = |has: fn(&Content) -> bool| all.iter().filter(|(_, content, _)| has(content)).count();
    assert_eq!((all.len(), imported.count(WarningKind::JunkEntry)), (20_588, 2));
    assert_eq!(count(|content| content.source_credit.is_none()), 0);
    assert_eq!(count(|content| content.heading.is_empty()), 0);
    assert_eq!(count(|content| content.heading.len() > 400), 0);
    assert_eq!(count(|content| content.status == Some(Status::InForce) && content.text.as_deref() == Some("")), 0);
    assert_eq!(count(|content| content.wordings.len() == 1), 36);
    assert_eq!(imported.count(WarningKind::PoorFit), 0, "{:?}", imported.warnings);
    let jury = imported.node("id/code/s19-2602");
    assert!(jury.heading.len() < 100 && jury.text.as_ref().is_some_and(|text| text.len() > 300), "{jury:?}");
    golden::check("id", &imported);
}
