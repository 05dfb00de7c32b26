//! One word of a query, and what its words are read with.

use std::cell::RefCell;

use hornbook_corpus::analyzer::{Analyzer, TokenRole};

/// One word of the query: a term, or a compound that is found as its whole or by its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::search) struct QueryWord {
    /// The compound in one term, such as `1395w-4`.
    pub whole: Option<String>,
    pub parts: Vec<String>,
    /// What it is also found by.
    pub also: Vec<Also>,
}

/// A term that means a word of the query, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::search) struct Also {
    pub term: String,
    /// What it counts against the word's own one.
    pub share: f32,
}

impl QueryWord {
    /// The word of one term.
    pub(in crate::search) fn of(term: String) -> Self {
        Self { parts: vec![term], ..Self::default() }
    }

    /// A compound, whose parts are yet to come.
    pub(in crate::search) fn compound(whole: String) -> Self {
        Self { whole: Some(whole), ..Self::default() }
    }

    /// Adds a term that it is also found by, unless it has that anyhow.
    pub(in crate::search) fn add(&mut self, term: &str, share: f32) {
        let has = |own: &String| own == term;
        if !self.parts.iter().chain(&self.whole).any(has) && !self.also.iter().any(|also| also.term == term) {
            self.also.push(Also { term: term.to_owned(), share });
        }
    }

    /// Whether it is a number of several parts, such as that of a section: a part of it alone is another number.
    fn is_number(&self) -> bool {
        self.whole.is_some() && self.parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// The terms by which it is shown where it was found.
    pub(in crate::search) fn shown_terms(&self) -> impl Iterator<Item = &String> {
        let parts = if self.is_number() { &[] } else { self.parts.as_slice() };
        self.whole.iter().chain(parts).chain(self.also.iter().map(|also| &also.term))
    }

    /// Every term that it is found by.
    pub(in crate::search) fn terms(&self) -> impl Iterator<Item = &String> {
        self.whole.iter().chain(&self.parts).chain(self.also.iter().map(|also| &also.term))
    }
}

pub(in crate::search) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂')
}

pub(in crate::search) fn with_analyzer<R>(work: impl FnOnce(&mut Analyzer) -> R) -> R {
    thread_local! {
        static ANALYZER: RefCell<Analyzer> = RefCell::default();
    }
    ANALYZER.with_borrow_mut(work)
}

/// The terms of a text in a row, compounds as their parts.
pub(super) fn row_of(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    with_analyzer(|analyzer| {
        analyzer.analyze(text, |token| {
            if token.role != TokenRole::Whole {
                terms.push(token.text.to_owned());
            }
        });
    });
    terms
}

/// The term of a word of letters.
pub(in crate::search) fn term_of(word: &str) -> String {
    let mut term = String::new();
    with_analyzer(|analyzer| analyzer.analyze(word, |token| token.text.clone_into(&mut term)));
    term
}
