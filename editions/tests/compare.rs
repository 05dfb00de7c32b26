//! Compares small snapshots: what is a change and what is not, and random editions against a plain model.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::{ChangesFile, CodeEdition, ListedChange, compare, listed};
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Builds a snapshot of these nodes, in the native form.
fn snapshot(dir: &Path, through: &str, nodes: &[Value]) -> Snapshot {
    let lines: String = nodes.iter().map(|node| format!("{node}\n")).collect();
    snapshot_of(dir, through, "native", &lines, "")
}

/// Builds a snapshot of one file in a format. `options` are those of its source.
fn snapshot_of(dir: &Path, through: &str, format: &str, law: &str, options: &str) -> Snapshot {
    let folder = dir.join(through);
    fs::create_dir(&folder).unwrap();
    let file = if format == "native" { "law.jsonl" } else { "law.html" };
    fs::write(folder.join(file), law).unwrap();
    let plan = format!(
        "name = \"Code\"\n[[source]]\nformat = \"{format}\"\npath = \"{file}\"\njurisdiction = \"XA\"\n\
         code_body = \"Code\"\nkey = \"xa/code\"\ncitation = \"Code § {{number}}\"\npublisher = \"P\"\nedition = \"{through}\"\n\
         current_through = \"{through}\"\nretrieved = \"2026-01-01\"\nlicense = \"ours\"\nurl = \"https://example.org\"\n\
         [source.options]\n{options}\n[[jurisdiction]]\ncode = \"XA\"\nname = \"Arden\"\nlevel = \"state\"\n"
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
            chapter(1, "Buildings [Renamed]"),
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

/// A section of one subject, which has words of its own.
fn of_subject(number: u32, heading: &str, subject: u32) -> Value {
    let words: String = (0..30).map(|word| format!("word{} ", subject * 100 + word)).collect();
    with(section(1, number, &words), "heading", json!(heading))
}

/// The changes between two editions of a code with one chapter, in the order of their names.
fn shown_between(old: &[Value], new: &[Value]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let edition = |day: &str, sections: &[Value]| {
        let nodes: Vec<Value> = std::iter::once(chapter(1, "A")).chain(sections.iter().cloned()).collect();
        snapshot(dir.path(), day, &nodes)
    };
    let mut shown = shown(&changes(&edition("2016-09-14", old), &edition("2025-08-26", new)));
    shown.sort_unstable();
    shown
}

#[test]
fn a_number_that_was_given_to_other_law_is_not_reworded() {
    let old = [of_subject(1, "Lamps", 1), of_subject(2, "Stairs", 2), of_subject(3, "Fees", 3)];
    let new =
        [of_subject(1, "Doors", 9), of_subject(2, "Lamps", 1), of_subject(12, "Stairs", 2), of_subject(3, "Fee", 8)];
    assert_eq!(
        shown_between(&old, &new),
        ["added 1", "renumbered 12 from 2", "renumbered 2 from 1", "reworded 3"],
        "section 3 has no words that are found elsewhere"
    );
    // The law that had the number of a renumbered provision is not found.
    let new = [of_subject(1, "Lamps", 1), of_subject(3, "Lamps", 2)];
    assert_eq!(shown_between(&old, &new), ["missing 3", "renumbered 3 from 2"]);
}

#[test]
fn containers_of_one_name_are_joined_only_with_their_provisions() {
    let dir = tempfile::tempdir().unwrap();
    let part = |key: &str, chapter: u32, heading: &str| {
        json!({ "key": key, "parent": format!("c{chapter}"), "level": "part", "number": "I", "heading": heading,
                "citation": format!("Code ch. {chapter}, part {key}") })
    };
    let within = |key: &str, node: Value| with(node, "parent", json!(key));
    let chapters = || [chapter(1, "Buildings"), chapter(2, "Ships")];
    let (lamps, ships) = (of_subject(1, "Lamps", 1), of_subject(2, "Ships", 2));
    let code = |day: &str, parts: [Value; 4]| {
        let nodes: Vec<Value> = chapters().into_iter().chain(parts).collect();
        snapshot(dir.path(), day, &nodes)
    };
    let old = code(
        "2016-01-01",
        [part("p1", 1, "Definitions"), within("p1", lamps.clone()), part("p2", 1, "Fees"), within("p2", ships.clone())],
    );
    let other = of_subject(3, "Definitions of ships", 3);
    let new = code(
        "2020-01-01",
        [part("p3", 2, "Definitions"), within("p3", other), part("p4", 2, "Fees"), within("p4", ships)],
    );
    let mut shown = shown(&changes(&old, &new));
    shown.sort_unstable();
    let expected =
        ["added 3", "added ch. 2, part p3", "missing ch. 1, part p1", "moved ch. 2, part p4 from ch. 1, part p2"];
    assert_eq!(shown, expected);
}

#[test]
fn a_division_is_new_or_missing_only_with_law_that_is() {
    let part = |key: &str, heading: &str| {
        json!({ "key": key, "parent": "c1", "level": "part", "number": key, "heading": heading,
                "citation": format!("Code part {key}") })
    };
    let within = |key: &str, node: Value| with(node, "parent", json!(key));
    let (lamps, ships) = (of_subject(1, "Lamps", 1), of_subject(2, "Ships", 2));
    let old =
        [part("p3", "Part III. Lamps"), within("p3", lamps.clone()), part("p4", "Ships"), within("p4", ships.clone())];
    // The ships are in another division now, which is named anew; a third one is empty.
    let new = [
        part("q3", "PART 3 Lamps"),
        within("q3", lamps),
        part("q5", "Vessels"),
        within("q5", ships),
        part("q6", "[Reserved]"),
    ];
    assert_eq!(
        shown_between(&old, &new),
        ["moved 2", "notes part p4", "notes part q3 from part p3", "notes part q5", "notes part q6"]
    );
}

#[test]
fn an_image_that_only_one_copy_names_is_no_change() {
    let dir = tempfile::tempdir().unwrap();
    let edition = |day: &str, form: &str| {
        let law = format!("<h1>Title 1. Forms.</h1><h3>§ 1. Form.</h3><p>It is as follows:</p>{form}<p>Sign it.</p>");
        snapshot_of(dir.path(), day, "state-html", &law, "images = '^(?:Click|Press) to view$'")
    };
    let plain = edition("2020-01-01", "");
    let button = edition("2021-01-01", "<p>Click to view</p>");
    assert!(changes(&plain, &button).is_empty() && changes(&button, &plain).is_empty());
    assert_eq!(
        shown(&changes(&button, &edition("2022-01-01", "<p>Press to view</p>"))),
        ["reworded 1"],
        "it may be another"
    );
    assert_eq!(shown(&changes(&plain, &edition("2023-01-01", "<p>Click to see</p>"))), ["reworded 1"]);
}

#[test]
fn what_was_not_law_is_neither_missing_nor_new() {
    let repealed = |number: u32| with(section(1, number, "Repealed."), "status", json!("repealed"));
    assert_eq!(shown_between(&[repealed(1)], &[repealed(2)]), ["notes 1", "notes 2"]);
    // An entry for several numbers says what became of them.
    let range = with(with(repealed(9), "number", json!("3 to 5")), "key", json!("s3...5"));
    let found = shown_between(&[of_subject(4, "Lamps", 1), of_subject(6, "Fees", 2)], &[range]);
    assert!(found.contains(&"repealed 4".to_owned()) && found.contains(&"missing 6".to_owned()), "{found:?}");
}

#[test]
fn other_law_under_a_repealed_number_is_new() {
    let repealed = with(section(1, 1, "Repealed."), "status", json!("repealed"));
    assert_eq!(shown_between(std::slice::from_ref(&repealed), &[of_subject(1, "Ships", 1)]), ["added 1"]);
    assert_eq!(shown_between(&[repealed], &[of_subject(1, "Heading 1", 1)]), ["restored 1"]);
}

#[test]
fn law_that_the_older_copy_lacks_is_not_new() {
    let credited = |number: u32, credit: &str| with(of_subject(number, "Lamps", number), "sourceCredit", json!(credit));
    let new = [
        credited(1, "(Aug. 4, 1949, ch. 393, 63 Stat. 501; renumbered § 1, Pub. L. 115–282, Dec. 4, 2018.)"),
        credited(2, "(Added Pub. L. 115–282, Dec. 4, 2018, 132 Stat. 4198.)"),
        of_subject(3, "Fees", 3),
    ];
    let (old, new) = ([of_subject(9, "Doors", 9)], [&new[..], &[of_subject(9, "Doors", 9)]].concat());
    assert_eq!(shown_between(&old, &new), ["added 2", "added 3", "found 1"]);
}

#[test]
fn law_that_ends_as_announced_or_in_an_entry_for_several_is_not_missing() {
    let ends = |number: u32, day: &str| with(of_subject(number, "Lamps", number), "effectiveTo", json!(day));
    let old = [ends(1, "2018-01-01"), ends(2, "2031-01-01"), of_subject(3, "Fees", 3), of_subject(4, "Doors", 4)];
    let several =
        with(with(of_subject(3, "Repealed", 3), "status", json!("repealed")), "parallelCitations", json!(["Code § 4"]));
    assert_eq!(shown_between(&old, &[several]), ["ended 1", "missing 2", "repealed 3", "repealed 4"]);
}

#[test]
fn what_copies_do_to_a_text_is_no_change_of_the_law() {
    let law = |lines: &[&str]| section(1, 1, &lines.join("\n"));
    let as_was =
        law(&["A. Fees are due:", "1. in March;", "2. in PUBLIC NOTICES", "Then at 38ø 01´.", "B. Rates follow."]);
    for copied in [
        law(&["A. Fees are due:", "(1) in March;", "(2) in PUBLIC NOTICESThen at 38°01´.", "B. Rates follow."]),
        law(&["A. Fees are due:", "1. in March;", "B. Rates follow.", "2. in PUBLIC NOTICES", "Then at 38ø 01´."]),
    ] {
        assert_eq!(shown_between(std::slice::from_ref(&as_was), &[copied]), [""; 0]);
    }
    // Where an act could have meant it, it is one.
    let of_act = |lines: &[&str], credit: &str| with(law(lines), "sourceCredit", json!(credit));
    for (was, is) in [
        (["Fees:", "1. A fee;", "Rates:"], ["Fees:", "Rates:", "1. A fee;"]),
        (["The code.", "A", "B"], ["The Code.", "A", "B"]),
    ] {
        let (older, act) = ("(1990, c. 1.)", "(1990, c. 1; 2017, c. 5.)");
        assert_eq!(shown_between(&[of_act(&was, older)], &[of_act(&is, "1990, c. 1.")]), ["notes 1"]);
        assert_eq!(shown_between(&[of_act(&was, older)], &[of_act(&is, act)]), ["reworded 1"]);
    }
    let signs =
        |text: &str| with(section(1, 1, text), "notes", json!([{ "topic": "Footnote", "text": "So in original." }]));
    let (with_sign, without) = (signs("Fees under section 507 1 are due."), signs("Fees under section 507 are due."));
    assert_eq!(shown_between(std::slice::from_ref(&with_sign), &[without]), [""; 0]);
    assert_eq!(shown_between(&[with_sign], &[signs("Fees under section 507 2 are due.")]), ["reworded 1"]);
}

#[test]
fn what_the_newer_edition_says_was_renumbered_is_one_provision_whatever_its_words() {
    let formerly = |number: u32, subject: u32, former: &[&str]| {
        with(of_subject(number, "Fees", subject), "formerCitations", json!(former))
    };
    let old = [of_subject(1, "Lamps", 1), of_subject(2, "Stairs", 2), of_subject(3, "Doors", 3)];
    let new = [
        // Its credit shows that it is older.
        with(
            formerly(11, 11, &["Code § 1", "Code § 99"]),
            "sourceCredit",
            json!("(Aug. 4, 1949, ch. 393; renumbered § 11, Pub. L. 115–282.)"),
        ),
        // The second one was divided.
        formerly(12, 12, &["Code § 2"]),
        formerly(13, 13, &["Code § 2"]),
        of_subject(3, "Doors", 3),
    ];
    assert_eq!(shown_between(&old, &new), ["added 12", "added 13", "missing 2", "renumbered 11 from 1"]);
    // Its number had other law before, which has another number now.
    let new = [formerly(3, 11, &["Code § 1"]), of_subject(4, "Doors", 3), of_subject(2, "Stairs", 2)];
    assert_eq!(shown_between(&old, &new), ["renumbered 3 from 1", "renumbered 4 from 3"]);
}

#[test]
fn what_is_gone_stays_gone_whatever_it_is_called() {
    let gone = |status: &str| with(section(1, 1, "Gone."), "status", json!(status));
    let kinds = |was: &str, is: &str| shown_between(&[gone(was)], &[gone(is)]);
    assert_eq!(kinds("repealed", "omitted"), ["notes 1"]);
    assert_eq!(kinds("reserved", "repealed"), ["restated 1"]);
}

#[test]
fn a_number_of_two_entries_is_reworded_when_the_later_one_becomes_law() {
    let later =
        |key: &str| with(with(of_subject(1, "License by endorsement", 2), "key", json!(key)), "parent", json!("c1"));
    let old = [of_subject(1, "License without examination", 1), later("s1-later")];
    let found = shown_between(&old, &[later("s1")]);
    assert!(found.contains(&"reworded 1".to_owned()), "{found:?}");
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
            (Some(_), None) if before.is_none() => found.push(format!("notes {number}")),
            (None, Some(_)) if now.is_none() => found.push(format!("notes {number}")),
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
    }
}
