//! State codes as JSON volumes of page text: difficult cases in a small volume, and Hawaii.

use std::fs;
use std::path::Path;

use hornbook_corpus::outline::Status;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::report::WarningKind;
use serde_json::json;

use crate::corpora::corpora;
use crate::imported::{Imported, check_damaged, documents, import, import_one};
use crate::state_json::of_plan;

fn plan() -> toml::Table {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files");
    toml::from_str(&fs::read_to_string(plans.join("hi-statutes-json.toml")).unwrap()).unwrap()
}

const LINKS: &str = "\n\n          Previous\n\n          Vol01_Ch0001-0042F\n\n          Next";

/// A volume of pages, each given by its text.
fn volume(pages: &[&str]) -> Document {
    let page = |(at, text): (usize, &&str)| {
        let url = format!("https://example.org/{at}.htm");
        (format!("{at}"), json!({ "t": format!("{text}{LINKS}"), "u": url }))
    };
    let pages: serde_json::Map<_, _> = pages.iter().enumerate().map(page).collect();
    Document { place: "Vol01.json".into(), bytes: serde_json::to_vec(&pages).unwrap() }
}

fn read(pages: &[&str]) -> Imported {
    import(&[volume(pages)], &of_plan(&plan()))
}

/// A volume of one page, as text.
const SMALL: &str = r#"{"1":{"t":"PART I.\nLAW\n\n     [§1-1]  Law.  (a)  It is. [L 1905, c 1]\n\nNote\n\n  So.\n\n   Next","u":"https://example.org/1"}}"#;

#[test]
fn a_page_is_a_section_with_its_parts_credit_and_notes() {
    let imported = read(&[
        "[§7-2]  Dogs.  No dog shall bark. [L 1972, c 1, pt of §2]",
        "PART I.\nGENERAL PROVISIONS\n\nNote\n\n  Part I added by L 1972,\nc 1, §1.\n\nHOUSE\nANIMALS\n\n     §7-1  Cats; names,\netc.  (a)  A cat that lives with a self-\ngoverning owner shall:\n\n     (1)  Have a name;\n\n          (A)  Short; or\n\n          (B)  Long; and\n\n     (2)  Use it.\n\n\
         The owner shall call it so.\n\n     (b)  As section [7-2] says. [L 1971,\nc 9, §1; am L 2025, c 2, §3]\n\nCross References\n\n  Dogs, see §7-2.\n\nCase Notes\n\nNames.\n\n  A cat may have two.  1 H. 2.",
        "PART II.  FISH\n\n     §7-10  Fish.  Fish are free. [L 1972, c 3, §1]",
    ]);
    assert_eq!(imported.mistakes.count(), 0);
    let keys: Vec<(&str, u8)> = imported.nodes.iter().map(|(key, _, depth)| (key.as_str(), *depth)).collect();
    let expected = [
        ("hi/rs/ch7", 0),
        ("hi/rs/ch7/pti", 1),
        ("hi/rs/ch7/pti/house-animals", 2),
        ("hi/rs/s7-1", 3),
        ("hi/rs/s7-2", 3),
        ("hi/rs/ch7/ptii", 1),
        ("hi/rs/s7-10", 2),
    ];
    assert_eq!(keys, expected);
    let part = &imported.nodes[1].1;
    assert_eq!(
        (part.heading.as_str(), part.notes[0].text.as_str()),
        ("PART I. GENERAL PROVISIONS", "Part I added by L 1972, c 1, §1.")
    );
    let cats = imported.node("hi/rs/s7-1");
    assert_eq!((cats.citation.as_str(), cats.heading.as_str()), ("Haw. Rev. Stat. § 7-1", "Cats; names, etc."));
    let law = "(a) A cat that lives with a self-governing owner shall:\n(1) Have a name;\n(A) Short; or\n(B) Long; and\n(2) Use it.\nThe owner shall call it so.\n(b) As section [7-2] says.";
    assert_eq!(cats.text.as_deref(), Some(law));
    let depths: Vec<u8> = cats.layout.lines.iter().map(|line| line.depth).collect();
    assert_eq!(depths, [0, 1, 2, 2, 1, 1, 0]);
    assert_eq!(cats.source_credit.as_deref(), Some("L 1971, c 9, §1; am L 2025, c 2, §3"));
    let notes: Vec<(&str, &str)> = cats.notes.iter().map(|note| (note.topic.as_str(), note.text.as_str())).collect();
    assert_eq!(notes, [("Cross References", "Dogs, see §7-2."), ("Case Notes", "Names.\nA cat may have two. 1 H. 2.")]);
    assert_eq!(cats.source_url.as_deref(), Some("https://example.org/1.htm"));
}

#[test]
fn two_blocks_of_one_number_are_wordings_in_time() {
    let imported = read(&[
        "§6E-8  Review.  [Section effective until June 30, 2026.  For section\neffective July 1, 2026, see below.]  It was so. [L 1976, c 1]\n\n     \
         §6E-8  Review.  [Section effective July 1,\n2026.  For section effective until June 30, 2026, see above.]  It is so. [L 1976, c 1; am L 2025, c 4, §1]\n\nNote\n\n  Applies later.",
    ]);
    let review = imported.node("hi/rs/s6e-8");
    assert_eq!((review.text.as_deref(), review.effect.to.as_deref()), (Some("It was so."), Some("2026-07-01")));
    let later = &review.wordings[0];
    assert_eq!((later.text.as_deref(), later.effect.from.as_deref()), (Some("It is so."), Some("2026-07-01")));
    assert_eq!(later.source_credit.as_deref(), Some("L 1976, c 1; am L 2025, c 4, §1"));
    assert_eq!((later.notes.len(), imported.provisions().count()), (1, 1));
}

#[test]
fn a_repeal_that_a_later_act_deleted_does_not_end_a_section() {
    let page = |note: &str| {
        let law =
            "§514B-1  Hearings.  [Section repealed June 30, 2023.  L 2018, c 196, §9.]  It is so. [L 2018, c 196, §1]";
        let imported = read(&[&format!("{law}\n\nNote\n\n  {note}")]);
        imported.node("hi/rs/s514b-1").effect.to.clone()
    };
    let by =
        |day: &str| page(&format!("Repeal of section on {day}, by L 2018, c 196, §9, deleted by L 2020, c 57, §2."));
    assert_eq!(by("June 30, 2023"), None);
    assert_eq!(by("June 30, 2025").as_deref(), Some("2023-06-30"), "a note on another repeal");
    assert_eq!(page("Applies later.").as_deref(), Some("2023-06-30"));
    for form in ["Repeal and reenactment on", "Repeal and reenactment of section on"] {
        let note = format!("{form} June 30, 2023, by L 2010, c 208, §8 deleted by L 2014, c 94, §3.");
        assert_eq!(page(&note), None, "{form}");
    }
    let of_part =
        "Repeal and reenactment of subsection (a) on June 30, 2023, by L 2010, c 2, §8 deleted by L 2014, c 9, §3.";
    assert_eq!(page(of_part).as_deref(), Some("2023-06-30"));
}

#[test]
fn sections_that_are_gone_have_their_status_or_are_notes_of_their_successors() {
    let imported = read(&[
        "§132-4  [OLD]  REPEALED.  L 1978, c 241,\n§2(4).\n\n     §132-4  Fires.  Fires are investigated. [L 1978, c 241, §1]",
        "§§37-91 to 93  REPEALED.  L 1984, c 183.",
        "§302A-1607  REPEALED.  L 2025, c 268,\n§9.  [Reenactment on July 1, 2029.  L 2025, c 268, §14.]",
        "§101-5  Renumbered as §101-6.",
        "§88-53  (Reserved)",
        "§425-21  Service.  It is served. [L 2002, c 130, §5]\n\nPART II.\nOLD ACT--REPEALED\n\n     §§425-21 to 425-52  REPEALED.  L 1989, c 288.\n\nCross References\n\n  See chapter 425E.",
        "§§27-61 to 27-64  REPEALED.  L 2023, c 87.\n\n     §27-65  REPEALED.  L 2023, c 88.",
    ]);
    let status = |key: &str| imported.node(key).status;
    let fires = imported.node("hi/rs/s132-4");
    assert_eq!((fires.status, fires.text.as_deref()), (Some(Status::InForce), Some("Fires are investigated.")));
    assert_eq!(
        (fires.notes[0].topic.as_str(), fires.notes[0].text.as_str()),
        ("Former section", "§ 132-4 [OLD] REPEALED. L 1978, c 241, §2(4).")
    );
    let range = imported.node("hi/rs/s37-91");
    assert_eq!((range.status, range.source_credit.as_deref()), (Some(Status::Repealed), Some("L 1984, c 183.")));
    assert_eq!(range.parallel_citations, ["Haw. Rev. Stat. § 37-92", "Haw. Rev. Stat. § 37-93"]);
    assert!(imported.node("hi/rs/s302a-1607").effect.uncertain);
    assert_eq!([status("hi/rs/s101-5"), status("hi/rs/s88-53")], [Some(Status::Renumbered), Some(Status::Reserved)]);
    let served = imported.node("hi/rs/s425-21");
    assert_eq!((served.status, served.notes.len()), (Some(Status::InForce), 2));
    assert_eq!([status("hi/rs/s27-61"), status("hi/rs/s27-65")], [Some(Status::Repealed); 2]);
}

#[test]
fn lists_of_numbers_are_no_ranges() {
    let imported = read(&[
        "§§7-1.4 and 7-1.45  REPEALED.  L 2007, c 9, §§23,\n24.",
        "§§7-22, 22.5, 22.7, 23, 24  REPEALED.  L 1989, c 327, §§5 to 9.",
        "§§7-33, 33.5, 34 to 36  REPEALED.  L 1993, c 8.",
        "§§7-61 to 7-63, 7-71, and\n7-80 to 7-82  REPEALED.  L 1993, c 8.",
        "§§7-91 – 7-93  REPEALED.  L 1993, c 8.",
    ]);
    let others = |number: &str| {
        let node = imported.node(&format!("hi/rs/s{number}"));
        assert_eq!((node.status, node.text.as_deref()), (Some(Status::Repealed), Some("")));
        let numbers = node.parallel_citations.iter().map(|cited| cited.trim_start_matches("Haw. Rev. Stat. § 7-"));
        numbers.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(others("7-1.4"), "1.45");
    assert_eq!(others("7-22"), "22.5 22.7 23 24");
    assert_eq!(others("7-33"), "33.5 34 35 36");
    assert_eq!(others("7-61"), "62 63 71 80 81 82");
    assert_eq!(others("7-91"), "92 93");
}

#[test]
fn remarks_of_the_editors_before_the_law_are_notes() {
    for remark in ["See Note at\npart heading.", "Effect and application. L 1989, c 309, §10."] {
        let imported =
            read(&[&format!("§7-1  Hens.  [{remark}]  (a)  Hens lay.\n\n     (b)  They do. [L 1989, c 309, §1]")]);
        let hens = imported.node("hi/rs/s7-1");
        assert_eq!(hens.text.as_deref(), Some("(a) Hens lay.\n(b) They do."));
        assert_eq!(hens.layout.lines.iter().map(|line| line.label_bytes()).collect::<Vec<_>>(), [3, 3]);
        assert_eq!((hens.notes[0].topic.as_str(), hens.notes[0].text.clone()), ("Note", remark.replace('\n', " ")));
    }
    let word = read(&["§7-1  Hens.  [Hens] lay. [L 1989, c 1, §1]"]);
    assert_eq!(word.node("hi/rs/s7-1").text.as_deref(), Some("[Hens] lay."), "a word that the revisor added");
    let repealed = read(&["§7-1  Hens.  [See Note below.]  [L 1989, c 1, §1]"]);
    assert_eq!(repealed.node("hi/rs/s7-1").text.as_deref(), Some("[See Note below.]"), "no law follows");
}

#[test]
fn labels_in_brackets_are_labels_and_brackets_around_headings_go() {
    let imported = read(&[
        "[§7-1  Hens.]  [(a)]  Hens lay:\n\n     (1)  Eggs.\n\n     [(b)]  They do. [L 1989, c 309, §1]",
        "[§7-2  Reports. (a)] After a time, hens report. [L 1989, c 309, §2]",
        "§7-3  [Hens] of the\nfarm.  Hens com\u{ad}ply. [L 1989, c 309, §2]",
        "[§7-4]  Other [hens].  They do. [L 1989, c 309, §2]",
    ]);
    let node = |number: &str| imported.node(&format!("hi/rs/s7-{number}"));
    let heading = |number: &str| node(number).heading.as_str();
    assert_eq!(
        [1, 2, 3, 4].map(|n| heading(&n.to_string())),
        ["Hens.", "Reports.", "[Hens] of the farm.", "Other [hens]."]
    );
    let hens = node("1");
    assert_eq!(hens.text.as_deref(), Some("[(a)] Hens lay:\n(1) Eggs.\n[(b)] They do."));
    let places: Vec<_> = hens.layout.lines.iter().map(|line| (line.depth, line.label_bytes())).collect();
    assert_eq!(places, [(0, 5), (1, 3), (0, 5)]);
    assert_eq!(node("2").text.as_deref(), Some("(a) After a time, hens report."));
    assert_eq!(node("3").text.as_deref(), Some("Hens comply."));
}

#[test]
fn law_behind_a_note_without_a_credit_before_it_is_law() {
    let compact = "§7-1  Compact.  The compact is law:\n\nARTICLE I.\nEGGS\n\n     Eggs are [free].\n\nRevision Note\n\n  \
                   Bracketed word added.\n\nARTICLE II.\nHENS\n\n     (a)  Hens too.\n\n     (b)  All.";
    let imported = read(&[&format!("{compact} [L 1971, c 1]\n\nCase Notes\n\n  None.")]);
    let node = imported.node("hi/rs/s7-1");
    let law = "The compact is law:\nARTICLE I. EGGS\nEggs are [free].\nARTICLE II. HENS\n(a) Hens too.\n(b) All.";
    assert_eq!((node.text.as_deref(), node.source_credit.as_deref()), (Some(law), Some("L 1971, c 1")));
    let topics: Vec<&str> = node.notes.iter().map(|note| note.topic.as_str()).collect();
    assert_eq!((topics, imported.count(WarningKind::DoubtfulEnd)), (vec!["Revision Note", "Case Notes"], 1));
    let without = read(&[compact]);
    assert_eq!(
        without.node("hi/rs/s7-1").text.as_deref(),
        Some("The compact is law:\nARTICLE I. EGGS\nEggs are [free].")
    );
}

#[test]
fn what_is_not_understood_is_said() {
    let imported = read(&["There is no section here.", "§1-1  Law.  It is. [L 1905, c 1]\n\n     More law."]);
    assert_eq!(imported.count(WarningKind::JunkEntry), 1);
    assert_eq!(imported.count(WarningKind::DoubtfulCredit), 1);
    assert_eq!(imported.node("hi/rs/s1-1").text.as_deref(), Some("It is.\nMore law."));
    let plan = plan();
    assert_eq!(import_one("Vol01.json", "{\"1\": {\"t\": 5}}", &of_plan(&plan)).mistakes.count(), 1);
    assert_eq!(import_one("Vol01.json", SMALL, &of_plan(&plan)).provisions().count(), 1);
    check_damaged(&Document { place: "Vol01.json".into(), bytes: SMALL.into() }, &of_plan(&plan));
}

#[test]
fn hawaii_is_read_by_its_plan() {
    let Some(corpora) = corpora() else { return };
    let plan = plan();
    let source = of_plan(&plan);
    let volumes = |path: &str| path.contains("Vol05_") || path.contains("Vol12_");
    let imported = import(&documents(&corpora.join("hi-statutes-json-2026.tar.zst"), source.format, volumes), &source);
    let deposits = imported.node("hi/rs/s521-44");
    assert_eq!(deposits.heading, "Security deposits.");
    assert!(deposits.text.as_deref().unwrap().contains("\n(b) The landlord may require"));
    assert!(deposits.source_credit.as_deref().unwrap().ends_with("am L 2015, c 29, §3"));
    let drunk = imported.node("hi/rs/s291e-61");
    assert_eq!((drunk.effect.to.as_deref(), drunk.effect.then), (Some("2028-06-30"), Some(Status::Uncertain)));
    let parking = imported.node("hi/rs/s291-55");
    let from: Vec<_> = parking.wordings.iter().map(|wording| wording.effect.from.as_deref()).collect();
    assert_eq!((parking.effect.to.as_deref(), from), (Some("2021-07-01"), vec![Some("2021-07-01")]));
}
