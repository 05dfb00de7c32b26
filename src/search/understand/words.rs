//! One word of a query, and what its words are read with.

use std::cell::RefCell;

use hornbook_corpus::analyzer::Analyzer;

/// One word of the query: a term, or a compound that is found as its whole or by its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) struct QueryWord {
    /// The compound in one term, such as `1395w-4`.
    pub whole: Option<String>,
    pub parts: Vec<String>,
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂')
}

pub(in crate::search) fn with_analyzer<R>(work: impl FnOnce(&mut Analyzer) -> R) -> R {
    thread_local! {
        static ANALYZER: RefCell<Analyzer> = RefCell::default();
    }
    ANALYZER.with_borrow_mut(work)
}
