//! Whether law is in force, from the publisher's reason or from words in place of a heading or text.

use hornbook_corpus::outline::Status;

use crate::import::remark::{REMARK_BYTES_MAX, named_status};
use crate::pattern::Pattern;

/// The status that a reason such as `Repealed` or `Transferred to COMAR 14.39.01` states; None if
/// it states no status.
pub(super) fn of_reason(reason: &str) -> Option<Status> {
    let reason = reason.to_ascii_lowercase();
    let words = [
        // Enacted but not funded, so that it has never applied.
        ("not fund", Status::Reserved),
        ("not applicable", Status::Reserved),
        // A section of a model code that a city did not enact.
        ("not adopted", Status::Reserved),
        ("informational", Status::Reserved),
        ("transferred", Status::Transferred),
        ("recodified", Status::Transferred),
        ("repealed", Status::Repealed),
        ("abolished", Status::Repealed),
        ("expired", Status::Expired),
        ("omitted", Status::Omitted),
        ("reserved", Status::Reserved),
        ("vacant", Status::Reserved),
        ("renumbered", Status::Renumbered),
    ];
    // The start of the reason decides, otherwise any word: `Chapter recodified from`, but `Repealed — See`.
    let starts = words.iter().find(|(word, _)| reason.trim_start().starts_with(word));
    let has = || {
        let mut tokens = reason.split(|c: char| !c.is_alphabetic());
        tokens.find_map(|token| words.iter().find(|(word, _)| *word == token))
    };
    let odd = || reason.starts_with("reserved parking");
    starts.or_else(has).filter(|_| !odd()).map(|(_, status)| *status)
}

/// The status of a section without a reason, whose heading may state that it is no longer law.
pub(super) fn of_heading(heading: &str, has_text: bool) -> Status {
    let starts = heading.trim_start_matches(|c: char| !c.is_alphabetic());
    let first = starts.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let whole = starts.trim_end_matches(|c: char| !c.is_alphabetic());
    let looked_at = if has_text { Some(first).filter(|first| first.len() == whole.len()) } else { Some(heading) };
    looked_at.and_then(of_reason).unwrap_or(Status::InForce)
}

/// The status of a section without a reason whose whole text is a sentence that states it, or the same one in each
/// paragraph: `Recodified as § 42-3131.03.`, `[Not funded].`
pub(super) fn of_text(text: &str) -> Option<Status> {
    let label = Pattern::fixed(r"^(?:\(\w{1,4}\) ?)+");
    let mut statuses = text.lines().map(|line| of_sentence(&label.replace(line, "")));
    let first = statuses.next()??;
    statuses.all(|status| status == Some(first)).then_some(first)
}

fn of_sentence(text: &str) -> Option<Status> {
    let bare = text.trim_matches(['[', ']', '(', ')', '.', ' ']);
    let is_sentence = bare.len() <= REMARK_BYTES_MAX && !bare.contains(';') && !bare.contains(". ");
    let by_word = || match of_heading(bare, true) {
        Status::InForce => None,
        status => Some(status),
    };
    let is_unused = || ["not funded", "placeholder"].iter().any(|word| bare.eq_ignore_ascii_case(word));
    let named = || by_word().or_else(|| is_unused().then_some(Status::Reserved)).or_else(|| named_status(bare));
    is_sentence.then(named)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_read_in_all_their_spellings() {
        let cases = [
            ("Repealed", Some(Status::Repealed)),
            ("Repealed — See COMAR 12.03.01", Some(Status::Repealed)),
            ("Transferred to COMAR 14.39.01", Some(Status::Transferred)),
            ("Chapter recodified from COMAR 09.04.01 to COMAR 09.03.02, April, 1998", Some(Status::Transferred)),
            ("Chapter repealed effective June 16, 1997", Some(Status::Repealed)),
            ("VACANT", Some(Status::Reserved)),
            ("Not Fundeded", Some(Status::Reserved)),
            ("Informational.  Not Adopted", Some(Status::Reserved)),
            ("As in IBC", None),
            // Its date is read as an effect.
            ("Applicable October 1, 2025", None),
            ("Expired", Some(Status::Expired)),
            ("Commissioner", None),
            ("Reserved Parking Spaces for Permanently Disabled Persons", None),
        ];
        for (reason, status) in cases {
            assert_eq!(of_reason(reason), status, "{reason}");
        }
    }

    #[test]
    fn a_heading_alone_can_say_that_a_section_is_dead() {
        assert_eq!(of_heading("Establishment. — Repealed", false), Status::Repealed);
        assert_eq!(of_heading("Repealed.", true), Status::Repealed);
        assert_eq!(of_heading("Repealed ordinances remain in effect.", true), Status::InForce);
        assert_eq!(of_heading("Fees.", false), Status::InForce);
    }

    #[test]
    fn a_text_of_one_sentence_can_say_that_a_section_is_dead() {
        for (text, status) in [
            ("Repealed.", Some(Status::Repealed)),
            ("[Expired].", Some(Status::Expired)),
            ("Recodified as § 42-3131.03.", Some(Status::Transferred)),
            ("[Not funded].", Some(Status::Reserved)),
            ("[placeholder]", Some(Status::Reserved)),
            ("Reserved for future codification.", Some(Status::Reserved)),
            ("(a) Not Funded.\n(b) Not Funded.", Some(Status::Reserved)),
            ("(a) Not Funded.\n(b) The Mayor shall keep it.", None),
            ("", None),
            ("Recodified records shall be kept.", None),
            ("Reserved for the Mayor; but not more.", None),
            ("Repealed by Law 1. The Mayor shall keep it.", None),
            ("Not funded posts are void.", None),
        ] {
            assert_eq!(of_text(text), status, "{text}");
        }
    }
}
