//! The sums over one run of documents, small enough to stay in the nearest cache.

/// Documents per window.
pub(super) const WINDOW: u32 = 4096;

/// The sums of a run of documents.
#[derive(Default)]
pub(super) struct Window {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) document_count: u32,
    saturation: f32,
    pub(super) cells: Vec<Cell>,
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
    is_candidate: bool,
}

impl Window {
    pub(super) fn restart(&mut self, start: u32, end: u32, saturation: f32) {
        (self.start, self.end, self.saturation) = (start, end, saturation);
        self.document_count = self.document_count.max(end);
        self.cells.clear();
        self.cells.resize((end - start) as usize, Cell::default());
        self.candidates.clear();
    }

    /// Makes a document a candidate before any word was looked up.
    pub(super) fn admit(&mut self, doc: u32) {
        if let Some(cell) = self.cells.get_mut(doc.wrapping_sub(self.start) as usize)
            && !cell.is_candidate
        {
            cell.is_candidate = true;
            self.candidates.push(doc);
        }
    }

    #[inline]
    pub(super) fn is_candidate(&self, doc: u32) -> bool {
        self.cells.get(doc.wrapping_sub(self.start) as usize).is_some_and(|cell| cell.is_candidate)
    }

    #[inline]
    pub(super) fn count(&mut self, doc: u32, worth: f32) {
        let place = doc.wrapping_sub(self.start);
        let Some(cell) = self.cells.get_mut(place as usize) else { return };
        if cell.worth == 0.0 {
            self.of_term.push(place);
        }
        cell.worth += worth;
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

    pub(super) fn end_word(&mut self, mass: f32) {
        for &place in &self.of_word {
            let cell = &mut self.cells[place as usize];
            // Whole and parts of one compound say the same once.
            cell.mass += cell.word_mass.min(mass);
            cell.word_mass = 0.0;
            if !cell.is_candidate {
                cell.is_candidate = true;
                self.candidates.push(place + self.start);
            }
        }
        self.of_word.clear();
    }

    pub(super) fn candidates_known(&mut self, from_several_lists: bool) {
        if from_several_lists || !self.candidates.is_sorted() {
            self.candidates.sort_unstable();
        }
    }
}
