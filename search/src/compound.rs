//! Finds compounds that the query writes as two words: `smoke free` also finds `smokefree`, if the
//! index contains it.

use super::error::SearchError;
use super::keyword::KeywordLeg;
use super::understand::{ParsedQuery, QueryWord, SplitCompound};

/// Adds the compound of two neighbouring words to the query, if the index contains it.
pub(super) fn add_compounds(keyword: &KeywordLeg, understood: &mut ParsedQuery) -> Result<(), SearchError> {
    for SplitCompound { words: [first, second], whole } in &understood.apart {
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
