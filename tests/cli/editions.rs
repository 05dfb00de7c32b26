//! `hornbook diff`, and the shelf of earlier editions.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::{hornbook, stderr, stdout};

/// A code of three sections, each with its text.
fn write_code(folder: &Path, through: &str, texts: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    let section = |(number, text): &(&str, &str)| {
        format!(
            "{{\"key\": \"s{number}\", \"level\": \"section\", \"number\": \"{number}\", \"heading\": \"Heading\", \"text\": \"{text}\"}}\n"
        )
    };
    fs::write(folder.join("code.jsonl"), texts.iter().map(section).collect::<String>()).unwrap();
    let plan = format!(
        "name = \"Code\"\n[[jurisdiction]]\ncode = \"XA\"\nname = \"Arden\"\nlevel = \"state\"\n[[source]]\nformat = \"native\"\n\
         path = \"code.jsonl\"\njurisdiction = \"XA\"\ncode_body = \"Arden Code\"\nkey = \"xa/code\"\n\
         citation = \"Arden Code § {{number}}\"\npublisher = \"P\"\nedition = \"{through}\"\ncurrent_through = \"{through}\"\n\
         retrieved = \"2026-01-01\"\nlicense = \"ours\"\nurl = \"https://example.org\"\n"
    );
    fs::write(folder.join("plan.toml"), plan).unwrap();
}

struct Editions(tempfile::TempDir);

impl Editions {
    fn build() -> Self {
        let dir = tempfile::tempdir().unwrap();
        write_code(
            &dir.path().join("a"),
            "2020-01-01",
            &[("1", "One."), ("2", "A fee is due within 10 days."), ("3", "Three.")],
        );
        write_code(
            &dir.path().join("b"),
            "2024-01-01",
            &[("1", "One."), ("2", "A fee is due within 14 days."), ("4", "Four.")],
        );
        let editions = Self(dir);
        for which in ["a", "b"] {
            let built = editions.run(&["build", &format!("{which}/plan.toml"), "--accept-loss"]);
            assert!(built.status.success(), "{}", stderr(&built));
        }
        editions
    }

    fn run(&self, arguments: &[&str]) -> Output {
        hornbook().current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// The ids of the older and of the newer snapshot.
    fn ids(&self) -> [String; 2] {
        let listed: Vec<Value> = serde_json::from_str(&self.good(&["--json", "snapshot", "list"])).unwrap();
        let id = |is_current: bool| {
            let found = listed.iter().find(|snapshot| snapshot["isCurrent"] == is_current).unwrap();
            found["id"].as_str().unwrap().to_owned()
        };
        [id(false), id(true)]
    }
}

#[test]
fn a_diff_lists_changes_with_their_words_and_writes_a_page() {
    let editions = Editions::build();
    let [old, new] = editions.ids();
    let text = editions.good(&["diff", &old[..8], "--words", "--html", "page.html"]);
    for expected in [
        "Arden Code, 2020-01-01 to 2024-01-01: 3 changes: 1 added, 1 missing, 1 reworded\n",
        "  reworded   Arden Code § 2 Heading, after 2020-01-01, by 2024-01-01\n",
        "      A fee is due within [-10-] {+14+} days.\n",
    ] {
        assert!(text.contains(expected), "no '{expected}' in:\n{text}");
    }
    let page = fs::read_to_string(editions.0.path().join("page.html")).unwrap();
    assert!(page.contains("<del>10 </del>") && page.contains("<ins>14 </ins>"), "{page}");
    let folder = format!("data/snapshots/{old}");
    let json: Value =
        serde_json::from_str(&editions.good(&["--json", "diff", &folder, &new, "--kind", "added"])).unwrap();
    let changes = json["bodies"][0]["changes"].as_array().unwrap();
    assert!(changes.len() == 1 && changes[0]["citation"] == "Arden Code § 4", "{json:#}");
    assert!(editions.good(&["diff", &new, &new]).contains("nothing changed"));
    let unknown = editions.run(&["diff", "nowhere"]);
    assert!(!unknown.status.success() && stderr(&unknown).contains("snapshot list"), "{}", stderr(&unknown));
    let unknown = editions.run(&["diff", &old, "--code-body", "Utah"]);
    assert!(stderr(&unknown).contains("no code body 'Utah'"), "{}", stderr(&unknown));
}

#[test]
fn shelved_snapshots_are_marked_kept_and_taken_down() {
    let editions = Editions::build();
    let [old, _] = editions.ids();
    let marked = |editions: &Editions| editions.good(&["snapshot", "list"]).lines().any(|line| line.starts_with('+'));
    assert!(!marked(&editions));
    assert!(editions.good(&["snapshot", "shelve", &old[..8]]).contains("on the shelf"));
    assert!(editions.good(&["snapshot", "shelve", &old[..8]]).contains("already"));
    assert!(marked(&editions));
    let changes = || fs::read_dir(editions.0.path().join("data/changes")).unwrap().count();
    assert_eq!(changes(), 1);
    editions.good(&["snapshot", "prune", "--keep", "0"]);
    assert!(editions.0.path().join("data/snapshots").join(&old).exists(), "what is shelved is not pruned");
    editions.good(&["snapshot", "unshelve", &old[..8]]);
    assert!(!marked(&editions) && changes() == 0);
    editions.good(&["snapshot", "prune", "--keep", "0"]);
    assert!(!editions.0.path().join("data/snapshots").join(&old).exists());
    let none = editions.run(&["snapshot", "unshelve", &old[..8]]);
    assert!(stderr(&none).contains("is on the shelf; 'hornbook snapshot list'"), "{}", stderr(&none));
}
