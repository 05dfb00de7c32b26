//! Reads the file: looks up words, and finds the words near a typed one. A damaged word is not near any other.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;

use super::file::{FILE_NAME, KIND};
use super::words::{WORD_LETTERS_MAX, WORD_LETTERS_MIN, letters_of};
use crate::edits::BitParallelWord;
use crate::section_file::{Column, SectionFile, SectionFileError};

/// The mapped words.
#[derive(Clone, Debug)]
pub struct Spelling {
    /// For each length, the index of its first word. The last element is the number of words.
    lengths: [u32; WORD_LETTERS_MAX + 2],
    /// For each length, the offset in `words` at which its words begin.
    offsets: [usize; WORD_LETTERS_MAX + 1],
    words: Column<u8>,
    letters: Column<u32>,
    nodes: Column<u32>,
}

/// A word near a typed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearWord<'s> {
    pub word: &'s str,
    /// The number of nodes that contain it. Zero for some English words.
    pub nodes: u32,
    pub edits: u8,
}

impl Spelling {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let lengths = file.slice::<u32>("lengths")?.try_into();
        let lengths: [u32; WORD_LETTERS_MAX + 2] =
            lengths.map_err(|_| file.damaged("section lengths does not have a number for each length"))?;
        let (words, letters) = (file.column::<u8>("words")?, file.column::<u32>("letters")?);
        let nodes = file.column::<u32>("nodes")?;
        let mut offsets = [0; WORD_LETTERS_MAX + 1];
        let mut bytes = 0;
        for (length, offset) in offsets.iter_mut().enumerate() {
            *offset = bytes;
            bytes += lengths[length + 1].saturating_sub(lengths[length]) as usize * length;
        }
        let count = lengths[WORD_LETTERS_MAX + 1] as usize;
        let agrees = lengths[0] == 0 && lengths.is_sorted() && bytes == words.len();
        if !agrees || count != letters.len() || count != nodes.len() {
            return Err(file.damaged("its sections do not have the same number of words"));
        }
        Ok(Self { lengths, offsets, words, letters, nodes })
    }

    pub fn word_count(&self) -> u32 {
        self.lengths[WORD_LETTERS_MAX + 1]
    }

    /// The number of nodes that contain a word. The word must be in lower case.
    pub fn nodes_with(&self, word: &str) -> u32 {
        if letters_of(word).is_none() {
            return 0;
        }
        let Range { start: mut from, end: mut to } = self.of_length(word.len());
        while from < to {
            let middle = from + (to - from) / 2;
            match self.bytes_of(middle, word.len()).cmp(word.as_bytes()) {
                Ordering::Less => from = middle + 1,
                Ordering::Greater => to = middle,
                Ordering::Equal => return self.nodes.get(middle as usize).copied().unwrap_or_default(),
            }
        }
        0
    }

    /// The words within `edits_max` edits of a lower-case word, including the word itself, by length and then
    /// alphabetically.
    pub fn near(&self, word: &str, edits_max: u8) -> Vec<NearWord<'_>> {
        let mut near = Vec::new();
        let (Some(own), Some(typed)) = (letters_of(word), BitParallelWord::new(word)) else { return near };
        let reach = usize::from(edits_max);
        let lengths =
            word.len().saturating_sub(reach).max(WORD_LETTERS_MIN)..=(word.len() + reach).min(WORD_LETTERS_MAX);
        for length in lengths {
            let numbers = self.of_length(length);
            let sets = self.letters.get(numbers.start as usize..numbers.end as usize).unwrap_or_default();
            for (number, &letters) in numbers.zip(sets) {
                // An edit adds at most one letter and removes at most one.
                let differs = (own & !letters).count_ones().max((letters & !own).count_ones());
                if differs > u32::from(edits_max) {
                    continue;
                }
                let bytes = self.bytes_of(number, length);
                let edits = typed.distance(bytes);
                if edits <= u32::from(edits_max)
                    && let Ok(word) = std::str::from_utf8(bytes)
                {
                    let nodes = self.nodes.get(number as usize).copied().unwrap_or_default();
                    near.push(NearWord { word, nodes, edits: edits as u8 });
                }
            }
        }
        near
    }

    fn of_length(&self, length: usize) -> Range<u32> {
        self.lengths[length]..self.lengths[length + 1]
    }

    fn bytes_of(&self, number: u32, length: usize) -> &[u8] {
        let start = self.offsets[length] + (number - self.lengths[length]) as usize * length;
        self.words.get(start..start + length).unwrap_or_default()
    }
}
