//! The snapshots of a data directory: building without activating, activating, rolling back,
//! pruning, and checking sources without building.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bad_input::PLAN_HEAD;
use crate::{hornbook, sample_plan, stderr, stdout};

/// A plan whose only source has one section with this text.
fn plan_with(dir: &Path, text: &str) -> PathBuf {
    fs::write(dir.join("plan.toml"), PLAN_HEAD).unwrap();
    let line = format!(r#"{{"key":"s1","level":"section","number":"1","heading":"H","text":"{text}"}}"#);
    fs::write(dir.join("law.jsonl"), line).unwrap();
    dir.join("plan.toml")
}

struct DataFixture(tempfile::TempDir);

impl DataFixture {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = hornbook().args(arguments).arg("--data").arg(self.0.path().join("data")).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let output = hornbook().args(arguments).arg("--data").arg(self.0.path().join("data")).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}: {}", stdout(&output));
        stderr(&output)
    }

    /// Builds a snapshot whose only provision has this text.
    fn build(&self, text: &str, more: &[&str]) {
        let plan = plan_with(self.0.path(), text).display().to_string();
        self.run(&[&["build", plan.as_str(), "--accept-loss"], more].concat());
    }

    /// The ids of all snapshots, latest first, and the id of the current one.
    fn listed(&self) -> (Vec<String>, Option<String>) {
        let list: serde_json::Value = serde_json::from_str(&self.run(&["snapshot", "list", "--json"])).unwrap();
        let id = |entry: &serde_json::Value| entry["id"].as_str().unwrap().to_owned();
        let entries = list.as_array().unwrap();
        (entries.iter().map(id).collect(), entries.iter().find(|entry| entry["isCurrent"] == true).map(id))
    }
}

#[test]
fn new_snapshots_are_activated_and_rolled_back() {
    let data = DataFixture::new();
    assert!(data.run(&["snapshot", "list"]).contains("no snapshots"));
    data.build("one", &[]);
    let (_, first) = data.listed();
    data.build("two", &["--no-activate"]);
    let (all, current) = data.listed();
    assert_eq!((all.len(), &current), (2, &first), "the new one waits");
    let second = all.iter().find(|id| Some(*id) != first.as_ref()).unwrap();

    assert!(data.run(&["snapshot", "activate", &second[..8]]).contains("hornbook reload"));
    assert_eq!(data.listed().1.as_ref(), Some(second));
    assert!(data.run(&["snapshot", "rollback"]).contains(first.as_ref().unwrap()));
    assert_eq!(data.listed().1, first);
    assert!(data.refusal(&["snapshot", "rollback"]).contains("no earlier snapshot is recorded"));
    assert!(data.refusal(&["snapshot", "activate", "zzz"]).contains("there is no snapshot 'zzz'"));
    assert!(data.run(&["snapshot", "list"]).contains("*  "), "the current one is marked");
}

#[test]
fn a_damaged_snapshot_is_not_activated() {
    let data = DataFixture::new();
    data.build("one", &[]);
    data.build("two", &[]);
    let (all, current) = data.listed();
    let other = all.iter().find(|id| Some(*id) != current.as_ref()).unwrap();
    let texts = data.0.path().join("data/snapshots").join(other).join("texts.bin");
    let mut bytes = fs::read(&texts).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::remove_file(&texts).unwrap();
    fs::write(&texts, bytes).unwrap();
    assert!(data.refusal(&["snapshot", "activate", other]).contains("texts.bin"));
    assert!(data.refusal(&["snapshot", "rollback"]).contains("texts.bin"));
    assert_eq!(data.listed().1, current);
}

#[test]
fn pruning_shows_what_it_removes() {
    let data = DataFixture::new();
    for text in ["one", "two", "three"] {
        data.build(text, &[]);
    }
    let (_, current) = data.listed();
    assert!(data.run(&["snapshot", "prune"]).contains("3 snapshots left"), "the last two are kept");
    assert!(data.run(&["snapshot", "prune", "--keep", "1", "--dry-run"]).contains("would remove "));
    assert_eq!(data.listed().0.len(), 3);
    assert!(data.run(&["snapshot", "prune", "--keep", "0"]).contains("1 snapshot left"));
    assert_eq!(data.listed(), (vec![current.clone().unwrap()], current));
}

#[test]
fn a_check_reports_every_error_of_every_source_and_writes_nothing() {
    let data = DataFixture::new();
    let dir = data.0.path();
    let source = |path: &str, key: &str| {
        PLAN_HEAD.split_once("[[source]]").unwrap().1.replace("law.jsonl", path).replace("va/a", key)
    };
    let plan = format!(
        "{PLAN_HEAD}\n[[source]]{}\n[[source]]{}\n[[source]]{}\n",
        source("more.jsonl", "va/b"),
        source("absent.jsonl", "va/c"),
        source("cut.jsonl.gz", "va/d"),
    );
    fs::write(dir.join("plan.toml"), plan).unwrap();
    fs::write(dir.join("law.jsonl"), "{\n{\n").unwrap();
    fs::write(dir.join("more.jsonl"), r#"{"key":"a","parent":"b","level":"title","heading":"A"}"#).unwrap();
    fs::write(dir.join("cut.jsonl.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    let plan = dir.join("plan.toml").display().to_string();
    let message = data.refusal(&["build", &plan, "--check"]);
    for expected in
        ["law.jsonl:1: ", "law.jsonl:2: ", "more.jsonl", "absent.jsonl: there is no such file", "cut.jsonl.gz"]
    {
        assert!(message.contains(expected), "no '{expected}' in: {message}");
    }
    assert!(!dir.join("data").exists(), "nothing is written");

    let many: String = std::iter::repeat_n("{\n", 300).collect();
    fs::write(dir.join("law.jsonl"), many).unwrap();
    assert!(
        data.refusal(&["build", &plan, "--check"]).contains("law.jsonl:300: "),
        "a check does not stop at a hundred"
    );
}

#[test]
fn a_check_of_good_sources_counts_them() {
    let data = DataFixture::new();
    let plan = sample_plan().display().to_string();
    let reported = data.run(&["build", &plan, "--check"]);
    assert!(reported.contains("Arden Revised Statutes") && reported.contains("no errors in "), "{reported}");
    assert!(
        reported.contains("until a day") && reported.contains("left out  added  lost"),
        "times and words of each source: {reported}"
    );
    assert!(!data.0.path().join("data").exists(), "nothing is written");
}
