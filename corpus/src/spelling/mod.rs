//! The words of the law as they are spelt, `spelling.bin`: every word of headings and texts with the number of nodes that have it,
//! and the English words that the embedder knows.
//!
//! The keyword index knows stems, and a stem is no word that could stand for a misspelt one. Words are kept by length, each
//! with the set of its letters, so that those near a typed one are found by looking at the lengths around its own: the sets
//! of letters rule out nearly all, and the distance of the rest is counted in the bits of one number (`crate::edits`).
//! `words` knows what a word is and counts, `writer` and `reader` the file. Which word is meant, the search decides.

mod file;
mod reader;
mod words;
mod writer;

#[cfg(test)]
mod tests;

pub use file::FILE_NAME;
pub use reader::{NearWord, Spelling};
pub use words::{WORD_LETTERS_MAX, WORD_LETTERS_MIN, WordCounts};
