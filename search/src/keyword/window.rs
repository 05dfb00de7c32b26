//! Accumulated scores for a window of consecutive documents, small enough for the CPU cache.

use super::common_terms::CommonTerm;
use crate::bitmap::each_bit;

/// Documents per window, a multiple of 64; few in tests, which need many windows. A smaller window
/// loses more time by starting windows and resuming every posting list than it gains by using less
/// of the cache.
pub(super) const WINDOW: u32 = if cfg!(test) { 128 } else { 16384 };

/// A window: its candidates and their accumulated scores.
#[derive(Default)]
pub(super) struct ScoreWindow {
    /// A multiple of 64. Documents before `from` are not searched.
    pub(super) start: u32,
    pub(super) from: u32,
    pub(super) end: u32,
    saturation: f32,
    /// Bitmap of the certain matches: they match whatever further words they contain.
    matches: Vec<u64>,
    /// Bitmap of the candidates.
    is_candidate: Vec<u64>,
    /// The number of candidates before each group of 64 documents. Valid only for groups with
    /// candidates.
    before: Vec<u32>,
    /// The candidates as documents, ascending.
    pub(super) candidates: Vec<u32>,
    /// One cell for each candidate.
    cells: Vec<ScoreCell>,
    /// The cells that the current term has touched, and those that the current word has touched.
    touched_by_term: Vec<u32>,
    touched_by_word: Vec<u32>,
    scratch_buffer: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct ScoreCell {
    /// The weighted term frequency of the current term, summed over all fields.
    weighted_frequency: f32,
    /// The mass of the terms of the current word.
    word_mass: f32,
    pub(super) score: f32,
    pub(super) mass: f32,
}

/// Shows which documents of a window are candidates.
#[derive(Clone, Copy)]
pub(super) struct CandidateBitmap<'w> {
    start: u32,
    words: &'w [u64],
    before: &'w [u32],
}

impl CandidateBitmap<'_> {
    #[inline]
    pub(super) fn has(&self, doc: u32) -> bool {
        let place = doc.wrapping_sub(self.start);
        self.words.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// The index of a candidate among all candidates.
    #[inline]
    pub(super) fn place(&self, doc: u32) -> usize {
        let place = doc - self.start;
        let (group, bit) = (place as usize / 64, place % 64);
        (self.before[group] + (self.words[group] & ((1 << bit) - 1)).count_ones()) as usize
    }
}

/// Accumulates the weighted term frequencies of the current term.
pub(super) struct TermAccumulator<'w> {
    cells: &'w mut [ScoreCell],
    of_term: &'w mut Vec<u32>,
}

impl TermAccumulator<'_> {
    /// Adds to the candidate with index `place`.
    #[inline]
    pub(super) fn add(&mut self, place: usize, worth: f32) {
        let Some(cell) = self.cells.get_mut(place) else { return };
        if cell.weighted_frequency == 0.0 {
            self.of_term.push(place as u32);
        }
        cell.weighted_frequency += worth;
    }
}

impl ScoreWindow {
    /// Starts the next window at document `from`, and returns its end.
    pub(super) fn restart(&mut self, from: u32, range_end: u32, saturation: f32) -> u32 {
        (self.from, self.start, self.saturation) = (from, from - from % 64, saturation);
        self.end = range_end.min(self.start.saturating_add(WINDOW));
        let groups = self.groups();
        for bits in [&mut self.matches, &mut self.is_candidate] {
            bits.clear();
            bits.resize(groups, 0);
        }
        self.before.resize(groups, 0);
        self.candidates.clear();
        self.cells.clear();
        // These are not empty only after a search that panicked.
        self.touched_by_term.clear();
        self.touched_by_word.clear();
        self.end
    }

    /// The number of groups of 64 documents.
    pub(super) fn groups(&self) -> usize {
        (self.end - self.start).div_ceil(64) as usize
    }

    /// The documents of a group that belong to the window.
    pub(super) fn documents_inside(&self, group: usize) -> u64 {
        let start = self.start + group as u32 * 64;
        let from = !0 << self.from.saturating_sub(start).min(63);
        match self.end - start {
            64.. => from,
            few => from & ((1 << few) - 1),
        }
    }

    /// Sets the certain matches and the candidates of a group. Groups must come in ascending order.
    pub(super) fn set_group(&mut self, group: usize, matches: u64, candidates: u64) {
        self.matches[group] = matches;
        self.is_candidate[group] = candidates;
        let start = self.start + group as u32 * 64;
        self.before[group] = self.candidates.len() as u32;
        each_bit(candidates, |bit| self.candidates.push(start + bit));
        self.cells.resize(self.candidates.len(), ScoreCell::default());
    }

    /// Whether a document is a certain match.
    #[inline]
    pub(super) fn is_certain_match(&self, doc: u32) -> bool {
        let place = doc - self.start;
        self.matches[place as usize / 64] >> (place % 64) & 1 == 1
    }

    /// The candidates with their cells.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &ScoreCell)> {
        self.candidates.iter().copied().zip(&self.cells)
    }

    /// Keeps the candidates for which `keep` is true, in order. The last argument of `keep` is
    /// whether the document is a certain match.
    pub(super) fn retain_candidates(&mut self, mut keep: impl FnMut(u32, &ScoreCell, bool) -> bool) {
        let mut kept = 0;
        let mut last_group = usize::MAX;
        for place in 0..self.candidates.len() {
            let (doc, cell) = (self.candidates[place], self.cells[place]);
            let (group, bit) = ((doc - self.start) as usize / 64, (doc - self.start) % 64);
            if group != last_group {
                self.before[group] = kept as u32;
                last_group = group;
            }
            if keep(doc, &cell, self.is_certain_match(doc)) {
                (self.candidates[kept], self.cells[kept]) = (doc, cell);
                kept += 1;
            } else {
                self.is_candidate[group] &= !(1 << bit);
            }
        }
        self.candidates.truncate(kept);
        self.cells.truncate(kept);
    }

    /// The candidate bitmap, and the accumulators of the current term.
    pub(super) fn split(&mut self) -> (CandidateBitmap<'_>, TermAccumulator<'_>) {
        let marks = CandidateBitmap { start: self.start, words: &self.is_candidate, before: &self.before };
        (marks, TermAccumulator { cells: &mut self.cells, of_term: &mut self.touched_by_term })
    }

    /// Adds a term in every candidate; `worth_at` looks up its weighted term frequency in a
    /// document.
    pub(super) fn add_looked_up(&mut self, mut worth_at: impl FnMut(u32) -> f32) {
        let mut counts = TermAccumulator { cells: &mut self.cells, of_term: &mut self.touched_by_term };
        for (place, &doc) in self.candidates.iter().enumerate() {
            let worth = worth_at(doc);
            if worth > 0.0 {
                counts.add(place, worth);
            }
        }
    }

    /// Adds a common term in every candidate.
    pub(super) fn add_common(&mut self, term: &CommonTerm) {
        let mut counts = TermAccumulator { cells: &mut self.cells, of_term: &mut self.touched_by_term };
        term.look_up_each(&self.candidates, &mut self.scratch_buffer, |place, worth| counts.add(place, worth));
    }

    /// Adds the saturated frequencies of the current term to the scores, and its mass to the mass
    /// of the current word.
    pub(super) fn end_term(&mut self, weight: f32, mass: f32) {
        for &place in &self.touched_by_term {
            let cell = &mut self.cells[place as usize];
            cell.score += weight * cell.weighted_frequency / (cell.weighted_frequency + self.saturation);
            cell.weighted_frequency = 0.0;
            if cell.word_mass == 0.0 {
                self.touched_by_word.push(place);
            }
            cell.word_mass += mass;
        }
        self.touched_by_term.clear();
    }

    /// Ends a word that has one term, as nearly every word does.
    pub(super) fn end_single_term_word(&mut self, weight: f32, mass: f32) {
        for &place in &self.touched_by_term {
            let cell = &mut self.cells[place as usize];
            cell.score += weight * cell.weighted_frequency / (cell.weighted_frequency + self.saturation);
            cell.weighted_frequency = 0.0;
            cell.mass += mass;
        }
        self.touched_by_term.clear();
    }

    /// Adds the mass of the current word, at most `mass`, to the cells it touched.
    pub(super) fn end_word(&mut self, mass: f32) {
        for &place in &self.touched_by_word {
            let cell = &mut self.cells[place as usize];
            // A compound and its parts are the same word, so they count once.
            cell.mass += cell.word_mass.min(mass);
            cell.word_mass = 0.0;
        }
        self.touched_by_word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panicked_search_leaves_no_state() {
        let mut window = ScoreWindow::default();
        let mut begin = |counts: bool| {
            window.restart(0, 64, 1.0);
            window.set_group(0, 0, 1);
            if counts {
                window.split().1.add(0, 1.0);
                return 0.0;
            }
            window.end_term(1.0, 1.0);
            window.end_word(1.0);
            window.iter().map(|(_, cell)| cell.mass).sum()
        };
        begin(true);
        assert_eq!(begin(false), 0.0_f32);
    }
}
