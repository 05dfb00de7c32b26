//! The words of a query, and how text is split into words.

use std::cell::RefCell;

use hornbook_corpus::analyzer::{Analyzer, TokenRole};

/// One word of the query: a term, or a compound that is found as its whole or by its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QueryWord {
    /// The compound in one term, such as `1395w-4`.
    pub whole: Option<String>,
    pub parts: Vec<String>,
    /// Other terms that also find the word.
    pub alternative_terms: Vec<AlternativeTerm>,
}

/// A term that also finds a word of the query, such as a synonym.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AlternativeTerm {
    pub term: String,
    /// Its weight relative to the word's own terms.
    pub share: f32,
}

impl QueryWord {
    /// A word that has one term.
    pub(crate) fn of(term: String) -> Self {
        Self { parts: vec![term], ..Self::default() }
    }

    /// A compound without its parts; the caller adds them.
    pub(crate) fn compound(whole: String) -> Self {
        Self { whole: Some(whole), ..Self::default() }
    }

    /// Adds a term that also finds the word, unless the word already has it.
    pub(crate) fn add(&mut self, term: &str, share: f32) {
        let has = |own: &String| own == term;
        if !self.parts.iter().chain(&self.whole).any(has)
            && !self.alternative_terms.iter().any(|also| also.term == term)
        {
            self.alternative_terms.push(AlternativeTerm { term: term.to_owned(), share });
        }
    }

    /// Whether it is a number of several parts, such as a section number. One part alone is a different number.
    fn is_number(&self) -> bool {
        self.whole.is_some() && self.parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// The terms that are highlighted in snippets.
    pub(crate) fn shown_terms(&self) -> impl Iterator<Item = &String> {
        let parts = if self.is_number() { &[] } else { self.parts.as_slice() };
        self.whole.iter().chain(parts).chain(self.alternative_terms.iter().map(|also| &also.term))
    }

    /// All terms that find the word.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &String> {
        self.whole.iter().chain(&self.parts).chain(self.alternative_terms.iter().map(|also| &also.term))
    }
}

pub(crate) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂')
}

pub(crate) fn with_analyzer<R>(work: impl FnOnce(&mut Analyzer) -> R) -> R {
    thread_local! {
        static ANALYZER: RefCell<Analyzer> = RefCell::default();
    }
    ANALYZER.with_borrow_mut(work)
}

/// The terms of a text in sequence; a compound is given by its parts.
pub(crate) fn terms_in_sequence(text: &str) -> Vec<String> {
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

/// The term of a word that has only letters.
pub(crate) fn term_of(word: &str) -> String {
    let mut term = String::new();
    with_analyzer(|analyzer| analyzer.analyze(word, |token| token.text.clone_into(&mut term)));
    term
}
