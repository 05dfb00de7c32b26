//! Sentences of the law that end the law: `This section is repealed effective June 30, 2025.`
//!
//! Some of them have a condition, or name an event and no day. They decide nothing: from the day that they name, or on
//! every day, it is uncertain whether the law is in force.

use hornbook_corpus::outline::Status;

use crate::effect::{DATE, Effect, date_in, day_after};
use crate::pattern::Pattern;
use crate::values::is_date;

/// Matches what may come before the sentence in its paragraph: labels and a heading.
const LEAD: &str =
    r"^(?:\(?\w{1,4}[.)] ?){0,3}(?:[A-Z][A-Za-z ]{2,40}\.[—– -]+(?:\(\w\) [A-Z][A-Za-z ]{2,40}\.[—– -]+)?)?";

/// With more words, or as one of several sentences.
const LEAD_WITHIN: &str = r"|[a-z0-9)]\. ";

/// A part may end in its last sentence.
const LEAD_OF_PART: &str = r"(?:^|\. )(?:\(?\w{1,4}[.)] ?)?";

/// `This section, and sanctions imposed under this section, shall terminate`
const OTHERS: &str = r"(?:,? (?:and|except|other than) [^.;\n]{2,100}?,?)?";

const PARTS: &str = "subsection|subdivision|paragraph|subparagraph|clause";

const CONTAINERS: &str = "title|subtitle|chapter|subchapter|article|part|subpart|division";

/// The verbs of an end. The pattern for days follows them.
const ENDS: [&str; 5] = [
    r"(?:is|are|shall be) (?:automatically )?(?P<repealed>repealed)",
    r"(?:shall |will )?(?:automatically )?(?:expires?|terminates?|sunsets?)",
    r"(?:shall cease|ceases?) to (?:be (?:effective|in effect|operative|of any force and effect)|have effect)",
    r"shall be null,? (?:and )?void,?(?: and)? of no force (?:and|or) effect",
    r"shall have no further force (?:and|or) effect",
];

/// The verbs before the last day, or before what keeps the law in force.
const LASTS: &str = r"(?:shall (?:remain|be)|remains?|is|are) (?:in effect|effective|in force)(?: only)?";

/// As many characters of a sentence are shown.
const SENTENCE_MAX: usize = 400;

/// Nearly all texts lack these words.
const WORDS: &str = "expire|repealed|terminate|sunset|cease|of no force|no further force|(?:in effect|effective|in force)(?: only)? (?:until|through|so long|as long)";

/// The paragraphs that may state an end. The patterns for its sentences are slow.
fn paragraphs_on_ends(text: &str) -> Option<String> {
    let words = Pattern::fixed(WORDS);
    if !words.is_match(text) {
        return None;
    }
    let lines = text.lines().filter(|line| line.contains("his ") && words.is_match(line));
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

/// Until when a section is law, if a sentence of its own text states it. If a part of it ends, it is uncertain from that
/// day on.
pub(crate) fn sunset(text: &str) -> Effect {
    let Some(text) = paragraphs_on_ends(text) else { return Effect::default() };
    let text = text.as_str();
    let plain = endings(text, "section", LEAD).into_iter().next().map(|(_, effect)| effect);
    let doubtful = conditions_of_section(text).into_iter().map(|(_, effect)| effect);
    let doubtful = doubtful.min_by(|a, b| a.to.cmp(&b.to));
    match (plain, doubtful) {
        // Of two days, the first one begins the doubt.
        (Some(plain), Some(doubtful)) if !doubtful.uncertain && plain.to < doubtful.to => {
            return Effect { then: Some(Status::Uncertain), ..plain };
        }
        (_, Some(effect)) | (Some(effect), None) => return effect,
        (None, None) => {}
    }
    let parts = endings(text, PARTS, LEAD_OF_PART).into_iter().chain(conditions_of_parts(text));
    let parts = parts.map(|(_, effect)| effect).chain(endings_of_named_parts(text));
    let Some(effect) = parts.min_by(|a, b| a.to.cmp(&b.to)) else { return Effect::default() };
    Effect { then: effect.then.and(Some(Status::Uncertain)), ..effect }
}

/// The sentences of a text that end its section, parts of it or what is around it, with a condition or on an unknown day.
pub(crate) fn doubtful_ends(text: &str) -> Vec<Effect> {
    let Some(text) = paragraphs_on_ends(text) else { return Vec::new() };
    let text = text.as_str();
    let of_containers = conditions(text, CONTAINERS, OTHERS, LEAD, &endings(text, CONTAINERS, LEAD));
    let all = [conditions_of_section(text), of_containers, conditions_of_parts(text)];
    all.into_iter().flatten().map(|(_, effect)| effect).collect()
}

fn conditions_of_section(text: &str) -> Vec<(String, Effect)> {
    let plain = endings(text, "section", LEAD);
    conditions(text, "section", OTHERS, &format!("(?:{LEAD}{LEAD_WITHIN})"), &plain)
}

fn conditions_of_parts(text: &str) -> Vec<(String, Effect)> {
    conditions(text, PARTS, OTHERS, LEAD_OF_PART, &endings(text, PARTS, LEAD_OF_PART))
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
        let text = paragraphs_on_ends(text)?;
        let text = text.as_str();
        let plain = endings(text, CONTAINERS, LEAD).into_iter().next();
        // An event leaves a container as it is: a sentence of 1933 would make the whole of 7 U.S.C. chapter 26 uncertain.
        // `This subchapter and § 32-1682 shall expire` is only a warning: the sections have their own days.
        let dated = || conditions(text, CONTAINERS, "", LEAD, &[]).into_iter().find(|(_, effect)| effect.to.is_some());
        let (level, effect) = plain.or_else(dated)?;
        Some(Self { level, effect })
    }
}

/// The sentences that are a paragraph, or the end of one, and end one of these kinds of law on a day, with the kind. With
/// exceptions, it is uncertain what ends.
fn endings(text: &str, kinds: &str, lead: &str) -> Vec<(String, Effect)> {
    let sentence = Pattern::fixed(&format!(
        r"(?m){lead}(?P<sentence>(?P<except>Except as [^,.;]{{5,60}}, )?(?:[Tt]he provisions of )?[Tt]his (?P<kind>{kinds}) (?:(?:{})(?: on and after| (?P<after>after))?|{LASTS}(?: until| (?P<through>through)))(?: on| as of| beginning|,? effective|,? effective on)? (?:(?P<years>\d{{1,2}}|one|two|three|four|five|ten) years? (?:from|after) )?(?P<day>{DATE})(?:, when it shall [^.]*|, (?:pursuant to|per) [^.;]{{2,60}})?)[.;]$",
        ENDS.join("|"),
    ));
    sentence.captures_iter(text).map(|found| (found["kind"].to_owned(), effect_of(&found))).collect()
}

fn effect_of(found: &regex::Captures<'_>) -> Effect {
    let date = date_in(&found["day"]);
    let date = match found.name("years").and_then(|years| number(years.as_str())) {
        Some(years) => date.and_then(|date| years_after(&date, years)),
        None => date,
    };
    let is_last_day = found.name("after").or(found.name("through")).is_some();
    let to = if is_last_day { date.as_deref().and_then(day_after) } else { date };
    let Some(to) = to else {
        return Effect::unknown(&found["sentence"]);
    };
    let then = match found.name("repealed") {
        // What is excepted follows in other sentences.
        _ if found.name("except").is_some() => Status::Uncertain,
        Some(_) => Status::Repealed,
        None => Status::Expired,
    };
    Effect { to: Some(to), then: Some(then), remark: Some(found["sentence"].to_owned()), ..Effect::default() }
}

fn number(words: &str) -> Option<u32> {
    const WORDS: [(&str, u32); 6] = [("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("ten", 10)];
    words.parse().ok().or_else(|| WORDS.iter().find(|(word, _)| *word == words).map(|(_, number)| *number))
}

/// The same day so many years later, unless it is February 29 and that year has none.
fn years_after(date: &str, years: u32) -> Option<String> {
    let (year, rest) = date.split_once('-')?;
    let later = format!("{:04}-{rest}", year.parse::<u32>().ok()? + years);
    is_date(&later).then_some(later)
}

/// The ends of these kinds of law that are not plain, because a paragraph says more than the day, or no day, with the
/// kind: `This section expires January 1, 2034, unless …`, `This section shall expire upon …`. As the subject is `this`
/// law, permits, terms of office and contracts do not match, and `does not apply after` is no end. `others` matches what
/// ends with it.
fn conditions(text: &str, kinds: &str, others: &str, lead: &str, plain: &[(String, Effect)]) -> Vec<(String, Effect)> {
    let sentence = Pattern::fixed(&format!(
        r"(?m){lead}(?P<sentence>(?:(?:Upon|If|Unless|When|Effective) [^;\n]{{4,250}}?, )?(?:[Tt]he provisions of )?[Tt]his (?P<kind>{kinds})(?: \(\w{{1,4}}\))?{others} (?P<verb>{}|{LASTS} (?P<while>until|through|so long as|as long as))\b(?P<behind>[^\n]*))$",
        ENDS.join("|"),
    ));
    let found = sentence.captures_iter(text).filter_map(|found| {
        let effect = doubtful_effect(&found)?;
        let sentence = found["sentence"].trim_end_matches(['.', ';']);
        let is_plain = plain.iter().any(|(_, effect)| effect.remark.as_deref() == Some(sentence));
        (!is_plain).then(|| (found["kind"].to_owned(), effect))
    });
    found.collect()
}

/// From the day that it names the law is uncertain; without a day, or with an event that may come first, on every day.
fn doubtful_effect(found: &regex::Captures<'_>) -> Option<Effect> {
    let end = Pattern::fixed(r"(?:[a-z]{4}|[0-9)])\. [A-Z(]");
    let whole = &found["sentence"];
    let sentence = end.find(whole).map_or(whole, |end| &whole[..end.end() - 3]);
    let sentence = match sentence.char_indices().nth(SENTENCE_MAX) {
        Some((cut, _)) => format!("{} …", sentence[..cut].rsplit_once(' ').map_or(sentence, |(words, _)| words)),
        None => sentence.trim_end_matches(['.', ';', ':']).to_owned(),
    };
    let condition = whole.find(" this ").map_or("", |this| &whole[..this]);
    let condition = if whole.starts_with(['T', 't']) { "" } else { condition };
    let behind = &found["behind"];
    if !says_when(behind, condition, found.name("while").is_some()) {
        return None;
    }
    let day = Pattern::fixed(&format!(
        r"^(?:,? and [^.;]{{0,100}}?,)?(?: (?:pursuant to|under) [^.;]{{2,60}}?)?,?(?: effective| beginning| on and after| after| on| as of| at midnight)*(?: the later of)? {DATE}"
    ));
    let day_before = Pattern::fixed(&format!("^Effective(?: on)? {DATE},?$"));
    let date = day.captures(behind).or_else(|| day_before.captures(condition));
    let has_earlier_event = {
        let after_day = day.find(behind).map_or("", |day| &behind[day.end()..]);
        let is_later = behind.contains(" later");
        !is_later && Pattern::fixed(r"^,? or |\bearlie(?:r|st)\b|whichever \w+ (?:first|sooner)").is_match(after_day)
    };
    let is_last_day = |date: &str| date.contains(" after ") && !date.contains(" on and after ");
    let is_last_day = found.name("while").is_some_and(|verb| verb.as_str() == "through")
        || date.as_ref().is_some_and(|date| is_last_day(&date[0]));
    let to = date.and_then(|date| date_in(&date[1]));
    match if is_last_day { to.as_deref().and_then(day_after) } else { to } {
        Some(to) if !has_earlier_event => {
            Some(Effect { to: Some(to), then: Some(Status::Uncertain), remark: Some(sentence), ..Effect::default() })
        }
        _ => Some(Effect::unknown(sentence)),
    }
}

/// Whether the words around the verb state a time or a condition. `In accordance with Section 63I-1-226` names the law
/// that states the day, and that section ends this one.
fn says_when(behind: &str, condition: &str, is_while: bool) -> bool {
    if is_while {
        return !Pattern::fixed(r"^ (?:repealed|amended|superseded)[^.;]{0,40}\.?$").is_match(behind);
    }
    let when = Pattern::fixed(&format!(
        r"^(?:,? and [^.;]{{0,100}}?,?)?(?: (?:pursuant to|under) [^.;]{{2,60}}?)?,?(?: effective| beginning)?(?: on (?:the|such|a|or)\b| as of| upon\b| when| if\b| unless\b| at\b| until\b| after\b| once\b| on and after| \d+ | (?:one|two|three|four|five|six|ten|thirty|sixty|ninety) | the (?:day|date|month|quarter|earlier|later|earliest)\b| in the (?:month|quarter)\b)|^(?: on| as of|,? effective|,? effective on)? {DATE}"
    ));
    !condition.is_empty() || when.is_match(behind)
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
            ("F. The provisions of this section shall expire on January 1, 2027.", "2027-01-01", Status::Expired),
            (
                "(2) This section shall be null, void, and of no force and effect on and after June 30, 2034.",
                "2034-06-30",
                Status::Expired,
            ),
            (
                "(2) This section shall be null, void and of no force and effect after June 30, 2034.",
                "2034-07-01",
                Status::Expired,
            ),
            ("This section is effective until February 21, 2030, per §16-16A-12.", "2030-02-21", Status::Expired),
            ("This section shall remain in effect through December 31, 2011.", "2012-01-01", Status::Expired),
            (
                "This section is repealed effective January 1, 2046, pursuant to SL 2013, ch 51, §2.",
                "2046-01-01",
                Status::Repealed,
            ),
            ("(4) This subsection shall expire one year after October 1, 2021.", "2022-10-01", Status::Uncertain),
        ] {
            let found = sunset(text);
            assert_eq!((found.to.as_deref(), found.then), (Some(to), Some(then)), "{text}");
        }
        assert!(sunset("This section expires February 31, 2029.").uncertain);
        for law in [
            "The permit under this section shall expire on July 1, 2023.",
            "It provides: “This section expires July 1, 2029.”",
            "This chapter is repealed effective June 30, 2025.",
        ] {
            assert_eq!(sunset(law), Effect::default(), "{law}");
        }
    }

    /// RCW 82.08.9999, 82.25.005, 79A.25.260, SDCL 10-47B-4, Wyo. Stat. § 39-14-111.
    #[test]
    fn a_condition_on_a_day_makes_the_law_uncertain_from_that_day_on() {
        let contingency = "This section expires January 1, 2034, unless the contingency in RCW 82.32.790(2) occurs";
        let repeal = "This section is repealed effective June 30, 2025, unless it is extended";
        for (text, to, remark) in [
            (
                "(a) One.\n(g) This section is repealed effective June 30, 2025, unless it is extended.",
                "2025-06-30",
                repeal,
            ),
            (
                "(5) This section expires January 1, 2034, unless the contingency in RCW 82.32.790(2) occurs.",
                "2034-01-01",
                contingency,
            ),
            (
                "(4)(a) This section expires January 1, 2034, if the contingency does not occur.",
                "2034-01-01",
                "This section expires January 1, 2034, if the contingency does not occur",
            ),
            // More sentences are around it.
            (
                "(b) Two, or three. This section is repealed effective June 30, 2025.",
                "2025-06-30",
                "This section is repealed effective June 30, 2025",
            ),
            (
                "(7) This section expires July 31, 2027. Before, the group shall report.",
                "2027-07-31",
                "This section expires July 31, 2027",
            ),
            (
                "This section shall expire on the later of July 1, 2030, or the day on which the bonds are retired.",
                "2030-07-01",
                "This section shall expire on the later of July 1, 2030, or the day on which the bonds are retired",
            ),
            (
                "(b) This subsection shall be null, void, and of no force and effect after June 30, 2027. However, it stays.",
                "2027-07-01",
                "This subsection shall be null, void, and of no force and effect after June 30, 2027",
            ),
        ] {
            let found = sunset(text);
            assert_eq!(
                (found.to.as_deref(), found.then, found.uncertain),
                (Some(to), Some(Status::Uncertain), false),
                "{text}"
            );
            assert_eq!(found.remark.as_deref(), Some(remark));
            assert_eq!(doubtful_ends(text), [found]);
        }
        let both =
            "(1) This section expires July 1, 2026.\n(2) This section expires July 1, 2028, unless it is extended.";
        assert_eq!((sunset(both).to.as_deref(), sunset(both).then), (Some("2026-07-01"), Some(Status::Uncertain)));
    }

    /// D.C. Code §§ 6-1453.02, 47-2866, RCW 82.14.0494, 46.68.280, 39 U.S.C. § 416.
    #[test]
    fn an_event_makes_the_law_uncertain_on_every_day() {
        for (text, remark) in [
            (
                "(d) This section shall expire upon the effective date of final regulations.",
                "This section shall expire upon the effective date of final regulations",
            ),
            (
                "This section shall expire 3 years after it takes effect.",
                "This section shall expire 3 years after it takes effect",
            ),
            (
                "(5) This section expires on the earliest of the following dates:\n(a) One.",
                "This section expires on the earliest of the following dates",
            ),
            (
                "(3) This section expires December 31, 2025, or when the capability equals that of a coal-fired plant.",
                "This section expires December 31, 2025, or when the capability equals that of a coal-fired plant",
            ),
            (
                "(c) Fuel. This subsection (2) expires when the bonds are retired.",
                "This subsection (2) expires when the bonds are retired",
            ),
            (
                "This section shall remain in effect until the Mayor declares otherwise.",
                "This section shall remain in effect until the Mayor declares otherwise",
            ),
            (
                "(b) Upon the use of the system required by § 47-2866(a)(1), this section shall expire.",
                "Upon the use of the system required by § 47-2866(a)(1), this section shall expire",
            ),
            (
                "(g) Termination.—This section shall cease to be effective at the end of the 10-year period beginning on that day.",
                "This section shall cease to be effective at the end of the 10-year period beginning on that day",
            ),
        ] {
            assert_eq!(sunset(text), Effect::unknown(remark), "{text}");
            assert_eq!(doubtful_ends(text), [Effect::unknown(remark)]);
        }
    }

    #[test]
    fn what_expires_under_a_section_ends_no_section() {
        for law in [
            "(5) Licenses issued under this chapter expire June 30th of each year.",
            "(3) A license issued pursuant to this section expires on the date one year from the date of issuance.",
            "The term of a member appointed under this section expires when a successor is appointed.",
            "(4) An agreement authorized by this section shall cease to be effective when the shares are listed.",
            "(3) The exemption under this section expires after the last day of the month.",
            "The tax imposed in this section shall expire when the bonds are retired.",
            "(c) This section does not apply after entry of a final decree.",
            "(g) This section shall remain in effect whether the licensee acts or not.",
            "(2) This section shall have no effect on any judicial decision.",
            "This section is repealed by 2017, No. 83, § 10.",
            "(5) This section sunsets in accordance with Section 63I-1-226.",
            "“(d) Sunset.—This section shall expire upon the end of the war.”",
            "This section shall remain in effect until repealed.",
        ] {
            assert_eq!((sunset(law), doubtful_ends(law)), (Effect::default(), Vec::new()), "{law}");
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
            ("The provisions of this article shall expire on July 1, 2029.", "article", "2029-07-01"),
        ] {
            let found = ContainerSunset::in_text(text).unwrap();
            assert_eq!((found.level.as_str(), found.effect.to.as_deref()), (level, Some(to)), "{text}");
        }
        for text in [
            "This subchapter shall expire on September 30, 2001, if the Bonds are not sold.",
            "This chapter expires September 30, 2001, coinciding with the expiration of chapter 70A.325 RCW.",
        ] {
            let found = ContainerSunset::in_text(text).unwrap().effect;
            assert_eq!((found.to.as_deref(), found.then), (Some("2001-09-30"), Some(Status::Uncertain)));
        }
        let others = "(b) This subchapter and §§ 32-1682(c) and 32-1684(b) shall expire on September 30, 2024.";
        assert_eq!(ContainerSunset::in_text(others), None);
        assert_eq!(doubtful_ends(others)[0].to.as_deref(), Some("2024-09-30"), "but it gives a warning");
        let event = "(a) This subchapter shall remain in effect until the Mayor declares that the crisis is over.";
        assert_eq!(ContainerSunset::in_text(event), None);
        assert!(doubtful_ends(event)[0].uncertain, "but it gives a warning");
        for law in [
            "This subtitle shall automatically expire on the 181st day after its effective date.",
            "This section shall expire on July 1, 2023.",
            "This act expires June 30, 2016.",
        ] {
            assert_eq!(ContainerSunset::in_text(law), None, "{law}");
        }
    }
}
