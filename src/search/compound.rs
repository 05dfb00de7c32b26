//! Finds compounds that a query writes apart: `smoke free` also by `smokefree`, where the law has that.

use super::error::SearchError;
use super::keyword::KeywordLeg;
use super::understand::{Apart, QueryWord, Understood};

/// Neighbouring words are also found by their compound, where the law has it.
pub(super) fn join_what_is_apart(keyword: &KeywordLeg, understood: &mut Understood) -> Result<(), SearchError> {
    for Apart { words: [first, second], whole } in &understood.apart {
        if keyword.documents_with(whole)? == 0 {
            continue;
        }
        let mut is_found = false;
        for word in understood.words.iter_mut().filter(|word| word.parts.contains(first) || word.parts.contains(second))
        {
            word.add(whole, 1.0);
            is_found = true;
        }
        if !is_found {
            understood.words.push(QueryWord::of(whole.clone()));
        }
    }
    Ok(())
}
