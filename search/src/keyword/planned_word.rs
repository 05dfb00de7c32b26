//! A word of a query plan: where its terms are looked up, and how much it adds to a document.

use std::io;
use std::sync::Arc;

use super::collect::RemainingBounds;
use super::common_terms::CommonTerm;
use super::known_words::{KnownTerm, KnownWord};
use super::leg::KeywordLeg;
use super::window::{ScoreWindow, WINDOW};
use crate::bitmap::{each_bit, set};
use crate::postings::Cursor;

/// Upper bounds are multiplied by this, so that they also hold for rounded floating-point sums.
pub(super) const BOUND_MARGIN: f32 = 1.0001;

pub(super) struct PlannedWord<'a> {
    /// The weight of the word in the match condition.
    pub(super) mass: f32,
    /// Upper bound of its contribution to a score.
    pub(super) score_bound: f32,
    /// The same bound for documents outside the high-frequency bitmap, if there is such a bitmap.
    pub(super) low_frequency_bound: Option<f32>,
    terms: Vec<PlannedTerm<'a>>,
    pub(super) postings: u32,
    /// Upper bounds for this word and all words after it.
    pub(super) rest: RemainingBounds,
    /// Bitmaps of the marked window: the documents with any of its terms, and the documents with
    /// its first term if that alone carries the full mass. Both are unused if the only term is
    /// cached; `surely` is also unused for a word of one term.
    any: Vec<u64>,
    surely: Vec<u64>,
}

struct PlannedTerm<'a> {
    /// The limit of its contribution to the score as the term frequency grows: IDF times (k1 + 1).
    /// For alternative terms the IDF is limited to the mass of the word and multiplied by the
    /// share.
    weight: f32,
    /// Its contribution to the mass of the word.
    mass: f32,
    source: TermSource<'a>,
}

/// Where a term is looked up.
enum TermSource<'a> {
    Cached(Arc<CommonTerm>),
    Lists(Box<Lists<'a>>),
}

/// The posting lists of a term in each field that contains it. They are opened when first needed.
struct Lists<'a> {
    leg: &'a KeywordLeg,
    term: &'a KnownTerm,
    /// The lists without frequencies.
    without_frequencies: Option<Vec<Cursor<'a>>>,
    /// The lists with frequencies.
    with_frequencies: Option<Vec<Cursor<'a>>>,
}

impl<'a> PlannedWord<'a> {
    pub(super) fn open(leg: &'a KeywordLeg, word: &'a KnownWord, mass: f32, searched: u32) -> io::Result<Self> {
        let known_parts = word.parts.iter().filter(|part| part.idf.is_some()).count().max(1) as f32;
        let whole = word.whole.iter().map(|term| (term, mass));
        let parts = word.parts.iter().map(|term| (term, mass / known_parts));
        let mut terms = Vec::with_capacity(1 + word.parts.len());
        for (term, mass) in whole.chain(parts) {
            if let Some(weight) = term.idf {
                terms.push(PlannedTerm::open(leg, term, weight, mass, searched)?);
            }
        }
        // If the corpus contains no own term of the word, the shares of the alternative terms are
        // scaled up so that the largest is 1.
        let is_known = !terms.is_empty();
        let share_max = word.alternative_terms.iter().map(|&(_, share)| share).fold(0.0, f32::max);
        for (term, share) in &word.alternative_terms {
            if let Some(weight) = term.idf {
                let share = if is_known { *share } else { share / share_max };
                terms.push(PlannedTerm::open(leg, term, weight.min(mass) * share, mass * share, searched)?);
            }
        }
        let postings = word.terms().map(KnownTerm::postings).sum();
        let most = terms.iter().map(|term| term.most(leg.saturation)).sum();
        let most_elsewhere = match terms.as_slice() {
            [PlannedTerm { weight, source: TermSource::Cached(held), .. }] => {
                Some(weight * held.most_elsewhere / (held.most_elsewhere + leg.saturation))
            }
            _ => None,
        };
        Ok(Self {
            mass,
            score_bound: most,
            low_frequency_bound: most_elsewhere,
            terms,
            postings,
            rest: RemainingBounds::default(),
            any: Vec::new(),
            surely: Vec::new(),
        })
    }

    pub(super) fn is_one_term(&self) -> bool {
        self.terms.len() == 1
    }

    /// The limit of its contribution to a score as the term frequency grows. Only the heaviest term
    /// of the word counts.
    pub(super) fn possible(&self) -> f32 {
        self.terms.iter().map(|term| term.weight).fold(0.0, f32::max)
    }

    /// The first document at or after `from` that contains any of its terms.
    pub(super) fn next(&mut self, from: u32) -> io::Result<Option<u32>> {
        let mut first = None;
        for term in &mut self.terms {
            first = first.into_iter().chain(term.source.next(from)?).min();
        }
        Ok(first)
    }

    /// Bitmap of the documents in a marked window that contain any of its terms.
    pub(super) fn documents_with_any(&self, window: &ScoreWindow) -> &[u64] {
        match self.terms.as_slice() {
            [PlannedTerm { source: TermSource::Cached(held), .. }] => held.documents(window.start as usize / 64),
            _ => &self.any,
        }
    }

    /// Bitmap of the documents in a window with a high term frequency; empty if the word has no
    /// such bitmap.
    pub(super) fn high_frequency_documents(&self, window: &ScoreWindow) -> &[u64] {
        match self.terms.as_slice() {
            [PlannedTerm { source: TermSource::Cached(held), .. }] => {
                held.high_frequency_bitmap(window.start as usize / 64)
            }
            _ => &[],
        }
    }

    /// Bitmap of the documents in a marked window that surely have the full mass of the word.
    pub(super) fn documents_with_full_mass(&self, window: &ScoreWindow) -> &[u64] {
        if self.is_one_term() { self.documents_with_any(window) } else { &self.surely }
    }

    /// Marks the documents of the window that contain the word. With `among`, only documents of
    /// that bitmap need to be marked.
    pub(super) fn mark(&mut self, window: &ScoreWindow, among: Option<&Vec<u64>>) -> io::Result<()> {
        let Self { mass, terms, any, surely, .. } = self;
        if let [PlannedTerm { source: TermSource::Cached(_), .. }] = terms.as_slice() {
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

    /// Adds its contribution to the score and the mass of each candidate.
    pub(super) fn add(&mut self, window: &mut ScoreWindow, document_count: u32) -> io::Result<()> {
        let is_one_term = self.is_one_term();
        let is_sparse = is_sparse(window.candidates.len(), self.postings, document_count);
        for term in &mut self.terms {
            term.source.add(window, is_sparse)?;
            match is_one_term {
                true => window.end_single_term_word(term.weight, term.mass.min(self.mass)),
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
        let source = match leg.common.get(term.key(), term.document_frequency(), searched, || term.cursors(leg))? {
            Some(held) => TermSource::Cached(held),
            None => TermSource::Lists(Lists { leg, term, without_frequencies: None, with_frequencies: None }.into()),
        };
        Ok(Self { weight: weight * (leg.saturation + 1.0), mass, source })
    }

    /// Upper bound of its contribution to a score.
    fn most(&self, saturation: f32) -> f32 {
        match &self.source {
            TermSource::Cached(held) => self.weight * held.most / (held.most + saturation),
            TermSource::Lists(_) => self.weight,
        }
    }
}

impl TermSource<'_> {
    /// The first document at or after `from` that contains the term.
    fn next(&mut self, from: u32) -> io::Result<Option<u32>> {
        let lists = match self {
            Self::Cached(held) => return Ok(held.next(from)),
            Self::Lists(lists) => lists.documents()?,
        };
        let next = |cursor: &mut Cursor<'_>| {
            cursor.skip_to(from);
            cursor.next()
        };
        Ok(lists.iter_mut().filter_map(next).min())
    }

    /// Marks the documents of the window that contain the term. With `among`, only documents of
    /// that bitmap need to be marked.
    fn mark(&mut self, window: &ScoreWindow, among: Option<&Vec<u64>>, has: &mut [u64]) -> io::Result<()> {
        let lists = match self {
            Self::Cached(held) => {
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

    /// Adds the weighted term frequency in each candidate. If the candidates are sparse, it looks
    /// each of them up; otherwise it reads the posting lists.
    fn add(&mut self, window: &mut ScoreWindow, is_sparse: bool) -> io::Result<()> {
        let lists = match self {
            Self::Cached(held) => {
                window.add_common(held);
                return Ok(());
            }
            Self::Lists(lists) => lists.worths()?,
        };
        for cursor in lists {
            if is_sparse {
                window.add_looked_up(|doc| cursor.weighted_frequency_at(doc));
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
        match &mut self.without_frequencies {
            Some(opened) => Ok(opened),
            closed => Ok(closed.insert(self.term.documents_in_fields(self.leg)?)),
        }
    }

    fn worths(&mut self) -> io::Result<&mut Vec<Cursor<'a>>> {
        match &mut self.with_frequencies {
            Some(opened) => Ok(opened),
            closed => Ok(closed.insert(self.term.cursors(self.leg)?)),
        }
    }
}

/// Whether looking up `count` documents of a window costs less than reading the postings of a word
/// in the window.
pub(super) fn is_sparse(count: usize, postings: u32, document_count: u32) -> bool {
    (count as u64) * 16 < u64::from(postings) * u64::from(WINDOW) / u64::from(document_count.max(1))
}
