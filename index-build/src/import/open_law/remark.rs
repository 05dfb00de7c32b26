//! Remarks of editors within a section, such as `*NOTE: This section was created by temporary
//! legislation that will expire on November 21, 2024.*` They are notes, and some state until when
//! the wording is law.
//!
//! The District of Columbia prints a section as temporarily amended. Its permanent wording is in a
//! separate file that names no date: it is law whenever no other wording is.

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::source::{child, name, words};
use crate::content::ContentNote;
use crate::effect::{self, Effect, date_in};
use crate::pattern::Pattern;

const BEGINS: &str = "*NOTE:";

/// Whether a part is a remark. Editors put remarks before the heading of a section, or begin them
/// with `*NOTE:`.
pub(super) fn is_remark(section: Node<'_, '_>, part: Node<'_, '_>) -> bool {
    let before_heading = || child(section, "heading").is_some_and(|heading| part.range().start < heading.range().start);
    name(part) == Some("text") && part.parent_element() == Some(section) && (before_heading() || is_note(part))
}

fn is_note(part: Node<'_, '_>) -> bool {
    // Most texts of a code are not remarks, so only the first words are checked.
    let first =
        part.descendants().find_map(|inner| inner.text().filter(|text| inner.is_text() && !text.trim().is_empty()));
    first.is_some_and(|text| text.trim_start().starts_with(BEGINS))
}

/// The effective time that the remarks in a section state for its wording.
pub(super) fn effect_of<'t, 'd: 't>(remarks: impl Iterator<Item = Node<'t, 'd>>) -> Effect {
    let mut effect = Effect::default();
    for remark in remarks.map(words) {
        let single = remark.split(BEGINS).map(|one| one.trim_matches(['*', ' '])).filter(|one| !one.is_empty());
        for one in single.filter_map(effect_of_one) {
            effect = effect.and(one);
        }
    }
    effect
}

/// None if a remark is about something else.
fn effect_of_one(remark: &str) -> Option<Effect> {
    const DATE: &str = r"([A-Z][a-z]+ \d{1,2}, \d{4})";
    let date = |pattern: &str| {
        let found = Pattern::fixed(&pattern.replace("DATE", DATE)).captures(remark)?;
        date_in(&found[1])
    };
    let until = |to: String, then: Status| {
        Some(Effect { to: Some(to), then: Some(then), remark: Some(remark.to_owned()), ..Effect::default() })
    };
    let whole = r"^This section (?:was created by (?:temporary|emergency) legislation that )?will expire on DATE\.$";
    if let Some(to) = date(whole) {
        return until(to, Status::Expired);
    }
    // If the permanent wording is printed, it states what the section is afterwards.
    let amended = r"^This section includes amendments by (?:temporary|emergency) legislation that will expire on DATE\.(?: To view .*)?$";
    let by_law = r"^The amendments to this section by section [^.]* of D\.C\. Law [\d-]+ shall expire 225 days after [^.]* [(\[]DATE[)\]]\.$";
    if let Some(to) = date(amended).or_else(|| date(by_law)) {
        return until(to, Status::Uncertain);
    }
    let is_about_days = ["expire", "applicable", "take effect"].iter().any(|word| remark.contains(word));
    is_about_days.then(|| Effect::unknown(remark))
}

/// The effect of law that will apply later, such as `Applicable October 1, 2025` or
/// `Applicable as of October 1, 2027`, or at an unknown time: `Section subject to abrogation`,
/// `Section effective on contingency`.
pub(super) fn effect_of_reason(reason: &str) -> Option<Effect> {
    if Pattern::fixed(r"(?i)\b(?:subject to abrogation|on contingency)\b").is_match(reason) {
        return Some(Effect::unknown(reason));
    }
    let found = Pattern::fixed(r"^Applicable (?:as of )?([A-Z][a-z]+ \d{1,2}, \d{4})\.?$").captures(reason)?;
    Some(Effect { from: Some(date_in(&found[1])?), remark: Some(reason.to_owned()), ..Effect::default() })
}

/// The effect stated in brackets above the law of a reorganization plan: `(Effective June 27, 1978)`.
pub(super) fn effect_of_text(text: &str) -> Effect {
    let line = text.lines().next().unwrap_or_default();
    let bare = |open, close| line.strip_prefix(open)?.strip_suffix(close);
    bare('(', ')').or_else(|| bare('[', ']')).and_then(effect::read).unwrap_or_default()
}

/// Reads `Section 5044 of D.C. Law 21-160 provided that this section shall expire on September 30,
/// 2017.` If acts state two days, the result is uncertain.
pub(super) fn effect_of_notes(notes: &[ContentNote]) -> Effect {
    let sentence = Pattern::fixed(
        r"(?m)^.*?\bprovid(?:ed|ing) that this section shall expire on ([A-Z][a-z]+ \d{1,2}, \d{4})\b.*$",
    );
    let about = notes.iter().filter(|note| matches!(note.topic.as_str(), "Expiration of Law" | "Editor's Notes"));
    let said = about.flat_map(|note| sentence.captures_iter(&note.text));
    let effects = said.map(|said| {
        let remark = said[0].trim();
        let to = date_in(&said[1]);
        match to {
            Some(to) => Effect {
                to: Some(to),
                then: Some(Status::Expired),
                remark: Some(remark.to_owned()),
                ..Effect::default()
            },
            None => Effect::unknown(remark),
        }
    });
    effects.fold(Effect::default(), Effect::and)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect_in(text: &str) -> Effect {
        let section = format!("<section><num>1</num><text>{text}</text><heading>A.</heading><text>B.</text></section>");
        let tree = roxmltree::Document::parse(&section).unwrap();
        let section = tree.root_element();
        effect_of(section.children().filter(|part| is_remark(section, *part)))
    }

    #[test]
    fn remarks_say_until_when_a_wording_is_law() {
        let days = |text: &str| {
            let effect = effect_in(text);
            (effect.to, effect.then, effect.uncertain)
        };
        let to = |day: &str| Some(day.to_owned());
        let created =
            "*NOTE: This section was created by temporary legislation that will expire on November 21, 2024.*";
        assert_eq!(days(created), (to("2024-11-21"), Some(Status::Expired), false));
        let amended = "*NOTE: This section includes amendments by emergency legislation that will expire on May 1, 2025. To \
                       view the text of this section after the expiration, click this link: Permanent Version.*";
        assert_eq!(days(amended), (to("2025-05-01"), Some(Status::Uncertain), false));
        let by_law = "*NOTE: The amendments to this section by section 30(f) of D.C. Law 25-175 shall expire 225 days after \
                      October 1, 2024 (May 14, 2025).*";
        assert_eq!(days(by_law), (to("2025-05-14"), Some(Status::Uncertain), false));
        // Between the two days, the text is neither this one nor the permanent one.
        let twice = format!("{amended} {}", amended.replace("May 1, 2025", "May 9, 2025"));
        assert_eq!(days(&twice), (None, None, true));
        assert_eq!(days(&format!("{amended} {amended}")), (to("2025-05-01"), Some(Status::Uncertain), false));
        let subchapter = "*NOTE: This subchapter, except for § 32-111.04, will expire on May 1, 2025.*";
        assert_eq!(days(subchapter), (None, None, true));
        let reason = effect_of_reason("Applicable as of October 1, 2027").and_then(|effect| effect.from);
        assert_eq!((reason, effect_of_reason("Not Applicable")), (to("2027-10-01"), None));
        for unknown in ["Section subject to abrogation", "Section effective on contingency"] {
            assert_eq!(effect_of_reason(unknown), Some(Effect::unknown(unknown)));
        }
        assert_eq!(effect_of_text("(Effective June 27, 1978)\nA.").from, to("1978-06-27"));
        assert!(effect_of_text("[Effective April 9, 1997; projected to expire November 20, 1997]").uncertain);
        assert_eq!(effect_of_text("(a) A.\n(Effective June 27, 1978)"), Effect::default());
        let note =
            |text: &str| ContentNote { topic: "Expiration of Law".into(), text: text.into(), ..ContentNote::default() };
        let expires = "Section 5044 of D.C. Law 21-160 provided that this section shall expire on September 30, 2017.";
        let effect = effect_of_notes(&[note(expires)]);
        assert_eq!(
            (effect.to, effect.then, effect.remark.as_deref()),
            (to("2017-09-30"), Some(Status::Expired), Some(expires))
        );
        assert!(effect_of_notes(&[note(expires), note(&expires.replace("2017", "2018"))]).uncertain);
        let other = "*NOTE: Section 3(c) of D.C. Law 25-173 attempted to amend subsection (b)(4) of this section.*";
        assert_eq!(effect_in(other), Effect::default());
    }
}
