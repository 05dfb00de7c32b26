//! Reads the effective date that one paragraph of a note states, in the editors' words
//! (`Amendment by Pub. L. 112–29 effective ...`) or in those of a quoted law (`“The amendments made
//! by this section [amending this section] shall take effect on ...”`). Dates are already written
//! as `2021-01-01`. Every other form is only a note.

use jiff::Span;
use jiff::civil::Date;

use crate::pattern::Pattern;

/// A law, with some of its sections; without sections, the whole law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActPortion {
    pub(super) name: String,
    /// Sections such as `3(c)(1)`.
    pub(super) sections: Vec<String>,
}

/// What took effect, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// The section that the note belongs to.
    Section(String),
    /// The changes made by a law.
    Act(ActPortion, String),
}

impl Statement {
    pub(super) fn read(words: &str) -> Option<Self> {
        if words.starts_with("Pub. L. ") { Self::quoted(words) } else { Self::by_editors(words) }
    }

    fn by_editors(words: &str) -> Option<Self> {
        let (subject, after) = words.split_once(" effective ")?;
        let (date, tail) = date(after)?;
        // The text after the date must not contain exceptions or be about another amendment.
        let is_plain = PLAIN_TAILS.iter().any(|plain| match plain.strip_suffix('$') {
            Some(all) => tail == all,
            None => tail.starts_with(plain),
        });
        if !is_plain || has_exceptions(tail) || tail.to_lowercase().contains("amendment by ") {
            return None;
        }
        if subject == "Section" {
            return Some(Self::Section(date));
        }
        let law = subject.strip_prefix("Amendment by ")?;
        let (sections, name) = match law.strip_prefix("section ") {
            Some(law) => {
                let (named, name) = law.split_once(" of ")?;
                (list(named)?, name)
            }
            None => (Vec::new(), law),
        };
        is_name(name).then(|| Self::Act(ActPortion { name: name.to_owned(), sections }, date))
    }

    /// Reads `Pub. L. 112–29, § 6(h)(1)(B), 2011-09-16, 125 Stat. 312, provided that: “The
    /// amendment made by this paragraph [amending this section] shall take effect ...”`
    fn quoted(words: &str) -> Option<Self> {
        let form = Pattern::fixed(concat!(
            r"^(?P<law>Pub\. L\. [\w–]+), (?:[^§“\[]*, )?§ (?P<section>\d+\w*)(?P<first>\(\w+\))?(?P<second>\(\w+\))?[^“\[]*",
            r", provided that: “(?:The amendments? made by )?",
            r"(?:[Tt]his (?P<unit>Act|section|subsection|paragraph)|subsection (?P<other>\(\w\)))",
            r" \[[^\]]*(?:amending|enacting) this section[^\]]*\]",
            r"(?: and the amendments made by this Act)?,? (?:shall )?take effect ",
        ));
        let enactment = Pattern::fixed(r"the date of (?:the )?enactment of this Act \[(\d{4}-\d\d-\d\d)\]");
        let found = form.captures(words)?;
        let rest = enactment.replace(&words[found.get(0)?.end()..], "$1");
        let (date, tail) = date(&rest)?;
        let applies = tail.trim_start_matches(',').starts_with(" and shall apply ");
        if tail != ".”" && (!applies || has_exceptions(tail)) {
            return None;
        }
        // `this subsection` in § 6(h)(1) is § 6(h).
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let section = match part("unit") {
            "Act" => None,
            "section" => Some(part("section").to_owned()),
            "subsection" => Some([part("section"), part("first")].concat()),
            "paragraph" => Some([part("section"), part("first"), part("second")].concat()),
            _ => Some([part("section"), part("other")].concat()),
        };
        Some(Self::Act(ActPortion { name: found["law"].to_owned(), sections: section.into_iter().collect() }, date))
    }
}

/// Whether the words after a date make exceptions: `with certain exceptions`,
/// `except that— (1) ...`. A part of the section may then have another date. Words on the cases
/// that a wording governs do not change its date.
fn has_exceptions(tail: &str) -> bool {
    tail.contains("except")
}

/// Text that may follow the date. `$` is the end.
const PLAIN_TAILS: [&str; 11] = [
    "$",
    ".",
    ", see ",
    ", pursuant ",
    ", and applicable ",
    ", applicable ",
    ", subject to a savings provision, ",
    ", subject to transition provisions, ",
    ", with any cause of action ",
    ", with provision for the coordination of amendments ",
    ", but implementing regulations authorized to be issued earlier, ",
];

/// The day of `..., provided that the repeal of this section is effective on the date that is 5
/// years after 2022-12-23.`
pub(super) fn repeal(words: &str) -> Option<String> {
    let (_, day) = words.split_once("repeal of this section is effective ")?;
    date(day).filter(|(_, rest)| *rest == ".").map(|(day, _)| day)
}

/// Reads a date and returns the text after it: `on 2021-01-01`, `as of 2021-01-01`,
/// `90 days after 2020-12-23`, `on the date that is 1 year after 2020-12-23`, `upon the expiration
/// of the 18-month period beginning on 2020-12-23`.
fn date(words: &str) -> Option<(String, &str)> {
    let form = Pattern::fixed(concat!(
        r"^(?:(?:on |as of )?|(?:on the date that is )?(?P<after>\w+) (?P<unit>day|month|year)s? after ",
        r"|upon the expiration of the (?P<period>\w+)-(?P<of>day|month|year) period beginning (?:on )?)",
        r"(?P<date>\d{4}-\d\d-\d\d)",
    ));
    let found = form.captures(words)?;
    let day: Date = found["date"].parse().ok()?;
    let count = found.name("after").or_else(|| found.name("period"));
    let unit = found.name("unit").or_else(|| found.name("of"));
    let day = match count.zip(unit) {
        Some((count, unit)) => {
            let count = number(count.as_str())?;
            let span = Span::new();
            let span = match unit.as_str() {
                "day" => span.try_days(count),
                "month" => span.try_months(count),
                _ => span.try_years(count),
            };
            day.checked_add(span.ok()?).ok()?
        }
        None => day,
    };
    Some((day.to_string(), &words[found.get(0)?.end()..]))
}

fn number(words: &str) -> Option<i64> {
    const WORDS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];
    let by_word = WORDS.iter().position(|word| *word == words).map(|at| at as i64 + 1);
    by_word.or_else(|| words.parse().ok().filter(|count| (1..=3_660).contains(count)))
}

/// Whether a name has the form `Pub. L. 112–29`.
fn is_name(name: &str) -> bool {
    name.strip_prefix("Pub. L. ").is_some_and(|number| number.chars().all(|c| c.is_ascii_digit() || c == '–'))
}

/// The sections in `Pub. L. 117–328, div. W, § 107(a), (b)(1),`; empty if they are not a plain list.
pub(super) fn sections_in(mention: &str) -> Vec<String> {
    let Some((before, named)) = mention.split_once('§') else { return Vec::new() };
    if before.contains('[') {
        return Vec::new();
    }
    list(named.trim_start_matches('§').trim().trim_end_matches(',')).unwrap_or_default()
}

/// Expands `20(g), (j)` to `20(g)` and `20(j)`.
fn list(named: &str) -> Option<Vec<String>> {
    let mut sections: Vec<String> = Vec::new();
    for one in named.split(", ") {
        let base = sections.last().map(|last| last.split('(').next().unwrap_or_default());
        let section = if one.starts_with('(') { format!("{}{one}", base?) } else { one.to_owned() };
        let is_plain = section.starts_with(|c: char| c.is_ascii_digit())
            && section.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '(' | ')'));
        if !is_plain {
            return None;
        }
        sections.push(section);
    }
    Some(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_section(words: &str) -> Option<String> {
        match Statement::read(words)? {
            Statement::Section(date) => Some(date),
            Statement::Act(..) => None,
        }
    }

    fn of_act(words: &str) -> Option<(String, Vec<String>, String)> {
        match Statement::read(words)? {
            Statement::Section(_) => None,
            Statement::Act(act, date) => Some((act.name, act.sections, date)),
        }
    }

    #[test]
    fn editors_name_a_day_or_count_to_it() {
        for (words, expected) in [
            ("Section effective 1985-10-01", "1985-10-01"),
            ("Section effective as of 1985-10-01, see section 9 of this title.", "1985-10-01"),
            ("Section effective 120 days after 1999-12-12, see section 1.", "2000-04-10"),
            ("Section effective three months after 1999-11-30, and applicable to ships.", "2000-02-29"),
            ("Section effective on the date that is 1 year after 2012-12-18, applicable to ships.", "2013-12-18"),
            (
                "Section effective 2000-07-28, applicable to ships, and not effective with respect to earlier ones.",
                "2000-07-28",
            ),
            ("Section effective upon the expiration of the 18-month period beginning on 2011-09-16.", "2013-03-16"),
        ] {
            assert_eq!(of_section(words).as_deref(), Some(expected), "{words}");
        }
        let by_list = of_act("Amendment by section 20(g), (j) of Pub. L. 112–29 effective 2012-09-16, see section 1.");
        let sections = vec!["20(g)".to_owned(), "20(j)".to_owned()];
        assert_eq!(by_list, Some(("Pub. L. 112–29".into(), sections, "2012-09-16".into())));
    }

    #[test]
    fn partial_and_relative_dates_are_ignored() {
        for words in [
            "Section effective 1997-10-01, except that subsec. (a) of this section effective 1996-10-26, see section 1.",
            "Section effective 1997-10-01, except as otherwise provided, see section 4.",
            "Section effective 1997-10-01, and applicable to proceedings commenced on or after that effective date, with certain exceptions, see section 7(e).",
            "Section effective on the later of the date that is 1 year after 2012-12-18, or another date.",
            "Section effective upon the entry into force of the Convention (1970-12-29), see section 4.",
            "Section effective 90 fortnights after 1997-10-01",
            "Subsec. (c) of this section effective 1996-10-26, see section 471 of this title.",
            "Amendment by Pub. L. 9–9 effective 1997-10-01, see section 1, and amendment by section 2 of Pub. L. 9–9 effective 1998-01-01.",
            "Amendment by Pub. L. 9–9 effective as if included in Pub. L. 9–8, see section 1.",
            "Amendment by section 1 [title IV] of Pub. L. 9–9 effective 1997-10-01.",
            "Repeal effective 1997-10-01, see section 1.",
        ] {
            assert_eq!(Statement::read(words), None, "{words}");
        }
    }

    #[test]
    fn laws_are_quoted_with_what_they_amend() {
        let law = "Pub. L. 112–29, § 6(h)(1)(B), 2011-09-16, 125 Stat. 312, provided that: ";
        let quoted = |words: &str| of_act(&format!("{law}{words}")).map(|(_, sections, date)| (sections, date));
        let of_six = |date: &str| Some((vec!["6(h)(1)".to_owned()], date.to_owned()));
        let made = "“The amendment made by this paragraph [amending this section]";
        assert_eq!(quoted(&format!("{made} shall take effect on 2012-01-01.”")), of_six("2012-01-01"));
        let enactment = "the date of the enactment of this Act [2011-09-16]";
        assert_eq!(quoted(&format!("{made} shall take effect on {enactment}.”")), of_six("2011-09-16"));
        let later = format!(
            "{made} shall take effect upon the expiration of the 1-year period beginning on {enactment} and shall apply to ships.”"
        );
        assert_eq!(quoted(&later), of_six("2012-09-16"));
        let other = "“The amendments made by subsection (d) [enacting this section] take effect 2012-01-01.”";
        assert_eq!(quoted(other), Some((vec!["6(d)".to_owned()], "2012-01-01".to_owned())));
        let act = "“This Act [enacting this section] shall take effect 60 days after 2003-09-30.”";
        assert_eq!(quoted(act), Some((vec![], "2003-11-29".to_owned())));
        for words in [
            "“The amendment made by this paragraph [amending section 7 of this title] shall take effect on 2012-01-01.”",
            "“The amendment made by this paragraph [amending this section] shall apply on or after 2012-01-01.”",
            "“The amendment made by this paragraph [amending this section] shall take effect on 2012-01-01, or earlier.”",
            "“The amendment made by this paragraph [amending this section] shall take effect on 2012-01-01 and shall apply to ships, except that— “(1) paragraph (2) shall take effect on 2011-01-01.”",
        ] {
            assert_eq!(quoted(words), None, "{words}");
        }
    }

    #[test]
    fn source_credits_name_sections() {
        assert_eq!(sections_in("Pub. L. 112–29, §§ 20(j), 21(a), 25,"), ["20(j)", "21(a)", "25"]);
        assert_eq!(sections_in("Pub. L. 117–328, div. W, § 107(a), (b)(1),"), ["107(a)", "107(b)(1)"]);
        assert!(sections_in("Pub. L. 106–113, div. B, § 1000(a)(9) [title IV, § 4714],").is_empty());
        assert!(sections_in("Pub. L. 112–29, § 11(a)–(e),").is_empty());
        assert!(sections_in("Pub. L. 112–29,").is_empty());
    }
}
