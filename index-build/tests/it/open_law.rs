//! Tests the District of Columbia Code and the Code of Maryland Regulations from their official
//! files, if present: counts, keys, words, and provisions that were compared by eye with their
//! source.

use std::collections::{BTreeMap, BTreeSet};

use hornbook_corpus::layout::{Layout, LineKind};
use hornbook_corpus::outline::Status;
use hornbook_index_build::content::Content;
use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::intake::SourceIntake;
use hornbook_index_build::import::provisions_jsonl;
use hornbook_index_build::import::target::ImportTarget;
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::{WarningKind, Warnings};
use hornbook_index_build::source_files;

use crate::corpora::corpora;
use crate::open_law_golden;
use crate::open_law_source::{Node, OpenLawSource, district, documents, import, maryland};
use crate::words::Words;

/// The tree, and the number of warnings of each kind.
fn imported(plan: &OpenLawSource) -> Option<(Vec<Node>, BTreeMap<WarningKind, u64>)> {
    let corpora = corpora()?;
    let (nodes, warnings) = import(&documents(&corpora.join(plan.archive)), plan).unwrap();
    Some((nodes, warnings.into_parts().1))
}

fn layouts(content: &Content) -> impl Iterator<Item = &Layout> {
    std::iter::once(&content.layout).chain(content.notes.iter().map(|note| &note.layout))
}

fn tables(content: &Content) -> usize {
    layouts(content).map(|set| set.lines.iter().filter_map(|line| line.table()).collect::<BTreeSet<_>>().len()).sum()
}

fn images(content: &Content) -> usize {
    layouts(content).flat_map(|set| &set.lines).filter(|line| line.kind() == Some(LineKind::Image)).count()
}

fn total(nodes: &[Node], count: impl Fn(&Content) -> usize) -> usize {
    nodes.iter().flat_map(|node| std::iter::once(&node.content).chain(&node.wordings)).map(count).sum()
}

/// The number of provisions with the date of their present wording.
fn dated(nodes: &[Node]) -> usize {
    nodes.iter().filter(|node| node.content.effect.from.is_some()).count()
}

fn of_status(nodes: &[Node], provisions: bool, status: Status) -> usize {
    let has = |node: &&Node| node.is_provision() == provisions && node.content.status == Some(status);
    nodes.iter().filter(has).count()
}

/// The provisions of a tree by key, with their headings and texts.
type Provisions = BTreeMap<String, Option<(String, String)>>;

/// The nodes from the flat provisions of the same law. Containers have no text.
fn of_lines(plan: &OpenLawSource) -> Provisions {
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
    let path = corpora().unwrap().join(plan.lines);
    let jurisdiction = if plan.key.starts_with("dc") { "DC" } else { "MD" };
    source_files::for_each(&path, None, |file| {
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        provisions_jsonl::import(file, ImportTarget { jurisdiction, ..plan.target() }, &mut intake).map(drop)
    })
    .unwrap();
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    assert!(mistakes.is_empty(), "{mistakes}");
    let spool = gatherer.into_spool();
    let provision = |content: Content| content.text.map(|text| (content.heading, text));
    tree.into_iter().map(|node| (node.key, provision(node.content.read(&spool).unwrap()))).collect()
}

/// Keys that only one of the two contains, and provisions of both whose words differ.
struct Compared {
    only_lines: Vec<String>,
    only_own: Vec<(String, bool)>,
    headings: usize,
    texts: Vec<String>,
}

fn compared(plan: &OpenLawSource, nodes: &[Node]) -> Compared {
    let lines = of_lines(plan);
    let own: BTreeMap<&str, &Node> = nodes.iter().map(|node| (node.key.as_str(), node)).collect();
    let both = || own.iter().filter_map(|(key, node)| Some((*key, *node, lines.get(*key)?.as_ref()?)));
    let folded = |text: &str| text.split_whitespace().collect::<String>();
    let differs = |node: &Node, text: &str| {
        Words::of(node.content.text.as_deref().unwrap_or_default()).less(&Words::of(text)).count() > 0
    };
    Compared {
        only_lines: lines.keys().filter(|key| !own.contains_key(key.as_str())).cloned().collect(),
        only_own: own
            .iter()
            .filter(|(key, _)| !lines.contains_key(**key))
            .map(|(key, node)| ((*key).to_owned(), node.content.text.as_deref().is_some_and(|text| !text.is_empty())))
            .collect(),
        headings: both().filter(|(_, node, line)| folded(&node.content.heading) != folded(&line.0)).count(),
        texts: both().filter(|(_, node, line)| differs(node, &line.1)).map(|(key, ..)| key.to_owned()).collect(),
    }
}

#[test]
fn the_district_code_is_whole_and_its_ids_are_those_of_the_converted_lines() {
    let Some((nodes, warnings)) = imported(&district()) else { return };
    let provisions = nodes.iter().filter(|node| node.is_provision()).count();
    let wordings: usize = nodes.iter().map(|node| node.wordings.len()).sum();
    // Each section element is a provision or another wording of one. One of the 194 elements in
    // title 99 is numbered 6B and belongs to no other section.
    assert_eq!((provisions + wordings, wordings), (23_923, 193));
    assert_eq!(warnings[&WarningKind::SecondWording], 193);
    // Headings with an editor's bracket such as `Commissioner`: the law is in force.
    assert_eq!(warnings[&WarningKind::UnknownStatus], 9);
    assert_eq!((total(&nodes, tables), total(&nodes, images)), (74, 7));
    let of_status = Status::STATED.map(|status| of_status(&nodes, true, status));
    // In force (including 21 that apply from a later day), repealed, reserved (including not funded
    // and not applicable), omitted, transferred, renumbered, expired.
    assert_eq!(of_status, [18_311, 4_794, 183, 46, 152, 1, 243]);
    // A separate script with the same rule found these, and two more whose headings state that they
    // are repealed. Since then, two that temporary acts repealed got their first day.
    assert_eq!(dated(&nodes), 4_583);
    let compared = compared(&district(), &nodes);
    // The converter kept remarks and commands of editors as text, and left out the names of
    // articles of compacts.
    assert_eq!((compared.headings, compared.texts.len()), (0, 161));
    assert_eq!(compared.only_lines.len(), 193);
    assert!(compared.only_lines.iter().all(|key| key.ends_with("-perm")));
    // The lines contain no sections without text, and no containers without sections with text.
    assert_eq!(compared.only_own.iter().filter(|(_, has_text)| *has_text).count(), 0);
    assert_eq!(compared.only_own.len(), 95);
    open_law_golden::check("district", &nodes);
}

#[test]
fn maryland_regulations_are_whole_and_their_ids_are_those_of_the_converted_lines() {
    let Some((nodes, warnings)) = imported(&maryland()) else { return };
    let provisions = nodes.iter().filter(|node| node.is_provision()).count();
    // 224 of the 29,534 section elements belong to other laws that regulations quote.
    assert_eq!(provisions, 29_534 - 224);
    // Two models of local ethics laws use the same section numbers, as the source cites them.
    assert_eq!(warnings[&WarningKind::SharedCitation], 17);
    // 168 images and the names of 60 attached files.
    assert_eq!((total(&nodes, tables), total(&nodes, images)), (1_462, 168 + 60));
    let of_status = |provisions| Status::STATED.map(|status| of_status(&nodes, provisions, status));
    assert_eq!(of_status(true), [29_032, 255, 20, 0, 3, 0, 0]);
    // Of the repealed containers, 239 state it only with this word.
    assert_eq!(of_status(false)[1..5], [273, 30, 0, 74]);
    assert_eq!(dated(&nodes), 22_317);
    let compared = compared(&maryland(), &nodes);
    // The converter joined words that a line break separates, and left out images.
    assert_eq!((compared.headings, compared.texts.len()), (0, 222));
    // Model laws are in appendices, which the lines leave out of their paths.
    assert_eq!(compared.only_lines.len(), 3, "{:?}", compared.only_lines);
    assert!(compared.only_lines.iter().all(|key| key.contains("ethics-provisions")));
    // Regulations that consist only of an image have its description as text here.
    let with_text = || compared.only_own.iter().filter(|(_, has_text)| *has_text);
    assert_eq!(with_text().count(), 5);
    assert_eq!(compared.only_own.len(), 754);
    let find = |key: &str| nodes.iter().find(|node| node.key == key).unwrap();
    assert_eq!(find("md/comar/s26.08.02.01").content.citation, "COMAR 26.08.02.01");
    assert_eq!(
        find("md/comar/t26/st08/ch02").content.citation,
        "Code of Maryland Regulations, Title 26, Subtitle 08, Chapter 02"
    );
    open_law_golden::check("maryland", &nodes);
}
