//! Decides between words that a misspelt one may stand for by the other words of the query.
//!
//! A word goes with another if the provisions that have one have the other more often than provisions do on average. That is
//! counted only where several words are likely, and over the searched range, so that a query without errors costs nothing.

use hornbook_corpus::ranges::OrdinalRanges;

use crate::search::engine::Engine;
use crate::search::error::SearchError;
use crate::search::keyword::DocumentsWith;
use crate::search::understand::{Understood, is_stop_word, term_of};

/// Among so many words the rest of the query decides, if none is more likely than the others by so much.
pub(super) const CONTESTED_MAX: usize = 6;
pub(super) const CONTEST_MARGIN: f32 = 6.0;

/// For so many words of a query the rest of it is asked; what follows becomes the likeliest word. In a corpus of millions of
/// passages each costs most of a millisecond.
const CONTESTS_MAX: usize = 4;

/// Of the other words of a query so many are looked up, and so many of the rarest show what goes with them.
const LOOKED_UP_MAX: usize = 16;
const OTHERS_MAX: usize = 4;

/// What the logarithm of how much more often a word stands with another counts, and the bounds of that logarithm.
const LIFT_WEIGHT: f32 = 0.7;
const LIFT_MIN: f32 = -1.0;
const LIFT_MAX: f32 = 4.0;

/// A word that may be misspelt.
pub(super) struct Suspect<'s> {
    pub word: String,
    /// What it may stand for, the likeliest first.
    pub candidates: Vec<Candidate<'s>>,
    /// Nothing speaks for the word as it was typed.
    pub may_be_another: bool,
}

impl Suspect<'_> {
    /// How much likelier the first candidate is than the second.
    fn lead(&self) -> f32 {
        match self.candidates.as_slice() {
            [first, second, ..] => first.score - second.score,
            _ => f32::MAX,
        }
    }
}

/// A word that another may stand for.
pub(super) struct Candidate<'s> {
    pub word: &'s str,
    pub stem: String,
    /// How likely it is, whatever else the query says.
    pub score: f32,
}

impl Engine {
    /// The word that each suspect stands for; none for those without candidates.
    pub(super) fn meant_by<'s>(
        &self,
        suspects: &[Suspect<'s>],
        understood: &Understood,
        ranges: &OrdinalRanges,
    ) -> Result<Vec<Option<&'s str>>, SearchError> {
        let mut meant: Vec<Option<&str>> =
            suspects.iter().map(|suspect| suspect.candidates.first().map(|best| best.word)).collect();
        let mut contested: Vec<usize> =
            (0..suspects.len()).filter(|&place| suspects[place].candidates.len() > 1).take(CONTESTS_MAX).collect();
        if contested.is_empty() {
            return Ok(meant);
        }
        let mut others = self.others(suspects, understood, ranges)?;
        // The surest first: what it means helps to understand the rest.
        contested.sort_by(|&a, &b| suspects[b].lead().total_cmp(&suspects[a].lead()));
        for place in contested {
            let mut best: Option<(f32, &Candidate<'s>)> = None;
            for candidate in &suspects[place].candidates {
                let score = candidate.score + LIFT_WEIGHT * self.fit(candidate, &others, ranges)?;
                if best.is_none_or(|(least, _)| score > least) {
                    best = Some((score, candidate));
                }
            }
            let Some((_, best)) = best else { continue };
            meant[place] = Some(best.word);
            if others.len() < OTHERS_MAX {
                others.extend(self.keyword.having(&best.stem, ranges)?);
            }
        }
        Ok(meant)
    }

    /// How well a word goes with others. The most frequent words go with all.
    fn fit(
        &self,
        candidate: &Candidate<'_>,
        others: &[DocumentsWith],
        ranges: &OrdinalRanges,
    ) -> Result<f32, SearchError> {
        if is_stop_word(&candidate.stem) {
            return Ok(0.0);
        }
        let lifts = self.keyword.lifts(&candidate.stem, others, ranges)?;
        Ok(lifts.into_iter().map(|lift| lift.clamp(LIFT_MIN, LIFT_MAX)).sum())
    }

    /// Where the words of the query stand that are rightly spelt, or that can only be one word: the rarest of them.
    fn others(
        &self,
        suspects: &[Suspect<'_>],
        understood: &Understood,
        ranges: &OrdinalRanges,
    ) -> Result<Vec<DocumentsWith>, SearchError> {
        let misspelt: Vec<String> = suspects.iter().map(|suspect| term_of(&suspect.word)).collect();
        let sure = suspects.iter().filter_map(|suspect| match suspect.candidates.as_slice() {
            [only] => Some(&only.stem),
            _ => None,
        });
        let typed = understood.words.iter().flat_map(|word| &word.parts).filter(|term| !misspelt.contains(term));
        let mut terms = Vec::new();
        for term in sure.chain(typed).filter(|term| !is_stop_word(term)).take(LOOKED_UP_MAX) {
            terms.push((self.keyword.documents_with(term)?, term));
        }
        terms.sort_unstable();
        terms.dedup();
        let mut others = Vec::with_capacity(OTHERS_MAX);
        for (_, term) in terms {
            if others.len() < OTHERS_MAX {
                others.extend(self.keyword.having(term, ranges)?);
            }
        }
        Ok(others)
    }
}
