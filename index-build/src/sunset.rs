//! Sentences of the law that end the law: `This section is repealed effective June 30, 2025.`

use hornbook_corpus::outline::Status;

use crate::effect::{DATE, Effect, date_in, day_after};
use crate::pattern::Pattern;
use crate::values::is_date;

/// Until when a section is law, if a sentence of its own text states it.
pub(crate) fn sunset(text: &str) -> Effect {
    ending(text, "section").map(|(_, effect)| effect).unwrap_or_default()
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
        let (level, effect) = ending(text, "title|subtitle|chapter|subchapter|article|part|subpart|division")?;
        Some(Self { level, effect })
    }
}

/// Finds a sentence that is a paragraph of its own and ends one of these kinds of law. Conditions and exceptions do not
/// match: they are law that a reader has to apply.
fn ending(text: &str, kinds: &'static str) -> Option<(String, Effect)> {
    const VERBS: [&str; 6] = ["expire", "repealed", "terminate", "sunset", "cease to be", "remain in effect"];
    if !text.contains("This ") || !VERBS.iter().any(|verb| text.contains(verb)) {
        return None;
    }
    let sentence = Pattern::fixed(&format!(
        r"(?m)^(?:\(?\w{{1,4}}[.)] ?)?(?:[A-Z][A-Za-z ]{{2,40}}\.[—– -]+)?(?P<sentence>This (?P<kind>{kinds}) (?:{})(?: on| as of|,? effective|,? effective on)? (?:(?P<years>\d{{1,2}}) years (?:from|after) )?(?P<day>{DATE})(?:, when it shall [^.]*)?)\.$",
        [
            r"(?:is|shall be) (?:automatically )?(?P<repealed>repealed)",
            r"(?:shall |will )?(?:automatically )?(?:expires?|terminates?|sunsets?)",
            r"shall cease to be effective(?: (?P<after>after))?",
            r"shall remain in effect until",
        ]
        .join("|")
    ));
    let found = sentence.captures(text)?;
    let date = date_in(&found["day"]);
    let date = match found.name("years").and_then(|years| years.as_str().parse().ok()) {
        Some(years) => date.and_then(|date| years_after(&date, years)),
        None => date,
    };
    let to = if found.name("after").is_some() { date.as_deref().and_then(day_after) } else { date };
    let Some(to) = to else {
        return Some((found["kind"].to_owned(), Effect::unknown(&found["sentence"])));
    };
    let then = if found.name("repealed").is_some() { Status::Repealed } else { Status::Expired };
    let effect =
        Effect { to: Some(to), then: Some(then), remark: Some(found["sentence"].to_owned()), ..Effect::default() };
    Some((found["kind"].to_owned(), effect))
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
        ] {
            assert_eq!(sunset(law), Effect::default(), "{law}");
        }
    }

    #[test]
    fn a_sunset_sentence_may_end_a_container() {
        let until = "This chapter shall remain in effect until July 1, 2016, when it shall terminate and be of no further force.";
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
