//! Tests the published formats of the Code of Federal Regulations on the real files, if present:
//! counts, lost or invented words, and provisions that were once checked by eye.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::layout::{LineKind, layout_lines};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::content::NewNode;
use hornbook_index_build::import::document::{Document, ParseDocument};
use hornbook_index_build::import::labels::{Scheme, layout_of};
use hornbook_index_build::import::{cfr_annual, ecfr, regml, xml};
use hornbook_index_build::source_files::{SourceError, for_each};
use roxmltree::Node;

use crate::cfr::parse_bytes;
use crate::common::build_at;
use crate::corpora::corpora;

/// A format, the path part of its sample files, and their counts.
struct Sample {
    name: &'static str,
    parse: ParseDocument,
    path: &'static str,
    sections: usize,
    attachments: usize,
    comments: usize,
}

const SAMPLES: [Sample; 3] = [
    Sample { name: "ecfr", parse: ecfr::parse, path: "cfr/ecfr/", sections: 288, attachments: 0, comments: 0 },
    // 1,438 SECTION elements: two are tables of control numbers, nine are future wordings in notes,
    // three were removed.
    Sample {
        name: "cfr-annual",
        parse: cfr_annual::parse,
        path: "cfr/annual-2011-title47/",
        sections: 1_424,
        attachments: 5,
        comments: 0,
    },
    // 591 section elements: 24 are in preambles and name the part.
    Sample {
        name: "regml",
        parse: regml::parse,
        path: "cfr/cfpb-regml/",
        sections: 567,
        attachments: 45,
        comments: 90,
    },
];

/// The archive of samples. Prints a message and returns None if it is missing.
fn archive() -> Option<PathBuf> {
    corpora().map(|folder| folder.join("cfr-samples.tar.zst"))
}

/// The documents of a sample by name.
fn documents(archive: &Path, sample: &Sample) -> Vec<(String, Vec<u8>)> {
    let mut documents = Vec::new();
    for_each::<SourceError>(archive, None, |file| {
        let entry = file.place.rsplit_once('!').map_or(file.place.as_str(), |(_, entry)| entry).to_owned();
        if entry.contains(sample.path) && xml::is_source_file(&entry) {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(file.reader, &mut bytes).unwrap();
            documents.push((entry, bytes));
        }
        Ok(())
    })
    .unwrap();
    documents.sort();
    documents
}

fn nodes(sample: &Sample, documents: &[(String, Vec<u8>)]) -> Vec<NewNode> {
    let parsed = documents.iter().map(|(name, bytes)| parse_bytes(sample.parse, name, bytes.clone()));
    let whole = parsed.inspect(|parsed| assert!(parsed.mistakes.is_empty(), "{:?}", parsed.mistakes));
    whole.flat_map(|parsed| parsed.nodes).collect()
}

#[test]
fn every_section_appendix_and_interpretation_is_counted() {
    let Some(archive) = archive() else { return };
    for sample in &SAMPLES {
        let nodes = nodes(sample, &documents(&archive, sample));
        let count = |level: &str| nodes.iter().filter(|node| node.content.level == level).count();
        let counted = (count("section"), count("appendix"), count("interpretation"));
        assert_eq!(counted, (sample.sections, sample.attachments, sample.comments), "{}", sample.name);
        for node in &nodes {
            let content = &node.content;
            let notes = content.notes.iter().map(|note| (&note.layout, note.text.as_str()));
            let texts = std::iter::once((&content.layout, content.text.as_deref().unwrap_or_default())).chain(notes);
            for (layout, text) in texts.filter(|(layout, _)| !layout.is_empty()) {
                assert_eq!(layout.check_against_text(text), None, "{}", content.citation);
            }
        }
    }
}

/// Six sections of volume 3 are printed as they were until October 13, 2011; two more notes exclude
/// some paragraphs.
#[test]
fn dates_are_read_where_notes_state_them() {
    let Some(archive) = archive() else { return };
    for sample in &SAMPLES {
        let nodes = nodes(sample, &documents(&archive, sample));
        let until =
            nodes.iter().filter_map(|node| Some((node.content.number.as_deref()?, node.content.effect.to.as_deref()?)));
        let expected: &[&str] = match sample.name == "cfr-annual" {
            true => &["54.500", "54.501", "54.503", "54.504", "54.507", "54.520"],
            false => &[],
        };
        assert_eq!(
            until.collect::<Vec<_>>(),
            expected.iter().map(|number| (*number, "2011-10-13")).collect::<Vec<_>>()
        );
        assert!(nodes.iter().all(|node| node.content.effect.from.is_none()));
    }
}

#[test]
fn ranges_and_reserved_sections_are_one_record_each() {
    let Some(archive) = archive() else { return };
    let [ecfr, annual, _] = &SAMPLES;
    let ranges = |sample: &Sample| {
        let nodes = nodes(sample, &documents(&archive, sample));
        let is_range = |node: &&NewNode| node.content.citation.contains("...");
        let ranges = nodes.iter().filter(is_range).map(|node| node.content.citation.clone()).collect::<Vec<_>>();
        (ranges.len(), ranges.first().cloned().unwrap_or_default())
    };
    assert_eq!(ranges(ecfr), (14, "1 C.F.R. § 457.104...457.109".to_owned()));
    assert_eq!(ranges(annual), (24, "47 C.F.R. § 22.203...22.211".to_owned()));
}

/// Words with their number of occurrences.
type Words = BTreeMap<String, i64>;

fn add(words: &mut Words, text: &str, times: i64) {
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_owned()).or_default() += times;
    }
}

/// The words of nodes. Images are left out on both sides, because they are named after their files.
fn imported(nodes: &[NewNode]) -> Words {
    let mut words = Words::new();
    for node in nodes {
        let content = &node.content;
        add(&mut words, &content.heading, 1);
        add(&mut words, content.source_credit.as_deref().unwrap_or_default(), 1);
        let notes = content.notes.iter().map(|note| (note.text.as_str(), &note.layout));
        let text = content.text.as_deref().unwrap_or_default();
        for (text, layout) in std::iter::once((text, &content.layout)).chain(notes) {
            for line in layout_lines(text, Some(layout.as_ref())).iter().filter(|line| line.kind != LineKind::Image) {
                add(&mut words, &text[line.range.clone()], 1);
            }
        }
        // Footnotes have no headings, but notes have topics.
        for note in content.notes.iter().filter(|note| note.topic != "Footnote") {
            add(&mut words, &note.topic, 1);
        }
    }
    words
}

/// The reason why words of a source are not among those of the nodes.
fn rule_of(node: Node<'_, '_>) -> Option<&'static str> {
    let parent = node.parent().map_or("", |parent| parent.tag_name().name());
    match node.tag_name().name() {
        "HEADER" | "AMDDATE" | "FMTR" | "BMTR" | "LRH" | "RRH" | "fdsys" | "preamble" => {
            Some("printed matter around the law")
        }
        "CFRTOC" | "CONTENTS" | "TOC" | "CFRTITLE" | "tableOfContents" => Some("tables of contents"),
        "EAR" => Some("running heads"),
        "analysis" => Some("explanations of rulemaking"),
        "GID" | "MID" | "graphic" => Some("images"),
        "SECTNO" if parent == "SECTION" && !is_wording(node.parent()?) && !is_removed(node) => {
            Some("numbers become citations")
        }
        "title" if is_repeated(node) => Some("headings that their texts repeat"),
        "SU" if is_sign(node) => Some("signs of footnotes become marks"),
        _ => None,
    }
}

/// Whether a section is within the note of the section with the same number.
fn is_wording(section: Node<'_, '_>) -> bool {
    let number = |node: Node<'_, '_>| {
        let number = node.children().find(|child| child.tag_name().name() == "SECTNO");
        number.and_then(|number| number.text()).unwrap_or_default().trim().to_owned()
    };
    let in_note = section.parent().is_some_and(|parent| parent.tag_name().name() == "REVTXT");
    let host = section.ancestors().skip(1).find(|node| node.tag_name().name() == "SECTION");
    in_note && host.is_some_and(|host| number(host) == number(section))
}

/// Whether a node is within the subpart that a note prints although it was removed.
fn is_removed(node: Node<'_, '_>) -> bool {
    node.ancestors().any(|around| {
        let note = around.parent_element().filter(|note| note.tag_name().name() == "REVTXT");
        let is_first = note.is_some_and(|note| note.first_element_child() == Some(around));
        let before = note.and_then(|note| note.prev_sibling_element()).and_then(|before| before.text());
        is_first && before.is_some_and(|before| before.contains("the removed subpart"))
    })
}

/// Whether the text after a run-in heading in RegML begins with the same words.
fn is_repeated(title: Node<'_, '_>) -> bool {
    let words = |node: Node<'_, '_>| {
        let text: String = node.descendants().filter_map(|part| part.text().filter(|_| part.is_text())).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let content = title.next_siblings().find(|node| node.tag_name().name() == "content");
    title.attribute("type") == Some("keyterm")
        && content.is_some_and(|content| words(content).starts_with(&words(title)))
}

fn is_sign(node: Node<'_, '_>) -> bool {
    let next = node.next_sibling_element().is_some_and(|next| next.tag_name().name() == "FTREF");
    let in_footnote =
        node.parent().and_then(|parent| parent.parent()).is_some_and(|node| node.tag_name().name() == "FTNT");
    next || (in_footnote && node.prev_sibling_element().is_none())
}

/// The text of an element without the parts that a rule leaves out. Only elements within a line do
/// not separate words.
fn text_of(node: Node<'_, '_>, into: &mut String, rules: &mut BTreeMap<&'static str, usize>) {
    for child in node.children() {
        if child.is_text() {
            into.push_str(child.text().unwrap_or_default());
        } else if let Some(rule) = rule_of(child) {
            *rules.entry(rule).or_default() += 1;
        } else if child.is_element() {
            let runs_on = matches!(
                child.tag_name().name(),
                "E" | "I" | "B" | "SU" | "PRTPAGE" | "FTREF" | "ref" | "def" | "em" | "STARS"
            );
            if !runs_on {
                into.push(' ');
            }
            // RegML states labels as attributes.
            into.push_str(
                child
                    .attribute("marker")
                    .filter(|marker| !["none", "Interp", "HMDANotice."].contains(marker))
                    .unwrap_or_default(),
            );
            into.push_str(if child.has_attribute("marker") { " " } else { "" });
            text_of(child, into, rules);
            if !runs_on {
                into.push(' ');
            }
        }
    }
}

#[test]
fn no_words_are_lost_or_invented_but_by_named_rules() {
    let Some(archive) = archive() else { return };
    for sample in &SAMPLES {
        let documents = documents(&archive, sample);
        let nodes = nodes(sample, &documents);
        let mut difference = imported(&nodes);
        let mut rules = BTreeMap::new();
        for (name, bytes) in &documents {
            let document = Document { place: name.clone(), bytes: bytes.clone() };
            let tree = xml::parse(&document).unwrap();
            let mut text = String::new();
            text_of(tree.root_element(), &mut text, &mut rules);
            add(&mut difference, &text, -1);
        }
        // Headings of titles, parts and chapters come from the printed matter around them.
        for node in &nodes {
            let content = &node.content;
            let around = match (sample.name, content.level.as_str()) {
                ("cfr-annual", "title" | "chapter") | ("regml", "title" | "part") => content.heading.clone(),
                // The number before a heading becomes the citation.
                ("ecfr" | "regml", "section") => {
                    let number = content.number.as_deref().unwrap_or_default();
                    add(&mut difference, number, 1);
                    continue;
                }
                _ => continue,
            };
            add(&mut difference, &around, -1);
        }
        difference.retain(|_, count| *count != 0);
        let expected: &[(&str, i64)] = match sample.name {
            // `--Volume 1` after the heading of the title.
            "ecfr" => &[("1", -1), ("Volume", -1)],
            // `(Continued)` after the heading of a subchapter that began in another volume. The
            // topic of ten notes on authority without a heading.
            "cfr-annual" => &[("Authority", 10), ("CONTINUED", -1)],
            // Two headings without the number of their sections.
            _ => &[("1003", 2), ("2", 1), ("3", 1)],
        };
        let expected: Words = expected.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
        assert_eq!(difference, expected, "{} with {rules:?}", sample.name);
    }
}

/// The recorded data of a checked provision: its structure, and hashes and lengths of its texts.
fn fingerprint(node: &NewNode) -> String {
    let content = &node.content;
    let text = content.text.as_deref().unwrap_or_default();
    let lines = layout_lines(text, Some(content.layout.as_ref()));
    let labels = lines.iter().filter(|line| line.anchor.is_some()).count();
    let deepest = lines.iter().map(|line| line.depth).max().unwrap_or(0);
    let structure: String =
        lines.iter().map(|line| format!("{:?}{}.{} ", line.kind, line.depth, line.label_bytes)).collect();
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..12].to_owned();
    let notes: String = content.notes.iter().map(|note| format!("{}\n{}\n", note.topic, note.text)).collect();
    let facts =
        [lines.len(), labels, usize::from(deepest), content.layout.marks.len(), text.len(), content.notes.len()];
    let facts: Vec<String> = facts.iter().map(ToString::to_string).collect();
    let hashes = [hash(&content.heading), hash(&structure), hash(text), hash(&notes)].join("\t");
    format!("{}\t{}\t{}\t{hashes}", node.key, content.citation, facts.join("\t"))
}

const GOLDEN_HEAD: &str =
    "# form, key, citation, lines, labels, deepest, marks, bytes, notes, hashes of heading, structure, text and notes";

/// The provisions were picked at random once.
#[test]
fn provisions_that_were_checked_by_eye_stay_as_they_are() {
    let Some(archive) = archive() else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cfr_golden.tsv");
    let kept = std::fs::read_to_string(&path).unwrap();
    let nodes: Vec<Vec<NewNode>> = SAMPLES.iter().map(|sample| nodes(sample, &documents(&archive, sample))).collect();
    let mut made = format!("{GOLDEN_HEAD}\n");
    for line in kept.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (form, key) = (fields.next().unwrap(), fields.next().unwrap());
        let of_form = SAMPLES.iter().position(|sample| sample.name == form).unwrap();
        // Two sections of a part may have the same number.
        let of_key = nodes[of_form].iter().filter(|node| node.key == key);
        let prints: Vec<String> = of_key.map(|node| format!("{form}\t{}", fingerprint(node))).collect();
        let same = prints.iter().find(|print| *print == line).or(prints.first());
        made += &format!("{}\n", same.unwrap_or_else(|| panic!("there is no {key}")));
    }
    if std::env::var_os("HORNBOOK_RENEW_GOLDEN").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    for (kept, made) in kept.lines().zip(made.lines()) {
        assert_eq!(made, kept, "check the provision by eye, then renew with HORNBOOK_RENEW_GOLDEN=1");
    }
    assert_eq!(kept.lines().count(), 1 + 3 * 30);
}

#[test]
fn labels_nest_real_regulations_as_their_publisher_did() {
    let Some(archive) = archive() else { return };
    let nodes = nodes(&SAMPLES[2], &documents(&archive, &SAMPLES[2]));
    for (level, scheme, least) in [("section", Scheme::cfr(), 99.0), ("section", Scheme::found(), 98.9)] {
        let (mut all, mut right) = (0_u32, 0_u32);
        for content in nodes.iter().map(|node| &node.content).filter(|content| content.level == level) {
            let text = content.text.as_deref().unwrap_or_default();
            let flat = layout_of(text, &scheme);
            let inferred = layout_lines(text, Some(flat.as_ref()));
            for (reported, found) in layout_lines(text, Some(content.layout.as_ref())).iter().zip(&inferred) {
                if reported.label_bytes > 0 {
                    all += 1;
                    right += u32::from((reported.depth, reported.label_bytes) == (found.depth, found.label_bytes));
                }
            }
        }
        let percent = f64::from(right) * 100.0 / f64::from(all);
        println!("{right} of {all} labels ({percent:.2} %) with {scheme:?}");
        assert!(percent >= least, "{percent}");
    }
}

#[test]
fn the_plan_of_the_samples_builds_one_code() {
    let Some(archive) = archive() else { return };
    let dir = tempfile::tempdir().unwrap();
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files/cfr-samples.toml");
    let text = std::fs::read_to_string(plan).unwrap();
    // The titles of the annual edition take long to build without optimisation. The other sources
    // are enough to test the combination.
    let (head, rest) = text.split_once("[[source]]").unwrap();
    let picked = rest.split("[[source]]").filter(|source| !source.contains("cfr-annual"));
    let sources: String = picked.map(|source| format!("[[source]]{source}")).collect();
    let sources = sources.replace("cfr-samples.tar.zst", &archive.canonicalize().unwrap().display().to_string());
    let sources =
        sources.replace("member = \"cfr/cfpb-regml/\"", "member = \"cfpb-regml/1002_2017-20417_20220101.xml\"");
    let plan = dir.path().join("plan.toml");
    std::fs::write(&plan, format!("{head}{sources}")).unwrap();
    let out = dir.path().join("out");
    let built = build_at(&plan, &out).unwrap();
    assert_eq!(built.report.code_bodies.len(), 1);
    let snapshot = Snapshot::verify(&out, |_| ()).unwrap();
    let provisions =
        (0..snapshot.outline.len()).filter(|&node| snapshot.outline.is_provision(NodeOrdinal(node))).count();
    assert_eq!(provisions, 288 + 39);
    for citation in
        ["1 CFR 457.104-457.109", "1 C.F.R. pt. 2", "12 CFR 1002.2(c)", "12 C.F.R. pt. 1002, Supp. I, § 1002.2"]
    {
        assert_eq!(snapshot.nodes_with_citation(citation).unwrap().len(), 1, "{citation}");
    }
}
