//! Sources that lack law: an empty source is an error, and a snapshot that loses law does not
//! replace the one in use.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use hornbook_corpus::manifest::{Manifest, REPORT_FILE_NAME};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::error::BuildError;
use hornbook_index_build::report::Report;

use crate::common::{build_at, options, sample};

/// A plan of one code with this many sections, and a second code with one section.
fn plan(folder: &Path, sections: u32) -> PathBuf {
    let mut text = "name = \"t\"\n".to_owned();
    for (file, count) in [("a", sections), ("b", 1)] {
        let lines = (1..=count).map(|n| {
            format!("{{\"key\":\"s{n}\",\"level\":\"section\",\"number\":\"{n}\",\"text\":\"Words of {n}.\"}}\n")
        });
        fs::write(folder.join(format!("{file}.jsonl")), lines.collect::<String>()).unwrap();
        write!(
            text,
            "[[source]]\nformat = \"native\"\npath = \"{file}.jsonl\"\njurisdiction = \"VA\"\ncode_body = \"Code {file}\"\n\
             key = \"va/{file}\"\ncitation = \"Code {file} § {{number}}\"\npublisher = \"p\"\nedition = \"e\"\n\
             retrieved = \"2026-01-01\"\nlicense = \"l\"\nurl = \"u\"\n"
        )
        .unwrap();
    }
    let path = folder.join("plan.toml");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_snapshot_that_loses_law_is_built_but_does_not_become_current() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let build_with = |sections, accept_loss| {
        let plan = plan(dir.path(), sections);
        let destination = Destination::DataDirectory(data.clone());
        build(&BuildOptions { destination, accept_loss, ..options(&plan, Path::new("unused")) })
    };
    let current = || fs::canonicalize(data.join("current")).unwrap();
    let whole = build_with(20, false).unwrap().path;
    assert_eq!(fs::canonicalize(&whole).unwrap(), current());
    // Losing a tenth is accepted.
    let smaller = build_with(18, false).unwrap().path;
    assert_eq!(fs::canonicalize(smaller).unwrap(), current());

    let in_use = current();
    let Err(BuildError::Loss(refused)) = build_with(9, false) else { panic!("losing half of the law must be refused") };
    assert_eq!((current(), &refused.kept), (in_use.clone(), &in_use));
    let message = refused.to_string();
    assert!(message.contains("Code a: 18 before, 9 now") && !message.contains("Code b"), "{message}");
    assert!(message.contains("--accept-loss") && message.contains(&*refused.built.to_string_lossy()), "{message}");
    let built = Snapshot::verify(&refused.built, |_| ()).unwrap();
    assert_eq!(built.manifest.counts.provisions, 10);

    let accepted = build_with(9, true).unwrap();
    assert_eq!(accepted.manifest.snapshot, built.manifest.snapshot);
    assert_eq!(fs::canonicalize(&refused.built).unwrap(), current());
}

#[test]
fn a_snapshot_that_loses_law_does_not_replace_the_one_in_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    build_at(&plan(dir.path(), 20), &out).unwrap();
    let before = Manifest::open(&out).unwrap().snapshot;
    let smaller = plan(dir.path(), 5);
    let replacing = |accept_loss| BuildOptions { replace: true, accept_loss, ..options(&smaller, &out) };
    let Err(BuildError::Loss(refused)) = build(&replacing(false)) else {
        panic!("losing three quarters must be refused")
    };
    assert_eq!(Manifest::open(&out).unwrap().snapshot, before);
    assert_eq!(Manifest::open(&refused.built).unwrap().counts.provisions, 6);
    build(&replacing(true)).unwrap();
    assert_eq!(Manifest::open(&out).unwrap().counts.provisions, 6);
}

#[test]
fn a_source_without_provisions_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path(), 3);
    fs::write(dir.path().join("b.jsonl"), "").unwrap();
    let message = build_at(&plan, &dir.path().join("out")).unwrap_err().to_string();
    assert!(message.contains("b.jsonl: this source has no provisions"), "{message}");
    assert!(!dir.path().join("out").exists());
}

#[test]
fn the_report_in_a_snapshot_says_how_large_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let built = build_at(&sample().join("plan.toml"), &out).unwrap();
    let stored: Report = serde_json::from_slice(&fs::read(out.join(REPORT_FILE_NAME)).unwrap()).unwrap();
    let files = built.manifest.files.iter().filter(|file| file.path != REPORT_FILE_NAME);
    let bytes: u64 = files.map(|file| file.size).sum();
    assert!(bytes > 100_000);
    assert_eq!((stored.snapshot_bytes, built.report.snapshot_bytes), (bytes, bytes));
}
