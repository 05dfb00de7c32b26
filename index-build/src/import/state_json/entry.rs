//! An entry of a chapter: is it a section, which number and heading does it have, and which of its paragraphs are law?

use std::collections::BTreeMap;

use serde::Deserialize;

use super::repetition::{self, Undone};
use super::settings::Settings;
use crate::import::options::Pattern;
use crate::report::WarningKind;

#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) number: String,
    #[serde(default)]
    heading: String,
    #[serde(default)]
    text: String,
    /// Mostly empty; where it is not, it is the source credit.
    #[serde(default)]
    history: String,
    #[serde(default)]
    pub(super) source_url: String,
}

impl Entry {
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// A section, taken apart.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) number: String,
    /// It also stands for the numbers up to this one.
    pub(super) last_number: Option<String>,
    pub(super) heading: String,
    pub(super) law: Vec<String>,
    pub(super) credit: Option<String>,
    pub(super) notes: Vec<String>,
    /// A later wording: when it takes effect, and its paragraphs and credit.
    pub(super) later: Option<Later>,
    /// It was found under another name than its number.
    pub(super) found_as: Option<String>,
    pub(super) faults: Vec<(WarningKind, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Later {
    /// The words between the two wordings, which say when it takes effect.
    pub(super) label: String,
    pub(super) heading: String,
    pub(super) law: Vec<String>,
    pub(super) credit: Option<String>,
}

/// Reads an entry; one that is no section is an error that says why. `twice` says whether its document writes elements twice.
pub(super) fn section(entry: &Entry, twice: bool, settings: &Settings) -> Result<Section, String> {
    let mut unknown = BTreeMap::new();
    let text = settings.signs.read(&entry.text, &mut unknown);
    let paragraphs: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut section = Section::default();
    let opened = paragraphs.first().and_then(|first| opening(first, settings));
    name(entry, opened.map(|(number, _)| number), settings, &mut section)?;
    for (character, count) in unknown {
        let what = format!(
            "'{}' has U+{:04X} {count} times, a sign in one font alone; left out until the option 'signs' says which it is",
            section.number,
            u32::from(character)
        );
        section.faults.push((WarningKind::PrivateCharacter, what));
    }
    let undone = repetition::undo(&paragraphs, twice);
    name_repetition(&undone, &mut section);
    let lines = without_opening(&undone.lines, settings, &mut section);
    divide(&lines, settings, &mut section);
    if section.credit.is_none() && !entry.history.trim().is_empty() {
        section.credit = Some(entry.history.trim().to_owned());
    }
    drop_contents(&mut section);
    Ok(section)
}

fn name_repetition(undone: &Undone<'_>, section: &mut Section) {
    let Undone { repeated, doubtful, .. } = undone;
    if *repeated > 0 {
        let what = format!("'{}' has words twice or more; each is kept once ({repeated} paragraphs)", section.number);
        section.faults.push((WarningKind::RepeatedText, what));
    }
    if !doubtful.is_empty() {
        let what =
            format!("'{}': left out as repeated, though nothing shows it: '{}'", section.number, doubtful.join("' '"));
        section.faults.push((WarningKind::DoubtfulRepeat, what));
    }
}

/// Number and heading. Some publishers' pages put both into the number, and cut the heading short.
fn name(entry: &Entry, opened: Option<&str>, settings: &Settings, section: &mut Section) -> Result<(), String> {
    let (number, heading) = match entry.number.split_once(" - ") {
        Some((number, heading)) => (number.trim(), heading.trim()),
        None => (entry.number.trim(), entry.heading.trim()),
    };
    let number = number.trim_end_matches(['.', ':']);
    section.heading = heading.to_owned();
    if settings.number.is_match(number) {
        section.number = number.to_owned();
        return Ok(());
    }
    let by_text = opened.filter(|number| !settings.opening.is_empty() && settings.number.is_match(number));
    let Some(by_text) = by_text else {
        return Err(format!("'{}' is no section number, and the text has none; left out", entry.number));
    };
    section.number = by_text.to_owned();
    section.heading = String::new();
    section.found_as = Some(entry.number.clone());
    let what = format!("'{}' is no section number; the text is that of '{by_text}'", entry.number);
    section.faults.push((WarningKind::JunkEntry, what));
    Ok(())
}

/// The number that a text opens with, and what follows it.
fn opening<'t>(line: &'t str, settings: &Settings) -> Option<(&'t str, &'t str)> {
    let line = line.strip_prefix(settings.opening.as_str())?.trim_start();
    let end = line.find(|c: char| c.is_whitespace()).unwrap_or(line.len());
    Some((line[..end].trim_end_matches(['.', ',']), line[end..].trim_start()))
}

/// The lines after number and heading, which most texts repeat; the whole heading, where it was cut.
fn without_opening(lines: &[&str], settings: &Settings, section: &mut Section) -> Vec<String> {
    let printed = folded(&section.heading);
    clean_heading(section);
    if let Some((first, rest)) = lines.split_first()
        && !printed.is_empty()
        && folded(first) == printed
    {
        return rest.iter().map(|&line| line.to_owned()).collect();
    }
    let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    let mut has_heading = section.found_as.is_some();
    if let Some(first) = lines.first_mut()
        && let Some(rest) = first.strip_prefix(settings.opening.as_str())
        && let Some(rest) = rest.trim_start().strip_prefix(section.number.as_str())
        && !rest.starts_with(|c: char| c.is_ascii_digit())
    {
        *first = rest.trim_start_matches(['.', ',', ' ']).to_owned();
        if first.is_empty() {
            lines.remove(0);
        } else {
            has_heading |= lines.len() > 1;
        }
    }
    if let Some(first) = lines.first()
        && let Some(rest) = after_heading(first, has_heading, section)
    {
        if rest.is_empty() {
            lines.remove(0);
        } else {
            lines[0] = rest;
        }
    }
    lines
}

/// Takes the heading off the start of a line. Where the source cut the heading short, or the text alone has it, the line is
/// the heading.
fn after_heading(line: &str, has_heading: bool, section: &mut Section) -> Option<String> {
    const CUT_BYTES_MIN: usize = 30;
    const HEADING_BYTES_MAX: usize = 1_000;
    if section.heading.is_empty() {
        return has_heading.then(|| {
            section.heading = line.to_owned();
            String::new()
        });
    }
    if folded(line) == folded(&section.heading) {
        section.heading = line.to_owned();
        return Some(String::new());
    }
    let ends = section.heading.ends_with('.');
    let rest = line.strip_prefix(section.heading.trim_end_matches(['.', ' ', '…']))?;
    if rest.starts_with('.') {
        return Some(rest.trim_start_matches(['.', ' ']).to_owned());
    }
    let was_cut = !ends && section.heading.len() >= CUT_BYTES_MIN && line.len() <= HEADING_BYTES_MAX;
    was_cut.then(|| {
        let what = format!("the heading of '{}' was cut short; the text has the whole of it", section.number);
        section.faults.push((WarningKind::CutHeading, what));
        section.heading = line.to_owned();
        String::new()
    })
}

/// A heading without what two copies of it may differ in: white space, kinds of dashes, case, the last full stop.
fn folded(heading: &str) -> String {
    let kept = |c: &char| !c.is_whitespace() && !matches!(c, '-' | '—' | '–' | '_');
    heading.trim_end_matches(['.', ' ']).chars().filter(kept).flat_map(char::to_lowercase).collect()
}

/// Cuts off headings of other sections, and numbers at the start: `1-6-24 to 1-6-28.Repealed by ...`.
fn clean_heading(section: &mut Section) {
    // `Dogs.Section 1-2 - Cats.`, `Dogs§ 1-2. Cats`, `Dogs.1-2 Cats`, and into the text: `Dogs.In this act`.
    let run_on = Pattern::fixed(r#"(\S)Section \d[\w.:-]*(?: - |$)|([a-z)])§§? ?\d|([A-Za-z]{4}[)”"]?\.)[A-Z\d(“"§]"#);
    let found = run_on.captures(&section.heading);
    if let Some(found) = found.and_then(|found| found.iter().skip(1).flatten().next()) {
        let end = found.end();
        section.heading.truncate(end);
        let what = format!("the heading of '{}' ran on into other sections or the text", section.number);
        section.faults.push((WarningKind::RunOnHeading, what));
    }
    let rest = section.heading.strip_prefix(section.number.as_str());
    let goes_on = [", ", "to ", "and "].iter().any(|word| section.heading.starts_with(word));
    let Some(rest) = rest.map(str::to_owned).or_else(|| goes_on.then(|| section.heading.clone())) else { return };
    let rest = if rest.starts_with("to ") || rest.starts_with("and ") { format!(" {rest}") } else { rest };
    let range = Pattern::fixed(r"^(?:(?: to |, | and |, and )(\d[\w:-]*(?:\.\d+)*))*\.? ?(?:through )?(?:- )?");
    let Some(found) = range.captures(&rest) else { return };
    let after = rest[found.get(0).map_or(0, |whole| whole.end())..].to_owned();
    if after.is_empty() {
        return;
    }
    section.last_number = found.get(1).map(|last| last.as_str().to_owned());
    section.heading = after;
}

/// Divides the lines into law, source credit, notes, and a wording that takes effect later.
fn divide(lines: &[String], settings: &Settings, section: &mut Section) {
    let is_credit = |line: &String| settings.credit.is_match(line);
    let Some(at) = lines.iter().position(is_credit) else {
        section.law = lines.to_vec();
        return;
    };
    let (law, acts) = lines[at].split_at(settings.credit.find(&lines[at]).map_or(0, |found| found.start()));
    section.law = lines[..at].to_vec();
    section.law.extend(Some(law.trim_end()).filter(|law| !law.is_empty()).map(str::to_owned));
    let mut acts = acts.to_owned();
    let mut after = &lines[at + 1..];
    while let Some((more, rest)) = after.split_first().filter(|(line, _)| is_whole_credit(line, settings)) {
        if !acts.ends_with(more.as_str()) {
            acts = format!("{acts} {more}");
        }
        after = rest;
    }
    section.credit = Some(credit(&acts));
    let begins_again = |line: &String| line.starts_with(&format!("{}{}.", settings.opening, section.number));
    let Some(again) = after.iter().position(begins_again) else {
        section.notes = after.to_vec();
        return;
    };
    // The line that says when it takes effect is an element with one child, written twice.
    let mut between = after[..again].to_vec();
    between.dedup();
    let mut later = Later { label: between.join(" "), ..Later::default() };
    let opened = after[again].trim_start_matches(settings.opening.as_str()).trim_start_matches(section.number.as_str());
    later.heading = opened.trim_start_matches(['.', ' ']).to_owned();
    let body = &after[again + 1..];
    let end = body.iter().position(is_credit).unwrap_or(body.len());
    later.law = body[..end].to_vec();
    later.credit = body.get(end).map(|line| credit(line));
    section.notes = body.get(end + 1..).unwrap_or_default().to_vec();
    section.later = Some(later);
}

/// Some publishers give each act a line of its own.
fn is_whole_credit(line: &str, settings: &Settings) -> bool {
    settings.credit.find(line).is_some_and(|found| found.start() == 0)
}

fn credit(line: &str) -> String {
    let bare = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or(line);
    let bare = ["Source", "History"].iter().find_map(|word| bare.strip_prefix(word)).unwrap_or(bare);
    bare.trim_start_matches([' ', ':']).trim_end().to_owned()
}

/// Where a page had no law, its list of the other sections was taken for it.
fn drop_contents(section: &mut Section) {
    let listed = Pattern::fixed(r"^Section \d[\w.:-]* - ");
    if section.law.first().is_some_and(|line| listed.is_match(line)) {
        section.law.clear();
        let what = format!("the text of '{}' is a list of other sections; the source lacks its law", section.number);
        section.faults.push((WarningKind::ContentsAsText, what));
    }
}
