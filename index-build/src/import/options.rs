//! Options of formats in plans, checked when the plan is read.

use serde::de::DeserializeOwned;

use crate::import::document::{Document, DocumentError, Parsed};
use crate::import::target::ImportTarget;
use crate::pattern::Pattern;

/// Reads the options of a format. An error message names the option.
pub(crate) fn read<O: DeserializeOwned>(options: &toml::Table) -> Result<O, String> {
    options.clone().try_into().map_err(|error: toml::de::Error| {
        // The span refers to a table without its file, so the message names the key instead.
        let key = error_key(options, error.message());
        match key {
            Some(key) => format!("option '{key}': {}", error.message()),
            None => format!("[source.options]: {}", error.message()),
        }
    })
}

/// Settings made from the options of a plan.
pub(crate) trait FromOptions: Sized {
    fn from_options(options: &toml::Table) -> Result<Self, String>;

    /// Matches the paths of documents that belong to another code body.
    fn skip(&self) -> Option<&Pattern> {
        None
    }
}

/// Checks the options of a plan.
pub(crate) fn check<S: FromOptions>(options: &toml::Table) -> Result<(), String> {
    S::from_options(options).map(|_| ())
}

/// Runs `read` on a document with these settings, unless they skip the document. `read` may refuse it.
pub(crate) fn read_by<S: FromOptions>(
    document: &Document,
    target: ImportTarget<'_>,
    read: impl FnOnce(&S) -> Result<Parsed, DocumentError>,
) -> Parsed {
    let settings = match S::from_options(target.options) {
        Ok(settings) => settings,
        Err(what) => return Parsed::refused(document.position(1), what),
    };
    if settings.skip().is_some_and(|skip| skip.is_match(document.path())) {
        return Parsed::skipped();
    }
    let parsed = read(&settings).unwrap_or_else(|(position, what)| Parsed::refused(position, what));
    Parsed { uses_plan_patterns: true, ..parsed }
}

/// The option whose value a message is about.
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
