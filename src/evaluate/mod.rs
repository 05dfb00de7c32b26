//! Measures the quality and speed of search with judged queries, and computes confidence intervals.
//!
//! Quality and time are measured separately: quality on the first 100 results of one search, time on a
//! page of the usual size.

mod census;
mod fit;
mod floors;
mod generate;
mod judged;
mod measures;
mod misspell;
mod side;
mod statistics;

use std::time::Instant;

use hornbook_search::{Engine, Filter, Mode, SearchError, SearchRequest};
use serde::Serialize;

pub use census::{
    CensusCount, CensusError, CensusMiss, CensusOutcome, CensusRow, CensusScore, MissReason, census_scores,
    read_census, resolve_census_row,
};
pub use fit::{TrainingExample, fit, training_examples};
pub use floors::{FLOOR_TOLERANCE, Floor, FloorCheck, FloorsError, check_floors, floors_text, read_floors};
pub use generate::generate_queries;
pub use judged::{
    JudgedError, JudgedQuery, Judgement, ReadyQuery, SkippedQueries, Split, headings, prepare, read, use_clean_queries,
};
pub use measures::Measure;
pub use misspell::add_typos;
pub use side::{ListedHit, SideResult, run_side};
pub use statistics::{Estimate, Paired, percentile};

/// The number of results that the measures consider.
const DEPTH: u32 = 100;

/// The number of results on the page that is timed.
const PAGE: u32 = 20;

/// The scores of one query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryScores {
    pub id: String,
    pub kind: String,
    /// In the order of [`Measure::ALL`].
    pub scores: [f64; Measure::ALL.len()],
}

/// Searches for one query and measures the result list.
pub fn measure(engine: &Engine, query: &ReadyQuery, mode: Mode) -> Result<QueryScores, SearchError> {
    let filter = Filter::within(query.range);
    let request = SearchRequest { limit: DEPTH, filter: &filter, ..request_for(query, mode) };
    let response = engine.search(&request)?;
    let found: Vec<u8> = response.hits.iter().map(|hit| query.grade(hit.node)).collect();
    let judged: Vec<u8> = query.grades.iter().map(|&(_, grade)| grade).collect();
    let scores = Measure::ALL.map(|measure| measure.of(&found, &judged));
    Ok(QueryScores { id: query.id.clone(), kind: query.kind.clone(), scores })
}

fn request_for(query: &ReadyQuery, mode: Mode) -> SearchRequest<'_> {
    SearchRequest { mode, depth: query.depth, exact: query.is_exact, ..SearchRequest::new(&query.query) }
}

/// Measures the time from a query to a displayed page of 20 results, snippets included, in microseconds.
pub fn time(engine: &Engine, query: &ReadyQuery, mode: Mode) -> Result<f64, SearchError> {
    let began = Instant::now();
    let filter = Filter::within(query.range);
    let request = SearchRequest { limit: PAGE, filter: &filter, ..request_for(query, mode) };
    let mut response = engine.search(&request)?;
    std::hint::black_box(engine.show(&mut response)?);
    Ok(began.elapsed().as_secs_f64() * 1e6)
}

/// The measures over one kind of query, or over all kinds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub kind: String,
    pub queries: usize,
    /// In the order of [`Measure::ALL`].
    pub estimates: [Estimate; Measure::ALL.len()],
}

/// The name of the summary over all kinds.
pub const ALL_KINDS: &str = "all";

/// The kinds in order of first appearance, followed by [`ALL_KINDS`] if there are several.
pub fn kinds(scores: &[QueryScores]) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for query in scores {
        if !kinds.contains(&query.kind) {
            kinds.push(query.kind.clone());
        }
    }
    if kinds.len() > 1 {
        kinds.push(ALL_KINDS.to_owned());
    }
    kinds
}

/// The values of one measure for one kind.
pub fn values(scores: &[QueryScores], kind: &str, measure: Measure) -> Vec<f64> {
    let of_kind = scores.iter().filter(|query| kind == ALL_KINDS || query.kind == kind);
    of_kind.map(|query| query.scores[measure as usize]).collect()
}

pub fn summarise(scores: &[QueryScores]) -> Vec<Summary> {
    let of_kind = |kind: String| {
        let estimates = Measure::ALL.map(|measure| Estimate::of(&values(scores, &kind, measure)));
        Summary { queries: values(scores, &kind, Measure::First).len(), kind, estimates }
    };
    kinds(scores).into_iter().map(of_kind).collect()
}

/// Two settings compared by one measure, over one kind of query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedComparison {
    pub kind: String,
    pub measure: Measure,
    #[serde(flatten)]
    pub paired: Paired,
}

/// Compares two settings over the same queries by nDCG@10 and MRR@10.
pub fn compare(first: &[QueryScores], second: &[QueryScores]) -> Vec<PairedComparison> {
    let mut comparisons = Vec::new();
    for kind in kinds(first) {
        for measure in [Measure::Ndcg10, Measure::Mrr10] {
            let paired = Paired::of(&values(first, &kind, measure), &values(second, &kind, measure));
            comparisons.push(PairedComparison { kind: kind.clone(), measure, paired });
        }
    }
    comparisons
}

/// The latencies of a series of searches, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    pub searches: usize,
    pub median: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

impl Latency {
    pub fn of(mut micros: Vec<f64>) -> Self {
        micros.sort_unstable_by(f64::total_cmp);
        let at = |part| percentile(&micros, part);
        Self { searches: micros.len(), median: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(kind: &str, first: f64) -> QueryScores {
        QueryScores { id: "q".into(), kind: kind.into(), scores: [first, 0.5, 0.0, 0.0, 1.0] }
    }

    #[test]
    fn summaries_cover_each_kind_and_all_kinds() {
        let all = [scores("topic", 0.2), scores("question", 1.0), scores("topic", 0.4)];
        let summaries = summarise(&all);
        let means: Vec<_> = summaries.iter().map(|s| (s.kind.as_str(), s.queries, s.estimates[0].mean)).collect();
        assert_eq!(means.len(), 3);
        for ((kind, queries, mean), expected) in
            means.into_iter().zip([("topic", 2, 0.3), ("question", 1, 1.0), ("all", 3, 1.6 / 3.0)])
        {
            assert_eq!((kind, queries), (expected.0, expected.1));
            assert!((mean - expected.2).abs() < 1e-9);
        }
        assert_eq!(kinds(&all[1..2]), ["question"], "one kind alone is all");
    }

    #[test]
    fn settings_are_compared_query_by_query() {
        let before = [scores("topic", 0.2), scores("topic", 0.4)];
        let after = [scores("topic", 0.5), scores("topic", 0.3)];
        let comparisons = compare(&after, &before);
        assert_eq!((comparisons[0].paired.better, comparisons[0].paired.worse), (1, 1));
        assert!((comparisons[0].paired.difference.mean - 0.1).abs() < 1e-9);
        assert_eq!((comparisons[1].measure, comparisons[1].paired.difference.mean), (Measure::Mrr10, 0.0));
    }

    #[test]
    fn latencies_are_summarised_by_percentiles() {
        let latency = Latency::of((1..=100).rev().map(f64::from).collect());
        assert_eq!(
            (latency.searches, latency.median, latency.p90, latency.p99, latency.max),
            (100, 51.0, 90.0, 99.0, 100.0)
        );
    }
}
