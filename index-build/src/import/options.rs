//! Options of formats in plans: regular expressions, checked when the plan is read and compiled once for each thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex::Regex;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::import::document::{Document, Parsed, Refusal};
use crate::import::target::Target;

/// A regular expression of a plan. It is shared: a clone of a `Regex` would begin with empty caches and fill them anew.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Rc<Regex>);

impl std::ops::Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}

thread_local! {
    /// Every document of a source has the same few patterns, and compiling one takes longer than reading a chapter.
    static COMPILED: RefCell<HashMap<String, Pattern>> = RefCell::default();
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, regex::Error> {
        if let Some(known) = COMPILED.with_borrow(|compiled| compiled.get(text).cloned()) {
            return Ok(known);
        }
        let pattern = Self(Rc::new(Regex::new(text)?));
        COMPILED.with_borrow_mut(|compiled| compiled.insert(text.to_owned(), pattern.clone()));
        Ok(pattern)
    }

    /// A pattern of our own, for an option that a plan does not set.
    pub(crate) fn fixed(text: &str) -> Self {
        Self::new(text).unwrap_or_else(|error| unreachable!("a pattern of ours: {error}"))
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(|error| {
            // The last line of the message says what is wrong; those before it draw the pattern.
            let what = error.to_string();
            let what = what.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            serde::de::Error::custom(format!("'{text}' is not a regular expression: {what}"))
        })
    }
}

/// Reads the options of a format; the message names the option.
pub(crate) fn read<O: DeserializeOwned>(options: &toml::Table) -> Result<O, String> {
    options.clone().try_into().map_err(|error: toml::de::Error| {
        // The span is of a table without its file: what matters is the key, which the whole message names.
        let key = error_key(options, error.message());
        match key {
            Some(key) => format!("option '{key}': {}", error.message()),
            None => format!("[source.options]: {}", error.message()),
        }
    })
}

/// Settings made of the options of a plan.
pub(crate) trait FromOptions: Sized {
    fn from_options(options: &toml::Table) -> Result<Self, String>;

    /// Documents, by path, that are of another code body.
    fn skip(&self) -> Option<&Pattern> {
        None
    }
}

/// What is wrong with the options of a plan.
pub(crate) fn check<S: FromOptions>(options: &toml::Table) -> Result<(), String> {
    S::from_options(options).map(|_| ())
}

/// What `read` finds in a document by these settings, unless they leave it out. It may refuse the document.
pub(crate) fn read_by<S: FromOptions>(
    document: &Document,
    target: Target<'_>,
    read: impl FnOnce(&S) -> Result<Parsed, Refusal>,
) -> Parsed {
    let settings = match S::from_options(target.options) {
        Ok(settings) => settings,
        Err(what) => return Parsed::refused(document.position(1), what),
    };
    if settings.skip().is_some_and(|skip| skip.is_match(document.path())) {
        return Parsed::skipped();
    }
    let parsed = read(&settings).unwrap_or_else(|(position, what)| Parsed::refused(position, what));
    Parsed { is_read_by_forms: true, ..parsed }
}

/// The option whose value a message complains about.
fn error_key<'o>(options: &'o toml::Table, message: &str) -> Option<&'o str> {
    let holds = |value: &toml::Value| value.as_str().is_some_and(|text| message.starts_with(&format!("'{text}'")));
    fn any(value: &toml::Value, holds: &impl Fn(&toml::Value) -> bool) -> bool {
        match value {
            toml::Value::Array(values) => values.iter().any(|value| any(value, holds)),
            toml::Value::Table(table) => table.values().any(|value| any(value, holds)),
            value => holds(value),
        }
    }
    options.iter().find(|(_, value)| any(value, &holds)).map(|(key, _)| key.as_str())
}
