//! Tests what the real titles of the United States Code say about former and new numbers and about sections of acts,
//! if the shared corpora are present.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use hornbook_corpus::citation::{
    ActLaw, ActSection, CitationKey, Grammar, PopularCitation, SectionOfAct, act_name_key,
};
use hornbook_index_build::content::Content;
use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::intake::SourceIntake;
use hornbook_index_build::import::provisions_jsonl;
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::{WarningKind, Warnings};
use hornbook_index_build::source_files::{SourceError, SourceFile, for_each};

use crate::acts_real::{each_section, parallels};
use crate::common::target;
use crate::corpora::corpora;
use crate::uslm_real::titles;

/// The sections of the titles of 2025.
fn sections() -> Option<impl Iterator<Item = &'static Content>> {
    let all = titles()?.iter().flat_map(|(_, parsed)| &parsed.nodes).map(|node| &node.content);
    Some(all.filter(|content| content.text.is_some()))
}

/// The sections of 2016 that are gone, from all titles.
fn gone_in_2016() -> Option<Vec<Content>> {
    let path = corpora()?.join("us-code-text-2016-empty.jsonl.zst");
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
    let read = for_each(&path, None, |file: SourceFile<'_>| {
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        provisions_jsonl::import(file, target("United States Code", "us/usc"), &mut intake).unwrap();
        Ok::<(), SourceError>(())
    });
    read.unwrap();
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    let spool = gatherer.into_spool();
    let all = tree.into_iter().map(|node| node.content.read(&spool).unwrap());
    Some(all.filter(|content| content.text.is_some()).collect())
}

fn key(citation: &str) -> CitationKey {
    Grammar::built_in().key_or_folded(citation)
}

/// Of a separate reader of the same files: 169 notes on codification name a former section, and about 405 sections have
/// an amendment that renumbered another section as this one.
#[test]
fn sections_know_their_other_numbers() {
    let Some(all) = sections() else { return };
    let all: Vec<&Content> = all.collect();
    let formerly: Vec<_> = all.iter().filter(|content| !content.former_citations.is_empty()).collect();
    let now = all.iter().filter(|content| content.now.is_some()).count();
    let warnings = titles().unwrap().iter().flat_map(|(_, parsed)| &parsed.warnings);
    let unread: Vec<_> = warnings.filter(|(kind, ..)| *kind == WarningKind::UnreadRenumbering).collect();
    println!("{} sections had other numbers, {now} have a new one; not understood: {unread:#?}", formerly.len());
    assert_eq!((now, unread.len()), (40, 5));
    assert!((1_200..1_290).contains(&formerly.len()), "{}", formerly.len());
    let of = |citation: &str| all.iter().find(|content| content.citation == citation).unwrap();
    assert_eq!(of("52 U.S.C. § 10301").former_citations, ["42 U.S.C. § 1973"]);
    assert_eq!(of("52 U.S.C. § 10101").former_citations, ["42 U.S.C. § 1971", "8 U.S.C. § 31"]);
    assert_eq!(of("51 U.S.C. § 50915").former_citations, ["49 U.S.C. § 70113", "51 U.S.C. § 70113"]);
    assert_eq!(of("14 U.S.C. § 914").former_citations, ["14 U.S.C. § 681"]);
    assert_eq!(of("37 U.S.C. § 404").now.as_deref(), Some("37 U.S.C. § 474"));
    // From the tables at the beginning of titles.
    assert_eq!(of("41 U.S.C. § 6101").former_citations, ["41 U.S.C. § 5", "41 U.S.C. § 5a"]);
    assert_eq!(of("44 U.S.C. § 509").former_citations, ["44 U.S.C. § 5"]);
    assert_eq!(of("51 U.S.C. § 20102").former_citations, ["42 U.S.C. § 2451"]);
    assert_eq!(of("54 U.S.C. § 100754").former_citations, ["16 U.S.C. § 1a-3"]);
}

/// The revision notes of sections, written apart from the tables, name the law that each section restates: `41:5, 5a.`
#[test]
fn tables_of_former_sections_agree_with_the_revision_notes_of_sections() {
    let Some(all) = sections() else { return };
    let (mut agreed, mut others) = (0, Vec::new());
    for content in all {
        let notes: String = content.notes.iter().map(|note| note.text.replace('–', "-") + "\n").collect();
        let restated = ["41 ", "51 ", "54 "].iter().any(|title| content.citation.starts_with(title));
        for former in content.former_citations.iter().filter(|_| restated && notes.contains("Revised")) {
            let (title, number) = former.split_once(" U.S.C. § ").unwrap();
            // What was renumbered within title 51, and from title 49 before, is in no table.
            if ["49", "51"].contains(&title) {
                continue;
            }
            let notes = notes.replace(" U.S.C. ", ":");
            let of_title = format!("{title}:");
            let places = notes.match_indices(&of_title).map(|(place, _)| &notes[place..]);
            let is_sign = |sign: char| !sign.is_ascii_alphanumeric() && sign != '-';
            let mut lists = places.map(|rest| rest.chars().take(160).collect::<String>());
            match lists.any(|list| list.split(is_sign).any(|word| word == number)) {
                true => agreed += 1,
                false => others.push((&content.citation, former)),
            }
        }
    }
    assert!(agreed > 340 && others.is_empty(), "{agreed}: {others:#?}");
}

/// `A prior section 101 was renumbered section 562 of this title.` says of another section what that one says itself.
#[test]
fn prior_sections_agree_with_the_sections_that_took_their_place() {
    let Some(all) = sections() else { return };
    let all: Vec<&Content> = all.collect();
    let former: HashMap<&str, &Content> = all.iter().map(|content| (content.citation.as_str(), *content)).collect();
    let (mut agreed, mut others) = (0, Vec::new());
    for content in &all {
        let Some((title, _)) = content.citation.split_once(" U.S.C. § ") else { continue };
        for line in
            content.notes.iter().filter(|note| note.topic == "Prior Provisions").flat_map(|note| note.text.lines())
        {
            let read =
                line.strip_prefix("A prior section ").and_then(|rest| rest.split_once(" was renumbered section "));
            let Some((old, rest)) = read else { continue };
            let single = rest.strip_suffix(" of this title.").filter(|new| !new.contains(' '));
            let Some(new) = single else { continue };
            let new = former.get(format!("{title} U.S.C. § {new}").as_str());
            match new {
                Some(new) if new.former_citations.contains(&format!("{title} U.S.C. § {old}")) => agreed += 1,
                _ => others.push(format!("{}: {line}", content.citation)),
            }
        }
    }
    println!("{agreed} agree; {others:#?}");
    assert!(agreed >= 55 && others.len() <= 6, "{agreed} agree; {others:#?}");
}

/// What the edition of 2016 says about sections that went to titles of 2025, and what these say.
#[test]
fn old_and_new_sections_name_each_other() {
    let (Some(gone), Some(all)) = (gone_in_2016(), sections()) else { return };
    let all: HashMap<CitationKey, &Content> = all.map(|content| (key(&content.citation), content)).collect();
    let with_place = gone.iter().filter_map(|content| Some((content, content.now.as_deref()?)));
    let with_place: Vec<_> = with_place.collect();
    let (mut agreed, mut others) = (0, Vec::new());
    // A section that became a note names its place, but that section was not it.
    let (notes, places): (Vec<_>, Vec<_>) = with_place.iter().partition(|(_, now)| now.ends_with(" note"));
    assert!(notes.len() > 30, "{}", notes.len());
    for (content, now) in places {
        let Some(new) = all.get(&key(now)) else { continue };
        match new.former_citations.iter().any(|former| key(former) == key(&content.citation)) {
            true => agreed += 1,
            false => others.push(format!("{} is now {now}, which was {:?}", content.citation, new.former_citations)),
        }
    }
    println!("{} of {} say where they are now; {agreed} agree; {others:#?}", with_place.len(), gone.len());
    // The others were renumbered once more, and name the number that they had in between.
    assert!(with_place.len() > 930 && agreed > 170 && others.len() <= 10, "{agreed}: {others:#?}");
    // Following the new numbers always ends.
    let next: HashMap<CitationKey, CitationKey> =
        with_place.iter().map(|(content, now)| (key(&content.citation), key(now))).collect();
    for start in next.keys() {
        let mut seen = HashSet::from([start]);
        let mut place = start;
        while let Some(after) = next.get(place) {
            assert!(seen.insert(after), "{start} comes back to {after}");
            place = after;
        }
    }
}

#[test]
fn sections_of_acts_agree_with_the_table_and_with_references() {
    let (Some(corpora), Some(all)) = (corpora(), sections()) else { return };
    let grammar = Grammar::built_in();
    let (mut places, mut laws) = (HashMap::<CitationKey, Vec<CitationKey>>::new(), BTreeMap::<String, usize>::new());
    let mut names = HashMap::<CitationKey, BTreeSet<ActLaw>>::new();
    let mut former: HashMap<CitationKey, Vec<CitationKey>> = HashMap::new();
    for content in all {
        former.insert(key(&content.citation), content.former_citations.iter().map(|old| key(old)).collect());
        for section in content.act_sections.iter().filter_map(|text| SectionOfAct::parse(text)) {
            places.entry(section.key()).or_default().push(key(&content.citation));
            *laws.entry(section.law.to_string()).or_default() += 1;
        }
        for act in &content.act_names {
            names.entry(act_name_key(&act.name)).or_default().extend(ActLaw::parse(&act.law).map(|named| named.law));
        }
    }
    let count: usize = laws.values().sum();
    println!("{count} sections of {} acts: {laws:?}; {} names", laws.len(), names.len());
    assert!(count >= 450 && laws.len() >= 40 && names.len() >= 100, "{count} of {laws:?}");
    assert_eq!((laws["Pub. L. 107-252"], laws["Pub. L. 89-110"]), (77, 24));
    let by_credit = |section: &ActSection| -> Vec<CitationKey> {
        let of_law = |law: &ActLaw| places.get(&SectionOfAct::key_of(law, &section.section)).cloned();
        match &section.law {
            Some(law) => of_law(law).unwrap_or_default(),
            None => names.get(&act_name_key(&section.act)).into_iter().flatten().filter_map(of_law).flatten().collect(),
        }
    };
    let (mut agreed, mut others) = (0, Vec::new());
    let mut compare = |act: &str, section: &ActSection, law: &CitationKey| {
        let found = by_credit(section);
        // The law of 2016 prints some places from before they moved to title 52.
        let is_place = |place: &CitationKey| place == law || former.get(place).is_some_and(|old| old.contains(law));
        match found.iter().any(is_place) {
            true => agreed += 1,
            false if found.is_empty() => {}
            false => others.push(format!("{act}: {law}, by credits {found:?}")),
        }
    };
    each_section(&corpora, "us-code-text-2016.jsonl.zst", |section| {
        for (act, law) in section["text"].as_str().map(parallels).unwrap_or_default() {
            let popular = grammar.parse_popular(act).and_then(|mut all| all.pop());
            match popular {
                Some(PopularCitation::Section { section, .. }) => compare(act, &section, &law),
                _ => {
                    if let Some(section) = grammar.parse_section_of_named_act(act) {
                        compare(act, &section, &law);
                    }
                }
            }
        }
    });
    println!("{agreed} references agree; {others:#?}");
    assert!(agreed >= 20 && others.len() <= 5, "{agreed} agree; {others:#?}");
}
