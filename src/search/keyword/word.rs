//! A word of a plan: where its terms are looked up, and what it counts.

use std::io;
use std::sync::Arc;

use super::collect::Rest;
use super::common::CommonTerm;
use super::known::{KnownTerm, KnownWord};
use super::leg::KeywordLeg;
use super::window::{WINDOW, Window};
use crate::search::bits::{each_bit, set};
use crate::search::postings::Cursor;

/// So much above itself is a bound that must hold for sums of rounded numbers too.
pub(super) const ROUNDED_UP: f32 = 1.0001;

/// One word of the plan.
pub(super) struct PlannedWord<'a> {
    /// What the word carries towards a match.
    pub(super) mass: f32,
    /// The most that it adds to a score.
    pub(super) most: f32,
    /// The same of documents that do not have much of it, where it is known which do.
    pub(super) most_elsewhere: Option<f32>,
    terms: Vec<PlannedTerm<'a>>,
    pub(super) postings: u32,
    /// What this word and those behind it can add to a document, at most.
    pub(super) rest: Rest,
    /// The documents of the window that have any of its terms, and those that have the one which carries all of its mass;
    /// unused where it has one term and that is held.
    any: Vec<u64>,
    surely: Vec<u64>,
}

struct PlannedTerm<'a> {
    /// What it adds to the score when saturated.
    weight: f32,
    /// What it adds to the mass of its word.
    mass: f32,
    source: Source<'a>,
}

/// Where it is looked up.
enum Source<'a> {
    Held(Arc<CommonTerm>),
    Lists(Box<Lists<'a>>),
}

/// The lists of a term, in each field that has it. They are opened when they are needed.
struct Lists<'a> {
    leg: &'a KeywordLeg,
    term: &'a KnownTerm,
    /// Which documents have it.
    documents: Option<Vec<Cursor<'a>>>,
    /// The same, with what it counts in them.
    worths: Option<Vec<Cursor<'a>>>,
}

impl<'a> PlannedWord<'a> {
    pub(super) fn open(leg: &'a KeywordLeg, word: &'a KnownWord, mass: f32, searched: u32) -> io::Result<Self> {
        let known_parts = word.parts.iter().filter(|part| part.weight.is_some()).count().max(1) as f32;
        let whole = word.whole.iter().map(|term| (term, mass));
        let parts = word.parts.iter().map(|term| (term, mass / known_parts));
        let mut terms = Vec::with_capacity(1 + word.parts.len());
        for (term, mass) in whole.chain(parts) {
            if let Some(weight) = term.weight {
                terms.push(PlannedTerm::open(leg, term, weight, mass, searched)?);
            }
        }
        // What is known by its synonyms alone is found by them as by itself.
        let is_known = !terms.is_empty();
        let share_max = word.also.iter().map(|&(_, share)| share).fold(0.0, f32::max);
        for (term, share) in &word.also {
            if let Some(weight) = term.weight {
                let share = if is_known { *share } else { share / share_max };
                terms.push(PlannedTerm::open(leg, term, weight.min(mass) * share, mass * share, searched)?);
            }
        }
        let postings = word.terms().map(KnownTerm::postings).sum();
        let most = terms.iter().map(|term| term.most(leg.saturation)).sum();
        let most_elsewhere = match terms.as_slice() {
            [PlannedTerm { weight, source: Source::Held(held), .. }] => {
                Some(weight * held.most_elsewhere / (held.most_elsewhere + leg.saturation))
            }
            _ => None,
        };
        Ok(Self {
            mass,
            most,
            most_elsewhere,
            terms,
            postings,
            rest: Rest::default(),
            any: Vec::new(),
            surely: Vec::new(),
        })
    }

    pub(super) fn is_one_term(&self) -> bool {
        self.terms.len() == 1
    }

    /// What it would add to the score of a document that could not say it more often, a compound in one way.
    pub(super) fn possible(&self) -> f32 {
        self.terms.iter().map(|term| term.weight).fold(0.0, f32::max)
    }

    /// The first document from here on that has any of its terms.
    pub(super) fn next(&mut self, from: u32) -> io::Result<Option<u32>> {
        let mut first = None;
        for term in &mut self.terms {
            first = first.into_iter().chain(term.source.next(from)?).min();
        }
        Ok(first)
    }

    /// The documents of a marked window that have any of its terms.
    pub(super) fn any(&self, window: &Window) -> &[u64] {
        match self.terms.as_slice() {
            [PlannedTerm { source: Source::Held(held), .. }] => held.documents(window.start as usize / 64),
            _ => &self.any,
        }
    }

    /// The documents of a window that have much of it, where that is known.
    pub(super) fn much(&self, window: &Window) -> &[u64] {
        match self.terms.as_slice() {
            [PlannedTerm { source: Source::Held(held), .. }] => held.documents_with_much(window.start as usize / 64),
            _ => &[],
        }
    }

    /// The documents of a marked window that have all of its mass.
    pub(super) fn surely(&self, window: &Window) -> &[u64] {
        if self.is_one_term() { self.any(window) } else { &self.surely }
    }

    /// Notes which documents of the window have it; only of some, where others do not matter.
    pub(super) fn mark(&mut self, window: &Window, among: Option<&Vec<u64>>) -> io::Result<()> {
        let Self { mass, terms, any, surely, .. } = self;
        if let [PlannedTerm { source: Source::Held(_), .. }] = terms.as_slice() {
            return Ok(());
        }
        any.clear();
        any.resize(window.groups(), 0);
        surely.clear();
        let is_one_term = terms.len() == 1;
        for (place, term) in terms.iter_mut().enumerate() {
            term.source.mark(window, among, any)?;
            if place == 0 && !is_one_term {
                match term.mass >= *mass {
                    true => surely.extend_from_slice(any),
                    false => surely.resize(any.len(), 0),
                }
            }
        }
        Ok(())
    }

    /// Adds what it counts in the candidates.
    pub(super) fn add(&mut self, window: &mut Window, document_count: u32) -> io::Result<()> {
        let is_one_term = self.is_one_term();
        let is_sparse = is_sparse(window.candidates.len(), self.postings, document_count);
        for term in &mut self.terms {
            term.source.add(window, is_sparse)?;
            match is_one_term {
                true => window.end_only_term(term.weight, term.mass.min(self.mass)),
                false => window.end_term(term.weight, term.mass),
            }
        }
        if !is_one_term {
            window.end_word(self.mass);
        }
        Ok(())
    }
}

impl<'a> PlannedTerm<'a> {
    fn open(leg: &'a KeywordLeg, term: &'a KnownTerm, weight: f32, mass: f32, searched: u32) -> io::Result<Self> {
        let source = match leg.common.get(term.key(), term.documents(), searched, || term.cursors(leg))? {
            Some(held) => Source::Held(held),
            None => Source::Lists(Lists { leg, term, documents: None, worths: None }.into()),
        };
        Ok(Self { weight: weight * (leg.saturation + 1.0), mass, source })
    }

    /// The most that it adds to a score.
    fn most(&self, saturation: f32) -> f32 {
        match &self.source {
            Source::Held(held) => self.weight * held.most / (held.most + saturation),
            Source::Lists(_) => self.weight,
        }
    }
}

impl Source<'_> {
    /// The first document from here on that has it.
    fn next(&mut self, from: u32) -> io::Result<Option<u32>> {
        let lists = match self {
            Self::Held(held) => return Ok(held.next(from)),
            Self::Lists(lists) => lists.documents()?,
        };
        let next = |cursor: &mut Cursor<'_>| {
            cursor.skip_to(from);
            cursor.next()
        };
        Ok(lists.iter_mut().filter_map(next).min())
    }

    /// Notes which documents of the window have it; only of some, where others do not matter.
    fn mark(&mut self, window: &Window, among: Option<&Vec<u64>>, has: &mut [u64]) -> io::Result<()> {
        let lists = match self {
            Self::Held(held) => {
                let documents = held.documents(window.start as usize / 64);
                has.iter_mut().zip(documents).for_each(|(has, documents)| *has |= documents);
                return Ok(());
            }
            Self::Lists(lists) => lists.documents()?,
        };
        for cursor in lists {
            let Some(among) = among else {
                cursor.skip_to(window.start);
                cursor.each_document_until(window.end, |doc| set(has, doc.wrapping_sub(window.start)));
                continue;
            };
            for (start, &docs) in (window.start..).step_by(64).zip(among) {
                each_bit(docs, |bit| {
                    if cursor.is_in(start + bit) {
                        set(has, start + bit - window.start);
                    }
                });
            }
        }
        Ok(())
    }

    /// Counts it in the candidates, which are few or many for its lists.
    fn add(&mut self, window: &mut Window, is_sparse: bool) -> io::Result<()> {
        let lists = match self {
            Self::Held(held) => {
                window.add_common(held);
                return Ok(());
            }
            Self::Lists(lists) => lists.worths()?,
        };
        for cursor in lists {
            if is_sparse {
                window.add_looked_up(|doc| cursor.worth_at(doc));
                continue;
            }
            cursor.skip_to(window.start);
            let end = window.end;
            let (candidates, mut counts) = window.split();
            cursor.each_wanted_until(
                end,
                |doc| candidates.has(doc),
                |doc, worth| counts.add(candidates.place(doc), worth),
            );
        }
        Ok(())
    }
}

impl<'a> Lists<'a> {
    fn documents(&mut self) -> io::Result<&mut Vec<Cursor<'a>>> {
        match &mut self.documents {
            Some(opened) => Ok(opened),
            closed => Ok(closed.insert(self.term.documents_in_fields(self.leg)?)),
        }
    }

    fn worths(&mut self) -> io::Result<&mut Vec<Cursor<'a>>> {
        match &mut self.worths {
            Some(opened) => Ok(opened),
            closed => Ok(closed.insert(self.term.cursors(self.leg)?)),
        }
    }
}

/// Whether so few documents of a window cost less to look up than the postings of a word in it to read.
pub(super) fn is_sparse(count: usize, postings: u32, document_count: u32) -> bool {
    (count as u64) * 16 < u64::from(postings) * u64::from(WINDOW) / u64::from(document_count.max(1))
}
