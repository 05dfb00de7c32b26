//! `hornbook update`: fetches from a publisher on loopback, builds, compares, and swaps only when requested.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bad_input::PLAN_HEAD;
use crate::fetching::tar_gz_of;
use crate::publisher::Publisher;
use crate::{hornbook, stderr, stdout};

/// The path of the only file of the source dc-code at a mirror.
const FILE: &str = "/codeload.github.com/DCCouncil/law-xml-codified/tar.gz/HEAD";

struct UpdateFixture {
    dir: tempfile::TempDir,
    publisher: Publisher,
}

impl UpdateFixture {
    /// A plan that reads the file of a catalogue source and takes its origin from the receipt.
    fn new() -> Self {
        let scene = Self { dir: tempfile::tempdir().unwrap(), publisher: Publisher::start() };
        let plan = PLAN_HEAD.replace("law.jsonl", "dc-code/law-xml-codified.tar.gz");
        let plan: String = plan
            .lines()
            .filter(|line| !line.starts_with("retrieved") && !line.starts_with("url"))
            .fold(String::new(), |text, line| text + line + "\n");
        fs::create_dir(scene.dir.path().join("sources")).unwrap();
        fs::write(scene.plan(), plan).unwrap();
        scene
    }

    fn plan(&self) -> PathBuf {
        self.dir.path().join("sources/plan.toml")
    }

    /// Offers a file with these sections: number and text.
    fn offer(&self, sections: &[(&str, &str)]) {
        let lines: String = sections
            .iter()
            .map(|(number, text)| {
                let line = serde_json::json!({
                    "key": format!("s{number}"), "level": "section", "number": number, "heading": "H", "text": text
                });
                format!("{line}\n")
            })
            .collect();
        self.publisher.offer(FILE, &tar_gz_of("law.jsonl", lines.as_bytes()));
    }

    fn run(&self, arguments: &[&str]) -> (bool, String, String) {
        let output = hornbook().current_dir(self.dir.path()).args(arguments).output().unwrap();
        (output.status.success(), stdout(&output), stderr(&output))
    }

    fn good(&self, arguments: &[&str]) -> String {
        let (is_good, reported, message) = self.run(arguments);
        assert!(is_good, "{arguments:?}: {message}");
        reported
    }

    fn update(&self, more: &[&str]) -> (bool, String, String) {
        self.run(&[&["update", "--base", &self.publisher.base], more].concat())
    }

    fn current(&self) -> PathBuf {
        fs::read_link(self.dir.path().join("data/current")).unwrap()
    }
}

#[test]
fn an_update_shows_what_changed_and_swaps_only_when_asked() {
    let scene = UpdateFixture::new();
    scene.offer(&[("1", "one"), ("2", "two"), ("3", "three")]);
    scene.good(&["fetch", "dc-code", "--base", &scene.publisher.base]);
    let plan = scene.plan().display().to_string();
    scene.good(&["build", &plan]);
    let first = scene.current();
    let node = scene.good(&["inspect", "--node", "A Code § 2"]);
    assert!(node.contains(&format!("{}{FILE}", scene.publisher.base)), "the address is that of the receipt: {node}");

    let (is_good, reported, message) = scene.update(&[]);
    assert!(
        is_good && reported.contains("1 of 1 files did not change") && reported.contains("nothing changed:"),
        "{reported}{message}"
    );

    scene.offer(&[("1", "one"), ("2", "two, amended"), ("4", "four"), ("5", "five")]);
    let (is_good, reported, message) = scene.update(&[]);
    assert!(is_good, "{message}");
    for expected in [
        ": 4 changes: 2 added, 1 missing, 1 reworded\n",
        "  added      A Code § 4 ",
        "  missing    A Code § 3 ",
        "  reworded   A Code § 2 ",
    ] {
        assert!(reported.contains(expected), "no '{expected}' in:\n{reported}");
    }
    assert!(reported.contains("hornbook snapshot activate") && scene.current() == first, "{reported}");

    let (is_good, reported, message) = scene.update(&["--swap", "--json"]);
    assert!(is_good, "{message}");
    let json: serde_json::Value = serde_json::from_str(&reported).unwrap();
    assert_eq!(
        (&json["isCurrent"], &json["changes"]["bodies"][0]["changes"][0]["kind"]),
        (&true.into(), &"reworded".into())
    );
    assert_ne!(scene.current(), first);
    scene.good(&["snapshot", "rollback"]);
    assert_eq!(scene.current(), first);
}

#[test]
fn an_update_that_loses_law_needs_confirmation() {
    let scene = UpdateFixture::new();
    scene.offer(&[("1", "one"), ("2", "two"), ("3", "three")]);
    scene.good(&["fetch", "dc-code", "--base", &scene.publisher.base]);
    scene.good(&["build", &scene.plan().display().to_string()]);
    let first = scene.current();
    scene.offer(&[("1", "one")]);
    let (is_good, _, message) = scene.update(&["--swap"]);
    assert!(!is_good && message.contains("A Code: 3 before, 1 now") && message.contains("--accept-loss"), "{message}");
    assert_eq!(scene.current(), first);
    let (is_good, _, message) = scene.update(&["--swap", "--accept-loss"]);
    assert!(is_good, "{message}");
    assert_ne!(scene.current(), first);
}

#[test]
fn a_publisher_that_is_down_changes_nothing() {
    let scene = UpdateFixture::new();
    scene.offer(&[("1", "one")]);
    scene.good(&["fetch", "dc-code", "--base", &scene.publisher.base]);
    scene.good(&["build", &scene.plan().display().to_string()]);
    let first = scene.current();
    let (is_good, _, message) =
        scene.run(&["update", "--base", &format!("{}/nowhere", scene.publisher.base), "--swap"]);
    assert!(!is_good && message.contains("answered 404"), "{message}");
    assert_eq!(scene.current(), first);
    let (is_good, reported, message) = scene.update(&["--no-fetch"]);
    assert!(is_good && reported.contains("nothing changed"), "{reported}{message}");
}

#[test]
fn a_file_that_is_not_what_its_receipt_says_is_not_built() {
    let scene = UpdateFixture::new();
    scene.offer(&[("1", "one")]);
    scene.good(&["fetch", "dc-code", "--base", &scene.publisher.base]);
    let file = scene.dir.path().join("sources/dc-code/law-xml-codified.tar.gz");
    fs::write(&file, tar_gz_of("law.jsonl", b"{}")).unwrap();
    let (is_good, _, message) = scene.run(&["build", &scene.plan().display().to_string()]);
    assert!(!is_good && message.contains("its receipt states"), "{message}");
    fs::remove_file(Path::new(&format!("{}.receipt.json", file.display()))).unwrap();
    let (is_good, _, message) = scene.run(&["build", &scene.plan().display().to_string()]);
    assert!(!is_good && message.contains("gives retrieved and url"), "{message}");
}
