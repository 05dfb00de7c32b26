//! Judged queries: read from JSON Lines, and matched with the provisions of a snapshot.

use std::path::{Path, PathBuf};

use hornbook_base::random::SplitMix64;
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange, ShortCode};
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{Depth, check_query};
use serde::{Deserialize, Serialize};

/// The purpose of a query: fitting learned weights, choosing numbers by trial, or only reporting quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    Train,
    Tune,
    Report,
}

/// A line of a file of judged queries; `tests/quality/README.md` describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedQuery {
    pub id: String,
    pub kind: String,
    pub split: Split,
    pub query: String,
    /// The same query without typing errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean: Option<String>,
    pub jurisdiction: Option<ShortCode>,
    pub relevant: Vec<Judgement>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    pub citation: String,
    /// The source's identifier of the provision. It decides which one is meant if several provisions
    /// have the citation.
    #[serde(rename = "ref")]
    pub reference: String,
    /// From 1 to 3; 3 is the best answer.
    pub grade: u8,
}

/// The best grade.
pub(super) const GRADE_MAX: u8 = 3;

/// The reason why a file of judged queries cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JudgedError {
    #[error("cannot read judged queries {}: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}:{line}: {what}; tests/quality/README.md describes the format", .path.display())]
    Invalid { path: PathBuf, line: usize, what: String },
    #[error("{0}")]
    Nodes(#[from] NodesError),
}

/// Reads one file.
pub fn read(path: &Path) -> Result<Vec<JudgedQuery>, JudgedError> {
    let text = std::fs::read_to_string(path).map_err(|source| JudgedError::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|(line, what)| JudgedError::Invalid { path: path.to_owned(), line, what })
}

fn parse(text: &str) -> Result<Vec<JudgedQuery>, (usize, String)> {
    let mut queries = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let query: JudgedQuery = serde_json::from_str(line).map_err(|error| (number, error.to_string()))?;
        if query.relevant.is_empty() {
            return Err((number, format!("'{}' has no relevant provision", query.id)));
        }
        if let Some(odd) = query.relevant.iter().find(|judgement| !(1..=GRADE_MAX).contains(&judgement.grade)) {
            return Err((
                number,
                format!("'{}' has grade {}; grades are from 1 to {GRADE_MAX}", odd.citation, odd.grade),
            ));
        }
        queries.push(query);
    }
    Ok(queries)
}

/// A judged query, matched with the provisions of one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyQuery {
    pub id: String,
    pub kind: String,
    pub query: String,
    /// Whether its words are searched for as typed.
    pub is_exact: bool,
    pub depth: Depth,
    pub range: Option<OrdinalRange>,
    /// In ascending order of provisions.
    pub grades: Vec<(NodeOrdinal, u8)>,
}

impl ReadyQuery {
    pub fn grade(&self, node: NodeOrdinal) -> u8 {
        let place = self.grades.binary_search_by_key(&node, |&(judged, _)| judged);
        place.map_or(0, |place| self.grades[place].1)
    }
}

/// The judged queries and provisions that cannot be used with a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedQueries {
    /// The ids of queries of which the snapshot contains no judged provision.
    pub queries: Vec<String>,
    /// The number of judged provisions of the other queries that the snapshot does not contain.
    pub judgements: usize,
    /// Citations that several provisions have and whose reference does not decide between them. All of
    /// these provisions count.
    pub ambiguous: Vec<String>,
    /// Queries that search refuses: the id and the reason.
    pub refused: Vec<String>,
}

/// Replaces queries by their version without typing errors, to measure what the errors cost. Other
/// queries stay unchanged.
pub fn use_clean_queries(queries: &mut [JudgedQuery]) {
    for query in queries {
        if let Some(clean) = query.clean.take() {
            query.query = clean;
        }
    }
}

/// Matches queries with the provisions of a snapshot.
pub fn prepare(snapshot: &Snapshot, queries: &[JudgedQuery]) -> Result<(Vec<ReadyQuery>, SkippedQueries), JudgedError> {
    let mut left_out = SkippedQueries::default();
    let mut ready = Vec::with_capacity(queries.len());
    for query in queries {
        if let Err(error) = check_query(&query.query) {
            left_out.refused.push(format!("{}: {error}", query.id));
            continue;
        }
        let range = query.jurisdiction.as_ref().map(|code| {
            snapshot.catalogue.jurisdiction(code).map_or(OrdinalRange::new(0, 0), |jurisdiction| jurisdiction.subtree)
        });
        let mut grades = Vec::with_capacity(query.relevant.len());
        let mut missing = 0;
        for judgement in &query.relevant {
            let mut bearers = judged_provisions(snapshot, judgement)?;
            bearers.retain(|node| range.is_none_or(|range| range.contains(node.0)));
            missing += usize::from(bearers.is_empty());
            if bearers.len() > 1 {
                left_out.ambiguous.push(judgement.citation.clone());
            }
            grades.extend(bearers.into_iter().map(|node| (node, judgement.grade)));
        }
        if grades.is_empty() {
            left_out.queries.push(query.id.clone());
            continue;
        }
        left_out.judgements += missing;
        // A provision that is judged twice gets the better grade.
        grades.sort_unstable_by_key(|&(node, grade)| (node, std::cmp::Reverse(grade)));
        grades.dedup_by_key(|&mut (node, _)| node);
        let (id, kind, query) = (query.id.clone(), query.kind.clone(), query.query.clone());
        ready.push(ReadyQuery { id, kind, query, is_exact: false, depth: Depth::Fast, range, grades });
    }
    Ok((ready, left_out))
}

/// The provisions that a judgement means: those that have its citation. If there are several, the ones
/// that its reference names.
fn judged_provisions(snapshot: &Snapshot, judgement: &Judgement) -> Result<Vec<NodeOrdinal>, NodesError> {
    let found = snapshot.nodes_with_citation(&judgement.citation)?;
    let mut bearers: Vec<NodeOrdinal> = found
        .into_iter()
        .filter(|&(node, kind)| kind == CitationKind::Canonical && snapshot.outline.is_provision(node))
        .map(|(node, _)| node)
        .collect();
    if bearers.len() > 1 {
        let mut named = Vec::new();
        for &node in &bearers {
            let is_named = snapshot.nodes.with_archived(node, |record| {
                let url = record.wordings[0].source_url.as_ref().map(|url| url.as_str());
                url == Some(judgement.reference.as_str()) || is_same_reference(&judgement.reference, &record.source_key)
            })?;
            named.extend(is_named.then_some(node));
        }
        if !named.is_empty() {
            bearers = named;
        }
    }
    Ok(bearers)
}

/// Whether a source's identifier and a key made from it are the same: `/us/usc/t42/s300aa–1` and
/// `us/usc/t42/s300aa-1`.
fn is_same_reference(reference: &str, key: &str) -> bool {
    let folded = |text: &str| -> String { text.trim_matches('/').to_lowercase().replace('–', "-") };
    folded(reference) == folded(key)
}

/// Makes queries from the headings of up to this many provisions in force, drawn evenly, optionally
/// from one half. Each provision is the only answer to its heading.
pub fn headings(snapshot: &Snapshot, split: Option<Split>, count: usize) -> Result<Vec<ReadyQuery>, NodesError> {
    let half = |node: NodeOrdinal| match SplitMix64(u64::from(node.0)).draw() >> 63 {
        0 => Split::Tune,
        _ => Split::Report,
    };
    // There are only two halves; the first is also used for training.
    let split = split.map(|split| if split == Split::Train { Split::Tune } else { split });
    let outline = &snapshot.outline;
    let is_asked = |&node: &NodeOrdinal| {
        outline.is_provision(node)
            && outline.status(node).may_be_in_force()
            && split.is_none_or(|split| split == half(node))
    };
    let mut nodes: Vec<NodeOrdinal> = (0..outline.len()).map(NodeOrdinal).filter(is_asked).collect();
    nodes.sort_unstable_by_key(|node| SplitMix64(u64::from(node.0) | 1 << 40).draw());
    let mut queries = Vec::with_capacity(count);
    for node in nodes {
        if queries.len() == count {
            break;
        }
        let heading = snapshot.cards.get(node)?.heading;
        if heading.contains(char::is_alphabetic) {
            let grades = vec![(node, GRADE_MAX)];
            queries.push(ReadyQuery {
                id: format!("n{node}"),
                kind: "heading".into(),
                query: heading.to_owned(),
                is_exact: false,
                depth: Depth::Fast,
                range: None,
                grades,
            });
        }
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"id": "q1", "kind": "question", "split": "tune", "query": "how?", "jurisdiction": null, "relevant": [{"citation": "1 U.S.C. § 1", "ref": "/us/usc/t1/s1", "grade": 3}]}"#;

    #[test]
    fn judged_lines_are_read_and_errors_name_the_line() {
        let queries = parse(&format!("{LINE}\n\n{}\n", LINE.replace("q1", "q2"))).unwrap();
        assert_eq!(queries.iter().map(|query| query.id.as_str()).collect::<Vec<_>>(), ["q1", "q2"]);
        let mistake = |from: &str, to: &str| parse(&format!("{LINE}\n{}", LINE.replace(from, to))).unwrap_err();
        assert_eq!(mistake("\"grade\": 3", "\"grade\": 4").0, 2);
        assert!(mistake("tune", "guess").1.contains("unknown variant `guess`"));
        assert!(mistake("split", "half").1.contains("unknown field `half`"));
        assert!(
            mistake(r#"[{"citation": "1 U.S.C. § 1", "ref": "/us/usc/t1/s1", "grade": 3}]"#, "[]")
                .1
                .contains("no relevant")
        );
    }

    #[test]
    fn clean_queries_replace_misspelt_ones() {
        let misspelt = LINE.replace(r#""query": "how?","#, r#""query": "hwo?", "clean": "how?","#);
        let mut queries = parse(&format!("{misspelt}\n{LINE}")).unwrap();
        assert_eq!(queries[0].query, "hwo?");
        use_clean_queries(&mut queries);
        assert!(queries.iter().all(|query| query.query == "how?"));
    }

    #[test]
    fn references_match_keys_made_from_them() {
        assert!(is_same_reference("/us/usc/t42/s300aa–1", "us/usc/t42/s300aa-1"));
        assert!(!is_same_reference("/us/usc/t42/s300aa–1", "us/usc/t42/s300aa-11"));
        assert!(!is_same_reference("us/md/exec/comar/26/11/07.xml", "md/comar/s26.11.07.05"));
    }
}
