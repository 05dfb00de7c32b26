//! `[source.options]` of the format `state-json`: what differs between the states of one publisher.

use serde::Deserialize;

use super::signs::Signs;
use crate::import::levels;
use crate::import::options::{FromOptions, read};
use crate::pattern::Pattern;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The number of a section, whole. What has none is no section.
    number: Option<Pattern>,
    /// What precedes the number at the start of a text.
    #[serde(default)]
    opening: String,
    /// The words that say which acts made the section, to the end of their paragraph; what follows is notes.
    credit: Option<Pattern>,
    /// Entries named after an edition, whose year is the first group: the newest of a document is law.
    edition: Option<Pattern>,
    /// Containers by the section's number, from the outermost. Without them, the path of the document tells.
    #[serde(default)]
    container: Vec<NumberedLevel>,
    /// What characters for private use stand for.
    #[serde(default)]
    signs: Signs,
    /// Documents, by path, that are of another code body, or repeat others.
    skip: Option<Pattern>,
}

/// A level of containers whose number a section's own number begins with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberedLevel {
    pub(super) level: String,
    pub(super) number: Pattern,
}

/// The options, with our own for those that a plan does not set.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(super) number: Pattern,
    pub(super) opening: String,
    pub(super) credit: Pattern,
    pub(super) edition: Option<Pattern>,
    pub(super) containers: Vec<NumberedLevel>,
    pub(super) signs: Signs,
    skip: Option<Pattern>,
}

impl FromOptions for Settings {
    fn from_options(options: &toml::Table) -> Result<Self, String> {
        let options: Options = read(options)?;
        if let Some(unknown) = options.container.iter().find(|container| levels::short(&container.level).is_none()) {
            return Err(format!(
                "option 'container': '{}' is no level; write title, chapter, article, part or the like",
                unknown.level
            ));
        }
        let or = |pattern: Option<Pattern>, ours: &str| pattern.unwrap_or_else(|| Pattern::fixed(ours));
        Ok(Self {
            number: or(options.number, r"^\d[\w.:-]*(?:\(\w+\))?$"),
            opening: options.opening,
            credit: or(options.credit, r"^(?:(?:Source|History) ?:|\[.*\b(?:c|ch|s|ss|§§?) ?\d.*\]$)"),
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
