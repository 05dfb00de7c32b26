//! An entry of a chapter: whether it is a section, its number and its wordings.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::heading;
use super::repetition::{self, Deduplicated, UNPROVEN_REPETITION, WRITTEN_TWICE};
use super::section::StateJsonSection;
use super::settings::StateJsonSettings;
use super::wording;
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
    let paragraphs: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut section = StateJsonSection::default();
    let opened = paragraphs.first().and_then(|first| heading::opening(first, settings));
    let heading = name(entry, opened.map(|(number, _)| number), settings, &mut section)?;
    name_unknown_signs(unknown, &mut section);
    let undone = repetition::remove_repetitions(&paragraphs, twice);
    name_repetition(&undone, &mut section);
    section.left_out.extend(undone.equal.iter().map(|&words| (WRITTEN_TWICE, words.to_owned())));
    section.left_out.extend(undone.doubtful.iter().map(|&words| (UNPROVEN_REPETITION, words.to_owned())));
    wording::read(&undone.lines, heading, settings, &mut section);
    if let [only] = &mut section.wordings[..]
        && only.credit.is_none()
        && !entry.history.trim().is_empty()
    {
        only.credit = Some(entry.history.trim().to_owned());
    }
    drop_contents(&mut section);
    Ok(section)
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
    let number = number.trim_end_matches(['.', ':']);
    if settings.number.is_match(number) {
        section.number = number.to_owned();
        return Ok(heading.to_owned());
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

/// If a page contained no law, its list of the other sections was extracted instead.
fn drop_contents(section: &mut StateJsonSection) {
    let listed = Pattern::fixed(r"^Section \d[\w.:-]* - ");
    let Some(first) = section.wordings.first_mut() else { return };
    if first.law.first().is_some_and(|line| listed.is_match(line)) {
        let words = std::mem::take(&mut first.law).join("\n");
        section.left_out.push(("lists of other sections in place of a text", words));
        let what = format!("the text of '{}' is a list of other sections; the source lacks its law", section.number);
        section.faults.push((WarningKind::ContentsAsText, what));
    }
}
