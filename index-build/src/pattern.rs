//! Regular expressions of plans and of the program, checked when a plan is read and compiled once per thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex::Regex;
use serde::Deserialize;

/// A shared regular expression. Cloning a `Regex` instead would give each clone its own empty caches.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Rc<Regex>);

impl std::ops::Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}

thread_local! {
    /// Every document of a source uses the same few patterns, and compiling one takes longer than
    /// reading a chapter.
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

    /// A pattern of the program itself, or the default of an option that a plan does not set.
    pub(crate) fn fixed(text: &str) -> Self {
        Self::new(text).unwrap_or_else(|error| unreachable!("built-in pattern is invalid: {error}"))
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(|error| {
            // The last line of the message states the error; the lines before it show the pattern.
            let what = error.to_string();
            let what = what.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            serde::de::Error::custom(format!("'{text}' is not a regular expression: {what}"))
        })
    }
}
