//! The target in this process: the search engine on a snapshot, without network, accounts and ledger.

use std::borrow::Cow;
use std::time::Duration;

use hornbook_search::{Engine, Filter, Mode, SearchRequest, Stage, StageMicros};

use super::queries::BenchQuery;
use super::{BenchError, BenchTarget, BoxFuture, Sample, SampleResult, Worker};

pub struct InProcess {
    engine: Engine,
    queries: Vec<PreparedQuery>,
    limit: u32,
}

struct PreparedQuery {
    text: String,
    mode: Mode,
    filter: Filter,
}

impl InProcess {
    /// Also returns how many queries are left out because the snapshot does not contain their jurisdiction.
    pub fn new(engine: Engine, queries: &[BenchQuery], mode: Mode, limit: u32) -> Result<(Self, usize), BenchError> {
        let ready = |query: &BenchQuery| {
            let range = match &query.jurisdiction {
                None => None,
                Some(code) => {
                    let held = engine.snapshot().catalogue.jurisdiction(&code.parse().ok()?)?;
                    Some(held.subtree).filter(|range| range.start < range.end).map(Some)?
                }
            };
            let filter = Filter::within(range);
            Some(PreparedQuery { text: query.text.clone(), mode: query.mode.unwrap_or(mode), filter })
        };
        let known: Vec<PreparedQuery> = queries.iter().filter_map(ready).collect();
        if known.is_empty() {
            return Err(BenchError("the snapshot contains none of the jurisdictions of the queries".to_owned()));
        }
        let left_out = queries.len() - known.len();
        Ok((Self { engine, queries: known, limit }, left_out))
    }

    pub fn snapshot_id(&self) -> &str {
        &self.engine.snapshot().manifest.snapshot
    }
}

impl BenchTarget for InProcess {
    fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>> {
        Box::pin(async { Ok(Box::new(Searcher(self)) as Box<dyn Worker>) })
    }
}

struct Searcher<'t>(&'t InProcess);

impl Worker for Searcher<'_> {
    fn send(&mut self, index: usize) -> BoxFuture<'_, Sample> {
        Box::pin(async move { self.search(index) })
    }
}

impl Searcher<'_> {
    fn search(&self, index: usize) -> Sample {
        let Self(target) = self;
        let PreparedQuery { text, mode, filter } = &target.queries[index % target.queries.len()];
        let request = SearchRequest { mode: *mode, limit: target.limit, filter, ..SearchRequest::new(text) };
        let answered = target.engine.search(&request).and_then(|mut response| {
            target.engine.show(&mut response)?;
            Ok(response.stages)
        });
        match answered {
            Ok(stages) => Sample { result: SampleResult::Answered, stages: durations(&stages) },
            Err(error) => SampleResult::Failed(Cow::Owned(error.to_string())).into(),
        }
    }
}

fn durations(stages: &StageMicros) -> Vec<(Cow<'static, str>, Duration)> {
    // Benchmark requests do not ask for facets.
    let asked = Stage::ALL.into_iter().filter(|stage| *stage != Stage::Facets);
    asked.map(|stage| (Cow::Borrowed(stage.name()), Duration::from_micros(stages[stage].into()))).collect()
}
