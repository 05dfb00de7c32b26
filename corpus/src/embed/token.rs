//! Token numbers.

use bytemuck::{Pod, Zeroable};

/// How many tokens the vocabulary has.
pub const TOKEN_COUNT: usize = 30_522;

/// The line of a token in the vocabulary, from 0. One read from a file may exceed the vocabulary: every table here
/// answers such a number with nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct TokenId(pub u16);

impl TokenId {
    /// Represents a word that no pieces of the vocabulary form.
    pub const UNKNOWN: Self = Self(100);

    /// Begins what a sentence encoder reads; no text has it.
    pub const CLASSIFIER: Self = Self(101);

    /// Ends it.
    pub const SEPARATOR: Self = Self(102);

    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
