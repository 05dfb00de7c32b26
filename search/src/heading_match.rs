//! Finds the best keyword matches whose heading is the query: "Security deposits." for `security deposit`.

use hornbook_corpus::analyzer::TokenRole;
use hornbook_corpus::cards::Cards;

use super::error::SearchError;
use super::fuse::Candidate;
use super::keyword::KeywordFound;
use super::understand::{ParsedQuery, is_stop_word_as_typed, with_analyzer};

/// How many of the best keyword matches are checked; of those no longer in force, fewer.
const HEADING_CHECKS_MAX: usize = 32;

/// Marks the candidates that are among the best keyword matches and whose heading says what the query says.
pub(super) fn mark_headings(
    cards: &Cards,
    understood: &ParsedQuery,
    found: &KeywordFound,
    head: &mut [Candidate],
) -> Result<(), SearchError> {
    let mut asked: Vec<String> = understood.words.iter().flat_map(|word| word.parts.clone()).collect();
    asked.sort_unstable();
    asked.dedup();
    let mut best: Vec<u32> = found.best(HEADING_CHECKS_MAX).into_iter().flatten().map(|scored| scored.doc).collect();
    best.sort_unstable();
    for candidate in head.iter_mut().filter(|candidate| best.binary_search(&candidate.node.0).is_ok()) {
        let heading = cards.get(candidate.node)?.heading;
        // A much longer heading says more than the query.
        if heading.len() <= 2 * understood.content.len() + 16 {
            candidate.is_heading = terms_of(heading) == asked;
        }
    }
    Ok(())
}

/// The stems of the words that matter, sorted; equal for singular and plural, and with and without articles.
fn terms_of(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    with_analyzer(|analyzer| {
        analyzer.analyze(text, |token| {
            let typed = text[token.bytes.range()].to_lowercase();
            if token.role != TokenRole::Whole && !is_stop_word_as_typed(token.text, &typed, None) {
                terms.push(token.text.to_owned());
            }
        });
    });
    terms.sort_unstable();
    terms.dedup();
    terms
}
