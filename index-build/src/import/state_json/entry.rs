//! An entry of a chapter: whether it is a section, its number and its wordings.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::heading;
use super::printed_pages;
use super::repetition::{self, Deduplicated, UNPROVEN_REPETITION, WRITTEN_TWICE};
use super::section::{PrintedWording, StateJsonSection};
use super::settings::StateJsonSettings;
use super::wording;
use crate::effect::{self, Effect};
use crate::import::remark::named_status;
use crate::pattern::Pattern;
use crate::report::WarningKind;

#[derive(Debug, Deserialize)]
pub(super) struct StateJsonEntry {
    pub(super) number: String,
    #[serde(default)]
    heading: String,
    #[serde(default)]
    text: String,
    /// Usually empty; otherwise it is the source credit.
    #[serde(default)]
    history: String,
    #[serde(default)]
    pub(super) source_url: String,
}

impl StateJsonEntry {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the entry is a line of a page of contents: only the pages of sections have an address.
    pub(super) fn is_of_contents_page(&self) -> bool {
        self.source_url.is_empty()
    }
}

/// The words of an entry that is left out, each counted once.
pub(super) fn left_out(entry: &StateJsonEntry, twice: bool, reason: &'static str) -> Vec<(&'static str, String)> {
    let paragraphs: Vec<&str> = entry.text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    let undone = repetition::remove_repetitions(&paragraphs, twice);
    let lines = undone.lines.into_iter().map(|line| (reason, line.to_owned()));
    let equal = undone.equal.into_iter().map(|words| (WRITTEN_TWICE, words.to_owned()));
    lines.chain(equal).chain(undone.doubtful.into_iter().map(|words| (UNPROVEN_REPETITION, words.to_owned()))).collect()
}

/// Reads an entry. If it is not a section, the error states why. `twice` is true if its document
/// writes elements twice.
pub(super) fn section(
    entry: &StateJsonEntry,
    twice: bool,
    settings: &StateJsonSettings,
) -> Result<StateJsonSection, String> {
    let mut unknown = BTreeMap::new();
    let text = settings.signs.read(&entry.text, &mut unknown);
    let (text, of_pages) = printed_pages::without_feet(text, settings);
    let paragraphs: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut section = StateJsonSection { left_out: of_pages, ..StateJsonSection::default() };
    let (banner, paragraphs) = split_banner(&paragraphs);
    let paragraphs = without_running_heads(paragraphs, settings, &mut section);
    let opened = paragraphs.first().and_then(|first| heading::opening(first, settings));
    let heading = name(entry, opened.map(|(number, _)| number), settings, &mut section)?;
    name_unknown_signs(unknown, &mut section);
    let undone = repetition::remove_repetitions(paragraphs, twice);
    name_repetition(&undone, &mut section);
    section.left_out.extend(undone.equal.iter().map(|&words| (WRITTEN_TWICE, words.to_owned())));
    section.left_out.extend(undone.doubtful.iter().map(|&words| (UNPROVEN_REPETITION, words.to_owned())));
    wording::read(&undone.lines, heading, settings, &mut section);
    let is_coming = coming(&entry.number).is_some();
    let remark = banner.or(is_coming.then_some(entry.number.as_str()));
    if let (Some(remark), Some(first)) = (remark, section.wordings.first_mut()) {
        let begins = Pattern::fixed(r"(?i) (EFFECTIVE [A-Z]{3,9} \d{1,2}, \d{4})$");
        let start = begins.captures(remark).filter(|_| is_coming).and_then(|found| effect::read(&found[1]));
        let effect = match start.filter(|start| !start.uncertain) {
            Some(start) => Effect { remark: Some(remark.to_owned()), ..start },
            None => Effect::unknown(remark),
        };
        first.effect = std::mem::take(&mut first.effect).and(effect);
    }
    if let [only] = &mut section.wordings[..]
        && only.credit.is_none()
        && !entry.history.trim().is_empty()
    {
        only.credit = Some(entry.history.trim().to_owned());
    }
    drop_contents(&mut section, entry);
    section.wordings.iter_mut().for_each(printed_pages::remove_marks);
    Ok(section)
}

/// Splits off the remark of Michigan on whether the law below is in force: `***** 445.12 THIS SECTION DOES NOT APPLY
/// AFTER APRIL 27, 1987: See 445.24 *****`. Most of them name no day, or a condition.
fn split_banner<'p, 't>(paragraphs: &'p [&'t str]) -> (Option<&'t str>, &'p [&'t str]) {
    let words = |paragraph: &&'t str| paragraph.strip_prefix("***** ")?.strip_suffix("*****").map(str::trim);
    match paragraphs.split_first() {
        Some((first, rest)) if words(first).is_some() => (words(first), rest),
        _ => (None, paragraphs),
    }
}

/// Removes the names of containers above a section.
fn without_running_heads<'p, 't>(
    paragraphs: &'p [&'t str],
    settings: &StateJsonSettings,
    section: &mut StateJsonSection,
) -> &'p [&'t str] {
    let Some(running_heads) = &settings.running_heads else { return paragraphs };
    let count = paragraphs.iter().take_while(|paragraph| running_heads.is_match(paragraph)).count();
    let (heads, rest) = paragraphs.split_at(count);
    section.left_out.extend(heads.iter().map(|&head| ("running heads", head.to_owned())));
    rest
}

/// Finds the number and returns the heading. Some pages put both into the number field and cut the
/// heading short.
fn name(
    entry: &StateJsonEntry,
    opened: Option<&str>,
    settings: &StateJsonSettings,
    section: &mut StateJsonSection,
) -> Result<String, String> {
    let (number, heading) = match entry.number.split_once(" - ") {
        Some((number, heading)) => (number.trim(), heading.trim()),
        None => (entry.number.trim(), entry.heading.trim()),
    };
    let number = coming(number).unwrap_or(number.trim_end_matches(['.', ':']));
    if settings.number.is_match(number) {
        section.number = number.to_owned();
        return Ok(heading.to_owned());
    }
    if let Some(by_address) = number_in_address(entry, settings) {
        section.number = by_address.to_owned();
        return Ok(String::new());
    }
    let by_text = opened.filter(|number| !settings.opening.is_empty() && settings.number.is_match(number));
    let Some(by_text) = by_text else {
        return Err(format!("'{}' is not a section number, and the text has none; left out", entry.number));
    };
    section.number = by_text.to_owned();
    section.found_as = Some(entry.number.clone());
    let what = format!("'{}' is not a section number; the text belongs to '{by_text}'", entry.number);
    section.faults.push((WarningKind::JunkEntry, what));
    Ok(String::new())
}

/// The number of a wording that Michigan prints before it is law: `28.291.amended`, `400.803.new`.
fn coming(number: &str) -> Option<&str> {
    [".amended", ".new", ".added"].iter().find_map(|end| number.strip_suffix(end))
}

/// The number of an entry that is named after an edition, from its address: `.../article-2/section-62-2-101/`.
fn number_in_address<'e>(entry: &'e StateJsonEntry, settings: &StateJsonSettings) -> Option<&'e str> {
    settings.edition.as_ref().filter(|edition| edition.is_match(&entry.number))?;
    let last = entry.source_url.trim_end_matches('/').rsplit('/').next()?;
    last.strip_prefix("section-").filter(|number| settings.number.is_match(number))
}

fn name_unknown_signs(unknown: BTreeMap<char, usize>, section: &mut StateJsonSection) {
    for (character, count) in unknown {
        let what = format!(
            "'{}' contains the private-use character U+{:04X} {count} times; it is left out until the option 'signs' defines it",
            section.number,
            u32::from(character)
        );
        section.faults.push((WarningKind::PrivateCharacter, what));
    }
}

fn name_repetition(undone: &Deduplicated<'_>, section: &mut StateJsonSection) {
    let Deduplicated { repeated, doubtful, .. } = undone;
    if *repeated > 0 {
        let what =
            format!("'{}' contains words twice or more; each is kept once ({repeated} paragraphs)", section.number);
        section.faults.push((WarningKind::RepeatedText, what));
    }
    if !doubtful.is_empty() {
        let words = doubtful.join("' '");
        let what = format!("'{}': left out as a repetition, without proof: '{words}'", section.number);
        section.faults.push((WarningKind::DoubtfulRepeat, what));
    }
}

/// Drops what is not the law of the section: the list of the other sections, if a page contained no law, and the text of
/// an entry that was read from a page of contents, where texts break off.
fn drop_contents(section: &mut StateJsonSection, entry: &StateJsonEntry) {
    let listed = Pattern::fixed(r"^Section \d[\w.:-]* - ");
    let is_list = |wording: &PrintedWording| wording.law.first().is_some_and(|line| listed.is_match(line));
    let names_others = Pattern::fixed(r"(?:^|[^ ])Section \d[\w.:-]* - ");
    let states_status = |wording: &PrintedWording| {
        let law = wording.law.join(" ");
        named_status(&law).is_some() && !names_others.is_match(&law)
    };
    let (reason, what) = if section.wordings.first().is_some_and(is_list) {
        ("lists of other sections in place of a text", "is a list of other sections; the source lacks its law")
    } else if entry.is_of_contents_page() && !section.wordings.iter().all(states_status) {
        ("texts of contents pages", "is from a page of contents, where texts break off; the source lacks its law")
    } else {
        return;
    };
    let mut was_law = false;
    for wording in &mut section.wordings {
        was_law |= !wording.law.is_empty();
        let words = std::mem::take(&mut wording.law).into_iter().chain(std::mem::take(&mut wording.notes));
        section.left_out.extend(words.map(|line| (reason, line)));
    }
    section.left_out.extend(section.wordings.drain(1..).map(|wording| (reason, wording.heading)));
    if was_law {
        section.faults.push((WarningKind::ContentsAsText, format!("the text of '{}' {what}", section.number)));
    }
}
