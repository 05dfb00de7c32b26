//! The levels of codes and their abbreviations in keys: `title` is `t`, so title 20 has the key `t20`.

use serde::Deserialize;

use crate::import::slug::slug;
use crate::pattern::Pattern;

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

/// The abbreviation of a level, in any case; None for other words.
pub(crate) fn short(level: &str) -> Option<&'static str> {
    LEVELS.iter().find(|(name, _)| level.eq_ignore_ascii_case(name)).map(|(_, short)| *short)
}

/// The level as it begins a citation: `Title`.
pub(crate) fn capitalised(level: &str) -> String {
    let mut letters = level.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A level of containers, in the options of a plan: `number` matches the start of the number of a
/// section, which is the number of the container.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NumberedLevel {
    pub(crate) level: String,
    pub(crate) number: Pattern,
}

/// Checks that the option `container` names levels.
pub(crate) fn check_numbered(containers: &[NumberedLevel]) -> Result<(), String> {
    match containers.iter().find(|container| short(&container.level).is_none()) {
        None => Ok(()),
        Some(unknown) => Err(format!(
            "option 'container': '{}' is not a level; use title, chapter, article, part or another level",
            unknown.level
        )),
    }
}

/// The level and number at the start of a container heading: `CHAPTER 21—CIVIL RIGHTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label<'a> {
    pub(crate) level: &'a str,
    pub(crate) number: Option<&'a str>,
}

impl<'a> Label<'a> {
    pub(crate) fn of(heading: &'a str) -> Self {
        let bare = heading.trim_start_matches('[');
        let (word, rest) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
        if short(word).is_none() {
            return Self { level: "division", number: None };
        }
        // A colon within a number, as in `Article 431:10C`, does not end it.
        let ends = |at: usize, c: char| match c {
            ':' => !rest[at + 1..].starts_with(|next: char| next.is_ascii_digit()),
            c => c.is_whitespace() || matches!(c, '—' | '–' | ']'),
        };
        let end = rest.char_indices().find(|(at, c)| ends(*at, *c)).map_or(rest.len(), |(at, _)| at);
        let number = rest[..end].trim_end_matches(['.', '-', ',']);
        let is_number = number.len() <= 12
            && (number.bytes().any(|b| b.is_ascii_digit()) || number.bytes().all(|b| b.is_ascii_uppercase()));
        Self { level: word, number: Some(number).filter(|number| is_number && !number.is_empty()) }
    }

    pub(crate) fn key_part(self, heading: &str) -> String {
        let short = short(self.level).unwrap_or_default();
        let part = match self.number {
            Some(number) => format!("{short}{}", slug(number)),
            None => slug(heading).chars().take(60).collect(),
        };
        if part.is_empty() { "x".to_owned() } else { part }
    }

    /// The abbreviated form in the citation of a provision: `art. I`.
    pub(crate) fn short_citation(self, heading: &str) -> String {
        const SHORT: [(&str, &str); 5] =
            [("article", "art."), ("chapter", "ch."), ("part", "pt."), ("title", "tit."), ("appendix", "app.")];
        let level = self.level.to_ascii_lowercase();
        let short = SHORT.iter().find(|(name, _)| *name == level).map_or(level.as_str(), |(_, short)| short);
        self.number.map_or_else(|| heading.to_owned(), |number| format!("{short} {number}"))
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
