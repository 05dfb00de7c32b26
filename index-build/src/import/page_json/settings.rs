//! `[source.options]` of the format `page-json`: what differs between publishers.

use serde::Deserialize;

use crate::import::levels::{self, NumberedLevel};
use crate::import::options::{FromOptions, read};
use crate::pattern::Pattern;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageJsonOptions {
    /// Matches the number of a section.
    #[serde(default = "section_number")]
    number: String,
    /// Containers by section number, outermost first.
    #[serde(default)]
    container: Vec<NumberedLevel>,
    /// Matches the lines that begin notes.
    topics: Pattern,
    /// Match paragraphs that are links to other pages.
    #[serde(default)]
    navigation: Vec<Pattern>,
    /// Matches the paths of documents that belong to another code body.
    skip: Option<Pattern>,
}

fn section_number() -> String {
    r"\d+[A-Z]*[-:]\d+[A-Z]?(?:[-.]\d+[A-Z]?)*".into()
}

#[derive(Debug)]
pub(crate) struct PageJsonSettings {
    /// Matches what a section begins with, up to its heading. Its groups are `open` and `close` (brackets around
    /// the number), `first`, `others` and `old`.
    pub(super) opening: Pattern,
    /// Matches each further number of a section, with the word or sign before it: `joint` and `number`.
    pub(super) further: Pattern,
    pub(super) containers: Vec<NumberedLevel>,
    pub(super) topics: Pattern,
    pub(super) navigation: Vec<Pattern>,
    skip: Option<Pattern>,
}

impl FromOptions for PageJsonSettings {
    fn from_options(options: &toml::Table) -> Result<Self, String> {
        let options: PageJsonOptions = read(options)?;
        levels::check_numbered(&options.container)?;
        let number = &options.number;
        Pattern::new(number)
            .map_err(|error| format!("option 'number': '{number}' is not a regular expression: {error}"))?;
        let joint = r",?\s+(?:to|and|through)\s+|,\s+|\s*[–—]\s*";
        let further = format!(r"(?P<joint>{joint})(?P<number>{number}|\d+(?:\.\d+)?)\]?");
        let others = format!(r"(?:(?:{joint})(?:{number}|\d+(?:\.\d+)?)\]?)*");
        let opening = format!(
            r"^(?P<open>\[)?§§?\s*(?P<first>{number})(?P<close>\])?(?P<others>{others})(?P<old>\s*\[OLD\])?(?:\.?\s+|$)"
        );
        let pattern = |form: &str| Pattern::new(form).map_err(|error| format!("option 'number': {error}"));
        Ok(Self {
            opening: pattern(&opening)?,
            further: pattern(&further)?,
            containers: options.container,
            topics: options.topics,
            navigation: options.navigation,
            skip: options.skip,
        })
    }

    fn skip(&self) -> Option<&Pattern> {
        self.skip.as_ref()
    }
}
