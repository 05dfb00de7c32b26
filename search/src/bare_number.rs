//! Reads a section number without the name of its code as a citation: `55.1-1226` in Virginia.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;

use super::error::SearchError;
use super::filter::SearchScope;
use super::keyword::KeywordLeg;
use super::understand::{ParsedQuery, number_of};

/// If more provisions than this have the section number, it cites none of them.
const MATCHES_PER_NUMBER_MAX: usize = 4;

/// If the citations of more provisions than this contain the number, none of them is checked.
const CANDIDATES_MAX: usize = 64;

/// Makes each section number a citation if only a few provisions in the scope have this number.
pub(super) fn cite_bare_numbers(
    snapshot: &Snapshot,
    keyword: &KeywordLeg,
    understood: &mut ParsedQuery,
    scope: &SearchScope<'_>,
) -> Result<(), SearchError> {
    for term in &understood.numbers {
        let bearers = keyword.with_citation_term(term, &scope.ranges, CANDIDATES_MAX)?;
        let mut found = Vec::new();
        for node in bearers.into_iter().map(NodeOrdinal) {
            let citation = snapshot.cards.get(node)?.citation;
            if number_of(citation).as_deref() == Some(term) {
                found.push(node);
            }
        }
        found.retain(|&node| scope.contains(node));
        if found.len() <= MATCHES_PER_NUMBER_MAX {
            found.retain(|node| !understood.cited.contains(node));
            understood.cited.append(&mut found);
        }
    }
    Ok(())
}
