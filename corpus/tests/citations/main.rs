//! Tests the citation grammar with tables of written forms and near misses, with property tests, and with the
//! available corpora.

mod own_code;
mod random;
mod resolving;

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::Path;

use hornbook_corpus::citation::{BodyForm, Citation, Citations, EnclosingProvision, Grammar, ParseError};

const FORMS: &str = include_str!("forms.txt");
const STATES: &str = include_str!("states.txt");
const NEAR_MISSES: &str = include_str!("near_misses.txt");

fn grammar() -> Grammar {
    let body = |jurisdiction: &str, name: &str, key: &str, template: &str, aliases: &[&str]| BodyForm {
        jurisdiction: jurisdiction.parse().expect("a short code"),
        name: name.to_owned(),
        key: key.to_owned(),
        template: template.to_owned(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
    };
    Grammar::with_bodies(&[
        body(
            "UT-SPANISH-FORK",
            "Spanish Fork Municipal Code",
            "ut-spanish-fork/code",
            "Spanish Fork Mun. Code § {number}",
            &["SFMC"],
        ),
        body("XA", "Arden Revised Statutes", "xa/rs", "Arden Rev. Stat. § {number}", &["A.R.S.A."]),
    ])
    .expect("no name is taken")
}

/// Every written form, with the canonical form under which it is listed.
fn written_forms() -> Vec<(&'static str, &'static str)> {
    let mut canonical = "";
    let mut forms = Vec::new();
    let lines = FORMS.lines().chain(STATES.lines());
    for line in lines.filter(|line| !line.starts_with('#') && !line.is_empty()) {
        canonical = line.strip_prefix("= ").unwrap_or(canonical);
        forms.push((line.strip_prefix("= ").unwrap_or(line), canonical));
    }
    forms
}

#[test]
fn written_forms_read_as_their_canonical_form() {
    let grammar = grammar();
    let forms = written_forms();
    assert!(forms.len() >= 2000, "only {} written forms", forms.len());
    let mut failures = Vec::new();
    for (written, canonical) in forms {
        match grammar.parse(written) {
            Ok(citation) if grammar.format(&citation) == canonical => {}
            Ok(citation) => failures.push(format!("{written}: {} instead of {canonical}", grammar.format(&citation))),
            Err(error) => failures.push(format!("{written}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{} forms fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn written_forms_are_found_whole_in_running_text() {
    let grammar = grammar();
    let mut failures = Vec::new();
    for (written, canonical) in written_forms() {
        let text = format!("As held in 1990 (see {written}); however, 12 others did not.");
        let found: Vec<_> = grammar.find_in(&text).collect();
        let forms: Vec<String> = found.iter().map(|(_, citation)| grammar.format(citation)).collect();
        if forms != [canonical] {
            failures.push(format!("{written}: found {forms:?}"));
        }
    }
    assert!(failures.is_empty(), "{} forms fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_jurisdiction_has_written_forms() {
    let grammar = grammar();
    let covered: BTreeSet<String> = written_forms()
        .iter()
        .filter_map(|(written, _)| grammar.parse(written).ok())
        .filter_map(|citation| grammar.body(citation.body).map(|body| body.jurisdiction.to_owned()))
        .collect();
    let all: BTreeSet<String> = grammar.bodies().map(|(_, body)| body.jurisdiction.to_owned()).collect();
    assert_eq!(all.difference(&covered).collect::<Vec<_>>(), Vec::<&String>::new());
    // The United States, 50 states, DC, five territories, and the jurisdictions of the two bodies added above.
    assert_eq!(all.len(), 59);
}

#[test]
fn forty_citations_of_every_code_that_can_be_built_are_read() {
    let grammar = grammar();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (written, _) in written_forms() {
        let citation = grammar.parse(written).expect(written);
        *counts.entry(grammar.body(citation.body).expect("a body").key.to_owned()).or_default() += 1;
    }
    for key in [
        "us/usc", "ak/stat", "ar/code", "co/rs", "ct/gs", "dc/code", "ga/code", "hi/rs", "ia/code", "id/code", "ky/rs",
        "md/comar", "mi/cl", "mo/rs", "ms/code", "nc/gs", "nd/cc", "ne/rs", "nm/stat", "ri/gl", "sc/code", "sd/sdcl",
        "tn/code", "ut/code", "va/code", "vt/stat", "wa/rcw", "wy/stat",
    ] {
        let count = counts.get(key).copied().unwrap_or_default();
        assert!(count >= 40, "{key}: {count}");
    }
}

#[test]
fn an_edition_with_other_numbers_is_not_read_as_the_code_of_today() {
    let grammar = grammar();
    for (text, edition, since) in [
        ("N.M.S.A. 1953 § 21-1-1", 1953, 1978),
        ("N.M.S.A.1953, Section 40A-2-1", 1953, 1978),
        ("D.C.Code 1973 § 22-3204", 1973, 2001),
        ("D.C. Code (1981) § 22-3204", 1981, 2001),
        ("C.R.S. 1963 § 40-2-3", 1963, 1973),
    ] {
        match grammar.parse(text) {
            Err(ParseError::FormerEdition { edition: read, since: own, .. }) => {
                assert_eq!((read, own), (edition, since));
            }
            other => panic!("{text}: {other:?}"),
        }
        let home = grammar.parse("N.M. Stat. Ann. § 1-1-1").expect("a citation");
        let home = EnclosingProvision::of(&home).expect("a place");
        assert_eq!(grammar.find_in_provision(text, home).count(), 0, "{text}");
    }
    for text in ["C.R.S.1973 § 8-73-108", "NMSA 1978, § 21-1-1", "NMSA 1978, § 47-8-33 (1975)", "W.S.1977 § 31-5-233"]
    {
        assert!(grammar.parse(text).is_ok(), "{text}");
    }
}

#[test]
fn near_misses_are_not_taken_for_what_they_resemble() {
    let grammar = grammar();
    let lines: Vec<&str> = NEAR_MISSES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert!(lines.len() >= 100, "only {} near misses", lines.len());
    let mut failures = Vec::new();
    for line in lines {
        let (text, forbidden) = line.split_once(" => ").unwrap_or((line, ""));
        let mut read: Vec<Citation> = grammar.parse(text).into_iter().collect();
        read.extend(grammar.find_in(text).map(|(_, citation)| citation));
        let taken = if forbidden.is_empty() {
            !read.is_empty()
        } else {
            let forbidden = grammar.parse(forbidden).expect("the forbidden citation reads");
            read.iter()
                .any(|citation| *citation == forbidden || without_subdivisions_same_key(&grammar, citation, &forbidden))
        };
        if taken {
            let forms: Vec<String> = read.iter().map(|citation| grammar.format(citation)).collect();
            failures.push(format!("{line}: read as {forms:?}"));
        }
    }
    assert!(failures.is_empty(), "{} near misses fail:\n{}", failures.len(), failures.join("\n"));
}

/// Whether two citations have the same subdivisions and the same key.
fn without_subdivisions_same_key(grammar: &Grammar, a: &Citation, b: &Citation) -> bool {
    a.subdivisions == b.subdivisions && grammar.key(a) == grammar.key(b)
}

#[test]
fn lists_give_every_section() {
    let grammar = grammar();
    for (text, expected) in [
        ("42 U.S.C. §§ 1981, 1983, and 1985", &["42 U.S.C. § 1981", "42 U.S.C. § 1983", "42 U.S.C. § 1985"][..]),
        ("Cal. Penal Code §§ 1-3, 5", &["Cal. Penal Code §§ 1 to 3", "Cal. Penal Code § 5"]),
        ("42 U.S.C. § 1983, 5 U.S.C. § 552", &["42 U.S.C. § 1983", "5 U.S.C. § 552"]),
        ("42 U.S.C. §§ 1983, 1985, 5 U.S.C. § 552", &["42 U.S.C. § 1983", "42 U.S.C. § 1985", "5 U.S.C. § 552"]),
        ("sections 101, 102, and 103 of title 5", &["5 U.S.C. § 101", "5 U.S.C. § 102", "5 U.S.C. § 103"]),
        ("Va. Code §§ 1-3, 1-5", &["Va. Code § 1-3", "Va. Code § 1-5"]),
        ("42 U.S.C. § 1983; § 1985", &["42 U.S.C. § 1983", "42 U.S.C. § 1985"]),
        ("under 42 U.S.C. § 1983, 12 persons sued", &["42 U.S.C. § 1983"]),
        ("under article I of the U.S. Constitution.\n(b) Others", &["U.S. Const. art. I"]),
        ("see 42 U.S.C. § 1983\n(b) Others", &["42 U.S.C. § 1983"]),
        ("750 ILCS 36/101 to 750 ILCS 36/405", &["750 ILCS 36/101", "750 ILCS 36/405"]),
        ("2 U.S.C. § 1 to 5 U.S.C. § 5", &["2 U.S.C. § 1", "5 U.S.C. § 5"]),
        ("Title 13, CCR, §§2113—2121", &["Cal. Code Regs. tit. 13, §§ 2113 to 2121"]),
        ("Article 4, §§ 94540, CCR Title 17", &["Cal. Code Regs. tit. 17, § 94540"]),
        ("Title 13, Chapter 24, of the Spanish Fork Municipal Code", &["Spanish Fork Mun. Code ch. 24"]),
        ("Chapter 41, Title 17, Utah Code Annotated", &[]),
        ("Title 20A, Chapter 7, and title 19, chapter 5", &[]),
        ("section 1983 of title 42, Cal. Penal Code § 187", &["42 U.S.C. § 1983", "Cal. Penal Code § 187"]),
        ("Chapter 1, § 223(d) of the Internal Revenue Code", &["26 U.S.C. § 223(d)"]),
        ("under the Internal Revenue Code.\n2.2. Benefit", &[]),
        ("pursuant to 42\nU.S.C.\n§ 1983 and ORS\n63.047", &["42 U.S.C. § 1983", "ORS 63.047"]),
        ("of the Florida Statutes\n\n775.082", &[]),
        ("CHAPTER 589, AS CODIFIED IN SECTION 4", &[]),
        ("Chapter 73–131 of the Florida Statutes", &["Fla. Stat. ch. 73-131"]),
        ("ORS 63.047 and RCW 25.15.071", &["ORS 63.047", "RCW 25.15.071"]),
        ("in AS 38.05.055 or 38.05.057 the", &["Alaska Stat. § 38.05.055", "Alaska Stat. § 38.05.057"]),
        (
            "under RCW 59.18.030, 59.18.060, and 59.18.280, 12 days",
            &["RCW 59.18.030", "RCW 59.18.060", "RCW 59.18.280"],
        ),
        ("MCL 554.601 and 554.602", &["Mich. Comp. Laws § 554.601", "Mich. Comp. Laws § 554.602"]),
        ("Sections 47-8-33 and 47-8-34 NMSA 1978", &["N.M. Stat. Ann. § 47-8-33", "N.M. Stat. Ann. § 47-8-34"]),
        (
            "KRS 39A.010, 39A.020, or 39A.030",
            &["Ky. Rev. Stat. § 39A.010", "Ky. Rev. Stat. § 39A.020", "Ky. Rev. Stat. § 39A.030"],
        ),
        ("ORS 63.047 and 5 others", &["ORS 63.047"]),
        ("AS 38.05.055 and 11 AAC 05.010", &["Alaska Stat. § 38.05.055", "Alaska Admin. Code tit. 11, § 05.010"]),
        ("42 U.S.C. § 1983(a), (b)", &["42 U.S.C. § 1983(a)"]),
        ("(17 U.S.C. 101 note, 106; 5 U.S.C. 1 note)", &["17 U.S.C. § 101 note", "5 U.S.C. § 1 note"]),
        ("in 17 U.S.C. 101 note that and 17 U.S.C. 102 notes it", &["17 U.S.C. § 101", "17 U.S.C. § 102"]),
    ] {
        let found: Vec<String> = grammar.find_in(text).map(|(_, citation)| grammar.format(&citation)).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_provision_cites_its_own_code() {
    let added = |key: &str, template: &str| BodyForm {
        jurisdiction: "XA".parse().expect("a short code"),
        name: format!("The {key} code"),
        key: key.to_owned(),
        template: template.to_owned(),
        aliases: Vec::new(),
    };
    let plan = [added("xa/ars", "Arden Rev. Stat. § {number}"), added("xa/sfc", "{title} S.F.C. § {number}")];
    let grammar = Grammar::with_bodies(&plan).expect("both are new");
    for (home, text, expected) in [
        // The United States Code: sections of the same title, of another, of acts.
        ("42 U.S.C. § 1", "as in section 1983 of this title, and", &["42 U.S.C. § 1983"][..]),
        ("42 U.S.C. § 1", "sections 1981 to 1985 of this chapter", &["42 U.S.C. §§ 1981 to 1985"]),
        ("42 U.S.C. § 1", "section 5 of that Act and section 7", &[]),
        ("42 U.S.C. § 1", "subsection (b) of section 1395w–4 of this title", &["42 U.S.C. § 1395w-4(b)"]),
        ("42 U.S.C. § 1", "section 552a of title 5", &["5 U.S.C. § 552a"]),
        (
            "42 U.S.C. § 1",
            "section 405(a) or 1383(d)(1) of this title",
            &["42 U.S.C. § 405(a)", "42 U.S.C. § 1383(d)(1)"],
        ),
        ("42 U.S.C. § 1", "subsection (b) of this section, this chapter, and this section", &[]),
        (
            "42 U.S.C. § 1",
            "section 201 of the Federal Food, Drug, and Cosmetic Act (21 U.S.C. 321)",
            &["21 U.S.C. § 321"],
        ),
        ("5 U.S.C. App. § 3", "section 8 of this title, section 552a of title 5", &["5 U.S.C. § 552a"]),
        // Positive-law titles cite their own sections by number alone.
        ("26 U.S.C. § 79", "the requirements of section 125 are met", &["26 U.S.C. § 125"]),
        ("26 U.S.C. § 79", "subsection (b), (c), (m), or (o) of section 414 shall", &["26 U.S.C. § 414"]),
        ("26 U.S.C. § 79", "section 401 of the Social Security Act", &[]),
        ("26 U.S.C. § 79", "section 4(a)(1) or 6(a), respectively, of the Inspector General Act", &[]),
        (
            "26 U.S.C. § 79",
            "section 703 (42 U.S.C. 292) and section 12 [7 U.S.C. 4]",
            &["42 U.S.C. § 292", "7 U.S.C. § 4"],
        ),
        ("40 U.S.C. § 5", "(sections 3302, 3501(b), and 4711) of subtitle I of title 40", &[]),
        ("5 U.S.C. § 3330c", "section 3330a or 3330b", &["5 U.S.C. § 3330a", "5 U.S.C. § 3330b"]),
        (
            "18 U.S.C. § 982",
            "section 1028, 1029, or 1344, or of",
            &["18 U.S.C. § 1028", "18 U.S.C. § 1029", "18 U.S.C. § 1344"],
        ),
        ("26 U.S.C. § 79", "under section 6213 or 30 days after", &["26 U.S.C. § 6213"]),
        (
            "12 C.F.R. § 1026.2",
            "§ 1026.3(b) and section 1983 of title 42",
            &["12 C.F.R. § 1026.3(b)", "42 U.S.C. § 1983"],
        ),
        // States.
        (
            "Va. Code § 1-1",
            "pursuant to § 13.1-345 or subsection A of § 13.1-346.1,",
            &["Va. Code § 13.1-345", "Va. Code § 13.1-346.1(A)"],
        ),
        ("Va. Code § 1-1", "section 5 of title 12", &[]),
        ("Va. Code § 1-1", "section 5 of the Act, 1950, § 12", &[]),
        (
            "Va. Code § 1-1",
            "Chapter 7 (§ 23.1-700 et seq.) of Title 23.1, §§ 23.1-800 , 23.1-801 , and 23.1-901",
            &["Va. Code § 23.1-700", "Va. Code § 23.1-800", "Va. Code § 23.1-801", "Va. Code § 23.1-901"],
        ),
        (
            "D.C. Code § 1-1",
            "as defined in § 29-1004.07 and 42 U.S.C. § 1983",
            &["D.C. Code § 29-1004.07", "42 U.S.C. § 1983"],
        ),
        ("SDCL § 1-1-1", "§§ 1-1-1 to 1-1-5, inclusive", &["SDCL §§ 1-1-1 to 1-1-5"]),
        // Maryland's regulations are cited by their last part.
        ("COMAR 26.11.30.05", "with Regulation .04C(1)—(5) of this chapter", &["COMAR 26.11.30.04C(1)"]),
        (
            "COMAR 26.11.30.05",
            "Regulations .01, .02-1, and .04B of this chapter",
            &["COMAR 26.11.30.01", "COMAR 26.11.30.02-1", "COMAR 26.11.30.04B"],
        ),
        ("COMAR 26.11.30.05", "Regulations .06—.08 of this chapter", &["COMAR 26.11.30.06 to 26.11.30.08"]),
        ("COMAR 26.11.30.05", "Regulation .13, of this chapter", &["COMAR 26.11.30.13"]),
        ("COMAR 26.11.30.05", "Regulation .03 of that subtitle, §A(3) of this regulation", &[]),
        (
            "COMAR 26.11.30.05",
            "Md. Regs. Code 26.08.02.01 and COMAR 12.10.04.06A",
            &["COMAR 26.08.02.01", "COMAR 12.10.04.06A"],
        ),
        // Codes that a plan adds.
        (
            "Arden Rev. Stat. § 12-2-101",
            "under section 12-2-104a, § 7 and section 3 of the Harbor Act",
            &["Arden Rev. Stat. § 12-2-104a", "Arden Rev. Stat. § 7"],
        ),
        ("3 S.F.C. § 232", "established by section 110; in section 5 of title 4", &["3 S.F.C. § 110"]),
    ] {
        let provision = grammar.parse(home).expect(home);
        let forms = |found: Citations<'_, '_>| found.map(|(_, citation)| grammar.format(&citation)).collect::<Vec<_>>();
        let found = match EnclosingProvision::of(&provision) {
            Some(home) => forms(grammar.find_in_provision(text, home)),
            None => forms(grammar.find_in(text)),
        };
        assert_eq!(found, expected, "{home}: {text}");
    }
}

#[test]
fn ranges_cover_what_lies_between() {
    let grammar = grammar();
    let read = |text: &str| grammar.parse(text).expect(text);
    let range = read("2 U.S.C. §§ 293a to 293c");
    for inside in ["2 U.S.C. § 293a", "2 U.S.C. § 293b", "2 U.S.C. § 293c", "2 U.S.C. § 293b-1(a)"] {
        assert!(range.covers(&read(inside)), "{inside}");
    }
    for outside in ["2 U.S.C. § 293", "2 U.S.C. § 293d", "2 U.S.C. § 293aa", "3 U.S.C. § 293b", "2 U.S.C. App. § 293b"]
    {
        assert!(!range.covers(&read(outside)), "{outside}");
    }
}

#[test]
fn names_and_keys_of_added_bodies_are_checked() {
    let body = |name: &str, key: &str, template: &str| BodyForm {
        jurisdiction: "XA".parse().expect("a short code"),
        name: name.to_owned(),
        key: key.to_owned(),
        template: template.to_owned(),
        aliases: Vec::new(),
    };
    for (bad, message) in [
        (body("Arden Code", "xa/code", "Arden Code §"), "template"),
        (body("Arden Code", "us/usc", "Arden Code § {number}"), "another body has this key"),
        (body("Code of Virginia", "xa/code", "Arden Code § {number}"), "already means 'va/code'"),
        (body("", "xa/code", "Arden Code § {number}"), "two letters"),
    ] {
        let error = Grammar::with_bodies(std::slice::from_ref(&bad)).expect_err("refused").to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn unknown_citations_have_folded_keys_of_their_own() {
    let grammar = grammar();
    assert_eq!(grammar.key_or_folded("Ruritania Code § 5–1"), grammar.key_or_folded("RURITANIA  code 5-1"));
    assert_ne!(grammar.key_or_folded("Ruritania Code § 5-1"), grammar.key_or_folded("Ruritania Code § 51"));
    assert_ne!(grammar.key_or_folded("SDCL § retary"), grammar.key_or_folded("SDCL § ondary"));
    assert_eq!(grammar.key_or_folded("42 USC 300AA–1").as_str(), "us/usc/42/300aa-1");
}

/// Whether a citation in the corpora is an error of the file, and not a citation.
fn is_fault(citation: &str) -> bool {
    let number = citation.rsplit('§').next().unwrap_or("").trim();
    // An empty number, a heading cut into the number, or the same number twice.
    number.is_empty() || !number.bytes().any(|byte| byte.is_ascii_digit()) || number == "30-19.1, 30-19.1"
}

#[derive(serde::Deserialize)]
struct CorpusLine {
    citation: String,
}

#[test]
fn every_citation_of_the_corpora_reads_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    if !folder.is_dir() {
        let is_required = std::env::var_os("HORNBOOK_TEST_CORPORA").is_some();
        assert!(!is_required, "HORNBOOK_TEST_CORPORA is set, but {} is not there", folder.display());
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let grammar = grammar();
    let mut count = 0;
    for file in [
        "us-code-text-2016",
        "us-code-text-2016-empty",
        "dc-code",
        "va-code",
        "sd-statutes",
        "md-comar",
        "ut-spanish-fork-code",
    ] {
        let file = std::fs::File::open(folder.join(format!("{file}.jsonl.zst"))).expect(file);
        let lines = std::io::BufReader::new(zstd::Decoder::new(file).expect("a zstd file")).lines();
        for line in lines {
            let line = line.expect("a line of text");
            let line: CorpusLine = serde_json::from_str(&line).expect("a JSON line");
            let written = &line.citation;
            if is_fault(written) {
                continue;
            }
            count += 1;
            let read = grammar.parse(written).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(grammar.parse(&grammar.format(&read)).as_ref(), Ok(&read), "{written}");
        }
    }
    assert!(count > 170_000, "only {count} citations");
}
