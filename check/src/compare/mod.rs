//! Compares a quotation with a text of the law.
//!
//! Typography makes no difference: kinds of quotation marks and dashes, hyphenation, white space, case. Brackets and
//! ellipses in the quotation say what was changed or left out. `fold` removes typography, `marks` reads brackets and
//! ellipses, and `words` compares word by word what is not the same.

mod difference;
mod fold;
mod marks;
mod words;

pub use difference::{Difference, DifferenceKind, compared_text};
pub(crate) use fold::{FoldedLaw, FoundPassage};
pub(crate) use marks::MarkedQuotation;
pub(crate) use words::{LawWords, WordComparison, compare_words};

#[cfg(test)]
mod tests;
