//! Tests the word account of finished snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use hornbook_index_build::build::{BuildOptions, build};

use crate::common::{build_at, options, sample};
use crate::corpora::corpora;

#[test]
fn every_word_of_the_sample_is_in_its_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let built = build_at(&sample().join("plan.toml"), &dir.path().join("out")).unwrap();
    let words = &built.report.words;
    assert_eq!(words.len(), built.report.code_bodies.len(), "one source per code, and none for zoning");
    for report in words {
        // A further wording without its own heading has that of the first, which the source contains only once.
        let inherited = if report.source == "Arden Revised Statutes" { 9 } else { 0 };
        assert_eq!((report.unaccounted, report.added), (0, inherited), "{report:?}");
        assert!(report.law > 0 && report.headings > 0, "{report:?}");
        let held = report.law + report.headings + report.notes + report.credits;
        assert_eq!(report.words + inherited, held + report.names, "{report:?}");
    }
}

fn flat_plan(dir: &Path, lines: &[&str]) -> PathBuf {
    fs::write(dir.join("law.jsonl"), lines.join("\n")).unwrap();
    let plan = "name = 't'\n[[source]]\nformat = 'provisions-jsonl'\npath = 'law.jsonl'\njurisdiction = 'US'\n\
                code_body = 'Code'\nkey = 'us/tc'\npublisher = 'p'\nlicense = 'l'\nedition = 'e'\n\
                retrieved = '2026-01-01'\nurl = 'https://law.example/'\n";
    fs::write(dir.join("plan.toml"), plan).unwrap();
    dir.join("plan.toml")
}

#[test]
fn words_that_are_not_kept_have_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let line = r#"{"jurisdiction":"US","codeBody":"Code","path":["Title 1"],"citation":"1 T.C. § 1","heading":"One","text":"Pay twice.","ref":"/1","status":"in force"}"#;
    let built = build_at(&flat_plan(dir.path(), &[line, line]), &dir.path().join("out")).unwrap();
    let [report] = built.report.words.as_slice() else { panic!("{:?}", built.report.words) };
    assert_eq!((report.words, report.law, report.unaccounted), (6, 2, 0), "{report:?}");
    let left_out: Vec<_> = report.left_out.iter().collect();
    assert_eq!(left_out, [(&"provisions that repeat another one word for word".to_owned(), &3)]);
    assert!(report.set_aside.contains_key("field 'path', which contains no law"), "{report:?}");
    assert_eq!(report.from_set_aside, 2, "the heading 'Title 1'");
}

/// Plans of real files. `make words` builds all of them. In Wyoming, chapters and their sections print the same remark.
const PLANS_OF_EVERY_RUN: [&str; 5] = [
    "wy-statutes-html",
    "cfr-samples-uslm",
    "san-mateo-code-xml",
    "turtle-mountain-code-xml",
    "ut-spanish-fork-code-html",
];

/// The account ends at the finished snapshot, which is read back, and not at the importers.
#[test]
fn no_word_of_real_files_is_lost_in_their_snapshots() {
    let Some(corpora) = corpora() else { return };
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files");
    for name in PLANS_OF_EVERY_RUN {
        let out = tempfile::tempdir().unwrap();
        let plan = plans.join(format!("{name}.toml"));
        let options = BuildOptions { sources: Some(corpora.clone()), ..options(&plan, &out.path().join("snapshot")) };
        let built = build(&options).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!built.report.words.is_empty(), "{name}");
        for report in &built.report.words {
            assert_eq!(report.unaccounted, 0, "{name}: {report:?}");
            assert!(report.law > 1_000, "{name}: {report:?}");
        }
    }
}
