//! The words of the law as they are spelt, `spelling.bin`: the words of headings and texts with the number of nodes
//! that contain each, and the English words of the embedder's vocabulary.
//!
//! The keyword index contains stems, and a stem cannot replace a misspelt word. Words are stored by length, each
//! with the set of its letters. To find the words near a typed one, only words of similar length are checked: the
//! letter sets exclude nearly all of them, and the edit distance of the rest is computed with bit operations
//! (`crate::edits`). `words` splits and counts words, `writer` and `reader` handle the file. The search decides
//! which word is meant.

mod file;
mod reader;
mod words;
mod writer;

#[cfg(test)]
mod tests;

pub use file::FILE_NAME;
pub use reader::{NearWord, Spelling};
pub use words::{WORD_LETTERS_MAX, WORD_LETTERS_MIN, WordCounts};
