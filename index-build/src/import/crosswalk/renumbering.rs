//! Reads in notes and headings which numbers a section had, and which number its law has now.

use super::place::{CodePlace, is_section_of_act, number_at, sentence};
use super::{Crosswalk, SectionWords};

/// How a note on codification names the place where a section was before.
const WAS_AT: [&str; 4] = [
    "Section was formerly classified to section ",
    "Section was classified to section ",
    "Section was formerly section ",
    "Section was formerly classified as section ",
];

/// How a note on codification begins if the section as a whole was elsewhere.
const WAS_SOMEWHERE: [&str; 3] =
    ["Section was formerly classified to ", "Section was formerly section", "Section was classified to "];

/// How a note on codification names the place of a section that is gone.
const WENT_TO: [&str; 7] = [
    "reclassified as section ",
    "transferred to section ",
    CLASSIFIED,
    "renumbered as section ",
    "renumbered section ",
    "redesignated as section ",
    "redesignated section ",
];

const CLASSIFIED: &str = "classified to section ";

/// The words before it, behind a section of an act that the section became.
const CLASSIFIED_TOO: [&str; 2] = ["and is ", "and was "];

/// The words before it that say it of this section.
const VERBS: [&str; 7] = ["is ", "was ", "was editorially ", "was renumbered and ", "has been ", "and ", ", "];

/// How it names a later place of the same law.
const WENT_ON_TO: [&str; 10] = [
    "reclassified as section ",
    "reclassification as section ",
    "transferred to section ",
    "transfer to section ",
    "classified to section ",
    "renumbered section ",
    "renumbered as section ",
    "reenacted as section ",
    "reenacted in section ",
    "restated as section ",
];

/// How it says that the section is a note now.
const NOTE_UNDER: &str = " note under section ";

/// How the words before it begin.
const IS_A_NOTE: [&str; 3] =
    ["is set out as a", "was editorially reclassified as a", "was transferred and set out as a"];

/// Reads `Section was formerly classified to section 1973f of Title 42, ..., prior to editorial reclassification and
/// renumbering as this section, and to section 31 of Title 8, ...`, and where a section went that is gone.
pub(super) fn read_codification(section: &SectionWords<'_>, note: &str, found: &mut Crosswalk) {
    for paragraph in note.lines() {
        if WAS_SOMEWHERE.iter().any(|opening| paragraph.starts_with(opening)) {
            read_former(section, paragraph, found);
        }
        if !section.status.may_be_in_force() && found.now.is_none() {
            read_new_place(section, paragraph, found);
        }
    }
}

fn read_former(section: &SectionWords<'_>, paragraph: &str, found: &mut Crosswalk) {
    let sentence = sentence(paragraph);
    let first = WAS_AT.iter().find_map(|opening| CodePlace::read(sentence.strip_prefix(opening)?, section.title, None));
    let Some((first, mut rest)) = first.filter(|(place, _)| !place.is_part()) else {
        found.unread.push(sentence.to_owned());
        return;
    };
    let mut that = first.title;
    found.formerly.push(first.citation());
    // Before it was there it was elsewhere. What follows a repeal is about other law.
    while let Some(at) = rest.find(" and to section ").filter(|&at| !rest[..at].contains("repeal")) {
        let Some((earlier, after)) = CodePlace::read(&rest[at + " and to section ".len()..], section.title, Some(that))
        else {
            found.unread.push(sentence.to_owned());
            return;
        };
        if !earlier.is_part() {
            found.formerly.push(earlier.citation());
        }
        (that, rest) = (earlier.title, after);
    }
}

/// Reads `Section 93, ..., was transferred to section 443b of Title 25, ..., prior to editorial reclassification as
/// section 153 of that title`. The last place counts.
fn read_new_place(section: &SectionWords<'_>, paragraph: &str, found: &mut Crosswalk) {
    let Some(subject) = paragraph.strip_prefix("Section").and_then(|rest| rest.strip_prefix([' ', ','])) else {
        return;
    };
    let own = section.number.unwrap_or_default();
    let is_about_another =
        number_at(subject).is_some_and(|(number, _)| number.replace('–', "-") != own.replace('–', "-"));
    if own.is_empty() || is_about_another {
        return;
    }
    let Some((before, rest)) = first_place(paragraph) else { return read_note(section, paragraph, found) };
    let rest = sentence(rest);
    let is_subject = before == "Section " || before.strip_prefix("Section ") == Some(&format!("{own} "));
    let is_said_of_this = is_subject || VERBS.iter().any(|verb| before.ends_with(verb));
    let place = CodePlace::read(rest, section.title, None).filter(|_| is_said_of_this && !is_divided(paragraph));
    let Some((mut place, mut rest)) = place else {
        return match is_repealed(rest) && is_said_of_this {
            true => found.is_nowhere = true,
            false => found.unread.push(sentence(paragraph).to_owned()),
        };
    };
    while let Some((at, words)) = first_of(rest, &WENT_ON_TO) {
        match CodePlace::read(&rest[at + words.len()..], section.title, Some(place.title)) {
            Some((next, after)) => (place, rest) = (next, after),
            None => {
                found.unread.push(sentence(paragraph).to_owned());
                return;
            }
        }
    }
    match is_repealed(rest) {
        true => found.is_nowhere = true,
        false => found.now = Some(place.citation()),
    }
}

/// The words before and behind the first phrase that leads to a place in the Code, not to a section of an act. Of such
/// a section, the note goes on to say where it is classified.
fn first_place(paragraph: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    loop {
        let (at, words) = first_of(&paragraph[from..], &WENT_TO)?;
        let (before, rest) = (&paragraph[..from + at], &paragraph[from + at + words.len()..]);
        let is_of_section_of_act = from > 0 && CLASSIFIED_TOO.iter().any(|verb| before.ends_with(verb));
        if !is_section_of_act(rest) && (words != CLASSIFIED || is_of_section_of_act) {
            return Some((before, rest));
        }
        from = paragraph.len() - rest.len();
    }
}

/// Reads `Section 60k was editorially reclassified as a note under section 1313 of this title.`
fn read_note(section: &SectionWords<'_>, paragraph: &str, found: &mut Crosswalk) {
    let Some((before, place)) = sentence(paragraph).split_once(NOTE_UNDER) else { return };
    let is_this =
        IS_A_NOTE.iter().any(|words| before.rfind(words).is_some_and(|at| !before[at..].contains(['.', ','])));
    let place = CodePlace::read(place, section.title, None).filter(|(place, rest)| {
        let is_sure = is_this && !place.is_part() && !is_divided(paragraph);
        is_sure && first_of(rest, &WENT_ON_TO).is_none() && !is_repealed(rest)
    });
    found.now = place.map(|(place, _)| format!("{} note", place.citation()));
}

/// Whether law was repealed at its last place, and is nowhere.
fn is_repealed(rest: &str) -> bool {
    (rest.contains("repeal") || rest.contains("omitted")) && !rest.contains("enacted") && !rest.contains("restated")
}

/// Whether only a part of the section went to a place.
fn is_divided(paragraph: &str) -> bool {
    [" in part", "Subsec", "except "].iter().any(|words| paragraph.contains(words))
}

/// The first of several phrases in a text, and where it is.
fn first_of<'p>(text: &str, phrases: &[&'p str]) -> Option<(usize, &'p str)> {
    phrases.iter().filter_map(|phrase| Some((text.find(phrase)?, *phrase))).min_by_key(|(at, _)| *at)
}

/// Reads `Pub. L. 115–282 renumbered section 1 of this title as this section.`
pub(super) fn read_amendments(section: &SectionWords<'_>, note: &str, found: &mut Crosswalk) {
    const RENUMBERED: &str = "renumbered section ";
    for (at, _) in note.match_indices(RENUMBERED) {
        let statement = note[at..].lines().next().map(sentence).unwrap_or_default();
        let is_about_this = statement.contains(" as this section");
        let Some((first, mut rest)) = CodePlace::read(&statement[RENUMBERED.len()..], section.title, None) else {
            found.unread.extend(is_about_this.then(|| statement.to_owned()));
            continue;
        };
        let mut places = vec![first];
        while let Some((next, after)) =
            rest.strip_prefix(" and section ").and_then(|rest| CodePlace::read(rest, section.title, None))
        {
            places.push(next);
            rest = after;
        }
        // `renumbered section 673 of this title, relating to small boats, as this section`
        let described =
            rest.strip_prefix(", relating to ").and_then(|rest| Some(&rest[rest.find(", as this section")?..]));
        let rest = described.unwrap_or(rest).trim_start_matches(',');
        if rest.starts_with(" as this section") && places.iter().all(|place| !place.is_part()) {
            found.formerly.extend(places.iter().map(CodePlace::citation));
        } else if is_about_this {
            found.unread.push(statement.to_owned());
        }
    }
}

/// Reads the heading `Renumbered § 354`, and reports a section of which it is not known where it went.
pub(super) fn read_heading(section: &SectionWords<'_>, found: &mut Crosswalk) {
    let heading = section.heading.trim_end_matches(']').trim();
    let number = heading.strip_prefix("Renumbered § ").and_then(number_at);
    if let Some((number, rest)) = number {
        let title = rest.strip_prefix(" of title ").or_else(|| rest.strip_prefix(" of Title ")).map(str::trim);
        let is_title = |title: &&str| !title.is_empty() && title.bytes().all(|byte| byte.is_ascii_digit());
        let title = if rest.is_empty() { Some(section.title) } else { title.filter(is_title) };
        if let Some(title) = title {
            found.now = Some(super::place::citation(title, number));
            return;
        }
    }
    if found.now.is_none() && !found.is_nowhere && found.unread.is_empty() {
        found.unread.push(heading.to_owned());
    }
}
