//! Reads since when, or until when, a section has its present wording, if its source credit or an
//! effective date note states it in a regular form. Notes that wait for an approval, or that
//! exclude some paragraphs, give no date.
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
    if let Some(found) = by_credit.captures(credit) {
        return Effect::starting(date_in(&found[1]));
    }
    let mut notes = text.notes.iter().filter(|note| note.topic.starts_with("Effective Date Note"));
    let (Some(note), None) = (notes.next(), notes.next()) else { return Effect::default() };
    let by_note = Pattern::fixed(concat!(
        r"^At (?P<page>\d+ FR \d+), [A-Za-z]+\.? \d{1,2}, \d{4}, § ?(?P<section>[\w.-]+) was (?:added|revised|amended by )[^.§]*",
        r", effective (?P<date>[A-Za-z]+\.? \d{1,2}, \d{4})\.(?P<more> For the convenience of the user, the .{1,40} is set forth as follows:)?$",
    ));
    let first = note.text.lines().next().unwrap_or_default();
    let Some(found) = by_note.captures(first).filter(|found| &found["section"] == number) else {
        return Effect::default();
    };
    let page = format!("{},", &found["page"]);
    // An amendment such as `as amended at 76 FR 5, Sept. 13, 2011` is a separate entry.
    let last = credit.rsplit([';', '[']).next().and_then(|entry| entry.rsplit(" at ").next()).unwrap_or_default();
    let date = date_in(&found["date"]);
    match found.name("more") {
        // The section has the old text, and the note contains the new one.
        Some(_) if !credit.contains(&page) => {
            let then = Some(Status::Uncertain).filter(|_| text.future_wording.is_none());
            Effect { to: date, then, ..Effect::default() }
        }
        None if last.trim_start().starts_with(&page) => Effect::starting(date),
        _ => Effect::default(),
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

    fn effect(credit: &str, note: &str) -> (Option<String>, Option<String>) {
        let note = ContentNote { topic: "Effective Date Note".into(), text: note.into(), ..ContentNote::default() };
        let text = CfrText { credit: Some(credit.into()), notes: vec![note], ..CfrText::default() };
        let effect = effect_of("5.1", &text);
        (effect.from, effect.to)
    }

    #[test]
    fn the_regular_forms_have_a_date_and_no_others() {
        let credit = "[70 FR 1, Jan. 3, 2005, as amended at 76 FR 5, Sept. 13, 2011]";
        let day = || Some("2011-10-13".to_owned());
        let dated = "[70 FR 1, Jan. 3, 2005; 76 FR 5, Sept. 13, 2011, eff. Oct. 13, 2011]";
        assert_eq!(effect(dated, ""), (day(), None));
        let made = "At 76 FR 5, Sept. 13, 2011, § 5.1 was revised, effective October 13, 2011.";
        assert_eq!(effect(credit, made), (day(), None));
        // The section was amended again later.
        assert_eq!(effect("[76 FR 5, Sept. 13, 2011, as amended at 77 FR 1, May 1, 2012]", made), (None, None));
        let coming = "At 77 FR 7, Sept. 13, 2011, § 5.1 was amended by revising paragraph (c), effective Oct. 13, 2011. \
                      For the convenience of the user, the revised text is set forth as follows:\n(c) New.";
        assert_eq!(effect(credit, coming), (None, day()));
        for other in [
            "At 76 FR 5, Sept. 13, 2011, § 5.2 was revised, effective October 13, 2011.",
            "At 76 FR 5, Sept. 13, 2011, § 5.1 was revised, effective October 13, 2011, with the exception of paragraph (a).",
            "At 76 FR 5, Sept. 13, 2011, § 5.1 was revised. It will not become effective until approval has been given.",
        ] {
            assert_eq!(effect(credit, other), (None, None), "{other}");
        }
    }
}
