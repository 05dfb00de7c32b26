//! The words that people use for industries, as written: for query words that are incomplete,
//! misspelt, split or joined.
//!
//! A description that consists only of unknown words is answered as quickly as others, because an
//! unknown word is compared with few known ones. The known words are stored by length, each with
//! the set of its letters. This set rules nearly all of them out. The edit distance to the rest is
//! computed with bit operations on one number.

use hornbook_corpus::edits::{BitParallelWord, edit_distance};

/// The maximum number of known words that stand for an unknown one.
const CANDIDATES_MAX: usize = 8;

/// A shorter beginning of a word is too ambiguous.
const PREFIX_CHARS_MIN: usize = 3;

/// Words in alphabetical order, each with the number of its term.
#[derive(Default)]
pub(super) struct TermVocabulary {
    words: Vec<VocabularyWord>,
    /// The ASCII words, by their length.
    lengths: Vec<LetterSets>,
    /// The positions of the other words, which are few.
    accented: Vec<u32>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct VocabularyWord {
    written: String,
    term: usize,
}

/// Letter sets that rule out words of one length.
#[derive(Default)]
struct LetterSets {
    /// A bit for each letter that a word contains. If two words are few edits apart, each has few
    /// letters that the other lacks.
    letters: Vec<u32>,
    /// The positions of the words.
    words: Vec<u32>,
}

/// The number of outlines that are checked together, without a branch for each.
const OUTLINES_AT_ONCE: usize = 32;

impl LetterSets {
    /// The positions of the words that may be within `edits_max` edits of a word with these letters.
    fn near(&self, letters: u32, edits_max: u8) -> impl Iterator<Item = u32> {
        let is_near = move |other: u32| {
            // An edit adds at most one letter and removes at most one.
            let (gone, new) = (letters & !other, other & !letters);
            if edits_max < 2 {
                (gone & gone.wrapping_sub(1)) | (new & new.wrapping_sub(1)) == 0
            } else {
                has_two_at_most(gone) & has_two_at_most(new)
            }
        };
        let chunks = self.letters.chunks(OUTLINES_AT_ONCE).zip(self.words.chunks(OUTLINES_AT_ONCE));
        let chunks = chunks.filter(move |(letters, _)| letters.iter().fold(false, |any, other| any | is_near(*other)));
        chunks.flat_map(move |(letters, words)| {
            letters.iter().zip(words).filter(move |(other, _)| is_near(**other)).map(|(_, word)| *word)
        })
    }
}

/// Counting bits would need an instruction that not every processor has.
const fn has_two_at_most(bits: u32) -> bool {
    let but_one = bits & bits.wrapping_sub(1);
    but_one & but_one.wrapping_sub(1) == 0
}

/// A known word that may stand for an unknown one.
pub(super) struct SpellingCandidate<'v> {
    pub(super) written: &'v str,
    pub(super) term: usize,
    /// How likely it is that this word is meant, up to 1.
    pub(super) match_likelihood: f32,
    /// Whether the typed word is wrong, rather than incomplete.
    pub(super) is_correction: bool,
}

impl TermVocabulary {
    pub(super) fn add(&mut self, written: String, term: usize) {
        self.words.push(VocabularyWord { written, term });
    }

    /// Must be called after all words are added.
    pub(super) fn sort(&mut self) {
        self.words.sort();
        self.words.dedup();
        for (place, word) in (0..).zip(&self.words) {
            let written = word.written.as_str();
            if !written.is_ascii() {
                self.accented.push(place);
                continue;
            }
            if self.lengths.len() <= written.len() {
                self.lengths.resize_with(written.len() + 1, LetterSets::default);
            }
            let outlines = &mut self.lengths[written.len()];
            outlines.letters.push(letters_of(written));
            outlines.words.push(place);
        }
    }

    pub(super) fn knows(&self, written: &str) -> bool {
        self.words.binary_search_by(|word| word.written.as_str().cmp(written)).is_ok()
    }

    /// The known words that begin with the unknown one. If there are none, the known words nearest to it.
    pub(super) fn candidates(&self, unknown: &str) -> Vec<SpellingCandidate<'_>> {
        let begun = self.completions(unknown);
        if begun.is_empty() { self.corrections(unknown) } else { begun }
    }

    fn completions(&self, begun: &str) -> Vec<SpellingCandidate<'_>> {
        if begun.chars().count() < PREFIX_CHARS_MIN {
            return Vec::new();
        }
        let start = self.words.partition_point(|word| word.written.as_str() < begun);
        let matching = self.words[start..].iter().take_while(|word| word.written.starts_with(begun));
        let mut candidates: Vec<SpellingCandidate<'_>> = matching.map(|word| word.candidate(0.9, false)).collect();
        // The shortest have the fewest letters that were not typed.
        candidates.sort_by_key(|candidate| candidate.written.len());
        candidates.truncate(CANDIDATES_MAX);
        candidates
    }

    fn corrections(&self, unknown: &str) -> Vec<SpellingCandidate<'_>> {
        let length = unknown.chars().count();
        let edits_max = match length {
            0..4 => return Vec::new(),
            4..8 => 1,
            _ => 2,
        };
        let mut near = self.near(unknown, length, edits_max);
        let Some(nearest) = near.iter().map(|(edits, _)| *edits).min() else { return Vec::new() };
        near.retain(|(edits, _)| *edits == nearest);
        let likeness = if nearest == 1 { 0.9 } else { 0.8 };
        let begins_otherwise =
            |place: &u32| self.words[*place as usize].written.chars().next() != unknown.chars().next();
        near.sort_unstable_by_key(|(_, place)| (begins_otherwise(place), *place));
        near.truncate(CANDIDATES_MAX);
        near.into_iter().map(|(_, place)| self.words[place as usize].candidate(likeness, true)).collect()
    }

    /// The nearest known words, and some others within `edits_max` edits of the unknown one. Each
    /// has its number of edits and its position.
    fn near(&self, unknown: &str, length: usize, edits_max: u8) -> Vec<(u8, u32)> {
        let mut near = Vec::new();
        // A word of more than 64 letters has no near words.
        let Some(typed) = BitParallelWord::new(unknown) else { return near };
        let letters = letters_of(unknown);
        let mut nearest = edits_max;
        let reach = usize::from(edits_max);
        let lengths = length.saturating_sub(reach)..(length + reach + 1).min(self.lengths.len());
        let lengths = self.lengths.get(lengths).unwrap_or_default();
        for place in lengths.iter().flat_map(|outlines| outlines.near(letters, edits_max)) {
            let edits = typed.distance(self.words[place as usize].written.as_bytes());
            if edits <= u32::from(nearest) {
                nearest = edits as u8;
                near.push((nearest, place));
            }
        }
        for place in &self.accented {
            let edits = edit_distance(unknown, &self.words[*place as usize].written, edits_max);
            near.extend(edits.map(|edits| (edits, *place)));
        }
        near
    }

    /// Splits a word into two known words that were written as one.
    pub(super) fn split<'w>(&self, joined: &'w str) -> Option<(&'w str, &'w str)> {
        let places = joined.char_indices().map(|(at, _)| at).filter(|at| *at >= 3 && joined.len() - at >= 3);
        places.map(|at| joined.split_at(at)).find(|(first, second)| self.knows(first) && self.knows(second))
    }
}

impl VocabularyWord {
    fn candidate(&self, likeness: f32, is_correction: bool) -> SpellingCandidate<'_> {
        SpellingCandidate { written: &self.written, term: self.term, match_likelihood: likeness, is_correction }
    }
}

fn letters_of(word: &str) -> u32 {
    let letters = word.bytes().filter(u8::is_ascii_lowercase);
    letters.fold(0, |letters, letter| letters | 1 << (letter - b'a'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formation::naics::index::IndustryIndex;
    use crate::formation::naics::phrases::PLAIN_WORDS;

    /// Finds the corrections by comparing with every word.
    fn brute_force_corrections(known: &[VocabularyWord], unknown: &str) -> Vec<String> {
        let edits_max = match unknown.chars().count() {
            0..4 => return Vec::new(),
            4..8 => 1,
            _ => 2,
        };
        let mut near: Vec<(u8, bool, &VocabularyWord)> = known
            .iter()
            .filter_map(|word| {
                let edits = edit_distance(unknown, &word.written, edits_max)?;
                Some((edits, word.written.chars().next() != unknown.chars().next(), word))
            })
            .collect();
        near.sort();
        let nearest = near.first().map(|(edits, ..)| *edits);
        near.retain(|(edits, ..)| Some(*edits) == nearest);
        near.truncate(CANDIDATES_MAX);
        let said = |(edits, _, word): (u8, bool, &VocabularyWord)| {
            format!("{} {} {}", word.written, word.term, if edits == 1 { 0.9 } else { 0.8 })
        };
        near.into_iter().map(said).collect()
    }

    fn said(candidates: Vec<SpellingCandidate<'_>>) -> Vec<String> {
        let said = |one: SpellingCandidate<'_>| format!("{} {} {}", one.written, one.term, one.match_likelihood);
        candidates.into_iter().map(said).collect()
    }

    proptest! {
        #[test]
        fn corrections_are_those_of_comparing_with_every_word(
            known in prop::collection::vec("[a-dé]{0,12}|[ab]{4,9}", 0..60), unknown in "[a-dé]{0,12}|[ab]{4,9}|[a-d-]{60,70}",
        ) {
            let mut vocabulary = TermVocabulary::default();
            for (term, word) in known.into_iter().enumerate() {
                vocabulary.add(word, term);
            }
            vocabulary.sort();
            prop_assert_eq!(said(vocabulary.corrections(&unknown)), brute_force_corrections(&vocabulary.words, &unknown));
        }
    }

    /// Every seventh known word, with letters changed in a way that depends only on its position.
    #[test]
    fn corrections_of_misspelt_known_words_are_those_of_comparing_with_every_word() {
        let index = IndustryIndex::new(PLAIN_WORDS);
        let vocabulary = &index.vocabulary;
        let mut corrected = 0;
        for (number, word) in vocabulary.words.iter().enumerate().step_by(7) {
            let mut letters: Vec<char> = word.written.chars().collect();
            let (first, second) = (number % letters.len(), (number / 3) % letters.len());
            letters[first] = char::from(b'a' + (number % 26) as u8);
            match number % 3 {
                0 => letters.swap(first, second),
                1 => drop(letters.remove(second)),
                _ => letters.insert(second, 'é'),
            }
            let typed: String = letters.into_iter().collect();
            let candidates = said(vocabulary.corrections(&typed));
            corrected += usize::from(!candidates.is_empty());
            assert_eq!(candidates, brute_force_corrections(&vocabulary.words, &typed), "{typed}");
        }
        assert!(corrected > 200, "{corrected}");
    }
}
