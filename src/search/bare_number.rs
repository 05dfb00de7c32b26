//! Reads a section number without the name of its code as a citation: `55.1-1226` within Virginia.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;

use super::error::SearchError;
use super::filter::Scope;
use super::keyword::KeywordLeg;
use super::understand::{Understood, number_of};

/// A section number that more provisions bear cites none of them.
const BEARERS_MAX: usize = 4;

/// Among how many provisions with a number in their citation its bearers are looked for.
const CANDIDATES_MAX: usize = 64;

/// A section number alone cites, where only few provisions of the range bear it.
pub(super) fn cite_bare_numbers(
    snapshot: &Snapshot,
    keyword: &KeywordLeg,
    understood: &mut Understood,
    scope: &Scope<'_>,
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
        if found.len() <= BEARERS_MAX {
            found.retain(|node| !understood.cited.contains(node));
            understood.cited.append(&mut found);
        }
    }
    Ok(())
}
