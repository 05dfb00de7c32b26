//! Tests the statuses of provisions that were read next to their sources, one by one. The head of
//! `read_by_eye.tsv` states what it contains and how the provisions were chosen.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hornbook_corpus::day::Day;
use hornbook_corpus::validity::{self, Validity};
use hornbook_index_build::wording_validity::wordings_of;
use rayon::prelude::*;

use crate::corpora::corpora;
use crate::imported::{Source, documents, import};

const TABLE: &str = include_str!("read_by_eye.tsv");

/// The plans in `corpus/plans/real-files` that read the archives of the table.
const PLANS: [&str; 12] = [
    "baltimore-code-xml",
    "cfr-samples",
    "dc-code-xml",
    "hi-statutes-json",
    "id-statutes-json",
    "md-comar-xml",
    "sd-statutes-json",
    "us-code-uslm-2025",
    "va-code-html",
    "vt-statutes-html",
    "wa-statutes-json",
    "wy-statutes-html",
];

struct Row {
    archive: &'static str,
    /// A part of the path of its documents.
    file: &'static str,
    key: &'static str,
    remark: &'static str,
    /// Three days with the status on each.
    statuses: [(&'static str, &'static str); 3],
    verdict: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [archive, file, key, remark, day1, status1, day2, status2, day3, status3, verdict] = fields[..] else {
            panic!("not 11 columns: {line}")
        };
        Row { archive, file, key, remark, statuses: [(day1, status1), (day2, status2), (day3, status3)], verdict }
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn source_of(source: &toml::Value) -> Source<'_> {
    let text = |name: &str| source.get(name).and_then(toml::Value::as_str);
    Source {
        format: text("format").unwrap(),
        key: text("key").unwrap(),
        code_body: text("code_body").unwrap(),
        citation: text("citation"),
        options: source.get("options").and_then(toml::Value::as_table).cloned().unwrap_or_default(),
    }
}

/// The wordings of the provisions in the table that a source of a plan has, by key.
fn read(corpora: &Path, source: &toml::Value, rows: &[&Row]) -> BTreeMap<String, Vec<Validity>> {
    let archive = corpora.join(source["path"].as_str().unwrap());
    let member = source.get("member").and_then(toml::Value::as_str).unwrap_or_default();
    let last_known = source.get("current_through").or(source.get("retrieved")).and_then(toml::Value::as_str);
    let last_known: Day = last_known.unwrap().parse().unwrap();
    let source = source_of(source);
    // Documents of this format name the documents below them, which must be present.
    let is_read_whole = source.format == "open-law";
    let has_rows = |path: &str| is_read_whole || rows.iter().any(|row| path.contains(row.file));
    let documents = documents(&archive, source.format, |path| path.contains(member) && has_rows(path));
    if documents.is_empty() {
        return BTreeMap::new();
    }
    let nodes = import(&documents, &source).nodes.into_iter();
    let named = nodes.filter(|(key, _, _)| rows.iter().any(|row| row.key == key));
    let claims = |content| wordings_of(content, last_known).into_iter().map(|(claim, _)| claim).collect();
    named.map(|(key, content, _)| (key, claims(content))).collect()
}

/// Where the rows of a plan and the program differ, and how many rows the plan has.
fn differences(corpora: &Path, plan: &str) -> (Vec<String>, usize) {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files");
    let plan: toml::Table = fs::read_to_string(plans.join(format!("{plan}.toml"))).unwrap().parse().unwrap();
    let sources = plan["source"].as_array().unwrap();
    let all = rows();
    let rows: Vec<&Row> = all.iter().filter(|row| sources[0]["path"].as_str() == Some(row.archive)).collect();
    let read: BTreeMap<_, _> = sources.iter().flat_map(|source| read(corpora, source, &rows)).collect();
    let mut differences = Vec::new();
    for Row { key, remark, statuses, .. } in &rows {
        let Some(claims) = read.get(*key) else {
            differences.push(format!("there is no {key}"));
            continue;
        };
        for (day, expected) in statuses {
            let status = validity::state_on(claims, day.parse().unwrap()).status.as_str();
            if status != *expected {
                differences.push(format!("{key} on {day}: {status} instead of {expected}; the source says: {remark}"));
            }
        }
    }
    (differences, rows.len())
}

#[test]
fn provisions_read_by_eye_have_their_statuses() {
    let Some(corpora) = corpora() else { return };
    let found: Vec<_> = PLANS.par_iter().map(|plan| differences(&corpora, plan)).collect();
    let differences: Vec<&String> = found.iter().flat_map(|(differences, _)| differences).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(found.iter().map(|(_, count)| count).sum::<usize>(), rows().len(), "rows that no plan reads");
}

#[test]
fn rows_read_by_eye_are_complete() {
    let rows = rows();
    assert!(rows.len() >= 300, "only {} rows", rows.len());
    for Row { key, remark, verdict, .. } in rows {
        assert!(verdict == "right" || verdict.starts_with("careful: "), "{key}: {verdict}");
        assert!((1..=12).contains(&remark.split_whitespace().count()), "{key}: {remark}");
    }
}
