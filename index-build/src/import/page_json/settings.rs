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
    /// Matches what a section begins with, up to its heading. Its groups are `first`, `last` and `old`.
    pub(super) opening: Pattern,
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
        let opening = format!(
            r"^\[?§§?\s*(?P<first>{number})\]?(?:(?:,?\s+(?:to|and|through)\s+|,\s+)(?P<last>{number}|\d+(?:\.\d+)?)\]?)*(?P<old>\s*\[OLD\])?(?:\.?\s+|$)"
        );
        let opening = Pattern::new(&opening).map_err(|error| format!("option 'number': {error}"))?;
        Ok(Self {
            opening,
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
