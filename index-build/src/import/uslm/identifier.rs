//! Identifiers such as `/us/usc/t24/s3...5`, and the numbers of sections that have none.
//!
//! Keys made here agree with those that `provisions-jsonl` makes, so that ids survive the change of a source's format.

use crate::import::slug::slug;

/// The levels of a hierarchy, each with how keys and identifiers shorten it.
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

/// The part of a key that comes from a level and its number, or from a heading where there is no number.
pub(super) fn container_part(level: &str, number: Option<&str>, heading: &str) -> String {
    let short = LEVELS.iter().find(|(name, _)| *name == level).map(|(_, short)| *short);
    let part = match (short, number) {
        (Some(short), Some(number)) => format!("{short}{}", slug(number)),
        _ => slug(heading).chars().take(60).collect(),
    };
    if part.is_empty() { "x".to_owned() } else { part }
}

/// `t24/s3...5` for `/us/usc/t24/s3...5`: what comes after jurisdiction and code.
pub(super) fn key_of(identifier: &str) -> Option<String> {
    let rest = identifier.strip_prefix('/')?.splitn(3, '/').nth(2)?;
    let parts: Vec<String> = rest.split('/').map(slug).filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The numbers that a section goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// One number, or a range written `3...5`.
    pub(super) first: String,
    /// Further ones, of sections that share a record.
    pub(super) others: Vec<String>,
}

impl Numbers {
    /// From identifiers with spaces between them.
    pub(super) fn of_identifiers(identifiers: &str) -> Option<Self> {
        let numbers = identifiers.split_whitespace().filter_map(|one| one.rsplit('/').next()?.strip_prefix('s'));
        Self::of(numbers.map(str::to_owned))
    }

    /// From the value of a `num`: `2 to 15`, `11, 12`, `8A`.
    pub(super) fn of_value(value: &str) -> Option<Self> {
        let numbers = value.split(',').map(|part| part.trim().replace(" to ", "...")).filter(|part| !part.is_empty());
        Self::of(numbers.map(|number| number.replace(' ', "")))
    }

    fn of(mut numbers: impl Iterator<Item = String>) -> Option<Self> {
        let first = numbers.next()?;
        Some(Self { first, others: numbers.collect() })
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
        let numbers = Numbers::of_identifiers("/us/usc/t24/s1 /us/usc/t24/s2").unwrap();
        assert_eq!((numbers.first.as_str(), numbers.others), ("1", vec!["2".to_owned()]));
        assert_eq!(Numbers::of_identifiers("/us/usc/t24/s3...5").unwrap().first, "3...5");
        assert_eq!(Numbers::of_identifiers("/us/usc/t24"), None);
    }

    #[test]
    fn values_give_ranges_and_lists() {
        assert_eq!(Numbers::of_value("2 to 15").unwrap().first, "2...15");
        let list = Numbers::of_value("11, 12").unwrap();
        assert_eq!((list.first.as_str(), list.others), ("11", vec!["12".to_owned()]));
        assert_eq!(Numbers::of_value(" "), None);
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
