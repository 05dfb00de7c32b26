//! Compares small snapshots: what is a change and what is not, and random editions against a plain model.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::{ChangeKind, ChangesFile, CodeEdition, ListedChange, compare, listed};
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Builds a snapshot of these nodes, in the native form.
fn snapshot(dir: &Path, through: &str, nodes: &[Value]) -> Snapshot {
    let folder = dir.join(through);
    fs::create_dir(&folder).unwrap();
    let lines: String = nodes.iter().map(|node| format!("{node}\n")).collect();
    fs::write(folder.join("code.jsonl"), lines).unwrap();
    let plan = format!(
        "name = \"Code\"\n[[source]]\nformat = \"native\"\npath = \"code.jsonl\"\njurisdiction = \"XA\"\n\
         code_body = \"Code\"\nkey = \"xa/code\"\ncitation = \"Code § {{number}}\"\npublisher = \"P\"\nedition = \"{through}\"\n\
         current_through = \"{through}\"\nretrieved = \"2026-01-01\"\nlicense = \"ours\"\nurl = \"https://example.org\"\n\
         [[jurisdiction]]\ncode = \"XA\"\nname = \"Arden\"\nlevel = \"state\"\n"
    );
    fs::write(folder.join("plan.toml"), plan).unwrap();
    let options = BuildOptions {
        plan: folder.join("plan.toml"),
        sources: None,
        destination: Destination::Folder(folder.join("snapshot")),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::Silent,
    };
    Snapshot::open(&build(&options).unwrap().path).unwrap()
}

fn chapter(number: u32, heading: &str) -> Value {
    json!({ "key": format!("c{number}"), "level": "chapter", "number": number.to_string(), "heading": heading,
            "citation": format!("Code ch. {number}") })
}

fn section(chapter: u32, number: u32, text: &str) -> Value {
    json!({ "key": format!("s{number}"), "parent": format!("c{chapter}"), "level": "section", "number": number.to_string(),
            "heading": format!("Heading {number}"), "text": text })
}

fn with(mut node: Value, name: &str, value: Value) -> Value {
    node[name] = value;
    node
}

fn changes(old: &Snapshot, new: &Snapshot) -> Vec<ListedChange> {
    let [of_body] = &compare(old, new, |_| ()).unwrap()[..] else { panic!("there is one code body") };
    let edition = |of: &Snapshot| CodeEdition::of(of, &of.catalogue.code_bodies[0]);
    let (before, now) = (edition(old), edition(new));
    of_body.changes.iter().map(|change| listed(change, (old, &before), (new, &now)).unwrap()).collect()
}

/// Kind and number of each change, with the number that it had before.
fn shown(changes: &[ListedChange]) -> Vec<String> {
    let number = |citation: &str| citation.trim_start_matches("Code ").trim_start_matches("§ ").to_owned();
    let shown = changes.iter().map(|change| {
        let formerly =
            change.formerly.as_ref().map_or(String::new(), |before| format!(" from {}", number(&before.citation)));
        format!("{} {}{formerly}", change.kind.as_str(), number(&change.node.citation))
    });
    shown.collect()
}

const LONG: &str =
    "An owner of a building that has more than four dwellings shall keep the stairs and the halls of the building lit.";

#[test]
fn each_kind_of_change_is_found_and_typography_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let old = snapshot(
        dir.path(),
        "2020-01-01",
        &[
            chapter(1, "BUILDINGS"),
            section(1, 1, "“Board” means—the board."),
            section(1, 2, "A fee is due within 10 days."),
            section(1, 3, LONG),
            section(1, 4, "It will be repealed."),
            with(section(1, 5, "It has a note."), "notes", json!([{ "topic": "History", "text": "Laws 1990." }])),
            section(1, 6, "It goes without a word."),
            chapter(2, "FEES"),
            section(2, 7, "It moves to another chapter."),
            section(2, 8, "Its heading changes."),
            chapter(3, "GONE AS A WHOLE"),
            section(3, 9, "It is not listed by itself."),
        ],
    );
    let new = snapshot(
        dir.path(),
        "2022-01-01",
        &[
            chapter(1, "Buildings"),
            section(1, 1, "\"Board\"  means -- the board."),
            with(section(1, 2, "A fee is due within 14 days."), "effectiveFrom", json!("2021-07-01")),
            with(section(1, 4, "Repealed."), "status", json!("repealed")),
            with(section(1, 5, "It has a note."), "notes", json!([{ "topic": "History", "text": "Laws 1990; 2021." }])),
            chapter(2, "Fees"),
            section(1, 7, "It moves to another chapter."),
            with(section(2, 8, "Its heading changes."), "heading", json!("Another heading")),
            section(2, 30, LONG),
            section(2, 31, "It is new."),
        ],
    );
    let found = changes(&old, &new);
    let mut expected = vec![
        "reworded 2",
        "repealed 4",
        "notes 5",
        "missing 6",
        "moved 7",
        "retitled 8",
        "renumbered 30 from 3",
        "added 31",
        "missing ch. 3",
    ];
    let mut shown = shown(&found);
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected);
    let date = |citation: &str| {
        let change = found.iter().find(|change| change.node.citation == citation).unwrap();
        change.date.sentence()
    };
    assert_eq!(date("Code § 2"), "effective 2021-07-01");
    assert_eq!(date("Code § 31"), "after 2020-01-01, by 2022-01-01");
    assert!(changes(&old, &old).is_empty() && changes(&new, &new).is_empty());
}

#[test]
fn the_file_keeps_the_changes_of_its_pair_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let old = snapshot(dir.path(), "2020-01-01", &[chapter(1, "A"), section(1, 1, "One."), section(1, 2, "Two.")]);
    let new = snapshot(dir.path(), "2021-01-01", &[chapter(1, "A"), section(1, 1, "Other."), section(1, 3, "Three.")]);
    let found = compare(&old, &new, |_| ()).unwrap();
    assert_eq!(found[0].changes.len(), 3);
    let path = dir.path().join(ChangesFile::name(&old, &new));
    ChangesFile::write(&path, &old, &new, &found).unwrap();
    assert_eq!(ChangesFile::read(&path, &old, &new).unwrap(), found);
    assert!(ChangesFile::read(&path, &new, &old).is_err(), "it is of the pair in the other order");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        // It is refused, or names nodes that both snapshots have.
        if let Ok(read) = ChangesFile::read(&path, &old, &new) {
            for change in read.iter().flat_map(|body| &body.changes) {
                assert!(change.old.is_none_or(|node| node.0 < old.outline.len()), "byte {at}");
                assert!(change.new.is_none_or(|node| node.0 < new.outline.len()), "byte {at}");
            }
        }
    }
}

/// A section of a random edition: what it is about, and in which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Law {
    subject: u32,
    version: u32,
    is_repealed: bool,
}

impl Law {
    fn node(self, number: u32) -> Value {
        let words: Vec<String> = (0..24).map(|word| format!("word{}", self.subject * 100 + word)).collect();
        let text = format!("{} version {}", words.join(" "), self.version);
        match self.is_repealed {
            true => with(section(1, number, "Repealed."), "status", json!("repealed")),
            false => section(1, number, &text),
        }
    }
}

fn edition() -> impl Strategy<Value = BTreeMap<u32, Law>> {
    let law = (0..12_u32, 0..2_u32, prop::bool::weighted(0.15));
    prop::collection::btree_map(1..16_u32, law, 1..10).prop_map(|numbered| {
        let mut seen = Vec::new();
        // One subject is in one place: which of two copies moved is not known.
        let laws = numbered.into_iter().filter(|(_, (subject, ..))| {
            let is_first = !seen.contains(subject);
            seen.push(*subject);
            is_first
        });
        let laws =
            laws.map(|(number, (subject, version, is_repealed))| (number, Law { subject, version, is_repealed }));
        laws.collect()
    })
}

/// What changed between two editions, by comparing each number and then each subject.
fn model(old: &BTreeMap<u32, Law>, new: &BTreeMap<u32, Law>) -> Vec<String> {
    let in_force = |law: Option<&Law>| law.copied().filter(|law| !law.is_repealed);
    let (mut gone, mut came, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..16 {
        let (was, is) = (old.get(&number), new.get(&number));
        let (before, now) = (in_force(was), in_force(is));
        match (was, is) {
            (None, None) => {}
            (Some(_), None) => gone.push((number, before, "missing")),
            (None, Some(_)) => came.push((number, now, "added")),
            (Some(_), Some(_)) => match (before, now) {
                (Some(before), None) => gone.push((number, Some(before), "repealed")),
                (None, Some(now)) => came.push((number, Some(now), "restored")),
                (Some(before), Some(now)) if before != now => found.push(format!("reworded {number}")),
                _ => {}
            },
        }
    }
    let is_same = |one: Option<Law>, other: Option<Law>| {
        one.is_some() && one.map(|law| law.subject) == other.map(|law| law.subject)
    };
    for &(number, now, kind) in &came {
        match gone.iter().position(|&(_, before, _)| is_same(before, now)) {
            Some(place) => found.push(format!("renumbered {number} from {}", gone.remove(place).0)),
            None => found.push(format!("{kind} {number}")),
        }
    }
    found.extend(gone.into_iter().map(|(number, _, kind)| format!("{kind} {number}")));
    found.sort_unstable();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_editions_differ_as_the_model_says(old in edition(), new in edition()) {
        let dir = tempfile::tempdir().unwrap();
        let nodes = |laws: &BTreeMap<u32, Law>| -> Vec<Value> {
            std::iter::once(chapter(1, "A")).chain(laws.iter().map(|(&number, law)| law.node(number))).collect()
        };
        let [before, now] = [("2020-01-01", &old), ("2021-01-01", &new)].map(|(day, laws)| snapshot(dir.path(), day, &nodes(laws)));
        let found = changes(&before, &now);
        let mut shown = shown(&found);
        shown.sort_unstable();
        prop_assert_eq!(shown, model(&old, &new));
        prop_assert!(found.iter().all(|change| change.kind != ChangeKind::Notes));
    }
}
