//! Reads since when, or until when, a section has its present wording, if its source credit or an
//! effective date note states it in a regular form. All other notes, such as those that wait for an
//! approval or exclude some paragraphs, give no date and make the section uncertain.
//!
//! A note may print text that will be law from a later day. The text of a whole section is a
//! separate wording. If it is only the text of some paragraphs, the section as a whole is unknown
//! from that day on, and its validity is uncertain.

use hornbook_corpus::outline::Status;

use crate::effect::{Effect, date_in};
use crate::pattern::Pattern;

use super::text::{CfrText, FutureWording};
use crate::content::{Content, ContentNote};

pub(super) fn effect_of(number: &str, text: &CfrText) -> Effect {
    let credit = text.credit.as_deref().unwrap_or_default();
    let by_credit = Pattern::fixed(r", eff(?:\.|ective) ([A-Za-z]+\.? \d{1,2}, \d{4})\.?\]$");
    let by_credit = by_credit.captures(credit).map(|found| Effect::starting(date_in(&found[1])));
    let has_whole_wording = text.future_wording.is_some();
    let by_notes =
        remarks(&text.notes).into_iter().map(|remark| effect_of_remark(number, remark, credit, has_whole_wording));
    by_credit.into_iter().chain(by_notes).reduce(Effect::and).unwrap_or_default()
}

/// What the notes on a subpart say about everything in it, if it is not law yet: `This subpart F … will not become
/// effective until approval …`.
pub(super) fn effect_of_container(notes: &[ContentNote]) -> Effect {
    let waiting = remarks(notes).into_iter().filter(|remark| remark.contains("not become effective"));
    waiting.map(Effect::unknown).reduce(Effect::and).unwrap_or_default()
}

/// The remarks of effective date notes. A note may number several. What follows `is set forth as follows:` is the changed
/// text.
fn remarks(notes: &[ContentNote]) -> Vec<&str> {
    let begins = Pattern::fixed(r"^(?:\d{1,2}\. ?)?At \d+ FR \d");
    let number = Pattern::fixed(r"^\d{1,2}\. ?");
    let mut found = Vec::new();
    for note in notes.iter().filter(|note| note.topic.starts_with("Effective Date Note")) {
        let mut is_remark = true;
        for (at, line) in note.text.lines().enumerate() {
            let is_first = at == 0 || begins.is_match(line);
            if is_first || (is_remark && line.contains("effective")) {
                found.push(&line[number.find(line).map_or(0, |number| number.end())..]);
            }
            is_remark = if is_first { !line.ends_with(':') } else { is_remark };
        }
    }
    found
}

/// What one remark says. One that is not wholly understood, such as `will not become effective until approval has been given`,
/// makes the section uncertain, even if it is about some paragraphs: the section has words that may not be law.
fn effect_of_remark(number: &str, remark: &str, credit: &str, has_whole_wording: bool) -> Effect {
    let dated = Pattern::fixed(concat!(
        r"^At (?P<page>\d+ FR \d+), [A-Za-z]+\.? \d{1,2}, \d{4}, § ?(?P<section>[\w.-]+) was (?:added|revised|amended by )[^.§]*",
        r", effective (?P<date>[A-Za-z]+\.? \d{1,2}, \d{4})\.(?P<more> For the convenience of the user, the .{1,40} is set forth as follows:)?$",
    ));
    // It was approved and became law.
    let past = Pattern::fixed(
        r"^At \d+ FR \d+, [A-Za-z]+\.? \d{1,2}, \d{4}, § ?[\w.-]+(?:,? [^.§]*)? became effective(?: with| on| upon| as of)? [^.§]*\.$",
    );
    let shown = remark.split(" For the convenience of the user").next().unwrap_or(remark);
    if past.is_match(remark) && !["not become", "until", "exception"].iter().any(|word| remark.contains(word)) {
        return Effect::default();
    }
    let Some(found) = dated.captures(remark).filter(|found| &found["section"] == number) else {
        return Effect::unknown(shown);
    };
    let page = format!("{},", &found["page"]);
    // An amendment such as `as amended at 76 FR 5, Sept. 13, 2011` is a separate entry.
    let last = credit.rsplit([';', '[']).next().and_then(|entry| entry.rsplit(" at ").next()).unwrap_or_default();
    let Some(date) = date_in(&found["date"]) else { return Effect::unknown(shown) };
    match found.name("more") {
        // The section has the old text, and the note contains the new one.
        Some(_) if !credit.contains(&page) => {
            let then = Some(Status::Uncertain).filter(|_| !has_whole_wording);
            Effect { to: Some(date), then, ..Effect::default() }
        }
        None if last.trim_start().starts_with(&page) => Effect::starting(Some(date)),
        // A later act amended it again, so it says nothing about the present wording.
        None if credit.contains(&page) && date_in(last).is_some_and(|later| date <= later) => Effect::default(),
        _ => Effect::unknown(shown),
    }
}

/// The future wording of the section, which begins when the present one ends. Without such a day,
/// its note states when it becomes law.
pub(super) fn wording(coming: FutureWording, present: &Effect, notes: &[ContentNote]) -> Content {
    let effect = match &present.to {
        Some(day) => Effect::starting(Some(day.clone())),
        None => Effect::unknown(notes.get(coming.note).and_then(|note| note.text.lines().next()).unwrap_or_default()),
    };
    let CfrText { text, layout, credit, notes, .. } = coming.text;
    Content {
        heading: coming.heading,
        status: Some(Status::InForce),
        text: Some(text),
        layout,
        notes,
        source_credit: credit,
        effect,
        ..Content::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: &str = "2011-10-13";
    const CREDIT: &str = "[70 FR 1, Jan. 3, 2005, as amended at 76 FR 5, Sept. 13, 2011]";

    fn effect(credit: &str, notes: &[&str]) -> Effect {
        let note = |text: &&str| ContentNote {
            topic: "Effective Date Note".into(),
            text: (*text).into(),
            ..ContentNote::default()
        };
        let notes = notes.iter().map(note).collect();
        effect_of("5.1", &CfrText { credit: Some(credit.into()), notes, ..CfrText::default() })
    }

    fn days(credit: &str, note: &str) -> (Option<String>, Option<String>) {
        let effect = effect(credit, &[note]);
        assert!(!effect.uncertain, "{note}");
        (effect.from, effect.to)
    }

    #[test]
    fn the_regular_forms_have_a_date() {
        let day = || Some(DAY.to_owned());
        let dated = "[70 FR 1, Jan. 3, 2005; 76 FR 5, Sept. 13, 2011, eff. Oct. 13, 2011]";
        assert_eq!(effect(dated, &[]), Effect::starting(day()));
        let made = "At 76 FR 5, Sept. 13, 2011, § 5.1 was revised, effective October 13, 2011.";
        assert_eq!(days(CREDIT, made), (day(), None));
        // The section was amended again later.
        assert_eq!(days("[76 FR 5, Sept. 13, 2011, as amended at 77 FR 1, May 1, 2012]", made), (None, None));
        assert!(effect("[76 FR 5, Sept. 13, 2011, as amended at 76 FR 9, Oct. 1, 2011]", &[made]).uncertain);
        let coming = "At 77 FR 7, Sept. 13, 2011, § 5.1 was amended by revising paragraph (c), effective Oct. 13, 2011. \
                      For the convenience of the user, the revised text is set forth as follows:\n(c) New, effective at once.";
        assert_eq!(days(CREDIT, coming), (None, day()));
    }

    /// 47 C.F.R. §§ 25.115, 25.218 and 25.220.
    #[test]
    fn a_past_approval_changes_nothing() {
        for note in [
            "At 74 FR 9, Mar. 9, 2009, § 5.1 paragraphs (h) and (i) which contain information collection requirements, became effective with approval by the Office for a period of three years.",
            "At 74 FR 9, Mar. 9, 2009, § 5.1, which contains requirements, was approved and became effective on May 1, 2009.",
        ] {
            assert_eq!(effect(CREDIT, &[note]), Effect::default(), "{note}");
        }
    }

    /// 47 C.F.R. §§ 52.36, 61.14, 64.611 and 20.18.
    #[test]
    fn any_other_note_makes_the_section_uncertain_with_its_words() {
        let waiting = "At 76 FR 5, Sept. 13, 2011, § 5.1 was added. This section will not become effective until approval has been given.";
        for other in [
            waiting,
            "At 76 FR 5, Sept. 13, 2011, § 5.1 was amended by adding paragraph (e). Paragraph (e) will not become effective until approval has been given.",
            "At 76 FR 5, Sept. 13, 2011, § 5.2 was revised, effective October 13, 2011.",
            "At 76 FR 5, Sept. 13, 2011, § 5.1 was revised, effective October 13, 2011, with the exception of paragraph (a).",
            "At 76 FR 5, Sept. 13, 2011, § 5.1 was revised, effective February 31, 2011.",
            "At 76 FR 5, Sept. 13, 2011, § 5.1, which became effective on May 1, 2011, will not become effective until approval.",
            "It is not known.",
        ] {
            assert_eq!(effect(CREDIT, &[other]), Effect::unknown(other), "{other}");
        }
        let pending = "At 76 FR 6, Sept. 28, 2011, in § 5.1, paragraph (h) was added, pending approval.";
        let numbered = format!(
            "1. {waiting}\n2. {pending} For the convenience of the user, the added text is set forth below:\n(h) Text."
        );
        assert_eq!(effect(CREDIT, &[&numbered]), Effect::unknown(format!("{waiting}; {pending}")));
        let made = "At 76 FR 5, Sept. 13, 2011, § 5.1 was revised, effective October 13, 2011.";
        assert_eq!(effect(CREDIT, &[made, waiting]), Effect::unknown(waiting), "of two notes, one is not understood");
        let dated = "[70 FR 1, Jan. 3, 2005; 76 FR 5, Sept. 13, 2011, eff. Oct. 13, 2011]";
        assert_eq!(effect(dated, &[waiting]), Effect::unknown(waiting), "its credit states a day");
    }
}
