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

/// Words that state a status. Of two that begin alike, the longer one comes first.
const STATUS_WORDS: [(&str, Status); 31] = [
    ("amended, renumbered and transferred", Status::Renumbered),
    ("amended and renumbered", Status::Renumbered),
    ("amended and reenacted", Status::Renumbered),
    ("reenacted as", Status::Renumbered),
    ("repealed and renumbered", Status::Renumbered),
    ("renumbered and repealed", Status::Renumbered),
    ("renumbered", Status::Renumbered),
    ("recompiled", Status::Renumbered),
    ("redesignated", Status::Renumbered),
    ("transferred", Status::Transferred),
    ("recodified", Status::Transferred),
    ("repealed", Status::Repealed),
    ("deleted", Status::Repealed),
    ("superseded", Status::Repealed),
    ("revoked", Status::Repealed),
    ("rescinded", Status::Repealed),
    ("expired", Status::Expired),
    ("expires by its own terms", Status::Expired),
    ("terminated", Status::Expired),
    ("executed", Status::Expired),
    ("reserved", Status::Reserved),
    // It was never law.
    ("vetoed", Status::Reserved),
    ("rejected", Status::Reserved),
    ("defeated at referendum", Status::Reserved),
    ("disapproved by r", Status::Reserved),
    // Enacted, but not law.
    ("not effective.", Status::Reserved),
    ("not in effect.", Status::Reserved),
    ("omitted", Status::Omitted),
    // It is still there, but nobody prints it.
    ("obsolete", Status::Omitted),
    ("unconstitutional", Status::Omitted),
    ("not set out.", Status::Omitted),
];

/// The status that a text begins with, its word, and the words behind it.
fn leading_status(text: &str) -> Option<(Status, &'static str, &str)> {
    let behind = |word: &str| text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
    let (word, status) = STATUS_WORDS.iter().find(|(word, _)| behind(word).is_some())?;
    Some((*status, word, &text[word.len()..]))
}

/// The status of a heading that consists only of a status and its cause:
/// `[Amended and Renumbered.]`, `Repealed by Acts 1995.` The text under it is a remark, however
/// long it is. But `Reserved name.` is the heading of law.
pub(crate) fn whole_status(heading: &str) -> Option<Status> {
    let (status, _, rest) = leading_status(heading.trim_start_matches(['(', '[']))?;
    let is_whole = rest.trim_end_matches(['.', ']', ')', ' ']).is_empty();
    let rest = rest.to_ascii_lowercase();
    let goes_on = [". ", " by ", ", by ", " for future use"].iter().any(|start| rest.starts_with(start));
    (is_whole || goes_on).then_some(status)
}

/// The status that a heading or text begins with.
pub(crate) fn named_status(text: &str) -> Option<Status> {
    let bare = text.trim_start_matches(|c: char| !c.is_alphabetic());
    let (status, word, after) = leading_status(bare)?;
    // `REPEALED Finance Committee`
    let next = after.split_whitespace().next().unwrap_or_default();
    let stands_out = !bare[..word.len()].contains(char::is_lowercase) && next.contains(char::is_lowercase);
    (stands_out || is_status_word(word, after)).then_some(status)
}

/// Whether a word states a status, judged by the words after it: `Reserved for future use`, but not
/// `Reserved seats are sold first`; `Repealed acts 1985, ch. 2`, but not `Repealed acts not revived`. A provision that came
/// from another number is law here.
fn is_status_word(word: &str, after: &str) -> bool {
    const LEADS: [&str; 19] = [
        "",
        "as",
        "at",
        "because",
        "by",
        "eff",
        "effective",
        "for",
        "in",
        "on",
        "pub",
        "pursuant",
        "see",
        "through",
        "to",
        "under",
        "upon",
        "with",
        "without",
    ];
    // A number follows them.
    const ACTS: [&str; 10] = ["act", "acts", "ch", "chapter", "l", "laws", "sec", "section", "sections", "stats"];
    if word.ends_with('.') || !after.starts_with(|c: char| c.is_whitespace() || c.is_alphanumeric()) {
        return true;
    }
    let mut words = after.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.next().unwrap_or_default();
    let next = first.to_ascii_lowercase();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    // `Renumbered KRS 26A.300.`
    let is_code =
        || first.len() > 1 && first.chars().all(char::is_uppercase) && words.clone().next().is_some_and(is_number);
    let date = Pattern::fixed(r"^(?:\d|§|(?:jan|febr)uary|march|april|june|july|august|sept|oct|nov|dec)");
    let is_status = |word: &str| {
        STATUS_WORDS
            .iter()
            .any(|(words, _)| words.split(' ').next().is_some_and(|first| first.eq_ignore_ascii_case(word)))
    };
    match next.as_str() {
        "and" | "or" => words.next().is_some_and(is_status),
        "from" => !["transferred", "recodified", "renumbered", "recompiled", "redesignated", "amended and renumbered"]
            .contains(&word),
        next if ACTS.contains(&next) => words.next().is_none_or(is_number),
        next => LEADS.contains(&next) || date.is_match(next) || is_code(),
    }
}

/// The number that a section with the number `own` has now, if a remark names exactly one of the same form:
/// `Renumbered as § 5-9-101 by Laws 2000`, `Transferred to Chapter 14, Sec. 1-212.`
pub(crate) fn moved_to<'r>(own: &str, remark: &'r str) -> Option<&'r str> {
    let form = Pattern::fixed(concat!(
        r"(?i)\b(?:renumbered|recodified|transferred|recompiled|redesignated|reenacted)(?: and (?:re)?\w+)? (?:as|at|to)",
        r" (?:chapter \d+\w*, )?(?:(?:AS|KRS|RCW|SDCL|N\.?D\.?C\.?C\.?|G\.S\.|W\.S\.|O\.C\.G\.A\.|Wyo\. Stat\.|\w+ Code)",
        r"(?: Ann\.)?,? ?)?(?:§+ ?|sections? |secs?\. ?)?(\d\w*(?:[.:-]\w+)*)(?P<behind>.{0,12})",
    ));
    let goes_on = Pattern::fixed(r"^(?:,? ?(?:to|through|and|or|-|–|—) ?|, ?)(?:§+ ?)?\d");
    let found = form.captures(remark)?;
    let number = found.get(1)?.as_str();
    // A number may be inserted behind a further point.
    let form_of = |number: &str| {
        let separators: String = number.chars().filter(|c| matches!(c, '-' | '.' | ':')).collect();
        (separators.chars().next(), separators.trim_end_matches('.').to_owned())
    };
    let is_alike = form_of(number) == form_of(own);
    (is_alike && number != own && !goes_on.is_match(&found["behind"])).then_some(number)
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
    fn a_remark_may_name_the_present_number() {
        for (own, remark, now) in [
            ("5-4-201", "Amended and renumbered as § 5-9-101 by Laws 2000, ch. 2.", Some("5-9-101")),
            ("1-19", "Transferred to Chapter 14, Sec. 1-212.", Some("1-212")),
            ("452.500", "Offenses. [Reenacted as KRS 452.510.]", Some("452.510")),
            ("03.05.1", "[Renumbered as AS 03.90.010.]", Some("03.90.010")),
            ("127A-12", "Recodified as G.S. § 127A-190, effective November 18, 2021.", Some("127A-190")),
            ("1-301", "Recodified at § 8-2221.33.", Some("8-2221.33")),
            ("141-1", "Renumbered as §§141-14 and 141-15.", None),
            ("1-100", "Recodified as §§ 1-101 to 1-103.", None),
            ("1-19", "Transferred to the Agency by P.A. 77-614.", None),
            ("12", "Renumbered from § 11.", None),
            ("452.500", "Renumbered as Article 7.", None),
        ] {
            assert_eq!(moved_to(own, remark), now, "{remark}");
        }
    }

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
            ("Revoked and rescinded by Executive Order 3-46.", Status::Repealed),
            ("Rescinded by Executive Order No. 3-33, dated July 17, 1996.", Status::Repealed),
            ("Expires by its own terms, effective October 1, 2010.", Status::Expired),
            ("Not set out.", Status::Omitted),
            ("Repealed acts 1985, ch. 2", Status::Repealed),
            ("Renumbered KRS 26A.300.", Status::Renumbered),
            ("Executed.", Status::Expired),
            ("Transferred or Repealed", Status::Transferred),
            ("Executed, §§ 1, 2.", Status::Expired),
            ("REPEALED Finance Committee", Status::Repealed),
            ("Rejected by special referendum election.", Status::Reserved),
            ("Rejected.", Status::Reserved),
            ("Unconstitutional", Status::Omitted),
        ];
        for (text, status) in statuses {
            assert_eq!(named_status(text), Some(status), "{text}");
        }
        for law in [
            "Reserved seats are sold first.",
            "Superseded plans are kept.",
            "Revoked licenses shall be returned.",
            "Terminated employees are paid.",
            "Repealed acts not revived.",
            "Transferred intent.",
            "TRANSFERRED PRISONER SUBJECT TO SENTENCE. (1) A prisoner",
            "Unconstitutional acts are void.",
            "Executed contracts are kept.",
            "Executed or executory consideration, effect.",
            "Rejected bids shall be returned.",
            "Deleted records shall be kept.",
            "Renumbered from 1-2.",
            "Amended",
        ] {
            assert_eq!(named_status(law), None, "{law}");
        }
    }
}
