//! Finds out which of the best keyword matches have the words of a query in a row, as they were typed.

use super::error::SearchError;
use super::fuse::Candidate;
use super::keyword::{KeywordFound, KeywordLeg};
use super::understand::Understood;

/// Among how many of the best keyword matches words in a row are looked for.
const CHECKED: usize = 48;

/// Notes which of the best keyword matches have the words of the query in a row.
pub(super) fn note_rows(
    keyword: &KeywordLeg,
    understood: &Understood,
    found: &KeywordFound,
    head: &mut [Candidate],
) -> Result<(), SearchError> {
    let Some(row) = &understood.in_a_row else { return Ok(()) };
    let mut docs: Vec<u32> = found.best(CHECKED).into_iter().flatten().map(|scored| scored.doc).collect();
    docs.sort_unstable();
    let with_row = keyword.having_in_a_row(row, &docs)?;
    for candidate in head {
        candidate.in_a_row = with_row.binary_search(&candidate.node.0).is_ok();
    }
    Ok(())
}
