//! Finds the best keyword matches that contain the words of the query in sequence, as typed.

use super::error::SearchError;
use super::fuse::Candidate;
use super::keyword::{KeywordFound, KeywordLeg};
use super::understand::ParsedQuery;

/// How many of the best keyword matches are checked; of those no longer in force, fewer.
const SEQUENCE_CHECKS_MAX: usize = 48;

/// Marks the candidates that are among the best keyword matches and contain the words of the query in sequence.
pub(super) fn mark_sequences(
    keyword: &KeywordLeg,
    understood: &ParsedQuery,
    found: &KeywordFound,
    head: &mut [Candidate],
) -> Result<(), SearchError> {
    let Some(row) = &understood.word_sequence else { return Ok(()) };
    let mut docs: Vec<u32> = found.best(SEQUENCE_CHECKS_MAX).into_iter().flatten().map(|scored| scored.doc).collect();
    docs.sort_unstable();
    let with_row = keyword.filter_by_phrase(row, &docs)?;
    for candidate in head {
        candidate.in_a_row = with_row.binary_search(&candidate.node.0).is_ok();
    }
    Ok(())
}
