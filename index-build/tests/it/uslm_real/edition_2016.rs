//! Compares the titles of 2025 with the same titles in the flat edition of 2016: the ids are the
//! same, and so are the words wherever the law was not amended since.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use hornbook_index_build::content::Content;
use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::intake::SourceIntake;
use hornbook_index_build::import::provisions_jsonl;
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::Warnings;
use hornbook_index_build::source_files::{SourceError, SourceFile, for_each};

use super::titles;
use crate::common::target;
use crate::corpora::corpora;
use crate::words::Words;

/// The lines of the flat edition whose title is among those of 2025.
fn flat_lines() -> Option<Vec<String>> {
    let corpora = corpora()?;
    let wanted: Vec<String> = titles()?
        .iter()
        .filter_map(|(_, parsed)| Some(format!("\"ref\": \"/{}/", parsed.nodes.first()?.key)))
        .collect();
    let mut lines = Vec::new();
    for name in ["us-code-text-2016.jsonl.zst", "us-code-text-2016-empty.jsonl.zst"] {
        let read = for_each(&corpora.join(name), None, |file: SourceFile<'_>| {
            for line in file.reader.lines() {
                let line = line.unwrap();
                // The reference is near the end; texts are long.
                let tail = line.len().saturating_sub(4_000);
                let tail = (tail..line.len()).find(|&place| line.is_char_boundary(place)).unwrap_or(0);
                if wanted.iter().any(|wanted| line[tail..].contains(wanted.as_str())) {
                    lines.push(line);
                }
            }
            Ok::<(), SourceError>(())
        });
        read.unwrap();
    }
    Some(lines)
}

fn nodes_2025() -> impl Iterator<Item = (&'static str, &'static Content)> {
    let all = titles().unwrap_or_default().iter().flat_map(|(_, parsed)| &parsed.nodes);
    all.map(|node| (node.key.as_str(), &node.content))
}

#[test]
fn ids_stay_the_same_when_the_source_changes() {
    let Some(lines) = flat_lines() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
    let text = lines.join("\n");
    let file = SourceFile { place: "2016".into(), reader: &mut text.as_bytes() };
    let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
    provisions_jsonl::import(file, target("United States Code", "us/usc"), &mut intake).unwrap();
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    assert!(mistakes.is_empty(), "{mistakes}");
    let spool = gatherer.into_spool();
    let by_reference: HashMap<&str, &str> = nodes_2025()
        .filter(|(_, content)| content.text.is_some())
        .filter_map(|(key, content)| Some((content.reference.split_whitespace().next()?, key)))
        .collect();
    let containers: HashMap<String, &str> = nodes_2025()
        .filter(|(_, content)| content.text.is_none())
        .map(|(key, content)| (content.citation.to_lowercase(), key))
        .collect();
    let (mut provisions, mut parts) = (0, 0);
    for node in &tree {
        let content = node.content.read(&spool).unwrap();
        let same = match content.text {
            Some(_) => by_reference.get(content.reference.as_str()).inspect(|_| provisions += 1),
            None => containers.get(&content.citation.to_lowercase()).inspect(|_| parts += 1),
        };
        if let Some(&same) = same {
            assert_eq!(node.key.split('~').next().unwrap(), same, "{}", content.citation);
        }
    }
    println!("{provisions} provisions and {parts} containers have the same key in both editions");
    assert!(provisions > 2_500 && parts > 350, "{provisions} {parts}");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Same,
    /// In one of the editions it is only a remark that it is no longer law.
    Dead,
    /// Its source credit or its notes name a law after September 2016.
    Amended,
    OnlyIn2016,
    OnlyIn2025,
    Different,
}

#[test]
fn texts_that_were_not_amended_have_the_same_words() {
    let Some(lines) = flat_lines() else { return };
    let mut provisions: HashMap<&str, Vec<&Content>> = HashMap::new();
    for (_, content) in nodes_2025().filter(|(_, content)| content.text.is_some()) {
        let reference = content.reference.split_whitespace().next().unwrap_or_default();
        provisions.entry(reference).or_default().push(content);
    }
    let mut counts: BTreeMap<Found, usize> = BTreeMap::new();
    let (mut different, mut gone) = (Vec::new(), BTreeMap::<String, usize>::new());
    for line in &lines {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let reference = line["ref"].as_str().unwrap();
        let Some(now) = provisions.remove(reference) else {
            *counts.entry(Found::OnlyIn2016).or_default() += 1;
            *gone.entry(reference.split('/').nth(3).unwrap().to_owned()).or_default() += 1;
            continue;
        };
        let found = compared(&line, now[0]);
        *counts.entry(found).or_default() += 1;
        if found == Found::Different {
            let words = lower(&line["text"]).less(&Words::of(&now[0].text.as_deref().unwrap().to_lowercase())).listed();
            println!("{reference}: {:?}", &words[..words.len().min(12)]);
            different.push(reference.to_owned());
        }
    }
    let only_now = || provisions.iter().filter(|(reference, _)| !is_of_appendix(reference));
    counts.insert(Found::OnlyIn2025, only_now().count());
    let mut since = BTreeMap::<&str, usize>::new();
    only_now().for_each(|(reference, now)| *since.entry(why_only_now(reference, now[0])).or_default() += 1);
    assert_eq!(since, BTreeMap::from(ONLY_IN_2025));
    println!("{counts:?}, gone since by title: {gone:?}");
    different.sort();
    assert_eq!(different, NAMED.map(|(reference, _)| reference));
    assert!(counts[&Found::Same] > 2_200, "{counts:?}");
}

/// Provisions that differ although no law after September 2016 is named.
const NAMED: [(&str, &str); 4] = [
    ("/us/usc/t13/s305", "the editors put the present name of an office into a footnote"),
    ("/us/usc/t13/s9", "a word was cut in two in the edition of 2016"),
    ("/us/usc/t37/s211", "an amendment of 2015 took effect in 2018"),
    ("/us/usc/t37/s354", "an amendment of 2015 took effect in 2018"),
];

/// Why the edition of 2016 lacks the references of some provisions.
const ONLY_IN_2025: [(&str, usize); 4] = [
    ("added by a law after September 2016", 166),
    ("an act in an appendix that the flat edition leaves out", 9),
    ("sections not in force, several of which are one record now", 46),
    ("renumbered by a law after September 2016", 317),
];

/// Read from the source credit, which names the laws in their order.
fn why_only_now(reference: &str, now: &Content) -> &'static str {
    let credit = now.source_credit.as_deref().unwrap_or_default();
    if now.status.is_some_and(|status| !status.may_be_in_force()) {
        "sections not in force, several of which are one record now"
    } else if names_later_law(credit) {
        let is_renumbered = credit.contains("renumbered");
        if is_renumbered { "renumbered by a law after September 2016" } else { "added by a law after September 2016" }
    } else if reference.starts_with("/us/usc/t18a/pl/91/538/") {
        "an act in an appendix that the flat edition leaves out"
    } else {
        panic!("{reference} is only in 2025 for an unknown reason: {credit}")
    }
}

fn is_of_appendix(reference: &str) -> bool {
    reference.is_empty() || reference.contains("rule") || reference.contains("reorgPlan")
}

fn lower(text: &serde_json::Value) -> Words {
    Words::of(&text.as_str().unwrap().to_lowercase())
}

fn compared(line: &serde_json::Value, now: &Content) -> Found {
    let is_dead = line["status"] != "in force" || now.status.is_some_and(|status| !status.may_be_in_force());
    if is_dead {
        return Found::Dead;
    }
    let text = now.text.as_deref().unwrap_or_default().to_lowercase();
    let beyond = lower(&line["text"]).less(&Words::of(&text)).listed();
    match (is_explained(&beyond, now), is_amended(now)) {
        (true, _) => Found::Same,
        (false, true) => Found::Amended,
        (false, false) => Found::Different,
    }
}

/// Whether the words that only the flat edition contains are known not to be law.
fn is_explained(beyond: &[(String, i64)], now: &Content) -> bool {
    let mut footnotes = Words::default();
    for note in now.notes.iter().filter(|note| note.topic == "Footnote") {
        footnotes.add(&note.text.to_lowercase(), 1);
    }
    let footnotes: HashMap<String, i64> = footnotes.listed().into_iter().collect();
    beyond.iter().all(|(word, count)| {
        // Its text contains footnotes, each after its sign, and the tags of tables.
        let is_of_footnote = *count <= footnotes.get(word).copied().unwrap_or(0);
        let is_sign = word.len() < 3 && word.parse::<u8>().is_ok();
        let is_tag = matches!(word.as_str(), "table" | "tr" | "td" | "th");
        // Later editions print `subsection (a)` where this one has `subsection (a) of this section`.
        let is_here = matches!(word.as_str(), "of" | "this" | "section");
        is_sign || *count > 0 && (is_of_footnote || is_tag || is_here)
    })
}

/// Whether a law of the 114th Congress after September 2016, or of a later one, changed it.
fn is_amended(content: &Content) -> bool {
    let notes = content.notes.iter().map(|note| note.text.as_str());
    let mut texts = notes.chain(content.source_credit.as_deref());
    texts.any(names_later_law)
}

fn names_later_law(text: &str) -> bool {
    let mut laws = text.split("Pub. L. ").skip(1);
    laws.any(|law| {
        let mut numbers = law.split(|c: char| !c.is_ascii_digit());
        let (congress, number) = (numbers.next(), numbers.next());
        let parsed = |number: Option<&str>| number.and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
        (parsed(congress), parsed(number)) > (114, 219)
    })
}
