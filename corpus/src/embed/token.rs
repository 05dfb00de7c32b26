//! Token numbers.

use bytemuck::{Pod, Zeroable};

/// The number of tokens in the vocabulary.
pub const TOKEN_COUNT: usize = 30_522;

/// The line number of a token in the vocabulary, from 0. A number that comes from a file may be beyond the
/// vocabulary; the tables in `embed` return nothing for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct TokenId(pub u16);

impl TokenId {
    /// The token of a word that cannot be split into pieces of the vocabulary.
    pub const UNKNOWN: Self = Self(100);

    /// The first token of a sentence encoder's input. No text contains it.
    pub const CLASSIFIER: Self = Self(101);

    /// The last token of a sentence encoder's input.
    pub const SEPARATOR: Self = Self(102);

    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
