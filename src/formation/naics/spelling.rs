//! The words that industries are called by, as they are written: for words that are typed in part, wrongly, or apart.

use hornbook_corpus::edits::edit_distance;

/// No more known words stand in for an unknown one.
const CANDIDATES_MAX: usize = 8;

/// A shorter beginning of a word says too little.
const PREFIX_CHARS_MIN: usize = 3;

/// Words in order, each with the number of its term.
#[derive(Default)]
pub(super) struct Vocabulary {
    words: Vec<KnownWord>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KnownWord {
    written: String,
    term: usize,
    /// A bit for each letter that it has. Words with few edits between them have few letters that only one of them has.
    letters: u32,
}

/// A known word for one that is not known.
pub(super) struct Candidate<'v> {
    pub(super) written: &'v str,
    pub(super) term: usize,
    /// How sure it is that this word is meant, up to 1.
    pub(super) likeness: f32,
    /// Whether what was typed is wrong, rather than not yet complete.
    pub(super) is_correction: bool,
}

impl Vocabulary {
    pub(super) fn add(&mut self, written: String, term: usize) {
        let letters = letters_of(&written);
        self.words.push(KnownWord { written, term, letters });
    }

    /// To be called when all words are in.
    pub(super) fn sort(&mut self) {
        self.words.sort();
        self.words.dedup();
    }

    pub(super) fn knows(&self, written: &str) -> bool {
        self.words.binary_search_by(|word| word.written.as_str().cmp(written)).is_ok()
    }

    /// The known words that begin with an unknown one, or else those nearest to it.
    pub(super) fn candidates(&self, unknown: &str) -> Vec<Candidate<'_>> {
        let begun = self.completions(unknown);
        if begun.is_empty() { self.corrections(unknown) } else { begun }
    }

    fn completions(&self, begun: &str) -> Vec<Candidate<'_>> {
        if begun.chars().count() < PREFIX_CHARS_MIN {
            return Vec::new();
        }
        let start = self.words.partition_point(|word| word.written.as_str() < begun);
        let matching = self.words[start..].iter().take_while(|word| word.written.starts_with(begun));
        let mut candidates: Vec<Candidate<'_>> = matching.map(|word| word.candidate(0.9, false)).collect();
        // The shortest have the least that was not typed.
        candidates.sort_by_key(|candidate| candidate.written.len());
        candidates.truncate(CANDIDATES_MAX);
        candidates
    }

    fn corrections(&self, unknown: &str) -> Vec<Candidate<'_>> {
        let length = unknown.chars().count();
        let edits_max = match length {
            0..4 => return Vec::new(),
            4..8 => 1,
            _ => 2,
        };
        let letters = letters_of(unknown);
        let mut nearest = edits_max;
        let mut candidates: Vec<(u8, bool, Candidate<'_>)> = Vec::new();
        for word in &self.words {
            // An edit changes the letters that a word has by two at most, and its length by one.
            let may_be_near = (word.letters ^ letters).count_ones() <= 2 * u32::from(nearest)
                && word.written.len().abs_diff(unknown.len()) <= usize::from(nearest);
            if !may_be_near {
                continue;
            }
            if let Some(edits) = edit_distance(unknown, &word.written, nearest) {
                nearest = edits;
                let begins_alike = word.written.chars().next() == unknown.chars().next();
                let likeness = if edits == 1 { 0.9 } else { 0.8 };
                candidates.push((edits, !begins_alike, word.candidate(likeness, true)));
            }
        }
        candidates.retain(|(edits, ..)| *edits == nearest);
        candidates.sort_by_key(|(_, begins_otherwise, _)| *begins_otherwise);
        candidates.into_iter().map(|(.., candidate)| candidate).take(CANDIDATES_MAX).collect()
    }

    /// The two known words that were written as one.
    pub(super) fn split<'w>(&self, joined: &'w str) -> Option<(&'w str, &'w str)> {
        let places = joined.char_indices().map(|(at, _)| at).filter(|at| *at >= 3 && joined.len() - at >= 3);
        places.map(|at| joined.split_at(at)).find(|(first, second)| self.knows(first) && self.knows(second))
    }
}

impl KnownWord {
    fn candidate(&self, likeness: f32, is_correction: bool) -> Candidate<'_> {
        Candidate { written: &self.written, term: self.term, likeness, is_correction }
    }
}

fn letters_of(word: &str) -> u32 {
    let letters = word.bytes().filter(u8::is_ascii_lowercase);
    letters.fold(0, |letters, letter| letters | 1 << (letter - b'a'))
}
