//! Words that state the status of a provision, if a source has no field for it:
//! `Repealed by Acts 1995`, `[Reserved]`.

use hornbook_corpus::outline::Status;

use crate::pattern::Pattern;

/// A longer text is law, whatever its first words are.
pub(crate) const REMARK_BYTES_MAX: usize = 300;

/// The status at the start of a heading, or in brackets at its end: `Dogs. [Repealed, § 2 ch 1 SLA 1963.]`
pub(crate) fn heading_status(heading: &str) -> Option<Status> {
    let bare = heading.trim_end().trim_end_matches('.');
    let square = || bare.strip_suffix(']')?.rsplit_once('[');
    let bracketed = || square().or_else(|| bare.strip_suffix(')')?.rsplit_once('('));
    // Something repealed on a stated day may still be law.
    let is_planned =
        |remark: &str| remark.get(..18).is_some_and(|start| start.eq_ignore_ascii_case("repealed effective"));
    let remark = || bracketed().map(|(_, remark)| remark.trim()).filter(|remark| !is_planned(remark));
    named_status(heading).or_else(|| named_status(remark()?))
}

/// The status of a heading that consists only of a status and its cause:
/// `[Amended and Renumbered.]`, `Repealed by Acts 1995.` The text under it is a remark, however
/// long it is. But `Reserved name.` is the heading of law.
pub(crate) fn whole_status(heading: &str) -> Option<Status> {
    const WORDS: [(&str, Status); 21] = [
        ("amended, renumbered and transferred", Status::Renumbered),
        ("superseded", Status::Repealed),
        ("rejected at referendum", Status::Reserved),
        ("repealed and renumbered", Status::Renumbered),
        ("renumbered and repealed", Status::Renumbered),
        ("amended and renumbered", Status::Renumbered),
        ("amended and reenacted", Status::Renumbered),
        ("reenacted as", Status::Renumbered),
        ("repealed", Status::Repealed),
        ("deleted", Status::Repealed),
        ("renumbered", Status::Renumbered),
        ("recompiled", Status::Renumbered),
        ("redesignated", Status::Renumbered),
        ("reserved", Status::Reserved),
        // It is still there, but nobody prints it.
        ("obsolete", Status::Omitted),
        // It was never law.
        ("vetoed", Status::Reserved),
        ("omitted", Status::Omitted),
        ("transferred", Status::Transferred),
        ("recodified", Status::Transferred),
        ("expired", Status::Expired),
        ("terminated", Status::Expired),
    ];
    let bare = heading.trim_start_matches(['(', '[']).to_ascii_lowercase();
    let behind = |word: &str| bare.strip_prefix(word);
    let (rest, status) = WORDS.iter().find_map(|(word, status)| Some((behind(word)?, *status)))?;
    let is_whole = rest.trim_end_matches(['.', ']', ')', ' ']).is_empty();
    let goes_on = [". ", " by ", ", by ", " for future use"].iter().any(|start| rest.starts_with(start));
    (is_whole || goes_on).then_some(status)
}

/// The status that a heading or text begins with.
pub(crate) fn named_status(text: &str) -> Option<Status> {
    const WORDS: [(&str, Status); 19] = [
        ("superseded", Status::Repealed),
        ("rejected at referendum", Status::Reserved),
        ("disapproved by r", Status::Reserved),
        ("amended and reenacted", Status::Renumbered),
        ("reenacted as", Status::Renumbered),
        ("repealed", Status::Repealed),
        ("deleted", Status::Repealed),
        ("reserved", Status::Reserved),
        ("omitted", Status::Omitted),
        ("transferred", Status::Transferred),
        ("recodified", Status::Transferred),
        ("renumbered", Status::Renumbered),
        ("recompiled", Status::Renumbered),
        ("redesignated", Status::Renumbered),
        ("amended and renumbered", Status::Renumbered),
        ("expired", Status::Expired),
        // Enacted, but not law.
        ("not effective.", Status::Reserved),
        ("not in effect.", Status::Reserved),
        ("defeated at referendum", Status::Reserved),
    ];
    let bare = text.trim_start_matches(|c: char| !c.is_alphabetic());
    let begins = |word: &str| bare.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let (word, status) = WORDS.into_iter().find(|(word, _)| begins(word))?;
    is_status_word(word, &bare[word.len()..]).then_some(status)
}

/// Whether a word states a status, judged by the words after it: `Reserved for future use`, but not
/// `Reserved seats are sold first`. A provision that was transferred from another number is law
/// here.
fn is_status_word(word: &str, after: &str) -> bool {
    let next = after.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let next = next.trim_matches(|c: char| !c.is_alphanumeric());
    match word {
        "transferred" | "recodified" | "renumbered" | "recompiled" | "redesignated" | "amended and renumbered" => {
            next != "from"
        }
        "reserved" | "deleted" | "omitted" | "expired" | "superseded" => {
            const LEADS: [&str; 22] = [
                "",
                "by",
                "in",
                "on",
                "for",
                "from",
                "to",
                "as",
                "and",
                "under",
                "effective",
                "eff",
                "pursuant",
                "see",
                "section",
                "sections",
                "sec",
                "chapter",
                "laws",
                "acts",
                "stats",
                "without",
            ];
            let ends = !after.starts_with(|c: char| c.is_whitespace() || c.is_alphanumeric());
            let date = Pattern::fixed(r"^(?:\d|(?:jan|febr)uary|march|april|june|july|august|sept|oct|nov|dec)");
            ends || LEADS.contains(&next) || date.is_match(next)
        }
        _ => true,
    }
}

/// The status that a source credit states, if there is no text: `[Repealed, § 15 ch 24 SLA 2019.]`,
/// `Ga. L. 2001, p. 310, § 1; repealed by Ga. L. 2019, p. 919, § 2-1`.
pub(crate) fn status_in_credit(credit: &str) -> Option<Status> {
    let last = credit.rsplit(';').next().unwrap_or_default();
    named_status(credit).or_else(|| named_status(last.trim_start().trim_start_matches("and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credit_may_state_that_there_is_no_law_left() {
        for (credit, status) in [
            ("[Repealed, § 15 ch 24 SLA 2019.]", Some(Status::Repealed)),
            ("[Renumbered as AS 44.33.690.]", Some(Status::Renumbered)),
            ("[§ 2 ch 131 SLA 1980; am § 1 ch 37 SLA 1986; Repealed, § 164 ch 8 SLA 2022.]", Some(Status::Repealed)),
            (
                "Code 1981, § 2-18-1, enacted by Ga. L. 1999, p. 721, § 1; repealed by Ga. L. 2019, p. 919, § 2-1/HB 553",
                Some(Status::Repealed),
            ),
            ("Ga. L. 1999, p. 721; repealed by Ga. L. 2001, p. 3, § 1; reenacted by Ga. L. 2003, p. 2, § 1", None),
            ("(§ 1 ch 1 SLA 1963)", None),
        ] {
            assert_eq!(status_in_credit(credit), status, "{credit}");
        }
    }

    #[test]
    fn headings_that_are_a_status_are_told_from_headings_of_law() {
        assert_eq!(whole_status("[Amended and Renumbered.]"), Some(Status::Renumbered));
        assert_eq!(whole_status("Repealed. 2021, No. 49, § 2."), Some(Status::Repealed));
        assert_eq!(whole_status("Repealed by Acts 1995."), Some(Status::Repealed));
        assert_eq!(whole_status("[Reserved for future use.]"), Some(Status::Reserved));
        assert_eq!(whole_status("[Deleted.]"), Some(Status::Repealed));
        assert_eq!(whole_status("[Terminated.]"), Some(Status::Expired));
        assert_eq!(whole_status("[Amended and Reenacted.]"), Some(Status::Renumbered));
        assert_eq!(whole_status("[Obsolete.]"), Some(Status::Omitted));
        assert_eq!(whole_status("[Superseded.]"), Some(Status::Repealed));
        assert_eq!(whole_status("[Amended, renumbered and transferred.]"), Some(Status::Renumbered));
        assert_eq!(heading_status("Dogs. [Rejected at Referendum.]"), Some(Status::Reserved));
        assert_eq!(heading_status("Death in another. [Reenacted as KRS 452.560.]"), Some(Status::Renumbered));
        assert_eq!(whole_status("Reserved name."), None);
        assert_eq!(whole_status("Omitted parties; definitions."), None);
        assert_eq!(whole_status("[Repealed effective July 1, 2030.] Signs."), None);
    }

    #[test]
    fn headings_name_their_status_at_the_start_or_in_brackets_at_the_end() {
        assert_eq!(heading_status("Repealed by Acts 1995."), Some(Status::Repealed));
        assert_eq!(heading_status("Dogs. [Repealed, § 2 ch 1 SLA 1963.]"), Some(Status::Repealed));
        assert_eq!(heading_status("Cats [Renumbered as AS 01.05.2.]."), Some(Status::Renumbered));
        assert_eq!(heading_status("Hens. [Repealed]  "), Some(Status::Repealed));
        assert_eq!(heading_status("Hens. [Repealed effective July 1, 2030.]"), None);
        assert_eq!(heading_status("The [repealed] act"), None);
        assert_eq!(heading_status("Effect of repeal. [See note.]"), None);
        assert_eq!(heading_status("§]"), None);
        assert_eq!(heading_status("[Amended and Renumbered.]"), Some(Status::Renumbered));
        assert_eq!(heading_status("Cats (Repealed)"), Some(Status::Repealed));
        assert_eq!(heading_status("Cats [Transferred from § 12]"), None);
    }

    #[test]
    fn a_status_is_a_remark_and_no_word_of_the_law() {
        let statuses = [
            ("Reserved", Status::Reserved),
            ("[Reserved]", Status::Reserved),
            ("Reserved for future use.", Status::Reserved),
            ("Deleted.", Status::Repealed),
            ("Deleted by Laws 1985, ch. 12.", Status::Repealed),
            ("Omitted, 2016.", Status::Omitted),
            ("Expired June 30, 2016", Status::Expired),
            ("Superseded by section 12.1-20-03.", Status::Repealed),
            ("Disapproved by R.M. June 14, 2016", Status::Reserved),
        ];
        for (text, status) in statuses {
            assert_eq!(named_status(text), Some(status), "{text}");
        }
        for law in [
            "Reserved seats are sold first.",
            "Superseded plans are kept.",
            "Deleted records shall be kept.",
            "Renumbered from 1-2.",
            "Amended",
        ] {
            assert_eq!(named_status(law), None, "{law}");
        }
    }
}
