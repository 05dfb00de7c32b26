//! Suggestions, `suggest.bin`: which headings and citations someone may be about to type.
//!
//! Headings that agree in their words are one entry, with all nodes that bear it. Entries are numbered best first (the living
//! before the dead, headings before citations, short before long), and every list of entries is in that order, so that the
//! first few of a list are its best. A word leads to the entries that begin with it and to those that have it further on; an
//! entry has its words in a row, to check the rest of what was typed. Words typed wrongly are looked for along the sorted
//! words (`near`). `words` knows what a word is, `writer` and `reader` the file.

mod near;
mod reader;
mod words;
mod writer;

#[cfg(test)]
mod tests;

pub use reader::{Closeness, Suggested, SuggestedKind, Suggestions};
pub use words::{Typed, WORDS_MAX, typed, words_of};
pub use writer::SuggestWriter;

use crate::section_file::FileKind;

pub const FILE_NAME: &str = "suggest.bin";
const KIND: FileKind = FileKind { magic: *b"HBSUGGES", version: 1 };

/// How many letters of a word may be wrong: none of a short one or one longer than any word, and none of a number, for
/// § 823 is not § 832.
pub fn edits_allowed(word: &str) -> u8 {
    match word.chars().count() {
        _ if !word.chars().all(char::is_alphabetic) => 0,
        4..8 => 1,
        8..=words::WORD_CHARS_MAX => 2,
        _ => 0,
    }
}
