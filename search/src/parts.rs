//! The parts of code bodies (titles, or whatever a code is first divided into), and which of them a
//! snapshot contains.
//!
//! The numbers of all parts come from a built-in table or from the table of contents in the source.
//! Without these, only the parts in the snapshot are known.

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::cfr_chapters::CfrChapter;
use hornbook_corpus::citation::{Citation, CitedItem, Grammar, Locator};
use hornbook_corpus::code_titles::{CodeTitles, PrintedWithin, compare_numbers};
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::snapshot::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::normalized_number::{follows, normalize_number};

/// The maximum number of runs of numbers in a message.
const RUNS_SHOWN_MAX: usize = 40;

/// The parts that a code is first divided into, and which of them this corpus contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CodeBodyParts")]
pub struct BodyParts {
    /// The kind of part, such as `title`; null if the code has no parts.
    pub level: Option<Cow<'static, str>>,
    /// The numbers of all parts of the code, in order; null if not known.
    pub expected: Option<Vec<String>>,
    /// The numbers of the parts with law in this corpus, in order.
    pub loaded: Vec<String>,
    /// The numbers of the parts without law in this corpus, in order; null if the numbers of all parts
    /// are not known.
    pub missing: Option<Vec<String>>,
    /// The titles of which this corpus has only some chapters, in order. Only the federal regulations have them: they
    /// are published in volumes.
    #[serde(rename = "inPart", default, skip_serializing_if = "Vec::is_empty")]
    pub in_part: Vec<TitleInPart>,
    /// Whether the numbers of sections begin with the number of their part: `59.18.010` is in title 59.
    #[serde(skip)]
    begins_sections: bool,
}

/// A title of which a corpus has some chapters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TitleInPart")]
pub struct TitleInPart {
    /// The number of the title.
    pub number: String,
    /// The parts of it in this corpus, such as `20-69`.
    pub loaded_parts: String,
    /// The chapters of which this corpus has no part.
    pub chapters_without_parts: Vec<String>,
}

impl TitleInPart {
    /// `None` if the corpus has a part of each chapter that is known.
    fn of(key: &str, title: &str, loaded: &[String]) -> Option<Self> {
        let has_part = |chapter: &CfrChapter| {
            loaded.iter().filter_map(|part| part.parse().ok()).any(|part| chapter.contains(part))
        };
        let without: Vec<String> = CfrChapter::of_title(key, title)
            .filter(|chapter| !has_part(chapter))
            .map(|chapter| chapter.name.to_owned())
            .collect();
        let is_in_part = !loaded.is_empty() && !without.is_empty();
        is_in_part.then(|| Self {
            number: title.to_owned(),
            loaded_parts: runs(loaded, None),
            chapters_without_parts: without,
        })
    }

    /// `title 47 in part: it has parts 20-69, and none of chapter II, chapter III`.
    pub fn in_words(&self) -> String {
        let Self { number, loaded_parts, chapters_without_parts } = self;
        let without = chapters_without_parts.join(", ");
        format!("title {number} in part: it has parts {loaded_parts}, and none of {without}")
    }
}

impl BodyParts {
    pub(super) fn of(snapshot: &Snapshot, body: &CodeBody) -> Result<Self, NodesError> {
        let known = CodeTitles::of(&body.key);
        let mut found = FoundParts { level: known.map(|contents| contents.level), ..FoundParts::default() };
        found.read(snapshot, body.nodes)?;
        let FoundParts { level, mut loaded, mut listed, begins_sections } = found;
        sort(&mut loaded);
        sort(&mut listed);
        listed.retain(|number| !loaded.contains(number));
        let is_known = known.is_some() || !listed.is_empty();
        let expected = is_known.then(|| {
            let table = known.map(|contents| contents.numbers.clone()).unwrap_or_default();
            let mut all = [table, loaded.clone(), listed].concat();
            sort(&mut all);
            all
        });
        let is_missing = |number: &&String| !loaded.contains(number);
        let missing = expected.as_ref().map(|all| all.iter().filter(is_missing).cloned().collect());
        let in_part = Vec::new();
        Ok(Self { level: level.map(Cow::Borrowed), expected, loaded, missing, in_part, begins_sections })
    }

    /// Adds the titles of which the corpus has only some chapters. `parts_of` returns the parts of a title.
    pub(super) fn with_titles_in_part(mut self, key: &str, parts_of: impl Fn(&str) -> Vec<String>) -> Self {
        self.in_part = self.loaded.iter().filter_map(|title| TitleInPart::of(key, title, &parts_of(title))).collect();
        self
    }

    /// The part that a citation is in: the title that it names, or the part that its number begins with.
    fn part_of(&self, grammar: &Grammar, cited: &CitedItem) -> Option<String> {
        let (body, title, number) = match cited {
            CitedItem::Citation(citation) | CitedItem::OfAct { citation, .. } => {
                let appendix = if citation.appendix { "A" } else { "" };
                let title = citation.title.as_ref().map(|title| format!("{title}{appendix}"));
                (citation.body, title, first_number(citation).map(str::to_owned))
            }
            CitedItem::Numbered(numbered) => {
                let title = numbered.title.as_ref().map(ToString::to_string);
                (numbered.body, title, Some(numbered.number.to_string()))
            }
            CitedItem::Container(container) => {
                let level = self.level.as_deref()?;
                let part = container.levels.iter().find(|(own, _)| own.name() == level)?;
                return Some(part.1.to_string());
            }
            _ => return None,
        };
        match grammar.has_titles(body) {
            true => title.filter(|_| self.level.as_deref() == Some("title")),
            false if self.begins_sections => self.beginning_of(&number?.to_ascii_uppercase()),
            false => None,
        }
    }

    /// The known part that a number begins with. If there is none, the part that the form of the number
    /// suggests.
    fn beginning_of(&self, number: &str) -> Option<String> {
        let all = self.expected.iter().flatten().chain(&self.loaded);
        let folded = normalize_number(number);
        let begins = |part: &&String| begins_with(&folded, &normalize_number(part));
        let known = all.filter(begins).max_by_key(|part| part.len());
        let unknown =
            || number.split_once('-').or_else(|| number.split_once(['.', ':'])).map(|(part, _)| part.to_owned());
        known.cloned().or_else(unknown)
    }

    /// The loaded parts in words, such as `it has titles 1, 3-5A, 9`.
    pub(super) fn loaded_in_words(&self) -> String {
        let level = self.level.as_deref().unwrap_or("part");
        match self.loaded.as_slice() {
            [] => format!("it contains no {level} of this code"),
            [only] => format!("it contains {level} {only}"),
            all => format!("it contains {level}s {}", runs(all, self.expected.as_deref())),
        }
    }
}

/// A part of a code that is cited, but that the snapshot does not contain.
pub(super) struct MissingPart<'p> {
    part: String,
    parts: &'p BodyParts,
    body: &'p CodeBody,
}

impl<'p> MissingPart<'p> {
    /// Checks whether a citation is in such a part.
    pub(super) fn of(snapshot: &'p Snapshot, all: &'p [BodyParts], cited: &CitedItem) -> Option<Self> {
        let grammar = snapshot.grammar();
        let own = grammar.body(cited.body()?)?;
        let within = PrintedWithin::of(own.key);
        let key = within.map_or(own.key, |within| within.key);
        let place = snapshot.catalogue.code_bodies.iter().position(|body| body.key == key)?;
        let (parts, body) = (all.get(place)?, snapshot.catalogue.code_bodies.get(place)?);
        let part = match within {
            Some(within) => within.title.to_owned(),
            None => parts.part_of(grammar, cited)?,
        };
        let is_here = parts.loaded.iter().any(|number| number.eq_ignore_ascii_case(&part));
        (!is_here && parts.level.is_some()).then_some(Self { part, parts, body })
    }

    /// Whether the code is known to have such a part.
    pub(super) fn is_expected(&self) -> bool {
        self.parts.expected.iter().flatten().any(|number| number.eq_ignore_ascii_case(&self.part))
    }

    pub(super) fn message(&self, citation: &str) -> String {
        let (part, loaded) = (named(self.parts, &self.part, self.body), self.parts.loaded_in_words());
        match self.is_expected() {
            true => format!("this corpus does not contain {part}, so it does not contain {citation}; {loaded}"),
            false => format!(
                "this corpus has no {part}, so it has no {citation}; {loaded}; check the number, or search \
                 for its words"
            ),
        }
    }
}

/// A part that the snapshot lacks of a title that it has in part. Codes such as the federal regulations can be loaded
/// part by part.
pub(super) struct MissingTitlePart<'p> {
    /// The name of the code.
    pub code: &'p str,
    pub title: &'p str,
    pub part: &'p str,
    /// The chapter that the part belongs to, if that is known.
    pub chapter: Option<CfrChapter>,
    /// The parts of the title that the snapshot has, in order.
    pub loaded: &'p [String],
}

impl MissingTitlePart<'_> {
    /// Whether the part may exist although it is not loaded: its chapter has this number, and of the chapter nothing is
    /// loaded on one side of it.
    pub(super) fn is_expected(&self) -> bool {
        let Some(chapter) = self.chapter else { return false };
        let Ok(own) = self.part.parse::<u32>() else { return false };
        let loaded = self.loaded.iter().filter_map(|part| part.parse().ok());
        let mut loaded = loaded.filter(|&part| chapter.contains(part));
        let is_before = |part: &u32| *part < own;
        match loaded.next() {
            Some(first) => loaded.all(|part| is_before(&part) == is_before(&first)),
            None => true,
        }
    }

    pub(super) fn message(&self, citation: &str) -> String {
        let Self { code, title, part, .. } = self;
        let loaded = runs(self.loaded, None);
        match self.chapter.filter(|_| self.is_expected()) {
            Some(CfrChapter { name, first, last, .. }) => format!(
                "this corpus does not contain part {part} of title {title} of the {code}, so it does not contain \
                 {citation}; {name} of that title has the numbers {first}-{last}, and not every number is used; of that \
                 title it has parts {loaded}"
            ),
            None => format!(
                "this corpus has no part {part} of title {title} of the {code}, so it has no {citation}; of that title \
                 it has parts {loaded}; check the number, or search for its words"
            ),
        }
    }
}

/// The name of a part: `title 42 of the United States Code`,
/// `the appendix to title 28 of the United States Code`.
fn named(parts: &BodyParts, part: &str, body: &CodeBody) -> String {
    let level = parts.level.as_deref().unwrap_or("part");
    let host = part.strip_suffix('A').filter(|_| body.key == UNITED_STATES_CODE);
    let part = match host {
        Some(title) => format!("the appendix to {level} {title}"),
        None => format!("{level} {part}"),
    };
    format!("{part} of the {}", body.name.trim_start_matches("The "))
}

/// In this code, a title such as `28A` is the appendix to another title.
const UNITED_STATES_CODE: &str = "us/usc";

/// The number of a citation; of a range, the first number.
fn first_number(citation: &Citation) -> Option<&str> {
    match &citation.place {
        Locator::Numbered { number, .. } => Some(number),
        Locator::Constitution(_) => None,
    }
}

/// The parts found in the tree of a code body.
#[derive(Default)]
struct FoundParts {
    level: Option<&'static str>,
    /// The numbers of the parts with law.
    loaded: Vec<String>,
    /// The numbers of the parts without law.
    listed: Vec<String>,
    begins_sections: bool,
}

impl FoundParts {
    fn read(&mut self, snapshot: &Snapshot, nodes: OrdinalRange) -> Result<(), NodesError> {
        for node in snapshot.outline.top_level(nodes) {
            self.read_container(snapshot, node)?;
        }
        Ok(())
    }

    fn read_container(&mut self, snapshot: &Snapshot, node: NodeOrdinal) -> Result<(), NodesError> {
        if snapshot.outline.is_provision(node) {
            return Ok(());
        }
        let named = snapshot.grammar().parse_container(snapshot.cards.get(node)?.citation);
        let levels = named.map(|named| named.container.levels).unwrap_or_default();
        let level = self.level.or_else(|| levels.first().map(|(level, _)| level.name()));
        if let Some((_, number)) = levels.iter().find(|(own, _)| Some(own.name()) == level) {
            self.level = level;
            let first = inside(snapshot, node).find(|&inner| snapshot.outline.is_provision(inner));
            match first {
                Some(first) => {
                    let citation = snapshot.grammar().parse(snapshot.cards.get(first)?.citation);
                    let own = citation.as_ref().ok().and_then(first_number).unwrap_or_default();
                    self.begins_sections |= begins_with(&normalize_number(own), &normalize_number(number));
                    self.loaded.push(number.to_string());
                }
                None => self.listed.push(number.to_string()),
            }
            return Ok(());
        }
        for inner in snapshot.outline.children(node) {
            self.read_container(snapshot, inner)?;
        }
        Ok(())
    }
}

/// Whether a number is that of a part, or of something within the part.
fn begins_with(number: &str, part: &str) -> bool {
    number == part || follows(number, part)
}

fn inside(snapshot: &Snapshot, node: NodeOrdinal) -> impl Iterator<Item = NodeOrdinal> {
    (node.0 + 1..snapshot.outline.subtree(node).end).map(NodeOrdinal)
}

fn sort(numbers: &mut Vec<String>) {
    numbers.sort_by(|a, b| compare_numbers(a, b));
    numbers.dedup();
}

/// Formats numbers like `1, 3-5, 9`. Three or more numbers without a gap form a run.
fn runs(numbers: &[String], all: Option<&[String]>) -> String {
    let value = |number: &String| number.parse::<u32>().ok();
    let follows = |last: &String, number: &String| match (value(last), value(number), all) {
        (Some(last), Some(number), _) => last + 1 == number,
        // `5A` follows `5` if the code has nothing between them.
        (_, _, Some(all)) => all.windows(2).any(|pair| pair[0] == *last && pair[1] == *number),
        _ => false,
    };
    let mut runs: Vec<(&String, &String, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last, count)) if follows(last, number) => {
                *last = number;
                *count += 1;
            }
            _ => runs.push((number, number, 1)),
        }
    }
    let more = runs.len().saturating_sub(RUNS_SHOWN_MAX);
    let shown = runs.iter().take(RUNS_SHOWN_MAX).map(|(first, last, count)| match count {
        1 => (*first).clone(),
        2 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(all: &[&str]) -> Vec<String> {
        all.iter().map(|number| (*number).to_owned()).collect()
    }

    #[test]
    fn parts_that_follow_each_other_are_shown_as_runs() {
        assert_eq!(runs(&numbers(&["1", "3", "4", "5", "5A", "9"]), None), "1, 3-5, 5A, 9");
        let all = numbers(&["1", "2", "3", "4", "5", "5A", "6", "7", "8", "9"]);
        assert_eq!(runs(&numbers(&["1", "3", "4", "5", "5A", "9"]), Some(&all)), "1, 3-5A, 9");
        assert_eq!(runs(&numbers(&["1", "2", "51", "52", "54"]), None), "1, 2, 51, 52, 54");
    }

    #[test]
    fn a_number_is_in_the_known_part_that_it_begins_with() {
        let parts = BodyParts {
            level: Some("title".into()),
            expected: Some(numbers(&["8.1A", "8.2", "8.2A", "13.1"])),
            loaded: numbers(&["13.1"]),
            missing: None,
            in_part: Vec::new(),
            begins_sections: true,
        };
        for (number, expected) in [
            ("13.1-345", Some("13.1")),
            ("8.2A-101", Some("8.2A")),
            ("8.2-101", Some("8.2")),
            ("99.9-1", Some("99.9")),
            ("13.1", Some("13.1")),
            ("187", None),
        ] {
            assert_eq!(parts.beginning_of(number).as_deref(), expected, "{number}");
        }
        assert_eq!(parts.loaded_in_words(), "it contains title 13.1");
    }
}
