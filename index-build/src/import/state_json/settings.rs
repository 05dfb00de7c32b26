//! `[source.options]` of the format `state-json`: the differences between the states of one publisher.

use serde::Deserialize;

use super::signs::PrivateCharacters;
use crate::import::levels::{self, NumberedLevel};
use crate::import::options::{FromOptions, read};
use crate::pattern::Pattern;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateJsonOptions {
    /// Matches the whole number of a section. An entry without such a number is not a section.
    number: Option<Pattern>,
    /// The text before the number at the start of a text.
    #[serde(default)]
    opening: String,
    /// Matches the paragraphs above a section that repeat the names of its containers.
    running_heads: Option<Pattern>,
    /// Matches the foot of a page in texts that were read from printed pages.
    page_foot: Option<Pattern>,
    /// The sign between heading and law, if both are in one paragraph: after a full stop, or directly before the law.
    heading_end: Option<String>,
    /// Matches the start of the source credit, which continues to the end of its paragraph. Notes follow.
    credit: Option<Pattern>,
    /// Matches the paragraphs that begin the notes after the source credit.
    notes: Option<Pattern>,
    /// Matches entries named after an edition. The first group is the year, and the newest edition
    /// in a document is law.
    edition: Option<Pattern>,
    /// Containers by section number, outermost first. Without them, the path of the document is used.
    #[serde(default)]
    container: Vec<NumberedLevel>,
    /// The meaning of private-use characters.
    #[serde(default)]
    signs: PrivateCharacters,
    /// Matches the paths of documents that belong to another code body, or that repeat others.
    skip: Option<Pattern>,
}

/// The options, with defaults for those that a plan does not set.
#[derive(Debug)]
pub(crate) struct StateJsonSettings {
    pub(super) number: Pattern,
    pub(super) opening: String,
    pub(super) running_heads: Option<Pattern>,
    pub(super) page_foot: Option<Pattern>,
    pub(super) heading_end: Option<String>,
    pub(super) credit: Pattern,
    pub(super) notes: Option<Pattern>,
    pub(super) edition: Option<Pattern>,
    pub(super) containers: Vec<NumberedLevel>,
    pub(super) signs: PrivateCharacters,
    skip: Option<Pattern>,
}

impl FromOptions for StateJsonSettings {
    fn from_options(options: &toml::Table) -> Result<Self, String> {
        let options: StateJsonOptions = read(options)?;
        levels::check_numbered(&options.container)?;
        let or = |pattern: Option<Pattern>, ours: &str| pattern.unwrap_or_else(|| Pattern::fixed(ours));
        Ok(Self {
            number: or(options.number, r"^\d[\w.:-]*(?:\(\w+\))?$"),
            opening: options.opening,
            running_heads: options.running_heads,
            page_foot: options.page_foot,
            heading_end: options.heading_end,
            credit: or(options.credit, r"^(?:(?:Source|History) ?:|\[.*\b(?:c|ch|s|ss|§§?) ?\d.*\]$)"),
            notes: options.notes,
            edition: options.edition,
            containers: options.container,
            signs: options.signs,
            skip: options.skip,
        })
    }

    fn skip(&self) -> Option<&Pattern> {
        self.skip.as_ref()
    }
}
