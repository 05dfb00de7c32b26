//! What a source credit names: the acts that made and changed a provision, and their days.

use hornbook_corpus::day::Day;

use crate::words::tokens;

/// The acts that a source credit names: `(Pub. L. 94–553, title I, § 101, Oct. 19, 1976, 90 Stat. 2546; …)`.
pub(crate) fn acts(credit: &str) -> impl Iterator<Item = &str> {
    let is_edge = |letter: char| letter.is_whitespace() || matches!(letter, '(' | ')' | '[' | ']' | '.' | ',');
    credit.split(';').map(move |act| act.trim_matches(is_edge)).filter(|act| !act.is_empty())
}

/// The acts that only the newer of two source credits names. Without an older one it is not known which are new, so
/// none are.
pub(crate) fn acts_added<'c>(before: &str, now: &'c str) -> impl Iterator<Item = &'c str> {
    let key = |act: &str| -> Vec<u64> { tokens(act).map(|token| token.hash).collect() };
    let known: Option<Vec<Vec<u64>>> = (!before.trim().is_empty()).then(|| acts(before).map(key).collect());
    acts(now).filter(move |act| known.as_ref().is_some_and(|known| !known.contains(&key(act))))
}

/// Whether acts show that their provision is older than a day: one of them is of an earlier day, or the first one is an
/// amendment or gave the provision another number.
pub(crate) fn is_older_than<'a>(mut acts: impl Iterator<Item = &'a str>, day: Day) -> bool {
    let Some(first) = acts.next() else { return false };
    let lower = first.to_lowercase();
    let begins = |verb: &str| lower.trim_start_matches("as ").starts_with(verb);
    begins("amended") || begins("renumbered") || std::iter::once(first).chain(acts).any(|act| is_before(act, day))
}

/// Whether an act names a day, or a year, that is before a day: `Oct. 19, 1976`, `Chapter 98, 2012 General Session` or
/// `Added 1965, No. 175`. Numbers of sections and pages are none.
fn is_before(act: &str, day: Day) -> bool {
    let mut before = ("", "");
    act.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let [first, second] = [before.0, before.1].map(str::to_ascii_lowercase);
        before = (before.1, word);
        let Some(year) = word.parse::<u32>().ok().filter(|year| (1776..2200).contains(year)) else { return false };
        let month = MONTHS.iter().position(|month| first.starts_with(month));
        let of_month = second.parse::<u32>().ok().filter(|number| *number <= 31);
        if let (Some(month), Some(of_month)) = (month, of_month) {
            return year * 10_000 + (month as u32 + 1) * 100 + of_month < day.number();
        }
        let is_chapter = first == "chapter" && second.bytes().all(|digit| digit.is_ascii_digit());
        let has_verb = matches!(second.as_str(), "added" | "amended" | "enacted");
        (is_chapter || has_verb) && year < day.number() / 10_000
    })
}

/// Whether a citation names an earlier year: `Reorg. Plan No. I of 1939`.
pub(crate) fn is_of_earlier_year(citation: &str, day: Day) -> bool {
    let year = citation.rsplit_once(" of ").and_then(|(_, year)| year.parse::<u32>().ok());
    year.is_some_and(|year| (1776..day.number() / 10_000).contains(&year))
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credit_says_whether_its_provision_is_older() {
        for (credit, is_older) in [
            ("(Aug. 4, 1949, ch. 393, 63 Stat. 501, § 93; renumbered § 504, Pub. L. 115–282, Dec. 4, 2018.)", true),
            ("(Added Pub. L. 114–120, title II, Feb. 8, 2016, 130 Stat. 43, § 60.)", true),
            ("(Added Pub. L. 114–328, title II, Dec. 23, 2016, 130 Stat. 43.)", false),
            ("(Added Pub. L. 115–282, title I, § 105, Dec. 4, 2018, 132 Stat. 1950.)", false),
            ("(Pub. L. 117–286, §§ 1901, 1902, Dec. 27, 2022, 136 Stat. 4197.)", false),
            ("(As amended Apr. 2, 2024, eff. Dec. 1, 2024.)", true),
            ("Amended by Chapter 276, 2010 General Session", true),
            ("Enacted by Chapter 276, 2010 General Session", true),
            ("Enacted by Chapter 276, 2020 General Session", false),
            ("Renumbered and Amended by Chapter 295, 2020 General Session", true),
            ("Added 1965, No. 175, § 20.", true),
            ("Added 2021, No. 47, § 8; amended 2021, No. 105.", false),
            ("", false),
        ] {
            assert_eq!(is_older_than(acts(credit), "2016-09-14".parse().unwrap()), is_older, "{credit}");
        }
    }

    #[test]
    fn a_citation_can_name_its_year() {
        let day = "2016-09-14".parse().unwrap();
        assert!(is_of_earlier_year("Reorg. Plan No. I of 1939", day));
        assert!(!is_of_earlier_year("Act No. 4 of 2020", day) && !is_of_earlier_year("Code § 1939", day));
    }

    #[test]
    fn the_acts_that_a_credit_adds_are_those_of_the_change() {
        let added = |before: &str, now: &'static str| -> Vec<&str> { acts_added(before, now).collect() };
        let before = "(Pub. L. 94–553, Oct. 19, 1976, 90 Stat. 2546; Pub. L. 101–650, Dec. 1, 1990, 104 Stat. 5132.)";
        let now = "(Pub. L. 94-553, Oct. 19, 1976, 90 Stat. 2546; Pub. L. 101–650, Dec. 1, 1990, 104 Stat. 5132; \
                   Pub. L. 102–492, Oct. 24, 1992, 106 Stat. 3145.)";
        assert_eq!(added(before, now), ["Pub. L. 102–492, Oct. 24, 1992, 106 Stat. 3145"]);
        assert!(added("", now).is_empty(), "which of them are new is not known");
        assert!(added(now, now).is_empty());
    }
}
