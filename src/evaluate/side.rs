//! The results of one setting for a judged query, to show next to those of another setting.

use hornbook_corpus::ids::NodeId;
use hornbook_search::{Engine, Filter, Mode, SearchError, SearchRequest};

use super::judged::ReadyQuery;
use super::measures::Measure;

/// The number of results to show; nDCG@10 considers no more.
const SHOWN: u32 = 10;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct SideResult {
    pub ndcg: f64,
    pub listed: Vec<ListedHit>,
}

/// A result in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedHit {
    /// The id of the provision, which is the same in every snapshot.
    pub id: NodeId,
    pub citation: String,
    pub heading: String,
    pub is_living: bool,
    /// 0 if the result is not judged.
    pub grade: u8,
}

/// Searches for a query and grades the results.
pub fn run_side(engine: &Engine, query: &ReadyQuery, mode: Mode) -> Result<SideResult, SearchError> {
    let filter = Filter::within(query.range);
    let request =
        SearchRequest { mode, depth: query.depth, limit: SHOWN, filter: &filter, ..SearchRequest::new(&query.query) };
    let response = engine.search(&request)?;
    let found: Vec<u8> = response.hits.iter().map(|hit| query.grade(hit.node)).collect();
    let judged: Vec<u8> = query.grades.iter().map(|&(_, grade)| grade).collect();
    let mut listed = Vec::with_capacity(found.len());
    for (hit, grade) in response.hits.iter().zip(&found) {
        let shown = engine.hydrate(hit)?;
        let (citation, is_living) = (shown.citation.to_owned(), shown.shown.status.may_be_in_force());
        listed.push(ListedHit {
            id: shown.id,
            citation,
            heading: shown.heading.into_owned(),
            is_living,
            grade: *grade,
        });
    }
    Ok(SideResult { ndcg: Measure::Ndcg10.of(&found, &judged), listed })
}
