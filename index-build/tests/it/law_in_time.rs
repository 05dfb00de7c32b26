//! Facts about real law on days before and after it changed, by the rule that the service uses.
//! Publishers' remarks identify the wordings, so that no law is repeated here.

use std::collections::BTreeSet;
use std::path::Path;

use hornbook_corpus::day::Day;
use hornbook_corpus::outline::Status::{self, Expired, InForce, NotYetEffective, Renumbered, Repealed, Uncertain};
use hornbook_corpus::validity;
use hornbook_index_build::content::Content;
use hornbook_index_build::wordings;

use crate::corpora::corpora;
use crate::imported::{Imported, Source, documents, import};
use crate::state_html::release;

fn all_of(content: &Content) -> Vec<Content> {
    wordings::in_chronological_order(content.clone(), Vec::new())
}

/// Number, day, the remark of the displayed wording, and its status.
type Fact<'a> = (&'a str, &'a str, &'a str, Status);

fn check(imported: &Imported, last_known: &str, sections: &str, facts: &[Fact<'_>]) {
    let last_known: Day = last_known.parse().unwrap();
    for (number, day, remark, status) in facts {
        let all = all_of(imported.node(&format!("{sections}{number}")));
        let claims: Vec<_> = all.iter().map(|wording| wordings::validity(wording, last_known)).collect();
        let standing = validity::state_on(&claims, day.parse().unwrap());
        let said = all[standing.wording].effect.remark.as_deref().unwrap_or_default();
        assert_eq!((said, standing.status), (*remark, *status), "{number} on {day}");
    }
}

/// Counts of provisions with several wordings, of provisions with an uncertain wording, and of
/// wordings with a first and with a last day.
fn counts(imported: &Imported) -> [usize; 4] {
    let all: Vec<_> = imported.provisions().map(|(_, content, _)| all_of(content)).collect();
    let wordings = || all.iter().flatten().filter(|wording| !wording.effect.uncertain);
    [
        all.iter().filter(|wordings| wordings.len() > 1).count(),
        all.iter().filter(|wordings| wordings.iter().any(|wording| wording.effect.uncertain)).count(),
        wordings().filter(|wording| wording.effect.from.is_some()).count(),
        wordings().filter(|wording| wording.effect.to.is_some()).count(),
    ]
}

#[test]
fn virginia_in_time() {
    let Some(imported) = release("va-code-html") else { return };
    let rent = "Effective from July 1, 2022, until the later of July 1, 2028, or seven years after the COVID-19 pandemic state of emergency expires";
    let maryland = "The provisions of this section shall be effective as long as the State of Maryland has in force similar provisions authorizing legally constituted authorities of Virginia to make pursuit and arrests in Maryland for violations of the laws of Virginia";
    let facts = [
        ("4.1-119", "2022-09-30", "Effective until July 1, 2024", InForce),
        ("4.1-119", "2024-06-30", "Effective until July 1, 2024", InForce),
        ("4.1-119", "2024-07-01", "Effective July 1, 2024", InForce),
        ("5.1-1", "2022-09-30", "Effective until September 1, 2025", InForce),
        ("5.1-1", "2025-08-31", "Effective until September 1, 2025", InForce),
        ("5.1-1", "2025-09-01", "Effective September 1, 2025", InForce),
        ("23.1-815.1", "2022-09-30", "Effective until July 1, 2026", InForce),
        ("23.1-815.1", "2026-06-30", "Effective until July 1, 2026", InForce),
        ("23.1-815.1", "2026-07-01", "Effective July 1, 2026", InForce),
        ("28.2-618", "2026-11-24", "Effective until July 1, 2035", InForce),
        ("28.2-618", "2035-06-30", "Effective until July 1, 2035", InForce),
        ("28.2-618", "2035-07-01", "Effective July 1, 2035", InForce),
        ("55.1-1245", "2022-09-30", rent, Uncertain),
        ("55.1-1245", "2028-07-01", rent, Uncertain),
        ("55.1-1245", "2040-01-01", rent, Uncertain),
        ("3.2-3304", "2023-06-30", "Expires July 1, 2023", InForce),
        ("3.2-3304", "2023-07-01", "Expires July 1, 2023", Expired),
        ("3.2-3304", "2026-11-24", "Expires July 1, 2023", Expired),
        ("17.1-805.1", "2023-06-30", "Effective July 1, 2023", NotYetEffective),
        ("17.1-805.1", "2023-07-01", "Effective July 1, 2023", InForce),
        ("17.1-805.1", "2026-11-24", "Effective July 1, 2023", InForce),
        ("4.1-207", "2023-12-31", "Repealed effective January 1, 2024", InForce),
        ("4.1-207", "2024-01-01", "", Repealed),
        ("4.1-207", "2026-11-24", "", Repealed),
        ("37.2-817.2", "2022-09-30", "Repealed effective October 1, 2022", InForce),
        ("37.2-817.2", "2022-10-01", "Repealed effective October 1, 2022", Repealed),
        ("37.2-817.2", "2026-11-24", "Repealed effective October 1, 2022", Repealed),
        ("62.1-44.15-26", "2016-01-01", "For repeal date — see notes", Uncertain),
        ("62.1-44.15-26", "2022-09-30", "For repeal date — see notes", Uncertain),
        ("62.1-44.15-26", "2026-11-24", "For repeal date — see notes", Uncertain),
        // A part of it expires.
        ("22.1-23", "2022-09-30", "Expires July 1, 2025", Uncertain),
        // The last section of its article ends the article.
        ("32.1-73.11", "2020-06-30", "This article shall expire on July 1, 2020", InForce),
        ("32.1-73.11", "2020-07-01", "This article shall expire on July 1, 2020", Expired),
        // It is law as long as another state has the same.
        ("28.2-904", "2022-09-30", maryland, Uncertain),
        ("28.2-904", "2026-11-24", maryland, Uncertain),
        // Printed again in the volume of compacts, as it was in 2009.
        ("1-301", "2022-09-30", "", InForce),
        ("44-146.17", "2022-09-30", "Effective until July 1, 2023", InForce),
        ("44-146.17", "2023-07-01", "Effective July 1, 2023", InForce),
    ];
    check(&imported, "2022-09-30", "va/code/s", &facts);
    assert_eq!(counts(&imported), [92, 130, 56, 120]);
    let has = |number: &str, words: &str| {
        let text = imported.node(&format!("va/code/s{number}")).text.as_deref().unwrap_or_default();
        assert!(text.contains(words), "{number}: {text}");
    };
    // A line break followed the link, and no blank preceded the next sentence.
    has("55.1-1254", "§ 55.1-1202. The tenant");
    let is_torn = |text: &str| text.contains("§ 55.1-1202 .") || text.contains("§ 55.1-1202.T");
    assert!(!imported.provisions().any(|(_, own, _)| own.text.as_deref().is_some_and(is_torn)));
}

#[test]
fn wyoming_in_time() {
    let Some(imported) = release("wy-statutes-html") else { return };
    let to = "Renumbered to Wyo. Stat. § 14-6-601, effective July 1, 2024";
    let from = "Renumbered from Wyo. Stat. § 7-19-501, effective July 1, 2024";
    let sunset = "This section is repealed effective July 1, 2023";
    let chapter = "This chapter is repealed effective July 1, 2023";
    let part = "This subsection is repealed on the date that subsection (b) of this section becomes effective";
    let departed =
        "Wyo. Stat. § 35-1-1205: W.S. 35-1-1201, 35-1-1203 and 35-1-1204 are repealed effective July 1, 2023";
    let facts = [
        // Its article is printed twice.
        ("7-19-501", "2022-05-31", "Effective until July 1, 2024", InForce),
        ("7-19-501", "2024-06-30", "Effective until July 1, 2024", InForce),
        ("7-19-501", "2024-07-01", to, Renumbered),
        ("14-6-601", "2022-05-31", from, NotYetEffective),
        ("14-6-601", "2024-06-30", from, NotYetEffective),
        ("14-6-601", "2024-07-01", from, InForce),
        // Only the later wording has a remark.
        ("26-9-202", "2022-12-31", "", InForce),
        ("26-9-202", "2023-01-01", "Effective January 1, 2023", InForce),
        ("26-9-202", "2026-11-24", "Effective January 1, 2023", InForce),
        ("35-1-624", "2024-06-30", "Repealed effective July 1, 2024", InForce),
        ("35-1-624", "2024-07-01", "Repealed effective July 1, 2024", Repealed),
        ("35-1-624", "2026-11-24", "Repealed effective July 1, 2024", Repealed),
        ("19-9-701", "2025-06-29", "Repealed effective June 30, 2025.", InForce),
        ("19-9-701", "2025-06-30", "Repealed effective June 30, 2025.", Repealed),
        ("19-9-701", "2026-11-24", "Repealed effective June 30, 2025.", Repealed),
        // Its own text states this.
        ("9-3-219", "2022-05-31", sunset, InForce),
        ("9-3-219", "2023-06-30", sunset, InForce),
        ("9-3-219", "2023-07-01", sunset, Repealed),
        // A section of another article ends their chapter.
        ("37-15-201", "2023-06-30", chapter, InForce),
        ("37-15-201", "2023-07-01", chapter, Uncertain),
        // By another section.
        ("35-1-1201", "2023-06-30", departed, InForce),
        ("35-1-1201", "2023-07-01", departed, Repealed),
        // A part of it ends with an event.
        ("35-6-102", "2022-05-31", part, Uncertain),
        ("35-6-102", "2022-07-01", part, Uncertain),
        ("35-6-102", "2026-11-24", part, Uncertain),
        ("8-4-115", "2022-05-31", "Contingently effective, see effective date note.", Uncertain),
        ("8-4-115", "2026-11-24", "Contingently effective, see effective date note.", Uncertain),
        ("23-1-101", "2022-05-31", "See Editor's notes below.", Uncertain),
        // Parts of it begin and end.
        ("27-14-102", "2022-05-31", "Effective until January 2, 2023", Uncertain),
    ];
    check(&imported, "2022-05-31", "wy/stat/s", &facts);
    assert_eq!(counts(&imported), [35, 9, 45, 64]);
}

#[test]
fn washington_has_ends_with_conditions() {
    let Some(imported) = release("wa-statutes-json") else { return };
    let events = "This section expires on the earliest of the following dates";
    let chapter = "This chapter expires July 1, 2030, coinciding with the expiration of chapter 70A.325 RCW";
    let facts = [
        ("82.14.0494", "2019-12-31", events, Uncertain),
        ("82.14.0494", "2020-08-01", events, Uncertain),
        ("82.14.0494", "2026-11-24", events, Uncertain),
        ("82.23a.050", "2026-11-24", chapter, InForce),
        ("82.23a.050", "2030-06-30", chapter, InForce),
        ("82.23a.050", "2030-07-01", chapter, Uncertain),
        // Licenses, taxes and agreements expire under a section.
        ("82.14.390", "2026-11-24", "", InForce),
        ("31.04.045", "2026-11-24", "", InForce),
        ("23b.07.320", "2026-11-24", "", InForce),
    ];
    check(&imported, "2026-01-01", "wa/rcw/s", &facts);
}

#[test]
fn utah_ends_sections_and_chapters_in_another_title() {
    let Some(imported) = release("ut-code-text-2014") else { return };
    let section = "Utah Code § 63I-1-226: Section 26-10-11 is repealed July 1, 2015";
    let water = "Utah Code § 63I-1-219: Title 19, Chapter 5, Water Quality Act, is repealed July 1, 2019";
    let part = "Utah Code § 63I-1-253: Subsections 53A-16-113(3) and (4) are repealed December 31, 2016";
    let facts = [
        ("26-10-11", "2015-06-30", section, InForce),
        ("26-10-11", "2015-07-01", section, Repealed),
        ("19-5-101", "2019-06-30", water, InForce),
        ("19-5-101", "2019-07-01", water, Repealed),
        ("53a-16-113", "2016-12-30", part, InForce),
        ("53a-16-113", "2016-12-31", part, Uncertain),
        ("53a-16-112", "2026-11-24", "", InForce),
    ];
    check(&imported, "2014-04-08", "ut/code/s", &facts);
}

#[test]
fn vermont_in_time() {
    let Some(imported) = release("vt-statutes-html") else { return };
    let until = "effective until July 1, 2022; see also section 753 effective July 1, 2022 set out below";
    let since = "effective July 1, 2022; see also section 753 effective until July 1, 2022 set out above";
    let part =
        "Subsection (h) effective until July 1, 2026; see also subsection (h) effective July 1, 2026 set out below";
    let note = "See effective date of amendment in note set out below";
    let until_act = "This section shall remain in force until such time as the General Assembly enacts the Uniform Computer Information Transactions Act or any substantially similar law and that law becomes effective";
    let facts = [
        ("t7/s753", "2022-05-11", until, InForce),
        ("t7/s753", "2022-06-30", until, InForce),
        ("t7/s753", "2022-07-01", since, InForce),
        ("t4/s38", "2022-05-11", "repealed effective July 1, 2025", InForce),
        ("t4/s38", "2025-06-30", "repealed effective July 1, 2025", InForce),
        ("t4/s38", "2025-07-01", "repealed effective July 1, 2025", Repealed),
        ("t16/s2187", "2025-06-30", "repealed effective July 1, 2025", InForce),
        ("t16/s2187", "2025-07-01", "", Repealed),
        ("t16/s2187", "2026-11-24", "", Repealed),
        ("t3/s116a", "2022-12-31", "effective January 1, 2023", NotYetEffective),
        ("t3/s116a", "2023-01-01", "effective January 1, 2023", InForce),
        ("t3/s116a", "2026-11-24", "effective January 1, 2023", InForce),
        ("t26/s1377", "2022-05-11", "effective upon occurrence of contingency", Uncertain),
        ("t26/s1377", "2026-11-24", "effective upon occurrence of contingency", Uncertain),
        ("t9/s2463a", "2022-05-11", until_act, Uncertain),
        ("t9/s2463a", "2026-11-24", until_act, Uncertain),
        ("t6/s2676", "2022-05-11", note, Uncertain),
        ("t21/s342a", "2022-05-11", part, Uncertain),
        ("t21/s342a", "2026-07-01", part, Uncertain),
    ];
    check(&imported, "2022-05-11", "vt/stat/", &facts);
    assert_eq!(counts(&imported), [26, 45, 43, 51]);
}

#[test]
fn federal_law_in_time() {
    let Some(corpora) = corpora() else { return };
    let read = |archive: &str, format: &str, key: &str, picks: fn(&str) -> bool| {
        let source = Source { format, key, code_body: "Federal law", citation: None, options: toml::Table::new() };
        import(&documents(&corpora.join(archive), format, picks), &source)
    };
    let code = read("us-code-uslm-2025.tar.zst", "uslm", "us/usc", |path| {
        ["usc13.xml", "usc39.xml", "usc41.xml", "usc44.xml"].iter().any(|file| path.ends_with(file))
    });
    let repeal = "Repeal of Section: For repeal of section by section 5921(d)(1) of Pub. L. 117–263, see Effective Date of Repeal note below.";
    let termination = "Termination of Section: For termination of section by section 4(b) of Pub. L. 97–454, see Effective and Termination Date note below.";
    let stamps = "This section shall cease to be effective after December 31, 2027";
    let semipostals = "This section shall cease to be effective at the end of the 10-year period beginning on the date on which semipostals are first made available to the public under this section";
    let facts = [
        ("t44/s3607", "2025-08-26", repeal, InForce),
        ("t44/s3607", "2027-12-22", repeal, InForce),
        ("t44/s3607", "2027-12-23", repeal, Repealed),
        ("t39/s414", "2025-08-26", stamps, InForce),
        ("t39/s414", "2027-12-31", stamps, InForce),
        ("t39/s414", "2028-01-01", stamps, Expired),
        // Events that the source does not date.
        ("t39/s416", "2025-08-26", semipostals, Uncertain),
        ("t39/s416", "2031-01-01", semipostals, Uncertain),
        ("t13/s91", "2025-08-26", termination, Uncertain),
        ("t13/s91", "2031-01-01", termination, Uncertain),
    ];
    check(&code, "2025-12-31", "us/usc/", &facts);
    assert_eq!(counts(&code)[1], 9);
    let is_uncertain = |number: &str| code.node(&format!("us/usc/{number}")).effect.uncertain;
    assert_eq!(["t41/s3302", "t41/s1127", "t41/s1902", "t44/s3583"].map(is_uncertain), [true, true, false, false]);
    let regulations = read("cfr-samples.tar.zst", "cfr-annual", "us/cfr", |path| path.contains("CFR-2011-title47-vol"));
    let waiting = |what: &str| {
        format!(
            "{what} information collection and recordkeeping requirements and will not become effective until approval has been given by the Office of Management and Budget."
        )
    };
    let added = waiting("At 75 FR 35315, June 22, 2010, § 52.36 was added. This section contains");
    let paragraph =
        waiting("At 76 FR 26220, May 6, 2011, in § 20.12, paragraph (e) was added. Paragraph (e)(2) contains");
    let removed = waiting("At 76 FR 43211, July 20, 2011, § 61.21 was removed. This section contains");
    let facts = [
        // A note contains some paragraphs as they will read.
        ("54.500", "2011-10-01", "", InForce),
        ("54.500", "2011-10-12", "", InForce),
        ("54.500", "2011-10-13", "", Uncertain),
        // They wait for an approval.
        ("52.36", "2010-06-22", &*added, Uncertain),
        ("52.36", "2011-10-01", &added, Uncertain),
        ("52.36", "2026-11-24", &added, Uncertain),
        ("20.12", "2011-05-06", &paragraph, Uncertain),
        ("20.12", "2011-10-01", &paragraph, Uncertain),
        ("20.12", "2026-11-24", &paragraph, Uncertain),
        ("61.21", "2011-10-01", &removed, Uncertain),
        // Their paragraphs were approved.
        ("25.115", "2009-03-09", "", InForce),
        ("25.115", "2011-10-01", "", InForce),
        ("25.115", "2026-11-24", "", InForce),
        ("25.218", "2011-10-01", "", InForce),
        ("25.220", "2011-10-01", "", InForce),
    ];
    check(&regulations, "2025-12-31", "us/cfr/t47/s", &facts);
    let is_uncertain = |content: &&Content| content.effect.uncertain;
    assert_eq!(regulations.provisions().map(|(_, content, _)| content).filter(is_uncertain).count(), 72);
}

/// The service warns of old editions. A plan for these files, or the files themselves, state
/// through when they are current.
#[test]
fn plans_of_the_real_files_say_through_when_they_are_current() {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files");
    for (name, expected) in [
        ("va-code-html", vec!["2022-09-30", "2022-09-30", "2022-07-31", "2021-12-31", "2009-12-31", "2022-09-30"]),
        ("wy-statutes-html", vec!["2022-07-01"]),
        ("vt-statutes-html", vec!["2022-05-11"]),
        ("us-code-uslm-2025", vec!["2025-08-26"]),
        ("cfr-samples-uslm", vec!["2017-04-01"]),
        ("cfr-samples", vec!["2022-12-29", "2011-10-01", ""]),
    ] {
        let plan = std::fs::read_to_string(plans.join(format!("{name}.toml"))).unwrap();
        let plan: toml::Table = plan.parse().unwrap();
        let through = |source: &toml::Value| {
            source.get("current_through").and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        let stated: Vec<String> = plan["source"].as_array().unwrap().iter().map(through).collect();
        assert_eq!(stated, expected, "{name}");
    }
    let Some(corpora) = corpora() else { return };
    let source =
        Source { format: "regml", key: "us/cfr", code_body: "CFR", citation: None, options: toml::Table::new() };
    let documents = documents(&corpora.join("cfr-samples.tar.zst"), "regml", |path| path.contains("/100"));
    let parts = import(&documents, &source);
    let days: BTreeSet<_> =
        parts.provisions().map(|(_, content, _)| content.current_through.as_deref().unwrap_or_default()).collect();
    assert!(days.contains("2011-07-22") && days.contains("2017-10-02") && !days.contains(""), "{days:?}");
}
