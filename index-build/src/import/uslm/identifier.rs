//! Identifiers such as `/us/usc/t24/s3...5`, and the numbers of sections without identifiers.
//!
//! Documents of 2013 and 2014 write `/us/usc/t24/s3 to 5` and `/us/usc/t24/s1, 2`. Later ones write
//! `/us/usc/t24/s3...5` and `/us/usc/t24/s1 /us/usc/t24/s2`. Both forms mean the same section and
//! give the same key.
//!
//! The keys are the same as those of `provisions-jsonl`, so that ids do not change if the format of
//! a source changes.

use crate::import::ranges::numbers_after;
use crate::import::slug::slug;

/// The levels of a hierarchy, with their abbreviations in keys and identifiers.
const LEVELS: [(&str, &str); 11] = [
    ("title", "t"),
    ("subtitle", "st"),
    ("division", "d"),
    ("subdivision", "sd"),
    ("chapter", "ch"),
    ("subchapter", "sch"),
    ("part", "pt"),
    ("subpart", "spt"),
    ("article", "art"),
    ("subarticle", "sart"),
    ("appendix", "t"),
];

/// The part of a key for a level and its number, or for a heading if there is no number.
pub(super) fn container_part(level: &str, number: Option<&str>, heading: &str) -> String {
    let short = LEVELS.iter().find(|(name, _)| *name == level).map(|(_, short)| *short);
    let part = match (short, number) {
        (Some(short), Some(number)) => format!("{short}{}", slug(number)),
        _ => slug(heading).chars().take(60).collect(),
    };
    if part.is_empty() { "x".to_owned() } else { part }
}

/// The identifiers in an attribute, one for each number or range of numbers, in the later form.
fn identifiers(attribute: &str) -> Vec<String> {
    let attribute = attribute.trim();
    let (above, own) = attribute.rsplit_once('/').unwrap_or(("", attribute));
    // In the later form, every element of a list is a complete identifier.
    if !own.contains([' ', ',']) {
        return attribute.split_whitespace().map(str::to_owned).collect();
    }
    let level = &own[..own.len() - own.trim_start_matches(|c: char| c.is_ascii_lowercase()).len()];
    let numbers = own[level.len()..].split(',').map(range).filter(|number| !number.is_empty());
    numbers.map(|number| format!("{above}/{level}{number}")).collect()
}

/// Writes `3 to 5` as `3...5`, without spaces.
fn range(number: &str) -> String {
    number.trim().replace(" to ", "...").replace(' ', "")
}

/// The part after jurisdiction and code of the first identifier: `t24/s3...5` for `/us/usc/t24/s3...5`.
pub(super) fn key_of(attribute: &str) -> Option<String> {
    let identifiers = identifiers(attribute);
    let rest = identifiers.first()?;
    let rest = rest.strip_prefix('/')?.splitn(3, '/').nth(2)?;
    let parts: Vec<String> = rest.split('/').map(slug).filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The numbers of a section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UslmNumbers {
    /// One number, or a range written `3...5`.
    pub(super) first: String,
    /// Further numbers, of sections that share a record.
    pub(super) others: Vec<String>,
}

impl UslmNumbers {
    /// The numbers in the identifiers of a section.
    pub(super) fn of_identifiers(attribute: &str) -> Option<Self> {
        let identifiers = identifiers(attribute);
        Self::of(identifiers.iter().filter_map(|one| one.rsplit('/').next()?.strip_prefix('s')).map(str::to_owned))
    }

    /// The numbers in the value of a `num`: `2 to 15`, `11, 12`, `8A`.
    pub(super) fn of_value(value: &str) -> Option<Self> {
        Self::of(value.split(',').map(range).filter(|number| !number.is_empty()))
    }

    /// The number of a section that has only one.
    pub(super) fn single(&self) -> Option<&str> {
        (self.others.is_empty() && !self.first.contains("...")).then_some(self.first.as_str())
    }

    fn of(mut numbers: impl Iterator<Item = String>) -> Option<Self> {
        let first = numbers.next()?;
        Some(Self { first, others: numbers.flat_map(one_by_one).collect() })
    }
}

/// The single numbers of a further range. A search looks into a range only if it is the citation of
/// a provision, while further numbers are parallel citations.
fn one_by_one(number: String) -> Vec<String> {
    match number.split_once("...") {
        Some((first, last)) => std::iter::once(first.to_owned()).chain(numbers_after(first, last)).collect(),
        None => vec![number],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_give_keys_and_numbers() {
        assert_eq!(key_of("/us/usc/t42/s300aa–1").as_deref(), Some("t42/s300aa-1"));
        assert_eq!(key_of("/us/usc/t52/stI/ch101").as_deref(), Some("t52/sti/ch101"));
        assert_eq!(key_of("/us/usc"), None);
        assert_eq!(key_of("t42"), None);
        let numbers = UslmNumbers::of_identifiers("/us/usc/t24/s1 /us/usc/t24/s2").unwrap();
        assert_eq!((numbers.first.as_str(), numbers.others), ("1", vec!["2".to_owned()]));
        assert_eq!(UslmNumbers::of_identifiers("/us/usc/t24/s3...5").unwrap().first, "3...5");
        assert_eq!(UslmNumbers::of_identifiers("/us/usc/t24"), None);
    }

    #[test]
    fn identifiers_of_earlier_documents_are_those_of_later_ones() {
        for (earlier, later) in [
            ("/us/usc/t24/s1, 2", "/us/usc/t24/s1 /us/usc/t24/s2"),
            ("/us/usc/t24/s3 to 5", "/us/usc/t24/s3...5"),
            ("/us/usc/t12/s226a, 226b", "/us/usc/t12/s226a /us/usc/t12/s226b"),
            ("/us/usc/t48/s46–1 to 46–3", "/us/usc/t48/s46–1...46–3"),
            ("/us/usc/t24/ch1 to 3", "/us/usc/t24/ch1...3"),
        ] {
            assert_eq!(key_of(earlier), key_of(later), "{earlier}");
            assert_eq!(UslmNumbers::of_identifiers(earlier), UslmNumbers::of_identifiers(later), "{earlier}");
        }
        let several = UslmNumbers::of_identifiers("/us/usc/t30/s451 to 460, 471 to 473, 480").unwrap();
        assert_eq!((several.first.as_str(), several.others.join(" ")), ("451...460", "471 472 473 480".to_owned()));
    }

    #[test]
    fn values_give_ranges_and_lists() {
        assert_eq!(UslmNumbers::of_value("2 to 15").unwrap().first, "2...15");
        let list = UslmNumbers::of_value("11, 12").unwrap();
        assert_eq!((list.first.as_str(), list.others), ("11", vec!["12".to_owned()]));
        assert_eq!(UslmNumbers::of_value(" "), None);
    }

    #[test]
    fn containers_without_identifiers_get_keys_from_number_or_heading() {
        assert_eq!(container_part("title", Some("IV"), "OFFICE"), "tiv");
        assert_eq!(
            container_part("compiledAct", None, "FEDERAL ADVISORY COMMITTEE ACT"),
            "federal-advisory-committee-act"
        );
        assert_eq!(container_part("level", None, "—"), "x");
    }
}
