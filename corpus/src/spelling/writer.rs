//! Writes the file: the words by length, their letter sets and their numbers of nodes.

use std::path::Path;

use super::file::{FILE_NAME, KIND};
use super::words::{WORD_LETTERS_MAX, WordCounts, letters_of};
use crate::section_file::{SectionFileError, SectionWriter};

/// A word is kept if at least one in this many nodes contains it. In a large corpus the others are mostly
/// misprints, and without them the list stops growing.
const KEPT_IF_ONE_IN: u32 = 200_000;

impl WordCounts {
    /// Writes the file. The words in `known` are correct and are included even if no law contains them.
    pub fn finish<'w>(self, dir: &Path, known: impl IntoIterator<Item = &'w str>) -> Result<(), SectionFileError> {
        let words = self.sorted(KEPT_IF_ONE_IN, known);
        let longer_than = |length: usize| words.partition_point(|(word, _)| word.len() < length) as u32;
        let lengths: Vec<u32> = (0..=WORD_LETTERS_MAX + 1).map(longer_than).collect();
        let sets: Vec<u32> = words.iter().map(|(word, _)| letters_of(word).unwrap_or_default()).collect();
        let nodes: Vec<u32> = words.iter().map(|&(_, nodes)| nodes).collect();
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 4)?;
        out.section("lengths", &lengths)?;
        out.section("words", &words.iter().flat_map(|(word, _)| word.bytes()).collect::<Vec<u8>>())?;
        out.section("letters", &sets)?;
        out.section("nodes", &nodes)?;
        out.finish()
    }
}
