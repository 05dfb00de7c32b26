//! Reads in notes and headings which numbers a section had, and which number its law has now.

use super::place::{CodePlace, number_at, sentence};
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
const WENT_TO: [&str; 5] = [
    "reclassified as section ",
    "transferred to section ",
    "renumbered as section ",
    "renumbered section ",
    "redesignated as section ",
];

/// How it names a later place of the same law.
const WENT_ON_TO: [&str; 9] = [
    "reclassified as section ",
    "reclassification as section ",
    "transferred to section ",
    "transfer to section ",
    "renumbered section ",
    "renumbered as section ",
    "reenacted as section ",
    "reenacted in section ",
    "restated as section ",
];

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
    let Some((first, mut rest)) = first.filter(|(place, _)| !place.is_part) else {
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
        if !earlier.is_part {
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
    let Some((at, words)) = first_of(paragraph, &WENT_TO) else { return };
    // The verb is that of this section: `was editorially reclassified as`, `is now renumbered`.
    let is_verb =
        ["was ", "was editorially ", "was renumbered and "].iter().any(|verb| paragraph[..at].ends_with(verb));
    let rest = sentence(&paragraph[at + words.len()..]);
    let Some((mut place, mut rest)) = CodePlace::read(rest, section.title, None).filter(|_| is_verb) else {
        found.unread.push(sentence(paragraph).to_owned());
        return;
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
    // Law that was repealed at its new place is nowhere.
    if !place.is_part && !rest.contains("repeal") && !rest.contains("omitted") {
        found.now = Some(place.citation());
    }
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
        if rest.starts_with(" as this section") && places.iter().all(|place| !place.is_part) {
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
    if found.now.is_none() && found.unread.is_empty() {
        found.unread.push(heading.to_owned());
    }
}
