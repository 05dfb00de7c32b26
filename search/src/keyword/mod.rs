//! The keyword leg: finds the provisions that contain the words of a query, and scores them.
//!
//! A provision **matches** if it contains every phrase and no excluded phrase, and if the query
//! words it contains carry enough weight: at least a share ([`share_required`](crate::Tuning::share_required)) of the
//! total weight of all query words that occur in the corpus. The weight of a word is its inverse
//! document frequency (IDF). In the match condition this weight is called the **mass** of the word.
//! So a match contains the rare words of a query and may lack common ones. The definition does not
//! depend on page, limit or filter, so totals are exact and the same on every page. It also saves
//! time: common words alone never make a match, so they are looked up only in provisions that
//! contain rarer words.
//!
//! Scores are BM25F: the term frequencies of all fields are weighted, normalised by field length
//! and summed before saturation, so one occurrence in the heading counts as several in the text. In
//! this module that sum is called the weighted term frequency, or `worth`. Documents are processed
//! in windows, so that the accumulated scores stay in the CPU cache, however large the corpus is.

mod bit_sliced_sums;
mod collect;
mod common_terms;
mod cooccurrence;
mod decision_diagram;
mod known_words;
mod leg;
mod matching;
mod pass;
mod plan;
mod planned_word;
mod query_bitmaps;
mod shared;
mod term_bitmap_cache;
#[cfg(test)]
mod tests;
mod upper_bounds;
mod window;

use std::cell::RefCell;
use std::io;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::ranges::OrdinalRanges;

use super::bitmap::DocumentBitmap;
use super::idle_core::IdleCore;
use super::postings::{AllTerms, FieldReader, PhraseReader};
use super::understand::{PhraseTerms, QueryWord, is_stop_word};
use collect::Collector;
pub(super) use cooccurrence::TermDocuments;
pub(super) use known_words::KnownWord;
pub(super) use leg::KeywordLeg;
pub(super) use pass::{Constraints, KeywordFound, KeywordQuery, Scored, by_rank};
use plan::KeywordPlan;
use query_bitmaps::QueryBitmaps;
use shared::SharedSearch;
use window::ScoreWindow;

/// Maximum cost of reading positions for the phrases of one query, in the units of
/// [`PhraseReader::position_costs`]. Phrases of rare words cost far less. If a phrase such as
/// `"of the united states"` would exceed it, the most common words of the phrase are still
/// required, but their positions are not checked. Provisions with all words in a row are ranked
/// first all the same.
const POSITION_COST_MAX: usize = 1_000_000;

/// Cost of checking one document for a phrase, as a number of provisions for [`IdleCore::reserve_idle`].
const PHRASE_CHECK_COST: u32 = 64;

/// A term is common if at least one in this many documents contains it.
const COMMON_IN_ONE_OF: u32 = 64;

impl KeywordLeg {
    /// Evaluates the phrases and exclusions of a query.
    pub(super) fn constraints(
        &self,
        phrases: &[PhraseTerms],
        excluded: &[PhraseTerms],
        ranges: &OrdinalRanges,
    ) -> io::Result<Constraints> {
        let mut constraints = Constraints::default();
        let mut by_rarity = Vec::with_capacity(phrases.len());
        for phrase in phrases.iter().filter(|phrase| is_selective(phrase)) {
            by_rarity.push((self.rarest_count(phrase)?, phrase));
        }
        by_rarity.sort_by_key(|&(count, _)| count);
        // Reading positions costs ten times as much as reading documents. So positions are read
        // only in documents that contain the words of all phrases.
        let mut common = QueryBitmaps::default();
        for &(_, phrase) in &by_rarity {
            constraints.required = Some(match constraints.required.take() {
                None if self.is_common(phrase)? => common.with_all(self, phrase, ranges)?,
                None => self.documents_with_all_terms(phrase, ranges)?,
                Some(required) if self.is_common(phrase)? => {
                    intersection_of(&common.with_all(self, phrase, ranges)?, &required)
                }
                Some(required) => self.filter_by_terms(phrase, &required)?,
            });
        }
        let mut budget = PositionBudget(POSITION_COST_MAX);
        for (_, phrase) in by_rarity.into_iter().filter(|(_, phrase)| phrase.len() > 1) {
            let required = constraints.required.take().unwrap_or_default();
            constraints.required = Some(self.filter_by_phrase_within(&mut budget, phrase, required)?);
        }
        if !excluded.is_empty() {
            constraints.excluded = DocumentBitmap::empty_for(self.document_count);
        }
        for phrase in excluded.iter().filter(|phrase| is_selective(phrase)) {
            if let [term] = phrase.as_slice() {
                if self.is_common(phrase)? {
                    common.add_to(self, term, ranges, &mut constraints.excluded)?;
                    continue;
                }
                for field in self.phrase_fields() {
                    field.each_with(term, ranges, |doc| constraints.excluded.set(doc))?;
                }
                continue;
            }
            let mut candidates = match &constraints.required {
                _ if self.is_common(phrase)? => {
                    let candidates = common.with_all(self, phrase, ranges)?;
                    match &constraints.required {
                        Some(required) => intersection_of(&candidates, required),
                        None => candidates,
                    }
                }
                Some(required) => self.filter_by_terms(phrase, required)?,
                None => self.documents_with_all_terms(phrase, ranges)?,
            };
            // A document is excluded only if the positions of all terms could be checked.
            let mut rows = self.phrase_readers(phrase)?;
            if budget.spend_on_terms(&costs(&rows, &candidates)?) == phrase.len() {
                candidates.retain(|&doc| rows.iter_mut().any(|row| row.is_in(doc)));
                candidates.into_iter().for_each(|doc| constraints.excluded.set(doc));
            }
        }
        Ok(constraints)
    }

    /// The fields that are searched for phrases.
    fn phrase_fields(&self) -> [&FieldReader; 2] {
        [&self.heading, &self.text]
    }

    /// The document frequency of the rarest term of a phrase: heading and text added up.
    fn rarest_count(&self, phrase: &[String]) -> io::Result<u32> {
        let mut rarest = u32::MAX;
        for term in phrase {
            rarest = rarest.min(self.heading.document_count(term)?.saturating_add(self.text.document_count(term)?));
        }
        Ok(rarest)
    }

    /// Whether all terms of a phrase are so common that reading whole posting lists costs less than
    /// single lookups.
    fn is_common(&self, phrase: &[String]) -> io::Result<bool> {
        Ok(self.rarest_count(phrase)? >= self.document_count / COMMON_IN_ONE_OF)
    }

    /// The documents of the ranges that contain all terms in the heading or all in the text,
    /// ascending.
    fn documents_with_all_terms(&self, phrase: &[String], ranges: &OrdinalRanges) -> io::Result<Vec<u32>> {
        let Some(spare) = IdleCore::reserve_idle(ranges.len()) else { return self.part_with_all_terms(phrase, ranges) };
        let [first, second] = ranges.halves();
        let (first, second) =
            spare.run_both(|| self.part_with_all_terms(phrase, &first), || self.part_with_all_terms(phrase, &second));
        Ok([first?, second?].concat())
    }

    fn part_with_all_terms(&self, phrase: &[String], ranges: &OrdinalRanges) -> io::Result<Vec<u32>> {
        let mut found = Vec::new();
        for field in self.phrase_fields() {
            let mut counted = Vec::with_capacity(phrase.len());
            for term in phrase {
                counted.push((field.document_count(term)?, term));
            }
            counted.sort_unstable();
            let Some(((_, rarest), others)) = counted.split_first() else { continue };
            let mut with_rarest = Vec::new();
            field.each_with(rarest, ranges, |doc| with_rarest.push(doc))?;
            let mut others = AllTerms::open(field, others.iter().map(|&(_, term)| term))?;
            found.extend(with_rarest.into_iter().filter(|&doc| others.occur_in(doc)));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Those of `docs` that contain all terms in the heading or all in the text. `docs` must be
    /// ascending.
    fn filter_by_terms(&self, phrase: &[String], docs: &[u32]) -> io::Result<Vec<u32>> {
        let mut readers = Vec::with_capacity(2);
        for field in self.phrase_fields() {
            readers.push(AllTerms::open(field, phrase)?);
        }
        Ok(docs.iter().copied().filter(|&doc| readers.iter_mut().any(|reader| reader.occur_in(doc))).collect())
    }

    /// The documents of the ranges whose citation contains a term; empty if there are more than
    /// `max`.
    pub(super) fn with_citation_term(&self, term: &str, ranges: &OrdinalRanges, max: usize) -> io::Result<Vec<u32>> {
        let mut found = Vec::new();
        let Some(mut cursor) = self.citation.cursor(term)? else { return Ok(found) };
        for range in ranges.as_slice() {
            cursor.skip_to(range.start);
            cursor.each_until(range.end.min(self.document_count), |doc, _| {
                if found.len() <= max {
                    found.push(doc);
                }
            });
        }
        if found.len() > max {
            found.clear();
        }
        Ok(found)
    }

    /// Those of `docs` that contain the terms in a row in heading or text. `docs` must be
    /// ascending.
    pub(super) fn filter_by_phrase(&self, phrase: &[String], docs: &[u32]) -> io::Result<Vec<u32>> {
        if phrase.len() == 1 {
            return self.filter_by_terms(phrase, docs);
        }
        let mut rows = self.phrase_readers(phrase)?;
        Ok(docs.iter().copied().filter(|&doc| rows.iter_mut().any(|row| row.is_in(doc))).collect())
    }

    /// Like [`Self::filter_by_phrase`], but within a budget, and for documents that contain all
    /// terms. Checks the positions of as many of the rarest terms as the budget allows. If these
    /// are fewer than two, it keeps all documents.
    fn filter_by_phrase_within(
        &self,
        budget: &mut PositionBudget,
        phrase: &[String],
        mut docs: Vec<u32>,
    ) -> io::Result<Vec<u32>> {
        let mut rows = self.phrase_readers(phrase)?;
        let checked = budget.spend_on_terms(&costs(&rows, &docs)?);
        if checked > 0 {
            let keep = |rows: &mut Vec<PhraseReader<'_>>, docs: &mut Vec<u32>| {
                rows.iter_mut().for_each(|row| row.keep_rarest_terms(checked));
                docs.retain(|&doc| rows.iter_mut().any(|row| row.is_in(doc)));
            };
            match IdleCore::reserve_idle((docs.len() as u32).saturating_mul(PHRASE_CHECK_COST)) {
                None => keep(&mut rows, &mut docs),
                Some(spare) => {
                    let (mut second, mut rows_of_second) =
                        (docs.split_off(docs.len() / 2), self.phrase_readers(phrase)?);
                    spare.run_both(|| keep(&mut rows, &mut docs), || keep(&mut rows_of_second, &mut second));
                    docs.append(&mut second);
                }
            }
        }
        Ok(docs)
    }

    fn phrase_readers(&self, phrase: &[String]) -> io::Result<Vec<PhraseReader<'_>>> {
        let mut rows = Vec::with_capacity(2);
        for field in self.phrase_fields() {
            rows.extend(PhraseReader::open(field, phrase)?);
        }
        Ok(rows)
    }

    /// The terms of the query that a document contains, in any field. Used to explain a hit.
    pub(super) fn terms_in(&self, words: &[QueryWord], doc: u32) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for term in words.iter().flat_map(QueryWord::terms) {
            for field in self.fields() {
                let has = field.cursor(term)?.is_some_and(|mut cursor| cursor.weighted_frequency_at(doc) > 0.0);
                if has && !found.contains(term) {
                    found.push(term.clone());
                }
            }
        }
        Ok(found)
    }

    /// Whether the citation of a document or the headings above it contain one of the terms.
    pub(super) fn is_in_context(&self, terms: &[String], doc: u32) -> io::Result<bool> {
        for term in terms {
            for field in [&self.citation, &self.breadcrumb] {
                if field.cursor(term)?.is_some_and(|mut cursor| cursor.weighted_frequency_at(doc) > 0.0) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Searches the ranges in one pass. The scores of the `watched` documents are reported whatever
    /// their rank; they must be ascending.
    pub(super) fn search(&self, query: &KeywordQuery<'_>, watched: &[u32]) -> io::Result<KeywordFound> {
        let mut plan = KeywordPlan::new(self, query.words, query.ranges.len())?;
        let mut collector = Collector::new(query, plan.mass_required);
        collector.watch(watched);
        let required = query.constraints.required.as_deref();
        for range in query.ranges.as_slice() {
            self.collect_range(*range, required, &mut plan, &mut collector)?;
        }
        Ok(collector.finish(plan.possible()))
    }

    /// A search that several threads can share.
    pub(super) fn shared_search<'a>(&'a self, query: &'a KeywordQuery<'a>) -> SharedSearch<'a> {
        SharedSearch::new(self, query)
    }

    /// Collects the matches of one range. Ranges must come in ascending order.
    fn collect_range(
        &self,
        range: OrdinalRange,
        required: Option<&[u32]>,
        plan: &mut KeywordPlan<'_>,
        collector: &mut Collector<'_>,
    ) -> io::Result<()> {
        thread_local! {
            static SCRATCH: RefCell<ScoreWindow> = RefCell::default();
        }
        SCRATCH.with_borrow_mut(|window| {
            let range_end = range.end.min(self.document_count);
            let mut start = range.start;
            while let Some(next) = plan.next_possible_match(required, start)?.filter(|&next| next < range_end) {
                start = window.restart(next, range_end, self.saturation);
                plan.evaluate_window(window, required, collector)?;
                collector.collect_window(window);
            }
            Ok(())
        })
    }
}

/// The intersection of two ascending lists.
fn intersection_of(first: &[u32], second: &[u32]) -> Vec<u32> {
    let mut rest = second;
    let is_in_second = |doc: &u32| {
        rest = &rest[rest.iter().take_while(|&other| other < doc).count()..];
        rest.first() == Some(doc)
    };
    first.iter().copied().filter(is_in_second).collect()
}

/// The part of [`POSITION_COST_MAX`] that a query has left for reading positions.
struct PositionBudget(usize);

impl PositionBudget {
    /// How many of the rarest terms of a phrase to check, given the cost of each: as many as the
    /// budget allows. A single term proves nothing, so the answer is never 1. Charges the cost to
    /// the budget.
    fn spend_on_terms(&mut self, costs: &[usize]) -> usize {
        let mut spent = 0;
        let within = costs.iter().take_while(|&&cost| {
            spent += cost;
            spent <= self.0
        });
        let checked = match within.count() {
            0 | 1 => 0,
            checked => checked,
        };
        self.0 -= costs[..checked].iter().sum::<usize>();
        checked
    }
}

/// The cost of checking each term of a phrase in heading and text, rarest term first.
fn costs(rows: &[PhraseReader<'_>], docs: &[u32]) -> io::Result<Vec<usize>> {
    let mut costs = Vec::new();
    for row in rows {
        let of_field = row.position_costs(docs)?;
        costs.resize(of_field.len().max(costs.len()), 0);
        costs.iter_mut().zip(of_field).for_each(|(sum, cost)| *sum += cost);
    }
    Ok(costs)
}

/// Whether a phrase can be required or excluded. A phrase of several words that are all stop words
/// cannot: it would have to be checked in nearly every provision. It only affects the ranking.
pub(super) fn is_selective(phrase: &PhraseTerms) -> bool {
    phrase.len() == 1 || !phrase.iter().all(|term| is_stop_word(term))
}
