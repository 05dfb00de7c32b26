//! What the heading of a container says of it: its level and number. Keys and citations of containers are made of them, so
//! every importer whose containers are known by headings makes the same ones.

use crate::import::slug::slug;

/// The level and number that a container's heading begins with: `CHAPTER 21—CIVIL RIGHTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label<'a> {
    pub level: &'a str,
    pub number: Option<&'a str>,
}

const LEVELS: [(&str, &str); 12] = [
    ("title", "t"),
    ("subtitle", "st"),
    ("division", "d"),
    ("chapter", "ch"),
    ("subchapter", "sch"),
    ("part", "pt"),
    ("subpart", "spt"),
    ("article", "art"),
    ("subarticle", "sart"),
    ("appendix", "app"),
    ("subdivision", "sd"),
    ("unit", "u"),
];

impl<'a> Label<'a> {
    pub(crate) fn of(heading: &'a str) -> Self {
        let bare = heading.trim_start_matches('[');
        let (word, rest) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
        if !LEVELS.iter().any(|(level, _)| word.eq_ignore_ascii_case(level)) {
            return Self { level: "division", number: None };
        }
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | ':' | ']')).unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches(['.', '-', ',']);
        let is_number = number.len() <= 12
            && (number.bytes().any(|b| b.is_ascii_digit()) || number.bytes().all(|b| b.is_ascii_uppercase()));
        Self { level: word, number: Some(number).filter(|number| is_number && !number.is_empty()) }
    }

    pub(crate) fn key_part(self, heading: &str) -> String {
        let short =
            LEVELS.iter().find(|(level, _)| self.level.eq_ignore_ascii_case(level)).map_or("", |(_, short)| short);
        let part = match self.number {
            Some(number) => format!("{short}{}", slug(number)),
            None => slug(heading).chars().take(60).collect(),
        };
        if part.is_empty() { "x".to_owned() } else { part }
    }

    pub(crate) fn citation_part(self, heading: &str) -> String {
        match self.number {
            Some(number) => {
                let mut level = self.level.to_ascii_lowercase();
                level[..1].make_ascii_uppercase();
                format!("{level} {number}")
            }
            None => heading.to_owned(),
        }
    }
}
