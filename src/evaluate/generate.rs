//! Makes judged queries from a snapshot by rule, so that everyone can measure search over their own
//! law. Queries are made from headings of law in force, headings of law no longer in force, terms that
//! the law defines, and sentences that cite another provision.
//!
//! Such queries are easier than those of real users. Each has one answer, which is not always the only
//! good one. They show the effect of a change, not the quality of search.

use std::collections::HashMap;

use hornbook_base::random::SplitMix64;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{Engine, SearchError};

use super::judged::{GRADE_MAX, JudgedQuery, Judgement, Split};

/// The maximum number of words that a query takes from the sentence around a citation.
const SENTENCE_WORDS: usize = 24;

/// A sentence with fewer words than this is too short to be a query.
const SENTENCE_WORDS_MIN: usize = 8;

/// The maximum number of words of a defined term.
const TERM_WORDS: usize = 5;

/// Makes up to this many queries of each kind, from provisions drawn evenly.
pub fn generate_queries(engine: &Engine, count: usize) -> Result<Vec<JudgedQuery>, SearchError> {
    let snapshot = engine.snapshot();
    let outline = &snapshot.outline;
    let provisions = (0..outline.len()).map(NodeOrdinal).filter(|&node| outline.is_provision(node));
    let mut provisions: Vec<NodeOrdinal> = provisions.collect();
    provisions.sort_unstable_by_key(|node| SplitMix64(u64::from(node.0) | 1 << 41).draw());
    let (living, dead): (Vec<NodeOrdinal>, Vec<NodeOrdinal>) =
        provisions.into_iter().partition(|&node| outline.status(node).may_be_in_force());
    let mut bearers: HashMap<&str, usize> = HashMap::new();
    for &node in living.iter().chain(&dead) {
        *bearers.entry(snapshot.cards.get(node)?.heading).or_default() += 1;
    }
    let mut queries = headings(snapshot, "heading", &living, &bearers, count)?;
    queries.append(&mut headings(snapshot, "repealed", &dead, &bearers, count)?);
    queries.append(&mut definitions(snapshot, &living, count)?);
    queries.append(&mut references(engine, &living, count)?);
    Ok(queries)
}

fn query(snapshot: &Snapshot, kind: &str, text: &str, answer: NodeOrdinal) -> Result<JudgedQuery, SearchError> {
    let half = if SplitMix64(u64::from(answer.0)).draw() >> 63 == 0 { Split::Tune } else { Split::Report };
    let reference = snapshot.nodes.with_archived(answer, |record| record.source_key.to_string())?;
    let citation = snapshot.cards.get(answer)?.citation.to_owned();
    Ok(JudgedQuery {
        id: format!("{kind}-{answer}"),
        kind: kind.to_owned(),
        split: half,
        query: text.to_owned(),
        clean: None,
        jurisdiction: None,
        relevant: vec![Judgement { citation, reference, grade: GRADE_MAX }],
    })
}

/// Queries from headings that only one provision has.
fn headings(
    snapshot: &Snapshot,
    kind: &str,
    nodes: &[NodeOrdinal],
    bearers: &HashMap<&str, usize>,
    count: usize,
) -> Result<Vec<JudgedQuery>, SearchError> {
    let mut queries = Vec::new();
    for &node in nodes {
        let heading = snapshot.cards.get(node)?.heading;
        if queries.len() == count {
            break;
        }
        // A heading of one word is often that of a repealed range: "Repealed".
        let is_telling = heading.split_whitespace().count() > 1 && heading.contains(char::is_alphabetic);
        if is_telling && bearers.get(heading) == Some(&1) {
            queries.push(query(snapshot, kind, heading, node)?);
        }
    }
    Ok(queries)
}

/// Queries for terms that only one provision defines.
fn definitions(snapshot: &Snapshot, nodes: &[NodeOrdinal], count: usize) -> Result<Vec<JudgedQuery>, SearchError> {
    let mut defined: HashMap<String, Vec<NodeOrdinal>> = HashMap::new();
    for &node in nodes {
        for term in terms_defined(text_of(snapshot, node)?) {
            let by = defined.entry(term.to_lowercase()).or_default();
            if by.last() != Some(&node) {
                by.push(node);
            }
        }
    }
    let mut once: Vec<(NodeOrdinal, String)> = defined
        .into_iter()
        .filter_map(|(term, by)| <[NodeOrdinal; 1]>::try_from(by).ok().map(|[node]| (node, term)))
        .collect();
    once.sort_unstable_by_key(|(node, term)| (SplitMix64(u64::from(node.0) | 1 << 42).draw(), term.clone()));
    once.dedup_by_key(|&mut (node, _)| node);
    let asked = once.into_iter().take(count);
    asked.map(|(node, term)| query(snapshot, "definition", &format!("what does {term} mean"), node)).collect()
}

/// The terms in quotation marks before `means`.
fn terms_defined(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(" means").filter_map(|(at, _)| {
        let before = text[..at].trim_end().strip_suffix(['”', '"', '’'])?;
        let start = before.rfind(['“', '"', '‘'])?;
        let term = before[start..].trim_start_matches(['“', '"', '‘']).trim_end_matches(',');
        let words = term.split_whitespace().count();
        ((1..=TERM_WORDS).contains(&words) && term.len() >= 4).then_some(term)
    })
}

/// Queries from sentences that cite another provision, without the citation.
fn references(engine: &Engine, nodes: &[NodeOrdinal], count: usize) -> Result<Vec<JudgedQuery>, SearchError> {
    let snapshot = engine.snapshot();
    let mut queries = Vec::new();
    for &node in nodes.iter().filter(|&&node| snapshot.references.outgoing(node).len() > 0) {
        if queries.len() == count {
            break;
        }
        let text = text_of(snapshot, node)?;
        let home = snapshot.cards.get(node)?.citation;
        let mentions = engine.mentions(home, text, 1)?;
        let Some((place, cited, _)) = mentions.into_iter().next().filter(|&(_, cited, _)| cited != node) else {
            continue;
        };
        let sentence = sentence_around(text, place.start, place.end);
        let is_enough = sentence.split_whitespace().count() >= SENTENCE_WORDS_MIN;
        if is_enough && snapshot.outline.is_provision(cited) && snapshot.outline.status(cited).may_be_in_force() {
            queries.push(query(snapshot, "reference", &sentence, cited)?);
        }
    }
    Ok(queries)
}

/// The words before and after a citation in its sentence, in order. Of a long sentence, only the words
/// nearest to the citation are taken.
fn sentence_around(text: &str, start: usize, end: usize) -> String {
    let from = text[..start].rfind(['.', ';', '\n']).map_or(0, |at| at + 1);
    let until = text[end..].find(['.', ';', '\n']).map_or(text.len(), |at| end + at);
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic) && !word.starts_with('(');
    let before: Vec<&str> = text[from..start].split_whitespace().filter(is_word).collect();
    let behind = text[end..until].split_whitespace().filter(is_word);
    let first = before.len().saturating_sub(SENTENCE_WORDS * 2 / 3);
    let mut words = before[first..].to_vec();
    words.extend(behind.take(SENTENCE_WORDS.saturating_sub(words.len())));
    words.join(" ")
}

fn text_of(snapshot: &Snapshot, node: NodeOrdinal) -> Result<&str, SearchError> {
    Ok(snapshot.texts.get(snapshot.cards.get(node)?.text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_taken_from_their_quotation_marks() {
        let text = "In this part:\n“Fence” means a barrier. The term \"shared wall,\" means both. \"No one whose name is so long as this\" means nothing. It means much.";
        assert_eq!(terms_defined(text).collect::<Vec<_>>(), ["Fence", "shared wall"]);
    }

    #[test]
    fn sentence_queries_leave_out_the_citation() {
        let text = "First things. A person who keeps a hive under section 12 of this title shall register it; others need not.";
        let start = text.find("section 12").unwrap();
        let sentence = sentence_around(text, start, start + "section 12 of this title".len());
        assert_eq!(sentence, "A person who keeps a hive under shall register it");
    }
}
