//! Resolving citations in the sample corpus: one test for each kind of answer, and lists.

use std::sync::Arc;

use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::Destination;
use hornbook_search::{AnswerKind, CitationAnswer, Engine};

use sample::ENGINE;

#[path = "support/sample.rs"]
mod sample;

fn resolve(text: &str) -> CitationAnswer {
    let mut answers = ENGINE.resolve(text).unwrap();
    assert_eq!(answers.len(), 1, "{text}: {answers:?}");
    answers.remove(0)
}

fn kinds(text: &str) -> Vec<AnswerKind> {
    ENGINE.resolve(text).unwrap().iter().map(|answer| answer.answer).collect()
}

fn cited(answer: &CitationAnswer) -> Vec<&str> {
    answer.candidates.iter().map(|node| node.citation.as_str()).collect()
}

#[test]
fn one_provision_is_resolved_in_any_spelling_with_its_subdivision_apart() {
    for typed in [
        "Arden Rev. Stat. § 24-2-201(b)(2)",
        "arden revised statutes 24–2–201 (b)(2)",
        "ARDEN REV STAT SECTION 24-2-201(b)(2)",
    ] {
        let answer = resolve(typed);
        assert_eq!(answer.answer, AnswerKind::Resolved, "{typed}: {}", answer.message);
        assert_eq!(answer.citation.as_deref(), Some("Arden Rev. Stat. § 24-2-201(b)(2)"));
        assert_eq!(answer.subdivision, ["b", "2"]);
        assert_eq!(cited(&answer), ["Arden Rev. Stat. § 24-2-201"]);
        assert_eq!(answer.node_id, Some(answer.candidates[0].node_id));
        assert_eq!(answer.jurisdiction.as_deref(), Some("XA"));
        assert_eq!(answer.code_body.as_deref(), Some("Arden Revised Statutes"));
    }
}

#[test]
fn citations_without_a_grammar_are_resolved_by_exact_text() {
    let answer = resolve("3 s.f.c. 823");
    assert_eq!((answer.answer, answer.citation.as_deref()), (AnswerKind::Resolved, Some("3 S.F.C. § 823")));
    let container = resolve("arden rev. stat. tit. 12, ch. 2");
    assert_eq!(cited(&container), ["Arden Rev. Stat. tit. 12, ch. 2"]);
}

#[test]
fn popular_names_of_acts_are_resolved() {
    for (typed, citation, body) in [
        ("ERISA § 502(a)", "29 U.S.C. § 1132(a)", "United States Code"),
        ("Title VII", "42 U.S.C. §§ 2000e to 2000e-17", "United States Code"),
        ("ERISA § 999", "ERISA § 999", "United States Code"),
        ("Pub. L. 111-148", "Pub. L. 111-148", "Public Laws"),
        ("124 Stat. 119", "124 Stat. 119", "United States Statutes at Large"),
    ] {
        let answer = resolve(typed);
        assert_eq!(answer.answer, AnswerKind::OutsideCoverage, "{typed}: {}", answer.message);
        assert_eq!((answer.citation.as_deref(), answer.code_body.as_deref()), (Some(citation), Some(body)));
        assert_eq!(answer.jurisdiction.as_deref(), Some("US"));
    }
    assert!(resolve("ERISA § 999").message.contains("the table of acts does not list"));
    let outside = AnswerKind::OutsideCoverage;
    assert_eq!(kinds("ERISA § 502, 3 S.F.C. § 823 and Pub. L. 111-148"), [outside, AnswerKind::Resolved, outside]);
    assert_eq!(kinds("the Clayton Act of whatever"), [AnswerKind::Malformed]);
}

#[test]
fn a_section_inside_a_range_citation_is_resolved_to_it() {
    for inside in ["24-3-110", "24-3-112", "24-3-114"] {
        let answer = resolve(&format!("Arden Rev. Stat. § {inside}"));
        assert_eq!(answer.answer, AnswerKind::Resolved);
        assert_eq!(cited(&answer), ["Arden Rev. Stat. §§ 24-3-110 to 24-3-114"]);
        assert!(!answer.candidates[0].status.may_be_in_force());
    }
    assert_eq!(resolve("Arden Rev. Stat. § 24-3-190").answer, AnswerKind::NotHeld);
}

#[test]
fn a_former_citation_is_resolved_to_what_it_became() {
    let answer = resolve("Arden Rev. Stat. § 5-9-901");
    assert_eq!(answer.answer, AnswerKind::Resolved);
    assert_ne!(cited(&answer), ["Arden Rev. Stat. § 5-9-901"]);
    assert!(answer.message.contains("former citation"), "{}", answer.message);
}

#[test]
fn a_range_of_several_is_ambiguous_and_names_them_in_order() {
    let expected = ["12-1-101", "12-1-102", "12-1-103", "12-1-104"].map(|n| format!("Arden Rev. Stat. § {n}"));
    let answer = resolve("Arden Rev. Stat. §§ 12-1-101 to 12-1-104");
    assert_eq!((answer.answer, answer.node_id), (AnswerKind::Ambiguous, None));
    assert_eq!(cited(&answer), expected);
    assert!(answer.message.contains("4 provisions"), "{}", answer.message);
    // If one end does not exist, the provisions between the ends are still found.
    assert_eq!(cited(&resolve("Arden Rev. Stat. §§ 12-1-100 to 12-1-104")), expected);
}

#[test]
fn missing_and_uncovered_citations_are_distinguished() {
    for (typed, kind, part) in [
        ("Arden Rev. Stat. § 99-9-999", AnswerKind::NotHeld, "check the number"),
        ("Port Arden Mun. Code § 17.40.031", AnswerKind::NotHeld, "Port Arden Municipal Code is in this corpus"),
        (
            "42 U.S.C. § 1983",
            AnswerKind::OutsideCoverage,
            "United States Code (US), which this corpus does not contain",
        ),
        ("Va. Code § 13.1-345", AnswerKind::Placeholder, "VA is listed"),
        ("fence height", AnswerKind::Malformed, "names no known code"),
        ("99 U.S.C. § 1", AnswerKind::Malformed, "cannot read"),
        ("", AnswerKind::Malformed, "empty"),
    ] {
        let answer = resolve(typed);
        assert_eq!(answer.answer, kind, "{typed}: {}", answer.message);
        assert!(answer.message.contains(part), "{typed}: {}", answer.message);
        assert!(answer.candidates.is_empty() && answer.node_id.is_none());
        assert_eq!(answer.citation.is_none(), kind == AnswerKind::Malformed);
    }
    assert_eq!(resolve(&"9".repeat(100_000)).answer, AnswerKind::Malformed);
}

#[test]
fn a_list_gives_an_answer_for_each_citation() {
    use AnswerKind::{Ambiguous, NotHeld, Resolved};
    assert_eq!(kinds("Arden Rev. Stat. §§ 12-1-101, 12-1-102 and 99-9-999"), [Resolved, Resolved, NotHeld]);
    assert_eq!(kinds("Arden Rev. Stat. §§ 12-1-101 to 12-1-103, 24-2-201"), [Ambiguous, Resolved]);
}

#[test]
fn one_unreadable_element_does_not_affect_the_others() {
    use AnswerKind::{Malformed, NotHeld, OutsideCoverage, Resolved};
    for list in [
        "Arden Rev. Stat. § 12-1-101, banana, Arden Rev. Stat. § 99-9-999",
        "Arden Rev. Stat. §§ 12-1-101, banana and 99-9-999",
        "Arden Rev. Stat. § 12-1-101; banana; Arden Rev. Stat. § 99-9-999",
    ] {
        assert_eq!(kinds(list), [Resolved, Malformed, NotHeld], "{list}");
    }
    assert_eq!(kinds("42 U.S.C. § 1983 and 3 S.F.C. § 823"), [OutsideCoverage, Resolved]);
    let answers = ENGINE.resolve("banana, 3 S.F.C. § 823").unwrap();
    assert!(answers[0].message.contains("'banana'"), "{}", answers[0].message);
}

#[test]
fn containers_are_resolved_by_any_of_their_names() {
    for (expected, names) in [
        (
            "Port Arden Mun. Code tit. 17, art. V",
            &[
                "Port Arden Municipal Code, Title 17, Article V",
                "article V of title 17 of the Port Arden Municipal Code",
                "port arden mun. code tit. 17, art. v",
                "Port Arden Mun. Code Title 17 Art. V",
            ][..],
        ),
        (
            "Arden Rev. Stat. tit. 12, ch. 2",
            &["Arden Revised Statutes Title 12, Chapter 2", "ch. 2 of tit. 12, Arden Rev. Stat."],
        ),
        ("Hollis County Code tit. 8", &["Hollis County Code, Title 8", "title 8, Hollis County Code"]),
        ("Hollis County Code ch. 8.12", &["Hollis County Code ch 8.12", "Hollis County Code Chapter 8.12"]),
    ] {
        for name in names {
            let answer = resolve(name);
            assert_eq!(answer.answer, AnswerKind::Resolved, "{name}: {}", answer.message);
            assert_eq!(cited(&answer), [expected], "{name}");
            assert_eq!(answer.citation.as_deref(), Some(expected));
        }
    }
    let absent = resolve("Hollis County Code, Title 99");
    assert_eq!(absent.answer, AnswerKind::NotHeld, "{}", absent.message);
    assert_eq!(absent.code_body.as_deref(), Some("Hollis County Code"));
    assert_eq!(resolve("42 U.S.C. ch. 21, subch. I").answer, AnswerKind::OutsideCoverage);
    assert_eq!(
        kinds("Hollis County Code tit. 8, 42 U.S.C. § 1983"),
        [AnswerKind::Resolved, AnswerKind::OutsideCoverage]
    );
}

#[test]
fn containers_are_resolved_by_the_numbers_that_their_sections_begin_with() {
    for (expected, names) in [
        (
            "Arden Rev. Stat. tit. 12, ch. 2",
            &["Arden Rev. Stat. 12-2", "Arden Rev. Stat. ch. 12-2", "ARDEN REV STAT § 12-02"][..],
        ),
        ("Arden Rev. Stat. tit. 12", &["Arden Rev. Stat. 12", "Arden Rev. Stat. § 12"]),
        ("Hollis County Code ch. 8.12", &["Hollis County Code 8.12", "Hollis County Code § 8.12"]),
    ] {
        for name in names {
            let answer = resolve(name);
            assert_eq!(answer.answer, AnswerKind::Resolved, "{name}: {}", answer.message);
            assert_eq!(cited(&answer), [expected], "{name}");
        }
    }
}

/// A part of the federal regulations is in a subchapter of a chapter of a title, and is cited by its number.
#[test]
fn parts_of_the_federal_regulations_are_cited_with_and_without_the_word() {
    let dir = tempfile::tempdir().unwrap();
    let xml = r#"<ECFR><DIV1 N="47" TYPE="TITLE"><HEAD>Title 47—Telecommunication</HEAD>
        <DIV3 N="I" TYPE="CHAPTER"><HEAD>CHAPTER I—COMMISSION</HEAD><DIV4 N="B" TYPE="SUBCHAP"><HEAD>SUBCHAPTER B—CARRIERS</HEAD>
        <DIV5 N="22" TYPE="PART"><HEAD>PART 22—PUBLIC MOBILE SERVICES</HEAD>
        <DIV8 N="22.1" TYPE="SECTION"><HEAD>§ 22.1 Basis.</HEAD><P>The basis is the Act.</P></DIV8></DIV5>
        <DIV5 N="24" TYPE="PART"><HEAD>PART 24—PERSONAL SERVICES</HEAD>
        <DIV8 N="24.1" TYPE="SECTION"><HEAD>§ 24.1 Basis.</HEAD><P>The basis is another Act.</P></DIV8></DIV5>
        </DIV4></DIV3></DIV1></ECFR>"#;
    let plan = "name = 'Regulations'\n[[source]]\nformat = 'ecfr'\npath = 'title47.xml'\njurisdiction = 'US'\n\
                code_body = 'Code of Federal Regulations'\nkey = 'us/cfr'\npublisher = 'p'\nlicense = 'l'\n\
                edition = 'e'\nretrieved = '2026-01-01'\nurl = 'https://law.example/'\n";
    std::fs::write(dir.path().join("title47.xml"), xml).unwrap();
    std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let out = dir.path().join("snapshot");
    sample::build_plan(dir.path().join("plan.toml"), Destination::Folder(out.clone()));
    let engine = Engine::new(Arc::new(Snapshot::open(&out).unwrap())).unwrap();
    let resolve = |text: &str| engine.resolve(text).unwrap().remove(0);
    for name in ["47 CFR 22", "47 CFR part 22", "47 C.F.R. pt. 22", "part 22 of title 47"] {
        let answer = resolve(name);
        assert_eq!(answer.answer, AnswerKind::Resolved, "{name}: {}", answer.message);
        assert!(answer.candidates[0].citation.ends_with("Part 22"), "{name}: {:?}", cited(&answer));
    }
    let parts = &engine.parts().unwrap()[0];
    let [title] = parts.in_part.as_slice() else { panic!("{parts:?}") };
    assert_eq!(
        title.in_words(),
        "title 47 in part: it has parts 22, 24, and none of chapter II, chapter III, chapter IV"
    );
    // Part 15 is before the parts of its chapter that are loaded, part 23 is between them, and no chapter has part 999.
    for (name, expected) in [
        ("47 CFR 15", AnswerKind::OutsideCoverage),
        ("47 CFR 73.1", AnswerKind::OutsideCoverage),
        ("47 CFR 23", AnswerKind::NotHeld),
        ("47 CFR 999", AnswerKind::NotHeld),
    ] {
        let absent = resolve(name);
        assert_eq!(absent.answer, expected, "{name}: {}", absent.message);
        assert!(absent.message.contains("of that title it has parts 22, 24"), "{}", absent.message);
        let is_in_chapter = absent.message.contains("chapter I of that title has the numbers 0-199");
        assert_eq!(is_in_chapter, expected == AnswerKind::OutsideCoverage, "{}", absent.message);
    }
}

#[test]
fn rules_that_a_copy_of_their_title_lacks_are_outside_coverage() {
    let line = |citation: &str, heading: &str| {
        format!(
            "{{\"jurisdiction\": \"US\", \"codeBody\": \"United States Code\", \"path\": [\"Title 18A—Crimes and Criminal Procedure (Appendix)\"], \"citation\": \
             \"{citation}\", \"heading\": \"{heading}\", \"text\": \"Words of {heading}.\", \"ref\": \"\", \"status\": \"in force\"}}\n"
        )
    };
    let plan = "name = 'Code'\n[[source]]\nformat = 'provisions-jsonl'\npath = 'law.jsonl'\njurisdiction = 'US'\n\
                code_body = 'United States Code'\nkey = 'us/usc'\npublisher = 'p'\nlicense = 'l'\n\
                edition = 'e'\nretrieved = '2026-01-01'\nurl = 'https://law.example/'\n";
    let act = line("18 U.S.C. App. § 1", "Definitions");
    let rules = line("Fed. R. Crim. P. 1", "Scope") + &line("Fed. R. Crim. P. 11", "Pleas");
    for (law, rule_11, rule_99) in [
        (act.clone(), AnswerKind::OutsideCoverage, AnswerKind::OutsideCoverage),
        (act + &rules, AnswerKind::Resolved, AnswerKind::NotHeld),
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("law.jsonl"), law).unwrap();
        std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
        let out = dir.path().join("snapshot");
        sample::build_plan(dir.path().join("plan.toml"), Destination::Folder(out.clone()));
        let engine = Engine::new(Arc::new(Snapshot::open(&out).unwrap())).unwrap();
        let resolve = |text: &str| engine.resolve(text).unwrap().remove(0);
        assert_eq!(resolve("18 U.S.C. App. § 1").answer, AnswerKind::Resolved);
        for (cited, expected) in [("Fed. R. Crim. P. 11", rule_11), ("Fed.R.Crim.P. 99", rule_99)] {
            let answer = resolve(cited);
            assert_eq!(answer.answer, expected, "{cited}: {}", answer.message);
            let is_explained = answer.message.contains("without the Federal Rules of Criminal Procedure");
            assert_eq!(is_explained, expected == AnswerKind::OutsideCoverage, "{}", answer.message);
        }
        // The appendix of title 28 is not here at all.
        assert!(resolve("FRE 403").message.contains("the appendix to title 28"));
    }
}

#[test]
fn a_citation_that_is_not_found_is_told_what_the_copy_lacks() {
    let answer = resolve("Port Arden Mun. Code § 17.99.010");
    assert_eq!(answer.answer, AnswerKind::NotHeld, "{}", answer.message);
    assert!(answer.message.ends_with("; this copy of the code lacks the tables of fees"), "{}", answer.message);
    let of_the_state = resolve("Arden Rev. Stat. § 24-2-999");
    assert!(!of_the_state.message.contains("lacks"), "{}", of_the_state.message);
}

#[test]
fn citations_below_a_container_do_not_resolve_to_it() {
    for (typed, around) in [
        ("Port Arden Municipal Code, Title 17, Article 99", "Port Arden Mun. Code tit. 17"),
        ("Hollis County Code ch. 8.12(a)", "Hollis County Code ch. 8.12"),
    ] {
        let answer = resolve(typed);
        assert_eq!((answer.answer, answer.node_id), (AnswerKind::NotHeld, None), "{typed}: {}", answer.message);
        assert_eq!(cited(&answer), [around], "{typed}");
        assert!(answer.message.starts_with(&format!("{around} is in this corpus, but ")), "{}", answer.message);
    }
}

#[test]
fn the_notes_of_a_provision_are_cited_with_it() {
    let answer = resolve("Arden Rev. Stat. § 24-2-201 note");
    assert_eq!((answer.answer, answer.notes), (AnswerKind::Resolved, true), "{}", answer.message);
    assert_eq!(cited(&answer), ["Arden Rev. Stat. § 24-2-201"]);
    assert_eq!(answer.citation.as_deref(), Some("Arden Rev. Stat. § 24-2-201 note"));
    assert!(!resolve("Arden Rev. Stat. § 24-2-201").notes);
}

#[test]
fn a_name_of_several_codes_that_are_not_here_is_ambiguous() {
    let answer = resolve("I.C. § 28-12-103");
    assert_eq!((answer.answer, answer.candidates.len()), (AnswerKind::Ambiguous, 0));
    assert!(answer.message.contains("Idaho Code § 28-12-103 or Ind. Code § 28-12-103"), "{}", answer.message);
    assert_eq!(resolve("I.C. § 18-4003").jurisdiction.as_deref(), Some("ID"));
}

#[test]
fn missing_citations_list_what_is_available() {
    let answer = resolve("Arden Rev. Stat. § 99-9-999");
    let parts = "this corpus has no title 99 of the Arden Revised Statutes";
    assert!(answer.message.starts_with(parts) && answer.message.contains("it contains titles "), "{}", answer.message);
    // Title 12 is here, so only the number is wrong.
    assert!(resolve("Arden Rev. Stat. § 12-9-999").message.contains("Arden Revised Statutes is in this corpus"));
}

#[test]
fn a_query_that_cites_what_is_not_here_gets_the_reason() {
    let elsewhere = |query: &str| ENGINE.unresolved_citations(query).unwrap();
    let reported = elsewhere("noise under 42 U.S.C. § 1983 and Arden Rev. Stat. § 24-2-201");
    assert_eq!(reported.iter().map(|answer| answer.answer).collect::<Vec<_>>(), [AnswerKind::OutsideCoverage]);
    assert!(reported[0].message.contains("United States Code (US)"), "{}", reported[0].message);
    assert!(elsewhere("fence height of 6 feet").is_empty());
    assert!(elsewhere("Arden Rev. Stat. § 24-2-201").is_empty());
    assert_eq!(elsewhere("RCW 59.18").len(), 1);
}

#[test]
fn only_loaded_parts_of_a_code_are_known() {
    let catalogue = &ENGINE.snapshot().catalogue;
    let place = catalogue.code_bodies.iter().position(|body| body.key == "xa/ars").unwrap();
    let parts = &ENGINE.parts().unwrap()[place];
    assert_eq!((parts.level.as_deref(), &parts.expected, &parts.missing), (Some("title"), &None, &None));
    assert!(parts.loaded.contains(&"12".to_owned()) && parts.loaded.contains(&"24".to_owned()), "{parts:?}");
}

#[test]
fn every_container_resolves_by_its_own_citation() {
    let snapshot = ENGINE.snapshot();
    let nodes = (0..snapshot.outline.len()).map(hornbook_corpus::ids::NodeOrdinal);
    for node in nodes.filter(|&node| !snapshot.outline.is_provision(node)) {
        let citation = snapshot.nodes.get(node).unwrap().citation;
        let answer = resolve(&citation);
        let id = snapshot.outline.id(node).unwrap();
        assert!(answer.candidates.iter().any(|one| one.node_id == id), "{citation}: {}", answer.message);
    }
}

#[test]
fn every_provision_resolves_by_its_own_citation() {
    let snapshot = ENGINE.snapshot();
    for node in (0..snapshot.outline.len()).map(hornbook_corpus::ids::NodeOrdinal) {
        let citation = snapshot.nodes.get(node).unwrap().citation;
        let answer = resolve(&citation);
        let id = snapshot.outline.id(node).unwrap();
        assert!(answer.candidates.iter().any(|one| one.node_id == id), "{citation}: {}", answer.message);
    }
}

#[test]
fn rule_numbers_with_a_dot_after_the_dash_are_read_whole_in_running_text() {
    let grammar = ENGINE.snapshot().grammar();
    let text = "Under Arden Admin. Code r. 310-2-.03(1), and 3 S.F.C. §§ 823, 824, no vessel may.";
    let found: Vec<String> = grammar.find_in(text).map(|(_, citation)| grammar.format(&citation)).collect();
    assert_eq!(found, ["Arden Admin. Code r. 310-2-.03(1)", "3 S.F.C. § 823", "3 S.F.C. § 824"]);
}

/// A title of an invented code of kites, whose notes tell other numbers of its sections.
const KITES: &str = r#"<uscDoc xmlns="http://xml.house.gov/schemas/uslm/1.0" identifier="/us/usc/t42"><main>
<title identifier="/us/usc/t42"><num value="42">Title 42—</num><heading>KITES</heading>
<section identifier="/us/usc/t42/s10"><num value="10">§ 10.</num><heading> Strings</heading><content>Strings are long.</content>
<sourceCredit>(Pub. L. 190–5, title I, § 2, Aug. 6, 1965, 79 Stat. 437.)</sourceCredit>
<notes><note topic="codification"><heading>Codification</heading><p>Section was formerly classified to section 31 of Title 8, Strings, prior to editorial reclassification and renumbering as this section.</p></note>
<note topic="shortTitle"><heading>Short Title</heading><p>Pub. L. 190–5, § 1, Aug. 6, 1965, 79 Stat. 437, provided: “That this Act may be cited as the ‘Kite Flying Act of 1965’.”</p></note></notes></section>
<section identifier="/us/usc/t42/s11"><num value="11">§ 11.</num><heading> Tails</heading><content>Tails are colourful.</content>
<sourceCredit>(Pub. L. 190–5, title I, § 3(a), Aug. 6, 1965, 79 Stat. 437.)</sourceCredit>
<notes><note topic="amendments"><heading>Amendments</heading><p>1970—Pub. L. 191–1 renumbered section 10 of this title as this section.</p><p>1968—Pub. L. 190–9 renumbered section 22 of this title as this section.</p></note></notes></section>
<section identifier="/us/usc/t42/s12"><num value="12">§ 12.</num><heading> Wind</heading><content>Wind is needed.</content>
<sourceCredit>(Pub. L. 190–5, title I, § 3(b), Aug. 6, 1965, 79 Stat. 437.)</sourceCredit></section>
<section identifier="/us/usc/t42/s13" status="renumbered"><num value="13">[§ 13.</num><heading> Renumbered § 14]</heading></section>
<section identifier="/us/usc/t42/s14" status="renumbered"><num value="14">[§ 14.</num><heading> Renumbered § 12]</heading></section>
<section identifier="/us/usc/t42/s15" status="transferred"><num value="15">[§ 15.</num><heading> Transferred]</heading>
<notes><note topic="codification"><heading>Codification</heading><p>Section 15 was editorially reclassified as section 900 of Title 52, Balloons.</p></note></notes></section>
<section identifier="/us/usc/t42/s16" status="renumbered"><num value="16">[§ 16.</num><heading> Renumbered § 17]</heading></section>
<section identifier="/us/usc/t42/s17" status="renumbered"><num value="17">[§ 17.</num><heading> Renumbered § 16]</heading></section>
<section identifier="/us/usc/t42/s18" status="transferred"><num value="18">[§ 18.</num><heading> Transferred]</heading>
<notes><note topic="codification"><heading>Codification</heading><p>Section, Pub. L. 190–5, § 4, was renumbered section 5 of Pub. L. 190–5 by Pub. L. 191–2, § 1, and is classified to section 12(c) of this title.</p></note></notes></section>
<section identifier="/us/usc/t42/s19" status="transferred"><num value="19">[§ 19.</num><heading> Transferred]</heading>
<notes><note topic="codification"><heading>Codification</heading><p>Section 19 was editorially reclassified as a note under section 10 of this title.</p></note></notes></section>
<section identifier="/us/usc/t42/s20...23" status="repealed"><num value="20 to 23">[§§ 20 to 23.</num><heading> Repealed. Pub. L. 191–1]</heading></section>
</title></main></uscDoc>"#;

#[test]
fn old_numbers_and_sections_of_acts_are_followed_to_what_they_are_now() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "name = 'Kites'\n[[source]]\nformat = 'uslm'\npath = 'title42.xml'\njurisdiction = 'US'\n\
                code_body = 'United States Code'\nkey = 'us/usc'\npublisher = 'p'\nlicense = 'l'\n\
                edition = 'e'\nretrieved = '2026-01-01'\nurl = 'https://law.example/'\n";
    std::fs::write(dir.path().join("title42.xml"), KITES).unwrap();
    std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let out = dir.path().join("snapshot");
    sample::build_plan(dir.path().join("plan.toml"), Destination::Folder(out.clone()));
    let engine = Engine::new(Arc::new(Snapshot::open(&out).unwrap())).unwrap();
    let resolve = |text: &str| engine.resolve_on(&engine.law_on(None), text).unwrap().remove(0);
    for (asked, found, part, message) in [
        // A number that the section had in another title.
        ("8 U.S.C. § 31(a)", "42 U.S.C. § 10", "a", "8 U.S.C. § 31(a) is a former citation of 42 U.S.C. § 10"),
        // A number that two sections had: it means the one that has it now.
        ("42 U.S.C. § 10", "42 U.S.C. § 10", "", "; 42 U.S.C. § 11 formerly had this number"),
        // A former number does not hide a section that is in a range.
        ("42 U.S.C. § 22", "42 U.S.C. §§ 20 to 23", "", "; 42 U.S.C. § 11 formerly had this number"),
        // Two renumberings, one after the other.
        ("42 U.S.C. § 13(b)", "42 U.S.C. § 12", "b", "42 U.S.C. § 13 was renumbered: it is now 42 U.S.C. § 12"),
        ("42 U.S.C. § 15", "42 U.S.C. § 15", "", "it is now 52 U.S.C. § 900, which this corpus does not contain"),
        ("42 U.S.C. § 18(1)", "42 U.S.C. § 12", "c 1", "42 U.S.C. § 18 was transferred: it is now 42 U.S.C. § 12(c)"),
        ("42 U.S.C. § 19", "42 U.S.C. § 19", "", "42 U.S.C. § 19 was transferred: it is now 42 U.S.C. § 10 note"),
        ("Pub. L. 190-5 § 2(b)", "42 U.S.C. § 10", "b", "Pub. L. 190-5 § 2(b) is 42 U.S.C. § 10(b);"),
        ("Pub. L. 190-5, title I, § 2", "42 U.S.C. § 10", "", "Pub. L. 190-5 § 2 is 42 U.S.C. § 10;"),
        (
            "Section 2 of the Kite Flying Act of 1965",
            "42 U.S.C. § 10",
            "",
            "Kite Flying Act of 1965 § 2 is 42 U.S.C. § 10;",
        ),
        ("Kite Flying Act § 2(c)", "42 U.S.C. § 10", "c", "Kite Flying Act § 2(c) is 42 U.S.C. § 10(c);"),
        ("Kite Flying Act § 3(b)(1)", "42 U.S.C. § 12", "1", "Kite Flying Act § 3(b)(1) is 42 U.S.C. § 12(1);"),
    ] {
        let answer = resolve(asked);
        assert_eq!((answer.answer, cited(&answer)), (AnswerKind::Resolved, vec![found]), "{asked}: {}", answer.message);
        assert_eq!(answer.subdivision.join(" "), part, "{asked}");
        assert_eq!(answer.node_id, Some(answer.candidates[0].node_id), "{asked}");
        assert!(answer.message.contains(message), "{asked}: {}", answer.message);
    }
    let two = resolve("Kite Flying Act § 3");
    assert_eq!((two.answer, cited(&two)), (AnswerKind::Ambiguous, vec!["42 U.S.C. § 11", "42 U.S.C. § 12"]));
    for (asked, kind) in [
        ("Pub. L. 190-5 § 99", AnswerKind::NotHeld),
        ("Kite Flying Act § 99", AnswerKind::Malformed),
        ("Balloon Act § 2", AnswerKind::Malformed),
    ] {
        assert_eq!(resolve(asked).answer, kind, "{asked}");
    }
    // Sections that say that they became each other are not followed for ever.
    for asked in ["42 U.S.C. § 16", "42 U.S.C. § 17"] {
        assert_eq!(resolve(asked).answer, AnswerKind::Resolved);
    }
}

#[test]
fn a_transferred_section_is_answered_with_the_one_that_it_is_now() {
    for (asked, found) in [
        ("14 S.F.C. § 1397", "3 S.F.C. § 233"),
        ("Arden Rev. Stat. § 12-4-103", "Arden Rev. Stat. § 12-4-101"),
        ("Arden Rev. Stat. § 18-2-209", "Arden Rev. Stat. § 18-2-210"),
    ] {
        let answer = ENGINE.resolve_on(&ENGINE.law_on(None), asked).unwrap().remove(0);
        assert_eq!((answer.answer, cited(&answer)), (AnswerKind::Resolved, vec![found]));
        assert!(answer.message.ends_with(&format!("it is now {found}")), "{}", answer.message);
    }
}
