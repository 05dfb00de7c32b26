//! The sums over one run of documents, small enough to stay near the processor.

/// Documents per window; few where tests need many windows. A multiple of 64. With fewer, opening windows and going on with
/// every list costs more than a larger cache; 4,096 took a tenth longer.
pub(super) const WINDOW: u32 = if cfg!(test) { 64 } else { 16384 };

/// The sums of a run of documents.
#[derive(Default)]
pub(super) struct Window {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) document_count: u32,
    /// How many groups of 64 documents it has. What is beyond is clear.
    groups: usize,
    saturation: f32,
    cells: Vec<Cell>,
    /// A bit for each cell: whether its document is a candidate.
    is_candidate: Vec<u64>,
    /// The same for every one that was a candidate, whose cell must be cleared again.
    was_candidate: Vec<u64>,
    /// Cells that the term at hand has touched, then those of the word at hand.
    of_term: Vec<u32>,
    of_word: Vec<u32>,
    /// Documents, ascending once all are known.
    pub(super) candidates: Vec<u32>,
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
    pub(super) fn restart(&mut self, start: u32, end: u32, saturation: f32) {
        self.cells.resize(WINDOW as usize, Cell::default());
        self.was_candidate.resize(WINDOW as usize / 64, 0);
        self.is_candidate.resize(WINDOW as usize / 64, 0);
        // Only what is or was a candidate has been written to.
        let (was, is) = (&mut self.was_candidate[..self.groups], &mut self.is_candidate[..self.groups]);
        for (place, words) in (0..).step_by(64).zip(was.iter().zip(is.iter())) {
            each_bit(words.0 | words.1, |bit| self.cells[place + bit as usize] = Cell::default());
        }
        was.fill(0);
        is.fill(0);
        self.candidates.clear();
        (self.start, self.end, self.saturation) = (start, end.min(start.saturating_add(WINDOW)), saturation);
        self.groups = (self.end - self.start).div_ceil(64) as usize;
        self.document_count = self.document_count.max(end);
    }

    /// Makes a document a candidate before any word was looked up.
    pub(super) fn admit(&mut self, doc: u32) {
        if (self.start..self.end).contains(&doc) && !self.is_candidate(doc) {
            self.mark(doc - self.start);
            self.candidates.push(doc);
        }
    }

    fn is_candidate(&self, doc: u32) -> bool {
        Marks { start: self.start, words: &self.is_candidate }.has(doc)
    }

    fn mark(&mut self, place: u32) {
        self.is_candidate[place as usize / 64] |= 1 << (place % 64);
    }

    /// What a candidate has so far.
    #[inline]
    pub(super) fn cell(&self, doc: u32) -> &Cell {
        &self.cells[(doc - self.start) as usize]
    }

    /// Keeps those candidates that the test keeps, in their order.
    pub(super) fn retain_candidates(&mut self, mut keep: impl FnMut(u32, &Cell) -> bool) {
        for (was, is) in self.was_candidate[..self.groups].iter_mut().zip(&self.is_candidate) {
            *was |= is;
        }
        let Self { start, cells, is_candidate, candidates, .. } = self;
        candidates.retain(|&doc| {
            let place = doc - *start;
            let kept = keep(doc, &cells[place as usize]);
            is_candidate[place as usize / 64] &= !(u64::from(!kept) << (place % 64));
            kept
        });
    }

    /// Which documents are candidates, and where the occurrences of the term at hand are counted.
    pub(super) fn split(&mut self) -> (Marks<'_>, Counts<'_>) {
        let marks = Marks { start: self.start, words: &self.is_candidate };
        let cells = &mut self.cells[..self.groups * 64];
        (marks, Counts { start: self.start, cells, of_term: &mut self.of_term })
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
        let Self { start, saturation, cells, is_candidate, of_term, candidates, .. } = self;
        for &place in of_term.iter() {
            let cell = &mut cells[place as usize];
            cell.score += weight * cell.worth / (cell.worth + *saturation);
            cell.worth = 0.0;
            cell.mass += mass;
            let (word, bit) = (&mut is_candidate[place as usize / 64], 1 << (place % 64));
            if *word & bit == 0 {
                *word |= bit;
                candidates.push(place + *start);
            }
        }
        of_term.clear();
    }

    pub(super) fn end_word(&mut self, mass: f32) {
        for &place in &self.of_word {
            let cell = &mut self.cells[place as usize];
            // Whole and parts of one compound say the same once.
            cell.mass += cell.word_mass.min(mass);
            cell.word_mass = 0.0;
            let (word, bit) = (&mut self.is_candidate[place as usize / 64], 1 << (place % 64));
            if *word & bit == 0 {
                *word |= bit;
                self.candidates.push(place + self.start);
            }
        }
        self.of_word.clear();
    }

    pub(super) fn candidates_known(&mut self, from_several_lists: bool) {
        if from_several_lists || !self.candidates.is_sorted() {
            self.candidates.clear();
            for (place, &word) in (self.start..).step_by(64).zip(&self.is_candidate[..self.groups]) {
                each_bit(word, |bit| self.candidates.push(place + bit));
            }
        }
    }
}

pub(super) fn each_bit(mut word: u64, mut sink: impl FnMut(u32)) {
    while word != 0 {
        sink(word.trailing_zeros());
        word &= word - 1;
    }
}
