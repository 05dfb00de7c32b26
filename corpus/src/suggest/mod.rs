//! Suggestions, `suggest.bin`: headings and citations, for completion while typing.
//!
//! Headings with the same words form one entry, with all of their nodes. Entries are numbered from best to worst:
//! living ones (law in force) before dead ones, headings before citations, short before long. Every list of entries
//! is in this order, so its first entries are the best. Each word has a list of the entries that begin with it, and
//! a list of the entries that contain it later. Each entry has a row of its words, in which the other typed words
//! are checked. Misspelt words are searched for in the sorted list of words (`near`). `words` splits text into
//! words, `writer` and `reader` handle the file.

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
pub use words::{Typed, WORDS_MAX, parse_typed, words_of};
pub use writer::SuggestWriter;
