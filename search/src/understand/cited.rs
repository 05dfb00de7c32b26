//! Finds what a query cites: citations in any spelling, ranges and lists, and bare section numbers.

use std::ops::Range;

use hornbook_corpus::analyzer::TokenRole;
use hornbook_corpus::citation::{Citation, Locator, PopularCitation};
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::snapshot::Snapshot;

use super::words::{QueryWord, is_quote, with_analyzer};

/// The maximum number of provisions that a query can cite. A list of a hundred sections is not a search.
const CITED_MAX: usize = 32;

/// How many dashes of a number are tried as the dash of a range.
const DASHES_TRIED_MAX: usize = 4;

/// A citation in a query, with the provisions of the snapshot that it names.
pub(super) struct FoundCitation {
    pub bytes: Range<usize>,
    pub nodes: Vec<NodeOrdinal>,
}

/// The citations in a query that name provisions of the snapshot, in order.
pub(super) fn citations_in(snapshot: &Snapshot, query: &str) -> Result<Vec<FoundCitation>, NodesError> {
    let mut citations: Vec<FoundCitation> = Vec::new();
    let mut cited = 0;
    for (bytes, citation) in snapshot.grammar().find_in(query) {
        if cited >= CITED_MAX {
            break;
        }
        let nodes = cited_provisions(snapshot, &citation)?;
        if !nodes.is_empty() {
            cited += nodes.len();
            citations.push(FoundCitation { bytes, nodes });
        }
    }
    for (bytes, citation) in snapshot.grammar().acts_in(query) {
        let is_apart = |other: &FoundCitation| other.bytes.end <= bytes.start || bytes.end <= other.bytes.start;
        if cited < CITED_MAX && citations.iter().all(is_apart) {
            let nodes = cited_provisions(snapshot, &citation)?;
            cited += nodes.len();
            citations.extend((!nodes.is_empty()).then_some(FoundCitation { bytes, nodes }));
        }
    }
    citations.sort_by_key(|citation| citation.bytes.start);
    if citations.is_empty() && query.bytes().any(|byte| byte.is_ascii_digit()) {
        // Some codes have citations in a form that the grammar does not know. They are found by their
        // whole text.
        let found = snapshot.nodes_with_citation(query.trim().trim_matches(is_quote))?;
        let nodes = found.into_iter().map(|(node, _)| node).filter(|&node| snapshot.outline.is_provision(node));
        let nodes: Vec<NodeOrdinal> = nodes.collect();
        if !nodes.is_empty() {
            citations.push(FoundCitation { bytes: 0..query.len(), nodes });
        }
    }
    if citations.is_empty() {
        citations.extend(whole_act(snapshot, query)?);
    }
    Ok(citations)
}

/// If a query is only the name of a small act, it cites the sections of the act. Sections of a large
/// act are easier to find by words.
fn whole_act(snapshot: &Snapshot, query: &str) -> Result<Option<FoundCitation>, NodesError> {
    let popular = snapshot.grammar().parse_popular(query);
    let Some([PopularCitation::Act(act) | PopularCitation::Section { listed: Some(act), .. }]) = popular.as_deref()
    else {
        return Ok(None);
    };
    let nodes = cited_provisions(snapshot, act)?;
    let is_small = !nodes.is_empty() && nodes.len() < CITED_MAX;
    Ok(is_small.then_some(FoundCitation { bytes: 0..query.len(), nodes }))
}

/// The provisions that the citations name, in order, each once.
pub(super) fn cited_by(citations: Vec<FoundCitation>) -> Vec<NodeOrdinal> {
    let mut cited = Vec::new();
    for node in citations.into_iter().flat_map(|citation| citation.nodes) {
        if !cited.contains(&node) {
            cited.push(node);
        }
    }
    cited.truncate(CITED_MAX);
    cited
}

/// The provisions that a citation names: those with this citation, or all from the first to the last of
/// a range.
fn cited_provisions(snapshot: &Snapshot, citation: &Citation) -> Result<Vec<NodeOrdinal>, NodesError> {
    let found = exact_provisions(snapshot, citation)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let Locator::Numbered { number, last, .. } = &citation.place else { return Ok(found) };
    if let Some(last) = last {
        let first = exact_provisions(snapshot, &with_number(citation, number))?;
        let through = range(snapshot, &first, &exact_provisions(snapshot, &with_number(citation, last))?);
        return Ok(if through.is_empty() { first } else { through });
    }
    // In some codes a number can contain a dash. `1692c-1692e` is a range only because no such section exists.
    for (dash, _) in number.match_indices('-').take(DASHES_TRIED_MAX) {
        let (first, last) = (with_number(citation, &number[..dash]), with_number(citation, &number[dash + 1..]));
        let through = range(snapshot, &exact_provisions(snapshot, &first)?, &exact_provisions(snapshot, &last)?);
        if !through.is_empty() {
            return Ok(through);
        }
    }
    Ok(found)
}

/// The provisions with exactly this citation.
fn exact_provisions(snapshot: &Snapshot, citation: &Citation) -> Result<Vec<NodeOrdinal>, NodesError> {
    let found = snapshot.nodes_with_citation(&snapshot.grammar().format(citation))?;
    // A former citation counts only if no provision has this citation today.
    let best = found.first().map(|&(_, kind)| kind);
    let same = found.into_iter().filter(|&(_, kind)| Some(kind) == best).map(|(node, _)| node);
    Ok(same.filter(|&node| snapshot.outline.is_provision(node)).collect())
}

fn with_number(citation: &Citation, number: &str) -> Citation {
    let mut one = citation.clone();
    if let Locator::Numbered { number: own, last, .. } = &mut one.place {
        *own = number.into();
        *last = None;
    }
    one
}

/// The provisions from the earliest in `first` to the latest in `last`, in code order; none if that
/// range is empty.
fn range(snapshot: &Snapshot, first: &[NodeOrdinal], last: &[NodeOrdinal]) -> Vec<NodeOrdinal> {
    let (Some(first), Some(last)) = (first.iter().min(), last.iter().max()) else { return Vec::new() };
    let between = (first.0..=last.0).map(NodeOrdinal).filter(|&node| snapshot.outline.is_provision(node));
    between.take(CITED_MAX).collect()
}

/// The maximum number of bare section numbers that are used.
const NUMBERS_MAX: usize = 4;

/// Words that can only be section numbers: compounds with digits, or a number that is the whole query.
pub(super) fn numbers_in(words: &[QueryWord]) -> Vec<String> {
    let compounds = words.iter().filter_map(|word| word.whole.clone());
    let mut numbers: Vec<String> = compounds.filter(|whole| whole.bytes().any(|byte| byte.is_ascii_digit())).collect();
    if let [QueryWord { whole: None, parts, .. }] = words
        && let [only] = parts.as_slice()
        && only.starts_with(|first: char| first.is_ascii_digit())
    {
        numbers.push(only.clone());
    }
    numbers.truncate(NUMBERS_MAX);
    numbers
}

/// The number at the end of a citation, as a term of the index.
pub(crate) fn number_of(citation: &str) -> Option<String> {
    // The words of a query would not do here, because they list each word once: 12 U.S.C. § 12 has its
    // number twice.
    let mut number = None;
    with_analyzer(|analyzer| {
        analyzer.analyze(citation, |token| {
            if token.role != TokenRole::Part {
                number = Some(token.text.to_owned());
            }
        });
    });
    number
}

#[cfg(test)]
mod tests {
    use super::super::read_words;
    use super::*;

    #[test]
    fn bare_numbers_are_recognised_among_words() {
        let numbers = |text: &str| numbers_in(&read_words(text).words);
        assert_eq!(numbers("section 55.1-1226"), number_of("Va. Code § 55.1-1226").into_iter().collect::<Vec<_>>());
        assert_eq!(numbers("§ 823"), ["823"]);
        assert!(numbers("30 days notice").is_empty() && numbers("non-profit").is_empty());
        assert_ne!(number_of("3 S.F.C. § 1823").as_deref(), Some("823"));
        assert_eq!(number_of("12 U.S.C. § 12").as_deref(), Some("12"), "the title has the same number");
    }
}
