//! The sums over one run of documents, small enough to stay near the processor.

use super::bits::each_bit;
use super::common::CommonTerm;

/// Documents per window; few where tests need many windows. A multiple of 64. With fewer, opening windows and going on with
/// every list costs more than a larger cache.
pub(super) const WINDOW: u32 = if cfg!(test) { 128 } else { 16384 };

/// A run of documents: which of them are candidates, and the sums of these.
#[derive(Default)]
pub(super) struct Window {
    /// A multiple of 64, though documents are looked for from `from` on only.
    pub(super) start: u32,
    pub(super) from: u32,
    pub(super) end: u32,
    saturation: f32,
    cells: Vec<Cell>,
    /// A bit for each document: whether it matches whatever else it has.
    matches: Vec<u64>,
    /// Whether it is a candidate.
    is_candidate: Vec<u64>,
    /// Cells that the term at hand has touched, then those of the word at hand.
    of_term: Vec<u32>,
    of_word: Vec<u32>,
    /// Documents, ascending.
    pub(super) candidates: Vec<u32>,
    room: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    /// What the term's occurrences count, over all fields.
    worth: f32,
    word_mass: f32,
    pub(super) score: f32,
    pub(super) mass: f32,
}

/// A bit for each document of a window.
#[derive(Clone, Copy)]
pub(super) struct Marks<'w> {
    start: u32,
    words: &'w [u64],
}

impl Marks<'_> {
    #[inline]
    pub(super) fn has(&self, doc: u32) -> bool {
        let place = doc.wrapping_sub(self.start);
        self.words.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

/// Where the occurrences of a term are counted.
pub(super) struct Counts<'w> {
    start: u32,
    cells: &'w mut [Cell],
    of_term: &'w mut Vec<u32>,
}

impl Counts<'_> {
    #[inline]
    pub(super) fn add(&mut self, doc: u32, worth: f32) {
        let place = doc.wrapping_sub(self.start);
        let Some(cell) = self.cells.get_mut(place as usize) else { return };
        if cell.worth == 0.0 {
            self.of_term.push(place);
        }
        cell.worth += worth;
    }
}

impl Window {
    /// Goes on with the documents from one on, and says up to which.
    pub(super) fn restart(&mut self, from: u32, range_end: u32, saturation: f32) -> u32 {
        (self.from, self.start, self.saturation) = (from, from - from % 64, saturation);
        self.end = range_end.min(self.start.saturating_add(WINDOW));
        self.cells.resize(WINDOW as usize, Cell::default());
        let groups = self.groups();
        for bits in [&mut self.matches, &mut self.is_candidate] {
            bits.clear();
            bits.resize(groups, 0);
        }
        self.candidates.clear();
        self.end
    }

    /// How many groups of 64 documents it has.
    pub(super) fn groups(&self) -> usize {
        (self.end - self.start).div_ceil(64) as usize
    }

    /// Which documents of a group are in it.
    pub(super) fn inside(&self, group: usize) -> u64 {
        let start = self.start + group as u32 * 64;
        let from = !0 << self.from.saturating_sub(start).min(63);
        match self.end - start {
            64.. => from,
            few => from & ((1 << few) - 1),
        }
    }

    /// What is known of a group: which documents match whatever else they have, and which are candidates.
    pub(super) fn set_group(&mut self, group: usize, matches: u64, candidates: u64) {
        self.matches[group] = matches;
        self.is_candidate[group] = candidates;
        let start = self.start + group as u32 * 64;
        each_bit(candidates, |bit| {
            self.cells[group * 64 + bit as usize] = Cell::default();
            self.candidates.push(start + bit);
        });
    }

    /// Whether a document matches whatever else it has.
    #[inline]
    pub(super) fn is_match(&self, doc: u32) -> bool {
        Marks { start: self.start, words: &self.matches }.has(doc)
    }

    /// What a candidate has so far.
    #[inline]
    pub(super) fn cell(&self, doc: u32) -> &Cell {
        &self.cells[(doc - self.start) as usize]
    }

    /// Keeps those candidates that the test keeps, in their order; it is told whether each matches whatever else it has.
    pub(super) fn retain_candidates(&mut self, mut keep: impl FnMut(u32, &Cell, bool) -> bool) {
        let Self { start, cells, matches, is_candidate, candidates, .. } = self;
        let matches = Marks { start: *start, words: matches };
        candidates.retain(|&doc| {
            let place = doc - *start;
            let kept = keep(doc, &cells[place as usize], matches.has(doc));
            is_candidate[place as usize / 64] &= !(u64::from(!kept) << (place % 64));
            kept
        });
    }

    /// Which documents are candidates, and where the occurrences of the term at hand are counted.
    pub(super) fn split(&mut self) -> (Marks<'_>, Counts<'_>) {
        let marks = Marks { start: self.start, words: &self.is_candidate };
        (marks, Counts { start: self.start, cells: &mut self.cells, of_term: &mut self.of_term })
    }

    /// Counts a term in every candidate, by what it counts in a document.
    pub(super) fn add_looked_up(&mut self, mut worth_at: impl FnMut(u32) -> f32) {
        let mut counts = Counts { start: self.start, cells: &mut self.cells, of_term: &mut self.of_term };
        for &doc in &self.candidates {
            let worth = worth_at(doc);
            if worth > 0.0 {
                counts.add(doc, worth);
            }
        }
    }

    /// Counts a common term in every candidate.
    pub(super) fn add_common(&mut self, term: &CommonTerm) {
        let mut counts = Counts { start: self.start, cells: &mut self.cells, of_term: &mut self.of_term };
        term.each_of(&self.candidates, &mut self.room, |doc, worth| counts.add(doc, worth));
    }

    pub(super) fn end_term(&mut self, weight: f32, mass: f32) {
        for &place in &self.of_term {
            let cell = &mut self.cells[place as usize];
            cell.score += weight * cell.worth / (cell.worth + self.saturation);
            cell.worth = 0.0;
            if cell.word_mass == 0.0 {
                self.of_word.push(place);
            }
            cell.word_mass += mass;
        }
        self.of_term.clear();
    }

    /// Ends a word that has one term, which is what nearly every word has.
    pub(super) fn end_only_term(&mut self, weight: f32, mass: f32) {
        for &place in &self.of_term {
            let cell = &mut self.cells[place as usize];
            cell.score += weight * cell.worth / (cell.worth + self.saturation);
            cell.worth = 0.0;
            cell.mass += mass;
        }
        self.of_term.clear();
    }

    pub(super) fn end_word(&mut self, mass: f32) {
        for &place in &self.of_word {
            let cell = &mut self.cells[place as usize];
            // Whole and parts of one compound say the same once.
            cell.mass += cell.word_mass.min(mass);
            cell.word_mass = 0.0;
        }
        self.of_word.clear();
    }
}
