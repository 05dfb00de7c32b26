//! Suggestions, `suggest.bin`: which headings and citations someone may be about to type.
//!
//! Headings that agree in their words are one entry, with all nodes that bear it. Entries are numbered best first (the living
//! before the dead, headings before citations, short before long), and every list of entries is in that order, so that the
//! first few of a list are its best. A word leads to the entries that begin with it and to those that have it further on; an
//! entry has its words in a row, to check the rest of what was typed. Words typed wrongly are looked for along the sorted
//! words (`near`). `words` knows what a word is, `writer` and `reader` the file.

mod complete;
mod file;
mod near;
mod reader;
mod words;
mod writer;

#[cfg(test)]
mod tests;

pub use complete::{Closeness, Suggested};
pub use file::FILE_NAME;
pub use reader::{SuggestedKind, Suggestions};
pub use words::{Typed, WORDS_MAX, typed, words_of};
pub use writer::SuggestWriter;
