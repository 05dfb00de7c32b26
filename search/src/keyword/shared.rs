//! One search on several threads. Each thread takes the next free part of the ranges until none is
//! left.
//!
//! A thread may begin before the watched documents are known. Watched documents in parts that were
//! searched before that are scored at the end.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hornbook_corpus::ids::OrdinalRange;

use super::collect::Collector;
use super::leg::KeywordLeg;
use super::pass::{KeywordFound, KeywordQuery, Scored};
use super::plan::KeywordPlan;

/// Maximum number of documents of a part: several windows, but few enough that all threads end at
/// nearly the same time.
const PART: u32 = if cfg!(test) { 32 } else { 1 << 16 };

/// A search in progress.
pub(crate) struct SharedSearch<'a> {
    leg: &'a KeywordLeg,
    query: &'a KeywordQuery<'a>,
    parts: Vec<OrdinalRange>,
    next: AtomicUsize,
    watched: OnceLock<Vec<u32>>,
}

/// The result of one thread.
pub(crate) struct ThreadResult {
    found: KeywordFound,
    /// The parts that it searched before the watched documents were known.
    unwatched: Vec<OrdinalRange>,
}

impl<'a> SharedSearch<'a> {
    pub(super) fn new(leg: &'a KeywordLeg, query: &'a KeywordQuery<'a>) -> Self {
        let parts = query.ranges.as_slice().iter().flat_map(|range| {
            let starts = (range.start..range.end).step_by(PART as usize);
            starts.map(|start| OrdinalRange { start, end: range.end.min(start.saturating_add(PART)) })
        });
        Self { leg, query, parts: parts.collect(), next: AtomicUsize::new(0), watched: OnceLock::new() }
    }

    /// Sets the documents whose scores are reported whatever their rank, ascending. Only the first
    /// call has an effect.
    pub(crate) fn watch(&self, docs: Vec<u32>) {
        self.watched.get_or_init(|| docs);
    }

    /// Makes sure that no thread takes another part.
    pub(crate) fn stop(&self) {
        self.next.store(self.parts.len(), Ordering::Relaxed);
    }

    /// Searches parts until none is left.
    pub(crate) fn search_parts(&self) -> io::Result<ThreadResult> {
        let mut plan = self.plan()?;
        let mut collector = Collector::new(self.query, plan.mass_required);
        let mut unwatched = Vec::new();
        let mut is_watching = false;
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if !is_watching {
                let watched = self.watched.get();
                is_watching = watched.is_some();
                match watched {
                    Some(watched) => collector.watch(watched),
                    None => unwatched.push(*part),
                }
            }
            self.leg.collect_range(*part, self.required(), &mut plan, &mut collector)?;
        }
        Ok(ThreadResult { found: collector.finish(plan.possible()), unwatched })
    }

    /// Merges the results of all threads.
    pub(crate) fn finish(&self, taken: [ThreadResult; 2]) -> io::Result<KeywordFound> {
        let watched = self.watched.get().map_or(&[][..], Vec::as_slice);
        let [mut first, second] = taken;
        let missed = self.scores_of(watched, &[first.unwatched, second.unwatched].concat())?;
        first.found.add(second.found, self.query.keep);
        first.found.watch_also(missed);
        Ok(first.found)
    }

    /// The scores of those documents that are in the parts and match. `docs` is ascending.
    fn scores_of(&self, docs: &[u32], parts: &[OrdinalRange]) -> io::Result<Vec<Scored>> {
        let mut wanted: Vec<u32> = Vec::new();
        for part in parts {
            let inside = docs.partition_point(|&doc| doc < part.start)..docs.partition_point(|&doc| doc < part.end);
            wanted.extend(&docs[inside]);
        }
        if let Some(required) = self.required() {
            wanted.retain(|doc| required.binary_search(doc).is_ok());
        }
        wanted.sort_unstable();
        let (Some(&first), Some(&last)) = (wanted.first(), wanted.last()) else { return Ok(Vec::new()) };
        let mut plan = self.plan()?;
        let mut collector = Collector::new(self.query, plan.mass_required);
        collector.watch(&wanted);
        let around = OrdinalRange { start: first, end: last + 1 };
        self.leg.collect_range(around, Some(&wanted), &mut plan, &mut collector)?;
        Ok(collector.finish(plan.possible()).watched)
    }

    fn plan(&self) -> io::Result<KeywordPlan<'a>> {
        KeywordPlan::new(self.leg, self.query.words, self.query.ranges.len())
    }

    fn required(&self) -> Option<&'a [u32]> {
        self.query.constraints.required.as_deref()
    }
}
