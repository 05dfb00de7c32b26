//! Sentences of the law that end other law, which they name: `Section 31A-2-217, Comparison tables, is repealed July 1, 2023.`

use hornbook_corpus::outline::Status;

use crate::effect::{DATE, Effect, date_in};
use crate::pattern::Pattern;
use crate::sunset::doubtful_ends;

const NUMBER: &str = r"\d+[A-Z]?[a-z]?(?:[-.:]\d+[A-Za-z]{0,2})+";

const VERBS: &str = " is repealed| are repealed| are each repealed| shall expire | expire on ";

/// The end of other law that a provision states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedSunset {
    pub named: NamedLaw,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamedLaw {
    Section(String),
    /// The first and the last of several sections.
    Range(String, String),
    /// A subsection, or some words of the section.
    PartOf(String),
    /// Levels and numbers, from outside: `Title 19, Chapter 5`.
    Container(Vec<(String, String)>),
    /// What ends, or whether it ends, is not understood.
    Unread,
}

impl NamedSunset {
    /// The sentences of a text that are paragraphs of their own, and the items behind `are each repealed, effective DAY:`.
    /// Conditions do not match: they are law that a reader has to apply. Those on the law around them are not understood.
    pub(crate) fn all_in(text: &str) -> Vec<Self> {
        let doubtful = doubtful_ends(text).into_iter().map(|effect| Self { named: NamedLaw::Unread, effect });
        doubtful.chain(Self::of_other_law(text)).collect()
    }

    fn of_other_law(text: &str) -> Vec<Self> {
        if !Pattern::fixed(VERBS).is_match(text) {
            return Vec::new();
        }
        let sentence = Pattern::fixed(&format!(
            r"^(?:\(?\w{{1,4}}[.)] ?)*(?P<sentence>(?P<law>(?:W\.S\.|RCW|§+|(?:Section|Subsection|Chapter|Title|The)s?) ?[^.].*?),? (?:(?P<repealed>(?:is|are) repealed)|(?:shall )?expire)(?: on| as of|,? effective)? (?P<day>{DATE}))[.:;]?(?: and)?$"
        ));
        let lead =
            Pattern::fixed(&format!(r"^(?P<sentence>The following .* are each repealed, effective (?P<day>{DATE})):$"));
        let item = Pattern::fixed(&format!(r"^(?:\(\w+\) ?)?RCW (?P<number>{NUMBER})(?P<part>\(\w+\))? and \d{{4}} "));
        let mut found = Vec::new();
        let mut of_items: Option<Effect> = None;
        for line in text.lines() {
            if let Some(lead) = lead.captures(line) {
                of_items = Some(ending(&lead["day"], Status::Repealed, &lead["sentence"]));
            } else if let Some((effect, item)) = of_items.as_ref().zip(item.captures(line)) {
                let number = item["number"].to_owned();
                let named =
                    if item.name("part").is_some() { NamedLaw::PartOf(number) } else { NamedLaw::Section(number) };
                found.push(Self { named, effect: effect.clone() });
            } else if let Some(effect) = of_items.as_ref().filter(|_| line.starts_with('(')) {
                let remark = effect.remark.as_ref().map(|lead| format!("{lead}: {line}"));
                found.push(Self { named: NamedLaw::Unread, effect: Effect { remark, ..effect.clone() } });
            } else if let Some(sentence) =
                sentence.captures(line).filter(|found| !found["law"].ends_with("this section"))
            {
                let is_repeal = sentence.name("repealed").is_some();
                let then = if is_repeal { Status::Repealed } else { Status::Expired };
                let effect = ending(&sentence["day"], then, &sentence["sentence"]);
                // Permits and terms of office expire too.
                let laws = laws(&sentence["law"]).into_iter().filter(|named| is_repeal || *named != NamedLaw::Unread);
                found.extend(laws.map(|named| Self { named, effect: effect.clone() }));
            }
        }
        found
    }
}

fn ending(day: &str, then: Status, sentence: &str) -> Effect {
    match date_in(day) {
        to @ Some(_) => Effect { to, then: Some(then), remark: Some(sentence.to_owned()), ..Effect::default() },
        None => Effect::unknown(sentence),
    }
}

/// The law that the subject of such a sentence names.
fn laws(subject: &str) -> Vec<NamedLaw> {
    let path = Pattern::fixed(r"^Title \d+[A-Z]?(?:, (?:Chapter|Part) \d+[A-Za-z]?)*(?:,? [A-Z][^0-9]*)?$");
    let step = Pattern::fixed(r"(Title|Chapter|Part) (\d+[A-Za-z]?)");
    if path.is_match(subject) {
        let steps = step.captures_iter(subject).map(|step| (step[1].to_lowercase(), step[2].to_owned()));
        return vec![NamedLaw::Container(steps.collect())];
    }
    let list = Pattern::fixed(&format!(
        r"^(?P<kind>W\.S\.|RCW|§+|Sections?|Subsections?) ?(?P<list>{NUMBER}(?:\(\w+\))*(?:(?:, and |, | and )(?:{NUMBER}(?:\(\w+\))*|(?:\(\w+\))+))*)(?P<behind>.*)$"
    ));
    let Some(found) = list.captures(subject) else { return vec![NamedLaw::Unread] };
    let behind = &found["behind"];
    // A name, in apposition. A range, or words that say which part, name something else.
    let range = Pattern::fixed(&format!(r"^(?P<first>{NUMBER}) through (?P<last>{NUMBER})(?:, [^0-9]*)?$"));
    if let Some(range) = range.captures(subject[found["kind"].len()..].trim_start()) {
        return vec![NamedLaw::Range(range["first"].to_owned(), range["last"].to_owned())];
    }
    let is_name = behind.is_empty() || (behind.starts_with(", ") && !behind.contains("language"));
    let is_part = found["kind"].starts_with("Sub") || found["list"].contains('(') || behind.contains("language");
    if !is_part && !is_name {
        return vec![NamedLaw::Unread];
    }
    let number = Pattern::fixed(NUMBER);
    let numbers = number.find_iter(&found["list"]).map(|number| number.as_str().to_owned());
    numbers.map(if is_part { NamedLaw::PartOf } else { NamedLaw::Section }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(NamedLaw, String)> {
        let found = NamedSunset::all_in(text).into_iter();
        found.map(|sunset| (sunset.named, sunset.effect.to.unwrap())).collect()
    }

    #[test]
    fn a_sentence_may_end_the_law_that_it_names() {
        use NamedLaw::{Container, PartOf, Section, Unread};
        let container = |steps: &[(&str, &str)]| {
            Container(steps.iter().map(|(level, number)| ((*level).to_owned(), (*number).to_owned())).collect())
        };
        let section = |number: &str| Section(number.to_owned());
        let part = |number: &str| PartOf(number.to_owned());
        for (text, named) in [
            ("(1) Section 31A-2-208.5, Comparison tables, is repealed July 1, 2023.", vec![section("31A-2-208.5")]),
            ("Section 26-10-11 is repealed on July 1, 2023.", vec![section("26-10-11")]),
            (
                "W.S. 35-1-1201, 35-1-1203 and 35-1-1204 are repealed effective July 1, 2023.",
                vec![section("35-1-1201"), section("35-1-1203"), section("35-1-1204")],
            ),
            ("(2) Subsection 53A-16-113(3) is repealed July 1, 2023.", vec![part("53A-16-113")]),
            ("Subsections 53A-1-413(1)(d) and (e) are repealed on July 1, 2023.", vec![part("53A-1-413")]),
            (
                r#"(b) Subsection 17-36-3(5)(b), the language that states "or 17-1-1," is repealed July 1, 2023."#,
                vec![part("17-36-3")],
            ),
            (
                "(3) Title 19, Chapter 5, Water Quality Act, is repealed July 1, 2023.",
                vec![container(&[("title", "19"), ("chapter", "5")])],
            ),
            (
                "Title 78B, Chapter 6, Part 2, Dispute Resolution is repealed July 1, 2023.",
                vec![container(&[("title", "78B"), ("chapter", "6"), ("part", "2")])],
            ),
            ("(3) The Commission, created in Section 53A-14-101, is repealed July 1, 2023.", vec![Unread]),
            (
                "Sections 17-1-1 through 17-1-9 are repealed July 1, 2023.",
                vec![NamedLaw::Range("17-1-1".into(), "17-1-9".into())],
            ),
            ("Section 17-1-1 and Subsection 59-9-101(2) are repealed July 1, 2023.", vec![Unread]),
        ] {
            let named: Vec<_> = named.into_iter().map(|named| (named, "2023-07-01".to_owned())).collect();
            assert_eq!(read(text), named, "{text}");
        }
        let expired = NamedSunset::all_in("(b) Sections 32-111.04 and 32-111.05 shall expire on June 30, 2024.");
        let [first, second] = expired.as_slice() else { panic!("{expired:?}") };
        assert_eq!((&first.named, &second.named), (&section("32-111.04"), &section("32-111.05")));
        assert_eq!((first.effect.to.as_deref(), first.effect.then), (Some("2024-06-30"), Some(Status::Expired)));
        for law in [
            "The permit under Section 26-10-11 shall expire on July 1, 2023.",
            "Section 26-10-11 is repealed July 1, 2023, unless it is extended.",
            "Section 26-10-11 is repealed on the day on which the program starts.",
            "If Section 26-10-11 is repealed July 1, 2023, the fund is closed.",
            "It provides: “Section 26-10-11 is repealed July 1, 2023.”",
            "This section is repealed July 1, 2023.",
            "Subsections (b) and (c) of this section are repealed July 1, 2023.",
        ] {
            assert_eq!(read(law), [], "{law}");
        }
    }

    /// Each gives a warning with its file and line.
    #[test]
    fn a_doubtful_end_of_the_law_itself_is_not_understood() {
        let text = "(1) One.\n(2) This section expires July 1, 2023, unless it is extended.\n(3) Two.";
        assert_eq!(read(text), [(NamedLaw::Unread, "2023-07-01".to_owned())]);
    }

    #[test]
    fn a_list_of_repeals_ends_each_section_in_it() {
        let text = "The following acts or parts of acts, as now existing, are each repealed, effective July 1, 2026:\n\
                    (1) RCW 28B.76.730 and 2019 c 176 s 1;\n(2) RCW 43.06C.005(2) and 2018 c 270 s 1;\n\
                    (3) 2018 c 270 s 9.";
        let day = "2026-07-01".to_owned();
        let section = NamedLaw::Section("28B.76.730".into());
        let named = [section, NamedLaw::PartOf("43.06C.005".into()), NamedLaw::Unread];
        assert_eq!(read(text), named.map(|named| (named, day.clone())));
    }
}
