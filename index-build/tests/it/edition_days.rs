//! Through which day copies are current, where their files state it and the plan does not.

use std::fs;

use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::import::document::{ParseDocument, Parsed};
use hornbook_index_build::import::{cfr_annual, ecfr};
use hornbook_index_build::report::WarningKind;

use crate::cfr::{ANNUAL, ECFR, parse_bytes};
use crate::common::build_at;
use crate::uslm::{REGULATIONS, TITLE, parse};

const CREATED: &str = "<dcterms:created xmlns:dcterms=\"d\">2025-08-26T07:18:38</dcterms:created></meta>";
const REVISED: &str = "<TITLEPG><REVISED>Revised as of October 1, 2011</REVISED>";

/// The title, with the day on which it was made.
fn title() -> String {
    TITLE.replace("</meta>", CREATED)
}

fn regulations(day: &str) -> String {
    REGULATIONS.replace("</meta>", &format!("<docReleasePoint>{day}</docReleasePoint></meta>"))
}

fn built(format: &str, files: &[&str], given: &str) -> (tempfile::TempDir, Snapshot) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("files")).unwrap();
    for (number, text) in files.iter().enumerate() {
        fs::write(dir.path().join(format!("files/{number}.xml")), text).unwrap();
    }
    let plan = format!(
        "name = 'T'\n[[source]]\nformat = '{format}'\npath = 'files'\njurisdiction = 'US'\ncode_body = 'C'\nkey = 'us/c'\n\
         publisher = 'P'\nedition = '1'\nretrieved = '2026-11-22'\nlicense = 'L'\nurl = 'https://law.example'\n{given}"
    );
    fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let out = dir.path().join("out");
    build_at(&dir.path().join("plan.toml"), &out).unwrap();
    let snapshot = Snapshot::verify(&out, |_| ()).unwrap();
    (dir, snapshot)
}

/// The day of the source, and the days of its own that the records of nodes have.
fn days(snapshot: &Snapshot) -> (Option<&str>, Vec<String>) {
    let nodes = (0..snapshot.outline.len()).map(|node| snapshot.nodes.get(hornbook_corpus::ids::NodeOrdinal(node)));
    let mut own: Vec<String> = nodes.filter_map(|record| record.unwrap().current_through).collect();
    own.dedup();
    (snapshot.catalogue.sources[0].current_through.as_deref(), own)
}

#[test]
fn a_release_point_is_the_day_of_the_source() {
    let (_dir, snapshot) = built("uslm", &[&title()], "");
    assert_eq!(days(&snapshot), (Some("2025-08-26"), vec![]), "no list has to read the records");
    let (_dir, snapshot) = built("uslm", &[&title()], "current_through = '2025-08-20'\n");
    assert_eq!(days(&snapshot), (Some("2025-08-20"), vec![]), "the plan has priority");
    let (_dir, snapshot) = built("uslm", &[TITLE], "");
    assert_eq!(days(&snapshot), (None, vec![]));
}

#[test]
fn titles_of_different_days_have_their_own() {
    let later =
        ECFR.replace("Jan. 1, 2024", "Feb. 2, 2024").replace("Title 9", "Title 10").replace("N=\"9\"", "N=\"10\"");
    let (_dir, snapshot) = built("ecfr", &[ECFR, &later], "");
    assert_eq!(days(&snapshot), (Some("2024-01-01"), vec!["2024-02-02".to_owned()]));
    let (_dir, snapshot) = built("ecfr", &[ECFR], "current_through = '2024-06-01'\n");
    assert_eq!(days(&snapshot), (Some("2024-06-01"), vec!["2024-01-01".to_owned()]), "a file knows its day best");
}

#[test]
fn volumes_state_the_day_of_their_edition() {
    let (_dir, snapshot) = built("cfr-annual", &[&ANNUAL.replace("<TITLEPG>", REVISED)], "");
    assert_eq!(days(&snapshot), (Some("2011-10-01"), vec![]), "not the day of the last amendment");
    let (_dir, snapshot) = built("uslm", &[&regulations("2017-04-01")], "");
    assert_eq!(days(&snapshot), (Some("2017-04-01"), vec![]));
}

#[test]
fn a_day_that_is_not_understood_is_a_warning_with_its_line() {
    let of_cfr = |parse: ParseDocument, text: String| parse_bytes(parse, "x.xml", text.into_bytes());
    let warned: [(Parsed, &str); 4] = [
        (parse(title().replace("2025-08-26", "yesterday")), "usc.zip!t.xml:4: the day 'yesterdayT07:18:38'"),
        (parse(regulations("April")), "usc.zip!t.xml:2: the day 'April'"),
        (of_cfr(ecfr::parse, ECFR.replace("Jan. 1, 2024", "soon")), "x.xml:3: the day 'soon'"),
        (
            of_cfr(cfr_annual::parse, ANNUAL.replace("<TITLEPG>", "<TITLEPG><REVISED>Revised</REVISED>")),
            "x.xml:2: the day 'Revised'",
        ),
    ];
    for (parsed, expected) in warned {
        let found = parsed.warnings.iter().filter(|(kind, ..)| *kind == WarningKind::Dates);
        let found: Vec<String> = found.map(|(_, position, what)| format!("{position}: {what}")).collect();
        assert!(matches!(&found[..], [one] if one.starts_with(expected)), "{found:?}");
        assert!(parsed.nodes.iter().all(|node| node.content.current_through.is_none()));
    }
}
