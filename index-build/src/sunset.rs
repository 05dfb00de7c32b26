//! Sentences of the law that end the law: `This section is repealed effective June 30, 2025.`

use hornbook_corpus::outline::Status;

use crate::effect::{DATE, Effect, date_in, day_after};
use crate::pattern::Pattern;
use crate::values::is_date;

/// Matches what may come before the sentence in its paragraph: a label and a heading.
const LEAD: &str = r"^(?:\(?\w{1,4}[.)] ?)?(?:[A-Z][A-Za-z ]{2,40}\.[—– -]+)?";

/// A part may end in its last sentence.
const LEAD_OF_PART: &str = r"(?:^|\. )(?:\(?\w{1,4}[.)] ?)?";

/// Until when a section is law, if a sentence of its own text states it. If a part of it ends, it is uncertain from that
/// day on.
pub(crate) fn sunset(text: &str) -> Effect {
    if let Some((_, effect)) = endings(text, "section", LEAD).into_iter().next() {
        return effect;
    }
    let parts = endings(text, "subsection|subdivision|paragraph|subparagraph|clause", LEAD_OF_PART);
    let first =
        parts.into_iter().map(|(_, effect)| effect).chain(endings_of_named_parts(text)).min_by(|a, b| a.to.cmp(&b.to));
    let Some(effect) = first else { return Effect::default() };
    Effect { then: effect.then.and(Some(Status::Uncertain)), ..effect }
}

/// `Subsections (b) through (e) of this section are repealed effective December 31, 2026.`
fn endings_of_named_parts(text: &str) -> Vec<Effect> {
    if !text.contains("of this section ") {
        return Vec::new();
    }
    let sentence = Pattern::fixed(&format!(
        r"(?m){LEAD_OF_PART}(?P<sentence>(?:Subsection|Subdivision|Paragraph)s? \([^.;]{{1,40}} of this section (?:(?P<repealed>(?:is|are|shall be) repealed)|(?:shall )?expires?)(?: on| as of|,? effective)? (?P<day>{DATE}))[.;]$"
    ));
    sentence.captures_iter(text).map(|found| effect_of(&found)).collect()
}

/// The end of everything in a container, as a provision in it states: `This chapter shall expire on July 1, 2024.`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContainerSunset {
    /// The level of the container, such as `chapter`.
    pub level: String,
    pub effect: Effect,
}

impl ContainerSunset {
    pub(crate) fn in_text(text: &str) -> Option<Self> {
        let levels = "title|subtitle|chapter|subchapter|article|part|subpart|division";
        let (level, effect) = endings(text, levels, LEAD).into_iter().next()?;
        Some(Self { level, effect })
    }
}

/// The sentences at the end of a paragraph that end one of these kinds of law, with the kind. Conditions do not match:
/// they are law that a reader has to apply. With exceptions, it is uncertain what ends.
fn endings(text: &str, kinds: &str, lead: &str) -> Vec<(String, Effect)> {
    // One fast pass; nearly all texts end here.
    if !Pattern::fixed("expire|repealed|terminate|sunset|cease to be|remain in effect").is_match(text) {
        return Vec::new();
    }
    let sentence = Pattern::fixed(&format!(
        r"(?m){lead}(?P<sentence>(?P<except>Except as [^,.;]{{5,60}}, t|T)his (?P<kind>{kinds}) (?:{})(?: on| as of|,? effective|,? effective on)? (?:(?P<years>\d{{1,2}}) years (?:from|after) )?(?P<day>{DATE})(?:, when it shall [^.]*)?)[.;]$",
        [
            r"(?:is|shall be) (?:automatically )?(?P<repealed>repealed)",
            r"(?:shall |will )?(?:automatically )?(?:expires?|terminates?|sunsets?)",
            r"shall cease to be effective(?: (?P<after>after))?",
            r"shall remain in effect until",
        ]
        .join("|")
    ));
    sentence.captures_iter(text).map(|found| (found["kind"].to_owned(), effect_of(&found))).collect()
}

fn effect_of(found: &regex::Captures<'_>) -> Effect {
    let date = date_in(&found["day"]);
    let date = match found.name("years").and_then(|years| years.as_str().parse().ok()) {
        Some(years) => date.and_then(|date| years_after(&date, years)),
        None => date,
    };
    let to = if found.name("after").is_some() { date.as_deref().and_then(day_after) } else { date };
    let Some(to) = to else {
        return Effect::unknown(&found["sentence"]);
    };
    let then = match found.name("repealed") {
        // What is excepted follows in other sentences.
        _ if found.name("except").is_some_and(|words| words.len() > 1) => Status::Uncertain,
        Some(_) => Status::Repealed,
        None => Status::Expired,
    };
    Effect { to: Some(to), then: Some(then), remark: Some(found["sentence"].to_owned()), ..Effect::default() }
}

/// The same day so many years later, unless it is February 29 and that year has none.
fn years_after(date: &str, years: u32) -> Option<String> {
    let (year, rest) = date.split_once('-')?;
    let later = format!("{:04}-{rest}", year.parse::<u32>().ok()? + years);
    is_date(&later).then_some(later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sunset_sentence_gives_the_last_day() {
        for (text, to, then) in [
            ("(a) One.\n(g) This section is repealed effective June 30, 2025.", "2025-06-30", Status::Repealed),
            ("(5) This section is repealed, effective September 1, 2025.", "2025-09-01", Status::Repealed),
            ("(2) This section is repealed January 1, 2017.", "2017-01-01", Status::Repealed),
            ("C. This section shall expire on July 1, 2023.", "2023-07-01", Status::Expired),
            ("(3)This section expires July 1, 2029.", "2029-07-01", Status::Expired),
            ("(g) This section shall sunset as of December 31, 2023.", "2023-12-31", Status::Expired),
            ("(f) Termination.—This section shall terminate on September 30, 2026.", "2026-09-30", Status::Expired),
            ("(h) This section shall cease to be effective after December 31, 2027.", "2028-01-01", Status::Expired),
            ("This section shall expire 3 years from June 19, 2012.", "2015-06-19", Status::Expired),
            ("(a) One.\n(e) This subsection is repealed effective July 1, 2020.", "2020-07-01", Status::Uncertain),
            (
                "(f) Subsections (b) through (e) of this section are repealed effective December 31, 2026.",
                "2026-12-31",
                Status::Uncertain,
            ),
            ("(C) Sales. This subparagraph is repealed effective July 1, 2021;", "2021-07-01", Status::Uncertain),
        ] {
            let found = sunset(text);
            assert_eq!((found.to.as_deref(), found.then), (Some(to), Some(then)), "{text}");
        }
        assert!(sunset("This section expires February 31, 2029.").uncertain);
        for law in [
            "This section is repealed effective June 30, 2025, unless it is extended.",
            "The permit under this section shall expire on July 1, 2023.",
            "This section shall expire upon the effective date of final regulations.",
            "This section shall expire 3 years after it takes effect.",
            "It provides: “This section expires July 1, 2029.”",
            "This chapter is repealed effective June 30, 2025.",
            "(a) One.\n(b) Two, or three. This section is repealed effective June 30, 2025.",
        ] {
            assert_eq!(sunset(law), Effect::default(), "{law}");
        }
    }

    #[test]
    fn a_sunset_sentence_may_end_a_container() {
        let until = "This chapter shall remain in effect until July 1, 2016, when it shall terminate and be of no further force.";
        let except =
            "(a) Except as provided in subsection (b) of this section, this subchapter shall expire on June 30, 2023.";
        assert_eq!(ContainerSunset::in_text(except).unwrap().effect.then, Some(Status::Uncertain));
        for (text, level, to) in [
            ("This subchapter shall expire on September 30, 2014.", "subchapter", "2014-09-30"),
            ("(b) This chapter is repealed effective July 1, 2023.", "chapter", "2023-07-01"),
            (until, "chapter", "2016-07-01"),
        ] {
            let found = ContainerSunset::in_text(text).unwrap();
            assert_eq!((found.level.as_str(), found.effect.to.as_deref()), (level, Some(to)), "{text}");
        }
        for law in [
            "This subchapter shall expire on September 30, 2001, if the Bonds are not sold.",
            "This subtitle shall automatically expire on the 181st day after its effective date.",
            "This section shall expire on July 1, 2023.",
            "This act expires June 30, 2016.",
        ] {
            assert_eq!(ContainerSunset::in_text(law), None, "{law}");
        }
    }
}
