//! Uses the other words of a query to decide which word a misspelt one stands for.
//!
//! A candidate fits another word if provisions that contain the one contain the other more often
//! than provisions do on average. It fits better still if the two are in a row there as they are in
//! the query: next to `cell`, `fone` means `phone`. This is counted only if several candidates are
//! likely, and only in the searched range, so a query without errors costs nothing.

use hornbook_corpus::ranges::OrdinalRanges;

use crate::engine::Engine;
use crate::error::SearchError;
use crate::keyword::TermDocuments;
use crate::understand::{ParsedQuery, is_stop_word, term_of};

/// The rest of the query decides among at most this many candidates, whose scores are within this
/// margin below the best one.
pub(super) const COMPARED_CANDIDATES_MAX: usize = 6;
pub(super) const COMPARED_SCORE_MARGIN: f32 = 6.0;

/// The rest of the query is used for at most this many misspelt words; later ones become their
/// likeliest candidate. In a corpus of millions of passages, each costs most of a millisecond.
const CONTEXT_LOOKUPS_MAX: usize = 4;

/// At most this many other words of the query are looked up, and this many of the rarest are used
/// for the comparison.
const LOOKED_UP_MAX: usize = 16;
const CONTEXT_WORDS_MAX: usize = 4;

/// The weight of a lift (see `KeywordLeg::lifts`), and the bounds that it is clamped to.
const LIFT_WEIGHT: f32 = 0.7;
const LIFT_MIN: f32 = -1.0;
const LIFT_MAX: f32 = 4.0;

/// The weight of standing in a row with the previous or next word. The full weight is reached if
/// that many documents show it, or all sampled documents of the rarer word.
const ROW_WEIGHT: f32 = 4.0;
const ROWS_MAX: usize = 4;

pub(super) struct Suspect<'s> {
    pub word: String,
    /// The previous and the next word, if only a space or a hyphen is between.
    pub neighbours: [Option<String>; 2],
    /// The words that it may stand for, likeliest first.
    pub candidates: Vec<CorrectionCandidate<'s>>,
    /// There is no evidence that the word is right as it was typed.
    pub can_be_replaced: bool,
}

impl Suspect<'_> {
    /// By how much the score of the first candidate exceeds that of the second.
    fn score_margin(&self) -> f32 {
        match self.candidates.as_slice() {
            [first, second, ..] if !second.needs_adjacency => first.score - second.score,
            _ => f32::MAX,
        }
    }
}

/// A word that a misspelt one may stand for.
pub(super) struct CorrectionCandidate<'s> {
    pub word: &'s str,
    pub stem: String,
    /// How likely it is, without the rest of the query.
    pub score: f32,
    /// It counts only if the corpus has it in a row with a neighbouring word of the query.
    pub needs_adjacency: bool,
}

impl Engine {
    /// The word that each suspect stands for; `None` for a suspect without candidates.
    pub(super) fn resolve_suspects<'s>(
        &self,
        suspects: &[Suspect<'s>],
        understood: &ParsedQuery,
        ranges: &OrdinalRanges,
    ) -> Result<Vec<Option<&'s str>>, SearchError> {
        let mut meant: Vec<Option<&str>> =
            suspects.iter().map(|suspect| suspect.candidates.first().map(|best| best.word)).collect();
        let mut contested: Vec<usize> = (0..suspects.len())
            .filter(|&place| suspects[place].candidates.len() > 1)
            .take(CONTEXT_LOOKUPS_MAX)
            .collect();
        // Looked up only if needed.
        let mut others: Option<Vec<TermDocuments>> = None;
        // The clearest case first: its result helps to decide the others.
        contested.sort_by(|&a, &b| suspects[b].score_margin().total_cmp(&suspects[a].score_margin()));
        for place in contested {
            // If a neighbour is misspelt too, the word it currently stands for is used.
            let neighbours = suspects[place].neighbours.each_ref().map(|neighbour| {
                let neighbour = neighbour.as_deref()?;
                let other = suspects.iter().position(|suspect| suspect.word == neighbour);
                Some(term_of(other.and_then(|other| meant[other]).unwrap_or(neighbour)))
            });
            let mut possible = Vec::with_capacity(COMPARED_CANDIDATES_MAX);
            for candidate in &suspects[place].candidates {
                let in_a_row = self.adjacency_score(candidate, &neighbours, ranges)?;
                if in_a_row > 0.0 || !candidate.needs_adjacency {
                    possible.push((candidate.score + in_a_row, candidate));
                }
            }
            if possible.len() > 1 {
                let others = match &mut others {
                    Some(others) => others,
                    none => none.insert(self.context_words(suspects, understood, ranges)?),
                };
                for (score, candidate) in &mut possible {
                    *score += LIFT_WEIGHT * self.cooccurrence_score(candidate, others, ranges)?;
                }
            }
            let best = possible.into_iter().reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((_, best)) = best else { continue };
            meant[place] = Some(best.word);
            if let Some(others) = others.as_mut().filter(|others| others.len() < CONTEXT_WORDS_MAX) {
                others.extend(self.keyword.documents_having(&best.stem, ranges)?);
            }
        }
        Ok(meant)
    }

    /// How well a candidate goes with the other words. Stop words go with every word and count 0.
    fn cooccurrence_score(
        &self,
        candidate: &CorrectionCandidate<'_>,
        others: &[TermDocuments],
        ranges: &OrdinalRanges,
    ) -> Result<f32, SearchError> {
        if is_stop_word(&candidate.stem) {
            return Ok(0.0);
        }
        let lifts = self.keyword.lifts(&candidate.stem, others, ranges)?;
        Ok(lifts.into_iter().map(|lift| lift.clamp(LIFT_MIN, LIFT_MAX)).sum())
    }

    /// The score for standing in a row with the previous and the next word. Stop words count 0.
    fn adjacency_score(
        &self,
        candidate: &CorrectionCandidate<'_>,
        [before, behind]: &[Option<String>; 2],
        ranges: &OrdinalRanges,
    ) -> Result<f32, SearchError> {
        let own = candidate.stem.as_str();
        let before = before.as_deref().map(|before| (before, [before, own]));
        let behind = behind.as_deref().map(|behind| (behind, [own, behind]));
        let mut fit = 0.0;
        for (neighbour, [first, second]) in [before, behind].into_iter().flatten() {
            if !is_stop_word(own) && !is_stop_word(neighbour) {
                let (rows, looked_at) = self.keyword.count_adjacent(first, second, ranges, ROWS_MAX)?;
                let often = (1.0 + rows as f32).ln() / (1.0 + ROWS_MAX as f32).ln();
                fit += ROW_WEIGHT * often.max(rows as f32 / looked_at.max(1) as f32);
            }
        }
        Ok(fit)
    }

    /// The documents of other words of the query: words that are spelt right, or that can stand for
    /// only one word. Only the rarest of these are used.
    fn context_words(
        &self,
        suspects: &[Suspect<'_>],
        understood: &ParsedQuery,
        ranges: &OrdinalRanges,
    ) -> Result<Vec<TermDocuments>, SearchError> {
        let misspelt: Vec<String> = suspects.iter().map(|suspect| term_of(&suspect.word)).collect();
        let sure = suspects.iter().filter_map(|suspect| match suspect.candidates.as_slice() {
            [only] => Some(&only.stem),
            [only, second, ..] if second.needs_adjacency => Some(&only.stem),
            _ => None,
        });
        let typed = understood.words.iter().flat_map(|word| &word.parts).filter(|term| !misspelt.contains(term));
        let mut terms = Vec::new();
        for term in sure.chain(typed).filter(|term| !is_stop_word(term)).take(LOOKED_UP_MAX) {
            terms.push((self.keyword.documents_with(term)?, term));
        }
        terms.sort_unstable();
        terms.dedup();
        let mut others = Vec::with_capacity(CONTEXT_WORDS_MAX);
        for (_, term) in terms {
            if others.len() < CONTEXT_WORDS_MAX {
                others.extend(self.keyword.documents_having(term, ranges)?);
            }
        }
        Ok(others)
    }
}
