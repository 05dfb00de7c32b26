//! Finds where the heading of a section ends and its law begins. Number and heading are in separate
//! fields, on separate lines, or before the law in one paragraph.

use super::section::{PrintedWording, StateJsonSection, effect_of};
use super::settings::StateJsonSettings;
use crate::effect::{self, Effect};
use crate::import::flat_text;
use crate::pattern::Pattern;
use crate::report::WarningKind;

/// A longer line is law, whatever precedes it.
const HEADING_BYTES_MAX: usize = 1_000;

/// The number that a text begins with, and the rest of the line.
pub(super) fn opening<'t>(line: &'t str, settings: &StateJsonSettings) -> Option<(&'t str, &'t str)> {
    let line = line.strip_prefix(settings.opening.as_str())?.trim_start();
    let end = line.find(|c: char| c.is_whitespace()).unwrap_or(line.len());
    Some((line[..end].trim_end_matches(['.', ',']), line[end..].trim_start()))
}

/// Removes number and heading, which most texts repeat, and returns the remaining lines. Completes
/// a heading that the source cut short or has only in the text.
pub(super) fn without_heading(
    lines: &[&str],
    wording: &mut PrintedWording,
    settings: &StateJsonSettings,
    section: &mut StateJsonSection,
) -> Vec<String> {
    let printed = folded(&wording.heading);
    clean(wording, section);
    if let Some((first, rest)) = lines.split_first()
        && !printed.is_empty()
        && folded(first) == printed
    {
        return to_owned_lines(rest);
    }
    let mut place = if section.found_as.is_some() { HeadingPlace::OwnLine } else { HeadingPlace::None };
    let mut lines = to_owned_lines(lines);
    if let Some(rest) = lines.first().and_then(|first| after_number(first, settings, &section.number)) {
        if !settings.opening.is_empty() {
            section.left_out.push(("the word before the number", settings.opening.clone()));
        }
        if rest.is_empty() {
            lines.remove(0);
            // If only one line follows the number, it is law.
            place = if lines.len() > 1 { HeadingPlace::OwnLine } else { place };
        } else {
            lines[0] = rest;
            place = HeadingPlace::AfterNumber;
        }
    }
    let is_only = lines.len() < 2;
    let has_law = lines.iter().skip(1).any(|line| !settings.credit.is_match(line));
    let Some(first) = lines.first_mut() else { return lines };
    if let Some((heading, law)) = divided(first, place, wording, settings) {
        wording.heading = heading;
        *first = law;
    } else if let Some(rest) = after_heading(first, place, is_only, wording, section) {
        *first = take_remark_behind(rest, wording);
    }
    if let Some(effect) = remark_alone(first).filter(|_| has_law) {
        wording.effect = std::mem::take(&mut wording.effect).and(effect);
        first.clear();
    } else if let Some((remark, rest)) = remark(first) {
        wording.effect = std::mem::take(&mut wording.effect).and(effect_of(remark));
        *first = rest;
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn to_owned_lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

/// Heading and law of a paragraph, if the plan names the text between them.
fn divided(
    line: &str,
    place: HeadingPlace,
    wording: &PrintedWording,
    settings: &StateJsonSettings,
) -> Option<(String, String)> {
    let end = settings.heading_end.as_deref().filter(|_| place == HeadingPlace::AfterNumber)?;
    let parts = line.match_indices(end).map(|(at, _)| (&line[..at], &line[at + end.len()..]));
    // Within a heading, blanks are on both sides: `Act — certain mandates —This section`.
    let ends =
        |(before, after): &(&str, &str)| before.ends_with('.') || after.starts_with(|next: char| !next.is_whitespace());
    let (heading, law) = parts.into_iter().find(ends)?;
    let heading = heading.trim_end_matches(['.', ',', ' ']);
    let is_heading = wording.heading.is_empty() && heading.len() <= HEADING_BYTES_MAX;
    is_heading.then(|| (heading.trim().to_owned(), law.trim_start().to_owned()))
}

/// The possible place of a heading that the source has only in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadingPlace {
    None,
    /// The number is on the line before.
    OwnLine,
    /// On the line of the number, possibly before the law.
    AfterNumber,
}

/// The text after the number on its line. If Idaho's act and code use different numbers, the line
/// is `39-4117 [39-4119]. LIVE ...`
fn after_number(line: &str, settings: &StateJsonSettings, number: &str) -> Option<String> {
    // A star refers to a note at the end: `*8.500. Citation.`
    let bare = line.trim_start_matches('*').strip_prefix(settings.opening.as_str())?.trim_start();
    let numbered_otherwise = || {
        let (other, rest) = bare.split_once(" [")?;
        let is_number = other.starts_with(|c: char| c.is_ascii_digit()) && !other.contains(' ');
        rest.strip_prefix(number)?.strip_prefix(']').filter(|_| is_number)
    };
    let rest = bare.strip_prefix(number).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    // The bracket contains the number in the code.
    let rest = rest.filter(|rest| !rest.starts_with(" [")).or_else(numbered_otherwise)?;
    Some(rest.trim_start_matches(['.', ',', ' ']).to_owned())
}

/// Removes the heading from the start of a line. If the source cut the heading short, the line is the heading.
fn after_heading(
    line: &str,
    place: HeadingPlace,
    is_only: bool,
    wording: &mut PrintedWording,
    section: &mut StateJsonSection,
) -> Option<String> {
    const CUT_BYTES_MIN: usize = 30;
    if wording.heading.is_empty() {
        let end = heading_end(line, place, is_only)?;
        wording.heading = line[..end].to_owned();
        return Some(line[end..].trim_start().to_owned());
    }
    if folded(line) == folded(&wording.heading) {
        wording.heading = line.to_owned();
        return Some(String::new());
    }
    let catchline = catchline_end(line).filter(|&end| folded(&line[..end]) == folded(&wording.heading));
    if let Some(end) = catchline {
        wording.heading = line[..end].to_owned();
        return Some(line[end..].trim_start().to_owned());
    }
    if let Some(rest) = after_cut_remark(line, is_only, wording) {
        return Some(rest);
    }
    let ends = wording.heading.ends_with('.');
    let rest = line.strip_prefix(wording.heading.trim_end_matches(['.', ' ', '…']))?;
    // A heading may be cut within an abbreviation or a number: `RCW 26.26A.200 through 26`.
    let goes_on = |behind: &str| {
        let next = behind.chars().next();
        next.is_some_and(|next| next.is_lowercase() || next.is_ascii_digit() || matches!(next, ',' | ';' | '—'))
    };
    let within = rest.strip_prefix('.').is_some_and(|behind| place == HeadingPlace::None && goes_on(behind));
    if rest.starts_with('.') && !within {
        return Some(rest.trim_start_matches(['.', ' ']).to_owned());
    }
    let was_cut = within || !ends && wording.heading.len() >= CUT_BYTES_MIN;
    let was_cut = was_cut && line.len() <= HEADING_BYTES_MAX;
    was_cut.then(|| {
        let what =
            format!("the heading of '{}' was cut short; the complete heading was taken from the text", section.number);
        section.faults.push((WarningKind::CutHeading, what));
        wording.heading = line.to_owned();
        String::new()
    })
}

/// If the source took a remark for the heading and cut it at its full stop, the line has both:
/// `(Section effective on the date federal funding received.) Voluntary vaccination program.`
fn after_cut_remark(line: &str, is_only: bool, wording: &mut PrintedWording) -> Option<String> {
    let words = wording.heading.strip_prefix('(').filter(|words| !words.contains(')'))?;
    let rest = line.strip_prefix(wording.heading.as_str())?.trim_start_matches('.').strip_prefix(')')?.trim_start();
    let end = heading_end(rest, HeadingPlace::AfterNumber, is_only)?;
    wording.effect = std::mem::take(&mut wording.effect).and(effect_of(words.to_owned()));
    wording.heading = rest[..end].to_owned();
    Some(rest[end..].trim_start().to_owned())
}

/// The end of a heading that is only in the text.
fn heading_end(line: &str, place: HeadingPlace, is_only: bool) -> Option<usize> {
    /// A longer first sentence is law.
    const SENTENCE_BYTES_MAX: usize = 200;
    /// A longer line with a verb typical of law is law.
    const COMMAND_BYTES_MAX: usize = 150;
    // Headings may have several sentences, but no verbs.
    let verb = Pattern::fixed(r"\b(?:shall|must|may|is|are|was|were|has|have|means)\b");
    match place {
        HeadingPlace::None => None,
        HeadingPlace::OwnLine => {
            let is_law = || {
                flat_text::begins_with_label(line)
                    || line.ends_with(':')
                    || is_only && verb.is_match(line)
                    || line.len() > COMMAND_BYTES_MAX && verb.is_match(line)
            };
            Some(line.len()).filter(|&end| end <= HEADING_BYTES_MAX && !is_law())
        }
        HeadingPlace::AfterNumber => {
            if let Some(end) = catchline_end(line) {
                return Some(end);
            }
            let sentence = Pattern::fixed(r#"^(.*?[a-z\d)”"]{2}[.?!]["”)]*)\s+["“(\[A-Z\d]"#);
            let found = sentence.captures(line).map(|found| found[1].len()).filter(|&end| verb.is_match(&line[end..]));
            match found {
                Some(end) => Some(end).filter(|&end| end <= SENTENCE_BYTES_MAX),
                None if is_only || line.len() > COMMAND_BYTES_MAX && verb.is_match(line) => None,
                None => Some(line.len()).filter(|&end| end <= HEADING_BYTES_MAX),
            }
        }
    }
}

/// The end of a catchline in capitals: `SHORT TITLE. This act`, `PENALTIES. 1. A person`,
/// `METHODS. [EFFECTIVE JULY 1, 2026] (1) The`.
fn catchline_end(line: &str) -> Option<usize> {
    const LETTERS_MIN: usize = 3;
    let capitals = &line[..line.find(char::is_lowercase).unwrap_or(line.len())];
    let capitals =
        capitals.split(". [").next().map_or(capitals, |before| &capitals[..(before.len() + 1).min(capitals.len())]);
    let sentence = Pattern::fixed(r#"[.?!:]["”)\]]*(?:\s|$)"#);
    let mut ends =
        sentence.find_iter(capitals).map(|end| end.as_str().trim_end().len() + end.start()).collect::<Vec<_>>();
    // In `PENALTIES. 1. A person`, the label belongs to the law.
    let label = Pattern::fixed(r"(?:^|\s)(?:\d{1,3}|[A-Z]|[IVX]{1,4})\.$");
    while ends.len() > 1 && ends.last().is_some_and(|&end| label.is_match(&line[..end])) {
        ends.pop();
    }
    let end = *ends.last()?;
    (line[..end].chars().filter(|c| c.is_uppercase()).count() >= LETTERS_MIN).then_some(end)
}

/// Takes a remark from the heading line that the heading field lacks:
/// `Licenses. (Effective until October 1, 2025.)`
fn take_remark_behind(rest: String, wording: &mut PrintedWording) -> String {
    let (effect, bare) = effect::of_heading(&format!("{} {rest}", wording.heading));
    if rest.is_empty() || bare.trim_end() != wording.heading.trim_end_matches([' ', '.']) && bare != wording.heading {
        return rest;
    }
    wording.effect = std::mem::take(&mut wording.effect).and(effect);
    String::new()
}

/// A line that is only a remark on the whole section: `Section effective May 15, 2027. See, also, Section 40-57-360
/// effective until May 15, 2027.`
fn remark_alone(line: &str) -> Option<Effect> {
    let whole = Pattern::fixed(concat!(
        r"^(?:((?:This section|Section) (?:is )?(?:effective|expires)\b.{2,250})",
        r"|\[(This section is repealed\b.{2,250})\])$",
    ));
    let found = whole.captures(line)?;
    match (found.get(1), found.get(2)) {
        // A sentence of the law goes on otherwise: `This section is effective only if ...`.
        (Some(remark), _) => effect::read(remark.as_str()).filter(|effect| !effect.uncertain),
        (None, remark) => effect::read(remark?.as_str()),
    }
}

/// Splits a remark in brackets about effective time from the law after it:
/// `[EFFECTIVE UNTIL JULY 1, 2026] (1) The`.
fn remark(line: &str) -> Option<(String, String)> {
    let found =
        Pattern::fixed(r"^\[?((?:EFFECTIVE|CONTINGENT|EXPIRES|REPEALED EFFECTIVE)\b[^\]]{2,300})\]").captures(line)?;
    Some((found[1].trim().to_owned(), line[found[0].len()..].trim_start().to_owned()))
}

/// A heading without the details in which two copies may differ: white space, dashes, quotes, case,
/// the last full stop.
pub(super) fn folded(heading: &str) -> String {
    let kept = |c: &char| !c.is_whitespace() && !matches!(c, '-' | '—' | '–' | '_' | '"' | '“' | '”' | '\'' | '’');
    heading.trim_end_matches(['.', ' ']).chars().filter(kept).flat_map(char::to_lowercase).collect()
}

/// Removes headings of other sections, and numbers at the start: `1-6-24 to 1-6-28.Repealed by ...`.
fn clean(wording: &mut PrintedWording, section: &mut StateJsonSection) {
    // Matches `Dogs.Section 1-2 - Cats.`, `Dogs§ 1-2. Cats`, `Dogs.1-2 Cats`, and a heading that
    // runs into the text: `Dogs.In this act`.
    let run_on = Pattern::fixed(
        r#"(\S)Section \d[\w.:-]*(?: - |$)|([a-z)])§§? ?\d|([A-Za-z]{4}[)”"]?\.)(?:[A-Z\d(“§]|"[A-Za-z\d])"#,
    );
    let found = run_on.captures(&wording.heading);
    if let Some(found) = found.and_then(|found| found.iter().skip(1).flatten().next()) {
        let behind = wording.heading.split_off(found.end());
        section.left_out.push(("other sections or law after a heading", behind));
        let what = format!("the heading of '{}' continued into other sections or the text", section.number);
        section.faults.push((WarningKind::RunOnHeading, what));
    }
    let rest = wording.heading.strip_prefix(section.number.as_str());
    let goes_on = [", ", "to ", "and "].iter().any(|word| wording.heading.starts_with(word));
    let Some(rest) = rest.map(str::to_owned).or_else(|| goes_on.then(|| wording.heading.clone())) else { return };
    let rest = if rest.starts_with("to ") || rest.starts_with("and ") { format!(" {rest}") } else { rest };
    let range = Pattern::fixed(r"^(?:(?: to |, | and |, and )(\d[\w:-]*(?:\.\d+)*))*\.? ?(?:through )?(?:- )?");
    let Some(found) = range.captures(&rest) else { return };
    let after = rest[found.get(0).map_or(0, |whole| whole.end())..].to_owned();
    if after.is_empty() {
        return;
    }
    section.left_out.push(("further numbers before a heading", found[0].to_owned()));
    section.last_number = found.get(1).map(|last| last.as_str().to_owned());
    wording.heading = after;
}
